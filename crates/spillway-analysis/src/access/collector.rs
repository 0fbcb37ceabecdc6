//! Collection of the reads and writes of code in one action instance. Known values of indices restrict the cells.

use super::abstract_state::AbstractState;
use super::access_set::{AccessSet, ChannelEffect, ChannelSlot, CounterAddition, LocationChange};
use super::cell_set::CellSet;
use super::counter_sums::CounterSum;
use super::live_processes::LiveProcesses;
use super::walk::{
    AccessVisitor, AccessWalk, BoundValues, CallContext, ChannelOperation, StateTouch,
};
use crate::instances::InstanceSide;
use spillway_ir::interval::{Interval, hull};
use spillway_ir::layout::{CellGroup, CellId, GroupContent, ValueRanges};
use spillway_ir::{
    CallArgument, ChannelId, ChannelRef, Entity, Expr, ExprKind, Function, FunctionId, Layout,
    LocalId, LocationId, OverflowRule, Owner, Place, PlaceRoot, PlaceSelector, ProcessEdge,
    ProcessId, ProcessInstance, Program, Type, TypeId, Urgency, VarId,
};
use std::collections::BTreeMap;
use std::ops::Range;

/// The first cell of local variables, beyond the cells of any state.
pub(super) const FRAME_FIRST: u32 = 1 << 30;

/// The maximal number of pieces of a place that is resolved precisely.
const PIECES_MAX: usize = 4096;

/// The static facts about a program.
#[derive(Clone, Copy, Debug)]
pub(super) struct StaticFacts<'p> {
    pub program: &'p Program,
    /// The layout, which numbers the cells. All layouts of a program number them alike.
    pub layout: &'p Layout,
    /// The ranges of variables in reachable states.
    pub ranges: Option<&'p ValueRanges>,
    /// The values of locals that never change in the states in question.
    pub fixed: &'p BTreeMap<CellId, i64>,
    /// Processes that exist in the states in question. No other process starts in their slots.
    pub present: &'p [ProcessInstance],
    /// The processes of the state from which on the code is executed, if they are known.
    pub live: Option<&'p LiveProcesses>,
    /// The cells that may be undefined in reachable states, if that is known.
    pub undefined: Option<&'p CellSet>,
}

/// The process that executes a piece of code.
#[derive(Clone, Debug)]
pub(super) struct MoverSlots {
    /// The process, if one moves.
    pub process: Option<ProcessId>,
    /// The possible slots of the process.
    pub slots: Range<u32>,
}

impl MoverSlots {
    /// Returns the mover of a property or of an action of the whole program.
    pub fn nobody() -> MoverSlots {
        MoverSlots { process: None, slots: 0..1 }
    }
}

/// The abstract value of a local.
#[derive(Clone, Debug, Default)]
pub(super) enum AbstractBinding {
    #[default]
    Nothing,
    /// One of these values.
    Values(Interval),
    /// A place.
    Place(ResolvedPlace),
}

/// The possible positions of a place.
#[derive(Clone, Debug)]
pub(super) struct ResolvedPlace {
    /// The first cell, for each combination of values of the indices.
    pub starts: Vec<u32>,
    pub ty: TypeId,
    /// The cells that contain the place, if it is not resolved to its end.
    pub inside: Option<CellSet>,
}

impl ResolvedPlace {
    /// Returns the first cell, if it is unique.
    pub fn only_start(&self) -> Option<u32> {
        match (self.starts.as_slice(), &self.inside) {
            ([start], None) => Some(*start),
            _ => None,
        }
    }
}

/// The position of the walk.
#[derive(Clone, Debug)]
pub(super) struct CollectorScope {
    bound: Vec<AbstractBinding>,
    pub mover: MoverSlots,
    /// The number of enclosing bodies that may not be executed.
    open: u32,
    /// Whether an earlier statement may have left the body.
    is_left: bool,
}

/// A collector of the accesses of code.
pub(super) struct AccessCollector<'p> {
    pub known: StaticFacts<'p>,
    pub scope: CollectorScope,
    pub callers: Vec<CollectorScope>,
    /// Whether operations on channels are conditions of the step.
    is_guarded: bool,
    pub access: AccessSet,
    /// The facts about the state at this point of the walk, for analyses that follow them.
    pub state: AbstractState,
    /// The side of an instance whose code is walked, if it is one.
    pub side: Option<InstanceSide>,
    /// The cells that have these values before and during the execution of the code.
    pub given: BTreeMap<CellId, i64>,
    /// The first cell of the next local variable, if local variables have cells.
    pub next_frame: Option<u32>,
    /// Whether the channels are left out that later processes get as parameters.
    pub omits_later_links: bool,
}

