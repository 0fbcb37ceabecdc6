//! Candidates, from where they come about to where they lie sorted.

use super::candidate_log::CandidateLog;
use spill::{Codec, FileName, RecentKeys, Result, ValueSpec, sort_pairs};

/// Bytes of a thread's table of recent candidates; with a batch they fit the second-level cache.
const RECENT_BYTES: usize = 256 << 10;

/// Exceptions may take this part of what the buffer may take, as a divisor, before they go to disk.
const EXCEPTIONS_SHARE: usize = 8;

/// The candidates of a worker: those generated lately, a buffer that is sorted when it is full, and
/// runs on disk.
pub(super) struct CandidateCollector {
    /// Bytes of a candidate as the model gives it.
    whole: usize,
    /// Bytes of a candidate in the buffer: of a projected one, if the codec has keys projected.
    width: usize,
    /// What candidates end with, if that is not part of the state.
    values: Option<ValueSpec>,
    /// Bytes that the buffer may take at present.
    limit: usize,
    recent: RecentKeys,
    /// Candidates just projected.
    projected: Vec<u8>,
    buffer: Vec<u8>,
    scratch: Vec<u8>,
    /// Candidates that are exceptions to the projection, as the model gives them.
    exceptions: Vec<u8>,
    /// The bits that are exceptional in those that are on disk.
    exceptional_bits: Vec<u8>,
    pub(super) log: CandidateLog,
}

impl CandidateCollector {
    /// No candidates, in a buffer of `limit` bytes.
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
            exceptional_bits: vec![0; whole],
            log,
        }
    }

    /// Lets the buffer take `limit` bytes.
    pub(super) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
        if self.buffer.is_empty() && self.buffer.capacity() > limit {
            (self.buffer, self.scratch) = (Vec::new(), Vec::new());
        }
    }

    /// Bytes that the buffer may take at present.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Makes room for as many candidates as there may be.
    pub(super) fn reserve(&mut self) {
        self.buffer.reserve_exact(self.limit.saturating_sub(self.buffer.len()));
    }

    /// Takes candidates as the model gives them. Runs are written to the file `name`.
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
        self.recent.append_new(candidates, &mut self.buffer);
        fresh.clear();
        if self.exceptions.len() > self.limit / EXCEPTIONS_SHARE {
            self.write_exceptions(name)?;
        }
        Ok(())
    }

    /// Sorts what there is.
    pub(super) fn sort(&mut self) {
        sort_pairs(self.width, self.values.as_ref(), &mut self.buffer, &mut self.scratch);
    }

    /// What is in the buffer, once it is sorted.
    pub(super) fn sorted(&self) -> &[u8] {
        &self.buffer
    }

    /// The bits in which some candidate is an exception.
    pub(super) fn exceptional_bits(&self) -> Option<Vec<u8>> {
        let projection = self.log.codec().projection()?;
        let here = projection.exceptional_bits(&self.exceptions);
        Some(here.iter().zip(&self.exceptional_bits).map(|(one, other)| one | other).collect())
    }

    /// Has another codec write from now on, to which there are no exceptions. The buffer is sorted
    /// before and after.
    pub(super) fn change_codec(&mut self, codec: &Codec, name: FileName) -> Result<()> {
        let width = codec.key_width(self.whole);
        let count = self.buffer.len() / self.width + self.exceptions.len() / self.whole;
        // For a moment there are both, and both sorts' scratch.
        if self.buffer.len() + count * width > self.limit {
            self.save(name)?;
        }
        let mut buffer = codec.adopt(self.log.codec(), self.whole, &self.buffer);
        buffer.append(&mut codec.adopt(&Codec::Gaps, self.whole, &self.exceptions));
        self.exceptions.clear();
        self.exceptional_bits.fill(0);
        (self.buffer, self.width) = (buffer, width);
        self.recent = RecentKeys::new(width, RECENT_BYTES);
        self.log.set_codec(codec);
        self.sort();
        Ok(())
    }

    /// Writes all candidates out; the buffer is sorted.
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

    /// Writes the exceptions out.
    fn write_exceptions(&mut self, name: FileName) -> Result<()> {
        self.exceptional_bits = self.exceptional_bits().unwrap_or_default();
        sort_pairs(self.whole, self.values.as_ref(), &mut self.exceptions, &mut self.scratch);
        self.log.write_exceptional(name, &self.exceptions)?;
        self.exceptions.clear();
        Ok(())
    }

    /// Forgets all candidates; gives the file to remove, if there is one.
    pub(super) fn clear(&mut self) -> Option<FileName> {
        self.buffer.clear();
        self.exceptions.clear();
        self.exceptional_bits.fill(0);
        self.log.clear()
    }
}
