//! Accepting cycles on disk: random graphs, compared with a plain search for components and with the search in memory.
//!
//! The searches run in little memory, are stopped and resumed after each sweep, and run on failing disks. Models are
//! checked by the command line, and stopped before the first level is complete.

use super::bench::{Bench, CommandOutput};
use super::digraph::{Digraph, GraphRng, node};
use super::disk_search::{
    CycleSearchInput, SearchSettings, assert_no_orphan_files, assert_resumes_after_faults,
};
use serde_json::Value;
use spill::{Disk, FaultDisk};
use spillway::PackedSystem;
use spillway::components::components;
use spillway::search::SearchControl;
use spillway::search::liveness::nested_dfs::{ProbeLimits, ProbeVerdict, probe};
use spillway::search::liveness::owcty::SavedCycleSearch;
use std::sync::Arc;

/// The class of the cycles of a part of a graph.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PartClass {
    Rejecting,
    Weak,
    Strong,
}

/// A pseudo-random graph in parts. Each part leads to itself and to later ones, as the components of an automaton do.
struct PartitionedGraph {
    graph: Digraph,
    /// The number of parts. The part of a node follows from its number.
    parts: usize,
    classes: Vec<PartClass>,
}

impl PartitionedGraph {
    fn random(seed: u64, most: usize) -> PartitionedGraph {
        let mut rng = GraphRng(seed);
        let (nodes, parts) = (1 + rng.below(most), 1 + rng.below(3));
        // Most edges lead forwards, so that cycles are rare and chains long. Some nodes have many predecessors.
        let (back, hub) = (4 + rng.below(60), rng.below(nodes));
        let part = |node: usize| node % parts;
        let classes = (0..parts).map(|_| match rng.below(4) {
            0 => PartClass::Rejecting,
            1 => PartClass::Weak,
            _ => PartClass::Strong,
        });
        let classes: Vec<PartClass> = classes.collect();
        let next = (0..nodes).map(|from| {
            let edges = 1 + rng.below(3);
            let ends = (0..edges).map(|_| match rng.below(back) {
                0 => rng.below(nodes),
                1 => hub,
                _ => (from + 1 + rng.below(4)).min(nodes - 1),
            });
            let ends: Vec<usize> = ends.collect();
            // The last node may have an edge to itself, which would be a cycle in nearly every graph.
            let fits =
                |to: &usize| part(*to) >= part(from) && (*to != from || from.is_multiple_of(7));
            ends.into_iter().filter(fits).map(|to| to as u16).collect()
        });
        let next: Vec<Vec<u16>> = next.collect();
        let accepts = (0..nodes).map(|node| match classes[part(node)] {
            PartClass::Rejecting => false,
            PartClass::Weak => true,
            PartClass::Strong => rng.below(6) == 0,
        });
        let accepts = accepts.collect();
        PartitionedGraph { graph: Digraph { next, accepts }, parts, classes }
    }

    /// The part of a node, if it can have accepting cycles.
    fn component(&self, node: usize) -> Option<usize> {
        let part = node % self.parts;
        (self.classes[part] != PartClass::Rejecting).then_some(part)
    }

    fn is_weak(&self) -> bool {
        !self.classes.contains(&PartClass::Strong)
    }

