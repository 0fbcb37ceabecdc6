//! Code in which other functions are called than before: what makes copies of functions needs it.

use super::{
    Argument, ChannelRef, Communication, Expr, ExprKind, FunctionId, Pattern, Place, Selector,
    Stmt, StmtKind,
};

/// Replaces the functions that statements call, at any depth.
pub fn body(body: &mut [Stmt], by: &dyn Fn(FunctionId) -> FunctionId) {
    body.iter_mut().for_each(|it| stmt(it, by));
}

/// Removes the statements, at any depth, that call a function.
pub fn without_calls(body: &mut Vec<Stmt>, called: FunctionId) {
    body.retain(|it| !matches!(&it.kind, StmtKind::Call { function, .. } if *function == called));
    for stmt in body {
        bodies(&mut stmt.kind, &mut |inner| without_calls(inner, called));
    }
}

/// Visits the statements inside, branch by branch.
fn bodies(kind: &mut StmtKind, visit: &mut dyn FnMut(&mut Vec<Stmt>)) {
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

fn stmt(stmt: &mut Stmt, by: &dyn Fn(FunctionId) -> FunctionId) {
    match &mut stmt.kind {
        StmtKind::Assign { target, value, .. } => {
            place(target, by);
            expr(value, by);
        }
        StmtKind::Copy { target, source } => {
            place(target, by);
            place(source, by);
        }
        StmtKind::If(branches) => {
            branches.iter_mut().filter_map(|it| it.0.as_mut()).for_each(|it| expr(it, by));
        }
        StmtKind::Switch(subject, branches) => {
            expr(subject, by);
            branches.iter_mut().flat_map(|it| &mut it.0).for_each(|it| expr(it, by));
        }
        StmtKind::For { first, last, step, .. } => {
            [first, last, step].into_iter().for_each(|it| expr(it, by));
        }
        StmtKind::While { condition, .. }
        | StmtKind::Assert { condition, .. }
        | StmtKind::Cover { condition, .. }
        | StmtKind::Assume(condition) => expr(condition, by),
        StmtKind::Alias { place: of, .. } | StmtKind::Undefine(of) | StmtKind::Clear(of) => {
            place(of, by);
        }
        StmtKind::Call { function, arguments, into } => {
            *function = by(*function);
            arguments.iter_mut().for_each(|it| argument(it, by));
            into.iter_mut().for_each(|it| place(it, by));
        }
        StmtKind::Return(value) => value.iter_mut().for_each(|it| expr(it, by)),
        StmtKind::Communicate(it) => communication(it, by),
        StmtKind::Run { arguments, into, .. } => {
            arguments.iter_mut().for_each(|it| expr(it, by));
            into.iter_mut().for_each(|it| place(it, by));
        }
        StmtKind::MultisetAdd { multiset, element } => {
            place(multiset, by);
            argument(element, by);
        }
        StmtKind::MultisetRemove { multiset, position } => {
            place(multiset, by);
            expr(position, by);
        }
        StmtKind::Print { values, .. } => values.iter_mut().for_each(|it| expr(it, by)),
        StmtKind::ForEach { .. }
        | StmtKind::Declare { .. }
        | StmtKind::Error(_)
        | StmtKind::Exit => {}
    }
    bodies(&mut stmt.kind, &mut |inner| body(inner, by));
}

fn expr(of: &mut Expr, by: &dyn Fn(FunctionId) -> FunctionId) {
    match &mut of.kind {
        ExprKind::Call(function, arguments) => {
            *function = by(*function);
            arguments.iter_mut().for_each(|it| argument(it, by));
        }
        ExprKind::Read(of) | ExprKind::IsUndefined(of) => place(of, by),
        ExprKind::Unary(_, operand) => expr(operand, by),
        ExprKind::Binary(_, left, right) | ExprKind::Same(left, right) => {
            expr(left, by);
            expr(right, by);
        }
        ExprKind::Conditional(condition, then, otherwise) => {
            [condition, then, otherwise].into_iter().for_each(|it| expr(it, by));
        }
        ExprKind::At { slot, .. } => slot.iter_mut().for_each(|it| expr(it, by)),
        ExprKind::Length(of)
        | ExprKind::IsEmpty(of)
        | ExprKind::IsFull(of)
        | ExprKind::ChannelNumber(of) => channel(of, by),
        ExprKind::CanReceive(of, patterns, _) => {
            channel(of, by);
            patterns.iter_mut().for_each(|it| pattern(it, by));
        }
        ExprKind::SlotOf(_, pid) | ExprKind::Enabled(pid) | ExprKind::PriorityOf(pid) => {
            expr(pid, by);
        }
        ExprKind::Quantified { body, .. } => expr(body, by),
        ExprKind::Count { multiset, body, .. } => {
            place(multiset, by);
            expr(body, by);
        }
        ExprKind::Contains(contains) => {
            place(&mut contains.multiset, by);
            expr(&mut contains.position, by);
        }
        ExprKind::Convert(convert) => expr(&mut convert.operand, by),
        ExprKind::Constant(_)
        | ExprKind::Undefined
        | ExprKind::Local(_)
        | ExprKind::Self_
        | ExprKind::Processes
        | ExprKind::Timeout => {}
    }
}

fn place(of: &mut Place, by: &dyn Fn(FunctionId) -> FunctionId) {
    of.slot.iter_mut().for_each(|it| expr(it, by));
    for selector in &mut of.path {
        if let Selector::Index(index) = selector {
            expr(index, by);
        }
    }
}

fn channel(of: &mut ChannelRef, by: &dyn Fn(FunctionId) -> FunctionId) {
    match of {
        ChannelRef::Named(_) => {}
        ChannelRef::Element { index, .. } => expr(index, by),
        ChannelRef::Computed(number) => expr(number, by),
    }
}

fn communication(of: &mut Communication, by: &dyn Fn(FunctionId) -> FunctionId) {
    match of {
        Communication::Send { channel: to, values, .. } => {
            channel(to, by);
            values.iter_mut().for_each(|it| expr(it, by));
        }
        Communication::Receive { channel: from, patterns, .. } => {
            channel(from, by);
            patterns.iter_mut().for_each(|it| pattern(it, by));
        }
    }
}

fn pattern(of: &mut Pattern, by: &dyn Fn(FunctionId) -> FunctionId) {
    match of {
        Pattern::Into(to) => place(to, by),
        Pattern::Match(value) => expr(value, by),
        Pattern::Any => {}
    }
}

fn argument(of: &mut Argument, by: &dyn Fn(FunctionId) -> FunctionId) {
    match of {
        Argument::Value(value) => expr(value, by),
        Argument::Copy(from) | Argument::Reference(from) => place(from, by),
    }
}
