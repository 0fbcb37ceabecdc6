//! Who does what with each cell and each channel: the index by which all pairs are looked at together.

use super::channels;
use crate::analysis::access::{
    AccessSet, CellSet, ChannelEffect, ChannelOperation, ChannelSlot, InstanceAccess,
};
use crate::analysis::bit_sets::{extend, insert, words_of};
use crate::analysis::instances::InstanceId;
use crate::ir::layout::CellId;
use crate::ir::{Arena, Entity, LocationId};
use std::collections::{BTreeMap, HashMap};

/// A set of instances.
pub(super) type InstanceBits = Vec<u64>;

/// Sets of instances, by what they have in common. A set that is not there is empty.
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
    /// Adds those of all of these cells.
    fn extend_all(&self, row: &mut [u64], cells: &CellSet) {
        for range in cells.ranges() {
            let keys = CellId(range.start)..CellId(range.end);
            self.sets.range(keys).for_each(|(_, it)| extend(row, it));
        }
    }
}

/// What the effects of all instances do.
#[derive(Debug)]
pub(super) struct EffectIndex {
    words: usize,
    reads: InstanceIndex<CellId>,
    /// Who asks for a location, and for which.
    asks: InstanceIndex<(CellId, LocationId)>,
    asks_any: InstanceIndex<CellId>,
    pub writes: InstanceIndex<CellId>,
    pub sets: InstanceIndex<CellId>,
    set_to: InstanceIndex<(CellId, i64)>,
    pub adds: InstanceIndex<CellId>,
    /// Additions whose order may matter.
    ordered_adds: InstanceIndex<CellId>,
    /// Who is somewhere else afterwards.
    pub moves: InstanceIndex<CellId>,
    pub leaves: InstanceIndex<(CellId, LocationId)>,
    pub enters: InstanceIndex<(CellId, LocationId)>,
    /// Who moves, be it back to where it was.
    pub steps: InstanceIndex<CellId>,
    channels: InstanceIndex<(ChannelSlot, ChannelEffect)>,
    changers_of_channels: InstanceIndex<ChannelSlot>,
    /// By what they do besides: see [`GlobalEffect`].
    besides: InstanceIndex<GlobalEffect>,
}

/// What an effect may do with what no cell holds.
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
            (GlobalEffect::ReadsAnything, effect.reads_anything),
            (GlobalEffect::ChangesAnything, effect.changes_anything()),
        ];
        besides.into_iter().filter(|it| it.1).for_each(|(what, _)| self.besides.add(what, id));
    }

    /// An empty set.
    pub fn empty_set(&self) -> InstanceBits {
        vec![0; self.words]
    }

    /// Whose effects may change what is read so.
    pub fn changers(&self, read: &AccessSet) -> InstanceBits {
        let mut row = self.empty_set();
        self.extend_by_changers_of_cells(&mut row, read);
        for (slot, _) in &read.channels {
            self.changers_of_channels.extend(&mut row, slot);
        }
        row
    }

    /// The same without channels.
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
            (read.reads_anything, GlobalEffect::ChangesAnything),
            (read.reads_instances, GlobalEffect::WritesInstances),
            (read.reads_commitment, GlobalEffect::ChangesCommitment),
        ];
        let besides = besides.into_iter().filter(|it| it.0);
        besides.for_each(|(_, by)| self.besides.extend(row, &by));
    }

    /// Those whose effects do not commute with this one.
    pub fn conflicting(&self, effect: &AccessSet, cached: &mut ConflictCache) -> InstanceBits {
        let mut row = self.empty_set();
        // What the others change and this one reads.
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

    /// What this one changes and others read.
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

    /// Whatever is written otherwise.
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

    /// What is done with a channel, and by whom.
    pub fn uses_of(
        &self,
        slot: ChannelSlot,
    ) -> impl Iterator<Item = (ChannelEffect, &InstanceBits)> {
        // The least of all uses.
        let first = (slot, ChannelEffect::Guarded(ChannelOperation::Send));
        let from = self.channels.sets.range(first..);
        from.take_while(move |((at, _), _)| *at == slot).map(|((_, what), it)| (*what, it))
    }
}

/// What clashes with reading, or with writing, some cells: found once for each set of them.
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
