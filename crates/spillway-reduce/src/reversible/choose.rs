//! The selection of cases that may be undone together.
//!
//! The selected cases satisfy two conditions. Their inverses commute wherever both can be undone, so the final state
//! of undoing does not depend on the order. And each makes progress that no other reverts, so undoing ends. Actions
//! are considered in turn, those with most instances first; cases of an action that conflict with earlier ones are
//! dropped. The selection treats all elements of a scalarset equally.

use super::cases::{CaseCell, ReversibleCase};
use spillway_analysis::instances::InstanceId;
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_base::components::components;
use spillway_ir::ActionId;
use spillway_ir::layout::CellId;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The most cases that are compared with each other.
const CASES_MAX: usize = 1 << 12;

/// Units of work to compare two cases cell by cell, and to undo both in both orders.
const EACH_PAIR: u64 = 4;
const EACH_UNDONE: u64 = 64;

/// Selects the cases that may be undone together.
pub(super) fn chosen(
    cases: Vec<ReversibleCase>,
    budget: &AnalysisBudget,
) -> Result<Vec<ReversibleCase>, BudgetExceeded> {
    let mut by_action: BTreeMap<ActionId, Vec<ReversibleCase>> = BTreeMap::new();
    for case in cases {
        by_action.entry(case.action).or_default().push(case);
    }
    let mut actions: Vec<(ActionId, Vec<ReversibleCase>)> = by_action.into_iter().collect();
    let instances = |cases: &[ReversibleCase]| {
        cases.iter().map(|it| it.instance).collect::<BTreeSet<_>>().len()
    };
    actions.sort_by_key(|(action, cases)| (Reverse(instances(cases)), *action));
    let mut kept: Vec<ReversibleCase> = Vec::new();
    for (_, cases) in actions {
        if kept.len() + cases.len() > CASES_MAX {
            continue;
        }
        let more = commuting_cases(&kept, cases, budget)?;
        budget.work((kept.len() + more.len()) as u64)?;
        if undoing_ends(kept.iter().chain(&more)) {
            kept.extend(more);
        }
    }
    kept.sort();
    Ok(kept)
}

/// Returns the cases whose inverses commute with those of the kept cases and with each other.
fn commuting_cases(
    kept: &[ReversibleCase],
    mut cases: Vec<ReversibleCase>,
    budget: &AnalysisBudget,
) -> Result<Vec<ReversibleCase>, BudgetExceeded> {
    budget.work((kept.len() + cases.len()) as u64 * EACH_PAIR)?;
    let mut all = InverseCases::new(kept.iter().chain(&cases).collect());
    let new = kept.len()..all.cases.len();
    let depending = vec![Vec::new(); all.cases.len()];
    let mut pairs = CasePairs { depending, lost: BTreeSet::new(), held: 0 };
    let mut met = VisitedCases { rounds: vec![0; all.cases.len()], round: 0 };
    for at in new.clone() {
        met.round += 1;
        // Kept cases come first, so each pair is compared once.
        for other in all.meeting(at).filter(|&it| it < at && met.is_new(it)) {
            pairs.compare(&all, CasePair { case: at, other }, new.start, budget)?;
        }
    }
    // Whether two cases commute may depend on two others. Without these the pair is compared again.
    while !pairs.lost.is_empty() {
        let lost = std::mem::take(&mut pairs.lost);
        lost.iter().for_each(|&it| all.is_left[it] = false);
        for gone in lost {
            for (case, other) in std::mem::take(&mut pairs.depending[gone]) {
                let pair = CasePair { case: case as usize, other: other as usize };
                if all.is_left[pair.case] && all.is_left[pair.other] {
                    pairs.compare(&all, pair, new.start, budget)?;
                }
            }
        }
    }
    budget.release(pairs.held);
    let is_left: Vec<bool> = all.is_left.drain(new).collect();
    let mut is_left = is_left.into_iter();
    cases.retain(|_| is_left.next().unwrap_or_default());
    Ok(cases)
}

/// Whether every sequence of undone cases is finite: each case adds an element to a multiset, which no case removes,
/// or changes a cell so that no case changes it back.
fn undoing_ends<'c>(cases: impl Iterator<Item = &'c ReversibleCase> + Clone) -> bool {
    let mut edges: BTreeMap<CellId, BTreeSet<(u32, u32)>> = BTreeMap::new();
    let changes = |case: &'c ReversibleCase| case.held.iter().filter(|it| it.changes());
    for CaseCell { cell, before, after } in cases.clone().flat_map(changes) {
        edges.entry(*cell).or_default().insert((*before, *after));
    }
    let rises: BTreeMap<CellId, bool> =
        edges.iter().map(|(&cell, edges)| (cell, is_acyclic(edges))).collect();
    cases.into_iter().all(|case| case.adds() || changes(case).any(|it| rises[&it.cell]))
}

