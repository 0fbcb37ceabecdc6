//! Building expressions, computing what is known: constants make sizes, and offsets that need no
//! computing later.

use crate::ir::{Binary, Convert, Expr, ExprKind, Piece, Unary};
use crate::source::Span;

/// The operation, or its result if the operands are known and it has one.
pub(super) fn binary(operator: Binary, left: Expr, right: Expr, span: Span) -> Expr {
    let known = match (left.as_constant(), right.as_constant()) {
        (Some(left), Some(right)) => compute(operator, left, right),
        (Some(left), None) => match (operator, left != 0) {
            (Binary::And, false) => Some(0),
            (Binary::Or, true) | (Binary::Implies, false) => Some(1),
            (Binary::And, true) | (Binary::Or, false) | (Binary::Implies, true) => return right,
            _ => None,
        },
        _ => None,
    };
    match known {
        Some(value) => Expr::constant(value, span),
        None => Expr { kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)), span },
    }
}

fn compute(operator: Binary, left: i64, right: i64) -> Option<i64> {
    let truth = |value: bool| Some(i64::from(value));
    match operator {
        Binary::Add => left.checked_add(right),
        Binary::Subtract => left.checked_sub(right),
        Binary::Multiply => left.checked_mul(right),
        Binary::Divide => left.checked_div(right),
        Binary::Remainder => left.checked_rem(right),
        Binary::BitAnd => Some(left & right),
        Binary::BitOr => Some(left | right),
        Binary::BitXor => Some(left ^ right),
        // Rare, and best left to where the faults of shifts are told.
        Binary::ShiftLeft | Binary::ShiftRight => None,
        Binary::Equal => truth(left == right),
        Binary::NotEqual => truth(left != right),
        Binary::Less => truth(left < right),
        Binary::LessEqual => truth(left <= right),
        Binary::Greater => truth(left > right),
        Binary::GreaterEqual => truth(left >= right),
        Binary::And => truth(left != 0 && right != 0),
        Binary::Or => truth(left != 0 || right != 0),
        Binary::Implies => truth(left == 0 || right != 0),
    }
}

/// The operation, or its result if the operand is known.
pub(super) fn unary(operator: Unary, operand: Expr, span: Span) -> Expr {
    let known = operand.as_constant().and_then(|value| match operator {
        Unary::Negate => value.checked_neg(),
        Unary::Not => Some((value == 0).into()),
        Unary::Complement => Some(!value),
    });
    match known {
        Some(value) => Expr::constant(value, span),
        None => Expr { kind: ExprKind::Unary(operator, Box::new(operand)), span },
    }
}

/// The value of one of two, or one of them if it is known which.
pub(super) fn conditional(condition: Expr, then: Expr, otherwise: Expr, span: Span) -> Expr {
    match condition.as_constant() {
        Some(0) => otherwise,
        Some(_) => then,
        None => {
            let parts = [condition, then, otherwise].map(Box::new);
            let [condition, then, otherwise] = parts;
            Expr { kind: ExprKind::Conditional(condition, then, otherwise), span }
        }
    }
}

/// The value in its other numbering.
pub(super) fn convert(operand: Expr, pieces: Vec<Piece>) -> Expr {
    let span = operand.span;
    let known = operand.as_constant().and_then(|value| {
        let piece = pieces.iter().find(|piece| (piece.low..=piece.high).contains(&value))?;
        Some(value + piece.by)
    });
    match known {
        Some(value) => Expr::constant(value, span),
        None => Expr { kind: ExprKind::Convert(Box::new(Convert { operand, pieces })), span },
    }
}

/// Whether two values of a scalarset or of a union are the same, or both undefined.
pub(super) fn same(left: Expr, right: Expr, span: Span) -> Expr {
    match is_stable(&left) && is_stable(&right) {
        true => binary(Binary::Equal, left, right, span),
        false => Expr { kind: ExprKind::Same(Box::new(left), Box::new(right)), span },
    }
}

/// Whether an expression has the same value wherever its locals are known: it reads no state.
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
