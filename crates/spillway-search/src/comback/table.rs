//! The state table: maps hashes to the numbers of the states with that hash.
//!
//! A key is a hash and a number, big-endian. The keys are in sorted runs, as in the sorted store (see
//! `spill/src/store/mod.rs`): young ones in memory, old ones on disk, sizes geometric. The runs in memory cannot be
//! restored from the levels without rebuilding every state. So a checkpoint moves them to disk.

use spill::keys::{gallop, lower_bound};
use spill::{
    BlockDecoder, Disk, FileName, FileSegment, KeyMerge, KeySource, Result, SavedRun, Segment,
    SegmentSource, SegmentWriter, SliceSource, drain, sort_dedup,
};
use std::sync::Arc;

/// Bytes of a number in a key.
const NUMBER: usize = 5;

/// A map from hashes to numbers.
pub(super) struct StateHashTable {
    disk: Arc<dyn Disk>,
    hash_bytes: usize,
    /// Bytes for runs in memory, with the space to merge them.
    share: usize,
    /// Oldest first; the runs in memory are last.
    runs: Vec<StateTableRun>,
    garbage: Vec<FileName>,
}

/// The keys of levels `first` to `last`: in memory, or in segments on disk.
struct StateTableRun {
    first: u32,
    last: u32,
    count: u64,
    keys: Option<Vec<u8>>,
    pieces: Vec<FileSegment>,
    segments: Vec<Segment>,
}

/// The keys of a level, in the order of arrival.
pub(super) struct TableLevelBuilder {
    level: u32,
    width: usize,
    most: usize,
    keys: Vec<u8>,
    pieces: Vec<FileSegment>,
}

/// A hash to look up. Queries are ordered by hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HashQuery {
    /// The hash.
    pub(super) hash: u64,
    /// The index of the candidate.
    pub(super) candidate: u32,
}

/// A state with the hash of a candidate. Suspects are ordered by state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HashSuspect {
    /// The number of the state.
    pub(super) number: u64,
    /// The index of the candidate.
    pub(super) candidate: u32,
}

impl StateHashTable {
    pub(super) fn new(disk: Arc<dyn Disk>, hash_bytes: usize, share: usize) -> StateHashTable {
        StateHashTable { disk, hash_bytes, share, runs: Vec::new(), garbage: Vec::new() }
    }

    fn width(&self) -> usize {
        self.hash_bytes + NUMBER
    }

    pub(super) fn restore(&mut self, runs: Vec<SavedRun>) -> Result<()> {
        for SavedRun { first, last, pieces } in runs {
            self.push_old(first, last, pieces)?;
        }
        Ok(())
    }

    pub(super) fn saved(&self) -> Vec<SavedRun> {
        let saved = |run: &StateTableRun| SavedRun {
            first: run.first,
            last: run.last,
            pieces: run.pieces.clone(),
        };
        self.runs.iter().map(saved).collect()
    }

    /// Returns the bytes in memory and on disk.
    pub(super) fn bytes(&self) -> [u64; 2] {
        let held =
            self.runs.iter().filter_map(|run| run.keys.as_ref()).map(Vec::len).sum::<usize>();
        let pieces = self.runs.iter().flat_map(|run| &run.pieces);
        [held as u64, pieces.map(|piece| piece.at.length).sum()]
    }

    /// Takes the files that the next manifest need not name.
    pub(super) fn garbage(&mut self) -> Vec<FileName> {
        std::mem::take(&mut self.garbage)
    }

    /// Begins the keys of a level.
    pub(super) fn begin(&self, level: u32) -> TableLevelBuilder {
        let (keys, pieces, width) = (Vec::new(), Vec::new(), self.width());
        TableLevelBuilder { level, width, most: self.share / 4, keys, pieces }
    }

    /// Adds a key. Writes the keys to disk if they take too much memory.
    pub(super) fn add(&self, level: &mut TableLevelBuilder, hash: u64, number: u64) -> Result<()> {
        level.keys.extend_from_slice(&hash.to_be_bytes()[..self.hash_bytes]);
        level.keys.extend_from_slice(&number.to_be_bytes()[8 - NUMBER..]);
        if level.keys.len() > level.most { self.write_part(level) } else { Ok(()) }
    }

