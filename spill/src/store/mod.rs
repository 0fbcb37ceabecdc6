//! The visited store: every level of a search, in a form from which new candidates are subtracted cheaply.
//!
//! The store is a list of sorted runs, oldest first. Each holds the keys of a contiguous interval of levels; together
//! the intervals cover each level once. Two invariants make it simple:
//!
//! - *The store is a function of the levels.* A run contains nothing that the log of levels does not contain. So a
//!   checkpoint records only intervals, and a run in memory is rebuilt by merging its levels again.
//! - *Old before young.* Runs on disk (old) hold earlier levels than runs in memory (young). The youngest holds only
//!   the last level, raw, for the next expansion, if it fits. Small levels stay in a hash table behind the young runs
//!   (`small_levels.rs`) until they become one.
//!
//! Sizes are kept geometric, as in a log-structured merge tree (O'Neil et al., 1996). In memory a run is merged into
//! the previous one unless that is twice as large. When the young runs outgrow their share of memory, they are merged
//! to disk, together with every old run that is not twice as large as everything merged into it. So each run is at
//! least twice as large as all later ones together. A key is rewritten at most about log1.5(keys / keys in memory)
//! times, and a look-up searches log3 of that many runs.
//!
//! A store may have values for its keys (`settle_pairs.rs`). If values may change, a level also has the keys whose
//! values it changed, in a separate log (`store_values.rs`), and runs may have keys in common. Otherwise each key
//! keeps its first value, and a known key is dropped whatever its value is.

mod compact;
mod dominance_subtract;
mod file_name;
mod filter;
mod free_space;
mod level_list;
mod levels;
mod partition_worker;
mod run;
mod settle;
mod settle_pairs;
mod settle_small;
mod small_levels;
mod spare_buffers;
mod store_subtract;
mod store_values;
mod value_lookup;

pub use file_name::FileName;
pub use levels::{FileSegment, LevelFormat, LevelLog, LevelShard, SavedLevels, SavedShard};
pub use partition_worker::{KeyPartition, PartitionWorker};
pub use run::{Frontier, SavedRun};
pub use settle::{Candidates, SettleOutcome};
pub use settle_pairs::SettledPairs;
pub use store_subtract::StoreSubtract;
pub use store_values::{SavedValues, ValueChanges};

use crate::codec::Codec;
use crate::disk::{Disk, Result};
use crate::segments::Segment;
use crate::values::{Dominance, ValueSpec};
use filter::{ExpandedLevel, FilterChoice, FilterView};
use free_space::FreeSpace;
use rkyv::{Archive, Deserialize, Serialize};
use run::{OldRun, YoungRun};
use settle_small::SmallLevelBuffers;
use small_levels::SmallLevels;
use spare_buffers::SpareBuffers;
use std::sync::Arc;
use store_values::StoreValues;

/// The memory of a store in bytes, and the disk space that it may use to be faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreBudget {
    /// For young runs, including the memory to merge them.
    pub young: usize,
    /// For a filter of the old runs, if levels are thin.
    pub filter: usize,
    /// The maximum uncompressed part of each run on disk, which is decoded repeatedly, and of the log of levels, if
    /// the disk has space.
    pub plain: u64,
}

/// All keys found so far.
pub struct Store {
    disk: Arc<dyn Disk>,
    /// The size of a whole key in bytes.
    whole: usize,
    /// The size of a key in memory in bytes: of a projected key, if the codec projects keys.
    width: usize,
    /// The codec of the data on disk; it determines the form of keys in memory.
    codec: Codec,
    shares: StoreBudget,
    /// The filter, if there is one, with the keys of all runs.
    filter: FilterChoice,
    /// The levels of the runs.
    levels: LevelLog,
    /// The values, if keys have values.
    valued: Option<StoreValues>,
    /// The dominance relation, if dominated new keys are dropped.
    dominance: Option<Dominance>,
    /// Runs on disk, of earlier levels first; all their levels are before those of the young runs.
    old: Vec<OldRun>,
    /// Runs in memory, of earlier levels first.
    young: Vec<YoungRun>,
    /// The latest levels, if they are small and not sorted yet: all of them are after those of the young runs.
    small: Option<SmallLevels>,
    /// Buffers to settle small levels.
    small_buffers: SmallLevelBuffers,
    /// Buffers for the keys of later levels.
    spare: SpareBuffers,
    /// The free space of the disk.
    space: FreeSpace,
    /// Files that the next manifest no longer names.
    garbage: Vec<FileName>,
}

/// The saved form of a store, for manifests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct SavedStore {
    /// The log of levels.
    pub levels: SavedLevels,
    /// The runs, oldest first.
    pub runs: Vec<SavedRun>,
}

