//! Obligations, from where they are told to where they lie sorted.
//!
//! An obligation is a record: a successor as the model gives it and, behind it, the rank of the state that
//! has it, in its level, in big-endian bytes. So records ascend by successor, which is what they are
//! joined by, and are keys like others, only longer.

use super::candidate_log::CandidateLog;
use spill::{Codec, Disk, FileName, FileSegment, Result, sort_dedup};
use std::sync::Arc;

/// Bytes of a rank.
pub const RANK: usize = 5;

/// The obligations that a worker was told of: a buffer that is sorted when it is full, and runs on disk.
pub struct ObligationBuffer {
    /// The worker's number.
    shard: u16,
    /// Bytes of a record.
    width: usize,
    /// Bytes that the buffer may always take.
    share: usize,
    /// Bytes that it may take at present.
    limit: usize,
    buffer: Vec<u8>,
    scratch: Vec<u8>,
    log: CandidateLog,
}

impl ObligationBuffer {
    /// None yet, of states of `whole` bytes, in a buffer of `share` bytes.
    pub fn new(shard: u16, whole: usize, share: usize, disk: &Arc<dyn Disk>) -> ObligationBuffer {
        let width = whole + RANK;
        let log = CandidateLog::new(disk, width, None, &Codec::Gaps).with_few_repeats();
        let (buffer, scratch) = (Vec::new(), Vec::new());
        let share = share.max(width);
        ObligationBuffer { shard, width, share, limit: share, buffer, scratch, log }
    }

    /// Gives the buffer, in which there is nothing, and its sorting buffer `spare` bytes each more than
    /// they are sure of.
    pub(super) fn grow_buffer(&mut self, spare: usize) {
        self.limit = self.share + spare;
        if self.buffer.capacity() > self.limit {
            (self.buffer, self.scratch) = (Vec::new(), Vec::new());
        }
    }

    /// Takes note that the state of this rank in `level` has this successor.
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

    /// Rids the buffer of repeats, or writes it out.
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

    /// Sorts what there is.
    pub fn sort(&mut self) {
        sort_dedup(self.width, &mut self.buffer, &mut self.scratch);
    }

    /// Goes on after the `length` bytes that the runs of `level` had at a checkpoint.
    pub fn restore(&mut self, level: u32, length: u64) -> Result<()> {
        self.log.restore(self.file(level), length)
    }

    /// What is in the buffer, sorted: the last run.
    pub fn sorted(&self) -> &[u8] {
        &self.buffer
    }

    /// The runs written since the level began, or since the checkpoint it was resumed from.
    pub fn pieces(&self) -> impl Iterator<Item = &FileSegment> {
        self.log.pieces()
    }

    /// The length of the file of runs in bytes; absent if there is none.
    pub fn log_length(&self) -> Option<u64> {
        self.log.length()
    }

    /// Makes the runs readable.
    pub fn flush(&mut self) -> Result<()> {
        self.log.flush()
    }

    /// Writes all of them out, which are of `level`, and makes all runs durable.
    pub fn save(&mut self, level: u32) -> Result<()> {
        if !self.buffer.is_empty() {
            self.write(level)?;
        }
        self.log.sync()
    }

    /// Forgets them; gives the file to remove, if there is one.
    pub fn clear(&mut self) -> Option<FileName> {
        self.buffer.clear();
        self.log.clear()
    }

    fn file(&self, level: u32) -> FileName {
        FileName::Obligations { level, shard: self.shard }
    }
}