    /// Whether a reachable component has a cycle and an accepting node.
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

/// Searches a graph on a disk, in several sessions. Returns the verdict and the number of sweeps.
fn search(
    partitioned: &PartitionedGraph,
    disk: &Arc<dyn Disk>,
    settings: SearchSettings,
) -> spill::Result<(ProbeVerdict, u32)> {
    let model = PackedSystem::new(&partitioned.graph);
    let component = |state: &[u8]| partitioned.component(node(&model, state));
    let accepts = |state: &[u8]| partitioned.graph.accepts[node(&model, state)];
    let is_weak = partitioned.is_weak();
    let (component, accepts) = (&component, &accepts);
    let subject = CycleSearchInput { model: &model, component, accepts, is_weak, fair: None };
    let (found, sweeps) = subject.search(disk, settings, &mut |_| {})?;
    if let ProbeVerdict::Found(lasso) = &found {
        partitioned.graph.check(&model, lasso, 0);
    }
    Ok((found, sweeps))
}

#[test]
fn cycles_of_random_graphs_are_found_on_disk() {
    let (mut found, mut sweeps_most) = (0, 0);
    for seed in 0..1500 {
        let partitioned = PartitionedGraph::random(seed, if seed % 10 == 0 { 2000 } else { 60 });
        let mut rng = GraphRng(seed ^ 1 << 40);
        let settings = SearchSettings {
            threads: 1 + rng.below(3),
            buffer: 1 + rng.below(200) as u64,
            shard_states: 1 + rng.below(200) as u64,
            ..SearchSettings::UNLIMITED
        };
        let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
        let (result, sweeps) = search(&partitioned, &disk, settings).unwrap();
        assert_eq!(matches!(result, ProbeVerdict::Found(_)), partitioned.has_cycle(), "{seed}");
        found += u32::from(result != ProbeVerdict::None);
        sweeps_most = sweeps_most.max(sweeps);
        let model = PackedSystem::new(&partitioned.graph);
        let accepts = |state: &[u8]| partitioned.graph.accepts[node(&model, state)];
        let limits = ProbeLimits { states: 10_000, bytes: 1 << 30 };
        let probed = probe(&model, &accepts, limits, &SearchControl::default()).unwrap();
        assert_eq!(
            matches!(probed.found, ProbeVerdict::Found(_)),
            result != ProbeVerdict::None,
            "{seed}"
        );
    }
    assert!((300..1200).contains(&found), "{found} of 1500 graphs have a cycle");
    assert!(sweeps_most > 20, "{sweeps_most}");
}

#[test]
fn a_search_stopped_after_each_sweep_has_the_same_result() {
    for seed in 0..300 {
        let partitioned = PartitionedGraph::random(seed, 120);
        let undisturbed: Arc<dyn Disk> = Arc::new(FaultDisk::new());
        let expected = search(&partitioned, &undisturbed, SearchSettings::UNLIMITED).unwrap();
        let parts: Arc<dyn Disk> = Arc::new(FaultDisk::new());
        let settings = SearchSettings {
            threads: 2,
            buffer: 3,
            shard_states: 5,
            session_sweeps: 1,
            ..SearchSettings::UNLIMITED
        };
        assert_eq!(search(&partitioned, &parts, settings).unwrap(), expected, "{seed}");
        // A second search has the same result, and leaves no orphan files.
        assert_eq!(search(&partitioned, &parts, settings).unwrap(), expected, "{seed}");
        assert_no_orphan_files(&*parts, &format!("{seed}"));
    }
}

/// A node with `many` successors, which all lead to one node; twice in a row. With `turns`, a cycle follows.
fn fan_graph(many: usize, class: PartClass, turns: bool) -> PartitionedGraph {
    let mut next: Vec<Vec<u16>> = Vec::new();
    for _ in 0..2 {
        let first = next.len() as u16;
        let hub = first + many as u16 + 1;
        next.push((first + 1..hub).collect());
        // Some successors form chains, so that they are trimmed in several sweeps.
        let on =
            |at: u16| if at.is_multiple_of(3) { vec![hub.min(at + 1), hub] } else { vec![hub] };
        next.extend((first + 1..hub).map(on));
    }
    let last = next.len() as u16;
    next.extend([vec![last + 1], if turns { vec![last] } else { Vec::new() }]);
    let accepts =
        (0..next.len()).map(|at| class == PartClass::Weak || at % 5 == 0 || at > last.into());
    let accepts = accepts.collect();
    PartitionedGraph { graph: Digraph { next, accepts }, parts: 1, classes: vec![class] }
}

/// Up to 253 predecessors are counted.
#[test]
fn a_state_with_uncounted_predecessors_is_trimmed_with_the_last_of_them() {
    for many in [1, 251, 252, 253, 254, 255, 256, 257, 506, 507, 508, 509, 510, 511, 512, 1100] {
        for (class, turns) in [PartClass::Weak, PartClass::Strong]
            .into_iter()
            .flat_map(|it| [(it, false), (it, true)])
        {
            let partitioned = fan_graph(many, class, turns);
            assert_eq!(partitioned.has_cycle(), turns);
            let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
            let uninterrupted = search(&partitioned, &disk, SearchSettings::UNLIMITED).unwrap();
            assert_eq!(uninterrupted.0 != ProbeVerdict::None, turns, "{many}");
            // A state with more predecessors is counted once, and once more when no other state is trimmed.
            let extra_sweeps = if many > 253 { 2 } else { 0 };
            assert!(turns || uninterrupted.1 <= 10 + extra_sweeps, "{many}: {}", uninterrupted.1);
            let settings = SearchSettings {
                threads: 2,
                buffer: 90,
                shard_states: 200,
                session_sweeps: 3,
                ..SearchSettings::UNLIMITED
            };
            let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
            assert_eq!(search(&partitioned, &disk, settings).unwrap(), uninterrupted, "{many}");
        }
    }
}

/// No state is expanded in two rounds. The cycle is reached late, and is followed by a chain of accepting nodes, which
/// is reached early. One round is enough to decide that the chain has no cycle.
#[test]
fn a_state_is_expanded_in_one_round_only() {
    let (way, chain) = (50, 40);
    let (turning, first) = (way + 1, way + 2);
    let next = (0..first + chain).map(|at| match at {
        0 => vec![1, first],
        at if at == turning => vec![turning, first],
        at if at + 1 == first + chain => Vec::new(),
        at => vec![at + 1],
    });
    let next: Vec<Vec<u16>> = next.collect();
    for class in [PartClass::Weak, PartClass::Strong] {
        let accepts = (0..next.len() as u16).map(|at| class == PartClass::Weak || at >= turning);
        let graph = Digraph { next: next.clone(), accepts: accepts.collect() };
        let partitioned = PartitionedGraph { graph, parts: 1, classes: vec![class] };
        let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
        let (found, sweeps) = search(&partitioned, &disk, SearchSettings::UNLIMITED).unwrap();
        let ProbeVerdict::Found(lasso) = found else { panic!("there is a loop") };
        assert_eq!(lasso.back, usize::from(turning));
        assert_eq!(lasso.states.len(), usize::from(turning) + 1);
        // Trimming takes the path; reaching and the two rounds take the chain and a few more sweeps.
        assert!(sweeps <= u32::from(way + 2 * chain) + 10, "{sweeps}");
    }
}

/// Graphs that are small enough for a fault at each operation, and large enough for each stage: trimming, reaching, a
/// round without a result.
fn graphs_with_most_sweeps(
    seeds: std::ops::Range<u64>,
) -> Vec<(PartitionedGraph, (ProbeVerdict, u32))> {
    let graphs = seeds.map(|seed| PartitionedGraph::random(seed, 40));
    let run = |partitioned: PartitionedGraph| {
        let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
        let expected = search(&partitioned, &disk, SearchSettings::UNLIMITED).unwrap();
        (partitioned, expected)
    };
    let mut graphs: Vec<_> = graphs.map(run).collect();
    graphs.sort_by_key(|(_, (_, sweeps))| std::cmp::Reverse(*sweeps));
    graphs.truncate(3);
    graphs
}

#[test]
fn a_cycle_search_resumes_after_disk_faults() {
    let settings = SearchSettings {
        threads: 2,
        buffer: 3,
        shard_states: 7,
        session_sweeps: 2,
        ..SearchSettings::UNLIMITED
    };
    for (partitioned, expected) in graphs_with_most_sweeps(0..200) {
        assert_resumes_after_faults(&expected, 7, &|disk| search(&partitioned, disk, settings));
    }
}

#[test]
fn a_flipped_bit_of_a_saved_cycle_search_is_detected() {
    let settings = SearchSettings {
        threads: 1,
        buffer: 50,
        shard_states: 9,
        session_sweeps: 1,
        ..SearchSettings::UNLIMITED
    };
    let (partitioned, expected) = graphs_with_most_sweeps(0..60).swap_remove(0);
    let disk = Arc::new(FaultDisk::new());
    let shared: Arc<dyn Disk> = disk.clone();
    assert_eq!(search(&partitioned, &shared, settings).unwrap(), expected);
    let length = shared.read("cycles").unwrap().len() as u64;
    for at in 0..length {
        disk.flip_bit("cycles", at, (at % 8) as u32);
        assert!(SavedCycleSearch::load(&*shared).is_err(), "byte {at}");
        disk.flip_bit("cycles", at, (at % 8) as u32);
    }
}

impl Bench {
    fn json(&self, args: &[&str], code: i32) -> Value {
        let CommandOutput { code: found, out, err } = self.run(&[args, &["--json"]].concat());
        assert_eq!(found, code, "{args:?}: {out}{err}");
        serde_json::from_str(&out).unwrap()
    }
}

/// The search is stopped while it explores states, so the verdict is not decided in memory. Then it is resumed.
#[test]
fn verdicts_on_disk_equal_verdicts_in_memory() {
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
            let check = ["check", model, "--ltl", formula, "--deadlock-runs", ended];
            let in_memory = bench.run(&[&check[..], &["--json"]].concat());
            assert!(in_memory.code == code || ended == "ignore");
            let code = in_memory.code;
            let in_memory: Value = serde_json::from_str(&in_memory.out).unwrap();
            let stopped = [&check[..], &["--max-states", "1", "--dir", &dir]].concat();
            let result = bench.json(&stopped, 3);
            assert_eq!(
                (&result["verdict"], &result["stage"]),
                (&"incomplete".into(), &"reaching states".into())
            );
            let result = bench.json(&["status", &dir], 0);
            assert_eq!(result["verdict"], "incomplete", "{formula}");
            // Only `status` reports the progress of the search.
            let traced = bench.json(&["trace", &dir], 0);
            for (key, value) in traced.as_object().unwrap() {
                assert_eq!(result.get(key), Some(value), "{formula}: {key}");
            }
            assert!(result["running"] == false && traced.get("running").is_none(), "{result}");
            let CommandOutput { code: found, err, .. } = bench.run(&stopped);
            assert!(found == 2 && err.contains("resumes it"), "{err}");
            let other = ["check", model, "--ltl", "X X X (0 == 1)"];
            let CommandOutput { code: found, err, .. } =
                bench.run(&[&other[..], &["--dir", &dir]].concat());
            assert!(
                found == 2 && err.contains("a search of this model with other checks"),
                "{err}"
            );
            let result = bench.json(&["resume", &dir], code);
            let repeated = bench.json(&["resume", &dir, "--threads", "1"], code);
            for key in ["verdict", "property", "vacuous", "steps_cut_off"] {
                assert_eq!(result[key], in_memory[key], "{formula}: {key}");
            }
            assert_eq!(result["counterexample"], repeated["counterexample"]);
            assert_eq!(bench.json(&["trace", &dir], code), repeated, "{formula}");
            // Only the automaton of this formula reaches a state that accepts every continuation.
            let is_early = formula == "[] (P.b -> X P.b)";
            assert_eq!(result["stage"], if is_early { "reaching states" } else { "done" });
            assert_eq!(result["counterexample"].is_null(), code == 0);
            if code == 0 {
                // The search visited the whole product.
                assert_eq!(result["states"], in_memory["states"], "{formula}");
                assert_eq!(result["transitions"], in_memory["transitions"], "{formula}");
            }
        }
    }
}

