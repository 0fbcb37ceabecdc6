//! Walks through two ascending sets in step: from the front of both on, always past the lesser key.
//!
//! Where a step leads is known once two keys have been compared, and each step waits for the one before. So both sets are cut at
//! a key, and the walks through their two halves take turns: what one comes to does not depend on the other, and the processor has
//! both under way at a time.

use std::ops::Range;

/// Where a walk is.
pub(super) struct WalkCursors {
    /// The next key of the first set, and where that ends.
    pub(super) next: usize,
    pub(super) end: usize,
    /// The next key of the second set, and where that ends.
    pub(super) passed: usize,
    pub(super) passed_end: usize,
    /// The index after the keys taken.
    pub(super) taken: usize,
}

impl WalkCursors {
    /// So many steps can be taken at least.
    pub(super) fn steps_min(&self) -> usize {
        (self.end - self.next).min(self.passed_end - self.passed)
    }
}

/// Both halves of a walk through the keys `range` of a set and the first `count` of another, of which as many belong to the
/// first half as `less` says are less than the key in the middle of the range. That half takes keys to `taken`, the other to
/// where it begins in the first set.
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
    /// Goes on by a key of either set, or by one of each.
    fn step(&mut self, at: &mut WalkCursors);
}

/// Takes all steps of two walks, in turns.
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
