//! Formulas of branching time over the states that a search has reached, on disk (Clarke, Emerson and Sistla 1986).
//!
//! The states that satisfy a formula are a set: a bit for each state, in memory. The transitions are on disk, as the
//! predecessors of each state in key order (`predecessor_lists.rs`). A sweep visits the states forwards or backwards,
//! and goes from each *pending* state to its predecessors. Parts of the files without a pending state are skipped.
//!
//! ```text
//! EX f       the predecessors of f                                          one sweep
//! E(f U g)   g, and repeatedly the predecessors in f                        until nothing is pending
//! EG f       f, without the states all of whose successors were removed:    until nothing is pending
//!            successors are counted, up to 14; states with more are counted
//!            again when no other state is removed
//! ```
//!
//! A finite run that ends in a state without successors is maximal: in such a state `EG f` holds if `f` does, and `EX
//! f` does not hold. The number of sets in memory at once is computed before the evaluation. Formulas that need more
//! memory than there is are rejected.

mod predecessor_graph;
mod predecessor_lists;
mod state_set;

use super::control::SearchPhase;
use super::{MemoryPlan, SearchControl};
use predecessor_graph::{PredecessorGraph, StateShards};
use predecessor_lists::PredecessorEntries;
use spill::{Disk, Result, Store};
use spillway_model::StateSpace;
use spillway_model::{CtlFormula, CtlNode};
use state_set::{StateSet, SuccessorCounters};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A function that returns whether a state satisfies the condition with an index.
pub type JudgeCondition<'j> = dyn Fn(&[u8], usize) -> Result<bool> + Sync + 'j;

/// The result for a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BranchingAnswer {
    /// Whether all initial states satisfy the formula.
    Holds(bool),
    /// The sets that the formula needs at once exceed the memory.
    TooLarge {
        /// Bytes that the sets need.
        needed: u64,
        /// Bytes available.
        there: u64,
    },
    /// The control stopped the search before there was a result.
    Stopped,
}

/// All states that a search reached, and their predecessors, for the evaluation of formulas.
pub struct BranchingCheck<'a> {
    graph: PredecessorGraph<'a>,
    /// Bytes for sets.
    memory: u64,
}

/// The states of a store, written in key order.
pub struct GatheredStates(StateShards);

impl GatheredStates {
    /// Writes the states of `store`, in shards of `shard_states` states or of the default size. Returns nothing if
    /// stopped. The store is not needed afterwards.
    pub fn of(
        store: &Store,
        model: &dyn StateSpace,
        disk: &dyn Disk,
        control: &SearchControl,
        shard_states: Option<u64>,
    ) -> Result<Option<GatheredStates>> {
        control.progress.enter(SearchPhase::Gathering);
        let gathered = StateShards::of(store, model, disk, control, shard_states)?;
        Ok(gathered.map(GatheredStates))
    }
}

