//! An index from cells and channels to the instances that access them, for the computation of all pairs at once.

use super::channels;
use crate::access::{
    AccessSet, CellSet, ChannelEffect, ChannelOperation, ChannelSlot, InstanceAccess,
};
use crate::bit_sets::{extend, insert, words_of};
use crate::instances::InstanceId;
use spillway_ir::layout::CellId;
use spillway_ir::{Arena, Entity, LocationId};
use std::collections::{BTreeMap, HashMap};

/// A set of instances.
pub(super) type InstanceBits = Vec<u64>;

/// Sets of instances, by a common property. A missing set is empty.
#[derive(Clone, Debug)]
pub(super) struct InstanceIndex<K> {
    words: usize,
    sets: BTreeMap<K, InstanceBits>,
}

impl<K: Ord> InstanceIndex<K> {
    fn new(words: usize) -> Self {
        InstanceIndex { words, sets: BTreeMap::new() }
    }

    fn add(&mut self, key: K, instance: InstanceId) {
        insert(self.sets.entry(key).or_insert_with(|| vec![0; self.words]), instance.index());
    }

    pub fn extend(&self, row: &mut [u64], key: &K) {
        self.sets.get(key).into_iter().for_each(|it| extend(row, it));
    }
}

impl InstanceIndex<CellId> {
    /// Adds the instances of all of these cells.
    fn extend_all(&self, row: &mut [u64], cells: &CellSet) {
        for range in cells.ranges() {
            let keys = CellId(range.start)..CellId(range.end);
            self.sets.range(keys).for_each(|(_, it)| extend(row, it));
        }
    }
}

/// An index of the effects of all instances.
#[derive(Debug)]
pub(super) struct EffectIndex {
    words: usize,
    reads: InstanceIndex<CellId>,
    /// The instances that query a location.
    asks: InstanceIndex<(CellId, LocationId)>,
    asks_any: InstanceIndex<CellId>,
    pub writes: InstanceIndex<CellId>,
    pub sets: InstanceIndex<CellId>,
    set_to: InstanceIndex<(CellId, i64)>,
    pub adds: InstanceIndex<CellId>,
    /// The additions whose order may matter.
    ordered_adds: InstanceIndex<CellId>,
    /// The instances that change a location.
    pub moves: InstanceIndex<CellId>,
    pub leaves: InstanceIndex<(CellId, LocationId)>,
    pub enters: InstanceIndex<(CellId, LocationId)>,
    /// The instances that move, including moves to the same location.
    pub steps: InstanceIndex<CellId>,
    channels: InstanceIndex<(ChannelSlot, ChannelEffect)>,
    changers_of_channels: InstanceIndex<ChannelSlot>,
    /// The instances by accesses that no cell represents: see [`GlobalEffect`].
    besides: InstanceIndex<GlobalEffect>,
}

/// An access of an effect that no cell represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum GlobalEffect {
    ReadsInstances,
    WritesInstances,
    ReadsCommitment,
    ChangesCommitment,
    ReadsAnything,
    ChangesAnything,
}

impl EffectIndex {
    pub fn new(accesses: &Arena<InstanceId, InstanceAccess<'_>>) -> EffectIndex {
        let words = words_of(accesses.len());
        let mut users = EffectIndex {
            words,
            reads: InstanceIndex::new(words),
            asks: InstanceIndex::new(words),
            asks_any: InstanceIndex::new(words),
            writes: InstanceIndex::new(words),
            sets: InstanceIndex::new(words),
            set_to: InstanceIndex::new(words),
            adds: InstanceIndex::new(words),
            ordered_adds: InstanceIndex::new(words),
            moves: InstanceIndex::new(words),
            leaves: InstanceIndex::new(words),
            enters: InstanceIndex::new(words),
            steps: InstanceIndex::new(words),
            channels: InstanceIndex::new(words),
            changers_of_channels: InstanceIndex::new(words),
            besides: InstanceIndex::new(words),
        };
        accesses.iter().for_each(|(id, it)| users.add(id, &it.effect));
        users
    }

