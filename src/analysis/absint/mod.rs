//! The abstract interpreter of expressions.
//!
//! What an expression gives follows from what its parts give, by rules that are the same for every analysis
//! (Cousot and Cousot 1977): [`evaluate`] has them. The values that an analysis computes with are an
//! [`AbstractValue`]: a [range](CheckedRange) with whether computing it may fail, or [one value](KnownValue) if it
//! is known. What an analysis knows where an expression stands is its [`Environment`]: what is at places, what
//! locals stand for, which parts have been evaluated before.
//!
//! [`assume`] is the reverse: what a condition that holds, or does not, says of the places that it reads.

mod checked_range;
mod conditions;
mod known_value;
mod queries;
#[cfg(test)]
mod tests;

pub use checked_range::CheckedRange;
pub use conditions::{AssumedCondition, ConditionRefinement, assume, assume_comparison};
pub use known_value::KnownValue;
pub use queries::{PIDS, query_range};

use crate::ir::{Arithmetic, BinaryOp, ConversionPiece, Expr, ExprKind, LocalId, Place, UnaryOp};

/// What an analysis computes with in place of integers.
pub trait AbstractValue: Sized {
    /// A known value.
    fn constant(value: i64) -> Self;

    /// `operator operand`.
    fn unary(arithmetic: Arithmetic, operator: UnaryOp, operand: Self) -> Self;

    /// `left operator right`, where the right side has no part if the left one decides.
    fn binary(arithmetic: Arithmetic, operator: BinaryOp, left: Self, right: Self) -> Self;

    /// `condition ? then : otherwise`.
    fn conditional(condition: Self, then: Self, otherwise: Self) -> Self;

    /// The value in another numbering.
    fn converted(self, pieces: &[ConversionPiece]) -> Self;
}

/// What an analysis knows where an expression is evaluated.
pub trait Environment: Sized {
    /// What it computes with.
    type Value: AbstractValue;

    /// The integers that the program computes in.
    fn arithmetic(&self) -> Arithmetic;

    /// What is at a place, which has to have a value.
    fn read(&mut self, place: &Place) -> Self::Value;

    /// What a local stands for.
    fn local(&mut self, local: LocalId) -> Self::Value;

    /// What an expression gives that is not computed from other values: that asks about control, channels or
    /// multisets, calls a function, or is undefined.
    fn query(&mut self, expr: &Expr) -> Self::Value;

    /// What an expression gives, or a part of one. An analysis that knows some before, or notes them, does it here.
    fn value(&mut self, expr: &Expr) -> Self::Value {
        evaluate(self, expr)
    }

    /// What the condition of a conditional expression gives.
    fn condition(&mut self, condition: &Expr) -> Self::Value {
        self.value(condition)
    }

    /// What an expression gives that is only evaluated where a condition, which has been evaluated, holds, or does not.
    fn value_under(&mut self, condition: &Expr, holds: bool, expr: &Expr) -> Self::Value {
        let _ = (condition, holds);
        self.value(expr)
    }
}

/// What an expression gives, from what its parts give.
pub fn evaluate<E: Environment>(environment: &mut E, expr: &Expr) -> E::Value {
    let arithmetic = environment.arithmetic();
    match &expr.kind {
        ExprKind::Constant(value) => E::Value::constant(*value),
        ExprKind::Read(place) => environment.read(place),
        ExprKind::Local(local) => environment.local(*local),
        ExprKind::Unary(operator, operand) => {
            E::Value::unary(arithmetic, *operator, environment.value(operand))
        }
        ExprKind::Binary(operator, left, right) => {
            let one = environment.value(left);
            let other = match operator {
                BinaryOp::And | BinaryOp::Implies => environment.value_under(left, true, right),
                BinaryOp::Or => environment.value_under(left, false, right),
                _ => environment.value(right),
            };
            E::Value::binary(arithmetic, *operator, one, other)
        }
        ExprKind::Conditional(condition, then, otherwise) => {
            let holds = environment.condition(condition);
            let then = environment.value_under(condition, true, then);
            let otherwise = environment.value_under(condition, false, otherwise);
            E::Value::conditional(holds, then, otherwise)
        }
        ExprKind::Convert(convert) => {
            environment.value(&convert.operand).converted(&convert.pieces)
        }
        _ => environment.query(expr),
    }
}
