//! Weakly fair runs of a product with a rewritten program, as runs of the product with the program as written.
//!
//! Each step of the rewritten program is a step of the program as written that is fair to the same processes. Two steps
//! to states with the same representative may be fair to different processes. So the replay chooses the steps of the
//! cycle by their processes.

use super::replayed_run::ReplayedRun;
use crate::model::{
    FairSteps as _, ProcessSet, StateSpace, StepDescription, StepOutcome, find_start,
};
use crate::reduce::claim::{ClaimProduct, FairProduct};
use crate::search::lasso::Lasso;
use crate::search::trace::ConcreteLasso;
use spill::{Error, Result};

/// Replays weakly fair runs.
#[derive(Clone, Copy)]
pub(super) struct FairReplay<'p> {
    /// The product with the program as written.
    pub written: &'p ClaimProduct<'p>,
    /// The product with the searched program.
    pub fair: &'p FairProduct<'p>,
    /// The searched product.
    pub searched: &'p dyn StateSpace,
}

impl FairReplay<'_> {
    /// Replays a run. Returns an error if its cycle is not weakly fair, or not accepting.
    pub fn run(&self, lasso: &Lasso) -> Result<ReplayedRun> {
        if lasso.states.len() != lasso.back + lasso.fair_to.len() {
            return Err(wrong("the processes of some steps of the loop are unknown"));
        }
        let reached = |step: &StepDescription| self.reached(step, &lasso.states[0]);
        let start = find_start(self.written, |_, step| reached(step).is_some());
        let start = start.ok_or_else(ConcreteLasso::lost)?.1;
        let mut at = reached(&start).ok_or_else(ConcreteLasso::lost)?;
        let (first, mut steps) = (at.clone(), vec![start]);
        let ConcreteLasso { states, back, closes } =
            ConcreteLasso::follow(lasso, first, |from, to| {
                let set = from.checked_sub(lasso.back).map(|it| lasso.fair_to[it]);
                let (step, state) = self.step(&at, to, set)?;
                steps.push(step);
                at.clone_from(&state);
                Ok(state)
            })?;
        steps.truncate(states.len());
        let all = ProcessSet::first(self.fair.processes());
        let left_out = lasso.fair_to.iter().fold(all, |left, set| left.without(*set));
        let mut round = states[back..].iter();
        match left_out.is_empty() && round.any(|it| self.written.is_accepting(it)) {
            true => Ok(ReplayedRun { steps, back, closes }),
            false => Err(wrong("the loop that was found is not weakly fair")),
        }
    }

    /// Returns the step from a state to one that a searched state represents, and that state. If `set` is given, the
    /// step is fair to exactly these processes.
    fn step(
        &self,
        from: &[u8],
        to: &[u8],
        set: Option<ProcessSet>,
    ) -> Result<(StepDescription, Vec<u8>)> {
        let steps = self.fair.steps_in(self.written, from).into_iter();
        let mut steps = steps.filter(|(_, fair_to)| set.is_none_or(|set| *fair_to == set));
        let found = steps.find_map(|(step, _)| Some((self.reached(&step, to)?, step)));
        let other = "a step of its loop is fair to other processes than when it was found";
        found.map(|(state, step)| (step, state)).ok_or_else(|| wrong(other))
    }

    /// Returns the state that a step reaches, if a searched state represents it.
    fn reached(&self, step: &StepDescription, searched: &[u8]) -> Option<Vec<u8>> {
        let StepOutcome::Successor(state) = &step.outcome else { return None };
        let is_represented = match self.searched.capabilities().simulation {
            None => state == searched,
            Some(simulation) => simulation.represents(searched, state),
        };
        is_represented.then(|| state.clone())
    }
}

fn wrong(what: &str) -> Error {
    Error::Source { reason: what.into() }
}
