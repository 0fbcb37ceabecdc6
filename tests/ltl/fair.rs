//! Weak fairness: cycles of random graphs that are fair against a plain search; who is able to move and who moves, compiled
//! and by the reference semantics; small models in which it matters what these words mean; formulas that say the same.

use super::bench::{Bench, Told};
use super::digraph::{Dice, Digraph, node};
use serde_json::Value;
use spillway::Packed;
use spillway::exec::{Expansion, FairSteps, Model, ProcessSet, StepOutcome};
use spillway::ir::components::components;
use spillway::search::Control;
use spillway::search::fair::probe_fair;
use spillway::search::lasso::{Lasso, ProbeLimits, Probed};

/// A pseudo-random graph whose edges are fair to some processes.
struct FairGraph {
    graph: Digraph,
    /// Of each edge from each node.
    sets: Vec<Vec<ProcessSet>>,
    processes: usize,
}

impl FairGraph {
    fn random(seed: u64) -> FairGraph {
        let mut dice = Dice(seed);
        let nodes = 1 + dice.below(40);
        let processes = if seed.is_multiple_of(50) { 200 } else { dice.below(5) };
        let (back, often) = (3 + dice.below(9), 1 + dice.below(6));
        let mut edge = |from: usize| match dice.below(back) {
            0 => dice.below(nodes),
            _ => (from + 1 + dice.below(4)).min(nodes - 1),
        };
        let next = (0..nodes).map(|from| (0..1 + from % 3).map(|_| edge(from) as u16).collect());
        let next: Vec<Vec<u16>> = next.collect();
        let mut set = || {
            let mut set = ProcessSet::NONE;
            // Where there are many processes, most of them are treated alike.
            let other = if dice.below(2) == 0 { ProcessSet::NONE } else { ProcessSet::first(190) };
            if processes > 64 {
                set.extend(other);
            }
            (0..processes).filter(|_| dice.below(often) == 0).for_each(|it| set.insert(it));
            set
        };
        let sets = next.iter().map(|all| all.iter().map(|_| set()).collect()).collect();
        let accepts = (0..nodes).map(|_| dice.below(3) == 0).collect();
        FairGraph { graph: Digraph { next, accepts }, sets, processes }
    }

    /// Every edge: where from, where to, to whom it is fair.
    fn edges(&self) -> impl Iterator<Item = (usize, usize, ProcessSet)> + use<'_> {
        let all = self.graph.next.iter().zip(&self.sets).enumerate();
        all.flat_map(|(from, (next, sets))| {
            next.iter().zip(sets).map(move |(&to, &set)| (from, usize::from(to), set))
        })
    }

    /// Whether a component that is reached has an accepting node and an edge that is fair to each process.
    fn has_cycle(&self) -> bool {
        let seen = self.graph.reached(&[0]);
        let edges: Vec<(usize, usize)> = self.edges().map(|(from, to, _)| (from, to)).collect();
        let of = components(seen.len(), &edges);
        let is_fair = |number: usize| {
            let mut left = ProcessSet::first(self.processes);
            let inside = self.edges().filter(|&(a, b, _)| of[a] == number && of[b] == number);
            let mut turns = false;
            inside.for_each(|(.., set)| (turns, left) = (true, left.without(set)));
            turns && left.is_empty()
        };
        (0..seen.len()).any(|at| seen[at] && self.graph.accepts[at] && is_fair(of[at]))
    }

    /// That a run is one of the graph, accepted and fair.
    fn check(&self, model: &dyn Model, lasso: &Lasso, seed: u64) {
        self.graph.check(model, lasso, seed);
        let nodes: Vec<usize> = lasso.states.iter().map(|it| node(model, it)).collect();
        let round = nodes[lasso.back..].iter().chain([&nodes[lasso.back]]);
        let round: Vec<usize> = round.copied().collect();
        assert_eq!(round.len(), lasso.fair_to.len() + 1, "{seed}");
        let mut left = ProcessSet::first(self.processes);
        for (pair, &set) in round.windows(2).zip(&lasso.fair_to) {
            assert!(self.edges().any(|it| it == (pair[0], pair[1], set)), "{seed}: {pair:?}");
            left = left.without(set);
        }
        assert!(left.is_empty(), "{seed}");
    }
}

/// A graph as a model that tells to whom its steps are fair.
struct Attributed<'g> {
    graph: &'g FairGraph,
    model: Packed<'g, Digraph>,
}

impl FairSteps for Attributed<'_> {
    fn processes(&self) -> usize {
        self.graph.processes
    }

    fn expand_fair(&self, state: &[u8], out: &mut Expansion) {
        let sets = &self.graph.sets[node(&self.model, state)];
        for (step, set) in self.model.explained().steps(state).into_iter().zip(sets) {
            let StepOutcome::Successor(successor) = step.outcome else { unreachable!() };
            out.candidate(&[&successor[..], &set.to_bytes()].concat());
        }
    }
}

