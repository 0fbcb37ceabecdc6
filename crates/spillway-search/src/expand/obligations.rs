//! The collection of proviso obligations, from generation to sorted runs.
//!
//! An obligation is a record: a successor as the model generates it, followed by the rank of its predecessor in its
//! level, big-endian. So records ascend by successor, by which they are joined, and are ordinary keys of greater width.

use super::candidate_log::CandidateLog;
use spill::{Codec, Disk, FileName, FileSegment, Result, sort_dedup};
use std::sync::Arc;

/// Bytes of a rank.
pub const RANK: usize = 5;

/// The obligations of a worker: a buffer that is sorted when it is full, and runs on disk.
pub struct ObligationBuffer {
    /// The number of the worker.
    shard: u16,
    /// Bytes of a record.
    width: usize,
    /// The guaranteed size of the buffer in bytes.
    share: usize,
    /// The current limit of the buffer in bytes.
    limit: usize,
    buffer: Vec<u8>,
    scratch: Vec<u8>,
    log: CandidateLog,
}

impl ObligationBuffer {
    /// Creates an empty buffer of `share` bytes for states of `whole` bytes.
    pub fn new(shard: u16, whole: usize, share: usize, disk: &Arc<dyn Disk>) -> ObligationBuffer {
        let width = whole + RANK;
        let log = CandidateLog::new(disk, width, None, &Codec::Gaps).with_few_repeats();
        let (buffer, scratch) = (Vec::new(), Vec::new());
        let share = share.max(width);
        ObligationBuffer { shard, width, share, limit: share, buffer, scratch, log }
    }

    /// Raises the limits of the buffer, which is empty, and of its sorting buffer by `spare` bytes each.
    pub(super) fn grow_buffer(&mut self, spare: usize) {
        self.limit = self.share + spare;
        if self.buffer.capacity() > self.limit {
            (self.buffer, self.scratch) = (Vec::new(), Vec::new());
        }
    }

    /// Adds the obligation that the state of this rank in `level` has this successor.
    pub fn add_obligation(&mut self, level: u32, rank: u64, successor: &[u8]) -> Result<()> {
        debug_assert_eq!(successor.len() + RANK, self.width);
        debug_assert!(rank >> (8 * RANK) == 0);
        if self.buffer.len() + self.width > self.limit {
            self.make_room(level)?;
        }
        self.buffer.reserve_exact(self.limit.saturating_sub(self.buffer.len()));
        self.buffer.extend_from_slice(successor);
        self.buffer.extend_from_slice(&rank.to_be_bytes()[8 - RANK..]);
        Ok(())
    }

    /// Removes duplicates from the buffer, or writes it to disk.
    fn make_room(&mut self, level: u32) -> Result<()> {
        self.sort();
        if self.buffer.len() > self.limit / 2 {
            self.write(level)?;
        }
        Ok(())
    }

    fn write(&mut self, level: u32) -> Result<()> {
        self.log.write(self.file(level), &self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// Sorts the buffer.
    pub fn sort(&mut self) {
        sort_dedup(self.width, &mut self.buffer, &mut self.scratch);
    }

    /// Continues after the `length` bytes that the runs of `level` had at a checkpoint.
    pub fn restore(&mut self, level: u32, length: u64) -> Result<()> {
        self.log.restore(self.file(level), length)
    }

    /// Returns the buffer, which must be sorted: the last run.
    pub fn sorted(&self) -> &[u8] {
        &self.buffer
    }

    /// Returns the runs written since the level began or was resumed.
    pub fn pieces(&self) -> impl Iterator<Item = &FileSegment> {
        self.log.pieces()
    }

    /// Returns the length of the file of runs in bytes, if there is one.
    pub fn log_length(&self) -> Option<u64> {
        self.log.length()
    }

    /// Makes the runs readable.
    pub fn flush(&mut self) -> Result<()> {
        self.log.flush()
    }

    /// Writes all obligations, which are of `level`, to disk, and makes all runs durable.
    pub fn save(&mut self, level: u32) -> Result<()> {
        if !self.buffer.is_empty() {
            self.write(level)?;
        }
        self.log.sync()
    }

    /// Drops the obligations. Returns the file to remove, if there is one.
    pub fn clear(&mut self) -> Option<FileName> {
        self.buffer.clear();
        self.log.clear()
    }

    fn file(&self, level: u32) -> FileName {
        FileName::Obligations { level, shard: self.shard }
    }
}
