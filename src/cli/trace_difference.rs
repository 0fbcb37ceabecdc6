//! `trace A --diff B`: where two counterexamples part, and in what their states then differ.

use super::args::TraceArgs;
use super::failure::{CommandFailure, VERIFIED, VIOLATED};
use super::trace_position::with_found_trace;
use super::{CommandResult, print, print_json, warnings};
use crate::model::{StepDescription, StepOutcome};
use crate::report::{
    ComparedStep, ComparedTrace, difference_as_json, find_difference, print_difference,
};
use crate::session::{DirectoryContents, FoundTrace, trace_directory};
use std::path::Path;

/// `spillway trace --diff` of the searches in two directories.
pub(super) fn compare(args: &TraceArgs, dir: &Path, other: &Path) -> CommandResult {
    let [one, other] = [(args.dir.as_path(), dir), (other, &trace_directory(other)?)]
        .map(|(shown, dir)| read(shown, dir));
    let (one, other) = (one?, other?);
    let difference = find_difference(&one, &other);
    match args.json {
        true => {
            let told = difference_as_json([&one, &other], &difference, &warnings());
            print_json(&format!("{told:#}\n"));
        }
        false => print(&print_difference([&one, &other], &difference)),
    }
    Ok(if difference.is_none() { VERIFIED } else { VIOLATED })
}

/// Reads the counterexample of the search in a directory.
fn read(shown: &Path, dir: &Path) -> Result<ComparedTrace, CommandFailure> {
    let name = shown.display().to_string();
    let mut read = None;
    with_found_trace(dir, &DirectoryContents::read(dir)?, |found| {
        let found = found.ok_or_else(|| {
            CommandFailure::wrong(format!("no counterexample has been found in {name}"))
        })?;
        let steps = steps_of(&found);
        read = Some(ComparedTrace { name: name.clone(), violation: found.to, steps });
        Ok(VIOLATED)
    })?;
    read.ok_or_else(super::trace::none_to_print)
}

fn steps_of(found: &FoundTrace<'_>) -> Vec<ComparedStep> {
    let step_of = |it: &StepDescription| {
        let (values, fault) = match &it.outcome {
            StepOutcome::Successor(state) => (found.walked.describe(state), None),
            StepOutcome::Fault(fault) => (Vec::new(), Some(fault.title())),
        };
        ComparedStep { title: it.title(), values, fault }
    };
    found.steps.iter().map(step_of).collect()
}
