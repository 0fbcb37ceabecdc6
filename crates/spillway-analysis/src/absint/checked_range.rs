//! Ranges of values, with whether the computation may fail.

use super::AbstractValue;
use spillway_ir::interval::{self, Interval, NONE, ResultRange, hull, is_none};
use spillway_ir::{Arithmetic, BinaryOp, ConversionPiece, UnaryOp};

/// The possible values of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckedRange {
    /// All values of the expression where its evaluation succeeds.
    pub range: Interval,
    /// Whether the last operation may wrap its result or fail on overflow.
    pub may_overflow: bool,
    /// Whether the evaluation of the expression or of a part of it may fail.
    pub may_fail: bool,
}

impl CheckedRange {
    /// Returns a range of values that need no computation.
    pub const fn exact(range: Interval) -> CheckedRange {
        CheckedRange { range, may_overflow: false, may_fail: false }
    }

    /// Returns a range of values whose evaluation may fail.
    pub const fn uncertain(range: Interval) -> CheckedRange {
        CheckedRange { range, may_overflow: false, may_fail: true }
    }

    /// Returns the truth value of a condition if all values in the range have the same one.
    fn truth(self) -> Option<bool> {
        match self.range {
            (0, 0) => Some(false),
            (low, high) if !is_none((low, high)) && (low > 0 || high < 0) => Some(true),
            _ => None,
        }
    }
}

/// Returns whether an operation on defined operands may fail.
fn operation_may_fail(
    arithmetic: Arithmetic,
    operator: BinaryOp,
    right: Interval,
    may_overflow: bool,
) -> bool {
    let is_refused = arithmetic == Arithmetic::Checked64 && may_overflow;
    match operator {
        BinaryOp::Divide | BinaryOp::Remainder => (right.0 <= 0 && 0 <= right.1) || is_refused,
        BinaryOp::ShiftLeft | BinaryOp::ShiftRight => {
            right.0 < 0 || right.1 >= arithmetic.word() || is_refused
        }
        _ => is_refused && !arithmetic.always_succeeds(operator),
    }
}

impl AbstractValue for CheckedRange {
    fn constant(value: i64) -> CheckedRange {
        CheckedRange::exact((value, value))
    }

    fn unary(arithmetic: Arithmetic, operator: UnaryOp, operand: CheckedRange) -> CheckedRange {
        // The negation of the least integer is no integer.
        let may_overflow = operator == UnaryOp::Negate
            && interval::binary(arithmetic, BinaryOp::Subtract, (0, 0), operand.range).may_overflow;
        let is_refused = may_overflow && !arithmetic.always_succeeds_on_one(operator);
        CheckedRange {
            range: interval::unary(arithmetic, operator, operand.range),
            may_overflow,
            may_fail: operand.may_fail || is_refused,
        }
    }

    fn binary(
        arithmetic: Arithmetic,
        operator: BinaryOp,
        left: CheckedRange,
        right: CheckedRange,
    ) -> CheckedRange {
        let ResultRange { range, may_overflow } =
            interval::binary(arithmetic, operator, left.range, right.range);
        let decided = left.truth().and_then(|it| operator.short_circuit_value(it.into()));
        let right_fails = decided.is_none() && right.may_fail;
        let fails = operation_may_fail(arithmetic, operator, right.range, may_overflow);
        CheckedRange { range, may_overflow, may_fail: left.may_fail || right_fails || fails }
    }

    fn conditional(
        condition: CheckedRange,
        then: CheckedRange,
        otherwise: CheckedRange,
    ) -> CheckedRange {
        CheckedRange {
            range: hull(then.range, otherwise.range),
            may_overflow: false,
            may_fail: condition.may_fail || then.may_fail || otherwise.may_fail,
        }
    }

    /// A value outside all pieces cannot be converted.
    fn converted(self, pieces: &[ConversionPiece]) -> CheckedRange {
        let (low, high) = self.range;
        let range = pieces.iter().fold(NONE, |all, piece| {
            let (low, high) = (low.max(piece.low), high.min(piece.high));
            if low > high { all } else { hull(all, (low + piece.by, high + piece.by)) }
        });
        CheckedRange {
            range,
            may_overflow: false,
            may_fail: self.may_fail || !are_covered(self.range, pieces),
        }
    }
}

/// Returns whether each value of a range is in a piece. Pieces are few and unordered.
fn are_covered((low, high): Interval, pieces: &[ConversionPiece]) -> bool {
    let mut next = low;
    while let Some(piece) =
        pieces.iter().find(|it| next <= high && it.low <= next && next <= it.high)
    {
        match piece.high.checked_add(1) {
            Some(after) => next = after,
            None => return true,
        }
    }
    next > high
}
