//! Whether runs have properties: accepting cycles of random graphs against a plain search; models of each language with
//! properties that hold and that do not, what is shown of runs that violate them, runs that end.

use serde_json::Value;
use spillway::search::Control;
use spillway::search::lasso::{ProbeLimits, Probed, probe};
use spillway::{Model, Packed, Steps, TransitionSystem};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const SPILLWAY: &str = env!("CARGO_BIN_EXE_spillway");

/// A pseudo-random graph: from each node to some others.
struct Graph {
    next: Vec<Vec<u16>>,
    accepting: Vec<bool>,
}

impl Graph {
    fn random(seed: u64) -> Graph {
        let mut state = seed;
        let mut below = |bound: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((state >> 33) % bound as u64) as usize
        };
        let nodes = 1 + below(40);
        // Mostly forwards, so that cycles are rare.
        let mut edge = |from: usize| match below(8) {
            0 => below(nodes),
            _ => (from + 1 + below(4)).min(nodes - 1),
        };
        let next = (0..nodes).map(|from| (0..1 + from % 2).map(|_| edge(from) as u16).collect());
        let next: Vec<Vec<u16>> = next.collect();
        let accepting = (0..nodes).map(|_| below(5) == 0).collect();
        Graph { next, accepting }
    }

    fn reached(&self, from: &[u16]) -> Vec<bool> {
        let (mut seen, mut open) = (vec![false; self.next.len()], from.to_vec());
        while let Some(at) = open.pop() {
            if !std::mem::replace(&mut seen[usize::from(at)], true) {
                open.extend(&self.next[usize::from(at)]);
            }
        }
        seen
    }

    /// Whether an accepting node is reached that comes back to itself.
    fn has_cycle(&self) -> bool {
        let reached = self.reached(&[0]);
        (0..reached.len())
            .filter(|&at| reached[at] && self.accepting[at])
            .any(|at| self.reached(&self.next[at])[at])
    }
}

impl TransitionSystem for Graph {
    type State = u16;

    fn initial(&self) -> Vec<u16> {
        vec![0]
    }

    fn steps(&self, state: &u16, steps: &mut Steps<u16>) {
        for &to in &self.next[usize::from(*state)] {
            steps.add(format_args!("to {to}"), to);
        }
    }

    fn describe(&self, state: &u16) -> Vec<(String, String)> {
        vec![("node".into(), state.to_string())]
    }
}

#[test]
fn accepting_cycles_of_random_graphs_are_found_and_are_cycles() {
    let limits = ProbeLimits { states: 1000, bytes: 1 << 20 };
    let mut found = 0;
    for seed in 0..4000 {
        let graph = Graph::random(seed);
        let model = Packed::new(&graph);
        let number =
            |state: &[u8]| model.explained().describe(state)[0].1.parse::<usize>().unwrap();
        let told =
            probe(&model, &|state| graph.accepting[number(state)], limits, &Control::default())
                .unwrap();
        match &told.found {
            Probed::Found(lasso) => {
                found += 1;
                let nodes: Vec<usize> = lasso.states.iter().map(|it| number(it)).collect();
                let after = nodes.iter().skip(1).chain([&nodes[lasso.back]]);
                let steps = nodes.iter().zip(after);
                assert_eq!(nodes[0], 0);
                for (&from, &to) in steps {
                    assert!(graph.next[from].contains(&(to as u16)), "{seed}: {from} to {to}");
                }
                assert!(nodes[lasso.back..].iter().any(|&at| graph.accepting[at]), "{seed}");
                assert!(graph.has_cycle(), "{seed}");
            }
            Probed::None => {
                assert!(!graph.has_cycle(), "{seed}");
                let reached = graph.reached(&[0]).iter().filter(|it| **it).count();
                assert_eq!(told.states, reached as u64, "{seed}");
            }
            Probed::Open => panic!("{seed}: there is room for all"),
        }
    }
    assert!((500..3500).contains(&found), "{found} of 4000 graphs have a cycle");
}

#[test]
fn a_probe_that_is_told_to_stop_or_has_no_time_decides_nothing() {
    let graph = Graph { next: vec![vec![1], vec![0]], accepting: vec![true, true] };
    let model = Packed::new(&graph);
    let limits = ProbeLimits { states: 1000, bytes: 1 << 20 };
    let told = |control: &Control| probe(&model, &|_| true, limits, control).unwrap().found;
    assert!(matches!(told(&Control::default()), Probed::Found(_)));
    let stopped = Control::default();
    stopped.stop();
    let late = Control::new(Duration::from_secs(600), Some(Instant::now()));
    assert_eq!([told(&stopped), told(&late)], [Probed::Open, Probed::Open]);
}

