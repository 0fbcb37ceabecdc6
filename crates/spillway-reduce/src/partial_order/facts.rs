//! The conjuncts of guards that do not hold in a state, read from its bits.
//!
//! A *fact* is that a condition does not hold. A condition is that a process is at a location, a variable compares in
//! a certain way with a constant, a channel has room or a message, or an expression over a few cells is true. Facts
//! about the same cells are adjacent in one word of a set. So a table, indexed by the code of the cells, gives them
//! all at once.

use super::tables::{FactField, FactReader, RefutedCodes};
use spillway_analysis::access::{
    AccessSet, CellSet, ChannelPredicate, ChannelSlot, ConjunctCondition, GuardConjunct, GuardTest,
};
use spillway_analysis::instances::{ActionInstances, InstanceSide};
use spillway_exec::Interp;
use spillway_ir::layout::{CellId, ScalarCell};
use spillway_ir::{Arithmetic, Expr, Layout, ProcessInstance, Program};
use std::collections::{BTreeMap, HashMap};

/// The most bits of the cells of a table. There are no facts about larger groups of cells.
const TABLE_BITS_MAX: u32 = 16;

/// Limits on the evaluations of expressions: for the tables of a program, and for those of one configuration. A
/// program may have thousands of configurations.
const JUDGED_MAX: u32 = 1 << 17;
const JUDGED_MAX_EACH: u32 = 1 << 12;

/// Whether the absence of the fact implies that the condition holds.
pub(super) fn decide(condition: &ConjunctCondition) -> bool {
    use ChannelPredicate::{FirstMatches, SomeMatches};
    !matches!(
        condition,
        ConjunctCondition::Holds | ConjunctCondition::Asks(_, FirstMatches | SomeMatches)
    )
}

/// An evaluated expression: its place in the program, the side that evaluates it, and the expected result.
type FactKey = (*const Expr, InstanceSide, bool);

/// Facts under construction.
pub(super) struct FactCollector<'p> {
    interp: &'p Interp,
    program: &'p Program,
    layout: &'p Layout,
    /// The facts about cells, each with its number. The cells are in the order of their bits.
    about: BTreeMap<Vec<CellId>, Vec<(RefutedCodes, usize)>>,
    count: usize,
    /// The facts of evaluated expressions, if they have one.
    computed: HashMap<FactKey, Option<usize>>,
    /// The number of evaluations that are left.
    judged_left: u32,
}

