//! Where places are, in bits, as far as that is known before the model runs.

use super::words::{BitOffset, ScalarPlace, WordLayout};
use crate::exec::Interp;
use crate::exec::interp::ChannelInstance;
use crate::ir::layout::{CellId, LocalFrame, ScalarCell};
use crate::ir::{
    Arena, FunctionId, Layout, LocalId, ProcessId, ProcessInstance, Program, Type, TypeId,
};
use std::ops::Range;

/// The bits of every type as declared, and of every scalar type the cell (at bit 0).
pub(super) struct StoredTypes {
    bits: Arena<TypeId, u32>,
    cells: Arena<TypeId, Option<ScalarCell>>,
    scalars: Arena<TypeId, u32>,
}

/// A type, and how its scalars are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StoredType {
    pub ty: TypeId,
    /// The cell (at bit 0) of each scalar, where that is not as declared.
    pub cell: Option<ScalarCell>,
}

/// The positions of a multiset.
pub(super) struct MultisetPositions {
    /// How many.
    pub capacity: u32,
    /// The bits of each.
    pub stride: u32,
}

/// The cells of a buffered channel.
pub(super) struct ChannelBuffer {
    /// The number of messages waiting.
    pub length: ScalarCell,
    /// The first bit of the first message.
    pub start: u32,
    /// The bits of a message.
    pub stride: u32,
    /// The most messages.
    pub capacity: u32,
    /// The cells of a message, at their bits within it.
    pub fields: Vec<ScalarCell>,
}

impl ChannelBuffer {
    /// A field of the first message, which is one of `fields`.
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

    /// The bits of a type.
    pub fn bits(&self, shape: StoredType) -> u32 {
        match shape.cell {
            Some(cell) => self.scalars[shape.ty] * cell.bits,
            None => self.bits[shape.ty],
        }
    }

    /// The bits of a type as declared.
    pub fn bits_declared(&self, ty: TypeId) -> u32 {
        self.bits[ty]
    }

    /// The cell of a scalar.
    pub fn cell(&self, shape: StoredType) -> ScalarCell {
        let cell = shape.cell.or(self.cells[shape.ty]);
        cell.unwrap_or_else(|| unreachable!("the validator lets only scalars be here"))
    }

    /// Where a local variable is, by the frame of its body.
    pub fn local(&self, layout: &Layout, own: &LocalFrame, local: LocalId) -> BitOffset {
        let cell = own.cell(local).map(|cell| layout.cells[cell].bit);
        WordLayout::new(layout)
            .of_frame(cell.unwrap_or_else(|| unreachable!("variables have cells")))
    }

    /// Where what a function is given by value is.
    pub fn parameter(&self, interp: &Interp, function: FunctionId, local: LocalId) -> BitOffset {
        let layout = interp.layout();
        self.local(layout, &layout.frames.functions[function], local)
    }

    /// The positions of a multiset.
    pub fn positions(&self, program: &Program, multiset: StoredType) -> MultisetPositions {
        let Type::Multiset { capacity, .. } = program.types[multiset.ty] else {
            unreachable!("the validator tells multisets from other types");
        };
        MultisetPositions { capacity, stride: 1 + self.bits(self.element(program, multiset)) }
    }

    /// The elements of a multiset.
    pub fn element(&self, program: &Program, multiset: StoredType) -> StoredType {
        let Type::Multiset { element, .. } = program.types[multiset.ty] else {
            unreachable!("the validator tells multisets from other types");
        };
        StoredType { ty: element, ..multiset }
    }

    /// The cells of a channel with a capacity.
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
    /// All bits of the channel.
    pub fn reach(&self) -> Range<u32> {
        self.length.bit..self.start + self.stride * self.capacity
    }
}

/// The cell that says where a process is.
pub(super) fn location_cell(layout: &Layout, process: ProcessId) -> ScalarCell {
    location_in(layout, ProcessInstance { process, slot: 0 })
}

/// The cell that says where an instance is.
pub(super) fn location_in(layout: &Layout, at: ProcessInstance) -> ScalarCell {
    layout.cells[layout.locations[at.process].in_slot(at.slot)]
}
