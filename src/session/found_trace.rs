//! Counterexamples with the models that describe them.

use super::{ReplayedRun, SearchJob, SourceModel};
use crate::model::{StepDescription, SystemDescription};
use crate::report::ViolationReport;
use crate::search::trace::Counterexample;

/// Receives each counterexample of a check, with the job of its search.
pub type TraceVisitor<'v> = dyn FnMut(&SearchJob, &FoundTrace<'_>) + 'v;

/// A counterexample, with the model that describes it.
pub struct FoundTrace<'t> {
    /// The model that provides the texts.
    pub model: &'t dyn SourceModel,
    /// The system that describes the steps.
    pub walked: &'t dyn SystemDescription,
    /// The initial state, then each step. The last step may fail.
    pub steps: Vec<StepDescription>,
    /// The number of the step after which a cycle begins, if the last step closes one.
    pub loop_start: Option<usize>,
    /// The violation.
    pub to: String,
}

impl<'t> FoundTrace<'t> {
    /// Returns the counterexample to a violation of a property of states.
    pub fn of_counterexample(
        model: &'t dyn SourceModel,
        violation: &ViolationReport,
        way: &'t Counterexample<'_>,
    ) -> FoundTrace<'t> {
        let mut steps = Vec::new();
        way.each_step(&mut |step, _| steps.push(step.clone()));
        let ViolationReport { kind, name, .. } = violation;
        let (walked, to) = (way.explained(), format!("{kind}: {name}"));
        FoundTrace { model, walked, steps, loop_start: None, to }
    }

    /// Returns a run that violates the property of this name.
    pub fn of_run(
        model: &'t dyn SourceModel,
        walked: &'t dyn SystemDescription,
        run: ReplayedRun,
        name: &str,
    ) -> FoundTrace<'t> {
        let ReplayedRun { steps, back, closes } = run;
        FoundTrace { model, walked, steps, loop_start: closes.then_some(back), to: name.to_owned() }
    }
}
