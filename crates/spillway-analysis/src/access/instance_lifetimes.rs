//! Accesses of the start and the end of instances.

use super::access_set::{ChannelEffect, ChannelSlot, LocationChange};
use super::collector::{AccessCollector, MoverSlots};
use super::walk::AccessVisitor;
use spillway_ir::{Owner, PidRule, ProcessId};
use std::collections::BTreeSet;
use std::ops::Range;

impl AccessCollector<'_> {
    /// Adds a read of the set of instances and of their pids.
    pub fn instances(&mut self) {
        self.access.reads_instances = true;
        for process in self.known.program.processes.keys() {
            self.pids(process, 0..self.known.program.slots(process));
        }
    }

    pub(super) fn pids(&mut self, process: ProcessId, slots: Range<u32>) {
        if let PidRule::In(variable) = self.known.program.processes[process].life.pid {
            for slot in slots {
                let cell = self.variable_cell(variable, slot).0;
                self.access.reads.insert(cell..cell + 1);
            }
        }
    }

    pub(super) fn run(&mut self, process: ProcessId) {
        self.instances();
        self.access.writes_instances = true;
        for slots in self.free_slots(process) {
            for slot in slots.clone() {
                self.overwrite_own(process, slot);
                let cell = self.known.location_cell(process, slot);
                let start = self.known.program.processes[process].start;
                self.access.moves.push(LocationChange { cell, from: None, to: Some(start) });
            }
            let begun = MoverSlots { process: Some(process), slots };
            let starter = std::mem::replace(&mut self.scope.mover, begun);
            self.begin_optional();
            let prologue = &self.known.program.processes[process].life.prologue;
            self.walk().body(self, prologue);
            self.end_optional();
            self.scope.mover = starter;
        }
    }

    /// Returns the ranges of slots in which a process may start: those of no process that exists.
    fn free_slots(&self, process: ProcessId) -> Vec<Range<u32>> {
        let live = self.known.live.into_iter().flat_map(|it| &it.stack);
        let present = self.known.present.iter().chain(live).filter(|it| it.process == process);
        let mut taken: Vec<u32> = present.map(|it| it.slot).collect();
        taken.sort_unstable();
        taken.dedup();
        let count = self.known.program.slots(process);
        let starts = std::iter::once(0).chain(taken.iter().map(|slot| slot + 1));
        let ends = taken.iter().copied().chain([count]);
        starts.zip(ends).map(|(start, end)| start..end).filter(|it| !it.is_empty()).collect()
    }

    pub(super) fn exit(&mut self) {
        self.access.writes_instances = true;
        let MoverSlots { process, slots } = self.scope.mover.clone();
        if let Some(process) = process {
            for slot in slots {
                self.overwrite_own(process, slot);
                self.end_instance(process, slot);
            }
        }
    }

    /// Records that an instance has no location after the step, whatever its location was.
    fn end_instance(&mut self, process: ProcessId, slot: u32) {
        let cell = self.known.location_cell(process, slot);
        let own = self.access.moves.iter().filter(|it| it.cell == cell);
        let mut left: BTreeSet<_> = own.flat_map(|it| [it.from, it.to]).flatten().collect();
        if left.is_empty() {
            // The action that ends the instance is unknown.
            left.extend(self.known.program.processes[process].locations.keys());
        }
        let moves =
            left.into_iter().map(|from| LocationChange { cell, from: Some(from), to: None });
        self.access.moves.extend(moves);
    }

    /// Adds writes of all cells of an instance, except its location.
    fn overwrite_own(&mut self, process: ProcessId, slot: u32) {
        let cells = self.known.own_cells(process, slot);
        self.access.writes.extend(&cells);
        let program = self.known.program;
        let own = program.channels_of(Owner::Process(process));
        let buffered = own.filter(|it| program.channels[*it].capacity > 0);
        let changed = buffered.map(|id| (ChannelSlot { id, slot }, ChannelEffect::Changed));
        self.access.channels.extend(changed);
    }
}
