//! The union of two runs in memory, in the buffer of one of them.
//!
//! A run grows by the keys of another: it is lengthened, and both are merged from the back, so that no unread key is
//! overwritten. The new memory is only as large as the other run. The system takes longer to supply a page than
//! merging takes to fill it, so each thread requests some pages.
//!
//! For several threads the keys are cut into ranges. Keys of earlier ranges will overwrite a part of a range, so this
//! part is first copied aside: as many keys as the other run has below the range. All threads do this, too, and the
//! buffer is kept for later use.

use super::lockstep::{LockstepWalk, WalkCursors, walk_interleaved};
use super::merge::{GALLOP_RATIO, merge_slices};
use super::partition::{KeyRange, split};
use super::threads::{map_parallel, threads_for};
use crate::keys::{IntegerShape, KeyShape, for_long, for_packed, for_shape, gallop_back, restrict};
use std::hint::select_unpredictable;
use std::mem::MaybeUninit;
use std::ops::Range;

/// The divisor that gives the size of a window, as a part of the other run's keys. A run's keys are moved in two
/// halves of a window at a time. The last keys are not moved so, and each window starts the walks again.
const WINDOW_SHARE: usize = 16;
const WINDOW_MIN: usize = if cfg!(test) { 8 } else { 512 };
const WINDOW_MAX: usize = 8192;

/// The minimum number of bytes to fill for each thread.
const BYTES_PER_THREAD_MIN: usize = if cfg!(test) { 64 } else { 256 << 10 };

/// Returns the maximum extra memory while the largest of several sets, of `bytes` bytes in total, grows by the others
/// one after another. It is the smaller of two sets, plus, with several threads, the part copied aside, which is no
/// more than the larger one.
pub(crate) fn grow_bytes_max(width: usize, bytes: usize, threads: usize) -> usize {
    if threads_for((bytes / width) as u64, threads) == 1 { bytes / 2 } else { bytes }
}

/// Inserts the keys of `more` into `run`, both ascending and disjoint. Keys are copied aside to `room`, whose content
/// has no meaning before and after.
pub(crate) fn grow(
    width: usize,
    run: &mut Vec<u8>,
    more: &[u8],
    threads: usize,
    room: &mut Vec<u8>,
) {
    let length = run.len() + more.len();
    let merging = threads_for((length / width) as u64, threads);
    let boundaries = split(width, &[run, more], &[], merging);
    let (mut parts, mut start, mut shift) = (Vec::new(), 0, 0);
    for KeyRange { low, high } in KeyRange::cut(&boundaries) {
        let own = restrict(width, run, low, high).len();
        let other = restrict(width, more, low, high);
        let aside = start..start + shift.min(own);
        parts.push((own - aside.len(), aside, other));
        (start, shift) = (start + own, shift + other.len());
    }
    let asides: Vec<_> = parts.iter().map(|(_, aside, _)| aside.clone()).collect();
    lengthen(run, more.len(), asides, room, threads);
    let (mut rest, mut moved) = (run.as_mut_slice(), room.as_slice());
    let mut items = Vec::new();
    for (held, aside, other) in parts {
        let (to, from);
        (to, rest) = rest.split_at_mut(held + aside.len() + other.len());
        (from, moved) = moved.split_at(aside.len());
        items.push((to, held, from, other));
    }
    map_parallel(items, |_, (to, held, aside, other)| {
        fill(width, to, held, aside, other);
        Ok(())
    })
    .expect("merging in memory does not fail");
}

