//! The path to a place: its known part, and the indices that only the state decides.

use super::names::{LocalNames, NameBinding};
use super::shape::{StoredType, StoredTypes};
use super::words::BitOffset;
use spillway_ir::layout::{CellId, ScalarCell};
use spillway_ir::{Expr, Layout, Place, PlaceRoot, PlaceSelector, Program, Type, TypeId};
use std::ops::Range;

/// The path to a place: its known part, and its dynamic indices.
pub(super) struct PlaceRoute<'a> {
    /// The position of the place if all indices have their least values.
    pub start: BitOffset,
    /// The maximum number of bits that the indices add, and the start of the path.
    pub slack: u32,
    /// The dynamic indices, in order of evaluation.
    pub indices: Vec<DynamicIndex<'a>>,
    /// The type of the place.
    pub shape: StoredType,
}

/// An index that is not known at compile time.
pub(super) enum DynamicIndex<'a> {
    /// An index of an array.
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
    /// An index of a multiset, which must have an element there.
    Position {
        /// The index.
        index: &'a Expr,
        /// The bit of the presence flag, if all indices have their least values.
        flag: u32,
        /// The maximum number of elements.
        capacity: u32,
        /// The bits of a position.
        stride: u32,
    },
}

impl StoredTypes {
    /// Returns the path to a place.
    pub fn route<'a>(
        &self,
        program: &Program,
        layout: &Layout,
        names: &LocalNames,
        place: &'a Place,
    ) -> PlaceRoute<'a> {
        let mut route = match place.root {
            PlaceRoot::Variable(variable) => {
                let (ty, owner) =
                    (program.variables[variable].ty, program.variables[variable].owner);
                let first = layout.variables[variable].in_slot(names.slot(owner));
                let first = first_cell(layout, first);
                let start = BitOffset::fixed(first.map_or(0, |cell| cell.bit));
                let plain = first.filter(|_| is_plain(program, ty));
                let shape =
                    StoredType { ty, cell: plain.map(|cell| ScalarCell { bit: 0, ..cell }) };
                PlaceRoute { start, slack: 0, indices: Vec::new(), shape }
            }
            PlaceRoot::Local(local) => match names.get(local) {
                NameBinding::Place(start, shape) => {
                    PlaceRoute { start, slack: start.slack, indices: Vec::new(), shape }
                }
                NameBinding::Value(_) => unreachable!("the validator tells names from places"),
            },
        };
        for selector in &place.path {
            self.select(program, names, selector, &mut route);
        }
        route
    }

    fn select<'a>(
        &self,
        program: &Program,
        names: &LocalNames,
        selector: &'a PlaceSelector,
        route: &mut PlaceRoute<'a>,
    ) {
        let part = |ty, route: &PlaceRoute| StoredType { ty, ..route.shape };
        match (selector, &program.types[route.shape.ty]) {
            (PlaceSelector::Index(index), Type::Array { low, length, element, .. }) => {
                route.shape = part(*element, route);
                let (low, length, stride) = (*low, *length, self.bits(route.shape));
                match names.constant_value(index) {
                    Some(known) if (low..low + i64::from(length)).contains(&known) => {
                        route.start.bit += (known - low) as u32 * stride;
                    }
                    _ => {
                        route.slack += length.saturating_sub(1) * stride;
                        route.indices.push(DynamicIndex::Element { index, low, length, stride });
                    }
                }
            }
            (PlaceSelector::Index(index), Type::Multiset { element, capacity }) => {
                route.shape = part(*element, route);
                let (flag, capacity, stride) =
                    (route.start.bit, *capacity, 1 + self.bits(route.shape));
                route.indices.push(DynamicIndex::Position { index, flag, capacity, stride });
                route.start.bit += 1;
                route.slack += capacity.saturating_sub(1) * stride;
            }
            (PlaceSelector::Field(number), Type::Record { fields, .. }) => {
                let before = &fields[..*number as usize];
                route.start.bit +=
                    before.iter().map(|(_, ty)| self.bits_declared(*ty)).sum::<u32>();
                route.shape = part(fields[*number as usize].1, route);
            }
            _ => unreachable!("the validator matches selectors to types"),
        }
    }

    /// Returns all bits that may belong to the place at the end of a path.
    pub fn reach(&self, route: &PlaceRoute) -> Range<u32> {
        route.start.bit..route.start.bit + route.slack + self.bits(route.shape)
    }
}

/// Returns the first cell of a variable, if it has any.
fn first_cell(layout: &Layout, cell: CellId) -> Option<ScalarCell> {
    layout.cells.get(cell).copied()
}

/// Returns whether a type is a scalar or an array of scalars, so that all its scalars are stored in the same way.
fn is_plain(program: &Program, ty: TypeId) -> bool {
    match &program.types[ty] {
        Type::Scalar(_) => true,
        Type::Array { element, .. } => is_plain(program, *element),
        Type::Record { .. } | Type::Multiset { .. } => false,
    }
}
