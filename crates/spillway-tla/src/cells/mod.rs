//! States as byte strings of one fixed width.
//!
//! A [`CellLayout`] gives every variable a range of bytes. The range begins with the *escape cell* of 32 bits, and the
//! [cells](shape) of the variable's value follow:
//!
//! | escape cell | cells | the value |
//! | --- | --- | --- |
//! | 0 | those of its shape | fits the shape of the variable |
//! | 1 + number | 0 | is in the variable's dictionary of whole values |
//!
//! Shapes come from a [sample of states](infer). Every value has exactly one encoding whatever the sample missed.
//!
//! # Growth
//!
//! An encoding can need values that no [dictionary] has yet. Then [`CellLayout::encode`] returns
//! [`UnnumberedValues`], and the caller sets the state aside. At the end of a level, [`CellLayout::number`] gives numbers to
//! all values that the states set aside need, in the order of their bytes; then these states have encodings. So the
//! numbers depend only on the *set* of states of each level.
//!
//! Invariants:
//!
//! - Whether a value fits its shape never changes. It does not fit if its kind, a range or a size is wrong, or if it
//!   needs a value of a full dictionary that has no number. Dictionaries grow only until they are full.
//! - An encoding never changes.
//! - Different states have different encodings, and [`CellLayout::decode`] is the inverse of [`CellLayout::encode`].
//!
//! | module | content |
//! | --- | --- |
//! | `key_bits` | bit fields |
//! | `shape` | values to cells and back |
//! | `infer` | shapes from a sample |
//! | `dictionary` | values with numbers |
//! | `places` | the bits of parts of variables |
//! | `numbering` | the new values of a level |
//! | `value_bytes` | canonical values as bytes |
//! | `journal` | dictionaries as bytes that are only appended to |
//! | `stored_layout` | layouts in serialised form |

mod dictionary;
mod infer;
mod journal;
mod key_bits;
mod numbering;
mod places;
mod shape;
mod stored_layout;
mod value_bytes;

pub use dictionary::{Dictionaries, Dictionary, DictionaryId, DictionarySpec};
pub use journal::{JournalError, journal_bytes, read_journal};
pub use numbering::{CellNumberingError, DictionaryEntries, EntryError};
pub use places::{BitRange, CellPlace, ElementBits};
pub use shape::InvalidKey;
pub use stored_layout::{StoredLayout, StoredLayoutError};
pub use value_bytes::{ValueBytesError, ValueReader, value_bytes, write_value};

use crate::value::Value;
use dictionary::address;
use key_bits::{KeyWriter, get, key_bytes};
use serde::{Deserialize, Serialize};
use shape::{DecodedCells, Domain, Fit, Misfit, Shape, ShapeContext, ShapeKind};
use std::ops::Range;

/// The bits of an escape cell.
pub const ESCAPE_BITS: u32 = 32;

/// The most values of a dictionary of whole values: the escape cell holds a number plus 1.
const ESCAPES_MAX: u32 = u32::MAX - 1;

/// The cells of a variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct VariableCells {
    /// The first byte of the range. The escape cell begins there.
    first_byte: u32,
    /// The shape. Without one, every value escapes.
    shape: Option<Shape>,
}

/// The cells of all variables. [The page above](self) describes encodings.
#[derive(Clone, Debug)]
pub struct CellLayout {
    variables: Vec<VariableCells>,
    /// The dictionaries. The first are those of whole values, one for each variable.
    dictionaries: Vec<DictionarySpec>,
    /// The constant domains to which shapes refer.
    domains: Vec<Domain>,
    /// The bytes of a key.
    width: usize,
}

/// A state needs values without a number. It has an encoding after [`CellLayout::number`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a state needs dictionary values that have no number yet")]
pub struct UnnumberedValues;

/// A state with its encoding, from which successors copy what they have not changed.
#[derive(Clone, Copy)]
pub struct EncodedState<'s> {
    /// The values of the variables.
    pub values: &'s [Value],
    /// The encoding.
    pub key: &'s [u8],
}

impl CellLayout {
    /// Infers a layout for states of `variables` variables from a sample.
    pub fn from_sample<S: AsRef<[Value]>>(variables: usize, sample: &[S]) -> Self {
        let escapes = escape_dictionaries(variables);
        let inferred = infer::infer(variables, sample, &escapes);
        let shapes = inferred.shapes.into_iter().map(Some).collect();
        Self::of(shapes, inferred.dictionaries, inferred.domains)
    }

