//! The visited store: every level of a search, kept so that new candidates are subtracted cheaply.
//!
//! The store is a list of sorted runs, oldest first, each holding the keys of a contiguous interval
//! of levels; together the intervals are all levels, once. Two invariants make it simple:
//!
//! - *The store is a function of the levels.* A run adds nothing that the log of levels does not
//!   hold, so a checkpoint records only intervals, and a run in memory is rebuilt by merging its
//!   levels again.
//! - *Old before young.* Runs on disk (old) hold earlier levels than runs in memory (young). The
//!   youngest holds just the last level, raw, for the next expansion, if it fits.
//!
//! Sizes are kept geometric, as in a log-structured merge tree (O'Neil et al., 1996): in memory a
//! run is merged into its elder unless that is twice as large; when the young runs outgrow their
//! share of memory they are merged to disk, together with every old run that is not twice as large
//! as all that would be merged into it. So each run is at least twice as large as all after it
//! together: a key is rewritten about log1.5(keys / keys in memory) times at most, and there are
//! log3 of that many runs to look through.

mod filter;
mod known;
mod levels;
mod names;
mod settle;

pub use levels::{Lane, Levels, Piece, SavedLevels};
pub use names::FileName;
pub use settle::{Candidates, Settled};

use crate::codec::Codec;
use crate::disk::{Disk, Result};
use crate::keys::restrict;
use crate::runs::{
    KeyRange, Merge, drain, in_parallel, merge_disjoint, sources, split, threads_for,
};
use crate::segments::{Segment, SegmentWriter};
use filter::FilterChoice;
use rkyv::{Archive, Deserialize, Serialize};
use std::sync::Arc;

/// The part of the young share that the last level may take raw, as a divisor.
const LAST_LEVEL_SHARE: usize = 4;

/// The memory of a store, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shares {
    /// For young runs, the room to merge them included.
    pub young: usize,
    /// For a filter of the old runs, where levels are thin.
    pub filter: usize,
}

/// All keys found so far.
pub struct Store {
    disk: Arc<dyn Disk>,
    /// Bytes of a whole key.
    whole: usize,
    /// Bytes of a key in memory: of a projected one, if the codec has keys projected.
    width: usize,
    codec: Codec,
    shares: Shares,
    filter: FilterChoice,
    levels: Levels,
    old: Vec<OldRun>,
    young: Vec<YoungRun>,
    /// Files that the next manifest no longer mentions.
    garbage: Vec<FileName>,
}

/// A run on disk: the keys of levels `first` to `last`.
struct OldRun {
    first: u32,
    last: u32,
    pieces: Vec<Piece>,
    segments: Vec<Segment>,
}

/// A run in memory: the keys of levels `first` to `last`.
struct YoungRun {
    first: u32,
    last: u32,
    keys: Arc<Vec<u8>>,
}

/// An interval of levels and, for a run on disk, its pieces.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct SavedRun {
    /// The first level.
    pub first: u32,
    /// The last level.
    pub last: u32,
    /// Where it is; nothing for a run that is rebuilt from the levels.
    pub pieces: Vec<Piece>,
}

/// What a manifest remembers of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct SavedStore {
    /// The log of levels.
    pub levels: SavedLevels,
    /// The runs, oldest first.
    pub runs: Vec<SavedRun>,
}

impl Store {
    /// A store without levels, with so much memory, of keys of `whole` bytes. What it has on disk
    /// `codec` writes; candidates are as the codec has keys outside blocks.
    pub fn new(disk: Arc<dyn Disk>, whole: usize, codec: Codec, shares: Shares) -> Self {
        let levels = Levels::new(disk.clone(), whole, codec.clone());
        Self::with_levels(disk, whole, codec, shares, levels)
    }

    fn with_levels(
        disk: Arc<dyn Disk>,
        whole: usize,
        codec: Codec,
        shares: Shares,
        levels: Levels,
    ) -> Self {
        let (width, filter) = (codec.key_width(whole), FilterChoice::default());
        let (old, young, garbage) = (Vec::new(), Vec::new(), Vec::new());
        Self { disk, whole, width, codec, shares, filter, levels, old, young, garbage }
    }

    /// What writes its keys on disk.
    pub fn codec(&self) -> &Codec {
        &self.codec
    }

