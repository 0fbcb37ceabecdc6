//! A breadth-first search in memory over encoded states.
//!
//! It visits the keys of [cells](crate::cells) instead of values, as the search on disk does, and has the counts of
//! [`MemorySearch`](crate::eval::MemorySearch). Successors whose encoding needs new dictionary values are set aside until
//! the end of the level.

mod sample;

pub use sample::{SampleSize, sample_states};

use crate::cells::{
    CellLayout, CellNumberingError, Dictionaries, DictionaryEntries, EncodedState, InvalidKey,
};
use crate::eval::{CompiledSpecification, Evaluator, FailedCheck, GeneratedStates, SymmetryGroup};
use crate::standard::{Failure, Outcome, sets};
use crate::value::Value;
use rustc_hash::FxHashSet;

/// How states are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellEncoding {
    /// By cells whose shapes come from a sample.
    Cells(SampleSize),
    /// Every value escapes.
    Escapes,
    /// Every variable is the number of its value.
    Numbers,
}

/// What a search found.
#[derive(Debug)]
pub struct CellSearch {
    /// The number of distinct keys.
    pub distinct: u64,
    /// The number of generated states, with duplicates.
    pub generated: u64,
    /// The number of levels.
    pub depth: u32,
    /// How the search ended.
    pub ending: CellSearchEnding,
    /// What the encoding needed.
    pub encoding: EncodingFigures,
}

/// How a search ended.
#[derive(Debug)]
pub enum CellSearchEnding {
    /// Every state was visited.
    Complete,
    /// A state or step fails a check.
    Violation(FailedCheck),
    /// A state has no successor.
    Deadlock,
    /// An evaluation failed.
    Failure(Box<Failure>),
    /// The encoding failed.
    Encoding(EncodingFailure),
}

/// The encoding failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodingFailure {
    /// A dictionary is full.
    #[error(transparent)]
    Numbering(#[from] CellNumberingError),
    /// A key that was encoded is no key.
    #[error(transparent)]
    Decoding(#[from] InvalidKey),
}

/// What the encoding of a search needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EncodingFigures {
    /// The bytes of a key.
    pub width: usize,
    /// The bits in which the keys differ.
    pub varying_bits: u32,
    /// The generated states that were set aside.
    pub set_aside: u64,
    /// The values of all dictionaries.
    pub dictionary_values: usize,
    /// The values that do not fit their shapes.
    pub escaped_values: usize,
    /// The bytes of the dictionary entries.
    pub dictionary_bytes: usize,
    /// The bytes of memory of the dictionaries.
    pub dictionary_memory: u64,
}

/// The end of a search before all states are visited.
enum SearchStop {
    Violation(FailedCheck),
    Deadlock,
    Failure(Box<Failure>),
    Encoding(EncodingFailure),
}

impl From<Box<Failure>> for SearchStop {
    fn from(failure: Box<Failure>) -> Self {
        Self::Failure(failure)
    }
}

impl<E: Into<EncodingFailure>> From<E> for SearchStop {
    fn from(failure: E) -> Self {
        Self::Encoding(failure.into())
    }
}

/// The state of a search.
struct Search<'p> {
    evaluator: Evaluator<'p>,
    checks_deadlock: bool,
    symmetry: Option<SymmetryGroup>,
    /// Encodes states.
    states: KeySpace,
    /// Encodes views, if the configuration has one.
    views: Option<KeySpace>,
    /// The keys of visited states: of representatives or views if there are any.
    visited: FxHashSet<Box<[u8]>>,
    next_level: Vec<Box<[u8]>>,
    /// The states of the next level that have no key yet.
    set_aside: FxHashSet<Vec<Value>>,
    generated: u64,
    depth: u32,
    set_aside_count: u64,
}

/// A layout with its dictionaries.
struct KeySpace {
    layout: CellLayout,
    dictionaries: Dictionaries,
    entries: Vec<DictionaryEntries>,
}

impl KeySpace {
    fn new(layout: CellLayout) -> Self {
        Self { dictionaries: layout.dictionaries(), layout, entries: Vec::new() }
    }

