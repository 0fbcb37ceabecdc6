//! Constants that are added to counters: whether their order matters.

use crate::ir::interval::Interval;
use crate::ir::{Arithmetic, OverflowRule};

/// A constant that is added to a counter.
pub(super) struct CounterSum {
    pub arithmetic: Arithmetic,
    /// What the counter may hold.
    pub domain: Interval,
    /// What it ever holds, if that is known.
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

    /// Whether the sum of every value and the constant is an integer of the arithmetic.
    fn is_exact(&self) -> bool {
        self.fits(self.domain, self.arithmetic.integers())
    }

    /// Whether the sum is stored as it is, in all reachable states.
    fn always_fits(&self) -> bool {
        self.is_exact() && self.range.is_some_and(|range| self.fits(range, self.domain))
    }

    /// Sums modulo one number are the same in any order, and so are sums that never leave the domain.
    pub fn commutes(&self) -> bool {
        let is_word =
            self.arithmetic == Arithmetic::Wrapping32 && self.domain == self.arithmetic.integers();
        let wraps = self.overflow == OverflowRule::Wraps && self.is_exact();
        is_word || wraps || self.always_fits()
    }

    /// Whether a sum is stored as it is, or the step fails.
    pub fn is_monotone(&self) -> bool {
        self.is_exact() && (self.overflow == OverflowRule::Fails || self.always_fits())
    }
}
