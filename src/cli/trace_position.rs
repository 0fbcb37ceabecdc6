//! Where a walk begins: at the start, or behind a step of a counterexample that a search keeps.

use super::failure::CommandFailure;
use super::trace::CheckpointedSearch;
use super::{CommandResult, liveness, trace};
use crate::model::{StepDescription, StepOutcome, SystemDescription};
use crate::report::{ViolationReport, count};
use crate::session::{DirectoryContents, SearchDirectory, TextModel, trace_directory};
use std::path::{Path, PathBuf};

/// Behind which step of which counterexample.
pub(super) struct TracePosition {
    dir: PathBuf,
    /// The last one, if nothing is said.
    step: Option<u64>,
}

/// Where a walk has come to before it begins.
pub(super) struct WalkStart<'b> {
    /// The model whose texts are told.
    pub model: &'b TextModel,
    /// Who takes its steps.
    pub walked: &'b dyn SystemDescription,
    /// The states that it came through.
    pub states: Vec<Vec<u8>>,
    /// What the counterexample is to.
    pub to: String,
}

impl TracePosition {
    /// What a flag says: `DIR` or `DIR:STEP`. A directory that is called so is meant as a whole.
    pub fn read(text: &str) -> TracePosition {
        let split = text.rsplit_once(':').filter(|_| !SearchDirectory::has_search(Path::new(text)));
        let with_step = split.and_then(|(dir, step)| Some((dir, step.parse().ok()?)));
        match with_step {
            Some((dir, step)) => TracePosition { dir: dir.into(), step: Some(step) },
            None => TracePosition { dir: text.into(), step: None },
        }
    }

    /// Walks on from there, if the search is one of this model.
    pub fn walk(
        &self,
        model: &TextModel,
        walk: impl FnOnce(WalkStart<'_>) -> CommandResult,
    ) -> CommandResult {
        let dir = trace_directory(&self.dir)?;
        let contents = DirectoryContents::read(&dir)?;
        let job = &contents.job;
        if !job.is_of(model) {
            let (name, shown) = (job.model_name(), self.dir.display());
            return Err(CommandFailure::wrong(format!(
                "{shown} keeps a search of another model than {}: of {name}, as it was when that search began\n  \
                 help: give the same text and the same --define; `spillway explain` shows a model",
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
        let model = job.model(&dir)?;
        let search = CheckpointedSearch { dir: &dir, job, model: &model, saved };
        trace::with_violations(&search, None, |found| {
            let violation = found.violations.first().ok_or_else(|| self.no_counterexample())?;
            let way = found.counterexample(violation)?;
            let mut states = TraceStates::default();
            way.each_step(&mut |step, _| states.add(step));
            let ViolationReport { kind, name, .. } = violation;
            let (states, to) = (self.first(states)?, format!("{kind}: {name}"));
            walk(WalkStart { model: &model, walked: way.explained(), states, to })
        })
    }

    /// There is no counterexample.
    fn no_counterexample(&self) -> CommandFailure {
        let dir = self.dir.display();
        CommandFailure::wrong(format!(
            "no violation has been found in {dir}, so there is no step to begin at"
        ))
    }

    /// The states up to the one behind the step that is meant.
    fn first(
        &self,
        TraceStates { mut all, is_faulty }: TraceStates,
    ) -> Result<Vec<Vec<u8>>, CommandFailure> {
        let dir = self.dir.display();
        let Some(last) = all.len().checked_sub(1) else {
            return Err(CommandFailure::wrong(format!(
                "the counterexample in {dir} is an error at the start, and has no state to begin in"
            )));
        };
        let steps = count(last as u64 + u64::from(is_faulty), "step");
        match self.step {
            Some(step) if step > last as u64 => Err(CommandFailure::wrong(format!(
                "there is no state behind step {step}: the counterexample in {dir} has {steps}{}\n  \
                 help: `--from {dir}:{last}` begins at its end",
                if is_faulty { ", and the last one is at fault and leads to none" } else { "" }
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
    /// Whether its last step leads to none.
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
