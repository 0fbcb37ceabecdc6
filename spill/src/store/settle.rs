//! Delayed duplicate detection: which candidates of a level are new (Stern and Dill, "Using magnetic disk instead of
//! main memory in the Murphi verifier", 1998; Korf, "Best-first frontier search with delayed duplicate detection",
//! 2004).
//!
//! The sorted candidate runs of a level are merged into one ascending stream without repeats. Every run of the visited
//! store is subtracted from it, batch by batch; each batch is small enough for the cache. The rest is the next level.
//! The key space is cut into ranges of similar work, each settled by its own thread.
//!
//! Settling changes nothing until it ends, so it can be abandoned at any batch and repeated.

use super::Store;
use super::dominance_subtract::DominanceSubtract;
use super::filter::LookupStats;
use super::levels::{FileSegment, LevelShard};
use super::run::{Frontier, OldRun};
use super::store_subtract::StoreSubtract;
use super::value_lookup::ValueLookup;
use crate::disk::Result;
use crate::runs::{KeyMerge, KeyRange, KeySource, batch_keys, map_parallel, sources, split};
use crate::segments::Segment;
use crate::values::{ValueSpec, cut_between_keys};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// The number of keys of the last level whose candidates take as long to settle as a block takes to decode.
const KEYS_PER_BLOCK: u64 = 40;
/// The minimum work for each thread, in keys: settling the candidates of this number of keys takes a millisecond,
/// starting a thread some hundredths of one.
const WORK_PER_THREAD_MIN: u64 = 4096;
/// The minimum number of keys of a piece of a level: each piece has a footer and its own dictionary.
const PIECE_KEYS_MIN: u64 = 1024;

/// The candidates of a level: sorted runs in memory and on disk, which may share keys.
#[derive(Default)]
pub struct Candidates<'a> {
    /// Runs in memory, each ascending without repeats.
    pub slices: Vec<&'a [u8]>,
    /// Runs on disk.
    pub segments: Vec<Segment>,
}

impl<'a> Candidates<'a> {
    /// Creates one source for each run, of keys of `width` bytes that are not less than `low` and less than `high`.
    pub fn sources(
        &self,
        width: usize,
        low: Option<&[u8]>,
        high: Option<&[u8]>,
    ) -> Vec<Box<dyn KeySource + 'a>> {
        sources(width, &self.slices, &self.segments, KeyRange { low, high })
    }

    /// Returns the bytes of all keys of `width` bytes, repeats included.
    pub(super) fn bytes(&self, width: usize) -> u64 {
        let slices: usize = self.slices.iter().map(|it| it.len()).sum();
        let keys: u64 = self.segments.iter().map(Segment::keys).sum();
        slices as u64 + keys * width as u64
    }
}

/// The result of settling a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettleOutcome {
    /// The number of new candidates, which are now the last level; 0 if there is no further level.
    New(u64),
    /// Settling was stopped; nothing has changed.
    Stopped,
}

