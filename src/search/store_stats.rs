//! What a store is made of, as reports tell it.

use rkyv::{Archive, Deserialize, Serialize};

/// What a part of a store takes, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct StorePart {
    /// What it is.
    pub kind: StorePartKind,
    /// In memory.
    pub memory: u64,
    /// On disk.
    pub disk: u64,
}

/// What a part of a store is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub enum StorePartKind {
    /// The log of levels.
    Levels,
    /// Merged levels in memory.
    YoungRuns,
    /// Merged levels on disk.
    MergedRuns,
    /// What says of most new states that they are new.
    Filter,
    /// From hashes to numbers.
    StateTable,
    /// From numbers to parents.
    BackEdges,
    /// The states of the last level, as they are.
    LastLevel,
    /// States kept to begin rebuilding at.
    Cache,
}

impl StorePartKind {
    /// As reports call it.
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
