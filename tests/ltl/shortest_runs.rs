//! Shortest runs: compared with all runs, and as users request them.

use super::bench::{Bench, CommandOutput};
use super::digraph::{Digraph, GraphRng, node};
use spillway::search::SearchControl;
use spillway::search::lasso::Lasso;
use spillway::search::liveness::nested_dfs::{ProbeLimits, ProbeVerdict, probe};
use spillway::search::liveness::shortest_lasso::{AcceptingRuns, ShorterRun, shortest};
use spillway::{PackedSystem, StateSpace as _, TransitionSystem};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

/// The shortest accepting run.
fn shortest_accepting_run(
    model: &dyn spillway::StateSpace,
    accepts: &dyn Fn(&[u8]) -> bool,
    found: Lasso,
    limits: ProbeLimits,
    control: &SearchControl,
) -> spill::Result<ShorterRun> {
    shortest(AcceptingRuns { model, accepts, decides: None }, found, limits, control)
}

const LIMITS: ProbeLimits = ProbeLimits { states: 10_000, bytes: 1 << 30 };

/// A graph with long paths and few back edges, or with many.
fn graph(seed: u64) -> Digraph {
    let mut rng = GraphRng(seed);
    let (nodes, back) = (1 + rng.below(40), 1 + rng.below(12));
    let ends = |rng: &mut GraphRng, from: usize| match rng.below(back) {
        0 => rng.below(nodes) as u16,
        _ => (from + 1 + rng.below(3)).min(nodes - 1) as u16,
    };
    let next = (0..nodes).map(|from| (0..1 + rng.below(3)).map(|_| ends(&mut rng, from)).collect());
    let next = next.collect();
    let accepts = (0..nodes).map(|_| rng.below(4) == 0).collect();
    Digraph { next, accepts }
}

/// The steps from a node to each node, at least one; separately for paths with an accepting node (ends included) and
/// without.
fn steps_from(graph: &Digraph, start: usize) -> Vec<[Option<usize>; 2]> {
    let mut steps = vec![[None; 2]; graph.next.len()];
    let mut open = VecDeque::from([(start, usize::from(graph.accepts[start]), 0)]);
    while let Some((at, passed, length)) = open.pop_front() {
        for &to in &graph.next[at] {
            let to = usize::from(to);
            let passed = passed.max(usize::from(graph.accepts[to]));
            if steps[to][passed].is_none() {
                steps[to][passed] = Some(length + 1);
                open.push_back((to, passed, length + 1));
            }
        }
    }
    steps
}

/// The number of states of the shortest run.
fn least_states(graph: &Digraph) -> Option<usize> {
    let from_first = steps_from(graph, 0);
    let depth = |at: usize| match at {
        0 => Some(0),
        at => from_first[at].into_iter().flatten().min(),
    };
    let loops = (0..graph.next.len()).map(|at| Some(depth(at)? + steps_from(graph, at)[at][1]?));
    loops.flatten().min()
}

fn found(graph: &Digraph) -> Option<Lasso> {
    let model = PackedSystem::new(graph);
    let accepts = |state: &[u8]| graph.accepts[node(&model, state)];
    match probe(&model, &accepts, LIMITS, &SearchControl::default()).unwrap().found {
        ProbeVerdict::Found(lasso) => Some(lasso),
        ProbeVerdict::None | ProbeVerdict::Open => None,
    }
}

#[test]
fn shortened_runs_of_random_graphs_are_shortest() {
    let (mut shortened, mut were_least) = (0, 0);
    for seed in 0..3000 {
        let graph = graph(seed);
        let model = PackedSystem::new(&graph);
        let accepts = |state: &[u8]| graph.accepts[node(&model, state)];
        let (found, least_states) = (found(&graph), least_states(&graph));
        assert_eq!(found.is_some(), least_states.is_some(), "{seed}");
        let Some((found, least_states)) = found.zip(least_states) else { continue };
        let first = found.states.len();
        let result =
            shortest_accepting_run(&model, &accepts, found, LIMITS, &SearchControl::default())
                .unwrap();
        graph.check(&model, &result.lasso, seed);
        assert!(result.is_shortest, "{seed}");
        assert_eq!(result.lasso.states.len(), least_states, "{seed}");
        shortened += u32::from(least_states < first);
        were_least += u32::from(least_states == first);
    }
    assert!(shortened > 200 && were_least > 200, "{shortened} {were_least}");
}

