//! Weak fairness of processes: to which processes each transition is fair.
//!
//! A run is *weakly fair* if each process that is enabled from some point on takes part in infinitely many transitions.
//! Equivalently: for each process, infinitely many transitions of the run are *fair to it*. A transition is fair to a
//! process that takes part in it, and to a process that is not enabled in the state before. So one set of processes for each
//! transition is enough, and no state is stored twice (generalised Büchi acceptance on edges).

use super::{ExpansionOutcome, Result, SuccessorSink};

/// A set holds at most this many processes.
pub const PROCESSES_MAX: usize = 256;

const WORDS: usize = PROCESSES_MAX / 64;

/// A set of processes, by number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessSet([u64; WORDS]);

impl ProcessSet {
    /// Bytes of a set.
    pub const BYTES: usize = 8 * WORDS;

    /// No processes.
    pub const NONE: ProcessSet = ProcessSet([0; WORDS]);

    /// The first `count` processes.
    pub fn first(count: usize) -> ProcessSet {
        let mut all = ProcessSet::NONE;
        (0..count).for_each(|process| all.insert(process));
        all
    }

    /// Adds a process.
    pub fn insert(&mut self, process: usize) {
        self.0[process / 64] |= 1 << (process % 64);
    }

    /// Whether a process is in the set.
    pub fn contains(&self, process: usize) -> bool {
        self.0[process / 64] >> (process % 64) & 1 == 1
    }

    /// Adds the processes of another set.
    pub fn extend(&mut self, other: ProcessSet) {
        self.0.iter_mut().zip(other.0).for_each(|(own, theirs)| *own |= theirs);
    }

    /// The processes that are not in another set.
    pub fn without(&self, other: ProcessSet) -> ProcessSet {
        let mut left = *self;
        left.0.iter_mut().zip(other.0).for_each(|(own, theirs)| *own &= !theirs);
        left
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0 == [0; WORDS]
    }

    /// The number of processes.
    pub fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// The set as bytes.
    pub fn to_bytes(self) -> [u8; ProcessSet::BYTES] {
        let mut bytes = [0; ProcessSet::BYTES];
        bytes.chunks_exact_mut(8).zip(self.0).for_each(|(to, word)| {
            to.copy_from_slice(&word.to_le_bytes());
        });
        bytes
    }

    /// The set from its bytes.
    pub fn from_bytes(bytes: &[u8]) -> ProcessSet {
        let mut set = ProcessSet::NONE;
        for (word, bytes) in set.0.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_le_bytes(bytes.first_chunk().copied().unwrap_or_default());
        }
        set
    }
}

/// A state space that knows of each transition to which processes it is fair.
pub trait FairSteps: Sync {
    /// The number of processes: they are numbered from 0.
    fn processes(&self) -> usize;

    /// As [`StateSpace::expand`](super::StateSpace::expand) of one state; each candidate is a record of the successor and
    /// the [bytes](ProcessSet::to_bytes) of the set of processes that the transition is fair to.
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

/// The states of `width` bytes in records, with their sets.
pub fn fair_records(
    records: &[u8],
    width: usize,
) -> impl ExactSizeIterator<Item = (&[u8], ProcessSet)> {
    records.chunks_exact(width + ProcessSet::BYTES).map(move |record| {
        let (state, set) = record.split_at(width);
        (state, ProcessSet::from_bytes(set))
    })
}
