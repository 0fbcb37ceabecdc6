//! Violating runs, replayed by the reference semantics.

use crate::model::{StateSpace, StepDescription, StepOutcome, SystemDescription, find_start};
use crate::search::lasso::Lasso;
use crate::search::liveness::nested_dfs::ProbeVerdict;
use crate::search::trace::ConcreteLasso;

/// Returns the steps of a lasso by the reference semantics: the initial step, each step, and the closing step.
pub fn replay(model: &dyn SystemDescription, lasso: &Lasso) -> spill::Result<Vec<StepDescription>> {
    let states: Vec<&[u8]> = lasso.states.iter().map(Vec::as_slice).collect();
    steps_through(model, &[&states[..], &states[lasso.back..=lasso.back]].concat())
}

/// A lasso of a reduced product as a run of the unreduced product. Its steps are those of the reference semantics.
pub struct ReplayedRun {
    /// The initial step, each step, and the closing step.
    pub steps: Vec<StepDescription>,
    /// The number of the step after which the cycle begins.
    pub back: usize,
    /// Whether the last step leads to the start of the cycle, and not to a state that is only equivalent to it.
    pub closes: bool,
}

impl ReplayedRun {
    /// Replays a lasso of a model.
    pub fn of(model: &dyn StateSpace, lasso: &Lasso) -> spill::Result<ReplayedRun> {
        let ConcreteLasso { states, back, closes } = ConcreteLasso::of(model, lasso)?;
        let states: Vec<&[u8]> = states.iter().map(Vec::as_slice).collect();
        Ok(ReplayedRun { steps: steps_through(model.description(), &states)?, back, closes })
    }
}

/// Returns the steps through these states. The first is an initial state.
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

/// Returns the verdict of a probe as reports name it.
pub fn verdict(found: &ProbeVerdict) -> &'static str {
    match found {
        ProbeVerdict::None => "verified",
        ProbeVerdict::Found(_) => "violated",
        ProbeVerdict::Open => "incomplete",
    }
}