impl<'p> FactCollector<'p> {
    pub fn new(interp: &'p Interp, of_configuration: bool) -> FactCollector<'p> {
        FactCollector {
            interp,
            program: interp.program(),
            layout: interp.layout(),
            about: BTreeMap::new(),
            count: 0,
            computed: HashMap::new(),
            judged_left: if of_configuration { JUDGED_MAX_EACH } else { JUDGED_MAX },
        }
    }

    /// Returns the number of the fact that a conjunct over a few cells does not hold.
    pub fn computed_fact(
        &mut self,
        instances: &ActionInstances,
        conjunct: &GuardConjunct<'_>,
    ) -> Option<usize> {
        let judged =
            conjunct.judged.as_ref().filter(|_| conjunct.condition == ConjunctCondition::Holds)?;
        let AccessSet { reads, failures, .. } = &conjunct.access;
        let of_cells =
            AccessSet { reads: reads.clone(), failures: *failures, ..AccessSet::default() };
        if conjunct.access != of_cells {
            return None;
        }
        let asked: FactKey = (judged.expr, judged.side, judged.holds);
        if let Some(known) = self.computed.get(&asked) {
            return *known;
        }
        let found = self.judge(instances, judged, reads);
        self.computed.insert(asked, found);
        found
    }

    /// Evaluates an expression for all codes of the cells that it reads. If the evaluation fails, the transition is
    /// an error and there is no fact.
    fn judge(
        &mut self,
        instances: &ActionInstances,
        judged: &GuardTest<'_>,
        reads: &CellSet,
    ) -> Option<usize> {
        let cells = self.tabled(reads)?;
        let count = 1 << cells.iter().map(|it| self.layout.cells[*it].bits).sum::<u32>();
        self.judged_left = self.judged_left.checked_sub(count)?;
        let action = &self.program.actions[judged.side.action];
        let mover =
            action.edge.map(|it| ProcessInstance { process: it.process, slot: judged.side.slot });
        let values = instances.values(judged.side);
        let names = action.parameters.iter().map(|it| it.local);
        let names: Vec<_> = names.zip(values).collect();
        let mut state = vec![0; self.layout.bytes];
        for (cell, value) in &judged.given {
            // Values that are never stored need no evaluation.
            self.layout.cells[*cell].codes(*value, *value)?;
            self.layout.set(&mut state, *cell, Some(*value));
        }
        let mut row = Vec::with_capacity(count as usize);
        let fails = |state: &[u8]| {
            self.interp.judge_condition(judged.expr, mover, &names, state) == Some(!judged.holds)
        };
        self.for_each_code(&cells, &mut state, &fails, &mut row);
        Some(self.number(cells, row))
    }

    /// Adds to `row` for each code of some cells whether `is_so` holds. Codes that are never stored give `false`:
    /// evaluation is slow and mostly an error.
    fn for_each_code(
        &self,
        cells: &[CellId],
        state: &mut [u8],
        is_so: &impl Fn(&[u8]) -> bool,
        row: &mut RefutedCodes,
    ) {
        let Some((&cell, others)) = cells.split_first() else { return row.push(is_so(state)) };
        let about = &self.layout.cells[cell];
        for code in 0..about.count() {
            self.layout.set_code(state, cell, code);
            self.for_each_code(others, state, is_so, row);
        }
        let bits = others.iter().map(|it| self.layout.cells[*it].bits).sum::<u32>();
        let never = (1 << about.bits) - about.count() as usize;
        row.resize(row.len() + (never << bits), false);
    }

    /// Returns the cells in the order of their bits, if they have few enough bits for a table.
    fn tabled(&self, cells: &CellSet) -> Option<Vec<CellId>> {
        let mut all = Vec::new();
        let mut bits = 0;
        for cell in cells.iter() {
            bits += self.layout.cells.get(cell)?.bits;
            if bits > TABLE_BITS_MAX {
                return None;
            }
            all.push(cell);
        }
        all.sort_by_key(|it| self.layout.cells[*it].bit);
        (bits > 0).then_some(all)
    }

    /// Returns the number of the fact that a condition does not hold, before renumbering. Returns `None` if the state
    /// does not show it.
    pub fn failure_fact(&mut self, condition: &ConjunctCondition) -> Option<usize> {
        match condition {
            ConjunctCondition::At(cell, location) => {
                let first = self.layout.first_location(self.program, *cell)?;
                self.fact(*cell, |_, value| value != Some(i64::from(location.0) + first))
            }
            ConjunctCondition::Compares(cell, ..) => {
                let arithmetic: Arithmetic = self.program.arithmetic;
                // An undefined value is an error, which is a transition.
                self.fact(*cell, |_, value| {
                    value.is_some_and(|value| !condition.holds_of(arithmetic, value))
                })
            }
            ConjunctCondition::Asks(channels, question) => {
                let [channel] = channels.as_slice() else { return None };
                // Whether the first message matches would require the message itself.
                let is_number = *question != ChannelPredicate::FirstMatches;
                is_number.then(|| self.about_channel(*channel, *question)).flatten()
            }
            ConjunctCondition::Holds => None,
        }
    }

    fn about_channel(&mut self, channel: ChannelSlot, question: ChannelPredicate) -> Option<usize> {
        let capacity = i64::from(self.program.channels[channel.id].capacity);
        let cell = self.layout.channels[channel.id].in_slot(channel.slot);
        self.fact(cell, |_, waiting| {
            let waiting = waiting.unwrap_or_default();
            match question {
                ChannelPredicate::HasRoom => waiting == capacity,
                // An empty channel has no matching message.
                ChannelPredicate::HasMessage | ChannelPredicate::SomeMatches => waiting == 0,
                ChannelPredicate::FirstMatches => false,
                ChannelPredicate::IsEmpty => waiting != 0,
                ChannelPredicate::IsFull => waiting != capacity,
            }
        })
    }

    /// Returns the number of a fact that holds in every state, if some cell can carry it.
    pub fn in_any_state(&mut self) -> Option<usize> {
        let cells = &self.layout.cells;
        let cell = cells.iter().find(|(_, it)| it.bits <= TABLE_BITS_MAX)?.0;
        self.fact(cell, |_, _| true)
    }

    /// Returns the number of the fact that a defined cell value satisfies `holds`.
    pub fn value_fact(&mut self, cell: CellId, holds: impl Fn(i64) -> bool) -> Option<usize> {
        self.fact(cell, |_, value| value.is_some_and(&holds))
    }

    fn fact(
        &mut self,
        cell: CellId,
        refuted: impl Fn(&ScalarCell, Option<i64>) -> bool,
    ) -> Option<usize> {
        let it = &self.layout.cells[cell];
        if it.bits > TABLE_BITS_MAX {
            return None;
        }
        let row: RefutedCodes = (0..1 << it.bits).map(|code| refuted(it, it.value(code))).collect();
        Some(self.number(vec![cell], row))
    }

    /// Returns the number of a fact about cells.
    fn number(&mut self, cells: Vec<CellId>, row: RefutedCodes) -> usize {
        let about = self.about.entry(cells).or_default();
        if let Some((_, number)) = about.iter().find(|(known, _)| *known == row) {
            return *number;
        }
        about.push((row, self.count));
        self.count += 1;
        self.count - 1
    }

    /// Builds the reader of all facts, and returns the final number of each.
    pub fn finish(self) -> (FactReader, Vec<usize>) {
        let (mut fields, mut numbers, mut next) = (Vec::new(), vec![0; self.count], 0);
        for (cells, about) in &self.about {
            for facts in about.chunks(FactField::facts_max(about[0].0.len())) {
                // The facts of one field share a word.
                if next % 64 + facts.len() > 64 {
                    next = next.next_multiple_of(64);
                }
                let numbered = facts.iter().enumerate();
                numbered.for_each(|(at, (_, number))| numbers[*number] = next + at);
                let rows: Vec<&RefutedCodes> = facts.iter().map(|it| &it.0).collect();
                fields.push(FactField::new(self.layout, cells, &rows, next));
                next += facts.len();
            }
        }
        (FactReader::new(fields, next, self.layout.bytes), numbers)
    }
}
