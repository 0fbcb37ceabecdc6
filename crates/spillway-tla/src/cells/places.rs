//! The bits of parts of variables: what a read depends on, and what a write changes.
//!
//! A state *fits* if no variable escapes. Only for such states parts of a variable have bits of their own.

use super::CellLayout;
use super::dictionary::{Dictionaries, Dictionary};
use super::shape::{Shape, ShapeKind};
use crate::value::{Value, compare};

/// A range of bits of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitRange {
    /// The first bit.
    pub at: u32,
    /// The number of bits.
    pub bits: u32,
}

/// Where a part of a variable is.
pub struct CellPlace<'l> {
    /// The bits of the part, or of the smallest part around it that has bits.
    pub range: BitRange,
    /// The number of arguments that lead there.
    pub depth: usize,
    shape: &'l Shape,
}

impl CellPlace<'_> {
    /// Returns whether the part is a function whose domain is constant.
    pub fn has_constant_domain(&self) -> bool {
        matches!(self.shape.kind(), ShapeKind::Array { .. } | ShapeKind::Product { .. })
    }

    /// Returns the bits of elements of a set that has a bit for each element.
    pub fn element_bits(
        &self,
        elements: &[Value],
        dictionaries: &Dictionaries,
    ) -> Option<ElementBits> {
        let ShapeKind::OpenSet { dictionary, .. } = self.shape.kind() else { return None };
        let dictionary = dictionaries.get(*dictionary);
        if dictionary.is_full() || !are_comparable(elements, dictionary) {
            return None;
        }
        let mut found = ElementBits { positions: Vec::new(), missing: 0 };
        for element in elements {
            match dictionary.lookup(element) {
                Some(number) => found.positions.push(self.range.at + number),
                None => found.missing += 1,
            }
        }
        Some(found)
    }
}

/// The bits of elements of a set. They are right until a dictionary of elements grows.
pub struct ElementBits {
    /// The positions of those with a bit.
    pub positions: Vec<u32>,
    /// The number of those without a bit, which are in no set.
    pub missing: usize,
}

/// Returns whether values can be compared with all values of a dictionary, so that no operation with a set of these
/// fails.
fn are_comparable(values: &[Value], dictionary: &Dictionary) -> bool {
    values.iter().all(|it| dictionary.values().iter().all(|other| compare(it, other).is_ok()))
}

impl CellLayout {
    /// Returns where the part at a path is, or nothing if the variable has no cells.
    pub fn place(&self, variable: usize, path: &[Value]) -> Option<CellPlace<'_>> {
        let cells = &self.variables[variable];
        let mut shape = cells.shape.as_ref()?;
        let mut at = cells.first_byte * 8 + super::ESCAPE_BITS;
        let mut depth = 0;
        for argument in path {
            let part = match shape.kind() {
                ShapeKind::Array { domain, element, .. } => {
                    let index = self.domains[domain.index()].index_of(argument);
                    index.map(|it| (it as u32 * element.bits(), &**element))
                }
                ShapeKind::Product { domain, components } => {
                    let index = self.domains[domain.index()].index_of(argument);
                    index.map(|it| {
                        let before = components[..it].iter().map(Shape::bits).sum();
                        (before, &components[it])
                    })
                }
                _ => None,
            };
            let Some((offset, part)) = part else { break };
            at += offset;
            shape = part;
            depth += 1;
        }
        let range = BitRange { at, bits: shape.bits() };
        Some(CellPlace { range, depth, shape })
    }

    /// Returns the values that can be elements of a variable that is a set, or an array of sets, and the number of
    /// arguments that lead to a set. A value that fits has no other elements.
    pub fn element_candidates<'d>(
        &self,
        variable: usize,
        dictionaries: &'d Dictionaries,
    ) -> Option<(usize, &'d [Value])> {
        let mut shape = self.variables[variable].shape.as_ref()?;
        let mut depth = 0;
        while let ShapeKind::Array { element, .. } = shape.kind() {
            shape = element;
            depth += 1;
        }
        let ShapeKind::OpenSet { dictionary, .. } = shape.kind() else { return None };
        let dictionary = dictionaries.get(*dictionary);
        (!dictionary.is_full()).then_some((depth, dictionary.values()))
    }

    /// Returns the bits of a variable, with its escape cell.
    pub fn variable_range(&self, variable: usize) -> BitRange {
        let bytes = self.bytes(variable);
        BitRange { at: bytes.start as u32 * 8, bits: bytes.len() as u32 * 8 }
    }

    /// Returns the bits that are 0 in a state that fits.
    pub fn escape_range(&self, variable: usize) -> BitRange {
        BitRange { at: self.variables[variable].first_byte * 8, bits: super::ESCAPE_BITS }
    }
}

#[cfg(test)]
mod tests {
    use super::super::CellLayout;
    use super::*;

    fn function(values: &[i32]) -> Value {
        Value::tuple(values.iter().copied().map(Value::Int).collect())
    }

    #[test]
    fn a_write_at_a_place_changes_its_bits_only() {
        let sample = [[function(&[1, 2, 3])], [function(&[3, 3, 1])]];
        let layout = CellLayout::from_sample(1, &sample);
        let dictionaries = layout.dictionaries();
        let place = layout.place(0, &[Value::Int(2)]).expect("a place");
        assert_eq!(place.depth, 1);
        let key = |values: &[i32]| {
            let mut key = vec![0; layout.width()];
            layout.encode(&[function(values)], &dictionaries, &mut key).expect("fits");
            key
        };
        let (one, two) = (key(&[1, 2, 3]), key(&[1, 3, 3]));
        for bit in 0..layout.width() as u32 * 8 {
            let at = |key: &[u8]| key[bit as usize / 8] >> (7 - bit % 8) & 1;
            let is_inside = (place.range.at..place.range.at + place.range.bits).contains(&bit);
            assert!(is_inside || at(&one) == at(&two), "bit {bit}");
        }
        assert_ne!(one, two);
        assert_eq!(layout.place(0, &[Value::Int(4)]).expect("a place").depth, 0);
    }
}
