//! Walking through two texts side by side.
//!
//! Two expressions, statements or actions correspond if they are the same but for what they name: processes,
//! variables, channels, locations, constants. Which names go together, and whether they may, is for [`Told`] to
//! say; code that is walked beside itself tells of sorts instead. `None` is: they do not correspond.

mod order;

use super::sorts::{Scope, Shape, Sorts, Value, scalar};
use crate::budget::AnalysisBudget;
use crate::ir::interval::Interval;
use crate::ir::{
    Action, ActionId, Binary, ChannelId, ChannelRef, Communication, Edge, Expr, ExprKind, LocalId,
    LocationId, Overflow, Pattern, Place, Process, ProcessId, Program, Property, PropertyId,
    PropertyKind, Root, Selector, Stmt, StmtKind, TypeId, Unary, VarId,
};
use order::may_be_reordered;

/// Units of work for a pair of expressions, statements or actions: what corresponds is looked up.
const EACH: u64 = 8;

/// Who is told what corresponds.
pub(super) trait Told {
    /// Whether a text is walked beside itself, so that all corresponds as it stands.
    const NOTHING_MOVES: bool;

    /// How much was told.
    type Mark: Copy;

    /// How much was told so far.
    fn mark(&self) -> Self::Mark;

    /// Forgets what was told since.
    fn take_back(&mut self, mark: Self::Mark);

    /// The sorts known so far.
    fn sorts(&self) -> &Sorts;

    /// Two values are compared, or one is stored where the other is.
    fn meet(&mut self, one: Value, other: Value) -> Option<()>;

    /// A value has to mean itself.
    fn fix(&mut self, value: Value) -> Option<()>;

    /// One thing is copied to another.
    fn shapes_meet(&mut self, one: &Shape, other: &Shape) -> Option<()>;

    /// A name for all values in a range is bound in the first text.
    fn bind(&mut self, scope: Scope, local: LocalId, range: Interval) -> Option<()>;

    fn processes(&mut self, one: ProcessId, other: ProcessId) -> Option<()> {
        (one == other).then_some(())
    }

    fn locations(
        &mut self,
        one: (ProcessId, LocationId),
        other: (ProcessId, LocationId),
    ) -> Option<()> {
        (one == other).then_some(())
    }

    fn variables(&mut self, one: VarId, other: VarId) -> Option<()> {
        (one == other).then_some(())
    }

    fn channels(&mut self, one: ChannelId, other: ChannelId) -> Option<()> {
        (one == other).then_some(())
    }
}

/// The walk.
pub(super) struct Pairs<'p, T> {
    program: &'p Program,
    scope: Scope,
    /// What is bound where the walk stands, in both texts.
    bound: Vec<(LocalId, LocalId)>,
    pub(super) told: T,
    budget: &'p AnalysisBudget<'p>,
}

impl<'p, T: Told> Pairs<'p, T> {
    pub(super) fn new(program: &'p Program, told: T, budget: &'p AnalysisBudget<'p>) -> Self {
        Pairs { program, scope: Scope::Process(ProcessId(0)), bound: Vec::new(), told, budget }
    }

    /// Nothing corresponds any more once the budget is exceeded, which whoever walks asks at the end.
    fn step(&self) -> Option<()> {
        self.budget.work(EACH).ok()
    }

    fn enter(&mut self, scope: Scope) {
        self.scope = scope;
        self.bound.clear();
    }

    /// How instances come, and when they may move.
    pub(super) fn life(&mut self, id: ProcessId, one: &Process, other: &Process) -> Option<()> {
        self.enter(Scope::Process(id));
        let are_alike = one.instances == other.instances
            && one.life.priority.is_some() == other.life.priority.is_some()
            && one.parameters.len() == other.parameters.len();
        if !are_alike {
            return None;
        }
        match (&one.life.provided, &other.life.provided) {
            (Some(one), Some(other)) => self.plain(one, other)?,
            (None, None) => {}
            _ => return None,
        }
        if let (Some(one), Some(other)) = (one.life.priority, other.life.priority) {
            self.told.variables(one, other)?;
            let shape = self.told.sorts().variables[one].clone();
            let value = scalar(&shape)?;
            self.told.fix(value)?;
        }
        let pid = |process: &Process| match process.life.pid {
            crate::ir::Pid::In(variable) => Some(variable),
            _ => None,
        };
        match (pid(one), pid(other)) {
            (Some(one), Some(other)) => {
                self.told.variables(one, other)?;
                let value = scalar(&self.told.sorts().variables[one].clone())?;
                let pid = self.pid();
                self.told.meet(value, pid)
            }
            (None, None) => Some(()),
            _ => None,
        }
    }

