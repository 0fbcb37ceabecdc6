//! Which cases may be undone together.
//!
//! Of cases found one by one, those are kept whose inverses commute wherever both can be undone, so that what
//! is left when nothing can be undone any more does not depend on the order; and of which each takes something
//! a step on that no other takes back, so that undoing ends. Actions are taken in turn, those with most
//! instances first, and an action's cases that do not go with those before are left out. Nothing in that
//! depends on which element of a scalarset is which.

use super::cases::{Case, Held};
use crate::analysis::instances::InstanceId;
use crate::ir::ActionId;
use crate::ir::layout::CellId;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// More cases are not compared with each other.
const CASES_MAX: usize = 1 << 12;

/// Which of some cases may be undone together.
pub(super) fn chosen(cases: Vec<Case>) -> Vec<Case> {
    let mut by_action: BTreeMap<ActionId, Vec<Case>> = BTreeMap::new();
    for case in cases {
        by_action.entry(case.action).or_default().push(case);
    }
    let mut actions: Vec<(ActionId, Vec<Case>)> = by_action.into_iter().collect();
    let instances =
        |cases: &[Case]| cases.iter().map(|it| it.instance).collect::<BTreeSet<_>>().len();
    actions.sort_by_key(|(action, cases)| (Reverse(instances(cases)), *action));
    let mut kept: Vec<Case> = Vec::new();
    for (_, cases) in actions {
        if kept.len() + cases.len() > CASES_MAX {
            continue;
        }
        let more = that_go_together(&kept, cases);
        let both: Vec<Case> = kept.iter().cloned().chain(more.iter().cloned()).collect();
        if undoing_ends(&both) {
            kept = both;
        }
    }
    kept.sort();
    kept
}

/// Those of some cases whose inverses commute with those of the cases kept and with each other's.
fn that_go_together(kept: &[Case], mut cases: Vec<Case>) -> Vec<Case> {
    loop {
        let all = Undone::new(kept.iter().chain(&cases));
        let goes = |case: &Case| {
            let mut others = all.meeting(case).filter(|&it| it != case);
            others.all(|other| all.commute(case, other))
        };
        let stay: Vec<bool> = cases.iter().map(goes).collect();
        if stay.iter().all(|&it| it) {
            return cases;
        }
        let mut stay = stay.into_iter();
        cases.retain(|_| stay.next().unwrap_or_default());
    }
}

/// Whether any run of steps back ends: each case adds an element to a multiset, which none takes away, or takes
/// a cell from a value to one from which none takes it back.
pub(super) fn undoing_ends(cases: &[Case]) -> bool {
    let mut edges: BTreeMap<CellId, BTreeSet<(u32, u32)>> = BTreeMap::new();
    let changes = |case: &Case| case.held.clone().into_iter().filter(|it| it.changes());
    for Held { cell, before, after } in cases.iter().flat_map(changes) {
        edges.entry(cell).or_default().insert((before, after));
    }
    let rises: BTreeMap<CellId, bool> =
        edges.iter().map(|(&cell, edges)| (cell, is_acyclic(edges))).collect();
    cases.iter().all(|case| case.adds() || changes(case).any(|it| rises[&it.cell]))
}

/// Whether edges between numbers lead nowhere twice.
fn is_acyclic(edges: &BTreeSet<(u32, u32)>) -> bool {
    let mut edges = edges.clone();
    loop {
        let sources: BTreeSet<u32> = edges.iter().map(|it| it.0).collect();
        let before = edges.len();
        // What leads to where nothing leads on from is on no cycle.
        edges.retain(|(_, to)| sources.contains(to));
        if edges.len() == before {
            return edges.is_empty();
        }
    }
}

/// Cases that may be undone, by what they are about.
struct Undone<'c> {
    by_cell: BTreeMap<CellId, Vec<&'c Case>>,
    by_bag: BTreeMap<usize, Vec<&'c Case>>,
    by_instance: BTreeMap<InstanceId, Vec<&'c Case>>,
}

