//! Composition of actions, for programs without dynamic processes.

use super::TransientLocations;
use super::loops::{LoopAnalysis, LoopPathLimits, TerminatingLoop};
use spillway_analysis::local_actions::LocalActions;
use spillway_analysis::variable_mentions::VariableMentions;
use spillway_ir::walk::{self, CodeVisitor, any_stmt};
use spillway_ir::{
    Action, ActionId, ActionsByLocation, BinaryOp, Expr, ExprKind, Program, Stmt, StmtKind, VarId,
};
use std::collections::BTreeSet;

/// The most actions that are added.
const ADDED_MAX: usize = 1 << 12;

/// The most continuations of an action. Each becomes an action of its own.
pub(super) const WAYS_MAX: usize = 8;

/// The most actions that are composed to one.
const DONE_MAX: usize = 64;

/// Whether the body of an action may follow in the body of another: it has no local names and no early exit.
pub(super) fn may_follow(action: &Action) -> bool {
    struct LocalNameCheck(bool);
    impl CodeVisitor for LocalNameCheck {
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
    let mut names = LocalNameCheck(!action.parameters.is_empty());
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

/// Whether a body reaches its end, so that more can follow, and needs no storage of its own, so that it can be
/// duplicated.
fn is_open(action: &Action) -> bool {
    let keeps_room = |it: &StmtKind| matches!(it, StmtKind::Return(_) | StmtKind::Declare { .. });
    !any_stmt(&action.body, &keeps_room)
}

/// Computes the continuations of actions.
pub(super) struct Continuations<'w> {
    pub program: &'w Program,
    pub leaving: &'w ActionsByLocation,
    pub loops: &'w LoopAnalysis<'w>,
    pub passed: &'w TransientLocations,
    pub rings: &'w [TerminatingLoop],
}

/// An action of a continuation, and whether it is surely enabled there, because the actions before it decide that.
type ComposedStep = (ActionId, bool);

impl Continuations<'_> {
    /// Returns the continuations of an action: the sequences of actions that follow. Returns `None` if there are more
    /// than `most`.
    pub fn of(&self, action: ActionId, most: usize) -> Option<Vec<Vec<ComposedStep>>> {
        let mut found = Vec::new();
        self.on(&mut vec![(action, true)], most, &mut found)?;
        Some(found)
    }

    /// Adds the continuations after `done`, without its first action.
    fn on(
        &self,
        done: &mut Vec<ComposedStep>,
        most: usize,
        found: &mut Vec<Vec<ComposedStep>>,
    ) -> Option<()> {
        let last = done.last().and_then(|it| self.program.actions[it.0].edge);
        let Some(edge) = last.filter(|it| self.passed.contains(&(it.process, it.to))) else {
            found.push(done[1..].to_vec());
            return (found.len() <= most && done.len() <= DONE_MAX).then_some(());
        };
        let ring = self.rings.iter().find(|it| it.has(edge.process, edge.to));
        let ways: Vec<Vec<ComposedStep>> = match ring {
            None => {
                let next = self.leaving.at(edge.process, edge.to).iter();
                next.map(|&it| vec![(it, false)]).collect()
            }
            Some(ring) => {
                let before: Vec<ActionId> = done.iter().map(|it| it.0).collect();
                let limits = LoopPathLimits { count: most, length: DONE_MAX };
                let through = self.loops.through(ring, edge.to, &before, limits)?;
                let is_sure = through.len() == 1;
                through.iter().map(|it| it.iter().map(|&it| (it, is_sure)).collect()).collect()
            }
        };
        for way in ways {
            let length = done.len();
            done.extend(way);
            self.on(done, most, found)?;
            done.truncate(length);
        }
        Some(())
    }
}

/// Composes each action that leads to a transient location with its continuations. Returns the number of composed
/// actions, and the components of each. The first continuation changes the action itself; each other one adds a new
/// action.
pub(super) fn compose(
    program: &mut Program,
    local: &LocalActions<'_>,
    all_ways: &Continuations<'_>,
) -> (usize, Vec<(ActionId, Vec<ActionId>)>) {
    let (mut count, mut all, before) = (0, Vec::new(), all_ways.program);
    for (id, action) in before.actions.iter() {
        let Some(ways) = all_ways.of(id, WAYS_MAX) else { continue };
        let is_left = ways.iter().all(Vec::is_empty) || !is_open(action);
        // An error belongs to one action of the model. So an action that may fail is not copied.
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
            all.push((at, std::iter::once(id).chain(way.iter().map(|it| it.0)).collect()));
        }
        count += 1;
    }
    (count, all)
}

/// Composes an action with a continuation.
fn composed(program: &Program, first: &Action, way: &[ComposedStep]) -> Action {
    let mut action = first.clone();
    let mut written = written_by(first);
    for &(id, is_sure) in way {
        let next = &program.actions[id];
        let asks = |it: &&Expr| !is_sure && it.as_constant() != Some(1);
        if let Some(guard) = next.guard.as_ref().filter(asks) {
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
    Expr::new(ExprKind::Binary(BinaryOp::And, Box::new(guard), Box::new(more)), span)
}

fn written_by(action: &Action) -> BTreeSet<VarId> {
    let mut mentions = VariableMentions::default();
    walk::action(&mut mentions, action);
    mentions.writes
}

fn read_by(expr: &Expr) -> BTreeSet<VarId> {
    let mut mentions = VariableMentions::default();
    mentions.expr(expr);
    mentions.reads
}
