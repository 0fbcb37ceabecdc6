//! Properties that are equivalent to invariants. The search for a violating state has the verdict of the emptiness
//! check. This holds with all reductions, for all runs and for fair runs, and for stopped and resumed searches.
//! `SPILLWAY_LARGE` tries more programs.

use super::bench::{Bench, CommandOutput};
use super::digraph::GraphRng;
use super::liveness_reductions::{load_as, processes, question};
use crate::support::is_large;
use serde_json::{Value, json};
use spillway::exec::{ExecutionMode, Executor, FairExpander};
use spillway::front::{Language, Options};
use spillway::model::FiniteRunPolicy;
use spillway::reduce::claim::FairProduct;
use spillway::reduce::{ReductionPlan, ReductionSelection};
use spillway::search::SearchControl;
use spillway::search::SearchVerdict;
use spillway::search::liveness::nested_dfs::{ProbeLimits, ProbeVerdict};
use spillway::session::{
    CheckConfig, Fairness, LivenessCheck, ModelText, ProductCheck, PropertyRequest,
};
use spillway::source::SourceMap;

/// Four processes count independently, then increment a shared counter. The product has more than 5,000 states.
const COUNTS: &str = "
byte done
active [4] proctype P() {
  byte x
  do
  :: x < 9 -> x++
  :: x == 9 -> break
  od
  done++
}
";

/// The same model. When all have counted, every continuation divides by 0.
const FAILS: &str = "active proctype Q() { done == 4; done = 1 / (done - 4) }\n";

/// The same model. When all have counted, every continuation keeps that state.
const IDLES: &str = "active proctype Q() { do :: done == 4 -> skip od }\n";

impl Bench {
    fn parsed(&self, args: &[&str]) -> Value {
        let CommandOutput { out, err, .. } = self.run(args);
        serde_json::from_str(&out).unwrap_or_else(|_| panic!("{args:?}\n{out}{err}"))
    }
}

fn bench() -> Bench {
    let (fails, idles) = (format!("{COUNTS}{FAILS}"), format!("{COUNTS}{IDLES}"));
    Bench::of([("counts.pml", COUNTS), ("fails.pml", &*fails), ("idles.pml", &*idles)])
}

#[test]
fn an_invariant_formula_is_checked_with_safety_reductions() {
    let bench = bench();
    let plain = bench.parsed(&[
        "check",
        "counts.pml",
        "--ltl",
        "[] (done <= 4)",
        "--json",
        "--reduce",
        "none",
    ]);
    for fairness in ["none", "weak"] {
        let weak = ["--fair", "weak"];
        let fair: &[&str] = if fairness == "weak" { &weak } else { &[] };
        let check = |formula: &str, more: &[&str]| {
            let args = ["check", "counts.pml", "--ltl", formula, "--json"];
            bench.parsed(&[&args[..], fair, more].concat())
        };
        let holds = check("[] (done <= 4)", &[]);
        assert_eq!(
            (&holds["verdict"], &holds["stage"], &holds["fairness"]),
            (&json!("verified"), &json!("invariant"), &json!(fairness))
        );
        assert!(!holds["reductions"].as_array().unwrap().is_empty(), "{holds}");
        assert!(holds["states"].as_u64() < plain["states"].as_u64(), "{holds} {plain}");
        // Errors are not checked.
        assert_eq!(holds["left_out"], json!(["deadlocks", "run-time errors"]));
        let violated = check("[] (done < 4)", &["--reduce", "por,merge"]);
        assert_eq!(
            (&violated["verdict"], &violated["stage"]),
            (&json!("violated"), &json!("invariant"))
        );
        let run = &violated["counterexample"];
        assert_eq!((&run["loop_start"], &run["operands"]), (&Value::Null, &json!({"done": 4})));
        // All states but the last satisfy the condition.
        let steps = run["steps"].as_array().unwrap();
        let counted = steps.iter().filter(|it| it["changes"].to_string().contains("done")).count();
        assert!(counted >= 4, "{run}");
    }
}

#[test]
fn other_formulas_are_not_checked_as_invariants() {
    let bench = bench();
    for args in [
        &["--ltl", "[] (done <= 4)", "--deadlock-runs", "ignore"][..],
        &["--ltl", "[] (done == 1 -> [] (done >= 1))"],
        &["--ltl", "(done < 4) W (done == 4)"],
    ] {
        let result = bench.parsed(&[&["check", "counts.pml", "--json"], args].concat());
        assert_eq!(result["verdict"], "verified", "{result}");
        assert_ne!(result["stage"], "invariant", "{result}");
    }
}

#[test]
fn a_state_whose_continuations_all_fail_is_not_a_violation() {
    let bench = bench();
    let check = |model: &str, more: &[&str]| {
        let args = ["check", model, "--ltl", "[] (done != 4)", "--reduce", "por"];
        bench.run(&[&args[..], more].concat())
    };
    for fair in [&[][..], &["--fair", "weak"]] {
        let fails = check("fails.pml", fair);
        assert_eq!(fails.code, 0, "{}{}", fails.out, fails.err);
        assert!(fails.out.contains("that meets no run-time error satisfies"), "{}", fails.out);
        assert!(!fails.out.contains("as an invariant"), "{}", fails.out);
        let idles = check("idles.pml", fair);
        assert_eq!(idles.code, 1, "{}{}", idles.out, idles.err);
        assert!(idles.out.contains("as an invariant"), "{}", idles.out);
    }
}

