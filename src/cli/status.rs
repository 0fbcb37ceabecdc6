//! `status`: whether a search is running, for how long, and its position at the last checkpoint.

use super::args::StatusArgs;
use super::failure::{self, CommandFailure};
use super::next_commands::{self, CounterexampleShape};
use super::run_status::{status_heading, with_run_status};
use super::{CommandResult, liveness, print, print_json, temporary_searches, warnings};
use crate::model::EVENTUALLY;
use crate::report::{self, Report, ShorteningResult};
use crate::search::checkpoint::{DiskFigures, SavedSearch};
use crate::search::comback::RebuildStats;
use crate::search::memory_plan::ByteCount;
use crate::search::storage::SavedStorage;
use crate::search::{SearchOutcome, SearchVerdict};
use crate::session::{
    CheckpointEvidence, DirectoryContents, Error, SavedCheck, SearchDirectory, SearchSnapshot,
    SourceModel, shortened_in,
};
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// `spillway status`.
pub(super) fn status(args: &StatusArgs) -> CommandResult {
    match &args.dir {
        None => {
            let all = args.remove_stale.then_some(Duration::ZERO);
            temporary_searches::list(args.clean.or(all), args.json)
        }
        Some(dir) => match SavedCheck::load(dir)? {
            Some(check) if !args.json => status_of_check(dir, &check, args),
            _ => status_of(dir, args),
        },
    }
}

/// Prints the status of the searches of a check.
fn status_of_check(dir: &Path, check: &SavedCheck, args: &StatusArgs) -> CommandResult {
    for folder in &check.folders {
        let search = dir.join(folder);
        print(&format!("{folder}: "));
        match SearchDirectory::has_search(&search) {
            true => _ = status_of(&search, args)?,
            false => print("not started\n"),
        }
    }
    Ok(failure::VERIFIED)
}

/// Prints the status of the search in a directory.
fn status_of(dir: &Path, args: &StatusArgs) -> CommandResult {
    let contents = DirectoryContents::read(dir)?;
    let live = SearchSnapshot::of(dir, &contents);
    match &contents.job {
        job if job.runs().is_some() => liveness::status(dir, &contents, &live, args.json),
        job if job.is_of_rust_type() => status_of_rust_type(dir, &contents, &live, args),
        _ => status_of_levels(dir, contents, &live, args),
    }
}

/// Prints the status of a search for safety properties.
fn status_of_levels(
    dir: &Path,
    contents: DirectoryContents,
    live: &SearchSnapshot,
    args: &StatusArgs,
) -> CommandResult {
    let model = contents.job.source_model(dir)?;
    let saved = contents.saved.as_ref();
    with_report(dir, &contents, &*model, |report| {
        if args.json {
            print_json(&format!(
                "{:#}\n",
                with_run_status(report::result_as_json(report, &warnings()), live)
            ));
            return Ok(());
        }
        let is_decided = saved.is_some_and(|saved| saved.verdict != 0);
        let is_open = |it: &ShorteningResult| live.run_status.is_running && !it.is_done;
        let looking = report.shortened.take_if(|it| is_open(it)).map(looking);
        let opening = status_heading(live, !is_decided) + &looking.unwrap_or_default();
        print(&(opening + &report::print_result(report, None, true)));
        print_plan(saved, args);
        Ok(())
    })?;
    Ok(failure::VERIFIED)
}

/// Returns the verdict of a complete search in a directory, in the words of the command that searched.
pub(super) fn verdict(
    dir: &Path,
    contents: DirectoryContents,
    live: &SearchSnapshot,
) -> Result<String, CommandFailure> {
    let job = &contents.job;
    if job.is_of_rust_type() {
        return Ok(verdict_of_rust_type(&contents, &outcome_of_rust_type(dir, &contents)?));
    }
    if job.runs().is_some() {
        return liveness::verdict(dir, &contents, live);
    }
    let (model, mut told) = (job.source_model(dir)?, String::new());
    with_report(dir, &contents, &*model, |report| {
        told = report::print_verdict(report);
        Ok(())
    })?;
    Ok(told)
}

/// Passes the report of the search in a directory, at its last checkpoint, to a function.
pub(super) fn with_report(
    dir: &Path,
    contents: &DirectoryContents,
    model: &dyn SourceModel,
    and_then: impl FnOnce(&mut Report) -> Result<(), CommandFailure>,
) -> Result<(), CommandFailure> {
    let DirectoryContents { job, saved, bytes, .. } = contents;
    let limits = job.limits(None);
    let (reduced, about) = (model.searched(), model.about(&limits));
    let outcome = match saved {
        Some(saved) => {
            let (limits, sources) = (&limits, model.sources());
            CheckpointEvidence { saved, dir, limits, sources }.outcome(reduced.model())?
        }
        None => SearchOutcome::default(),
    };
    let preserved = reduced.stack().preserves();
    let found = report::violations(reduced.model(), preserved, model.sources(), &limits, &outcome);
    let disk = saved.as_ref().map_or(DiskFigures::default(), |saved| saved.disk);
    let mut report = Report {
        model_name: job.model_name(),
        language: job.language(),
        key_order: about.key_order,
        store: job.storage_name(),
        parts: saved.as_ref().map_or(&[], |saved| &saved.parts),
        rebuilt: rebuilt(saved.as_ref()),
        compiled: None,
        model: reduced.model(),
        reductions: reduced.summaries(&outcome.counters),
        unused: reduced.stack().unused_reductions(),
        trial: reduced.stack().trial().clone(),
        claim: about.claim,
        sources: model.sources(),
        conditions: model.conditions(),
        limits: &limits,
        scope: &about.scope,
        outcome: &outcome,
        seconds: saved.as_ref().map_or(0.0, |saved| saved.seconds),
        peak_rss_bytes: saved.as_ref().map_or(0, |saved| saved.peak_rss_bytes),
        shortened: shortened_in(dir, &found)?,
        eventually: Vec::new(),
        further: Vec::new(),
        disk: DiskFigures { peak: disk.peak.max(*bytes), ..disk },
        store_bytes: *bytes,
        dir: Some(dir.display().to_string()),
        next: Vec::new(),
    };
    if report.verdict() == SearchVerdict::Violated {
        let found = CounterexampleShape::of(&report);
        let commands = |found| next_commands::commands(model, found, report.dir.as_deref(), None);
        report.next = found.map(commands).unwrap_or_default();
    }
    and_then(&mut report)
}

