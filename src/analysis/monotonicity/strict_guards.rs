//! Actions that must be possible in both of two states, or in neither.
//!
//! What one that is possible keeps from happening would be lost otherwise: what comes `otherwise`, in a later tier, or
//! with less priority; what others do where an atomic sequence cannot go on; what a `timeout` waits for. And where deadlocks are
//! looked for, that nothing is possible.

use crate::ir::walk::{self, CodeVisitor};
use crate::ir::{
    Action, ActionId, Expr, ExprKind, LocationId, ProcessEdge, ProcessId, Program, TurnRule,
    Urgency,
};
use std::collections::BTreeSet;

/// Which guards must say the same.
pub(super) struct StrictGuards {
    /// All.
    all: bool,
    /// Those of actions from such locations.
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
        // Whether a rendezvous is possible depends on the guards of others.
        let meets = |it: &Action| {
            let edge = it.edge.map(|it| (it.process, it.from));
            edge.is_some_and(|it| from.contains(&it))
                && it.communication.iter().any(|it| it.channel().may_be_rendezvous(program))
        };
        let all = deadlocks || asks.0 || has_priorities || actions().any(meets);
        StrictGuards { all, from }
    }

    /// Whether all guards must, and whatever else keeps a step from being taken.
    pub(super) fn has_all(&self) -> bool {
        self.all
    }

    /// Whether the guard of an action must say the same.
    pub(super) fn has(&self, program: &Program, id: ActionId) -> bool {
        let edge = program.actions[id].edge;
        self.all || edge.is_some_and(|it| self.from.contains(&(it.process, it.from)))
    }
}

/// Whether anything asks what others can do.
struct EnablednessQueryFinder(bool);

impl CodeVisitor for EnablednessQueryFinder {
    fn expr(&mut self, expr: &Expr) {
        let asks =
            matches!(expr.kind, ExprKind::Timeout | ExprKind::Enabled(_) | ExprKind::PriorityOf(_));
        self.0 |= asks;
        walk::expr(self, expr);
    }
}
