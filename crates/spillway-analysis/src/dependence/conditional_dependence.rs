//! Dependence that depends on a number: the messages in a channel, or the value of a counter.
//!
//! A receive and a step that requires a message disturb each other only if there is exactly one message. A step that
//! counts up and a step that waits for `x < 9` disturb each other only if `x` is 8. Godefroid and Pirottin (1993)
//! derive from this whether two operations *might interact* in a state. They might if a run of steps that do not
//! disturb the first operation may lead to a state in which both are enabled and disturb each other. Their table for
//! bounded channels is the special case in which all operations are in use (`docs/reductions/dependence.md`).
//!
//! A *gauge* is a cell with at most 64 values that guards read. A set of its values is a word. For each instance, the
//! analysis knows the values for which it may be enabled, the sets of values that its conjuncts require, and its
//! change of a value. From these follow the values at which two instances disturb each other, and the values from
//! which such a value is reachable meanwhile.

use super::effect_index::InstanceBits;
use crate::access::{
    AccessSet, AccessTable, ChannelEffect, ChannelOperation, ChannelPredicate, ChannelSlot,
    ConjunctCondition, GuardConjunct, InstanceAccess,
};
use crate::bit_sets::{extend, insert, words_of};
use crate::instances::InstanceId;
use spillway_ir::layout::CellId;
use spillway_ir::{Arena, Arithmetic, Entity};
use std::collections::{BTreeMap, BTreeSet};

/// The maximal number of values of a gauge.
const VALUES_MAX: i64 = 64;

/// A set of values of a gauge. Bit 0 is the least value.
pub(super) type ValueMask = u64;

/// The domain of a gauge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SmallDomain {
    pub low: i64,
    count: u32,
}

impl SmallDomain {
    fn new(low: i64, high: i64) -> Option<SmallDomain> {
        let count = high.checked_sub(low)?.checked_add(1)?;
        ((1..=VALUES_MAX).contains(&count)).then_some(SmallDomain { low, count: count as u32 })
    }

    fn all(self) -> ValueMask {
        u64::MAX >> (VALUES_MAX as u32 - self.count)
    }

    /// Returns the values for which a condition holds.
    fn subset_where(self, holds: impl Fn(i64) -> bool) -> ValueMask {
        let values = (0..self.count).filter(|&at| holds(self.low + i64::from(at)));
        values.fold(0, |all, at| all | 1 << at)
    }
}

/// The possible change of a value by a step. The value may also stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CellChange {
    /// The value stays.
    Keeps,
    /// A constant is added.
    Adds(i64),
    /// One of these values is stored, independently of the old one.
    Gives(ValueMask),
}

/// The use of a gauge by an instance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CellUse {
    /// The values for which the instance may be enabled.
    pub possible: ValueMask,
    /// The sets of values that its conjuncts require.
    pub asks: BTreeSet<ValueMask>,
    pub change: CellChange,
}

impl CellUse {
    /// Returns the possible values after the instance.
    fn after(&self, gauge: SmallDomain, at: u32) -> ValueMask {
        let stays = 1 << at;
        match self.change {
            CellChange::Keeps => stays,
            CellChange::Gives(values) => stays | values,
            CellChange::Adds(by) => match i64::from(at).checked_add(by) {
                Some(to) if (0..i64::from(gauge.count)).contains(&to) => stays | 1 << to,
                // The addition fails, or the stored value differs from the sum.
                _ => gauge.all(),
            },
        }
    }

    /// Returns whether this use may make a true conjunct of another one false.
    fn disturbs(&self, other: &CellUse, gauge: SmallDomain, at: u32) -> bool {
        let after = self.after(gauge, at);
        other.asks.iter().any(|asked| asked >> at & 1 != 0 && after & !asked != 0)
    }

    /// Returns the values at which both may be enabled and one may disturb the other.
    pub fn clashes(&self, other: &CellUse, gauge: SmallDomain) -> ValueMask {
        let both = self.possible & other.possible;
        let at = |at: &u32| self.disturbs(other, gauge, *at) || other.disturbs(self, gauge, *at);
        bits(both).filter(at).fold(0, |all, at| all | 1 << at)
    }

