//! ComBack: states as hashes and back-edges, rebuilt where hashes collide.
//!
//! Westergaard, Kristensen, Brodal and Arge ("The ComBack method: extending hash compaction with backtracking", 2007)
//! store for each state only a hash, a number, and a *back-edge*: the number of its parent and its index among the
//! parent's successors. A candidate whose hash is not in the *state table* is new. Otherwise the states with its hash
//! are *suspects*. Each suspect is rebuilt by replaying successors from an initial state, and compared. So the search
//! is exact. Evangelista, Westergaard and Kristensen ("The ComBack method revisited", 2009) add caches of rebuilt
//! states and delayed duplicate detection: suspects are collected and rebuilt together, so that the common parts of
//! their paths are replayed once.
//!
//! Here both tables are on disk. The choice of numbers makes them small and their access sequential: the new states of
//! a level are numbered in the order of their back-edges. So the back-edges of a level ascend. They are stored as a
//! sorted segment without the numbers, which are positions. The parents of ascending states ascend. The paths of
//! suspects are followed level by level in single passes.
//!
//! ```text
//! candidates  state | parent, index      sorted; of equal states the least back-edge is kept
//!   chunk     hash, join with the table  suspects: number, candidate
//!             rebuild, compare           the remaining ones are new
//! new         sorted by parent, index    numbered: back-edges, table, frontier
//! ```

mod cache;
mod cache_config;
mod edges;
mod encoding;
mod rebuild;
mod settings;
mod settle;
mod table;
mod tagged_model;
mod trace;

pub use cache_config::{CacheKind, CacheSize, StateCacheConfig, StateCacheError};
pub use settings::{CombackSettings, HashWidth, HashWidthError};
pub use tagged_model::TAG;
pub(super) use tagged_model::{TaggedModel, tags};
pub use trace::{counterexample, find};

use super::MemoryPlan;
use super::store_stats::{StorePart, StorePartKind};
use cache::StateCache;
use edges::BackEdgeTable;
use encoding::StateEncoding;
use rebuild::StateRebuilder;
use rkyv::{Archive, Deserialize, Serialize};
use settle::CandidateChunk;
use spill::{
    Codec, Disk, Error, FileName, FileSegment, Frontier, LevelLog, Result, SavedStore,
    SegmentWriter,
};
use spillway_model::StateSpace;
use std::sync::Arc;
use table::StateHashTable;

/// The work of rebuilding states, over all sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct RebuildStats {
    /// Pairs of a candidate and a state with its hash.
    pub suspects: u64,
    /// Rebuilt states, counted once for all candidates of a chunk with the same hash.
    pub states: u64,
    /// Actions executed for rebuilding.
    pub actions: u64,
    /// Paths that began at a cached state.
    pub cached: u64,
}

/// The part of the manifest besides the tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct SavedFrontier {
    /// The states of the last level.
    pub pieces: Vec<FileSegment>,
    /// The work so far.
    pub rebuilt: RebuildStats,
}

/// The shares of the memory of a store, in bytes.
#[derive(Clone, Copy)]
struct CombackShares {
    /// The youngest runs of the state table, with the space to merge them.
    table: usize,
    /// A chunk of candidates and its suspects.
    chunk: usize,
    /// The states being rebuilt.
    rebuild: usize,
    /// The last level.
    frontier: usize,
    /// The cache of rebuilt states.
    cache: usize,
}

impl CombackShares {
    fn of(plan: &MemoryPlan) -> CombackShares {
        let all = (plan.young + plan.filter) as usize;
        let (table, chunk, rebuild) = (all / 4, all / 4, all / 4);
        CombackShares { table, chunk, rebuild, frontier: all / 8, cache: all / 8 }
    }
}

/// Returns the capacity of the cache of a search with this plan, in states of `width` bytes.
pub fn cache_states_max(plan: &MemoryPlan, width: usize) -> usize {
    CombackShares::of(plan).cache / cache::bytes_per_state(width)
}

