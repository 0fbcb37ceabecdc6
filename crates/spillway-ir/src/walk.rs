//! A walk through code that visits everything that an action, a statement or an expression mentions.
//!
//! An analysis implements [`CodeVisitor`] for the parts that it examines. Each default method visits the parts of its
//! argument. An implementation that also visits the parts calls the function of the same name in this module.

use super::{
    Action, CallArgument, ChannelRef, Communication, Expr, ExprKind, Place, PlaceSelector, Program,
    PropertyKind, ReceivePattern, Stmt, StmtKind,
};

/// The access to a place or a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceAccess {
    /// It is read.
    Read,
    /// It is written; for a channel, a message is added or removed.
    Write,
}

/// A visitor of the parts of code.
pub trait CodeVisitor {
    /// Visits a statement.
    fn stmt(&mut self, stmt: &Stmt) {
        self::stmt(self, stmt);
    }

    /// Visits an expression.
    fn expr(&mut self, expr: &Expr) {
        self::expr(self, expr);
    }

    /// Visits a place that is read or written. Its indices are always read.
    fn place(&mut self, place: &Place, access: PlaceAccess) {
        let _ = access;
        self::place(self, place);
    }

    /// Visits a channel that is queried, sent to or received from.
    fn channel(&mut self, channel: &ChannelRef, access: PlaceAccess) {
        let _ = access;
        self::channel(self, channel);
    }

    /// Visits a send or a receive.
    fn communication(&mut self, communication: &Communication) {
        self::communication(self, communication);
    }
}

/// Visits all code of a program: that of functions, processes, actions, starts and properties.
pub fn program<V: CodeVisitor + ?Sized>(visitor: &mut V, program: &Program) {
    program.functions.values().for_each(|it| body(visitor, &it.body));
    for process in program.processes.values() {
        body(visitor, &process.life.prologue);
        process.life.provided.iter().for_each(|it| visitor.expr(it));
    }
    program.actions.values().for_each(|it| action(visitor, it));
    program.starts.iter().for_each(|it| body(visitor, &it.body));
    for property in program.properties.values() {
        match &property.kind {
            PropertyKind::Invariant(condition)
            | PropertyKind::Cover(condition)
            | PropertyKind::Assumption(condition)
            | PropertyKind::Constraint(condition)
            | PropertyKind::AtEnd(condition)
            | PropertyKind::AssertionAt { condition, .. } => visitor.expr(condition),
            PropertyKind::Claim(claim) => {
                claim.moves.iter().for_each(|it| action(visitor, &it.action));
            }
            PropertyKind::Automaton(_) | PropertyKind::Reached => {}
        }
    }
}

/// Visits guard, communication and body of an action, in this order.
pub fn action<V: CodeVisitor + ?Sized>(visitor: &mut V, action: &Action) {
    action.guard.iter().for_each(|guard| visitor.expr(guard));
    action.communication.iter().for_each(|it| visitor.communication(it));
    body(visitor, &action.body);
}

/// Visits statements in order.
pub fn body<V: CodeVisitor + ?Sized>(visitor: &mut V, body: &[Stmt]) {
    body.iter().for_each(|stmt| visitor.stmt(stmt));
}

/// Returns whether any statement of a body, at any depth, satisfies a predicate.
pub fn any_stmt(body: &[Stmt], is: &dyn Fn(&StmtKind) -> bool) -> bool {
    body.iter().any(|it| is(&it.kind) || it.kind.bodies().any(|inner| any_stmt(inner, is)))
}

/// Visits the parts of a statement.
pub fn stmt<V: CodeVisitor + ?Sized>(visitor: &mut V, stmt: &Stmt) {
    match &stmt.kind {
        StmtKind::Assign { target, value, .. } => {
            visitor.place(target, PlaceAccess::Write);
            visitor.expr(value);
        }
        StmtKind::Copy { target, source } => {
            visitor.place(target, PlaceAccess::Write);
            visitor.place(source, PlaceAccess::Read);
        }
        StmtKind::If(branches) => {
            for (condition, then) in branches {
                condition.iter().for_each(|it| visitor.expr(it));
                body(visitor, then);
            }
        }
        StmtKind::Switch(subject, branches) => {
            visitor.expr(subject);
            for (values, then) in branches {
                values.iter().for_each(|it| visitor.expr(it));
                body(visitor, then);
            }
        }
        StmtKind::For { first, last, step, body: inner, .. } => {
            [first, last, step].into_iter().for_each(|it| visitor.expr(it));
            body(visitor, inner);
        }
        StmtKind::ForEach { body: inner, .. } | StmtKind::Declare { body: inner, .. } => {
            body(visitor, inner);
        }
        StmtKind::Alias { place, body: inner, .. } => {
            visitor.place(place, PlaceAccess::Write);
            body(visitor, inner);
        }
        StmtKind::While { condition, body: inner, .. } => {
            visitor.expr(condition);
            body(visitor, inner);
        }
        StmtKind::Undefine(place) | StmtKind::Clear(place) => {
            visitor.place(place, PlaceAccess::Write)
        }
        StmtKind::Assert { condition, .. }
        | StmtKind::Cover { condition, .. }
        | StmtKind::Assume(condition) => visitor.expr(condition),
        StmtKind::Communicate(communication) => visitor.communication(communication),
        StmtKind::MultisetAdd { multiset, element } => {
            visitor.place(multiset, PlaceAccess::Write);
            argument(visitor, element);
        }
        StmtKind::MultisetRemove { multiset, position } => {
            visitor.place(multiset, PlaceAccess::Write);
            visitor.expr(position);
        }
        StmtKind::Call { arguments, into, .. } => {
            arguments.iter().for_each(|it| argument(visitor, it));
            into.iter().for_each(|it| visitor.place(it, PlaceAccess::Write));
        }
        StmtKind::Return(value) => value.iter().for_each(|it| visitor.expr(it)),
        StmtKind::Run { arguments, into, .. } => {
            arguments.iter().for_each(|it| visitor.expr(it));
            into.iter().for_each(|it| visitor.place(it, PlaceAccess::Write));
        }
        StmtKind::Print { values, .. } => values.iter().for_each(|it| visitor.expr(it)),
        StmtKind::Error(_) | StmtKind::Exit => {}
    }
}

