//! What a condition that holds, or does not, says of the state.

use super::{AbstractState, FailureAnalysis};
use crate::ir::interval::{self, Interval, is_none};
use crate::ir::{BinaryOp, Expr, ExprKind, Place, UnaryOp};

impl FailureAnalysis<'_> {
    /// Notes that a condition that has been judged holds, or does not.
    pub(super) fn assume(&mut self, condition: &Expr, holds: bool) {
        match &condition.kind {
            ExprKind::Constant(value) if (*value != 0) != holds => {
                self.of.state = AbstractState::unreachable()
            }
            ExprKind::Unary(UnaryOp::Not, operand) => self.assume(operand, !holds),
            ExprKind::Binary(operator, left, right) => match (operator, holds) {
                (BinaryOp::And, true) => self.both((left, true), (right, true)),
                (BinaryOp::Or, false) => self.both((left, false), (right, false)),
                (BinaryOp::Implies, false) => self.both((left, true), (right, false)),
                (BinaryOp::And, false) => self.either((left, false), (right, false)),
                (BinaryOp::Or, true) => self.either((left, true), (right, true)),
                (BinaryOp::Implies, true) => self.either((left, false), (right, true)),
                _ => self.compare(*operator, left, right, holds),
            },
            // What is equal to something that has a value has one.
            ExprKind::Same(left, right) => {
                let has_value = |it: &Expr| matches!(it.kind, ExprKind::Constant(_));
                let has_value = has_value(left) || has_value(right);
                if holds && has_value {
                    self.compare(BinaryOp::Equal, left, right, true);
                }
            }
            ExprKind::Read(place) => {
                let (low, high) = self.of.values_at(place);
                match holds {
                    true if low == 0 => self.narrow(place, (1, high)),
                    true if high == 0 => self.narrow(place, (low, -1)),
                    true => {}
                    false => self.narrow(place, (0, 0)),
                }
            }
            ExprKind::IsUndefined(place) if !holds => {
                let held = self.of.values_at(place);
                self.narrow(place, held);
            }
            ExprKind::Contains(contains) if holds => {
                let cell = self.of.certain_cell(&contains.multiset);
                if let Some((cell, at)) = cell.zip(self.of.single(&contains.position)) {
                    self.of.state.contains(cell, at);
                }
            }
            _ => {}
        }
    }

    fn both(&mut self, one: (&Expr, bool), other: (&Expr, bool)) {
        self.assume(one.0, one.1);
        self.assume(other.0, other.1);
    }

    /// The second is judged only if the first is not so.
    fn either(&mut self, one: (&Expr, bool), other: (&Expr, bool)) {
        let before = self.of.state.clone();
        self.assume(one.0, one.1);
        let first = std::mem::replace(&mut self.of.state, before);
        self.assume(one.0, !one.1);
        self.assume(other.0, other.1);
        self.of.state.join(first);
    }

    fn compare(&mut self, operator: BinaryOp, left: &Expr, right: &Expr, holds: bool) {
        let operator = if holds { Some(operator) } else { operator.negated() };
        let Some(operator) = operator else { return };
        let (one, other) = (self.of.values(left), self.of.values(right));
        if is_none(one) || is_none(other) {
            return;
        }
        let bounds = interval::bounds(operator, one, other);
        let Some((of_left, of_right)) = bounds else { return };
        for (expr, bound) in [(left, of_left), (right, of_right)] {
            if let ExprKind::Read(place) = &expr.kind {
                self.narrow(place, bound);
            }
        }
    }

    /// Notes that what is at a place is within a bound, and has been read.
    fn narrow(&mut self, place: &Place, bound: Interval) {
        let Some(cell) = self.of.certain_cell(place) else { return };
        let held = self.of.values_at(place);
        if !is_none(held) {
            self.of.state.set(cell, (held.0.max(bound.0), held.1.min(bound.1)));
        }
    }
}
