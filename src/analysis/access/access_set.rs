//! What is touched of a state: cells, locations, channels, and what no cell holds.

use super::cell_set::CellSet;
use super::failure_kinds::FailureKinds;
use super::walk::ChannelOperation;
use crate::ir::layout::CellId;
use crate::ir::{ChannelId, LocationId};
use std::ops::Range;

/// A channel, or that of one slot of its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelSlot {
    /// The channel.
    pub id: ChannelId,
    /// The slot of its owner; 0 if it is the program's.
    pub slot: u32,
}

/// What a step does with a buffered channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChannelEffect {
    /// The step is this operation, and is possible only if that is.
    Guarded(ChannelOperation),
    /// Anything may be asked about it.
    Queried,
    /// Anything may be done with it.
    Changed,
}

/// A constant is added to a counter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CounterAddition {
    /// Where the counter may be.
    pub cells: CellSet,
    /// What is added.
    pub by: i64,
    /// Whether it is added exactly once. In a loop it may be any number of times.
    pub is_once: bool,
    /// Whether several such additions surely have one result in any order, and never fail.
    pub commutes: bool,
    /// Whether the counter is surely greater afterwards if `by` is, or the step fails.
    pub is_monotone: bool,
}

/// A process may be somewhere else after a step. Before it begins and after it has ended it is nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LocationChange {
    /// The cell that says where it is.
    pub cell: CellId,
    /// Where it was, if anywhere.
    pub from: Option<LocationId>,
    /// Where it may be, if anywhere.
    pub to: Option<LocationId>,
}

/// What some code may read and write. What it may do is listed in full; only `definite_writes` says what it does
/// in any case.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AccessSet {
    /// Cells that are read, but for those below.
    pub reads: CellSet,
    /// Questions whether a process is at a location: the cell that says where it is.
    pub asks: Vec<(CellId, LocationId)>,
    /// Cells that are written, but for those below.
    pub writes: CellSet,
    /// Cells that are given a constant.
    pub sets: Vec<(CellId, i64)>,
    /// Counters that a constant is added to.
    pub adds: Vec<CounterAddition>,
    /// Cells that every successor has new values in, whatever they were before.
    pub definite_writes: CellSet,
    /// Processes that move.
    pub moves: Vec<LocationChange>,
    /// What is done with buffered channels.
    pub channels: Vec<(ChannelSlot, ChannelEffect)>,
    /// Whether it matters which instances there are.
    pub reads_instances: bool,
    /// Whether instances are started or end.
    pub writes_instances: bool,
    /// Whether it matters whether anybody is at a committed location.
    pub reads_commitment: bool,
    /// Whether it may change whether a process is at one.
    pub writes_commitment: bool,
    /// Whether it may read anything at all: it is not understood.
    pub reads_anything: bool,
    /// Whether the step may be taken back for what is found on the way.
    pub may_drop: bool,
    /// How it may fail.
    pub failures: FailureKinds,
}

impl AccessSet {
    /// Adds what other code touches in the same step.
    pub fn extend(&mut self, other: AccessSet) {
        let surely = other.definite_writes.clone();
        self.extend_optional(other);
        self.definite_writes.extend(&surely);
    }

    /// Adds what other code touches if it is run.
    pub fn extend_optional(&mut self, other: AccessSet) {
        self.reads.extend(&other.reads);
        self.asks.extend(other.asks);
        self.writes.extend(&other.writes);
        self.sets.extend(other.sets);
        self.adds.extend(other.adds);
        self.moves.extend(other.moves);
        self.channels.extend(other.channels);
        self.reads_instances |= other.reads_instances;
        self.writes_instances |= other.writes_instances;
        self.reads_commitment |= other.reads_commitment;
        self.writes_commitment |= other.writes_commitment;
        self.reads_anything |= other.reads_anything;
        self.may_drop |= other.may_drop;
        self.failures.join(other.failures);
    }

    /// The bytes that its lists take, about.
    pub fn bytes(&self) -> usize {
        let cells = [&self.reads, &self.writes, &self.definite_writes].map(|it| it.ranges().len());
        cells.iter().sum::<usize>() * size_of::<Range<u32>>()
            + size_of_val(self.asks.as_slice())
            + size_of_val(self.sets.as_slice())
            + size_of_val(self.adds.as_slice())
            + size_of_val(self.moves.as_slice())
            + size_of_val(self.channels.as_slice())
    }