    /// Makes the keys of a level the youngest run.
    pub(super) fn end(&mut self, mut level: TableLevelBuilder) -> Result<()> {
        if level.pieces.is_empty() {
            level.sort();
            let (first, last) = (level.level, level.level);
            let count = (level.keys.len() / level.width) as u64;
            let (keys, pieces, segments) = (Some(level.keys), Vec::new(), Vec::new());
            self.runs.push(StateTableRun { first, last, count, keys, pieces, segments });
        } else {
            if !level.keys.is_empty() {
                self.write_part(&mut level)?;
            }
            self.push_old(level.level, level.level, level.pieces)?;
        }
        self.tidy()
    }

    /// Makes every run durable.
    pub(super) fn persist(&mut self) -> Result<()> {
        match self.runs.last() {
            Some(StateTableRun { keys: Some(_), .. }) => self.compact(),
            _ => Ok(()),
        }
    }

    fn write_part(&self, level: &mut TableLevelBuilder) -> Result<()> {
        level.sort();
        let part = level.pieces.len() as u16;
        let file = FileName::Merged { first: level.level, last: level.level, part };
        let slice = SliceSource::new(level.width, &level.keys, None, None);
        level.pieces.push(self.write(file, vec![Box::new(slice)])?);
        level.keys.clear();
        Ok(())
    }

    fn write(&self, file: FileName, sources: Vec<Box<dyn KeySource + '_>>) -> Result<FileSegment> {
        let mut out = self.disk.create(&file.to_string())?;
        let mut writer = SegmentWriter::new(self.width(), &mut *out);
        drain(&mut KeyMerge::new(self.width(), sources), |batch| writer.push(batch))?;
        let at = writer.finish()?;
        out.sync()?;
        Ok(FileSegment { file, at })
    }

    fn push_old(&mut self, first: u32, last: u32, pieces: Vec<FileSegment>) -> Result<()> {
        let open = |piece: &FileSegment| piece.open(&*self.disk, self.width());
        let segments = pieces.iter().map(open).collect::<Result<Vec<_>>>()?;
        let count = segments.iter().map(Segment::keys).sum();
        self.runs.push(StateTableRun { first, last, count, keys: None, pieces, segments });
        Ok(())
    }

    /// Keeps the sizes of runs geometric, and the runs in memory within their share.
    fn tidy(&mut self) -> Result<()> {
        while let [.., elder, younger] = self.runs.as_slice()
            && let (Some(old), Some(young)) = (&elder.keys, &younger.keys)
            && old.len() < 2 * young.len()
        {
            let mut keys = Vec::with_capacity(old.len() + young.len());
            let width = self.width();
            let slices = [old, young].map(|keys| SliceSource::new(width, keys, None, None));
            let sources = slices.map(|slice| Box::new(slice) as Box<dyn KeySource>).into();
            drain(&mut KeyMerge::new(width, sources), |batch| {
                keys.extend_from_slice(batch);
                Ok(())
            })?;
            let (first, last, count) = (elder.first, younger.last, elder.count + younger.count);
            self.drop_runs(self.runs.len() - 2);
            let (keys, pieces, segments) = (Some(keys), Vec::new(), Vec::new());
            self.runs.push(StateTableRun { first, last, count, keys, pieces, segments });
        }
        let held = self.bytes()[0] as usize;
        let last_is_old = self.runs.last().is_some_and(|run| run.keys.is_none());
        if 2 * held > self.share || last_is_old { self.compact() } else { Ok(()) }
    }

    /// Merges all runs in memory into one on disk, together with the runs on disk that are less than twice as large as
    /// the younger runs.
    fn compact(&mut self) -> Result<()> {
        let newest = self.runs.len() - 1;
        let mut kept = self.runs.iter().position(|run| run.keys.is_some()).unwrap_or(newest);
        let mut count: u64 = self.runs[kept..].iter().map(|run| run.count).sum();
        while kept > 0 && self.runs[kept - 1].count < 2 * count {
            kept -= 1;
            count += self.runs[kept].count;
        }
        if kept == newest && self.runs[newest].keys.is_none() {
            return Ok(());
        }
        let merged = &self.runs[kept..];
        let (first, last) = (merged[0].first, merged[merged.len() - 1].last);
        let mut sources: Vec<Box<dyn KeySource>> = Vec::new();
        for run in merged {
            match &run.keys {
                Some(keys) => {
                    sources.push(Box::new(SliceSource::new(self.width(), keys, None, None)));
                }
                None => sources.extend(run.segments.iter().map(|segment| {
                    Box::new(SegmentSource::new(segment.clone(), None, None)) as Box<dyn KeySource>
                })),
            }
        }
        let piece = self.write(FileName::Merged { first, last, part: 0 }, sources)?;
        self.drop_runs(kept);
        self.push_old(first, last, vec![piece])
    }

