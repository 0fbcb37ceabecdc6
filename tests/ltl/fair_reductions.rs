//! Reductions of weakly fair runs. The verdict is that of the unreduced product, in memory and on disk, and the cycle of
//! a counterexample is weakly fair in the program as written. `SPILLWAY_LARGE` tries more programs.

use super::bench::Bench;
use super::composite::{CheckOutcome, RunCheck, check};
use super::digraph::GraphRng;
use super::liveness_reductions::{formula, load_as, processes};
use super::weak_fairness::random_model;
use crate::support::is_large;
use serde_json::{Value, json};
use spillway::model::FiniteRunPolicy;
use spillway::reduce::{ReductionPlan, ReductionSelection};
use spillway::session::Fairness;

/// Returns the result of a check, if the formula can be violated.
fn checked(text: &str, formula: &str, asked: RunCheck<'_>) -> Option<CheckOutcome> {
    check(load_as("promela", text, formula), asked)
}

/// A random program. Some have a rendezvous, or a process that moves only under a condition.
fn program(seed: u64) -> String {
    if seed.is_multiple_of(3) {
        return random_model(seed).0.replace("byte x, y;", "byte g0, g1, g2, x, y;");
    }
    let text = processes(&mut GraphRng(seed));
    let text = if seed.is_multiple_of(2) { text.replace("q = [1]", "q = [0]") } else { text };
    match seed % 5 {
        0 => text.replacen("P1() {", "P1() provided (g0 < 2) {", 1),
        _ => text,
    }
}

/// A formula over variables that each program has.
fn observed(seed: u64, rng: &mut GraphRng) -> String {
    match seed % 3 {
        0 => ["[]<> (x == 1)", "<>[] (y == 0)", "<> (x == 1 && y == 1)"][rng.below(3)].to_owned(),
        _ => formula(rng, 2).replace("len(q) == 0", "g0 == g1"),
    }
}

#[test]
fn reductions_keep_the_verdicts_on_fair_runs() {
    let of = |names: &[&str]| ReductionPlan::of(names.iter().copied()).selection;
    let selections =
        [&["dead"][..], &["values"], &["states"], &["dead", "values", "states"]].map(of);
    let (mut violated, mut verified, mut only_unfair) = (0, 0, 0);
    let (mut fewer, mut compared) = ([0; 4], 0);
    for seed in 0..if is_large() { 4000 } else { 90 } {
        let mut rng = GraphRng(seed ^ 1 << 33);
        let text = program(seed);
        let formula = observed(seed, &mut rng);
        let ended =
            [FiniteRunPolicy::Stutter, FiniteRunPolicy::Ignored][usize::from(seed % 4 == 3)];
        let none = ReductionSelection::default();
        let fairness = Fairness::Weak;
        let unreduced = RunCheck { selection: &none, ended, fairness, on_disk: false };
        let Some(expected) = checked(&text, &formula, unreduced) else { continue };
        let of_all = checked(&text, &formula, RunCheck { fairness: Fairness::None, ..unreduced });
        only_unfair += u32::from(!expected.is_violated && of_all.unwrap().is_violated);
        violated += u32::from(expected.is_violated);
        verified += u32::from(!expected.is_violated);
        for (number, selection) in selections.iter().enumerate() {
            // A search on disk takes much longer.
            let is_stored = is_large() || (seed + number as u64).is_multiple_of(8);
            for on_disk in if is_stored { vec![false, true] } else { vec![false] } {
                let asked = RunCheck { selection, on_disk, ..unreduced };
                let result = checked(&text, &formula, asked).unwrap();
                let description = format!("{seed}: {formula} {asked:?}\n{text}");
                assert_eq!(result.is_violated, expected.is_violated, "{description}");
                if !result.is_violated {
                    assert!(result.states <= expected.states, "{description}");
                    fewer[number] += u32::from(result.states < expected.states);
                }
                compared += 1;
            }
        }
    }
    println!("{compared} {violated} {verified} {only_unfair} {fewer:?}");
    assert!(compared >= 300 && violated >= 30 && verified >= 20 && only_unfair >= 4);
    assert!(fewer.iter().all(|&it| it >= 2), "{fewer:?}");
}

/// `P` counts in a variable that nobody reads after `x` is set, and resets nothing. Without fairness `Q` never moves.
const COUNTS: &str = "byte x, y;
active proctype P() { byte i, j; do :: x = 1 - x; i = (i + 1) % 5; j = i; x = 1 - x; j = 7 od }
active proctype Q() { do :: y = 1 - y od }
";

#[test]
fn fair_runs_are_reduced_by_default() {
    let bench = Bench::of([("m.pml", COUNTS)]);
    let json = |args: &[&str], code: i32| {
        let output = bench.run(&[args, &["--json"]].concat());
        let message = if code == 3 {
            "stopped at a checkpoint; `spillway resume d` resumes it\n"
        } else {
            ""
        };
        assert_eq!((output.code, &*output.err), (code, message), "{args:?}: {}", output.out);
        serde_json::from_str::<Value>(&output.out).unwrap()
    };
    let fair = |formula| ["check", "m.pml", "--ltl", formula, "--fair", "weak"];
    let verified = &fair("[]<> (y == 1)")[..];
    let unreduced = json(&[verified, &["--reduce", "none"]].concat(), 0);
    let names = json!(["equivalent values", "dead variables"]);
    let states = |of: &Value| of["states"].as_u64().unwrap();
    for flags in [&[][..], &["--reduce", "auto"], &["--reduce", "dead,values"]] {
        let result = json(&[verified, flags].concat(), 0);
        assert_eq!(result["reductions"], names, "{flags:?}");
        assert!(2 * states(&result) < states(&unreduced), "{flags:?} {result} {unreduced}");
    }
    // The run is one of the program as written: the cycle repeats until `i` recurs.
    let violated = &fair("<>[] (y == 1)")[..];
    for flags in [&[][..], &["--max-states", "1", "--dir", "d"]] {
        let mut result = json(&[violated, flags].concat(), if flags.is_empty() { 1 } else { 3 });
        if !flags.is_empty() {
            result = json(&["resume", "d"], 1);
            assert_eq!(json(&["trace", "d"], 1)["counterexample"], result["counterexample"]);
        }
        assert_eq!(result["reductions"], names);
        let run = &result["counterexample"];
        let steps = run["steps"].as_array().unwrap().len() as u64;
        assert!(steps - run["loop_start"].as_u64().unwrap() > 5, "{run}");
    }
}

#[test]
fn reductions_that_do_not_preserve_fair_runs_are_refused() {
    let bench = Bench::of([("m.pml", COUNTS)]);
    let fair = ["check", "m.pml", "--ltl", "[]<> (y == 1)", "--fair", "weak"];
    for (flags, title) in [
        (&["--reduce", "por"][..], "partial order"),
        (&["--por", "local"], "partial order"),
        (&["--reduce", "dead,merge"], "merged transitions"),
        (&["--reduce", "symmetry"], "symmetry"),
    ] {
        let output = bench.run(&[&fair[..], flags].concat());
        assert_eq!((output.code, &*output.out), (2, ""), "{flags:?}");
        let says = format!("{title} does not preserve weakly fair runs");
        assert!(output.err.contains(&says), "{flags:?}: {}", output.err);
    }
}
