//! The relation of a reduced system to the system whose states are described.
//!
//! A system that wraps another may visit representatives, or take several transitions as one. A counterexample is then
//! *concretised*: each step of the outermost system becomes steps of the system below it, each of these becomes steps
//! of the next, down to a system that describes itself. So every counterexample in a report is a run of that system,
//! replayed by it, whatever the reductions did.

use super::{ActionCounts, ActionId, Result, StateSpace, StepOutcome, SuccessorSink, Violation};

/// A state space whose states and transitions represent those of another, the *concrete* one.
///
/// Every method is required: a reduction decides on each of them.
pub trait Simulation {
    /// Returns the simulated state space.
    fn concrete_space(&self) -> &dyn StateSpace;

    /// Returns whether a state of this system represents a state of the concrete one.
    fn represents(&self, own: &[u8], concrete: &[u8]) -> bool;

    /// Returns a path of the concrete system from `from` to a state that `to` represents: its states without `from`.
    /// `own` is the state of this system that represents `from`, and `to` a successor of it. Returns nothing if this
    /// system cannot have taken such a path. [`concretise_single_step`] computes it if one transition represents one
    /// transition.
    fn concretise_step(&self, own: &[u8], from: &[u8], to: &[u8]) -> Result<Option<Vec<Vec<u8>>>>;

    /// Returns a system with the states of this one that has all transitions that this one may omit, such as those that
    /// partial-order reduction postpones. Returns nothing if this system omits none.
    ///
    /// The choice of the omitted transitions may distinguish states that a system above identifies. A transition of one
    /// of them is then found in this system for the others.
    fn unreduced_space(&self) -> Option<&dyn StateSpace>;

    /// Returns a path of the [unreduced space](Self::unreduced_space) from `own` to `to`, a successor of `own` in this
    /// system, without `own`, if this system takes several transitions as one. Returns nothing if it takes one at a
    /// time.
    fn intermediate_states(&self, own: &[u8], to: &[u8]) -> Result<Option<Vec<Vec<u8>>>>;

    /// Returns a path of the concrete system from `from` to a state in which `check` fails, without `from`, if one
    /// state of this system represents several consecutive ones. It is empty if `check` fails in `from` itself.
    fn concrete_violation_path(&self, from: &[u8], check: Violation) -> Result<Vec<Vec<u8>>>;

    /// Returns other violations of the concrete system that `check` in this one may represent.
    fn equivalent_violations(&self, check: Violation) -> Vec<Violation>;

    /// Returns whether this system cannot count an action of the concrete program, since it removed the action or fused
    /// it with others.
    fn hides_action(&self, action: ActionId) -> bool;

    /// Converts the counts of the actions that this system executes to those of the concrete program.
    fn concrete_action_counts(&self, taken: ActionCounts) -> ActionCounts;

    /// Returns whether each transition of this system is one transition of the concrete system.
    fn preserves_depth(&self) -> bool;
}

/// A state space each of whose transitions represents one transition of another. Only its states differ, so the rest of
/// its [`Simulation`] follows.
pub trait StepwiseSimulation: Sized {
    /// As [`Simulation::concrete_space`].
    fn concrete_space(&self) -> &dyn StateSpace;

    /// As [`Simulation::represents`].
    fn represents(&self, own: &[u8], concrete: &[u8]) -> bool;
}

impl<S: StepwiseSimulation> Simulation for S {
    fn concrete_space(&self) -> &dyn StateSpace {
        StepwiseSimulation::concrete_space(self)
    }

    fn represents(&self, own: &[u8], concrete: &[u8]) -> bool {
        StepwiseSimulation::represents(self, own, concrete)
    }

    fn concretise_step(&self, _: &[u8], from: &[u8], to: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        concretise_single_step(self, from, to)
    }

    fn unreduced_space(&self) -> Option<&dyn StateSpace> {
        None
    }

    fn intermediate_states(&self, _: &[u8], _: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        Ok(None)
    }

    fn concrete_violation_path(&self, _: &[u8], _: Violation) -> Result<Vec<Vec<u8>>> {
        Ok(Vec::new())
    }

    fn equivalent_violations(&self, _: Violation) -> Vec<Violation> {
        Vec::new()
    }

    fn hides_action(&self, _: ActionId) -> bool {
        false
    }

    fn concrete_action_counts(&self, taken: ActionCounts) -> ActionCounts {
        taken
    }

    fn preserves_depth(&self) -> bool {
        true
    }
}

/// Returns the simulations between a system and the one that describes it, the outermost first.
fn simulations(model: &dyn StateSpace) -> impl Iterator<Item = &dyn Simulation> {
    std::iter::successors(model.capabilities().simulation, |simulation| {
        simulation.concrete_space().capabilities().simulation
    })
}

/// Returns the state of the innermost system in which `check` fails, if it fails in a state that `state` represents.
pub fn concrete_violating_state(
    model: &dyn StateSpace,
    check: Violation,
    state: &[u8],
) -> Result<Vec<u8>> {
    let mut state = state.to_vec();
    for lift in simulations(model) {
        if let Some(last) = lift.concrete_violation_path(&state, check)?.pop() {
            state = last;
        }
    }
    Ok(state)
}

/// Converts the counts of the actions that the system executes to those of the innermost program.
pub fn original_action_counts(model: &dyn StateSpace, taken: ActionCounts) -> ActionCounts {
    simulations(model).fold(taken, |taken, lift| lift.concrete_action_counts(taken))
}

/// Returns whether an action of the innermost program cannot be counted.
pub fn is_action_hidden(model: &dyn StateSpace, action: ActionId) -> bool {
    simulations(model).any(|lift| lift.hides_action(action))
}

/// Returns whether each transition of a system is one transition of the innermost system.
pub fn preserves_depth(model: &dyn StateSpace) -> bool {
    simulations(model).all(Simulation::preserves_depth)
}

/// Returns the successor of `from` in the concrete system that `to` represents. Of several it is the first in the order
/// of the description, or, if the concrete system does not describe itself, the least. So it does not depend on the
/// executor.
pub fn concretise_single_step(
    lift: &dyn Simulation,
    from: &[u8],
    to: &[u8],
) -> Result<Option<Vec<Vec<u8>>>> {
    let is_wanted = |state: &[u8]| lift.represents(to, state);
    let found = find_successor(lift.concrete_space(), from, &is_wanted)?;
    Ok(found.map(|state| vec![state]))
}

/// Returns a wanted successor of `from`, also one that is reached by an omitted transition.
pub fn find_successor(
    space: &dyn StateSpace,
    from: &[u8],
    is_wanted: &dyn Fn(&[u8]) -> bool,
) -> Result<Option<Vec<u8>>> {
    let Some(simulation) = space.capabilities().simulation else {
        let outcomes = space.description().steps(from).into_iter().map(|step| step.outcome);
        let mut states = outcomes.filter_map(|outcome| match outcome {
            StepOutcome::Successor(state) => Some(state),
            StepOutcome::Fault(_) => None,
        });
        return Ok(states.find(|state| is_wanted(state)));
    };
    let mut states = Vec::new();
    let run = |out: &mut SuccessorSink| space.expand(from, out);
    let _ = SuccessorSink::collect(space.width(), &mut states, run)?;
    let states = states.chunks_exact(space.width());
    match (states.filter(|state| is_wanted(state)).min(), simulation.unreduced_space()) {
        (None, Some(unreduced)) => find_successor(unreduced, from, is_wanted),
        (found, _) => Ok(found.map(<[u8]>::to_vec)),
    }
}
