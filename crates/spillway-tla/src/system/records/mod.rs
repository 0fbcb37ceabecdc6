//! Records: outcomes of units that are known without evaluation.
//!
//! A [unit](crate::eval::UnitTable) of the next-state action reads few cells of a state, and changes few. The record of its
//! evaluation says which fields of the key it read, and by which changes of the key its successors are made. In every state
//! whose key has the same fields, the unit has the same outcome. Then its successors are made from the key alone. A unit of
//! a condition has records, too.
//!
//! Records hold for states without escaping variables. A record that depends on which values are elements of sets has a
//! date: it holds until a dictionary of elements grows. Failures are not recorded, nor what depends on anything but the
//! variables.
//!
//! A unit that seldom finds a record pauses: it is evaluated as if there were none. Each thread has its own records.

mod changes;
mod tree;

use crate::cells::CellLayout;
use crate::eval::{
    CheckedCondition, ElementCandidates, Evaluator, JudgedUnit, NoUnits, ObservedAccesses,
    SteppedUnit, UnitTable, VariableCandidates, WantedUnit,
};
use crate::standard::Outcome;
pub(super) use changes::RecordContext;
use changes::{ReadTranslation, WordChange};
use std::sync::Arc;
use tree::{DatedOutcome, DecisionTrees, TreeRoot, word_masks};

/// The most bytes of the records of a thread.
const RECORD_BYTES_MAX: usize = 2 << 20;

/// The bytes of a word.
const WORD_BYTES: usize = size_of::<u64>();

impl RecordContext<'_> {
    fn candidates(self) -> ElementCandidates {
        let of_variable = |variable: usize| {
            let (depth, values) = self.layout.element_candidates(variable, self.dictionaries)?;
            Some(VariableCandidates { depth, values: values.to_vec() })
        };
        let variables = 0..self.layout.cell_bits().count();
        ElementCandidates { variables: variables.map(of_variable).collect() }
    }
}

/// How often a unit finds a record, and whether it pauses.
#[derive(Clone, Copy, Debug, Default)]
struct RecordUse {
    tries: u32,
    found: u32,
    pause: u32,
    pauses: u32,
}

impl RecordUse {
    /// The number of tries after which their success is judged.
    const TRIES: u32 = 256;

    /// Returns whether the unit pauses this time.
    fn pauses(&mut self) -> bool {
        let pauses = self.pause > 0;
        self.pause -= u32::from(pauses);
        pauses
    }

    fn count(&mut self, is_found: bool) {
        self.tries += 1;
        self.found += u32::from(is_found);
        if self.tries < Self::TRIES {
            return;
        }
        let is_worth_while = self.found >= Self::TRIES / 2;
        self.pauses = if is_worth_while { 0 } else { (self.pauses + 1).min(16) };
        self.pause = if is_worth_while { 0 } else { Self::TRIES << self.pauses };
        (self.tries, self.found) = (0, 0);
    }
}

/// The records of a unit.
#[derive(Debug)]
struct UnitRecords {
    root: TreeRoot,
    uses: RecordUse,
}

/// The units of an action or of conditions, and their records.
#[derive(Debug, Default)]
struct RecordedUnits {
    table: UnitTable,
    units: Vec<UnitRecords>,
    /// The units whose outcome is not known in the present state.
    missed: Vec<WantedUnit>,
    /// Whether they cannot be evaluated one by one.
    is_given_up: bool,
}

impl RecordedUnits {
    /// Returns whether the units are known.
    fn are_known(&self) -> bool {
        self.table.units().is_some()
    }

    /// Starts trees for units that a walk has found.
    fn start(&mut self, trees: &mut DecisionTrees) {
        let count = self.table.units().unwrap_or(0) as usize;
        let missing = count.saturating_sub(self.units.len());
        self.units.extend(
            (0..missing).map(|_| UnitRecords { root: trees.start(), uses: RecordUse::default() }),
        );
    }

    /// Looks up the outcome of each unit in turn, until `visit` returns false, and collects the units that are missed.
    fn look_up(
        &mut self,
        trees: &DecisionTrees,
        words: &[u64],
        date: u32,
        mut visit: impl FnMut(Option<u32>) -> bool,
    ) {
        self.missed.clear();
        for (number, unit) in (0..).zip(&mut self.units) {
            if unit.uses.pauses() {
                self.missed.push(WantedUnit { number, is_observed: false });
                if !visit(None) {
                    return;
                }
                continue;
            }
            let outcome = trees.find(unit.root, words, date);
            unit.uses.count(outcome.is_some());
            if outcome.is_none() {
                self.missed.push(WantedUnit { number, is_observed: true });
            }
            if !visit(outcome) {
                return;
            }
        }
    }
}

