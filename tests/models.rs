//! Every model of this repository has the results in its header (`tests/support/promises.rs`).
//!
//! Each configuration is explored by the oracle and by the external search with little memory, and its counterexample
//! is replayed. With `SPILLWAY_LARGE`, the external search alone explores larger configurations.

mod support;

use spill::{Disk, RealDisk};
use spillway::exec::{ExecutionMode, Executor, FairExpander, Interp};
use spillway::front::{CycleLabel, Language, Options};
use spillway::model::{StateSpace, memory};
use spillway::reduce::PreservedProperties;
use spillway::reduce::claim::{ClaimProduct, FairProduct};
use spillway::reduce::symmetry::SymmetryModel;
use spillway::report::{ViolationReport, violations};
use spillway::search::liveness::nested_dfs::{ProbeLimits, ProbeVerdict};
use spillway::search::trace::{StoredLevels, counterexample};
use spillway::search::{MemoryPlan, SearchControl, SearchLimits, SearchOutcome};
use spillway::session::{Fairness, LivenessCheck, ProductCheck, PropertyRequest, verdict};
use spillway::source::SourceMap;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use support::promises::{Promise, RunsPromise, models, promises, runs};
use support::{begin_or_resume, tiny_plan};

fn load(file: &Path, text: &str, defines: &[(String, i64)]) -> (Interp, SourceMap) {
    let mut sources = SourceMap::default();
    sources.add(file.display().to_string(), text);
    let options = Options { defines: defines.to_vec(), ..Options::default() };
    let language = Language::from_file_name(&file.to_string_lossy()).unwrap();
    let loaded = language.load(&mut sources, &options).unwrap_or_else(|errors| {
        let errors: Vec<_> = errors.iter().map(|it| it.render(&sources).to_string()).collect();
        panic!("{}", errors.join("\n"))
    });
    assert!(loaded.warnings.is_empty(), "{}: {:?}", file.display(), loaded.warnings);
    spillway::ir::validate::validate(&loaded.program).unwrap();
    (Interp::new(loaded.program).unwrap(), sources)
}

/// The results of a search, in the terms of a header.
fn fields(outcome: &SearchOutcome, found: &[ViolationReport]) -> BTreeMap<String, String> {
    let mut fields = BTreeMap::from([
        ("verdict".to_string(), outcome.verdict.name().to_string()),
        ("states".into(), outcome.states().to_string()),
        ("transitions".into(), outcome.counters.transitions.to_string()),
        ("levels".into(), outcome.levels.len().to_string()),
        ("deadlocks".into(), outcome.deadlocks().to_string()),
    ]);
    if let Some(first) = found.first() {
        fields.insert("kind".into(), first.kind.into());
        fields.insert("depth".into(), first.depth.to_string());
    }
    fields
}

#[test]
fn every_model_has_the_results_of_its_header() {
    let large = support::is_large();
    let (mut configurations, mut states) = (0, 0);
    for file in models() {
        let text = std::fs::read_to_string(&file).unwrap();
        for promise in promises(&file, &text) {
            if large || !promise.large {
                states += check(&file, &text, &promise);
                configurations += 1;
            }
        }
    }
    println!("{configurations} configurations, {states} states");
}

fn check(file: &Path, text: &str, promise: &Promise) -> u64 {
    let limits = SearchLimits { stop_on_violation: false, ..SearchLimits::default() };
    let (interp, sources) = load(file, text, &promise.defines);
    let symmetric = promise.symmetry.map(|effort| {
        let symmetric = SymmetryModel::new(&interp, interp.program(), interp.layout(), effort);
        symmetric.unwrap_or_else(|| panic!("{}: nothing is symmetric", promise.place))
    });
    let claimed = ClaimProduct::new(&interp, &interp);
    let model: &dyn StateSpace = match (&symmetric, &claimed) {
        (Some(symmetric), _) => symmetric,
        (None, Some(claimed)) => claimed,
        (None, None) => &interp,
    };
    let dir = tempfile::tempdir().unwrap();
    let disk: Arc<dyn Disk> = Arc::new(RealDisk::open(dir.path()).unwrap());
    let plan = match promise.large {
        false => tiny_plan(2, model.width(), 1000, 5000),
        true => MemoryPlan::new(256 << 20, 16 << 20, 2, model.width()).unwrap(),
    };
    let control = SearchControl::default();
    let mut search = begin_or_resume(model, &disk, plan, &limits, &control).unwrap();
    let outcome = search.run().unwrap();
    if !promise.large {
        assert_eq!(outcome, memory::search(model, &limits).unwrap(), "{}", promise.place);
    }
    let found = violations(model, PreservedProperties::ALL, &sources, &limits, &outcome);
    assert_eq!(fields(&outcome, &found), promise.fields, "{}", promise.place);
    for violation in &found {
        let (_, finding) =
            outcome.findings.iter().find(|(check, _)| *check == violation.check).unwrap();
        let levels = search.store().levels().saved();
        let levels = StoredLevels { disk: &*disk, levels, codec: search.store().codec() };
        let trace = counterexample(model, levels, 2, violation.check, finding).unwrap();
        assert_eq!(trace.depth() as u64, violation.depth, "{}", promise.place);
    }
    outcome.states()
}

