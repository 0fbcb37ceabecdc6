//! Ranges of variables.
//!
//! A model may declare bytes and use only three values of them. The analysis finds an interval for each variable and
//! for each field of a channel's messages by abstract interpretation (Cousot and Cousot 1977). It starts with the
//! initial values and adds the values that actions store until a fixed point. A guard narrows the variables that its
//! action reads; other actions do not interfere within an action. Only code whose result may change is analysed again
//! (`worklist`). After many evaluations, intervals grow to the next number of bits at once, so the analysis
//! terminates. The layout then gives a cell only the bits that its range needs.
//!
//! The analysis covers scalars and arrays of scalars, with one interval for all elements of an array. Other variables
//! keep their declared ranges. So do variables that are copied as a whole, which happens bit by bit, and all
//! variables of a program with functions or local variables.

mod worklist;

use self::worklist::{CodePiece, CodeWorklist};
use crate::absint::{
    CheckedRange, ConditionRefinement, Environment, PIDS, assume, evaluate, query_range,
};
use spillway_ir::interval::{Interval, NONE, ResultRange, hull, is_none};
use spillway_ir::layout::ValueRanges;
use spillway_ir::walk::{self, CodeVisitor};
use spillway_ir::{
    Action, Arena, Arithmetic, CallArgument, ChannelId, ChannelRef, Communication, Domain, Entity,
    Expr, ExprKind, ExprMap, LocalId, OverflowRule, Parameter, PidRule, Place, PlaceRoot,
    PlaceSelector, Program, ReceivePattern, ScalarType, Schedule, Stmt, StmtKind, Type, TypeId,
    VarId, message_arity,
};
use std::collections::BTreeMap;

/// The number of evaluated expressions after which intervals grow by whole bits: some milliseconds.
const PATIENCE: u64 = 200_000;

/// Returns the ranges of a valid program's variables and messages, if they are known.
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

/// The ranges of the expressions of a program, over all evaluations.
pub(super) type ExprResults = ExprMap<ResultRange>;

/// Returns the ranges of a valid program, with those of its expressions, if they are known.
pub(super) fn ranges_and_values(program: &Program) -> Option<(ValueRanges, ExprResults)> {
    let ranges = ranges(program)?;
    let mut analysis = RangeAnalysis::new(program);
    (analysis.variables, analysis.channels) = (ranges.variables.clone(), ranges.channels.clone());
    analysis.seen = Some(ExprResults::new());
    analysis.settle();
    debug_assert_eq!(analysis.variables, ranges.variables, "what is known is all there is");
    Some((ranges, analysis.seen.unwrap_or_default()))
}

