//! Which values each variable ever has.
//!
//! Models declare bytes and use three values of them. An interval for each variable, and for each
//! field of a channel's messages, is found by abstract interpretation (Cousot and Cousot 1977):
//! beginning with the initial values, what every action stores is added, until nothing is new. A
//! guard narrows what its action reads; where an action runs, what other actions do does not matter.
//! Only what may come to something else is run again (`worklist`).
//! When that takes long, intervals grow to the next number of bits at once, since only bits count,
//! so it comes to an end. The layout then gives a cell only the bits that its values need.
//!
//! Scalars and arrays of scalars are narrowed, all elements of an array alike. Other variables keep
//! their declared ranges, and so do those that are copied whole, which is done bit by bit, and
//! everything in a program with functions or local variables.

mod worklist;

use self::worklist::{CodePiece, CodeWorklist};
use crate::ir::interval::{self, Interval, NONE, hull, is_none};
use crate::ir::layout::ValueRanges;
use crate::ir::walk::{self, CodeVisitor};
use crate::ir::{
    Action, Arena, BinaryOp, CallArgument, ChannelId, ChannelRef, Communication, Domain, Entity,
    Expr, ExprKind, ExprMap, LocalId, OverflowRule, Parameter, PidRule, Place, PlaceRoot,
    PlaceSelector, Program, ReceivePattern, ScalarType, Schedule, Stmt, StmtKind, Type, TypeId,
    UnaryOp, VarId, message_arity,
};
use std::collections::BTreeMap;

/// So many expressions are evaluated before intervals grow by whole bits: some milliseconds.
const PATIENCE: u64 = 200_000;

/// Numbers of processes, and how many there are.
const PIDS: Interval = (0, 255);

/// The ranges of a valid program's variables and messages; nothing if they are not known.
pub fn ranges(program: &Program) -> Option<ValueRanges> {
    let mut look = CopySurvey { unknown: !program.functions.is_empty(), copied: Vec::new() };
    program.actions.values().for_each(|action| walk::action(&mut look, action));
    program.starts.iter().for_each(|start| walk::body(&mut look, &start.body));
    if look.unknown {
        return None;
    }
    let mut analysis = RangeAnalysis::new(program);
    look.copied.into_iter().for_each(|variable| analysis.variables[variable] = None);
    analysis.settle();
    Some(analysis.finish())
}

/// Which values an expression of a program has, wherever it is computed.
pub(super) type ExprResults = ExprMap<interval::ResultRange>;

/// The ranges of a valid program, and which values each of its expressions has; nothing if they are not known.
pub(super) fn ranges_and_values(program: &Program) -> Option<(ValueRanges, ExprResults)> {
    let ranges = ranges(program)?;
    let mut analysis = RangeAnalysis::new(program);
    (analysis.variables, analysis.channels) = (ranges.variables.clone(), ranges.channels.clone());
    analysis.seen = Some(ExprResults::new());
    analysis.settle();
    debug_assert_eq!(analysis.variables, ranges.variables, "what is known is all there is");
    Some((ranges, analysis.seen.unwrap_or_default()))
}

/// Looks for what is not narrowed.
struct CopySurvey {
    /// Whether there is anything the analysis does not know.
    unknown: bool,
    /// Variables that are copied whole, from or to.
    copied: Vec<VarId>,
}

impl CodeVisitor for CopySurvey {
    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Copy { target, source } => {
                self.copied.extend([target, source].into_iter().filter_map(root));
            }
            StmtKind::MultisetAdd {
                element: CallArgument::Copy(source) | CallArgument::Reference(source),
                ..
            } => self.copied.extend(root(source)),
            _ => {}
        }
        self.unknown |= matches!(
            stmt.kind,
            StmtKind::Call { .. }
                | StmtKind::Return(_)
                | StmtKind::Declare { .. }
                | StmtKind::Alias { .. }
        );
        walk::stmt(self, stmt);
    }

    fn place(&mut self, place: &Place, _: walk::PlaceAccess) {
        self.unknown |= matches!(place.root, PlaceRoot::Local(_));
        walk::place(self, place);
    }
}

struct RangeAnalysis<'a> {
    program: &'a Program,
    /// Of the scalars of each plain variable.
    variables: Arena<VarId, Option<Interval>>,
    channels: Arena<ChannelId, Vec<Interval>>,
    pieces: CodeWorklist<'a>,
    /// Whether processes come and go.
    comes_and_goes: bool,
    /// Expressions evaluated.
    evaluated: u64,
    /// What is known of scalar variables at this point of an action.
    here: BTreeMap<VarId, Interval>,
    locals: Vec<Interval>,
    /// Which values expressions have, if that is asked.
    seen: Option<ExprResults>,
}

