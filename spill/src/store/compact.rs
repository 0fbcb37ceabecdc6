//! Compaction: merging runs to larger ones, in memory and on disk.
//!
//! An example, in megabytes. A level joins young runs of 5, 3 and 2. The 3 is merged with the 2, since it is less than
//! twice as large, and the 5 with the resulting 5. The level stays separate until the next one arrives. Suppose the
//! resulting 10 exceed the young share, and there are old runs of 200, 40 and 15. Then the 15 is merged with the 10,
//! since it is less than twice as large, and the 40, since it is less than twice the 25, but not the 200. All are
//! merged at once, to a run of 65.

use super::Store;
use super::file_name::FileName;
use super::levels::FileSegment;
use super::run::{OldRun, YoungRun};
use super::settle::Candidates;
use crate::disk::Result;
use crate::keys::restrict;
use crate::runs::{
    KeyMerge, KeyRange, drain, grow, grow_bytes_max, join_slice, map_parallel, merge_slices,
    sources, split, threads_for,
};
use crate::segments::{Segment, SegmentWriter};
use crate::values::ValueSpec;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The part of the young share that the last level may take raw, as a divisor.
const LAST_LEVEL_SHARE: usize = 4;

/// The unused capacity that the last level may keep, as a divisor of its size.
const LAST_LEVEL_SLACK: usize = 8;

/// The part of the free disk space that a run, or all levels, may take uncompressed, as a divisor; levels and other
/// runs need space, too.
const PLAIN_SHARE: u64 = 8;

/// The number of levels that are restored at a time: for each, a block is in memory and its file is mapped.
const LEVELS_AT_ONCE: u32 = 64;

impl Store {
    /// Restores a run that was in memory: in memory if it still fits, else on disk; in parts if it has many levels.
    pub(super) fn rebuild(&mut self, first: u32, last: u32, threads: usize) -> Result<()> {
        for from in (first..=last).step_by(LEVELS_AT_ONCE as usize) {
            if from > first {
                self.merge_young(0, threads)?;
            }
            self.rebuild_part(from, last.min(from + LEVELS_AT_ONCE - 1), threads)?;
        }
        Ok(())
    }

    fn rebuild_part(&mut self, first: u32, last: u32, threads: usize) -> Result<()> {
        let keys: u64 = (first..=last).map(|level| self.level_keys(level as usize)).sum();
        let bytes = keys as usize * self.width;
        let is_last = last as usize + 1 == self.levels.len();
        if is_last && first == last && bytes > self.last_level_bytes_max() {
            return self.adopt_last_level(threads);
        }
        let mut segments = Vec::new();
        for level in first..=last {
            segments.extend(self.level_segments(level as usize)?);
        }
        if self.merge_bytes_max(bytes, threads) > self.young_bytes() - self.last_level_bytes_max() {
            // The checkpoint is from a session with more memory.
            self.flush(self.young.len(), threads)?;
            let runs = Candidates { slices: Vec::new(), segments };
            let pieces = self.write_merged(first..=last, keys, &runs, threads)?;
            self.old.push(self.open_run(first, last, pieces)?);
            return self.compact(0, threads);
        }
        let mut all = Vec::with_capacity(bytes);
        let merge = KeyMerge::new(self.width, sources(self.width, &[], &segments, KeyRange::ALL));
        let mut merge = merge.with_values(self.values());
        drain(&mut merge, |batch| {
            all.extend_from_slice(batch);
            Ok(())
        })?;
        self.young.push(YoungRun { first, last, keys: Arc::new(all) });
        self.flush_if_full(threads)
    }

    /// Adds the level just pushed to the log to the store; `keys` are its keys if they were kept.
    pub(super) fn add_last_level(&mut self, keys: Option<Vec<u8>>, threads: usize) -> Result<()> {
        let keys = keys.filter(|keys| keys.len() <= self.last_level_bytes_max());
        self.merge_young(keys.as_ref().map_or(0, Vec::len), threads)?;
        let level = self.levels.len() as u32 - 1;
        match keys {
            None => {
                let segments = self.level_segments(level as usize)?;
                self.filter.insert_segments(&segments)?;
                self.adopt_last_level(threads)
            }
            Some(mut keys) => {
                self.filter.insert(&keys);
                // A little unused capacity costs less than returning it.
                keys.shrink_to(keys.len() + keys.len() / LAST_LEVEL_SLACK);
                self.young.push(YoungRun { first: level, last: level, keys: Arc::new(keys) });
                self.flush_if_full(threads)
            }
        }
    }

    /// Turns the last level into an old run in place in the log, because it is too large for memory.
    fn adopt_last_level(&mut self, threads: usize) -> Result<()> {
        self.flush(self.young.len(), threads)?;
        let level = self.levels.len() as u32 - 1;
        let pieces = self.level_pieces(level as usize);
        let segments = self.level_segments(level as usize)?;
        self.old.push(OldRun { first: level, last: level, pieces, segments });
        self.compact(0, threads)
    }