    /// The store as it was saved, its runs in memory rebuilt within their share.
    pub fn restore(
        disk: Arc<dyn Disk>,
        whole: usize,
        codec: Codec,
        shares: Shares,
        saved: SavedStore,
        threads: usize,
    ) -> Result<Self> {
        let levels = Levels::restore(disk.clone(), whole, codec.clone(), saved.levels)?;
        let mut store = Self::with_levels(disk, whole, codec, shares, levels);
        for run in saved.runs {
            let SavedRun { first, last, pieces } = run;
            match pieces.is_empty() {
                false => store.old.push(store.open_run(first, last, pieces)?),
                true => store.rebuild(first, last, threads)?,
            }
        }
        Ok(store)
    }

    /// Has `codec` read and write from now on, one that has what is on disk in the same blocks, and
    /// keys in memory as it has them. It knows all keys there are.
    pub fn change_codec(&mut self, codec: &Codec, threads: usize) -> Result<()> {
        let width = codec.key_width(self.whole);
        let bytes: usize = self.young.iter().map(|run| run.keys.len() / self.width * width).sum();
        // The largest run is in memory twice for a moment.
        if 2 * bytes > self.young_bytes() {
            self.flush(self.young.len(), threads)?;
        }
        for run in &mut self.young {
            run.keys = Arc::new(codec.adopt(&self.codec, self.whole, &run.keys));
        }
        let segments = self.old.iter_mut().flat_map(|run| &mut run.segments);
        segments.for_each(|segment| *segment = segment.clone().coded(codec));
        self.levels.set_codec(codec);
        self.filter.change_codec(&self.codec, codec, self.whole);
        (self.codec, self.width) = (codec.clone(), width);
        Ok(())
    }

    /// Puts back a run that was in memory: in memory if it still fits, else on disk.
    fn rebuild(&mut self, first: u32, last: u32, threads: usize) -> Result<()> {
        let keys: u64 = (first..=last).map(|level| self.levels.keys(level as usize)).sum();
        let bytes = keys as usize * self.width;
        let is_last = last as usize + 1 == self.levels.len();
        if is_last && first == last && bytes > self.last_level_bytes_max() {
            return self.adopt_last_level(threads);
        }
        let mut segments = Vec::new();
        for level in first..=last {
            segments.extend(self.levels.open(level as usize)?);
        }
        if 2 * bytes > self.young_bytes() - self.last_level_bytes_max() {
            // Saved by a search with more memory than this one.
            self.flush(self.young.len(), threads)?;
            let pieces = self.write_merged(first, last, &[], &segments, keys, threads)?;
            self.old.push(self.open_run(first, last, pieces)?);
            return Ok(());
        }
        let mut all = Vec::with_capacity(bytes);
        let mut merge = Merge::new(self.width, sources(self.width, &[], &segments, KeyRange::ALL));
        drain(&mut merge, |batch| {
            all.extend_from_slice(batch);
            Ok(())
        })?;
        self.young.push(YoungRun { first, last, keys: Arc::new(all) });
        self.flush_if_full(threads)
    }

    /// The number of levels.
    pub fn levels(&self) -> &Levels {
        &self.levels
    }

    /// The number of runs on disk and in memory.
    pub fn runs(&self) -> (usize, usize) {
        (self.old.len(), self.young.len())
    }

    /// Bytes of the runs in memory and of the filter; of the levels and of the runs on disk that are
    /// not levels.
    pub fn bytes(&self) -> [u64; 4] {
        let young: usize = self.young.iter().map(|run| run.keys.len()).sum();
        let length = |piece: &Piece| piece.at.length;
        let levels = self.levels.saved().pieces.iter().map(length).sum();
        let merged = self.old.iter().flat_map(|run| &run.pieces);
        let merged = merged.filter(|piece| matches!(piece.file, FileName::Merged { .. }));
        [young as u64, self.filter.bytes() as u64, levels, merged.map(length).sum()]
    }

    /// What a manifest must remember; valid on disk after [`Store::sync`].
    pub fn saved(&self) -> SavedStore {
        let old = self.old.iter().map(|run| SavedRun {
            first: run.first,
            last: run.last,
            pieces: run.pieces.clone(),
        });
        let young = self.young.iter().map(|run| SavedRun {
            first: run.first,
            last: run.last,
            pieces: vec![],
        });
        SavedStore { levels: self.levels.saved().clone(), runs: old.chain(young).collect() }
    }

