//! Whether all runs of a model have a property: its product with the automaton of what violates it is searched for an
//! accepting cycle, first in memory, here, then [on disk](super::Pursuit).

use super::LivenessCheck;
use crate::ir::{Claim, Entity as _, Location, LocationId, Urgency};
use crate::ltl::{AutomatonComponents, ComponentClass};
use crate::model::{StateSpace, StepDescription, StepOutcome, SystemDescription, find_start};
use crate::reduce::claim::{ClaimProduct, FiniteRunPolicy, NeverClaim};
use crate::search::SearchControl;
use crate::search::lasso::Lasso;
use crate::search::liveness::in_memory::probe;
use crate::search::liveness::nested_dfs::{ProbeLimits, ProbeResult, ProbeVerdict};
use crate::search::trace::ConcreteLasso;

impl LivenessCheck {
    /// The product with a model that runs the program; nothing if nothing can violate the property.
    pub fn product<'m>(
        &'m self,
        model: impl StateSpace + 'm,
        ended: FiniteRunPolicy,
    ) -> Option<ClaimProduct<'m>> {
        // Without a claim there is nothing that accepts a run.
        let claim = NeverClaim::of(&self.model.interp)?;
        let product = claim.over_infinite_runs(ended).with(model);
        AcceptingComponents::of(product.claim()).are_some().then_some(product)
    }
}

/// Searches a product for an accepting cycle, in memory, until told to stop.
pub fn probe_product(
    product: &ClaimProduct<'_>,
    limits: ProbeLimits,
    control: &SearchControl,
) -> spill::Result<ProbeResult> {
    probe_reduced(product, product, limits, control)
}

/// The same of what reductions leave of it.
pub fn probe_reduced(
    reduced: &dyn StateSpace,
    product: &ClaimProduct<'_>,
    limits: ProbeLimits,
    control: &SearchControl,
) -> spill::Result<ProbeResult> {
    probe(reduced, &|state| product.is_accepting(state), limits, control)
}

/// The steps of a run, taken by the reference semantics: the start, each step, and that which leads back.
pub fn replay(model: &dyn SystemDescription, lasso: &Lasso) -> spill::Result<Vec<StepDescription>> {
    let states: Vec<&[u8]> = lasso.states.iter().map(Vec::as_slice).collect();
    steps_through(model, &[&states[..], &states[lasso.back..=lasso.back]].concat())
}

/// A run that was found in a product that is reduced, as a run of the product before: its steps, taken by the reference
/// semantics, and where the loop begins.
pub struct ReplayedRun {
    /// The start, each step, and that which leads back.
    pub steps: Vec<StepDescription>,
    /// The number of the step behind which the loop begins.
    pub back: usize,
    /// Whether the last step leads to where the loop began, and not to a state that only goes on as from there.
    pub closes: bool,
}

impl ReplayedRun {
    /// That of a run through a model.
    pub fn of(model: &dyn StateSpace, lasso: &Lasso) -> spill::Result<ReplayedRun> {
        let ConcreteLasso { states, back, closes } = ConcreteLasso::of(model, lasso)?;
        let states: Vec<&[u8]> = states.iter().map(Vec::as_slice).collect();
        Ok(ReplayedRun { steps: steps_through(model.description(), &states)?, back, closes })
    }
}

/// The steps through some states, the first of which is an initial one.
fn steps_through(
    model: &dyn SystemDescription,
    states: &[&[u8]],
) -> spill::Result<Vec<StepDescription>> {
    let leads = |step: &StepDescription, to: &[u8]| match &step.outcome {
        StepOutcome::Successor(state) => state == to,
        StepOutcome::Fault(_) => false,
    };
    let wrong = || spill::Error::Source {
        reason: "its steps do not lead where expanding its states led".into(),
    };
    let start = find_start(model, |_, step| leads(step, states[0]));
    let mut steps = vec![start.ok_or_else(wrong)?.1];
    for (from, to) in states.iter().zip(&states[1..]) {
        let step = model.steps(from).into_iter().find(|step| leads(step, to));
        steps.push(step.ok_or_else(wrong)?);
    }
    Ok(steps)
}

/// The components of a claim in which there are accepting cycles.
pub struct AcceptingComponents {
    /// The one that each location is in, if it is in any.
    of_location: Vec<Option<usize>>,
    /// Whether all cycles in these are accepting.
    are_weak: bool,
}

impl AcceptingComponents {
    /// Those of a claim.
    pub fn of(claim: &Claim) -> AcceptingComponents {
        let mut graph = vec![Vec::new(); claim.locations.len()];
        claim.moves.iter().for_each(|it| graph[it.from.index()].push(it.to.index()));
        let accepts: Vec<bool> = claim.locations.values().map(|it| it.accepting).collect();
        let found = AutomatonComponents::of_graph(&graph, &accepts);
        let counts = |&it: &usize| found.classes[it] != ComponentClass::Rejecting;
        let of_location = found.of_state.iter().map(|&it| Some(it).filter(counts)).collect();
        // What an atomic sequence passes by is no place where a run rests.
        let is_passed = |at: &Location| at.urgency != Urgency::Free;
        let are_weak =
            found.class() <= ComponentClass::Weak && !claim.locations.values().any(is_passed);
        AcceptingComponents { of_location, are_weak }
    }

    fn are_some(&self) -> bool {
        self.of_location.iter().any(Option::is_some)
    }

    /// The one that a claim at a location is in, if it is in any.
    pub fn component(&self, at: LocationId) -> Option<usize> {
        self.of_location[at.index()]
    }

    /// Whether all cycles in them are accepting.
    pub fn are_weak(&self) -> bool {
        self.are_weak
    }
}

/// The verdict of a probe, as reports call it.
pub fn verdict(found: &ProbeVerdict) -> &'static str {
    match found {
        ProbeVerdict::None => "verified",
        ProbeVerdict::Found(_) => "violated",
        ProbeVerdict::Open => "incomplete",
    }
}