    /// Returns the values that are reachable by steps of others without a clash with this use.
    fn reached(&self, others: &[&CellUse], gauge: SmallDomain, from: u32) -> ValueMask {
        let mut reached: ValueMask = 1 << from;
        loop {
            let before = reached;
            for other in others {
                let quiet = reached & other.possible & !self.clashes(other, gauge);
                reached |= bits(quiet).fold(0, |all, at| all | other.after(gauge, at));
            }
            if reached == before {
                return reached;
            }
        }
    }

    /// Returns the values from which this use might interact with another one, if `others` may be taken meanwhile.
    pub fn interacts(&self, other: &CellUse, others: &[&CellUse], gauge: SmallDomain) -> ValueMask {
        let clashes = self.clashes(other, gauge);
        let from = |at: &u32| self.reached(others, gauge, *at) & clashes != 0;
        match clashes {
            0 => 0,
            _ => bits(self.possible).filter(from).fold(0, |all, at| all | 1 << at),
        }
    }
}

fn bits(values: ValueMask) -> impl Iterator<Item = u32> {
    (0..VALUES_MAX as u32).filter(move |at| values >> at & 1 != 0)
}

/// A gauge and its users.
#[derive(Clone, Debug)]
pub(super) struct SmallDomainUsers {
    pub domain: SmallDomain,
    /// The uses of the gauge, each with the instances that have it.
    pub uses: BTreeMap<CellUse, InstanceBits>,
}

/// All gauges of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct SmallDomainCells {
    pub users: BTreeMap<CellId, SmallDomainUsers>,
    /// The uses of each instance, by cell.
    pub of: Arena<InstanceId, BTreeMap<CellId, CellUse>>,
}

impl SmallDomainCells {
    pub fn new(
        table: &AccessTable<'_>,
        accesses: &Arena<InstanceId, InstanceAccess<'_>>,
    ) -> SmallDomainCells {
        let finder = SmallDomainFinder { table };
        let mut found: BTreeMap<CellId, SmallDomain> = BTreeMap::new();
        for conjunct in accesses.values().flat_map(|it| &it.guard) {
            found.extend(finder.gauge_of(conjunct).filter(|_| finder.is_gauged(conjunct)));
        }
        let mut gauges = SmallDomainCells::default();
        for (id, access) in accesses.iter() {
            let uses = finder.uses(access, &found);
            for (cell, it) in &uses {
                let gauge = found[cell];
                let users = || SmallDomainUsers { domain: gauge, uses: BTreeMap::new() };
                let users = gauges.users.entry(*cell).or_insert_with(users);
                let none = || vec![0; words_of(accesses.len())];
                insert(users.uses.entry(it.clone()).or_insert_with(none), id.index());
            }
            gauges.of.push(uses);
        }
        gauges
    }

    /// Returns whether some gauge has no value that enables both instances.
    pub fn exclude(&self, one: InstanceId, other: InstanceId) -> bool {
        let (left, right) = (&self.of[one], &self.of[other]);
        left.iter().any(|(cell, it)| {
            right.get(cell).is_some_and(|other| it.possible & other.possible == 0)
        })
    }

    /// Returns the instances that are never enabled for a value for which this one is.
    pub fn excluded(&self, one: InstanceId) -> impl Iterator<Item = &InstanceBits> {
        self.of[one].iter().flat_map(|(cell, it)| {
            let uses = self.users[cell].uses.iter();
            uses.filter(|(other, _)| it.possible & other.possible == 0).map(|(_, by)| by)
        })
    }

    /// Returns whether the values of a gauge decide a conjunct completely.
    pub fn is_decided(&self, table: &AccessTable<'_>, conjunct: &GuardConjunct<'_>) -> bool {
        SmallDomainFinder { table }.is_gauged(conjunct)
    }
}

/// A search for gauges and their uses.
struct SmallDomainFinder<'d, 't> {
    table: &'d AccessTable<'t>,
}

impl SmallDomainFinder<'_, '_> {
    /// Returns the cell of a conjunct's condition, if it has few values.
    fn gauge_of(&self, conjunct: &GuardConjunct<'_>) -> Option<(CellId, SmallDomain)> {
        match &conjunct.condition {
            ConjunctCondition::Compares(cell, ..) => Some((*cell, self.of_cell(*cell)?)),
            ConjunctCondition::Asks(channels, _) => match channels.as_slice() {
                [channel] => {
                    let capacity = self.table.program().channels[channel.id].capacity;
                    let gauge = SmallDomain::new(0, capacity.into())?;
                    Some((self.table.length_cell(*channel), gauge))
                }
                _ => None,
            },
            ConjunctCondition::At(..) | ConjunctCondition::Holds => None,
        }
    }