impl<'a> RangeAnalysis<'a> {
    fn new(program: &'a Program) -> Self {
        let variables = program.variables.values().map(|variable| {
            is_plain(program, variable.ty).then(|| {
                variable
                    .initial
                    .iter()
                    .flatten()
                    .fold(NONE, |all, &value| hull(all, (value, value)))
            })
        });
        let channels = program.channels.values().map(|it| vec![NONE; it.fields.len()]);
        RangeAnalysis {
            program,
            variables: variables.collect(),
            channels: channels.collect(),
            pieces: CodeWorklist::of(program),
            comes_and_goes: program.has_dynamic_processes(),
            evaluated: 0,
            here: BTreeMap::new(),
            locals: Vec::new(),
            seen: None,
        }
    }

    fn finish(self) -> ValueRanges {
        // A variable that never has a value needs no bits, which an empty interval says.
        ValueRanges { variables: self.variables, channels: self.channels }
    }

    /// Runs pieces of code until none would store anything else.
    fn settle(&mut self) {
        self.program.last.into_iter().for_each(|variable| self.assign_external(variable, PIDS));
        while let Some(code) = self.pieces.take() {
            match code {
                CodePiece::Start(start) => {
                    self.begin(&start.parameters);
                    self.run(&start.body);
                }
                CodePiece::Process(process) => {
                    self.begin(&[]);
                    self.run(&process.life.prologue);
                    if let PidRule::In(variable) = process.life.pid {
                        self.assign_external(variable, PIDS);
                    }
                }
                CodePiece::Action(action) => {
                    self.begin(&action.parameters);
                    self.action(action);
                }
            }
        }
    }

    /// Notes that a variable is given a value from outside any action.
    fn assign_external(&mut self, variable: VarId, value: Interval) {
        let place = Place::variable(variable, self.program.variables[variable].span);
        let here = self.here.remove(&variable);
        self.assign(&place, value, OverflowRule::Wraps);
        self.here.remove(&variable);
        here.into_iter().for_each(|here| {
            self.here.insert(variable, here);
        });
    }

    fn begin(&mut self, parameters: &[Parameter]) {
        self.here.clear();
        self.locals.clear();
        for parameter in parameters {
            let range = self.scalar_bounds(parameter.over);
            self.bind(parameter.local, range);
        }
    }

    fn action(&mut self, action: &Action) {
        if let Some(guard) = &action.guard
            && !self.assume(guard, true)
        {
            return;
        }
        let mut alone = self.program.schedule == Schedule::Interleaved;
        if let Some(communication) = &action.communication {
            self.communicate(communication);
            // The receiver's statements come before the sender's, unless processes come and go.
            let rendezvous = communication.channel().may_be_rendezvous(self.program);
            let first =
                matches!(communication, Communication::Receive { .. }) || self.comes_and_goes;
            alone &= !rendezvous || first;
        }
        if !alone {
            self.here.clear();
        }
        self.run(&action.body);
    }

    fn run(&mut self, body: &[Stmt]) {
        body.iter().for_each(|stmt| self.statement(stmt));
    }

