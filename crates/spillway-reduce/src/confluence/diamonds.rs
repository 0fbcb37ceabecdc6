//! Whether the diamond of two transitions closes, decided by trials in all states.
//!
//! Both orders are tried for all values of the cells that both transitions read ([`ActionTrial`]). If the final
//! states are equal in both states of a kind, they are equal in all.

use super::alone;
use crate::action_trial::{ActionTrial, AssumedCodes, StatePair, TrialOutcome};
use spillway_analysis::bit_sets;
use spillway_analysis::dependence::DependenceRelation;
use spillway_analysis::instances::InstanceId;
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_exec::Interp;
use spillway_ir::layout::CellId;
use spillway_ir::{Entity as _, PropertyKind};
use std::collections::BTreeSet;

/// The most kinds of states in which a pair is tried.
const TRIES_MAX: usize = 1 << 11;

/// Units of work for a pair.
const EACH_PAIR: u64 = 64;

/// The most trials of all pairs.
const ALL_TRIES_MAX: usize = 1 << 16;

/// Closes diamonds of a program.
pub(super) struct DiamondCheck<'c> {
    dependence: &'c DependenceRelation<'c>,
    trying: ActionTrial<'c>,
    tries: usize,
}

impl<'c> DiamondCheck<'c> {
    /// Creates the check, if the program's transitions can be executed one by one.
    pub(super) fn new(
        interp: &Interp,
        dependence: &'c DependenceRelation<'c>,
    ) -> Option<DiamondCheck<'c>> {
        let program = interp.program();
        let assumes = |kind: &PropertyKind| matches!(kind, PropertyKind::Assumption(_));
        if program.properties.values().any(|it| assumes(&it.kind)) {
            return None;
        }
        let trying = ActionTrial::new(interp, dependence)?;
        Some(DiamondCheck { dependence, trying, tries: 0 })
    }

    /// Returns those of the `candidates` that must be confluent, so that the diamond of `taken` closes with each
    /// other enabled instance. Returns `None` if a diamond may not close.
    pub(super) fn needed(
        &mut self,
        taken: InstanceId,
        candidates: &[u64],
        other: InstanceId,
        budget: &AnalysisBudget,
    ) -> Result<Option<BTreeSet<InstanceId>>, BudgetExceeded> {
        budget.work(EACH_PAIR)?;
        if ![taken, other].into_iter().all(|it| self.is_plain(it)) {
            return Ok(None);
        }
        budget.work(self.dependence.instances().count() as u64)?;
        let next =
            self.next_of(other).filter(|it| bit_sets::has(candidates, it.index()) && *it != taken);
        let next: Vec<InstanceId> = next.filter(|&it| self.is_plain(it)).collect();
        let (mut open, mut needed, mut tries) = (vec![AssumedCodes::new()], BTreeSet::new(), 0);
        while let Some(assumed) = open.pop() {
            tries += 1;
            self.tries += 1;
            if tries > TRIES_MAX || self.tries > ALL_TRIES_MAX {
                return Ok(None);
            }
            budget.work(self.trying.units() * (3 + next.len()) as u64)?;
            match self.close(&assumed, taken, other, &next) {
                Ok(closer) => needed.extend(closer),
                Err(None) => return Ok(None),
                Err(Some(cell)) => self.trying.split(&assumed, cell, TRIES_MAX, &mut open),
            }
        }
        Ok(Some(needed))
    }

    /// Whether an instance can be tried, never fails, and is never dropped.
    fn is_plain(&self, instance: InstanceId) -> bool {
        let access = self.dependence.access(instance);
        self.trying.can_be_tried(instance) && !(access.failures().any() || access.effect.may_drop)
    }

    /// Returns the instances that start at the target location of an instance.
    fn next_of(&self, instance: InstanceId) -> impl Iterator<Item = InstanceId> {
        let table = self.dependence.table();
        let edge_of = |it| table.program().actions[alone(self.dependence, it)?.action].edge;
        let here = edge_of(instance);
        self.dependence.instances().filter(move |&it| {
            here.zip(edge_of(it))
                .is_some_and(|(here, next)| here.process == next.process && here.to == next.from)
        })
    }

    /// Returns the instance that closes the diamond in the states of one kind, or `None` if it closes without one.
    /// Fails with the cell that must be known first, or with `None` if the diamond does not close.
    fn close(
        &self,
        assumed: &AssumedCodes,
        taken: InstanceId,
        other: InstanceId,
        next: &[InstanceId],
    ) -> Result<Option<InstanceId>, Option<CellId>> {
        let start = self.trying.states(assumed);
        let Some(by_taken) = self.take(taken, &start, assumed)? else { return Ok(None) };
        let Some(by_other) = self.take(other, &start, assumed)? else { return Ok(None) };
        if by_other == by_taken {
            return Ok(None);
        }
        let both = self.take(other, &by_taken, assumed)?;
        if both.as_ref() == Some(&by_other) {
            return Ok(None);
        }
        for &closer in std::iter::once(&taken).chain(next) {
            let Some(end) = self.take(closer, &by_other, assumed)? else { continue };
            if both.as_ref() == Some(&end) || end == by_taken {
                return Ok((closer != taken).then_some(closer));
            }
        }
        Err(None)
    }

    /// Executes a transition in two states. Returns `None` if it is disabled in them. Fails with the cell that must
    /// be known first, or with `None` if the transition may fail.
    fn take(
        &self,
        instance: InstanceId,
        from: &StatePair,
        assumed: &AssumedCodes,
    ) -> Result<Option<StatePair>, Option<CellId>> {
        match self.trying.try_step(instance, from, assumed) {
            TrialOutcome::Nothing => Ok(None),
            TrialOutcome::To(states) => Ok(Some(states)),
            TrialOutcome::Unknown(cell) => Err(Some(cell)),
            TrialOutcome::Fails => Err(None),
        }
    }
}
