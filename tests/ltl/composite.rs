//! Merged transitions and chains with formulas: verdicts are those of the program as written, in memory and on disk, and
//! runs are runs of the program as written. `SPILLWAY_LARGE` tries more programs.

use super::bench::Bench;
use super::digraph::GraphRng;
use super::liveness_reductions::{CONDITION_MODELS, formula, load_as, plain, processes};
use crate::support::is_large;
use crate::support::reductions::partial_order_plan;
use spillway::budget::AnalysisBudget;
use spillway::exec::{ExecutionMode, Executor, FairExpander};
use spillway::model::{FairSteps, FiniteRunPolicy, ProcessSet, StepOutcome, SystemDescription};
use spillway::reduce::claim::FairProduct;
use spillway::reduce::partial_order::{CycleProviso, PartialOrderMethod, PartialOrderStrategy};
use spillway::reduce::{ReductionPlan, ReductionSelection};
use spillway::search::SearchControl;
use spillway::search::liveness::nested_dfs::ProbeVerdict;
use spillway::session::{
    CheckConfig, Error, Fairness, LivenessCheck, LivenessSession, ProductCheck, ProductOptions,
    SavedLimits, SearchBudget, SearchDirectory, SearchOutputs, SilentObserver, with_product,
};

/// The result of a check.
pub struct CheckOutcome {
    pub is_violated: bool,
    is_merged: bool,
    is_chained: bool,
    pub states: u64,
}

/// How a formula is checked.
#[derive(Clone, Copy, Debug)]
pub struct RunCheck<'s> {
    pub selection: &'s ReductionSelection,
    pub ended: FiniteRunPolicy,
    pub fairness: Fairness,
    /// Whether the search is stopped after one state and resumed on disk.
    pub on_disk: bool,
}

