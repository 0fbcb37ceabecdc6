//! From a model that leaves states out back to the one whose states people know, a step at a time.
//!
//! A model that wraps another may visit representatives, or take several steps for one. A
//! counterexample is then lifted: through the outermost wrapper to steps of the model below it, each of
//! these through the next, and so on, down to a model that explains itself. Whatever a reduction does, what is shown
//! is a run of that model, replayed by it.

use super::{ActionCounts, Expansion, Model, StepOutcome, Violation};
use crate::ir::ActionId;
use spill::Result;

/// A model whose states stand for states of another, and its steps for one or more steps of that.
pub trait Lift {
    /// The model below.
    fn below(&self) -> &dyn Model;

    /// Whether a state of this model is here for one of the model below.
    fn stands_for(&self, own: &[u8], below: &[u8]) -> bool;

    /// The states of the model below on a way from `from`, one of them, which is left out, to one that `to`
    /// stands for; nothing if there is no way that this model could have taken. `own` is the state of this model
    /// that is here for `from`. [`one_step`] does for models whose steps are steps of the model below.
    fn way(&self, own: &[u8], from: &[u8], to: &[u8]) -> Result<Option<Vec<Vec<u8>>>>;

    /// The states of this model on a way from one of them, which is left out, to one that a step of it leads to, where it could
    /// also stop in between: it takes several steps as one. Nothing if there is no such way.
    fn stops(&self, own: &[u8], to: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
        let _ = (own, to);
        Ok(None)
    }

    /// The states of the model below on a way from one of them, which is left out, to one where `check` fails and for
    /// which the state of this model that is here for `from` is here, too. None are on the way unless this model's states
    /// are here for several that follow one another.
    fn within(&self, from: &[u8], check: Violation) -> Result<Vec<Vec<u8>>> {
        let _ = (from, check);
        Ok(Vec::new())
    }

    /// What else it may be that fails below where a check fails here: the same thing by other names.
    fn alike(&self, check: Violation) -> Vec<Violation> {
        let _ = check;
        Vec::new()
    }

    /// Whether it cannot be told of an action of the program below how often it is taken: this model has removed it, or it
    /// is one with others.
    fn leaves_out(&self, _action: ActionId) -> bool {
        false
    }

    /// How often each action of the program below was taken, where those that this model runs were so often.
    fn taken_below(&self, taken: ActionCounts) -> ActionCounts {
        taken
    }

    /// Whether each step of this model is one step of the model below.
    fn keeps_depth(&self) -> bool {
        true
    }
}

/// The steps down from a model to the one that explains it, the outermost first.
fn lifts(model: &dyn Model) -> impl Iterator<Item = &dyn Lift> {
    std::iter::successors(model.lifts(), |lift| lift.below().lifts())
}

/// The state below all, on the way that a model leaves open, in which `check` fails, where it fails in a state for which one
/// of the model is here.
pub fn lowest(model: &dyn Model, check: Violation, state: &[u8]) -> Result<Vec<u8>> {
    let mut state = state.to_vec();
    for lift in lifts(model) {
        if let Some(last) = lift.within(&state, check)?.pop() {
            state = last;
        }
    }
    Ok(state)
}

/// How often each action of the program that explains a model was taken, from how often those that the model runs were.
pub fn taken_as_written(model: &dyn Model, taken: ActionCounts) -> ActionCounts {
    lifts(model).fold(taken, |taken, lift| lift.taken_below(taken))
}

/// Whether it cannot be told of an action of the program that explains a model how often it is taken.
pub fn is_left_out(model: &dyn Model, action: ActionId) -> bool {
    lifts(model).any(|lift| lift.leaves_out(action))
}

/// Whether each step of a model is one step of the model that explains it.
pub fn keeps_depth(model: &dyn Model) -> bool {
    lifts(model).all(Lift::keeps_depth)
}

/// The successor of `from` below that `to` stands for: of several the first in the order of the
/// reference semantics, or, where the model below does not explain itself, the least. So it does not depend on who
/// runs the model.
pub fn one_step(lift: &dyn Lift, from: &[u8], to: &[u8]) -> Result<Option<Vec<Vec<u8>>>> {
    let below = lift.below();
    let wanted = |state: &[u8]| lift.stands_for(to, state);
    let found = match below.lifts() {
        None => {
            let outcomes = below.explained().steps(from).into_iter().map(|step| step.outcome);
            let mut states = outcomes.filter_map(|outcome| match outcome {
                StepOutcome::Successor(state) => Some(state),
                StepOutcome::Fault(_) => None,
            });
            states.find(|state| wanted(state))
        }
        Some(_) => {
            let mut states = Vec::new();
            let run = |out: &mut Expansion| below.expand(from, out);
            let _ = Expansion::collect(below.width(), &mut states, run)?;
            let states = states.chunks_exact(below.width());
            states.filter(|state| wanted(state)).min().map(<[u8]>::to_vec)
        }
    };
    Ok(found.map(|state| vec![state]))
}
