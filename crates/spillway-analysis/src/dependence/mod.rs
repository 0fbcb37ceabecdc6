//! Dependence: which action instances commute, which can enable or disable which, and which are visible.
//!
//! Two action instances are *independent* if the following holds in every reachable state in which both are enabled
//! (Godefroid and Pirottin 1993). Each stays enabled after the other with the same effect, and both orders lead to
//! the same state. The complement is the relation "do not accord" of Laarman, Pater, van de Pol and Weber (2013).
//! Enabling is a separate relation, for each conjunct of a guard. All results are conservative: an instance that the
//! analysis does not understand is dependent, enables and disables.

pub mod channels;
mod conditional_dependence;
mod effect_index;
mod matrix;
mod process_starts;

use crate::access::{
    AccessSet, AccessTable, ConjunctCondition, CounterAddition, GuardConjunct, InstanceAccess,
    LocationChange,
};
use crate::bit_sets;
use crate::instances::InstanceId;
use channels::PredicateAnswer;
use conditional_dependence::SmallDomainCells;
use process_starts::StartingEffects;
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_ir::layout::CellId;
use spillway_ir::{Arena, BinaryOp, Entity, Expr, PropertyId};

pub use conditional_dependence::ConditionalInteraction;
pub use matrix::{DependenceMatrix, ProgramDependence};

/// The work units of the accesses of one action instance.
const EACH_INSTANCE: u64 = 256;

/// All action instances of a program and their relations.
#[derive(Debug)]
pub struct DependenceRelation<'t> {
    table: &'t AccessTable<'t>,
    accesses: Arena<InstanceId, InstanceAccess<'t>>,
    small_domains: SmallDomainCells,
    starting: StartingEffects,
    /// The instances whose guards read `timeout`, if the relation is about states in which `timeout` is false.
    asking: Option<Vec<u64>>,
}

