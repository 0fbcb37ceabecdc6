//! Tables by which facts are read off the bits of states.

use crate::analysis::bit_sets::words_of;
use crate::ir::Layout;
use crate::ir::layout::{CellId, ScalarCell};

/// Tables of more bits have a byte for each code, which tells which of few sets of facts it makes: two bytes
/// that are compared would take half a megabyte otherwise.
const WIDE_BITS_MAX: u32 = 12;

/// Fields are read together whose cells have no more bits than this.
const JOINED_BITS_MAX: u32 = 8;

/// Facts in one word of such a table, so that a byte tells all sets of them.
const NARROW_FACTS: usize = 8;

/// Reads facts off states.
#[derive(Clone, Debug, Default)]
pub(super) struct FactReader {
    fields: Vec<FieldReader>,
    /// Words of a set of facts.
    words: usize,
}

/// What can be known not to hold of some cells: for each code of them all, whether it does not.
pub(super) type RefutedCodes = Vec<bool>;

/// Cells, and the facts that each of their codes makes.
#[derive(Clone, Debug)]
pub(super) struct FactField {
    /// Where their bits are.
    stretches: Vec<BitRange>,
    /// The word that their facts are in.
    word: usize,
    table: FactTable,
}

impl FactField {
    /// The most facts in one about cells with so many codes.
    pub fn facts_max(codes: usize) -> usize {
        if codes <= 1 << WIDE_BITS_MAX { 64 } else { NARROW_FACTS }
    }

    /// Of facts about cells, which are in the order of their bits; they are numbered from here on, in one word.
    pub fn new(
        layout: &Layout,
        cells: &[CellId],
        facts: &[&RefutedCodes],
        first: usize,
    ) -> FactField {
        let is_wide = facts[0].len() <= 1 << WIDE_BITS_MAX;
        let table = FactTable::new(facts, first % 64, is_wide);
        FactField { stretches: stretches(layout, cells), word: first / 64, table }
    }

    /// Both at once, if that makes a small table.
    fn joined(&self, other: &FactField) -> Option<FactField> {
        let both = [self, other];
        let bits = both.iter().flat_map(|it| &it.stretches).map(|it| it.bits).sum::<u32>();
        let is_small = bits <= JOINED_BITS_MAX && both.iter().all(|it| it.table.is_wide());
        (is_small && self.word == other.word).then(|| {
            let mut stretches = self.stretches.clone();
            other.stretches.iter().for_each(|&it| append(&mut stretches, it));
            FactField { stretches, word: self.word, table: self.table.joined(&other.table) }
        })
    }
}

/// A field to read.
#[derive(Clone, Debug)]
struct FieldReader {
    first: BitWindow,
    more: Vec<BitWindow>,
    word: usize,
    table: FactTable,
}

/// A word of a set of facts, by the code of cells.
#[derive(Clone, Debug)]
struct FactTable {
    /// The number of the word for each code; nothing if that is the code.
    numbers: Vec<u8>,
    words: Vec<u64>,
}

impl FactTable {
    /// Of facts whose numbers in their word begin here.
    fn new(facts: &[&RefutedCodes], first: usize, is_wide: bool) -> FactTable {
        let of_code = |code: usize| {
            let refuted = facts.iter().enumerate().filter(|(_, refuted)| refuted[code]);
            refuted.fold(0, |all, (at, _)| all | 1usize << at)
        };
        let codes = (0..facts[0].len()).map(of_code);
        match is_wide {
            true => FactTable {
                numbers: Vec::new(),
                words: codes.map(|all| (all as u64) << first).collect(),
            },
            false => FactTable {
                numbers: codes.map(|all| all as u8).collect(),
                words: (0..1 << facts.len()).map(|all: u64| all << first).collect(),
            },
        }
    }

    /// Whether there is a word for each code.
    fn is_wide(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The words of both, which are one, for codes with those of the other behind them.
    fn joined(&self, other: &FactTable) -> FactTable {
        let both = self.words.iter().flat_map(|one| other.words.iter().map(move |it| one | it));
        FactTable { numbers: Vec::new(), words: both.collect() }
    }

    fn word(&self, code: u64) -> u64 {
        let number = self.numbers.get(code as usize).map_or(code, |it| u64::from(*it));
        self.words[number as usize]
    }
}

/// Bits of a state that lie side by side.
#[derive(Clone, Copy, Debug)]
struct BitWindow {
    /// Eight bytes from this one on have them, or all there are.
    byte: usize,
    shift: u32,
    bits: u32,
}

/// Bits of a state that lie side by side, by the number of the first.
#[derive(Clone, Copy, Debug)]
struct BitRange {
    bit: u32,
    bits: u32,
}

/// Where the bits of cells are, which are in the order of their bits.
fn stretches(layout: &Layout, cells: &[CellId]) -> Vec<BitRange> {
    let mut stretches = Vec::new();
    for cell in cells {
        let ScalarCell { bit, bits, .. } = layout.cells[*cell];
        append(&mut stretches, BitRange { bit, bits });
    }
    stretches
}

/// Adds a stretch behind others.
fn append(stretches: &mut Vec<BitRange>, BitRange { bit, bits }: BitRange) {
    match stretches.last_mut() {
        _ if bits == 0 => {}
        Some(last) if last.bit + last.bits == bit => last.bits += bits,
        _ => stretches.push(BitRange { bit, bits }),
    }
}

impl BitWindow {
    /// A stretch in states of so many bytes.
    fn new(BitRange { bit, bits }: BitRange, bytes: usize) -> BitWindow {
        let byte = ((bit / 8) as usize).min(bytes.saturating_sub(8));
        BitWindow { byte, shift: 64 - (bit - 8 * byte as u32) - bits, bits }
    }

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

impl FactReader {
    /// So many facts, in fields of states of so many bytes.
    pub fn new(fields: Vec<FactField>, count: usize, bytes: usize) -> FactReader {
        let mut joined: Vec<FactField> = Vec::new();
        for field in fields {
            match joined.last().and_then(|last| last.joined(&field)) {
                Some(both) => *joined.last_mut().expect("there is one") = both,
                None => joined.push(field),
            }
        }
        let read = |FactField { stretches, word, table }| {
            let mut runs = stretches.into_iter().map(|it| BitWindow::new(it, bytes));
            let first = runs.next().unwrap_or(BitWindow { byte: 0, shift: 0, bits: 0 });
            FieldReader { first, more: runs.collect(), word, table }
        };
        FactReader { fields: joined.into_iter().map(read).collect(), words: words_of(count) }
    }

    /// Words of a set of facts.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Makes `facts` those of a state.
    pub fn read(&self, state: &[u8], facts: &mut [u64]) {
        facts.fill(0);
        for FieldReader { first, more, word, table } in &self.fields {
            let code = first.behind(0, state);
            let code = more.iter().fold(code, |code, run| run.behind(code, state));
            facts[*word] |= table.word(code);
        }
    }
}
