//! The values of expressions of a user in a state.

use super::TextModel;
use crate::ir::{BinaryOp, Expr, ExprKind, PropertyId, PropertyKind, UnaryOp};
use crate::model::{RuntimeFault, StateValue};

impl TextModel {
    /// Returns the value of the expression of a property in a state: a truth value, or a number where the language has
    /// numbers as conditions. `None` if the property has no expression about states.
    ///
    /// # Errors
    ///
    /// If the evaluation fails, with the reason.
    pub fn condition_value(
        &self,
        property: u32,
        state: &[u8],
    ) -> Result<Option<StateValue>, RuntimeFault> {
        let Some(expr) = self.condition(property) else { return Ok(None) };
        let value = self.interp.evaluate(expr, state)?;
        Ok(Some(match is_number(expr) {
            true => StateValue::Number(value),
            false => StateValue::Truth(value != 0),
        }))
    }

    /// Returns whether the expression of a property is a number and no truth value: an arithmetic one, or a constant
    /// other than 0 and 1.
    pub fn is_number_as_condition(&self, property: u32) -> bool {
        self.condition(property).is_some_and(|it| match it.kind {
            ExprKind::Constant(value) => !(0..=1).contains(&value),
            ExprKind::Read(_) | ExprKind::Conditional(..) => false,
            _ => is_number(it),
        })
    }

    /// Returns the expression of a property about states.
    fn condition(&self, property: u32) -> Option<&Expr> {
        match &self.interp.program().properties.get(PropertyId(property))?.kind {
            PropertyKind::Invariant(expr) => Some(expr),
            // A condition that has to hold in some state is stored as its negation.
            PropertyKind::Cover(negation) => Some(match &negation.kind {
                ExprKind::Unary(UnaryOp::Not, expr) => expr,
                _ => negation,
            }),
            _ => None,
        }
    }
}

/// Returns whether an expression has a number as its value, by its outermost operator.
fn is_number(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Unary(operator, _) => *operator != UnaryOp::Not,
        ExprKind::Binary(operator, ..) => matches!(
            operator,
            BinaryOp::Add
                | BinaryOp::Subtract
                | BinaryOp::Multiply
                | BinaryOp::Divide
                | BinaryOp::Remainder
                | BinaryOp::BitAnd
                | BinaryOp::BitOr
                | BinaryOp::BitXor
                | BinaryOp::ShiftLeft
                | BinaryOp::ShiftRight
        ),
        ExprKind::Constant(_)
        | ExprKind::Read(_)
        | ExprKind::Conditional(..)
        | ExprKind::Length(_)
        | ExprKind::Count { .. }
        | ExprKind::Processes => true,
        _ => false,
    }
}
