//! What can be chosen of ComBack.

use super::cache::{CacheKind, CacheSize};
use rkyv::{Archive, Deserialize, Serialize};

/// What can be chosen of ComBack; none of it changes what is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct CombackSettings {
    /// Bits of a hash: 8, 16, 32 or 64.
    pub hash_bits: u8,
    /// Which states are kept to begin rebuilding at, and how many.
    pub cache: (CacheKind, CacheSize),
    /// Whether suspects are rebuilt together, as delayed duplicate detection does; else each by
    /// itself.
    pub groups: bool,
}

impl Default for CombackSettings {
    fn default() -> Self {
        let cache = (CacheKind::Fifo, CacheSize::default());
        CombackSettings { hash_bits: 32, cache, groups: true }
    }
}

impl CombackSettings {
    /// Whether there is such a thing.
    pub fn are_possible(&self) -> bool {
        matches!(self.hash_bits, 8 | 16 | 32 | 64)
            && !matches!(self.cache.0, CacheKind::Stratified(0))
    }

    pub(super) fn hash_bytes(&self) -> usize {
        usize::from(self.hash_bits / 8)
    }
}