impl<'t> DependenceRelation<'t> {
    /// Computes the accesses of all action instances in a table. Returns `None` if there are more than `most`.
    pub fn new(
        table: &'t AccessTable<'t>,
        most: u32,
        budget: &AnalysisBudget,
    ) -> Result<Option<DependenceRelation<'t>>, BudgetExceeded> {
        let Some(accesses) = accesses(table, most, budget)? else { return Ok(None) };
        Ok(Some(DependenceRelation::of(table, accesses, None, budget)?))
    }

    /// As `new`, for the states in which `timeout` is false. There nothing depends on `timeout`
    /// (`docs/reductions/dependence.md`). Instances whose guards read `timeout` depend on each other.
    pub fn before_timeout(
        table: &'t AccessTable<'t>,
        most: u32,
        budget: &AnalysisBudget,
    ) -> Result<Option<DependenceRelation<'t>>, BudgetExceeded> {
        let Some(mut accesses) = accesses(table, most, budget)? else { return Ok(None) };
        let mut asking = vec![0; bit_sets::words_of(accesses.len())];
        let asks = accesses.iter().filter(|(_, it)| it.asks_for_timeout());
        asks.for_each(|(instance, _)| bit_sets::insert(&mut asking, instance.index()));
        accesses.values_mut().for_each(InstanceAccess::restrict_to_no_timeout);
        Ok(Some(DependenceRelation::of(table, accesses, Some(asking), budget)?))
    }

    fn of(
        table: &'t AccessTable<'t>,
        accesses: Arena<InstanceId, InstanceAccess<'t>>,
        asking: Option<Vec<u64>>,
        budget: &AnalysisBudget,
    ) -> Result<DependenceRelation<'t>, BudgetExceeded> {
        let small_domains = SmallDomainCells::new(table, &accesses);
        let starting = StartingEffects::new(table, &accesses, budget)?;
        Ok(DependenceRelation { table, accesses, small_domains, starting, asking })
    }

    /// Returns the instances whose guards read `timeout`, if the relation is about states in which it is false.
    /// `timeout` is false in each state that enables any other instance.
    pub fn asking_for_timeout(&self) -> Option<&[u64]> {
        self.asking.as_deref()
    }

    /// Returns whether both instances may be enabled only because `timeout` is true.
    fn may_need_timeout(&self, one: InstanceId, other: InstanceId) -> bool {
        let asks = |it: InstanceId| {
            self.asking.as_ref().is_some_and(|asking| bit_sets::has(asking, it.index()))
        };
        asks(one) && asks(other)
    }

    /// Returns the table of the action instances.
    pub fn table(&self) -> &'t AccessTable<'t> {
        self.table
    }

    /// Returns all action instances.
    pub fn instances(&self) -> impl Iterator<Item = InstanceId> + use<> {
        (0..self.accesses.len() as u32).map(InstanceId)
    }

    /// Returns the guard and the effect of an instance.
    pub fn access(&self, instance: InstanceId) -> &InstanceAccess<'t> {
        &self.accesses[instance]
    }

    /// Returns whether no state enables both instances.
    pub fn exclude(&self, one: InstanceId, other: InstanceId) -> bool {
        self.accesses[one].excludes(&self.accesses[other]) || self.small_domains.exclude(one, other)
    }

    /// Returns whether two instances commute and do not disable each other, in every reachable state in which both
    /// are enabled.
    pub fn are_independent(&self, one: InstanceId, other: InstanceId) -> bool {
        let (left, right) = (self.effect_beside(one, other), self.effect_beside(other, one));
        let keeps = |effect: &AccessSet, by: InstanceId| {
            let mut guard = self.accesses[by].guard.iter();
            !guard.any(|it| self.may_change(effect, it, PredicateAnswer::Yes))
        };
        let commute = || {
            self.exclude(one, other)
                || (effects_commute(left, right) && keeps(left, other) && keeps(right, one))
        };
        !self.may_need_timeout(one, other) && commute()
    }

    /// Returns the effect of an instance in the states that also enable another one.
    fn effect_beside(&self, one: InstanceId, other: InstanceId) -> &AccessSet {
        self.starting.effect_beside(one, other).unwrap_or(&self.accesses[one].effect)
    }

    /// Returns whether `by` may make this conjunct true, or may make an earlier conjunct fail, which also enables the
    /// instance.
    pub fn may_enable(&self, by: InstanceId, instance: InstanceId, conjunct: usize) -> bool {
        let (effect, guard) = (&self.accesses[by].effect, &self.accesses[instance].guard);
        let fails = |it: &GuardConjunct| it.may_fail() && effect.may_change(&it.reads());
        self.may_change(effect, &guard[conjunct], PredicateAnswer::No)
            || guard[..conjunct].iter().any(fails)
    }

    /// Returns whether `by` may make this conjunct false or failing where it is true.
    pub fn may_disable(&self, by: InstanceId, instance: InstanceId, conjunct: usize) -> bool {
        let guard = &self.accesses[instance].guard;
        self.may_change(&self.accesses[by].effect, &guard[conjunct], PredicateAnswer::Yes)
    }

    /// Returns a necessary enabling set: if this conjunct is the first one that is false, only these instances can
    /// enable the instance.
    pub fn enabling(&self, instance: InstanceId, conjunct: usize) -> Vec<InstanceId> {
        self.instances().filter(|&by| self.may_enable(by, instance, conjunct)).collect()
    }

    /// Returns all instances that may make this conjunct false.
    pub fn disabling(&self, instance: InstanceId, conjunct: usize) -> Vec<InstanceId> {
        self.instances().filter(|&by| self.may_disable(by, instance, conjunct)).collect()
    }

    /// Returns the instances that may change the value of an expression.
    pub fn visible_to(&self, expr: &Expr) -> Vec<InstanceId> {
        self.changers(&self.table.expression(expr))
    }

    /// Returns the instances that may change what a property reads of a state. For a claim, these are the reads of
    /// the guards and assertions of its moves.
    pub fn visible(&self, property: PropertyId) -> Vec<InstanceId> {
        self.changers(&self.table.read_by(property))
    }

    fn changers(&self, read: &AccessSet) -> Vec<InstanceId> {
        let sees = |&at: &InstanceId| self.accesses[at].effect.may_change(read);
        self.instances().filter(sees).collect()
    }

    /// Returns the instances with assertions of the model that may fail.
    pub fn asserting_instances(&self) -> Vec<InstanceId> {
        let asserts = |&at: &InstanceId| self.accesses[at].failures().assertion;
        self.instances().filter(asserts).collect()
    }

    /// Returns whether an effect may change a conjunct from this value.
    fn may_change(
        &self,
        effect: &AccessSet,
        conjunct: &GuardConjunct,
        from: PredicateAnswer,
    ) -> bool {
        // If the evaluation may fail, its failure counts as a value.
        let refined = from == PredicateAnswer::No || !conjunct.may_fail();
        effect.may_change(&conjunct.access)
            || match &conjunct.condition {
                ConjunctCondition::Holds => false,
                ConjunctCondition::At(cell, location) => {
                    let (here, is_yes) = (Some(*location), from == PredicateAnswer::Yes);
                    let leaves = |it: &&LocationChange| match is_yes {
                        true => it.from == here && it.to != here,
                        false => it.to == here && it.from != here,
                    };
                    effect.writes.contains(*cell)
                        || effect.moves.iter().filter(|it| it.cell == *cell).any(|it| leaves(&it))
                }
                ConjunctCondition::Compares(cell, ..) if refined => {
                    self.may_change_comparison(effect, *cell, &conjunct.condition, from)
                }
                ConjunctCondition::Compares(..) => effect.may_change(&conjunct.reads()),
                ConjunctCondition::Asks(channels, question) => {
                    effect.channels.iter().any(|(at, what)| {
                        channels.contains(at)
                            && (channels::may_change(*what, *question, from)
                                || (!refined && what.reorders()))
                    })
                }
            }
    }

    fn may_change_comparison(
        &self,
        effect: &AccessSet,
        cell: CellId,
        condition: &ConjunctCondition,
        from: PredicateAnswer,
    ) -> bool {
        let arithmetic = self.table.program().arithmetic;
        let to = from == PredicateAnswer::No;
        let sets = |&(at, value): &(CellId, i64)| {
            at == cell && condition.holds_of(arithmetic, value) == to
        };
        let adds = |it: &CounterAddition| {
            it.cells.contains(cell) && !(it.is_monotone && keeps(condition, it.by, from))
        };
        effect.writes.contains(cell)
            || effect.moves.iter().any(|it| it.cell == cell)
            || effect.sets.iter().any(sets)
            || effect.adds.iter().any(adds)
    }
}