    fn add(&mut self, id: InstanceId, effect: &AccessSet) {
        effect.reads.iter().for_each(|it| self.reads.add(it, id));
        effect.writes.iter().for_each(|it| self.writes.add(it, id));
        for &(cell, location) in &effect.asks {
            self.asks.add((cell, location), id);
            self.asks_any.add(cell, id);
        }
        for &(cell, value) in &effect.sets {
            self.sets.add(cell, id);
            self.set_to.add((cell, value), id);
        }
        for add in &effect.adds {
            add.cells.iter().for_each(|it| self.adds.add(it, id));
            let ordered = add.cells.iter().filter(|_| !add.commutes);
            ordered.for_each(|it| self.ordered_adds.add(it, id));
        }
        for moved in &effect.moves {
            self.steps.add(moved.cell, id);
            if moved.from != moved.to {
                self.moves.add(moved.cell, id);
                moved.from.into_iter().for_each(|it| self.leaves.add((moved.cell, it), id));
                moved.to.into_iter().for_each(|it| self.enters.add((moved.cell, it), id));
            }
        }
        for &(slot, what) in &effect.channels {
            self.channels.add((slot, what), id);
            if what.changes() {
                self.changers_of_channels.add(slot, id);
            }
        }
        let besides = [
            (GlobalEffect::ReadsInstances, effect.reads_instances),
            (GlobalEffect::WritesInstances, effect.writes_instances),
            (GlobalEffect::ReadsCommitment, effect.reads_commitment),
            (GlobalEffect::ChangesCommitment, effect.writes_commitment || effect.writes_instances),
            (GlobalEffect::ReadsAnything, effect.depends_on_anything()),
            (GlobalEffect::ChangesAnything, effect.changes_anything()),
        ];
        besides.into_iter().filter(|it| it.1).for_each(|(what, _)| self.besides.add(what, id));
    }

    /// Returns an empty set.
    pub fn empty_set(&self) -> InstanceBits {
        vec![0; self.words]
    }

    /// Returns the instances whose effects may change these reads.
    pub fn changers(&self, read: &AccessSet) -> InstanceBits {
        let mut row = self.empty_set();
        self.extend_by_changers_of_cells(&mut row, read);
        for (slot, _) in &read.channels {
            self.changers_of_channels.extend(&mut row, slot);
        }
        row
    }

    /// Adds the instances whose effects may change these reads, without channels.
    fn extend_by_changers_of_cells(&self, row: &mut [u64], read: &AccessSet) {
        for users in [&self.writes, &self.sets, &self.adds, &self.moves] {
            users.extend_all(row, &read.reads);
        }
        for asked in &read.asks {
            self.writes.extend(row, &asked.0);
            self.adds.extend(row, &asked.0);
            self.leaves.extend(row, asked);
            self.enters.extend(row, asked);
        }
        let besides = [
            (read.depends_on_anything(), GlobalEffect::ChangesAnything),
            (read.reads_instances, GlobalEffect::WritesInstances),
            (read.reads_commitment, GlobalEffect::ChangesCommitment),
        ];
        let besides = besides.into_iter().filter(|it| it.0);
        besides.for_each(|(_, by)| self.besides.extend(row, &by));
    }

    /// Returns the instances whose effects do not commute with this one.
    pub fn conflicting(&self, effect: &AccessSet, cached: &mut ConflictCache) -> InstanceBits {
        let mut row = self.empty_set();
        // The others change what this one reads.
        let read = effect.plain_reads();
        self.extend_by_changers_of_cells(
            &mut row,
            &AccessSet { reads: CellSet::default(), ..read },
        );
        extend(&mut row, cached.of_reads(self, &effect.reads));
        extend(&mut row, cached.of_writes(self, &effect.writes));
        self.extend_by_readers(&mut row, effect);
        self.extend_by_counters(&mut row, effect);
        for moved in &effect.moves {
            let same = if moved.from == moved.to { &self.moves } else { &self.steps };
            same.extend(&mut row, &moved.cell);
        }
        for (slot, what) in &effect.channels {
            self.extend_by_users_of_channel(&mut row, *slot, *what);
        }
        if effect.writes_instances {
            self.besides.extend(&mut row, &GlobalEffect::WritesInstances);
        }
        row
    }

