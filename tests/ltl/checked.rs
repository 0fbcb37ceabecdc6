//! Liveness checks:
//!
//! - accepting cycles of random graphs, compared with a plain search;
//! - models of each language with satisfied and violated properties;
//! - the counterexamples;
//! - finite runs.

use super::bench::{Bench, Told};
use super::digraph::{Dice, Digraph, node};
use serde_json::Value;
use spillway::PackedSystem;
use spillway::search::SearchControl;
use spillway::search::liveness::nested_dfs::{ProbeLimits, ProbeVerdict, probe};
use std::time::{Duration, Instant};

/// A pseudo-random graph.
fn random(seed: u64) -> Digraph {
    let mut dice = Dice(seed);
    let nodes = 1 + dice.below(40);
    // Mostly forwards, so that cycles are rare.
    let mut edge = |from: usize| match dice.below(8) {
        0 => dice.below(nodes),
        _ => (from + 1 + dice.below(4)).min(nodes - 1),
    };
    let next = (0..nodes).map(|from| (0..1 + from % 2).map(|_| edge(from) as u16).collect());
    let next: Vec<Vec<u16>> = next.collect();
    let accepts = (0..nodes).map(|_| dice.below(5) == 0).collect();
    Digraph { next, accepts }
}

/// Whether an accepting node is reached that comes back to itself.
fn has_cycle(graph: &Digraph) -> bool {
    let reached = graph.reached(&[0]);
    (0..reached.len())
        .filter(|&at| reached[at] && graph.accepts[at])
        .any(|at| graph.reached(&graph.next[at])[at])
}

#[test]
fn accepting_cycles_of_random_graphs_are_found_and_are_cycles() {
    let limits = ProbeLimits { states: 1000, bytes: 1 << 20 };
    let mut found = 0;
    for seed in 0..4000 {
        let graph = random(seed);
        let model = PackedSystem::new(&graph);
        let accepts = |state: &[u8]| graph.accepts[node(&model, state)];
        let told = probe(&model, &accepts, limits, &SearchControl::default()).unwrap();
        match &told.found {
            ProbeVerdict::Found(lasso) => {
                found += 1;
                graph.check(&model, lasso, seed);
                assert!(has_cycle(&graph), "{seed}");
            }
            ProbeVerdict::None => {
                assert!(!has_cycle(&graph), "{seed}");
                let reached = graph.reached(&[0]).iter().filter(|it| **it).count();
                assert_eq!(told.states, reached as u64, "{seed}");
            }
            ProbeVerdict::Open => panic!("{seed}: there is room for all"),
        }
    }
    assert!((500..3500).contains(&found), "{found} of 4000 graphs have a cycle");
}

#[test]
fn a_probe_that_is_told_to_stop_or_has_no_time_decides_nothing() {
    let graph = Digraph { next: vec![vec![1], vec![0]], accepts: vec![true, true] };
    let model = PackedSystem::new(&graph);
    let limits = ProbeLimits { states: 1000, bytes: 1 << 20 };
    let told = |control: &SearchControl| probe(&model, &|_| true, limits, control).unwrap().found;
    assert!(matches!(told(&SearchControl::default()), ProbeVerdict::Found(_)));
    let stopped = SearchControl::default();
    stopped.stop();
    let late = SearchControl::new(Duration::from_secs(600), Some(Instant::now()));
    assert_eq!([told(&stopped), told(&late)], [ProbeVerdict::Open, ProbeVerdict::Open]);
}

impl Bench {
    /// Exit code, output, messages.
    fn check(&self, args: &[&str]) -> (i32, String, String) {
        let Told { code, out, err } = self.run(&[&["check"], args].concat());
        (code, out, err)
    }
}