/// Returns the accesses of all action instances in a table.
fn accesses<'t>(
    table: &'t AccessTable<'t>,
    most: u32,
    budget: &AnalysisBudget,
) -> Result<Option<Arena<InstanceId, InstanceAccess<'t>>>, BudgetExceeded> {
    if table.instances().count() > most {
        return Ok(None);
    }
    let mut accesses = Arena::new();
    for number in (0..table.instances().count()).map(InstanceId) {
        budget.work(EACH_INSTANCE)?;
        let access = table.access(number);
        budget.hold(access.bytes())?;
        accesses.push(access);
    }
    Ok(Some(accesses))
}

/// Returns whether a comparison keeps its value when `by` is added.
fn keeps(condition: &ConjunctCondition, by: i64, answer: PredicateAnswer) -> bool {
    let ConjunctCondition::Compares(_, operator, _) = condition else { return false };
    // A comparison that holds for a value and all greater ones stays true as the value grows, and its negation stays
    // false.
    let holds_above = match operator {
        BinaryOp::Greater | BinaryOp::GreaterEqual => true,
        BinaryOp::Less | BinaryOp::LessEqual => false,
        _ => return by == 0,
    };
    by == 0 || (holds_above == (by > 0)) == (answer == PredicateAnswer::Yes)
}

/// Returns whether two enabled effects have the same result in either order, and each has the same result as alone.
pub fn effects_commute(one: &AccessSet, other: &AccessSet) -> bool {
    let overwrites = |one: &AccessSet, other: &AccessSet| {
        one.may_change(&other.plain_reads())
            || one.writes.intersects(&other.written())
            || one.adds.iter().any(|it| other.sets.iter().any(|(cell, _)| it.cells.contains(*cell)))
    };
    let same_counter = one.adds.iter().any(|left| {
        let meets = |it: &&CounterAddition| it.cells.intersects(&left.cells);
        other.adds.iter().filter(meets).any(|right| !(left.commutes && right.commutes))
    });
    let differ = one
        .sets
        .iter()
        .any(|(cell, value)| other.sets.iter().any(|(at, another)| at == cell && another != value));
    let both_move = one.moves.iter().any(|it| {
        other.moves.iter().any(|at| at.cell == it.cell && (it.from != it.to || at.from != at.to))
    });
    let channels_differ = one.channels.iter().any(|(channel, left)| {
        let same = other.channels.iter().filter(|(at, _)| at == channel);
        same.into_iter().any(|(_, right)| !channels::commute(*left, *right))
    });
    !(overwrites(one, other)
        || overwrites(other, one)
        || same_counter
        || differ
        || both_move
        || channels_differ
        || (one.writes_instances && other.writes_instances))
}
