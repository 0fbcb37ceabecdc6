//! The steps of a walk through a model.

use super::changes::StepValues;
use super::steps::{StepCallback, StepSequence};
use crate::model::{StepDescription, StepOutcome, SystemDescription};

/// The steps of a walk from an initial state on.
pub struct WalkedSteps<'w> {
    /// The model that describes the states.
    pub model: &'w dyn SystemDescription,
    /// The initial state, then each step. Only the last step may fail.
    pub steps: Vec<&'w StepDescription>,
}

impl WalkedSteps<'_> {
    /// Visits each step with the values around it. A failing step has the values that it reached, if it had begun.
    pub(super) fn each(&self, visit: &mut StepCallback<'_>) {
        let mut before = Vec::new();
        for step in &self.steps {
            let state = match &step.outcome {
                StepOutcome::Successor(state) => Some(state),
                StepOutcome::Fault(fault) => fault.reached.as_ref(),
            };
            let after = state.map_or_else(Vec::new, |it| self.model.describe(it));
            visit(step, StepValues { before: &before, after: &after });
            before = after;
        }
    }

    /// Passes the steps to a function.
    pub(super) fn with_steps<T>(&self, and_then: impl FnOnce(&StepSequence<'_>) -> T) -> T {
        and_then(&StepSequence {
            last: (self.steps.len() as u64).saturating_sub(1),
            loop_start: None,
            visit_all: &|visit| self.each(visit),
        })
    }
}
