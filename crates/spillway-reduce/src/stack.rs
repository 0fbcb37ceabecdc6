//! The stack of reductions: each wraps the result of those before it.

use super::{NotApplied, PreservedProperties, ReductionRefusal, ReductionSummary};
use spillway_ir::Layout;
use spillway_ir::layout::CellId;
use spillway_model::{Counters, StateSpace, TrialOutcome};
use std::collections::BTreeSet;

/// A reduction that is ready to be used for one program.
pub trait Reduction<'m> {
    /// Returns the name in reports: `symmetry exact`.
    fn name(&self) -> String;

    /// Returns its effects on a search.
    fn traits(&self) -> ReductionTraits;

    /// Describes its effect in a search, if there is any to report.
    fn describe_effect(&self, counters: &Counters) -> Option<String>;

    /// Returns the number of set members that choices of transitions examined so far. The number is deterministic if one
    /// thread expands the same states.
    fn members_examined(&self) -> u64 {
        0
    }

    /// Returns the cells of states whose values differ from those of the program.
    fn changed_cells(&self, layout: &Layout) -> BTreeSet<CellId>;

    /// Whether it treats all elements of a scalarset equally.
    fn is_symmetric(&self) -> bool;

    /// Returns a conflict with the reductions that act before it, if there is one. The table of pairs is checked
    /// separately.
    fn conflict(&self, before: &ReductionStack<'m>) -> Option<NotApplied>;

    /// Wraps a transition system.
    fn wrap(&self, model: Box<dyn StateSpace + 'm>) -> Box<dyn StateSpace + 'm>;
}

/// The effects of a reduction on a search.
#[derive(Clone, Debug)]
pub struct ReductionTraits {
    /// The names of its table entries; empty if it is not in the table.
    pub entries: Vec<&'static str>,
    /// The layer in which it acts.
    pub kind: ReductionKind,
    /// The properties that hold in the reduced system if and only if they hold in the one below.
    pub preserves: PreservedProperties,
    /// The cycle proviso, if transitions are postponed.
    pub proviso: Option<&'static str>,
    /// Whether each executable action is still executed, as far as its executions can be counted.
    pub keeps_all_actions: bool,
    /// Whether it compares states, so that no reduction above it may replace them by representatives.
    pub orders_states: bool,
    /// Whether it stores all states and expands each once, completely: no chains, no re-expansion, no sleep sets.
    pub stores_all: bool,
    /// The table entries that were requested and are not used, because they do not apply to the program.
    pub unused: Vec<ReductionRefusal>,
}

impl ReductionTraits {
    /// Returns the traits of a reduction that postpones no transitions, compares no states and stores all.
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

/// The layer in which a reduction acts, from the program to the search. The stack has this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReductionKind {
    /// The actions that are expanded in a state: it omits some.
    Choice,
    /// The state: it adds an automaton's location.
    Product,
    /// The successors of a state: they need not be explored.
    Pruning,
    /// The program, before the search: its states resemble those of the program as written. Its changes are reported
    /// last, after what adds to states.
    Rewriting,
    /// The successors: they are replaced by representatives.
    Representative,
    /// The stored states: some replace others.
    Dominance,
}

/// The reductions of a search, in the order in which they act.
#[derive(Default)]
pub struct ReductionStack<'m> {
    members: Vec<Box<dyn Reduction<'m> + 'm>>,
    refused: Vec<ReductionRefusal>,
    trial: TrialOutcome,
}

/// Returns the conflict of two reductions, according to the table.
pub type PairConflict<'p> = &'p dyn Fn(&dyn Reduction, &dyn Reduction) -> Option<NotApplied>;

impl<'m> ReductionStack<'m> {
    /// Stacks those of some reductions that are compatible, in the order in which they act. `pair` returns the
    /// conflict of two.
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

