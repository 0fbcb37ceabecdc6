//! The searched transition system, with concretisation in the program as written.

use super::RewrittenProgram;
use crate::rewrite_pass::{MergedStep, MergedSteps};
use spillway_exec::Interp;
use spillway_ir::layout::StateValidator;
use spillway_ir::{ActionId, Layout};
use spillway_model::{
    ActionCounts, Capabilities, Result, Simulation, StateSpace, SuccessorSink, SystemDescription,
    Violation, concretise_single_step,
};

/// A transition system of a rewritten program, with concretisation in the program as written. If one transition is
/// several of the program as written, its states are states of the rewritten program.
pub(super) struct RewrittenModel<'m> {
    model: Box<dyn StateSpace + 'm>,
    /// The transition system for concretisation: the program as written, with a claim if there is one.
    below: Box<dyn StateSpace + 'm>,
    written: &'m Interp,
    layout: &'m Layout,
    /// Distinguishes encoded states from other bytes.
    codes: StateValidator,
    rewritten: &'m RewrittenProgram,
}

impl<'m> RewrittenModel<'m> {
    pub fn new(
        model: Box<dyn StateSpace + 'm>,
        below: Box<dyn StateSpace + 'm>,
        written: &'m Interp,
        rewritten: &'m RewrittenProgram,
    ) -> RewrittenModel<'m> {
        let layout = written.layout();
        RewrittenModel { model, below, written, layout, codes: layout.codes(), rewritten }
    }

    /// Returns the state of the rewritten program that represents a state.
    fn represented(&self, state: &[u8]) -> Vec<u8> {
        self.rewritten.represented(self.layout, state)
    }

    /// Returns the states of the program as written that one transition of the rewritten one passes through.
    fn step(&self, from: &[u8], to: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        let Some(merged) = self.rewritten.merged_steps() else {
            return concretise_single_step(self, from, to);
        };
        let (written, represented) = (self.written, &|state: &[u8]| self.represented(state));
        let is_end = &|state: &[u8]| self.represents(to, state);
        Ok(merged.path(&MergedStep { written, represented, from, is_end }))
    }
}

impl StateSpace for RewrittenModel<'_> {
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
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        self.model.write_masks()
    }

    fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.below.digest()).update(&self.model.digest());
        for applied in &self.rewritten.passes {
            hasher.update(applied.entry.title.as_bytes());
        }
        *hasher.finalize().as_bytes()
    }

    fn description(&self) -> &dyn SystemDescription {
        self.below.description()
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            simulation: Some(self),
            postponing: self.model.capabilities().postponing,
            cycle_proviso: self.model.capabilities().cycle_proviso,
            sleep_sets: self.model.capabilities().sleep_sets,
            dominance: None,
            growing: None,
            views: None,
        }
    }
}

impl Simulation for RewrittenModel<'_> {
    fn concrete_space(&self) -> &dyn StateSpace {
        &*self.below
    }

    /// Whether both states have the same representative and the same bytes behind it.
    fn represents(&self, own: &[u8], below: &[u8]) -> bool {
        let bytes = self.layout.bytes;
        let are_states = [own, below]
            .into_iter()
            .all(|it| it.len() >= bytes && self.codes.is_state(&it[..bytes]));
        are_states
            && own[bytes..] == below[bytes..]
            && self.represented(&own[..bytes]) == self.represented(&below[..bytes])
    }

    fn concretise_step(&self, own: &[u8], from: &[u8], to: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        let Some(lift) = self.model.capabilities().simulation else { return self.step(from, to) };
        let Some(own_way) = lift.concretise_step(own, own, to)? else { return Ok(None) };
        let mut way: Vec<Vec<u8>> = Vec::new();
        for next in own_way {
            let at = way.last().map_or(from, Vec::as_slice);
            let Some(mut step) = self.step(at, &next)? else { return Ok(None) };
            way.append(&mut step);
        }
        Ok(Some(way))
    }

    fn unreduced_space(&self) -> Option<&dyn StateSpace> {
        let inner = self.model.capabilities().simulation;
        Some(inner.and_then(Simulation::unreduced_space).unwrap_or(&*self.model))
    }

    fn intermediate_states(&self, own: &[u8], to: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        self.model.capabilities().simulation.map_or(Ok(None), |it| it.intermediate_states(own, to))
    }

    fn hides_action(&self, action: ActionId) -> bool {
        let about = &self.written.program().actions[action];
        self.rewritten.passes().any(|it| it.loses_action_count(action, about))
    }

    fn concrete_action_counts(&self, taken: ActionCounts) -> ActionCounts {
        match self.rewritten.merged_steps() {
            None => taken,
            Some(merged) => merged.expand_action_counts(&taken),
        }
    }

    /// If transitions were merged, some may be left at a deadlock of the rewritten program.
    fn concrete_violation_path(&self, from: &[u8], check: Violation) -> Result<Vec<Vec<u8>>> {
        let merged = self.rewritten.merged_steps().filter(|_| check == Violation::Deadlock);
        Ok(merged.map(|it| it.path_to_deadlock(self.written, from)).unwrap_or_default())
    }

    fn preserves_depth(&self) -> bool {
        self.rewritten.merged_steps().is_none_or(MergedSteps::preserves_depth)
            && self.model.capabilities().simulation.is_none_or(Simulation::preserves_depth)
    }

    fn equivalent_violations(&self, _: Violation) -> Vec<Violation> {
        Vec::new()
    }
}