    /// Makes everything that [`Store::saved`] speaks of durable.
    pub fn sync(&mut self) -> Result<()> {
        self.levels.sync()
    }

    /// Removes the files that no longer belong to the store. To be called when a manifest without
    /// them is durable.
    pub fn sweep(&mut self) -> Result<()> {
        for file in self.garbage.drain(..) {
            self.disk.remove(&file.to_string())?;
        }
        Ok(())
    }

    /// The last level, to be expanded.
    pub fn frontier(&mut self) -> Result<Frontier> {
        let last = self.levels.len() - 1;
        match self.young.last() {
            Some(run) if run.first as usize == last => Ok(Frontier::Raw(run.keys.clone())),
            _ => Ok(Frontier::Encoded(self.levels.open(last)?)),
        }
    }

    /// Takes the level just pushed to the log into the store; `keys` are its keys if they were kept.
    fn take_last_level(&mut self, keys: Option<Vec<u8>>, threads: usize) -> Result<()> {
        let keys = keys.filter(|keys| keys.len() <= self.last_level_bytes_max());
        // While young runs are merged, both they and what they become are in memory.
        let bytes: usize = self.young.iter().map(|run| run.keys.len()).sum();
        if 2 * bytes + keys.as_ref().map_or(0, Vec::len) > self.young_bytes() {
            self.flush(self.young.len(), threads)?;
        }
        self.merge_young(threads);
        let level = self.levels.len() as u32 - 1;
        match keys {
            None => {
                self.filter.insert_segments(&self.levels.open(level as usize)?)?;
                self.adopt_last_level(threads)
            }
            Some(mut keys) => {
                self.filter.insert(&keys);
                keys.shrink_to_fit();
                self.young.push(YoungRun { first: level, last: level, keys: Arc::new(keys) });
                self.flush_if_full(threads)
            }
        }
    }

    /// Makes the last level an old run as it lies in the log: it is too large for memory.
    fn adopt_last_level(&mut self, threads: usize) -> Result<()> {
        self.flush(self.young.len(), threads)?;
        let level = self.levels.len() as u32 - 1;
        let pieces = self.levels.pieces(level as usize).to_vec();
        let segments = self.levels.open(level as usize)?;
        self.old.push(OldRun { first: level, last: level, pieces, segments });
        self.compact(0, threads)
    }

    fn last_level_bytes_max(&self) -> usize {
        self.young_bytes() / LAST_LEVEL_SHARE
    }

    /// Memory for young runs: what the list of levels, and a copy of it in a checkpoint, leaves of
    /// their share.
    fn young_bytes(&self) -> usize {
        let share = self.shares.young;
        share.saturating_sub(2 * self.levels.list_bytes()).max(share / 4)
    }

    /// Merges young runs into their elders while those are not twice as large.
    fn merge_young(&mut self, threads: usize) {
        while let [.., elder, younger] = self.young.as_slice()
            && elder.keys.len() < 2 * younger.keys.len()
        {
            let keys = union(self.width, [&elder.keys, &younger.keys], threads);
            let (first, last) = (elder.first, younger.last);
            self.young.truncate(self.young.len() - 2);
            self.young.push(YoungRun { first, last, keys: Arc::new(keys) });
        }
    }

    /// Moves all young runs but the last level to disk when merging them in memory could take more
    /// than their share.
    fn flush_if_full(&mut self, threads: usize) -> Result<()> {
        let settled = self.young.len().saturating_sub(1);
        let bytes: usize = self.young[..settled].iter().map(|run| run.keys.len()).sum();
        let share = self.young_bytes() - self.last_level_bytes_max();
        if 2 * bytes > share { self.flush(settled, threads) } else { Ok(()) }
    }

    /// Merges the first `count` young runs, and the old ones of like size, to a run on disk.
    fn flush(&mut self, count: usize, threads: usize) -> Result<()> {
        if count == 0 { Ok(()) } else { self.compact(count, threads) }
    }

