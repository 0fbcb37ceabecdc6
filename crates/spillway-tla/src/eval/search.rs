//! A breadth-first search in memory over evaluated states. It counts states as TLC does with one worker, and is the
//! oracle for every other search of TLA+.

use super::checks::{FailedCheck, GeneratedStates};
use super::evaluator::Evaluator;
use super::program::CompiledSpecification;
use super::symmetry::SymmetryGroup;
use crate::resolve::ids::DefinitionId;
use crate::standard::{Failure, Outcome, SearchStatistics, sets};
use crate::value::Value;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// What a search found.
#[derive(Debug)]
pub struct MemorySearch {
    /// The number of distinct states that satisfy the constraints.
    pub distinct: u64,
    /// The number of generated states, with duplicates: initial states and successors.
    pub generated: u64,
    /// The number of levels.
    pub depth: u32,
    /// How the search ended.
    pub ending: SearchEnding,
    /// The states from an initial state to the violation.
    pub trace: Vec<Vec<Value>>,
}

/// How a search ended.
#[derive(Debug)]
pub enum SearchEnding {
    /// Every state was visited.
    Complete,
    /// The limit of states was reached.
    LimitReached,
    /// An assumption is false: its index.
    Assumption(usize),
    /// A state or step fails a check.
    Violation(FailedCheck),
    /// A state has no successor.
    Deadlock,
    /// Every state was visited, and a postcondition is false: its index.
    Postcondition(usize),
    /// An evaluation failed.
    Failure(Box<Failure>),
}

/// What a search does.
#[derive(Clone, Copy, Debug)]
pub struct MemorySearchOptions {
    /// Whether a state without successor is a violation.
    pub checks_deadlock: bool,
    /// The greatest number of distinct states.
    pub states_max: u64,
}

/// The end of a search before its end.
enum SearchStop {
    Ending(SearchEnding),
    Failure(Box<Failure>),
}

impl From<Box<Failure>> for SearchStop {
    fn from(failure: Box<Failure>) -> Self {
        Self::Failure(failure)
    }
}

/// The state of a search.
struct Search<'p> {
    evaluator: Evaluator<'p>,
    options: MemorySearchOptions,
    width: usize,
    symmetry: Option<SymmetryGroup>,
    visited: VisitedStates,
    generated: u64,
    initial: u64,
    depth: u32,
    trace: Vec<Vec<Value>>,
}

/// The visited states in the order in which they were found.
#[derive(Default)]
struct VisitedStates {
    /// The keys of visited states, all of one length: the states themselves, representatives or views.
    keys: Vec<Value>,
    /// The entries of `keys`.
    table: HashTable<VisitedEntry>,
    /// The states, if they are not the keys.
    states: Vec<Value>,
    /// The index of the state from which each was found.
    parents: Vec<Option<u32>>,
}

/// An entry of the table of visited states.
struct VisitedEntry {
    hash: u64,
    index: u32,
}

impl VisitedStates {
    fn count(&self) -> usize {
        self.parents.len()
    }

    /// Adds a key. Returns whether it is new.
    fn insert(&mut self, key: &[Value]) -> bool {
        let hash = FxBuildHasher.hash_one(key);
        let key_at = |index: u32| &self.keys[index as usize * key.len()..][..key.len()];
        let entry =
            self.table.entry(hash, |it| it.hash == hash && key_at(it.index) == key, |it| it.hash);
        match entry {
            Entry::Occupied(_) => false,
            Entry::Vacant(entry) => {
                entry.insert(VisitedEntry { hash, index: self.parents.len() as u32 });
                self.keys.extend_from_slice(key);
                true
            }
        }
    }

    fn state(&self, index: u32, width: usize) -> &[Value] {
        let states = if self.states.is_empty() { &self.keys } else { &self.states };
        &states[index as usize * width..][..width]
    }
}

impl MemorySearch {
    /// Searches all states of a program.
    pub fn run(program: &CompiledSpecification, options: MemorySearchOptions) -> Self {
        let mut search = Search {
            evaluator: Evaluator::new(program),
            options,
            width: program.variable_count(),
            symmetry: None,
            visited: VisitedStates::default(),
            generated: 0,
            initial: 0,
            depth: 0,
            trace: Vec::new(),
        };
        let ending = match search.explore() {
            Ok(()) => SearchEnding::Complete,
            Err(SearchStop::Ending(ending)) => ending,
            Err(SearchStop::Failure(failure)) => SearchEnding::Failure(failure),
        };
        Self {
            distinct: search.visited.count() as u64,
            generated: search.generated,
            depth: search.depth,
            ending,
            trace: search.trace,
        }
    }
}

