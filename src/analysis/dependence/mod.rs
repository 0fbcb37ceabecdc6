//! Which action instances commute, which can enable or disable which, and which can be seen.
//!
//! Two action instances are *independent* if in every reachable state in which both are possible each stays
//! possible after the other, does the same, and both orders lead to the same state (Godefroid and
//! Pirottin 1993; the relation that Laarman, Pater, van de Pol and Weber 2013 call "do not accord" is
//! its complement). Whether one enables the other is another question, asked of each conjunct of a
//! guard. All answers err on one side: what is not understood is dependent, enables and disables.

pub mod channels;
mod gauges;
mod matrix;
mod users;

use crate::analysis::access::{Access, Add, Condition, Conjunct, InstanceAccess, Moved, Table};
use crate::analysis::instances::InstanceId;
use crate::budget::{AnalysisBudget, Exceeded};
use crate::ir::layout::CellId;
use crate::ir::{Arena, Binary, Expr, PropertyId};
use channels::Answer;
use gauges::Gauges;

pub use gauges::Sometimes;
pub use matrix::Matrix;

/// Units of work to find out what an action instance reads and writes.
const EACH_INSTANCE: u64 = 256;

/// All action instances of a program, and how they stand to each other.
#[derive(Debug)]
pub struct Dependence<'t> {
    table: &'t Table<'t>,
    accesses: Arena<InstanceId, InstanceAccess<'t>>,
    gauges: Gauges,
}

