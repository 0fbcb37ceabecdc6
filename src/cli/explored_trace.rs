//! Counterexamples with the models that describe them, and the one that the explorer opens.

use super::model_walk::ModelWalk;
use crate::model::{StepDescription, SystemDescription};
use crate::report::ViolationReport;
use crate::search::trace::Counterexample;
use crate::session::{ReplayedRun, SearchJob, SourceModel};
use std::sync::{Mutex, PoisonError};

/// A counterexample, with the model that describes it.
pub(super) struct FoundTrace<'t> {
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
    pub(super) fn of_counterexample(
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
    pub(super) fn of_run(
        model: &'t dyn SourceModel,
        walked: &'t dyn SystemDescription,
        run: ReplayedRun,
        name: &str,
    ) -> FoundTrace<'t> {
        let ReplayedRun { steps, back, closes } = run;
        FoundTrace { model, walked, steps, loop_start: closes.then_some(back), to: name.to_owned() }
    }
}

/// What the explorer opens: a model, and a counterexample if one was found.
// Without the explorer nobody reads it.
#[cfg_attr(not(feature = "http"), expect(dead_code))]
#[derive(Clone)]
pub(super) struct ExploredModel {
    /// The model.
    pub job: SearchJob,
    /// The counterexample.
    pub trace: Option<ExploredTrace>,
}

/// A counterexample as the choices of its steps. They do not depend on the memory of the model that described them.
#[derive(Clone)]
pub(super) struct ExploredTrace {
    /// The number of the initial state, then that of each step among the steps of its state.
    pub choices: Vec<usize>,
    /// The number of the step after which a cycle begins, if the last step closes one.
    pub loop_start: Option<usize>,
    /// The violation.
    pub to: String,
}

impl ExploredTrace {
    /// Returns the choices of a counterexample.
    pub(super) fn of(found: &FoundTrace<'_>) -> ExploredTrace {
        let FoundTrace { model, walked, steps, loop_start, to } = found;
        let choices = ModelWalk::along(*model, *walked, steps).choices();
        ExploredTrace { choices, loop_start: *loop_start, to: to.clone() }
    }
}

/// The first counterexample of a check, kept for the explorer.
#[derive(Default)]
pub(super) struct KeptTrace(Mutex<Option<ExploredModel>>);

impl KeptTrace {
    /// Keeps a counterexample, unless there is one.
    pub(super) fn keep(&self, job: &SearchJob, found: &FoundTrace<'_>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get_or_insert_with(|| ExploredModel {
            job: job.clone(),
            trace: Some(ExploredTrace::of(found)),
        });
    }

    /// Returns the counterexample, if there is one.
    pub(super) fn take(&self) -> Option<ExploredModel> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
