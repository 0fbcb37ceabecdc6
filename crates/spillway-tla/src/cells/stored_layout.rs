//! Layouts in serialised form: domains are bytes, because symbols have numbers only within a process.

use super::dictionary::{DictionaryId, DictionarySpec};
use super::infer::MANY_BITS;
use super::key_bits::bits_for;
use super::shape::{Domain, DomainId, Shape, ShapeKind};
use super::{CellLayout, ValueBytesError, ValueReader, VariableCells, write_value};
use crate::value::{SymbolTable, Value};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// A layout that can be serialised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredLayout {
    variables: Vec<VariableCells>,
    dictionaries: Vec<DictionarySpec>,
    /// The bytes of a function with each domain, all of whose values are `FALSE`.
    domains: Vec<Vec<u8>>,
    width: usize,
}

/// A stored layout does not belong to the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoredLayoutError {
    /// A domain is not that of a function.
    #[error("the layout of states has an invalid domain: {0}")]
    Domain(#[from] ValueBytesError),
    /// The layout has other sizes than its parts.
    #[error("the layout of states is inconsistent")]
    Inconsistent,
}

impl CellLayout {
    /// Returns the layout for serialisation.
    pub fn store(&self, symbols: &SymbolTable) -> StoredLayout {
        let bytes = |domain: &Domain| {
            let mut bytes = Vec::new();
            let function = domain.function(SmallVec::from_elem(Value::Bool(false), domain.size()));
            write_value(&function, symbols, &mut bytes);
            bytes
        };
        StoredLayout {
            variables: self.variables.clone(),
            dictionaries: self.dictionaries.clone(),
            domains: self.domains.iter().map(bytes).collect(),
            width: self.width,
        }
    }

    /// Returns a stored layout of the specification with these symbols.
    ///
    /// # Errors
    ///
    /// The stored layout is not one of this specification.
    pub fn restore(stored: StoredLayout, symbols: &SymbolTable) -> Result<Self, StoredLayoutError> {
        let StoredLayout { variables, dictionaries, domains, width } = stored;
        let domain = |bytes: &Vec<u8>| {
            let mut reader = ValueReader::new(bytes, symbols);
            let function = reader.value()?;
            let domain = Domain::of(&function).filter(|_| reader.is_empty());
            domain.ok_or(StoredLayoutError::Inconsistent)
        };
        let domains = domains.iter().map(domain).collect::<Result<Vec<_>, _>>()?;
        let shapes = variables.iter().map(|it| it.shape.clone()).collect();
        let layout = Self::of(shapes, dictionaries, domains);
        let is_consistent = layout.width == width
            && layout.variables == variables
            && layout.dictionaries.len() >= variables.len()
            && variables
                .iter()
                .all(|it| it.shape.as_ref().is_none_or(|it| layout.is_consistent(it)));
        is_consistent.then_some(layout).ok_or(StoredLayoutError::Inconsistent)
    }

    /// Returns whether everything that a shape refers to exists and has the right size.
    fn is_consistent(&self, shape: &Shape) -> bool {
        let capacity = |it: DictionaryId| self.dictionaries.get(it.index()).map(|it| it.capacity);
        let size = |it: DomainId| self.domains.get(it.0 as usize).map(Domain::size);
        let has_room = |it: DictionaryId, bits: u32| {
            capacity(it).is_some_and(|it| bits_for(it) <= bits.min(MANY_BITS))
        };
        let has_parts = match shape.kind() {
            ShapeKind::Boolean => true,
            ShapeKind::Integer { bits, .. } => *bits <= MANY_BITS,
            ShapeKind::Number { dictionary, bits } => has_room(*dictionary, *bits),
            ShapeKind::OpenSet { dictionary, capacity: cells } => {
                capacity(*dictionary).is_some_and(|it| it <= *cells)
            }
            ShapeKind::SparseSet { dictionary, number_bits, .. } => {
                has_room(*dictionary, *number_bits)
            }
            ShapeKind::OpenMap { arguments, capacity: cells, value } => {
                capacity(*arguments).is_some_and(|it| it <= *cells) && self.is_consistent(value)
            }
            ShapeKind::Sequence { element, .. } => self.is_consistent(element),
            ShapeKind::Array { domain, size: cells, element } => {
                size(*domain) == Some(*cells as usize) && self.is_consistent(element)
            }
            ShapeKind::Product { domain, components } => {
                size(*domain) == Some(components.len())
                    && components.iter().all(|it| self.is_consistent(it))
            }
            ShapeKind::Choice { alternatives } => {
                alternatives.iter().all(|it| self.is_consistent(it))
            }
        };
        has_parts && Shape::new(shape.kind().clone()).bits() == shape.bits()
    }
}
