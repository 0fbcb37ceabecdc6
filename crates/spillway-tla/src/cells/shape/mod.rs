//! Shapes: where the cells of a value are in a key.
//!
//! A shape turns every value that fits it into a fixed number of bits, and back. A value fits or does not for all time,
//! and its bits never change, because dictionaries only grow until they are full.
//!
//! | shape | cells |
//! | --- | --- |
//! | Boolean | one bit |
//! | integer | the distance from the lowest integer |
//! | number | the number of the value in a dictionary: of a string, a model value, or any other value of which few occur |
//! | open set | one bit for each value of a dictionary of elements |
//! | sparse set | the size and the numbers of the elements in ascending order |
//! | open map | one bit for each value of a dictionary of arguments, and the cells of the function's value there |
//! | sequence | the length and the cells of each element |
//! | array | a function with a constant domain: the cells of each value, all of one shape |
//! | product | a function with a constant domain: the cells of each value, each of its own shape |
//! | choice | the number of an alternative and its cells |
//!
//! Cells of elements, arguments and alternatives that a value does not have are 0.

mod decode;
mod domain;
mod encode;
mod wanted;

pub(super) use decode::DecodedCells;
pub use decode::InvalidKey;
use domain::DecodedValues;
pub(super) use domain::{Domain, FunctionEntries};
pub(super) use encode::Misfit;
pub(super) use wanted::{Fit, WantedValues};

use super::dictionary::{Dictionaries, DictionaryId};
use super::key_bits::bits_for;
use crate::value::Value;
use serde::{Deserialize, Serialize};

/// The number of a domain of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DomainId(pub(super) u32);

impl DomainId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A shape of values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Shape {
    /// The bits of a value.
    bits: u32,
    kind: ShapeKind,
}

/// The kinds of shapes. [The page above](self) describes them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum ShapeKind {
    Boolean,
    Integer { low: i64, bits: u32 },
    Number { dictionary: DictionaryId, bits: u32 },
    OpenSet { dictionary: DictionaryId, capacity: u32 },
    SparseSet { dictionary: DictionaryId, number_bits: u32, size_max: u32 },
    OpenMap { arguments: DictionaryId, capacity: u32, value: Box<Shape> },
    Sequence { length_max: u32, element: Box<Shape> },
    Array { domain: DomainId, size: u32, element: Box<Shape> },
    Product { domain: DomainId, components: Vec<Shape> },
    Choice { alternatives: Vec<Shape> },
}

/// What shapes refer to.
#[derive(Clone, Copy)]
pub(super) struct ShapeContext<'l> {
    pub(super) domains: &'l [Domain],
    pub(super) dictionaries: &'l Dictionaries,
}

impl Shape {
    /// Creates a shape and computes its bits.
    pub(super) fn new(kind: ShapeKind) -> Self {
        let bits = match &kind {
            ShapeKind::Boolean => 1,
            ShapeKind::Integer { bits, .. } | ShapeKind::Number { bits, .. } => *bits,
            ShapeKind::OpenSet { capacity, .. } => *capacity,
            ShapeKind::SparseSet { number_bits, size_max, .. } => {
                bits_for(*size_max).saturating_add(size_max.saturating_mul(*number_bits))
            }
            ShapeKind::OpenMap { capacity, value, .. } => {
                capacity.saturating_mul(value.bits.saturating_add(1))
            }
            ShapeKind::Sequence { length_max, element } => {
                bits_for(*length_max).saturating_add(length_max.saturating_mul(element.bits))
            }
            ShapeKind::Array { size, element, .. } => size.saturating_mul(element.bits),
            ShapeKind::Product { components, .. } => {
                components.iter().fold(0_u32, |sum, it| sum.saturating_add(it.bits))
            }
            ShapeKind::Choice { alternatives } => {
                let widest = alternatives.iter().map(|it| it.bits).max().unwrap_or(0);
                widest.saturating_add(choice_bits(alternatives))
            }
        };
        Self { bits, kind }
    }

    /// Returns the bits of a value.
    pub(super) fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns the kind.
    pub(super) fn kind(&self) -> &ShapeKind {
        &self.kind
    }

    /// Returns whether a value is of the kind of the shape. Its parts may still not fit.
    fn accepts(&self, value: &Value, context: ShapeContext<'_>) -> bool {
        match (&self.kind, value) {
            (ShapeKind::Boolean, Value::Bool(_))
            | (ShapeKind::Integer { .. }, Value::Int(_))
            | (ShapeKind::Number { .. }, _)
            | (ShapeKind::OpenSet { .. } | ShapeKind::SparseSet { .. }, Value::Set(_))
            | (ShapeKind::Sequence { .. }, Value::Tuple(_)) => true,
            (ShapeKind::OpenMap { .. }, value) => FunctionEntries::of(value).is_some(),
            (ShapeKind::Array { domain, .. } | ShapeKind::Product { domain, .. }, value) => {
                context.domain(*domain).values(value).is_some()
            }
            _ => false,
        }
    }
}

fn integer_cell(low: i64, bits: u32, integer: i32) -> Option<u32> {
    let cell = u32::try_from(i64::from(integer) - low).ok()?;
    (u64::from(cell) >> bits == 0).then_some(cell)
}

/// Returns the bits of the number of an alternative.
fn choice_bits(alternatives: &[Shape]) -> u32 {
    bits_for((alternatives.len() as u32).saturating_sub(1))
}

/// Returns the alternative for a value: the first of its kind.
fn choose(alternatives: &[Shape], value: &Value, context: ShapeContext<'_>) -> Option<usize> {
    alternatives.iter().position(|it| it.accepts(value, context))
}

impl<'l> ShapeContext<'l> {
    fn domain(self, id: DomainId) -> &'l Domain {
        &self.domains[id.index()]
    }
}
