//! The relations of all pairs of action instances at once, as bit sets.
//!
//! Separate queries for each pair take seconds for thousands of instances. Here an index lists the instances by the
//! objects that they access (`effect_index`), and the result for one instance is a union of sets of the index. The
//! results equal those of [`DependenceRelation`] for each pair (`tests/exec/access.rs`).

use super::DependenceRelation;
use super::channels::{self, PredicateAnswer};
use super::conditional_dependence::{self, ConditionalInteraction, InstanceRelations};
use super::effect_index::{ConflictCache, EffectIndex, InstanceBits};
use crate::access::{AccessSet, ChannelPredicate, ChannelSlot, ConjunctCondition, GuardConjunct};
use crate::bit_sets::{
    BitMatrix, BitSetInterner, extend, has, insert, members, remove_member, subtract, words_of,
};
use crate::instances::InstanceId;
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_ir::layout::CellId;
use spillway_ir::{Arena, BinaryOp, Entity, LocationId};
use std::collections::{BTreeMap, HashMap};

/// The dependence of a program's action instances: the relation, and its results for all pairs.
#[derive(Clone, Copy, Debug)]
pub struct ProgramDependence<'d> {
    /// The relation.
    pub relation: &'d DependenceRelation<'d>,
    /// The results for all pairs.
    pub matrix: &'d DependenceMatrix,
}

/// The relations of all pairs.
#[derive(Clone, Debug)]
pub struct DependenceMatrix {
    /// For each instance, the other instances that are not independent of it.
    pub dependent: BitMatrix,
    /// For each instance, the instances that are never enabled together with it.
    pub excluded: BitMatrix,
    /// Sets of instances, each stored once, to which the following fields refer by number.
    pub sets: BitMatrix,
    /// For each instance and each of its conjuncts, the instances that may make the conjunct true.
    pub enabling_of: Arena<InstanceId, Vec<usize>>,
    /// For each instance, the instances that it might interact with in each state where it is enabled.
    pub interacting: BitMatrix,
    /// For each instance, the interactions from some values of a cell. Other instances do not disturb it, and it does
    /// not disturb them, as long as none of these is taken.
    pub conditional: Arena<InstanceId, Vec<ConditionalInteraction>>,
}

impl DependenceMatrix {
    /// Returns whether `one` might interact with `other` from a state in which `one` is enabled and cells have these
    /// values. That is, a run of steps that neither disturb `one` nor are disturbed by it may lead to a state in
    /// which both are enabled and one disturbs the other.
    pub fn may_interact(
        &self,
        one: InstanceId,
        other: InstanceId,
        value: impl Fn(CellId) -> i64,
    ) -> bool {
        let sometimes = |it: &ConditionalInteraction| {
            it.from(value(it.cell)) && self.sets.contains(it.with, other.index())
        };
        self.interacting.contains(one.index(), other.index())
            || self.conditional[one].iter().any(sometimes)
    }
}

impl DependenceRelation<'_> {
    /// Computes the relations of all pairs.
    pub fn matrix(&self, budget: &AnalysisBudget) -> Result<DependenceMatrix, BudgetExceeded> {
        // Each instance has three sets, besides the sets that are stored once.
        let words = words_of(self.accesses.len());
        budget.hold(3 * self.accesses.len() * words * size_of::<u64>())?;
        budget.work((self.accesses.len() * words) as u64)?;
        MatrixBuilder::new(self).matrix(budget)
    }
}

/// The work units of one word of a set of pairs of an instance.
const EACH_PAIR: u64 = 8;

/// The work units of one pair of an instance that starts a process.
const EACH_START: u64 = 64;

/// The condition of a conjunct, as a key for all conjuncts with the same condition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum ConditionKey {
    At(CellId, LocationId),
    Compares(CellId, BinaryOp, i64),
    Channels(Vec<ChannelSlot>, ChannelPredicate),
}

struct MatrixBuilder<'d, 't> {
    of: &'d DependenceRelation<'t>,
    users: EffectIndex,
    /// The instances that may change a condition, by condition, by its value before, and by whether other changes
    /// count because the evaluation may fail.
    changing: HashMap<(ConditionKey, bool, bool), InstanceBits>,
    /// The instances that may change these reads.
    reading: HashMap<AccessSet, InstanceBits>,
}

impl<'d, 't> MatrixBuilder<'d, 't> {
    fn new(of: &'d DependenceRelation<'t>) -> Self {
        let users = EffectIndex::new(&of.accesses);
        MatrixBuilder { of, users, changing: HashMap::new(), reading: HashMap::new() }
    }

