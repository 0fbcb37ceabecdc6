//! Creation of cells in order.

use super::{CellGroup, CellId, CellPlacement, GroupContent, GroupId, ScalarCell, ValueRanges};
use crate::interval::Interval;
use crate::{Arena, ChannelId, Entity, Owner, Program, ScalarType, Type, TypeId, VarId};

/// A builder that creates cells in order.
pub(super) struct LayoutBuilder<'a> {
    pub(super) program: &'a Program,
    ranges: Option<&'a ValueRanges>,
    pub(super) cells: Arena<CellId, ScalarCell>,
    pub(super) groups: Arena<GroupId, CellGroup>,
    pub(super) sizes: Arena<TypeId, u32>,
    /// The first bit of the next cell.
    pub(super) bits: u32,
}

impl<'a> LayoutBuilder<'a> {
    pub(super) fn new(program: &'a Program, ranges: Option<&'a ValueRanges>) -> Self {
        let mut sizes = Arena::new();
        for ty in program.types.values() {
            let size = match ty {
                Type::Scalar(_) => 1,
                Type::Array { length, element, .. } => length * sizes[*element],
                Type::Record { fields, .. } => fields.iter().map(|(_, ty)| sizes[*ty]).sum(),
                Type::Multiset { capacity, element } => capacity * (1 + sizes[*element]),
            };
            sizes.push(size);
        }
        Self { program, ranges, cells: Arena::new(), groups: Arena::new(), sizes, bits: 0 }
    }

    pub(super) fn owned_by(
        &mut self,
        owner: Owner,
        slot: u32,
        variables: &mut Arena<VarId, CellPlacement>,
        channels: &mut Arena<ChannelId, CellPlacement>,
    ) {
        for (id, variable) in self.program.variables.iter() {
            if variable.owner == owner {
                let first = self.next();
                place(&mut variables[id], first, slot);
                let range = self.ranges.and_then(|ranges| ranges.variables[id]);
                self.cells_of(variable.ty, range);
                self.group(GroupContent::Variable(id), slot, first);
            }
        }
        for (id, channel) in self.program.channels.iter() {
            if channel.owner == owner {
                let first = self.next();
                place(&mut channels[id], first, slot);
                if channel.capacity > 0 {
                    self.cell(0, i64::from(channel.capacity), false, None);
                }
                for _ in 0..channel.capacity {
                    for (at, &field) in channel.fields.iter().enumerate() {
                        let range = self.ranges.map(|ranges| ranges.channels[id][at]);
                        self.cells_of(field, range);
                    }
                }
                self.group(GroupContent::Channel(id), slot, first);
            }
        }
    }

    /// Makes all cells from `first` on a group, if there are any.
    pub(super) fn group(&mut self, part: GroupContent, slot: u32, first: CellId) {
        let cells = self.next().0 - first.0;
        if cells > 0 {
            self.groups.push(CellGroup { part, slot, first, cells });
        }
    }

    /// Returns the next cell.
    pub(super) fn next(&self) -> CellId {
        CellId(self.cells.len() as u32)
    }

    /// Creates the cells of a value of a type whose scalars all have values in a range.
    pub(super) fn cells_of(&mut self, ty: TypeId, range: Option<Interval>) {
        match &self.program.types[ty] {
            Type::Scalar(ScalarType { domain, undefined }) => {
                let (low, high) = self.program.bounds(domain);
                let range = range.map(|range| self.program.whole_scalarsets(domain, range));
                self.cell(low, high, *undefined, range);
            }
            Type::Array { length, element, .. } => {
                (0..*length).for_each(|_| self.cells_of(*element, range))
            }
            Type::Record { fields, .. } => {
                fields.iter().for_each(|(_, ty)| self.cells_of(*ty, range));
            }
            Type::Multiset { capacity, element } => {
                for _ in 0..*capacity {
                    self.cell(0, 1, false, None);
                    self.cells_of(*element, range);
                }
            }
        }
    }

    pub(super) fn cell(&mut self, low: i64, high: i64, undefined: bool, range: Option<Interval>) {
        let cell = ScalarCell::new(self.bits, low, high, undefined);
        let cell = range.map_or(cell, |range| cell.narrowed(range));
        self.cells.push(cell);
        self.bits += cell.bits;
    }
}

pub(super) fn unplaced<K: Entity>(count: usize) -> Arena<K, CellPlacement> {
    (0..count).map(|_| CellPlacement { first: CellId(0), stride: 0 }).collect()
}

/// Records the position of slot 0, and the distance between slots at slot 1.
pub(super) fn place(placement: &mut CellPlacement, first: CellId, slot: u32) {
    match slot {
        0 => placement.first = first,
        1 => placement.stride = first.0 - placement.first.0,
        _ => {}
    }
}
