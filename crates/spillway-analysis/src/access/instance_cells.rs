//! The cells that action instances may read and change.

use super::access_set::ChannelSlot;
use super::access_table::AccessTable;
use super::cell_set::CellSet;
use super::instance_access::InstanceAccess;
use spillway_ir::layout::CellId;
use spillway_ir::{ProcessId, ProcessInstance};

impl AccessTable<'_> {
    /// Returns the cell with the number of messages in a buffered channel.
    pub fn length_cell(&self, channel: ChannelSlot) -> CellId {
        CellId(self.known().channel_cells(channel).start)
    }

    /// Returns the cell that holds the location of an instance.
    pub fn location_cell(&self, process: ProcessId, slot: u32) -> CellId {
        self.known().location_cell(process, slot)
    }

    /// Returns all cells that an action instance may read, except to find out which instances exist.
    pub fn read_cells(&self, access: &InstanceAccess<'_>) -> CellSet {
        let mut reads = access.effect.as_reads();
        access.guard.iter().for_each(|it| reads.extend(it.reads()));
        let mut cells = reads.reads.clone();
        reads.asks.iter().for_each(|(cell, _)| cells.insert(cell.0..cell.0 + 1));
        for (channel, _) in &reads.channels {
            cells.insert(self.known().channel_cells(*channel));
        }
        if reads.reads_commitment {
            for ProcessInstance { process, slot } in self.program().instances() {
                let cell = self.known().location_cell(process, slot).0;
                cells.insert(cell..cell + 1);
            }
        }
        if reads.depends_on_anything() {
            cells = CellSet::all(self.layout().state_cells);
        }
        cells
    }

    /// Returns all cells that an action instance may change.
    pub fn written_cells(&self, access: &InstanceAccess<'_>) -> CellSet {
        self.written_by(&access.effect)
    }
}
