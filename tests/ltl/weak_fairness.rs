//! Weak fairness:
//!
//! - fair cycles of random graphs, compared with a plain search;
//! - enabled and moving processes, compiled and by the reference semantics;
//! - small models whose result depends on the definitions;
//! - equivalent formulas.

use super::bench::{Bench, CommandOutput};
use super::digraph::{Digraph, GraphRng, node};
use super::disk_search::{
    CycleSearchInput, SearchSettings, assert_no_orphan_files, assert_resumes_after_faults,
};
use serde_json::Value;
use spill::{Disk, FaultDisk};
use spillway::PackedSystem;
use spillway::components::components;
use spillway::exec::{ExecutionMode, Executor, FairExpander};
use spillway::front::{Language, Options};
use spillway::ir::Schedule;
use spillway::model::{
    FairSteps, ProcessSet, StateSpace, StepOutcome, SuccessorSink, SystemDescription as _,
};
use spillway::reduce::claim::{FairProduct, FiniteRunPolicy};
use spillway::search::SearchControl;
use spillway::search::lasso::Lasso;
use spillway::search::liveness::fair_scc::probe_fair;
use spillway::search::liveness::nested_dfs::{ProbeLimits, ProbeVerdict};
use spillway::session::{LivenessCheck, PropertyRequest};
use spillway::source::SourceMap;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// A pseudo-random graph, each edge of which is fair to some processes.
struct FairGraph {
    graph: Digraph,
    /// The process sets of the edges of each node.
    sets: Vec<Vec<ProcessSet>>,
    processes: usize,
    /// Parts that lead to themselves and to later parts, like the components of an automaton. The part of a node
    /// follows from its number. The value of a part is `None` if no node accepts; otherwise it contains whether all
    /// nodes do.
    parts: Vec<Option<bool>>,
}

impl FairGraph {
    fn random(seed: u64) -> FairGraph {
        let mut rng = GraphRng(seed);
        let nodes = 1 + rng.below(if seed.is_multiple_of(40) { 400 } else { 40 });
        let sorts = [None, Some(true), Some(false), Some(false)];
        let parts: Vec<Option<bool>> = (0..1 + rng.below(3)).map(|_| sorts[rng.below(4)]).collect();
        let part = |node: usize| node % parts.len();
        let processes = if seed.is_multiple_of(150) { 70 } else { rng.below(5) };
        let (back, often) = (3 + rng.below(9), 1 + rng.below(6));
        let mut edge = |from: usize| match rng.below(back) {
            0 => rng.below(nodes),
            _ => (from + 1 + rng.below(4)).min(nodes - 1),
        };
        let next = (0..nodes).map(|from| {
            let edges = (0..2 + from % 3).map(|_| edge(from));
            edges.filter(|&to| part(to) >= part(from)).map(|to| to as u16).collect()
        });
        let next: Vec<Vec<u16>> = next.collect();
        let mut set = || {
            let mut set = ProcessSet::NONE;
            // With many processes, most have the same edges.
            let other = if rng.below(2) == 0 { ProcessSet::NONE } else { ProcessSet::first(66) };
            if processes > 64 {
                set.extend(other);
            }
            (0..processes).filter(|_| rng.below(often) == 0).for_each(|it| set.insert(it));
            set
        };
        let sets = next.iter().map(|all| all.iter().map(|_| set()).collect()).collect();
        let accepts = (0..nodes).map(|node| match parts[part(node)] {
            None => false,
            Some(is_weak) => is_weak || rng.below(3) == 0,
        });
        let accepts = accepts.collect();
        FairGraph { graph: Digraph { next, accepts }, sets, processes, parts }
    }

    /// The part of a node, if it can have accepting cycles.
    fn component(&self, node: usize) -> Option<usize> {
        let part = node % self.parts.len();
        self.parts[part].map(|_| part)
    }

    fn is_weak(&self) -> bool {
        !self.parts.contains(&Some(false))
    }

