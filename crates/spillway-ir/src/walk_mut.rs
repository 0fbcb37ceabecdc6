//! A walk through code that may change everything that an action, a statement or an expression mentions.
//!
//! A mutator implements [`CodeMutator`] for the parts that it changes. Each default method visits the parts of its
//! argument. This is the mutable counterpart of [`super::walk`].

use super::{
    Action, CallArgument, ChannelRef, Communication, Expr, ExprKind, FunctionId, LocalId, Place,
    PlaceRoot, PlaceSelector, Program, PropertyKind, ReceivePattern, Stmt, StmtKind,
};

/// A mutator of the parts of code.
pub trait CodeMutator {
    /// Visits an expression with all its parts.
    fn expr(&mut self, expr: &mut Expr) {
        self::expr(self, expr);
    }

    /// Visits a function that is called.
    fn function(&mut self, function: &mut FunctionId) {
        let _ = function;
    }

    /// Visits a local where it is bound or used.
    fn local(&mut self, local: &mut LocalId) {
        let _ = local;
    }
}

/// Visits all code of a program: that of functions, processes, actions, starts and properties.
pub fn program<M: CodeMutator + ?Sized>(mutator: &mut M, program: &mut Program) {
    program.functions.values_mut().for_each(|it| body(mutator, &mut it.body));
    for process in program.processes.values_mut() {
        body(mutator, &mut process.life.prologue);
        process.life.provided.iter_mut().for_each(|it| mutator.expr(it));
    }
    program.actions.values_mut().for_each(|it| action(mutator, it));
    program.starts.iter_mut().for_each(|it| body(mutator, &mut it.body));
    for property in program.properties.values_mut() {
        match &mut property.kind {
            PropertyKind::Invariant(condition)
            | PropertyKind::Cover(condition)
            | PropertyKind::Assumption(condition)
            | PropertyKind::Constraint(condition)
            | PropertyKind::AtEnd(condition)
            | PropertyKind::AssertionAt { condition, .. } => mutator.expr(condition),
            PropertyKind::Claim(claim) => {
                claim.moves.iter_mut().for_each(|it| action(mutator, &mut it.action));
            }
            PropertyKind::Automaton(_) | PropertyKind::Reached => {}
        }
    }
}

/// Visits guard, communication and body of an action.
pub fn action<M: CodeMutator + ?Sized>(mutator: &mut M, action: &mut Action) {
    action.guard.iter_mut().for_each(|it| mutator.expr(it));
    action.communication.iter_mut().for_each(|it| communication(mutator, it));
    body(mutator, &mut action.body);
}

/// Visits statements in order.
pub fn body<M: CodeMutator + ?Sized>(mutator: &mut M, body: &mut [Stmt]) {
    body.iter_mut().for_each(|it| stmt(mutator, it));
}

/// Visits the nested bodies, branch by branch.
pub(super) fn bodies(kind: &mut StmtKind, visit: &mut dyn FnMut(&mut Vec<Stmt>)) {
    match kind {
        StmtKind::If(branches) => branches.iter_mut().for_each(|(_, body)| visit(body)),
        StmtKind::Switch(_, branches) => branches.iter_mut().for_each(|(_, body)| visit(body)),
        StmtKind::For { body, .. }
        | StmtKind::ForEach { body, .. }
        | StmtKind::Declare { body, .. }
        | StmtKind::Alias { body, .. }
        | StmtKind::While { body, .. } => visit(body),
        _ => {}
    }
}

/// Returns the local that a statement binds.
fn bound(kind: &mut StmtKind) -> Option<&mut LocalId> {
    match kind {
        StmtKind::For { local, .. }
        | StmtKind::ForEach { local, .. }
        | StmtKind::Declare { local, .. }
        | StmtKind::Alias { local, .. } => Some(local),
        _ => None,
    }
}

/// Visits the parts of a statement.
pub fn stmt<M: CodeMutator + ?Sized>(mutator: &mut M, stmt: &mut Stmt) {
    match &mut stmt.kind {
        StmtKind::Assign { target, value, .. } => {
            place(mutator, target);
            mutator.expr(value);
        }
        StmtKind::Copy { target, source } => {
            place(mutator, target);
            place(mutator, source);
        }
        StmtKind::If(branches) => {
            branches.iter_mut().filter_map(|it| it.0.as_mut()).for_each(|it| mutator.expr(it));
        }
        StmtKind::Switch(subject, branches) => {
            mutator.expr(subject);
            branches.iter_mut().flat_map(|it| &mut it.0).for_each(|it| mutator.expr(it));
        }
        StmtKind::For { first, last, step, .. } => {
            [first, last, step].into_iter().for_each(|it| mutator.expr(it));
        }
        StmtKind::While { condition, .. }
        | StmtKind::Assert { condition, .. }
        | StmtKind::Cover { condition, .. }
        | StmtKind::Assume(condition) => mutator.expr(condition),
        StmtKind::Alias { place: of, .. } | StmtKind::Undefine(of) | StmtKind::Clear(of) => {
            place(mutator, of);
        }
        StmtKind::Call { function, arguments, into } => {
            mutator.function(function);
            arguments.iter_mut().for_each(|it| argument(mutator, it));
            into.iter_mut().for_each(|it| place(mutator, it));
        }
        StmtKind::Return(value) => value.iter_mut().for_each(|it| mutator.expr(it)),
        StmtKind::Communicate(it) => communication(mutator, it),
        StmtKind::Run { arguments, into, .. } => {
            arguments.iter_mut().for_each(|it| mutator.expr(it));
            into.iter_mut().for_each(|it| place(mutator, it));
        }
        StmtKind::MultisetAdd { multiset, element } => {
            place(mutator, multiset);
            argument(mutator, element);
        }
        StmtKind::MultisetRemove { multiset, position } => {
            place(mutator, multiset);
            mutator.expr(position);
        }
        StmtKind::Print { values, .. } => values.iter_mut().for_each(|it| mutator.expr(it)),
        StmtKind::ForEach { .. }
        | StmtKind::Declare { .. }
        | StmtKind::Error(_)
        | StmtKind::Exit => {}
    }
    bound(&mut stmt.kind).into_iter().for_each(|it| mutator.local(it));
    bodies(&mut stmt.kind, &mut |inner| inner.iter_mut().for_each(|it| self::stmt(mutator, it)));
}

