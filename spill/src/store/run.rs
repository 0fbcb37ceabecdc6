//! Runs of the store, and the last of them as the frontier.

use super::levels::FileSegment;
use crate::segments::Segment;
use rkyv::{Archive, Deserialize, Serialize};
use std::sync::Arc;

/// A run on disk: the keys of levels `first` to `last`.
pub(super) struct OldRun {
    pub(super) first: u32,
    pub(super) last: u32,
    /// The pieces in key order.
    pub(super) pieces: Vec<FileSegment>,
    /// The same pieces, open.
    pub(super) segments: Vec<Segment>,
}

/// A run in memory: the keys of levels `first` to `last`.
pub(super) struct YoungRun {
    pub(super) first: u32,
    pub(super) last: u32,
    /// Ascending, without repeats; shared with the expansion.
    pub(super) keys: Arc<Vec<u8>>,
}

/// An interval of levels and, for a run on disk, its pieces.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct SavedRun {
    /// The first level.
    pub first: u32,
    /// The last level.
    pub last: u32,
    /// The pieces on disk; empty for a run that is rebuilt from the levels.
    pub pieces: Vec<FileSegment>,
}

impl OldRun {
    /// Returns the number of keys.
    pub(super) fn keys(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.at.keys).sum()
    }
}

/// The keys of a level, in units that can be expanded in parallel.
#[derive(Clone)]
pub enum Frontier {
    /// In memory, unencoded.
    Raw(Arc<Vec<u8>>),
    /// On disk.
    Encoded(Vec<Segment>),
}

impl Frontier {
    /// Returns the number of keys.
    pub fn keys(&self, width: usize) -> u64 {
        match self {
            Frontier::Raw(keys) => (keys.len() / width) as u64,
            Frontier::Encoded(segments) => segments.iter().map(Segment::keys).sum(),
        }
    }
}
