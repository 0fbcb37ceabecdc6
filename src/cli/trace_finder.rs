//! The executor that reads the states of a saved search.

use crate::exec::ExecutionMode;
use crate::model::StateSpace;
use crate::search::SearchControl;
use crate::search::trace::TraceFinder;
use crate::session::{SearchBudget, threads_to_trace};
use spill::RealDisk;
use std::path::Path;

/// The number of states from which a model is compiled to trace paths. For fewer states, compilation takes longer than
/// interpretation.
const COMPILED_MIN: u64 = 100_000;

/// Returns the budget of tracing paths in a search of this many states.
pub(super) fn budget(memory: u64, states: u64) -> SearchBudget {
    let exec = if states < COMPILED_MIN { ExecutionMode::Interp } else { ExecutionMode::Jit };
    SearchBudget { memory, threads: None, exec, goes_on: true, counts: false }
}

/// Returns the trace finder of the search in a directory.
pub(super) fn finder<'a>(
    model: &'a dyn StateSpace,
    memory: u64,
    dir: &'a Path,
    disk: &'a RealDisk,
    control: &'a SearchControl,
) -> TraceFinder<'a> {
    let threads = threads_to_trace(memory, model.width());
    TraceFinder { model, disk, threads, control, folder: Some(dir) }
}
