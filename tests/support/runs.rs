//! Our Murphi models, and the check that counterexamples are runs of the model as written.
#![allow(dead_code)]

use super::support::{begin_or_resume, tiny_plan};
use spill::{Disk, RealDisk};
use spillway::exec::Interp;
use spillway::front::{Options, murphi};
use spillway::model::{StateSpace, StepOutcome, SystemDescription, Violation};
use spillway::search::trace::{ReplayedTrace, StoredLevels, counterexample};
use spillway::search::{self, SearchControl, SearchLimits};
use spillway::source::SourceMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub fn load(file: &Path, defines: &[(String, i64)]) -> Interp {
    let mut sources = SourceMap::default();
    let bytes = std::fs::read(file).unwrap();
    sources.add(file.display().to_string(), String::from_utf8_lossy(&bytes));
    let options = Options { defines: defines.to_vec(), ..Options::default() };
    let loaded = murphi::LANGUAGE
        .load(&mut sources, &options)
        .unwrap_or_else(|errors| panic!("{}", errors[0].render(&sources)));
    Interp::new(loaded.program).unwrap()
}

/// Returns every configuration about which a header of our models has an expectation, each once.
pub fn configurations() -> Vec<(String, Interp)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/murphi");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut configurations = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let mut seen = Vec::new();
        for line in text.lines().filter_map(|line| line.strip_prefix("-- expect: ")) {
            let defines: Vec<(String, i64)> = line
                .split_whitespace()
                .filter_map(|word| word.split_once('='))
                .filter(|(name, _)| name.starts_with(|c: char| c.is_ascii_uppercase()))
                .map(|(name, value)| (name.to_owned(), value.parse().unwrap()))
                .collect();
            if !seen.contains(&defines) {
                let name = format!("{} {defines:?}", file.display());
                configurations.push((name, load(&file, &defines)));
                seen.push(defines);
            }
        }
    }
    configurations
}

/// Returns the outcome of a search, and a counterexample to each finding.
pub fn explore(model: &dyn StateSpace) -> (search::SearchOutcome, Vec<ReplayedTrace>) {
    let limits = SearchLimits { stop_on_violation: true, ..SearchLimits::default() };
    let dir = tempfile::tempdir().unwrap();
    let disk: Arc<dyn Disk> = Arc::new(RealDisk::open(dir.path()).unwrap());
    let plan = tiny_plan(2, model.width(), 20_000, 100_000);
    let control = SearchControl::default();
    let mut search = begin_or_resume(model, &disk, plan, &limits, &control).unwrap();
    let outcome = search.run().unwrap();
    let levels = search.store().levels().saved();
    let levels = StoredLevels { disk: &*disk, levels, codec: search.store().codec() };
    let trace = |(check, finding): (Violation, &spillway::model::Finding)| {
        counterexample(model, levels, 2, check, finding).unwrap()
    };
    let traces = outcome.findings.iter().map(trace).collect();
    (outcome, traces)
}

/// Checks that a trace is a run of this model.
pub fn assert_is_run(name: &str, model: &Interp, trace: &ReplayedTrace) {
    let mut options = model.starts();
    for (number, step) in trace.steps.iter().enumerate() {
        assert!(options.contains(step), "{name}: step {number}, {}, is not enabled", step.name);
        match &step.outcome {
            StepOutcome::Successor(state) => {
                assert_eq!(trace.states[number], *state, "{name}: step {number}");
                options = model.steps(state);
            }
            StepOutcome::Fault(_) => assert_eq!(number + 1, trace.steps.len(), "{name}: goes on"),
        }
    }
    let last = trace.steps.last().unwrap();
    match (trace.check, &last.outcome) {
        (Violation::Fault(kind, action), StepOutcome::Fault(fault)) => {
            assert_eq!((fault.kind, last.action), (kind, action), "{name}");
        }
        (check, StepOutcome::Successor(state)) => {
            assert!(model.violations(state).contains(&check), "{name}: {check:?} holds");
        }
        (check, fault) => panic!("{name}: {check:?} ends in {fault:?}"),
    }
}
