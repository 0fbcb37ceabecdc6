//! Liveness checks:
//!
//! - accepting cycles of random graphs, compared with a plain search;
//! - models of each language with satisfied and violated properties;
//! - the counterexamples;
//! - finite runs.

use super::bench::{Bench, CommandOutput};
use super::digraph::{Digraph, GraphRng, node};
use serde_json::Value;
use spillway::PackedSystem;
use spillway::search::SearchControl;
use spillway::search::liveness::nested_dfs::{ProbeLimits, ProbeVerdict, probe};
use std::time::{Duration, Instant};

/// A pseudo-random graph with few cycles.
fn random(seed: u64) -> Digraph {
    let mut rng = GraphRng(seed);
    let nodes = 1 + rng.below(40);
    // Most edges lead forwards, so that cycles are rare.
    let mut edge = |from: usize| match rng.below(8) {
        0 => rng.below(nodes),
        _ => (from + 1 + rng.below(4)).min(nodes - 1),
    };
    let next = (0..nodes).map(|from| (0..1 + from % 2).map(|_| edge(from) as u16).collect());
    let next: Vec<Vec<u16>> = next.collect();
    let accepts = (0..nodes).map(|_| rng.below(5) == 0).collect();
    Digraph { next, accepts }
}

/// Whether a reachable accepting node reaches itself.
fn has_accepting_cycle(graph: &Digraph) -> bool {
    let reached = graph.reached(&[0]);
    (0..reached.len())
        .filter(|&at| reached[at] && graph.accepts[at])
        .any(|at| graph.reached(&graph.next[at])[at])
}

#[test]
fn a_probe_finds_accepting_cycles_of_random_graphs() {
    let limits = ProbeLimits { states: 1000, bytes: 1 << 20 };
    let mut found = 0;
    for seed in 0..4000 {
        let graph = random(seed);
        let model = PackedSystem::new(&graph);
        let accepts = |state: &[u8]| graph.accepts[node(&model, state)];
        let result = probe(&model, &accepts, limits, &SearchControl::default()).unwrap();
        match &result.found {
            ProbeVerdict::Found(lasso) => {
                found += 1;
                graph.check(&model, lasso, seed);
                assert!(has_accepting_cycle(&graph), "{seed}");
            }
            ProbeVerdict::None => {
                assert!(!has_accepting_cycle(&graph), "{seed}");
                let reached = graph.reached(&[0]).iter().filter(|it| **it).count();
                assert_eq!(result.states, reached as u64, "{seed}");
            }
            ProbeVerdict::Open => panic!("{seed}: there is room for all"),
        }
    }
    assert!((500..3500).contains(&found), "{found} of 4000 graphs have a cycle");
}

#[test]
fn a_stopped_probe_has_no_verdict() {
    let graph = Digraph { next: vec![vec![1], vec![0]], accepts: vec![true, true] };
    let model = PackedSystem::new(&graph);
    let limits = ProbeLimits { states: 1000, bytes: 1 << 20 };
    let verdict =
        |control: &SearchControl| probe(&model, &|_| true, limits, control).unwrap().found;
    assert!(matches!(verdict(&SearchControl::default()), ProbeVerdict::Found(_)));
    let stopped = SearchControl::default();
    stopped.stop();
    let late = SearchControl::new(Duration::from_secs(600), Some(Instant::now()));
    assert_eq!([verdict(&stopped), verdict(&late)], [ProbeVerdict::Open, ProbeVerdict::Open]);
}

impl Bench {
    /// Exit code, standard output and standard error of `check`.
    fn check(&self, args: &[&str]) -> (i32, String, String) {
        let CommandOutput { code, out, err } = self.run(&[&["check"], args].concat());
        (code, out, err)
    }
}

#[test]
fn properties_in_each_language_have_their_verdicts() {
    let bench = Bench::of_each_language();
    let judged = [
        ("stays.dve", "[]<> x == 1", 0),
        ("stays.dve", "[]<> x == 0", 1),
        ("stays.dve", "[] (P.a -> X P.b)", 0),
        ("stays.dve", "[] (P.b -> X P.b)", 1),
        // The model's own property process: no run keeps x at 1 for ever.
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
            let output = bench.run(&["check", model, "--ltl", formula, "--exec", exec]);
            assert_eq!(output.code, code, "{model}: {formula}\n{}{}", output.out, output.err);
            assert_eq!(output.shows_run(), code == 1, "{}", output.out);
        }
    }
}

#[test]
fn a_counterexample_has_a_stem_and_a_cycle() {
    let bench = Bench::of_each_language();
    let (code, out, err) = bench.check(&["stays.dve", "--ltl", "[]<> x == 0"]);
    assert_eq!(code, 1, "{err}");
    assert!(out.contains("\nstays.dve: VIOLATED: a run does not satisfy []<> x == 0\n"), "{out}");
    assert!(out.contains("P.b -> b"), "{out}");
    let (_, out, _) = bench.check(&["stays.dve", "--ltl", "[]<> x == 0", "--json"]);
    let result: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(result["verdict"], "violated");
    let steps = result["counterexample"]["steps"].as_array().unwrap();
    let back = result["counterexample"]["loop_start"].as_u64().unwrap() as usize;
    assert!(back + 1 < steps.len(), "{out}");
    // The steps of the cycle change only the location of the automaton.
    let last = steps.last().unwrap();
    assert!(last["action"].as_str().unwrap().contains("b -> b"), "{out}");
}

#[test]
fn finite_runs_stutter_or_are_ignored() {
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
fn incomplete_vacuous_and_rejected_checks_are_reported() {
    let bench = Bench::of_each_language();
    let (code, out, err) = bench.check(&["stays.dve", "--ltl", "[]<> x == 1", "--max-states", "1"]);
    assert_eq!(code, 3, "{out}");
    assert!(out.contains("incomplete: no run that violates []<> x == 1 was found"), "{out}");
    // The incomplete search leaves a temporary directory.
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
    // An automaton of another tool: x stays 1 from some state on.
    let hoa = "HOA: v1 States: 2 Start: 0 AP: 1 \"x == 1\" Acceptance: 1 Inf(0)
        --BODY-- State: 0 [t] 0 [0] 1 State: 1 {0} [0] 1 --END--";
    bench.write("a.hoa", hoa);
    let (code, out, err) = bench.check(&["stays.dve", "--automaton", "a.hoa"]);
    assert_eq!(code, 1, "{out}{err}");
}