impl<'t> Dependence<'t> {
    /// Of all action instances in a table, or nothing if there are more than `most`.
    pub fn new(
        table: &'t Table<'t>,
        most: u32,
        budget: &AnalysisBudget,
    ) -> Result<Option<Dependence<'t>>, Exceeded> {
        let count = table.instances().count();
        if count > most {
            return Ok(None);
        }
        let mut accesses = Arena::new();
        for number in (0..count).map(InstanceId) {
            budget.work(EACH_INSTANCE)?;
            let access = table.access(number);
            budget.hold(access.bytes())?;
            accesses.push(access);
        }
        let gauges = Gauges::new(table, &accesses);
        Ok(Some(Dependence { table, accesses, gauges }))
    }

    /// The table of them.
    pub fn table(&self) -> &'t Table<'t> {
        self.table
    }

    /// All of them.
    pub fn instances(&self) -> impl Iterator<Item = InstanceId> + use<> {
        (0..self.accesses.len() as u32).map(InstanceId)
    }

    /// What an instance waits for, reads and writes.
    pub fn access(&self, instance: InstanceId) -> &InstanceAccess<'t> {
        &self.accesses[instance]
    }

    /// Whether two are never possible in one state.
    pub fn exclude(&self, one: InstanceId, other: InstanceId) -> bool {
        self.accesses[one].excludes(&self.accesses[other]) || self.gauges.exclude(one, other)
    }

    /// Whether two instances commute and do not disable each other, in every reachable state in which
    /// both are possible.
    pub fn are_independent(&self, one: InstanceId, other: InstanceId) -> bool {
        let (left, right) = (&self.accesses[one], &self.accesses[other]);
        let keeps = |by: &InstanceAccess, guard: &[Conjunct]| {
            !guard.iter().any(|it| self.may_change(&by.effect, it, Answer::Yes))
        };
        self.exclude(one, other)
            || (effects_commute(&left.effect, &right.effect)
                && keeps(left, &right.guard)
                && keeps(right, &left.guard))
    }

    /// Whether `by` may make this conjunct hold where it does not, or make one before it fail, which
    /// counts as much.
    pub fn may_enable(&self, by: InstanceId, instance: InstanceId, conjunct: usize) -> bool {
        let (effect, guard) = (&self.accesses[by].effect, &self.accesses[instance].guard);
        let fails = |it: &Conjunct| it.may_fail() && effect.may_change(&it.reads());
        self.may_change(effect, &guard[conjunct], Answer::No) || guard[..conjunct].iter().any(fails)
    }

    /// Whether `by` may make this conjunct not hold, or fail, where it holds.
    pub fn may_disable(&self, by: InstanceId, instance: InstanceId, conjunct: usize) -> bool {
        let guard = &self.accesses[instance].guard;
        self.may_change(&self.accesses[by].effect, &guard[conjunct], Answer::Yes)
    }

    /// A necessary enabling set: where this conjunct is the first that does not hold, nothing but these
    /// can make the instance possible.
    pub fn enabling(&self, instance: InstanceId, conjunct: usize) -> Vec<InstanceId> {
        self.instances().filter(|&by| self.may_enable(by, instance, conjunct)).collect()
    }

    /// All that may take from the instance what this conjunct asks for.
    pub fn disabling(&self, instance: InstanceId, conjunct: usize) -> Vec<InstanceId> {
        self.instances().filter(|&by| self.may_disable(by, instance, conjunct)).collect()
    }

    /// The instances that may change whether an expression holds: all that an observer sees of it.
    pub fn visible_to(&self, expr: &Expr) -> Vec<InstanceId> {
        self.that_change(&self.table.expression(expr))
    }

    /// The instances that may change what a property says of a state; of a claim, what its moves
    /// ask and assert.
    pub fn visible(&self, property: PropertyId) -> Vec<InstanceId> {
        self.that_change(&self.table.read_by(property))
    }

    fn that_change(&self, read: &Access) -> Vec<InstanceId> {
        let sees = |&at: &InstanceId| self.accesses[at].effect.may_change(read);
        self.instances().filter(sees).collect()
    }

    /// The instances with assertions of the model's that may not hold: an error is theirs to make.
    pub fn asserting(&self) -> Vec<InstanceId> {
        let asserts = |&at: &InstanceId| self.accesses[at].failures().assertion;
        self.instances().filter(asserts).collect()
    }

    /// Whether an effect may change whether a conjunct holds, from this answer to another.
    fn may_change(&self, effect: &Access, conjunct: &Conjunct, from: Answer) -> bool {
        // Where judging may fail, whether it does is an answer too.
        let refined = from == Answer::No || !conjunct.may_fail();
        effect.may_change(&conjunct.access)
            || match &conjunct.condition {
                Condition::Holds => false,
                Condition::At(cell, location) => {
                    let (here, is_yes) = (Some(*location), from == Answer::Yes);
                    let leaves = |it: &&Moved| match is_yes {
                        true => it.from == here && it.to != here,
                        false => it.to == here && it.from != here,
                    };
                    effect.writes.contains(*cell)
                        || effect.moves.iter().filter(|it| it.cell == *cell).any(|it| leaves(&it))
                }
                Condition::Compares(cell, ..) if refined => {
                    self.may_change_comparison(effect, *cell, &conjunct.condition, from)
                }
                Condition::Compares(..) => effect.may_change(&conjunct.reads()),
                Condition::Asks(channels, question) => effect.channels.iter().any(|(at, what)| {
                    channels.contains(at)
                        && (channels::may_change(*what, *question, from)
                            || (!refined && what.reorders()))
                }),
            }
    }

    fn may_change_comparison(
        &self,
        effect: &Access,
        cell: CellId,
        condition: &Condition,
        from: Answer,
    ) -> bool {
        let arithmetic = self.table.program().arithmetic;
        let to = from == Answer::No;
        let sets = |&(at, value): &(CellId, i64)| {
            at == cell && condition.holds_of(arithmetic, value) == to
        };
        let adds = |it: &Add| {
            it.cells.contains(cell) && !(it.is_monotone && keeps(condition, it.by, from))
        };
        effect.writes.contains(cell)
            || effect.moves.iter().any(|it| it.cell == cell)
            || effect.sets.iter().any(sets)
            || effect.adds.iter().any(adds)
    }
}

/// Whether a comparison keeps its answer where the value grows by so much.
fn keeps(condition: &Condition, by: i64, answer: Answer) -> bool {
    let Condition::Compares(_, operator, _) = condition else { return false };
    // What holds of a value and of all greater ones stays true as it grows, and its opposite false.
    let holds_above = match operator {
        Binary::Greater | Binary::GreaterEqual => true,
        Binary::Less | Binary::LessEqual => false,
        _ => return by == 0,
    };
    by == 0 || (holds_above == (by > 0)) == (answer == Answer::Yes)
}

/// Whether two effects, both possible, have the same result in either order, and each the same result
/// as alone.
pub fn effects_commute(one: &Access, other: &Access) -> bool {
    let overwrites = |one: &Access, other: &Access| {
        one.may_change(&other.plain_reading())
            || one.writes.meets(&other.written())
            || one.adds.iter().any(|it| other.sets.iter().any(|(cell, _)| it.cells.contains(*cell)))
    };
    let same_counter = one.adds.iter().any(|left| {
        let meets = |it: &&Add| it.cells.meets(&left.cells);
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