    /// Places the bytes of a variable before those of all others.
    pub fn with_first(mut self, first: usize) -> Self {
        let others = (0..self.variables.len()).filter(|it| *it != first);
        let mut next = 0;
        for variable in std::iter::once(first).chain(others) {
            self.variables[variable].first_byte = next;
            next = self.bytes(variable).end as u32;
        }
        self
    }

    /// Returns the number of bytes of the variable whose bytes are first.
    pub fn first_bytes(&self) -> usize {
        let first = (0..self.variables.len()).find(|it| self.variables[*it].first_byte == 0);
        first.map_or(0, |it| self.bytes(it).len())
    }

    /// Creates the layout in which every value escapes.
    pub fn escaping(variables: usize) -> Self {
        Self::of(vec![None; variables], escape_dictionaries(variables), Vec::new())
    }

    /// Creates the layout in which every variable is the number of its whole value.
    pub fn numbering(variables: usize) -> Self {
        let mut dictionaries = escape_dictionaries(variables);
        let shape = |dictionaries: &mut Vec<DictionarySpec>| {
            let spec = DictionarySpec { capacity: u32::MAX, is_ordered: false };
            dictionaries.push(spec);
            let dictionary = DictionaryId(dictionaries.len() as u32 - 1);
            Some(Shape::new(ShapeKind::Number { dictionary, bits: infer::MANY_BITS }))
        };
        let shapes = (0..variables).map(|_| shape(&mut dictionaries)).collect();
        Self::of(shapes, dictionaries, Vec::new())
    }

    fn of(
        shapes: Vec<Option<Shape>>,
        dictionaries: Vec<DictionarySpec>,
        domains: Vec<Domain>,
    ) -> Self {
        let mut first_byte = 0;
        let variables: Vec<_> = shapes
            .into_iter()
            .map(|shape| {
                let variable = VariableCells { first_byte, shape };
                first_byte += (ESCAPE_BITS + variable.cell_bits()).div_ceil(8);
                variable
            })
            .collect();
        Self { variables, dictionaries, domains, width: key_bytes(first_byte * 8) }
    }

    /// Returns the bytes of an encoding, a multiple of 8.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the bits of the cells of each variable, without its escape cell.
    pub fn cell_bits(&self) -> impl Iterator<Item = u32> {
        self.variables.iter().map(VariableCells::cell_bits)
    }

    /// Returns the count of dictionaries.
    fn dictionary_count(&self) -> u32 {
        self.dictionaries.len() as u32
    }

    /// Returns empty dictionaries for this layout.
    pub fn dictionaries(&self) -> Dictionaries {
        Dictionaries::new(&self.dictionaries)
    }

    /// Returns the dictionary of whole values of a variable. It contains the values that escape.
    pub fn escapes(&self, variable: usize) -> DictionaryId {
        DictionaryId(variable as u32)
    }

    /// Writes the encoding of a state of canonical values, [`width`](Self::width) bytes.
    ///
    /// # Errors
    ///
    /// The state needs values without a number. The key is then meaningless.
    pub fn encode(
        &self,
        state: &[Value],
        dictionaries: &Dictionaries,
        key: &mut [u8],
    ) -> Result<(), UnnumberedValues> {
        let mut key = KeyWriter::new(key);
        for (variable, value) in state.iter().enumerate() {
            self.encode_variable(variable, value, dictionaries, &mut key)?;
        }
        Ok(())
    }

    /// As [`encode`](Self::encode), for a successor of a state. The cells of variables that share their value with the
    /// state are copied.
    ///
    /// # Errors
    ///
    /// The state needs values without a number. The key is then meaningless.
    pub fn encode_successor(
        &self,
        successor: &[Value],
        state: EncodedState<'_>,
        dictionaries: &Dictionaries,
        key: &mut [u8],
    ) -> Result<(), UnnumberedValues> {
        let mut key = KeyWriter::new(key);
        for (variable, (value, before)) in successor.iter().zip(state.values).enumerate() {
            if is_shared(value, before) {
                key.copy_bytes(self.bytes(variable), state.key);
            } else {
                self.encode_variable(variable, value, dictionaries, &mut key)?;
            }
        }
        Ok(())
    }