    fn matrix(mut self, budget: &AnalysisBudget) -> Result<DependenceMatrix, BudgetExceeded> {
        let words = words_of(self.of.accesses.len());
        let count = self.of.accesses.len();
        let excluded = self.excluded();
        let (mut dependent, mut interacting) =
            (BitMatrix::new(count, count), BitMatrix::new(count, count));
        let mut shared = BitSetInterner::new(count);
        let mut enabling_of = Arena::new();
        let mut clashes = ConflictCache::default();
        for (id, access) in self.of.accesses.iter() {
            budget.work(EACH_PAIR * (words * (1 + access.guard.len())) as u64)?;
            let shared_before = shared.count();
            let clashing = self.users.conflicting(&access.effect, &mut clashes);
            relate(&mut interacting, id, &clashing);
            for conjunct in &access.guard {
                let by = self.changers(conjunct, PredicateAnswer::Yes);
                let is_gauged = self.of.small_domains.is_decided(self.of.table, conjunct);
                relate(if is_gauged { &mut dependent } else { &mut interacting }, id, &by);
            }
            enabling_of.push(self.enabling(&access.guard, &mut shared));
            // Each set is stored twice, because it is also a key.
            budget.hold(2 * (shared.count() - shared_before) * words * size_of::<u64>())?;
        }
        self.separate_starts(&mut dependent, &mut interacting, budget)?;
        let mut sometimes = Arena::new();
        for id in self.of.instances() {
            budget.work(EACH_PAIR * words as u64)?;
            let at = id.index();
            extend(dependent.row_mut(at), interacting.row(at));
            for rows in [&mut dependent, &mut interacting] {
                self.restrict(rows.row_mut(at), &excluded, at);
            }
            let pairs = InstanceRelations {
                dependent: dependent.row(at),
                excluded: excluded.row(at),
                always: interacting.row_mut(at),
            };
            let found =
                conditional_dependence::conditional_interactions(&self.of.small_domains, id, pairs);
            let found = found.into_iter().map(|(cell, low, values, by)| ConditionalInteraction {
                cell,
                low,
                values,
                with: shared.intern(by),
            });
            sometimes.push(found.collect());
        }
        let sets = shared.into_rows();
        Ok(DependenceMatrix {
            dependent,
            excluded,
            sets,
            enabling_of,
            interacting,
            conditional: sometimes,
        })
    }

    /// Makes instances that start processes independent of those that they do not disturb where both are enabled.
    fn separate_starts(
        &self,
        dependent: &mut BitMatrix,
        interacting: &mut BitMatrix,
        budget: &AnalysisBudget,
    ) -> Result<(), BudgetExceeded> {
        for starting in self.of.starting.instances() {
            budget.work(EACH_START * self.of.accesses.len() as u64)?;
            let others = self.of.instances();
            for other in others.filter(|&it| self.of.are_independent(starting, it)) {
                for rows in [&mut *dependent, &mut *interacting] {
                    remove_member(rows.row_mut(starting.index()), other.index());
                    remove_member(rows.row_mut(other.index()), starting.index());
                }
            }
        }
        Ok(())
    }

    /// Removes the instances that are never enabled together with an instance from those that it depends on. Adds
    /// those that may also need `timeout`.
    fn restrict(&self, row: &mut [u64], excluded: &BitMatrix, at: usize) {
        subtract(row, excluded.row(at));
        if let Some(asking) = self.of.asking_for_timeout().filter(|it| has(it, at)) {
            extend(row, asking);
        }
        remove_member(row, at);
    }