/// A search for variables that are not analysed.
struct CopySurvey {
    /// Whether the program has unsupported constructs.
    unknown: bool,
    /// The variables that are copied as a whole, from or to.
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
    /// The range of the scalars of each supported variable.
    variables: Arena<VarId, Option<Interval>>,
    channels: Arena<ChannelId, Vec<Interval>>,
    pieces: CodeWorklist<'a>,
    /// Whether processes start and end.
    comes_and_goes: bool,
    /// The number of evaluated expressions.
    evaluated: u64,
    /// The ranges of scalar variables at this point of an action.
    here: BTreeMap<VarId, Interval>,
    locals: Vec<Interval>,
    /// The ranges of expressions, if they are requested.
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
        ValueRanges { variables: self.variables, channels: self.channels }
    }

    /// Analyses pieces of code until the ranges do not change, for every combination of values that cells can hold.
    fn settle(&mut self) {
        self.settle_reachable();
        while self.fill_empty_ranges() {
            self.settle_reachable();
        }
    }

    /// Gives the least value to what never has a value, as its cell in the layout has. Returns whether there was any.
    ///
    /// No reachable state reads such a cell. Bytes from outside may do so, and the layout accepts them as a state.
    fn fill_empty_ranges(&mut self) -> bool {
        let program = self.program;
        let least = |ty| program.bounds(domain(program, ty)).0;
        let mut is_filled = false;
        for (id, variable) in program.variables.iter() {
            if self.variables[id].is_some_and(is_none) {
                let low = least(scalar_of(program, variable.ty));
                self.variables[id] = Some((low, low));
                self.pieces.changed(id);
                is_filled = true;
            }
        }
        for (id, channel) in program.channels.iter() {
            for (range, &ty) in self.channels[id].iter_mut().zip(&channel.fields) {
                if is_none(*range) {
                    *range = (least(ty), least(ty));
                    self.pieces.channel_changed(id);
                    is_filled = true;
                }
            }
        }
        is_filled
    }

    /// Analyses pieces of code until the ranges do not change.
    fn settle_reachable(&mut self) {
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

    /// Records a value that a variable gets outside of actions.
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
            && !assume(self, guard, true)
        {
            return;
        }
        let mut alone = self.program.schedule == Schedule::Interleaved;
        if let Some(communication) = &action.communication {
            self.communicate(communication);
            // The receiver's statements precede the sender's, unless processes start and end.
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
                    let value = self.range(value);
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
                let range = hull(self.range(first), self.range(last));
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
                    let value = self.range(argument);
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

    /// Analyses bodies that may be executed any number of times. The ranges at this point become invalid. The stored
    /// values are already in the ranges of the variables.
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
            // The message may come from any of several channels.
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
                // Extra values of a message are dropped, and missing values are 0.
                for (field, &ty) in about.fields.iter().enumerate() {
                    let domain = self.scalar_bounds(ty);
                    let meets = about.capacity == 0 && self.comes_and_goes;
                    let overflow = if meets { OverflowRule::Wraps } else { about.overflow };
                    let value = values.get(field).map_or((0, 0), |it| self.range(it));
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

    /// Records a value that a place gets.
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
        } else {
            // The other instance may be the mover itself.
            self.here.remove(&variable);
        }
    }

    /// Returns the type of the scalars of a variable that is analysed.
    fn leaf(&self, place: &Place) -> Option<TypeId> {
        let variable = root(place)?;
        self.variables[variable]?;
        Some(scalar_of(self.program, self.program.variables[variable].ty))
    }

    /// Returns the scalar type of a part of a variable of type `ty`, if it is a scalar.
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

    /// Returns the hull of both. After `PATIENCE` evaluations, a moving bound is extended as far as the required
    /// number of bits permits.
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

impl Environment for RangeAnalysis<'_> {
    type Value = CheckedRange;

    fn arithmetic(&self) -> Arithmetic {
        self.program.arithmetic
    }

    fn read(&mut self, place: &Place) -> CheckedRange {
        CheckedRange::exact(self.range_at(place))
    }

    /// Names that quantifiers bind are not analysed.
    fn local(&mut self, local: LocalId) -> CheckedRange {
        CheckedRange::exact(match self.locals.get(local.index()) {
            Some(&range) if !is_none(range) => range,
            _ => self.integers(),
        })
    }

    fn query(&mut self, expr: &Expr) -> CheckedRange {
        CheckedRange::exact(match expr.kind {
            ExprKind::Undefined => NONE,
            _ => query_range(self.program, &expr.kind),
        })
    }

    fn value(&mut self, expr: &Expr) -> CheckedRange {
        self.evaluated += 1;
        let value = match expr.kind {
            // The members of a union in a variable are not analysed.
            ExprKind::Convert(_) => CheckedRange::exact(self.integers()),
            _ => evaluate(self, expr),
        };
        if let Some(seen) = &mut self.seen {
            let none = ResultRange { range: NONE, may_overflow: false };
            let all = seen.get_or_insert(expr, none);
            all.range = hull(all.range, value.range);
            all.may_overflow |= value.may_overflow;
        }
        value
    }

    /// Counts both branches. Reads in the condition have no effect here.
    fn condition(&mut self, _: &Expr) -> CheckedRange {
        CheckedRange::exact((0, 1))
    }
}

impl ConditionRefinement for RangeAnalysis<'_> {
    fn range(&mut self, expr: &Expr) -> Interval {
        self.value(expr).range
    }

    fn range_at(&mut self, place: &Place) -> Interval {
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

    fn narrow(&mut self, place: &Place, bound: Interval) -> bool {
        let known = self.range_at(place);
        let both = (known.0.max(bound.0), known.1.min(bound.1));
        if let Some(variable) = root(place)
            && is_whole(place)
            && self.variables[variable].is_some()
        {
            self.here.insert(variable, both);
        }
        !is_none(both)
    }
}

/// Returns whether a type is a scalar or an array of scalars.
fn is_plain(program: &Program, ty: TypeId) -> bool {
    match &program.types[ty] {
        Type::Scalar(_) => true,
        Type::Array { element, .. } => is_plain(program, *element),
        Type::Record { .. } | Type::Multiset { .. } => false,
    }
}

/// Returns the type of the scalars of such a type.
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

/// Returns whether a place is a whole variable of the mover or the program.
fn is_whole(place: &Place) -> bool {
    place.path.is_empty() && place.slot.is_none()
}

/// Returns the values of a domain after a store.
fn stored_range(value: Interval, domain: Interval, overflow: OverflowRule) -> Interval {
    let fits = domain.0 <= value.0 && value.1 <= domain.1;
    match overflow {
        _ if is_none(value) || fits => value,
        OverflowRule::Wraps => domain,
        OverflowRule::Fails => intersect(value, domain),
    }
}

/// Returns the intersection of a range and a domain. The empty range has one representation, because the iteration
/// would not terminate otherwise.
fn intersect(range: Interval, domain: Interval) -> Interval {
    let both = (range.0.max(domain.0), range.1.min(domain.1));
    if is_none(both) { NONE } else { both }
}

fn clamp(value: i128) -> i64 {
    value.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}