    fn of_cell(&self, cell: CellId) -> Option<SmallDomain> {
        let (low, high) = self.table.cell_values(cell)?;
        SmallDomain::new(low, high)
    }

    /// Returns whether the values of a gauge decide a conjunct completely.
    fn is_gauged(&self, conjunct: &GuardConjunct<'_>) -> bool {
        use ChannelPredicate::{FirstMatches, SomeMatches};
        let is_known =
            !matches!(conjunct.condition, ConjunctCondition::Asks(_, FirstMatches | SomeMatches));
        is_known && conjunct.access == AccessSet::default() && self.gauge_of(conjunct).is_some()
    }

    /// Returns the values for which a conjunct may hold.
    fn asked(&self, conjunct: &GuardConjunct<'_>, gauge: SmallDomain) -> ValueMask {
        let arithmetic: Arithmetic = self.table.program().arithmetic;
        let most = gauge.low + (i64::from(gauge.count) - 1);
        match &conjunct.condition {
            ConjunctCondition::Asks(_, question) => gauge.subset_where(|waiting| match question {
                ChannelPredicate::HasRoom => waiting < most,
                ChannelPredicate::HasMessage
                | ChannelPredicate::FirstMatches
                | ChannelPredicate::SomeMatches => waiting > 0,
                ChannelPredicate::IsEmpty => waiting == 0,
                ChannelPredicate::IsFull => waiting == most,
            }),
            condition => gauge.subset_where(|value| condition.holds_of(arithmetic, value)),
        }
    }

    fn uses(
        &self,
        access: &InstanceAccess<'_>,
        found: &BTreeMap<CellId, SmallDomain>,
    ) -> BTreeMap<CellId, CellUse> {
        let mut uses: BTreeMap<CellId, CellUse> = BTreeMap::new();
        let certain = access.certain_conjuncts().count();
        for (at, conjunct) in access.guard.iter().enumerate() {
            let gauge = self.gauge_of(conjunct).filter(|(cell, _)| found.contains_key(cell));
            let Some((cell, gauge)) = gauge else { continue };
            let asked = self.asked(conjunct, gauge);
            let it = uses.entry(cell).or_insert_with(|| unused(gauge));
            if at < certain {
                it.possible &= asked;
            }
            if self.is_gauged(conjunct) {
                it.asks.insert(asked);
            }
        }
        for (cell, change) in self.changes(&access.effect, found) {
            let gauge = found[&cell];
            uses.entry(cell).or_insert_with(|| unused(gauge)).change = change;
        }
        uses
    }

    /// Returns the changes of gauges by an effect.
    fn changes(
        &self,
        effect: &AccessSet,
        found: &BTreeMap<CellId, SmallDomain>,
    ) -> BTreeMap<CellId, CellChange> {
        let mut changes: BTreeMap<CellId, CellChange> = BTreeMap::new();
        let mut note = |cell: CellId, change: CellChange| {
            let Some(gauge) = found.get(&cell) else { return };
            let known = changes.entry(cell).or_insert(CellChange::Keeps);
            *known =
                if *known == CellChange::Keeps { change } else { CellChange::Gives(gauge.all()) };
        };
        let anything = |cell: &CellId| found.get(cell).map(|it| CellChange::Gives(it.all()));
        for range in effect.writes.ranges() {
            for (cell, gauge) in found.range(CellId(range.start)..CellId(range.end)) {
                note(*cell, CellChange::Gives(gauge.all()));
            }
        }
        for (cell, value) in &effect.sets {
            let given = found.get(cell).map(|gauge| match gauge.subset_where(|it| it == *value) {
                0 => gauge.all(),
                values => values,
            });
            given.into_iter().for_each(|it| note(*cell, CellChange::Gives(it)));
        }
        for add in &effect.adds {
            let is_only = add.is_once && add.cells.single().is_some();
            for cell in add.cells.iter() {
                let change = if is_only { Some(CellChange::Adds(add.by)) } else { anything(&cell) };
                change.into_iter().for_each(|it| note(cell, it));
            }
        }
        for moved in &effect.moves {
            anything(&moved.cell).into_iter().for_each(|it| note(moved.cell, it));
        }
        for (channel, what) in &effect.channels {
            let cell = self.length_cell(*channel);
            match what {
                ChannelEffect::Queried => {}
                ChannelEffect::Guarded(operation) => note(cell, length_change(*operation)),
                ChannelEffect::Changed => anything(&cell).into_iter().for_each(|it| note(cell, it)),
            }
        }
        changes
    }