/// A run may also end in a node that decides; its length is that of the path to the node.
#[test]
fn shortened_runs_to_decided_states_are_shortest() {
    let (mut by_loops, mut decided, mut sooner, mut dead_ends) = (0, 0, 0, 0);
    for seed in 0..3000 {
        let graph = graph(seed);
        let model = PackedSystem::new(&graph);
        let accepts = |state: &[u8]| graph.accepts[node(&model, state)];
        let Some((found, of_loops)) = found(&graph).zip(least_states(&graph)) else { continue };
        let mut rng = GraphRng(seed + 1);
        let decided_nodes: Vec<bool> = graph.next.iter().map(|_| rng.below(6) == 0).collect();
        let decides = |state: &[u8]| decided_nodes[node(&model, state)];
        let runs = AcceptingRuns { model: &model, accepts: &accepts, decides: Some(&decides) };
        let from_first = steps_from(&graph, 0);
        let can_continue = |at: usize| {
            let from = steps_from(&graph, at);
            let leads_to = |to: usize| to == at || from[to].iter().any(Option::is_some);
            (0..graph.next.len()).any(|to| leads_to(to) && steps_from(&graph, to)[to][1].is_some())
        };
        let depth = |at: usize| match at {
            0 => Some(0),
            at => from_first[at].into_iter().flatten().min(),
        };
        let all = (0..graph.next.len()).filter(|&at| decided_nodes[at]);
        let (leads_on, ends): (Vec<usize>, Vec<usize>) =
            all.filter(|&at| depth(at).is_some()).partition(|&at| can_continue(at));
        dead_ends += u32::from(!ends.is_empty());
        let of_decided = leads_on.into_iter().filter_map(depth).min();
        let least_states = of_decided.map_or(of_loops, |it| it.min(of_loops));
        let below = runs.steps_of(&found);
        let result = shortest(runs, found, LIMITS, &SearchControl::default()).unwrap();
        graph.check(&model, &result.lasso, seed);
        assert!(result.is_shortest, "{seed}");
        assert_eq!((result.below, result.steps), (below, least_states), "{seed}");
        assert_eq!(runs.steps_of(&result.lasso), least_states, "{seed}");
        by_loops += u32::from(least_states == of_loops);
        decided += u32::from(of_decided == Some(least_states));
        sooner += u32::from(least_states < below);
    }
    assert!(by_loops > 100 && decided > 200, "{by_loops} {decided}");
    assert!(sooner > 200 && dead_ends > 100, "{sooner} {dead_ends}");
}

/// With memory for some of the states, the result is a run no longer than the first, and is called shortest only if it
/// is.
#[test]
fn limited_searches_claim_only_proven_minima() {
    let (mut proved, mut shortened, mut kept) = (0, 0, 0);
    for seed in 0..3000 {
        let graph = graph(seed);
        let model = PackedSystem::new(&graph);
        let accepts = |state: &[u8]| graph.accepts[node(&model, state)];
        let Some((found, least_states)) = found(&graph).zip(least_states(&graph)) else { continue };
        let states = 1 + seed % 12;
        for limits in
            [ProbeLimits { states, ..LIMITS }, ProbeLimits { bytes: 210 * states, ..LIMITS }]
        {
            let first = found.states.len();
            let result = shortest_accepting_run(
                &model,
                &accepts,
                found.clone(),
                limits,
                &SearchControl::default(),
            );
            let result = result.unwrap();
            graph.check(&model, &result.lasso, seed);
            let length = result.lasso.states.len();
            assert!(least_states <= length && length <= first, "{seed}");
            assert!(!result.is_shortest || length == least_states, "{seed}");
            // A state has fewer than three successors beyond the last that had room.
            assert!(result.states <= states + 4, "{seed}: {}", result.states);
            proved += u32::from(result.is_shortest && length < first);
            shortened += u32::from(!result.is_shortest && length < first);
            kept += u32::from(!result.is_shortest && length == first);
        }
    }
    assert!(proved > 100 && shortened > 5 && kept > 100, "{proved} {shortened} {kept}");
}