/// Whether a graph without self-loops is acyclic.
fn is_acyclic(edges: &BTreeSet<(u32, u32)>) -> bool {
    let numbers: BTreeSet<u32> = edges.iter().flat_map(|&(from, to)| [from, to]).collect();
    let place: BTreeMap<u32, usize> = numbers.into_iter().zip(0..).collect();
    let edges: Vec<(usize, usize)> =
        edges.iter().map(|(from, to)| (place[from], place[to])).collect();
    let components: BTreeSet<usize> = components(place.len(), &edges).into_iter().collect();
    components.len() == place.len()
}

/// The visited cases of a round.
struct VisitedCases {
    /// For each case, the last round in which it was visited.
    rounds: Vec<u32>,
    round: u32,
}

impl VisitedCases {
    /// Marks a case. Returns whether it is new in this round.
    fn is_new(&mut self, case: usize) -> bool {
        std::mem::replace(&mut self.rounds[case], self.round) != self.round
    }
}

/// Whether two cases may be undone together.
#[derive(Clone, Copy)]
enum InverseCommutation {
    Never,
    Always,
    /// While these two cases are kept.
    With(usize, usize),
}

/// Two cases, by number.
#[derive(Clone, Copy)]
struct CasePair {
    case: usize,
    other: usize,
}

/// The results of comparisons.
struct CasePairs {
    /// For each case, the pairs that commute while it is kept.
    depending: Vec<Vec<(u32, u32)>>,
    /// The cases of pairs that do not commute.
    lost: BTreeSet<usize>,
    /// The bytes charged for this.
    held: usize,
}

impl CasePairs {
    /// Compares a pair. Cases before `new` are always kept.
    fn compare(
        &mut self,
        all: &InverseCases<'_>,
        pair: CasePair,
        new: usize,
        budget: &AnalysisBudget,
    ) -> Result<(), BudgetExceeded> {
        let CasePair { case, other } = pair;
        budget.work(EACH_PAIR)?;
        let is_known = |it: usize| it < new || self.lost.contains(&it);
        if is_known(case) && is_known(other) {
            return Ok(());
        }
        match all.commute(case, other, budget)? {
            InverseCommutation::Always => {}
            InverseCommutation::Never => {
                self.lost.extend([case, other].into_iter().filter(|&it| it >= new))
            }
            InverseCommutation::With(one, two) => {
                let pair = (case as u32, other as u32);
                let bytes = 2 * size_of_val(&pair);
                budget.hold(bytes)?;
                self.held += bytes;
                [one, two].into_iter().for_each(|it| self.depending[it].push(pair));
            }
        }
        Ok(())
    }
}

/// Cases that may be undone, indexed by what they read or change.
struct InverseCases<'c> {
    cases: Vec<&'c ReversibleCase>,
    is_left: Vec<bool>,
    /// Whether no other case of the same instance may lead to a state that this one may lead to.
    is_only: Vec<bool>,
    by_cell: BTreeMap<CellId, Vec<usize>>,
    by_bag: BTreeMap<usize, Vec<usize>>,
    by_instance: BTreeMap<InstanceId, Vec<usize>>,
}

