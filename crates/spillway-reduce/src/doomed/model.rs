//! The transition system in which doomed states have one more successor.

use super::{DoomAnalysis, NAME};
use spillway_exec::Interp;
use spillway_ir::ActionId;
use spillway_model::{
    ActionCounts, Capabilities, Result, Simulation, StateSpace, SuccessorSink, SystemDescription,
    Violation, any_bits, concretise_single_step, stop_request,
};
use std::sync::Arc;

/// A transition system with a shortcut from each doomed state to a violating state.
pub(super) struct ShortcutModel<'m> {
    model: Box<dyn StateSpace + 'm>,
    interp: &'m Interp,
    fate: Arc<DoomAnalysis>,
}

impl<'m> ShortcutModel<'m> {
    pub(super) fn new(
        model: Box<dyn StateSpace + 'm>,
        interp: &'m Interp,
        fate: Arc<DoomAnalysis>,
    ) -> Self {
        ShortcutModel { model, interp, fate }
    }

    /// Returns the states of the walk from a doomed state, if it ends in `to`.
    fn walk_to(&self, from: &[u8], to: &[u8]) -> Option<Vec<Vec<u8>>> {
        let walk = self.fate.path_to_target(self.interp, from)?;
        Some(walk).filter(|it| it.last().is_some_and(|it| it == to))
    }
}

impl StateSpace for ShortcutModel<'_> {
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
        self.model.expand(states, out);
        for state in states.chunks_exact(self.model.width()) {
            if stop_request::is_requested() {
                return;
            }
            let walked = self.fate.path_to_target(self.interp, state).unwrap_or_default();
            if let Some((end, way)) = walked.split_last() {
                out.count_skipped(way.len() as u64);
                out.candidate(end);
            }
        }
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        any_bits(self.width())
    }

    fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.model.digest()).update(NAME.as_bytes());
        for part in &self.fate.parts {
            for cell in part.kept.cells() {
                hasher.update(&cell.0.to_le_bytes());
            }
            for rank in &part.surely {
                hasher.update(&rank.to_le_bytes());
            }
        }
        hasher.update(&[self.fate.cycles.is_some().into()]);
        *hasher.finalize().as_bytes()
    }

    fn description(&self) -> &dyn SystemDescription {
        self.model.description()
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            simulation: Some(self),
            // Shortcuts are not used with postponed transitions.
            postponing: None,
            cycle_proviso: None,
            sleep_sets: None,
            dominance: None,
            growing: None,
            views: None,
        }
    }
}

/// A transition is one of the base system, which concretises it, or all transitions of a walk.
impl Simulation for ShortcutModel<'_> {
    fn concrete_space(&self) -> &dyn StateSpace {
        self.model.capabilities().simulation.map_or(&*self.model, Simulation::concrete_space)
    }

    fn represents(&self, own: &[u8], below: &[u8]) -> bool {
        match self.model.capabilities().simulation {
            Some(lift) => lift.represents(own, below),
            None => own == below,
        }
    }

    fn concretise_step(&self, own: &[u8], from: &[u8], to: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        let by_model = match self.model.capabilities().simulation {
            Some(lift) => lift.concretise_step(own, from, to)?,
            None => concretise_single_step(self, from, to)?,
        };
        Ok(by_model.or_else(|| self.walk_to(from, to)))
    }

    fn concrete_violation_path(&self, from: &[u8], check: Violation) -> Result<Vec<Vec<u8>>> {
        self.model
            .capabilities()
            .simulation
            .map_or_else(|| Ok(Vec::new()), |it| it.concrete_violation_path(from, check))
    }

    fn equivalent_violations(&self, check: Violation) -> Vec<Violation> {
        self.model
            .capabilities()
            .simulation
            .map_or_else(Vec::new, |it| it.equivalent_violations(check))
    }

    fn hides_action(&self, action: ActionId) -> bool {
        self.model.capabilities().simulation.is_some_and(|it| it.hides_action(action))
    }

    fn concrete_action_counts(&self, taken: ActionCounts) -> ActionCounts {
        match self.model.capabilities().simulation {
            Some(lift) => lift.concrete_action_counts(taken),
            None => taken,
        }
    }

    fn preserves_depth(&self) -> bool {
        false
    }

    fn unreduced_space(&self) -> Option<&dyn StateSpace> {
        let inner = self.model.capabilities().simulation;
        Some(inner.and_then(Simulation::unreduced_space).unwrap_or(&*self.model))
    }

    fn intermediate_states(&self, own: &[u8], to: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        if let Some(walk) = self.walk_to(own, to) {
            return Ok(Some(walk));
        }
        self.model.capabilities().simulation.map_or(Ok(None), |it| it.intermediate_states(own, to))
    }
}