/// Visits the parts of an expression.
pub fn expr<V: CodeVisitor + ?Sized>(visitor: &mut V, expr: &Expr) {
    match &expr.kind {
        ExprKind::Read(place) | ExprKind::IsUndefined(place) => {
            visitor.place(place, PlaceAccess::Read)
        }
        ExprKind::Unary(_, operand) => visitor.expr(operand),
        ExprKind::Binary(_, left, right) | ExprKind::Same(left, right) => {
            visitor.expr(left);
            visitor.expr(right);
        }
        ExprKind::Conditional(condition, then, otherwise) => {
            [condition, then, otherwise].into_iter().for_each(|it| visitor.expr(it));
        }
        ExprKind::At { slot, .. } => slot.iter().for_each(|it| visitor.expr(it)),
        ExprKind::Length(channel) | ExprKind::IsEmpty(channel) | ExprKind::IsFull(channel) => {
            visitor.channel(channel, PlaceAccess::Read);
        }
        ExprKind::ChannelNumber(channel) => visitor.channel(channel, PlaceAccess::Read),
        ExprKind::SlotOf(_, pid) | ExprKind::Enabled(pid) | ExprKind::PriorityOf(pid) => {
            visitor.expr(pid);
        }
        ExprKind::CanReceive(channel, patterns, _) => {
            visitor.channel(channel, PlaceAccess::Read);
            for pattern in patterns {
                if let ReceivePattern::Match(value) = pattern {
                    visitor.expr(value);
                }
            }
        }
        ExprKind::Quantified { body, .. } => visitor.expr(body),
        ExprKind::Count { multiset, body, .. } => {
            visitor.place(multiset, PlaceAccess::Read);
            visitor.expr(body);
        }
        ExprKind::Contains(contains) => {
            visitor.place(&contains.multiset, PlaceAccess::Read);
            visitor.expr(&contains.position);
        }
        ExprKind::Convert(convert) => visitor.expr(&convert.operand),
        ExprKind::Call(_, arguments) => arguments.iter().for_each(|it| argument(visitor, it)),
        ExprKind::Constant(_)
        | ExprKind::Undefined
        | ExprKind::Local(_)
        | ExprKind::Self_
        | ExprKind::Processes
        | ExprKind::Timeout => {}
    }
}

/// Visits the slot and the indices of a place.
pub fn place<V: CodeVisitor + ?Sized>(visitor: &mut V, place: &Place) {
    place.slot.iter().for_each(|it| visitor.expr(it));
    for selector in &place.path {
        if let PlaceSelector::Index(index) = selector {
            visitor.expr(index);
        }
    }
}

/// Visits the expression of a channel reference.
pub fn channel<V: CodeVisitor + ?Sized>(visitor: &mut V, channel: &ChannelRef) {
    match channel {
        ChannelRef::Named(_) => {}
        ChannelRef::Element { index, .. } => visitor.expr(index),
        ChannelRef::Computed(number) => visitor.expr(number),
    }
}

/// Visits the channel, and the values or patterns, of a send or a receive.
pub fn communication<V: CodeVisitor + ?Sized>(visitor: &mut V, communication: &Communication) {
    match communication {
        Communication::Send { channel, values, .. } => {
            visitor.channel(channel, PlaceAccess::Write);
            values.iter().for_each(|it| visitor.expr(it));
        }
        Communication::Receive { channel, patterns, peek, .. } => {
            visitor.channel(channel, if *peek { PlaceAccess::Read } else { PlaceAccess::Write });
            for pattern in patterns {
                match pattern {
                    ReceivePattern::Into(place) => visitor.place(place, PlaceAccess::Write),
                    ReceivePattern::Match(value) => visitor.expr(value),
                    ReceivePattern::Any => {}
                }
            }
        }
    }
}

/// Visits an argument of a function. A place passed by reference may be written.
fn argument<V: CodeVisitor + ?Sized>(visitor: &mut V, argument: &CallArgument) {
    match argument {
        CallArgument::Value(value) => visitor.expr(value),
        CallArgument::Copy(place) => visitor.place(place, PlaceAccess::Read),
        CallArgument::Reference(place) => visitor.place(place, PlaceAccess::Write),
    }
}
