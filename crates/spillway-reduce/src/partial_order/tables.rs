//! Tables that map bits of states to facts.

use spillway_analysis::bit_sets::words_of;
use spillway_ir::Layout;
use spillway_ir::layout::{CellId, ScalarCell};

/// Larger tables have a byte for each code: the index of its set of facts. Two bytes would take half a megabyte in a
/// comparison.
const WIDE_BITS_MAX: u32 = 12;

/// Fields are read together if their cells have at most this many bits.
const JOINED_BITS_MAX: u32 = 8;

/// Facts in one word of a large table, so that a byte can number all sets of them.
const NARROW_FACTS: usize = 8;

/// Reads the facts of states.
#[derive(Clone, Debug, Default)]
pub(super) struct FactReader {
    fields: Vec<FieldReader>,
    /// Words of a set of facts.
    words: usize,
}

/// For each code of some cells, whether a condition does not hold.
pub(super) type RefutedCodes = Vec<bool>;

/// Cells with the facts for each of their codes.
#[derive(Clone, Debug)]
pub(super) struct FactField {
    /// The positions of their bits.
    stretches: Vec<BitRange>,
    /// The word of their facts.
    word: usize,
    table: FactTable,
}

impl FactField {
    /// Returns the most facts in one field about cells with `codes` codes.
    pub fn facts_max(codes: usize) -> usize {
        if codes <= 1 << WIDE_BITS_MAX { 64 } else { NARROW_FACTS }
    }

    /// Creates a field. The cells are in the order of their bits; the facts are numbered from `first`, in one word.
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

    /// Joins both fields, if the table stays small.
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

/// A field in readable form.
#[derive(Clone, Debug)]
struct FieldReader {
    first: BitWindow,
    more: Vec<BitWindow>,
    word: usize,
    table: FactTable,
}

/// A table of fact words by the code of cells.
#[derive(Clone, Debug)]
struct FactTable {
    /// The index of the word for each code. Empty if the code is the index.
    numbers: Vec<u8>,
    words: Vec<u64>,
}

impl FactTable {
    /// Creates a table of facts that have consecutive numbers from `first` in their word.
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

    /// Whether each code has its own word.
    fn is_wide(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Joins two tables. The code of the second is appended to that of the first.
    fn joined(&self, other: &FactTable) -> FactTable {
        let both = self.words.iter().flat_map(|one| other.words.iter().map(move |it| one | it));
        FactTable { numbers: Vec::new(), words: both.collect() }
    }

    fn word(&self, code: u64) -> u64 {
        let number = self.numbers.get(code as usize).map_or(code, |it| u64::from(*it));
        self.words[number as usize]
    }
}

/// Adjacent bits of a state.
#[derive(Clone, Copy, Debug)]
struct BitWindow {
    /// The first of eight bytes, or of all bytes if there are fewer, that contain the bits.
    byte: usize,
    shift: u32,
    bits: u32,
}

/// Adjacent bits of a state, by the number of the first.
#[derive(Clone, Copy, Debug)]
struct BitRange {
    bit: u32,
    bits: u32,
}

/// Returns the bit ranges of cells, which are in the order of their bits.
fn stretches(layout: &Layout, cells: &[CellId]) -> Vec<BitRange> {
    let mut stretches = Vec::new();
    for cell in cells {
        let ScalarCell { bit, bits, .. } = layout.cells[*cell];
        append(&mut stretches, BitRange { bit, bits });
    }
    stretches
}

/// Appends a range, and joins it with the last one if they are adjacent.
fn append(stretches: &mut Vec<BitRange>, BitRange { bit, bits }: BitRange) {
    match stretches.last_mut() {
        _ if bits == 0 => {}
        Some(last) if last.bit + last.bits == bit => last.bits += bits,
        _ => stretches.push(BitRange { bit, bits }),
    }
}

impl BitWindow {
    /// Creates the window of a range in states of `bytes` bytes.
    fn new(BitRange { bit, bits }: BitRange, bytes: usize) -> BitWindow {
        let byte = ((bit / 8) as usize).min(bytes.saturating_sub(8));
        BitWindow { byte, shift: 64 - (bit - 8 * byte as u32) - bits, bits }
    }

    /// Appends the bits to a code.
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
    /// Creates a reader of `count` facts, for states of `bytes` bytes.
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

    /// Returns the words of a set of facts.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Reads the facts of a state into `facts`.
    pub fn read(&self, state: &[u8], facts: &mut [u64]) {
        facts.fill(0);
        for FieldReader { first, more, word, table } in &self.fields {
            let code = first.behind(0, state);
            let code = more.iter().fold(code, |code, run| run.behind(code, state));
            facts[*word] |= table.word(code);
        }
    }
}
