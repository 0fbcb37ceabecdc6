//! A product whose states are expanded by their chosen transitions, except some that are fully expanded.

use super::FullStates;
use crate::collect_expansion;
use spill::Result;
use spillway_model::{
    Capabilities, CycleProvisoStateSpace, StateSpace, StepDescent, SuccessorSink,
    SystemDescription, stop_request,
};
use std::collections::BTreeSet;

/// A product in a round of the search on disk.
pub struct ReducedProduct<'a> {
    model: &'a dyn StateSpace,
    space: &'a dyn CycleProvisoStateSpace,
    full: &'a FullStates,
    /// The descriptions of further states, in a round that describes them.
    descents: Option<&'a BTreeSet<StepDescent>>,
}

impl<'a> ReducedProduct<'a> {
    /// Creates the product of a model, if a search can enforce its cycle proviso. In a round that describes states to
    /// expand fully, states with a chosen transition that has one of the `descents` are fully expanded too, and choices
    /// whose transitions ascend are preferred.
    pub(in crate::liveness) fn of(
        model: &'a dyn StateSpace,
        full: &'a FullStates,
        descents: Option<&'a BTreeSet<StepDescent>>,
    ) -> Option<ReducedProduct<'a>> {
        let space = model.capabilities().cycle_proviso?;
        Some(ReducedProduct { model, space, full, descents })
    }

    /// Returns whether the state is one of those to expand fully.
    pub fn is_listed(&self, state: &[u8]) -> bool {
        self.full.contains(self.space.choosing_part(state))
    }

    /// Returns whether the expansion of a state omits transitions.
    pub fn omits_transitions(&self, state: &[u8]) -> bool {
        let mut successors = Vec::new();
        // After an error the state counts as one that omits transitions. Then the check is only stricter.
        !self.is_listed(state)
            && collect_expansion(self.width(), &mut successors, |out| self.expand(state, out))
                .map_or(true, |it| it.counters.partially_expanded > 0)
    }

    /// Returns the choosing part of a state.
    pub(in crate::liveness) fn choosing_part<'s>(&self, state: &'s [u8]) -> &'s [u8] {
        self.space.choosing_part(state)
    }

    /// Returns what leads the chosen transitions of a state down, for those that do not ascend. Each cycle has such a
    /// transition.
    pub(in crate::liveness) fn descents_from(&self, state: &[u8]) -> Result<BTreeSet<StepDescent>> {
        let mut successors = Vec::new();
        let run = |out: &mut SuccessorSink| self.expand_chosen(state, out);
        let _ = collect_expansion(self.width(), &mut successors, run)?;
        Ok(self.descents_to(state, &successors).collect())
    }

    fn descents_to<'s>(
        &'s self,
        state: &'s [u8],
        successors: &'s [u8],
    ) -> impl Iterator<Item = StepDescent> + 's {
        successors.chunks_exact(self.width()).filter_map(|to| self.space.descent(state, to))
    }

    /// Expands states by the chosen transitions of the round.
    fn expand_chosen(&self, states: &[u8], out: &mut SuccessorSink) {
        match self.descents {
            None => self.space.expand_chosen(states, out),
            Some(_) => self.space.expand_ascending(states, out),
        }
    }

    /// Expands a state by its chosen transitions, or fully if one of them descends as it must not.
    fn expand_watched(
        &self,
        state: &[u8],
        descents: &BTreeSet<StepDescent>,
        successors: &mut Vec<u8>,
        out: &mut SuccessorSink,
    ) {
        successors.clear();
        let run = |inner: &mut SuccessorSink| self.expand_chosen(state, inner);
        let Some(expanded) = out.wrap(self.width(), successors, run) else { return };
        let is_partial = expanded.counters.partially_expanded > 0;
        if is_partial && self.descents_to(state, successors).any(|it| descents.contains(&it)) {
            return self.space.expand_fully(state, out);
        }
        out.add_findings(expanded.findings);
        out.add_counters(expanded.counters);
        successors.chunks_exact(self.width()).for_each(|it| out.candidate(it));
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
        let mut successors = Vec::new();
        let mut rest = states;
        while !rest.is_empty() && !stop_request::is_requested() {
            let is_listed = self.is_listed(&rest[..self.width()]);
            let alike = match self.full.is_empty() {
                true => rest.len(),
                false => {
                    let all = rest.chunks_exact(self.width());
                    all.take_while(|it| self.is_listed(it) == is_listed).count() * self.width()
                }
            };
            let (block, others) = rest.split_at(alike);
            if is_listed {
                self.space.expand_fully(block, out);
            } else if let Some(descents) = self.descents.filter(|it| !it.is_empty()) {
                let states = block.chunks_exact(self.width());
                states.for_each(|it| self.expand_watched(it, descents, &mut successors, out));
            } else {
                self.expand_chosen(block, out);
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
            views: None,
            growing: None,
        }
    }
}
