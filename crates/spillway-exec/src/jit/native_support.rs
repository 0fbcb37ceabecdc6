//! The constructs that are compiled. The others are rare, and an action with any of them is interpreted as a whole.

use super::code_purpose::may_rendezvous;
use super::pids::numbered;
use super::unobserved_send::is_unobserved;
use spillway_ir::walk::{self, CodeVisitor};
use spillway_ir::{
    Action, ActionId, ChannelRef, Communication, Expr, ExprKind, FunctionId, Place, ProcessId,
    ProcessInstance, Program, PropertyKind, Schedule, Stmt, StmtKind, Urgency,
};
use std::collections::BTreeSet;

/// Returns why nothing of a program is compiled, if so.
pub(super) fn refusal(program: &Program) -> Option<&'static str> {
    let mut locations = program.processes.values().flat_map(|it| it.locations.values());
    match program.schedule {
        Schedule::Lockstep => Some("its processes move in lockstep"),
        Schedule::Interleaved if locations.any(|it| it.urgency == Urgency::Atomic) => {
            Some("it has atomic sequences")
        }
        Schedule::Interleaved
            if program.processes.values().any(|it| it.life.priority.is_some()) =>
        {
            Some("its processes have priorities")
        }
        Schedule::Interleaved if covers_in_steps(program) => Some("it has `cover` statements"),
        Schedule::Interleaved if assumes(program) => Some("it excludes states by assumptions"),
        Schedule::Interleaved if has_free_priorities(program) => Some("its rules have priorities"),
        Schedule::Interleaved => None,
    }
}

fn assumes(program: &Program) -> bool {
    program.properties.values().any(|it| matches!(it.kind, PropertyKind::Assumption(_)))
}

/// Returns whether steps contain `cover` statements, which the interpreter records.
fn covers_in_steps(program: &Program) -> bool {
    program.properties.values().any(|it| matches!(it.kind, PropertyKind::Reached))
}

fn has_free_priorities(program: &Program) -> bool {
    program.actions.values().any(|it| it.edge.is_none() && it.priority != 0)
}

/// Returns whether an action is compiled.
pub(super) fn is_native(program: &Program, action: &Action) -> bool {
    let mut look = SupportChecker::new(program, None);
    look.native = action.priority == 0;
    walk::action(&mut look, action);
    look.native
}

/// Returns whether a condition is compiled.
pub(super) fn is_native_expr(program: &Program, expr: &Expr) -> bool {
    let mut look = SupportChecker::new(program, None);
    look.expr(expr);
    look.native
}

/// Returns whether all actions of an instance at a location are compiled.
///
/// `all_receives_compiled` says whether every receive is compiled with its sender: see [`all_receives_compiled`].
pub(super) fn is_native_turn(
    program: &Program,
    mover: ProcessInstance,
    actions: &[ActionId],
    meetable: impl Fn() -> bool,
) -> bool {
    actions.iter().map(|&id| &program.actions[id]).all(|action| {
        is_native_for(program, mover, action)
            && (!may_rendezvous(program, action) || {
                // The receiver must not be able to observe the sender's body.
                is_unobserved(program, mover.process, &action.body)
                    && program.last.is_none()
                    && meetable()
            })
    })
}

/// Returns whether every receive of a program can be compiled together with its sender.
pub(super) fn all_receives_compiled(program: &Program) -> bool {
    receivers(program).all(|(process, receive)| {
        let mover = ProcessInstance { process, slot: 0 };
        receive.control.tier == 0 && is_native_for(program, mover, receive)
    })
}

/// Returns whether an action of an instance is compiled.
fn is_native_for(program: &Program, mover: ProcessInstance, action: &Action) -> bool {
    let mut look = SupportChecker::new(program, Some(mover));
    walk::action(&mut look, action);
    program.processes[mover.process].life.provided.iter().for_each(|it| look.expr(it));
    look.native
}

/// Returns every action that receives, with its process.
fn receivers(program: &Program) -> impl Iterator<Item = (ProcessId, &Action)> {
    program.actions.values().filter_map(|action| match &action.communication {
        Some(Communication::Receive { .. }) => Some((action.edge?.process, action)),
        _ => None,
    })
}

struct SupportChecker<'a> {
    program: &'a Program,
    /// The mover, if the program has dynamic processes.
    mover: Option<ProcessInstance>,
    native: bool,
    /// Whether the code is the body of a function.
    inside: bool,
    /// The functions whose bodies have been visited.
    functions: BTreeSet<FunctionId>,
}

impl<'a> SupportChecker<'a> {
    fn new(program: &'a Program, mover: Option<ProcessInstance>) -> SupportChecker<'a> {
        SupportChecker { program, mover, native: true, inside: false, functions: BTreeSet::new() }
    }

    fn call(&mut self, function: FunctionId) {
        if self.functions.insert(function) {
            let outer = std::mem::replace(&mut self.inside, true);
            walk::body(self, &self.program.functions[function].body);
            self.inside = outer;
        }
    }
}

impl CodeVisitor for SupportChecker<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        match stmt.kind {
            StmtKind::Communicate(_) | StmtKind::Run { .. } => self.native = false,
            StmtKind::Exit if self.mover.is_none() => self.native = false,
            // In a function called by an expression, there is no step to drop.
            StmtKind::Assume(_) if self.inside => self.native = false,
            StmtKind::Call { function, .. } => self.call(function),
            _ => {}
        }
        walk::stmt(self, stmt);
    }

    fn expr(&mut self, expr: &Expr) {
        self.native &= match &expr.kind {
            ExprKind::SlotOf(..)
            | ExprKind::Enabled(_)
            | ExprKind::PriorityOf(_)
            | ExprKind::CanReceive(_, _, true)
            | ExprKind::At { slot: Some(_), .. } => false,
            ExprKind::ChannelNumber(channel) => {
                matches!(channel, ChannelRef::Named(_)) && numbered(self.program).is_some()
            }
            ExprKind::At { .. } => self.mover.is_none(),
            ExprKind::Self_ | ExprKind::Processes | ExprKind::Timeout => self.mover.is_some(),
            _ => true,
        };
        if let ExprKind::Call(function, _) = expr.kind {
            self.call(function);
        }
        walk::expr(self, expr);
    }

    fn place(&mut self, place: &Place, _: walk::PlaceAccess) {
        self.native &= place.slot.is_none();
        walk::place(self, place);
    }

    fn channel(&mut self, channel: &ChannelRef, _: walk::PlaceAccess) {
        self.native &= match channel {
            ChannelRef::Named(_) => true,
            ChannelRef::Element { .. } => self.mover.is_some(),
            ChannelRef::Computed(_) => self.mover.is_some() && numbered(self.program).is_some(),
        };
        walk::channel(self, channel);
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
