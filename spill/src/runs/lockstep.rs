//! Walks through two ascending sets in step: each step passes the lesser of the two front keys.
//!
//! Each step depends on the comparison before it. So both sets are split at a key, and the walks through the two
//! halves alternate. They are independent, so the processor executes both at the same time.

use std::ops::Range;

/// The cursors of a walk.
pub(super) struct WalkCursors {
    /// The next key of the first set, and its end.
    pub(super) next: usize,
    pub(super) end: usize,
    /// The next key of the second set, and its end.
    pub(super) passed: usize,
    pub(super) passed_end: usize,
    /// The index after the keys taken.
    pub(super) taken: usize,
}

impl WalkCursors {
    /// Returns the minimum number of steps that are possible.
    pub(super) fn steps_min(&self) -> usize {
        (self.end - self.next).min(self.passed_end - self.passed)
    }
}

/// Splits a walk through the keys `range` of a set and the first `count` of another into two halves at the middle key
/// of the range; `less` returns the number of keys of the other set that are less. The first half takes keys to
/// `taken`, the second to its start in the first set.
pub(super) fn split_halves(
    range: Range<usize>,
    taken: usize,
    count: usize,
    less: impl FnOnce(usize) -> usize,
) -> [WalkCursors; 2] {
    let middle = range.start + range.len() / 2;
    let split = if range.is_empty() { 0 } else { less(middle) };
    let low = WalkCursors { next: range.start, end: middle, passed: 0, passed_end: split, taken };
    let end = range.end;
    let high = WalkCursors { next: middle, end, passed: split, passed_end: count, taken: middle };
    [low, high]
}

/// A walk through two sets in step.
pub(super) trait LockstepWalk {
    /// Takes a key of either set, or one of each.
    fn step(&mut self, at: &mut WalkCursors);
}

/// Takes all steps of two walks, alternating.
#[inline(always)]
pub(super) fn walk_interleaved(
    [mut low, mut high]: [WalkCursors; 2],
    walk: &mut impl LockstepWalk,
) -> [WalkCursors; 2] {
    loop {
        let steps = low.steps_min().min(high.steps_min());
        if steps == 0 {
            break;
        }
        for _ in 0..steps {
            walk.step(&mut low);
            walk.step(&mut high);
        }
    }
    while low.steps_min() > 0 {
        walk.step(&mut low);
    }
    while high.steps_min() > 0 {
        walk.step(&mut high);
    }
    [low, high]
}
