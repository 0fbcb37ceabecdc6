//! Actions that must be enabled in both of two states or in neither.
//!
//! An enabled action can prevent other steps: `otherwise` actions, actions of a later tier or a lower priority, the
//! steps of others if an atomic sequence is not blocked, and steps that wait for `timeout`. If deadlocks are checked,
//! it also prevents a deadlock.

use spillway_ir::walk::{self, CodeVisitor};
use spillway_ir::{
    Action, ActionId, Expr, ExprKind, LocationId, ProcessEdge, ProcessId, Program, TurnRule,
    Urgency,
};
use std::collections::BTreeSet;

/// The guards that must have the same value in both states.
pub(super) struct StrictGuards {
    /// Whether all guards must.
    all: bool,
    /// The locations whose actions have such guards.
    from: BTreeSet<(ProcessId, LocationId)>,
}

impl StrictGuards {
    pub(super) fn of(program: &Program, deadlocks: bool) -> StrictGuards {
        let mut asks = EnablednessQueryFinder(false);
        walk::program(&mut asks, program);
        let actions = || program.actions.values();
        let has_priorities = actions().any(|it| it.priority != 0)
            || program.processes.values().any(|it| it.life.priority.is_some());
        let mut from = BTreeSet::new();
        for (action, edge) in actions().filter_map(|it| Some((it, it.edge?))) {
            let ProcessEdge { process, from: here, to } = edge;
            if action.control.otherwise || action.control.tier != 0 {
                from.insert((process, here));
            }
            if action.control.turn != TurnRule::Open {
                from.insert((process, to));
            }
        }
        for (process, it) in program.processes.iter() {
            let is_atomic = |id: &LocationId| it.locations[*id].urgency == Urgency::Atomic;
            from.extend(it.locations.keys().filter(is_atomic).map(|id| (process, id)));
        }
        // A rendezvous is enabled by the guards of both sides.
        let meets = |it: &Action| {
            let edge = it.edge.map(|it| (it.process, it.from));
            edge.is_some_and(|it| from.contains(&it))
                && it.communication.iter().any(|it| it.channel().may_be_rendezvous(program))
        };
        let all = deadlocks || asks.0 || has_priorities || actions().any(meets);
        StrictGuards { all, from }
    }

    /// Returns whether all guards, and all other conditions of steps, must have the same value.
    pub(super) fn has_all(&self) -> bool {
        self.all
    }

    /// Returns whether the guard of an action must have the same value.
    pub(super) fn has(&self, program: &Program, id: ActionId) -> bool {
        let edge = program.actions[id].edge;
        self.all || edge.is_some_and(|it| self.from.contains(&(it.process, it.from)))
    }
}

/// A visitor that detects queries about what other processes can do.
struct EnablednessQueryFinder(bool);

impl CodeVisitor for EnablednessQueryFinder {
    fn expr(&mut self, expr: &Expr) {
        let asks =
            matches!(expr.kind, ExprKind::Timeout | ExprKind::Enabled(_) | ExprKind::PriorityOf(_));
        self.0 |= asks;
        walk::expr(self, expr);
    }
}
