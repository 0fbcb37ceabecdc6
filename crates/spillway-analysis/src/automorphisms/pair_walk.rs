//! A walk through two texts side by side.
//!
//! Two expressions, statements or actions correspond if they are equal except for the names of processes, variables,
//! channels and locations, and for constants. The [`PairingRules`] decide which names may be paired. A walk of a text
//! with itself infers sorts. A result of `None` means that the texts do not correspond.

mod reordering;

use super::sorts::{
    LocalScope, LocationInProcess, ProgramSorts, ScalarBinding, SortedValue, TypeSorts, scalar,
};
use reordering::may_be_reordered;
use spillway_base::budget::AnalysisBudget;
use spillway_ir::interval::Interval;
use spillway_ir::{
    ActionId, BinaryOp, ChannelId, ChannelRef, Communication, Expr, ExprKind, LocalId,
    OverflowRule, Place, PlaceRoot, PlaceSelector, Process, ProcessId, Program, ProgramProperty,
    PropertyId, PropertyKind, ReceivePattern, Stmt, StmtKind, UnaryOp, VarId,
};

/// The work units of a pair of expressions, statements or actions.
const EACH: u64 = 8;

/// A receiver of the pairs of a walk, which accepts or rejects them.
pub(super) trait PairingRules {
    /// Whether a text is walked with itself, so that everything corresponds.
    const NOTHING_MOVES: bool;

    /// A position in the sequence of pairs.
    type UndoMark: Copy;

    /// Returns the current position.
    fn mark(&self) -> Self::UndoMark;

    /// Removes the pairs after a position.
    fn undo_to(&mut self, mark: Self::UndoMark);

    /// Returns the sorts that are known so far.
    fn sorts(&self) -> &ProgramSorts;

    /// Handles two values that are compared or assigned.
    fn unify(&mut self, one: SortedValue, other: SortedValue) -> Option<()>;

    /// Requires that a value is its own image.
    fn fix(&mut self, value: SortedValue) -> Option<()>;

    /// Handles a copy of one value to another.
    fn unify_shapes(&mut self, one: &TypeSorts, other: &TypeSorts) -> Option<()>;

    /// Binds a name in the first text to all values in a range.
    fn bind(&mut self, scope: LocalScope, local: LocalId, range: Interval) -> Option<()>;

    fn processes(&mut self, one: ProcessId, other: ProcessId) -> Option<()> {
        (one == other).then_some(())
    }

    fn locations(&mut self, one: LocationInProcess, other: LocationInProcess) -> Option<()> {
        (one == other).then_some(())
    }

    fn variables(&mut self, one: VarId, other: VarId) -> Option<()> {
        (one == other).then_some(())
    }

    fn channels(&mut self, one: ChannelId, other: ChannelId) -> Option<()> {
        (one == other).then_some(())
    }
}

/// A walk through two texts.
pub(super) struct PairWalk<'p, T> {
    program: &'p Program,
    scope: LocalScope,
    /// The names that are bound at this point, in both texts.
    bound: Vec<(LocalId, LocalId)>,
    pub(super) rules: T,
    budget: &'p AnalysisBudget<'p>,
}

impl<'p, T: PairingRules> PairWalk<'p, T> {
    pub(super) fn new(program: &'p Program, rules: T, budget: &'p AnalysisBudget<'p>) -> Self {
        PairWalk {
            program,
            scope: LocalScope::Process(ProcessId(0)),
            bound: Vec::new(),
            rules,
            budget,
        }
    }

    /// Counts the work of a step. Once the budget is exceeded nothing corresponds. The caller checks the budget at
    /// the end.
    fn step(&self) -> Option<()> {
        self.budget.work(EACH).ok()
    }

    fn enter(&mut self, scope: LocalScope) {
        self.scope = scope;
        self.bound.clear();
    }