    fn statement(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign { target, value, overflow } => {
                if value.kind != ExprKind::Undefined {
                    let value = self.value(value);
                    self.assign(target, value, *overflow);
                }
            }
            StmtKind::Clear(place) => {
                if let Some(ty) = self.leaf(place) {
                    let low = self.scalar_bounds(ty).0;
                    self.assign(place, (low, low), OverflowRule::Fails);
                }
            }
            StmtKind::If(branches) => self.branches(branches.iter().map(|(_, body)| body)),
            StmtKind::Switch(_, branches) => {
                self.branches(branches.iter().map(|(_, body)| body));
            }
            StmtKind::For { local, first, last, body, .. } => {
                let range = hull(self.value(first), self.value(last));
                self.bind(*local, range);
                self.branches([body].into_iter());
            }
            StmtKind::ForEach { local, over, body } => {
                let range = self.scalar_bounds(*over);
                self.bind(*local, range);
                self.branches([body].into_iter());
            }
            StmtKind::While { body, .. } => self.branches([body].into_iter()),
            StmtKind::Communicate(communication) => self.communicate(communication),
            StmtKind::Run { process, arguments, into } => {
                let parameters = &self.program.processes[*process].parameters;
                for (&parameter, argument) in parameters.iter().zip(arguments) {
                    let value = self.value(argument);
                    self.assign_external(parameter, value);
                }
                if let Some(place) = into {
                    self.assign(place, PIDS, OverflowRule::Wraps);
                }
            }
            StmtKind::Exit => {}
            StmtKind::Copy { .. }
            | StmtKind::Undefine(_)
            | StmtKind::Assume(_)
            | StmtKind::Assert { .. }
            | StmtKind::Cover { .. }
            | StmtKind::Error(_)
            | StmtKind::MultisetAdd { .. }
            | StmtKind::MultisetRemove { .. }
            | StmtKind::Print { .. } => {}
            StmtKind::Call { .. }
            | StmtKind::Return(_)
            | StmtKind::Declare { .. }
            | StmtKind::Alias { .. } => unreachable!("programs with these are not analysed"),
        }
    }

    /// Bodies that may be run, or run again: what is known at this point no longer counts. What
    /// they store has been added to what the variables ever have, which is known in any case.
    fn branches<'s>(&mut self, bodies: impl Iterator<Item = &'s Vec<Stmt>>) {
        for body in bodies {
            self.here.clear();
            self.run(body);
        }
        self.here.clear();
    }

    fn communicate(&mut self, communication: &Communication) {
        for channel in communication.channel().possible_channels(self.program) {
            self.communicate_on(channel, communication);
        }
        if let Communication::Receive { channel, patterns, .. } = communication
            && !matches!(channel, ChannelRef::Named(_))
        {
            // What the last of several channels gives is not all that may come.
            for pattern in patterns {
                if let ReceivePattern::Into(place) = pattern {
                    root(place).and_then(|variable| self.here.remove(&variable));
                }
            }
        }
    }

    fn communicate_on(&mut self, channel: ChannelId, communication: &Communication) {
        let about = &self.program.channels[channel];
        match communication {
            Communication::Send { values, .. } => {
                // Of a message with too many values the others are dropped; those that are missing are 0.
                for (field, &ty) in about.fields.iter().enumerate() {
                    let domain = self.scalar_bounds(ty);
                    let meets = about.capacity == 0 && self.comes_and_goes;
                    let overflow = if meets { OverflowRule::Wraps } else { about.overflow };
                    let value = values.get(field).map_or((0, 0), |it| self.value(it));
                    let value = stored_range(value, domain, overflow);
                    let sent = self.channels[channel][field];
                    let grown = hull(sent, intersect(self.widen(sent, value), hull(domain, value)));
                    if grown != sent {
                        self.pieces.channel_changed(channel);
                        self.channels[channel][field] = grown;
                    }
                }
            }
            Communication::Receive { patterns, .. } => {
                for (field, pattern) in patterns.iter().enumerate() {
                    let ReceivePattern::Into(place) = pattern else { continue };
                    if field >= about.fields.len() {
                        if message_arity::reads_zero_past_end(about.fields.len()) {
                            self.assign(place, (0, 0), about.overflow);
                        }
                    } else {
                        let mut value = self.channels[channel][field];
                        // An undefined field is received as 0.
                        if self.may_be_undefined(about.fields[field]) {
                            value = hull(value, (0, 0));
                        }
                        self.assign(place, value, about.overflow);
                    }
                }
            }
        }
    }

    /// Notes that a place is given a value.
    fn assign(&mut self, place: &Place, value: Interval, overflow: OverflowRule) {
        let Some(ty) = self.leaf(place) else { return };
        let domain = self.scalar_bounds(ty);
        let value = stored_range(value, domain, overflow);
        let Some(variable) = root(place) else { return };
        let known = self.variables[variable].unwrap_or(NONE);
        let grown = intersect(self.widen(known, value), domain);
        if grown != known {
            self.pieces.changed(variable);
            self.variables[variable] = Some(grown);
        }
        if is_whole(place) {
            self.here.insert(variable, value);
        }
    }

    /// The type of a scalar of a place, if the place is of a plain variable.
    fn leaf(&self, place: &Place) -> Option<TypeId> {
        let variable = root(place)?;
        self.variables[variable]?;
        Some(scalar_of(self.program, self.program.variables[variable].ty))
    }

    fn read(&self, place: &Place) -> Interval {
        let Some(variable) = root(place) else { return self.integers() };
        let known = is_whole(place).then(|| self.here.get(&variable)).flatten();
        match (known, self.variables[variable]) {
            (Some(&here), _) => here,
            (None, Some(ever)) => ever,
            (None, None) => {
                let ty = self.program.variables[variable].ty;
                match self.place_type(place, ty) {
                    Some(ty) => self.scalar_bounds(ty),
                    None => self.integers(),
                }
            }
        }
    }

    /// The type of a part of a variable of type `ty`, if that is a scalar.
    fn place_type(&self, place: &Place, mut ty: TypeId) -> Option<TypeId> {
        for selector in &place.path {
            ty = match (selector, &self.program.types[ty]) {
                (PlaceSelector::Field(number), Type::Record { fields, .. }) => {
                    fields[*number as usize].1
                }
                (_, Type::Array { element, .. } | Type::Multiset { element, .. }) => *element,
                _ => return None,
            };
        }
        matches!(self.program.types[ty], Type::Scalar(_)).then_some(ty)
    }

    fn value(&mut self, expr: &Expr) -> Interval {
        self.evaluated += 1;
        let results = self.results(expr);
        if let Some(seen) = &mut self.seen {
            let none = interval::ResultRange { range: NONE, may_overflow: false };
            let all = seen.get_or_insert(expr, none);
            all.range = hull(all.range, results.range);
            all.may_overflow |= results.may_overflow;
        }
        results.range
    }

    /// The values of an expression, and whether on the way to them one has to be wrapped, or checked.
    fn results(&mut self, expr: &Expr) -> interval::ResultRange {
        if let ExprKind::Binary(operator, left, right) = &expr.kind {
            let (left, right) = (self.value(left), self.value(right));
            return interval::binary(self.program.arithmetic, *operator, left, right);
        }
        interval::ResultRange { range: self.non_binary_range(expr), may_overflow: false }
    }

    /// The values of an expression that is no operation on two.
    fn non_binary_range(&mut self, expr: &Expr) -> Interval {
        match &expr.kind {
            ExprKind::Constant(value) => (*value, *value),
            ExprKind::Read(place) => self.read(place),
            ExprKind::Local(local) => self.local(*local),
            ExprKind::Unary(operator, operand) => {
                let operand = self.value(operand);
                interval::unary(self.program.arithmetic, *operator, operand)
            }
            ExprKind::Binary(..) => self.results(expr).range,
            ExprKind::Conditional(_, then, otherwise) => {
                hull(self.value(then), self.value(otherwise))
            }
            ExprKind::Length(channel) => {
                let capacities = channel
                    .possible_channels(self.program)
                    .map(|it| self.program.channels[it].capacity);
                (0, i64::from(capacities.max().unwrap_or_default()))
            }
            ExprKind::Self_ | ExprKind::Processes => PIDS,
            ExprKind::ChannelNumber(_) => self.program.bounds(&Domain::Channel),
            ExprKind::SlotOf(process, _) => (0, self.program.slots(*process).into()),
            ExprKind::Timeout => (0, 1),
            ExprKind::At { .. }
            | ExprKind::IsEmpty(_)
            | ExprKind::IsFull(_)
            | ExprKind::CanReceive(..)
            | ExprKind::Enabled(_)
            | ExprKind::IsUndefined(_)
            | ExprKind::Same(..)
            | ExprKind::Contains(_)
            | ExprKind::Quantified { .. } => (0, 1),
            ExprKind::Undefined => NONE,
            ExprKind::Count { .. }
            | ExprKind::Convert(_)
            | ExprKind::Call(..)
            | ExprKind::PriorityOf(_) => self.integers(),
        }
    }

    /// Narrows what is known at this point by a condition that holds, or does not; false if that
    /// cannot be.
    fn assume(&mut self, expr: &Expr, holds: bool) -> bool {
        match &expr.kind {
            ExprKind::Constant(value) => (*value != 0) == holds,
            ExprKind::Unary(UnaryOp::Not, operand) => self.assume(operand, !holds),
            ExprKind::Binary(BinaryOp::And, left, right) if holds => {
                self.assume(left, true) && self.assume(right, true)
            }
            ExprKind::Binary(BinaryOp::Or, left, right) if !holds => {
                self.assume(left, false) && self.assume(right, false)
            }
            // Their right sides need not be evaluated at all.
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or | BinaryOp::Implies, ..) => true,
            ExprKind::Binary(operator, left, right) => self.compare(*operator, left, right, holds),
            ExprKind::Read(place) => {
                let known = self.read(place);
                match holds {
                    true if known.0 == 0 => self.narrow(place, (1, known.1)),
                    true => true,
                    false => self.narrow(place, (0, 0)),
                }
            }
            _ => true,
        }
    }

    fn compare(&mut self, operator: BinaryOp, left: &Expr, right: &Expr, holds: bool) -> bool {
        let operator = if holds { Some(operator) } else { operator.negated() };
        let Some(operator) = operator else { return true };
        let (one, other) = (self.value(left), self.value(right));
        if is_none(one) || is_none(other) {
            return false;
        }
        let bounds = interval::bounds(operator, one, other);
        let Some((of_left, of_right)) = bounds else { return true };
        let narrowed = |this: &mut Self, expr: &Expr, bound| match &expr.kind {
            ExprKind::Read(place) => this.narrow(place, bound),
            _ => true,
        };
        narrowed(self, left, of_left) && narrowed(self, right, of_right)
    }

    /// Notes that a place is within a bound at this point; false if it cannot be.
    fn narrow(&mut self, place: &Place, bound: Interval) -> bool {
        let known = self.read(place);
        let both = (known.0.max(bound.0), known.1.min(bound.1));
        if let Some(variable) = root(place)
            && is_whole(place)
            && self.variables[variable].is_some()
        {
            self.here.insert(variable, both);
        }
        !is_none(both)
    }

    /// The hull of both; once patience is exhausted, an end that moves goes as far as the bits that
    /// are then needed allow.
    fn widen(&self, known: Interval, value: Interval) -> Interval {
        let all = hull(known, value);
        if is_none(known) || all == known || self.evaluated < PATIENCE {
            return all;
        }
        let distance = (all.1 as i128 - all.0 as i128) as u128;
        let reach = (distance + 1).next_power_of_two() as i128 - 1;
        let low = if all.0 < known.0 { clamp(all.1 as i128 - reach) } else { all.0 };
        let high = if all.1 > known.1 { clamp(low as i128 + reach) } else { all.1 };
        (low.min(all.0), high.max(all.1))
    }

    fn bind(&mut self, local: LocalId, range: Interval) {
        if self.locals.len() <= local.index() {
            self.locals.resize(local.index() + 1, NONE);
        }
        self.locals[local.index()] = range;
    }

    /// What a name can stand for; those that quantifiers bind are not followed.
    fn local(&self, local: LocalId) -> Interval {
        match self.locals.get(local.index()) {
            Some(&range) if !is_none(range) => range,
            _ => self.integers(),
        }
    }

    fn integers(&self) -> Interval {
        self.program.arithmetic.integers()
    }

    fn scalar_bounds(&self, ty: TypeId) -> Interval {
        self.program.bounds(domain(self.program, ty))
    }

    fn may_be_undefined(&self, ty: TypeId) -> bool {
        matches!(self.program.types[ty], Type::Scalar(ScalarType { undefined: true, .. }))
    }
}

