//! What code accesses of a state: cells, locations, channels, and facts that no cell holds.

use super::cell_set::CellSet;
use super::failure_kinds::FailureKinds;
use super::walk::ChannelOperation;
use spillway_ir::layout::CellId;
use spillway_ir::{ChannelId, LocationId};
use std::ops::Range;

/// A channel of the program, or a channel in one slot of its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelSlot {
    /// The channel.
    pub id: ChannelId,
    /// The slot of the owner; 0 for a channel of the program.
    pub slot: u32,
}

/// The effect of a step on a buffered channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChannelEffect {
    /// The step is this operation. It is enabled only if the operation is possible.
    Guarded(ChannelOperation),
    /// The step may read anything of the channel.
    Queried,
    /// The step may change the channel in any way.
    Changed,
}

/// An addition of a constant to a counter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CounterAddition {
    /// The cells that may be the counter.
    pub cells: CellSet,
    /// The constant.
    pub by: i64,
    /// Whether the addition is executed exactly once. In a loop it may be executed any number of times.
    pub is_once: bool,
    /// Whether several such additions surely have the same result in any order, and never fail.
    pub commutes: bool,
    /// Whether the sign of `by` surely is that of the change, unless the step fails.
    pub is_monotone: bool,
}

/// A possible change of the location of a process. A process is at no location before it starts and after it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LocationChange {
    /// The cell that holds the location.
    pub cell: CellId,
    /// The location before the step, if any.
    pub from: Option<LocationId>,
    /// The possible location after the step, if any.
    pub to: Option<LocationId>,
}

/// The possible reads and writes of some code. All sets are over-approximations, except `definite_writes`, which is
/// an under-approximation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AccessSet {
    /// The cells that are read, except those of the fields below.
    pub reads: CellSet,
    /// Queries whether a process is at a location: the cell that holds its location, and the location.
    pub asks: Vec<(CellId, LocationId)>,
    /// The cells that are written, except those of the fields below.
    pub writes: CellSet,
    /// The cells to which a constant is assigned.
    pub sets: Vec<(CellId, i64)>,
    /// The counters to which a constant is added.
    pub adds: Vec<CounterAddition>,
    /// The cells that get new values in every successor, independently of their old values.
    pub definite_writes: CellSet,
    /// The processes that move.
    pub moves: Vec<LocationChange>,
    /// The effects on buffered channels.
    pub channels: Vec<(ChannelSlot, ChannelEffect)>,
    /// Whether the set of instances is read.
    pub reads_instances: bool,
    /// Whether instances may start or end.
    pub writes_instances: bool,
    /// Whether the code reads whether a process is at a committed location.
    pub reads_commitment: bool,
    /// Whether the code may change whether a process is at a committed location.
    pub writes_commitment: bool,
    /// Whether the code may read anything, because the analysis does not understand it.
    pub reads_anything: bool,
    /// Whether the code reads `timeout`: whether anything is possible without it.
    pub reads_timeout: bool,
    /// Whether an assumption may cancel the step.
    pub may_drop: bool,
    /// The ways in which the code may fail.
    pub failures: FailureKinds,
}

impl AccessSet {
    /// Adds the accesses of other code in the same step.
    pub fn extend(&mut self, other: AccessSet) {
        let surely = other.definite_writes.clone();
        self.extend_optional(other);
        self.definite_writes.extend(&surely);
    }

    /// Adds the accesses of code that may or may not be executed.
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
        self.reads_timeout |= other.reads_timeout;
        self.may_drop |= other.may_drop;
        self.failures.join(other.failures);
    }

    /// Returns the approximate number of bytes of the lists.
    pub fn bytes(&self) -> usize {
        let cells = [&self.reads, &self.writes, &self.definite_writes].map(|it| it.ranges().len());
        cells.iter().sum::<usize>() * size_of::<Range<u32>>()
            + size_of_val(self.asks.as_slice())
            + size_of_val(self.sets.as_slice())
            + size_of_val(self.adds.as_slice())
            + size_of_val(self.moves.as_slice())
            + size_of_val(self.channels.as_slice())
    }

    /// Returns whether the code may change the state.
    pub fn changes_anything(&self) -> bool {
        let changes = |&(_, it): &(ChannelSlot, ChannelEffect)| it.changes();
        !self.writes.is_empty()
            || !self.sets.is_empty()
            || !self.adds.is_empty()
            || self.moves.iter().any(|it| it.from != it.to)
            || self.channels.iter().any(changes)
            || self.writes_instances
    }

    /// Returns the reads, as those of code without effects.
    pub fn as_reads(&self) -> AccessSet {
        let mut reads = self.reads.clone();
        self.adds.iter().for_each(|it| reads.extend(&it.cells));
        let channels = self.channels.iter().map(|(at, _)| (*at, ChannelEffect::Queried)).collect();
        let AccessSet { reads_instances, reads_commitment, .. } = *self;
        let AccessSet { reads_anything, reads_timeout, .. } = *self;
        let asks = self.asks.clone();
        AccessSet {
            reads,
            asks,
            channels,
            reads_instances,
            reads_commitment,
            reads_anything,
            reads_timeout,
            ..AccessSet::default()
        }
    }

    /// Returns the reads without those of channels and counters, which are described more precisely.
    pub fn plain_reads(&self) -> AccessSet {
        let (reads, asks) = (self.reads.clone(), self.asks.clone());
        AccessSet { reads, asks, channels: Vec::new(), ..self.as_reads() }
    }

    /// Adds a read of anything of some channels.
    pub fn ask(&mut self, channels: &[ChannelSlot]) {
        self.channels.extend(channels.iter().map(|at| (*at, ChannelEffect::Queried)));
    }

    /// Returns the reads of a query about what other processes can do. These may wait for `timeout`.
    pub(super) fn of_others() -> AccessSet {
        AccessSet { reads_anything: true, reads_timeout: true, ..AccessSet::default() }
    }

    /// Returns whether the result may depend on any part of the state.
    pub fn depends_on_anything(&self) -> bool {
        self.reads_anything || self.reads_timeout
    }

    /// Returns whether this code may change what other code reads.
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
        (read.depends_on_anything() && self.changes_anything())
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

    /// Returns whether the code queries a location that is held in one of these cells.
    fn asks_in(&self, cells: &CellSet) -> bool {
        self.asks.iter().any(|(cell, _)| cells.contains(*cell))
    }

    /// Returns all cells that may be written, except those of channels.
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
    /// Returns whether a message may be put before existing ones.
    pub fn reorders(self) -> bool {
        self.changes() && self != ChannelEffect::Guarded(ChannelOperation::Send)
    }

    /// Returns whether messages may be added or removed.
    pub fn changes(self) -> bool {
        match self {
            ChannelEffect::Guarded(operation) => operation.changes(),
            ChannelEffect::Queried => false,
            ChannelEffect::Changed => true,
        }
    }
}
