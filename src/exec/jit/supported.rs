//! Which code is compiled. The rest is rare, and an action with any of it is interpreted whole.

use crate::ir::walk::{self, Visitor};
use crate::ir::{
    Action, ChannelRef, Communication, Expr, ExprKind, FunctionId, Grip, Instances, Place, Program,
    PropertyKind, Schedule, Stmt, StmtKind,
};

/// Why nothing of a program is compiled, if so.
pub(super) fn refusal(program: &Program) -> Option<&'static str> {
    let mut locations = program.processes.values().flat_map(|it| it.locations.values());
    match program.schedule {
        Schedule::Lockstep => Some("its processes move in lockstep"),
        Schedule::Interleaved if locations.any(|it| it.grip == Grip::Atomic) => {
            Some("it has atomic sequences")
        }
        Schedule::Interleaved if comes_and_goes(program) => Some("its processes come and go"),
        Schedule::Interleaved if assumes(program) => Some("it leaves out states by assumptions"),
        Schedule::Interleaved if has_free_priorities(program) => Some("its rules have priorities"),
        Schedule::Interleaved => None,
    }
}

fn comes_and_goes(program: &Program) -> bool {
    program.processes.values().any(|it| it.instances != Instances::One)
}

fn assumes(program: &Program) -> bool {
    program.properties.values().any(|it| matches!(it.kind, PropertyKind::Assumption(_)))
}

fn has_free_priorities(program: &Program) -> bool {
    program.actions.values().any(|it| it.edge.is_none() && it.priority != 0)
}

/// Whether an action is compiled.
pub(super) fn is_native(program: &Program, action: &Action) -> bool {
    let mut look = Look { program, native: action.priority == 0, inside: false };
    walk::action(&mut look, action);
    look.native
}

/// Whether a condition is compiled.
pub(super) fn is_native_expr(program: &Program, expr: &Expr) -> bool {
    let mut look = Look { program, native: true, inside: false };
    look.expr(expr);
    look.native
}

struct Look<'a> {
    program: &'a Program,
    native: bool,
    /// Whether this is the body of a function.
    inside: bool,
}

impl Look<'_> {
    fn call(&mut self, function: FunctionId) {
        let outer = std::mem::replace(&mut self.inside, true);
        walk::body(self, &self.program.functions[function].body);
        self.inside = outer;
    }
}

impl Visitor for Look<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        match stmt.kind {
            StmtKind::Communicate(_) | StmtKind::Run { .. } | StmtKind::Exit => self.native = false,
            // Where an expression calls the function, there is no step to leave.
            StmtKind::Assume(_) if self.inside => self.native = false,
            StmtKind::Call { function, .. } => self.call(function),
            _ => {}
        }
        walk::stmt(self, stmt);
    }

    fn expr(&mut self, expr: &Expr) {
        self.native &= !matches!(
            expr.kind,
            ExprKind::Self_
                | ExprKind::ChannelNumber(_)
                | ExprKind::SlotOf(..)
                | ExprKind::Enabled(_)
                | ExprKind::PriorityOf(_)
                | ExprKind::CanReceive(_, _, true)
                | ExprKind::Processes
                | ExprKind::Timeout
                | ExprKind::At { slot: Some(_), .. }
        );
        if let ExprKind::Call(function, _) = expr.kind {
            self.call(function);
        }
        walk::expr(self, expr);
    }

    fn place(&mut self, place: &Place, _: walk::Access) {
        self.native &= place.slot.is_none();
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
