//! Constructors of expressions that fold constants. Sizes need constants, and folded offsets cost nothing at run time.

use crate::murphi::ARITHMETIC;
use spillway_base::source::Span;
use spillway_ir::{BinaryOp, ConversionPiece, Expr, ExprKind, NumberConversion, UnaryOp};

/// Returns the operation, or its result if the operands are known and it has one.
pub(super) fn binary(operator: BinaryOp, left: Expr, right: Expr, span: Span) -> Expr {
    let known = match (left.as_constant(), right.as_constant()) {
        (Some(left), Some(right)) => compute(operator, left, right),
        (Some(left), None) => match (operator, operator.short_circuit_value(left)) {
            (BinaryOp::And | BinaryOp::Or | BinaryOp::Implies, None) => return right,
            (_, decided) => decided,
        },
        _ => None,
    };
    match known {
        Some(value) => Expr::constant(value, span),
        None => Expr::new(ExprKind::Binary(operator, Box::new(left), Box::new(right)), span),
    }
}

fn compute(operator: BinaryOp, left: i64, right: i64) -> Option<i64> {
    ARITHMETIC.binary(operator, left, right).ok()
}

/// Returns the operation, or its result if the operand is known.
pub(super) fn unary(operator: UnaryOp, operand: Expr, span: Span) -> Expr {
    let known = operand.as_constant().and_then(|value| ARITHMETIC.unary(operator, value).ok());
    match known {
        Some(value) => Expr::constant(value, span),
        None => Expr::new(ExprKind::Unary(operator, Box::new(operand)), span),
    }
}

/// Returns the conditional expression, or one operand if the condition is known.
pub(super) fn conditional(condition: Expr, then: Expr, otherwise: Expr, span: Span) -> Expr {
    match condition.as_constant() {
        Some(0) => otherwise,
        Some(_) => then,
        None => {
            let parts = [condition, then, otherwise].map(Box::new);
            let [condition, then, otherwise] = parts;
            Expr::new(ExprKind::Conditional(condition, then, otherwise), span)
        }
    }
}

/// Returns the value in its other numbering.
pub(super) fn convert(operand: Expr, pieces: Vec<ConversionPiece>) -> Expr {
    let span = operand.span;
    let known = operand.as_constant().and_then(|value| {
        let piece = pieces.iter().find(|piece| (piece.low..=piece.high).contains(&value))?;
        Some(value + piece.by)
    });
    match known {
        Some(value) => Expr::constant(value, span),
        None => Expr::new(ExprKind::Convert(Box::new(NumberConversion { operand, pieces })), span),
    }
}

/// Returns the condition that two values of a scalarset or of a union are equal, or both undefined.
pub(super) fn same(left: Expr, right: Expr, span: Span) -> Expr {
    match is_stable(&left) && is_stable(&right) {
        true => binary(BinaryOp::Equal, left, right, span),
        false => Expr::new(ExprKind::Same(Box::new(left), Box::new(right)), span),
    }
}

/// Returns whether an expression reads no state, so that its value depends only on its locals.
pub(super) fn is_stable(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Constant(_) | ExprKind::Local(_) => true,
        ExprKind::Unary(_, operand) => is_stable(operand),
        ExprKind::Binary(_, left, right) => is_stable(left) && is_stable(right),
        ExprKind::Conditional(condition, then, otherwise) => {
            is_stable(condition) && is_stable(then) && is_stable(otherwise)
        }
        ExprKind::Convert(convert) => is_stable(&convert.operand),
        _ => false,
    }
}
