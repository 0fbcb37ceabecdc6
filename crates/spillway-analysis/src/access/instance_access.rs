//! The guard, the reads and the writes of one action instance.

use super::access_set::AccessSet;
use super::failure_kinds::FailureKinds;
use super::guard::{ConjunctCondition, GuardConjunct};
use spillway_ir::BinaryOp;

/// The guard and the effect of an action instance. Both are empty if it is never enabled.
#[derive(Clone, Debug, Default)]
pub struct InstanceAccess<'p> {
    /// The conjuncts, in the order of evaluation.
    pub guard: Vec<GuardConjunct<'p>>,
    /// The reads and writes of the step.
    pub effect: AccessSet,
}

impl InstanceAccess<'_> {
    /// Returns the approximate size in bytes.
    pub fn bytes(&self) -> usize {
        let conjuncts = self.guard.iter().map(|it| size_of_val(it) + it.access.bytes());
        size_of_val(&self.effect) + self.effect.bytes() + conjuncts.sum::<usize>()
    }

    /// Returns the ways in which the step may fail. A search for errors must not skip the instance if there are any.
    pub fn failures(&self) -> FailureKinds {
        let mut all = self.effect.failures;
        self.guard.iter().for_each(|it| all.join(it.access.failures));
        all
    }

    /// Returns whether no state enables both instances: a process would be at two locations, or a cell would hold two
    /// values.
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

    /// Returns the conjuncts that hold in each state where the instance is enabled. These are the conjuncts before
    /// the first one that may fail, because a failure is a step, too.
    pub fn certain_conjuncts(&self) -> impl Iterator<Item = &GuardConjunct<'_>> {
        self.guard.iter().take_while(|it| !it.may_fail())
    }
}