    /// What instances do when they are started.
    pub(super) fn prologue(&mut self, one: &Process, other: &Process) -> Option<()> {
        self.bodies(&one.life.prologue, &other.life.prologue)
    }

    /// Two actions of processes.
    pub(super) fn action(&mut self, one: (ActionId, &Action), other: &Action) -> Option<()> {
        let (id, one) = one;
        self.step()?;
        self.enter(Scope::Action(id));
        let (Edge { process, from, to }, there) = (one.edge?, other.edge?);
        self.told.processes(process, there.process)?;
        self.told.locations((process, from), (there.process, there.from))?;
        self.told.locations((process, to), (there.process, there.to))?;
        let are_alike = one.priority == other.priority
            && one.control == other.control
            && one.parameters.len() == other.parameters.len();
        if !are_alike {
            return None;
        }
        for (own, others) in one.parameters.iter().zip(&other.parameters) {
            self.bind((own.local, own.over), (others.local, others.over))?;
        }
        match (&one.guard, &other.guard) {
            (Some(one), Some(other)) => self.plain(one, other)?,
            (None, None) => {}
            _ => return None,
        }
        match (&one.communication, &other.communication) {
            (Some(one), Some(other)) => self.communication(one, other)?,
            (None, None) => {}
            _ => return None,
        }
        self.bodies(&one.body, &other.body)
    }

    /// Two properties that ask about states.
    pub(super) fn property(
        &mut self,
        one: (PropertyId, &Property),
        other: &Property,
    ) -> Option<()> {
        let (id, one) = one;
        self.enter(Scope::Property(id));
        match (&one.kind, &other.kind) {
            (PropertyKind::Invariant(one), PropertyKind::Invariant(other))
            | (PropertyKind::Cover(one), PropertyKind::Cover(other))
            | (PropertyKind::AtEnd(one), PropertyKind::AtEnd(other))
            | (PropertyKind::Assumption(one), PropertyKind::Assumption(other)) => {
                self.plain(one, other)
            }
            (
                PropertyKind::AssertionAt { process, location, condition },
                PropertyKind::AssertionAt { process: there, location: place, condition: others },
            ) => {
                self.told.processes(*process, *there)?;
                self.told.locations((*process, *location), (*there, *place))?;
                self.plain(condition, others)
            }
            _ => None,
        }
    }

    fn bind(&mut self, one: (LocalId, TypeId), other: (LocalId, TypeId)) -> Option<()> {
        let types = &self.program.types;
        let crate::ir::Type::Scalar(scalar) = &types[one.1] else { return None };
        if types[one.1] != types[other.1] {
            return None;
        }
        self.told.bind(self.scope, one.0, self.program.bounds(&scalar.domain))?;
        self.bound.push((one.0, other.0));
        Some(())
    }

    fn pid(&self) -> Value {
        Value::Of { sort: self.told.sorts().pids, range: (0, 255) }
    }

    fn slot(&self, process: ProcessId) -> Value {
        let last = i64::from(self.program.slots(process)) - 1;
        Value::Of { sort: self.told.sorts().slots[process], range: (0, last) }
    }

    /// Expressions whose values are numbers.
    fn plain(&mut self, one: &Expr, other: &Expr) -> Option<()> {
        let value = self.expr(one, other)?;
        self.told.fix(value)
    }

    /// Expressions whose value meets another.
    fn meets(&mut self, one: &Expr, other: &Expr, with: Value) -> Option<()> {
        let value = self.expr(one, other)?;
        self.told.meet(value, with)
    }

