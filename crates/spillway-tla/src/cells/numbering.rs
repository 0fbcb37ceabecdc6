//! The new values of a level get their numbers.
//!
//! A caller gives all states that a level set aside, twice:
//!
//! 1. Values that fit their shapes name the dictionary values that they need ([`NewValues::collect_cells`]). These get
//!    numbers as long as their dictionaries have room.
//! 2. Values that have no encoding after that escape ([`NewValues::collect_escapes`]). They become whole values.
//!
//! Both times, the values of a dictionary are numbered in the order of their bytes, so neither the order of the states
//! nor repetitions matter. The numbered values are [`DictionaryEntries`], which are appended to the journal.

use super::dictionary::{Dictionaries, DictionaryId};
use super::shape::Fit;
use super::value_bytes::{ValueReader, write_number, write_value};
use super::{CellLayout, ValueBytesError};
use crate::value::{SymbolTable, Value};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// Values cannot be numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CellNumberingError {
    /// The dictionary of whole values of the variable with this index is full.
    #[error("variable {0} has at least 2^32 - 2 values that do not fit its shape")]
    TooManyEscapes(usize),
}

/// Entries for dictionaries, in the order of their numbers: the number of the dictionary and the bytes of the value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DictionaryEntries {
    bytes: Vec<u8>,
    /// Where blocks of the journal begin, except for the first.
    block_starts: Vec<usize>,
}

/// A block of the journal ends with the entry that reaches this number of bytes.
const BLOCK_BYTES: usize = 1 << 16;

impl DictionaryEntries {
    /// Returns whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the entries in blocks. Each has at least one entry.
    pub fn blocks(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.block_starts.iter().copied());
        let ends = self.block_starts.iter().copied().chain([self.bytes.len()]);
        starts.zip(ends).map(|(start, end)| &self.bytes[start..end]).filter(|it| !it.is_empty())
    }

    fn push(&mut self, dictionary: DictionaryId, value: &[u8]) {
        let start = self.block_starts.last().copied().unwrap_or(0);
        if self.bytes.len() - start >= BLOCK_BYTES {
            self.block_starts.push(self.bytes.len());
        }
        write_number(u64::from(dictionary.0), &mut self.bytes);
        self.bytes.extend_from_slice(value);
    }
}

/// An entry cannot be added to the dictionaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// The bytes of the value are wrong.
    #[error(transparent)]
    Value(#[from] ValueBytesError),
    /// The layout has no such dictionary.
    #[error("the layout has no dictionary {0}")]
    UnknownDictionary(u64),
    /// The dictionary has the value already, or no room.
    #[error("dictionary {0} has no place for a value")]
    NoPlace(u64),
}

/// Adds a block of entries to dictionaries.
pub(super) fn add_entries(
    bytes: &[u8],
    symbols: &SymbolTable,
    dictionaries: &mut Dictionaries,
) -> Result<(), EntryError> {
    let mut reader = ValueReader::new(bytes, symbols);
    while !reader.is_empty() {
        let number = reader.number()?;
        let value = reader.value()?;
        let id = dictionaries.id(number).ok_or(EntryError::UnknownDictionary(number))?;
        let dictionary = dictionaries.get_mut(id);
        if dictionary.lookup(&value).is_some() || dictionary.add(value).is_none() {
            return Err(EntryError::NoPlace(number));
        }
    }
    Ok(())
}

/// Values that need numbers.
struct NewValues<'l> {
    layout: &'l CellLayout,
    by_dictionary: BTreeMap<DictionaryId, FxHashSet<Value>>,
}

impl<'l> NewValues<'l> {
    /// Starts without values.
    fn new(layout: &'l CellLayout) -> Self {
        Self { layout, by_dictionary: BTreeMap::new() }
    }

