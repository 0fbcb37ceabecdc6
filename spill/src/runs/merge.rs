//! Merging many ascending sets of keys into one, without repeats.
//!
//! A [`KeyMerge`] works in rounds. It holds a batch of each [`KeySource`]. Every key up to the least of the batches'
//! last keys is in memory, since no source can still yield a smaller one. So a round cuts a *window* off the front of
//! each batch, all keys up to that one, and merges the windows as plain slices. Each round uses up at least one batch.
//!
//! Two slices are merged by comparisons that move the cursors without a branch, in two halves at a time
//! (`lockstep.rs`). If one is much smaller, the merge gallops through the other. More slices are merged two by two,
//! the long ones last. A loser tree (Knuth, volume 3, 5.4.1) needs as many comparisons for each key, log2 k, but each
//! waits for the previous one (measured, `docs/measurements/history.md`).
//!
//! Pairs are merged as wider keys. Pairs with equal keys are then adjacent, and are joined before output. Since the
//! next ones may be in the next round, the last pair is held back until then.

use super::lockstep::{LockstepWalk, WalkCursors, split_halves, walk_interleaved};
use super::pairs::{join_equal, sort_all};
use super::source::KeySource;
use crate::disk::Result;
use crate::keys::{KeyShape, bound, for_shape, gallop_from, is_ascending};
use crate::values::ValueSpec;
use std::cmp::Reverse;
use std::hint::select_unpredictable;

/// The number of bytes of keys handled at a time while merging: small enough for the second-level cache.
const BATCH_BYTES: usize = 256 << 10;

/// The maximum number of sources of one merge, if there are very many.
const FAN_IN: usize = 64;

/// The ratio of the sizes of two windows from which the merge gallops.
pub(super) const GALLOP_RATIO: usize = 16;

/// The union of several sources.
pub struct KeyMerge<'a> {
    width: usize,
    inputs: Vec<MergeInput<'a>>,
    /// A buffer for keys that are merged more than once.
    scratch: Vec<u8>,
    /// The state of joining pairs.
    joining: Option<PairJoin>,
}

/// The pairs of a merge before output.
struct PairJoin {
    values: ValueSpec,
    /// Merged pairs, perhaps with repeats.
    merged: Vec<u8>,
    /// Joined pairs; the next pair may have the key of the last one.
    joined: Vec<u8>,
    /// The number of bytes of `joined` that were output.
    given: usize,
}

/// A source with its current batch.
struct MergeInput<'a> {
    source: Box<dyn KeySource + 'a>,
    /// The current keys, which are greater than all merged keys.
    batch: Vec<u8>,
    /// The number of bytes of the batch that are used up.
    used: usize,
}

impl<'a> KeyMerge<'a> {
    /// Creates the union of `sources` of keys of `width` bytes.
    pub fn new(width: usize, sources: Vec<Box<dyn KeySource + 'a>>) -> Self {
        let input = |source| MergeInput { source, batch: Vec::new(), used: 0 };
        let inputs = sources.into_iter().map(input).collect();
        KeyMerge { width, inputs, scratch: Vec::new(), joining: None }
    }

    /// Creates the union of very many `sources`, by merges of groups of them. A round needs a batch of every source of
    /// a merge, and yields little if a source yields little.
    pub fn of_many(width: usize, mut sources: Vec<Box<dyn KeySource + 'a>>) -> Self {
        while sources.len() > FAN_IN {
            let mut rest = sources.into_iter().peekable();
            sources = Vec::new();
            while rest.peek().is_some() {
                let some = rest.by_ref().take(FAN_IN).collect();
                sources.push(Box::new(KeyMerge::new(width, some)));
            }
        }
        Self::new(width, sources)
    }

    /// Merges pairs if there are `values`: pairs with equal keys are joined, whether they are from several sources or
    /// adjacent in one.
    pub fn with_values(self, values: Option<&ValueSpec>) -> Self {
        let joining = |values: &ValueSpec| {
            let (merged, joined) = (Vec::new(), Vec::new());
            PairJoin { values: values.clone(), merged, joined, given: 0 }
        };
        KeyMerge { joining: values.map(joining), ..self }
    }

    /// Returns the number of bytes in a key.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Replaces `out` with the next keys of the union, ascending and without repeats, at most `at_most_keys`. `out` is
    /// empty at the end.
    pub fn next(&mut self, out: &mut Vec<u8>, at_most_keys: usize) -> Result<()> {
        assert!(at_most_keys > 0, "a batch has room for a key");
        let Some(mut joining) = self.joining.take() else {
            return self.next_keys(out, at_most_keys);
        };
        let done = self.next_pairs(&mut joining, out, at_most_keys);
        self.joining = Some(joining);
        done
    }

