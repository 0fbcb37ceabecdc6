//! Facts about the state from conditions that are true or false.

use super::{AbstractState, FailureAnalysis};
use crate::absint::{self, AssumedCondition, ConditionRefinement};
use spillway_ir::interval::{Interval, is_none};
use spillway_ir::{BinaryOp, Expr, ExprKind, Place};

impl FailureAnalysis<'_> {
    /// Assumes that an evaluated condition is true or false.
    pub(super) fn assume(&mut self, condition: &Expr, holds: bool) {
        if !absint::assume(self, condition, holds) {
            self.of.state = AbstractState::unreachable();
        }
    }

    /// Assumes that two evaluated expressions have the same value.
    pub(super) fn assume_equal(&mut self, one: &Expr, other: &Expr) {
        if !absint::assume_comparison(self, BinaryOp::Equal, one, other) {
            self.of.state = AbstractState::unreachable();
        }
    }
}

impl ConditionRefinement for FailureAnalysis<'_> {
    fn range(&mut self, expr: &Expr) -> Interval {
        self.of.values(expr)
    }

    fn range_at(&mut self, place: &Place) -> Interval {
        self.of.values_at(place)
    }

    /// A compared place has been read, so it is defined.
    fn narrow(&mut self, place: &Place, bound: Interval) -> bool {
        let held = self.of.values_at(place);
        let both = (held.0.max(bound.0), held.1.min(bound.1));
        if let Some(cell) = self.of.certain_cell(place)
            && !is_none(held)
        {
            self.of.state.set(cell, both);
        }
        is_none(held) || !is_none(both)
    }

    fn assume_either(&mut self, one: AssumedCondition<'_>, other: AssumedCondition<'_>) -> bool {
        let before = self.of.state.clone();
        self.assume(one.condition, one.holds);
        let first = std::mem::replace(&mut self.of.state, before);
        self.assume(one.condition, !one.holds);
        self.assume(other.condition, other.holds);
        self.of.state.join(first);
        true
    }

    fn assume_query(&mut self, assumed: AssumedCondition<'_>) -> bool {
        match &assumed.condition.kind {
            // A value that equals a defined value is defined.
            ExprKind::Same(left, right) if assumed.holds => {
                let has_value = |it: &Expr| it.as_constant().is_some();
                let is_known = has_value(left) || has_value(right);
                !is_known || absint::assume_comparison(self, BinaryOp::Equal, left, right)
            }
            ExprKind::IsUndefined(place) if !assumed.holds => {
                let held = self.of.values_at(place);
                self.narrow(place, held)
            }
            ExprKind::Contains(contains) if assumed.holds => {
                let cell = self.of.certain_cell(&contains.multiset);
                if let Some((cell, at)) = cell.zip(self.of.single(&contains.position)) {
                    self.of.state.contains(cell, at);
                }
                true
            }
            _ => true,
        }
    }
}
