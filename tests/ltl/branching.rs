//! CTL formulas over states on disk: random graphs and formulas, compared with an evaluator of sets of nodes. The
//! searches run in little memory and on failing disks.

use super::digraph::{Digraph, GraphRng, node};
use super::disk_search::SearchSettings;
use spill::fault::FaultPlan;
use spill::{Disk, FaultDisk, MeteredDisk, Result};
use spillway::model::{CtlFormula, CtlNode};
use spillway::search::branching::{BranchingAnswer, BranchingCheck, GatheredStates};
use spillway::search::visited::VisitedStore;
use spillway::search::{
    CheckSelection, ExternalSearch, MemoryPlan, SearchControl, SearchLimits, SearchResources,
};
use spillway::{PackedSystem, StateSpace};
use std::sync::Arc;

/// A graph with the conditions that hold in its nodes. Some nodes have no successors, some have many.
struct LabelledGraph {
    graph: Digraph,
    conditions: Vec<Vec<bool>>,
}

impl LabelledGraph {
    fn random(seed: u64, most: usize) -> LabelledGraph {
        let mut rng = GraphRng(seed);
        let nodes = 1 + rng.below(most);
        let (back, hub, dead) = (2 + rng.below(30), rng.below(nodes), 2 + rng.below(20));
        let next = (0..nodes).map(|from| {
            let edges = match rng.below(dead) {
                0 => 0,
                // More edges than a predecessor counter counts.
                1 if rng.below(3) == 0 => 14 + rng.below(30),
                _ => 1 + rng.below(3),
            };
            let mut ends = (0..edges).map(|_| match rng.below(back) {
                0 => rng.below(nodes) as u16,
                1 => hub as u16,
                _ => (from + 1 + rng.below(4)).min(nodes - 1) as u16,
            });
            let ends: Vec<u16> = ends.by_ref().collect();
            // The last node sometimes has a successor, so that there are long runs.
            if from + 1 == nodes && rng.below(2) == 0 { vec![hub as u16] } else { ends }
        });
        let next: Vec<Vec<u16>> = next.collect();
        let conditions = (0..3).map(|_| {
            let rare = 1 + rng.below(6);
            let is_common = rng.below(2) == 0;
            (0..nodes).map(|_| (rng.below(rare) == 0) != is_common).collect()
        });
        let conditions = conditions.collect();
        let accepts = vec![false; nodes];
        LabelledGraph { graph: Digraph { next, accepts }, conditions }
    }

    /// The nodes that satisfy a formula, by iterating over all nodes to a fixed point.
    fn satisfying(&self, formula: &CtlFormula<usize>, at: usize) -> Vec<bool> {
        let next = &self.graph.next;
        let set = |it: &usize| self.satisfying(formula, *it);
        let some = |of: &[bool], from: usize| next[from].iter().any(|it| of[usize::from(*it)]);
        let nodes = 0..next.len();
        match &formula.nodes()[at] {
            CtlNode::Condition(number) => self.conditions[*number].clone(),
            CtlNode::Not(one) => set(one).into_iter().map(|it| !it).collect(),
            CtlNode::And(all) => {
                let sets: Vec<Vec<bool>> = all.iter().map(set).collect();
                nodes.map(|it| sets.iter().all(|set| set[it])).collect()
            }
            CtlNode::Equal(one, other) => {
                let (one, other) = (set(one), set(other));
                nodes.map(|it| one[it] == other[it]).collect()
            }
            CtlNode::Next(one) => {
                let one = set(one);
                nodes.map(|it| some(&one, it)).collect()
            }
            CtlNode::Until(first, second) => {
                let (first, mut found) = (set(first), set(second));
                loop {
                    let after: Vec<bool> = nodes
                        .clone()
                        .map(|it| found[it] || first[it] && some(&found, it))
                        .collect();
                    if after == found {
                        return found;
                    }
                    found = after;
                }
            }
            CtlNode::Always(one) => {
                let mut remaining = set(one);
                loop {
                    let can_continue = |it: usize| next[it].is_empty() || some(&remaining, it);
                    let after: Vec<bool> =
                        nodes.clone().map(|it| remaining[it] && can_continue(it)).collect();
                    if after == remaining {
                        return remaining;
                    }
                    remaining = after;
                }
            }
        }
    }
}

fn random_formula(rng: &mut GraphRng) -> CtlFormula<usize> {
    let mut formula = CtlFormula::default();
    for number in 0..3 {
        formula.node(CtlNode::Condition(number));
    }
    for _ in 0..1 + rng.below(6) {
        let mut any = || rng.below(formula.nodes().len());
        let (one, other) = (any(), any());
        let node = match rng.below(8) {
            0 => CtlNode::Not(one),
            1 => CtlNode::And(vec![one, other]),
            2 => CtlNode::Equal(one, other),
            3 => CtlNode::Next(one),
            4 | 5 => CtlNode::Until(one, other),
            _ => CtlNode::Always(one),
        };
        formula.node(node);
    }
    let root = formula.nodes().len() - 1;
    formula.with_root(root)
}