/// A successor in a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordedSuccessor {
    /// The definition that is its action.
    pub action: u32,
    /// Its changes among all changes.
    first_change: u32,
    changes: u32,
}

/// The successors of a unit in a record.
#[derive(Clone, Copy, Debug)]
struct RecordedStep {
    first: u32,
    successors: u32,
}

/// The outcome without successors.
const NO_SUCCESSORS: u32 = 0;

/// What is known of conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KnownVerdict {
    /// All hold.
    Holds,
    /// One does not hold, and those before hold.
    Violated,
    /// Those that are known hold, and others must be evaluated.
    Missed,
    /// Nothing is known of all of them.
    Unknown,
}

/// Groups of conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConditionGroup {
    /// The conditions that a state must satisfy.
    Invariants,
    /// The constraints on states.
    Constraints,
    /// The constraints on steps, and the step properties.
    Steps,
}

/// The conditions of a system by group.
#[derive(Debug, Default)]
pub(super) struct GroupedConditions {
    /// The conditions that a state must satisfy. Nothing if there are others.
    pub invariants: Option<Vec<CheckedCondition>>,
    /// The constraints on states.
    pub constraints: Vec<CheckedCondition>,
    /// The constraints on steps, and the step properties.
    pub steps: Vec<CheckedCondition>,
}

impl GroupedConditions {
    fn of(&self, group: ConditionGroup) -> Option<&[CheckedCondition]> {
        match group {
            ConditionGroup::Invariants => self.invariants.as_deref(),
            ConditionGroup::Constraints => Some(&self.constraints),
            ConditionGroup::Steps => Some(&self.steps),
        }
    }

    /// Returns whether a step has to be judged.
    pub fn judge_steps(&self) -> bool {
        !self.constraints.is_empty() || !self.steps.is_empty()
    }
}

/// The records of a thread, and the keys to which they are applied.
pub(super) struct StateRecords {
    trees: DecisionTrees,
    action: RecordedUnits,
    groups: [RecordedUnits; 3],
    steps: Vec<RecordedStep>,
    successors: Vec<RecordedSuccessor>,
    changes: Vec<WordChange>,
    /// The bits of escape cells, by word.
    escapes: Vec<u64>,
    /// The words of the key of the state, and those of the key of a successor.
    words: Vec<u64>,
    date: u32,
    candidates: Arc<ElementCandidates>,
    /// The outcomes of the units of the next-state action in the present state, as far as they are known.
    outcomes: Vec<Option<u32>>,
}

impl StateRecords {
    /// Starts without records.
    pub(super) fn new(layout: &CellLayout, variables: usize) -> Self {
        let words = layout.width() / WORD_BYTES;
        let mut escapes = vec![0; words];
        for variable in 0..variables {
            for (word, bits) in word_masks(layout.escape_range(variable)) {
                escapes[word] |= bits;
            }
        }
        Self {
            trees: DecisionTrees::default(),
            action: RecordedUnits::default(),
            groups: Default::default(),
            steps: vec![RecordedStep { first: 0, successors: 0 }],
            successors: Vec::new(),
            changes: Vec::new(),
            escapes,
            words: vec![0; 2 * words],
            date: 0,
            candidates: Arc::default(),
            outcomes: Vec::new(),
        }
    }

    /// Sets the date: the elements of sets that have bits. Returns the values that can be elements of variables.
    pub(super) fn set_date(&mut self, context: RecordContext<'_>) -> Arc<ElementCandidates> {
        let date = context.dictionaries.elements() as u32;
        if date != self.date || self.candidates.variables.is_empty() {
            self.date = date;
            self.candidates = Arc::new(context.candidates());
        }
        Arc::clone(&self.candidates)
    }

    /// Sets the key of the state. Returns whether records can hold for it.
    pub(super) fn set_state(&mut self, key: &[u8]) -> bool {
        self.make_room();
        let half = self.words.len() / 2;
        read_words(key, &mut self.words[..half]);
        self.fits(0)
    }

    /// Returns whether no variable escapes in a key.
    fn fits(&self, first_word: usize) -> bool {
        let words = &self.words[first_word..];
        self.escapes.iter().zip(words).all(|(escapes, word)| escapes & word == 0)
    }