    /// Returns the numbers of the sets of instances that may make each conjunct of a guard true.
    fn enabling(&mut self, guard: &[GuardConjunct<'_>], shared: &mut BitSetInterner) -> Vec<usize> {
        let mut failing = self.users.empty_set();
        let mut numbers = Vec::with_capacity(guard.len());
        for conjunct in guard {
            let mut by = self.changers(conjunct, PredicateAnswer::No);
            extend(&mut by, &failing);
            if conjunct.may_fail() {
                extend(&mut failing, &self.changers_of(conjunct.reads()));
            }
            numbers.push(shared.intern(by));
        }
        numbers
    }

    /// Returns the instances that may change these reads.
    fn changers_of(&mut self, read: AccessSet) -> InstanceBits {
        if read == AccessSet::default() {
            return self.users.empty_set();
        }
        let users = &self.users;
        self.reading.entry(read).or_insert_with_key(|read| users.changers(read)).clone()
    }

    /// Returns the instances that may change a conjunct from this value.
    fn changers(&mut self, conjunct: &GuardConjunct<'_>, from: PredicateAnswer) -> InstanceBits {
        let mut row = self.changers_of(conjunct.access.as_reads());
        let asked = match &conjunct.condition {
            ConjunctCondition::At(cell, location) => ConditionKey::At(*cell, *location),
            ConjunctCondition::Compares(cell, operator, value) => {
                ConditionKey::Compares(*cell, *operator, *value)
            }
            ConjunctCondition::Asks(channels, question) => {
                ConditionKey::Channels(channels.clone(), *question)
            }
            ConjunctCondition::Holds => return row,
        };
        let refined = from == PredicateAnswer::No || !conjunct.may_fail();
        let key = (asked, from == PredicateAnswer::Yes, refined);
        let (of, users) = (self.of, &self.users);
        let find = || changers_of_condition(of, users, conjunct, from, refined);
        extend(&mut row, self.changing.entry(key).or_insert_with(find));
        row
    }

    /// Returns, for each instance, the instances that require another location of a process or another value of a
    /// cell.
    fn excluded(&self) -> BitMatrix {
        let mut held: BTreeMap<(CellId, bool), BTreeMap<i64, InstanceBits>> = BTreeMap::new();
        for (id, access) in self.of.accesses.iter() {
            for (cell, value) in access.certain_conjuncts().filter_map(held_by) {
                let row = held.entry(cell).or_default().entry(value);
                insert(row.or_insert_with(|| self.users.empty_set()), id.index());
            }
        }
        let count = self.of.accesses.len();
        let mut rows = BitMatrix::new(count, count);
        for (id, access) in self.of.accesses.iter() {
            for (cell, value) in access.certain_conjuncts().filter_map(held_by) {
                let others = held[&cell].iter().filter(|(it, _)| **it != value);
                others.for_each(|(_, it)| extend(rows.row_mut(id.index()), it));
            }
            for others in self.of.small_domains.excluded(id) {
                extend(rows.row_mut(id.index()), others);
            }
        }
        rows
    }
}

/// Records that an instance and others disturb each other.
fn relate(rows: &mut BitMatrix, id: InstanceId, others: &[u64]) {
    members(others).for_each(|other| insert(rows.row_mut(other), id.index()));
    extend(rows.row_mut(id.index()), others);
}

/// Returns a cell, whether it holds a location, and the value that the conjunct requires.
fn held_by(conjunct: &GuardConjunct<'_>) -> Option<((CellId, bool), i64)> {
    match conjunct.condition {
        ConjunctCondition::At(cell, location) => Some(((cell, true), location.0.into())),
        ConjunctCondition::Compares(cell, BinaryOp::Equal, value) => Some(((cell, false), value)),
        _ => None,
    }
}

fn changers_of_condition(
    of: &DependenceRelation<'_>,
    users: &EffectIndex,
    conjunct: &GuardConjunct<'_>,
    from: PredicateAnswer,
    refined: bool,
) -> InstanceBits {
    let mut row = users.empty_set();
    match &conjunct.condition {
        ConjunctCondition::At(cell, location) => {
            users.writes.extend(&mut row, cell);
            let moved = if from == PredicateAnswer::Yes { &users.leaves } else { &users.enters };
            moved.extend(&mut row, &(*cell, *location));
        }
        ConjunctCondition::Compares(cell, ..) if refined => {
            let mut touched = users.empty_set();
            for users in [&users.writes, &users.sets, &users.adds, &users.steps] {
                users.extend(&mut touched, cell);
            }
            let changes = |it: &usize| {
                let effect = &of.accesses[InstanceId(*it as u32)].effect;
                of.may_change_comparison(effect, *cell, &conjunct.condition, from)
            };
            members(&touched).filter(changes).for_each(|it| insert(&mut row, it));
        }
        ConjunctCondition::Compares(..) => row = users.changers(&conjunct.reads()),
        ConjunctCondition::Asks(slots, question) => {
            for (what, by) in slots.iter().flat_map(|it| users.uses_of(*it)) {
                if channels::may_change(what, *question, from) || (!refined && what.reorders()) {
                    extend(&mut row, by);
                }
            }
        }
        ConjunctCondition::Holds => {}
    }
    row
}