/// Lengthens `run` by zero bytes, and copies the content of `asides` to `room`. Each thread writes an equal part.
fn lengthen(
    run: &mut Vec<u8>,
    bytes: usize,
    asides: Vec<Range<usize>>,
    room: &mut Vec<u8>,
    threads: usize,
) {
    let aside: usize = asides.iter().map(Range::len).sum();
    room.clear();
    room.reserve_exact(aside);
    run.reserve_exact(bytes);
    let (held, fresh) = split_spare(run);
    let mut rest = &mut room.spare_capacity_mut()[..aside];
    let mut written = vec![(&mut fresh[..bytes], None)];
    for range in asides {
        let to;
        (to, rest) = rest.split_at_mut(range.len());
        written.push((to, Some(&held[range])));
    }
    let threads = threads.min((bytes + aside) / BYTES_PER_THREAD_MIN).max(1);
    map_parallel(split_evenly(written, threads), |_, parts| {
        for (to, from) in parts {
            match from {
                Some(from) => drop(to.write_copy_of_slice(from)),
                None => to.fill(MaybeUninit::new(0)),
            }
        }
        Ok(())
    })
    .expect("filling memory does not fail");
    // SAFETY: the capacities are at least the new lengths, and all bytes after the old ones have just been written.
    unsafe {
        run.set_len(run.len() + bytes);
        room.set_len(aside);
    }
}

/// Splits a vector into its content and its spare capacity.
fn split_spare(run: &mut Vec<u8>) -> (&[u8], &mut [MaybeUninit<u8>]) {
    let (start, length) = (run.as_ptr(), run.len());
    let behind = run.spare_capacity_mut();
    // SAFETY: `length` bytes from there on are written, and lie before the spare capacity. The vector is borrowed as
    // long as both parts, so they stay in place.
    (unsafe { std::slice::from_raw_parts(start, length) }, behind)
}

/// Memory to write: with zeros, or with a copy of the given bytes.
type FillTask<'a> = (&'a mut [MaybeUninit<u8>], Option<&'a [u8]>);

/// Splits all memory to write into as many parts as there are threads, each with an equal part of every task. The
/// system supplies new pages slowly, and memory that was used before is written fast.
fn split_evenly(written: Vec<FillTask>, threads: usize) -> Vec<Vec<FillTask>> {
    let mut shares: Vec<Vec<FillTask>> = (0..threads).map(|_| Vec::new()).collect();
    for (to, from) in written {
        let share = to.len().div_ceil(threads).max(1);
        let mut copied = from.map(|from| from.chunks(share));
        for (part, share) in to.chunks_mut(share).zip(&mut shares) {
            share.push((part, copied.as_mut().and_then(Iterator::next)));
        }
    }
    shares
}

/// Fills `room` with the keys of three ascending sets that are pairwise disjoint: those in its first `held` bytes,
/// those of `aside`, which are less, and those of `other`.
fn fill(width: usize, room: &mut [u8], held: usize, aside: &[u8], other: &[u8]) {
    let (own, others) = (held / width, other.len() / width);
    let left = match own / GALLOP_RATIO > others {
        true => for_shape!(width, shape => merge_few(shape, room, own, other)),
        false => for_packed!(width, shape => merge_interleaved(shape, room, own, other), else {
            for_long!(width, shape => merge_back(shape, room, own, other), else {
                merge_back(shape, room, own, other)
            })
        }),
    };
    let RemainingCounts { own, others } = left;
    if others == 0 && aside.is_empty() {
        // The remaining keys are already in place.
    } else if others == 0 {
        room.copy_within(..own * width, aside.len());
        room[..aside.len()].copy_from_slice(aside);
    } else {
        let room = &mut room[..aside.len() + others * width];
        let written = merge_slices(width, [aside, &other[..others * width]], room);
        debug_assert_eq!(written * width, room.len(), "the sets have a key in common");
    }
}

/// The number of remaining keys of two sets, when one of them is used up from the back.
struct RemainingCounts {
    own: usize,
    others: usize,
}

/// Merges the first `own` keys of `room` with `other` to its end, until one of them is used up.
fn merge_back<S: KeyShape>(
    shape: S,
    room: &mut [u8],
    mut own: usize,
    other: &[u8],
) -> RemainingCounts {
    let (mut others, mut end) = (other.len() / shape.width(), room.len() / shape.width());
    while own > 0 && others > 0 {
        end -= 1;
        if shape.key_at(room, own - 1) > shape.key_at(other, others - 1) {
            own -= 1;
            shape.copy_key(room, own, end);
        } else {
            others -= 1;
            shape.store_at(shape.key_at(other, others), room, end);
        }
    }
    RemainingCounts { own, others }
}

