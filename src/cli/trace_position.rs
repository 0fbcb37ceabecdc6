//! The start of a walk: an initial state, or a step of a saved counterexample.

use super::failure::CommandFailure;
use super::model_walk::ModelWalk;
use super::trace::CheckpointedSearch;
use super::{CommandResult, liveness, trace};
use crate::model::{StepDescription, StepOutcome};
use crate::report::count;
use crate::session::{
    DirectoryContents, FoundTrace, SearchDirectory, SearchJob, SourceModel, trace_directory,
};
use std::path::{Path, PathBuf};

/// A step of a counterexample.
pub(super) struct TracePosition {
    dir: PathBuf,
    /// The number of the step. `None`: the last one.
    step: Option<u64>,
}

/// The part of a walk before its start.
pub(super) struct WalkStart<'b> {
    /// The walk so far. Its last step has not failed.
    pub walk: ModelWalk<'b>,
    /// The job, which reads the model again.
    pub job: &'b SearchJob,
    /// The violation that the counterexample leads to.
    pub to: String,
}

/// Passes the counterexample of the search in a directory to a function, if there is one.
pub(super) fn with_found_trace(
    dir: &Path,
    contents: &DirectoryContents,
    and_then: impl FnOnce(Option<FoundTrace<'_>>) -> CommandResult,
) -> CommandResult {
    let job = &contents.job;
    if job.runs().is_some() {
        return liveness::with_run(dir, contents, |(model, walked), to, run| {
            and_then(run.map(|run| FoundTrace::of_run(model, walked, run, to)))
        });
    }
    let Some(saved) = &contents.saved else { return and_then(None) };
    let model = job.source_model(dir)?;
    let search = CheckpointedSearch { dir, job, model: &*model, saved };
    trace::with_violations(&search, None, |found| {
        let Some(violation) = found.violations.first() else { return and_then(None) };
        let way = found.counterexample(violation)?;
        and_then(Some(FoundTrace::of_counterexample(&*model, violation, &way)))
    })
}

impl TracePosition {
    /// Parses the value of a flag: `DIR` or `DIR:STEP`. If the whole value is a search directory, it is taken as one.
    pub fn read(text: &str) -> TracePosition {
        let split = text.rsplit_once(':').filter(|_| !SearchDirectory::has_search(Path::new(text)));
        let with_step = split.and_then(|(dir, step)| Some((dir, step.parse().ok()?)));
        match with_step {
            Some((dir, step)) => TracePosition { dir: dir.into(), step: Some(step) },
            None => TracePosition { dir: text.into(), step: None },
        }
    }

    /// Passes the start to a walk, if the search is of this model.
    pub fn walk(
        &self,
        model: &dyn SourceModel,
        walk_from: impl FnOnce(WalkStart<'_>) -> CommandResult,
    ) -> CommandResult {
        let dir = trace_directory(&self.dir)?;
        let contents = DirectoryContents::read(&dir)?;
        let job = &contents.job;
        if !job.is_of(model) {
            let (name, shown) = (job.model_name(), self.dir.display());
            return Err(CommandFailure::wrong(format!(
                "{shown} holds a search of another model than {}: of {name}, with the text from the start of that \
                 search\n  help: use the same text and the same --define; `spillway explain` shows a model",
                model.name()
            )));
        }
        with_found_trace(&dir, &contents, |found| {
            let found = found.ok_or_else(|| self.no_counterexample())?;
            let FoundTrace { model, walked, steps, to, .. } = found;
            let walk = ModelWalk::along(model, walked, self.first(&steps)?);
            walk_from(WalkStart { walk, job, to })
        })
    }

    /// Returns the failure that there is no counterexample.
    fn no_counterexample(&self) -> CommandFailure {
        let dir = self.dir.display();
        CommandFailure::wrong(format!(
            "no violation has been found in {dir}, so there is no step to start from"
        ))
    }

    /// Returns the steps up to the selected one.
    fn first<'s>(
        &self,
        steps: &'s [StepDescription],
    ) -> Result<&'s [StepDescription], CommandFailure> {
        let dir = self.dir.display();
        let fails = |it: &StepDescription| matches!(it.outcome, StepOutcome::Fault(_));
        let is_faulty = steps.last().is_some_and(fails);
        let states = steps.len() - usize::from(is_faulty);
        let Some(last) = states.checked_sub(1) else {
            return Err(CommandFailure::wrong(format!(
                "the counterexample in {dir} is an error in the initial state, and has no state to start from"
            )));
        };
        let all = count(last as u64 + u64::from(is_faulty), "step");
        match self.step {
            Some(step) if step > last as u64 => Err(CommandFailure::wrong(format!(
                "there is no state after step {step}: the counterexample in {dir} has {all}{}\n  help: `--from \
                 {dir}:{last}` starts at its end",
                if is_faulty { ", and the last one fails" } else { "" }
            ))),
            step => Ok(&steps[..=step.map_or(last, |it| it as usize)]),
        }
    }
}
