//! A store with values: which candidates are new, and which values a level changes.
//!
//! Settling a level joins the value of every candidate with the store's value for its key. If there is none, the pair
//! is new: part of the next level. If the joined value equals the store's value, the candidate is dropped. Otherwise
//! the value has *changed*: the store records the new one, and the expansion of the level gets both.
//!
//! ```text
//! store        07 | 05   09 | 02                     operator Or
//! candidates   07 | 01   08 | 04   09 | 04
//! new                    08 | 04                     the level, in the log of levels
//! changed                          09 | 06           in the log of changes, a level of its own,
//! before                           09 | 02           and behind it another
//! ```
//!
//! A run holds the new and the changed pairs of its levels, so runs may have keys in common. The value of a key is the
//! join of all its pairs; merging runs joins them. The operator is idempotent, so a value that was already joined with
//! others can be joined with them again.

use super::Store;
use super::filter::LookupStats;
use super::levels::{FileSegment, LevelShard};
use super::settle::{Candidates, concat_ranges};
use super::store_values::StoreValues;
use super::value_lookup::ValueLookup;
use crate::disk::Result;
use crate::runs::{KeyMerge, KeyRange, batch_keys, map_parallel, sources};
use crate::segments::SegmentWriter;
use crate::values::ValueSpec;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// The result of settling a level of pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettledPairs {
    /// The number of pairs with new keys, which are now the last level.
    pub new: u64,
    /// The number of known keys with a changed value. If both numbers are 0, there is no further level.
    pub changed: u64,
}

impl Store {
    /// Subtracts the store from `candidates` and joins the values of known keys. New and changed pairs become the next
    /// level, if there are any. Polls `stop`; if it returns true, nothing has changed, and the result is `None`.
    ///
    /// # Panics
    ///
    /// If the store has no values that change.
    pub fn settle_pairs(
        &mut self,
        candidates: &Candidates,
        threads: usize,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<SettledPairs>> {
        let mut boundaries = self.next_level_boundaries(threads)?;
        let (raw_bytes_max, plain) = (self.last_level_bytes_max(), self.plain_bytes(candidates));
        let Some(StoreValues { values, changes: Some(changes) }) = &mut self.valued else {
            panic!("the store has no values that change")
        };
        values.cut_between_keys(&mut boundaries);
        let ranges = KeyRange::cut(&boundaries);
        let shards = self.levels.shards(ranges.len(), plain)?.iter_mut();
        let changed = changes.shards(2 * ranges.len(), 0)?.chunks_exact_mut(2);
        let items: Vec<_> = shards.zip(changed).zip(ranges).collect();
        let failed = AtomicBool::new(false);
        let stop = || stop() || failed.load(Relaxed);
        let comparison = PairComparison {
            whole: self.whole,
            width: self.width,
            values,
            candidates,
            raw_bytes: AtomicUsize::new(0),
            raw_bytes_max,
            stop: &stop,
        };
        let (young, old, filter) = (&self.young, &self.old, self.filter.filter());
        let found = map_parallel(items, |_, ((shard, changes), range)| {
            let store = ValueLookup::new(comparison.width, values, young, filter, old);
            comparison
                .settle_range(store, range, shard, changes)
                .inspect_err(|_| failed.store(true, Relaxed))
        })?;
        let Some(found) = found.into_iter().collect::<Option<Vec<SettledRange>>>() else {
            return Ok(None);
        };
        self.filter.record_lookups(found.iter().map(|found| found.looked).sum());
        if found.iter().all(|found| found.new.at.keys + found.changed[0].at.keys == 0) {
            return Ok(Some(SettledPairs { new: 0, changed: 0 }));
        }
        let new = self.levels.push(found.iter().map(|found| found.new))?;
        let changed = changes.push(found.iter().map(|found| found.changed[0]))?;
        changes.push(found.iter().map(|found| found.changed[1]))?;
        let raw = found.into_iter().map(|found| found.raw).collect::<Option<Vec<_>>>();
        let raw = raw.map(|raw| concat_ranges(raw, drop));
        self.add_last_level(raw, threads)?;
        Ok(Some(SettledPairs { new, changed }))
    }
}

/// The comparison of candidates with the store in all ranges of a level, each by a thread.
struct PairComparison<'a> {
    /// The size of a whole pair in bytes.
    whole: usize,
    /// The size of a pair in memory in bytes.
    width: usize,
    values: &'a ValueSpec,
    candidates: &'a Candidates<'a>,
    /// The number of bytes of pairs that are kept raw in all ranges together, or would be if they fitted.
    raw_bytes: AtomicUsize,
    /// The maximum of `raw_bytes`.
    raw_bytes_max: usize,
    /// Whether to stop.
    stop: &'a (dyn Fn() -> bool + Sync),
}

/// The result of settling one range.
struct SettledRange {
    /// The position of the new pairs in the log of levels.
    new: FileSegment,
    /// The positions in the log of changes of the changed pairs, and of their previous values.
    changed: [FileSegment; 2],
    /// New and changed pairs, if the level has few enough to keep.
    raw: Option<Vec<u8>>,
    /// The statistics of the look-ups.
    looked: LookupStats,
}

/// A batch of candidates, classified.
#[derive(Default)]
struct ClassifiedPairs {
    new: Vec<u8>,
    changed: Vec<u8>,
    before: Vec<u8>,
    /// New and changed pairs, in one order.
    both: Vec<u8>,
}

