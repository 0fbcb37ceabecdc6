//! Actions that surely change the state.
//!
//! If a step to the same state is no transition, a step that changes only dead scalars must not be turned into one.
//! So scalars are reset after an action only if it surely changes something else. Either its mover changes its
//! location, or it assigns a constant that differs from the value in its guard.

use crate::access::walk::is_same_place;
use spillway_ir::{
    Action, BinaryOp, Expr, ExprKind, OverflowRule, Place, PlaceRoot, PlaceSelector, Program, Stmt,
    StmtKind, TurnRule, UnaryOp,
};

/// Returns whether an action surely changes the mover's location or a live place.
pub(super) fn surely_changes_state(
    program: &Program,
    action: &Action,
    is_live: impl Fn(&Place) -> bool,
) -> bool {
    // Later actions of the same step may undo its changes.
    if action.control.turn != TurnRule::Open || program.has_dynamic_processes() {
        return false;
    }
    if action.edge.is_some_and(|edge| edge.from != edge.to) {
        return true;
    }
    let mut known = Vec::new();
    action.guard.iter().for_each(|guard| constants(guard, &mut known));
    known.iter().any(|&(place, value)| {
        is_fixed(place) && is_live(place) && ends_with_another(&action.body, place, value)
    })
}

/// Adds the places whose value a true condition determines.
fn constants<'e>(condition: &'e Expr, known: &mut Vec<(&'e Place, i64)>) {
    match &condition.kind {
        ExprKind::Binary(BinaryOp::And, left, right) => {
            constants(left, known);
            constants(right, known);
        }
        ExprKind::Binary(BinaryOp::Equal, left, right) => match (&left.kind, &right.kind) {
            (ExprKind::Read(place), ExprKind::Constant(value))
            | (ExprKind::Constant(value), ExprKind::Read(place)) => known.push((place, *value)),
            _ => {}
        },
        ExprKind::Unary(UnaryOp::Not, operand) => {
            if let ExprKind::Read(place) = &operand.kind {
                known.push((place, 0));
            }
        }
        _ => {}
    }
}

/// Returns whether a place is the same throughout a step: it belongs to a variable and has constants and names as
/// indices.
fn is_fixed(place: &Place) -> bool {
    let is_fixed = |step: &PlaceSelector| match step {
        PlaceSelector::Field(_) => true,
        PlaceSelector::Index(index) => {
            matches!(index.kind, ExprKind::Constant(_) | ExprKind::Local(_))
        }
    };
    matches!(place.root, PlaceRoot::Variable(_))
        && place.slot.is_none()
        && place.path.iter().all(is_fixed)
}

/// Returns whether a body surely assigns another constant to a place. The last statement that may write the variable
/// must do so.
fn ends_with_another(body: &[Stmt], place: &Place, value: i64) -> bool {
    let stores = |stmt: &Stmt| match &stmt.kind {
        // Expressions change nothing.
        StmtKind::Assign { target, .. } => {
            target.root == place.root || matches!(target.root, PlaceRoot::Local(_))
        }
        _ => true,
    };
    match body.iter().rev().find(|stmt| stores(stmt)).map(|stmt| &stmt.kind) {
        Some(StmtKind::Assign { target, value: stored, overflow: OverflowRule::Fails }) => {
            let is_other = |stored: i64| stored != value;
            is_same_place(target, place) && stored.as_constant().is_some_and(is_other)
        }
        _ => false,
    }
}
