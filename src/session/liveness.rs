//! Whether all runs of a model have a property: its product with the automaton of what violates it is searched for an
//! accepting cycle, in memory.

use super::Watched;
use crate::exec::{Explain, Model, Step, StepOutcome, find_start};
use crate::reduce::claim::{ClaimProduct, EndedRuns, NeverClaim};
use crate::search::lasso::{Lasso, Probe, ProbeLimits, Probed, probe};
use spill::{Error, Result};

impl Watched {
    /// The product with a model that runs the program; nothing if nothing can violate the property.
    pub fn product<'m>(
        &'m self,
        model: impl Model + 'm,
        ended: EndedRuns,
    ) -> Option<ClaimProduct<'m>> {
        // Without a claim there is nothing that accepts a run.
        Some(NeverClaim::of(&self.model.interp)?.of_runs(ended).with(model))
    }
}

/// Searches a product for an accepting cycle.
pub fn probe_product(product: &ClaimProduct<'_>, limits: ProbeLimits) -> Result<Probe> {
    probe(product, &|state| product.is_accepting(state), limits)
}

/// The steps of a run, taken by the reference semantics: the start, each step, and that which leads back.
pub fn replay(model: &dyn Explain, lasso: &Lasso) -> Result<Vec<Step>> {
    let leads = |step: &Step, to: &[u8]| match &step.outcome {
        StepOutcome::Successor(state) => state == to,
        StepOutcome::Fault(_) => false,
    };
    let wrong =
        || Error::Source { reason: "its steps do not lead where expanding its states led".into() };
    let start = find_start(model, |_, step| leads(step, &lasso.states[0]));
    let mut steps = vec![start.ok_or_else(wrong)?.1];
    let after = lasso.states.iter().skip(1).chain([&lasso.states[lasso.back]]);
    for (from, to) in lasso.states.iter().zip(after) {
        let step = model.steps(from).into_iter().find(|step| leads(step, to));
        steps.push(step.ok_or_else(wrong)?);
    }
    Ok(steps)
}

/// The verdict of a probe, as reports call it.
pub fn verdict(found: &Probed) -> &'static str {
    match found {
        Probed::None => "verified",
        Probed::Found(_) => "violated",
        Probed::Open => "incomplete",
    }
}
