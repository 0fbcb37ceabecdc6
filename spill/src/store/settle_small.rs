//! Settling a small level: with few candidates in memory, without threads, merges and a stream of batches.
//!
//! The result on disk is the same as that of `settle.rs`, byte for byte: one piece in the first shard. A level whose
//! predecessor is small is settled in one range in any case.

use super::Store;
use super::filter::LookupStats;
use super::settle::{Candidates, SettleOutcome};
use super::small_levels::{SMALL_LEVEL_BYTES, SMALL_LEVEL_KEYS, SmallLevels, SortedSmallLevels};
use super::store_subtract::StoreSubtract;
use crate::disk::Result;
use crate::runs::sort_dedup;

/// The part of the maximum size of the last level that small levels take, as a divisor. Sorting them takes as much
/// again, and the last of them remains.
const SMALL_LEVELS_SHARE: usize = 4;

/// Buffers that are reused for each small level.
#[derive(Default)]
pub(super) struct SmallLevelBuffers {
    /// The candidates.
    batch: Vec<u8>,
    /// The candidates that a filter selects, or the second buffer of a sort.
    scratch: Vec<u8>,
}

impl Store {
    /// Returns whether a level of these candidates, and the last level, are small.
    pub(super) fn is_small(&self, candidates: &Candidates) -> bool {
        let bytes: usize = candidates.slices.iter().map(|it| it.len()).sum();
        candidates.segments.is_empty()
            && bytes <= SMALL_LEVEL_BYTES.min(SMALL_LEVEL_KEYS * self.width)
            && SmallLevels::can_hold(self.width, bytes, self.small_bytes_max())
            && self.levels.last_keys() <= SMALL_LEVEL_KEYS as u64
            && self.values().is_none()
            && self.dominance.is_none()
    }

    /// Does the same as [`settle`](Store::settle) for a small level.
    pub(super) fn settle_small(
        &mut self,
        candidates: &Candidates,
        threads: usize,
        stop: &dyn Fn() -> bool,
    ) -> Result<SettleOutcome> {
        if stop() {
            return Ok(SettleOutcome::Stopped);
        }
        let plain = self.plain_bytes(candidates);
        let mut buffers = std::mem::take(&mut self.small_buffers);
        let settled = self.settle_in(&mut buffers, candidates, plain, threads);
        self.small_buffers = buffers;
        settled.map(SettleOutcome::New)
    }

    /// Settles a small level in these buffers. Returns the number of new keys.
    fn settle_in(
        &mut self,
        buffers: &mut SmallLevelBuffers,
        candidates: &Candidates,
        plain: u64,
        threads: usize,
    ) -> Result<u64> {
        let SmallLevelBuffers { batch, scratch } = buffers;
        batch.clear();
        let slices = candidates.slices.iter().filter(|it| !it.is_empty());
        slices.clone().for_each(|it| batch.extend_from_slice(it));
        if slices.count() > 1 {
            sort_dedup(self.width, batch, scratch);
        }
        let looked = self.subtract_all(batch, scratch)?;
        self.filter.record_lookups(looked);
        if batch.is_empty() {
            return Ok(0);
        }
        let whole = self.whole;
        let shard = &mut self.levels.shards(1, plain)?[0];
        let piece = shard.write_small(whole, batch)?;
        let new = self.levels.push([piece])?;
        self.filter.insert(batch);
        self.add_small_level(batch, threads)?;
        Ok(new)
    }

    /// Removes all keys of the store from `batch`.
    fn subtract_all(&self, batch: &mut Vec<u8>, scratch: &mut Vec<u8>) -> Result<LookupStats> {
        let candidates = (batch.len() / self.width) as u64;
        self.small.iter().for_each(|small| small.subtract(batch));
        let filter = self.filter.filter();
        if let Some(filter) = filter {
            scratch.clear();
            filter.select(self.width, batch, scratch);
            if scratch.is_empty() {
                return Ok(LookupStats { candidates, ..LookupStats::default() });
            }
        }
        if batch.is_empty() || self.young.is_empty() && self.old.is_empty() {
            return Ok(LookupStats { candidates, ..LookupStats::default() });
        }
        let mut known = StoreSubtract::new(self.width, &self.young, filter, &self.old);
        known.subtract(batch)?;
        Ok(LookupStats { candidates, ..known.lookup_stats() })
    }

    /// Adds the small level just pushed to the log to the store.
    fn add_small_level(&mut self, keys: &[u8], threads: usize) -> Result<()> {
        if self.small.as_ref().is_some_and(|small| !small.has_room(keys.len())) {
            self.sort_small_levels(threads)?;
        }
        if self.small.is_none() {
            let bytes_max = self.small_bytes_max();
            self.merge_young(bytes_max, threads)?;
            let (level, buffer) = (self.levels.len() as u32 - 1, self.spare.take());
            self.small = Some(SmallLevels::new(self.width, level, buffer, bytes_max));
        }
        self.small.iter_mut().for_each(|small| small.push(keys));
        Ok(())
    }

    /// Turns small levels into sorted runs, as if none had been small.
    ///
    /// # Errors
    ///
    /// Runs that do not fit in memory cannot be written to disk.
    pub fn sort_small_levels(&mut self, threads: usize) -> Result<()> {
        let Some(small) = self.small.take() else { return Ok(()) };
        let SortedSmallLevels { earlier, last, room } = small.sort(self.spare.take());
        self.recycle_buffer(room);
        self.young.extend(earlier);
        self.merge_young(last.keys.len(), threads)?;
        self.young.push(last);
        self.flush_if_full(threads)
    }

    /// Returns the maximum size of small levels and their table in bytes.
    fn small_bytes_max(&self) -> usize {
        self.last_level_bytes_max() / SMALL_LEVELS_SHARE
    }
}
