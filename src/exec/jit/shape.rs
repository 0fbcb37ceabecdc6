//! Where places are, in bits, as far as that is known before the model runs.

use crate::ir::layout::{Cell, CellId};
use crate::ir::{
    Arena, ChannelId, Entity, Expr, Layout, Place, ProcessId, Program, Root, Selector, Type, TypeId,
};
use std::ops::Range;

/// The bits of every type, and of every scalar type the cell (at bit 0).
pub(super) struct Shapes {
    bits: Arena<TypeId, u32>,
    cells: Arena<TypeId, Option<Cell>>,
}

/// The way to a place: what is known of it, and the turns that only the state decides.
pub(super) struct Route<'a> {
    /// The first bit if all turns are taken at their least.
    pub start: u32,
    /// How many bits further the turns can lead.
    pub slack: u32,
    /// In the order in which they are to be judged.
    pub turns: Vec<Turn<'a>>,
    /// The type of the place.
    pub ty: TypeId,
}

/// An index that is not known before the model runs.
pub(super) enum Turn<'a> {
    /// Into an array.
    Element {
        /// The index.
        index: &'a Expr,
        /// The index of the first element.
        low: i64,
        /// The number of elements.
        length: u32,
        /// The bits of an element.
        stride: u32,
    },
    /// Into a multiset, whose present size the index must be below.
    Position {
        /// The index.
        index: &'a Expr,
        /// The first bit of the size, if all turns before are taken at their least.
        size_bit: u32,
        /// The cell of the size.
        size: Cell,
        /// The most elements.
        capacity: u32,
        /// The bits of an element.
        stride: u32,
    },
}

/// The cells of a buffered channel.
pub(super) struct Buffer {
    /// The number of messages waiting.
    pub length: Cell,
    /// The first bit of the first message.
    pub start: u32,
    /// The bits of a message.
    pub stride: u32,
    /// The most messages.
    pub capacity: u32,
    /// The cells of a message, at their bits within it.
    pub fields: Vec<Cell>,
}

impl Shapes {
    pub fn new(program: &Program) -> Shapes {
        let mut shapes = Shapes { bits: Arena::new(), cells: Arena::new() };
        for ty in program.types.values() {
            let cell = match ty {
                Type::Scalar(scalar) => {
                    let (low, high) = program.bounds(&scalar.domain);
                    Some(Cell::new(0, low, high, scalar.undefined))
                }
                _ => None,
            };
            let bits = match (ty, cell) {
                (_, Some(cell)) => cell.bits,
                (Type::Array { length, element, .. }, _) => length * shapes.bits[*element],
                (Type::Record { fields, .. }, _) => {
                    fields.iter().map(|(_, ty)| shapes.bits[*ty]).sum()
                }
                (Type::Multiset { capacity, element }, _) => {
                    size_cell(*capacity).bits + capacity * shapes.bits[*element]
                }
                (Type::Scalar(_), None) => unreachable!("scalars have cells"),
            };
            shapes.bits.push(bits);
            shapes.cells.push(cell);
        }
        shapes
    }

    /// The bits of a type.
    pub fn bits(&self, ty: TypeId) -> u32 {
        self.bits[ty]
    }

    /// The cell of a scalar type.
    pub fn cell(&self, ty: TypeId) -> Cell {
        self.cells[ty].unwrap_or_else(|| unreachable!("the validator lets only scalars be here"))
    }

    /// The way to a place that begins at a variable.
    pub fn route<'a>(&self, program: &Program, layout: &Layout, place: &'a Place) -> Route<'a> {
        let Root::Variable(variable) = place.root else {
            unreachable!("places of local variables are left to the interpreter");
        };
        let mut route = Route {
            start: first_bit(layout, layout.variables[variable].first),
            slack: 0,
            turns: Vec::new(),
            ty: program.variables[variable].ty,
        };
        for selector in &place.path {
            self.turn(program, selector, &mut route);
        }
        route
    }

    fn turn<'a>(&self, program: &Program, selector: &'a Selector, route: &mut Route<'a>) {
        match (selector, &program.types[route.ty]) {
            (Selector::Index(index), Type::Array { low, length, element, .. }) => {
                let (low, length, stride) = (*low, *length, self.bits[*element]);
                route.ty = *element;
                match index.as_constant() {
                    Some(known) if (low..low + i64::from(length)).contains(&known) => {
                        route.start += (known - low) as u32 * stride;
                    }
                    _ => {
                        route.slack += length.saturating_sub(1) * stride;
                        route.turns.push(Turn::Element { index, low, length, stride });
                    }
                }
            }
            (Selector::Index(index), Type::Multiset { element, capacity }) => {
                let (size, stride) = (size_cell(*capacity), self.bits[*element]);
                route.ty = *element;
                route.turns.push(Turn::Position {
                    index,
                    size_bit: route.start,
                    size,
                    capacity: *capacity,
                    stride,
                });
                route.start += size.bits;
                route.slack += capacity.saturating_sub(1) * stride;
            }
            (Selector::Field(number), Type::Record { fields, .. }) => {
                let before = &fields[..*number as usize];
                route.start += before.iter().map(|(_, ty)| self.bits[*ty]).sum::<u32>();
                route.ty = fields[*number as usize].1;
            }
            _ => unreachable!("the validator matches selectors to types"),
        }
    }

    /// All bits that may belong to the place at the end of a route.
    pub fn reach(&self, route: &Route) -> Range<u32> {
        route.start..route.start + route.slack + self.bits[route.ty]
    }

    /// The cells of a channel with a capacity.
    pub fn buffer(&self, program: &Program, layout: &Layout, channel: ChannelId) -> Buffer {
        let about = &program.channels[channel];
        let length = layout.cells[layout.channels[channel].first];
        let mut stride = 0;
        let fields = about.fields.iter().map(|&ty| {
            let cell = Cell { bit: stride, ..self.cell(ty) };
            stride += cell.bits;
            cell
        });
        let fields = fields.collect();
        let start = length.bit + length.bits;
        Buffer { length, start, stride, capacity: about.capacity, fields }
    }
}

impl Buffer {
    /// All bits of the channel.
    pub fn reach(&self) -> Range<u32> {
        self.length.bit..self.start + self.stride * self.capacity
    }
}

/// The cell that says where a process is.
pub(super) fn location_cell(layout: &Layout, process: ProcessId) -> Cell {
    layout.cells[layout.locations[process].first]
}

/// The cell of a multiset's size, at bit 0.
pub(super) fn size_cell(capacity: u32) -> Cell {
    Cell::new(0, 0, i64::from(capacity), false)
}

/// A variable without any cell begins where nothing is read.
fn first_bit(layout: &Layout, cell: CellId) -> u32 {
    match cell.index() < layout.cells.len() {
        true => layout.cells[cell].bit,
        false => 0,
    }
}
