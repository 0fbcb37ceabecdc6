//! Conjuncts of guards.

use spillway_ir::{Action, BinaryOp, Expr, ExprKind};

/// Returns the first conjunct of a guard.
pub(super) fn first_conjunct(action: &Action) -> Option<&Expr> {
    let mut first = action.guard.as_ref()?;
    while let ExprKind::Binary(BinaryOp::And, left, _) = &first.kind {
        first = left;
    }
    Some(first)
}
