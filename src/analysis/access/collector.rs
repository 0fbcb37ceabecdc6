//! From code to what it may read and write, in one action instance: an index is followed as far as what is
//! known of its value goes.

use super::abstract_state::AbstractState;
use super::access_set::{AccessSet, ChannelEffect, ChannelSlot, CounterAddition, LocationChange};
use super::cell_set::CellSet;
use super::counter_sums::CounterSum;
use super::walk::{
    AccessVisitor, AccessWalk, BoundValues, CallContext, ChannelOperation, StateTouch,
};
use crate::analysis::instances::InstanceSide;
use crate::ir::interval::{self, Interval, hull};
use crate::ir::layout::{CellGroup, CellId, GroupContent, ValueRanges};
use crate::ir::{
    CallArgument, ChannelId, ChannelRef, Entity, Expr, ExprKind, Function, FunctionId, Layout,
    LocalId, LocationId, NumberConversion, OverflowRule, Owner, Place, PlaceRoot, PlaceSelector,
    ProcessEdge, ProcessId, Program, Type, TypeId, Urgency, VarId,
};
use std::collections::BTreeMap;
use std::ops::Range;

/// Local variables are given cells from here on, beyond those of any state.
pub(super) const FRAME_FIRST: u32 = 1 << 30;

/// A place in more pieces than this is followed no further.
const PIECES_MAX: usize = 4096;

/// What is known of a program before it runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct StaticFacts<'p> {
    pub program: &'p Program,
    /// Where cells have their numbers from; any layout of the program has the same.
    pub layout: &'p Layout,
    /// Of the variables, in reachable states.
    pub ranges: Option<&'p ValueRanges>,
    /// Of locals that never change any more, in the states that it is about.
    pub fixed: &'p BTreeMap<CellId, i64>,
    /// The cells that may be undefined in reachable states, if that is known.
    pub undefined: Option<&'p CellSet>,
}

/// Who runs a piece of code.
#[derive(Clone, Debug)]
pub(super) struct MoverSlots {
    /// The process, if one moves.
    pub process: Option<ProcessId>,
    /// The slots that it may be in.
    pub slots: Range<u32>,
}

impl MoverSlots {
    /// Nobody: a property, or an action of the whole program.
    pub fn nobody() -> MoverSlots {
        MoverSlots { process: None, slots: 0..1 }
    }
}

/// What a local stands for.
#[derive(Clone, Debug, Default)]
pub(super) enum AbstractBinding {
    #[default]
    Nothing,
    /// One of these values.
    Values(Interval),
    /// A place.
    Place(ResolvedPlace),
}

/// Where a place may be.
#[derive(Clone, Debug)]
pub(super) struct ResolvedPlace {
    /// The first cell, in each way in which its indices may go.
    pub starts: Vec<u32>,
    pub ty: TypeId,
    /// Cells that it lies in, where it was not followed to its end.
    pub inside: Option<CellSet>,
}

impl ResolvedPlace {
    /// Its first cell, if that is known.
    pub fn only_start(&self) -> Option<u32> {
        match (self.starts.as_slice(), &self.inside) {
            ([start], None) => Some(*start),
            _ => None,
        }
    }
}

/// Where the walk is.
#[derive(Clone, Debug)]
pub(super) struct CollectorScope {
    bound: Vec<AbstractBinding>,
    pub mover: MoverSlots,
    /// How many bodies it is in that may not be run.
    open: u32,
    /// Whether the body may have been left.
    is_left: bool,
}

/// Collects what code touches.
pub(super) struct AccessCollector<'p> {
    pub known: StaticFacts<'p>,
    pub scope: CollectorScope,
    pub callers: Vec<CollectorScope>,
    /// Whether operations on channels are what the step waits for.
    is_guarded: bool,
    pub access: AccessSet,
    /// What is known of the state where the walk is, if anybody follows that.
    pub state: AbstractState,
    /// Whose code it is, if that is one side of an instance.
    pub side: Option<InstanceSide>,
    /// Cells that have these values wherever the code is run, and keep them while it is.
    pub given: BTreeMap<CellId, i64>,
    /// The cell that the next local variable begins at, if they are given any.
    pub next_frame: Option<u32>,
}

impl CollectorScope {
    /// The beginning of a body whose names are its own.
    pub fn new(mover: MoverSlots) -> CollectorScope {
        CollectorScope { bound: Vec::new(), mover, open: 0, is_left: false }
    }
}

