//! Statement merging in liveness checks. Verdicts are those of the unreduced program, in memory and on disk, and
//! counterexamples are its runs. `SPILLWAY_LARGE` tries more programs.

use super::bench::Bench;
use super::digraph::GraphRng;
use super::liveness_reductions::{formula, load_as, plain, processes};
use crate::support::is_large;
use spillway::budget::AnalysisBudget;
use spillway::exec::{ExecutionMode, Executor};
use spillway::model::{FiniteRunPolicy, StepOutcome, SystemDescription};
use spillway::reduce::{ReductionPlan, ReductionSelection};
use spillway::search::SearchControl;
use spillway::search::liveness::nested_dfs::ProbeVerdict;
use spillway::session::{
    CheckConfig, Error, Fairness, LivenessCheck, LivenessSession, ProductCheck, ProductOptions,
    SavedLimits, SearchBudget, SearchDirectory, SearchOutputs, SilentObserver, with_product,
};

/// The result of a check.
struct MergedOutcome {
    is_violated: bool,
    is_merged: bool,
    states: u64,
}

/// Asserts that a lasso is an accepted run of the unreduced product.
fn assert_is_run(judged: &ProductCheck<'_, '_>, found: &ProbeVerdict) {
    let ProbeVerdict::Found(lasso) = found else { return };
    let run = judged.replay(lasso).unwrap();
    let product = judged.product;
    let states: Vec<&Vec<u8>> = run
        .steps
        .iter()
        .map(|step| match &step.outcome {
            StepOutcome::Successor(state) => state,
            StepOutcome::Fault(_) => panic!("a step fails"),
        })
        .collect();
    assert!(run.closes && states[run.back] == states[states.len() - 1]);
    for (from, step) in states.iter().zip(&run.steps[1..]) {
        assert!(product.steps(from).contains(step), "{}", step.name);
    }
    assert!(states[run.back + 1..].iter().any(|it| product.is_accepting(it)));
}

