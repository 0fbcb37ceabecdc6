//! Code with other numbers than before. What copies functions needs other functions, and what joins expressions needs other
//! locals, since each is bound once.

use super::{
    CallArgument, ChannelRef, Communication, Expr, ExprKind, FunctionId, LocalId, Place, PlaceRoot,
    PlaceSelector, ReceivePattern, Stmt, StmtKind,
};

/// What numbers become.
struct Renumbering<'n> {
    functions: &'n dyn Fn(FunctionId) -> FunctionId,
    locals: &'n dyn Fn(LocalId) -> LocalId,
}

/// Replaces the functions that statements call, at any depth.
pub fn functions(body: &mut [Stmt], by: &dyn Fn(FunctionId) -> FunctionId) {
    let numbers = Renumbering { functions: by, locals: &|it| it };
    body.iter_mut().for_each(|it| stmt(it, &numbers));
}

/// Replaces the locals of an expression, where they are bound and where they stand.
pub fn locals(of: &mut Expr, by: &dyn Fn(LocalId) -> LocalId) {
    expr(of, &Renumbering { functions: &|it| it, locals: by });
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

/// The local that a statement binds.
fn bound(kind: &mut StmtKind) -> Option<&mut LocalId> {
    match kind {
        StmtKind::For { local, .. }
        | StmtKind::ForEach { local, .. }
        | StmtKind::Declare { local, .. }
        | StmtKind::Alias { local, .. } => Some(local),
        _ => None,
    }
}

fn stmt(stmt: &mut Stmt, by: &Renumbering<'_>) {
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
            *function = (by.functions)(*function);
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
    bound(&mut stmt.kind).into_iter().for_each(|it| *it = (by.locals)(*it));
    bodies(&mut stmt.kind, &mut |inner| inner.iter_mut().for_each(|it| self::stmt(it, by)));
}

fn expr(of: &mut Expr, by: &Renumbering<'_>) {
    match &mut of.kind {
        ExprKind::Call(function, arguments) => {
            *function = (by.functions)(*function);
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
        ExprKind::Quantified { local, body, .. } => {
            *local = (by.locals)(*local);
            expr(body, by);
        }
        ExprKind::Count { multiset, local, body } => {
            place(multiset, by);
            *local = (by.locals)(*local);
            expr(body, by);
        }
        ExprKind::Contains(contains) => {
            place(&mut contains.multiset, by);
            expr(&mut contains.position, by);
        }
        ExprKind::Convert(convert) => expr(&mut convert.operand, by),
        ExprKind::Local(local) => *local = (by.locals)(*local),
        ExprKind::Constant(_)
        | ExprKind::Undefined
        | ExprKind::Self_
        | ExprKind::Processes
        | ExprKind::Timeout => {}
    }
}

fn place(of: &mut Place, by: &Renumbering<'_>) {
    if let PlaceRoot::Local(local) = &mut of.root {
        *local = (by.locals)(*local);
    }
    of.slot.iter_mut().for_each(|it| expr(it, by));
    for selector in &mut of.path {
        if let PlaceSelector::Index(index) = selector {
            expr(index, by);
        }
    }
}

fn channel(of: &mut ChannelRef, by: &Renumbering<'_>) {
    match of {
        ChannelRef::Named(_) => {}
        ChannelRef::Element { index, .. } => expr(index, by),
        ChannelRef::Computed(number) => expr(number, by),
    }
}

fn communication(of: &mut Communication, by: &Renumbering<'_>) {
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

fn pattern(of: &mut ReceivePattern, by: &Renumbering<'_>) {
    match of {
        ReceivePattern::Into(to) => place(to, by),
        ReceivePattern::Match(value) => expr(value, by),
        ReceivePattern::Any => {}
    }
}

fn argument(of: &mut CallArgument, by: &Renumbering<'_>) {
    match of {
        CallArgument::Value(value) => expr(value, by),
        CallArgument::Copy(from) | CallArgument::Reference(from) => place(from, by),
    }
}