    /// Returns the maximum size of a level that stays in memory raw, in bytes.
    pub(super) fn last_level_bytes_max(&self) -> usize {
        self.young_bytes() / LAST_LEVEL_SHARE
    }

    /// Returns the memory for young runs: their share without the list of levels and a copy of it in a checkpoint.
    pub(super) fn young_bytes(&self) -> usize {
        let share = self.shares.young;
        share.saturating_sub(2 * self.levels.list_bytes()).max(share / 4)
    }

    /// Merges young runs into older ones while those are not twice as large. If memory does not suffice for the runs,
    /// the result and `beside` bytes, moves all to disk instead.
    pub(super) fn merge_young(&mut self, beside: usize, threads: usize) -> Result<()> {
        let bytes: usize = self.young.iter().map(|run| run.keys.len()).sum();
        if self.merge_bytes_max(bytes, threads) + beside > self.young_bytes() {
            return self.flush(self.young.len(), threads);
        }
        while let [.., elder, younger] = self.young.as_slice()
            && elder.keys.len() < 2 * younger.keys.len()
        {
            let (first, last) = (elder.first, younger.last);
            let sets = [elder.keys.clone(), younger.keys.clone()];
            self.young.truncate(self.young.len() - 2);
            let keys = match self.values() {
                Some(values) => {
                    let [elder, younger] = &sets;
                    join_union(self.width, values, [elder, younger], threads)
                }
                None => {
                    let mut aside = self.spare.take();
                    let (keys, room) = union(self.width, sets, threads, &mut aside);
                    room.into_iter().chain([aside]).for_each(|room| self.recycle_buffer(room));
                    keys
                }
            };
            self.young.push(YoungRun { first, last, keys: Arc::new(keys) });
        }
        Ok(())
    }

    /// Moves all young runs but the last level to disk if merging them in memory could exceed their share.
    pub(super) fn flush_if_full(&mut self, threads: usize) -> Result<()> {
        let earlier = self.young.len().saturating_sub(1);
        let bytes: usize = self.young[..earlier].iter().map(|run| run.keys.len()).sum();
        let share = self.young_bytes() - self.last_level_bytes_max();
        if self.merge_bytes_max(bytes, threads) > share {
            self.flush(earlier, threads)
        } else {
            Ok(())
        }
    }

    /// Returns the maximum memory of young runs of `bytes` bytes while they are merged.
    fn merge_bytes_max(&self, bytes: usize, threads: usize) -> usize {
        match self.values() {
            // Pairs are joined into new memory.
            Some(_) => 2 * bytes,
            None => bytes + grow_bytes_max(self.width, bytes, threads),
        }
    }

    /// Keeps the buffer of keys that are no longer needed, for later levels.
    pub(super) fn recycle_buffer(&mut self, room: Vec<u8>) {
        self.spare.keep(room, self.last_level_bytes_max());
    }

    /// Merges the first `count` young runs, and the old ones of similar size, to a run on disk.
    pub(super) fn flush(&mut self, count: usize, threads: usize) -> Result<()> {
        self.spare.clear();
        if count == 0 { Ok(()) } else { self.compact(count, threads) }
    }

    /// Merges the first `count` young runs, or if `count` is 0 the last old run, with every previous old run that is
    /// not twice as large as everything merged into it.
    fn compact(&mut self, count: usize, threads: usize) -> Result<()> {
        let young = &self.young[..count];
        let newest = self.old.len() - usize::from(count == 0);
        let mut kept = newest;
        let mut keys: u64 = young.iter().map(|run| (run.keys.len() / self.width) as u64).sum();
        keys += self.old[newest..].iter().map(OldRun::keys).sum::<u64>();
        while kept > 0 && self.old[kept - 1].keys() < 2 * keys {
            kept -= 1;
            keys += self.old[kept].keys();
        }
        if count == 0 && kept == newest {
            return Ok(());
        }
        let merged = &self.old[kept..];
        let levels = merged.iter().map(|run| (run.first, run.last));
        let levels: Vec<_> = levels.chain(young.iter().map(|run| (run.first, run.last))).collect();
        let (first, last) = (levels[0].0, levels[levels.len() - 1].1);
        let slices: Vec<&[u8]> = young.iter().map(|run| run.keys.as_slice()).collect();
        let segments: Vec<Segment> =
            merged.iter().flat_map(|run| run.segments.iter().cloned()).collect();
        let pieces =
            self.write_merged(first..=last, keys, &Candidates { slices, segments }, threads)?;
        let merged = self.open_run(first, last, pieces)?;
        for run in self.old.drain(kept..) {
            let files = run.pieces.iter().map(|piece| piece.file);
            self.garbage.extend(files.filter(|file| matches!(file, FileName::Merged { .. })));
        }
        self.old.push(merged);
        self.young.drain(..count);
        Ok(())
    }

