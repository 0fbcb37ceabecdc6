//! Weak fairness of processes: the processes to which each transition is fair.
//!
//! A run is *weakly fair* if each process that is enabled from some point on takes part in infinitely many transitions.
//! Equivalently: for each process, infinitely many transitions of the run are *fair to it*. A transition is fair to a
//! process that takes part in it, and to a process that is not enabled in its source state. So one set of processes for
//! each transition is enough, and no state is stored twice (generalised Büchi acceptance on edges).

use super::{ExpansionOutcome, Result, SuccessorSink};

/// The greatest number of processes in a set.
pub const PROCESSES_MAX: usize = 256;

const WORDS: usize = PROCESSES_MAX / 64;

/// A set of processes, by number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessSet([u64; WORDS]);

impl ProcessSet {
    /// Bytes of a set.
    pub const BYTES: usize = 8 * WORDS;

    /// The empty set.
    pub const NONE: ProcessSet = ProcessSet([0; WORDS]);

    /// Returns the set of the first `count` processes.
    pub fn first(count: usize) -> ProcessSet {
        let mut all = ProcessSet::NONE;
        (0..count).for_each(|process| all.insert(process));
        all
    }

    /// Adds a process.
    pub fn insert(&mut self, process: usize) {
        self.0[process / 64] |= 1 << (process % 64);
    }

    /// Returns whether a process is in the set.
    pub fn contains(&self, process: usize) -> bool {
        self.0[process / 64] >> (process % 64) & 1 == 1
    }

    /// Adds the processes of another set.
    pub fn extend(&mut self, other: ProcessSet) {
        self.0.iter_mut().zip(other.0).for_each(|(own, theirs)| *own |= theirs);
    }

    /// Returns the processes that are not in another set.
    pub fn without(&self, other: ProcessSet) -> ProcessSet {
        let mut left = *self;
        left.0.iter_mut().zip(other.0).for_each(|(own, theirs)| *own &= !theirs);
        left
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0 == [0; WORDS]
    }

    /// Returns the number of processes.
    pub fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Encodes the set as bytes.
    pub fn to_bytes(self) -> [u8; ProcessSet::BYTES] {
        let mut bytes = [0; ProcessSet::BYTES];
        bytes.chunks_exact_mut(8).zip(self.0).for_each(|(to, word)| {
            to.copy_from_slice(&word.to_le_bytes());
        });
        bytes
    }

    /// Decodes a set.
    pub fn from_bytes(bytes: &[u8]) -> ProcessSet {
        let mut set = ProcessSet::NONE;
        for (word, bytes) in set.0.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_le_bytes(bytes.first_chunk().copied().unwrap_or_default());
        }
        set
    }
}

/// A state space that computes the processes to which each transition is fair.
pub trait FairSteps: Sync {
    /// Returns the number of processes, which are numbered from 0.
    fn processes(&self) -> usize;

    /// As [`StateSpace::expand`](super::StateSpace::expand) of one state; each candidate is a record of the successor
    /// and the [bytes](ProcessSet::to_bytes) of the set of processes to which the transition is fair.
    fn expand_fair(&self, state: &[u8], out: &mut SuccessorSink);
}

/// Fills `records` with the records of the successors of a state.
///
/// # Errors
///
/// As [`SuccessorSink::collect`].
pub fn collect_fair(
    fair: &dyn FairSteps,
    state: &[u8],
    records: &mut Vec<u8>,
) -> Result<ExpansionOutcome> {
    records.clear();
    let run = |out: &mut SuccessorSink| fair.expand_fair(state, out);
    SuccessorSink::collect(state.len() + ProcessSet::BYTES, records, run)
}

/// Returns the states of `width` bytes in records, with their sets.
pub fn fair_records(
    records: &[u8],
    width: usize,
) -> impl ExactSizeIterator<Item = (&[u8], ProcessSet)> {
    records.chunks_exact(width + ProcessSet::BYTES).map(move |record| {
        let (state, set) = record.split_at(width);
        (state, ProcessSet::from_bytes(set))
    })
}