impl<'a> BranchingCheck<'a> {
    /// Computes the predecessors of the gathered states in the memory of a plan. Returns nothing if stopped.
    pub fn new(
        model: &'a dyn StateSpace,
        gathered: GatheredStates,
        disk: Arc<dyn Disk>,
        plan: &MemoryPlan,
        control: &'a SearchControl,
    ) -> Result<Option<BranchingCheck<'a>>> {
        control.progress.enter(SearchPhase::Sweeping);
        let memory = plan.young + plan.filter + 2 * plan.buffer * plan.threads.max(1) as u64;
        let graph = PredecessorGraph::build(model, gathered.0, disk, plan, control)?;
        Ok(graph.map(|graph| BranchingCheck { graph, memory }))
    }

    /// Returns whether all initial states satisfy a formula over conditions with these indices.
    pub fn answer(
        &self,
        formula: &CtlFormula<usize>,
        judge: &JudgeCondition<'_>,
    ) -> Result<BranchingAnswer> {
        let plan = EvaluationPlan::of(formula);
        let needed = plan.sets as u64 * self.graph.ranks().div_ceil(8);
        if needed > self.memory {
            return Ok(BranchingAnswer::TooLarge { needed, there: self.memory });
        }
        Ok(match self.evaluate(formula, &plan, judge)? {
            None => BranchingAnswer::Stopped,
            Some(set) => BranchingAnswer::Holds(self.graph.initial.iter().all(|it| set.has(*it))),
        })
    }

    /// Removes the files.
    pub fn remove(self) -> Result<()> {
        self.graph.remove()
    }

    /// Returns the states that satisfy a formula, or nothing if stopped.
    fn evaluate(
        &self,
        formula: &CtlFormula<usize>,
        plan: &EvaluationPlan,
        judge: &JudgeCondition<'_>,
    ) -> Result<Option<StateSet>> {
        let Some(found) = self.graph.satisfying(&plan.conditions, judge)? else { return Ok(None) };
        let conditions = plan.condition_nodes.iter().copied();
        let mut sets: BTreeMap<usize, StateSet> = conditions.zip(found).collect();
        for &at in &plan.order {
            let set = match &formula.nodes()[at] {
                CtlNode::Condition(_) => continue,
                CtlNode::Not(one) => Some(sets[one].complement(&self.graph.all)),
                CtlNode::And(all) => {
                    let mut set = self.graph.all.clone();
                    all.iter().for_each(|it| set.intersect(&sets[it]));
                    Some(set)
                }
                CtlNode::Equal(one, other) => {
                    Some(sets[one].agreement(&sets[other], &self.graph.all))
                }
                CtlNode::Next(one) => self.next(&sets[one])?,
                CtlNode::Until(first, second) => self.until(&sets[first], &sets[second])?,
                CtlNode::Always(one) => self.always(&sets[one])?,
            };
            let Some(set) = set else { return Ok(None) };
            sets.insert(at, set);
            plan.last_of[&at].iter().for_each(|it| _ = sets.remove(it));
        }
        Ok(sets.remove(&formula.root()))
    }

    /// Evaluates EX.
    fn next(&self, of: &StateSet) -> Result<Option<StateSet>> {
        let mut found = StateSet::none(self.graph.ranks());
        let done = self.sweep(of.clone(), &mut |it| {
            found.insert(it);
            false
        })?;
        Ok(done.then_some(found))
    }

    /// Evaluates EU.
    fn until(&self, first: &StateSet, second: &StateSet) -> Result<Option<StateSet>> {
        let mut found = second.clone();
        let done = self.sweep(second.clone(), &mut |it| {
            let is_new = first.has(it) && !found.has(it);
            if is_new {
                found.insert(it);
            }
            is_new
        })?;
        Ok(done.then_some(found))
    }

    /// Evaluates EG.
    fn always(&self, of: &StateSet) -> Result<Option<StateSet>> {
        let mut left = of.clone();
        loop {
            let mut counters = SuccessorCounters::zero(self.graph.ranks());
            let done = self.sweep(left.clone(), &mut |it| {
                counters.increment(it);
                false
            })?;
            if !done {
                return Ok(None);
            }
            // The states without successors in the set, except those where a run ends.
            let mut gone = left.clone();
            let stays = |it: &u64| counters.get(*it) != Some(0) || self.graph.dead.has(*it);
            left.ranks().filter(stays).for_each(|it| gone.remove(it));
            if gone.is_empty() {
                return Ok(Some(left));
            }
            left.intersect(&gone.complement(&self.graph.all));
            let mut is_unsure = false;
            let done = self.sweep(gone, &mut |it| {
                if !left.has(it) {
                    return false;
                }
                counters.decrement(it);
                is_unsure |= counters.get(it).is_none();
                let leaves = counters.get(it) == Some(0);
                if leaves {
                    left.remove(it);
                }
                leaves
            })?;
            if !done {
                return Ok(None);
            }
            if !is_unsure {
                return Ok(Some(left));
            }
        }
    }

    /// Visits the predecessors of pending states, each pair once. Predecessors for which `visit` returns true become
    /// pending. Returns false if stopped.
    fn sweep(&self, mut pending: StateSet, visit: &mut dyn FnMut(u64) -> bool) -> Result<bool> {
        let lists = self.graph.lists.iter();
        let chunks = lists.flat_map(|lists| (0..lists.chunks()).map(move |it| (lists, it)));
        let chunks: Vec<_> = chunks.collect();
        let (mut entries, mut is_forward) = (PredecessorEntries::default(), true);
        while !pending.is_empty() {
            // A state whose list is in several chunks is pending for all of them.
            let mut current = None;
            let mut is_any_shown = false;
            for at in 0..chunks.len() {
                let (lists, chunk) = chunks[if is_forward { at } else { chunks.len() - 1 - at }];
                let (first, last) = lists.states_of(chunk);
                let goes_on = current.is_some_and(|it| (first..=last).contains(&it));
                if !goes_on && !pending.may_meet(first, last) {
                    continue;
                }
                if self.graph.control.should_stop() {
                    return Ok(false);
                }
                lists.read(chunk, self.graph.ranks(), &mut entries)?;
                for at in 0..entries.count() {
                    let at = if is_forward { at } else { entries.count() - 1 - at };
                    let (state, predecessors) = entries.entry(at);
                    if current != Some(state) {
                        if !pending.has(state) {
                            continue;
                        }
                        pending.remove(state);
                        (current, is_any_shown) = (Some(state), true);
                    }
                    for it in predecessors {
                        if visit(*it) {
                            pending.insert(*it);
                        }
                    }
                }
            }
            if !is_any_shown {
                // The remaining pending states have no predecessors.
                break;
            }
            is_forward = !is_forward;
        }
        Ok(true)
    }
}