    fn number(
        &mut self,
        states: &[Vec<Value>],
        program: &CompiledSpecification,
    ) -> Result<(), CellNumberingError> {
        let entries = self.layout.number(states, &program.symbols, &mut self.dictionaries)?;
        self.entries.push(entries);
        Ok(())
    }
}

impl CellSearch {
    /// Searches all states of a program.
    pub fn run(
        program: &CompiledSpecification,
        encoding: CellEncoding,
        checks_deadlock: bool,
    ) -> Self {
        let mut search = Search::new(program, encoding, checks_deadlock);
        let ending = match search.explore() {
            Ok(()) => CellSearchEnding::Complete,
            Err(SearchStop::Violation(failed)) => CellSearchEnding::Violation(failed),
            Err(SearchStop::Deadlock) => CellSearchEnding::Deadlock,
            Err(SearchStop::Failure(failure)) => CellSearchEnding::Failure(failure),
            Err(SearchStop::Encoding(failure)) => CellSearchEnding::Encoding(failure),
        };
        Self {
            distinct: search.visited.len() as u64,
            generated: search.generated,
            depth: search.depth,
            ending,
            encoding: search.figures(),
        }
    }
}

impl<'p> Search<'p> {
    fn new(
        program: &'p CompiledSpecification,
        encoding: CellEncoding,
        checks_deadlock: bool,
    ) -> Self {
        let variables = program.variable_count();
        let layout = match encoding {
            CellEncoding::Cells(size) => {
                CellLayout::from_sample(variables, &sample_states(program, size))
            }
            CellEncoding::Escapes => CellLayout::escaping(variables),
            CellEncoding::Numbers => CellLayout::numbering(variables),
        };
        let view = program.specification.checks.view;
        Self {
            evaluator: Evaluator::new(program),
            checks_deadlock,
            symmetry: None,
            states: KeySpace::new(layout),
            views: view.map(|_| KeySpace::new(CellLayout::numbering(1))),
            visited: FxHashSet::default(),
            next_level: Vec::new(),
            set_aside: FxHashSet::default(),
            generated: 0,
            depth: 0,
            set_aside_count: 0,
        }
    }

    fn figures(&self) -> EncodingFigures {
        let KeySpace { layout, dictionaries, entries } = &self.states;
        let mut varying = vec![0; layout.width()];
        if self.views.is_none()
            && let Some(first) = self.visited.iter().next()
        {
            for key in &self.visited {
                let differing = first.iter().zip(key).map(|(one, two)| one ^ two);
                varying.iter_mut().zip(differing).for_each(|(it, bits)| *it |= bits);
            }
        }
        let escaped = |it: usize| dictionaries.get(layout.escapes(it)).len();
        let blocks = entries.iter().flat_map(|it| it.blocks());
        EncodingFigures {
            width: layout.width(),
            varying_bits: varying.iter().map(|it: &u8| it.count_ones()).sum(),
            set_aside: self.set_aside_count,
            dictionary_values: dictionaries.values(),
            escaped_values: (0..self.evaluator.program().variable_count()).map(escaped).sum(),
            dictionary_bytes: blocks.map(<[u8]>::len).sum(),
            dictionary_memory: dictionaries.memory(),
        }
    }

    fn explore(&mut self) -> Result<(), SearchStop> {
        self.symmetry = SymmetryGroup::of(&mut self.evaluator)?;
        self.visit_initial()?;
        let mut successors = GeneratedStates::default();
        while !self.next_level.is_empty() {
            self.depth += 1;
            for key in std::mem::take(&mut self.next_level) {
                self.expand(&key, &mut successors)?;
            }
            self.number_set_aside()?;
        }
        Ok(())
    }

    fn visit_initial(&mut self) -> Result<(), SearchStop> {
        self.evaluator.set_level(1);
        let initial = self.evaluator.initial_states()?;
        for state in initial.values.chunks(self.evaluator.program().variable_count()) {
            self.generated += 1;
            self.evaluator.set_state(state);
            let violated = self.evaluator.violated_initial_property()?;
            if let Some(failed) = violated {
                return Err(SearchStop::Violation(failed));
            }
            let is_in_model = self.evaluator.is_in_model()?;
            self.visit(state, is_in_model, None)?;
        }
        self.number_set_aside()
    }