impl<'p> AccessCollector<'p> {
    pub fn new(known: StaticFacts<'p>, mover: MoverSlots) -> Self {
        let scope = CollectorScope::new(mover);
        let (callers, access) = (Vec::new(), AccessSet::default());
        let state = AbstractState::default();
        let (side, given, next_frame) = (None, BTreeMap::new(), None);
        AccessCollector {
            known,
            scope,
            callers,
            is_guarded: false,
            access,
            state,
            side,
            given,
            next_frame,
        }
    }

    /// Gives local variables cells from here on.
    pub fn begin_frames(&mut self, first: u32) {
        self.next_frame = Some(first);
    }

    /// Says what a parameter stands for.
    pub fn bind_value(&mut self, local: LocalId, value: i64) {
        self.bind_values(local, (value, value));
    }

    /// Says what a name may stand for.
    pub fn bind_values(&mut self, local: LocalId, values: Interval) {
        self.bind(local, AbstractBinding::Values(values));
    }

    /// Says which place a name stands for.
    pub fn bind_place(&mut self, local: LocalId, spot: ResolvedPlace) {
        self.bind(local, AbstractBinding::Place(spot));
    }

    /// Takes what was collected.
    pub fn take(&mut self) -> AccessSet {
        std::mem::take(&mut self.access)
    }

    /// Walks what is understood as an operation that the step waits for.
    pub fn guarded(&mut self, walk: impl FnOnce(&mut Self)) {
        self.is_guarded = true;
        walk(self);
        self.is_guarded = false;
    }

