//! The parts of a store, as in reports.

use rkyv::{Archive, Deserialize, Serialize};

/// The size of a part of a store, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct StorePart {
    /// The kind of the part.
    pub kind: StorePartKind,
    /// Bytes in memory.
    pub memory: u64,
    /// Bytes on disk.
    pub disk: u64,
}

/// The kind of a part of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub enum StorePartKind {
    /// The log of levels.
    Levels,
    /// Merged levels in memory.
    YoungRuns,
    /// Merged levels on disk.
    MergedRuns,
    /// The filter that recognises most new states.
    Filter,
    /// The map from hashes to numbers.
    StateTable,
    /// The map from numbers to parents.
    BackEdges,
    /// The states of the last level, as state vectors.
    LastLevel,
    /// The cache of states from which rebuilding starts.
    Cache,
}

impl StorePartKind {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            StorePartKind::Levels => "levels",
            StorePartKind::YoungRuns => "young runs",
            StorePartKind::MergedRuns => "merged runs",
            StorePartKind::Filter => "filter",
            StorePartKind::StateTable => "state table",
            StorePartKind::BackEdges => "back-edges",
            StorePartKind::LastLevel => "last level",
            StorePartKind::Cache => "cache",
        }
    }
}