    /// Wraps a transition system in all of them.
    pub fn wrap(&self, model: Box<dyn StateSpace + 'm>) -> Box<dyn StateSpace + 'm> {
        self.members.iter().fold(model, |model, reduction| reduction.wrap(model))
    }

    /// Returns the properties that all of them preserve.
    pub fn preserves(&self) -> PreservedProperties {
        self.members.iter().fold(PreservedProperties::ALL, |all, it| all.and(it.traits().preserves))
    }

    /// Returns the properties that all of them preserve, except for those of a kind.
    pub fn preserves_without(&self, kind: ReductionKind) -> PreservedProperties {
        let others = self.members.iter().map(|it| it.traits()).filter(|it| it.kind != kind);
        others.fold(PreservedProperties::ALL, |all, it| all.and(it.preserves))
    }

    /// Returns the number of set members that choices of transitions examined so far. See
    /// [`Reduction::members_examined`].
    pub fn members_examined(&self) -> u64 {
        self.members.iter().map(|it| it.members_examined()).sum()
    }

    /// Returns the name of one that compares states.
    pub fn state_comparing_member(&self) -> Option<String> {
        self.members.iter().find(|it| it.traits().orders_states).map(|it| it.name())
    }

    /// Returns a conflict with a reduction that requires the states of the program.
    pub(super) fn program_state_conflict(&self) -> Option<NotApplied> {
        let products = self.names(&[ReductionKind::Product]);
        let other = self.members.iter().find(|it| !it.traits().stores_all).map(|it| it.name());
        products.into_iter().next().or(other).map(NotApplied::Unproven)
    }

    /// Returns the name of one that distinguishes the elements of a scalarset.
    pub fn asymmetric_member(&self) -> Option<String> {
        self.members.iter().find(|it| !it.is_symmetric()).map(|it| it.name())
    }

    /// Returns the names of those that have one of these kinds.
    pub fn names(&self, kinds: &[ReductionKind]) -> Vec<String> {
        let members = self.members.iter().filter(|it| kinds.contains(&it.traits().kind));
        members.map(|it| it.name()).collect()
    }

    /// Returns the reduction of a table entry, if it is used.
    pub fn member(&self, name: &str) -> Option<&(dyn Reduction<'m> + 'm)> {
        self.members.iter().find(|it| it.traits().entries.contains(&name)).map(|it| &**it)
    }

    /// Returns the refusal of a table entry, if it is known.
    pub fn refusal(&self, name: &str) -> Option<&ReductionRefusal> {
        let mut all = self.refused.iter().chain(&self.trial.left_off);
        all.find(|it| it.reductions.iter().any(|it| it == name))
    }

    /// Returns the cells with changed values for each reduction that changes values, with its name in reports.
    pub fn changed_cells(&self, layout: &Layout) -> Vec<(String, BTreeSet<CellId>)> {
        let all = self.members.iter().map(|it| (it.name(), it.changed_cells(layout)));
        all.filter(|it| !it.1.is_empty()).collect()
    }

    /// Summarises the reductions and their effects.
    pub fn summaries(&self, tally: &Counters) -> Vec<ReductionSummary> {
        let reduces = |kind: ReductionKind| kind != ReductionKind::Product;
        let members = self.members.iter().filter(|it| reduces(it.traits().kind));
        members
            .map(|it| {
                let ReductionTraits { preserves, proviso, keeps_all_actions, .. } = it.traits();
                let (name, effect) = (it.name(), it.describe_effect(tally));
                let is_of_model = false;
                ReductionSummary {
                    name,
                    preserves,
                    effect,
                    proviso,
                    keeps_all_actions,
                    is_of_model,
                }
            })
            .collect()
    }

    /// Returns the requested reductions that are not applied.
    pub fn refusals(&self) -> &[ReductionRefusal] {
        &self.refused
    }

    /// Returns the stack with the outcome of the trial that decided it.
    pub fn with_trial(self, trial: TrialOutcome) -> ReductionStack<'m> {
        ReductionStack { trial, ..self }
    }

    /// Returns the outcome of the trial that decided it.
    pub fn trial(&self) -> &TrialOutcome {
        &self.trial
    }

    /// Returns the reduction that would not pay.
    pub fn unprofitable(&self) -> Option<&ReductionRefusal> {
        self.trial.left_off.as_ref()
    }

    /// Returns all reductions that are not used, requested or not.
    pub fn unused_reductions(&self) -> Vec<ReductionRefusal> {
        self.refused.iter().chain(&self.trial.left_off).cloned().collect()
    }
}
