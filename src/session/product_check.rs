//! The product of a model and an automaton, with the fairness assumption on its runs.

use super::composite_runs::{CompositeRuns, MergedTransitions};
use super::fair_run::FairReplay;
use super::replayed_run::ReplayedRun;
use super::{Fairness, LivenessCheck, SearchedModel};
use crate::model::{FairSteps, StepDescription, StepOutcome};
use crate::reduce::claim::{ClaimProduct, FairProduct};
use crate::reduce::rewriting::RewrittenProgram;
use crate::search::SearchControl;
use crate::search::lasso::Lasso;
use crate::search::liveness::fair_scc::probe_fair;
use crate::search::liveness::in_memory::{probe, probe_with_hunts};
use crate::search::liveness::nested_dfs::{ProbeLimits, ProbeResult, ProbeVerdict};
use crate::search::liveness::shortest_lasso::{AcceptingRuns, ShorterRun, shortest};

/// A product and the runs that are checked: all runs, or those that are fair to the processes of the model.
pub struct ProductCheck<'p, 'm> {
    /// The check of the model.
    pub check: &'p LivenessCheck,
    /// The product.
    pub product: &'p ClaimProduct<'p>,
    /// The reduced product.
    pub searched: &'p SearchedModel<'m>,
    /// The product with the searched program, if runs must be fair. It has the states and transitions of `searched`.
    fair: Option<FairProduct<'p>>,
    shortening: Option<RunShortening<'m>>,
    /// The merged transitions of the program of the searched product, if there are some.
    merged: Option<MergedTransitions<'p>>,
    /// Whether the search in memory hunts.
    hunts: bool,
}

/// The search for a shorter run than the one that was found.
pub struct RunShortening<'m> {
    /// A model with the runs of the searched model and more.
    pub all_steps: SearchedModel<'m>,
    /// The most states that are visited.
    pub states: u64,
    /// Whether only runs are shortened that a search for a violating state found.
    pub only_of_invariants: bool,
}

impl<'p, 'm> ProductCheck<'p, 'm> {
    /// Creates the check of all runs of a product.
    pub fn new(
        check: &'p LivenessCheck,
        product: &'p ClaimProduct<'p>,
        searched: &'p SearchedModel<'m>,
    ) -> ProductCheck<'p, 'm> {
        let (fair, shortening, merged, hunts) = (None, None, None, false);
        ProductCheck { check, product, searched, fair, shortening, merged, hunts }
    }

    /// Restricts the check to the weakly fair runs, if `fair` is the product with the searched program.
    pub fn with_fairness(self, fair: Option<FairProduct<'p>>) -> Self {
        ProductCheck { fair, ..self }
    }

    /// Sets the program of the searched product, if transitions are merged in it.
    pub fn with_merged(self, rewritten: Option<&'p RewrittenProgram>) -> Self {
        let written = &self.check.model.interp;
        let merged = rewritten.map(|rewritten| MergedTransitions { written, rewritten });
        ProductCheck { merged, ..self }
    }

    /// Returns a verdict on the searched product with its run in a product in which each transition is a step. If
    /// transitions of the program are merged, that is the product with the program as written.
    pub fn with_all_steps(
        &self,
        found: ProbeVerdict,
        control: &SearchControl,
    ) -> spill::Result<ProbeVerdict> {
        let proviso = self.searched.model().capabilities().cycle_proviso;
        let chained = proviso.and_then(|it| it.chained_steps());
        let Some(RunShortening { all_steps, .. }) = &self.shortening else { return Ok(found) };
        if chained.is_none() && self.merged.is_none() {
            return Ok(found);
        }
        let (product, merged) = (self.product, self.merged);
        CompositeRuns { product, all_steps: all_steps.model(), chained, merged }
            .expanded(found, control)
    }

