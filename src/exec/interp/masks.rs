//! Which bits of a state a step can change.
//!
//! A counterexample is walked back by looking for predecessors, and a predecessor differs from a
//! state only where some action writes. One mask for each process (everything its actions write)
//! and one for each pair of processes that share a rendezvous say where to look closer; finer
//! masks would be many more for little gain, since a step leaves most processes alone.

use super::Interp;
use crate::ir::layout::CellId;
use crate::ir::{
    Action, ActionId, ChannelId, Communication, Entity, Pattern, Place, ProcessId, Root, Schedule,
    Stmt, StmtKind,
};
use std::collections::BTreeSet;

impl Interp {
    /// Masks, at least one of which covers all bits that any one step changes.
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
                if self.can_meet(one, other) {
                    found.insert(union(&masks[one.index()], &masks[other.index()]));
                }
            }
        }
        found.into_iter().collect()
    }

    fn process_mask(&self, process: ProcessId) -> Vec<u8> {
        let actions: Vec<ActionId> = self.from[process.index()].iter().flatten().copied().collect();
        let mut mask = self.mask_of(&actions);
        self.cover(&mut mask, self.layout.locations[process].first, 1);
        mask
    }

    fn mask_of(&self, actions: &[ActionId]) -> Vec<u8> {
        let mut mask = vec![0; self.layout.bytes];
        for action in actions.iter().map(|&id| &self.program.actions[id]) {
            self.cover_action(&mut mask, action);
        }
        mask
    }

    fn cover_action(&self, mask: &mut [u8], action: &Action) {
        action.communication.iter().for_each(|it| self.cover_communication(mask, it));
        self.cover_body(mask, &action.body);
    }

    fn cover_communication(&self, mask: &mut [u8], communication: &Communication) {
        self.cover_channel(mask, self.named(communication.channel()));
        if let Communication::Receive { patterns, .. } = communication {
            for pattern in patterns {
                if let Pattern::Into(place) = pattern {
                    self.cover_place(mask, place);
                }
            }
        }
    }

    fn cover_body(&self, mask: &mut [u8], body: &[Stmt]) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::Assign { target: place, .. }
                | StmtKind::Copy { target: place, .. }
                | StmtKind::Undefine(place)
                | StmtKind::Clear(place)
                | StmtKind::MultisetAdd { multiset: place, .. }
                | StmtKind::MultisetRemove { multiset: place, .. } => self.cover_place(mask, place),
                StmtKind::Communicate(communication) => {
                    self.cover_communication(mask, communication);
                }
                // Whatever a callee or a new process writes.
                StmtKind::Call { .. } | StmtKind::Run { .. } | StmtKind::Exit => mask.fill(0xff),
                // What holds other statements, and what writes nothing.
                kind => kind.bodies().for_each(|body| self.cover_body(mask, body)),
            }
        }
    }

    fn cover_place(&self, mask: &mut [u8], place: &Place) {
        match place.root {
            Root::Variable(variable) => {
                let cells = self.layout.sizes[self.program.variables[variable].ty];
                self.cover(mask, self.layout.variables[variable].first, cells);
            }
            // What a reference stands for is known only to the caller.
            Root::Local(_) => mask.fill(0xff),
        }
    }

    fn cover_channel(&self, mask: &mut [u8], channel: ChannelId) {
        let about = &self.program.channels[channel];
        if about.capacity > 0 {
            let cells = 1 + about.capacity * about.fields.len() as u32;
            self.cover(mask, self.layout.channels[channel].first, cells);
        }
    }

    fn cover(&self, mask: &mut [u8], first: CellId, cells: u32) {
        for cell in (first.0..first.0 + cells).map(|cell| &self.layout.cells[CellId(cell)]) {
            for bit in cell.bit..cell.bit + cell.bits {
                mask[(bit / 8) as usize] |= 0x80 >> (bit % 8);
            }
        }
    }

    /// Whether one process ever sends what the other receives on a rendezvous channel.
    fn can_meet(&self, one: ProcessId, other: ProcessId) -> bool {
        let (one, other) = (self.ends(one), self.ends(other));
        let meets = |sends: &Ends, receives: &Ends| !sends.sent.is_disjoint(&receives.received);
        meets(&one, &other) || meets(&other, &one)
    }

    /// The rendezvous channels a process sends and receives on.
    fn ends(&self, process: ProcessId) -> Ends {
        let mut ends = Ends::default();
        for &id in self.from[process.index()].iter().flatten() {
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

#[derive(Default)]
struct Ends {
    sent: BTreeSet<ChannelId>,
    received: BTreeSet<ChannelId>,
}

fn union(one: &[u8], other: &[u8]) -> Vec<u8> {
    one.iter().zip(other).map(|(one, other)| one | other).collect()
}