    /// Forgets all records if they are too many.
    fn make_room(&mut self) {
        let successors = self.successors.len() * size_of::<RecordedSuccessor>();
        let changes = self.changes.len() * size_of::<WordChange>();
        let steps = self.steps.len() * size_of::<RecordedStep>();
        if self.trees.memory() + successors + changes + steps <= RECORD_BYTES_MAX {
            return;
        }
        self.trees = DecisionTrees::default();
        self.steps.truncate(1);
        self.successors.clear();
        self.changes.clear();
        for units in std::iter::once(&mut self.action).chain(&mut self.groups) {
            units.units.iter_mut().for_each(|it| it.root = self.trees.start());
        }
    }

    /// Looks up the outcomes of the units of the next-state action. Returns false if it has none.
    pub(super) fn look_up_steps(&mut self) -> bool {
        let Self { trees, action, words, outcomes, date, .. } = self;
        outcomes.clear();
        action.look_up(trees, words, *date, |outcome| {
            outcomes.push(outcome);
            true
        });
        !action.is_given_up
    }

    /// Returns whether a unit of the next-state action has to be evaluated.
    pub(super) fn misses_steps(&self) -> bool {
        !self.action.are_known() || !self.action.missed.is_empty()
    }

    /// Evaluates the units of the next-state action that were missed, or all of them if they are not known yet. Returns
    /// nothing if the evaluation fails, or units cannot be evaluated one by one.
    pub(super) fn step_missed(
        &mut self,
        evaluate: impl FnOnce(
            &mut UnitTable,
            &[WantedUnit],
        ) -> Outcome<Result<Vec<SteppedUnit>, NoUnits>>,
    ) -> Option<Vec<SteppedUnit>> {
        let RecordedUnits { table, missed, .. } = &mut self.action;
        let stepped = evaluate(table, missed).ok()?;
        self.action.is_given_up |= stepped.is_err();
        self.action.start(&mut self.trees);
        stepped.ok()
    }

    /// Returns the number of units of the next-state action.
    pub(super) fn units(&self) -> u32 {
        self.action.units.len() as u32
    }

    /// Returns the outcome of a unit of the next-state action, if it is known.
    pub(super) fn outcome(&self, number: u32) -> Option<u32> {
        self.outcomes.get(number as usize).copied().flatten()
    }

    /// Returns the successors of an outcome.
    pub(super) fn successors(&self, outcome: u32) -> std::ops::Range<usize> {
        let RecordedStep { first, successors } = self.steps[outcome as usize];
        first as usize..(first + successors) as usize
    }

    /// Makes the key of a successor. Returns its action.
    pub(super) fn make_successor(&mut self, successor: usize, key: &mut [u8]) -> u32 {
        let RecordedSuccessor { action, first_change, changes } = self.successors[successor];
        let (state, made) = self.words.split_at_mut(self.escapes.len());
        made.copy_from_slice(state);
        let changes = first_change as usize..(first_change + changes) as usize;
        for WordChange { word, keep, set } in &self.changes[changes] {
            let word = &mut made[*word as usize];
            *word = *word & keep | set;
        }
        for (bytes, word) in key.chunks_exact_mut(WORD_BYTES).zip(made) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
        action
    }

    /// Sets the key of a successor that was evaluated.
    pub(super) fn set_successor(&mut self, key: &[u8]) {
        let half = self.escapes.len();
        read_words(key, &mut self.words[half..]);
    }

    /// Records the successors of a unit in the present state. `keys` has their keys one after the other.
    pub(super) fn record_step(
        &mut self,
        number: u32,
        successors: ObservedSuccessors<'_>,
        context: RecordContext<'_>,
    ) -> Option<()> {
        let ObservedSuccessors { observed, actions, keys } = successors;
        let mut translation = ReadTranslation::of_reads(&observed, context)?;
        let half = self.escapes.len();
        let writes = observed.writes.len() / actions.len().max(1);
        let mut all = Vec::new();
        for (index, key) in keys.chunks_exact(context.layout.width()).enumerate() {
            read_words(key, &mut self.words[half..]);
            if !self.fits(half) {
                return None;
            }
            let (state, successor) = self.words.split_at(half);
            let writes = &observed.writes[index * writes..][..writes];
            all.push(translation.changes(writes, state, successor)?);
        }
        let outcome = self.add_step(actions, &all);
        let outcome = DatedOutcome { outcome, date: translation.is_dated.then_some(self.date) };
        let root = self.action.units[number as usize].root;
        self.trees.add(root, &translation.path, &self.words, outcome);
        Some(())
    }

