//! A breadth-first search in memory over evaluated states. It counts states as TLC does with one worker, and is the
//! oracle for every other search of TLA+.

use super::checks::{FailedCheck, GeneratedStates};
use super::evaluator::Evaluator;
use super::program::Program;
use super::symmetry::SymmetryGroup;
use crate::standard::{Failure, Outcome};
use crate::value::Value;
use rustc_hash::FxHashSet;

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
enum Stop {
    Ending(SearchEnding),
    Failure(Box<Failure>),
}

impl From<Box<Failure>> for Stop {
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
    /// The keys of visited states: the states themselves, representatives or views.
    keys: FxHashSet<Box<[Value]>>,
    /// The visited states, if they are not the keys, or else what a level holds.
    level: Vec<Node>,
    next_level: Vec<Node>,
    /// The states of all levels, for traces.
    parents: Vec<Parent>,
    generated: u64,
    depth: u32,
    trace: Vec<Vec<Value>>,
}

/// A state of a level.
#[derive(Clone)]
struct Node {
    state: Box<[Value]>,
    index: u32,
}

/// How a state was reached.
struct Parent {
    state: Box<[Value]>,
    parent: Option<u32>,
}

impl MemorySearch {
    /// Searches all states of a program.
    pub fn run(program: &Program, options: MemorySearchOptions) -> Self {
        let mut search = Search {
            evaluator: Evaluator::new(program),
            options,
            width: program.variable_count(),
            symmetry: None,
            keys: FxHashSet::default(),
            level: Vec::new(),
            next_level: Vec::new(),
            parents: Vec::new(),
            generated: 0,
            depth: 0,
            trace: Vec::new(),
        };
        let ending = match search.explore() {
            Ok(()) => SearchEnding::Complete,
            Err(Stop::Ending(ending)) => ending,
            Err(Stop::Failure(failure)) => SearchEnding::Failure(failure),
        };
        Self {
            distinct: search.keys.len() as u64,
            generated: search.generated,
            depth: search.depth,
            ending,
            trace: search.trace,
        }
    }
}

impl Search<'_> {
    fn explore(&mut self) -> Result<(), Stop> {
        let assumptions = &self.evaluator.program().specification.checks.assumptions;
        for (index, assumption) in assumptions.iter().enumerate() {
            if !self.evaluator.holds(*assumption)? {
                return Err(Stop::Ending(SearchEnding::Assumption(index)));
            }
        }
        self.symmetry = SymmetryGroup::of(&mut self.evaluator)?;
        self.visit_initial()?;
        let mut successors = GeneratedStates::default();
        while !self.next_level.is_empty() {
            self.depth += 1;
            self.level = std::mem::take(&mut self.next_level);
            for at in 0..self.level.len() {
                let node = self.level[at].clone();
                self.expand(&node, &mut successors)?;
            }
        }
        Ok(())
    }

    fn visit_initial(&mut self) -> Result<(), Stop> {
        self.evaluator.set_level(1);
        let initial = self.evaluator.initial_states()?;
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
                return Err(Stop::Ending(SearchEnding::Violation(failed)));
            }
        }
        Ok(())
    }

    fn expand(&mut self, node: &Node, successors: &mut GeneratedStates) -> Result<(), Stop> {
        self.evaluator.set_level(self.depth);
        let result = self.evaluator.successors(&node.state, successors);
        self.generated += successors.actions.len() as u64;
        if let Err(failure) = result {
            self.trace = self.path(node.index);
            return Err(failure.into());
        }
        if successors.actions.is_empty() && self.options.checks_deadlock {
            self.trace = self.path(node.index);
            return Err(Stop::Ending(SearchEnding::Deadlock));
        }
        for successor in successors.values.chunks(self.width) {
            let stop = self.visit(node, successor);
            if let Err(stop) = stop {
                if self.trace.is_empty() {
                    self.trace = self.path(node.index);
                    self.trace.push(successor.to_vec());
                }
                return Err(stop);
            }
        }
        Ok(())
    }

    /// Checks a successor, and puts it into the next level if it is new.
    fn visit(&mut self, node: &Node, successor: &[Value]) -> Result<(), Stop> {
        self.evaluator.set_level(self.depth + 1);
        self.evaluator.set_state(successor);
        let mut is_in_model = self.evaluator.is_in_model()?;
        let checks = &self.evaluator.program().specification.checks;
        let checks_steps = !checks.action_constraints.is_empty() || !checks.properties.is_empty();
        if checks_steps {
            self.evaluator.set_state(&node.state);
            self.evaluator.set_successor(successor);
            is_in_model = is_in_model && self.evaluator.is_step_in_model()?;
        }
        let is_new = !is_in_model || self.insert(successor, Some(node.index))?;
        let mut failed = None;
        if is_new {
            self.evaluator.set_state(successor);
            failed = self.evaluator.violated_invariant()?;
        }
        if checks_steps && failed.is_none() {
            self.evaluator.set_state(&node.state);
            failed = self.evaluator.violated_step_property()?;
        }
        match failed {
            Some(failed) => Err(Stop::Ending(SearchEnding::Violation(failed))),
            None => Ok(()),
        }
    }

    /// Adds a state if its key is new. The state of the evaluator is changed if there is a view.
    fn insert(&mut self, state: &[Value], parent: Option<u32>) -> Result<bool, Stop> {
        if !self.is_new_key(state)? {
            return Ok(false);
        }
        if self.keys.len() as u64 > self.options.states_max {
            return Err(Stop::Ending(SearchEnding::LimitReached));
        }
        let index = self.parents.len() as u32;
        self.parents.push(Parent { state: state.into(), parent });
        self.next_level.push(Node { state: state.into(), index });
        Ok(true)
    }

    fn is_new_key(&mut self, state: &[Value]) -> Outcome<bool> {
        let view = self.evaluator.program().specification.checks.view;
        if self.symmetry.is_none() && view.is_none() {
            return Ok(!self.keys.contains(state) && self.keys.insert(state.into()));
        }
        let mut key = match &self.symmetry {
            Some(group) => group.representative(state)?,
            None => state.to_vec(),
        };
        if let Some(view) = view {
            self.evaluator.set_state(&key);
            let value = self.evaluator.evaluate(view)?;
            key = vec![crate::standard::sets::normalise(&mut self.evaluator, value)?];
        }
        Ok(self.keys.insert(key.into()))
    }

    /// Returns the states from an initial state to a state.
    fn path(&self, index: u32) -> Vec<Vec<Value>> {
        let mut path = Vec::new();
        let mut open = Some(index);
        while let Some(at) = open {
            let Parent { state, parent } = &self.parents[at as usize];
            path.push(state.to_vec());
            open = *parent;
        }
        path.reverse();
        path
    }
}
