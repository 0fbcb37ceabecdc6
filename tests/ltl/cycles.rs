//! Accepting cycles on disk: random graphs, compared with a plain search for components and with the search in memory.
//!
//! The searches run in little memory, are stopped and resumed after each sweep, and run on failing disks. Models are
//! checked by the command line, and stopped before the first level is complete.

use super::bench::{Bench, Told};
use super::digraph::{Dice, Digraph, node};
use super::swept::{Means, Subject, goes_on_after_faults, nothing_lies_about};
use serde_json::Value;
use spill::{Disk, FaultDisk};
use spillway::PackedSystem;
use spillway::components::components;
use spillway::search::SearchControl;
use spillway::search::liveness::nested_dfs::{ProbeLimits, ProbeVerdict, probe};
use spillway::search::liveness::owcty::SavedCycleSearch;
use std::sync::Arc;

/// How the cycles of a part of a graph are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Rejecting,
    Weak,
    Strong,
}

/// A pseudo-random graph in parts, each of which leads to itself and to later ones, as the components of an automaton do.
struct Net {
    graph: Digraph,
    /// The part of each node, which is in its number, and what these are.
    parts: usize,
    sorts: Vec<Sort>,
}

impl Net {
    fn random(seed: u64, most: usize) -> Net {
        let mut dice = Dice(seed);
        let (nodes, parts) = (1 + dice.below(most), 1 + dice.below(3));
        // Mostly forwards, so that cycles are rare and chains long; some nodes have many predecessors.
        let (back, hub) = (4 + dice.below(60), dice.below(nodes));
        let part = |node: usize| node % parts;
        let sorts = (0..parts).map(|_| match dice.below(4) {
            0 => Sort::Rejecting,
            1 => Sort::Weak,
            _ => Sort::Strong,
        });
        let sorts: Vec<Sort> = sorts.collect();
        let next = (0..nodes).map(|from| {
            let edges = 1 + dice.below(3);
            let ends = (0..edges).map(|_| match dice.below(back) {
                0 => dice.below(nodes),
                1 => hub,
                _ => (from + 1 + dice.below(4)).min(nodes - 1),
            });
            let ends: Vec<usize> = ends.collect();
            // The last node leads to itself, which would be a cycle in nearly every graph.
            let fits =
                |to: &usize| part(*to) >= part(from) && (*to != from || from.is_multiple_of(7));
            ends.into_iter().filter(fits).map(|to| to as u16).collect()
        });
        let next: Vec<Vec<u16>> = next.collect();
        let accepts = (0..nodes).map(|node| match sorts[part(node)] {
            Sort::Rejecting => false,
            Sort::Weak => true,
            Sort::Strong => dice.below(6) == 0,
        });
        let accepts = accepts.collect();
        Net { graph: Digraph { next, accepts }, parts, sorts }
    }

    /// The part of a node, if there can be accepting cycles in it.
    fn component(&self, node: usize) -> Option<usize> {
        let part = node % self.parts;
        (self.sorts[part] != Sort::Rejecting).then_some(part)
    }

    fn is_weak(&self) -> bool {
        !self.sorts.contains(&Sort::Strong)
    }

    /// Whether a component that is reached has a cycle and an accepting node.
    fn has_cycle(&self) -> bool {
        let Digraph { next, accepts } = &self.graph;
        let seen = self.graph.reached(&[0]);
        let edges = next.iter().enumerate();
        let edges =
            edges.flat_map(|(from, all)| all.iter().map(move |&to| (from, usize::from(to))));
        let edges: Vec<(usize, usize)> = edges.collect();
        let of = components(next.len(), &edges);
        let turns = |number: usize| edges.iter().any(|&(a, b)| of[a] == number && of[b] == number);
        (0..seen.len()).any(|at| seen[at] && accepts[at] && turns(of[at]))
    }
}

/// Searches a graph on a disk, in sittings; what was found, and how many sweeps it took.
fn search(net: &Net, disk: &Arc<dyn Disk>, means: Means) -> spill::Result<(ProbeVerdict, u32)> {
    let model = PackedSystem::new(&net.graph);
    let component = |state: &[u8]| net.component(node(&model, state));
    let accepts = |state: &[u8]| net.graph.accepts[node(&model, state)];
    let is_weak = net.is_weak();
    let (component, accepts) = (&component, &accepts);
    let subject = Subject { model: &model, component, accepts, is_weak, fair: None };
    let (found, sweeps) = subject.search(disk, means, &mut |_| {})?;
    if let ProbeVerdict::Found(lasso) = &found {
        net.graph.check(&model, lasso, 0);
    }
    Ok((found, sweeps))
}