/// The answers to formulas, from a search on a disk.
fn answers(
    labelled: &LabelledGraph,
    formulas: &[CtlFormula<usize>],
    (disk, plan): (&Arc<dyn Disk>, MemoryPlan),
    shard_states: u64,
) -> Result<Vec<BranchingAnswer>> {
    let packed = PackedSystem::new(&labelled.graph);
    let (model, control): (&dyn StateSpace, _) = (&packed, SearchControl::default());
    let limits = SearchLimits {
        checks: CheckSelection::NONE,
        stop_on_violation: false,
        ..SearchLimits::default()
    };
    let metered = Arc::new(MeteredDisk::new(disk.clone(), None)?);
    let resources = SearchResources { disk: metered, plan, control: &control };
    let mut search = ExternalSearch::begin(model, resources, limits)?;
    let _ = search.run()?;
    let VisitedStore::Sorted(store) = search.store() else { unreachable!() };
    let gathered = GatheredStates::of(store, model, &**disk, &control, Some(shard_states))?;
    drop(search);
    let check =
        BranchingCheck::new(model, gathered.unwrap(), disk.clone(), &plan, &control)?.unwrap();
    let judge = |state: &[u8], number: usize| Ok(labelled.conditions[number][node(model, state)]);
    let answers = formulas.iter().map(|it| check.answer(it, &judge)).collect();
    check.remove()?;
    answers
}

fn plan(settings: SearchSettings) -> MemoryPlan {
    settings.plan(8)
}

#[test]
fn random_ctl_formulas_have_the_answers_of_the_set_evaluator() {
    let mut counts = [0, 0];
    for seed in 0..250 {
        let mut rng = GraphRng(seed + 1000);
        let labelled = LabelledGraph::random(seed, if seed % 5 == 0 { 400 } else { 40 });
        let formulas: Vec<CtlFormula<usize>> = (0..8).map(|_| random_formula(&mut rng)).collect();
        let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
        let threads = 1 + rng.below(3);
        let settings = SearchSettings {
            threads,
            buffer: 20 + rng.below(300) as u64,
            ..SearchSettings::UNLIMITED
        };
        // Sets have enough memory; only the memory for sorting varies.
        let plan = MemoryPlan { filter: 1 << 20, ..plan(settings) };
        let shards = 1 + rng.below(200) as u64;
        let answered = answers(&labelled, &formulas, (&disk, plan), shards).unwrap();
        for (formula, answer) in formulas.iter().zip(answered) {
            let holds = labelled.satisfying(formula, formula.root())[0];
            counts[usize::from(holds)] += 1;
            assert_eq!(answer, BranchingAnswer::Holds(holds), "{seed}: {formula:?}");
        }
        let remaining: Vec<String> = disk.list().unwrap().into_iter().map(|it| it.0).collect();
        let is_temporary =
            |it: &&String| it.starts_with("predecessors") || it.starts_with("region");
        assert_eq!(remaining.iter().filter(is_temporary).count(), 0, "{remaining:?}");
    }
    assert!(counts.iter().all(|it| *it > 400), "{counts:?}");
}

/// Lists of predecessors take several entries and several chunks.
#[test]
fn states_with_many_predecessors_are_answered_correctly() {
    let nodes = 12_000u16;
    let hub = 7;
    let next = (0..nodes).map(|it| match it {
        0 => (1..nodes).collect(),
        _ if it == hub => vec![(it + 1) % nodes],
        it => vec![hub, (it + 1) % nodes],
    });
    let graph = Digraph { next: next.collect(), accepts: vec![false; nodes.into()] };
    let is_hub: Vec<bool> = (0..nodes).map(|it| it == hub).collect();
    let far: Vec<bool> = (0..nodes).map(|it| it > 9000).collect();
    let conditions = vec![is_hub.clone(), far.clone(), vec![true; nodes.into()]];
    let labelled = LabelledGraph { graph, conditions };
    let mut rng = GraphRng(5);
    let formulas: Vec<CtlFormula<usize>> = (0..12).map(|_| random_formula(&mut rng)).collect();
    let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
    let answered =
        answers(&labelled, &formulas, (&disk, plan(SearchSettings::UNLIMITED)), 1 << 20).unwrap();
    for (formula, answer) in formulas.iter().zip(answered) {
        let holds = labelled.satisfying(formula, formula.root())[0];
        assert_eq!(answer, BranchingAnswer::Holds(holds), "{formula:?}");
    }
}

#[test]
fn a_formula_that_exceeds_the_memory_is_too_large() {
    let labelled = LabelledGraph::random(3, 400);
    let mut rng = GraphRng(3);
    let formula = loop {
        let formula = random_formula(&mut rng);
        if formula.nodes().iter().any(|it| matches!(it, CtlNode::Always(_))) {
            break formula;
        }
    };
    let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
    let settings = SearchSettings { buffer: 4, ..SearchSettings::UNLIMITED };
    let answered = answers(&labelled, &[formula], (&disk, plan(settings)), 64).unwrap();
    assert!(matches!(answered[0], BranchingAnswer::TooLarge { .. }), "{answered:?}");
}

#[test]
fn a_failing_disk_gives_an_error_or_the_correct_answer() {
    let labelled = LabelledGraph::random(12, 300);
    let mut rng = GraphRng(12);
    let formulas: Vec<CtlFormula<usize>> = (0..3).map(|_| random_formula(&mut rng)).collect();
    let settings = SearchSettings { threads: 2, buffer: 60, ..SearchSettings::UNLIMITED };
    let plan = MemoryPlan { filter: 1 << 20, ..plan(settings) };
    let undisturbed = Arc::new(FaultDisk::new());
    let shared: Arc<dyn Disk> = undisturbed.clone();
    let expected = answers(&labelled, &formulas, (&shared, plan), 64).unwrap();
    for at in (0..undisturbed.operations()).step_by(5) {
        let plan_of_faults = FaultPlan::new().seed(at);
        let faults = match at % 2 {
            0 => plan_of_faults.io_error_at(at),
            _ => plan_of_faults.full_from(at),
        };
        let disk: Arc<dyn Disk> = Arc::new(FaultDisk::with_faults(faults));
        let answered = answers(&labelled, &formulas, (&disk, plan), 64);
        assert!(answered.is_err() || answered.unwrap() == expected, "operation {at}");
    }
}
