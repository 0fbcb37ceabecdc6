//! What was observed of a unit, as fields and changes of keys.

use super::tree::{FieldPath, word_masks};
use crate::cells::{BitRange, CellLayout, Dictionaries, ElementBits};
use crate::eval::{ObservedAccesses, ReadAspect, VariableRead, VariableWrite};
use crate::value::Value;

/// What records depend on beside keys.
#[derive(Clone, Copy)]
pub(in crate::system) struct RecordContext<'c> {
    /// The layout.
    pub layout: &'c CellLayout,
    /// The dictionaries.
    pub dictionaries: &'c Dictionaries,
}

/// A change of a word of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WordChange {
    /// The index of the word.
    pub word: u16,
    /// The bits that are kept.
    pub keep: u64,
    /// The bits that are set.
    pub set: u64,
}

/// Translates what was observed in a state that fits.
pub(super) struct ReadTranslation<'t> {
    layout: &'t CellLayout,
    dictionaries: &'t Dictionaries,
    /// The words of a key.
    words: usize,
    /// The fields that were read: of the key of the state, and behind it of that of the successor.
    pub path: FieldPath,
    /// Whether the result depends on which elements have bits.
    pub is_dated: bool,
}

impl<'t> ReadTranslation<'t> {
    /// Translates the reads of an evaluation. Returns nothing if a read has no fields, or if the evaluation depends on
    /// something that was not noted.
    pub(super) fn of_reads(
        observed: &ObservedAccesses,
        context: RecordContext<'t>,
    ) -> Option<Self> {
        if observed.is_opaque {
            return None;
        }
        let RecordContext { layout, dictionaries } = context;
        let words = layout.width() / size_of::<u64>();
        let path = FieldPath::new(2 * words);
        let mut translation = Self { layout, dictionaries, words, path, is_dated: false };
        observed.reads.iter().try_for_each(|it| translation.read(it))?;
        Some(translation)
    }

    /// Adds the fields of a read. Returns nothing if it has none.
    fn read(&mut self, read: &VariableRead) -> Option<()> {
        let VariableRead { place, aspect } = read;
        let cells = self.layout.place(place.variable as usize, &place.path)?;
        let is_exact = cells.depth == place.path.len();
        let first_word = if place.is_next { self.words } else { 0 };
        match aspect {
            ReadAspect::Candidates => {
                self.is_dated = true;
                return Some(());
            }
            ReadAspect::Domain if is_exact && cells.has_constant_domain() => return Some(()),
            ReadAspect::Member(element) if is_exact => {
                let element = std::slice::from_ref(element);
                if let Some(bits) = cells.element_bits(element, self.dictionaries) {
                    self.is_dated = true;
                    for at in bits.positions {
                        self.path.add(BitRange { at, bits: 1 }, first_word);
                    }
                    return Some(());
                }
            }
            _ => {}
        }
        self.path.add(cells.range, first_word);
        Some(())
    }

    /// Returns the changes that make the key of a successor from that of the state. Returns nothing if they make another
    /// key.
    pub(super) fn changes(
        &mut self,
        writes: &[VariableWrite],
        state: &[u64],
        successor: &[u64],
    ) -> Option<Vec<WordChange>> {
        let mut all: Vec<_> = (0..self.words)
            .map(|it| WordChange { word: it as u16, keep: u64::MAX, set: 0 })
            .collect();
        for (variable, write) in writes.iter().enumerate() {
            self.write(variable, write, successor, &mut all)?;
        }
        let changed = all.iter().zip(state).map(|(it, word)| word & it.keep | it.set);
        if !changed.eq(successor.iter().copied()) {
            debug_assert!(false, "the changes make another successor");
            return None;
        }
        all.retain(|it| it.keep != u64::MAX || it.set != 0);
        Some(all)
    }

    fn write(
        &mut self,
        variable: usize,
        write: &VariableWrite,
        successor: &[u64],
        changes: &mut [WordChange],
    ) -> Option<()> {
        match write {
            VariableWrite::Unchanged => {}
            VariableWrite::Value => copy(self.layout.variable_range(variable), successor, changes),
            VariableWrite::Parts(paths) => {
                for path in paths {
                    let cells = self.layout.place(variable, path)?;
                    // A path that does not exist changes nothing.
                    if cells.depth == path.len() || !cells.has_constant_domain() {
                        copy(cells.range, successor, changes);
                    }
                }
            }
            VariableWrite::With(elements) => match self.element_bits(variable, elements)? {
                Some(bits) if bits.missing == 0 => set(&bits.positions, true, changes),
                _ => self.rewrite(variable, successor, changes),
            },
            VariableWrite::Without(elements) => match self.element_bits(variable, elements)? {
                Some(bits) => set(&bits.positions, false, changes),
                None => self.rewrite(variable, successor, changes),
            },
        }
        Some(())
    }

    fn element_bits(&mut self, variable: usize, elements: &Value) -> Option<Option<ElementBits>> {
        let Value::Set(elements) = elements else { return None };
        let cells = self.layout.place(variable, &[])?;
        self.is_dated = true;
        Some(cells.element_bits(&elements.slice, self.dictionaries))
    }

    /// A write that depends on the whole variable.
    fn rewrite(&mut self, variable: usize, successor: &[u64], changes: &mut [WordChange]) {
        let range = self.layout.variable_range(variable);
        self.path.add(range, 0);
        copy(range, successor, changes);
    }
}

/// Copies a range of the key of the successor.
fn copy(range: BitRange, successor: &[u64], changes: &mut [WordChange]) {
    for (word, bits) in word_masks(range) {
        let change = &mut changes[word];
        change.keep &= !bits;
        change.set = change.set & !bits | successor[word] & bits;
    }
}

/// Sets or clears bits.
fn set(positions: &[u32], is_set: bool, changes: &mut [WordChange]) {
    for &at in positions {
        for (word, bits) in word_masks(BitRange { at, bits: 1 }) {
            let change = &mut changes[word];
            change.keep &= !bits;
            if is_set {
                change.set |= bits;
            }
        }
    }
}
