//! The accesses of code, construct by construct.
//!
//! Only this walk defines which parts of the state a construct reads and writes. Its clients get every access in the
//! order of evaluation. They map it to their own units: bits of a mask (`spillway-exec/src/interp/masks.rs`), words of a state
//! (`spillway-exec/src/jit/footprint.rs`), cells and channels (`collector.rs`). The walk enters the body of a function at every
//! call, so the bindings of its references are known. For a function that is marked `whole` it visits all variables
//! that the function names instead.

use spillway_ir::walk::{self, CodeVisitor, PlaceAccess};
use spillway_ir::{
    Action, BinaryOp, CallArgument, ChannelRef, Communication, Expr, ExprKind, Function,
    FunctionId, LocalId, LocationId, OverflowRule, Place, PlaceRoot, PlaceSelector, ProcessEdge,
    ProcessId, Program, ReceivePattern, Stmt, StmtKind, TypeId, VarId,
};
use std::collections::BTreeSet;

/// One access of code to the state, or one use of a name.
#[derive(Clone, Copy, Debug)]
pub enum StateTouch<'a> {
    /// A place is read.
    Read(&'a Place),
    /// A place is overwritten as a whole.
    Write(&'a Place),
    /// This constant is stored in a place.
    Set(&'a Place, i64, OverflowRule),
    /// This constant is added to a place. The rest of the statement does not read the place.
    Add(&'a Place, i64, OverflowRule),
    /// A multiset is searched.
    Search(&'a Place),
    /// A multiset is searched, and an element is added or removed.
    Change(&'a Place),
    /// A place is resolved. It is not yet read or written.
    Find(&'a Place),
    /// A local variable begins.
    Begin(LocalId, TypeId),
    /// A name is used: its value, or the value of its place.
    Use(LocalId),
    /// A name is bound to a resolved place.
    Alias(LocalId, &'a Place),
    /// A name is bound to several values in turn.
    Bind(LocalId, BoundValues<'a>),
    /// A channel is queried, sent to or received from.
    Channel(&'a ChannelRef, ChannelOperation),
    /// The mover changes its location.
    Move(ProcessEdge),
    /// The code queries whether a process is at a location.
    At(ProcessId, Option<&'a Expr>, LocationId),
    /// The code reads the pid of the mover.
    OwnPid,
    /// The code reads the set or the number of instances.
    Instances,
    /// The code queries what other processes can do.
    Others,
    /// The code queries whether anything is possible without `timeout`.
    Timeout,
    /// An instance starts.
    Run(ProcessId),
    /// The mover ends.
    Exit,
    /// The step is cancelled if an assumption fails.
    Assume,
}

/// The values to which a name is bound in turn.
#[derive(Clone, Copy, Debug)]
pub enum BoundValues<'a> {
    /// All values of a type.
    Of(TypeId),
    /// The values between two bounds.
    Between(&'a Expr, &'a Expr),
    /// The positions of a multiset.
    Positions(&'a Place),
}

/// An operation on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChannelOperation {
    /// A message is added at the end.
    Send,
    /// A message is added before the greater ones.
    SendSorted,
    /// The first message is removed.
    Receive,
    /// The first matching message is removed.
    ReceiveAny,
    /// The first message is read and stays.
    Peek,
    /// The first matching message is read and stays.
    PeekAny,
    /// The number of messages is read.
    Length,
    /// The code queries whether there is no message.
    IsEmpty,
    /// The code queries whether there is no room.
    IsFull,
    /// The code queries whether the first message, or any message, matches.
    CanReceive {
        /// Whether any message may match.
        anywhere: bool,
    },
    /// The number of the channel is read. Its messages do not matter.
    Number,
}

impl ChannelOperation {
    /// Returns the operation of a send or a receive.
    pub fn of(communication: &Communication) -> ChannelOperation {
        match communication {
            Communication::Send { sorted: false, .. } => ChannelOperation::Send,
            Communication::Send { sorted: true, .. } => ChannelOperation::SendSorted,
            Communication::Receive { anywhere, peek, .. } => match (anywhere, peek) {
                (false, false) => ChannelOperation::Receive,
                (true, false) => ChannelOperation::ReceiveAny,
                (false, true) => ChannelOperation::Peek,
                (true, true) => ChannelOperation::PeekAny,
            },
        }
    }

    /// Returns whether the operation sends, receives or peeks.
    pub fn communicates(self) -> bool {
        self.changes() || matches!(self, ChannelOperation::Peek | ChannelOperation::PeekAny)
    }

    /// Returns whether the operation adds a message.
    pub fn sends(self) -> bool {
        matches!(self, ChannelOperation::Send | ChannelOperation::SendSorted)
    }

    /// Returns whether the operation adds or removes a message.
    pub fn changes(self) -> bool {
        self.sends() || matches!(self, ChannelOperation::Receive | ChannelOperation::ReceiveAny)
    }
}

/// The context of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallContext {
    /// A call in an expression, which changes only its own local variables.
    Expression,
    /// A call as a statement, which may change the state.
    Statement,
}

/// A client of the walk.
pub trait AccessVisitor {
    /// Handles one access.
    fn touch(&mut self, touch: StateTouch<'_>);

    /// Begins code that may be skipped or executed more than once.
    fn begin_optional(&mut self) {}

    /// Ends code that may be skipped or executed more than once.
    fn end_optional(&mut self) {}

    /// Notes that the body may have been left before this point.
    fn may_leave(&mut self) {}

    /// Enters a body with its own names. The arguments have been visited.
    fn enter(
        &mut self,
        id: FunctionId,
        function: &Function,
        arguments: &[CallArgument],
        by: CallContext,
    );

    /// Leaves the body.
    fn leave(&mut self);
}

/// A walk through the code of a program.
#[derive(Clone, Copy, Debug)]
pub struct AccessWalk<'p> {
    program: &'p Program,
}

impl<'p> AccessWalk<'p> {
    /// Creates a walk through the code of a program.
    pub fn new(program: &'p Program) -> Self {
        AccessWalk { program }
    }

    /// Visits the accesses of an action after its guard and message are evaluated: the mover moves, the message is
    /// exchanged, and the body is executed.
    pub fn effect(self, to: &mut dyn AccessVisitor, action: &Action) {
        action.edge.into_iter().for_each(|edge| to.touch(StateTouch::Move(edge)));
        action.communication.iter().for_each(|it| self.communication(to, it));
        self.body(to, &action.body);
    }

    /// Visits the accesses of the evaluation of a message's values or patterns.
    pub fn judged(self, to: &mut dyn AccessVisitor, communication: &Communication) {
        match communication {
            Communication::Send { values, .. } => self.exprs(to, values),
            Communication::Receive { patterns, .. } => self.matched(to, patterns),
        }
    }

    /// Visits the accesses of a send or a receive.
    pub fn communication(self, to: &mut dyn AccessVisitor, communication: &Communication) {
        self.channel(to, communication.channel(), ChannelOperation::of(communication));
        match communication {
            Communication::Send { values, .. } => self.exprs(to, values),
            Communication::Receive { patterns, .. } => {
                for pattern in patterns {
                    match pattern {
                        ReceivePattern::Into(place) => self.write(to, place),
                        ReceivePattern::Match(value) => self.expr(to, value),
                        ReceivePattern::Any => {}
                    }
                }
            }
        }
    }

    /// Visits the accesses of a channel reference and of an operation on the channel.
    pub fn channel(
        self,
        to: &mut dyn AccessVisitor,
        channel: &ChannelRef,
        operation: ChannelOperation,
    ) {
        match channel {
            ChannelRef::Named(_) => {}
            ChannelRef::Element { index, .. } => self.expr(to, index),
            ChannelRef::Computed(number) => self.expr(to, number),
        }
        to.touch(StateTouch::Channel(channel, operation));
    }

    /// Visits the accesses of statements.
    pub fn body(self, to: &mut dyn AccessVisitor, body: &[Stmt]) {
        body.iter().for_each(|stmt| self.stmt(to, stmt));
    }

    /// Visits the accesses of statements that may be skipped or executed more than once.
    fn optional_body(self, to: &mut dyn AccessVisitor, body: &[Stmt]) {
        to.begin_optional();
        self.body(to, body);
        to.end_optional();
    }

    fn stmt(self, to: &mut dyn AccessVisitor, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign { target, value, overflow } => {
                self.assign(to, target, value, *overflow);
            }
            StmtKind::Copy { target, source } => {
                self.read(to, source);
                self.write(to, target);
            }
            StmtKind::Undefine(place) | StmtKind::Clear(place) => self.write(to, place),
            StmtKind::MultisetAdd { multiset, element } => {
                self.argument(to, element);
                self.place(to, multiset, StateTouch::Change(multiset));
            }
            StmtKind::MultisetRemove { multiset, position } => {
                self.expr(to, position);
                self.place(to, multiset, StateTouch::Change(multiset));
            }
            StmtKind::Communicate(communication) => self.communication(to, communication),
            StmtKind::Call { function, arguments, into } => {
                self.call(to, *function, arguments, CallContext::Statement);
                into.iter().for_each(|it| self.write(to, it));
            }
            StmtKind::Run { process, arguments, into } => {
                self.exprs(to, arguments);
                to.touch(StateTouch::Run(*process));
                into.iter().for_each(|it| self.write(to, it));
            }
            StmtKind::Exit => to.touch(StateTouch::Exit),
            StmtKind::Print { values, .. } => self.exprs(to, values),
            StmtKind::Error(_) => {}
            _ => self.control(to, stmt),
        }
    }

    /// Visits statements that control the execution of others.
    fn control(self, to: &mut dyn AccessVisitor, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::If(branches) => {
                for (condition, then) in branches {
                    condition.iter().for_each(|it| self.expr(to, it));
                    self.optional_body(to, then);
                }
            }
            StmtKind::Switch(subject, branches) => {
                self.expr(to, subject);
                for (values, then) in branches {
                    self.exprs(to, values);
                    self.optional_body(to, then);
                }
            }
            StmtKind::For { local, first, last, step, body } => {
                [first, last, step].into_iter().for_each(|it| self.expr(to, it));
                to.touch(StateTouch::Bind(*local, BoundValues::Between(first, last)));
                self.optional_body(to, body);
            }
            StmtKind::ForEach { local, over, body } => {
                to.touch(StateTouch::Bind(*local, BoundValues::Of(*over)));
                self.optional_body(to, body);
            }
            StmtKind::While { condition, body, .. } => {
                self.expr(to, condition);
                self.optional_body(to, body);
            }
            StmtKind::Declare { local, ty, body, .. } => {
                to.touch(StateTouch::Begin(*local, *ty));
                self.body(to, body);
            }
            StmtKind::Alias { local, place, body, .. } => {
                self.place(to, place, StateTouch::Find(place));
                to.touch(StateTouch::Alias(*local, place));
                self.body(to, body);
            }
            StmtKind::Return(value) => {
                value.iter().for_each(|it| self.expr(to, it));
                to.may_leave();
            }
            StmtKind::Assume(condition) => {
                self.expr(to, condition);
                to.touch(StateTouch::Assume);
            }
            StmtKind::Assert { condition, .. } | StmtKind::Cover { condition, .. } => {
                self.expr(to, condition);
            }
            _ => unreachable!("other statements do one thing"),
        }
    }

    fn assign(
        self,
        to: &mut dyn AccessVisitor,
        target: &Place,
        value: &Expr,
        overflow: OverflowRule,
    ) {
        if let Some(value) = value.as_constant() {
            return self.place(to, target, StateTouch::Set(target, value, overflow));
        }
        if let Some(by) = added(target, value) {
            return self.place(to, target, StateTouch::Add(target, by, overflow));
        }
        self.expr(to, value);
        self.write(to, target);
    }

    /// Visits the accesses of the evaluation of an expression.
    pub fn expr(self, to: &mut dyn AccessVisitor, expr: &Expr) {
        match &expr.kind {
            ExprKind::Read(place) | ExprKind::IsUndefined(place) => self.read(to, place),
            ExprKind::Unary(_, operand) => self.expr(to, operand),
            ExprKind::Binary(_, left, right) | ExprKind::Same(left, right) => {
                self.expr(to, left);
                self.expr(to, right);
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                [condition, then, otherwise].into_iter().for_each(|it| self.expr(to, it));
            }
            ExprKind::Convert(convert) => self.expr(to, &convert.operand),
            ExprKind::Call(function, arguments) => {
                self.call(to, *function, arguments, CallContext::Expression);
            }
            ExprKind::Quantified { local, over, body, .. } => {
                to.touch(StateTouch::Bind(*local, BoundValues::Of(*over)));
                self.expr(to, body);
            }
            ExprKind::Count { multiset, local, body } => {
                self.place(to, multiset, StateTouch::Search(multiset));
                to.touch(StateTouch::Bind(*local, BoundValues::Positions(multiset)));
                self.expr(to, body);
            }
            ExprKind::Contains(contains) => {
                self.place(to, &contains.multiset, StateTouch::Search(&contains.multiset));
                self.expr(to, &contains.position);
            }
            ExprKind::Local(local) => to.touch(StateTouch::Use(*local)),
            ExprKind::Constant(_) | ExprKind::Undefined => {}
            _ => self.question(to, &expr.kind),
        }
    }

    /// Visits queries about control and channels.
    fn question(self, to: &mut dyn AccessVisitor, kind: &ExprKind) {
        match kind {
            ExprKind::At { process, slot, location } => {
                slot.iter().for_each(|it| self.expr(to, it));
                to.touch(StateTouch::At(*process, slot.as_deref(), *location));
            }
            ExprKind::Length(channel) => self.channel(to, channel, ChannelOperation::Length),
            ExprKind::IsEmpty(channel) => self.channel(to, channel, ChannelOperation::IsEmpty),
            ExprKind::IsFull(channel) => self.channel(to, channel, ChannelOperation::IsFull),
            ExprKind::ChannelNumber(channel) => self.channel(to, channel, ChannelOperation::Number),
            ExprKind::CanReceive(channel, patterns, anywhere) => {
                self.channel(to, channel, ChannelOperation::CanReceive { anywhere: *anywhere });
                self.matched(to, patterns);
            }
            ExprKind::SlotOf(_, pid) => {
                self.expr(to, pid);
                to.touch(StateTouch::Instances);
            }
            ExprKind::Enabled(pid) | ExprKind::PriorityOf(pid) => {
                self.expr(to, pid);
                to.touch(StateTouch::Others);
            }
            ExprKind::Self_ => to.touch(StateTouch::OwnPid),
            ExprKind::Processes => to.touch(StateTouch::Instances),
            ExprKind::Timeout => to.touch(StateTouch::Timeout),
            _ => unreachable!("other expressions are computed from others"),
        }
    }

    fn exprs(self, to: &mut dyn AccessVisitor, exprs: &[Expr]) {
        exprs.iter().for_each(|it| self.expr(to, it));
    }

    /// Visits the expressions with which the fields of a message are compared.
    fn matched(self, to: &mut dyn AccessVisitor, patterns: &[ReceivePattern]) {
        for pattern in patterns {
            if let ReceivePattern::Match(value) = pattern {
                self.expr(to, value);
            }
        }
    }

    fn read(self, to: &mut dyn AccessVisitor, place: &Place) {
        self.place(to, place, StateTouch::Read(place));
    }

    fn write(self, to: &mut dyn AccessVisitor, place: &Place) {
        self.place(to, place, StateTouch::Write(place));
    }

    /// Visits the slot and the indices of a place, then the access itself.
    fn place(self, to: &mut dyn AccessVisitor, place: &Place, touch: StateTouch<'_>) {
        place.slot.iter().for_each(|it| self.expr(to, it));
        for selector in &place.path {
            if let PlaceSelector::Index(index) = selector {
                self.expr(to, index);
            }
        }
        to.touch(touch);
    }

    fn argument(self, to: &mut dyn AccessVisitor, argument: &CallArgument) {
        match argument {
            CallArgument::Value(value) => self.expr(to, value),
            CallArgument::Copy(place) => self.read(to, place),
            CallArgument::Reference(place) => self.place(to, place, StateTouch::Find(place)),
        }
    }

    fn call(
        self,
        to: &mut dyn AccessVisitor,
        id: FunctionId,
        arguments: &[CallArgument],
        by: CallContext,
    ) {
        arguments.iter().for_each(|it| self.argument(to, it));
        let function = &self.program.functions[id];
        if function.whole {
            self.function_as_whole(to, function, arguments, by);
        }
        to.enter(id, function, arguments, by);
        if !function.whole {
            self.body(to, &function.body);
        }
        to.leave();
    }

    /// Visits all accesses that a function may have for any arguments: the variables that it and its callees name,
    /// and the places of its references.
    fn function_as_whole(
        self,
        to: &mut dyn AccessVisitor,
        function: &Function,
        arguments: &[CallArgument],
        by: CallContext,
    ) {
        let changes = by == CallContext::Statement;
        let (variables, functions) = (BTreeSet::new(), BTreeSet::new());
        let mut named = NamedVariables { program: self.program, variables, functions };
        walk::body(&mut named, &function.body);
        to.begin_optional();
        for argument in arguments {
            if let CallArgument::Reference(place) = argument {
                to.touch(StateTouch::Read(place));
                if changes {
                    to.touch(StateTouch::Write(place));
                }
            }
        }
        for variable in named.variables {
            let place = Place::variable(variable, function.span);
            to.touch(StateTouch::Read(&place));
            if changes {
                to.touch(StateTouch::Write(&place));
            }
        }
        to.end_optional();
    }
}

/// The variables that code and its callees name.
struct NamedVariables<'p> {
    program: &'p Program,
    variables: BTreeSet<VarId>,
    functions: BTreeSet<FunctionId>,
}

impl NamedVariables<'_> {
    fn function(&mut self, id: FunctionId) {
        if self.functions.insert(id) {
            let program = self.program;
            walk::body(self, &program.functions[id].body);
        }
    }
}

impl CodeVisitor for NamedVariables<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        if let StmtKind::Call { function, .. } = stmt.kind {
            self.function(function);
        }
        walk::stmt(self, stmt);
    }

    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Call(function, _) = expr.kind {
            self.function(function);
        }
        walk::expr(self, expr);
    }

    fn place(&mut self, place: &Place, _: PlaceAccess) {
        if let PlaceRoot::Variable(variable) = place.root {
            self.variables.insert(variable);
        }
        walk::place(self, place);
    }
}

/// Returns the constant that is added, if a value is that of the target plus or minus a constant.
fn added(target: &Place, value: &Expr) -> Option<i64> {
    let ExprKind::Binary(operator, left, right) = &value.kind else { return None };
    let (held, by) = match (operator, left.as_constant(), right.as_constant()) {
        (BinaryOp::Add, _, Some(by)) => (left, by),
        (BinaryOp::Add, Some(by), _) => (right, by),
        (BinaryOp::Subtract, _, Some(by)) => (left, by.checked_neg()?),
        _ => return None,
    };
    let ExprKind::Read(place) = &held.kind else { return None };
    is_same_place(place, target).then_some(by)
}

/// Returns whether two places are surely the same in each state.
pub fn is_same_place(one: &Place, other: &Place) -> bool {
    let same_step = |steps: (&PlaceSelector, &PlaceSelector)| match steps {
        (PlaceSelector::Field(one), PlaceSelector::Field(other)) => one == other,
        (PlaceSelector::Index(one), PlaceSelector::Index(other)) => is_same_value(one, other),
        _ => false,
    };
    one.root == other.root
        && one.slot.is_none()
        && other.slot.is_none()
        && one.path.len() == other.path.len()
        && one.path.iter().zip(&other.path).all(same_step)
}

/// Returns whether two expressions surely have the same value in each state.
fn is_same_value(one: &Expr, other: &Expr) -> bool {
    match (&one.kind, &other.kind) {
        (ExprKind::Constant(one), ExprKind::Constant(other)) => one == other,
        (ExprKind::Local(one), ExprKind::Local(other)) => one == other,
        (ExprKind::Read(one), ExprKind::Read(other)) => is_same_place(one, other),
        _ => false,
    }
}
