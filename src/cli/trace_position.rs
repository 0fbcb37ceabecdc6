//! The start of a walk: an initial state, or a step of a saved counterexample.

use super::failure::CommandFailure;
use super::trace::CheckpointedSearch;
use super::{CommandResult, liveness, trace};
use crate::model::{StepDescription, StepOutcome, SystemDescription};
use crate::report::{ViolationReport, count};
use crate::session::{DirectoryContents, SearchDirectory, SourceModel, trace_directory};
use std::path::{Path, PathBuf};

/// A step of a counterexample.
pub(super) struct TracePosition {
    dir: PathBuf,
    /// The number of the step. `None`: the last one.
    step: Option<u64>,
}

/// The part of a walk before its start.
pub(super) struct WalkStart<'b> {
    /// The model that provides the texts.
    pub model: &'b dyn SourceModel,
    /// The system that takes the steps.
    pub walked: &'b dyn SystemDescription,
    /// The states so far.
    pub states: Vec<Vec<u8>>,
    /// The violation that the counterexample leads to.
    pub to: String,
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
        walk: impl FnOnce(WalkStart<'_>) -> CommandResult,
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
        if job.runs().is_some() {
            return liveness::with_run(&dir, &contents, |(model, walked), to, steps| {
                let steps = steps.ok_or_else(|| self.no_counterexample())?;
                let mut states = TraceStates::default();
                steps.iter().for_each(|it| states.add(it));
                walk(WalkStart { model, walked, states: self.first(states)?, to: to.to_owned() })
            });
        }
        let Some(saved) = &contents.saved else { return Err(self.no_counterexample()) };
        let model = job.source_model(&dir)?;
        let search = CheckpointedSearch { dir: &dir, job, model: &*model, saved };
        trace::with_violations(&search, None, |found| {
            let violation = found.violations.first().ok_or_else(|| self.no_counterexample())?;
            let way = found.counterexample(violation)?;
            let mut states = TraceStates::default();
            way.each_step(&mut |step, _| states.add(step));
            let ViolationReport { kind, name, .. } = violation;
            let (states, to) = (self.first(states)?, format!("{kind}: {name}"));
            walk(WalkStart { model: &*model, walked: way.explained(), states, to })
        })
    }

    /// Returns the failure that there is no counterexample.
    fn no_counterexample(&self) -> CommandFailure {
        let dir = self.dir.display();
        CommandFailure::wrong(format!(
            "no violation has been found in {dir}, so there is no step to start from"
        ))
    }

    /// Returns the states up to the one after the selected step.
    fn first(
        &self,
        TraceStates { mut all, is_faulty }: TraceStates,
    ) -> Result<Vec<Vec<u8>>, CommandFailure> {
        let dir = self.dir.display();
        let Some(last) = all.len().checked_sub(1) else {
            return Err(CommandFailure::wrong(format!(
                "the counterexample in {dir} is an error in the initial state, and has no state to start from"
            )));
        };
        let steps = count(last as u64 + u64::from(is_faulty), "step");
        match self.step {
            Some(step) if step > last as u64 => Err(CommandFailure::wrong(format!(
                "there is no state after step {step}: the counterexample in {dir} has {steps}{}\n  help: `--from \
                 {dir}:{last}` starts at its end",
                if is_faulty { ", and the last one fails" } else { "" }
            ))),
            step => {
                all.truncate(step.map_or(last, |it| it as usize) + 1);
                Ok(all)
            }
        }
    }
}

/// The states of a counterexample.
#[derive(Default)]
struct TraceStates {
    all: Vec<Vec<u8>>,
    /// Whether its last step fails and so has no state.
    is_faulty: bool,
}

impl TraceStates {
    fn add(&mut self, step: &StepDescription) {
        match &step.outcome {
            StepOutcome::Successor(state) => self.all.push(state.clone()),
            StepOutcome::Fault(_) => self.is_faulty = true,
        }
    }
}
