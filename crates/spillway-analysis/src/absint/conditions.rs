//! Consequences of a true or false condition for the places that it reads.

use spillway_ir::interval::{self, Interval, is_none};
use spillway_ir::{BinaryOp, Expr, ExprKind, Place, UnaryOp};

/// A condition that is assumed to be true or false.
#[derive(Clone, Copy, Debug)]
pub struct AssumedCondition<'e> {
    /// The condition.
    pub condition: &'e Expr,
    /// Whether the condition is assumed to be true.
    pub holds: bool,
}

/// Facts about places that conditions refine.
pub trait ConditionRefinement: Sized {
    /// Returns the possible values of an expression.
    fn range(&mut self, expr: &Expr) -> Interval;

    /// Returns the possible values of a place.
    fn range_at(&mut self, place: &Place) -> Interval;

    /// Restricts the value of a place to a bound. Returns false if that is impossible.
    fn narrow(&mut self, place: &Place, bound: Interval) -> bool;

    /// Assumes that at least one of two conditions holds as given. The second one is evaluated only if the first one
    /// fails. Returns false if neither is possible.
    fn assume_either(&mut self, one: AssumedCondition<'_>, other: AssumedCondition<'_>) -> bool {
        let _ = (one, other);
        true
    }

    /// Assumes that a condition of another kind is true or false. Returns false if that is impossible.
    fn assume_query(&mut self, condition: AssumedCondition<'_>) -> bool {
        let _ = condition;
        true
    }
}

/// Assumes that an evaluated condition is true or false. Returns false if that is impossible.
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

/// Assumes that a comparison holds. Returns false if that is impossible.
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