#[test]
fn cycles_of_random_graphs_are_found_on_disk_and_are_cycles() {
    let (mut found, mut sweeps_most) = (0, 0);
    for seed in 0..1500 {
        let net = Net::random(seed, if seed % 10 == 0 { 2000 } else { 60 });
        let mut dice = Dice(seed ^ 1 << 40);
        let means = Means {
            threads: 1 + dice.below(3),
            buffer: 1 + dice.below(200) as u64,
            shard_states: 1 + dice.below(200) as u64,
            ..Means::WHOLE
        };
        let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
        let (told, sweeps) = search(&net, &disk, means).unwrap();
        assert_eq!(matches!(told, ProbeVerdict::Found(_)), net.has_cycle(), "{seed}");
        found += u32::from(told != ProbeVerdict::None);
        sweeps_most = sweeps_most.max(sweeps);
        let model = PackedSystem::new(&net.graph);
        let accepts = |state: &[u8]| net.graph.accepts[node(&model, state)];
        let limits = ProbeLimits { states: 10_000, bytes: 1 << 30 };
        let probed = probe(&model, &accepts, limits, &SearchControl::default()).unwrap();
        assert_eq!(
            matches!(probed.found, ProbeVerdict::Found(_)),
            told != ProbeVerdict::None,
            "{seed}"
        );
    }
    assert!((300..1200).contains(&found), "{found} of 1500 graphs have a cycle");
    assert!(sweeps_most > 20, "{sweeps_most}");
}

#[test]
fn a_search_that_is_stopped_after_each_sweep_comes_to_the_same() {
    for seed in 0..300 {
        let net = Net::random(seed, 120);
        let whole: Arc<dyn Disk> = Arc::new(FaultDisk::new());
        let expected = search(&net, &whole, Means::WHOLE).unwrap();
        let parts: Arc<dyn Disk> = Arc::new(FaultDisk::new());
        let means = Means { threads: 2, buffer: 3, shard_states: 5, sitting: 1, ..Means::WHOLE };
        assert_eq!(search(&net, &parts, means).unwrap(), expected, "{seed}");
        // What is found is found again, and nothing lies about that nothing names.
        assert_eq!(search(&net, &parts, means).unwrap(), expected, "{seed}");
        nothing_lies_about(&*parts, &format!("{seed}"));
    }
}

/// A node that leads to `many`, all of which lead to one, twice over; behind the last one a loop, if there is to be one.
fn fan(many: usize, sort: Sort, turns: bool) -> Net {
    let mut next: Vec<Vec<u16>> = Vec::new();
    for _ in 0..2 {
        let first = next.len() as u16;
        let hub = first + many as u16 + 1;
        next.push((first + 1..hub).collect());
        // Some come one after another, so that they leave in several sweeps.
        let on =
            |at: u16| if at.is_multiple_of(3) { vec![hub.min(at + 1), hub] } else { vec![hub] };
        next.extend((first + 1..hub).map(on));
    }
    let last = next.len() as u16;
    next.extend([vec![last + 1], if turns { vec![last] } else { Vec::new() }]);
    let accepts = (0..next.len()).map(|at| sort == Sort::Weak || at % 5 == 0 || at > last.into());
    let accepts = accepts.collect();
    Net { graph: Digraph { next, accepts }, parts: 1, sorts: vec![sort] }
}

/// Up to 253 predecessors are counted.
#[test]
fn a_state_with_more_predecessors_than_are_counted_leaves_when_all_have_left() {
    for many in [1, 251, 252, 253, 254, 255, 256, 257, 506, 507, 508, 509, 510, 511, 512, 1100] {
        for (sort, turns) in
            [Sort::Weak, Sort::Strong].into_iter().flat_map(|it| [(it, false), (it, true)])
        {
            let net = fan(many, sort, turns);
            assert_eq!(net.has_cycle(), turns);
            let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
            let whole = search(&net, &disk, Means::WHOLE).unwrap();
            assert_eq!(whole.0 != ProbeVerdict::None, turns, "{many}");
            // Who has too many is counted once, and once more when nothing else leaves.
            let again = if many > 253 { 2 } else { 0 };
            assert!(turns || whole.1 <= 10 + again, "{many}: {}", whole.1);
            let means =
                Means { threads: 2, buffer: 90, shard_states: 200, sitting: 3, ..Means::WHOLE };
            let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
            assert_eq!(search(&net, &disk, means).unwrap(), whole, "{many}");
        }
    }
}