    fn expr(&mut self, one: &Expr, other: &Expr) -> Option<Value> {
        self.step()?;
        match (&one.kind, &other.kind) {
            (ExprKind::Constant(one), ExprKind::Constant(other)) => {
                Some(Value::Constant(*one, *other))
            }
            (ExprKind::Read(one), ExprKind::Read(other)) => scalar(&self.place(one, other)?),
            (ExprKind::Local(one), ExprKind::Local(other)) => {
                let is_it = self.bound.iter().rev().find(|it| it.0 == *one)?.1 == *other;
                if is_it { self.told.sorts().local(self.scope, *one) } else { None }
            }
            (ExprKind::Unary(operator, one), ExprKind::Unary(others, other))
                if operator == others =>
            {
                let _: &Unary = operator;
                self.plain(one, other)?;
                Some(Value::Plain)
            }
            (ExprKind::Binary(operator, ..), ExprKind::Binary(others, ..))
                if operator == others =>
            {
                self.binary(*operator, one, other)?;
                Some(Value::Plain)
            }
            (
                ExprKind::Conditional(condition, then, otherwise),
                ExprKind::Conditional(others, there, elsewhere),
            ) => {
                self.plain(condition, others)?;
                let (then, otherwise) = (self.expr(then, there)?, self.expr(otherwise, elsewhere)?);
                self.told.meet(then, otherwise)?;
                Some(self.either(then, otherwise)?)
            }
            (ExprKind::Same(..), ExprKind::Same(..)) => {
                self.compared(one, other)?;
                Some(Value::Plain)
            }
            (
                ExprKind::Quantified { quantifier, local, over, body },
                ExprKind::Quantified { quantifier: others, local: bound, over: there, body: inner },
            ) if quantifier == others => {
                self.bind((*local, *over), (*bound, *there))?;
                self.plain(body, inner)?;
                self.bound.pop();
                Some(Value::Plain)
            }
            _ => self.question(one, other),
        }
    }

    /// Two questions about where processes are, what channels hold, and who is who.
    fn question(&mut self, one: &Expr, other: &Expr) -> Option<Value> {
        match (&one.kind, &other.kind) {
            (
                ExprKind::At { process, slot, location },
                ExprKind::At { process: there, slot: others, location: place },
            ) => {
                self.told.processes(*process, *there)?;
                self.told.locations((*process, *location), (*there, *place))?;
                self.slots(*process, slot.as_deref(), others.as_deref())?;
                Some(Value::Plain)
            }
            (ExprKind::Length(one), ExprKind::Length(other))
            | (ExprKind::IsEmpty(one), ExprKind::IsEmpty(other))
            | (ExprKind::IsFull(one), ExprKind::IsFull(other)) => {
                self.channel(one, other)?;
                Some(Value::Plain)
            }
            (
                ExprKind::CanReceive(one, patterns, anywhere),
                ExprKind::CanReceive(other, others, too),
            ) if anywhere == too => {
                let fields = self.channel(one, other)?;
                self.patterns(&fields, patterns, others)?;
                Some(Value::Plain)
            }
            (ExprKind::IsUndefined(one), ExprKind::IsUndefined(other)) => {
                self.place(one, other)?;
                Some(Value::Plain)
            }
            (ExprKind::Self_, ExprKind::Self_) => Some(self.pid()),
            (ExprKind::SlotOf(process, one), ExprKind::SlotOf(there, other)) => {
                self.told.processes(*process, *there)?;
                let pid = self.pid();
                self.meets(one, other, pid)?;
                Some(self.slot(*process))
            }
            (ExprKind::Enabled(one), ExprKind::Enabled(other))
            | (ExprKind::PriorityOf(one), ExprKind::PriorityOf(other)) => {
                let pid = self.pid();
                self.meets(one, other, pid)?;
                Some(Value::Plain)
            }
            (ExprKind::Processes, ExprKind::Processes) | (ExprKind::Timeout, ExprKind::Timeout) => {
                Some(Value::Plain)
            }
            // Channels as numbers, and what only languages with scalarsets of their own have.
            _ => None,
        }
    }

