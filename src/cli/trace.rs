//! `trace`, and the counterexample of `check`: paths to violations, reconstructed within the memory budget.

use super::args::TraceArgs;
use super::failure::{self, CommandFailure};
use super::progress::ProgressDisplay;
use super::signals::SignalHandlers;
use super::trace_finder::{budget, finder};
use super::trail::WrittenTrail;
use super::{CommandResult, print, print_json, trail, variable_filter, warnings};
use crate::report::{self, CheckScope, TraceDisplayOptions, TraceFormat, ViolationReport};
use crate::search::SearchControl;
use crate::search::checkpoint::SavedSearch;
use crate::search::trace::{Counterexample, TraceFinder};
use crate::session::{CheckpointEvidence, SearchJob, SourceModel, shortened_in};
use crate::source::SourceMap;
use spill::RealDisk;
use std::path::Path;
use std::sync::Arc;

/// `spillway trace` of the search in a directory, with its job and its last checkpoint.
pub(super) fn trace(
    args: &TraceArgs,
    dir: &Path,
    job: &SearchJob,
    saved: Option<SavedSearch>,
) -> CommandResult {
    let model = job.source_model(dir)?;
    let model = &*model;
    variable_filter::refuse_unknown(&args.view.view().only, model)?;
    let scope = model.about(&job.limits(None)).scope;
    let view = args.view.view();
    let shown =
        TraceListing { json: args.json, scope: &scope, view: &view, sources: model.sources() };
    let Some(saved) = saved else {
        shown.print_no_checkpoint();
        return Ok(failure::VERIFIED);
    };
    let search = CheckpointedSearch { dir, job, model, saved: &saved };
    if let Some(format) = args.format {
        return with_violations(&search, args.memory, |found| {
            print_in_format(found, format.into(), model)
        });
    }
    with_violations(&search, args.memory, |found| {
        shown.begin();
        let mut written = None;
        for (number, violation) in found.violations.iter().enumerate() {
            let way = found.counterexample(violation)?;
            if let Some(path) = args.spin_trail.as_deref().filter(|_| number == 0) {
                written = Some(trail::write_counterexample(path, model, &way)?);
            }
            shown.print(number, violation, &way);
        }
        if !args.json {
            found.unreached.iter().for_each(|it| print(&report::print_violated(it)));
        }
        let is_none = found.violations.is_empty() && (args.json || found.unreached.is_empty());
        shown.end(is_none);
        written.into_iter().for_each(WrittenTrail::say);
        // The exit code refers to the trail, which was written.
        let is_clean = found.violations.is_empty() && found.unreached.is_empty();
        let is_clean = is_clean || args.spin_trail.is_some();
        Ok(if is_clean { failure::VERIFIED } else { failure::VIOLATED })
    })
}

/// Prints the first counterexample in a format of other tools.
fn print_in_format(
    found: &TracedViolations<'_>,
    format: TraceFormat,
    model: &dyn SourceModel,
) -> CommandResult {
    let violation = found.violations.first().ok_or_else(none_to_print)?;
    let (way, sources) = (found.counterexample(violation)?, model.sources());
    let ending = report::CounterexampleEnd::of(violation, &way, sources);
    print(&report::format_counterexample(format, model.name(), sources, &ending, &way));
    Ok(failure::VIOLATED)
}

pub(super) fn none_to_print() -> CommandFailure {
    CommandFailure::wrong("no counterexample has been found")
}

/// The violations of a search in a directory, and the finder of their paths.
pub(super) struct TracedViolations<'f> {
    /// The violations of safety properties, shallowest first.
    pub violations: Vec<ViolationReport>,
    /// The reachability properties that no state satisfies.
    unreached: Vec<ViolationReport>,
    evidence: &'f CheckpointEvidence<'f>,
    finder: TraceFinder<'f>,
}

impl<'f> TracedViolations<'f> {
    /// Returns the counterexample to a violation.
    pub fn counterexample(
        &self,
        violation: &ViolationReport,
    ) -> Result<Counterexample<'f>, CommandFailure> {
        self.evidence.find(&self.finder, violation.check)?.ok_or_else(|| {
            CommandFailure::of_code(failure::STOPPED, "stopped before the counterexample was found")
        })
    }
}

