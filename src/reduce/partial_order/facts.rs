//! What surely does not hold in a state, of all that guards ask for: read off its bits.
//!
//! A *fact* is that a condition of the program does not hold: that a process is not at a location, a
//! variable does not compare so with a constant, a channel has no room. Each is about one cell. Facts
//! about one cell lie side by side in one word of a set, so that they are all read off at once, from a
//! table by the cell's code.

use crate::analysis::access::{ChannelSlot, Condition, Question};
use crate::analysis::bits::words_of;
use crate::ir::layout::{Cell, CellId};
use crate::ir::{Arithmetic, Layout, Program};
use std::collections::BTreeMap;

/// A cell with more bits than this has no table: facts about it are not looked at.
const TABLE_BITS_MAX: u32 = 12;

/// Whether a condition holds wherever the fact that it does not is none.
pub(super) fn decide(condition: &Condition) -> bool {
    use Question::{FirstMatches, SomeMatches};
    !matches!(condition, Condition::Holds | Condition::Asks(_, FirstMatches | SomeMatches))
}

/// What can be known not to hold of a cell: for each code, whether it does not.
type Refuted = Vec<bool>;

/// Facts as they are collected.
pub(super) struct Collected<'p> {
    program: &'p Program,
    layout: &'p Layout,
    /// Of each cell the facts about it, each with its number.
    about: BTreeMap<CellId, Vec<(Refuted, usize)>>,
    count: usize,
}

impl<'p> Collected<'p> {
    pub fn new(program: &'p Program, layout: &'p Layout) -> Collected<'p> {
        Collected { program, layout, about: BTreeMap::new(), count: 0 }
    }

    /// The number of the fact that a condition does not hold, for now; none if it cannot be read off a
    /// state.
    pub fn that_fails(&mut self, condition: &Condition) -> Option<usize> {
        match condition {
            Condition::At(cell, location) => {
                let first = self.first_location(*cell)?;
                self.fact(*cell, |_, value| value != Some(i64::from(location.0) + first))
            }
            Condition::Compares(cell, ..) => {
                let arithmetic: Arithmetic = self.program.arithmetic;
                // Undefined is an error, which is a step.
                self.fact(*cell, |_, value| {
                    value.is_some_and(|value| !condition.holds_of(arithmetic, value))
                })
            }
            Condition::Asks(channels, question) => {
                let [channel] = channels.as_slice() else { return None };
                // Which message is the first would have to be looked at.
                let is_number = *question != Question::FirstMatches;
                is_number.then(|| self.about_channel(*channel, *question)).flatten()
            }
            Condition::Holds => None,
        }
    }

    /// What location 0 is in a cell that tells one: codes below stand for free slots.
    fn first_location(&self, cell: CellId) -> Option<i64> {
        let mut placements = self.layout.locations.iter();
        let (process, _) = placements.find(|(process, placement)| {
            let slots = self.program.slots(*process);
            (0..slots).any(|slot| placement.in_slot(slot) == cell)
        })?;
        Some(self.program.processes[process].has_slots().into())
    }

    fn about_channel(&mut self, channel: ChannelSlot, question: Question) -> Option<usize> {
        let capacity = i64::from(self.program.channels[channel.id].capacity);
        let cell = self.layout.channels[channel.id].in_slot(channel.slot);
        self.fact(cell, |_, waiting| {
            let waiting = waiting.unwrap_or_default();
            match question {
                Question::HasRoom => waiting == capacity,
                // Without one none matches.
                Question::HasMessage | Question::SomeMatches => waiting == 0,
                Question::FirstMatches => false,
                Question::IsEmpty => waiting != 0,
                Question::IsFull => waiting != capacity,
            }
        })
    }

    /// The number of a fact of every state, if there is a cell to read it off.
    pub fn in_any_state(&mut self) -> Option<usize> {
        let cells = &self.layout.cells;
        let cell = cells.iter().find(|(_, it)| it.bits <= TABLE_BITS_MAX)?.0;
        self.fact(cell, |_, _| true)
    }

    /// The number of the fact that something holds of the value in a cell, which is defined.
    pub fn that(&mut self, cell: CellId, holds: impl Fn(i64) -> bool) -> Option<usize> {
        self.fact(cell, |_, value| value.is_some_and(&holds))
    }

    fn fact(
        &mut self,
        cell: CellId,
        refuted: impl Fn(&Cell, Option<i64>) -> bool,
    ) -> Option<usize> {
        let it = &self.layout.cells[cell];
        if it.bits > TABLE_BITS_MAX {
            return None;
        }
        let row: Refuted = (0..1 << it.bits).map(|code| refuted(it, it.value(code))).collect();
        let about = self.about.entry(cell).or_default();
        if let Some((_, number)) = about.iter().find(|(known, _)| *known == row) {
            return Some(*number);
        }
        about.push((row, self.count));
        self.count += 1;
        Some(self.count - 1)
    }

    /// All of them, and which number each has now.
    pub fn finish(self) -> (Facts, Vec<usize>) {
        let (mut fields, mut numbers, mut next) = (Vec::new(), vec![0; self.count], 0);
        for (cell, about) in &self.about {
            for facts in about.chunks(64) {
                // They are in one word.
                if next % 64 + facts.len() > 64 {
                    next = next.next_multiple_of(64);
                }
                let mut table = vec![0u64; facts[0].0.len()];
                for (at, (refuted, number)) in facts.iter().enumerate() {
                    numbers[*number] = next + at;
                    for (mask, _) in table.iter_mut().zip(refuted).filter(|(_, is)| **is) {
                        *mask |= 1 << ((next + at) % 64);
                    }
                }
                fields.push(Field::new(&self.layout.cells[*cell], next / 64, table));
                next += facts.len();
            }
        }
        (Facts { fields, words: words_of(next) }, numbers)
    }
}

/// Reads facts off states.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    fields: Vec<Field>,
    /// Words of a set of facts.
    words: usize,
}

/// A cell, and the facts that each of its codes makes.
#[derive(Clone, Debug)]
struct Field {
    /// The first byte that has bits of it; eight from there on are read.
    byte: usize,
    shift: u32,
    mask: u64,
    /// The word that its facts are in.
    word: usize,
    /// That word of the set, by code.
    table: Vec<u64>,
}

impl Field {
    fn new(cell: &Cell, word: usize, table: Vec<u64>) -> Field {
        let (byte, offset) = ((cell.bit / 8) as usize, cell.bit % 8);
        let shift = 64 - offset - cell.bits;
        // A cell without bits is at the end of a word that is shifted out of it.
        let (shift, mask) = if cell.bits == 0 { (0, 0) } else { (shift, (1 << cell.bits) - 1) };
        Field { byte, shift, mask, word, table }
    }
}

/// Bytes behind a state that may be read.
const PADDING: usize = 8;

impl Facts {
    /// Words of a set of facts.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Makes `facts` those of a state. `padded` is room.
    pub fn read(&self, state: &[u8], padded: &mut Vec<u8>, facts: &mut [u64]) {
        padded.clear();
        padded.extend_from_slice(state);
        padded.resize(state.len() + PADDING, 0);
        facts.fill(0);
        for Field { byte, shift, mask, word, table } in &self.fields {
            let bytes = padded[*byte..].first_chunk().copied().unwrap_or_default();
            let code = u64::from_be_bytes(bytes) >> shift & mask;
            facts[*word] |= table[code as usize];
        }
    }
}
