//! The transition system without boring states.

use super::{NAME, TargetReachability};
use crate::state_map::filter_candidates;
use spillway_ir::Layout;
use spillway_model::{Capabilities, StateSpace, SuccessorSink, SystemDescription};
use std::sync::Arc;

/// A transition system without the transitions to boring states.
pub(super) struct PrunedModel<'m> {
    model: Box<dyn StateSpace + 'm>,
    layout: &'m Layout,
    parts: Arc<[TargetReachability]>,
}

impl<'m> PrunedModel<'m> {
    pub(super) fn new(
        model: Box<dyn StateSpace + 'm>,
        layout: &'m Layout,
        parts: Arc<[TargetReachability]>,
    ) -> Self {
        PrunedModel { model, layout, parts }
    }

    fn is_boring(&self, state: &[u8]) -> bool {
        !self.parts.iter().any(|it| it.may_reach(self.layout, state))
    }
}

impl StateSpace for PrunedModel<'_> {
    fn width(&self) -> usize {
        self.model.width()
    }

    fn bits(&self) -> u32 {
        self.model.bits()
    }

    /// Initial states are always visited.
    fn initial(&self, out: &mut SuccessorSink) {
        self.model.initial(out);
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        let (width, mut successors) = (self.model.width(), Vec::new());
        let pass_on =
            |successor: &mut [u8], out: &mut SuccessorSink| match self.is_boring(successor) {
                true => out.count_pruned(1),
                false => out.candidate(successor),
            };
        filter_candidates(out, width, &mut successors, pass_on, |inner| {
            self.model.expand(states, inner)
        });
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        self.model.write_masks()
    }

    fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.model.digest()).update(NAME.as_bytes());
        for part in self.parts.iter() {
            for cell in part.kept.cells() {
                hasher.update(&cell.0.to_le_bytes());
            }
            for word in &part.may_reach {
                hasher.update(&word.to_le_bytes());
            }
        }
        *hasher.finalize().as_bytes()
    }

    fn description(&self) -> &dyn SystemDescription {
        self.model.description()
    }

    /// States and transitions are those of the base system.
    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            simulation: self.model.capabilities().simulation,
            // Pruning is not used with postponed transitions.
            postponing: None,
            cycle_proviso: None,
            sleep_sets: None,
            dominance: None,
            growing: None,
            views: None,
        }
    }
}
