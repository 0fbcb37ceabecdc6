//! Positions of places in bits, as far as they are known at compile time.

use super::words::{BitOffset, ScalarPlace, WordLayout};
use crate::Interp;
use crate::interp::ChannelInstance;
use spillway_ir::layout::{CellId, LocalFrame, ScalarCell};
use spillway_ir::{
    Arena, FunctionId, Layout, LocalId, ProcessId, ProcessInstance, Program, Type, TypeId,
};
use std::ops::Range;

/// The size in bits of every type as declared, and the cell (at bit 0) of every scalar type.
pub(super) struct StoredTypes {
    bits: Arena<TypeId, u32>,
    cells: Arena<TypeId, Option<ScalarCell>>,
    scalars: Arena<TypeId, u32>,
}

/// A type, and the storage of its scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StoredType {
    pub ty: TypeId,
    /// The cell (at bit 0) of each scalar, if it differs from the declared type.
    pub cell: Option<ScalarCell>,
}

/// The positions of a multiset.
pub(super) struct MultisetPositions {
    /// The number of positions.
    pub capacity: u32,
    /// The number of bits of a position.
    pub stride: u32,
}

/// The cells of a buffered channel.
pub(super) struct ChannelBuffer {
    /// The number of buffered messages.
    pub length: ScalarCell,
    /// The first bit of the first message.
    pub start: u32,
    /// The number of bits of a message.
    pub stride: u32,
    /// The maximum number of messages.
    pub capacity: u32,
    /// The cells of a message, at their bits within it.
    pub fields: Vec<ScalarCell>,
}

impl ChannelBuffer {
    /// Returns a field of the first message, which is one of `fields`.
    pub fn first_message(&self, field: ScalarCell) -> ScalarPlace {
        ScalarPlace { at: BitOffset::fixed(self.start + field.bit), cell: field }
    }
}

impl StoredTypes {
    pub fn new(program: &Program) -> StoredTypes {
        let scalars = program.types.keys().map(|ty| program.scalars(ty)).collect();
        let mut shapes = StoredTypes { bits: Arena::new(), cells: Arena::new(), scalars };
        for ty in program.types.values() {
            let cell = match ty {
                Type::Scalar(scalar) => {
                    let (low, high) = program.bounds(&scalar.domain);
                    Some(ScalarCell::new(0, low, high, scalar.undefined))
                }
                _ => None,
            };
            let bits = match (ty, cell) {
                (_, Some(cell)) => cell.bits,
                (Type::Array { length, element, .. }, _) => length * shapes.bits[*element],
                (Type::Record { fields, .. }, _) => {
                    fields.iter().map(|(_, ty)| shapes.bits[*ty]).sum()
                }
                (Type::Multiset { capacity, element }, _) => capacity * (1 + shapes.bits[*element]),
                (Type::Scalar(_), None) => unreachable!("scalars have cells"),
            };
            shapes.bits.push(bits);
            shapes.cells.push(cell);
        }
        shapes
    }

    /// Returns the size of a type in bits.
    pub fn bits(&self, shape: StoredType) -> u32 {
        match shape.cell {
            Some(cell) => self.scalars[shape.ty] * cell.bits,
            None => self.bits[shape.ty],
        }
    }

    /// Returns the size of a type as declared, in bits.
    pub fn bits_declared(&self, ty: TypeId) -> u32 {
        self.bits[ty]
    }

    /// Returns the cell of a scalar.
    pub fn cell(&self, shape: StoredType) -> ScalarCell {
        let cell = shape.cell.or(self.cells[shape.ty]);
        cell.unwrap_or_else(|| unreachable!("the validator lets only scalars be here"))
    }

    /// Returns the position of a local variable, by the frame of its body.
    pub fn local(&self, layout: &Layout, own: &LocalFrame, local: LocalId) -> BitOffset {
        let cell = own.cell(local).map(|cell| layout.cells[cell].bit);
        WordLayout::new(layout)
            .of_frame(cell.unwrap_or_else(|| unreachable!("variables have cells")))
    }

    /// Returns the position of a parameter by value.
    pub fn parameter(&self, interp: &Interp, function: FunctionId, local: LocalId) -> BitOffset {
        let layout = interp.layout();
        self.local(layout, &layout.frames.functions[function], local)
    }

    /// Returns the positions of a multiset.
    pub fn positions(&self, program: &Program, multiset: StoredType) -> MultisetPositions {
        let Type::Multiset { capacity, .. } = program.types[multiset.ty] else {
            unreachable!("the validator tells multisets from other types");
        };
        MultisetPositions { capacity, stride: 1 + self.bits(self.element(program, multiset)) }
    }

    /// Returns the stored type of a multiset's elements.
    pub fn element(&self, program: &Program, multiset: StoredType) -> StoredType {
        let Type::Multiset { element, .. } = program.types[multiset.ty] else {
            unreachable!("the validator tells multisets from other types");
        };
        StoredType { ty: element, ..multiset }
    }

    /// Returns the cells of a buffered channel.
    pub fn buffer(
        &self,
        program: &Program,
        layout: &Layout,
        channel: ChannelInstance,
    ) -> ChannelBuffer {
        let about = &program.channels[channel.id];
        let first = layout.channels[channel.id].in_slot(channel.slot);
        let length = layout.cells[first];
        let mut stride = 0;
        let fields = (0..about.fields.len() as u32).map(|field| {
            let cell = ScalarCell { bit: stride, ..layout.cells[CellId(first.0 + 1 + field)] };
            stride += cell.bits;
            cell
        });
        let fields = fields.collect();
        let start = length.bit + length.bits;
        ChannelBuffer { length, start, stride, capacity: about.capacity, fields }
    }
}

impl ChannelBuffer {
    /// Returns all bits of the channel.
    pub fn reach(&self) -> Range<u32> {
        self.length.bit..self.start + self.stride * self.capacity
    }
}

/// Returns the location cell of a process.
pub(super) fn location_cell(layout: &Layout, process: ProcessId) -> ScalarCell {
    location_in(layout, ProcessInstance { process, slot: 0 })
}

/// Returns the location cell of an instance.
pub(super) fn location_in(layout: &Layout, at: ProcessInstance) -> ScalarCell {
    layout.cells[layout.locations[at.process].in_slot(at.slot)]
}
