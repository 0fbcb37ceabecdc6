//! What a store is made of, as reports tell it.

use rkyv::{Archive, Deserialize, Serialize};

/// What a part of a store takes, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct Part {
    /// What it is.
    pub kind: PartKind,
    /// In memory.
    pub memory: u64,
    /// On disk.
    pub disk: u64,
}

/// What a part of a store is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub enum PartKind {
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

impl PartKind {
    /// As reports call it.
    pub fn name(self) -> &'static str {
        match self {
            PartKind::Levels => "levels",
            PartKind::YoungRuns => "young runs",
            PartKind::MergedRuns => "merged runs",
            PartKind::Filter => "filter",
            PartKind::StateTable => "state table",
            PartKind::BackEdges => "back-edges",
            PartKind::LastLevel => "last level",
            PartKind::Cache => "cache",
        }
    }
}