/// Whether a type is a scalar, or an array of such.
fn is_plain(program: &Program, ty: TypeId) -> bool {
    match &program.types[ty] {
        Type::Scalar(_) => true,
        Type::Array { element, .. } => is_plain(program, *element),
        Type::Record { .. } | Type::Multiset { .. } => false,
    }
}

/// The type of the scalars of a plain type.
fn scalar_of(program: &Program, ty: TypeId) -> TypeId {
    match &program.types[ty] {
        Type::Array { element, .. } => scalar_of(program, *element),
        _ => ty,
    }
}

fn domain(program: &Program, ty: TypeId) -> &Domain {
    match &program.types[ty] {
        Type::Scalar(ScalarType { domain, .. }) => domain,
        _ => unreachable!("the validator lets only scalars be here"),
    }
}

fn root(place: &Place) -> Option<VarId> {
    match place.root {
        PlaceRoot::Variable(variable) => Some(variable),
        PlaceRoot::Local(_) => None,
    }
}

/// Whether a place is all of a variable, and the mover's own.
fn is_whole(place: &Place) -> bool {
    place.path.is_empty() && place.slot.is_none()
}

/// The values that are in a domain after being stored there.
fn stored_range(value: Interval, domain: Interval, overflow: OverflowRule) -> Interval {
    let fits = domain.0 <= value.0 && value.1 <= domain.1;
    match overflow {
        _ if is_none(value) || fits => value,
        OverflowRule::Wraps => domain,
        OverflowRule::Fails => intersect(value, domain),
    }
}

/// The values of a range that are in a domain. There is one way to say that none are, or rounds
/// would go on forever.
fn intersect(range: Interval, domain: Interval) -> Interval {
    let both = (range.0.max(domain.0), range.1.min(domain.1));
    if is_none(both) { NONE } else { both }
}

fn clamp(value: i128) -> i64 {
    value.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}
