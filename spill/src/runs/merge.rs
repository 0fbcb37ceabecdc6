//! Merging many ascending sets of keys into one, without repeats.
//!
//! A [`Merge`] works in rounds. It holds a batch of each [`Source`]. Every key up to the least of
//! the batches' last keys is in memory: nothing that a source has yet to give can be smaller. So a
//! round cuts a *window* off the front of each batch, all keys up to that one, and merges the
//! windows as plain slices, no source being asked meanwhile. At least one batch is used up by it.
//!
//! What remains is how to merge slices, for which the number of windows that are not empty decides:
//! one is copied; two are merged by comparisons whose outcome moves the cursors without a branch,
//! or, if one is much the smaller, by galloping through the other; more, by a loser tree (Knuth,
//! volume 3, 5.4.1): log2 k comparisons a key, along one path from leaf to root.
//!
//! Pairs are merged as wider keys. Those with equal keys then follow each other, and are joined before
//! they are given out. Since the next ones may be in the next round, the last pair is held back until
//! then.

use super::pairs::{join_equal, sort_all};
use super::source::Source;
use crate::disk::Result;
use crate::keys::{Shape, bound, for_shape, is_ascending, leap};
use crate::values::Values;

/// Bytes of keys handled at a time while merging: small enough for the second-level cache.
const BATCH_BYTES: usize = 256 << 10;

/// Sources of one merge where there are very many.
const FAN_IN: usize = 64;

/// If one of two windows has so many times the keys of the other, gallop.
pub(super) const GALLOP_RATIO: usize = 16;

/// The union of several sources.
pub struct Merge<'a> {
    width: usize,
    inputs: Vec<Input<'a>>,
    /// For pairs.
    joining: Option<Joining>,
}

/// The pairs of a merge on their way out.
struct Joining {
    values: Values,
    /// Pairs just merged, perhaps with repeats.
    merged: Vec<u8>,
    /// Pairs that are joined; what comes next may have the key of the last one.
    joined: Vec<u8>,
    /// Bytes of these that were given out.
    given: usize,
}

/// A source and its batch in hand.
struct Input<'a> {
    source: Box<dyn Source + 'a>,
    /// Keys in hand: greater than all that were merged.
    batch: Vec<u8>,
    /// Bytes of the batch that are used up.
    used: usize,
}

impl<'a> Merge<'a> {
    /// The union of `sources` of keys of `width` bytes.
    pub fn new(width: usize, sources: Vec<Box<dyn Source + 'a>>) -> Self {
        let input = |source| Input { source, batch: Vec::new(), used: 0 };
        Merge { width, inputs: sources.into_iter().map(input).collect(), joining: None }
    }

    /// The union of very many `sources`, by merges of some of them each: a round asks all sources of a merge, and gives little
    /// where they have little.
    pub fn of_many(width: usize, mut sources: Vec<Box<dyn Source + 'a>>) -> Self {
        while sources.len() > FAN_IN {
            let mut rest = sources.into_iter().peekable();
            sources = Vec::new();
            while rest.peek().is_some() {
                let some = rest.by_ref().take(FAN_IN).collect();
                sources.push(Box::new(Merge::new(width, some)));
            }
        }
        Self::new(width, sources)
    }

    /// The same of pairs, if there are `values`: those with equal keys are joined, be they of several
    /// sources or side by side in one.
    pub fn joined(self, values: Option<&Values>) -> Self {
        let joining = |values: &Values| {
            let (merged, joined) = (Vec::new(), Vec::new());
            Joining { values: values.clone(), merged, joined, given: 0 }
        };
        Merge { joining: values.map(joining), ..self }
    }

    /// The number of bytes in a key.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Replaces `out` with the next keys of the union, ascending and without repeats, as many as
    /// there are but at most `at_most_keys`; leaves it empty at the end.
    pub fn next(&mut self, out: &mut Vec<u8>, at_most_keys: usize) -> Result<()> {
        assert!(at_most_keys > 0, "a batch has room for a key");
        let Some(mut joining) = self.joining.take() else {
            return self.next_keys(out, at_most_keys);
        };
        let done = self.next_pairs(&mut joining, out, at_most_keys);
        self.joining = Some(joining);
        done
    }

    /// [`next`](Merge::next) of pairs.
    fn next_pairs(
        &mut self,
        joining: &mut Joining,
        out: &mut Vec<u8>,
        at_most_pairs: usize,
    ) -> Result<()> {
        let Joining { values, merged, joined, given } = joining;
        let mut held_back = self.width;
        while joined.len() - *given <= held_back {
            joined.drain(..std::mem::take(given));
            if values.operator().is_idempotent() {
                self.next_keys(merged, at_most_pairs)?;
            } else {
                self.next_repeats(merged)?;
            }
            if merged.is_empty() {
                held_back = 0;
                break;
            }
            joined.extend_from_slice(merged);
            join_equal(self.width, values, joined);
        }
        let ready = &joined[*given..joined.len().saturating_sub(held_back)];
        let ready = &ready[..ready.len().min(at_most_pairs * self.width)];
        out.clear();
        out.extend_from_slice(ready);
        *given += ready.len();
        Ok(())
    }