    /// Does the same as [`next`](KeyMerge::next) for pairs.
    fn next_pairs(
        &mut self,
        joining: &mut PairJoin,
        out: &mut Vec<u8>,
        at_most_pairs: usize,
    ) -> Result<()> {
        let PairJoin { values, merged, joined, given } = joining;
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

    /// Replaces `out` with a round of all sources, repeats included.
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

    /// Does the same as [`next`](KeyMerge::next) for keys, or for pairs that are not joined.
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
            let used = for_shape!(self.width, shape => {
                round(shape, &batches, room, out, &mut self.scratch)
            });
            for (input, used) in self.inputs.iter_mut().zip(used) {
                input.used += used * self.width;
            }
        }
    }

    /// Fetches a new batch where one is used up, and drops the sources that have ended.
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

impl KeySource for KeyMerge<'_> {
    fn next(&mut self, out: &mut Vec<u8>) -> Result<()> {
        KeyMerge::next(self, out, batch_keys(self.width))
    }
}

/// Passes everything that a merge yields to `take`, batch by batch.
pub fn drain(merge: &mut KeyMerge, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut batch = Vec::new();
    loop {
        merge.next(&mut batch, batch_keys(merge.width()))?;
        if batch.is_empty() {
            return Ok(());
        }
        take(&batch)?;
    }
}

/// Returns the number of keys of `width` bytes handled at a time while merging.
pub fn batch_keys(width: usize) -> usize {
    (BATCH_BYTES / width).max(1)
}

/// Merges two sets into `out`, which has space for all their keys. Returns the number of keys written: all of them, if
/// the sets are disjoint.
pub(crate) fn merge_slices(width: usize, sets: [&[u8]; 2], out: &mut [u8]) -> usize {
    debug_assert_eq!(sets[0].len() + sets[1].len(), out.len());
    for_shape!(width, shape => union(shape, sets, out))
}

/// Appends up to `room` keys of the union of `batches`, none empty, to `out`: at least one, and only keys that are
/// final whatever follows the batches. Returns the number of keys used of each.
fn round<S: KeyShape>(
    shape: S,
    batches: &[&[u8]],
    room: usize,
    out: &mut Vec<u8>,
    scratch: &mut Vec<u8>,
) -> Vec<usize> {
    let (width, start) = (shape.width(), out.len());
    let mut used: Vec<usize> = batches.iter().map(|keys| keys.len() / width).collect();
    cut(shape, batches, &mut used);
    let total: usize = used.iter().sum();
    if total > room {
        // A round uses at most this part of each batch. With many batches and little space it uses the least key
        // alone.
        let part = room.saturating_sub(batches.len());
        used.iter_mut().for_each(|used| *used = *used * part / total + 1);
        cut(shape, batches, &mut used);
    }
    let windows = batches.iter().zip(&used).map(|(keys, used)| &keys[..used * width]);
    let mut windows: Vec<&[u8]> = windows.filter(|window| !window.is_empty()).collect();
    windows.sort_by_key(|window| Reverse(window.len()));
    let bytes = windows.iter().map(|window| window.len()).sum::<usize>();
    out.resize(start + bytes, 0);
    scratch.resize(if windows.len() > 2 { bytes } else { 0 }, 0);
    let written = union_of_all(shape, &windows, &mut out[start..], scratch);
    out.truncate(start + written * width);
    used
}

/// Reduces `counts`, the number of usable keys of each batch (at least one), to the keys up to the least of the last
/// usable keys.
fn cut<S: KeyShape>(shape: S, batches: &[&[u8]], counts: &mut [usize]) {
    let last_keys =
        batches.iter().zip(&*counts).map(|(keys, &count)| shape.key_at(keys, count - 1));
    let last = last_keys.min().expect("a round has batches");
    for (keys, count) in batches.iter().zip(counts) {
        let below = bound(shape, keys, 0, *count, last);
        *count = below + usize::from(below < *count && shape.key_at(keys, below) == last);
    }
}

