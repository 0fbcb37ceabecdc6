//! The footprint of a step: the words it touches, and so the storage of each word while it runs.
//!
//! A given step never writes most words of a state; they are copied from the parent. Words written at known bits are
//! kept in registers. If an index decides which of several words is accessed, all of these are in memory.

use super::code_size::CodeSizes;
use super::names::{LocalNames, NameBinding};
use super::route::DynamicIndex;
use super::shape::{StoredType, StoredTypes, location_in};
use super::words::in_words;
use super::words::{BitOffset, WordLayout};
use crate::Interp;
use crate::interp::{ChannelInstance, MultisetCells};
use spillway_analysis::access::{
    AccessVisitor, AccessWalk, CallContext, ChannelOperation, StateTouch,
};
use spillway_ir::layout::{CellGroup, CellId, LocalFrame};
use spillway_ir::{
    Action, ActionId, CallArgument, ChannelRef, Communication, Expr, Function, FunctionId, LocalId,
    Owner, Place, ProcessInstance, TypeId, VarId,
};
use std::ops::Range;

/// The storage of a word of the state while a step is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordPlacement {
    /// In the parent; the step does not change it.
    Parent,
    /// In a register.
    Register,
    /// In memory, as bytes.
    Memory,
}

/// Collects the bits that steps touch.
pub(super) struct StepFootprint<'a> {
    interp: &'a Interp,
    shapes: &'a StoredTypes,
    sizes: &'a CodeSizes,
    names: LocalNames,
    /// The frame of the current body.
    own: Option<&'a LocalFrame>,
    /// The bindings and frames of the calling bodies, the innermost last.
    callers: Vec<(LocalNames, Option<&'a LocalFrame>)>,
    /// All bits that may be written.
    written: Vec<Range<u32>>,
    /// Ranges of more than one word within which an index selects.
    wide: Vec<Range<u32>>,
    /// Whether the step calls a separately compiled function, which requires all words in memory.
    shared: bool,
}

impl<'a> StepFootprint<'a> {
    /// Creates an empty footprint of code whose parameters have the bindings `names`.
    pub fn new(
        interp: &'a Interp,
        shapes: &'a StoredTypes,
        sizes: &'a CodeSizes,
        names: &LocalNames,
    ) -> Self {
        let (names, callers, written, wide) = (names.clone(), Vec::new(), Vec::new(), Vec::new());
        StepFootprint {
            interp,
            shapes,
            sizes,
            names,
            own: None,
            callers,
            written,
            wide,
            shared: false,
        }
    }

    /// Adds the bits that taking an action touches, except by its guard.
    pub fn action(&mut self, id: ActionId, action: &Action) {
        self.own = self.interp.layout().frames.actions.get(id);
        self.walk().effect(self, action);
    }

    /// Adds the bits that the body of an action touches, without the move and the message.
    pub fn body(&mut self, id: ActionId, action: &Action) {
        self.own = self.interp.layout().frames.actions.get(id);
        self.walk().body(self, &action.body);
    }

    fn walk(&self) -> AccessWalk<'a> {
        AccessWalk::new(self.interp.program())
    }

    /// Continues with other bindings.
    pub fn rename(&mut self, names: &LocalNames) {
        self.names = names.clone();
    }

    /// Adds the bits that evaluating an expression touches: frames of the functions it calls.
    pub fn add_expr(&mut self, expr: &Expr) {
        self.walk().expr(self, expr);
    }

    /// Adds the bits that evaluating the values or patterns of a message touches.
    pub fn add_message(&mut self, communication: &Communication) {
        self.walk().judged(self, communication);
    }

    /// Adds a write of a variable of the program.
    pub fn variable(&mut self, id: VarId) {
        let place = Place::variable(id, self.interp.program().variables[id].span);
        self.write(&place);
    }

    /// Adds a move of an instance.
    pub fn location(&mut self, at: ProcessInstance) {
        let cell = location_in(self.interp.layout(), at);
        self.written.push(cell.bit..cell.bit + cell.bits);
    }

    /// Returns the range of multisets that may be written, from the first to the last.
    pub fn multisets_written(&self) -> Range<usize> {
        let cells = &self.interp.layout().cells;
        let is_written = |slots: &MultisetCells| {
            let last = cells[CellId(slots.first.0 + slots.capacity * slots.stride - 1)];
            let bits = cells[slots.first].bit..last.bit + last.bits;
            self.written.iter().any(|it| it.start < bits.end && bits.start < it.end)
        };
        let all = self.interp.multisets();
        match (all.iter().position(is_written), all.iter().rposition(is_written)) {
            (Some(first), Some(last)) => first..last + 1,
            _ => 0..0,
        }
    }

    /// Returns the storage of each word of the state.
    pub fn words(&self) -> Vec<WordPlacement> {
        let mut words = vec![WordPlacement::Parent; WordLayout::new(self.interp.layout()).words()];
        if self.shared {
            words.fill(WordPlacement::Memory);
            return words;
        }
        for range in self.written.iter().filter(|range| !range.is_empty()) {
            words[in_words(range)].fill(WordPlacement::Register);
        }
        // A range in memory may merge with another that overlaps it, so the loop runs until nothing changes.
        loop {
            let before = words.clone();
            for range in &self.wide {
                let reach = &mut words[in_words(range)];
                if reach.iter().any(|&word| word != WordPlacement::Parent) {
                    reach.fill(WordPlacement::Memory);
                }
            }
            if words == before {
                return words;
            }
        }
    }

    /// Returns the channel of a message. Code is emitted for each possible channel.
    fn meant(&self, channel: &ChannelRef) -> ChannelInstance {
        match channel {
            ChannelRef::Named(id) => self.names.named(self.interp.program(), *id),
            _ => self.names.channel.unwrap_or_else(|| unreachable!("one channel at a time")),
        }
    }

    fn index_decides(&mut self, range: Range<u32>) {
        if in_words(&range).len() > 1 {
            self.wide.push(range);
        }
    }

    /// Adds an access to a place. Returns its position, as far as it is known.
    fn place_at(&mut self, place: &Place) -> (BitOffset, StoredType) {
        let (program, layout) = (self.interp.program(), self.interp.layout());
        let route = self.shapes.route(program, layout, &self.names, place);
        if route.slack > 0 {
            self.index_decides(self.shapes.reach(&route));
        }
        for turn in &route.indices {
            if let DynamicIndex::Position { flag, .. } = turn {
                self.index_decides(*flag..flag + route.slack + 1);
            }
        }
        (BitOffset { slack: route.slack, ..route.start }, route.shape)
    }

    fn reach(&self, at: BitOffset, shape: StoredType) -> Range<u32> {
        at.bit..at.bit + at.slack + self.shapes.bits(shape)
    }

    /// Adds a search of a multiset, position by position.
    fn multiset(&mut self, multiset: &Place) {
        let (at, shape) = self.place_at(multiset);
        self.index_decides(self.reach(at, shape));
    }

    /// Adds a local variable or a parameter by value, which is written at its beginning.
    fn begin(&mut self, local: LocalId, at: BitOffset, ty: TypeId) {
        let shape = StoredType { ty, cell: None };
        self.written.push(self.reach(at, shape));
        self.names.bind(local, NameBinding::Place(at, shape));
    }

    fn write(&mut self, place: &Place) {
        let (at, shape) = self.place_at(place);
        self.written.push(self.reach(at, shape));
    }

    fn channel(&mut self, channel: &ChannelRef, operation: ChannelOperation) {
        if !operation.changes() {
            return;
        }
        let at = self.meant(channel);
        let (program, layout) = (self.interp.program(), self.interp.layout());
        let capacity = program.channels[at.id].capacity;
        if capacity == 0 {
            return;
        }
        let reach = self.shapes.buffer(program, layout, at).reach();
        // The position of a sent message depends on the number of buffered messages; a message is received from the
        // front.
        if operation.sends() && capacity > 1 {
            self.index_decides(reach.clone());
        }
        self.written.push(reach);
    }
}