/// Does the same without a branch that depends on the keys.
fn merge_packed<S: IntegerShape>(
    shape: S,
    room: &mut [u8],
    mut own: usize,
    other: &[u8],
) -> RemainingCounts {
    let width = shape.width();
    let (mut others, mut end) = (other.len() / width, room.len() / width);
    while own > 0 && others > 0 {
        end -= 1;
        let (one, another) = (shape.key_at(room, own - 1), shape.key_at(other, others - 1));
        let is_own = one > another;
        shape.store_at(if is_own { one } else { another }, room, end);
        own -= usize::from(is_own);
        others -= usize::from(!is_own);
    }
    RemainingCounts { own, others }
}

/// Does the same in two halves of a window at a time, while there is space after the remaining keys. Keys of several
/// integers gain nothing: theirs alternate in long stretches, which the processor predicts.
fn merge_interleaved<P: IntegerShape>(
    shape: P,
    room: &mut [u8],
    own: usize,
    other: &[u8],
) -> RemainingCounts {
    let width = shape.width();
    let [others, end] = [other.len(), room.len()].map(|bytes| bytes / width);
    let window = (others / WINDOW_SHARE).clamp(WINDOW_MIN, WINDOW_MAX);
    let mut back = BackwardMerge { shape, room: &mut *room, own, other, others, end, window };
    let (mut next, mut passed) = (0, 0);
    while let Some(halves) = back.window(next, passed) {
        (next, passed) = (halves[1].end, halves[1].passed_end);
        for half in walk_interleaved(halves, &mut back) {
            back.take_rest(half);
        }
    }
    let room = &mut room[..(end - next - passed) * width];
    merge_packed(shape, room, own - next, &other[..(others - passed) * width])
}

/// Moves keys of two sets to the end of the buffer of one of them. Cursors count from the back.
struct BackwardMerge<'r, P> {
    shape: P,
    room: &'r mut [u8],
    /// The number of keys at the front of the buffer.
    own: usize,
    other: &'r [u8],
    /// The number of keys of the other set.
    others: usize,
    /// The number of keys that the buffer can hold.
    end: usize,
    /// The number of keys of a window.
    window: usize,
}

impl<P: IntegerShape> LockstepWalk for BackwardMerge<'_, P> {
    #[inline(always)]
    fn step(&mut self, at: &mut WalkCursors) {
        let BackwardMerge { shape, room, own, other, others, end, .. } = self;
        let (x, y) =
            (shape.key_at(room, *own - 1 - at.next), shape.key_at(other, *others - 1 - at.passed));
        let is_own = x > y;
        shape.store_at(select_unpredictable(is_own, x, y), room, *end - 1 - at.taken);
        at.next += usize::from(is_own);
        at.passed += usize::from(!is_own);
        at.taken += 1;
    }
}

impl<P: IntegerShape> BackwardMerge<'_, P> {
    /// Returns the next window after the first `next` keys of the buffer and `passed` of the other set, in halves.
    /// Returns `None` if a half could overwrite unread keys.
    fn window(&self, next: usize, passed: usize) -> Option<[WalkCursors; 2]> {
        let end = next + self.window;
        if end > self.own {
            return None;
        }
        let middle = next + self.window / 2;
        let split = self.passed_before(middle, passed);
        let passed_end = self.passed_before(end, split);
        // All remaining keys move by as many positions as there are others after the window.
        (self.others - passed_end >= self.window).then_some([
            WalkCursors { next, end: middle, passed, passed_end: split, taken: next + passed },
            WalkCursors { next: middle, end, passed: split, passed_end, taken: middle + split },
        ])
    }

    /// Returns the number of keys of the other set, at least `passed`, that come before the buffer's keys after the
    /// first `next`.
    fn passed_before(&self, next: usize, passed: usize) -> usize {
        let key = self.shape.key_at(self.room, self.own - next);
        self.others - gallop_back(self.shape, self.other, self.others - passed, key)
    }

    /// Moves the rest of a set that a walk has left.
    fn take_rest(&mut self, at: WalkCursors) {
        let width = self.shape.width();
        let end = (self.end - at.taken) * width;
        let own = (self.own - at.end) * width..(self.own - at.next) * width;
        let others = &self.other[(self.others - at.passed_end) * width..]
            [..(at.passed_end - at.passed) * width];
        // At most one of them is left.
        let start = end - own.len() - others.len();
        self.room[start..][..others.len()].copy_from_slice(others);
        self.room.copy_within(own, start);
    }
}