#[test]
fn a_stopped_search_keeps_the_run() {
    let next = (0..100).map(|at| vec![(at + 1) % 100, (at + 7) % 100, at]).collect();
    let mut graph = Digraph { next, accepts: vec![false; 100] };
    graph.accepts[90] = true;
    let lasso = found(&graph).unwrap();
    let model = PackedSystem::new(&graph);
    let accepts = |state: &[u8]| graph.accepts[node(&model, state)];
    let stopped = SearchControl::default();
    stopped.stop();
    let result = shortest_accepting_run(&model, &accepts, lasso.clone(), LIMITS, &stopped).unwrap();
    assert_eq!((result.lasso, result.states, result.is_shortest), (lasso, 1, false));
}

/// The search stops at the first acceptance test. All states but the last, which is too far away, are known then.
#[test]
fn a_search_stopped_at_distances_claims_no_minimum() {
    let next = (0..100).map(|at| vec![(at + 1) % 100]).collect();
    let graph = Digraph { next, accepts: vec![true; 100] };
    let (lasso, model) = (found(&graph).unwrap(), PackedSystem::new(&graph));
    let (control, queries) = (SearchControl::default(), AtomicU64::new(0));
    let accepts = |_: &[u8]| {
        control.stop();
        queries.fetch_add(1, Ordering::Relaxed) < 1
    };
    let result = shortest_accepting_run(&model, &accepts, lasso.clone(), LIMITS, &control).unwrap();
    assert_eq!((result.lasso, result.states, result.is_shortest), (lasso, 99, false));
    assert_eq!(queries.load(Ordering::Relaxed), 1);
}

#[test]
fn a_run_of_one_state_is_shortest() {
    let graph = Digraph { next: vec![vec![0, 1], vec![1]], accepts: vec![true, true] };
    let (lasso, model) = (found(&graph).unwrap(), PackedSystem::new(&graph));
    let accepts = |_: &[u8]| true;
    let result =
        shortest_accepting_run(&model, &accepts, lasso, LIMITS, &SearchControl::default()).unwrap();
    graph.check(&model, &result.lasso, 0);
    assert_eq!((result.lasso.states.len(), result.lasso.back, result.is_shortest), (1, 0, true));
}

/// Counts to 50 and stays there. Each step may instead change a burden, which multiplies the states.
struct Burdens(AtomicU64);

impl TransitionSystem for Burdens {
    type State = (u8, u32);
    /// The change of the burden; 0 counts.
    type Action = u32;

    fn initial(&self) -> Vec<(u8, u32)> {
        vec![(0, 0)]
    }

    fn actions(&self, _: &(u8, u32), actions: &mut Vec<u32>) {
        self.0.fetch_add(1, Ordering::Relaxed);
        actions.extend(0..=3);
    }

    fn next(&self, &(at, burden): &(u8, u32), taken: &u32) -> Option<(u8, u32)> {
        Some(match taken {
            0 => ((at + 1).min(50), burden),
            taken => (at, (4 * burden + taken) % 2000),
        })
    }
}

#[test]
fn shortening_in_the_probe_keeps_its_state_limit() {
    let system = Burdens(AtomicU64::new(0));
    let model = PackedSystem::with_width(&system, 3);
    let accepts =
        |state: &[u8]| model.description().describe(state)[0].1.to_string().starts_with("[50,");
    let limits = ProbeLimits { states: 1000, bytes: 1 << 30 };
    let found = probe(&model, &accepts, limits, &SearchControl::default()).unwrap().found;
    let ProbeVerdict::Found(lasso) = found else { panic!("{found:?}") };
    assert_eq!((lasso.states.len(), lasso.back), (51, 50));
    // The search expands each state at most twice, once for the path and once for the cycle.
    let expanded = system.0.load(Ordering::Relaxed);
    assert!(expanded < 4100, "{expanded}");
}

/// A far cycle and a nearer one that is reached more slowly. Another process takes invisible steps.
const ROUNDS: &str = "byte x;
active proctype P() {
    if
    :: x = 10; do :: x < 30 -> x++ :: x == 30 -> x = 10 od
    :: x = 5; x = 6; x = 1; do :: x == 1 -> x = 2 :: x == 2 -> x = 1 od
    :: x = 10; do :: x < 30 -> x++ :: x == 30 -> x = 10 od
    fi
}
active proctype Q() { byte y; y = 1; y = 2; y = 3 }
";
/// The formula: no run passes one of these values infinitely often.
const ENDS: &str = "!([] <> (x == 10 || x == 1))";