    /// All edges: source, target, and the processes the edge is fair to.
    fn edges(&self) -> impl Iterator<Item = (usize, usize, ProcessSet)> + use<'_> {
        let all = self.graph.next.iter().zip(&self.sets).enumerate();
        all.flat_map(|(from, (next, sets))| {
            next.iter().zip(sets).map(move |(&to, &set)| (from, usize::from(to), set))
        })
    }

    /// Whether a reachable component has an accepting node and, for each process, an edge that is fair to it.
    fn has_fair_cycle(&self) -> bool {
        let seen = self.graph.reached(&[0]);
        let edges: Vec<(usize, usize)> = self.edges().map(|(from, to, _)| (from, to)).collect();
        let of = components(seen.len(), &edges);
        let is_fair = |number: usize| {
            let mut remaining = ProcessSet::first(self.processes);
            let inside = self.edges().filter(|&(a, b, _)| of[a] == number && of[b] == number);
            let mut turns = false;
            inside.for_each(|(.., set)| (turns, remaining) = (true, remaining.without(set)));
            turns && remaining.is_empty()
        };
        (0..seen.len()).any(|at| seen[at] && self.graph.accepts[at] && is_fair(of[at]))
    }

    /// Asserts that a lasso is an accepted, fair run of the graph.
    fn check(&self, model: &dyn StateSpace, lasso: &Lasso, seed: u64) {
        self.graph.check(model, lasso, seed);
        let nodes: Vec<usize> = lasso.states.iter().map(|it| node(model, it)).collect();
        let round = nodes[lasso.back..].iter().chain([&nodes[lasso.back]]);
        let round: Vec<usize> = round.copied().collect();
        assert_eq!(round.len(), lasso.fair_to.len() + 1, "{seed}");
        let mut remaining = ProcessSet::first(self.processes);
        for (pair, &set) in round.windows(2).zip(&lasso.fair_to) {
            assert!(self.edges().any(|it| it == (pair[0], pair[1], set)), "{seed}: {pair:?}");
            remaining = remaining.without(set);
        }
        assert!(remaining.is_empty(), "{seed}");
    }
}

/// A graph as a model that reports to which processes its steps are fair.
struct FairGraphModel<'g> {
    graph: &'g FairGraph,
    model: PackedSystem<'g, Digraph>,
}

impl FairSteps for FairGraphModel<'_> {
    fn processes(&self) -> usize {
        self.graph.processes
    }

    fn expand_fair(&self, state: &[u8], out: &mut SuccessorSink) {
        let sets = &self.graph.sets[node(&self.model, state)];
        for (step, set) in self.model.description().steps(state).into_iter().zip(sets) {
            let StepOutcome::Successor(successor) = step.outcome else { unreachable!() };
            out.candidate(&[&successor[..], &set.to_bytes()].concat());
        }
    }
}

#[test]
fn fair_cycles_of_random_graphs_are_found_in_memory() {
    let limits = ProbeLimits { states: 1000, bytes: 1 << 20 };
    let (mut found, mut unfair) = (0, 0);
    for seed in 0..6000 {
        let graph = FairGraph::random(seed);
        let fair_model = FairGraphModel { graph: &graph, model: PackedSystem::new(&graph.graph) };
        let accepts = |state: &[u8]| graph.graph.accepts[node(&fair_model.model, state)];
        let control = SearchControl::default();
        let probed =
            probe_fair(&fair_model.model, &fair_model, &accepts, limits, &control).unwrap();
        let any = spillway::search::liveness::nested_dfs::probe(
            &fair_model.model,
            &accepts,
            limits,
            &control,
        )
        .unwrap();
        match &probed.found {
            ProbeVerdict::Found(lasso) => {
                found += 1;
                graph.check(&fair_model.model, lasso, seed);
                assert!(graph.has_fair_cycle(), "{seed}");
                // A counted transition led to each state but the first.
                assert!(probed.states <= probed.transitions + 1, "{seed}: {probed:?}");
            }
            ProbeVerdict::None => {
                assert!(!graph.has_fair_cycle(), "{seed}");
                unfair += u32::from(any.found != ProbeVerdict::None);
                let reached = graph.graph.reached(&[0]).iter().filter(|it| **it).count();
                assert_eq!(probed.states, reached as u64, "{seed}");
            }
            ProbeVerdict::Open => panic!("{seed}: there is room for all"),
        }
    }
    assert!(found > 1000 && unfair > 500, "{found} fair cycles, {unfair} only unfair ones");
}