    /// Drops the runs from `kept` on. Their files are garbage once no manifest names them.
    fn drop_runs(&mut self, kept: usize) {
        let dropped = self.runs.drain(kept..);
        self.garbage.extend(dropped.flat_map(|run| run.pieces).map(|piece| piece.file));
    }

    /// Appends to `found` the states with one of the hashes of `queries`, which ascend. Returns false, with an
    /// incomplete list, if there are more than `most`.
    pub(super) fn find(
        &self,
        queries: &[HashQuery],
        most: usize,
        found: &mut Vec<HashSuspect>,
    ) -> Result<bool> {
        let shift = 64 - 8 * self.hash_bytes as u32;
        let groups: Vec<&[HashQuery]> =
            queries.chunk_by(|one, next| one.hash >> shift == next.hash >> shift).collect();
        for run in &self.runs {
            match &run.keys {
                Some(keys) => self.find_in_keys(keys, &groups, most, found),
                None => {
                    for segment in &run.segments {
                        self.find_in_segment(segment, &groups, most, found)?;
                    }
                }
            }
            if found.len() > most {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn find_in_keys(
        &self,
        keys: &[u8],
        groups: &[&[HashQuery]],
        most: usize,
        found: &mut Vec<HashSuspect>,
    ) {
        let mut at = 0;
        for group in groups {
            if found.len() > most {
                return;
            }
            at = gallop(self.width(), keys, at, &self.least_key(group));
            at = self.take(keys, at, group, found);
        }
    }

    fn find_in_segment(
        &self,
        segment: &Segment,
        groups: &[&[HashQuery]],
        most: usize,
        found: &mut Vec<HashSuspect>,
    ) -> Result<()> {
        let (mut decoder, mut keys, mut decoded) =
            (BlockDecoder::new(self.width()), Vec::new(), None);
        for group in groups {
            let least = self.least_key(group);
            let has_hash = |key: &[u8]| key[..self.hash_bytes] == least[..self.hash_bytes];
            let mut block = segment.find(&least);
            loop {
                if found.len() > most {
                    return Ok(());
                }
                if decoded != Some(block) {
                    segment.decode(block, &mut decoder, &mut keys)?;
                    segment.release(block..block + 1);
                    decoded = Some(block);
                }
                let at = lower_bound(self.width(), &keys, &least);
                let end = self.take(&keys, at, group, found);
                block += 1;
                let goes_on = end * self.width() == keys.len()
                    && block < segment.blocks()
                    && has_hash(&segment.first_key(block));
                if !goes_on {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Returns the least key with the hash of a group.
    fn least_key(&self, group: &[HashQuery]) -> Vec<u8> {
        let mut key = group[0].hash.to_be_bytes()[..self.hash_bytes].to_vec();
        key.resize(self.width(), 0);
        key
    }

    /// Takes the keys with the hash of a group, from index `at` on. Returns the index after them.
    fn take(
        &self,
        keys: &[u8],
        at: usize,
        group: &[HashQuery],
        found: &mut Vec<HashSuspect>,
    ) -> usize {
        let hash = &group[0].hash.to_be_bytes()[..self.hash_bytes];
        let mut end = at;
        for key in keys[at * self.width()..].chunks_exact(self.width()) {
            if &key[..self.hash_bytes] != hash {
                break;
            }
            let number = key[self.hash_bytes..].iter();
            let number = number.fold(0, |number, &byte| number << 8 | u64::from(byte));
            let suspect = |query: &HashQuery| HashSuspect { number, candidate: query.candidate };
            found.extend(group.iter().map(suspect));
            end += 1;
        }
        end
    }
}

impl TableLevelBuilder {
    fn sort(&mut self) {
        sort_dedup(self.width, &mut self.keys, &mut Vec::new());
    }
}
