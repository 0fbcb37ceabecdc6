//! Constructs that are not executed: no front end produces them yet.

use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use spillway_ir::walk::{self, CodeVisitor, PlaceAccess};
use spillway_ir::{
    Action, ChannelRef, Expr, ExprKind, Program, PropertyKind, Stmt, StmtKind, Type, Urgency,
};

/// Rejects the first construct that is not executed, with a hint.
pub(super) fn reject_unsupported(program: &Program) -> Result<(), Diagnostic> {
    match find_unsupported(program) {
        None => Ok(()),
        Some((span, what)) => {
            let message = format!("{what} cannot be executed by this version");
            Err(Diagnostic::error(span, message).help("rewrite the model without it"))
        }
    }
}

type UnsupportedConstruct = Option<(Span, &'static str)>;

fn find_unsupported(program: &Program) -> UnsupportedConstruct {
    for process in program.processes.values() {
        if let Some(atomic) = process.locations.values().find(|at| at.urgency == Urgency::Atomic) {
            return Some((atomic.span, "an atomic location"));
        }
    }
    let mut actions = program.actions.values();
    if let Some(action) = actions.find(|it| it.priority != 0 && it.edge.is_some()) {
        return Some((action.span, "a priority of a process's action"));
    }
    let comes_and_goes = program.processes.values().find(|it| it.has_slots());
    if let Some(process) = comes_and_goes {
        let others = |action: &&Action| action.edge.is_none() || !action.parameters.is_empty();
        if let Some(action) = program.actions.values().find(others) {
            return Some((action.span, "a rule in a model with dynamic processes"));
        }
        if program.types.values().any(|ty| matches!(ty, Type::Multiset { .. })) {
            return Some((process.span, "a multiset in a model with dynamic processes"));
        }
    }
    let mut look = UnsupportedFinder { comes_and_goes: comes_and_goes.is_some(), found: None };
    program.functions.values().for_each(|function| walk::body(&mut look, &function.body));
    program.actions.values().for_each(|action| walk::action(&mut look, action));
    program.starts.iter().for_each(|start| walk::body(&mut look, &start.body));
    for property in program.properties.values() {
        match &property.kind {
            PropertyKind::Invariant(condition)
            | PropertyKind::Cover(condition)
            | PropertyKind::Assumption(condition)
            | PropertyKind::Constraint(condition)
            | PropertyKind::AtEnd(condition)
            | PropertyKind::AssertionAt { condition, .. } => look.expr(condition),
            PropertyKind::Automaton(_) | PropertyKind::Reached => {}
            PropertyKind::Claim(claim) => {
                claim.moves.iter().for_each(|it| walk::action(&mut look, &it.action));
            }
        }
    }
    look.found
}

/// Finds the first such construct in code, in the order of the source.
struct UnsupportedFinder {
    /// Whether the program has dynamic processes. Their steps are taken differently.
    comes_and_goes: bool,
    found: UnsupportedConstruct,
}

impl UnsupportedFinder {
    fn find(&mut self, span: Span, what: Option<&'static str>) {
        self.found = self.found.or(what.map(|what| (span, what)));
    }
}

impl CodeVisitor for UnsupportedFinder {
    fn stmt(&mut self, stmt: &Stmt) {
        let what = match stmt.kind {
            StmtKind::Run { .. } | StmtKind::Exit if !self.comes_and_goes => {
                Some("starting or ending a process")
            }
            StmtKind::Call { .. }
            | StmtKind::Return(_)
            | StmtKind::Declare { .. }
            | StmtKind::Alias { .. }
            | StmtKind::Assume(_)
                if self.comes_and_goes =>
            {
                Some("this statement in a model with dynamic processes")
            }
            _ => None,
        };
        self.find(stmt.span, what);
        walk::stmt(self, stmt);
    }

    fn expr(&mut self, expr: &Expr) {
        let what = match expr.kind {
            ExprKind::Call(..) if self.comes_and_goes => {
                Some("a call in a model with dynamic processes")
            }
            _ if self.comes_and_goes => None,
            ExprKind::Self_ | ExprKind::SlotOf(..) => Some("the slot of the process that moves"),
            ExprKind::Enabled(_) => Some("a condition on enabled processes"),
            ExprKind::PriorityOf(_) => Some("the priority of a process"),
            ExprKind::Processes => Some("the number of processes"),
            ExprKind::Timeout => Some("a timeout"),
            _ => None,
        };
        self.find(expr.span, what);
        walk::expr(self, expr);
    }

    fn channel(&mut self, channel: &ChannelRef, _: PlaceAccess) {
        if let ChannelRef::Computed(number) | ChannelRef::Element { index: number, .. } = channel
            && !self.comes_and_goes
        {
            self.find(number.span, Some("a channel as a value"));
        }
        walk::channel(self, channel);
    }
}