    fn add_step(&mut self, actions: &[u32], all: &[Vec<WordChange>]) -> u32 {
        if actions.is_empty() {
            return NO_SUCCESSORS;
        }
        let first = self.successors.len() as u32;
        for (action, changes) in actions.iter().zip(all) {
            self.successors.push(RecordedSuccessor {
                action: *action,
                first_change: self.changes.len() as u32,
                changes: changes.len() as u32,
            });
            self.changes.extend_from_slice(changes);
        }
        self.steps.push(RecordedStep { first, successors: actions.len() as u32 });
        self.steps.len() as u32 - 1
    }

    /// Looks up a group of conditions in the state, or in the successor that was made last.
    pub(super) fn look_up_conditions(
        &mut self,
        group: ConditionGroup,
        conditions: &GroupedConditions,
        is_successor: bool,
    ) -> KnownVerdict {
        match conditions.of(group) {
            None => return KnownVerdict::Unknown,
            Some([]) => return KnownVerdict::Holds,
            Some(_) if is_successor && !self.fits(self.escapes.len()) => {
                return KnownVerdict::Unknown;
            }
            Some(_) => {}
        }
        let Self { trees, groups, words, date, escapes, .. } = self;
        let units = &mut groups[group as usize];
        let words = match (group, is_successor) {
            (ConditionGroup::Steps, _) => &words[..],
            (_, true) => &words[escapes.len()..],
            (_, false) => &words[..escapes.len()],
        };
        let (mut is_missed, mut is_violated) = (!units.are_known(), false);
        units.look_up(trees, words, *date, |outcome| {
            is_missed |= outcome.is_none();
            is_violated |= outcome == Some(0);
            !is_violated
        });
        match (is_violated, is_missed) {
            (true, false) => KnownVerdict::Violated,
            (true, true) => KnownVerdict::Unknown,
            (false, true) => KnownVerdict::Missed,
            (false, false) => KnownVerdict::Holds,
        }
    }

    /// Evaluates the units of a group of conditions that were missed, and records their outcomes. The evaluator has the
    /// state to which they are applied. Returns whether all are known to hold.
    pub(super) fn judge_missed(
        &mut self,
        group: ConditionGroup,
        conditions: &GroupedConditions,
        evaluator: &mut Evaluator<'_>,
        subject: ConditionSubject<'_>,
    ) -> bool {
        let Some(conditions) = conditions.of(group) else { return false };
        let units = &mut self.groups[group as usize];
        if units.is_given_up {
            return false;
        }
        let judged = evaluator.judge_units(conditions, &mut units.table, &units.missed);
        units.start(&mut self.trees);
        let judged = match judged {
            Ok(Ok(judged)) => judged,
            Ok(Err(NoUnits)) => {
                units.is_given_up = true;
                return false;
            }
            Err(_) => return false,
        };
        let holds = judged.iter().all(|it| it.holds);
        for it in judged {
            self.record_condition(group, it, subject);
        }
        holds
    }

    fn record_condition(
        &mut self,
        group: ConditionGroup,
        unit: JudgedUnit,
        subject: ConditionSubject<'_>,
    ) -> Option<()> {
        let ConditionSubject { context, is_successor } = subject;
        let translation = ReadTranslation::of_reads(&unit.observed?, context)?;
        let date = translation.is_dated.then_some(self.date);
        let outcome = DatedOutcome { outcome: u32::from(unit.holds), date };
        let root = self.groups[group as usize].units[unit.number as usize].root;
        let words = match is_successor && group != ConditionGroup::Steps {
            true => &self.words[self.escapes.len()..],
            false => &self.words[..],
        };
        self.trees.add(root, &translation.path, words, outcome);
        Some(())
    }
}

/// The state to which conditions are applied.
#[derive(Clone, Copy)]
pub(super) struct ConditionSubject<'c> {
    /// The layout and the dictionaries.
    pub context: RecordContext<'c>,
    /// Whether it is the successor that was made last.
    pub is_successor: bool,
}

/// The successors of a unit that was observed.
pub(super) struct ObservedSuccessors<'o> {
    /// What was observed.
    pub observed: ObservedAccesses,
    /// The action of each successor.
    pub actions: &'o [u32],
    /// The keys of the successors, one after the other.
    pub keys: &'o [u8],
}

/// Reads the words of a key.
fn read_words(key: &[u8], words: &mut [u64]) {
    for (word, bytes) in words.iter_mut().zip(key.chunks_exact(WORD_BYTES)) {
        *word = u64::from_be_bytes(bytes.try_into().expect("a word"));
    }
}