/// Searches a graph on a disk, in several sessions. Returns the verdict and the number of sweeps.
fn on_disk(
    graph: &FairGraph,
    disk: &Arc<dyn Disk>,
    settings: SearchSettings,
) -> spill::Result<(ProbeVerdict, u32)> {
    let fair_model = FairGraphModel { graph, model: PackedSystem::new(&graph.graph) };
    let component = |state: &[u8]| graph.component(node(&fair_model.model, state));
    let accepts = |state: &[u8]| graph.graph.accepts[node(&fair_model.model, state)];
    let (model, component, accepts) = (&fair_model.model, &component, &accepts);
    let is_weak = graph.is_weak();
    let subject = CycleSearchInput { model, component, accepts, is_weak, fair: Some(&fair_model) };
    subject.search(disk, settings, &mut |_| {})
}

#[test]
fn fair_cycles_of_random_graphs_are_found_on_disk() {
    let (mut found, mut longest) = (0, 0);
    for seed in 0..1000 {
        let graph = FairGraph::random(seed);
        let mut rng = GraphRng(seed ^ 1 << 40);
        let settings = SearchSettings {
            threads: 1 + rng.below(3),
            buffer: 1 + rng.below(100) as u64,
            shard_states: 1 + rng.below(60) as u64,
            session_sweeps: if seed % 3 == 0 { 1 } else { u32::MAX },
            ..SearchSettings::UNLIMITED
        };
        let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
        let (result, _) = on_disk(&graph, &disk, settings).unwrap();
        assert_eq!(result != ProbeVerdict::None, graph.has_fair_cycle(), "{seed}");
        if let ProbeVerdict::Found(lasso) = &result {
            found += 1;
            longest = longest.max(lasso.states.len() - lasso.back);
            if graph.processes > 0 {
                graph.check(&PackedSystem::new(&graph.graph), lasso, seed);
            }
        }
        // Other limits give the same verdict, and there are no orphan files.
        let other: Arc<dyn Disk> = Arc::new(FaultDisk::new());
        assert_eq!(on_disk(&graph, &other, SearchSettings::UNLIMITED).unwrap().0, result, "{seed}");
        assert_no_orphan_files(&*disk, &format!("{seed}"));
    }
    assert!((300..900).contains(&found) && longest > 15, "{found}, {longest}");
}

#[test]
fn a_fair_search_resumes_after_disk_faults() {
    let settings = SearchSettings {
        threads: 2,
        buffer: 3,
        shard_states: 7,
        session_sweeps: 2,
        ..SearchSettings::UNLIMITED
    };
    let graphs = (0..200)
        .map(FairGraph::random)
        .filter(|it| (1..9).contains(&it.processes) && it.has_fair_cycle());
    let graphs = graphs.map(|graph| {
        let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
        let expected = on_disk(&graph, &disk, SearchSettings::UNLIMITED).unwrap();
        (graph, expected)
    });
    let mut graphs: Vec<_> = graphs.filter(|(graph, _)| graph.sets.len() < 60).collect();
    graphs.sort_by_key(|(_, (_, sweeps))| std::cmp::Reverse(*sweeps));
    graphs.truncate(3);
    for (graph, expected) in graphs {
        assert_resumes_after_faults(&expected, 11, &|disk| on_disk(&graph, disk, settings));
    }
}