    fn length_cell(&self, channel: ChannelSlot) -> CellId {
        self.table.length_cell(channel)
    }
}

/// Returns the change of the number of messages by an enabled operation.
fn length_change(operation: ChannelOperation) -> CellChange {
    match operation {
        ChannelOperation::Send | ChannelOperation::SendSorted => CellChange::Adds(1),
        ChannelOperation::Receive | ChannelOperation::ReceiveAny => CellChange::Adds(-1),
        _ => CellChange::Keeps,
    }
}

fn unused(gauge: SmallDomain) -> CellUse {
    CellUse { possible: gauge.all(), asks: BTreeSet::new(), change: CellChange::Keeps }
}

/// An interaction that is possible only from some values of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConditionalInteraction {
    /// The cell.
    pub cell: CellId,
    /// The value of bit 0.
    pub low: i64,
    /// The values from which an interaction is possible. Bit 0 is the least value.
    pub values: u64,
    /// The number of the set of instances with which it is possible.
    pub with: usize,
}

impl ConditionalInteraction {
    /// Returns whether an interaction is possible from this value of the cell.
    pub fn from(&self, value: i64) -> bool {
        let at = u32::try_from(value.wrapping_sub(self.low)).ok().filter(|at| *at < u64::BITS);
        // The analysis rules out other values. If one occurs, an interaction counts as possible.
        at.is_none_or(|at| self.values >> at & 1 != 0)
    }
}

/// The relations of an instance to all others, as sets.
pub(super) struct InstanceRelations<'r> {
    /// The instances that it depends on.
    pub dependent: &'r [u64],
    /// The instances that are never enabled together with it.
    pub excluded: &'r [u64],
    /// The instances that it always interacts with.
    pub always: &'r mut [u64],
}

/// Returns the conditional interactions of an instance: cell, least value, values, and instances. Adds instances that
/// it interacts with from every value to `always`.
pub(super) fn conditional_interactions(
    gauges: &SmallDomainCells,
    one: InstanceId,
    InstanceRelations { dependent, excluded, always }: InstanceRelations<'_>,
) -> Vec<(CellId, i64, ValueMask, InstanceBits)> {
    let mut found = Vec::new();
    for (cell, it) in &gauges.of[one] {
        let SmallDomainUsers { domain: gauge, uses } = &gauges.users[cell];
        let meanwhile = |by: &InstanceBits| {
            let others = by.iter().zip(&*always).zip(excluded);
            let mut others = others.map(|((by, always), excluded)| by & !always & !excluded);
            let itself = one.0 as usize / 64;
            others.by_ref().take(itself).any(|word| word != 0)
                || others.next().is_some_and(|word| word & !(1 << (one.0 % 64)) != 0)
                || others.any(|word| word != 0)
        };
        let taken: Vec<&CellUse> =
            uses.iter().filter(|(_, by)| meanwhile(by)).map(|it| it.0).collect();
        let mut by_values: BTreeMap<ValueMask, InstanceBits> = BTreeMap::new();
        for other in &taken {
            let with = uses[*other].iter().zip(dependent).zip(&*always);
            let with: InstanceBits =
                with.map(|((by, depends), always)| by & depends & !always).collect();
            if with.iter().all(|word| *word == 0) {
                continue;
            }
            let values = it.interacts(other, &taken, *gauge);
            let row = by_values.entry(values).or_insert_with(|| vec![0; with.len()]);
            extend(row, &with);
        }
        by_values.remove(&0);
        found.extend(by_values.into_iter().map(|(values, by)| (*cell, gauge.low, values, by)));
    }
    found.retain(|(cell, _, values, by)| {
        let is_always = gauges.of[one][cell].possible & !values == 0;
        if is_always {
            extend(always, by);
        }
        !is_always
    });
    found
}

#[cfg(test)]
mod tests;
