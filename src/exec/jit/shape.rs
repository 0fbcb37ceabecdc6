//! Where places are, in bits, as far as that is known before the model runs.

use crate::ir::layout::{Cell, CellId};
use crate::ir::{
    Arena, ChannelId, Expr, Layout, Place, ProcessId, Program, Root, Selector, Type, TypeId,
};
use std::ops::Range;

/// The bits of every type as declared, and of every scalar type the cell (at bit 0).
pub(super) struct Shapes {
    bits: Arena<TypeId, u32>,
    cells: Arena<TypeId, Option<Cell>>,
    scalars: Arena<TypeId, u32>,
}

/// A type, and how its scalars are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub ty: TypeId,
    /// The cell (at bit 0) of each scalar, where that is not as declared.
    pub cell: Option<Cell>,
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
    pub shape: Shape,
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
        let scalars = program.types.keys().map(|ty| program.scalars(ty)).collect();
        let mut shapes = Shapes { bits: Arena::new(), cells: Arena::new(), scalars };
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
    pub fn bits(&self, shape: Shape) -> u32 {
        match shape.cell {
            Some(cell) => self.scalars[shape.ty] * cell.bits,
            None => self.bits[shape.ty],
        }
    }

    /// The cell of a scalar.
    pub fn cell(&self, shape: Shape) -> Cell {
        let cell = shape.cell.or(self.cells[shape.ty]);
        cell.unwrap_or_else(|| unreachable!("the validator lets only scalars be here"))
    }

    /// The way to a place that begins at a variable.
    pub fn route<'a>(&self, program: &Program, layout: &Layout, place: &'a Place) -> Route<'a> {
        let Root::Variable(variable) = place.root else {
            unreachable!("places of local variables are left to the interpreter");
        };
        let ty = program.variables[variable].ty;
        let first = first_cell(layout, layout.variables[variable].first);
        let mut route = Route {
            start: first.map_or(0, |cell| cell.bit),
            slack: 0,
            turns: Vec::new(),
            shape: Shape { ty, cell: None },
        };
        if is_plain(program, ty) {
            route.shape.cell = first.map(|cell| Cell { bit: 0, ..cell });
        }
        for selector in &place.path {
            self.turn(program, selector, &mut route);
        }
        route
    }

    fn turn<'a>(&self, program: &Program, selector: &'a Selector, route: &mut Route<'a>) {
        let part = |ty, route: &Route| Shape { ty, ..route.shape };
        match (selector, &program.types[route.shape.ty]) {
            (Selector::Index(index), Type::Array { low, length, element, .. }) => {
                route.shape = part(*element, route);
                let (low, length, stride) = (*low, *length, self.bits(route.shape));
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
                route.shape = part(*element, route);
                let (size, stride) = (size_cell(*capacity), self.bits(route.shape));
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
                route.shape = part(fields[*number as usize].1, route);
            }
            _ => unreachable!("the validator matches selectors to types"),
        }
    }

    /// All bits that may belong to the place at the end of a route.
    pub fn reach(&self, route: &Route) -> Range<u32> {
        route.start..route.start + route.slack + self.bits(route.shape)
    }

    /// The cells of a channel with a capacity.
    pub fn buffer(&self, program: &Program, layout: &Layout, channel: ChannelId) -> Buffer {
        let about = &program.channels[channel];
        let first = layout.channels[channel].first;
        let length = layout.cells[first];
        let mut stride = 0;
        let fields = (0..about.fields.len() as u32).map(|field| {
            let cell = Cell { bit: stride, ..layout.cells[CellId(first.0 + 1 + field)] };
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

/// The first cell of a variable, if it has any.
fn first_cell(layout: &Layout, cell: CellId) -> Option<Cell> {
    layout.cells.get(cell).copied()
}

/// Whether a type is a scalar, or an array of such: its scalars are all stored alike.
fn is_plain(program: &Program, ty: TypeId) -> bool {
    match &program.types[ty] {
        Type::Scalar(_) => true,
        Type::Array { element, .. } => is_plain(program, *element),
        Type::Record { .. } | Type::Multiset { .. } => false,
    }
}