/// Both partners of a rendezvous have no other transition, and repeat it for ever.
const RENDEZVOUS_MODEL: &str = "chan c = [0] of { byte }; byte x;
active proctype S() { do :: c!1 od }
active proctype R() { do :: c?_ od }
";
/// One partner of the rendezvous always has another transition. The other partner is always enabled.
const SENDS: &str = "chan c = [0] of { byte }; byte x;
active proctype S() { do :: c!1 :: skip od }
active proctype R() { do :: c?_ -> x = 1 - x od }
";
const RECEIVES: &str = "chan c = [0] of { byte }; byte x;
active proctype S() { do :: c!1 -> x = 1 - x od }
active proctype R() { do :: c?_ :: skip od }
";
/// The receiver always has another transition. It moves within the atomic sequence of the sender.
const JOINED: &str = "chan c = [0] of { byte }; byte x; bool r;
active proctype S() { do :: atomic { x = 1 - x; c!1 } od }
active proctype R() { do :: c?_ :: r = true od }
";
/// Ends in a state in which no process is enabled.
const STUCK: &str = "byte x; active proctype P() { x = 1; (x == 5) }";
/// Workers end and are started again, unless fairness to the starting process is missing. No worker stays.
const WORKERS: &str = "byte x, n; proctype W() { x = 1; x = 0 }
active proctype B() { do :: n = 1 - n od }
init { do :: _nr_pr == 2 -> run W() od }
";
/// A worker that repeats for ever, and another process that also does.
const WORKER: &str = "byte x, n; proctype W() { do :: x = 1 - x od }
init { run W(); do :: n = 1 - n od }
";
/// A enables and disables B again and again.
const GIVEN: &str = "byte x, y;
active proctype A() { do :: x = 1 - x od }
active proctype B() { do :: x == 1 -> y = 1 - y od }
";
/// B is enabled inside the atomic sequence of A: x is 1 between two sequences.
const ATOMIC: &str = "byte x = 1, y;
active proctype A() { do :: atomic { x = 0; x = 1 } od }
active proctype B() { do :: x == 1 -> y = 1 - y od }
";
/// B is enabled only if its `provided` clause holds, only at a timeout, or only if C, which has a higher priority, is
/// not.
const HELD: &str = "byte x, y, t, p;
active proctype A() { do :: x = 1 - x od }
active proctype B() provided (x == 1) { do :: y = 1 - y od }
active proctype T() { do :: timeout -> t = 1 - t od }
";
const PRIORITY: &str = "byte x, y;
active proctype B() priority 1 { do :: y = 1 - y od }
active proctype C() priority 5 { do :: x = 1 - x od }
";
/// B is delayed while A is committed, and is enabled all the same; C never is.
const COMMITTED: &str = "byte x;
process A { state a, c; init a; commit c; trans a -> c { }, c -> a { }; }
process B { state b; init b; trans b -> b { effect x = 1 - x; }; }
process C { state d, e; init d; trans d -> e { guard x == 7; }; }
system async;
";
/// B is not enabled while A is committed, because A disables it.
const TAKEN: &str = "byte x; byte y = 1;
process A { state a, c; init a; commit c; trans a -> c { effect y = 0; }, c -> a { effect y = 1; }; }
process B { state b; init b; trans b -> b { guard y == 1; effect x = 1 - x; }; }
system async;
";
/// A and B synchronise in DVE; C moves alone.
const CHANNEL: &str = "channel k; byte x;
process A { state a; init a; trans a -> a { sync k!; effect x = 1 - x; }; }
process B { state b; init b; trans b -> b { sync k?; }; }
process C { state c; init c; trans c -> c { }; }
system async;
";
const RULES: &str = "var x: 0..1; startstate x := 0; end; rule x := 1 - x; end;";
const LOCKSTEP: &str = "byte x; process A { state a; init a; trans a -> a { effect x = 1 - x; }; }
process B { state b; init b; trans b -> b { }; }
system sync;
";

fn bench() -> Bench {
    Bench::of([
        ("meet.pml", RENDEZVOUS_MODEL),
        ("sends.pml", SENDS),
        ("receives.pml", RECEIVES),
        ("joined.pml", JOINED),
        ("stuck.pml", STUCK),
        ("workers.pml", WORKERS),
        ("worker.pml", WORKER),
        ("given.pml", GIVEN),
        ("atomic.pml", ATOMIC),
        ("held.pml", HELD),
        ("priority.pml", PRIORITY),
        ("committed.dve", COMMITTED),
        ("taken.dve", TAKEN),
        ("channel.dve", CHANNEL),
        ("rules.m", RULES),
        ("lockstep.dve", LOCKSTEP),
    ])
}