    /// Adds the dictionary values that the encoding of a state needs.
    fn collect_cells(&mut self, state: &[Value], dictionaries: &Dictionaries) {
        for (variable, value) in state.iter().enumerate() {
            if dictionaries.get(self.layout.escapes(variable)).lookup(value).is_some() {
                continue;
            }
            let mut wanted = Vec::new();
            let fit = self.layout.collect(variable, value, dictionaries, &mut wanted);
            if fit == Fit::Possible {
                wanted.into_iter().for_each(|it| self.add(it.dictionary, &it.value));
            }
        }
    }

    /// Adds the values of a state that escape. The values that [`collect_cells`](Self::collect_cells) found for all
    /// states have their numbers.
    fn collect_escapes(&mut self, state: &[Value], dictionaries: &Dictionaries) {
        for (variable, value) in state.iter().enumerate() {
            let escapes = self.layout.escapes(variable);
            let mut wanted = Vec::new();
            if self.layout.collect(variable, value, dictionaries, &mut wanted) == Fit::Never
                && dictionaries.get(escapes).lookup(value).is_none()
            {
                self.add(escapes, value);
            }
        }
    }

    fn add(&mut self, dictionary: DictionaryId, value: &Value) {
        let values = self.by_dictionary.entry(dictionary).or_default();
        if !values.contains(value) {
            values.insert(value.clone());
        }
    }

    /// Numbers the values in the order of their bytes, as long as their dictionaries have room, and adds them to
    /// `entries`. Leaves no values.
    fn number(
        &mut self,
        symbols: &SymbolTable,
        dictionaries: &mut Dictionaries,
        entries: &mut DictionaryEntries,
    ) {
        for (id, values) in std::mem::take(&mut self.by_dictionary) {
            let with_bytes = |value: Value| {
                let mut bytes = Vec::new();
                write_value(&value, symbols, &mut bytes);
                (bytes, value)
            };
            let mut values: Vec<_> = values.into_iter().map(with_bytes).collect();
            values.sort_unstable_by(|one, two| one.0.cmp(&two.0));
            for (bytes, value) in values {
                if dictionaries.get_mut(id).add(value).is_some() {
                    entries.push(id, &bytes);
                }
            }
        }
        dictionaries.update_ranks();
    }
}

impl CellLayout {
    /// Gives numbers to all values that the encodings of these states need. Every one of them has an encoding
    /// afterwards. Returns the new entries.
    ///
    /// # Errors
    ///
    /// A dictionary of whole values is full.
    pub fn number<S: AsRef<[Value]>>(
        &self,
        states: &[S],
        symbols: &SymbolTable,
        dictionaries: &mut Dictionaries,
    ) -> Result<DictionaryEntries, CellNumberingError> {
        let visit = |each: &mut dyn FnMut(&[Value])| {
            states.iter().for_each(|it| each(it.as_ref()));
            Ok(())
        };
        self.number_visited(visit, symbols, dictionaries)
    }

    /// As [`number`](Self::number), for the states that `visit` passes to a function. It is called twice, with the same
    /// states in any order.
    ///
    /// # Errors
    ///
    /// Those of `visit`, or a dictionary of whole values is full.
    pub fn number_visited<E: From<CellNumberingError>>(
        &self,
        visit: impl Fn(&mut dyn FnMut(&[Value])) -> Result<(), E>,
        symbols: &SymbolTable,
        dictionaries: &mut Dictionaries,
    ) -> Result<DictionaryEntries, E> {
        let (mut new, mut entries) = (NewValues::new(self), DictionaryEntries::default());
        visit(&mut |it| new.collect_cells(it, dictionaries))?;
        new.number(symbols, dictionaries, &mut entries);
        visit(&mut |it| new.collect_escapes(it, dictionaries))?;
        new.number(symbols, dictionaries, &mut entries);
        let full =
            (0..self.variables.len()).find(|it| dictionaries.get(self.escapes(*it)).is_full());
        full.map_or(Ok(entries), |it| Err(CellNumberingError::TooManyEscapes(it).into()))
    }
}
