//! Runs of the store, and the last of them as what is expanded next.

use super::levels::FileSegment;
use crate::segments::Segment;
use rkyv::{Archive, Deserialize, Serialize};
use std::sync::Arc;

/// A run on disk: the keys of levels `first` to `last`.
pub(super) struct OldRun {
    pub(super) first: u32,
    pub(super) last: u32,
    /// In key order.
    pub(super) pieces: Vec<FileSegment>,
    /// The same pieces, open.
    pub(super) segments: Vec<Segment>,
}

/// A run in memory: the keys of levels `first` to `last`.
pub(super) struct YoungRun {
    pub(super) first: u32,
    pub(super) last: u32,
    /// Ascending, without repeats; shared with whoever expands them.
    pub(super) keys: Arc<Vec<u8>>,
}

/// An interval of levels and, for a run on disk, its pieces.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct SavedRun {
    /// The first level.
    pub first: u32,
    /// The last level.
    pub last: u32,
    /// Where it is; nothing for a run that is rebuilt from the levels.
    pub pieces: Vec<FileSegment>,
}

impl OldRun {
    /// The number of keys.
    pub(super) fn keys(&self) -> u64 {
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
