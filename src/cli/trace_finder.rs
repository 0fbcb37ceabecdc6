//! What the states of a search that is kept are looked through with.

use crate::exec::ExecutionMode;
use crate::model::StateSpace;
use crate::search::SearchControl;
use crate::search::trace::TraceFinder;
use crate::session::{SearchBudget, threads_to_trace};
use spill::RealDisk;
use std::path::Path;

/// Searches of fewer states than this are looked through by the interpreter: compiling takes longer.
const COMPILED_MIN: u64 = 100_000;

/// What there is to trace the ways of a search of so many states in.
pub(super) fn budget(memory: u64, states: u64) -> SearchBudget {
    let exec = if states < COMPILED_MIN { ExecutionMode::Interp } else { ExecutionMode::Jit };
    SearchBudget { memory, threads: None, exec, goes_on: true, counts: false }
}

/// What ways are looked for with in the search in a directory.
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