    pub fn program(&self) -> &'p Program {
        self.known.program
    }

    pub fn walk(&self) -> AccessWalk<'p> {
        AccessWalk::new(self.known.program)
    }

    pub(super) fn bind(&mut self, local: LocalId, to: AbstractBinding) {
        let bound = &mut self.scope.bound;
        if bound.len() <= local.index() {
            bound.resize(local.index() + 1, AbstractBinding::Nothing);
        }
        bound[local.index()] = to;
    }

    pub(super) fn bound(&self, local: LocalId) -> &AbstractBinding {
        self.scope.bound.get(local.index()).unwrap_or(&AbstractBinding::Nothing)
    }

    /// The values that an expression can have.
    pub fn values(&self, expr: &Expr) -> Interval {
        let arithmetic = self.known.program.arithmetic;
        match &expr.kind {
            ExprKind::Constant(value) => (*value, *value),
            ExprKind::Local(local) => match self.bound(*local) {
                AbstractBinding::Values(values) => *values,
                AbstractBinding::Place(spot) => {
                    let known = spot.only_start().and_then(|cell| self.state.get(cell));
                    known.unwrap_or_else(|| self.bounds(spot.ty))
                }
                AbstractBinding::Nothing => arithmetic.integers(),
            },
            ExprKind::Read(place) => self.values_at(place),
            ExprKind::Unary(operator, operand) => {
                interval::unary(arithmetic, *operator, self.values(operand))
            }
            ExprKind::Binary(operator, left, right) => {
                let (left, right) = (self.values(left), self.values(right));
                interval::binary(arithmetic, *operator, left, right).range
            }
            ExprKind::Conditional(_, then, otherwise) => {
                hull(self.values(then), self.values(otherwise))
            }
            ExprKind::Convert(convert) => self.converted(convert),
            _ => self.query_values(&expr.kind),
        }
    }

    fn converted(&self, convert: &NumberConversion) -> Interval {
        let operand = self.values(&convert.operand);
        convert.pieces.iter().fold(interval::NONE, |all, piece| {
            let (low, high) = (operand.0.max(piece.low), operand.1.min(piece.high));
            if low > high { all } else { hull(all, (low + piece.by, high + piece.by)) }
        })
    }

    /// The value of an expression that nothing of the state has a part in, or only what is known of it.
    pub fn known_value(&self, expr: &Expr) -> Option<i64> {
        let arithmetic = self.known.program.arithmetic;
        match &expr.kind {
            ExprKind::Constant(value) => Some(*value),
            ExprKind::Local(local) => match self.bound(*local) {
                AbstractBinding::Values((low, high)) if low == high => Some(*low),
                _ => None,
            },
            ExprKind::Read(place) => self.known_value_at(place),
            ExprKind::Unary(operator, operand) => {
                arithmetic.unary(*operator, self.known_value(operand)?).ok()
            }
            ExprKind::Binary(operator, left, right) => {
                let (left, right) = (self.known_value(left)?, self.known_value(right)?);
                arithmetic.binary(*operator, left, right).ok()
            }
            ExprKind::Convert(convert) => {
                self.known_value(&convert.operand)?;
                let (low, high) = self.converted(convert);
                (low == high).then_some(low)
            }
            _ => None,
        }
    }

    /// What a place can hold.
    pub fn values_at(&self, place: &Place) -> Interval {
        if let Some(value) = self.known_value_at(place) {
            return (value, value);
        }
        if let Some(known) = self.certain_cell(place).and_then(|cell| self.state.get(cell)) {
            return known;
        }
        let declared = self.bounds(self.place_type(place));
        match (place.root, self.known.ranges) {
            (PlaceRoot::Variable(variable), Some(ranges)) => match ranges.variables[variable] {
                Some((low, high)) => (low.max(declared.0), high.min(declared.1)),
                None => declared,
            },
            _ => declared,
        }
    }

    /// The value at a place, if that is known wherever the code is run.
    fn known_value_at(&self, place: &Place) -> Option<i64> {
        let given = |cell| self.given.get(&CellId(cell)).copied();
        let is_asked = !self.given.is_empty();
        self.fixed(place)
            .or_else(|| is_asked.then(|| self.place_cell(place)).flatten().and_then(given))
    }

    /// The value of one of the mover's own locals, if that is known.
    fn fixed(&self, place: &Place) -> Option<i64> {
        let PlaceRoot::Variable(variable) = place.root else { return None };
        let is_own = matches!(self.known.program.variables[variable].owner, Owner::Process(_));
        let slots = &self.scope.mover.slots;
        let is_one = is_own && place.slot.is_none() && place.path.is_empty() && slots.len() == 1;
        is_one.then(|| self.known.fixed.get(&self.variable_cell(variable, slots.start)).copied())?
    }

    /// The values of a scalar type.
    pub fn bounds(&self, ty: TypeId) -> Interval {
        match &self.known.program.types[ty] {
            Type::Scalar(scalar) => self.known.program.bounds(&scalar.domain),
            _ => self.known.program.arithmetic.integers(),
        }
    }

    /// The type of the variable, or what stands for one, that a place begins at.
    pub fn root_type(&self, place: &Place) -> TypeId {
        match place.root {
            PlaceRoot::Variable(variable) => self.known.program.variables[variable].ty,
            PlaceRoot::Local(local) => self.local_place(local).ty,
        }
    }

    /// The type of a place.
    pub fn place_type(&self, place: &Place) -> TypeId {
        let program = self.known.program;
        let start = self.root_type(place);
        place.path.iter().fold(start, |ty, selector| match (selector, &program.types[ty]) {
            (PlaceSelector::Field(number), Type::Record { fields, .. }) => {
                fields[*number as usize].1
            }
            (_, Type::Array { element, .. } | Type::Multiset { element, .. }) => *element,
            _ => unreachable!("the validator matches selectors to types"),
        })
    }

    pub(super) fn local_place(&self, local: LocalId) -> &ResolvedPlace {
        match self.bound(local) {
            AbstractBinding::Place(spot) => spot,
            _ => unreachable!("the validator tells names from places"),
        }
    }

    /// The type of what is at the place that a name stands for, if it stands for one.
    pub fn local_place_type(&self, local: LocalId) -> Option<TypeId> {
        match self.bound(local) {
            AbstractBinding::Place(spot) => Some(spot.ty),
            AbstractBinding::Values(_) | AbstractBinding::Nothing => None,
        }
    }

    /// Where a place may be. That a multiset has an element there is read.
    pub fn resolve_place(&mut self, place: &Place) -> ResolvedPlace {
        let program = self.known.program;
        let mut spot = match place.root {
            PlaceRoot::Variable(variable) => {
                let about = &program.variables[variable];
                let slots = self.slots(about.owner, place.slot.as_deref());
                let starts = slots.map(|slot| self.variable_cell(variable, slot).0).collect();
                ResolvedPlace { starts, ty: about.ty, inside: None }
            }
            PlaceRoot::Local(local) => self.local_place(local).clone(),
        };
        for selector in &place.path {
            self.select(&mut spot, selector);
        }
        spot
    }

    fn select(&mut self, spot: &mut ResolvedPlace, selector: &PlaceSelector) {
        let (program, layout) = (self.known.program, self.known.layout);
        let (part, offsets) = match (selector, &program.types[spot.ty]) {
            (PlaceSelector::Field(number), Type::Record { fields, .. }) => {
                (fields[*number as usize].1, vec![self.field_offset(fields, *number)])
            }
            (PlaceSelector::Index(index), Type::Array { low, length, element, .. }) => {
                let (least, most) = self.values(index);
                let last = low + i64::from(*length) - 1;
                let (least, most) = (least.max(*low), most.min(last));
                let offsets = (least..=most).map(|at| (at - low) as u32 * layout.sizes[*element]);
                (*element, offsets.collect())
            }
            (PlaceSelector::Index(_), Type::Multiset { element, .. }) => {
                // Where elements are is no one's business but the multiset's.
                let cells = self.cells(spot);
                self.access.reads.extend(&cells);
                spot.inside = Some(cells);
                (*element, Vec::new())
            }
            _ => unreachable!("the validator matches selectors to types"),
        };
        if spot.inside.is_none() && spot.starts.len() * offsets.len() > PIECES_MAX {
            spot.inside = Some(self.cells(spot));
        }
        spot.starts = match spot.inside {
            Some(_) => Vec::new(),
            None => {
                let each = spot.starts.iter();
                each.flat_map(|start| offsets.iter().map(move |offset| start + offset)).collect()
            }
        };
        spot.ty = part;
    }

    /// The cell of a place, if nothing that the state holds decides which.
    pub fn only_cell(&mut self, place: &Place) -> Option<CellId> {
        let before = self.take();
        self.walk().expr(self, &Expr::new(ExprKind::IsUndefined(place.clone()), place.span));
        let touched = std::mem::replace(&mut self.access, before);
        let cell = touched.reads.single()?;
        let only = AccessSet { reads: touched.reads.clone(), ..AccessSet::default() };
        let spot = self.resolve_place(place);
        (touched == only && spot.inside.is_none() && self.cells(&spot).single() == Some(cell))
            .then_some(cell)
    }

    /// All cells of a place that has been found.
    pub fn cells(&self, spot: &ResolvedPlace) -> CellSet {
        let mut cells = spot.inside.clone().unwrap_or_default();
        let size = self.known.layout.sizes[spot.ty];
        spot.starts.iter().for_each(|start| cells.insert(*start..start + size));
        cells
    }

    /// The first cell of a variable in a slot.
    pub fn variable_cell(&self, variable: VarId, slot: u32) -> CellId {
        self.known.layout.variables[variable].in_slot(slot)
    }

    /// The slots of an owner that something may be in: the mover's own unless others are named.
    pub(super) fn slots(&self, owner: Owner, named: Option<&Expr>) -> Range<u32> {
        match (owner, named) {
            (Owner::Program, _) => 0..1,
            (Owner::Process(_), None) => self.scope.mover.slots.clone(),
            (Owner::Process(process), Some(slot)) => {
                let (low, high) = self.values(slot);
                let last = i64::from(self.known.program.slots(process)) - 1;
                let (low, high) = (low.max(0), high.min(last));
                if low > high { 0..0 } else { low as u32..high as u32 + 1 }
            }
        }
    }

    fn read(&mut self, place: &Place) {
        if self.known_value_at(place).is_some() {
            return;
        }
        let spot = self.resolve_place(place);
        let cells = self.cells(&spot);
        self.access.reads.extend(&cells);
    }

    fn is_sure(&self) -> bool {
        let bodies = self.callers.iter().chain([&self.scope]);
        bodies.into_iter().all(|it| it.open == 0 && !it.is_left)
    }

    fn write(&mut self, place: &Place) {
        let spot = self.resolve_place(place);
        let cells = self.cells(&spot);
        self.access.writes.extend(&cells);
        self.overwrite(&spot, &cells);
    }

    /// Notes that a place gets new values, if that is sure.
    fn overwrite(&mut self, spot: &ResolvedPlace, cells: &CellSet) {
        if self.is_sure() && spot.inside.is_none() && spot.starts.len() == 1 {
            self.access.definite_writes.extend(cells);
        }
    }

    fn set(&mut self, place: &Place, value: i64, overflow: OverflowRule) {
        let spot = self.resolve_place(place);
        let cells = self.cells(&spot);
        let stored = cells.single().filter(|_| spot.inside.is_none()).and_then(|cell| {
            let about = self.known.layout.cells.get(cell)?;
            match overflow {
                _ if about.holds(value) => Some((cell, value)),
                OverflowRule::Wraps => Some((cell, about.wrap(value))),
                OverflowRule::Fails => None,
            }
        });
        match stored {
            Some(stored) => self.access.sets.push(stored),
            None => self.access.writes.extend(&cells),
        }
        self.overwrite(&spot, &cells);
    }

    fn add(&mut self, place: &Place, by: i64, overflow: OverflowRule) {
        let spot = self.resolve_place(place);
        let cells = self.cells(&spot);
        if spot.inside.is_some() {
            self.access.reads.extend(&cells);
            return self.access.writes.extend(&cells);
        }
        let range = match (place.root, self.known.ranges) {
            (PlaceRoot::Variable(variable), Some(ranges)) => ranges.variables[variable],
            _ => None,
        };
        let domain = self.bounds(spot.ty);
        let sum =
            CounterSum { arithmetic: self.known.program.arithmetic, domain, range, by, overflow };
        let (commutes, is_monotone) = (sum.commutes(), sum.is_monotone());
        let is_once = self.is_sure();
        self.access.adds.push(CounterAddition { cells, by, is_once, commutes, is_monotone });
    }

    fn asks(&mut self, process: ProcessId, slot: Option<&Expr>, location: LocationId) {
        for slot in self.slots(Owner::Process(process), slot) {
            self.access.asks.push((self.known.location_cell(process, slot), location));
        }
    }

    fn moves(&mut self, edge: ProcessEdge) {
        let ProcessEdge { process, from, to } = edge;
        let urgency = |at| self.known.program.processes[process].locations[at].urgency;
        self.access.writes_commitment |=
            (urgency(from) == Urgency::Committed) != (urgency(to) == Urgency::Committed);
        for slot in self.scope.mover.slots.clone() {
            let cell = self.known.location_cell(process, slot);
            self.access.moves.push(LocationChange { cell, from: Some(from), to: Some(to) });
        }
    }

    /// The channels that a reference may mean.
    pub fn channels(&mut self, channel: &ChannelRef) -> Vec<ChannelSlot> {
        let program = self.known.program;
        let own = |this: &Self, id: ChannelId| {
            let slots = this.slots(program.channels[id].owner, None);
            slots.map(move |slot| ChannelSlot { id, slot }).collect::<Vec<_>>()
        };
        match channel {
            ChannelRef::Named(id) => own(self, *id),
            ChannelRef::Element { first, count, index } => {
                let (low, high) = self.values(index);
                let (low, high) = (low.max(0), high.min(i64::from(*count) - 1));
                let ids = (low..=high).map(|at| ChannelId(first.0 + at as u32));
                ids.flat_map(|id| own(self, id)).collect()
            }
            ChannelRef::Computed(number) => {
                let (low, high) = self.values(number);
                let common = program.channels_of(Owner::Program).zip(1..);
                let meant = common.filter(|(_, number)| (low..=high).contains(number));
                let mut found: Vec<_> = meant.map(|(id, _)| ChannelSlot { id, slot: 0 }).collect();
                if high > program.channels_of(Owner::Program).count() as i64 {
                    self.instances();
                    for (id, about) in program.channels.iter() {
                        if let Owner::Process(process) = about.owner {
                            let slots = 0..program.slots(process);
                            found.extend(slots.map(|slot| ChannelSlot { id, slot }));
                        }
                    }
                }
                found
            }
        }
    }

    fn channel(&mut self, channel: &ChannelRef, operation: ChannelOperation) {
        let program = self.known.program;
        let found = self.channels(channel);
        if operation == ChannelOperation::Number {
            // The number of a process's channel says how many there are before it.
            let is_own = |it: &ChannelSlot| program.channels[it.id].owner != Owner::Program;
            if found.iter().any(is_own) {
                self.instances();
            }
            return;
        }
        let what = match operation {
            _ if self.is_guarded => ChannelEffect::Guarded(operation),
            _ if operation.changes() => ChannelEffect::Changed,
            _ => ChannelEffect::Queried,
        };
        let buffered = found.into_iter().filter(|it| program.channels[it.id].capacity > 0);
        self.access.channels.extend(buffered.map(|it| (it, what)));
    }
}