#[test]
fn fair_cycles_of_random_graphs_are_found_and_are_fair() {
    let limits = ProbeLimits { states: 1000, bytes: 1 << 20 };
    let (mut found, mut unfair) = (0, 0);
    for seed in 0..6000 {
        let graph = FairGraph::random(seed);
        let told = Attributed { graph: &graph, model: Packed::new(&graph.graph) };
        let accepts = |state: &[u8]| graph.graph.accepts[node(&told.model, state)];
        let control = Control::default();
        let probed = probe_fair((&told.model, &told), &accepts, limits, &control).unwrap();
        let any = spillway::search::lasso::probe(&told.model, &accepts, limits, &control).unwrap();
        match &probed.found {
            Probed::Found(lasso) => {
                found += 1;
                graph.check(&told.model, lasso, seed);
                assert!(graph.has_cycle(), "{seed}");
            }
            Probed::None => {
                assert!(!graph.has_cycle(), "{seed}");
                unfair += u32::from(any.found != Probed::None);
                let reached = graph.graph.reached(&[0]).iter().filter(|it| **it).count();
                assert_eq!(probed.states, reached as u64, "{seed}");
            }
            Probed::Open => panic!("{seed}: there is room for all"),
        }
    }
    assert!(found > 1000 && unfair > 500, "{found} fair cycles, {unfair} only unfair ones");
}

/// Both partners of a rendezvous move by nothing else, and for ever.
const MEET: &str = "chan c = [0] of { byte }; byte x;
active proctype S() { do :: c!1 od }
active proctype R() { do :: c?_ od }
";
/// The receiver could do something else, always; it moves within the atomic sequence of another.
const JOINED: &str = "chan c = [0] of { byte }; byte x; bool r;
active proctype S() { do :: atomic { x = 1 - x; c!1 } od }
active proctype R() { do :: c?_ :: r = true od }
";
/// Stands still at last, where nobody is able to move.
const STUCK: &str = "byte x; active proctype P() { x = 1; (x == 5) }";
/// Workers come and go, as long as somebody starts them, which another need not let him; no worker stays.
const WORKERS: &str = "byte x, n; proctype W() { x = 1; x = 0 }
active proctype B() { do :: n = 1 - n od }
init { do :: _nr_pr == 2 -> run W() od }
";
/// A worker that goes on for ever, beside one that does.
const WORKER: &str = "byte x, n; proctype W() { do :: x = 1 - x od }
init { run W(); do :: n = 1 - n od }
";
/// B waits for what A gives again and again, and takes away again.
const GIVEN: &str = "byte x, y;
active proctype A() { do :: x = 1 - x od }
active proctype B() { do :: x == 1 -> y = 1 - y od }
";
/// B is able to move within what nobody comes between: x is 1 where A rests.
const ATOMIC: &str = "byte x = 1, y;
active proctype A() { do :: atomic { x = 0; x = 1 } od }
active proctype B() { do :: x == 1 -> y = 1 - y od }
";
/// B may move only where it is provided to; at a timeout, so hardly ever; if C, which has a higher priority, cannot.
const HELD: &str = "byte x, y, t, p;
active proctype A() { do :: x = 1 - x od }
active proctype B() provided (x == 1) { do :: y = 1 - y od }
active proctype T() { do :: timeout -> t = 1 - t od }
";
const PRIORITY: &str = "byte x, y;
active proctype B() priority 1 { do :: y = 1 - y od }
active proctype C() priority 5 { do :: x = 1 - x od }
";
/// B is held back where A is committed, and able to move all the same; C never is.
const COMMITTED: &str = "byte x;
process A { state a, c; init a; commit c; trans a -> c { }, c -> a { }; }
process B { state b; init b; trans b -> b { effect x = 1 - x; }; }
process C { state d, e; init d; trans d -> e { guard x == 7; }; }
system async;
";
/// B is not able to move where A is committed, as A takes away what it waits for.
const TAKEN: &str = "byte x; byte y = 1;
process A { state a, c; init a; commit c; trans a -> c { effect y = 0; }, c -> a { effect y = 1; }; }
process B { state b; init b; trans b -> b { guard y == 1; effect x = 1 - x; }; }
system async;
";
/// A and B meet in DVE, C alone.
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
        ("meet.pml", MEET),
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

