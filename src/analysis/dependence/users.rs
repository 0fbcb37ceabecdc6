//! Who does what with each cell and each channel: the index by which all pairs are looked at together.

use super::channels;
use crate::analysis::access::{Access, Cells, ChannelSlot, ChannelUse, InstanceAccess, Operation};
use crate::analysis::bits::{extend, insert, words_of};
use crate::analysis::instances::InstanceId;
use crate::ir::layout::CellId;
use crate::ir::{Arena, Entity, LocationId};
use std::collections::{BTreeMap, HashMap};

/// A set of instances.
pub(super) type Row = Vec<u64>;

/// Sets of instances, by what they have in common. A set that is not there is empty.
#[derive(Clone, Debug)]
pub(super) struct Sets<K> {
    words: usize,
    sets: BTreeMap<K, Row>,
}

impl<K: Ord> Sets<K> {
    fn new(words: usize) -> Self {
        Sets { words, sets: BTreeMap::new() }
    }

    fn add(&mut self, key: K, instance: InstanceId) {
        insert(self.sets.entry(key).or_insert_with(|| vec![0; self.words]), instance.index());
    }

    pub fn extend(&self, row: &mut [u64], key: &K) {
        self.sets.get(key).into_iter().for_each(|it| extend(row, it));
    }
}

impl Sets<CellId> {
    /// Adds those of all of these cells.
    fn extend_all(&self, row: &mut [u64], cells: &Cells) {
        for range in cells.ranges() {
            let keys = CellId(range.start)..CellId(range.end);
            self.sets.range(keys).for_each(|(_, it)| extend(row, it));
        }
    }
}

/// What the effects of all instances do.
#[derive(Debug)]
pub(super) struct Users {
    words: usize,
    reads: Sets<CellId>,
    /// Who asks for a location, and for which.
    asks: Sets<(CellId, LocationId)>,
    asks_any: Sets<CellId>,
    pub writes: Sets<CellId>,
    pub sets: Sets<CellId>,
    set_to: Sets<(CellId, i64)>,
    pub adds: Sets<CellId>,
    /// Additions whose order may matter.
    ordered_adds: Sets<CellId>,
    /// Who is somewhere else afterwards.
    pub moves: Sets<CellId>,
    pub leaves: Sets<(CellId, LocationId)>,
    pub enters: Sets<(CellId, LocationId)>,
    /// Who moves, be it back to where it was.
    pub steps: Sets<CellId>,
    channels: Sets<(ChannelSlot, ChannelUse)>,
    changers_of_channels: Sets<ChannelSlot>,
    /// By what they do besides: see [`Besides`].
    besides: Sets<Besides>,
}

/// What an effect may do with what no cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Besides {
    ReadsInstances,
    WritesInstances,
    ReadsCommitment,
    ChangesCommitment,
    ReadsAnything,
    ChangesAnything,
}

impl Users {
    pub fn new(accesses: &Arena<InstanceId, InstanceAccess<'_>>) -> Users {
        let words = words_of(accesses.len());
        let mut users = Users {
            words,
            reads: Sets::new(words),
            asks: Sets::new(words),
            asks_any: Sets::new(words),
            writes: Sets::new(words),
            sets: Sets::new(words),
            set_to: Sets::new(words),
            adds: Sets::new(words),
            ordered_adds: Sets::new(words),
            moves: Sets::new(words),
            leaves: Sets::new(words),
            enters: Sets::new(words),
            steps: Sets::new(words),
            channels: Sets::new(words),
            changers_of_channels: Sets::new(words),
            besides: Sets::new(words),
        };
        accesses.iter().for_each(|(id, it)| users.add(id, &it.effect));
        users
    }

    fn add(&mut self, id: InstanceId, effect: &Access) {
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
            (Besides::ReadsInstances, effect.reads_instances),
            (Besides::WritesInstances, effect.writes_instances),
            (Besides::ReadsCommitment, effect.reads_commitment),
            (Besides::ChangesCommitment, effect.writes_commitment || effect.writes_instances),
            (Besides::ReadsAnything, effect.reads_anything),
            (Besides::ChangesAnything, effect.changes_anything()),
        ];
        besides.into_iter().filter(|it| it.1).for_each(|(what, _)| self.besides.add(what, id));
    }

    /// An empty set.
    pub fn none(&self) -> Row {
        vec![0; self.words]
    }

    /// Whose effects may change what is read so.
    pub fn changers(&self, read: &Access) -> Row {
        let mut row = self.none();
        self.extend_by_changers_of_cells(&mut row, read);
        for (slot, _) in &read.channels {
            self.changers_of_channels.extend(&mut row, slot);
        }
        row
    }

    /// The same without channels.
    fn extend_by_changers_of_cells(&self, row: &mut [u64], read: &Access) {
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
            (read.reads_anything, Besides::ChangesAnything),
            (read.reads_instances, Besides::WritesInstances),
            (read.reads_commitment, Besides::ChangesCommitment),
        ];
        let besides = besides.into_iter().filter(|it| it.0);
        besides.for_each(|(_, by)| self.besides.extend(row, &by));
    }

    /// Those whose effects do not commute with this one.
    pub fn clashing(&self, effect: &Access, cached: &mut Clashes) -> Row {
        let mut row = self.none();
        // What the others change and this one reads.
        let read = effect.plain_reading();
        self.extend_by_changers_of_cells(&mut row, &Access { reads: Cells::default(), ..read });
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
            self.besides.extend(&mut row, &Besides::WritesInstances);
        }
        row
    }

    /// What this one changes and others read.
    fn extend_by_readers(&self, row: &mut [u64], effect: &Access) {
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
            (effect.changes_anything(), Besides::ReadsAnything),
            (effect.writes_instances, Besides::ReadsInstances),
            (effect.writes_commitment || effect.writes_instances, Besides::ReadsCommitment),
        ];
        let besides = besides.into_iter().filter(|it| it.0);
        besides.for_each(|(_, by)| self.besides.extend(row, &by));
    }

    /// Whatever is written otherwise.
    fn extend_by_counters(&self, row: &mut [u64], effect: &Access) {
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

    fn extend_by_users_of_channel(&self, row: &mut [u64], slot: ChannelSlot, what: ChannelUse) {
        for (other, users) in self.uses_of(slot) {
            if !channels::commute(what, other) {
                extend(row, users);
            }
        }
    }

    /// What is done with a channel, and by whom.
    pub fn uses_of(&self, slot: ChannelSlot) -> impl Iterator<Item = (ChannelUse, &Row)> {
        // The least of all uses.
        let first = (slot, ChannelUse::Guarded(Operation::Send));
        let from = self.channels.sets.range(first..);
        from.take_while(move |((at, _), _)| *at == slot).map(|((_, what), it)| (*what, it))
    }
}

/// What clashes with reading, or with writing, some cells: found once for each set of them.
#[derive(Debug, Default)]
pub(super) struct Clashes {
    reads: HashMap<Cells, Row>,
    writes: HashMap<Cells, Row>,
}

impl Clashes {
    fn of_reads(&mut self, users: &Users, cells: &Cells) -> &Row {
        self.reads.entry(cells.clone()).or_insert_with(|| {
            let mut row = users.none();
            for changers in [&users.writes, &users.sets, &users.adds, &users.moves] {
                changers.extend_all(&mut row, cells);
            }
            row
        })
    }

    fn of_writes(&mut self, users: &Users, cells: &Cells) -> &Row {
        self.writes.entry(cells.clone()).or_insert_with(|| {
            let mut row = users.none();
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
