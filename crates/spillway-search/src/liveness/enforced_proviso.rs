//! The cycle proviso of partial-order reduction in a depth-first search (Peled, "Combining partial order reductions with
//! on-the-fly model-checking", 1996, condition C3).
//!
//! Each cycle has a transition to a state on the path of the search. The state before such a transition is fully
//! expanded, with all states of the product that have the same state of the system. If one of these was expanded before
//! by its chosen transitions, the search starts again and knows the states to expand fully from the beginning.

use super::numbered_states::NumberedStates;
use super::proviso::FullStates;
use crate::collect_expansion;
use spill::Result;
use spillway_model::{CycleProvisoStateSpace, ExpansionOutcome, StateSpace};

/// The states of a search that are fully expanded.
pub(super) struct EnforcedProviso<'a> {
    space: &'a dyn CycleProvisoStateSpace,
    width: usize,
    /// The states to expand fully.
    full_states: FullStates,
    /// For each state by its number, whether the first search entered it with all of its transitions. States that it did
    /// not enter may be absent.
    is_full: Vec<bool>,
}

impl<'a> EnforcedProviso<'a> {
    /// Returns the proviso of a model, if a search can enforce it.
    pub fn of(model: &'a dyn StateSpace) -> Option<EnforcedProviso<'a>> {
        let space = model.capabilities().cycle_proviso?;
        let (full_states, is_full) = (FullStates::default(), Vec::new());
        Some(EnforcedProviso { space, width: model.width(), full_states, is_full })
    }

    /// Collects the successors of a state in `buffer`.
    pub fn expand(&self, state: &[u8], buffer: &mut Vec<u8>) -> Result<ExpansionOutcome> {
        collect_expansion(self.width, buffer, |out| match self.must_be_full(state) {
            true => self.space.expand_fully(state, out),
            false => self.space.expand_chosen(state, out),
        })
    }

    /// Notes whether the first search enters the state with this number with all of its transitions.
    pub fn enter(&mut self, number: u32, is_full: bool) {
        let number = number as usize;
        if self.is_full.len() <= number {
            self.is_full.resize(number + 1, true);
        }
        self.is_full[number] = is_full;
    }

    /// Demands that a state is fully expanded, with all states that have its choosing part.
    pub fn demand_full(&mut self, state: &[u8]) {
        self.full_states.insert(self.space.choosing_part(state));
    }

    /// Returns whether the search must start again, since one of its states was not fully expanded and must be.
    pub fn must_restart(&self, states: &NumberedStates) -> bool {
        let mut expanded = self.is_full.iter().zip(states.iter());
        expanded.any(|(is_full, state)| !is_full && self.must_be_full(state))
    }

    /// Forgets the states of a search, but not which ones must be fully expanded.
    pub fn restart(&mut self) {
        self.is_full.clear();
    }

    /// Returns the approximate bytes of memory.
    pub fn bytes(&self) -> u64 {
        self.full_states.bytes() + self.is_full.len() as u64
    }

    /// Returns whether a state must be fully expanded.
    pub fn must_be_full(&self, state: &[u8]) -> bool {
        self.full_states.contains(self.space.choosing_part(state))
    }
}