/// No state is expanded in two rounds: from a loop, come to late, a chain of accepting nodes goes out that is come to at
/// once, and of which one round is enough to know that it leads nowhere.
#[test]
fn what_a_round_has_come_to_is_not_gone_through_again() {
    let (way, chain) = (50, 40);
    let (turning, first) = (way + 1, way + 2);
    let next = (0..first + chain).map(|at| match at {
        0 => vec![1, first],
        at if at == turning => vec![turning, first],
        at if at + 1 == first + chain => Vec::new(),
        at => vec![at + 1],
    });
    let next: Vec<Vec<u16>> = next.collect();
    for sort in [Sort::Weak, Sort::Strong] {
        let accepts = (0..next.len() as u16).map(|at| sort == Sort::Weak || at >= turning);
        let graph = Digraph { next: next.clone(), accepts: accepts.collect() };
        let net = Net { graph, parts: 1, sorts: vec![sort] };
        let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
        let (found, sweeps) = search(&net, &disk, Means::WHOLE).unwrap();
        let ProbeVerdict::Found(lasso) = found else { panic!("there is a loop") };
        assert_eq!(lasso.back, usize::from(turning));
        assert_eq!(lasso.states.len(), usize::from(turning) + 1);
        // Trimming takes the way; reaching and the two rounds, the chain and a few more.
        assert!(sweeps <= u32::from(way + 2 * chain) + 10, "{sweeps}");
    }
}

/// Small enough for a fault at each operation, large enough for each turn: trimming, reaching, a round that leads nowhere.
fn turning(seeds: std::ops::Range<u64>) -> Vec<(Net, (ProbeVerdict, u32))> {
    let nets = seeds.map(|seed| Net::random(seed, 40));
    let run = |net: Net| {
        let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
        let expected = search(&net, &disk, Means::WHOLE).unwrap();
        (net, expected)
    };
    let mut nets: Vec<_> = nets.map(run).collect();
    nets.sort_by_key(|(_, (_, sweeps))| std::cmp::Reverse(*sweeps));
    nets.truncate(3);
    nets
}

#[test]
fn a_search_whose_disk_fails_goes_on_from_its_last_checkpoint() {
    let means = Means { threads: 2, buffer: 3, shard_states: 7, sitting: 2, ..Means::WHOLE };
    for (net, expected) in turning(0..200) {
        goes_on_after_faults(&expected, 7, &|disk| search(&net, disk, means));
    }
}

#[test]
fn every_damaged_byte_of_a_set_or_of_the_manifest_is_noticed() {
    let means = Means { threads: 1, buffer: 50, shard_states: 9, sitting: 1, ..Means::WHOLE };
    let (net, expected) = turning(0..60).swap_remove(0);
    let disk = Arc::new(FaultDisk::new());
    let shared: Arc<dyn Disk> = disk.clone();
    assert_eq!(search(&net, &shared, means).unwrap(), expected);
    let length = shared.read("cycles").unwrap().len() as u64;
    for at in 0..length {
        disk.flip_bit("cycles", at, (at % 8) as u32);
        assert!(SavedCycleSearch::load(&*shared).is_err(), "byte {at}");
        disk.flip_bit("cycles", at, (at % 8) as u32);
    }
}

impl Bench {
    fn json(&self, args: &[&str], code: i32) -> Value {
        let Told { code: found, out, err } = self.run(&[args, &["--json"]].concat());
        assert_eq!(found, code, "{args:?}: {out}{err}");
        serde_json::from_str(&out).unwrap()
    }
}

