//! Writes the reduced net back to the program.

use super::action_parts::ActionParts;
use super::net::{CounterNet, ReducibleTransition};
use spillway_base::source::Span;
use spillway_ir::{
    Action, ActionControl, ActionId, BinaryOp, Entity as _, Expr, ExprKind, OverflowRule, Place,
    Program, Stmt, StmtKind, VarId,
};
use std::collections::BTreeSet;

/// The changes of the actions.
pub(super) struct RewrittenActions {
    /// The actions that execute several in sequence, with these.
    pub composed: Vec<(ActionId, Vec<ActionId>)>,
    /// The actions that are no longer executed alone.
    pub gone: BTreeSet<ActionId>,
}

/// Rewrites a program according to the net.
pub(super) fn write(net: &CounterNet, program: &mut Program) -> RewrittenActions {
    let before = program.clone();
    let mut gone: BTreeSet<ActionId> = before.actions.keys().collect();
    let mut composed = Vec::new();
    for (_, transition) in net.all() {
        match transition.sequence[..] {
            [id] => {
                gone.remove(&id);
                if transition.is_changed {
                    program.actions[id] = action(net, &before, transition);
                }
            }
            _ => {
                let id = program.actions.push(action(net, &before, transition));
                composed.push((id, transition.sequence.clone()));
            }
        }
    }
    for &id in &gone {
        let action = &mut program.actions[id];
        *action = Action {
            parameters: Vec::new(),
            guard: Some(Expr::constant(0, action.span)),
            body: Vec::new(),
            control: ActionControl::default(),
            ..action.clone()
        };
    }
    RewrittenActions { composed, gone }
}

/// Returns the action of a transition.
fn action(net: &CounterNet, program: &Program, transition: &ReducibleTransition) -> Action {
    let core = &program.actions[transition.core];
    let parts = ActionParts::of(program, core, &net.is_place);
    let span = core.span;
    let mut needs: Vec<(i64, usize, i64)> = Vec::new();
    for (place, arc) in transition.arcs.iter().filter(|(_, arc)| arc.needs > 0) {
        // Places with few initial tokens disable the action most often, so they are tested first.
        needs.push((net.initial[*place], *place, arc.needs));
    }
    needs.sort_unstable();
    let needs = needs.into_iter().map(|(_, place, tokens)| {
        let there = expr(ExprKind::Read(counter(place, span)), span);
        binary(BinaryOp::GreaterEqual, there, tokens, span)
    });
    let guards = needs.chain(parts.guards.into_iter().cloned());
    let guard = guards.reduce(|left, right| {
        expr(ExprKind::Binary(BinaryOp::And, Box::new(left), Box::new(right)), span)
    });
    let is_kept = |stmt: &&Stmt| {
        let adding = parts.adding.iter().find(|(it, ..)| std::ptr::eq(*it, *stmt));
        adding.is_none_or(|(_, place, _)| net.is_observed[*place])
    };
    let mut body: Vec<Stmt> = core.body.iter().filter(is_kept).cloned().collect();
    let unseen = || transition.arcs.iter().filter(|(place, _)| !net.is_observed[**place]);
    let changes = unseen().filter(|(_, arc)| arc.adds < 0);
    for (place, arc) in changes.chain(unseen().filter(|(_, arc)| arc.adds > 0)) {
        body.push(add(*place, arc.adds, span));
    }
    Action { guard, body, ..core.clone() }
}

fn expr(kind: ExprKind, span: Span) -> Expr {
    Expr::new(kind, span)
}

fn binary(operator: BinaryOp, left: Expr, right: i64, span: Span) -> Expr {
    expr(ExprKind::Binary(operator, Box::new(left), Box::new(Expr::constant(right, span))), span)
}

fn counter(place: usize, span: Span) -> Place {
    Place::variable(VarId::from_index(place), span)
}

/// Returns a statement that adds to a place. The sum is always in range.
fn add(place: usize, by: i64, span: Span) -> Stmt {
    let operator = if by < 0 { BinaryOp::Subtract } else { BinaryOp::Add };
    let there = expr(ExprKind::Read(counter(place, span)), span);
    let value = binary(operator, there, by.abs(), span);
    let target = counter(place, span);
    Stmt { kind: StmtKind::Assign { target, value, overflow: OverflowRule::Wraps }, span }
}