impl<'c> Undone<'c> {
    fn new(cases: impl Iterator<Item = &'c Case>) -> Undone<'c> {
        let mut all = Undone {
            by_cell: BTreeMap::new(),
            by_bag: BTreeMap::new(),
            by_instance: BTreeMap::new(),
        };
        for case in cases {
            for held in &case.held {
                all.by_cell.entry(held.cell).or_default().push(case);
            }
            for counted in &case.counted {
                all.by_bag.entry(counted.bag).or_default().push(case);
            }
            all.by_instance.entry(case.instance).or_default().push(case);
        }
        all
    }

    /// The cases that are about something that a case is about, some of them more than once.
    fn meeting(&self, case: &Case) -> impl Iterator<Item = &'c Case> {
        let cells = case.held.iter().filter_map(|it| self.by_cell.get(&it.cell));
        let bags = case.counted.iter().filter_map(|it| self.by_bag.get(&it.bag));
        cells.chain(bags).flatten().copied()
    }

    /// Whether the inverses of two cases commute wherever both can be undone.
    fn commute(&self, one: &Case, other: &Case) -> bool {
        if contradict(one, other) {
            return true;
        }
        let state = merged(one, other);
        match sizes_commute(one, other) {
            Sizes::Exclude => true,
            // The state has two predecessors by one rule.
            _ if one.instance == other.instance => false,
            // Both were the same step.
            _ if add_the_same(one, other) && undone(&state, one) == undone(&state, other) => true,
            Sizes::Differ => false,
            Sizes::Commute => {
                let this_first = self.undone(&undone(&state, one), other);
                let other_first = self.undone(&undone(&state, other), one);
                this_first.is_some() && this_first == other_first
            }
        }
    }

    /// What is known of a state after a case of the instance that a case is of is undone.
    fn undone(&self, state: &BTreeMap<CellId, u32>, like: &Case) -> Option<BTreeMap<CellId, u32>> {
        let holds = |case: &&Case| {
            case.counted == like.counted
                && case.held.iter().all(|it| state.get(&it.cell) == Some(&it.after))
        };
        let cases = &self.by_instance[&like.instance];
        cases.iter().copied().find(holds).map(|case| undone(state, case))
    }
}

/// Whether there is no state that both cases may have led to, as a cell would have to hold two values.
fn contradict(one: &Case, other: &Case) -> bool {
    let differs = |it: &Held| other.of(it.cell).is_some_and(|theirs| theirs.after != it.after);
    one.held.iter().any(differs)
}

/// What is known of a state that both cases may have led to.
fn merged(one: &Case, other: &Case) -> BTreeMap<CellId, u32> {
    one.held.iter().chain(&other.held).map(|it| (it.cell, it.after)).collect()
}

/// Whether two cases add the same elements.
fn add_the_same(one: &Case, other: &Case) -> bool {
    let added = |case: &Case| -> Vec<(usize, Option<Vec<u32>>)> {
        let adding = case.counted.iter().filter(|it| it.added.is_some());
        adding.map(|it| (it.bag, it.added.clone())).collect()
    };
    added(one) == added(other)
}

fn undone(state: &BTreeMap<CellId, u32>, case: &Case) -> BTreeMap<CellId, u32> {
    let mut state = state.clone();
    state.extend(case.held.iter().map(|it| (it.cell, it.before)));
    state
}

/// How two cases stand to each other by the multisets that both are about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sizes {
    /// There is no state that both may have led to.
    Exclude,
    /// Undoing one leaves the other possible.
    Commute,
    /// It may not.
    Differ,
}

fn sizes_commute(one: &Case, other: &Case) -> Sizes {
    let mut all = Sizes::Commute;
    for left in &one.counted {
        let Some(right) = other.of_bag(left.bag) else { continue };
        let (mine, theirs) = (left.sizes_after(), right.sizes_after());
        let both = left.added.is_some() && right.added.is_some();
        let is_same = both && left.added == right.added;
        // Two different elements are there if both are added.
        let least = match both && !is_same {
            true => 2,
            false => u32::from(left.added.is_some() || right.added.is_some()),
        };
        let shared = (mine & theirs) >> least << least;
        if shared == 0 {
            return Sizes::Exclude;
        }
        let stays =
            |by: &Option<Vec<u32>>, sizes: u128| by.is_none() || (shared >> 1) & !sizes == 0;
        // One copy of an element cannot be taken away twice.
        if is_same || !stays(&left.added, theirs) || !stays(&right.added, mine) {
            all = Sizes::Differ;
        }
    }
    all
}