    /// What either of two values is.
    fn either(&mut self, one: Value, other: Value) -> Option<Value> {
        match (one, other) {
            (Value::Of { sort, range }, Value::Of { range: others, .. }) => {
                let range = (range.0.min(others.0), range.1.max(others.1));
                Some(Value::Of { sort, range })
            }
            (Value::Of { sort, range }, Value::Constant(here, _))
            | (Value::Constant(here, _), Value::Of { sort, range }) => {
                Some(Value::Of { sort, range: (range.0.min(here), range.1.max(here)) })
            }
            _ => {
                self.told.fix(one)?;
                self.told.fix(other)?;
                Some(Value::Plain)
            }
        }
    }

    fn binary(&mut self, operator: Binary, one: &Expr, other: &Expr) -> Option<()> {
        match operator {
            Binary::Equal | Binary::NotEqual => self.compared(one, other),
            Binary::And | Binary::Or => self.listed(operator, one, other),
            _ => {
                let (left, right) = operands(one)?;
                let (first, second) = operands(other)?;
                self.plain(left, first)?;
                self.plain(right, second)
            }
        }
    }

    /// Two comparisons for equality.
    fn compared(&mut self, one: &Expr, other: &Expr) -> Option<()> {
        let (left, right) = operands(one)?;
        let (first, second) = operands(other)?;
        let value = self.expr(left, first)?;
        self.meets(right, second, value)
    }

    /// Two conjunctions or disjunctions: the parts of one are those of the other in some order.
    fn listed(&mut self, operator: Binary, one: &Expr, other: &Expr) -> Option<()> {
        let (mut parts, mut others) = (Vec::new(), Vec::new());
        flatten(operator, one, &mut parts);
        flatten(operator, other, &mut others);
        self.in_some_order(&parts, others, |it, one, other| it.plain(one, other))
    }

    /// The members of one list are those of another in some order.
    fn in_some_order<'e, E>(
        &mut self,
        one: &[&'e E],
        mut others: Vec<&'e E>,
        corresponds: impl Fn(&mut Self, &E, &E) -> Option<()>,
    ) -> Option<()> {
        if one.len() != others.len() {
            return None;
        }
        if T::NOTHING_MOVES {
            return one.iter().try_for_each(|it| corresponds(self, it, it));
        }
        for member in one {
            let like = |&other: &&E| self.tried(|it| corresponds(it, member, other));
            let at = others.iter().position(like)?;
            others.remove(at);
        }
        Some(())
    }

    /// Whether something corresponds; if not, it is as if it had not been tried.
    pub(super) fn tried(&mut self, run: impl FnOnce(&mut Self) -> Option<()>) -> bool {
        let (bound, mark) = (self.bound.clone(), self.told.mark());
        let corresponds = run(self).is_some();
        if !corresponds {
            self.bound = bound;
            self.told.take_back(mark);
        }
        corresponds
    }

    fn slots(
        &mut self,
        process: ProcessId,
        one: Option<&Expr>,
        other: Option<&Expr>,
    ) -> Option<()> {
        match (one, other) {
            (Some(one), Some(other)) => {
                let slot = self.slot(process);
                self.meets(one, other, slot)
            }
            (None, None) => Some(()),
            _ => None,
        }
    }

    fn place(&mut self, one: &Place, other: &Place) -> Option<Shape> {
        let (Root::Variable(here), Root::Variable(there)) = (one.root, other.root) else {
            return None;
        };
        self.told.variables(here, there)?;
        if let crate::ir::Owner::Process(process) = self.program.variables[here].owner {
            self.slots(process, one.slot.as_deref(), other.slot.as_deref())?;
        }
        if one.path.len() != other.path.len() {
            return None;
        }
        let mut shape = self.told.sorts().variables[here].clone();
        for (selector, others) in one.path.iter().zip(&other.path) {
            shape = match (shape, selector, others) {
                (
                    Shape::Array { index, low, length, element },
                    Selector::Index(one),
                    Selector::Index(other),
                ) => {
                    let range = (low, low + i64::from(length) - 1);
                    self.meets(one, other, Value::Of { sort: index, range })?;
                    *element
                }
                (Shape::Record(mut fields), Selector::Field(one), Selector::Field(other))
                    if one == other =>
                {
                    fields.swap_remove(*one as usize)
                }
                _ => return None,
            };
        }
        Some(shape)
    }