/// All visited states as hashes and back-edges, and the states of the last level as state vectors.
pub struct CombackStore<'a> {
    model: &'a dyn StateSpace,
    disk: Arc<dyn Disk>,
    settings: CombackSettings,
    share: CombackShares,
    table: StateHashTable,
    levels: LevelLog,
    edges: BackEdgeTable,
    cache: StateCache,
    form: StateEncoding,
    frontier: CombackFrontier,
    rebuilt: RebuildStats,
    /// Buffers for a chunk of candidates and for states being rebuilt. They are allocated once, since fresh pages cost
    /// more than the work on them.
    chunk: CandidateChunk,
    room: [Vec<u8>; 2],
    /// Files that the next manifest no longer names.
    garbage: Vec<FileName>,
}

/// The states of the last level, in memory or on disk or both.
#[derive(Default)]
struct CombackFrontier {
    keys: Option<Arc<Vec<u8>>>,
    pieces: Vec<FileSegment>,
}

impl<'a> CombackStore<'a> {
    /// Creates a store without levels.
    pub fn new(
        model: &'a dyn StateSpace,
        disk: Arc<dyn Disk>,
        plan: &MemoryPlan,
        settings: CombackSettings,
    ) -> CombackStore<'a> {
        let levels = LevelLog::new(disk.clone(), tagged_model::TAG, Codec::Gaps);
        let share = CombackShares::of(plan);
        CombackStore {
            model,
            share,
            table: StateHashTable::new(disk.clone(), settings.hash_bytes(), share.table),
            levels,
            edges: BackEdgeTable::default(),
            cache: StateCache::new(settings.cache, model.width(), share.cache),
            form: StateEncoding::of(Codec::Gaps, model.width()).expect("whole states are a form"),
            frontier: CombackFrontier::default(),
            rebuilt: RebuildStats::default(),
            chunk: CandidateChunk::default(),
            room: Default::default(),
            garbage: Vec::new(),
            disk,
            settings,
        }
    }

    /// Restores a saved store; `codec` encodes its states. The store must have no levels.
    pub fn restore(
        mut self,
        codec: Codec,
        store: SavedStore,
        frontier: SavedFrontier,
    ) -> Result<CombackStore<'a>> {
        let SavedStore { levels, runs } = store;
        let disk = self.disk.clone();
        self.levels = LevelLog::restore(disk, tagged_model::TAG, Codec::Gaps, levels)?;
        self.edges = BackEdgeTable::of(self.levels.saved());
        self.cache.grow(self.edges.next());
        self.table.restore(runs)?;
        self.form = StateEncoding::of(codec, self.model.width()).ok_or_else(|| {
            Error::corrupt("manifest", 0, "its projection does not fit states with tags")
        })?;
        self.frontier = CombackFrontier { keys: None, pieces: frontier.pieces };
        self.rebuilt = frontier.rebuilt;
        Ok(self)
    }

    /// Returns the log of back-edges.
    pub fn levels(&self) -> &LevelLog {
        &self.levels
    }

    /// Returns the work of rebuilding states.
    pub fn rebuild_stats(&self) -> RebuildStats {
        self.rebuilt
    }

    /// Returns the current sizes of the parts.
    pub fn parts(&self) -> Vec<StorePart> {
        let length = |pieces: &[FileSegment]| pieces.iter().map(|piece| piece.at.length).sum();
        let held = self.frontier.keys.as_ref().map_or(0, |keys| keys.len()) as u64;
        let [young, old] = self.table.bytes();
        vec![
            StorePart { kind: StorePartKind::StateTable, memory: young, disk: old },
            StorePart {
                kind: StorePartKind::BackEdges,
                memory: 0,
                disk: self.levels.saved().bytes(),
            },
            StorePart {
                kind: StorePartKind::LastLevel,
                memory: held,
                disk: length(&self.frontier.pieces),
            },
            StorePart { kind: StorePartKind::Cache, memory: self.cache.bytes() as u64, disk: 0 },
        ]
    }

    /// Returns the codec of candidates.
    pub fn codec(&self) -> &Codec {
        &self.form.candidates
    }

    /// Returns the codec of the last level.
    pub fn frontier_codec(&self) -> &Codec {
        &self.form.numbered
    }

    /// Changes the codec of candidates. The codec must represent every state of the last level.
    pub fn change_codec(&mut self, codec: &Codec) {
        let form = StateEncoding::of(codec.clone(), self.model.width());
        let form = form.expect("a search keeps the bits of tags and fills bytes");
        if let Some(keys) = &mut self.frontier.keys {
            let whole = self.model.width() + TAG;
            *keys = Arc::new(form.numbered.adopt(&self.form.numbered, whole, keys));
        }
        self.form = form;
    }

    /// Returns the last level for expansion, as keys of [`TaggedModel`].
    pub fn frontier(&self) -> Result<Frontier> {
        if let Some(keys) = &self.frontier.keys {
            return Ok(Frontier::Raw(keys.clone()));
        }
        let (width, codec) = (self.model.width() + TAG, &self.form.numbered);
        let open = |piece: &FileSegment| Ok(piece.open(&*self.disk, width)?.with_codec(codec));
        Ok(Frontier::Encoded(self.frontier.pieces.iter().map(open).collect::<Result<_>>()?))
    }

    /// Writes the data that is only in memory, and makes all data of the next manifest durable.
    pub fn sync(&mut self) -> Result<()> {
        self.levels.sync()?;
        self.table.persist()?;
        let Some(level) = self.levels.len().checked_sub(1) else { return Ok(()) };
        if let (Some(keys), true) = (&self.frontier.keys, self.frontier.pieces.is_empty()) {
            let file = FileName::Frontier { level: level as u32 };
            let mut out = self.disk.create(&file.to_string())?;
            let mut writer = SegmentWriter::new(self.model.width() + TAG, &mut *out)
                .with_codec(&self.form.numbered);
            writer.push(keys)?;
            let at = writer.finish()?;
            out.sync()?;
            self.frontier.pieces = vec![FileSegment { file, at }];
        }
        Ok(())
    }

    /// Returns the part of the manifest for this store. It is valid on disk after [`CombackStore::sync`].
    pub fn saved(&self) -> (SavedStore, SavedFrontier) {
        let store = SavedStore { levels: self.levels.saved().clone(), runs: self.table.saved() };
        let pieces = self.frontier.pieces.clone();
        (store, SavedFrontier { pieces, rebuilt: self.rebuilt })
    }

    /// Removes the files that no longer belong to the store. Callers call it when a manifest without them is durable.
    pub fn sweep(&mut self) -> Result<()> {
        let files = self.garbage.drain(..).chain(self.table.garbage());
        for file in files.collect::<Vec<_>>() {
            self.disk.remove(&file.to_string())?;
        }
        Ok(())
    }

    /// Rebuilds the states with the ascending numbers `wanted`. Passes each to `show` in the encoding of candidates,
    /// with its index in `wanted`.
    fn rebuild(&mut self, wanted: &[u64], show: &mut dyn FnMut(usize, &[u8])) -> Result<()> {
        self.levels.flush()?;
        let mut rebuild = StateRebuilder {
            model: self.model,
            disk: &*self.disk,
            levels: self.levels.saved(),
            edges: &mut self.edges,
            cache: &mut self.cache,
            rebuilt: &mut self.rebuilt,
            room: &mut self.room,
        };
        let grouped = if self.settings.groups { self.share.rebuild } else { 0 };
        let form = &self.form;
        rebuild.rebuild_all(wanted, grouped, &mut |at, state| show(at, &form.project(state)))
    }
}
