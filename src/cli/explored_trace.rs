//! The counterexample that the explorer or the debugger opens.

use super::model_walk::ModelWalk;
use crate::session::{FoundTrace, SearchJob};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// What the explorer opens: a model, and a counterexample if one was found.
// Only the explorer and the debugger read it.
#[cfg_attr(not(any(feature = "editors", feature = "http")), expect(dead_code))]
#[derive(Clone)]
pub(super) struct ExploredModel {
    /// The model.
    pub job: SearchJob,
    /// The counterexample.
    pub trace: Option<ExploredTrace>,
    /// The directory of the search, if it has states of the model.
    #[cfg_attr(not(feature = "http"), expect(dead_code))]
    pub dir: Option<PathBuf>,
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
            dir: None,
        });
    }

    /// Returns the counterexample, if there is one.
    pub(super) fn take(&self) -> Option<ExploredModel> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
