//! What is not executed: constructs that no front end produces yet.

use crate::diag::Diagnostic;
use crate::ir::walk::{self, Access, Visitor};
use crate::ir::{
    ChannelRef, Expr, ExprKind, Grip, Instances, Program, PropertyKind, Stmt, StmtKind,
};
use crate::source::Span;

/// Names the first construct that is not executed, with what to do about it.
pub(super) fn refuse_unsupported(program: &Program) -> Result<(), Diagnostic> {
    match find_unsupported(program) {
        None => Ok(()),
        Some((span, what)) => {
            let message = format!("{what} cannot be executed by this version");
            Err(Diagnostic::error(span, message).help("rewrite the model without it"))
        }
    }
}

type Found = Option<(Span, &'static str)>;

fn find_unsupported(program: &Program) -> Found {
    for process in program.processes.values() {
        if process.instances != Instances::One {
            return Some((process.span, "a process with several slots"));
        }
        if let Some(atomic) = process.locations.values().find(|at| at.grip == Grip::Atomic) {
            return Some((atomic.span, "an atomic sequence"));
        }
    }
    let mut actions = program.actions.values();
    if let Some(action) = actions.find(|it| it.priority != 0 && it.edge.is_some()) {
        return Some((action.span, "a priority of a process's action"));
    }
    let mut look = Look { found: None };
    program.functions.values().for_each(|function| walk::body(&mut look, &function.body));
    program.actions.values().for_each(|action| walk::action(&mut look, action));
    program.starts.iter().for_each(|start| walk::body(&mut look, &start.body));
    for property in program.properties.values() {
        match &property.kind {
            PropertyKind::Invariant(condition)
            | PropertyKind::Assumption(condition)
            | PropertyKind::AssertionAt { condition, .. } => look.expr(condition),
            PropertyKind::Automaton(_) => {}
        }
    }
    look.found
}

/// Looks for the first construct in code, in the order of the source.
struct Look {
    found: Found,
}

impl Look {
    fn find(&mut self, span: Span, what: Option<&'static str>) {
        self.found = self.found.or(what.map(|what| (span, what)));
    }
}

impl Visitor for Look {
    fn stmt(&mut self, stmt: &Stmt) {
        let what = match stmt.kind {
            StmtKind::Run { .. } | StmtKind::Exit => Some("starting or ending a process"),
            _ => None,
        };
        self.find(stmt.span, what);
        walk::stmt(self, stmt);
    }

    fn expr(&mut self, expr: &Expr) {
        let what = match expr.kind {
            ExprKind::Self_ => Some("the slot of the process that moves"),
            ExprKind::Processes => Some("the number of processes"),
            ExprKind::Timeout => Some("a timeout"),
            _ => None,
        };
        self.find(expr.span, what);
        walk::expr(self, expr);
    }

    fn channel(&mut self, channel: &ChannelRef, _: Access) {
        if let ChannelRef::Computed(number) = channel {
            self.find(number.span, Some("a channel as a value"));
        }
        walk::channel(self, channel);
    }
}
