//! The bits of a state that a step can change.
//!
//! A backward search of a counterexample computes predecessors, and a predecessor differs from a state only where some
//! action writes. There is one mask for each process (all bits its actions write), and one for each pair of processes
//! that share a rendezvous. Finer masks would be many more for little gain, since a step leaves most processes
//! unchanged.

use super::Interp;
use spillway_analysis::access::{AccessVisitor, AccessWalk, CallContext, StateTouch};
use spillway_ir::layout::CellId;
use spillway_ir::{
    ActionId, CallArgument, ChannelId, Communication, Entity, Function, FunctionId, Place,
    PlaceRoot, ProcessId, Schedule,
};
use std::collections::BTreeSet;

impl Interp {
    /// Masks; the changes of any one step are within at least one of them.
    pub(super) fn find_write_masks(&self) -> Vec<Vec<u8>> {
        if self.program.schedule == Schedule::Lockstep || self.has_slots {
            return vec![vec![0xff; self.layout.bytes]];
        }
        let processes: Vec<ProcessId> = self.program.processes.keys().collect();
        let masks: Vec<Vec<u8>> = processes.iter().map(|&id| self.process_mask(id)).collect();
        let mut found: BTreeSet<Vec<u8>> = masks.iter().cloned().collect();
        found.insert(self.mask_of(&self.free));
        for &one in &processes {
            for &other in processes.iter().filter(|&&other| other > one) {
                if self.can_rendezvous(one, other) {
                    found.insert(union(&masks[one.index()], &masks[other.index()]));
                }
            }
        }
        found.into_iter().collect()
    }

    fn process_mask(&self, process: ProcessId) -> Vec<u8> {
        let actions: Vec<ActionId> = self.from.of_process(process).collect();
        let mut mask = self.mask_of(&actions);
        self.cover(&mut mask, self.layout.locations[process].first, 1);
        mask
    }

    fn mask_of(&self, actions: &[ActionId]) -> Vec<u8> {
        let (mask, calls) = (vec![0; self.layout.bytes], 0);
        let mut written = WriteMaskCollector { interp: self, mask, calls };
        for action in actions.iter().map(|&id| &self.program.actions[id]) {
            AccessWalk::new(&self.program).effect(&mut written, action);
        }
        written.mask
    }

    fn cover(&self, mask: &mut [u8], first: CellId, cells: u32) {
        for cell in (first.0..first.0 + cells).map(|cell| &self.layout.cells[CellId(cell)]) {
            for bit in cell.bit..cell.bit + cell.bits {
                mask[(bit / 8) as usize] |= 0x80 >> (bit % 8);
            }
        }
    }

    /// Returns whether one process ever sends to the other on a rendezvous channel.
    fn can_rendezvous(&self, one: ProcessId, other: ProcessId) -> bool {
        let (one, other) = (self.ends(one), self.ends(other));
        let meets = |sends: &RendezvousEnds, receives: &RendezvousEnds| {
            !sends.sent.is_disjoint(&receives.received)
        };
        meets(&one, &other) || meets(&other, &one)
    }

    /// Returns the rendezvous channels that a process sends and receives on.
    fn ends(&self, process: ProcessId) -> RendezvousEnds {
        let mut ends = RendezvousEnds::default();
        for id in self.from.of_process(process) {
            let Some(communication) = &self.program.actions[id].communication else { continue };
            let channel = self.named(communication.channel());
            match communication {
                _ if self.program.channels[channel].capacity > 0 => {}
                Communication::Send { .. } => drop(ends.sent.insert(channel)),
                Communication::Receive { .. } => drop(ends.received.insert(channel)),
            }
        }
        ends
    }
}

/// Collects the bits that code may write.
struct WriteMaskCollector<'a> {
    interp: &'a Interp,
    mask: Vec<u8>,
    /// The depth of function calls inside expressions. These write nothing of the state.
    calls: u32,
}

impl WriteMaskCollector<'_> {
    fn place(&mut self, place: &Place) {
        let Interp { program, layout, .. } = self.interp;
        match place.root {
            PlaceRoot::Variable(variable) => {
                let cells = layout.sizes[program.variables[variable].ty];
                self.interp.cover(&mut self.mask, layout.variables[variable].first, cells);
            }
            // Only the caller knows the place that a reference denotes.
            PlaceRoot::Local(_) => self.mask.fill(0xff),
        }
    }

    fn channel(&mut self, channel: ChannelId) {
        let about = &self.interp.program.channels[channel];
        if about.capacity > 0 {
            let cells = 1 + about.capacity * about.fields.len() as u32;
            let first = self.interp.layout.channels[channel].first;
            self.interp.cover(&mut self.mask, first, cells);
        }
    }
}

impl AccessVisitor for WriteMaskCollector<'_> {
    fn touch(&mut self, touch: StateTouch<'_>) {
        match touch {
            _ if self.calls > 0 => {}
            StateTouch::Write(place)
            | StateTouch::Set(place, ..)
            | StateTouch::Add(place, ..)
            | StateTouch::Change(place) => self.place(place),
            StateTouch::Channel(channel, operation) if operation.communicates() => {
                self.channel(self.interp.named(channel));
            }
            // A new process may write any bit. Only programs with slots start processes.
            StateTouch::Run(_) | StateTouch::Exit => self.mask.fill(0xff),
            // The location of a process belongs to its mask in any case.
            _ => {}
        }
    }

    fn enter(&mut self, _: FunctionId, _: &Function, _: &[CallArgument], by: CallContext) {
        match by {
            // A callee may write any bit.
            CallContext::Statement => self.mask.fill(0xff),
            CallContext::Expression => {}
        }
        self.calls += 1;
    }

    fn leave(&mut self) {
        self.calls -= 1;
    }
}

#[derive(Default)]
struct RendezvousEnds {
    sent: BTreeSet<ChannelId>,
    received: BTreeSet<ChannelId>,
}

fn union(one: &[u8], other: &[u8]) -> Vec<u8> {
    one.iter().zip(other).map(|(one, other)| one | other).collect()
}