#[test]
fn properties_of_models_of_each_language_hold_or_do_not() {
    let bench = Bench::of_each_language();
    let judged = [
        ("stays.dve", "[]<> x == 1", 0),
        ("stays.dve", "[]<> x == 0", 1),
        ("stays.dve", "[] (P.a -> X P.b)", 0),
        ("stays.dve", "[] (P.b -> X P.b)", 1),
        // The model's own property process: a run must not keep x at 1 for ever.
        ("stays.dve", "L", 1),
        ("ends.dve", "<> x == 1", 0),
        ("ends.dve", "<> x == 2", 1),
        ("ends.dve", "[] x == 0", 1),
        ("ends.dve", "<>[] x == 1", 0),
        ("m.pml", "reaches", 1),
        ("m.pml", "[] (x < 4)", 0),
        ("m.pml", "[]<> (x == 3) || <>[] (x <= 3)", 0),
        ("m.m", "[]<> x = 3", 0),
        ("m.m", "[] (x = 1 -> X x = 2)", 0),
        ("m.m", "<>[] x > 1", 1),
    ];
    for (model, formula, code) in judged {
        for exec in ["jit", "interp"] {
            let told = bench.run(&["check", model, "--ltl", formula, "--exec", exec]);
            assert_eq!(told.code, code, "{model}: {formula}\n{}{}", told.out, told.err);
            assert_eq!(told.shows_a_run(), code == 1, "{}", told.out);
        }
    }
}

#[test]
fn a_run_that_violates_is_shown_as_what_leads_to_a_loop_and_the_loop() {
    let bench = Bench::of_each_language();
    let (code, out, err) = bench.check(&["stays.dve", "--ltl", "[]<> x == 0"]);
    assert_eq!(code, 1, "{err}");
    assert!(out.contains("\nstays.dve: VIOLATED: a run does not satisfy []<> x == 0\n"), "{out}");
    assert!(out.contains("P.b -> b"), "{out}");
    let (_, out, _) = bench.check(&["stays.dve", "--ltl", "[]<> x == 0", "--json"]);
    let told: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(told["verdict"], "violated");
    let steps = told["counterexample"]["steps"].as_array().unwrap();
    let back = told["counterexample"]["loop_start"].as_u64().unwrap() as usize;
    assert!(back + 1 < steps.len(), "{out}");
    // Round the loop nothing changes but the automaton's place.
    let last = steps.last().unwrap();
    assert!(last["action"].as_str().unwrap().contains("b -> b"), "{out}");
}

#[test]
fn runs_that_end_repeat_their_last_state_or_are_ignored() {
    let bench = Bench::of_each_language();
    for (formula, stutter, ignore) in
        [("<> x == 2", 1, 0), ("[] x == 0", 1, 0), ("<> x == 1", 0, 0)]
    {
        let args = ["ends.dve", "--ltl", formula];
        assert_eq!(bench.check(&args).0, stutter, "{formula}");
        let ignored = bench.check(&[&args[..], &["--deadlock-runs", "ignore"]].concat());
        assert_eq!(ignored.0, ignore, "{formula}");
    }
}

#[test]
fn what_is_not_decided_vacuous_or_does_not_fit_is_told() {
    let bench = Bench::of_each_language();
    let (code, out, err) = bench.check(&["stays.dve", "--ltl", "[]<> x == 1", "--max-states", "1"]);
    assert_eq!(code, 3, "{out}");
    assert!(out.contains("incomplete: no run that violates []<> x == 1 was found"), "{out}");
    // There is a temporary directory with it.
    let dir = err.split('`').nth(1).and_then(|it| it.strip_prefix("spillway resume ")).unwrap();
    std::fs::remove_dir_all(dir).unwrap();
    let (code, out, _) = bench.check(&["stays.dve", "--ltl", "[] (x == 1 || !(x == 1))"]);
    assert_eq!(code, 0);
    let expected = "stays.dve: verified: no run violates [] (x == 1 || !(x == 1)),
           whatever the model does\n";
    assert!(out.starts_with(expected), "{out}");
    for flags in
        [&["--no-deadlock"][..], &["--reduce", "slice"], &["--keep-going"], &["--store", "raw"]]
    {
        let (code, _, err) = bench.check(&[&["stays.dve", "--ltl", "L"][..], flags].concat());
        assert_eq!(code, 2, "{err}");
        assert!(err.contains("is for properties of states") && err.contains(flags[0]), "{err}");
    }
    assert_eq!(bench.check(&["m.m", "--deadlock-runs", "ignore"]).0, 2);
    // An automaton of another tool: x is 1 for ever at last.
    let hoa = "HOA: v1 States: 2 Start: 0 AP: 1 \"x == 1\" Acceptance: 1 Inf(0)
        --BODY-- State: 0 [t] 0 [0] 1 State: 1 {0} [0] 1 --END--";
    bench.write("a.hoa", hoa);
    let (code, out, err) = bench.check(&["stays.dve", "--automaton", "a.hoa"]);
    assert_eq!(code, 1, "{out}{err}");
}