fn bench() -> Bench {
    let named = format!("{ROUNDS}ltl ends {{ {ENDS} }}\n");
    let never = "never { T0: do :: !(x == 10 || x == 1) :: x == 10 || x == 1 -> goto accept od; accept: goto T0 }";
    let labels = ROUNDS.replacen("x = 10; do", "x = 10; accept_far: do", 1);
    let labels = labels.replace("x = 1; do", "x = 1; accept_near: do");
    Bench::of([
        ("m.pml", ROUNDS),
        ("named.pml", &*named),
        ("wide.pml", WIDE),
        ("never.pml", &format!("{ROUNDS}{never}\n")),
        ("labels.pml", &labels),
        ("m.dve", DVE),
        ("m.m", MURPHI),
    ])
}

/// A slow cycle, and six other processes that count.
const WIDE: &str = "byte x;
active proctype P() { x = 10; do :: x < 30 -> x++ :: x == 30 -> x = 10 od }
active [6] proctype R() { byte z; do :: z < 40 -> z++ od }
";
/// The same in other languages, without the other process.
const DVE: &str = "byte x; process P { state s, far, a, b, near; init s; trans
s -> far { effect x = 10; }, far -> far { guard x < 30; effect x = x + 1; }, far -> far { guard x == 30; effect x = 10; },
s -> a { effect x = 5; }, a -> b { effect x = 6; }, b -> near { effect x = 1; },
near -> near { guard x == 1; effect x = 2; }, near -> near { guard x == 2; effect x = 1; }; }
system async;
";
const MURPHI: &str = "var x: 0..30; startstate x := 0; end;
rule x = 0 ==> x := 10; end; rule x >= 10 & x < 30 ==> x := x + 1; end; rule x = 30 ==> x := 10; end;
rule x = 0 ==> x := 5; end; rule x = 5 ==> x := 6; end; rule x = 6 ==> x := 1; end;
rule x = 1 ==> x := 2; end; rule x = 2 ==> x := 1; end;
";

/// The steps before the cycle and in it, if there is a run, and the member `shortened`.
fn run_lengths(output: &CommandOutput) -> (Option<[u64; 2]>, serde_json::Value) {
    let all: serde_json::Value = serde_json::from_str(&output.out).expect(&output.err);
    let steps = all["counterexample"]["steps"].as_array().map(|it| it.len() as u64 - 1);
    let before = all["counterexample"]["loop_start"].as_u64();
    (before.zip(steps).map(|(before, all)| [before, all - before]), all["shortened"].clone())
}

#[test]
fn shortest_runs_are_reported_for_every_kind_of_liveness_property() {
    let bench = bench();
    for args in [
        &["m.pml", "--ltl", ENDS][..],
        &["m.dve", "--ltl", ENDS],
        &["m.m", "--ltl", "!([] <> (x = 10 | x = 1))"],
        &["named.pml", "--ltl", "ends"],
        &["named.pml"],
        &["never.pml"],
        &["labels.pml", "--acceptance"],
    ] {
        let check = |flags: &[&str]| bench.run(&[&["check"], args, flags].concat());
        let (first, none) = run_lengths(&check(&["--json"]));
        let (before, round) = first.map(|[before, round]| (before, round)).unwrap();
        assert!(before + round > 10 && none.is_null(), "{args:?}: {first:?}");
        let plain = check(&[]).out;
        let is_length = |it: &str| {
            it.contains(", then a cycle of ") && it.ends_with("; there may be a shorter one")
        };
        assert!(plain.lines().any(is_length), "{plain}");
        for exec in ["jit", "interp"] {
            let output = check(&["--shortest", "--json", "--exec", exec]);
            assert_eq!((output.code, &*output.err), (1, ""), "{args:?}");
            let (shortest, shortened) = run_lengths(&output);
            let [stem, round] = shortest.unwrap();
            // In Promela reading a value and setting it are two steps.
            let is_promela = args[0].ends_with(".pml");
            assert_eq!((stem, round), (3, if is_promela { 4 } else { 2 }), "{args:?}");
            assert_eq!(shortened["depth"], stem + round, "{args:?}");
            assert_eq!(shortened["done"], true, "{args:?}");
            // The order of the steps depends on the executor.
            let (first, _) = run_lengths(&check(&["--json", "--exec", exec]));
            assert_eq!(shortened["below"], first.unwrap().iter().sum::<u64>(), "{args:?}");
        }
        let output = check(&["--shortest"]);
        let is_length = |it: &str| it.contains(", then a cycle of ") && it.ends_with(" steps");
        assert!(output.out.lines().any(is_length), "{}", output.out);
        assert!(
            output.flat().contains("  shortest search for shorter runs: the minimum is "),
            "{}",
            output.out
        );
        let (_, shortened) = run_lengths(&check(&["--shortest", "--json"]));
        assert!(shortened["states"].as_u64().unwrap() > 5, "{shortened}");
    }
}