impl<'c> InverseCases<'c> {
    fn new(cases: Vec<&'c ReversibleCase>) -> InverseCases<'c> {
        let mut all = InverseCases {
            is_left: vec![true; cases.len()],
            is_only: Vec::new(),
            by_cell: BTreeMap::new(),
            by_bag: BTreeMap::new(),
            by_instance: BTreeMap::new(),
            cases,
        };
        for (at, case) in all.cases.iter().enumerate() {
            for held in &case.held {
                all.by_cell.entry(held.cell).or_default().push(at);
            }
            for counted in &case.counted {
                all.by_bag.entry(counted.bag).or_default().push(at);
            }
            all.by_instance.entry(case.instance).or_default().push(at);
        }
        let is_only = |(at, case): (usize, &&ReversibleCase)| {
            let mut others = all.by_instance[&case.instance].iter().filter(|it| **it != at);
            others.all(|&it| contradict(case, all.cases[it]))
        };
        all.is_only = all.cases.iter().enumerate().map(is_only).collect();
        all
    }

    /// Returns the cases that share a cell or a multiset with a case, some of them more than once.
    fn meeting(&self, at: usize) -> impl Iterator<Item = usize> {
        let case = self.cases[at];
        let cells = case.held.iter().filter_map(|it| self.by_cell.get(&it.cell));
        let bags = case.counted.iter().filter_map(|it| self.by_bag.get(&it.bag));
        cells.chain(bags).flatten().copied()
    }

    /// Whether the inverses of two cases commute wherever both can be undone.
    fn commute(
        &self,
        at: usize,
        other: usize,
        budget: &AnalysisBudget,
    ) -> Result<InverseCommutation, BudgetExceeded> {
        let (one, two) = (self.cases[at], self.cases[other]);
        if contradict(one, two) {
            return Ok(InverseCommutation::Always);
        }
        let sizes = sizes_commute(one, two);
        if sizes == SizeRelation::Exclude {
            return Ok(InverseCommutation::Always);
        }
        // The state has two predecessors by one rule.
        if one.instance == two.instance {
            return Ok(InverseCommutation::Never);
        }
        let are_only = self.is_only[at] && self.is_only[other];
        if sizes == SizeRelation::Commute
            && are_only
            && !changes_of(one, two)
            && !changes_of(two, one)
        {
            return Ok(InverseCommutation::Always);
        }
        budget.work(EACH_UNDONE + (one.held.len() + two.held.len()) as u64)?;
        let state = KnownState::behind(one, two);
        let (after_one, after_two) = (state.undo_case(one), state.undo_case(two));
        // Both are the same transition.
        if add_the_same(one, two) && after_one == after_two {
            return Ok(InverseCommutation::Always);
        }
        if sizes == SizeRelation::Differ {
            return Ok(InverseCommutation::Never);
        }
        let (then_two, then_one) = (
            self.undo_candidate(&after_one, two, budget)?,
            self.undo_candidate(&after_two, one, budget)?,
        );
        Ok(match (then_two, then_one) {
            (Some((two, this_first)), Some((one, other_first))) if this_first == other_first => {
                InverseCommutation::With(one, two)
            }
            _ => InverseCommutation::Never,
        })
    }

    /// Returns the case of the same instance as `like` that may have led to a partly known state, and the known part
    /// of the state after undoing it.
    fn undo_candidate(
        &self,
        state: &KnownState,
        like: &ReversibleCase,
        budget: &AnalysisBudget,
    ) -> Result<Option<(usize, KnownState)>, BudgetExceeded> {
        for &at in &self.by_instance[&like.instance] {
            budget.work(1)?;
            let case = self.cases[at];
            if self.is_left[at] && case.counted == like.counted && state.is_behind(case) {
                return Ok(Some((at, state.undo_case(case))));
            }
        }
        Ok(None)
    }
}

/// Whether undoing one case changes a cell that another reads or changes.
fn changes_of(one: &ReversibleCase, other: &ReversibleCase) -> bool {
    one.held.iter().any(|it| it.changes() && other.of(it.cell).is_some())
}

/// Whether no state can follow both cases, because a cell would need two values.
fn contradict(one: &ReversibleCase, other: &ReversibleCase) -> bool {
    let differs = |it: &CaseCell| other.of(it.cell).is_some_and(|theirs| theirs.after != it.after);
    one.held.iter().any(differs)
}

/// The known part of a state: codes of cells, in ascending order of cells.
#[derive(Clone, Debug, PartialEq, Eq)]
struct KnownState(Vec<(CellId, u32)>);

impl KnownState {
    /// Returns the known part of a state that may follow both cases.
    fn behind(one: &ReversibleCase, other: &ReversibleCase) -> KnownState {
        let mut cells: Vec<(CellId, u32)> =
            one.held.iter().chain(&other.held).map(|it| (it.cell, it.after)).collect();
        // Both agree on the cells that they share.
        cells.sort_unstable();
        cells.dedup();
        KnownState(cells)
    }

    fn place(&self, cell: CellId) -> Option<usize> {
        self.0.binary_search_by_key(&cell, |it| it.0).ok()
    }

    /// Whether the case surely led to the state, by the values of its cells.
    fn is_behind(&self, case: &ReversibleCase) -> bool {
        case.held.iter().all(|it| self.place(it.cell).is_some_and(|at| self.0[at].1 == it.after))
    }

    /// Returns the known part after a case is undone. The case changes only known cells.
    fn undo_case(&self, case: &ReversibleCase) -> KnownState {
        let mut state = self.clone();
        for held in &case.held {
            if let Some(at) = self.place(held.cell) {
                state.0[at].1 = held.before;
            }
        }
        state
    }
}

/// Whether two cases add the same elements.
fn add_the_same(one: &ReversibleCase, other: &ReversibleCase) -> bool {
    let added = |case: &ReversibleCase| -> Vec<(usize, Option<Vec<u32>>)> {
        let adding = case.counted.iter().filter(|it| it.added.is_some());
        adding.map(|it| (it.bag, it.added.clone())).collect()
    };
    added(one) == added(other)
}

/// The relation of two cases by their common multisets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SizeRelation {
    /// No state can follow both cases.
    Exclude,
    /// Undoing one leaves the other possible.
    Commute,
    /// Undoing one may make the other impossible.
    Differ,
}

fn sizes_commute(one: &ReversibleCase, other: &ReversibleCase) -> SizeRelation {
    let mut all = SizeRelation::Commute;
    for left in &one.counted {
        let Some(right) = other.of_bag(left.bag) else { continue };
        let (mine, theirs) = (left.sizes_after(), right.sizes_after());
        let both = left.added.is_some() && right.added.is_some();
        let is_same = both && left.added == right.added;
        // If both add different elements, the multiset has both.
        let least = match both && !is_same {
            true => 2,
            false => u32::from(left.added.is_some() || right.added.is_some()),
        };
        let shared = (mine & theirs) >> least << least;
        if shared == 0 {
            return SizeRelation::Exclude;
        }
        let stays =
            |by: &Option<Vec<u32>>, sizes: u128| by.is_none() || (shared >> 1) & !sizes == 0;
        // One copy of an element cannot be removed twice.
        if is_same || !stays(&left.added, theirs) || !stays(&right.added, mine) {
            all = SizeRelation::Differ;
        }
    }
    all
}