    /// Two channels that are named outright, and what the fields of the first are.
    fn channel(&mut self, one: &ChannelRef, other: &ChannelRef) -> Option<Vec<Shape>> {
        let (ChannelRef::Named(one), ChannelRef::Named(other)) = (one, other) else { return None };
        self.told.channels(*one, *other)?;
        Some(self.told.sorts().channels[*one].clone())
    }

    fn patterns(&mut self, fields: &[Shape], one: &[Pattern], other: &[Pattern]) -> Option<()> {
        if one.len() != other.len() || one.len() != fields.len() {
            return None;
        }
        for ((one, other), field) in one.iter().zip(other).zip(fields) {
            let field = scalar(field)?;
            match (one, other) {
                (Pattern::Into(one), Pattern::Into(other)) => {
                    let target = scalar(&self.place(one, other)?)?;
                    self.stored(field, target, Overflow::Wraps)?;
                }
                (Pattern::Match(one), Pattern::Match(other)) => self.meets(one, other, field)?,
                (Pattern::Any, Pattern::Any) => {}
                _ => return None,
            }
        }
        Some(())
    }

    fn communication(&mut self, one: &Communication, other: &Communication) -> Option<()> {
        match (one, other) {
            (
                Communication::Send { channel, values, sorted, .. },
                Communication::Send { channel: there, values: others, sorted: too, .. },
            ) if sorted == too && values.len() == others.len() => {
                let fields = self.channel(channel, there)?;
                let ChannelRef::Named(id) = channel else { return None };
                if values.len() != fields.len() {
                    return None;
                }
                let overflow = self.program.channels[*id].overflow;
                for ((one, other), field) in values.iter().zip(others).zip(&fields) {
                    let (value, field) = (self.expr(one, other)?, scalar(field)?);
                    self.stored(value, field, overflow)?;
                    if *sorted {
                        self.told.fix(field)?;
                    }
                }
                Some(())
            }
            (
                Communication::Receive { channel, patterns, anywhere, peek, .. },
                Communication::Receive {
                    channel: there,
                    patterns: others,
                    anywhere: too,
                    peek: as_well,
                    ..
                },
            ) if anywhere == too && peek == as_well => {
                let fields = self.channel(channel, there)?;
                self.patterns(&fields, patterns, others)
            }
            _ => None,
        }
    }

    /// A value is stored where a target is. What is reduced to a smaller domain is computed with.
    fn stored(&mut self, value: Value, target: Value, overflow: Overflow) -> Option<()> {
        if let (Value::Of { range, .. }, Overflow::Wraps) = (target, overflow) {
            let fits = match value {
                Value::Constant(one, other) => {
                    inside((one, one), range) && inside((other, other), range)
                }
                Value::Of { range: own, .. } => inside(own, range),
                Value::Plain => true,
            };
            if !fits {
                self.told.fix(value)?;
                self.told.fix(target)?;
            }
        }
        self.told.meet(value, target)
    }

    fn bodies(&mut self, one: &[Stmt], other: &[Stmt]) -> Option<()> {
        if one.len() != other.len() {
            return None;
        }
        if may_be_reordered(one) && may_be_reordered(other) {
            let (one, other) = (one.iter().collect::<Vec<_>>(), other.iter().collect());
            return self.in_some_order(&one, other, Self::stmt);
        }
        one.iter().zip(other).try_for_each(|(one, other)| self.stmt(one, other))
    }

