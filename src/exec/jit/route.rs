//! Which way leads to a place: what is known of it, and what only the state decides.

use super::names::{LocalNames, NameBinding};
use super::shape::{StoredType, StoredTypes};
use super::words::BitOffset;
use crate::ir::layout::{CellId, ScalarCell};
use crate::ir::{Expr, Layout, Place, PlaceRoot, PlaceSelector, Program, Type, TypeId};
use std::ops::Range;

/// The way to a place: what is known of it, and the indices that only the state decides.
pub(super) struct PlaceRoute<'a> {
    /// Where it is if all indices are taken at their least.
    pub start: BitOffset,
    /// How many bits further the indices can lead, and where the way begins.
    pub slack: u32,
    /// In the order in which they are to be judged.
    pub indices: Vec<DynamicIndex<'a>>,
    /// The type of the place.
    pub shape: StoredType,
}

/// An index that is not known before the model runs.
pub(super) enum DynamicIndex<'a> {
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

impl StoredTypes {
    /// The way to a place.
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

    /// All bits that may belong to the place at the end of a route.
    pub fn reach(&self, route: &PlaceRoute) -> Range<u32> {
        route.start.bit..route.start.bit + route.slack + self.bits(route.shape)
    }
}

/// The first cell of a variable, if it has any.
fn first_cell(layout: &Layout, cell: CellId) -> Option<ScalarCell> {
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
