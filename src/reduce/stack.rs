//! Reductions that stack: each wraps what those before it have left.

use super::{NotApplied, PreservedProperties};
use crate::ir::Layout;
use crate::ir::layout::CellId;
use crate::model::{Counters, StateSpace};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A way to search another space than the model's own, ready to be used for one program.
pub trait Reduction<'m> {
    /// As reports call it: `symmetry exact`.
    fn name(&self) -> String;

    /// What it does to a search.
    fn traits(&self) -> ReductionTraits;

    /// What it did in a search, in words, if there is more to say than that it was used.
    fn describe_effect(&self, counters: &Counters) -> Option<String>;

    /// The cells of states that hold other values than the program has.
    fn changed_cells(&self, layout: &Layout) -> BTreeSet<CellId>;

    /// Whether the elements of a scalarset are all the same to it.
    fn is_symmetric(&self) -> bool;

    /// Why it cannot be used over those that act before it, if it cannot, beside what the table says of pairs.
    fn conflict(&self, before: &ReductionStack<'m>) -> Option<NotApplied>;

    /// The model that is left of one.
    fn wrap(&self, model: Box<dyn StateSpace + 'm>) -> Box<dyn StateSpace + 'm>;
}

/// What a reduction does to a search.
#[derive(Clone, Debug)]
pub struct ReductionTraits {
    /// The names of the reductions of the table that it is; none if it is not in the table.
    pub entries: Vec<&'static str>,
    /// Where it acts.
    pub kind: ReductionKind,
    /// What holds in the space that is left if and only if it holds in the one before.
    pub preserves: PreservedProperties,
    /// What keeps steps from being put off for ever, if steps are put off.
    pub proviso: Option<&'static str>,
    /// Whether every action that can be taken is taken in what is left, as far as it can be told how often.
    pub keeps_all_actions: bool,
    /// Whether it compares states, so that none may be replaced behind it by one that stands for it.
    pub orders_states: bool,
    /// Whether it stores states as they are, and expands each of them once: none is run through, or taken up again, or has
    /// steps asleep.
    pub stores_all: bool,
    /// The reductions of the table that it was made for and does not use, as the program has nothing for them.
    pub unused: Vec<ReductionRefusal>,
}

impl ReductionTraits {
    /// Those of a reduction that puts no steps off, compares no states, and stores all.
    pub fn new(
        entries: Vec<&'static str>,
        kind: ReductionKind,
        preserves: PreservedProperties,
    ) -> ReductionTraits {
        ReductionTraits {
            entries,
            kind,
            preserves,
            proviso: None,
            keeps_all_actions: false,
            orders_states: false,
            stores_all: true,
            unused: Vec::new(),
        }
    }
}

/// Where a reduction acts, from the program to the search: so they are stacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReductionKind {
    /// On the actions that are expanded in a state: it leaves some out.
    Choice,
    /// On the state: it adds an automaton's location to it.
    Product,
    /// On what lies behind a state: it need not be explored.
    Pruning,
    /// On the program, before it is run: its states are alike to those of the program as written. It is told
    /// last of what it changes, behind what adds to states.
    Rewriting,
    /// On successors: they are replaced by what stands for them.
    Representative,
    /// On what a search keeps: of states some do for others.
    Dominance,
}

/// A reduction as reports tell of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReductionSummary {
    /// What it is called.
    pub name: String,
    /// What it keeps.
    pub preserves: PreservedProperties,
    /// What it did.
    pub effect: Option<String>,
    /// What keeps steps from being put off for ever, if steps are put off.
    pub proviso: Option<&'static str>,
    /// Whether every action that can be taken is taken all the same.
    pub keeps_all_actions: bool,
}

/// A reduction that was asked for, or tried, and is not applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReductionRefusal {
    /// The names of the reductions of the table.
    pub reductions: Vec<String>,
    /// As reports call it.
    pub name: String,
    /// Why it is not applied.
    pub reason: NotApplied,
}

/// The reductions that a search uses, the one that acts first in front.
#[derive(Default)]
pub struct ReductionStack<'m> {
    members: Vec<Box<dyn Reduction<'m> + 'm>>,
    refused: Vec<ReductionRefusal>,
    left_off: Option<ReductionRefusal>,
}

/// Tells why a reduction does not go with another, by what the table says of both.
pub type PairConflict<'p> = &'p dyn Fn(&dyn Reduction, &dyn Reduction) -> Option<NotApplied>;