/// Merges `sets`, the longest first, into `out`. `out` has space for all their keys, and so has `scratch` if there are
/// more than two sets. Returns the number of keys written.
fn union_of_all<S: KeyShape>(
    shape: S,
    sets: &[&[u8]],
    out: &mut [u8],
    scratch: &mut [u8],
) -> usize {
    let width = shape.width();
    match *sets {
        [] => 0,
        [one] => append(width, one, out, 0),
        [one, other] => union(shape, [one, other], out),
        _ => {
            let total = out.len();
            let (mut count, mut bytes) = (0, 0);
            while 2 * bytes < total {
                bytes += sets[count].len();
                count += 1;
            }
            let (long, short) = sets.split_at(count);
            let (front, back) = scratch[..total].split_at_mut(bytes);
            let (out_front, out_back) = out.split_at_mut(bytes);
            let long = union_of_all(shape, long, front, out_front);
            let short = union_of_all(shape, short, back, out_back);
            let sets = [&front[..long * width], &back[..short * width]];
            union(shape, sets, out)
        }
    }
}

/// Merges two sets into `out`, which has space for all their keys. Returns the number of keys written.
fn union<S: KeyShape>(shape: S, [one, other]: [&[u8]; 2], out: &mut [u8]) -> usize {
    let [count, others] = [one, other].map(|keys| keys.len() / shape.width());
    if count / GALLOP_RATIO > others {
        union_by_galloping(shape, other, one, out)
    } else if others / GALLOP_RATIO > count {
        union_by_galloping(shape, one, other, out)
    } else {
        union_by_halves(shape, [one, other], out)
    }
}

/// Does the same for sets of similar size.
fn union_by_halves<S: KeyShape>(shape: S, [one, other]: [&[u8]; 2], out: &mut [u8]) -> usize {
    let width = shape.width();
    let [count, others] = [one, other].map(|keys| keys.len() / width);
    let mut halves = split_halves(0..count, 0, others, |middle| {
        bound(shape, other, 0, others, shape.key_at(one, middle))
    });
    // After the maximum extent of the first half.
    halves[1].taken += halves[1].passed;
    let start = halves[1].taken;
    let mut union = UnionWalk { shape, sets: [one, other], out };
    let [low, high] = walk_interleaved(halves, &mut union).map(|at| union.take_rest(at));
    out.copy_within(start * width..high * width, low * width);
    low + high - start
}

/// Takes the keys of both sets.
struct UnionWalk<'o, S> {
    shape: S,
    sets: [&'o [u8]; 2],
    out: &'o mut [u8],
}

impl<S: KeyShape> LockstepWalk for UnionWalk<'_, S> {
    #[inline(always)]
    fn step(&mut self, at: &mut WalkCursors) {
        let UnionWalk { shape, sets: [one, other], out } = self;
        let (x, y) = (shape.key_at(one, at.next), shape.key_at(other, at.passed));
        let (is_one, is_other) = (x <= y, y <= x);
        // This selects a key, not an address to load from, so no load waits for the comparison.
        shape.store_at(select_unpredictable(is_one, x, y), out, at.taken);
        at.next += usize::from(is_one);
        at.passed += usize::from(is_other);
        at.taken += 1;
    }
}

impl<S: KeyShape> UnionWalk<'_, S> {
    /// Takes the rest of a set that a walk has left. Returns the index after it.
    fn take_rest(&mut self, at: WalkCursors) -> usize {
        let width = self.shape.width();
        let mut taken = at.taken;
        for (set, rest) in self.sets.iter().zip([at.next..at.end, at.passed..at.passed_end]) {
            taken = append(width, &set[rest.start * width..rest.end * width], self.out, taken);
        }
        taken
    }
}

/// Writes `keys` at index `taken` of `out`. Returns the index after them.
fn append(width: usize, keys: &[u8], out: &mut [u8], taken: usize) -> usize {
    out[taken * width..][..keys.len()].copy_from_slice(keys);
    taken + keys.len() / width
}

/// Merges two sets; the first has far fewer keys.
fn union_by_galloping<S: KeyShape>(shape: S, few: &[u8], many: &[u8], out: &mut [u8]) -> usize {
    let (width, count) = (shape.width(), many.len() / shape.width());
    let (mut next, mut taken) = (0, 0);
    for key in few.chunks_exact(width) {
        let key = shape.key(key);
        let until = gallop_from(shape, many, next, count, key);
        taken = append(width, &many[next * width..until * width], out, taken);
        shape.store_at(key, out, taken);
        taken += 1;
        next = until + usize::from(until < count && shape.key_at(many, until) == key);
    }
    append(width, &many[next * width..], out, taken)
}
