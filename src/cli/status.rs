//! `status` and `trace`: what a search directory tells without searching on.

use super::args::{StatusArgs, TraceArgs, cores};
use super::directory::Contents;
use super::failure::{self, Failure};
use super::model::Model;
use super::{Ending, print};
use crate::exec::{Check, Claimed};
use crate::front::Language;
use crate::front::promela::trail;
use crate::report::{self, Report, Violation};
use crate::search::checkpoint::{DiskFigures, Saved};
use crate::search::comback::Rebuilt;
use crate::search::storage::SavedStorage;
use crate::search::trace::{Trace, counterexample};
use crate::search::{Limits, Outcome, Storage, comback};
use spill::{Disk, RealDisk};
use std::path::Path;

/// `spillway status`.
pub(super) fn status(args: &StatusArgs) -> Ending {
    let Contents { job, saved, bytes, running } = Contents::read(&args.dir)?;
    let model = job.model(&args.dir)?;
    let limits = job.limits(None);
    let outcome = match &saved {
        Some(saved) => outcome(&model, saved, &args.dir)?,
        None => Outcome::default(),
    };
    let disk = saved.as_ref().map_or(DiskFigures::default(), |saved| saved.disk);
    let reduced = model.searched();
    let report = Report {
        model_name: job.model_name(),
        language: job.language(),
        key_order: model.key_order(),
        store: job.storage_name(),
        parts: saved.as_ref().map_or(&[], |saved| &saved.parts),
        rebuilt: rebuilt(saved.as_ref()),
        compiled: None,
        model: reduced.model(),
        reductions: reduced.reductions(),
        claim: reduced.claimed().map(Claimed::name),
        sources: &model.sources,
        limits: &limits,
        outcome: &outcome,
        seconds: saved.as_ref().map_or(0.0, |saved| saved.seconds),
        peak_rss_bytes: saved.as_ref().map_or(0, |saved| saved.peak_rss_bytes),
        disk: DiskFigures { peak: disk.peak.max(bytes), ..disk },
        store_bytes: bytes,
        dir: Some(args.dir.display().to_string()),
    };
    match args.json {
        true => print(&format!("{:#}\n", report::result(&report))),
        false => {
            let state = if running { "running" } else { "not running" };
            print(&format!("{state}; at the last checkpoint:\n{}", report::print_result(&report)));
            saved.iter().for_each(|saved| print(&format!("{}\n", saved.plan)));
        }
    }
    Ok(failure::VERIFIED)
}

/// What was done to rebuild states up to a checkpoint, if states are rebuilt.
fn rebuilt(saved: Option<&Saved>) -> Option<Rebuilt> {
    let saved = saved.filter(|saved| matches!(saved.storage, SavedStorage::Comback(_)))?;
    Some(saved.frontier.rebuilt)
}

/// `spillway trace`.
pub(super) fn trace(args: &TraceArgs) -> Ending {
    let Contents { job, saved, .. } = Contents::read(&args.dir)?;
    let model = job.model(&args.dir)?;
    let limits = job.limits(None);
    let disk = RealDisk::open(&args.dir).map_err(|error| Failure::opening(&args.dir, error))?;
    let Some(saved) = saved else {
        print("no checkpoint yet, so no counterexample\n");
        return Ok(failure::VERIFIED);
    };
    let found = found(&model, &limits, &saved, &args.dir)?;
    let mut traces = Vec::new();
    for (number, violation) in found.iter().enumerate() {
        let trace = counterexample_of(&model, &disk, &saved, cores(), violation, &args.dir)?;
        if let Some(path) = args.spin_trail.as_deref().filter(|_| number == 0) {
            write_spin_trail(path, &model, &trace)?;
        }
        match args.json {
            true => {
                traces.push(report::trace(
                    model.searched().model(),
                    &model.sources,
                    violation,
                    &trace,
                ));
            }
            false => {
                let text = report::print_trace(
                    model.searched().model(),
                    &model.sources,
                    violation,
                    &trace,
                );
                print(&format!("{text}\n"));
            }
        }
    }
    match args.json {
        true => print(&format!("{:#}\n", serde_json::json!({ "counterexamples": traces }))),
        false if found.is_empty() => print("no violation has been found\n"),
        false => {}
    }
    Ok(if found.is_empty() { failure::VERIFIED } else { failure::VIOLATED })
}

/// Writes a counterexample as SPIN would have.
fn write_spin_trail(path: &Path, model: &Model, trace: &Trace) -> Result<(), Failure> {
    if model.language != Language::Promela {
        return Err(Failure::wrong(
            "only counterexamples of Promela models can be replayed by SPIN",
        ));
    }
    let mut sources = model.sources.clone();
    let numbers = trail::numbers(&mut sources, &model.options)
        .map_err(|diagnostic| Failure::model(&[diagnostic], &sources))?;
    let (searched, ends) = (model.searched(), trace.states.last());
    // The claim's moves to its end come after the last state.
    let last = searched.claimed().zip(ends).filter(|_| matches!(trace.check, Check::Property(_)));
    let last = last.and_then(|(claimed, state)| claimed.last_moves(state)).unwrap_or_default();
    std::fs::write(path, trail::print(&trace.steps, &last, &numbers)).map_err(|error| {
        Failure::wrong(format!("cannot write the trail {}: {error}", path.display()))
    })
}

/// The counterexample to the shallowest violation, as text.
pub(super) fn first_counterexample(
    model: &Model,
    limits: &Limits,
    disk: &dyn Disk,
    saved: &Saved,
    threads: usize,
    dir: &Path,
) -> Result<String, Failure> {
    match found(model, limits, saved, dir)?.first() {
        None => Ok(String::new()),
        Some(violation) => {
            let trace = counterexample_of(model, disk, saved, threads, violation, dir)?;
            Ok(report::print_trace(model.searched().model(), &model.sources, violation, &trace))
        }
    }
}

fn found(
    model: &Model,
    limits: &Limits,
    saved: &Saved,
    dir: &Path,
) -> Result<Vec<Violation>, Failure> {
    let outcome = outcome(model, saved, dir)?;
    Ok(report::violations(model.searched().model(), &model.sources, limits, &outcome))
}

/// What is known at a checkpoint of `model`'s search.
fn outcome(model: &Model, saved: &Saved, dir: &Path) -> Result<Outcome, Failure> {
    let outcome = saved.check_model(model.searched().model()).and_then(|()| saved.outcome());
    outcome.map_err(|error| Failure::opening(dir, error))
}

fn counterexample_of(
    model: &Model,
    disk: &dyn Disk,
    saved: &Saved,
    threads: usize,
    violation: &Violation,
    dir: &Path,
) -> Result<Trace, Failure> {
    let trace = || {
        let findings = saved.all_findings()?;
        let (_, finding) = findings
            .iter()
            .find(|(check, _)| *check == violation.check)
            .unwrap_or_else(|| unreachable!("violations are made from these findings"));
        let (reduced, check) = (model.searched(), violation.check);
        let model = reduced.model();
        let codec = match saved.storage()? {
            Storage::Sorted(codec) => codec,
            Storage::Comback(_) => {
                let (levels, witness) = (&saved.store.levels, &finding.witness);
                return comback::counterexample(model, disk, levels, check, witness);
            }
        };
        let levels = (&saved.store.levels, &codec);
        let (level, witness) = (finding.level, &finding.witness);
        counterexample(model, disk, levels, threads, check, level, witness)
    };
    trace().map_err(|error| Failure::opening(dir, error))
}