/// Visits the parts of an expression.
pub fn expr<M: CodeMutator + ?Sized>(mutator: &mut M, of: &mut Expr) {
    match &mut of.kind {
        ExprKind::Call(function, arguments) => {
            mutator.function(function);
            arguments.iter_mut().for_each(|it| argument(mutator, it));
        }
        ExprKind::Read(of) | ExprKind::IsUndefined(of) => place(mutator, of),
        ExprKind::Unary(_, operand) => mutator.expr(operand),
        ExprKind::Binary(_, left, right) | ExprKind::Same(left, right) => {
            mutator.expr(left);
            mutator.expr(right);
        }
        ExprKind::Conditional(condition, then, otherwise) => {
            [condition, then, otherwise].into_iter().for_each(|it| mutator.expr(it));
        }
        ExprKind::At { slot, .. } => slot.iter_mut().for_each(|it| mutator.expr(it)),
        ExprKind::Length(of)
        | ExprKind::IsEmpty(of)
        | ExprKind::IsFull(of)
        | ExprKind::ChannelNumber(of) => channel(mutator, of),
        ExprKind::CanReceive(of, patterns, _) => {
            channel(mutator, of);
            patterns.iter_mut().for_each(|it| pattern(mutator, it));
        }
        ExprKind::SlotOf(_, pid) | ExprKind::Enabled(pid) | ExprKind::PriorityOf(pid) => {
            mutator.expr(pid);
        }
        ExprKind::Quantified { local, body, .. } => {
            mutator.local(local);
            mutator.expr(body);
        }
        ExprKind::Count { multiset, local, body } => {
            place(mutator, multiset);
            mutator.local(local);
            mutator.expr(body);
        }
        ExprKind::Contains(contains) => {
            place(mutator, &mut contains.multiset);
            mutator.expr(&mut contains.position);
        }
        ExprKind::Convert(convert) => mutator.expr(&mut convert.operand),
        ExprKind::Local(local) => mutator.local(local),
        ExprKind::Constant(_)
        | ExprKind::Undefined
        | ExprKind::Self_
        | ExprKind::Processes
        | ExprKind::Timeout => {}
    }
}

fn place<M: CodeMutator + ?Sized>(mutator: &mut M, of: &mut Place) {
    if let PlaceRoot::Local(local) = &mut of.root {
        mutator.local(local);
    }
    of.slot.iter_mut().for_each(|it| mutator.expr(it));
    for selector in &mut of.path {
        if let PlaceSelector::Index(index) = selector {
            mutator.expr(index);
        }
    }
}

fn channel<M: CodeMutator + ?Sized>(mutator: &mut M, of: &mut ChannelRef) {
    match of {
        ChannelRef::Named(_) => {}
        ChannelRef::Element { index, .. } => mutator.expr(index),
        ChannelRef::Computed(number) => mutator.expr(number),
    }
}

fn communication<M: CodeMutator + ?Sized>(mutator: &mut M, of: &mut Communication) {
    match of {
        Communication::Send { channel: to, values, .. } => {
            channel(mutator, to);
            values.iter_mut().for_each(|it| mutator.expr(it));
        }
        Communication::Receive { channel: from, patterns, .. } => {
            channel(mutator, from);
            patterns.iter_mut().for_each(|it| pattern(mutator, it));
        }
    }
}

fn pattern<M: CodeMutator + ?Sized>(mutator: &mut M, of: &mut ReceivePattern) {
    match of {
        ReceivePattern::Into(to) => place(mutator, to),
        ReceivePattern::Match(value) => mutator.expr(value),
        ReceivePattern::Any => {}
    }
}

fn argument<M: CodeMutator + ?Sized>(mutator: &mut M, of: &mut CallArgument) {
    match of {
        CallArgument::Value(value) => mutator.expr(value),
        CallArgument::Copy(from) | CallArgument::Reference(from) => place(mutator, from),
    }
}