impl CollectorScope {
    /// Returns the scope at the start of a body with its own names.
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
            omits_later_links: true,
        }
    }

    /// Gives cells to local variables, from `first` on.
    pub fn begin_frames(&mut self, first: u32) {
        self.next_frame = Some(first);
    }

    /// Binds a parameter to a value.
    pub fn bind_value(&mut self, local: LocalId, value: i64) {
        self.bind_values(local, (value, value));
    }

    /// Binds a name to a range of values.
    pub fn bind_values(&mut self, local: LocalId, values: Interval) {
        self.bind(local, AbstractBinding::Values(values));
    }

    /// Binds a name to a place.
    pub fn bind_place(&mut self, local: LocalId, spot: ResolvedPlace) {
        self.bind(local, AbstractBinding::Place(spot));
    }

    /// Returns the collected accesses and clears them.
    pub fn take(&mut self) -> AccessSet {
        std::mem::take(&mut self.access)
    }

    /// Walks code whose channel operations are conditions of the step.
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

    /// Returns the possible values of a local.
    pub(super) fn local_values(&self, local: LocalId) -> Interval {
        match self.bound(local) {
            AbstractBinding::Values(values) => *values,
            AbstractBinding::Place(spot) => {
                let known = spot.only_start().and_then(|cell| self.state.get(cell));
                known.unwrap_or_else(|| self.bounds(spot.ty))
            }
            AbstractBinding::Nothing => self.known.program.arithmetic.integers(),
        }
    }

    /// Returns the possible values of a place.
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

    /// Returns the value of a place, if it is known wherever the code is executed.
    pub(super) fn known_value_at(&self, place: &Place) -> Option<i64> {
        let given = |cell| self.given.get(&CellId(cell)).copied();
        let is_asked = !self.given.is_empty();
        self.fixed(place)
            .or_else(|| is_asked.then(|| self.place_cell(place)).flatten().and_then(given))
    }

    /// Returns the value of one of the mover's own locals, if it is known.
    fn fixed(&self, place: &Place) -> Option<i64> {
        let PlaceRoot::Variable(variable) = place.root else { return None };
        let is_own = matches!(self.known.program.variables[variable].owner, Owner::Process(_));
        let slots = &self.scope.mover.slots;
        let is_one = is_own && place.slot.is_none() && place.path.is_empty() && slots.len() == 1;
        is_one.then(|| self.known.fixed.get(&self.variable_cell(variable, slots.start)).copied())?
    }

    /// Returns the range of a scalar type.
    pub fn bounds(&self, ty: TypeId) -> Interval {
        match &self.known.program.types[ty] {
            Type::Scalar(scalar) => self.known.program.bounds(&scalar.domain),
            _ => self.known.program.arithmetic.integers(),
        }
    }

    /// Returns the type of the variable or local at which a place begins.
    pub fn root_type(&self, place: &Place) -> TypeId {
        match place.root {
            PlaceRoot::Variable(variable) => self.known.program.variables[variable].ty,
            PlaceRoot::Local(local) => self.local_place(local).ty,
        }
    }

    /// Returns the type of a place.
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

    /// Returns the type of the place to which a name is bound, if it is bound to one.
    pub fn local_place_type(&self, local: LocalId) -> Option<TypeId> {
        match self.bound(local) {
            AbstractBinding::Place(spot) => Some(spot.ty),
            AbstractBinding::Values(_) | AbstractBinding::Nothing => None,
        }
    }

    /// Returns the possible positions of a place. Whether a multiset has an element there counts as read.
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
                // The positions of elements are internal to the multiset.
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

    /// Returns the cell of a place, if it does not depend on the state.
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

    /// Returns all cells of a resolved place.
    pub fn cells(&self, spot: &ResolvedPlace) -> CellSet {
        let mut cells = spot.inside.clone().unwrap_or_default();
        let size = self.known.layout.sizes[spot.ty];
        spot.starts.iter().for_each(|start| cells.insert(*start..start + size));
        cells
    }

    /// Returns the first cell of a variable in a slot.
    pub fn variable_cell(&self, variable: VarId, slot: u32) -> CellId {
        self.known.layout.variables[variable].in_slot(slot)
    }

    /// Returns the possible slots of an owner: the mover's own, unless an expression selects others.
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

    /// Adds definite writes if the place surely gets new values.
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

    /// Returns the channels that a reference may denote.
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
            ChannelRef::Computed(_) if self.is_linked_later(channel) => {
                self.instances();
                Vec::new()
            }
            ChannelRef::Computed(number) => {
                if let Some(only) = self.channel_of_live(number) {
                    return vec![only];
                }
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
            // The number of a process's channel depends on how many processes precede it.
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
            StateTouch::Others => self.access.extend_optional(AccessSet::of_others()),
            StateTouch::Timeout => self.access.reads_timeout = true,
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
    /// Returns the cell that holds the location of an instance.
    pub fn location_cell(&self, process: ProcessId, slot: u32) -> CellId {
        self.layout.locations[process].in_slot(slot)
    }

    /// Returns all cells that belong to an instance, except its location.
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

    /// Returns the cells of a buffered channel.
    pub fn channel_cells(&self, channel: ChannelSlot) -> Range<u32> {
        let about = &self.program.channels[channel.id];
        let first = self.layout.channels[channel.id].in_slot(channel.slot).0;
        first..first + 1 + about.capacity * about.fields.len() as u32
    }
}
