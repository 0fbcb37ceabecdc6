//! Dependence that is a matter of a number: how many messages are in a channel, what a counter holds.
//!
//! A receive and a step that asks whether there is a message disturb each other only where there is one
//! message left; a step that counts up and one that waits for `x < 9` only where `x` is 8. Godefroid and
//! Pirottin (1993) make a relation of this that says for a state whether two operations *might interact*:
//! whether there may be a run from there, of steps that do not disturb the first, to where both are
//! possible and disturb each other. Their table for bounded channels is what comes of it where all
//! operations are in use (`docs/reductions/dependence.md`).
//!
//! A *gauge* is a cell with at most 64 values that guards ask about: sets of its values are words. Of each
//! instance it is known for which values it may be possible, which sets of values its conjuncts ask
//! for, and what it may make of a value. From that the values at which two disturb each other follow, and
//! from where such a value can be reached meanwhile.

use super::effect_index::InstanceBits;
use crate::analysis::access::{
    AccessSet, AccessTable, ChannelEffect, ChannelOperation, ChannelPredicate, ChannelSlot,
    ConjunctCondition, GuardConjunct, InstanceAccess,
};
use crate::analysis::bit_sets::{extend, insert, words_of};
use crate::analysis::instances::InstanceId;
use crate::ir::layout::CellId;
use crate::ir::{Arena, Arithmetic, Entity};
use std::collections::{BTreeMap, BTreeSet};

/// A gauge has no more values.
const VALUES_MAX: i64 = 64;

/// A set of values of a gauge: bit 0 is the least.
pub(super) type ValueMask = u64;

/// A cell whose values are looked at one by one.
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

    /// The values that something holds of.
    fn subset_where(self, holds: impl Fn(i64) -> bool) -> ValueMask {
        let values = (0..self.count).filter(|&at| holds(self.low + i64::from(at)));
        values.fold(0, |all, at| all | 1 << at)
    }
}

/// What a step may make of a value, or leave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CellChange {
    /// Nothing.
    Keeps,
    /// This is added.
    Adds(i64),
    /// This set of values, whatever it was.
    Gives(ValueMask),
}

/// What an instance has to do with a gauge.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CellUse {
    /// Where it may be possible.
    pub possible: ValueMask,
    /// What its conjuncts ask for.
    pub asks: BTreeSet<ValueMask>,
    pub change: CellChange,
}

impl CellUse {
    /// The values that there may be after it.
    fn after(&self, gauge: SmallDomain, at: u32) -> ValueMask {
        let stays = 1 << at;
        match self.change {
            CellChange::Keeps => stays,
            CellChange::Gives(values) => stays | values,
            CellChange::Adds(by) => match i64::from(at).checked_add(by) {
                Some(to) if (0..i64::from(gauge.count)).contains(&to) => stays | 1 << to,
                // It fails, or is stored otherwise.
                _ => gauge.all(),
            },
        }
    }

    /// Whether it may make a conjunct of another not hold that does.
    fn disturbs(&self, other: &CellUse, gauge: SmallDomain, at: u32) -> bool {
        let after = self.after(gauge, at);
        other.asks.iter().any(|asked| asked >> at & 1 != 0 && after & !asked != 0)
    }

    /// The values at which both may be possible and one may disturb the other.
    pub fn clashes(&self, other: &CellUse, gauge: SmallDomain) -> ValueMask {
        let both = self.possible & other.possible;
        let at = |at: &u32| self.disturbs(other, gauge, *at) || other.disturbs(self, gauge, *at);
        bits(both).filter(at).fold(0, |all, at| all | 1 << at)
    }

    /// The values that there may be after steps of others that do not disturb this one, nor it them.
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

    /// The values from which it might interact with another, where `others` may be taken meanwhile.
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

/// A gauge and who uses it.
#[derive(Clone, Debug)]
pub(super) struct SmallDomainUsers {
    pub domain: SmallDomain,
    /// Each way of using it, and by whom.
    pub uses: BTreeMap<CellUse, InstanceBits>,
}

/// All gauges of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct SmallDomainCells {
    pub users: BTreeMap<CellId, SmallDomainUsers>,
    /// What each instance has to do with which.
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

    /// Whether two are never possible for one value of a gauge.
    pub fn exclude(&self, one: InstanceId, other: InstanceId) -> bool {
        let (left, right) = (&self.of[one], &self.of[other]);
        left.iter().any(|(cell, it)| {
            right.get(cell).is_some_and(|other| it.possible & other.possible == 0)
        })
    }

    /// Those that are never possible for a value for which an instance is.
    pub fn excluded(&self, one: InstanceId) -> impl Iterator<Item = &InstanceBits> {
        self.of[one].iter().flat_map(|(cell, it)| {
            let uses = self.users[cell].uses.iter();
            uses.filter(|(other, _)| it.possible & other.possible == 0).map(|(_, by)| by)
        })
    }

    /// Whether what a conjunct asks is known for each value of a gauge, and nothing else is asked.
    pub fn is_decided(&self, table: &AccessTable<'_>, conjunct: &GuardConjunct<'_>) -> bool {
        SmallDomainFinder { table }.is_gauged(conjunct)
    }
}

/// Finds gauges and their uses.
struct SmallDomainFinder<'d, 't> {
    table: &'d AccessTable<'t>,
}

impl SmallDomainFinder<'_, '_> {
    /// The cell that a conjunct asks about, if its values are few.
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

    /// Whether it is known for each value of a gauge whether a conjunct holds, which asks nothing else.
    fn is_gauged(&self, conjunct: &GuardConjunct<'_>) -> bool {
        use ChannelPredicate::{FirstMatches, SomeMatches};
        let is_known =
            !matches!(conjunct.condition, ConjunctCondition::Asks(_, FirstMatches | SomeMatches));
        is_known && conjunct.access == AccessSet::default() && self.gauge_of(conjunct).is_some()
    }

    /// The values for which a conjunct may hold.
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

    /// What an effect may make of the values of gauges.
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

/// What an operation that is possible makes of the number of messages.
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

/// Where two interact only for some values of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConditionalInteraction {
    /// The cell.
    pub cell: CellId,
    /// Its least value that counts.
    pub low: i64,
    /// The values from which there may be an interaction: bit 0 is the least.
    pub values: u64,
    /// The number of the set of those with whom there may be.
    pub with: usize,
}

impl ConditionalInteraction {
    /// Whether there may be an interaction from where the cell has this value.
    pub fn from(&self, value: i64) -> bool {
        let at = u32::try_from(value.wrapping_sub(self.low)).ok().filter(|at| *at < u64::BITS);
        // It never has any other, as far as is known.
        at.is_none_or(|at| self.values >> at & 1 != 0)
    }
}

/// What is known of an instance where all pairs are looked at, as sets of others.
pub(super) struct InstanceRelations<'r> {
    /// Those it depends on.
    pub dependent: &'r [u64],
    /// Those that are never possible where it is.
    pub excluded: &'r [u64],
    /// Those that it interacts with in any case.
    pub always: &'r mut [u64],
}

/// With whom an instance interacts for which values of which cell, besides those of `always`, to which
/// those are added with whom it does for every value.
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
