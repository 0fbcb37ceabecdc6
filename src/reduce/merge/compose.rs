//! Actions that are put together, where processes are always there.

use super::Passed;
use crate::analysis::local::LocalActions;
use crate::ir::walk::{self, Access, Visitor, any_stmt};
use crate::ir::{
    Action, ActionId, ActionsAt, Binary, Expr, ExprKind, Place, Program, Root, Stmt, StmtKind,
    VarId,
};
use std::collections::BTreeSet;

/// So many actions are added at most.
const ADDED_MAX: usize = 1 << 12;

/// Whether what an action does can be done in the body of another: it has no names of its own and leaves nothing early.
pub(super) fn may_follow(action: &Action) -> bool {
    struct Names(bool);
    impl Visitor for Names {
        fn expr(&mut self, expr: &Expr) {
            let binds = |it: &ExprKind| {
                matches!(
                    it,
                    ExprKind::Local(_)
                        | ExprKind::Quantified { .. }
                        | ExprKind::Count { .. }
                        | ExprKind::Call(..)
                )
            };
            self.0 |= binds(&expr.kind);
            walk::expr(self, expr);
        }
    }
    let mut names = Names(!action.parameters.is_empty());
    walk::action(&mut names, action);
    let is_plain = |it: &StmtKind| {
        matches!(
            it,
            StmtKind::Assign { .. }
                | StmtKind::Copy { .. }
                | StmtKind::If(_)
                | StmtKind::Switch(..)
                | StmtKind::Undefine(_)
                | StmtKind::Clear(_)
                | StmtKind::Assert { .. }
                | StmtKind::Print { .. }
        )
    };
    !names.0 && !any_stmt(&action.body, &|it| !is_plain(it))
}

/// Whether a body comes to its end, so that more can follow, and needs no room of its own, so that there can be another
/// like it.
fn is_open(action: &Action) -> bool {
    let keeps_room = |it: &StmtKind| matches!(it, StmtKind::Return(_) | StmtKind::Declare { .. });
    !any_stmt(&action.body, &keeps_room)
}

/// Has each action that leads to a location that is passed through do what follows, too; tells how many do, and of which
/// actions each that does, or is new, is put together. The first way is that of the action itself, each other one of a new
/// action.
pub(super) fn compose(
    program: &mut Program,
    before: &Program,
    local: &LocalActions<'_>,
    (passed, leaving): (&Passed, &ActionsAt),
) -> (usize, Vec<(ActionId, Vec<ActionId>)>) {
    let (mut count, mut all) = (0, Vec::new());
    for (id, action) in before.actions.iter() {
        let ways = ways(before, (passed, leaving), action);
        let is_left = ways.iter().all(Vec::is_empty) || !is_open(action);
        // An error is told of one action: that of the model.
        let is_told = ways.len() == 1 || !local.may_fail(id);
        let added = program.actions.len() - before.actions.len() + ways.len();
        if is_left || !is_told || added > ADDED_MAX {
            continue;
        }
        for (number, way) in ways.iter().enumerate() {
            let composed = composed(before, action, way);
            let at = match number {
                0 => {
                    program.actions[id] = composed;
                    id
                }
                _ => program.actions.push(composed),
            };
            all.push((at, std::iter::once(id).chain(way.iter().copied()).collect()));
        }
        count += 1;
    }
    (count, all)
}

/// The ways on from where an action leads: what is done in turn.
fn ways(
    program: &Program,
    (passed, leaving): (&Passed, &ActionsAt),
    action: &Action,
) -> Vec<Vec<ActionId>> {
    let Some(edge) = action.edge.filter(|it| passed.contains(&(it.process, it.to))) else {
        return vec![Vec::new()];
    };
    let ways = leaving.at(edge.process, edge.to).iter().flat_map(|&id| {
        let rest = ways(program, (passed, leaving), &program.actions[id]);
        rest.into_iter().map(move |rest| std::iter::once(id).chain(rest).collect())
    });
    ways.collect()
}

/// An action that does what follows on a way, too, if it can be gone.
fn composed(program: &Program, first: &Action, way: &[ActionId]) -> Action {
    let mut action = first.clone();
    let mut written = written_by(first);
    for &id in way {
        let next = &program.actions[id];
        if let Some(guard) = next.guard.as_ref().filter(|it| it.as_constant() != Some(1)) {
            match written.is_disjoint(&read_by(guard)) {
                true => action.guard = Some(both(action.guard.take(), guard.clone())),
                false => {
                    let (kind, span) = (StmtKind::Assume(guard.clone()), guard.span);
                    action.body.push(Stmt { kind, span });
                }
            }
        }
        action.body.extend(next.body.iter().cloned());
        written.extend(written_by(next));
        if let Some((edge, to)) = action.edge.as_mut().zip(next.edge) {
            edge.to = to.to;
        }
    }
    action
}

fn both(guard: Option<Expr>, more: Expr) -> Expr {
    let Some(guard) = guard else { return more };
    let span = guard.span;
    Expr { kind: ExprKind::Binary(Binary::And, Box::new(guard), Box::new(more)), span }
}

/// The variables that code mentions: those that it writes, or those that it reads.
struct Variables {
    access: Access,
    found: BTreeSet<VarId>,
}

impl Visitor for Variables {
    fn place(&mut self, place: &Place, access: Access) {
        if let Root::Variable(id) = place.root
            && access == self.access
        {
            self.found.insert(id);
        }
        walk::place(self, place);
    }
}

fn written_by(action: &Action) -> BTreeSet<VarId> {
    let mut look = Variables { access: Access::Write, found: BTreeSet::new() };
    walk::action(&mut look, action);
    look.found
}

fn read_by(expr: &Expr) -> BTreeSet<VarId> {
    let mut look = Variables { access: Access::Read, found: BTreeSet::new() };
    look.expr(expr);
    look.found
}