impl<'m> ReductionStack<'m> {
    /// Those of some reductions that go together, in the order in which they act. `pair` tells what the table says of two.
    pub(super) fn stacked(
        mut wanted: Vec<Box<dyn Reduction<'m> + 'm>>,
        pair: PairConflict<'_>,
    ) -> ReductionStack<'m> {
        wanted.sort_by_key(|it| it.traits().kind);
        let mut stack = ReductionStack::default();
        for reduction in wanted {
            let reason = stack.members.iter().find_map(|it| pair(&*reduction, &**it));
            match reason.or_else(|| reduction.conflict(&stack)) {
                None => stack.members.push(reduction),
                Some(reason) => {
                    let reductions =
                        reduction.traits().entries.into_iter().map(str::to_owned).collect();
                    stack.refused.push(ReductionRefusal {
                        reductions,
                        name: reduction.name(),
                        reason,
                    });
                }
            }
        }
        stack
    }

    /// Adds reductions that are not applied.
    pub(super) fn refuse(&mut self, refused: Vec<ReductionRefusal>) {
        self.refused.extend(refused);
    }

    /// The model that all of them leave of one.
    pub fn wrap(&self, model: Box<dyn StateSpace + 'm>) -> Box<dyn StateSpace + 'm> {
        self.members.iter().fold(model, |model, reduction| reduction.wrap(model))
    }

    /// What all of them preserve.
    pub fn preserves(&self) -> PreservedProperties {
        self.members.iter().fold(PreservedProperties::ALL, |all, it| all.and(it.traits().preserves))
    }

    /// The name of one that compares states.
    pub fn state_comparing_member(&self) -> Option<String> {
        self.members.iter().find(|it| it.traits().orders_states).map(|it| it.name())
    }

    /// Why one cannot be used over those that is about states as the program has them, if it cannot.
    pub(super) fn program_state_conflict(&self) -> Option<NotApplied> {
        let products = self.names(&[ReductionKind::Product]);
        let other = self.members.iter().find(|it| !it.traits().stores_all).map(|it| it.name());
        products.into_iter().next().or(other).map(NotApplied::Unproven)
    }

    /// The name of one that tells the elements of a scalarset apart.
    pub fn asymmetric_member(&self) -> Option<String> {
        self.members.iter().find(|it| !it.is_symmetric()).map(|it| it.name())
    }

    /// The names of those that are of one of these kinds.
    pub fn names(&self, kinds: &[ReductionKind]) -> Vec<String> {
        let members = self.members.iter().filter(|it| kinds.contains(&it.traits().kind));
        members.map(|it| it.name()).collect()
    }

    /// The reduction of the table that is used, if it is.
    pub fn member(&self, name: &str) -> Option<&(dyn Reduction<'m> + 'm)> {
        self.members.iter().find(|it| it.traits().entries.contains(&name)).map(|it| &**it)
    }

    /// Why a reduction of the table is not used, if that is known.
    pub fn refusal(&self, name: &str) -> Option<&ReductionRefusal> {
        let mut all = self.refused.iter().chain(&self.left_off);
        all.find(|it| it.reductions.iter().any(|it| it == name))
    }

    /// For each reduction that stores other values than the program has, by its name in reports, the cells that do.
    pub fn changed_cells(&self, layout: &Layout) -> Vec<(String, BTreeSet<CellId>)> {
        let all = self.members.iter().map(|it| (it.name(), it.changed_cells(layout)));
        all.filter(|it| !it.1.is_empty()).collect()
    }

    /// How fewer states are visited, and what came of it.
    pub fn summaries(&self, tally: &Counters) -> Vec<ReductionSummary> {
        let reduces = |kind: ReductionKind| kind != ReductionKind::Product;
        let members = self.members.iter().filter(|it| reduces(it.traits().kind));
        members
            .map(|it| {
                let ReductionTraits { preserves, proviso, keeps_all_actions, .. } = it.traits();
                let (name, effect) = (it.name(), it.describe_effect(tally));
                ReductionSummary { name, preserves, effect, proviso, keeps_all_actions }
            })
            .collect()
    }

    /// Those that were asked for and are not used.
    pub fn refusals(&self) -> &[ReductionRefusal] {
        &self.refused
    }

    /// The same, with one that nobody asked for and that would not pay.
    pub fn with_unprofitable(self, left_off: Option<ReductionRefusal>) -> ReductionStack<'m> {
        ReductionStack { left_off, ..self }
    }

    /// The one that would not pay.
    pub fn unprofitable(&self) -> Option<&ReductionRefusal> {
        self.left_off.as_ref()
    }

    /// All that are not used, asked for or not.
    pub fn unused_reductions(&self) -> Vec<ReductionRefusal> {
        self.refused.iter().chain(&self.left_off).cloned().collect()
    }
}