#[test]
fn every_model_has_the_liveness_results_of_its_header() {
    let mut verdicts: BTreeMap<String, u32> = BTreeMap::new();
    let (mut property_count, mut fair) = (0, [0, 0]);
    for file in models() {
        let text = std::fs::read_to_string(&file).unwrap();
        let promises = runs(&file, &text);
        property_count += u32::from(!promises.is_empty());
        for promise in &promises {
            check_runs(&file, &text, promise);
            let holds = promise.promise.fields["verdict"] == "verified";
            fair[usize::from(holds)] += u32::from(promise.fairness == Fairness::Weak);
            *verdicts.entry(promise.promise.fields["verdict"].clone()).or_default() += 1;
        }
    }
    let of = |verdict: &str| verdicts.get(verdict).copied().unwrap_or_default();
    assert!(
        property_count >= 20 && of("verified") >= 15 && of("violated") >= 15,
        "{property_count}, {verdicts:?}"
    );
    assert!(fair.iter().all(|&it| it >= 6), "{fair:?} of weakly fair runs");
}

fn check_runs(file: &Path, text: &str, of_runs: &RunsPromise) {
    let RunsPromise { asked, fairness, promise } = of_runs;
    let wanted = match (&*asked.0, &*asked.1) {
        ("--ltl", formula) => PropertyRequest::Formula(formula),
        ("--acceptance", "") => PropertyRequest::Labels(CycleLabel::Accept),
        ("--non-progress", "") => PropertyRequest::Labels(CycleLabel::Progress),
        other => panic!("{}: {other:?}?", promise.place),
    };
    let mut sources = SourceMap::default();
    sources.add(file.display().to_string(), text);
    let options = Options { defines: promise.defines.clone(), ..Options::default() };
    let language = Language::from_file_name(&file.to_string_lossy()).unwrap();
    let (watched, warnings) = LivenessCheck::load(language, sources, options, wanted).unwrap();
    assert!(warnings.is_empty(), "{}: {warnings:?}", promise.place);
    let executor = Executor::new(&watched.model.interp, ExecutionMode::Interp);
    let product =
        watched.product(executor.clone().into_model(), wanted.default_ended_runs()).unwrap();
    let searched = watched.model.searched();
    let fair = (*fairness == Fairness::Weak).then(|| {
        FairProduct::new(&product, FairExpander::new(&watched.model.interp, &executor).unwrap())
    });
    let judged = ProductCheck::new(&watched, &product, &searched).with_fairness(fair);
    let limits = ProbeLimits { states: 1_000_000, bytes: 1 << 30 };
    let probe = judged.probe(limits, &SearchControl::default()).unwrap();
    let mut fields = BTreeMap::from([("verdict".to_string(), verdict(&probe.found).to_string())]);
    match &probe.found {
        // The number of visited states depends on the search. The replay shows that the counterexample is a run.
        ProbeVerdict::Found(lasso) => drop(judged.replay(lasso).unwrap()),
        ProbeVerdict::None | ProbeVerdict::Open => {
            fields.insert("states".into(), probe.states.to_string());
            fields.insert("transitions".into(), probe.transitions.to_string());
        }
    }
    assert_eq!(fields, promise.fields, "{}", promise.place);
}

#[test]
fn there_are_enough_models_and_violated_ones() {
    let files = models();
    let violated = files
        .iter()
        .filter(|file| std::fs::read_to_string(file).unwrap().contains("verdict=violated"))
        .count();
    assert!(files.len() >= 30 && violated >= 9, "{} models, {violated} violated", files.len());
}