/// Does the same for few others: it finds the position of each, and moves the keys after it at once.
fn merge_few<S: KeyShape>(
    shape: S,
    room: &mut [u8],
    mut own: usize,
    other: &[u8],
) -> RemainingCounts {
    let width = shape.width();
    let (mut others, mut end) = (other.len() / width, room.len() / width);
    while own > 0 && others > 0 {
        let from = gallop_back(shape, room, own, shape.key_at(other, others - 1));
        room.copy_within(from * width..own * width, (end - (own - from)) * width);
        end -= own - from;
        own = from;
        if own > 0 {
            (others, end) = (others - 1, end - 1);
            shape.store_at(shape.key_at(other, others), room, end);
        }
    }
    RemainingCounts { own, others }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn keys<'n>(width: usize, numbers: impl IntoIterator<Item = &'n u32>) -> Vec<u8> {
        let key = |number: &u32| {
            let mut key = vec![3; width];
            let used = width.min(4);
            key[..used].copy_from_slice(&number.to_be_bytes()[4 - used..]);
            key
        };
        numbers.into_iter().flat_map(key).collect()
    }

    proptest! {
        #[test]
        fn a_run_is_merged_in_place(
            width in prop::sample::select(vec![2usize, 3, 8, 10, 16, 20, 40, 90]),
            all in prop::collection::btree_map(0u32..60_000, prop::sample::select(vec![true, true, false]), 0..400),
            few in any::<bool>(),
        ) {
            let own = all.iter().filter(|(number, own)| **own || few && *number % 64 > 0);
            let own: BTreeSet<u32> = own.map(|(number, _)| *number).collect();
            let others: BTreeSet<u32> =
                all.keys().filter(|number| !own.contains(number)).copied().collect();
            let mut run = keys(width, &own);
            grow(width, &mut run, &keys(width, &others), 1, &mut Vec::new());
            prop_assert_eq!(run, keys(width, all.keys()));
        }

        /// As with threads, for any part of the run that the keys of earlier ranges overwrite.
        #[test]
        fn a_gap_is_filled_by_merging(
            width in prop::sample::select(vec![4usize, 12, 20, 90]),
            aside in 0u32..50,
            all in prop::collection::btree_map(50u32..60_000, any::<bool>(), 0..300),
            below in prop::collection::btree_set(50u32..60_000, 0..3),
        ) {
            let aside: BTreeSet<u32> = (0..aside).filter(|it| it % 2 == 0).collect();
            let mut others: BTreeSet<u32> = (0..50).filter(|it| it % 2 == 1).collect();
            others.extend(all.iter().filter(|(_, own)| !**own).map(|(number, _)| *number));
            others.extend(below.iter().filter(|number| !all.contains_key(number)));
            let own: BTreeSet<u32> =
                all.iter().filter(|(_, own)| **own).map(|(number, _)| *number).collect();
            let expected: BTreeSet<u32> = aside.iter().chain(&others).chain(&own).copied().collect();
            let mut room = keys(width, &own);
            let held = room.len();
            room.resize(expected.len() * width, 0xff);
            fill(width, &mut room, held, &keys(width, &aside), &keys(width, &others));
            prop_assert_eq!(room, keys(width, &expected));
        }
    }

    #[test]
    fn threads_merge_as_one_thread() {
        for (own, others) in [(3u32, 1u32), (1, 3), (1, 0), (200, 1), (1, 200)] {
            let is_own = |number: &&u32| **number % (own + others) < own;
            let all: Vec<u32> = (0..300_000).collect();
            for width in [8, 20] {
                let (run, more) = (
                    keys(width, all.iter().filter(is_own)),
                    keys(width, all.iter().filter(|number| !is_own(number))),
                );
                for threads in [1, 2, 5] {
                    let mut run = run.clone();
                    grow(width, &mut run, &more, threads, &mut vec![1; 100]);
                    assert!(run == keys(width, &all), "{own}, {others}, {width}, {threads}");
                }
            }
        }
    }
}