/// The search in a directory at its last checkpoint.
pub(super) struct CheckpointedSearch<'s> {
    pub dir: &'s Path,
    pub job: &'s SearchJob,
    pub model: &'s dyn SourceModel,
    pub saved: &'s SavedSearch,
}

/// Passes the violations of the search in a directory to a function.
pub(super) fn with_violations(
    search: &CheckpointedSearch<'_>,
    memory: Option<u64>,
    and_then: impl FnOnce(&TracedViolations<'_>) -> CommandResult,
) -> CommandResult {
    let CheckpointedSearch { dir, job, model, saved } = *search;
    let limits = job.limits(None);
    let opened = RealDisk::open(dir);
    let disk = opened.map_err(|error| CommandFailure::cannot_open(dir, error))?;
    let states = saved.store.levels.keys_by_level().sum();
    let budget = budget(memory.unwrap_or(saved.plan.budget), states);
    let shown = ProgressDisplay::of_wait("compiling the model".into());
    let searched = model.searched_within(budget);
    drop(shown);
    let evidence = CheckpointEvidence { saved, dir, limits: &limits, sources: model.sources() };
    let found = evidence.violations(&searched)?.into_iter();
    let (mut violations, nowhere) = found.partition::<Vec<_>, _>(ViolationReport::has_trace);
    if shortened_in(dir, &violations)?.is_some_and(|it| it.is_done) {
        violations.iter_mut().take(1).for_each(|it| it.shortest = true);
    }
    let control = Arc::new(SearchControl::default());
    SignalHandlers::stop(&control);
    let finder = finder(searched.model(), budget.memory, dir, &disk, &control);
    and_then(&TracedViolations { violations, unreached: nowhere, evidence: &evidence, finder })
}

/// The text around the counterexamples.
struct TraceListing<'s> {
    json: bool,
    scope: &'s CheckScope,
    view: &'s TraceDisplayOptions,
    sources: &'s SourceMap,
}

impl TraceListing<'_> {
    fn begin(&self) {
        let [checked, ..] = report::scope_as_json(self.scope);
        if self.json {
            print_json(&format!(
                "{{\n{},\n  \"counterexamples\": [",
                member(checked.0, &checked.1)
            ));
        }
    }

    /// Prints a counterexample, the first one with the number 0.
    fn print(&self, number: usize, violation: &ViolationReport, way: &Counterexample) {
        let TraceListing { view, sources, .. } = *self;
        if self.json {
            print_json(if number == 0 { "\n    " } else { ",\n    " });
            report::write_json_trace(sources, violation, way, "    ", &mut |it| print_json(it));
            return;
        }
        let ending = report::CounterexampleEnd::of(violation, way, sources);
        report::write_trace(sources, view, &ending, way, &mut |it| print(it));
        // The heading may have scrolled away.
        print(&report::print_violated(&ending.violation));
        print(&ending.rows());
        print("\n");
    }

    /// Prints the text for a search without a checkpoint.
    fn print_no_checkpoint(&self) {
        match self.json {
            true => {
                self.begin();
                self.end(true);
            }
            false => {
                let scope = report::print_scope(self.scope);
                print(&format!("no checkpoint yet, so no counterexample\n{scope}"));
            }
        }
    }

    /// Prints the text after the last counterexample, or without any.
    fn end(&self, is_none: bool) {
        match (self.json, is_none) {
            (true, none) => {
                let [_, rest @ ..] = report::scope_as_json(self.scope);
                let warned = ("warnings", warnings().into());
                let rest: Vec<_> =
                    rest.iter().chain([&warned]).map(|it| member(it.0, &it.1)).collect();
                let end = if none { "]" } else { "\n  ]" };
                print_json(&format!("{end},\n{}\n}}\n", rest.join(",\n")));
            }
            (false, true) => {
                let checked = self.scope.checked();
                let says = format!("no violation has been found; checked: {checked}");
                print(&report::wrapped("", &says));
                print(&report::print_scope(self.scope));
            }
            (false, false) => {}
        }
    }
}

/// Formats a member of the JSON object, on lines of its own.
fn member(key: &str, value: &serde_json::Value) -> String {
    format!("  \"{key}\": {}", format!("{value:#}").replace('\n', "\n  "))
}