impl Store {
    /// Creates a store without levels, with this memory, of keys of `whole` bytes. `codec` writes the data on disk;
    /// candidates are in the codec's form outside blocks.
    pub fn new(disk: Arc<dyn Disk>, whole: usize, codec: Codec, shares: StoreBudget) -> Self {
        let levels = LevelLog::new(disk.clone(), whole, codec.clone());
        Self {
            disk,
            whole,
            width: codec.key_width(whole),
            codec,
            shares,
            filter: FilterChoice::default(),
            levels,
            valued: None,
            dominance: None,
            old: Vec::new(),
            young: Vec::new(),
            small: None,
            small_buffers: SmallLevelBuffers::default(),
            spare: SpareBuffers::default(),
            space: FreeSpace::default(),
            garbage: Vec::new(),
        }
    }

    /// Sets the dominance relation: from now on the store drops dominated keys.
    ///
    /// # Panics
    ///
    /// If it has values, or the codec projects the numbers.
    pub fn with_dominance(self, dominance: Dominance) -> Store {
        assert!(self.valued.is_none(), "numbers behind keys are no values");
        let store = Store { dominance: Some(dominance), ..self };
        store.check_codec(&store.codec);
        store
    }

    /// Creates a subtraction of its keys from ascending batches of keys, from the first on.
    ///
    /// # Panics
    ///
    /// If the store has values or a dominance relation, or small levels that are not [sorted](Store::sort_small_levels).
    pub fn subtraction(&self) -> StoreSubtract<'_> {
        assert!(self.small.is_none(), "small levels are sorted before they are subtracted");
        assert!(self.valued.is_none(), "keys alone are subtracted from a store without values");
        assert!(self.dominance.is_none(), "what is dominated is not known");
        StoreSubtract::new(self.width, &self.young, self.filter.filter(), &self.old)
    }

    /// Returns all its keys as disjoint sorted runs, as they are in memory.
    ///
    /// # Panics
    ///
    /// If there are small levels that are not [sorted](Store::sort_small_levels).
    pub fn runs(&self) -> Candidates<'_> {
        assert!(self.small.is_none(), "small levels are sorted before they are read as runs");
        let slices = self.young.iter().map(|run| run.keys.as_slice()).collect();
        let segments = self.old.iter().flat_map(|run| run.segments.iter().cloned()).collect();
        Candidates { slices, segments }
    }

    /// Returns the codec of its keys on disk.
    pub fn codec(&self) -> &Codec {
        &self.codec
    }

    /// Restores a saved store, without values, and rebuilds the runs in memory within their share. The store has no
    /// levels yet.
    pub fn restore(mut self, saved: SavedStore, threads: usize) -> Result<Self> {
        self.levels = self.levels.with_saved(saved.levels)?;
        self.restore_runs(saved.runs, threads)?;
        Ok(self)
    }

    fn restore_runs(&mut self, runs: Vec<SavedRun>, threads: usize) -> Result<()> {
        for SavedRun { first, last, pieces } in runs {
            match pieces.is_empty() {
                false => self.old.push(self.open_run(first, last, pieces)?),
                true => self.rebuild(first, last, threads)?,
            }
        }
        Ok(())
    }

    /// Changes the codec to one that reads the existing blocks, and converts the keys in memory. No key is an
    /// exception to its projection.
    pub fn change_codec(&mut self, codec: &Codec, threads: usize) -> Result<()> {
        self.check_codec(codec);
        self.sort_small_levels(threads)?;
        let width = codec.key_width(self.whole);
        let bytes: usize = self.young.iter().map(|run| run.keys.len() / self.width * width).sum();
        // The largest run is briefly in memory twice.
        if 2 * bytes > self.young_bytes() {
            self.flush(self.young.len(), threads)?;
        }
        for run in &mut self.young {
            run.keys = Arc::new(codec.adopt(&self.codec, self.whole, &run.keys));
        }
        let segments = self.old.iter_mut().flat_map(|run| &mut run.segments);
        segments.for_each(|segment| *segment = segment.clone().with_codec(codec));
        self.levels.set_codec(codec);
        self.changes_mut().into_iter().for_each(|changes| changes.set_codec(codec));
        self.filter.change_codec(&self.codec, codec, self.whole);
        (self.codec, self.width) = (codec.clone(), width);
        Ok(())
    }

    /// Returns the log of levels.
    pub fn levels(&self) -> &LevelLog {
        &self.levels
    }

    /// Returns the sizes in bytes of the runs in memory, the filter, the levels, and the runs on disk that are not
    /// levels.
    pub fn bytes(&self) -> [u64; 4] {
        let young: usize = self.young.iter().map(|run| run.keys.len()).sum();
        let young = young + self.small.as_ref().map_or(0, SmallLevels::bytes);
        let length = |piece: &FileSegment| piece.at.length;
        let changes = self.changes_log().map_or(0, |changes| changes.saved().bytes());
        let levels = self.levels.saved().bytes() + changes;
        let merged = self.old.iter().flat_map(|run| &run.pieces);
        let merged = merged.filter(|piece| matches!(piece.file, FileName::Merged { .. }));
        [young as u64, self.filter.bytes() as u64, levels, merged.map(length).sum()]
    }

    /// Returns the saved form for a manifest; valid on disk after [`Store::sync`].
    pub fn saved(&self) -> SavedStore {
        let old = self.old.iter().map(|run| SavedRun {
            first: run.first,
            last: run.last,
            pieces: run.pieces.clone(),
        });
        let in_memory = |first, last| SavedRun { first, last, pieces: vec![] };
        let young = self.young.iter().map(|run| in_memory(run.first, run.last));
        let mut runs: Vec<SavedRun> = old.chain(young).collect();
        if let Some(small) = &self.small {
            let last = small.last();
            runs.extend((small.first < last).then(|| in_memory(small.first, last - 1)));
            runs.push(in_memory(last, last));
        }
        SavedStore { levels: self.levels.saved().clone(), runs }
    }

    /// Makes everything that [`Store::saved`] names durable.
    pub fn sync(&mut self) -> Result<()> {
        self.changes_mut().into_iter().try_for_each(LevelLog::sync)?;
        self.levels.sync()
    }

    /// Removes the files that no longer belong to the store. The caller first makes a manifest without them durable.
    pub fn remove_garbage(&mut self) -> Result<()> {
        for file in self.garbage.drain(..) {
            self.disk.remove(&file.to_string())?;
        }
        Ok(())
    }

    /// Returns the keys of a level, whole.
    pub fn level(&mut self, level: usize) -> Result<Vec<Segment>> {
        Ok(self.levels.open(level)?.iter().map(Segment::unprojected).collect())
    }

    /// Returns the last level, for expansion.
    pub fn frontier(&mut self) -> Result<Frontier> {
        if let Some(small) = &self.small {
            return Ok(Frontier::Raw(small.last_level().clone()));
        }
        let last = self.levels.len() - 1;
        match self.young.last() {
            Some(run) if run.first as usize == last && self.changed_keys() == 0 => {
                Ok(Frontier::Raw(run.keys.clone()))
            }
            _ => Ok(Frontier::Encoded(self.levels.open(last)?)),
        }
    }

    /// Decides whether the candidates of the last level are tested in a filter before the runs are searched. A
    /// borrower of the store's memory must return what exceeds [`Store::spare_bytes`] before the filter is built.
    pub fn choose_filter(&mut self) {
        let Some(last) = self.levels.len().checked_sub(1) else { return };
        let blocks =
            self.old.iter().flat_map(|run| &run.segments).map(Segment::blocks).sum::<usize>();
        let young: usize = self.young.iter().map(|run| run.keys.len() / self.width).sum();
        let young = young + self.small.as_ref().map_or(0, |small| small.keys().len() / self.width);
        let keys = self.old.iter().map(OldRun::keys).sum::<u64>() + young as u64;
        let level = ExpandedLevel { number: last as u64, keys: self.levels.last_keys() };
        self.filter.choose(level, keys, blocks as u64, self.shares.filter);
    }

    /// Builds the filter, if one was decided on.
    pub fn make_filter(&mut self) -> Result<()> {
        let segments: Vec<&Segment> = self.old.iter().flat_map(|run| &run.segments).collect();
        let slices = self.young.iter().map(|run| run.keys.as_slice());
        let slices: Vec<&[u8]> = slices.chain(self.small.iter().map(SmallLevels::keys)).collect();
        let behind = self.values().map(ValueSpec::bytes);
        let behind = behind.or(self.dominance.as_ref().map(Dominance::bytes));
        let view = behind.map(|bytes| FilterView::of_keys(&self.codec, self.whole, bytes));
        self.filter.make(self.width, view, &slices, &segments)
    }

    /// Returns the part of its memory share that the filter does not take, in bytes. The filter grows only while
    /// levels are thin, so candidates are few then.
    pub fn spare_bytes(&self) -> usize {
        self.shares.filter.saturating_sub(self.filter.bytes())
    }

    fn open_piece(&self, piece: &FileSegment) -> Result<Segment> {
        piece.open_pairs(&*self.disk, self.whole, self.value_bytes())
    }

    fn open_run(&self, first: u32, last: u32, pieces: Vec<FileSegment>) -> Result<OldRun> {
        let segments = pieces
            .iter()
            .map(|piece| Ok(self.open_piece(piece)?.with_codec(&self.codec)))
            .collect::<Result<_>>()?;
        Ok(OldRun { first, last, pieces, segments })
    }
}