    /// Sets the search for a shorter run. With fairness there is none. Runs of chains and of merged transitions need it:
    /// its model has their steps.
    pub fn with_shortening(self, shortening: Option<RunShortening<'m>>) -> ProductCheck<'p, 'm> {
        ProductCheck { shortening: shortening.filter(|_| self.fair.is_none()), ..self }
    }

    /// Returns whether a shorter run is searched for than one that was found by a search for a violating state, or
    /// otherwise.
    pub fn shortens(&self, is_by_invariant: bool) -> bool {
        self.shortening.as_ref().is_some_and(|it| is_by_invariant || !it.only_of_invariants)
    }

    /// Returns the most states that the search for a shorter run visits.
    pub fn shortening_states(&self) -> u64 {
        self.shortening.as_ref().map_or(0, |it| it.states)
    }

    /// Sets whether the search in memory hunts.
    pub fn with_hunts(self, hunts: bool) -> Self {
        ProductCheck { hunts, ..self }
    }

    /// Returns the fairness assumption.
    pub fn fairness(&self) -> Fairness {
        match self.fair {
            None => Fairness::None,
            Some(_) => Fairness::Weak,
        }
    }

    /// Returns the processes to which steps are fair, if fairness is assumed.
    pub fn fair_steps(&self) -> Option<&dyn FairSteps> {
        self.fair.as_ref().map(|it| it as &dyn FairSteps)
    }

    /// Searches for an accepting cycle in memory, until the control stops it.
    pub fn probe(
        &self,
        limits: ProbeLimits,
        control: &SearchControl,
    ) -> spill::Result<ProbeResult> {
        let (product, model) = (self.product, self.searched.model());
        let accepts = |state: &[u8]| product.is_accepting(state);
        let result = match &self.fair {
            None if self.hunts => probe_with_hunts(model, &accepts, limits, control),
            None => probe(model, &accepts, limits, control),
            Some(fair) => probe_fair(model, fair, &accepts, limits, control),
        }?;
        Ok(ProbeResult { found: self.with_all_steps(result.found, control)?, ..result })
    }

    /// Searches in memory for a shorter run than a given one, until the control stops it. Without
    /// a [`RunShortening`] it returns `None`.
    pub fn find_shorter_run(
        &self,
        found: &Lasso,
        limits: ProbeLimits,
        control: &SearchControl,
    ) -> spill::Result<Option<ShorterRun>> {
        let Some(RunShortening { all_steps, .. }) = &self.shortening else { return Ok(None) };
        let accepts = |state: &[u8]| self.product.is_accepting(state);
        let decides = |state: &[u8]| self.product.is_decided(state);
        let runs = AcceptingRuns {
            model: all_steps.model(),
            accepts: &accepts,
            decides: self.product.may_be_decided().then_some(&decides),
        };
        shortest(runs, found.clone(), limits, control).map(Some)
    }

    /// Returns the point of a run from which every continuation violates the property, if there is one: the number of
    /// the step before it and the state. The automaton of the run may reach its verdict later.
    pub fn violation_point(&self, steps: &[StepDescription]) -> Option<(usize, Vec<u8>)> {
        let state = |step: &StepDescription| match &step.outcome {
            StepOutcome::Successor(state) => Some(state.clone()),
            StepOutcome::Fault(_) => None,
        };
        let states: Vec<Vec<u8>> = steps.iter().map_while(state).collect();
        let at = states.iter().position(|it| self.product.is_decided(it))?;
        Some((at, states[at].clone()))
    }

    /// Replays a run for display. Verifies that it is fair, if fairness is assumed.
    pub fn replay(&self, lasso: &Lasso) -> spill::Result<ReplayedRun> {
        match self.fair.as_ref().filter(|it| it.processes() > 0) {
            Some(fair) => {
                let (written, searched) = (self.product, self.searched.model());
                FairReplay { written, fair, searched }.run(lasso)
            }
            None => {
                let all_steps = self.shortening.as_ref().map_or(self.searched, |it| &it.all_steps);
                ReplayedRun::of(all_steps.model(), lasso)
            }
        }
    }
}
