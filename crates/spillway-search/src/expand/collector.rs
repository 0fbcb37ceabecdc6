//! The collection of candidates from generation to sorted runs.

use super::candidate_log::CandidateLog;
use spill::{Codec, FileName, RecentKeys, Result, ValueSpec, sort_pairs};

/// Bytes of a thread's table of recent candidates. The table and a batch fit the second-level cache.
const RECENT_BYTES: usize = 256 << 10;

/// The number of candidates of a level that need no table.
const FEW: usize = 16;

/// The divisor of the buffer's limit that bounds the exceptions in memory.
const EXCEPTIONS_SHARE: usize = 8;

/// The candidates of a worker: a table of recent ones, a buffer that is sorted when it is full, and runs on disk.
pub(super) struct CandidateCollector {
    /// Bytes of a candidate as the model generates it.
    whole: usize,
    /// Bytes of a candidate in the buffer, projected if the codec projects keys.
    width: usize,
    /// The values at the end of candidates, if they are not part of the state.
    values: Option<ValueSpec>,
    /// The current limit of the buffer in bytes.
    limit: usize,
    recent: RecentKeys,
    /// Buffer of projected candidates.
    projected: Vec<u8>,
    buffer: Vec<u8>,
    scratch: Vec<u8>,
    /// Candidates that are exceptions to the projection, as the model generates them.
    exceptions: Vec<u8>,
    /// The exceptional bits of the candidates on disk; empty if there are none.
    exceptional_bits: Vec<u8>,
    pub(super) log: CandidateLog,
}

impl CandidateCollector {
    /// Creates an empty collector with a buffer of `limit` bytes.
    pub(super) fn new(whole: usize, limit: usize, log: CandidateLog) -> CandidateCollector {
        let width = log.codec().key_width(whole);
        CandidateCollector {
            whole,
            width,
            values: log.values().cloned(),
            limit,
            recent: RecentKeys::new(width, RECENT_BYTES),
            projected: Vec::new(),
            buffer: Vec::new(),
            scratch: Vec::new(),
            exceptions: Vec::new(),
            exceptional_bits: Vec::new(),
            log,
        }
    }

    /// Sets the limit of the buffer to `limit` bytes.
    pub(super) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
        if self.buffer.is_empty() && self.buffer.capacity() > limit {
            (self.buffer, self.scratch) = (Vec::new(), Vec::new());
        }
    }

    /// Returns the current limit of the buffer in bytes.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Allocates the buffer up to its limit.
    pub(super) fn reserve(&mut self) {
        self.buffer.reserve_exact(self.limit.saturating_sub(self.buffer.len()));
    }

    /// Takes candidates as the model generates them. Writes runs to the file `name`.
    pub(super) fn take(&mut self, name: FileName, fresh: &mut Vec<u8>) -> Result<()> {
        let candidates = match self.log.codec().projection() {
            None => &*fresh,
            Some(projection) => {
                self.projected.clear();
                projection.project(fresh, &mut self.projected, &mut self.exceptions);
                &self.projected
            }
        };
        if self.buffer.len() + candidates.len() > self.limit / self.width * self.width {
            sort_pairs(self.width, self.values.as_ref(), &mut self.buffer, &mut self.scratch);
            if self.buffer.len() > self.limit / 2 {
                self.log.write(name, &self.buffer)?;
                self.buffer.clear();
            }
        }
        if self.buffer.is_empty() && candidates.len() <= FEW * self.width {
            // Sorting them removes the repeats sooner.
            self.buffer.extend_from_slice(candidates);
        } else {
            self.recent.append_new(candidates, &mut self.buffer);
        }
        fresh.clear();
        if self.exceptions.len() > self.limit / EXCEPTIONS_SHARE {
            self.write_exceptions(name)?;
        }
        Ok(())
    }

    /// Sorts the buffer.
    pub(super) fn sort(&mut self) {
        sort_pairs(self.width, self.values.as_ref(), &mut self.buffer, &mut self.scratch);
    }

    /// Returns the buffer, which must be sorted.
    pub(super) fn sorted(&self) -> &[u8] {
        &self.buffer
    }

    /// Returns the bits in which some candidate is an exception, if there is one.
    pub(super) fn exceptional_bits(&self) -> Option<Vec<u8>> {
        let projection = self.log.codec().projection()?;
        if self.exceptions.is_empty() && self.exceptional_bits.is_empty() {
            return None;
        }
        let mut bits = projection.exceptional_bits(&self.exceptions);
        bits.iter_mut().zip(&self.exceptional_bits).for_each(|(bits, other)| *bits |= other);
        Some(bits)
    }

    /// Changes the codec. The new one must represent all candidates without exceptions. The buffer is sorted before and
    /// after.
    pub(super) fn change_codec(&mut self, codec: &Codec, name: FileName) -> Result<()> {
        let width = codec.key_width(self.whole);
        let count = self.buffer.len() / self.width + self.exceptions.len() / self.whole;
        // Both buffers exist for a moment, and the scratch space of both sorts.
        if self.buffer.len() + count * width > self.limit {
            self.save(name)?;
        }
        let mut buffer = codec.adopt(self.log.codec(), self.whole, &self.buffer);
        buffer.append(&mut codec.adopt(&Codec::Gaps, self.whole, &self.exceptions));
        self.exceptions.clear();
        self.exceptional_bits.clear();
        (self.buffer, self.width) = (buffer, width);
        self.recent = RecentKeys::new(width, RECENT_BYTES);
        self.log.set_codec(codec);
        self.sort();
        Ok(())
    }

    /// Writes all candidates to disk. The buffer must be sorted.
    pub(super) fn save(&mut self, name: FileName) -> Result<()> {
        if !self.buffer.is_empty() {
            self.log.write(name, &self.buffer)?;
            self.buffer.clear();
        }
        if !self.exceptions.is_empty() {
            self.write_exceptions(name)?;
        }
        Ok(())
    }

    /// Writes the exceptions to disk.
    fn write_exceptions(&mut self, name: FileName) -> Result<()> {
        self.exceptional_bits = self.exceptional_bits().unwrap_or_default();
        sort_pairs(self.whole, self.values.as_ref(), &mut self.exceptions, &mut self.scratch);
        self.log.write_exceptional(name, &self.exceptions)?;
        self.exceptions.clear();
        Ok(())
    }

    /// Drops all candidates. Returns the file to remove, if there is one.
    pub(super) fn clear(&mut self) -> Option<FileName> {
        self.buffer.clear();
        self.exceptions.clear();
        self.exceptional_bits.clear();
        self.log.clear()
    }
}