/// `trace` writes the trail of a counterexample that was found on disk.
#[test]
fn trace_writes_a_spin_trail_of_a_search_on_disk() {
    let bench = Bench::of_each_language();
    let begin = |model, formula, dir| {
        let check = ["check", model, "--ltl", formula, "--max-states", "1", "--dir", dir];
        assert_eq!(bench.run(&check).code, 3);
    };
    begin("m.pml", "reaches", "p");
    let trace = |dir| bench.run(&["trace", dir, "--spin-trail", "trail"]);
    let output = trace("p");
    assert!(
        output.code == 0 && output.out.contains("incomplete: no run"),
        "{}{}",
        output.out,
        output.err
    );
    assert!(!bench.0.path().join("trail").exists());
    let resumed = bench.run(&["resume", "p"]);
    assert!(!resumed.err.contains("note: "), "{}", resumed.err);
    let repeated = bench.run(&["resume", "p"]);
    assert!(repeated.err.contains("this search is complete"), "{}", repeated.err);
    let output = trace("p");
    // The user of `trace` knows the commands that `resume` suggests.
    let next = "  kept in  p\n  next     spillway trace p --msc\n           spillway simulate m.pml --from p\n";
    assert_eq!((output.code, output.out + next), (0, resumed.out), "{}", output.err);
    assert!(output.err.contains("`spin -t -p -k trail m.pml` replays it"), "{}", output.err);
    let lines = std::fs::read_to_string(bench.0.path().join("trail")).unwrap();
    assert_eq!(lines.matches("-1:-1:-1\n").count(), 1, "{lines}");
    begin("stays.dve", "[]<> x == 0", "d");
    let output = trace("d");
    assert!(
        output.code == 2 && output.err.contains("models can be replayed by SPIN"),
        "{}",
        output.err
    );
}

/// The directory keeps the text of an automaton, so the check no longer needs the file.
#[test]
fn the_search_directory_keeps_the_automaton() {
    let bench = Bench::of_each_language();
    let hoa = "HOA: v1 States: 2 Start: 0 AP: 1 \"x == 1\" Acceptance: 1 Inf(0)
        --BODY-- State: 0 [t] 0 [0] 1 State: 1 {0} [0] 1 --END--";
    bench.write("a.hoa", hoa);
    let check = ["check", "stays.dve", "--automaton", "a.hoa", "--max-states", "1", "--dir", "d"];
    assert_eq!(bench.run(&check).code, 3);
    for name in ["a.hoa", "stays.dve"] {
        std::fs::remove_file(bench.0.path().join(name)).unwrap();
    }
    let result = bench.json(&["resume", "d"], 1);
    assert_eq!(result["property"], "a.hoa");
}
