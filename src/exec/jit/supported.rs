//! Which code is compiled. The rest is rare, and an action with any of it is interpreted whole.

use crate::ir::walk::{self, Visitor};
use crate::ir::{
    Action, ChannelRef, Communication, Expr, ExprKind, Grip, Place, Program, Root, Schedule, Stmt,
    StmtKind,
};

/// Why nothing of a program is compiled, if so.
pub(super) fn refusal(program: &Program) -> Option<&'static str> {
    let mut locations = program.processes.values().flat_map(|it| it.locations.values());
    match program.schedule {
        Schedule::Lockstep => Some("its processes move in lockstep"),
        Schedule::Interleaved if locations.any(|it| it.grip == Grip::Atomic) => {
            Some("it has atomic sequences")
        }
        Schedule::Interleaved => None,
    }
}

/// Whether an action is compiled.
pub(super) fn is_native(action: &Action) -> bool {
    let mut look = Look { native: action.priority == 0 };
    walk::action(&mut look, action);
    look.native
}

/// Whether a condition is compiled.
pub(super) fn is_native_expr(expr: &Expr) -> bool {
    let mut look = Look { native: true };
    look.expr(expr);
    look.native
}

struct Look {
    native: bool,
}

impl Visitor for Look {
    fn stmt(&mut self, stmt: &Stmt) {
        self.native &= !matches!(
            stmt.kind,
            StmtKind::Communicate(_)
                | StmtKind::MultisetAdd { .. }
                | StmtKind::MultisetRemove { .. }
                | StmtKind::Call(..)
                | StmtKind::Return(_)
                | StmtKind::Declare { .. }
                | StmtKind::Run { .. }
                | StmtKind::Exit
        );
        walk::stmt(self, stmt);
    }

    fn expr(&mut self, expr: &Expr) {
        self.native &= !matches!(
            expr.kind,
            ExprKind::Call(..)
                | ExprKind::Self_
                | ExprKind::Processes
                | ExprKind::Timeout
                | ExprKind::At { slot: Some(_), .. }
        );
        walk::expr(self, expr);
    }

    fn place(&mut self, place: &Place, _: walk::Access) {
        self.native &= matches!(place.root, Root::Variable(_)) && place.slot.is_none();
        walk::place(self, place);
    }

    fn channel(&mut self, channel: &ChannelRef, _: walk::Access) {
        self.native &= matches!(channel, ChannelRef::Named(_));
    }

    fn communication(&mut self, communication: &Communication) {
        self.native &= !matches!(
            communication,
            Communication::Send { sorted: true, .. }
                | Communication::Receive { anywhere: true, .. }
        );
        walk::communication(self, communication);
    }
}