    /// Adds the instances that read what this one changes.
    fn extend_by_readers(&self, row: &mut [u64], effect: &AccessSet) {
        for (cell, _) in &effect.sets {
            self.reads.extend(row, cell);
        }
        for add in &effect.adds {
            self.reads.extend_all(row, &add.cells);
            self.asks_any.extend_all(row, &add.cells);
        }
        for moved in effect.moves.iter().filter(|it| it.from != it.to) {
            self.reads.extend(row, &moved.cell);
            for asked in moved.from.into_iter().chain(moved.to) {
                self.asks.extend(row, &(moved.cell, asked));
            }
        }
        let besides = [
            (effect.changes_anything(), GlobalEffect::ReadsAnything),
            (effect.writes_instances, GlobalEffect::ReadsInstances),
            (effect.writes_commitment || effect.writes_instances, GlobalEffect::ReadsCommitment),
        ];
        let besides = besides.into_iter().filter(|it| it.0);
        besides.for_each(|(_, by)| self.besides.extend(row, &by));
    }

    /// Adds the instances whose writes conflict with the sets and additions of this one.
    fn extend_by_counters(&self, row: &mut [u64], effect: &AccessSet) {
        for &(cell, value) in &effect.sets {
            self.writes.extend(row, &cell);
            self.adds.extend(row, &cell);
            let least = (cell, i64::MIN)..=(cell, i64::MAX);
            let others = self.set_to.sets.range(least).filter(|((_, it), _)| *it != value);
            others.for_each(|(_, it)| extend(row, it));
        }
        for add in &effect.adds {
            self.writes.extend_all(row, &add.cells);
            self.sets.extend_all(row, &add.cells);
            let others = if add.commutes { &self.ordered_adds } else { &self.adds };
            others.extend_all(row, &add.cells);
        }
        for moved in effect.moves.iter().filter(|it| it.from != it.to) {
            self.writes.extend(row, &moved.cell);
        }
    }

    fn extend_by_users_of_channel(&self, row: &mut [u64], slot: ChannelSlot, what: ChannelEffect) {
        for (other, users) in self.uses_of(slot) {
            if !channels::commute(what, other) {
                extend(row, users);
            }
        }
    }

    /// Returns the effects on a channel, with the instances that have them.
    pub fn uses_of(
        &self,
        slot: ChannelSlot,
    ) -> impl Iterator<Item = (ChannelEffect, &InstanceBits)> {
        // The least value in the order of effects.
        let first = (slot, ChannelEffect::Guarded(ChannelOperation::Send));
        let from = self.channels.sets.range(first..);
        from.take_while(move |((at, _), _)| *at == slot).map(|((_, what), it)| (*what, it))
    }
}

/// The instances that conflict with reads or writes of sets of cells, computed once for each set.
#[derive(Debug, Default)]
pub(super) struct ConflictCache {
    reads: HashMap<CellSet, InstanceBits>,
    writes: HashMap<CellSet, InstanceBits>,
}

impl ConflictCache {
    fn of_reads(&mut self, users: &EffectIndex, cells: &CellSet) -> &InstanceBits {
        self.reads.entry(cells.clone()).or_insert_with(|| {
            let mut row = users.empty_set();
            for changers in [&users.writes, &users.sets, &users.adds, &users.moves] {
                changers.extend_all(&mut row, cells);
            }
            row
        })
    }

    fn of_writes(&mut self, users: &EffectIndex, cells: &CellSet) -> &InstanceBits {
        self.writes.entry(cells.clone()).or_insert_with(|| {
            let mut row = users.empty_set();
            let others = [
                &users.reads,
                &users.asks_any,
                &users.writes,
                &users.sets,
                &users.adds,
                &users.moves,
            ];
            others.iter().for_each(|it| it.extend_all(&mut row, cells));
            row
        })
    }
}