/// Prints the status of a search of a Rust type. Only the program that defines the type can describe its violations.
fn status_of_rust_type(
    dir: &Path,
    contents: &DirectoryContents,
    live: &SearchSnapshot,
    args: &StatusArgs,
) -> CommandResult {
    let DirectoryContents { job, saved, bytes, .. } = contents;
    let outcome = outcome_of_rust_type(dir, contents)?;
    if args.json {
        let told = json!({
            "model": job.model_name(),
            "language": job.language(),
            "verdict": outcome.verdict.name(),
            "states": outcome.states(),
            "transitions": outcome.counters.transitions,
            "levels": outcome.levels.len(),
            "eventually": contents.promises.iter().map(report::promise_as_json).collect::<Vec<_>>(),
            "seconds": saved.as_ref().map_or(0.0, |saved| saved.seconds),
            "peak_rss_bytes": saved.as_ref().map_or(0, |saved| saved.peak_rss_bytes),
            "store_bytes": bytes,
            "warnings": warnings(),
            "dir": dir.display().to_string(),
        });
        print_json(&format!("{:#}\n", with_run_status(told, live)));
        return Ok(failure::VERIFIED);
    }
    print(&status_heading(live, outcome.verdict == SearchVerdict::Incomplete));
    print(&rust_type_as_text(dir, contents, &outcome));
    print_plan(saved.as_ref(), args);
    Ok(failure::VERIFIED)
}

/// Returns the outcome of a search of a Rust type at its last checkpoint.
pub(super) fn outcome_of_rust_type(
    dir: &Path,
    contents: &DirectoryContents,
) -> Result<SearchOutcome, CommandFailure> {
    let outcome = contents.saved.as_ref().map(SavedSearch::outcome).transpose();
    let outcome =
        outcome.map_err(|error| Error::Open(dir.to_path_buf(), error))?.unwrap_or_default();
    Ok(SearchOutcome { verdict: contents.verdict_with_runs(outcome.verdict), ..outcome })
}

/// Formats the outcome of a search of a Rust type.
pub(super) fn rust_type_as_text(
    dir: &Path,
    contents: &DirectoryContents,
    outcome: &SearchOutcome,
) -> String {
    let DirectoryContents { job, saved, promises, .. } = contents;
    let verdict = verdict_of_rust_type(contents, outcome);
    let rows: String = promises.iter().map(|it| report::row(EVENTUALLY, &it.summary())).collect();
    let states = report::count(outcome.states(), "state");
    let transitions = report::count(outcome.counters.transitions, "transition");
    let levels = report::count(outcome.levels.len() as u64, "level");
    let (seconds, resident) = saved.as_ref().map_or((0.0, 0), |it| (it.seconds, it.peak_rss_bytes));
    let took = format!("{seconds:.1} s, {} of memory", ByteCount(resident));
    report::wrapped("", &format!("{}: {verdict}", job.model_name()))
        + &report::row("found", &format!("{states}, {transitions}, {levels}; {took}"))
        + &rows
        + &report::row("kept in", &dir.display().to_string())
}

/// Returns the known part of the verdict of a search of a Rust type.
fn verdict_of_rust_type(contents: &DirectoryContents, outcome: &SearchOutcome) -> String {
    let broken = contents.promises.iter().find(|it| it.broken.is_some());
    let visited_all = contents.saved.as_ref().is_some_and(SavedSearch::is_verified);
    match (outcome.verdict, broken) {
        (SearchVerdict::Verified, _) => {
            "verified: every reachable state was visited, no violation".into()
        }
        (SearchVerdict::Violated, Some(it)) if visited_all => {
            format!("VIOLATED: {EVENTUALLY}: {}", it.name)
        }
        (SearchVerdict::Violated, _) => {
            "VIOLATED: the program that created this directory reports the violation".into()
        }
        (SearchVerdict::Incomplete, _) if visited_all => {
            "incomplete: every reachable state was visited; the \
            rest is decided by the program that created this directory"
                .into()
        }
        (SearchVerdict::Incomplete, _) => "incomplete: the search is not complete".to_owned(),
    }
}

/// Prints the memory plan of the last session, if requested.
fn print_plan(saved: Option<&SavedSearch>, args: &StatusArgs) {
    let saved = saved.filter(|_| args.verbose);
    saved.iter().for_each(|saved| print(&format!("{}\n", saved.plan)));
}

/// Describes a running search for a shorter counterexample.
fn looking(so_far: ShorteningResult) -> String {
    let states = report::count(so_far.states, "state");
    format!("  searching for a shorter counterexample: {states} so far\n")
}

/// Returns the work of reconstructing states up to a checkpoint, if the storage does that.
fn rebuilt(saved: Option<&SavedSearch>) -> Option<RebuildStats> {
    let saved = saved.filter(|saved| matches!(saved.storage, SavedStorage::Comback(_)))?;
    Some(saved.frontier.rebuilt)
}
