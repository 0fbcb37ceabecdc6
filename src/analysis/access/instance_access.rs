//! What one action instance waits for, reads and writes.

use super::access_set::AccessSet;
use super::failure_kinds::FailureKinds;
use super::guard::{ConjunctCondition, GuardConjunct};
use crate::ir::BinaryOp;

/// What an action instance waits for and what it does; nothing of it, if it is never possible.
#[derive(Clone, Debug, Default)]
pub struct InstanceAccess<'p> {
    /// All of these must hold, judged in this order.
    pub guard: Vec<GuardConjunct<'p>>,
    /// What the step reads and writes then.
    pub effect: AccessSet,
}

impl InstanceAccess<'_> {
    /// The bytes that it takes, about.
    pub fn bytes(&self) -> usize {
        let conjuncts = self.guard.iter().map(|it| size_of_val(it) + it.access.bytes());
        size_of_val(&self.effect) + self.effect.bytes() + conjuncts.sum::<usize>()
    }

    /// How its step may end in an error: whoever looks for errors has to see it.
    pub fn failures(&self) -> FailureKinds {
        let mut all = self.effect.failures;
        self.guard.iter().for_each(|it| all.join(it.access.failures));
        all
    }

    /// Whether two are never possible in one state: some process would have to be in two places, or
    /// some cell to hold two values.
    pub fn excludes(&self, other: &InstanceAccess<'_>) -> bool {
        let contradicts =
            |one: &GuardConjunct, two: &GuardConjunct| match (&one.condition, &two.condition) {
                (ConjunctCondition::At(cell, at), ConjunctCondition::At(same, there)) => {
                    cell == same && at != there
                }
                (
                    ConjunctCondition::Compares(cell, BinaryOp::Equal, value),
                    ConjunctCondition::Compares(same, BinaryOp::Equal, another),
                ) => cell == same && value != another,
                _ => false,
            };
        self.certain_conjuncts()
            .any(|one| other.certain_conjuncts().any(|two| contradicts(one, two)))
    }

    /// The conjuncts that hold wherever the instance is possible: not those after one that may fail,
    /// which is a step, too.
    pub fn certain_conjuncts(&self) -> impl Iterator<Item = &GuardConjunct<'_>> {
        self.guard.iter().take_while(|it| !it.may_fail())
    }
}
