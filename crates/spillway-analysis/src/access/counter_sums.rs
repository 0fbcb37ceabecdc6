//! Commutativity of additions of constants to counters.

use spillway_ir::interval::Interval;
use spillway_ir::{Arithmetic, OverflowRule};

/// An addition of a constant to a counter.
pub(super) struct CounterSum {
    pub arithmetic: Arithmetic,
    /// The domain of the counter.
    pub domain: Interval,
    /// The range of the counter in reachable states, if it is known.
    pub range: Option<Interval>,
    pub by: i64,
    pub overflow: OverflowRule,
}

impl CounterSum {
    fn fits(&self, (low, high): Interval, within: Interval) -> bool {
        let by = i128::from(self.by);
        low <= high
            && i128::from(low) + by >= within.0.into()
            && i128::from(high) + by <= within.1.into()
    }

    /// Returns whether each sum of a value and the constant is an integer of the arithmetic.
    fn is_exact(&self) -> bool {
        self.fits(self.domain, self.arithmetic.integers())
    }

    /// Returns whether the sum is stored unchanged in all reachable states.
    fn always_fits(&self) -> bool {
        self.is_exact() && self.range.is_some_and(|range| self.fits(range, self.domain))
    }

    /// Returns whether additions commute: sums modulo one number do, and so do sums that never leave the domain.
    pub fn commutes(&self) -> bool {
        let is_word =
            self.arithmetic == Arithmetic::Wrapping32 && self.domain == self.arithmetic.integers();
        let wraps = self.overflow == OverflowRule::Wraps && self.is_exact();
        is_word || wraps || self.always_fits()
    }

    /// Returns whether the sum is stored unchanged unless the step fails.
    pub fn is_monotone(&self) -> bool {
        self.is_exact() && (self.overflow == OverflowRule::Fails || self.always_fits())
    }
}
