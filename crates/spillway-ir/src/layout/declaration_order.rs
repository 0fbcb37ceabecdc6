//! Creation of the cells of a program in declaration order.

use super::builder::{LayoutBuilder, place, unplaced};
use super::frames::LocalFrames;
use super::{GroupContent, Layout, ValueRanges};
use crate::{InstanceCount, Owner, Program};

/// Lays out a valid program in declaration order.
pub(super) fn declared(program: &Program, ranges: Option<&ValueRanges>) -> Layout {
    let mut builder = LayoutBuilder::new(program, ranges);
    let mut variables = unplaced(builder.program.variables.len());
    let mut channels = unplaced(builder.program.channels.len());
    let mut locations = unplaced(builder.program.processes.len());
    builder.owned_by(Owner::Program, 0, &mut variables, &mut channels);
    for (id, process) in builder.program.processes.iter() {
        let (slots, free) = match process.instances {
            InstanceCount::One => (1, 0),
            InstanceCount::Slots { capacity, .. } => (capacity, 1),
        };
        for slot in 0..slots {
            let first = builder.next();
            let last = process.locations.len() as i64 - 1 + free;
            builder.cell(0, last, false, None);
            builder.group(GroupContent::Location(id), slot, first);
            place(&mut locations[id], first, slot);
            builder.owned_by(Owner::Process(id), slot, &mut variables, &mut channels);
        }
    }
    let (bits, state_cells) = (builder.bits, builder.next().0);
    let bytes = (bits.div_ceil(8) as usize).max(1);
    let frames = LocalFrames::new(&mut builder, bytes);
    Layout {
        order: builder.groups.keys().collect(),
        groups: builder.groups,
        cells: builder.cells,
        state_cells,
        variables,
        channels,
        locations,
        sizes: builder.sizes,
        bits,
        bytes,
        frames,
    }
}