    /// Whether it may change the state at all.
    pub fn changes_anything(&self) -> bool {
        let changes = |&(_, it): &(ChannelSlot, ChannelEffect)| it.changes();
        !self.writes.is_empty()
            || !self.sets.is_empty()
            || !self.adds.is_empty()
            || self.moves.iter().any(|it| it.from != it.to)
            || self.channels.iter().any(changes)
            || self.writes_instances
    }

    /// What it reads, as what somebody reads who does nothing.
    pub fn as_reads(&self) -> AccessSet {
        let mut reads = self.reads.clone();
        self.adds.iter().for_each(|it| reads.extend(&it.cells));
        let channels = self.channels.iter().map(|(at, _)| (*at, ChannelEffect::Queried)).collect();
        let AccessSet { reads_instances, reads_commitment, reads_anything, .. } = *self;
        let asks = self.asks.clone();
        AccessSet {
            reads,
            asks,
            channels,
            reads_instances,
            reads_commitment,
            reads_anything,
            ..AccessSet::default()
        }
    }

    /// The same without channels and counters, of which more is known.
    pub fn plain_reads(&self) -> AccessSet {
        let (reads, asks) = (self.reads.clone(), self.asks.clone());
        AccessSet { reads, asks, channels: Vec::new(), ..self.as_reads() }
    }

    /// Notes that anything may be asked about some channels.
    pub fn ask(&mut self, channels: &[ChannelSlot]) {
        self.channels.extend(channels.iter().map(|at| (*at, ChannelEffect::Queried)));
    }

    /// Whether it may change what other code reads.
    pub fn may_change(&self, read: &AccessSet) -> bool {
        let asked = |moved: &LocationChange| {
            let at = |&&(cell, it): &&(CellId, LocationId)| {
                cell == moved.cell && (moved.from == Some(it) || moved.to == Some(it))
            };
            moved.from != moved.to && read.asks.iter().any(|it| at(&it))
        };
        let counted =
            |it: &CounterAddition| it.cells.intersects(&read.reads) || read.asks_in(&it.cells);
        let changed = |(at, it): &(ChannelSlot, ChannelEffect)| {
            it.changes() && read.channels.iter().any(|(other, _)| other == at)
        };
        (read.reads_anything && self.changes_anything())
            || (read.reads_instances && self.writes_instances)
            || (read.reads_commitment && (self.writes_commitment || self.writes_instances))
            || self.writes.intersects(&read.reads)
            || read.asks_in(&self.writes)
            || self.sets.iter().any(|(cell, _)| read.reads.contains(*cell))
            || self.adds.iter().any(counted)
            || self.moves.iter().any(asked)
            || self.moves.iter().any(|it| it.from != it.to && read.reads.contains(it.cell))
            || self.channels.iter().any(changed)
    }

    /// Whether it asks about a location that one of these cells tells.
    fn asks_in(&self, cells: &CellSet) -> bool {
        self.asks.iter().any(|(cell, _)| cells.contains(*cell))
    }

    /// All cells that may be written, but for those of channels.
    pub fn written(&self) -> CellSet {
        let mut cells = self.writes.clone();
        self.sets.iter().for_each(|(cell, _)| cells.insert(cell.0..cell.0 + 1));
        self.adds.iter().for_each(|it| cells.extend(&it.cells));
        let moves = self.moves.iter().filter(|it| it.from != it.to);
        moves.for_each(|it| cells.insert(it.cell.0..it.cell.0 + 1));
        cells
    }
}

impl ChannelEffect {
    /// Whether a message may come before others that were there.
    pub fn reorders(self) -> bool {
        self.changes() && self != ChannelEffect::Guarded(ChannelOperation::Send)
    }

    /// Whether messages come or go.
    pub fn changes(self) -> bool {
        match self {
            ChannelEffect::Guarded(operation) => operation.changes(),
            ChannelEffect::Queried => false,
            ChannelEffect::Changed => true,
        }
    }
}
