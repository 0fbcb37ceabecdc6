//! The abstract interpreter of expressions (Cousot and Cousot 1977).
//!
//! [`evaluate`] computes the abstract value of an expression from the abstract values of its parts, by rules that all
//! analyses share. An [`AbstractValue`] is a [range](CheckedRange) with whether the computation may fail, or [one
//! value](KnownValue) if it is known. The [`Environment`] of an analysis gives the values of places, locals and parts
//! that are already evaluated.
//!
//! [`assume`] goes backwards: it derives facts about places from a condition that is true or false.

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

use spillway_ir::{Arithmetic, BinaryOp, ConversionPiece, Expr, ExprKind, LocalId, Place, UnaryOp};

/// An abstract value, which represents a set of integers.
pub trait AbstractValue: Sized {
    /// Returns the value of a constant.
    fn constant(value: i64) -> Self;

    /// Computes `operator operand`.
    fn unary(arithmetic: Arithmetic, operator: UnaryOp, operand: Self) -> Self;

    /// Computes `left operator right`. The right side does not matter if the left one decides.
    fn binary(arithmetic: Arithmetic, operator: BinaryOp, left: Self, right: Self) -> Self;

    /// Computes `condition ? then : otherwise`.
    fn conditional(condition: Self, then: Self, otherwise: Self) -> Self;

    /// Converts the value to another numbering.
    fn converted(self, pieces: &[ConversionPiece]) -> Self;
}

/// The facts about the state in which an expression is evaluated.
pub trait Environment: Sized {
    /// The abstract values of the analysis.
    type Value: AbstractValue;

    /// Returns the arithmetic of the program.
    fn arithmetic(&self) -> Arithmetic;

    /// Returns the value of a place that must be defined.
    fn read(&mut self, place: &Place) -> Self::Value;

    /// Returns the value of a local.
    fn local(&mut self, local: LocalId) -> Self::Value;

    /// Returns the value of an expression that is not computed from other values: a query about control, channels or
    /// multisets, a call, or an undefined value.
    fn query(&mut self, expr: &Expr) -> Self::Value;

    /// Returns the value of an expression or of a part of one. An analysis overrides this to use or record values.
    fn value(&mut self, expr: &Expr) -> Self::Value {
        evaluate(self, expr)
    }

    /// Returns the value of the condition of a conditional expression.
    fn condition(&mut self, condition: &Expr) -> Self::Value {
        self.value(condition)
    }

    /// Returns the value of an expression that is evaluated only if an evaluated condition is true or false, as
    /// given.
    fn value_under(&mut self, condition: &Expr, holds: bool, expr: &Expr) -> Self::Value {
        let _ = (condition, holds);
        self.value(expr)
    }
}

/// Computes the value of an expression from the values of its parts.
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