/// Model, formula, and the exit codes for all runs and for weakly fair runs.
const FAIRNESS_VERDICTS: [(&str, &str, i32, i32); 20] = [
    ("meet.pml", "<> (x == 5)", 1, 1),
    ("sends.pml", "[]<> (x == 1)", 1, 0),
    ("receives.pml", "[]<> (x == 1)", 1, 0),
    ("joined.pml", "<> r", 1, 1),
    ("joined.pml", "[]<> (x == 1)", 1, 0),
    ("stuck.pml", "<> (x == 2)", 1, 1),
    ("stuck.pml", "<> (x == 1)", 0, 0),
    ("workers.pml", "[]<> (x == 1)", 1, 0),
    ("workers.pml", "<> (x == 2)", 1, 1),
    ("worker.pml", "[]<> (x == 1)", 1, 0),
    ("worker.pml", "[]<> (n == 1)", 1, 0),
    // Every continuation violates the formula, but not every continuation is fair.
    ("worker.pml", "[] (n == 0 || x == 0)", 1, 1),
    ("given.pml", "[]<> (y == 1)", 1, 1),
    ("atomic.pml", "[]<> (y == 1)", 1, 0),
    ("held.pml", "[]<> (y == 1)", 1, 1),
    ("priority.pml", "<> (y == 1)", 1, 1),
    ("priority.pml", "[]<> (x == 1)", 0, 0),
    ("committed.dve", "[]<> x == 1", 1, 0),
    ("taken.dve", "[]<> x == 1", 1, 1),
    ("channel.dve", "[]<> x == 1", 1, 0),
];

#[test]
fn only_weakly_fair_runs_are_checked() {
    let bench = bench();
    for (model, formula, of_all, of_fair) in FAIRNESS_VERDICTS {
        for (flags, code) in [(&[][..], of_all), (&["--fair", "weak"], of_fair)] {
            let results = ["jit", "interp"].map(|exec| {
                let check = ["check", model, "--ltl", formula, "--exec", exec, "--json"];
                let CommandOutput { code: found, out, err } =
                    bench.run(&[&check[..], flags].concat());
                assert_eq!(found, code, "{model}: {formula} {flags:?}\n{out}{err}");
                serde_json::from_str::<Value>(&out).unwrap()
            });
            // The run found may depend on the executor.
            assert!(code == 1 || results[0] == results[1], "{model}: {formula}");
            let fairness = if flags.is_empty() { "none" } else { "weak" };
            assert_eq!(results[0]["fairness"], fairness);
        }
    }
}

/// The search is stopped while it explores states, so the verdict is not decided in memory. The directory keeps the
/// fairness.
#[test]
fn verdicts_on_weakly_fair_runs_on_disk_equal_those_in_memory() {
    let bench = bench();
    for (number, (model, formula, _, code)) in FAIRNESS_VERDICTS.into_iter().enumerate() {
        let dir = format!("d{number}");
        let check = ["check", model, "--ltl", formula, "--max-states", "1", "--dir", &dir];
        let json = |args: &[&str], code: i32| {
            let CommandOutput { code: found, out, err } = bench.run(&[args, &["--json"]].concat());
            assert_eq!(found, code, "{args:?}: {out}{err}");
            serde_json::from_str::<Value>(&out).unwrap()
        };
        let fair = [&check[..], &["--fair", "weak"]].concat();
        // One state suffices. In the second model the values of `x` are equivalent.
        let is_found = code == 1 && ["meet.pml", "priority.pml"].contains(&model);
        let first = json(&fair, if is_found { 1 } else { 3 });
        if first["verdict"] == "violated" {
            continue;
        }
        assert_eq!(json(&["status", &dir], 0)["fairness"], "weak");
        let CommandOutput { code: found, err, .. } = bench.run(&check);
        assert!(found == 2 && err.contains("a search of this model with other checks"), "{err}");
        let result = json(&["resume", &dir], code);
        assert_eq!(result["fairness"], "weak", "{formula}");
        assert_eq!(result["counterexample"].is_null(), code == 0);
        // The counterexample is shown again, and found fair again.
        let repeated = json(&["resume", &dir, "--threads", "1", "--exec", "interp"], code);
        assert_eq!(result["counterexample"], repeated["counterexample"], "{formula}");
        assert_eq!(json(&["trace", &dir], code), repeated, "{formula}");
        let in_memory = json(&["check", model, "--ltl", formula, "--fair", "weak"], code);
        if code == 0 {
            assert_eq!(result["states"], in_memory["states"], "{formula}");
            assert_eq!(result["transitions"], in_memory["transitions"], "{formula}");
        }
    }
}