/// The order of evaluation of the nodes of a formula, and the number of sets in memory at once.
struct EvaluationPlan {
    /// The indices of the conditions, and their nodes.
    conditions: Vec<usize>,
    condition_nodes: Vec<usize>,
    /// The nodes of the formula, operands first.
    order: Vec<usize>,
    /// The nodes whose sets are no longer needed after each node.
    last_of: BTreeMap<usize, Vec<usize>>,
    /// The greatest number of sets at once.
    sets: usize,
}

/// The number of sets that take as much memory as a counter for each state.
const COUNTER_SETS: usize = 4;

impl EvaluationPlan {
    fn of(formula: &CtlFormula<usize>) -> EvaluationPlan {
        let (root, nodes) = (formula.root(), formula.nodes());
        let mut used = vec![false; nodes.len()];
        used[root] = true;
        for at in (0..nodes.len()).rev() {
            if used[at] {
                nodes[at].parts().into_iter().for_each(|it| used[it] = true);
            }
        }
        let order: Vec<usize> = (0..nodes.len()).filter(|it| used[*it]).collect();
        let mut last_use: BTreeMap<usize, usize> = BTreeMap::new();
        for &at in &order {
            nodes[at].parts().into_iter().for_each(|it| _ = last_use.insert(it, at));
        }
        let mut last_of: BTreeMap<usize, Vec<usize>> =
            order.iter().map(|it| (*it, Vec::new())).collect();
        for (of, at) in last_use.into_iter().filter(|it| it.0 != root) {
            last_of.entry(at).or_default().push(of);
        }
        let as_condition = |it: &usize| match nodes[*it] {
            CtlNode::Condition(condition) => Some((*it, condition)),
            _ => None,
        };
        let (condition_nodes, conditions): (Vec<usize>, Vec<usize>) =
            order.iter().filter_map(as_condition).unzip();
        let mut held = conditions.len();
        let mut sets = held;
        for at in &order {
            // The temporary sets of the operator.
            let beside = match nodes[*at] {
                CtlNode::Condition(_) => continue,
                CtlNode::Not(_) | CtlNode::And(_) | CtlNode::Equal(..) => 0,
                CtlNode::Next(_) | CtlNode::Until(..) => 1,
                CtlNode::Always(_) => 2 + COUNTER_SETS,
            };
            sets = sets.max(held + 1 + beside);
            held = held + 1 - last_of[at].len();
        }
        // The sets of all states and of states without successors are always in memory.
        EvaluationPlan { conditions, condition_nodes, order, last_of, sets: sets + 2 }
    }
}