    /// Compares how instances start, and when they may move.
    pub(super) fn life(&mut self, id: ProcessId, one: &Process, other: &Process) -> Option<()> {
        self.enter(LocalScope::Process(id));
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
            self.rules.variables(one, other)?;
            let shape = self.rules.sorts().variables[one].clone();
            let value = scalar(&shape)?;
            self.rules.fix(value)?;
        }
        let pid = |process: &Process| match process.life.pid {
            spillway_ir::PidRule::In(variable) => Some(variable),
            _ => None,
        };
        match (pid(one), pid(other)) {
            (Some(one), Some(other)) => {
                self.rules.variables(one, other)?;
                let value = scalar(&self.rules.sorts().variables[one].clone())?;
                let pid = self.pid();
                self.rules.unify(value, pid)
            }
            (None, None) => Some(()),
            _ => None,
        }
    }

    /// Compares the statements that instances execute when they start.
    pub(super) fn prologue(&mut self, one: &Process, other: &Process) -> Option<()> {
        self.bodies(&one.life.prologue, &other.life.prologue)
    }

    /// Compares two actions of processes.
    pub(super) fn actions(&mut self, one: ActionId, other: ActionId) -> Option<()> {
        self.step()?;
        self.enter(LocalScope::Action(one));
        let (one, other) = (&self.program.actions[one], &self.program.actions[other]);
        let (here, there) = (one.edge?, other.edge?);
        self.rules.processes(here.process, there.process)?;
        self.rules.locations(LocationInProcess::source(here), LocationInProcess::source(there))?;
        self.rules.locations(LocationInProcess::target(here), LocationInProcess::target(there))?;
        let are_alike = one.priority == other.priority
            && one.control == other.control
            && one.parameters.len() == other.parameters.len();
        if !are_alike {
            return None;
        }
        for (own, others) in one.parameters.iter().zip(&other.parameters) {
            let own = ScalarBinding { local: own.local, over: own.over };
            self.bind(own, ScalarBinding { local: others.local, over: others.over })?;
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

    /// Compares two properties of states.
    pub(super) fn property(
        &mut self,
        id: PropertyId,
        one: &ProgramProperty,
        other: &ProgramProperty,
    ) -> Option<()> {
        self.enter(LocalScope::Property(id));
        match (&one.kind, &other.kind) {
            (PropertyKind::Invariant(one), PropertyKind::Invariant(other))
            | (PropertyKind::Cover(one), PropertyKind::Cover(other))
            | (PropertyKind::AtEnd(one), PropertyKind::AtEnd(other))
            | (PropertyKind::Constraint(one), PropertyKind::Constraint(other))
            | (PropertyKind::Assumption(one), PropertyKind::Assumption(other)) => {
                self.plain(one, other)
            }
            (
                PropertyKind::AssertionAt { process, location, condition },
                PropertyKind::AssertionAt { process: there, location: place, condition: others },
            ) => {
                self.rules.processes(*process, *there)?;
                let one = LocationInProcess { process: *process, location: *location };
                self.rules
                    .locations(one, LocationInProcess { process: *there, location: *place })?;
                self.plain(condition, others)
            }
            _ => None,
        }
    }

    fn bind(&mut self, one: ScalarBinding, other: ScalarBinding) -> Option<()> {
        let types = &self.program.types;
        let spillway_ir::Type::Scalar(scalar) = &types[one.over] else { return None };
        if types[one.over] != types[other.over] {
            return None;
        }
        self.rules.bind(self.scope, one.local, self.program.bounds(&scalar.domain))?;
        self.bound.push((one.local, other.local));
        Some(())
    }

    fn pid(&self) -> SortedValue {
        SortedValue::Of { sort: self.rules.sorts().pids, range: (0, 255) }
    }

    fn slot(&self, process: ProcessId) -> SortedValue {
        let last = i64::from(self.program.slots(process)) - 1;
        SortedValue::Of { sort: self.rules.sorts().slots[process], range: (0, last) }
    }

    /// Compares expressions whose values are plain numbers.
    fn plain(&mut self, one: &Expr, other: &Expr) -> Option<()> {
        let value = self.expr(one, other)?;
        self.rules.fix(value)
    }

    /// Compares expressions whose value is unified with another one.
    fn meets(&mut self, one: &Expr, other: &Expr, with: SortedValue) -> Option<()> {
        let value = self.expr(one, other)?;
        self.rules.unify(value, with)
    }

    fn expr(&mut self, one: &Expr, other: &Expr) -> Option<SortedValue> {
        self.step()?;
        match (&one.kind, &other.kind) {
            (ExprKind::Constant(one), ExprKind::Constant(other)) => {
                Some(SortedValue::Constant(*one, *other))
            }
            (ExprKind::Read(one), ExprKind::Read(other)) => scalar(&self.place(one, other)?),
            (ExprKind::Local(one), ExprKind::Local(other)) => {
                let is_it = self.bound.iter().rev().find(|it| it.0 == *one)?.1 == *other;
                if is_it { self.rules.sorts().local(self.scope, *one) } else { None }
            }
            (ExprKind::Unary(operator, one), ExprKind::Unary(others, other))
                if operator == others =>
            {
                let _: &UnaryOp = operator;
                self.plain(one, other)?;
                Some(SortedValue::Plain)
            }
            (ExprKind::Binary(operator, ..), ExprKind::Binary(others, ..))
                if operator == others =>
            {
                self.binary(*operator, one, other)?;
                Some(SortedValue::Plain)
            }
            (
                ExprKind::Conditional(condition, then, otherwise),
                ExprKind::Conditional(others, there, elsewhere),
            ) => {
                self.plain(condition, others)?;
                let (then, otherwise) = (self.expr(then, there)?, self.expr(otherwise, elsewhere)?);
                self.rules.unify(then, otherwise)?;
                Some(self.either(then, otherwise)?)
            }
            (ExprKind::Same(..), ExprKind::Same(..)) => {
                self.compared(one, other)?;
                Some(SortedValue::Plain)
            }
            (
                ExprKind::Quantified { quantifier, local, over, body },
                ExprKind::Quantified { quantifier: others, local: bound, over: there, body: inner },
            ) if quantifier == others => {
                let own = ScalarBinding { local: *local, over: *over };
                self.bind(own, ScalarBinding { local: *bound, over: *there })?;
                self.plain(body, inner)?;
                self.bound.pop();
                Some(SortedValue::Plain)
            }
            _ => self.question(one, other),
        }
    }

    /// Compares two queries about locations, channels and pids.
    fn question(&mut self, one: &Expr, other: &Expr) -> Option<SortedValue> {
        match (&one.kind, &other.kind) {
            (
                ExprKind::At { process, slot, location },
                ExprKind::At { process: there, slot: others, location: place },
            ) => {
                self.rules.processes(*process, *there)?;
                let one = LocationInProcess { process: *process, location: *location };
                self.rules
                    .locations(one, LocationInProcess { process: *there, location: *place })?;
                self.slots(*process, slot.as_deref(), others.as_deref())?;
                Some(SortedValue::Plain)
            }
            (ExprKind::Length(one), ExprKind::Length(other))
            | (ExprKind::IsEmpty(one), ExprKind::IsEmpty(other))
            | (ExprKind::IsFull(one), ExprKind::IsFull(other)) => {
                self.channel(one, other)?;
                Some(SortedValue::Plain)
            }
            (
                ExprKind::CanReceive(one, patterns, anywhere),
                ExprKind::CanReceive(other, others, too),
            ) if anywhere == too => {
                let fields = self.channel(one, other)?;
                self.patterns(&fields, patterns, others)?;
                Some(SortedValue::Plain)
            }
            (ExprKind::IsUndefined(one), ExprKind::IsUndefined(other)) => {
                self.place(one, other)?;
                Some(SortedValue::Plain)
            }
            (ExprKind::Self_, ExprKind::Self_) => Some(self.pid()),
            (ExprKind::SlotOf(process, one), ExprKind::SlotOf(there, other)) => {
                self.rules.processes(*process, *there)?;
                let pid = self.pid();
                self.meets(one, other, pid)?;
                Some(self.slot(*process))
            }
            (ExprKind::Enabled(one), ExprKind::Enabled(other))
            | (ExprKind::PriorityOf(one), ExprKind::PriorityOf(other)) => {
                let pid = self.pid();
                self.meets(one, other, pid)?;
                Some(SortedValue::Plain)
            }
            (ExprKind::Processes, ExprKind::Processes) | (ExprKind::Timeout, ExprKind::Timeout) => {
                Some(SortedValue::Plain)
            }
            // Channels as numbers, and queries of languages with their own scalarsets, are not supported.
            _ => None,
        }
    }

    /// Returns a value that covers either of two values.
    fn either(&mut self, one: SortedValue, other: SortedValue) -> Option<SortedValue> {
        match (one, other) {
            (SortedValue::Of { sort, range }, SortedValue::Of { range: others, .. }) => {
                let range = (range.0.min(others.0), range.1.max(others.1));
                Some(SortedValue::Of { sort, range })
            }
            (SortedValue::Of { sort, range }, SortedValue::Constant(here, _))
            | (SortedValue::Constant(here, _), SortedValue::Of { sort, range }) => {
                Some(SortedValue::Of { sort, range: (range.0.min(here), range.1.max(here)) })
            }
            _ => {
                self.rules.fix(one)?;
                self.rules.fix(other)?;
                Some(SortedValue::Plain)
            }
        }
    }

    fn binary(&mut self, operator: BinaryOp, one: &Expr, other: &Expr) -> Option<()> {
        match operator {
            BinaryOp::Equal | BinaryOp::NotEqual => self.compared(one, other),
            BinaryOp::And | BinaryOp::Or => self.listed(operator, one, other),
            _ => {
                let (left, right) = operands(one)?;
                let (first, second) = operands(other)?;
                self.plain(left, first)?;
                self.plain(right, second)
            }
        }
    }

    /// Compares two comparisons for equality.
    fn compared(&mut self, one: &Expr, other: &Expr) -> Option<()> {
        let (left, right) = operands(one)?;
        let (first, second) = operands(other)?;
        let value = self.expr(left, first)?;
        self.meets(right, second, value)
    }

    /// Compares two conjunctions or disjunctions: the parts of one correspond to those of the other in some order.
    fn listed(&mut self, operator: BinaryOp, one: &Expr, other: &Expr) -> Option<()> {
        let (mut parts, mut others) = (Vec::new(), Vec::new());
        flatten(operator, one, &mut parts);
        flatten(operator, other, &mut others);
        self.pair_unordered(&parts, others, |it, one, other| it.plain(one, other))
    }

    /// Pairs the members of two lists in some order.
    fn pair_unordered<'e, E>(
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
            let like = |&other: &&E| self.attempt(|it| corresponds(it, member, other));
            let at = others.iter().position(like)?;
            others.remove(at);
        }
        Some(())
    }

    /// Returns whether something corresponds. Undoes the attempt if not.
    pub(super) fn attempt(&mut self, run: impl FnOnce(&mut Self) -> Option<()>) -> bool {
        let (bound, mark) = (self.bound.clone(), self.rules.mark());
        let corresponds = run(self).is_some();
        if !corresponds {
            self.bound = bound;
            self.rules.undo_to(mark);
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

    fn place(&mut self, one: &Place, other: &Place) -> Option<TypeSorts> {
        let (PlaceRoot::Variable(here), PlaceRoot::Variable(there)) = (one.root, other.root) else {
            return None;
        };
        self.rules.variables(here, there)?;
        if let spillway_ir::Owner::Process(process) = self.program.variables[here].owner {
            self.slots(process, one.slot.as_deref(), other.slot.as_deref())?;
        }
        if one.path.len() != other.path.len() {
            return None;
        }
        let mut shape = self.rules.sorts().variables[here].clone();
        for (selector, others) in one.path.iter().zip(&other.path) {
            shape = match (shape, selector, others) {
                (
                    TypeSorts::Array { index, low, length, element },
                    PlaceSelector::Index(one),
                    PlaceSelector::Index(other),
                ) => {
                    let range = (low, low + i64::from(length) - 1);
                    self.meets(one, other, SortedValue::Of { sort: index, range })?;
                    *element
                }
                (
                    TypeSorts::Record(mut fields),
                    PlaceSelector::Field(one),
                    PlaceSelector::Field(other),
                ) if one == other => fields.swap_remove(*one as usize),
                _ => return None,
            };
        }
        Some(shape)
    }

    /// Compares two named channels. Returns the fields of the first one.
    fn channel(&mut self, one: &ChannelRef, other: &ChannelRef) -> Option<Vec<TypeSorts>> {
        let (ChannelRef::Named(one), ChannelRef::Named(other)) = (one, other) else { return None };
        self.rules.channels(*one, *other)?;
        Some(self.rules.sorts().channels[*one].clone())
    }

    fn patterns(
        &mut self,
        fields: &[TypeSorts],
        one: &[ReceivePattern],
        other: &[ReceivePattern],
    ) -> Option<()> {
        if one.len() != other.len() || one.len() != fields.len() {
            return None;
        }
        for ((one, other), field) in one.iter().zip(other).zip(fields) {
            let field = scalar(field)?;
            match (one, other) {
                (ReceivePattern::Into(one), ReceivePattern::Into(other)) => {
                    let target = scalar(&self.place(one, other)?)?;
                    self.stored(field, target, OverflowRule::Wraps)?;
                }
                (ReceivePattern::Match(one), ReceivePattern::Match(other)) => {
                    self.meets(one, other, field)?
                }
                (ReceivePattern::Any, ReceivePattern::Any) => {}
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
                        self.rules.fix(field)?;
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

    /// Compares a store of a value in a target. A value that is reduced to a smaller domain counts as computed.
    fn stored(
        &mut self,
        value: SortedValue,
        target: SortedValue,
        overflow: OverflowRule,
    ) -> Option<()> {
        if let (SortedValue::Of { range, .. }, OverflowRule::Wraps) = (target, overflow) {
            let fits = match value {
                SortedValue::Constant(one, other) => {
                    inside((one, one), range) && inside((other, other), range)
                }
                SortedValue::Of { range: own, .. } => inside(own, range),
                SortedValue::Plain => true,
            };
            if !fits {
                self.rules.fix(value)?;
                self.rules.fix(target)?;
            }
        }
        self.rules.unify(value, target)
    }

    fn bodies(&mut self, one: &[Stmt], other: &[Stmt]) -> Option<()> {
        if one.len() != other.len() {
            return None;
        }
        if may_be_reordered(one) && may_be_reordered(other) {
            let (one, other) = (one.iter().collect::<Vec<_>>(), other.iter().collect());
            return self.pair_unordered(&one, other, Self::stmt);
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
                self.rules.unify_shapes(&target, &source)
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
            // Printing changes nothing, but its values may fail.
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

    /// Compares two statements that contain others or start a process.
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
                self.rules.bind(self.scope, *local, (i64::MIN, i64::MAX))?;
                let value = self.rules.sorts().local(self.scope, *local)?;
                self.rules.fix(value)?;
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
                self.rules.processes(*process, *there)?;
                let parameters = &self.program.processes[*process].parameters;
                for ((one, other), &parameter) in arguments.iter().zip(others).zip(parameters) {
                    let target = scalar(&self.rules.sorts().variables[parameter].clone())?;
                    let value = self.expr(one, other)?;
                    self.stored(value, target, OverflowRule::Wraps)?;
                }
                match (into, place) {
                    (Some(one), Some(other)) => {
                        let target = scalar(&self.place(one, other)?)?;
                        let slot = self.slot(*process);
                        self.rules.unify(target, slot)
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

fn flatten<'e>(operator: BinaryOp, expr: &'e Expr, into: &mut Vec<&'e Expr>) {
    match &expr.kind {
        ExprKind::Binary(it, left, right) if *it == operator => {
            flatten(operator, left, into);
            flatten(operator, right, into);
        }
        _ => into.push(expr),
    }
}