#[test]
fn fairness_needs_processes_and_is_weak_only() {
    let bench = bench();
    let fairness_error = |model: &str, kind: &str| {
        let CommandOutput { code, err, .. } =
            bench.run(&["check", model, "--ltl", "[]<> (x = 1)", "--fair", kind]);
        assert_eq!(code, 2, "{err}");
        err
    };
    let err = fairness_error("rules.m", "weak");
    assert!(err.contains("--fair concerns processes") && err.contains("it has rules"), "{err}");
    let err = fairness_error("rules.m", "strong");
    assert!(err.contains("strong fairness is not supported, only --fair weak"), "{err}");
    let CommandOutput { code, err, .. } =
        bench.run(&["check", "lockstep.dve", "--ltl", "[]<> x == 1", "--fair", "weak"]);
    assert!(code == 2 && err.contains("its processes move in lockstep"), "{err}");
    let CommandOutput { code, err, .. } = bench.run(&["check", "given.pml", "--fair", "weak"]);
    assert!(code == 2 && err.contains("--ltl"), "{err}");
    let CommandOutput { code, out, .. } =
        bench.run(&["check", "given.pml", "--ltl", "[] (x == 1 || !(x == 1))", "--fair", "weak"]);
    assert!(code == 0 && out.contains("whatever the model does"), "{out}");
    let CommandOutput { code, out, .. } =
        bench.run(&["check", "given.pml", "--ltl", "[]<> (y == 1)", "--fair", "weak"]);
    assert!(code == 1 && out.contains("VIOLATED: a weakly fair run does not satisfy"), "{out}");
}

/// A pseudo-random Promela model. Its processes change bytes and use buffered channels, and `enabled` and `_last` refer
/// to each of them.
pub fn random_model(seed: u64) -> (String, usize) {
    let mut rng = GraphRng(seed);
    let processes = 1 + rng.below(3);
    let mut text = "byte x, y; chan c = [1] of { byte };\n".to_owned();
    for _ in 0..processes {
        let mut options = String::new();
        for _ in 0..1 + rng.below(3) {
            let guard = ["x == 0", "x == 1", "y == 1", "true", "x != y", "timeout"][rng.below(6)];
            let does = ["x = 1 - x", "y = 1 - y", "c!1", "c?_", "skip", "x = y"][rng.below(6)];
            options += &match rng.below(3) {
                0 => format!(" :: {does}"),
                1 => format!(" :: atomic {{ {guard} -> {does} }}"),
                _ => format!(" :: {guard} -> {does}"),
            };
        }
        let before = ["", "x = 1; ", "atomic { y == 1 -> x = 1 }; "][rng.below(3)];
        text += &match rng.below(5) {
            0 => format!("active proctype P{}() {{ {before}x = 1 - x; y = 1 }}\n", text.len()),
            _ => format!("active proctype P{}() {{ {before}do{options} od }}\n", text.len()),
        };
    }
    if rng.below(2) == 0 {
        return (text, processes);
    }
    // Without fairness this process can move alone for ever.
    (text + "active proctype Z() { do :: skip od }\n", processes + 1)
}