/// Goes to `b`, and may stay there.
const STAYS: &str = "byte x; process P { state a, b; init a;
trans a -> b { effect x = 1; }, b -> a { effect x = 0; }, b -> b { }; }
process L { state q1, q2; init q1; accept q2;
trans q1 -> q1 { }, q1 -> q2 { guard x == 1; }, q2 -> q2 { guard x == 1; }; }
system async property L;
";
/// Goes to `b`, and ends.
const ENDS: &str = "byte x; process P { state a, b; init a; trans a -> b { effect x = 1; }; }
system async;
";
const PROMELA: &str = "byte x; ltl reaches { <> (x == 3) }
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 1 od }
active proctype Q() { do :: skip od }
";
const MURPHI: &str = "var x: 0..3; startstate x := 0; end; rule x < 3 ==> x := x + 1; end;
rule x = 3 ==> x := 1; end;
";

struct Bench(TempDir);

impl Bench {
    fn new() -> Bench {
        let bench = Bench(tempfile::tempdir().unwrap());
        let models =
            [("stays.dve", STAYS), ("ends.dve", ENDS), ("m.pml", PROMELA), ("m.m", MURPHI)];
        for (name, text) in models {
            std::fs::write(bench.0.path().join(name), text).unwrap();
        }
        bench
    }

    /// Exit code, output, messages.
    fn check(&self, args: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(SPILLWAY);
        let out = command.current_dir(self.0.path()).arg("check").args(args).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (out.status.code().unwrap(), text(out.stdout), text(out.stderr))
    }
}

#[test]
fn properties_of_models_of_each_language_hold_or_do_not() {
    let bench = Bench::new();
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
            let (found, out, err) = bench.check(&[model, "--ltl", formula, "--exec", exec]);
            assert_eq!(found, code, "{model}: {formula}\n{out}{err}");
            assert_eq!(out.contains("<<<the loop starts here>>>"), code == 1, "{out}");
        }
    }
}

#[test]
fn a_run_that_violates_is_shown_as_what_leads_to_a_loop_and_the_loop() {
    let bench = Bench::new();
    let (code, out, err) = bench.check(&["stays.dve", "--ltl", "[]<> x == 0"]);
    assert_eq!(code, 1, "{err}");
    assert!(out.starts_with("stays.dve: violated: a run does not satisfy []<> x == 0\n"), "{out}");
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
    let bench = Bench::new();
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
    let bench = Bench::new();
    let (code, out, err) = bench.check(&["stays.dve", "--ltl", "[]<> x == 1", "--max-states", "1"]);
    assert_eq!(code, 3, "{out}");
    assert!(out.contains("not decided yet: no run that violates []<> x == 1 was found"), "{out}");
    // There is a temporary directory with it.
    let dir = err.split('`').nth(1).and_then(|it| it.strip_prefix("spillway resume ")).unwrap();
    std::fs::remove_dir_all(dir).unwrap();
    let (code, out, _) = bench.check(&["stays.dve", "--ltl", "[] (x == 1 || !(x == 1))"]);
    assert_eq!(code, 0);
    assert!(out.contains("no run violates [] (x == 1 || !(x == 1)), whatever the model does"));
    for flags in [&["--shortest"][..], &["--reduce", "por"], &["--keep-going"], &["--store", "raw"]]
    {
        let (code, _, err) = bench.check(&[&["stays.dve", "--ltl", "L"][..], flags].concat());
        assert_eq!(code, 2, "{err}");
        assert!(err.contains("is for searches for safety") && err.contains(flags[0]), "{err}");
    }
    assert_eq!(bench.check(&["stays.dve", "--deadlock-runs", "ignore"]).0, 2);
    // An automaton of another tool: x is 1 for ever at last.
    let hoa = "HOA: v1 States: 2 Start: 0 AP: 1 \"x == 1\" Acceptance: 1 Inf(0)
        --BODY-- State: 0 [t] 0 [0] 1 State: 1 {0} [0] 1 --END--";
    std::fs::write(bench.0.path().join("a.hoa"), hoa).unwrap();
    let (code, out, err) = bench.check(&["stays.dve", "--automaton", "a.hoa"]);
    assert_eq!(code, 1, "{out}{err}");
}
