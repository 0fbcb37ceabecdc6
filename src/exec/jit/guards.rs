//! The parts of guards.

use crate::ir::{Action, Binary, Expr, ExprKind};

/// What a guard begins with.
pub(super) fn first_conjunct(action: &Action) -> Option<&Expr> {
    let mut first = action.guard.as_ref()?;
    while let ExprKind::Binary(Binary::And, left, _) = &first.kind {
        first = left;
    }
    Some(first)
}
