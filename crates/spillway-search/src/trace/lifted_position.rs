//! The position of a counterexample in the searched system and in all systems below it.

use super::{StepOutcome, is_violated};
use crate::model_failure;
use spill::Result;
use spillway_model::{
    Simulation, StateSpace, StepDescription, SuccessorSink, SystemDescription, Violation,
    find_start,
};
use std::ops::ControlFlow;

/// Bytes of the batches of initial states of a reduced system.
const STARTS_BYTES: usize = 32 << 10;

/// A position on a path: states of every system from the searched one down to the one that describes steps.
pub(super) struct LiftedPosition<'a> {
    explains: &'a dyn SystemDescription,
    /// The state of the searched system.
    searched: Vec<u8>,
    /// The simulations from the searched system downwards, each with the state of the system below it.
    layers: Vec<(&'a dyn Simulation, Vec<u8>)>,
    /// The state of the system that describes steps.
    pub(super) state: Vec<u8>,
}

impl<'a> LiftedPosition<'a> {
    /// Returns the position at an initial state that `target`, an initial state of the searched system, represents,
    /// with the number of the start. Returns nothing if there is none or if stopped.
    pub(super) fn start(
        searched: &'a dyn StateSpace,
        target: &[u8],
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<(u64, LiftedPosition<'a>)>> {
        let (mut layers, searched_at) = (Vec::new(), target.to_vec());
        let mut target = searched_at.clone();
        let mut model = searched;
        while let Some(lift) = model.capabilities().simulation {
            let below = lift.concrete_space();
            if below.capabilities().simulation.is_some() {
                let found = reduced_start(below, &|state| lift.represents(&target, state), stop)?;
                let Some(found) = found else { return Ok(None) };
                target.clone_from(&found);
            }
            layers.push((lift, target.clone()));
            model = below;
        }
        let explains = searched.description();
        let stands = |state: &[u8]| match layers.last() {
            None => target == state,
            Some((lift, _)) => lift.represents(&target, state),
        };
        let goes_there = |step: &StepDescription| match &step.outcome {
            StepOutcome::Successor(state) => stands(state),
            StepOutcome::Fault(_) => false,
        };
        let started = find_start(explains, |_, step| goes_there(step) || stop());
        let Some((number, StepDescription { outcome: StepOutcome::Successor(state), .. })) =
            started
        else {
            return Ok(None);
        };
        if let Some((_, at)) = layers.last_mut() {
            at.clone_from(&state);
        }
        Ok(Some((number, LiftedPosition { explains, searched: searched_at, layers, state })))
    }

    /// Moves to a state that `target`, a successor in the searched system, represents. Appends the index of each taken
    /// step among the possible ones. Returns false if there is no path.
    pub(super) fn advance_to(&mut self, target: &[u8], choices: &mut Vec<u32>) -> Result<bool> {
        let is_there = self.descend(0, target, choices)?;
        self.searched.clear();
        self.searched.extend_from_slice(target);
        Ok(is_there)
    }

    fn descend(&mut self, depth: usize, target: &[u8], choices: &mut Vec<u32>) -> Result<bool> {
        let Some((lift, at)) = self.layers.get(depth) else {
            return Ok(self.step_to(target, choices));
        };
        let own = depth.checked_sub(1).map_or(&self.searched, |above| &self.layers[above].1);
        let Some(way) = lift.concretise_step(own, at, target).map_err(model_failure)? else {
            return Ok(false);
        };
        for state in way {
            if !self.descend(depth + 1, &state, choices)? {
                return Ok(false);
            }
            self.layers[depth].1 = state;
        }
        Ok(true)
    }

    /// Moves to a state that violates `check` and that the state of the searched system also represents. Returns false
    /// if there is no path.
    pub(super) fn advance_to_failure(
        &mut self,
        check: Violation,
        choices: &mut Vec<u32>,
    ) -> Result<bool> {
        for depth in 0..self.layers.len() {
            let (lift, at) = &self.layers[depth];
            for state in lift.concrete_violation_path(at, check).map_err(model_failure)? {
                if !self.descend(depth + 1, &state, choices)? {
                    return Ok(false);
                }
                self.layers[depth].1 = state;
            }
        }
        Ok(true)
    }

    /// Returns the check that the state violates: `check` or an equivalent one.
    pub(super) fn violated_check(&self, check: Violation) -> Option<Violation> {
        let others = self.layers.iter().flat_map(|(lift, _)| lift.equivalent_violations(check));
        let mut all = std::iter::once(check).chain(others);
        all.find(|&it| is_violated(self.explains, it, &self.state))
    }

    /// Takes a step to exactly this state.
    fn step_to(&mut self, target: &[u8], choices: &mut Vec<u32>) -> bool {
        let goes_there = |step: &StepDescription| matches!(&step.outcome, StepOutcome::Successor(state) if state == target);
        let found = self.explains.steps(&self.state).iter().position(goes_there);
        choices.extend(found.map(|choice| choice as u32));
        self.state.clear();
        self.state.extend_from_slice(target);
        found.is_some()
    }
}

/// Returns the least initial state of a system that satisfies the predicate.
pub(super) fn reduced_start(
    model: &dyn StateSpace,
    is_wanted: &dyn Fn(&[u8]) -> bool,
    stop: &dyn Fn() -> bool,
) -> Result<Option<Vec<u8>>> {
    let width = model.width();
    let mut least: Option<Vec<u8>> = None;
    let mut look = |states: &mut Vec<u8>| {
        for state in states.chunks_exact(width) {
            let is_less = least.as_deref().is_none_or(|least| state < least);
            if is_less && is_wanted(state) {
                least = Some(state.to_vec());
            }
        }
        states.clear();
        match stop() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let (mut states, limit) = (Vec::new(), STARTS_BYTES.max(width));
    let run = |out: &mut SuccessorSink| model.initial(out);
    let collected = SuccessorSink::collect_in_batches(width, &mut states, limit, &mut look, run);
    if stop() {
        return Ok(None);
    }
    let _ = collected.map_err(model_failure)?;
    let _ = look(&mut states);
    Ok(if stop() { None } else { least })
}