    fn expand(&mut self, key: &[u8], successors: &mut GeneratedStates) -> Result<(), SearchStop> {
        let state = self.states.layout.decode(key, &self.states.dictionaries)?;
        self.evaluator.set_level(self.depth);
        let result = self.evaluator.successors(&state, successors);
        self.generated += successors.actions.len() as u64;
        result?;
        if successors.actions.is_empty() && self.checks_deadlock {
            return Err(SearchStop::Deadlock);
        }
        let before = EncodedState { values: &state, key };
        let width = state.len();
        for successor in successors.values.chunks(width) {
            self.evaluator.set_level(self.depth + 1);
            let is_in_model = self.evaluator.leads_into_model(&state, successor)?;
            self.visit(successor, is_in_model, Some(before))?;
            if let Some(failed) = self.evaluator.violated_by_step(&state, successor)? {
                return Err(SearchStop::Violation(failed));
            }
        }
        Ok(())
    }

    /// Visits a state. A state outside of the model is only checked.
    fn visit(
        &mut self,
        state: &[Value],
        is_in_model: bool,
        before: Option<EncodedState<'_>>,
    ) -> Result<(), SearchStop> {
        if !is_in_model {
            return self.check(state);
        }
        let KeySpace { layout, dictionaries, .. } = &self.states;
        let mut key = vec![0; layout.width()].into_boxed_slice();
        let encoded = match before {
            Some(before) => layout.encode_successor(state, before, dictionaries, &mut key),
            None => layout.encode(state, dictionaries, &mut key),
        };
        let is_plain = self.symmetry.is_none() && self.views.is_none();
        match encoded {
            Ok(()) if is_plain => {
                if !self.visited.contains(&key) {
                    self.visited.insert(key.clone());
                    self.next_level.push(key);
                    self.check(state)?;
                }
                Ok(())
            }
            Ok(()) if self.insert_reduced(state)? => {
                self.next_level.push(key);
                self.check(state)
            }
            Ok(()) => Ok(()),
            Err(_) => {
                self.set_aside_count += 1;
                if !self.set_aside.contains(state) {
                    self.set_aside.insert(state.to_vec());
                }
                Ok(())
            }
        }
    }

    /// Adds the representative or the view of a state to the visited keys. Returns whether it is new.
    fn insert_reduced(&mut self, state: &[Value]) -> Result<bool, SearchStop> {
        let mut values = match &self.symmetry {
            Some(group) => group.representative(state)?,
            None => state.to_vec(),
        };
        let program = self.evaluator.program();
        if let Some(view) = program.specification.checks.view {
            values = vec![self.view(&values, view)?];
        }
        let space = self.views.as_mut().unwrap_or(&mut self.states);
        let mut key = vec![0; space.layout.width()];
        if space.layout.encode(&values, &space.dictionaries, &mut key).is_err() {
            let values = [values];
            space.number(&values, program)?;
            let encoded = space.layout.encode(&values[0], &space.dictionaries, &mut key);
            encoded.expect("every value has its number");
        }
        Ok(self.visited.insert(key.into()))
    }

    fn view(&mut self, state: &[Value], view: crate::resolve::ids::DefinitionId) -> Outcome<Value> {
        self.evaluator.set_state(state);
        let value = self.evaluator.evaluate(view)?;
        sets::stored(&mut self.evaluator, value)
    }

    fn check(&mut self, state: &[Value]) -> Result<(), SearchStop> {
        self.evaluator.set_state(state);
        let violated = self.evaluator.violated_invariant()?;
        violated.map_or(Ok(()), |it| Err(SearchStop::Violation(it)))
    }

    /// Gives numbers to the values of the states that were set aside, and visits these states.
    fn number_set_aside(&mut self) -> Result<(), SearchStop> {
        let states: Vec<_> = std::mem::take(&mut self.set_aside).into_iter().collect();
        if states.is_empty() {
            return Ok(());
        }
        self.states.number(&states, self.evaluator.program())?;
        let before = self.set_aside_count;
        for state in &states {
            self.visit(state, true, None)?;
        }
        debug_assert_eq!(self.set_aside_count, before, "every value has its number");
        Ok(())
    }
}
