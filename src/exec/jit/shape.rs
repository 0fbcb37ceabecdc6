//! Where places are, in bits, as far as that is known before the model runs.

use super::bits::At;
use super::footprint::WORD_BITS;
use super::names::{Bound, Names};
use crate::exec::Interp;
use crate::exec::interp::ChannelAt;
use crate::ir::layout::{Cell, CellId, Frame};
use crate::ir::{
    Arena, Expr, FunctionId, Instance, Layout, LocalId, Place, ProcessId, Program, Root, Selector,
    Type, TypeId,
};
use std::ops::Range;

/// The words that code works on: those of the state, then those of the frames of bodies.
pub(super) struct Places {
    /// The words of a state.
    pub state_words: usize,
    /// The first bit of the frames in the layout.
    frames: u32,
    frame_words: usize,
}

impl Places {
    pub fn new(layout: &Layout) -> Places {
        let frames = layout.frames.bytes - layout.bytes;
        Places {
            state_words: (layout.bits.div_ceil(WORD_BITS) as usize).max(1),
            frames: layout.bytes as u32 * 8,
            frame_words: frames.div_ceil(8),
        }
    }

    /// All words.
    pub fn words(&self) -> usize {
        self.state_words + self.frame_words
    }

    /// Where a bit of a frame is.
    pub fn of_frame(&self, bit: u32) -> At {
        At::fixed(bit - self.frames + self.state_words as u32 * WORD_BITS)
    }
}

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

/// The way to a place: what is known of it, and the indices that only the state decides.
pub(super) struct Route<'a> {
    /// Where it is if all indices are taken at their least.
    pub start: At,
    /// How many bits further the indices can lead, and where the way begins.
    pub slack: u32,
    /// In the order in which they are to be judged.
    pub indices: Vec<UnknownIndex<'a>>,
    /// The type of the place.
    pub shape: Shape,
}

/// An index that is not known before the model runs.
pub(super) enum UnknownIndex<'a> {
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
    /// Into a multiset, which must have an element there.
    Position {
        /// The index.
        index: &'a Expr,
        /// The bit that tells whether there is an element, if all indices are taken at their least.
        flag: u32,
        /// The most elements.
        capacity: u32,
        /// The bits of a position.
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
                (Type::Multiset { capacity, element }, _) => capacity * (1 + shapes.bits[*element]),
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

    /// The way to a place.
    pub fn route<'a>(
        &self,
        program: &Program,
        layout: &Layout,
        names: &Names,
        place: &'a Place,
    ) -> Route<'a> {
        let mut route = match place.root {
            Root::Variable(variable) => {
                let (ty, owner) =
                    (program.variables[variable].ty, program.variables[variable].owner);
                let placement = layout.variables[variable];
                let first = placement.first.0 + names.slot(owner) * placement.stride;
                let first = first_cell(layout, CellId(first));
                let start = At::fixed(first.map_or(0, |cell| cell.bit));
                let plain = first.filter(|_| is_plain(program, ty));
                let shape = Shape { ty, cell: plain.map(|cell| Cell { bit: 0, ..cell }) };
                Route { start, slack: 0, indices: Vec::new(), shape }
            }
            Root::Local(local) => match names.get(local) {
                Bound::Place(start, shape) => {
                    Route { start, slack: start.slack, indices: Vec::new(), shape }
                }
                Bound::Value(_) => unreachable!("the validator tells names from places"),
            },
        };
        for selector in &place.path {
            self.turn(program, names, selector, &mut route);
        }
        route
    }

    /// Where a local variable is, by the frame of its body.
    pub fn local(&self, layout: &Layout, own: &Frame, local: LocalId) -> At {
        let cell = own.cell(local).map(|cell| layout.cells[cell].bit);
        Places::new(layout).of_frame(cell.unwrap_or_else(|| unreachable!("variables have cells")))
    }

    /// Where what a function is given by value is.
    pub fn parameter(&self, interp: &Interp, function: FunctionId, local: LocalId) -> At {
        let layout = interp.layout();
        self.local(layout, &layout.frames.functions[function], local)
    }

    fn turn<'a>(
        &self,
        program: &Program,
        names: &Names,
        selector: &'a Selector,
        route: &mut Route<'a>,
    ) {
        let part = |ty, route: &Route| Shape { ty, ..route.shape };
        match (selector, &program.types[route.shape.ty]) {
            (Selector::Index(index), Type::Array { low, length, element, .. }) => {
                route.shape = part(*element, route);
                let (low, length, stride) = (*low, *length, self.bits(route.shape));
                match names.known(index) {
                    Some(known) if (low..low + i64::from(length)).contains(&known) => {
                        route.start.bit += (known - low) as u32 * stride;
                    }
                    _ => {
                        route.slack += length.saturating_sub(1) * stride;
                        route.indices.push(UnknownIndex::Element { index, low, length, stride });
                    }
                }
            }
            (Selector::Index(index), Type::Multiset { element, capacity }) => {
                route.shape = part(*element, route);
                let (flag, capacity, stride) =
                    (route.start.bit, *capacity, 1 + self.bits(route.shape));
                route.indices.push(UnknownIndex::Position { index, flag, capacity, stride });
                route.start.bit += 1;
                route.slack += capacity.saturating_sub(1) * stride;
            }
            (Selector::Field(number), Type::Record { fields, .. }) => {
                let before = &fields[..*number as usize];
                route.start.bit += before.iter().map(|(_, ty)| self.bits[*ty]).sum::<u32>();
                route.shape = part(fields[*number as usize].1, route);
            }
            _ => unreachable!("the validator matches selectors to types"),
        }
    }

    /// How many positions a multiset has, and the bits of each.
    pub fn positions(&self, program: &Program, multiset: Shape) -> (u32, u32) {
        let Type::Multiset { capacity, .. } = program.types[multiset.ty] else {
            unreachable!("the validator tells multisets from other types");
        };
        (capacity, 1 + self.bits(self.element(program, multiset)))
    }

    /// The elements of a multiset.
    pub fn element(&self, program: &Program, multiset: Shape) -> Shape {
        let Type::Multiset { element, .. } = program.types[multiset.ty] else {
            unreachable!("the validator tells multisets from other types");
        };
        Shape { ty: element, ..multiset }
    }

    /// All bits that may belong to the place at the end of a route.
    pub fn reach(&self, route: &Route) -> Range<u32> {
        route.start.bit..route.start.bit + route.slack + self.bits(route.shape)
    }

    /// The cells of a channel with a capacity.
    pub fn buffer(&self, program: &Program, layout: &Layout, channel: ChannelAt) -> Buffer {
        let (about, placement) = (&program.channels[channel.id], layout.channels[channel.id]);
        let first = CellId(placement.first.0 + channel.slot * placement.stride);
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
    location_in(layout, Instance { process, slot: 0 })
}

/// The cell that says where an instance is.
pub(super) fn location_in(layout: &Layout, at: Instance) -> Cell {
    let placement = layout.locations[at.process];
    layout.cells[CellId(placement.first.0 + at.slot * placement.stride)]
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