/// A formula expresses weak fairness if no two processes move at once.
#[test]
fn weak_fairness_equals_fairness_as_a_formula() {
    let (mut judged, mut differ) = ([0, 0], 0);
    for seed in 0..120 {
        let (text, processes) = random_model(seed);
        let bench = Bench::of([("m.pml", &*text)]);
        let fair: Vec<String> = (0..processes)
            .map(|pid| format!("([]<> (!enabled({pid}) || _last == {pid}))"))
            .collect();
        let wanted = ["[]<> (x == 1)", "<>[] (y == 0)", "<> (x == 1 && y == 1)"];
        for wanted in [wanted[seed as usize % 3], wanted[(seed as usize + 1) % 3]] {
            let says = format!("({}) -> ({wanted})", fair.join(" && "));
            let code = |args: &[&str]| {
                let output = bench.run(&[&["check", "m.pml", "--ltl"][..], args].concat());
                assert!(output.code < 2, "{text}{}", output.err);
                output.code
            };
            let fair = code(&[wanted, "--fair", "weak"]);
            assert_eq!(fair, code(&[&says]), "{seed}: {wanted}\n{text}");
            judged[fair as usize] += 1;
            differ += i32::from(fair != code(&[wanted]));
        }
    }
    assert!(judged[0] > 30 && judged[1] > 30 && differ > 15, "{judged:?}, {differ}");
}

/// Both executors and the reference semantics agree to which processes the steps of our models are fair.
#[test]
fn fair_processes_are_those_of_the_reference_semantics() {
    let mut queries = 0;
    for folder in ["dve", "promela"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(folder);
        for entry in std::fs::read_dir(folder).unwrap() {
            let file = entry.unwrap().path();
            let language = Language::from_file_name(&file.to_string_lossy()).unwrap();
            let mut sources = SourceMap::default();
            sources.add(file.display().to_string(), std::fs::read_to_string(&file).unwrap());
            let formula = PropertyRequest::Formula("[]<> (0 == 1)");
            let (watched, _) =
                LivenessCheck::load(language, sources, Options::default(), formula).unwrap();
            if watched.model.interp.program().schedule == Schedule::Interleaved {
                queries += compare_fair_steps(&watched, 150);
            }
        }
    }
    assert!(queries > 3000, "{queries}");
}

/// Compares the steps of some states. Returns the number of states.
fn compare_fair_steps(watched: &LivenessCheck, states_max: usize) -> usize {
    let interp = &watched.model.interp;
    let product = watched.product(interp, FiniteRunPolicy::Stutter).unwrap();
    let fair = [ExecutionMode::Jit, ExecutionMode::Interp].map(|exec| {
        let movers = FairExpander::new(interp, &Executor::new(interp, exec));
        FairProduct::new(&product, movers.unwrap_or_else(|why| panic!("{why}")))
    });
    let start = product.starts().into_iter().filter_map(|step| match step.outcome {
        StepOutcome::Successor(state) => Some(state),
        StepOutcome::Fault(_) => None,
    });
    let mut open: Vec<Vec<u8>> = start.take(3).collect();
    let mut seen: BTreeSet<Vec<u8>> = open.iter().cloned().collect();
    let mut queries = 0;
    while let Some(state) = open.pop().filter(|_| queries < states_max) {
        queries += 1;
        let successors = fair.each_ref().map(|fair| {
            let mut records = Vec::new();
            let run = |out: &mut SuccessorSink| fair.expand_fair(&state, out);
            let width = product.width() + ProcessSet::BYTES;
            let _ = SuccessorSink::collect(width, &mut records, run).unwrap();
            let mut states: Vec<Vec<u8>> =
                records.chunks_exact(width).map(<[u8]>::to_vec).collect();
            states.sort();
            states
        });
        let steps = fair[0].steps(&state).into_iter();
        let steps = steps.filter_map(|(step, set)| match step.outcome {
            StepOutcome::Successor(to) => Some([&to[..], &set.to_bytes()].concat()),
            StepOutcome::Fault(_) => None,
        });
        let mut expected: Vec<Vec<u8>> = steps.collect();
        expected.sort();
        let name = watched.model.name();
        assert_eq!(successors[0], expected, "{name}: {:?}", product.describe(&state));
        assert_eq!(successors[1], expected, "{name}: {:?}", product.describe(&state));
        for record in expected {
            let to = record[..product.width()].to_vec();
            if seen.insert(to.clone()) {
                open.push(to);
            }
        }
    }
    queries
}
