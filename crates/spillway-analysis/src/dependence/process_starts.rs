//! Effects of instances that start processes, where other processes exist.
//!
//! A process starts in a free slot. An instance that starts one may therefore write the variables of any free slot. A
//! second instance is enabled only while its own movers exist, and their slots are not free. So the first instance
//! writes no variable of these slots in any state that enables both (`docs/reductions/dependence.md`).

use crate::access::{AccessSet, AccessTable, InstanceAccess};
use crate::instances::InstanceId;
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_ir::{Arena, ProcessInstance};
use std::collections::BTreeMap;

/// Work units of the effect of one instance.
const EACH_EFFECT: u64 = 256;

/// The most effects that are computed. Beyond these, instances that start processes depend on more.
const EFFECTS_MAX: usize = 4096;

/// The processes that move in an instance, ascending.
type Movers = Vec<ProcessInstance>;

/// The effects of the instances that start processes.
#[derive(Debug, Default)]
pub(super) struct StartingEffects {
    /// The movers of each instance, if any instance starts a process.
    movers: Arena<InstanceId, Movers>,
    /// The effects of the instances that start processes, by the processes that exist.
    effects: BTreeMap<(InstanceId, Movers), AccessSet>,
}

impl StartingEffects {
    /// Computes the effects of all instances that start processes, in combination with each other instance.
    pub fn new(
        table: &AccessTable<'_>,
        accesses: &Arena<InstanceId, InstanceAccess<'_>>,
        budget: &AnalysisBudget,
    ) -> Result<StartingEffects, BudgetExceeded> {
        let starting = accesses.iter().filter(|(_, access)| starts_process(access));
        let starting: Vec<InstanceId> = starting.map(|(id, _)| id).collect();
        let mut found = StartingEffects::default();
        if starting.is_empty() {
            return Ok(found);
        }
        for (id, _) in accesses.iter() {
            found.movers.push(table.movers(id));
        }
        let mut beside: Vec<&Movers> = found.movers.values().filter(|it| !it.is_empty()).collect();
        // Single movers come first.
        beside.sort_by_key(|it| (it.len(), *it));
        beside.dedup();
        for movers in beside {
            if found.effects.len() + starting.len() > EFFECTS_MAX {
                break;
            }
            budget.work(EACH_EFFECT * (1 + starting.len() as u64))?;
            for &id in &starting {
                let mut present = [movers.as_slice(), &found.movers[id]].concat();
                present.sort();
                present.dedup();
                let mut effect = table.with_present(present).access(id).effect;
                effect.reads_timeout &= accesses[id].effect.reads_timeout;
                budget.hold(effect.bytes())?;
                found.effects.insert((id, movers.clone()), effect);
            }
        }
        Ok(found)
    }

    /// Returns the effect of an instance in states that also enable another one, if it is smaller than in others.
    pub fn effect_beside(&self, one: InstanceId, other: InstanceId) -> Option<&AccessSet> {
        if self.effects.is_empty() {
            return None;
        }
        self.effects.get(&(one, self.movers[other].clone()))
    }

    /// Returns the instances that start processes and have smaller effects in combination with others.
    pub fn instances(&self) -> Vec<InstanceId> {
        let mut all: Vec<InstanceId> = self.effects.keys().map(|(id, _)| *id).collect();
        all.dedup();
        all
    }
}

/// Returns whether a process may start in the step of an instance.
fn starts_process(access: &InstanceAccess<'_>) -> bool {
    access.effect.moves.iter().any(|it| it.from.is_none())
}