    fn stmt(&mut self, one: &Stmt, other: &Stmt) -> Option<()> {
        self.step()?;
        match (&one.kind, &other.kind) {
            (
                StmtKind::Assign { target, value, overflow },
                StmtKind::Assign { target: there, value: others, overflow: too },
            ) if overflow == too => {
                let target = scalar(&self.place(target, there)?)?;
                let value = self.expr(value, others)?;
                self.stored(value, target, *overflow)
            }
            (
                StmtKind::Copy { target, source },
                StmtKind::Copy { target: there, source: others },
            ) => {
                let target = self.place(target, there)?;
                let source = self.place(source, others)?;
                self.told.shapes_meet(&target, &source)
            }
            (StmtKind::Assume(one), StmtKind::Assume(other)) => self.plain(one, other),
            (
                StmtKind::Assert { condition: one, asserted, .. },
                StmtKind::Assert { condition: other, asserted: there, .. },
            ) if asserted == there => self.plain(one, other),
            (StmtKind::Error(_), StmtKind::Error(_))
            | (StmtKind::Exit, StmtKind::Exit)
            | (StmtKind::Return(None), StmtKind::Return(None)) => Some(()),
            (StmtKind::Communicate(one), StmtKind::Communicate(other)) => {
                self.communication(one, other)
            }
            // What is printed changes nothing, but finding it may fail.
            (StmtKind::Print { values, .. }, StmtKind::Print { values: others, .. })
                if values.len() == others.len() =>
            {
                values
                    .iter()
                    .zip(others)
                    .try_for_each(|(one, other)| self.expr(one, other).map(drop))
            }
            _ => self.structured(one, other),
        }
    }

    /// Two statements with others in them, or that start a process.
    fn structured(&mut self, one: &Stmt, other: &Stmt) -> Option<()> {
        match (&one.kind, &other.kind) {
            (StmtKind::If(branches), StmtKind::If(others)) if branches.len() == others.len() => {
                for ((condition, body), (other, inner)) in branches.iter().zip(others) {
                    match (condition, other) {
                        (Some(one), Some(other)) => self.plain(one, other)?,
                        (None, None) => {}
                        _ => return None,
                    }
                    self.bodies(body, inner)?;
                }
                Some(())
            }
            (
                StmtKind::For { local, first, last, step, body },
                StmtKind::For { local: bound, first: from, last: to, step: by, body: inner },
            ) => {
                self.plain(first, from)?;
                self.plain(last, to)?;
                self.plain(step, by)?;
                self.told.bind(self.scope, *local, (i64::MIN, i64::MAX))?;
                let value = self.told.sorts().local(self.scope, *local)?;
                self.told.fix(value)?;
                self.bound.push((*local, *bound));
                self.bodies(body, inner)?;
                self.bound.pop();
                Some(())
            }
            (
                StmtKind::While { condition, body, limit },
                StmtKind::While { condition: others, body: inner, limit: too },
            ) if limit == too => {
                self.plain(condition, others)?;
                self.bodies(body, inner)
            }
            (
                StmtKind::Run { process, arguments, into },
                StmtKind::Run { process: there, arguments: others, into: place },
            ) if arguments.len() == others.len() => {
                self.told.processes(*process, *there)?;
                let parameters = &self.program.processes[*process].parameters;
                for ((one, other), &parameter) in arguments.iter().zip(others).zip(parameters) {
                    let target = scalar(&self.told.sorts().variables[parameter].clone())?;
                    let value = self.expr(one, other)?;
                    self.stored(value, target, Overflow::Wraps)?;
                }
                match (into, place) {
                    (Some(one), Some(other)) => {
                        let target = scalar(&self.place(one, other)?)?;
                        let slot = self.slot(*process);
                        self.told.meet(target, slot)
                    }
                    (None, None) => Some(()),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

fn inside(one: Interval, other: Interval) -> bool {
    other.0 <= one.0 && one.1 <= other.1
}

fn operands(expr: &Expr) -> Option<(&Expr, &Expr)> {
    match &expr.kind {
        ExprKind::Binary(_, left, right) | ExprKind::Same(left, right) => Some((left, right)),
        _ => None,
    }
}

fn flatten<'e>(operator: Binary, expr: &'e Expr, into: &mut Vec<&'e Expr>) {
    match &expr.kind {
        ExprKind::Binary(it, left, right) if *it == operator => {
            flatten(operator, left, into);
            flatten(operator, right, into);
        }
        _ => into.push(expr),
    }
}