/// What is asked of a model, and the exit codes for all runs and for weakly fair ones.
const JUDGED: [(&str, &str, i32, i32); 17] = [
    ("meet.pml", "<> (x == 5)", 1, 1),
    ("joined.pml", "<> r", 1, 1),
    ("joined.pml", "[]<> (x == 1)", 1, 0),
    ("stuck.pml", "<> (x == 2)", 1, 1),
    ("stuck.pml", "<> (x == 1)", 0, 0),
    ("workers.pml", "[]<> (x == 1)", 1, 0),
    ("workers.pml", "<> (x == 2)", 1, 1),
    ("worker.pml", "[]<> (x == 1)", 1, 0),
    ("worker.pml", "[]<> (n == 1)", 1, 0),
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
fn runs_that_are_not_weakly_fair_are_not_judged() {
    let bench = bench();
    for (model, formula, of_all, of_fair) in JUDGED {
        for (flags, code) in [(&[][..], of_all), (&["--fair", "weak"], of_fair)] {
            let told = ["jit", "interp"].map(|exec| {
                let asked = ["check", model, "--ltl", formula, "--exec", exec, "--json"];
                let Told { code: found, out, err } = bench.run(&[&asked[..], flags].concat());
                assert_eq!(found, code, "{model}: {formula} {flags:?}\n{out}{err}");
                serde_json::from_str::<Value>(&out).unwrap()
            });
            // Which run is found may depend on who runs the model.
            assert!(code == 1 || told[0] == told[1], "{model}: {formula}");
            let fairness = if flags.is_empty() { "none" } else { "weak" };
            assert_eq!(told[0]["fairness"], fairness);
        }
    }
}

#[test]
fn fairness_is_asked_of_processes_and_is_weak() {
    let bench = bench();
    let asked = |model: &str, kind: &str| {
        let Told { code, err, .. } =
            bench.run(&["check", model, "--ltl", "[]<> (x = 1)", "--fair", kind]);
        assert_eq!(code, 2, "{err}");
        err
    };
    let err = asked("rules.m", "weak");
    assert!(err.contains("--fair is about processes") && err.contains("it has rules"), "{err}");
    let err = asked("rules.m", "strong");
    assert!(err.contains("--fair strong is not to be had, only --fair weak"), "{err}");
    let Told { code, err, .. } =
        bench.run(&["check", "lockstep.dve", "--ltl", "[]<> x == 1", "--fair", "weak"]);
    assert!(code == 2 && err.contains("its processes move in lockstep"), "{err}");
    let Told { code, err, .. } = bench.run(&["check", "given.pml", "--fair", "weak"]);
    assert!(code == 2 && err.contains("--ltl"), "{err}");
    let Told { code, out, .. } =
        bench.run(&["check", "given.pml", "--ltl", "[] (x == 1 || !(x == 1))", "--fair", "weak"]);
    assert!(code == 0 && out.contains("whatever the model does"), "{out}");
    let Told { code, out, .. } =
        bench.run(&["check", "given.pml", "--ltl", "[]<> (y == 1)", "--fair", "weak"]);
    assert!(code == 1 && out.contains("violated: a weakly fair run does not satisfy"), "{out}");
}

/// A pseudo-random Promela model of processes that change bytes and use channels with room, each of which `enabled` and
/// `_last` tell of.
fn random_model(seed: u64) -> (String, usize) {
    let mut dice = Dice(seed);
    let processes = 1 + dice.below(3);
    let mut text = "byte x, y; chan c = [1] of { byte };\n".to_owned();
    for _ in 0..processes {
        let mut options = String::new();
        for _ in 0..1 + dice.below(3) {
            let guard = ["x == 0", "x == 1", "y == 1", "true", "x != y", "timeout"][dice.below(6)];
            let does = ["x = 1 - x", "y = 1 - y", "c!1", "c?_", "skip", "x = y"][dice.below(6)];
            options += &match dice.below(3) {
                0 => format!(" :: {does}"),
                1 => format!(" :: atomic {{ {guard} -> {does} }}"),
                _ => format!(" :: {guard} -> {does}"),
            };
        }
        let before = ["", "x = 1; ", "atomic { y == 1 -> x = 1 }; "][dice.below(3)];
        text += &match dice.below(5) {
            0 => format!("active proctype P{}() {{ {before}x = 1 - x; y = 1 }}\n", text.len()),
            _ => format!("active proctype P{}() {{ {before}do{options} od }}\n", text.len()),
        };
    }
    if dice.below(2) == 0 {
        return (text, processes);
    }
    // Without fairness nobody else need move.
    (text + "active proctype Z() { do :: skip od }\n", processes + 1)
}

/// That a run is weakly fair can be said by a formula, where no two processes move at once.
#[test]
fn a_formula_that_says_that_runs_are_fair_comes_to_the_same() {
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
                let told = bench.run(&[&["check", "m.pml", "--ltl"][..], args].concat());
                assert!(told.code < 2, "{text}{}", told.err);
                told.code
            };
            let fair = code(&[wanted, "--fair", "weak"]);
            assert_eq!(fair, code(&[&says]), "{seed}: {wanted}\n{text}");
            judged[fair as usize] += 1;
            differ += i32::from(fair != code(&[wanted]));
        }
    }
    assert!(judged[0] > 30 && judged[1] > 30 && differ > 15, "{judged:?}, {differ}");
}