impl Store {
    /// Subtracts the store from `candidates`. The rest, if there is any, becomes the next level. Polls `stop`, and
    /// stops if it returns true.
    ///
    /// If keys have first values, the values of candidates with equal keys are joined, and pairs with known keys are
    /// removed. With a dominance relation, keys that a candidate or a known key dominates are removed.
    ///
    /// # Panics
    ///
    /// If the store has values that change: see [`Store::settle_pairs`].
    pub fn settle(
        &mut self,
        candidates: &Candidates,
        threads: usize,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<SettleOutcome> {
        assert!(self.changes_log().is_none(), "values that change are settled as pairs");
        if self.is_small(candidates) {
            return self.settle_small(candidates, threads, stop);
        }
        self.sort_small_levels(threads)?;
        self.settle_ranges(candidates, threads, stop)
    }

    /// Does the same for a level of any size: settles each range of keys in a thread.
    fn settle_ranges(
        &mut self,
        candidates: &Candidates,
        threads: usize,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<SettleOutcome> {
        let mut boundaries = self.next_level_boundaries(threads)?;
        let values = self.values().cloned();
        let dominance = self.dominance.clone();
        values.iter().for_each(|values| values.cut_between_keys(&mut boundaries));
        dominance.iter().for_each(|it| cut_between_keys(it.bytes(), &mut boundaries));
        let ranges = KeyRange::cut(&boundaries);
        let (width, young, old) = (self.width, self.young.as_slice(), self.old.as_slice());
        let filter = self.filter.filter();
        let (raw_bytes_max, plain) = (self.last_level_bytes_max(), self.plain_bytes(candidates));
        let shards = self.levels.shards(ranges.len(), plain)?;
        let rooms: Vec<Vec<u8>> = ranges.iter().map(|_| self.spare.take()).collect();
        let items: Vec<_> = shards.iter_mut().zip(ranges).zip(rooms).collect();
        // If one range fails, the others stop.
        let failed = AtomicBool::new(false);
        let stop = || stop() || failed.load(Relaxed);
        let detection = DuplicateDetection {
            whole: self.whole,
            width,
            values: values.as_ref(),
            candidates,
            raw_bytes: AtomicUsize::new(0),
            raw_bytes_max,
            stop: &stop,
        };
        let found = map_parallel(items, |_, ((shard, range), room)| {
            let store = match (&values, &dominance) {
                (Some(values), _) => {
                    CandidateSubtract::Pairs(ValueLookup::new(width, values, young, filter, old))
                }
                (None, Some(dominance)) => CandidateSubtract::Dominating(DominanceSubtract::new(
                    width, dominance, young, filter, old,
                )),
                (None, None) => {
                    CandidateSubtract::Keys(StoreSubtract::new(width, young, filter, old))
                }
            };
            detection
                .settle_range(store, range, shard, room)
                .inspect_err(|_| failed.store(true, Relaxed))
        })?;
        let Some(found) = found.into_iter().collect::<Option<Vec<NewKeys>>>() else {
            return Ok(SettleOutcome::Stopped);
        };
        self.filter.record_lookups(found.iter().map(|new| new.looked).sum());
        if found.iter().all(|new| new.piece.at.keys == 0) {
            return Ok(SettleOutcome::New(0));
        }
        let new = self.levels.push(found.iter().map(|new| new.piece))?;
        let raw = found.into_iter().map(|new| new.raw).collect::<Option<Vec<_>>>();
        let raw = raw.map(|raw| concat_ranges(raw, |room| self.recycle_buffer(room)));
        self.add_last_level(raw, threads)?;
        Ok(SettleOutcome::New(new))
    }

    /// Cuts the key space for `threads` threads. The last level is the sample for the next one. Unlike the candidate
    /// runs, it does not depend on interruptions, so the pieces do not either.
    pub(super) fn next_level_boundaries(&mut self, threads: usize) -> Result<Vec<Vec<u8>>> {
        if self.levels.is_empty() {
            return Ok(Vec::new());
        }
        let wanted = self.settle_threads(self.levels.last_keys(), threads);
        if wanted == 1 {
            return Ok(Vec::new());
        }
        Ok(match self.frontier()? {
            Frontier::Raw(keys) => split(self.width, &[&keys], &[], wanted),
            Frontier::Encoded(segments) => split(self.width, &[], &segments, wanted),
        })
    }

    /// Returns the number of threads worth using to settle the candidates of a level of `keys` keys. It depends only
    /// on the levels and their positions, so not on interruptions.
    fn settle_threads(&self, keys: u64, threads: usize) -> usize {
        // Each candidate may need another block of each run.
        let blocks = |run: &OldRun| run.segments.iter().map(Segment::blocks).sum::<usize>() as u64;
        let decoded: u64 = self.old.iter().map(|run| blocks(run).min(keys)).sum();
        let work = keys.saturating_add(decoded.saturating_mul(KEYS_PER_BLOCK));
        let threads = threads.min((keys / PIECE_KEYS_MIN).max(1) as usize);
        ((work / WORK_PER_THREAD_MIN) as usize).clamp(1, threads.max(1))
    }
}

/// The detection of duplicates in all ranges of a level, each by a thread.
struct DuplicateDetection<'a> {
    /// The size of a whole key in bytes.
    whole: usize,
    /// The size of a key in memory in bytes.
    width: usize,
    /// The values at the end of keys, if there are any.
    values: Option<&'a ValueSpec>,
    candidates: &'a Candidates<'a>,
    /// The number of bytes of new keys that are kept raw in all ranges together, or would be if they fitted.
    raw_bytes: AtomicUsize,
    /// The maximum of `raw_bytes`.
    raw_bytes_max: usize,
    /// Whether to stop.
    stop: &'a (dyn Fn() -> bool + Sync),
}

/// The new keys of one range.
struct NewKeys {
    /// Their position in the log of levels.
    piece: FileSegment,
    /// The keys themselves, if the level has few enough to keep.
    raw: Option<Vec<u8>>,
    /// The statistics of the look-ups.
    looked: LookupStats,
}

/// The subtraction of a store from ascending batches.
enum CandidateSubtract<'a> {
    /// Of keys.
    Keys(StoreSubtract<'a>),
    /// Of pairs, by their keys.
    Pairs(ValueLookup<'a>),
    /// Of keys with a dominance relation.
    Dominating(DominanceSubtract<'a>),
}

impl CandidateSubtract<'_> {
    /// Replaces `batch` with the next candidates. `batch` is empty at the end.
    fn next(&mut self, merge: &mut KeyMerge, batch: &mut Vec<u8>) -> Result<()> {
        match self {
            CandidateSubtract::Keys(_) | CandidateSubtract::Pairs(_) => {
                merge.next(batch, batch_keys(merge.width()))
            }
            CandidateSubtract::Dominating(store) => store.next(merge, batch),
        }
    }

    /// Removes the known candidates from `batch`.
    fn subtract(&mut self, batch: &mut Vec<u8>) -> Result<()> {
        match self {
            CandidateSubtract::Keys(store) => store.subtract(batch),
            CandidateSubtract::Pairs(store) => store.subtract(batch),
            CandidateSubtract::Dominating(store) => store.subtract(batch),
        }
    }

    fn lookup_stats(&self) -> LookupStats {
        match self {
            CandidateSubtract::Keys(store) => store.lookup_stats(),
            CandidateSubtract::Pairs(store) => store.lookup_stats(),
            CandidateSubtract::Dominating(store) => store.lookup_stats(),
        }
    }
}

impl DuplicateDetection<'_> {
    /// Writes the candidates of a range that `store` does not have to a shard of the log, and keeps them in `room`
    /// while they are few enough. Returns `None` if stopped.
    fn settle_range(
        &self,
        mut store: CandidateSubtract,
        range: KeyRange,
        shard: &mut LevelShard,
        room: Vec<u8>,
    ) -> Result<Option<NewKeys>> {
        let Candidates { slices, segments } = self.candidates;
        let merge = KeyMerge::new(self.width, sources(self.width, slices, segments, range));
        let mut merge = merge.with_values(self.values);
        let (mut batch, mut raw, mut stopped) = (Vec::new(), Some(room), false);
        let piece = shard.write(self.whole, |level| {
            loop {
                store.next(&mut merge, &mut batch)?;
                stopped = (self.stop)();
                if batch.is_empty() || stopped {
                    return Ok(());
                }
                store.subtract(&mut batch)?;
                level.push(&batch)?;
                raw = raw.take().filter(|_| self.has_room(batch.len()));
                raw.iter_mut().for_each(|raw| raw.extend_from_slice(&batch));
            }
        })?;
        let looked = store.lookup_stats();
        Ok((!stopped).then_some(NewKeys { piece, raw, looked }))
    }

    /// Returns whether `bytes` more bytes may be kept.
    fn has_room(&self, bytes: usize) -> bool {
        self.raw_bytes.fetch_add(bytes, Relaxed) + bytes <= self.raw_bytes_max
    }
}

/// Concatenates the keys of ascending ranges. The buffer of each range but the first is passed to `keep` as soon as it
/// is copied.
pub(super) fn concat_ranges(ranges: Vec<Vec<u8>>, mut keep: impl FnMut(Vec<u8>)) -> Vec<u8> {
    let length: usize = ranges.iter().map(Vec::len).sum();
    let joined = ranges.into_iter().reduce(|mut all: Vec<u8>, range| {
        all.reserve_exact(length - all.len());
        all.extend_from_slice(&range);
        keep(range);
        all
    });
    joined.unwrap_or_default()
}
