//! Tables by which facts are read off the bits of states.

use crate::analysis::bits::words_of;
use crate::ir::Layout;
use crate::ir::layout::{Cell, CellId};

/// Tables of more bits have a byte for each code, which tells which of few sets of facts it makes: two bytes
/// that are compared would take half a megabyte otherwise.
const WIDE_BITS_MAX: u32 = 12;

/// Facts in one word of such a table, so that a byte tells all sets of them.
const NARROW_FACTS: usize = 8;

/// Reads facts off states.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    fields: Vec<Field>,
    /// Words of a set of facts.
    words: usize,
}

/// What can be known not to hold of some cells: for each code of them all, whether it does not.
pub(super) type Refuted = Vec<bool>;

/// Cells, and the facts that each of their codes makes.
#[derive(Clone, Debug)]
pub(super) struct Field {
    /// Where their bits are.
    runs: Vec<Run>,
    /// The word that their facts are in.
    word: usize,
    table: Table,
}

impl Field {
    /// The most facts in one about cells with so many codes.
    pub fn facts_max(codes: usize) -> usize {
        if codes <= 1 << WIDE_BITS_MAX { 64 } else { NARROW_FACTS }
    }

    /// Of facts about cells, which are in the order of their bits; they are numbered from here on, in one word.
    pub fn new(layout: &Layout, cells: &[CellId], facts: &[&Refuted], first: usize) -> Field {
        let is_wide = facts[0].len() <= 1 << WIDE_BITS_MAX;
        let table = Table::new(facts, first % 64, is_wide);
        Field { runs: runs(layout, cells), word: first / 64, table }
    }
}

/// A word of a set of facts, by the code of cells.
#[derive(Clone, Debug)]
struct Table {
    /// The number of the word for each code; nothing if that is the code.
    numbers: Vec<u8>,
    words: Vec<u64>,
}

impl Table {
    /// Of facts whose numbers in their word begin here.
    fn new(facts: &[&Refuted], first: usize, is_wide: bool) -> Table {
        let of_code = |code: usize| {
            let refuted = facts.iter().enumerate().filter(|(_, refuted)| refuted[code]);
            refuted.fold(0, |all, (at, _)| all | 1usize << at)
        };
        let codes = (0..facts[0].len()).map(of_code);
        match is_wide {
            true => Table {
                numbers: Vec::new(),
                words: codes.map(|all| (all as u64) << first).collect(),
            },
            false => Table {
                numbers: codes.map(|all| all as u8).collect(),
                words: (0..1 << facts.len()).map(|all: u64| all << first).collect(),
            },
        }
    }

    fn word(&self, code: u64) -> u64 {
        let number = self.numbers.get(code as usize).map_or(code, |it| u64::from(*it));
        self.words[number as usize]
    }
}

/// Bits of a state that lie side by side.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Eight bytes from this one on have them, or all there are.
    byte: usize,
    shift: u32,
    bits: u32,
}

/// Where the bits of cells are, which are in the order of their bits.
fn runs(layout: &Layout, cells: &[CellId]) -> Vec<Run> {
    let mut stretches: Vec<(u32, u32)> = Vec::new();
    for cell in cells {
        let Cell { bit, bits, .. } = layout.cells[*cell];
        match stretches.last_mut() {
            Some((first, count)) if *first + *count == bit => *count += bits,
            _ => stretches.push((bit, bits)),
        }
    }
    let stretches = stretches.into_iter().filter(|it| it.1 > 0);
    let last = layout.bytes.saturating_sub(8);
    let run = |(first, bits): (u32, u32)| {
        let byte = ((first / 8) as usize).min(last);
        Run { byte, shift: 64 - (first - 8 * byte as u32) - bits, bits }
    };
    stretches.map(run).collect()
}

impl Run {
    /// Its bits behind those of a code.
    fn behind(self, code: u64, state: &[u8]) -> u64 {
        let bytes = state[self.byte..].first_chunk().copied().unwrap_or_else(|| {
            let mut bytes = [0; 8];
            bytes[..state.len()].copy_from_slice(state);
            bytes
        });
        let mask = (1 << self.bits) - 1;
        code << self.bits | (u64::from_be_bytes(bytes) >> self.shift & mask)
    }
}

impl Facts {
    /// So many facts, in fields.
    pub fn new(fields: Vec<Field>, count: usize) -> Facts {
        Facts { fields, words: words_of(count) }
    }

    /// Words of a set of facts.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Makes `facts` those of a state.
    pub fn read(&self, state: &[u8], facts: &mut [u64]) {
        facts.fill(0);
        for Field { runs, word, table } in &self.fields {
            let code = runs.iter().fold(0, |code, run| run.behind(code, state));
            facts[*word] |= table.word(code);
        }
    }
}
