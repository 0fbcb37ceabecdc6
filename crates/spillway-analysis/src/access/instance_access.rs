//! The guard, the reads and the writes of one action instance.

use super::access_set::AccessSet;
use super::failure_kinds::FailureKinds;
use super::guard::{ConjunctCondition, GuardConjunct};
use spillway_ir::{BinaryOp, ExprKind};

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

    /// Returns whether the guard reads `timeout`.
    pub fn asks_for_timeout(&self) -> bool {
        self.guard.iter().any(|it| it.access.reads_timeout)
    }

    /// Returns whether the instance is enabled only where `timeout` is true.
    pub fn requires_timeout(&self) -> bool {
        let mut asked = self.certain_conjuncts().filter_map(|it| it.expr);
        asked.any(|it| it.kind == ExprKind::Timeout)
    }

    /// Restricts the guard and the effect to states in which `timeout` is false. If the instance requires `timeout`,
    /// the effect keeps only how it may fail and whether it may be taken back.
    pub(crate) fn restrict_to_no_timeout(&mut self) {
        if self.requires_timeout() {
            let (failures, may_drop) = (self.failures(), self.effect.may_drop);
            self.guard.retain(|it| matches!(it.expr, Some(it) if it.kind == ExprKind::Timeout));
            self.guard.truncate(1);
            self.effect = AccessSet { failures, may_drop, ..AccessSet::default() };
        }
        let guard = self.guard.iter_mut().map(|it| &mut it.access);
        guard.chain([&mut self.effect]).for_each(|it| it.reads_timeout = false);
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