    /// Replaces `out` by a round of all sources, repeats and all.
    fn next_repeats(&mut self, out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        self.refill()?;
        let width = self.width;
        let last = self.inputs.iter().map(|input| &input.batch[input.batch.len() - width..]).min();
        let Some(last) = last.map(<[u8]>::to_vec) else { return Ok(()) };
        for input in &mut self.inputs {
            let window = input.batch[input.used..].chunks_exact(width);
            let window = window.take_while(|pair| **pair <= *last).count() * width;
            out.extend_from_slice(&input.batch[input.used..][..window]);
            input.used += window;
        }
        sort_all(width, out, &mut Vec::new());
        Ok(())
    }

    /// [`next`](Merge::next) of keys, or of pairs that are not joined.
    fn next_keys(&mut self, out: &mut Vec<u8>, at_most_keys: usize) -> Result<()> {
        out.clear();
        loop {
            self.refill()?;
            let room = at_most_keys - out.len() / self.width;
            if room == 0 || self.inputs.is_empty() {
                debug_assert!(is_ascending(self.width, out));
                return Ok(());
            }
            let batches: Vec<&[u8]> =
                self.inputs.iter().map(|input| &input.batch[input.used..]).collect();
            let used = for_shape!(self.width, shape => round(shape, &batches, room, out));
            for (input, used) in self.inputs.iter_mut().zip(used) {
                input.used += used * self.width;
            }
        }
    }

    /// Gets a new batch where one is used up, and drops the sources that have no more.
    fn refill(&mut self) -> Result<()> {
        for input in &mut self.inputs {
            if input.used == input.batch.len() {
                input.used = 0;
                input.source.next(&mut input.batch)?;
                debug_assert!(is_ascending(self.width, &input.batch));
            }
        }
        self.inputs.retain(|input| !input.batch.is_empty());
        Ok(())
    }
}

impl Source for Merge<'_> {
    fn next(&mut self, out: &mut Vec<u8>) -> Result<()> {
        Merge::next(self, out, batch_keys(self.width))
    }
}

/// Gives everything a merge yields to `take`, batch by batch.
pub fn drain(merge: &mut Merge, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut batch = Vec::new();
    loop {
        merge.next(&mut batch, batch_keys(merge.width()))?;
        if batch.is_empty() {
            return Ok(());
        }
        take(&batch)?;
    }
}

/// Keys of `width` bytes handled at a time while merging.
pub fn batch_keys(width: usize) -> usize {
    (BATCH_BYTES / width).max(1)
}

/// Merges two sets into `out`, which has room for all their keys; how many are written: all of them, if
/// none is in both.
pub(crate) fn merge_slices(width: usize, sets: [&[u8]; 2], out: &mut [u8]) -> usize {
    debug_assert_eq!(sets[0].len() + sets[1].len(), out.len());
    for_shape!(width, shape => {
        let [mut a, mut b] = sets.map(|keys| Window { keys, used: 0, end: keys.len() / width, input: 0 });
        let written = merge_two(shape, &mut a, &mut b, out);
        let rest = &mut out[written * width..];
        let copied = copy(shape, &mut a, rest);
        written + copied + copy(shape, &mut b, &mut rest[copied * width..])
    })
}

/// Appends up to `room` keys of the union of `batches`, none empty, to `out`, as far as it is
/// known without what comes after them; the number of keys used of each.
fn round<S: Shape>(shape: S, batches: &[&[u8]], room: usize, out: &mut Vec<u8>) -> Vec<usize> {
    let width = shape.width();
    let count = |keys: &[u8]| keys.len() / width;
    let last = batches.iter().map(|keys| shape.at(keys, count(keys) - 1)).min();
    let last = last.expect("a round has batches");
    let mut windows: Vec<Window> = Vec::with_capacity(batches.len());
    for (input, keys) in batches.iter().enumerate() {
        let below = bound(shape, keys, 0, count(keys), last);
        let end = below + usize::from(below < count(keys) && shape.at(keys, below) == last);
        if end > 0 {
            windows.push(Window { input, keys, used: 0, end });
        }
    }
    let start = out.len();
    let total: usize = windows.iter().map(|window| window.end).sum();
    out.resize(start + total.min(room) * width, 0);
    let mut used = vec![0; batches.len()];
    let written = merge(shape, windows, &mut out[start..], &mut used);
    out.truncate(start + written * width);
    used
}

/// The front of a batch, to be merged.
#[derive(Clone, Copy)]
struct Window<'a> {
    /// Which input it is of.
    input: usize,
    /// The whole batch.
    keys: &'a [u8],
    /// How many of its keys are merged.
    used: usize,
    /// How many are to be merged.
    end: usize,
}

impl<'a> Window<'a> {
    #[inline(always)]
    fn head<S: Shape>(&self, shape: S) -> S::Key<'a> {
        shape.at(self.keys, self.used)
    }
}

