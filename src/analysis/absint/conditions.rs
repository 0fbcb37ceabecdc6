//! What a condition that holds, or does not, says of the places that it reads.

use crate::ir::interval::{self, Interval, is_none};
use crate::ir::{BinaryOp, Expr, ExprKind, Place, UnaryOp};

/// A condition that is true, or one that is false.
#[derive(Clone, Copy, Debug)]
pub struct AssumedCondition<'e> {
    /// The condition.
    pub condition: &'e Expr,
    /// Whether it is true.
    pub holds: bool,
}

/// Knowledge of places that conditions make more precise.
pub trait ConditionRefinement: Sized {
    /// The values that an expression has.
    fn range(&mut self, expr: &Expr) -> Interval;

    /// The values that are at a place.
    fn range_at(&mut self, place: &Place) -> Interval;

    /// Notes that what is at a place is within a bound. Gives false if it cannot be.
    fn narrow(&mut self, place: &Place, bound: Interval) -> bool;

    /// Notes that at least one of two conditions is as assumed, the second of which is evaluated only if the first is not so.
    /// Gives false if neither can be.
    fn assume_either(&mut self, one: AssumedCondition<'_>, other: AssumedCondition<'_>) -> bool {
        let _ = (one, other);
        true
    }

    /// Notes that a condition of another kind holds, or does not. Gives false if it cannot be.
    fn assume_query(&mut self, condition: AssumedCondition<'_>) -> bool {
        let _ = condition;
        true
    }
}

/// Notes that a condition which has been evaluated holds, or does not. Gives false if it cannot be.
pub fn assume<R: ConditionRefinement>(known: &mut R, condition: &Expr, holds: bool) -> bool {
    let is = |condition, holds| AssumedCondition { condition, holds };
    match &condition.kind {
        ExprKind::Constant(value) => (*value != 0) == holds,
        ExprKind::Unary(UnaryOp::Not, operand) => assume(known, operand, !holds),
        ExprKind::Binary(operator, left, right) => match (operator, holds) {
            (BinaryOp::And, true) => assume(known, left, true) && assume(known, right, true),
            (BinaryOp::Or, false) => assume(known, left, false) && assume(known, right, false),
            (BinaryOp::Implies, false) => assume(known, left, true) && assume(known, right, false),
            (BinaryOp::And, false) => known.assume_either(is(left, false), is(right, false)),
            (BinaryOp::Or, true) => known.assume_either(is(left, true), is(right, true)),
            (BinaryOp::Implies, true) => known.assume_either(is(left, false), is(right, true)),
            _ => {
                let operator = if holds { Some(*operator) } else { operator.negated() };
                operator.is_none_or(|it| assume_comparison(known, it, left, right))
            }
        },
        ExprKind::Read(place) => {
            let (low, high) = known.range_at(place);
            match holds {
                true if low == 0 => known.narrow(place, (1, high)),
                true if high == 0 => known.narrow(place, (low, -1)),
                true => true,
                false => known.narrow(place, (0, 0)),
            }
        }
        _ => known.assume_query(is(condition, holds)),
    }
}

/// Notes that a comparison holds. Gives false if it cannot.
pub fn assume_comparison<R: ConditionRefinement>(
    known: &mut R,
    operator: BinaryOp,
    left: &Expr,
    right: &Expr,
) -> bool {
    let (one, other) = (known.range(left), known.range(right));
    if is_none(one) || is_none(other) {
        return false;
    }
    let Some((of_left, of_right)) = interval::bounds(operator, one, other) else { return true };
    [(left, of_left), (right, of_right)].into_iter().all(|(expr, bound)| match &expr.kind {
        ExprKind::Read(place) => known.narrow(place, bound),
        _ => true,
    })
}