impl PairComparison<'_> {
    /// Writes the new pairs of a range to a shard, and the changed ones to two others. Returns `None` if stopped.
    fn settle_range(
        &self,
        mut store: ValueLookup,
        range: KeyRange,
        shard: &mut LevelShard,
        changes: &mut [LevelShard],
    ) -> Result<Option<SettledRange>> {
        let Candidates { slices, segments } = self.candidates;
        let merge = KeyMerge::new(self.width, sources(self.width, slices, segments, range));
        let mut merge = merge.with_values(Some(self.values));
        let (mut batch, mut sorted) = (Vec::new(), ClassifiedPairs::default());
        let (mut raw, mut stopped) = (Some(Vec::new()), false);
        let [new, now, before] = write_pieces(self.whole, shard, changes, |level, now, before| {
            loop {
                merge.next(&mut batch, batch_keys(self.width))?;
                stopped = (self.stop)();
                if batch.is_empty() || stopped {
                    return Ok(());
                }
                self.classify(&batch, &mut store, &mut sorted)?;
                level.push(&sorted.new)?;
                now.push(&sorted.changed)?;
                before.push(&sorted.before)?;
                raw = raw.take().filter(|_| self.has_room(sorted.both.len()));
                raw.iter_mut().for_each(|raw| raw.extend_from_slice(&sorted.both));
            }
        })?;
        let looked = store.lookup_stats();
        Ok((!stopped).then_some(SettledRange { new, changed: [now, before], raw, looked }))
    }

    /// Splits a batch into new pairs, changed pairs, and pairs without new information.
    fn classify(
        &self,
        batch: &[u8],
        store: &mut ValueLookup,
        sorted: &mut ClassifiedPairs,
    ) -> Result<()> {
        let (key, bytes) = (self.values.key_bytes(self.width), self.values.bytes());
        let ClassifiedPairs { new, changed, before, both } = sorted;
        [&mut *new, changed, before, both].into_iter().for_each(Vec::clear);
        let stored = store.find(batch)?;
        for (index, pair) in batch.chunks_exact(self.width).enumerate() {
            let Some(known) = stored.value(index, bytes) else {
                new.extend_from_slice(pair);
                both.extend_from_slice(pair);
                continue;
            };
            // The key with the known value, which is joined with the candidate's value in place.
            let start = changed.len();
            changed.extend_from_slice(&pair[..key]);
            changed.extend_from_slice(known);
            self.values.operator().join(&mut changed[start + key..], &pair[key..]);
            if changed[start + key..] == *known {
                changed.truncate(start);
                continue;
            }
            before.extend_from_slice(&pair[..key]);
            before.extend_from_slice(known);
            both.extend_from_slice(&changed[start..]);
        }
        Ok(())
    }

    /// Returns whether `bytes` more bytes may be kept.
    fn has_room(&self, bytes: usize) -> bool {
        self.raw_bytes.fetch_add(bytes, Relaxed) + bytes <= self.raw_bytes_max
    }
}

/// Writes a piece of pairs of `whole` bytes to a shard, and one to each of two others, at the same time.
fn write_pieces(
    whole: usize,
    shard: &mut LevelShard,
    others: &mut [LevelShard],
    fill: impl FnOnce(&mut SegmentWriter, &mut SegmentWriter, &mut SegmentWriter) -> Result<()>,
) -> Result<[FileSegment; 3]> {
    let [second, third] = others else { unreachable!("a range has two shards for changes") };
    let (mut piece_2, mut piece_3) = (None, None);
    let piece_1 = shard.write(whole, |first| {
        let piece = second.write(whole, |second| {
            piece_3 = Some(third.write(whole, |third| fill(first, second, third))?);
            Ok(())
        });
        piece_2 = Some(piece?);
        Ok(())
    })?;
    let [Some(piece_2), Some(piece_3)] = [piece_2, piece_3] else {
        unreachable!("all are written")
    };
    Ok([piece_1, piece_2, piece_3])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Codec;
    use crate::disk::FaultDisk;
    use crate::segments::Segment;
    use crate::store::{Frontier, StoreBudget};
    use crate::values::OrOperator;
    use std::sync::Arc;

    fn read(segments: &[Segment]) -> Vec<u8> {
        let (mut all, mut pairs) = (Vec::new(), Vec::new());
        for segment in segments {
            segment.decode(0, &mut segment.decoder(), &mut pairs).unwrap();
            all.append(&mut pairs);
        }
        all
    }

    #[test]
    fn the_documented_example_holds() {
        let shares = StoreBudget { young: 1000, filter: 0, plain: 0 };
        let store = Store::new(Arc::new(FaultDisk::new()), 2, Codec::Gaps, shares);
        let mut store = store.with_values(ValueSpec::new(1, OrOperator));
        let mut settle = |pairs: &[u8]| {
            let candidates = Candidates { slices: vec![pairs], segments: Vec::new() };
            store.settle_pairs(&candidates, 1, &|| false).unwrap().unwrap()
        };
        assert_eq!(settle(&[7, 5, 9, 2]), SettledPairs { new: 2, changed: 0 });
        assert_eq!(settle(&[7, 1, 8, 4, 9, 4]), SettledPairs { new: 1, changed: 1 });
        let Frontier::Encoded(new) = store.frontier().unwrap() else {
            panic!("changes are on disk")
        };
        let changes = store.changes().unwrap().unwrap();
        assert_eq!(
            [read(&new), read(&changes.current), read(&changes.previous)],
            [[8, 4], [9, 6], [9, 2]]
        );
    }
}