#[test]
fn an_invariant_search_is_stopped_and_resumed() {
    let bench = bench();
    for (formula, code) in [("[] (done <= 4)", 0), ("[] (done < 4)", 1)] {
        let dir = format!("d{code}");
        let begin = ["check", "counts.pml", "--ltl", formula, "--dir", &dir, "--max-states", "20"];
        let CommandOutput { code: stopped_code, out, err } =
            bench.run(&[&begin[..], &["--reduce", "dead"]].concat());
        assert_eq!(stopped_code, 3, "{out}{err}");
        assert!(err.contains("stopped at a checkpoint"), "{err}");
        assert!(out.contains("as an invariant, reduced by dead variables"), "{out}");
        let status = bench.run(&["status", &dir]);
        assert!(status.out.contains("as an invariant"), "{}", status.out);
        let trace = bench.run(&["trace", &dir]);
        assert!(trace.out.contains("incomplete"), "{}{}", trace.out, trace.err);
        let resumed = bench.run(&["resume", &dir]);
        assert_eq!(resumed.code, code, "{}{}", resumed.out, resumed.err);
        assert!(
            resumed.out.contains("as an invariant, reduced by dead variables"),
            "{}",
            resumed.out
        );
        // A second `resume` has the same result.
        let repeated = bench.run(&["resume", &dir]);
        assert!(repeated.err.contains("this is its result"), "{}", repeated.err);
        assert_eq!(repeated.out, resumed.out);
        let trace = bench.run(&["trace", &dir]);
        assert_eq!(
            trace.out.contains("4 steps") || trace.out.contains("whatever follows"),
            code == 1
        );
        let status = bench.parsed(&["status", &dir, "--json"]);
        let verdict = if code == 0 { "verified" } else { "violated" };
        assert_eq!((&status["verdict"], &status["stage"]), (&json!(verdict), &json!("invariant")));
    }
}

#[test]
fn errors_are_checked_after_the_only_property_of_a_model() {
    let bench = bench();
    let model = format!(
        "{COUNTS}active proctype Q() {{ done == 3; done = 1 / (done - 3) }}\nltl few {{ [] (done <= 4) }}\n"
    );
    bench.write("own.pml", &model);
    let CommandOutput { code, out, err } = bench.run(&["check", "own.pml"]);
    assert_eq!(code, 1, "{out}{err}");
    for words in ["ended in errors that are checked next", "division by zero"] {
        assert!(out.contains(words), "no `{words}` in\n{out}{err}");
    }
}

/// The verdict on an invariant with listed reductions, by the search for a violating state.
fn verdict_by_states(
    text: &str,
    formula: &str,
    fairness: Fairness,
    listed: ReductionSelection,
) -> bool {
    let mut config = CheckConfig::default();
    config.properties.ltl = vec![formula.to_owned()];
    config.properties.fairness = fairness;
    config.search.reductions = listed.into();
    config.limits.exec = ExecutionMode::Interp;
    let model = ModelText::new("promela", "model.pml", text).unwrap();
    let report = model.check(&config).run();
    let report = report.unwrap_or_else(|error| panic!("{error}\n{formula}\n{text}"));
    assert_ne!(report.verdict(), SearchVerdict::Incomplete);
    report.verdict() == SearchVerdict::Violated
}

/// The verdict by the emptiness of the unreduced product. `None` if it has too many states.
fn verdict_by_runs(text: &str, formula: &str, fairness: Fairness) -> Option<bool> {
    let ended = FiniteRunPolicy::Stutter;
    let watched = load_as("promela", text, formula).reduced(ReductionSelection::default(), ended);
    let product = watched.product(&watched.model.interp, ended)?;
    let searched = watched.model.searched();
    let executor = Executor::new(&watched.model.interp, ExecutionMode::Interp);
    let fair = (fairness == Fairness::Weak).then(|| {
        FairProduct::new(&product, FairExpander::new(&watched.model.interp, &executor).unwrap())
    });
    let judged = ProductCheck::new(&watched, &product, &searched).with_fairness(fair);
    let limits = ProbeLimits { states: 4000, bytes: 1 << 28 };
    match judged.probe(limits, &SearchControl::default()).unwrap().found {
        ProbeVerdict::Open => None,
        found => Some(found != ProbeVerdict::None),
    }
}

fn is_invariant(text: &str, formula: &str) -> bool {
    let mut sources = SourceMap::default();
    sources.add("model", text);
    let language = Language::from_name("promela").unwrap();
    let wanted = PropertyRequest::Formula(formula);
    let check = LivenessCheck::load(language, sources, Options::default(), wanted).unwrap().0;
    check.invariant().is_some()
}

#[test]
fn random_programs_have_the_verdicts_of_the_product_check() {
    let selections = [
        ReductionSelection::default(),
        ReductionPlan::of(["por", "dead"]).selection,
        ReductionPlan::of(["merge", "values", "states", "slice"]).selection,
        ReductionPlan::of(["por", "merge", "dead"]).selection,
    ];
    let (mut compared, mut violated) = (0, 0);
    for seed in 0..if is_large() { 3000 } else { 60 } {
        let mut rng = GraphRng(seed + 77);
        let text = processes(&mut rng);
        let condition = (question(&mut rng), question(&mut rng));
        let formula = match rng.below(3) {
            0 => format!("[] ({})", condition.0),
            1 => format!("[] (({}) || !({}))", condition.0, condition.1),
            _ => format!("! <> (({}) && ({}))", condition.0, condition.1),
        };
        if !is_invariant(&text, &formula) {
            continue;
        }
        for fairness in [Fairness::None, Fairness::Weak] {
            let Some(expected) = verdict_by_runs(&text, &formula, fairness) else { continue };
            for listed in &selections {
                let found = verdict_by_states(&text, &formula, fairness, listed.clone());
                assert_eq!(found, expected, "{formula} {fairness:?} {listed:?}\n{text}");
                compared += 1;
                violated += u32::from(found);
            }
        }
    }
    assert!(compared >= 200 && violated >= 50, "{compared} compared, {violated} violated");
}