    /// Returns the values of the variables of an encoded state.
    ///
    /// # Errors
    ///
    /// The bytes are not an encoding.
    pub fn decode(
        &self,
        key: &[u8],
        dictionaries: &Dictionaries,
    ) -> Result<Vec<Value>, InvalidKey> {
        if key.len() != self.width {
            return Err(InvalidKey);
        }
        let variables =
            (0..self.variables.len()).map(|it| self.decode_variable(it, key, dictionaries));
        variables.collect()
    }

    /// As [`decode`](Self::decode), next to another decoded state. Values and parts of values whose cells are equal are
    /// shared with it.
    ///
    /// # Errors
    ///
    /// The bytes are not an encoding.
    pub fn decode_like(
        &self,
        key: &[u8],
        other: EncodedState<'_>,
        dictionaries: &Dictionaries,
    ) -> Result<Vec<Value>, InvalidKey> {
        if key.len() != self.width || other.key.len() != self.width {
            return Err(InvalidKey);
        }
        let variables = self.variables.iter().zip(other.values).enumerate();
        let values = variables.map(|(variable, (cells, value))| {
            let at = cells.first_byte * 8;
            let escape = get(key, at, ESCAPE_BITS);
            match &cells.shape {
                Some(shape) if escape == 0 && get(other.key, at, ESCAPE_BITS) == 0 => {
                    let like = DecodedCells { key: other.key, value };
                    shape.decode_like(key, at + ESCAPE_BITS, like, self.context(dictionaries))
                }
                _ => self.decode_variable(variable, key, dictionaries),
            }
        });
        values.collect()
    }

    /// Returns the value of one variable of an encoded state.
    ///
    /// # Errors
    ///
    /// The bytes are not an encoding.
    pub fn decode_variable(
        &self,
        variable: usize,
        key: &[u8],
        dictionaries: &Dictionaries,
    ) -> Result<Value, InvalidKey> {
        let cells = &self.variables[variable];
        let at = cells.first_byte * 8;
        match (get(key, at, ESCAPE_BITS), &cells.shape) {
            (0, None) => Err(InvalidKey),
            (0, Some(shape)) => shape.decode(key, at + ESCAPE_BITS, self.context(dictionaries)),
            (escape, _) => {
                let escapes = dictionaries.get(self.escapes(variable));
                escapes.value(escape - 1).cloned().ok_or(InvalidKey)
            }
        }
    }

    fn encode_variable(
        &self,
        variable: usize,
        value: &Value,
        dictionaries: &Dictionaries,
        key: &mut KeyWriter<'_>,
    ) -> Result<(), UnnumberedValues> {
        let cells = &self.variables[variable];
        let at = cells.first_byte * 8;
        if let Some(shape) = &cells.shape {
            match shape.encode(value, at + ESCAPE_BITS, self.context(dictionaries), key) {
                Ok(()) => return Ok(()),
                Err(Misfit) => key.clear_bytes(self.bytes(variable)),
            }
        }
        let escape =
            dictionaries.get(self.escapes(variable)).lookup(value).ok_or(UnnumberedValues)?;
        key.put(at, ESCAPE_BITS, escape + 1);
        Ok(())
    }

    /// Returns whether the cells of a variable can hold a value, with dictionary values that are added to `wanted`.
    fn collect<'v>(
        &self,
        variable: usize,
        value: &'v Value,
        dictionaries: &Dictionaries,
        wanted: &mut shape::WantedValues<'v>,
    ) -> Fit {
        match &self.variables[variable].shape {
            Some(shape) => shape.collect(value, self.context(dictionaries), wanted),
            None => Fit::Never,
        }
    }

    fn context<'l>(&'l self, dictionaries: &'l Dictionaries) -> ShapeContext<'l> {
        ShapeContext { domains: &self.domains, dictionaries }
    }

    /// Returns the bytes of a variable.
    fn bytes(&self, variable: usize) -> Range<usize> {
        let cells = &self.variables[variable];
        let first = cells.first_byte as usize;
        first..first + (ESCAPE_BITS + cells.cell_bits()).div_ceil(8) as usize
    }
}

impl VariableCells {
    fn cell_bits(&self) -> u32 {
        self.shape.as_ref().map_or(0, Shape::bits)
    }
}

fn escape_dictionaries(variables: usize) -> Vec<DictionarySpec> {
    vec![DictionarySpec { capacity: ESCAPES_MAX, is_ordered: false }; variables]
}

/// Returns whether two values are equal at a glance: scalars, or one allocation.
fn is_shared(one: &Value, two: &Value) -> bool {
    match (address(one), address(two)) {
        (Some(one), Some(two)) => one == two,
        (None, None) => one == two,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