/// Stopped while states are reached, so that nothing is decided in memory, and gone on with.
#[test]
fn properties_are_decided_on_disk_as_in_memory() {
    let bench = Bench::of_each_language();
    let judged = [
        ("stays.dve", "[]<> x == 1", 0),
        ("stays.dve", "[]<> x == 0", 1),
        ("stays.dve", "[] (P.b -> X P.b)", 1),
        ("stays.dve", "(<>[] x == 1) || ([]<> x == 0)", 0),
        ("stays.dve", "L", 1),
        ("ends.dve", "<> x == 2", 1),
        ("ends.dve", "<>[] x == 1", 0),
        ("m.pml", "reaches", 1),
        ("m.pml", "[]<> (x == 3) || <>[] (x <= 3)", 0),
    ];
    for (number, (model, formula, code)) in judged.into_iter().enumerate() {
        for ended in ["stutter", "ignore"] {
            let dir = format!("d{number}{ended}");
            let asked = ["check", model, "--ltl", formula, "--deadlock-runs", ended];
            let in_memory = bench.run(&[&asked[..], &["--json"]].concat());
            assert!(in_memory.code == code || ended == "ignore");
            let code = in_memory.code;
            let in_memory: Value = serde_json::from_str(&in_memory.out).unwrap();
            let stopped = [&asked[..], &["--max-states", "1", "--dir", &dir]].concat();
            let told = bench.json(&stopped, 3);
            assert_eq!(
                (&told["verdict"], &told["stage"]),
                (&"incomplete".into(), &"reaching states".into())
            );
            let told = bench.json(&["status", &dir], 0);
            assert_eq!(told["verdict"], "incomplete", "{formula}");
            // How the search goes is told by `status` besides.
            let traced = bench.json(&["trace", &dir], 0);
            for (key, value) in traced.as_object().unwrap() {
                assert_eq!(told.get(key), Some(value), "{formula}: {key}");
            }
            assert!(told["running"] == false && traced.get("running").is_none(), "{told}");
            let Told { code: found, err, .. } = bench.run(&stopped);
            assert!(found == 2 && err.contains("resumes it"), "{err}");
            let other = ["check", model, "--ltl", "X X X (0 == 1)"];
            let Told { code: found, err, .. } = bench.run(&[&other[..], &["--dir", &dir]].concat());
            assert!(
                found == 2 && err.contains("a search of this model with other checks"),
                "{err}"
            );
            let told = bench.json(&["resume", &dir], code);
            let again = bench.json(&["resume", &dir, "--threads", "1"], code);
            for key in ["verdict", "property", "vacuous", "steps_cut_off"] {
                assert_eq!(told[key], in_memory[key], "{formula}: {key}");
            }
            assert_eq!(told["counterexample"], again["counterexample"]);
            assert_eq!(bench.json(&["trace", &dir], code), again, "{formula}");
            // Of these only that automaton comes to where it accepts whatever follows.
            let is_early = formula == "[] (P.b -> X P.b)";
            assert_eq!(told["stage"], if is_early { "reaching states" } else { "done" });
            assert_eq!(told["counterexample"].is_null(), code == 0);
            if code == 0 {
                // The whole product was visited.
                assert_eq!(told["states"], in_memory["states"], "{formula}");
                assert_eq!(told["transitions"], in_memory["transitions"], "{formula}");
            }
        }
    }
}

/// What was found on disk is written as a trail by whoever shows it again.
#[test]
fn the_run_of_a_search_on_disk_is_traced_for_spin() {
    let bench = Bench::of_each_language();
    let begin = |model, formula, dir| {
        let asked = ["check", model, "--ltl", formula, "--max-states", "1", "--dir", dir];
        assert_eq!(bench.run(&asked).code, 3);
    };
    begin("m.pml", "reaches", "p");
    let trace = |dir| bench.run(&["trace", dir, "--spin-trail", "trail"]);
    let told = trace("p");
    assert!(told.code == 0 && told.out.contains("incomplete: no run"), "{}{}", told.out, told.err);
    assert!(!bench.0.path().join("trail").exists());
    let resumed = bench.run(&["resume", "p"]);
    assert!(!resumed.err.contains("note: "), "{}", resumed.err);
    let again = bench.run(&["resume", "p"]);
    assert!(again.err.contains("this search is complete"), "{}", again.err);
    let told = trace("p");
    // Whoever traces a search knows how to look at it again.
    let next = "  kept in  p\n  next     spillway trace p --msc\n           spillway simulate m.pml --from p\n";
    assert_eq!((told.code, told.out + next), (0, resumed.out), "{}", told.err);
    assert!(told.err.contains("`spin -t -p -k trail m.pml` replays it"), "{}", told.err);
    let lines = std::fs::read_to_string(bench.0.path().join("trail")).unwrap();
    assert_eq!(lines.matches("-1:-1:-1\n").count(), 1, "{lines}");
    begin("stays.dve", "[]<> x == 0", "d");
    let told = trace("d");
    assert!(told.code == 2 && told.err.contains("models can be replayed by SPIN"), "{}", told.err);
}

/// An automaton is kept with its text: its file is not needed any more.
#[test]
fn an_automaton_is_kept_with_the_search() {
    let bench = Bench::of_each_language();
    let hoa = "HOA: v1 States: 2 Start: 0 AP: 1 \"x == 1\" Acceptance: 1 Inf(0)
        --BODY-- State: 0 [t] 0 [0] 1 State: 1 {0} [0] 1 --END--";
    bench.write("a.hoa", hoa);
    let asked = ["check", "stays.dve", "--automaton", "a.hoa", "--max-states", "1", "--dir", "d"];
    assert_eq!(bench.run(&asked).code, 3);
    for name in ["a.hoa", "stays.dve"] {
        std::fs::remove_file(bench.0.path().join(name)).unwrap();
    }
    let told = bench.json(&["resume", "d"], 1);
    assert_eq!(told["property"], "a.hoa");
}