/// Merges `windows` until done or `out` is full; the number of keys written. Reports the keys
/// used of each input in `used`. No key equal to the last one written is left in a window.
fn merge<'a, S: Shape>(
    shape: S,
    mut windows: Vec<Window<'a>>,
    out: &mut [u8],
    used: &mut [usize],
) -> usize {
    let mut written = 0;
    loop {
        let out = &mut out[written * shape.width()..];
        written += match windows.as_mut_slice() {
            [] => return written,
            [one] => copy(shape, one, out),
            [one, two] => merge_two(shape, one, two, out),
            many => merge_many(shape, many, out),
        };
        windows.iter().for_each(|window| used[window.input] = window.used);
        windows.retain(|window| window.used < window.end);
        if out.len() < shape.width() || windows.is_empty() {
            return written;
        }
    }
}

/// Copies as much as fits.
fn copy<S: Shape>(shape: S, from: &mut Window<'_>, out: &mut [u8]) -> usize {
    let width = shape.width();
    let count = (from.end - from.used).min(out.len() / width);
    out[..count * width].copy_from_slice(&from.keys[from.used * width..][..count * width]);
    from.used += count;
    count
}

/// Merges until one window is empty or `out` is full.
fn merge_two<S: Shape>(shape: S, a: &mut Window<'_>, b: &mut Window<'_>, out: &mut [u8]) -> usize {
    let (a_count, b_count) = (a.end - a.used, b.end - b.used);
    if a_count / GALLOP_RATIO > b_count {
        return merge_galloping(shape, b, a, out);
    }
    if b_count / GALLOP_RATIO > a_count {
        return merge_galloping(shape, a, b, out);
    }
    let room = out.len() / shape.width();
    let mut written = 0;
    while written < room && a.used < a.end && b.used < b.end {
        let (x, y) = (a.head(shape), b.head(shape));
        let (source, from) = if x <= y { (a.keys, a.used) } else { (b.keys, b.used) };
        shape.copy(source, from, out, written);
        a.used += usize::from(x <= y);
        b.used += usize::from(y <= x);
        written += 1;
    }
    written
}

/// The same where `few` has far fewer keys than `many`.
fn merge_galloping<S: Shape>(
    shape: S,
    few: &mut Window<'_>,
    many: &mut Window<'_>,
    out: &mut [u8],
) -> usize {
    let room = out.len() / shape.width();
    let mut written = 0;
    while written < room && few.used < few.end && many.used < many.end {
        let key = few.head(shape);
        let until = leap(shape, many.keys, many.used, many.end, key);
        let mut before = Window { end: until, ..*many };
        written += copy(shape, &mut before, &mut out[written * shape.width()..]);
        many.used = before.used;
        if many.used == until && written < room {
            many.used += usize::from(until < many.end && many.head(shape) == key);
            shape.copy(few.keys, few.used, out, written);
            few.used += 1;
            written += 1;
        }
    }
    written
}

/// Plays all matches of a loser tree: the loser of each node, and the winner of all.
fn play<K: Ord>(heads: &[K]) -> (Vec<usize>, usize) {
    let k = heads.len();
    let mut losers = vec![0; k];
    let mut winners: Vec<usize> = (0..2 * k).map(|node| node.wrapping_sub(k)).collect();
    for node in (1..k).rev() {
        let (a, b) = (winners[2 * node], winners[2 * node + 1]);
        (winners[node], losers[node]) = if heads[b] < heads[a] { (b, a) } else { (a, b) };
    }
    (losers, winners[1])
}

/// Merges until some window is empty or `out` is full, with a loser tree.
///
/// The windows are the leaves `k..2k` of a tree whose node `n` has the children `2n` and `2n + 1`.
/// A node keeps the loser, the one with the greater head, of the match between the winners of its
/// two subtrees; the winner of all is held apart.
fn merge_many<S: Shape>(shape: S, windows: &mut [Window<'_>], out: &mut [u8]) -> usize {
    let (k, room) = (windows.len(), out.len() / shape.width());
    let mut heads: Vec<S::Key<'_>> = windows.iter().map(|window| window.head(shape)).collect();
    let (mut losers, mut winner) = play(&heads);
    let mut written = 0;
    let mut last = None;
    loop {
        let key = heads[winner];
        if last != Some(key) {
            if written == room {
                return written;
            }
            let window = &windows[winner];
            shape.copy(window.keys, window.used, out, written);
            written += 1;
            last = Some(key);
        }
        let window = &mut windows[winner];
        window.used += 1;
        if window.used == window.end {
            break;
        }
        heads[winner] = window.head(shape);
        let mut node = (winner + k) / 2;
        while node > 0 {
            let other = losers[node];
            let loses = heads[other] < heads[winner];
            losers[node] = if loses { winner } else { other };
            winner = if loses { other } else { winner };
            node /= 2;
        }
    }
    // Whoever merges on does not know the last key.
    for window in windows {
        if window.used < window.end && Some(window.head(shape)) == last {
            window.used += 1;
        }
    }
    written
}