    /// Returns the number of bytes of a run, and of all levels, that are not compressed. `written` has all keys that are
    /// written next.
    pub(super) fn plain_bytes(&self, written: &Candidates) -> u64 {
        let left = self.space.before_write(&*self.disk, written.bytes(self.width));
        self.shares.plain.min(left / PLAIN_SHARE)
    }

    /// Merges the runs of `levels`, which have about `keys` keys, to pieces, each written by a thread.
    fn write_merged(
        &self,
        levels: RangeInclusive<u32>,
        keys: u64,
        runs: &Candidates,
        threads: usize,
    ) -> Result<Vec<FileSegment>> {
        let Candidates { slices, segments } = runs;
        let (first, last) = levels.into_inner();
        let (disk, width, codec) = (&*self.disk, self.width, &self.codec);
        let (whole, values, value_bytes) = (self.whole, self.values(), self.value_bytes());
        let boundaries = cut(width, values, slices, segments, threads_for(keys, threads));
        let plain = self.plain_bytes(runs) / (boundaries.len() + 1) as u64;
        map_parallel(KeyRange::cut(&boundaries), |part, range| {
            let file = FileName::Merged { first, last, part: part as u16 };
            let mut out = disk.create(&file.to_string())?;
            let writer = SegmentWriter::new(whole, &mut *out).with_codec(codec);
            let mut writer = writer.with_values(value_bytes).with_plain_bytes(plain);
            let merge = KeyMerge::new(width, sources(width, slices, segments, range));
            let mut merge = merge.with_values(values);
            drain(&mut merge, |batch| writer.push(batch))?;
            let at = writer.finish()?;
            out.sync()?;
            Ok(FileSegment { file, at })
        })
    }
}

/// Cuts the key space into ranges of similar size; with values, only between keys.
fn cut(
    width: usize,
    values: Option<&ValueSpec>,
    slices: &[&[u8]],
    segments: &[Segment],
    ranges: usize,
) -> Vec<Vec<u8>> {
    let mut boundaries = split(width, slices, segments, ranges);
    if let Some(values) = values {
        values.cut_between_keys(&mut boundaries);
    }
    boundaries
}

/// Returns the union of two disjoint sets, in the buffer of the larger one, and the buffer of the other, unless it is
/// shared.
fn union(
    width: usize,
    sets: [Arc<Vec<u8>>; 2],
    threads: usize,
    aside: &mut Vec<u8>,
) -> (Vec<u8>, Option<Vec<u8>>) {
    let [mut larger, mut smaller] = sets;
    if larger.len() < smaller.len() {
        std::mem::swap(&mut larger, &mut smaller);
    }
    let mut all = Arc::unwrap_or_clone(larger);
    grow(width, &mut all, &smaller, threads, aside);
    (all, Arc::try_unwrap(smaller).ok())
}

/// Returns the pairs of two sets; pairs with equal keys are joined.
fn join_union(width: usize, values: &ValueSpec, sets: [&[u8]; 2], threads: usize) -> Vec<u8> {
    let length = sets[0].len() + sets[1].len();
    let mut all = vec![0; length];
    let threads = threads_for((length / width) as u64, threads);
    let boundaries = cut(width, Some(values), &sets, &[], threads);
    let mut rest = all.as_mut_slice();
    let (mut items, mut rooms) = (Vec::new(), Vec::new());
    for range in KeyRange::cut(&boundaries) {
        let sets = sets.map(|keys| restrict(width, keys, range.low, range.high));
        let room;
        (room, rest) = rest.split_at_mut(sets[0].len() + sets[1].len());
        rooms.push(room.len());
        items.push((sets, room));
    }
    let written = map_parallel(items, |_, (sets, room)| {
        let bytes = merge_slices(width, sets, room) * width;
        Ok(join_slice(width, values, &mut room[..bytes]))
    })
    .expect("merging in memory does not fail");
    let (mut start, mut kept) = (0, 0);
    for (room, written) in rooms.into_iter().zip(written) {
        if kept != start {
            all.copy_within(start..start + written, kept);
        }
        start += room;
        kept += written;
    }
    if kept < length {
        all.truncate(kept);
        all.shrink_to_fit();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::AndOperator;

    #[test]
    fn threads_join_pairs_with_equal_keys() {
        let pairs = |keys: std::ops::Range<u32>, value: u8| -> Vec<u8> {
            keys.flat_map(|key| [&key.to_be_bytes()[..], &[value]].concat()).collect()
        };
        for [one, other] in [[3, 5], [5, 3]] {
            // The ranges begin at keys that both runs have.
            let (a, b) = (pairs(0..200_000, one), pairs(77..300_000, other));
            let joined = join_union(5, &ValueSpec::new(1, AndOperator), [&a, &b], 4);
            let expected =
                [pairs(0..77, one), pairs(77..200_000, 1), pairs(200_000..300_000, other)];
            assert!(joined == expected.concat());
        }
    }
}
