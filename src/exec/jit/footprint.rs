//! What a step touches, word by word, and so where code keeps each word while it runs.
//!
//! Most words of a state are never written by a given step and are copied from the parent. Those
//! written at bits that are known beforehand are kept in registers. Only where an index decides
//! which of several words is meant must all of these be in memory.

use super::shape::{Route, Shapes, Turn};
use crate::exec::Interp;
use crate::ir::walk::{self, Access, Visitor};
use crate::ir::{Action, ChannelRef, Communication, Place, ProcessId};
use std::ops::Range;

/// Bits of a word.
pub(super) const WORD_BITS: u32 = 64;

/// Where a word of the state is while a step is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// In the parent; the step does not change it.
    Parent,
    /// In a register.
    Register,
    /// In memory, as bytes.
    Memory,
}

/// Collects what steps touch.
pub(super) struct Footprint<'a> {
    interp: &'a Interp,
    shapes: &'a Shapes,
    /// All bits that may be written.
    written: Vec<Range<u32>>,
    /// Reaches of more than one word, within which an index decides.
    wide: Vec<Range<u32>>,
}

impl<'a> Footprint<'a> {
    pub fn new(interp: &'a Interp, shapes: &'a Shapes) -> Self {
        Footprint { interp, shapes, written: Vec::new(), wide: Vec::new() }
    }

    /// Adds what taking an action touches, judging its guard apart.
    pub fn action(&mut self, action: &Action) {
        if let Some(edge) = action.edge {
            self.location(edge.process);
        }
        action.communication.iter().for_each(|it| self.communication(it));
        walk::body(self, &action.body);
    }

    fn location(&mut self, process: ProcessId) {
        let cell = super::shape::location_cell(self.interp.layout(), process);
        self.written.push(cell.bit..cell.bit + cell.bits);
    }

    /// Where each word of the state is to be kept.
    pub fn words(&self) -> Vec<Keep> {
        let count = (self.interp.layout().bits.div_ceil(WORD_BITS) as usize).max(1);
        let mut words = vec![Keep::Parent; count];
        for range in self.written.iter().filter(|range| !range.is_empty()) {
            words[in_words(range)].fill(Keep::Register);
        }
        // A reach into memory may make another that overlaps it one, so again until nothing
        // changes.
        loop {
            let before = words.clone();
            for range in &self.wide {
                let reach = &mut words[in_words(range)];
                if reach.iter().any(|&word| word != Keep::Parent) {
                    reach.fill(Keep::Memory);
                }
            }
            if words == before {
                return words;
            }
        }
    }

    fn index_decides(&mut self, range: Range<u32>) {
        if in_words(&range).len() > 1 {
            self.wide.push(range);
        }
    }

    fn route(&mut self, route: &Route) {
        if !route.turns.is_empty() {
            self.index_decides(self.shapes.reach(route));
        }
        for turn in &route.turns {
            if let Turn::Position { size_bit, size, .. } = turn {
                self.index_decides(*size_bit..size_bit + route.slack + size.bits);
            }
        }
    }
}

impl Visitor for Footprint<'_> {
    fn place(&mut self, place: &Place, access: Access) {
        let route = self.shapes.route(self.interp.program(), self.interp.layout(), place);
        self.route(&route);
        if access == Access::Write {
            self.written.push(self.shapes.reach(&route));
        }
        walk::place(self, place);
    }

    fn channel(&mut self, channel: &ChannelRef, access: Access) {
        let ChannelRef::Named(id) = channel else {
            unreachable!("computed channels are left to the interpreter");
        };
        if self.interp.program().channels[*id].capacity > 0 {
            let buffer = self.shapes.buffer(self.interp.program(), self.interp.layout(), *id);
            if access == Access::Write {
                self.written.push(buffer.reach());
            }
        }
        walk::channel(self, channel);
    }

    fn communication(&mut self, communication: &Communication) {
        // Where a message goes depends on how many wait; it is taken from the front.
        if let Communication::Send { channel: ChannelRef::Named(id), .. } = communication
            && self.interp.program().channels[*id].capacity > 1
        {
            let buffer = self.shapes.buffer(self.interp.program(), self.interp.layout(), *id);
            self.index_decides(buffer.reach());
        }
        walk::communication(self, communication);
    }
}

/// The words that bits are in.
pub(super) fn in_words(bits: &Range<u32>) -> Range<usize> {
    (bits.start / WORD_BITS) as usize..bits.end.div_ceil(WORD_BITS) as usize
}
