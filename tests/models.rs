//! Every model we ship keeps the promises of its header (`tests/support/promises.rs`).
//!
//! Each configuration is explored by the oracle and by the external search with little memory, and
//! its counterexample replayed. Larger ones are explored by the external search alone when
//! `SPILLWAY_LARGE` is set.

mod support;

use spill::{Disk, RealDisk};
use spillway::exec::{Interp, Model};
use spillway::front::{Language, Options};
use spillway::reduce::Preserved;
use spillway::reduce::claim::ClaimProduct;
use spillway::reduce::symmetry::Symmetric;
use spillway::report::{ViolationReport, violations};
use spillway::search::trace::counterexample;
use spillway::search::{Control, Limits, MemoryPlan, Outcome, memory};
use spillway::source::Sources;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use support::promises::{Promise, models, promises};
use support::{begin_or_resume, tiny_plan};

fn load(file: &Path, text: &str, defines: &[(String, i64)]) -> (Interp, Sources) {
    let mut sources = Sources::default();
    sources.add(file.display().to_string(), text);
    let options = Options { defines: defines.to_vec(), ..Options::default() };
    let language = Language::of_file(&file.to_string_lossy()).unwrap();
    let loaded = language.load(&mut sources, &options).unwrap_or_else(|errors| {
        let errors: Vec<_> = errors.iter().map(|it| it.render(&sources).to_string()).collect();
        panic!("{}", errors.join("\n"))
    });
    assert!(loaded.warnings.is_empty(), "{}: {:?}", file.display(), loaded.warnings);
    spillway::ir::validate::validate(&loaded.program).unwrap();
    (Interp::new(loaded.program).unwrap(), sources)
}

/// What was found, in the words of a header.
fn fields(outcome: &Outcome, found: &[ViolationReport]) -> BTreeMap<String, String> {
    let mut fields = BTreeMap::from([
        ("verdict".to_string(), outcome.verdict.name().to_string()),
        ("states".into(), outcome.states().to_string()),
        ("transitions".into(), outcome.transitions.to_string()),
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
fn every_model_keeps_its_promises() {
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
    let limits = Limits { stop_on_violation: false, ..Limits::default() };
    let (interp, sources) = load(file, text, &promise.defines);
    let symmetric = promise.symmetry.map(|effort| {
        let symmetric = Symmetric::new(&interp, interp.program(), interp.layout(), effort);
        symmetric.unwrap_or_else(|| panic!("{}: nothing is symmetric", promise.place))
    });
    let claimed = ClaimProduct::new(&interp, &interp);
    let model: &dyn Model = match (&symmetric, &claimed) {
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
    let control = Control::default();
    let mut search = begin_or_resume(model, &disk, plan, &limits, &control).unwrap();
    let outcome = search.run().unwrap();
    if !promise.large {
        assert_eq!(outcome, memory::search(model, &limits).unwrap(), "{}", promise.place);
    }
    let found = violations((model, Preserved::ALL), &sources, &limits, &outcome);
    assert_eq!(fields(&outcome, &found), promise.fields, "{}", promise.place);
    for violation in &found {
        let (_, finding) =
            outcome.findings.iter().find(|(check, _)| *check == violation.check).unwrap();
        let levels = (search.store().levels().saved(), search.store().codec());
        let (level, witness) = (finding.level, &finding.witness);
        let trace =
            counterexample(model, &*disk, levels, 2, violation.check, level, witness).unwrap();
        assert_eq!(trace.depth() as u64, violation.depth, "{}", promise.place);
    }
    outcome.states()
}

#[test]
fn there_are_enough_models_and_enough_errors_among_them() {
    let files = models();
    let violated = files
        .iter()
        .filter(|file| std::fs::read_to_string(file).unwrap().contains("verdict=violated"))
        .count();
    assert!(files.len() >= 30 && violated >= 9, "{} models, {violated} violated", files.len());
}
