//! From a model that leaves states out back to the one whose states people know, a step at a time.
//!
//! A model that wraps another may visit representatives, or take several steps for one. A
//! counterexample is then lifted: through the outermost wrapper to steps of the model below it, each of
//! these through the next, and so on, down to a model that explains itself. Whatever a reduction does, what is shown
//! is a run of that model, replayed by it.

use super::{ActionCounts, StateSpace, StepOutcome, SuccessorSink, Violation};
use crate::ir::ActionId;
use spill::Result;

/// A model whose states stand for states of another, and its steps for one or more steps of that.
pub trait Simulation {
    /// The model below.
    fn concrete_space(&self) -> &dyn StateSpace;

    /// Whether a state of this model is here for one of the model below.
    fn represents(&self, own: &[u8], below: &[u8]) -> bool;

    /// The states of the model below on a way from `from`, one of them, which is left out, to one that `to`
    /// stands for; nothing if there is no way that this model could have taken. `own` is the state of this model
    /// that is here for `from`. [`concretise_single_step`] does for models whose steps are steps of the model below.
    fn concretise_step(&self, own: &[u8], from: &[u8], to: &[u8]) -> Result<Option<Vec<Vec<u8>>>>;

    /// The states of this model on a way from one of them, which is left out, to one that a step of it leads to, where it could
    /// also stop in between: it takes several steps as one. Nothing if there is no such way.
    fn intermediate_states(&self, own: &[u8], to: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        let _ = (own, to);
        Ok(None)
    }

    /// The states of the model below on a way from one of them, which is left out, to one where `check` fails and for
    /// which the state of this model that is here for `from` is here, too. None are on the way unless this model's states
    /// are here for several that follow one another.
    fn concrete_violation_path(&self, from: &[u8], check: Violation) -> Result<Vec<Vec<u8>>> {
        let _ = (from, check);
        Ok(Vec::new())
    }

    /// What else it may be that fails below where a check fails here: the same thing by other names.
    fn equivalent_violations(&self, check: Violation) -> Vec<Violation> {
        let _ = check;
        Vec::new()
    }

    /// Whether it cannot be told of an action of the program below how often it is taken: this model has removed it, or it
    /// is one with others.
    fn hides_action(&self, _action: ActionId) -> bool {
        false
    }

    /// How often each action of the program below was taken, where those that this model runs were so often.
    fn concrete_action_counts(&self, taken: ActionCounts) -> ActionCounts {
        taken
    }

    /// Whether each step of this model is one step of the model below.
    fn preserves_depth(&self) -> bool {
        true
    }
}

/// The steps down from a model to the one that explains it, the outermost first.
fn simulations(model: &dyn StateSpace) -> impl Iterator<Item = &dyn Simulation> {
    std::iter::successors(model.simulation(), |lift| lift.concrete_space().simulation())
}

/// The state below all, on the way that a model leaves open, in which `check` fails, where it fails in a state for which one
/// of the model is here.
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

/// How often each action of the program that explains a model was taken, from how often those that the model runs were.
pub fn original_action_counts(model: &dyn StateSpace, taken: ActionCounts) -> ActionCounts {
    simulations(model).fold(taken, |taken, lift| lift.concrete_action_counts(taken))
}

/// Whether it cannot be told of an action of the program that explains a model how often it is taken.
pub fn is_action_hidden(model: &dyn StateSpace, action: ActionId) -> bool {
    simulations(model).any(|lift| lift.hides_action(action))
}

/// Whether each step of a model is one step of the model that explains it.
pub fn preserves_depth(model: &dyn StateSpace) -> bool {
    simulations(model).all(Simulation::preserves_depth)
}

/// The successor of `from` below that `to` stands for: of several the first in the order of the
/// reference semantics, or, where the model below does not explain itself, the least. So it does not depend on who
/// runs the model.
pub fn concretise_single_step(
    lift: &dyn Simulation,
    from: &[u8],
    to: &[u8],
) -> Result<Option<Vec<Vec<u8>>>> {
    let below = lift.concrete_space();
    let wanted = |state: &[u8]| lift.represents(to, state);
    let found = match below.simulation() {
        None => {
            let outcomes = below.description().steps(from).into_iter().map(|step| step.outcome);
            let mut states = outcomes.filter_map(|outcome| match outcome {
                StepOutcome::Successor(state) => Some(state),
                StepOutcome::Fault(_) => None,
            });
            states.find(|state| wanted(state))
        }
        Some(_) => {
            let mut states = Vec::new();
            let run = |out: &mut SuccessorSink| below.expand(from, out);
            let _ = SuccessorSink::collect(below.width(), &mut states, run)?;
            let states = states.chunks_exact(below.width());
            states.filter(|state| wanted(state)).min().map(<[u8]>::to_vec)
        }
    };
    Ok(found.map(|state| vec![state]))
}
