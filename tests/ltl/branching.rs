//! CTL formulas over states on disk: random graphs and formulas, compared with an evaluator of sets of nodes. The
//! searches run in little memory and on failing disks.

use super::digraph::{Dice, Digraph, node};
use super::swept::Means;
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

/// A graph, some of whose nodes have no successors and some many, with what holds in its nodes.
struct Marked {
    graph: Digraph,
    conditions: Vec<Vec<bool>>,
}

impl Marked {
    fn random(seed: u64, most: usize) -> Marked {
        let mut dice = Dice(seed);
        let nodes = 1 + dice.below(most);
        let (back, hub, dead) = (2 + dice.below(30), dice.below(nodes), 2 + dice.below(20));
        let next = (0..nodes).map(|from| {
            let edges = match dice.below(dead) {
                0 => 0,
                // More than are counted.
                1 if dice.below(3) == 0 => 14 + dice.below(30),
                _ => 1 + dice.below(3),
            };
            let mut ends = (0..edges).map(|_| match dice.below(back) {
                0 => dice.below(nodes) as u16,
                1 => hub as u16,
                _ => (from + 1 + dice.below(4)).min(nodes - 1) as u16,
            });
            let ends: Vec<u16> = ends.by_ref().collect();
            // Some node at the end goes on, so that there are long runs.
            if from + 1 == nodes && dice.below(2) == 0 { vec![hub as u16] } else { ends }
        });
        let next: Vec<Vec<u16>> = next.collect();
        let conditions = (0..3).map(|_| {
            let rare = 1 + dice.below(6);
            let is_common = dice.below(2) == 0;
            (0..nodes).map(|_| (dice.below(rare) == 0) != is_common).collect()
        });
        let conditions = conditions.collect();
        let accepts = vec![false; nodes];
        Marked { graph: Digraph { next, accepts }, conditions }
    }

    /// The nodes that satisfy a formula, found by going through all nodes again and again.
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
                let mut left = set(one);
                loop {
                    let goes_on = |it: usize| next[it].is_empty() || some(&left, it);
                    let after: Vec<bool> =
                        nodes.clone().map(|it| left[it] && goes_on(it)).collect();
                    if after == left {
                        return left;
                    }
                    left = after;
                }
            }
        }
    }
}

fn random_formula(dice: &mut Dice) -> CtlFormula<usize> {
    let mut formula = CtlFormula::default();
    for number in 0..3 {
        formula.node(CtlNode::Condition(number));
    }
    for _ in 0..1 + dice.below(6) {
        let mut any = || dice.below(formula.nodes().len());
        let (one, other) = (any(), any());
        let node = match dice.below(8) {
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

/// The answers to formulas, on a disk.
fn answers(
    marked: &Marked,
    formulas: &[CtlFormula<usize>],
    (disk, plan): (&Arc<dyn Disk>, MemoryPlan),
    shard_states: u64,
) -> Result<Vec<BranchingAnswer>> {
    let packed = PackedSystem::new(&marked.graph);
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
    let judge = |state: &[u8], number: usize| Ok(marked.conditions[number][node(model, state)]);
    let answers = formulas.iter().map(|it| check.answer(it, &judge)).collect();
    check.remove()?;
    answers
}

fn plan(means: Means) -> MemoryPlan {
    means.plan(8)
}

#[test]
fn random_formulas_are_answered_as_by_sets_of_nodes() {
    let mut counts = [0, 0];
    for seed in 0..250 {
        let mut dice = Dice(seed + 1000);
        let marked = Marked::random(seed, if seed % 5 == 0 { 400 } else { 40 });
        let formulas: Vec<CtlFormula<usize>> = (0..8).map(|_| random_formula(&mut dice)).collect();
        let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
        let threads = 1 + dice.below(3);
        let means = Means { threads, buffer: 20 + dice.below(300) as u64, ..Means::WHOLE };
        // Sets have room, whatever is left for sorting.
        let plan = MemoryPlan { filter: 1 << 20, ..plan(means) };
        let shards = 1 + dice.below(200) as u64;
        let told = answers(&marked, &formulas, (&disk, plan), shards).unwrap();
        for (formula, told) in formulas.iter().zip(told) {
            let holds = marked.satisfying(formula, formula.root())[0];
            counts[usize::from(holds)] += 1;
            assert_eq!(told, BranchingAnswer::Holds(holds), "{seed}: {formula:?}");
        }
        let left: Vec<String> = disk.list().unwrap().into_iter().map(|it| it.0).collect();
        let is_ours = |it: &&String| it.starts_with("predecessors") || it.starts_with("region");
        assert_eq!(left.iter().filter(is_ours).count(), 0, "{left:?}");
    }
    assert!(counts.iter().all(|it| *it > 400), "{counts:?}");
}

/// Lists of predecessors that take several entries and several chunks.
#[test]
fn a_state_with_very_many_predecessors_is_one_state() {
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
    let marked = Marked { graph, conditions };
    let mut dice = Dice(5);
    let formulas: Vec<CtlFormula<usize>> = (0..12).map(|_| random_formula(&mut dice)).collect();
    let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
    let told = answers(&marked, &formulas, (&disk, plan(Means::WHOLE)), 1 << 20).unwrap();
    for (formula, told) in formulas.iter().zip(told) {
        let holds = marked.satisfying(formula, formula.root())[0];
        assert_eq!(told, BranchingAnswer::Holds(holds), "{formula:?}");
    }
}

#[test]
fn what_does_not_fit_the_memory_is_refused() {
    let marked = Marked::random(3, 400);
    let mut dice = Dice(3);
    let formula = loop {
        let formula = random_formula(&mut dice);
        if formula.nodes().iter().any(|it| matches!(it, CtlNode::Always(_))) {
            break formula;
        }
    };
    let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
    let means = Means { buffer: 4, ..Means::WHOLE };
    let told = answers(&marked, &[formula], (&disk, plan(means)), 64).unwrap();
    assert!(matches!(told[0], BranchingAnswer::TooLarge { .. }), "{told:?}");
}

#[test]
fn a_disk_that_fails_gives_an_error_or_the_right_answer() {
    let marked = Marked::random(12, 300);
    let mut dice = Dice(12);
    let formulas: Vec<CtlFormula<usize>> = (0..3).map(|_| random_formula(&mut dice)).collect();
    let means = Means { threads: 2, buffer: 60, ..Means::WHOLE };
    let plan = MemoryPlan { filter: 1 << 20, ..plan(means) };
    let whole = Arc::new(FaultDisk::new());
    let shared: Arc<dyn Disk> = whole.clone();
    let expected = answers(&marked, &formulas, (&shared, plan), 64).unwrap();
    for at in (0..whole.operations()).step_by(5) {
        let plan_of_faults = FaultPlan::new().seed(at);
        let faults = match at % 2 {
            0 => plan_of_faults.io_error_at(at),
            _ => plan_of_faults.full_from(at),
        };
        let disk: Arc<dyn Disk> = Arc::new(FaultDisk::with_faults(faults));
        let told = answers(&marked, &formulas, (&disk, plan), 64);
        assert!(told.is_err() || told.unwrap() == expected, "operation {at}");
    }
}
