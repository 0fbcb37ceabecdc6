//! A product whose states are expanded by their chosen transitions, except some that are fully expanded.

use super::FullStates;
use crate::collect_expansion;
use spill::Result;
use spillway_model::{
    Capabilities, CycleProvisoStateSpace, StateSpace, SuccessorSink, SystemDescription,
    stop_request,
};

/// A product in a round of the search on disk.
pub struct ReducedProduct<'a> {
    model: &'a dyn StateSpace,
    space: &'a dyn CycleProvisoStateSpace,
    full: &'a FullStates,
}

impl<'a> ReducedProduct<'a> {
    /// Creates the product of a model, if a search can enforce its cycle proviso.
    pub(super) fn of(
        model: &'a dyn StateSpace,
        full: &'a FullStates,
    ) -> Option<ReducedProduct<'a>> {
        let space = model.capabilities().cycle_proviso?;
        Some(ReducedProduct { model, space, full })
    }

    /// Returns whether the state must be fully expanded.
    pub fn must_be_full(&self, state: &[u8]) -> bool {
        self.full.contains(self.space.choosing_part(state))
    }

    /// Returns whether the expansion of a state omits transitions.
    pub fn omits_transitions(&self, state: &[u8]) -> bool {
        let mut successors = Vec::new();
        // After an error the state counts as one that omits transitions. Then the check is only stricter.
        !self.must_be_full(state)
            && collect_expansion(self.width(), &mut successors, |out| {
                self.space.expand_chosen(state, out);
            })
            .map_or(true, |it| it.counters.partially_expanded > 0)
    }

    /// Adds the choosing part of a state if one of its chosen transitions does not ascend. Each cycle has such a
    /// transition.
    pub(super) fn add_if_closing(&self, state: &[u8], found: &mut FullStates) -> Result<()> {
        let mut successors = Vec::new();
        let run = |out: &mut SuccessorSink| self.space.expand_chosen(state, out);
        let _ = collect_expansion(self.width(), &mut successors, run)?;
        let mut successors = successors.chunks_exact(self.width());
        if successors.any(|it| !self.space.ascends(state, it)) {
            found.insert(self.space.choosing_part(state));
        }
        Ok(())
    }
}

impl StateSpace for ReducedProduct<'_> {
    fn width(&self) -> usize {
        self.model.width()
    }

    fn bits(&self) -> u32 {
        self.model.bits()
    }

    fn initial(&self, out: &mut SuccessorSink) {
        self.model.initial(out);
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        if self.full.is_empty() {
            return self.space.expand_chosen(states, out);
        }
        let mut rest = states;
        while !rest.is_empty() && !stop_request::is_requested() {
            let all = rest.chunks_exact(self.width());
            let is_full = self.must_be_full(&rest[..self.width()]);
            let alike = all.take_while(|it| self.must_be_full(it) == is_full).count();
            let (block, others) = rest.split_at(alike * self.width());
            match is_full {
                true => self.space.expand_fully(block, out),
                false => self.space.expand_chosen(block, out),
            }
            rest = others;
        }
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        self.model.write_masks()
    }

    /// The digest of the model: a search directory keeps its job in all rounds.
    fn digest(&self) -> [u8; 32] {
        self.model.digest()
    }

    fn description(&self) -> &dyn SystemDescription {
        self.model.description()
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            simulation: self.model.capabilities().simulation,
            postponing: None,
            cycle_proviso: None,
            sleep_sets: None,
            dominance: None,
            growing: None,
        }
    }
}