    /// Merges the first `count` young runs, or if that is none the last old run, with every old
    /// run before them that is not twice as large as all that would be merged into it.
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
        let pieces = self.write_merged(first, last, &slices, &segments, keys, threads)?;
        let merged = self.open_run(first, last, pieces)?;
        for run in self.old.drain(kept..) {
            let files = run.pieces.iter().map(|piece| piece.file);
            self.garbage.extend(files.filter(|file| matches!(file, FileName::Merged { .. })));
        }
        self.old.push(merged);
        self.young.drain(..count);
        Ok(())
    }

    /// Decides whether the candidates of the last level are asked about in a filter before the runs
    /// are looked into. Whoever has borrowed memory of the store gives back what
    /// [`Store::spare_bytes`] then no longer has, before the filter is made.
    pub fn choose_filter(&mut self) {
        let Some(last) = self.levels.len().checked_sub(1) else { return };
        let blocks =
            self.old.iter().flat_map(|run| &run.segments).map(Segment::blocks).sum::<usize>();
        let young: usize = self.young.iter().map(|run| run.keys.len() / self.width).sum();
        let keys = self.old.iter().map(OldRun::keys).sum::<u64>() + young as u64;
        let level = (last as u64, self.levels.keys(last));
        self.filter.choose(level, keys, blocks as u64, self.shares.filter);
    }

    /// Makes the filter, if one was decided on.
    pub fn make_filter(&mut self) -> Result<()> {
        let segments: Vec<&Segment> = self.old.iter().flat_map(|run| &run.segments).collect();
        let slices: Vec<&[u8]> = self.young.iter().map(|run| run.keys.as_slice()).collect();
        self.filter.make(self.width, &slices, &segments)
    }

    /// What of its share of memory the filter does not take, in bytes. It takes more only while
    /// levels are thin, and so candidates few.
    pub fn spare_bytes(&self) -> usize {
        self.shares.filter.saturating_sub(self.filter.bytes())
    }

    fn write_merged(
        &self,
        first: u32,
        last: u32,
        slices: &[&[u8]],
        segments: &[Segment],
        keys: u64,
        threads: usize,
    ) -> Result<Vec<Piece>> {
        let (disk, width, codec) = (&*self.disk, self.width, &self.codec);
        let whole = self.whole;
        let boundaries = split(width, slices, segments, threads_for(keys, threads));
        in_parallel(KeyRange::cut(&boundaries), |part, range| {
            let file = FileName::Merged { first, last, part: part as u16 };
            let mut out = disk.create(&file.to_string())?;
            let mut writer = SegmentWriter::new(whole, &mut *out).coded(codec);
            let mut merge = Merge::new(width, sources(width, slices, segments, range));
            drain(&mut merge, |batch| writer.push(batch))?;
            let at = writer.finish()?;
            out.sync()?;
            Ok(Piece { file, at })
        })
    }

    fn open_run(&self, first: u32, last: u32, pieces: Vec<Piece>) -> Result<OldRun> {
        let segments = pieces
            .iter()
            .map(|piece| Ok(piece.open(&*self.disk, self.whole)?.coded(&self.codec)))
            .collect::<Result<_>>()?;
        Ok(OldRun { first, last, pieces, segments })
    }
}

impl OldRun {
    fn keys(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.at.keys).sum()
    }
}

/// The keys of a level, in units that can be expanded side by side.
#[derive(Clone)]
pub enum Frontier {
    /// In memory, as they are.
    Raw(Arc<Vec<u8>>),
    /// On disk.
    Encoded(Vec<Segment>),
}

impl Frontier {
    /// The number of keys.
    pub fn keys(&self, width: usize) -> u64 {
        match self {
            Frontier::Raw(keys) => (keys.len() / width) as u64,
            Frontier::Encoded(segments) => segments.iter().map(Segment::keys).sum(),
        }
    }
}

/// The keys of two sets that have none in common.
fn union(width: usize, sets: [&[u8]; 2], threads: usize) -> Vec<u8> {
    let length = sets[0].len() + sets[1].len();
    let mut all = vec![0; length];
    let boundaries = split(width, &sets, &[], threads_for((length / width) as u64, threads));
    let mut rest = all.as_mut_slice();
    let mut items = Vec::new();
    for range in KeyRange::cut(&boundaries) {
        let sets = sets.map(|keys| restrict(width, keys, range.low, range.high));
        let room;
        (room, rest) = rest.split_at_mut(sets[0].len() + sets[1].len());
        items.push((sets, room));
    }
    in_parallel(items, |_, (sets, room)| {
        merge_disjoint(width, sets, room);
        Ok(())
    })
    .expect("merging in memory does not fail");
    all
}
