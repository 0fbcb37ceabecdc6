//! What the explorer and the debugger open: a model in a file, or the counterexample in a search directory.

use super::command::ModelInput;
use super::explored_trace::{ExploredModel, ExploredTrace};
use super::failure::{CommandFailure, VERIFIED};
use super::model;
use super::trace_position::with_found_trace;
use crate::session::{DirectoryContents, trace_directory};
use std::path::Path;

/// Reads the model and the counterexample of a search directory.
pub(super) fn of_directory(path: &Path) -> Result<ExploredModel, CommandFailure> {
    let dir = trace_directory(path)?;
    let (contents, mut trace) = (DirectoryContents::read(&dir)?, None);
    with_found_trace(&dir, &contents, |found| {
        trace = found.as_ref().map(ExploredTrace::of);
        Ok(VERIFIED)
    })?;
    let has_states = contents.saved.is_some() && contents.job.runs().is_none();
    let dir = has_states.then_some(dir);
    Ok(ExploredModel { job: contents.job, trace, dir })
}

/// Reads the model in a file. Warnings go to standard error.
pub(super) fn of_file(input: &ModelInput) -> Result<ExploredModel, CommandFailure> {
    Ok(ExploredModel { job: model::job_of_walks(input)?, trace: None, dir: None })
}