/// Checks a formula with some reductions, in memory or on disk.
fn check(
    watched: LivenessCheck,
    selection: &ReductionSelection,
    on_disk: bool,
) -> Option<MergedOutcome> {
    let ended = FiniteRunPolicy::Stutter;
    let watched = watched.reduced(selection.clone(), ended);
    let (config, control) = (CheckConfig::default(), SearchControl::default());
    let budget =
        SearchBudget { exec: ExecutionMode::Interp, ..SearchBudget::of(&config.limits, false) };
    let options = ProductOptions {
        budget,
        finite_runs: ended,
        fairness: Fairness::None,
        shortest: false,
        hunts: false,
        control: &control,
    };
    let executor = |it| Executor::new(it, ExecutionMode::Interp);
    let saved = SavedLimits::new(config.limits.clone(), SearchOutputs::default());
    let came = with_product(&watched, options, &AnalysisBudget::largest(), executor, |judged| {
        let Some(judged) = judged else { return Ok::<_, Error>(None) };
        let observer = &mut SilentObserver;
        let begin = |most| LivenessSession::new(judged, budget, most, &control);
        let job = begin(None).job(&config);
        let result = match on_disk {
            false => begin(None).begin(&job, None, &saved, observer)?,
            true => {
                let folder = tempfile::tempdir().unwrap();
                let dir = folder.path().join("search");
                let stopped = begin(Some(1)).begin(&job, Some(&dir), &saved, observer)?;
                if stopped.summary.found == ProbeVerdict::Open {
                    drop(stopped);
                    let (directory, contents) = SearchDirectory::open(&dir, None)?;
                    begin(None).resume(directory, contents, &saved, observer)?
                } else {
                    stopped
                }
            }
        };
        assert_ne!(result.summary.found, ProbeVerdict::Open);
        assert_is_run(judged, &result.summary.found);
        Ok(Some(MergedOutcome {
            is_violated: result.summary.found != ProbeVerdict::None,
            is_merged: judged.searched.stack().member("merge").is_some(),
            states: result.summary.states,
        }))
    });
    came.unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn merging_keeps_the_verdicts_of_random_programs() {
    let selections = [
        ReductionPlan::of(["merge"]).selection,
        ReductionPlan::of(["merge", "por", "dead", "values", "states"]).selection,
    ];
    let (mut merged, mut violated, mut fewer) = (0, 0, 0);
    for seed in 0..if is_large() { 4000 } else { 80 } {
        let mut rng = GraphRng(seed);
        let text = processes(&mut rng);
        let formula = formula(&mut rng, 2);
        let load = || load_as("promela", &text, &formula);
        let Some(unreduced) = plain(load(), FiniteRunPolicy::Stutter) else { continue };
        for selection in &selections {
            for on_disk in [false, true] {
                let Some(came) = check(load(), selection, on_disk) else { continue };
                assert_eq!(
                    came.is_violated, unreduced.is_violated,
                    "{formula} {selection:?} on disk: {on_disk}\n{text}"
                );
                merged += u32::from(came.is_merged);
                violated += u32::from(came.is_merged && came.is_violated);
                fewer += u32::from(!came.is_violated && came.states < unreduced.states);
            }
        }
    }
    assert!(merged >= 60 && violated >= 20 && fewer >= 10, "{merged} {violated} {fewer}");
}

/// The automaton reads `x` between the merged transitions, too, and changes its location there.
#[test]
fn the_automaton_observes_each_merged_transition() {
    let model = "byte x
active proctype P() {
  byte i
  do
  :: x == 0 -> x = 1; i = 1; i = 2; i = 0
  :: x == 1 -> x = 0; i = 1; i = 2; i = 0
  od
}
";
    let bench = Bench::of([("m.pml", model)]);
    for formula in
        ["<>[] (x == 1)", "[]<> (x == 0) -> <>[] (x == 0)", "!([]<> (x == 1) && []<> (x == 0))"]
    {
        let args = ["check", "m.pml", "--ltl", formula, "--reduce", "merge"];
        let output = bench.run(&args);
        assert_eq!((output.code, &*output.err), (1, ""), "{}", output.out);
        assert!(output.out.contains("reduced by merged transitions"), "{}", output.out);
        for step in ["i = 1", "i = 2", "x = 0", "x = 1"] {
            assert!(output.out.contains(step), "no {step} in\n{}", output.out);
        }
        let args = [&args[..], &["--dir", "d", "--max-states", "1"]].concat();
        assert_eq!(bench.run(&args).code, 3);
        let resumed = bench.run(&["resume", "d"]);
        assert_eq!(resumed.code, 1, "{}{}", resumed.out, resumed.err);
        let traced = bench.run(&["trace", "d"]);
        assert!(traced.shows_run() && traced.out.contains("i = 2"), "{}", traced.out);
        std::fs::remove_dir_all(bench.0.path().join("d")).unwrap();
    }
}

#[test]
fn merging_is_rejected_with_stutter_sensitivity_symmetry_or_fairness() {
    let model = "byte x; active proctype P() { byte i; do :: i = 1; i = 0; x = 1 - x od }\n";
    let bench = Bench::of([("m.pml", model)]);
    let counts = bench.run(&["check", "m.pml", "--ltl", "X X X (x == 0)", "--reduce", "merge"]);
    assert!(counts.flat().contains("the property counts repetitions of a state"), "{}", counts.out);
    assert!(!counts.out.contains("reduced by"), "{}", counts.out);
    let both =
        bench.run(&["check", "m.pml", "--ltl", "<>[] (x == 0)", "--reduce", "merge,symmetry"]);
    assert!(both.out.contains("not reduced  by merged transitions"), "{}{}", both.out, both.err);
    let fair = ["check", "m.pml", "--ltl", "<>[] (x == 0)", "--reduce", "merge", "--fair", "weak"];
    assert_eq!(bench.run(&fair).code, 2);
}