impl Search<'_> {
    fn explore(&mut self) -> Result<(), SearchStop> {
        if let Some(index) = self.evaluator.false_assumption()? {
            return Err(SearchStop::Ending(SearchEnding::Assumption(index)));
        }
        self.symmetry = SymmetryGroup::of(&mut self.evaluator)?;
        self.visit_initial()?;
        let mut successors = GeneratedStates::default();
        let mut open = 0..self.visited.count();
        while !open.is_empty() {
            self.depth += 1;
            for index in open.clone() {
                self.expand(index as u32, &mut successors)?;
            }
            open = open.end..self.visited.count();
        }
        self.check_postconditions()
    }

    fn visit_initial(&mut self) -> Result<(), SearchStop> {
        self.evaluator.set_level(1);
        let initial = self.evaluator.initial_states()?;
        self.initial = (initial.values.len() / self.width.max(1)) as u64;
        for state in initial.values.chunks(self.width) {
            self.generated += 1;
            self.evaluator.set_state(state);
            let is_new = !self.evaluator.is_in_model()? || self.insert(state, None)?;
            if !is_new {
                continue;
            }
            let failed = match self.evaluator.violated_invariant()? {
                Some(failed) => Some(failed),
                None => self.evaluator.violated_initial_property()?,
            };
            if let Some(failed) = failed {
                self.trace = vec![state.to_vec()];
                return Err(SearchStop::Ending(SearchEnding::Violation(failed)));
            }
        }
        Ok(())
    }

    fn check_postconditions(&mut self) -> Result<(), SearchStop> {
        let statistics = SearchStatistics {
            distinct: self.visited.count() as u64,
            generated: self.generated,
            initial: self.initial,
            diameter: u64::from(self.depth),
        };
        let program = self.evaluator.program();
        for (index, it) in program.specification.checks.postconditions.iter().enumerate() {
            if !self.evaluator.satisfies_postcondition(*it, statistics)? {
                return Err(SearchStop::Ending(SearchEnding::Postcondition(index)));
            }
        }
        Ok(())
    }

    fn expand(&mut self, index: u32, successors: &mut GeneratedStates) -> Result<(), SearchStop> {
        self.evaluator.set_level(self.depth);
        let result = self.evaluator.successors(self.visited.state(index, self.width), successors);
        self.generated += successors.actions.len() as u64;
        if result.is_ok() && successors.actions.is_empty() && self.options.checks_deadlock {
            self.trace = self.path(index);
            return Err(SearchStop::Ending(SearchEnding::Deadlock));
        }
        for successor in successors.values.chunks(self.width) {
            let stop = self.visit(index, successor);
            if let Err(stop) = stop {
                if self.trace.is_empty() {
                    self.trace = self.path(index);
                    self.trace.push(successor.to_vec());
                }
                return Err(stop);
            }
        }
        // TLC adds each successor when it generates it, so those before a failure count.
        result.map_err(|failure| {
            self.trace = self.path(index);
            failure.into()
        })
    }

    /// Checks a successor, and adds it to the visited states if it is new.
    fn visit(&mut self, parent: u32, successor: &[Value]) -> Result<(), SearchStop> {
        self.evaluator.set_level(self.depth + 1);
        let before = self.visited.state(parent, self.width);
        let is_in_model = self.evaluator.leads_into_model(before, successor)?;
        let is_new = !is_in_model || self.insert(successor, Some(parent))?;
        let mut failed = None;
        if is_new {
            self.evaluator.set_state(successor);
            failed = self.evaluator.violated_invariant()?;
        }
        if failed.is_none() {
            let before = self.visited.state(parent, self.width);
            failed = self.evaluator.violated_by_step(before, successor)?;
        }
        match failed {
            Some(failed) => Err(SearchStop::Ending(SearchEnding::Violation(failed))),
            None => Ok(()),
        }
    }

    /// Adds a state if its key is new. The state of the evaluator is changed if there is a view.
    fn insert(&mut self, state: &[Value], parent: Option<u32>) -> Result<bool, SearchStop> {
        let view = self.evaluator.program().specification.checks.view;
        let is_new = match (&self.symmetry, view) {
            (None, None) => self.visited.insert(state),
            _ => {
                let key = self.key(state, view)?;
                let is_new = self.visited.insert(&key);
                if is_new {
                    self.visited.states.extend_from_slice(state);
                }
                is_new
            }
        };
        if is_new {
            self.visited.parents.push(parent);
            if self.visited.count() as u64 > self.options.states_max {
                return Err(SearchStop::Ending(SearchEnding::LimitReached));
            }
        }
        Ok(is_new)
    }

    /// Returns what identifies a state: the view of its representative.
    fn key(&mut self, state: &[Value], view: Option<DefinitionId>) -> Outcome<Vec<Value>> {
        let representative = match &self.symmetry {
            Some(group) => group.representative(state)?,
            None => state.to_vec(),
        };
        let Some(view) = view else { return Ok(representative) };
        self.evaluator.set_state(&representative);
        let value = self.evaluator.evaluate(view)?;
        Ok(vec![sets::stored(&mut self.evaluator, value)?])
    }

    /// Returns the states from an initial state to a state.
    fn path(&self, index: u32) -> Vec<Vec<Value>> {
        let mut path = Vec::new();
        let mut open = Some(index);
        while let Some(at) = open {
            path.push(self.visited.state(at, self.width).to_vec());
            open = self.visited.parents[at as usize];
        }
        path.reverse();
        path
    }
}