impl AccessVisitor for StepFootprint<'_> {
    fn touch(&mut self, touch: StateTouch<'_>) {
        match touch {
            StateTouch::Read(place) | StateTouch::Find(place) => drop(self.place_at(place)),
            StateTouch::Write(place) | StateTouch::Set(place, ..) | StateTouch::Add(place, ..) => {
                self.write(place);
            }
            StateTouch::Search(place) => self.multiset(place),
            StateTouch::Change(place) => {
                self.multiset(place);
                self.write(place);
            }
            StateTouch::Begin(local, ty) => {
                let own = self.own.unwrap_or_else(|| unreachable!("such bodies have frames"));
                let at = self.shapes.local(self.interp.layout(), own, local);
                self.begin(local, at, ty);
            }
            StateTouch::Alias(local, place) => {
                let (at, shape) = self.place_at(place);
                self.names.bind(local, NameBinding::Place(at, shape));
            }
            StateTouch::Channel(channel, operation) => self.channel(channel, operation),
            StateTouch::Move(edge) => {
                let slot = self.names.slot(Owner::Process(edge.process));
                self.location(ProcessInstance { process: edge.process, slot });
            }
            StateTouch::Exit => {
                let mover = self.names.mover.unwrap_or_else(|| unreachable!("somebody ends"));
                self.written.extend(own_bits(self.interp, mover));
            }
            // The interpreter starts new processes; the others are only read, cell by cell.
            StateTouch::Run(_)
            | StateTouch::Use(_)
            | StateTouch::Bind(..)
            | StateTouch::At(..)
            | StateTouch::OwnPid
            | StateTouch::Instances
            | StateTouch::Others
            | StateTouch::Timeout
            | StateTouch::Assume => {}
        }
    }

    fn enter(
        &mut self,
        id: FunctionId,
        function: &Function,
        arguments: &[CallArgument],
        _: CallContext,
    ) {
        self.shared |= self.sizes.is_outlined(id);
        let places = arguments.iter().map(|argument| match argument {
            CallArgument::Reference(place) => Some(self.place_at(place)),
            CallArgument::Value(_) | CallArgument::Copy(_) => None,
        });
        let places: Vec<Option<(BitOffset, StoredType)>> = places.collect();
        self.callers.push((std::mem::take(&mut self.names), self.own));
        self.own = self.interp.layout().frames.functions.get(id);
        for (parameter, place) in function.parameters.iter().zip(places) {
            match place {
                Some((at, shape)) => {
                    self.names.bind(parameter.local, NameBinding::Place(at, shape))
                }
                None => {
                    let at = self.shapes.parameter(self.interp, id, parameter.local);
                    self.begin(parameter.local, at, parameter.ty);
                }
            }
        }
    }

    fn leave(&mut self) {
        let caller = self.callers.pop();
        (self.names, self.own) = caller.unwrap_or_else(|| unreachable!("what is entered is left"));
    }
}

/// Returns the bits of everything that an instance owns, by group.
pub(super) fn own_bits(interp: &Interp, mover: ProcessInstance) -> Vec<Range<u32>> {
    let cells = &interp.layout().cells;
    let bits = |group: &CellGroup| {
        let last = cells[CellId(group.first.0 + group.cells - 1)];
        cells[group.first].bit..last.bit + last.bits
    };
    interp.own_groups(mover).map(bits).collect()
}