#[test]
fn shortest_runs_under_reductions_are_shortest() {
    let bench = bench();
    let command = ["check", "m.pml", "--ltl", ENDS, "--json"];
    let check = |flags: &[&str]| run_lengths(&bench.run(&[&command, flags].concat()));
    let (shortest, _) = check(&["--shortest"]);
    let length = |run: Option<[u64; 2]>| run.unwrap().iter().sum::<u64>();
    // After postponed steps, a small search for a shorter run always follows.
    for (flags, is_shortened) in [
        (&["--por", "local"][..], true),
        (&["--reduce", "por"], true),
        (&["--reduce", "dead,values,states"], false),
    ] {
        let (first, _) = check(flags);
        let (then, shortened) = check(&[flags, &["--shortest"]].concat());
        assert_eq!(length(first) == length(then), is_shortened, "{flags:?}: {first:?}, {then:?}");
        assert_eq!(length(then), length(shortest), "{flags:?}: {then:?}");
        assert_eq!(shortened["done"], true, "{flags:?}");
    }
}

#[test]
fn the_search_directory_keeps_a_shortest_run() {
    let bench = bench();
    let begin = ["check", "m.pml", "--ltl", ENDS, "--max-states", "1", "--dir"];
    for (dir, flags) in [("plain", &[][..]), ("shortest", &["--shortest"])] {
        assert_eq!(bench.run(&[&begin, &[dir][..], flags].concat()).code, 3);
    }
    let (first, none) = run_lengths(&bench.run(&["resume", "plain", "--json"]));
    assert!(first.unwrap()[1] > 10 && none.is_null(), "{first:?}");
    for command in ["resume", "resume", "trace"] {
        let output = bench.run(&[command, "shortest", "--json"]);
        let (shortest, shortened) = run_lengths(&output);
        assert!(output.code == 1 && shortest == Some([3, 4]), "{shortest:?}{}", output.err);
        assert_eq!(shortened["below"], first.unwrap().iter().sum::<u64>());
        assert_eq!(shortened["done"], true);
    }
    let (_, none) = run_lengths(&bench.run(&["status", "shortest", "--json"]));
    assert!(none.is_null());
}

#[test]
fn a_search_for_shorter_runs_without_enough_memory_is_reported() {
    let bench = bench();
    let command = ["check", "wide.pml", "--ltl", "!([] <> x == 10)"];
    let flags = [&command[..], &["--memory", "40MiB", "--no-dive", "--reduce", "none"]].concat();
    let check = |more: &[&str]| bench.run(&[&flags, more].concat());
    let output = check(&["--shortest", "--json"]);
    let ((run, shortened), (first, _)) = (run_lengths(&output), run_lengths(&check(&["--json"])));
    assert_eq!((run, &shortened["done"]), (first, &false.into()), "{}", output.out);
    let states = shortened["states"].as_u64().unwrap();
    assert!(shortened["depth"].is_null() && states > 10_000, "{shortened}");
    let out = check(&["--shortest"]).flat();
    assert!(out.contains("  shortest search for shorter runs: stopped at "), "{out}");
    assert!(out.contains(" states; there may be a shorter counterexample\n"), "{out}");
    let is_length = |it: &str| {
        it.contains(", then a cycle of ") && it.ends_with("; there may be a shorter one")
    };
    assert!(out.lines().any(is_length), "{out}");
}

#[test]
fn shortest_runs_under_fairness_are_rejected() {
    let bench = bench();
    let output = bench.run(&["check", "m.pml", "--ltl", ENDS, "--fair", "weak", "--shortest"]);
    assert_eq!((output.code, &*output.out), (2, ""));
    assert!(output.err.contains("--fair weak and --shortest cannot be combined"), "{}", output.err);
    assert_eq!(output.err.matches("error: ").count(), 1, "{}", output.err);
}
