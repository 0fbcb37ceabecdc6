//! A single value, if it is known.

use super::AbstractValue;
use spillway_ir::{Arithmetic, BinaryOp, ConversionPiece, UnaryOp};

/// The value of an expression. `None` if it is unknown or if the evaluation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownValue(pub Option<i64>);

impl AbstractValue for KnownValue {
    fn constant(value: i64) -> KnownValue {
        KnownValue(Some(value))
    }

    fn unary(arithmetic: Arithmetic, operator: UnaryOp, operand: KnownValue) -> KnownValue {
        KnownValue(operand.0.and_then(|it| arithmetic.unary(operator, it).ok()))
    }

    fn binary(
        arithmetic: Arithmetic,
        operator: BinaryOp,
        left: KnownValue,
        right: KnownValue,
    ) -> KnownValue {
        let of_left = |left| match operator.short_circuit_value(left) {
            Some(decided) => Some(decided),
            None => arithmetic.binary(operator, left, right.0?).ok(),
        };
        KnownValue(left.0.and_then(of_left))
    }

    fn conditional(condition: KnownValue, then: KnownValue, otherwise: KnownValue) -> KnownValue {
        let chosen = |value| if value != 0 { then.0 } else { otherwise.0 };
        KnownValue(condition.0.and_then(chosen))
    }

    fn converted(self, pieces: &[ConversionPiece]) -> KnownValue {
        let convert = |value| {
            let piece = pieces.iter().find(|it| it.low <= value && value <= it.high)?;
            Some(value + piece.by)
        };
        KnownValue(self.0.and_then(convert))
    }
}
