//! Actions that surely lead to another state than the one they begin in.
//!
//! Where a step back to where it began is none that leads on, a step that changes only what is dead would become one. So
//! what is dead behind an action is reset only if it is known to change something else: its mover goes
//! somewhere else, or it sets to a constant what its guard says is another.

use crate::analysis::access::walk::is_same_place;
use crate::ir::{
    Action, BinaryOp, Expr, ExprKind, OverflowRule, Place, PlaceRoot, PlaceSelector, Program, Stmt,
    StmtKind, TurnRule, UnaryOp,
};

/// Whether an action surely changes the mover's location or what is at a place that is live.
pub(super) fn surely_changes_state(
    program: &Program,
    action: &Action,
    is_live: impl Fn(&Place) -> bool,
) -> bool {
    // Others of the same step may take back what it does.
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

/// The places whose value a condition that holds tells.
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

/// Whether a place is the same throughout a step: a variable's, indexed by constants and names.
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

/// Whether a body surely leaves another constant at a place: the last statement that may write its variable stores
/// it.
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
