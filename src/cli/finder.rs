//! What the states of a search that is kept are looked through with.

use crate::exec::{Exec, Model};
use crate::search::Control;
use crate::search::trace::Finder;
use crate::session::{Budget, threads_to_trace};
use spill::RealDisk;
use std::path::Path;

/// Searches of fewer states than this are looked through by the interpreter: compiling takes longer.
const COMPILED_MIN: u64 = 100_000;

/// What there is to trace the ways of a search of so many states in.
pub(super) fn budget(memory: u64, states: u64) -> Budget {
    let exec = if states < COMPILED_MIN { Exec::Interp } else { Exec::Jit };
    Budget { memory, threads: None, exec, goes_on: true, counts: false }
}

/// What ways are looked for with in the search in a directory.
pub(super) fn finder<'a>(
    model: &'a dyn Model,
    memory: u64,
    (dir, disk): (&'a Path, &'a RealDisk),
    control: &'a Control,
) -> Finder<'a> {
    let threads = threads_to_trace(memory, model.width());
    Finder { model, disk, threads, control, folder: Some(dir) }
}