/// Partial order by a method, with chains.
fn chains(method: PartialOrderMethod) -> ReductionSelection {
    partial_order_plan(PartialOrderStrategy { method, proviso: CycleProviso::StaticChains })
        .selection
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

/// Asserts that the cycle of a found run is fair to all processes, by the reference semantics of the program as written.
fn assert_is_fair(judged: &ProductCheck<'_, '_>, found: &ProbeVerdict) {
    let ProbeVerdict::Found(lasso) = found else { return };
    let interp = &judged.check.model.interp;
    let executor = Executor::new(interp, ExecutionMode::Interp);
    let fair = FairProduct::new(judged.product, FairExpander::new(interp, &executor).unwrap());
    let run = judged.replay(lasso).unwrap();
    let mut left_out = ProcessSet::first(fair.processes());
    for pair in run.steps[run.back..].windows(2) {
        let StepOutcome::Successor(from) = &pair[0].outcome else { panic!("a step fails") };
        let steps = fair.steps(from).into_iter();
        let taken = steps.filter(|(step, _)| *step == pair[1]).map(|it| it.1);
        let taken: Vec<ProcessSet> = taken.collect();
        assert!(!taken.is_empty(), "{}", pair[1].name);
        taken.iter().for_each(|it| left_out = left_out.without(*it));
    }
    assert!(left_out.is_empty(), "{left_out:?}");
}

/// Checks a formula with some reductions, in memory or on disk. `None` if no run can violate the formula.
pub fn check(watched: LivenessCheck, asked: RunCheck<'_>) -> Option<CheckOutcome> {
    let RunCheck { selection, ended, fairness, on_disk } = asked;
    let watched = watched.reduced(selection.clone(), ended);
    let (config, control) = (CheckConfig::default(), SearchControl::default());
    let budget =
        SearchBudget { exec: ExecutionMode::Interp, ..SearchBudget::of(&config.limits, false) };
    let options = ProductOptions {
        budget,
        finite_runs: ended,
        fairness,
        shortest: false,
        hunts: false,
        control: &control,
    };
    let executor = |it| Executor::new(it, ExecutionMode::Interp);
    let saved = SavedLimits::new(config.limits.clone(), SearchOutputs::default());
    let result = with_product(&watched, options, &AnalysisBudget::largest(), executor, |judged| {
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
        if fairness == Fairness::Weak {
            assert_is_fair(judged, &result.summary.found);
        }
        let proviso = judged.searched.model().capabilities().cycle_proviso;
        Ok(Some(CheckOutcome {
            is_violated: result.summary.found != ProbeVerdict::None,
            is_merged: judged.searched.stack().member("merge").is_some(),
            is_chained: proviso.is_some_and(|it| it.chained_steps().is_some()),
            states: result.summary.states,
        }))
    });
    result.unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn random_programs_keep_their_verdicts() {
    let selections = [
        ReductionPlan::of(["merge"]).selection,
        ReductionPlan::of(["merge", "por", "dead", "values", "states"]).selection,
        chains(PartialOrderMethod::Local),
        chains(PartialOrderMethod::Conditional),
        ReductionPlan::of(["dead", "values"]).selection.and(&chains(PartialOrderMethod::Stubborn)),
        ReductionPlan::of(["merge", "dead"]).selection.and(&chains(PartialOrderMethod::DEFAULT)),
    ];
    let (mut merged, mut chained, mut violated, mut fewer) = (0, 0, 0, 0);
    for seed in 0..if is_large() { 4000 } else { 80 } {
        let mut rng = GraphRng(seed);
        let text = processes(&mut rng);
        let formula = formula(&mut rng, 2);
        let load = || load_as("promela", &text, &formula);
        let ended =
            [FiniteRunPolicy::Stutter, FiniteRunPolicy::Ignored][usize::from(seed % 3 == 2)];
        let Some(unreduced) = plain(load(), ended) else { continue };
        for selection in &selections {
            for on_disk in [false, true] {
                let asked = RunCheck { selection, ended, fairness: Fairness::None, on_disk };
                let Some(result) = check(load(), asked) else { continue };
                assert_eq!(
                    result.is_violated, unreduced.is_violated,
                    "{formula} {selection:?} on disk: {on_disk}\n{text}"
                );
                merged += u32::from(result.is_merged);
                chained += u32::from(result.is_chained);
                violated +=
                    u32::from((result.is_merged || result.is_chained) && result.is_violated);
                fewer += u32::from(!result.is_violated && result.states < unreduced.states);
            }
        }
    }
    println!("{merged} {chained} {violated} {fewer}");
    assert!(merged >= 60 && chained >= 60, "{merged} {chained}");
    assert!(violated >= 40 && fewer >= 20, "{violated} {fewer}");
}

/// A chain that returns to its start is a run whose letter stays. It violates what waits for another process.
const DIVERGES: [(&str, &str); 3] = [
    (
        "byte x; active proctype P() { byte i; do :: i = 1 - i od } active proctype Q() { x = 1 }",
        "<> (x == 1)",
    ),
    (
        "byte x; active proctype P() { byte i; x = 1; do :: i = (i + 1) % 5 od }
         active proctype Q() { byte j; j = 1; j = 2; x = 2 }",
        "[] ((x == 1) -> <> (x == 2))",
    ),
    (
        "byte x; active proctype P() { byte i; x = 1; i = 1; do :: i < 9 -> i++ :: i == 9 -> i = 3 od }
         active proctype Q() { byte j; do :: j = 1 - j od }",
        "<>[] (x == 0)",
    ),
];

#[test]
fn divergent_chains_are_cycles() {
    let lost =
        CONDITION_MODELS.iter().map(|&(text, formula_text, ended)| (text, formula_text, ended));
    let diverging =
        DIVERGES.iter().map(|&(text, formula_text)| (text, formula_text, FiniteRunPolicy::Stutter));
    for (text, formula_text, ended) in lost.chain(diverging) {
        for method in [PartialOrderMethod::Local, PartialOrderMethod::Conditional] {
            for on_disk in [false, true] {
                let watched = load_as("promela", text, formula_text);
                let selection = &chains(method);
                let asked = RunCheck { selection, ended, fairness: Fairness::None, on_disk };
                let result = check(watched, asked).unwrap();
                assert!(
                    result.is_chained && result.is_violated,
                    "{formula_text} on disk: {on_disk}\n{text}"
                );
            }
        }
    }
}

/// The states of a long computation are not stored. The counterexample shows its steps.
#[test]
fn runs_through_chains_are_shown_in_steps() {
    let model = "byte x
active proctype P() {
  byte i
  do
  :: x == 0 -> i = 0; do :: i < 20 -> i++ :: i == 20 -> break od; x = 1
  :: x == 1 -> x = 0
  od
}
active proctype Q() { byte j; do :: j < 20 -> j++ :: j == 20 -> break od }
";
    let bench = Bench::of([("m.pml", model)]);
    let formula_text = ["check", "m.pml", "--ltl", "<>[] (x == 1)", "--reduce", "por"];
    let chained = [&formula_text[..], &["-X", "por-proviso=chains"]].concat();
    let output = bench.run(&chained);
    assert_eq!((output.code, &*output.err), (1, ""), "{}", output.out);
    // The states of the loop over `i` are not stored.
    assert!(output.out.contains("  found    4 states, "), "{}", output.out);
    for step in ["i++", "x = 1", "x = 0"] {
        assert!(output.out.contains(step), "no {step} in\n{}", output.out);
    }
    let kept = [&chained[..], &["--dir", "d"]].concat();
    assert_eq!(bench.run(&kept).code, 1);
    let traced = bench.run(&["trace", "d"]);
    assert!(traced.shows_run() && traced.out.contains("i++"), "{}", traced.out);
    let fair = [&chained[..], &["--fair", "weak"]].concat();
    assert_eq!(bench.run(&fair).code, 2);
    let counts = ["check", "m.pml", "--ltl", "X X X (x == 0)", "--reduce", "por"];
    let counted = bench.run(&[&counts[..], &["-X", "por-proviso=chains"]].concat());
    assert!(
        counted.flat().contains("the property counts repetitions of a state"),
        "{}",
        counted.out
    );
}

/// The automaton reads `x` between the merged transitions, too, and is at another location then.
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
fn what_counts_repetitions_or_is_symmetric_or_fair_is_not_merged() {
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