impl AccessVisitor for AccessCollector<'_> {
    fn touch(&mut self, touch: StateTouch<'_>) {
        match touch {
            StateTouch::Read(place) | StateTouch::Search(place) => self.read(place),
            StateTouch::Write(place) => self.write(place),
            StateTouch::Set(place, value, overflow) => self.set(place, value, overflow),
            StateTouch::Add(place, by, overflow) => self.add(place, by, overflow),
            StateTouch::Change(place) => {
                self.read(place);
                let spot = self.resolve_place(place);
                let cells = self.cells(&spot);
                self.access.writes.extend(&cells);
            }
            StateTouch::Find(place) => drop(self.resolve_place(place)),
            StateTouch::Use(local) => {
                if let AbstractBinding::Place(spot) = self.bound(local) {
                    let cells = self.cells(spot);
                    self.access.reads.extend(&cells);
                }
            }
            StateTouch::Begin(local, ty) => {
                let spot = self.fresh(ty);
                self.bind(local, AbstractBinding::Place(spot));
            }
            StateTouch::Alias(local, place) => {
                let spot = self.resolve_place(place);
                self.bind(local, AbstractBinding::Place(spot));
            }
            StateTouch::Bind(local, values) => {
                let values = match values {
                    BoundValues::Of(ty) => self.bounds(ty),
                    BoundValues::Between(first, last) => {
                        hull(self.values(first), self.values(last))
                    }
                    BoundValues::Positions(_) => (0, i64::MAX),
                };
                self.bind(local, AbstractBinding::Values(values));
            }
            StateTouch::Channel(channel, operation) => self.channel(channel, operation),
            StateTouch::Move(edge) => self.moves(edge),
            StateTouch::At(process, slot, location) => self.asks(process, slot, location),
            StateTouch::OwnPid => {
                let MoverSlots { process, slots } = self.scope.mover.clone();
                process.into_iter().for_each(|process| self.pids(process, slots.clone()));
            }
            StateTouch::Instances => self.instances(),
            StateTouch::Others => self.access.reads_anything = true,
            StateTouch::Run(process) => self.run(process),
            StateTouch::Exit => self.exit(),
            StateTouch::Assume => self.access.may_drop = true,
        }
    }

    fn begin_optional(&mut self) {
        self.scope.open += 1;
    }

    fn end_optional(&mut self) {
        self.scope.open -= 1;
    }

    fn may_leave(&mut self) {
        self.scope.is_left = true;
    }

    fn enter(
        &mut self,
        _: FunctionId,
        function: &Function,
        arguments: &[CallArgument],
        _: CallContext,
    ) {
        let parameters = function.parameters.iter();
        let spots = arguments.iter().zip(parameters).map(|(argument, parameter)| match argument {
            CallArgument::Reference(place) => self.resolve_place(place),
            CallArgument::Value(_) | CallArgument::Copy(_) => self.fresh(parameter.ty),
        });
        let spots = spots.collect();
        self.enter_with(function, spots);
    }

    fn leave(&mut self) {
        self.leave_function();
    }
}

impl StaticFacts<'_> {
    /// The cell that says where an instance is.
    pub fn location_cell(&self, process: ProcessId, slot: u32) -> CellId {
        self.layout.locations[process].in_slot(slot)
    }

    /// All cells of what belongs to an instance, but for its location.
    pub fn own_cells(&self, process: ProcessId, slot: u32) -> CellSet {
        let mut cells = CellSet::default();
        let owner = Owner::Process(process);
        let groups = self.layout.groups.values();
        let is_own = |it: &&CellGroup| {
            let tells_location = matches!(it.part, GroupContent::Location(_));
            it.slot == slot && self.program.owner(it.part) == owner && !tells_location
        };
        for group in groups.filter(is_own) {
            cells.insert(group.first.0..group.first.0 + group.cells);
        }
        cells
    }

    /// The cells of a buffered channel.
    pub fn channel_cells(&self, channel: ChannelSlot) -> Range<u32> {
        let about = &self.program.channels[channel.id];
        let first = self.layout.channels[channel.id].in_slot(channel.slot).0;
        first..first + 1 + about.capacity * about.fields.len() as u32
    }
}
