//! The settings of ComBack.

use super::cache_config::{CacheKind, StateCacheConfig};
use rkyv::{Archive, Deserialize, Serialize};
use thiserror::Error;

/// The settings of ComBack. They do not change the result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct CombackSettings {
    /// Bits of a hash: 8, 16, 32 or 64.
    pub hash_bits: u8,
    /// The cache of rebuilt states.
    pub cache: StateCacheConfig,
    /// Whether suspects are rebuilt together, as in delayed duplicate detection, or one by one.
    pub groups: bool,
}

impl Default for CombackSettings {
    fn default() -> Self {
        let (hash_bits, cache) = (HashWidth::default().bits(), StateCacheConfig::default());
        CombackSettings { hash_bits, cache, groups: true }
    }
}

impl CombackSettings {
    /// Returns whether the settings are valid.
    pub fn are_possible(&self) -> bool {
        HashWidth::try_from(self.hash_bits).is_ok() && self.cache.kind != CacheKind::Stratified(0)
    }

    pub(super) fn hash_bytes(&self) -> usize {
        usize::from(self.hash_bits / 8)
    }
}

/// The width of a state's hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(into = "u8", try_from = "u8")]
pub enum HashWidth {
    /// 8 bits, for tests: almost every state is a suspect.
    Bits8,
    /// 16 bits, for tests: there are many suspects.
    Bits16,
    /// 32 bits, for up to some thousand million states.
    #[default]
    Bits32,
    /// 64 bits, for more states.
    Bits64,
}

/// A number of bits that is not the width of a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{0} is not a width of a hash: 8, 16, 32 or 64")]
pub struct HashWidthError(u8);

impl HashWidth {
    /// Returns the number of bits.
    pub const fn bits(self) -> u8 {
        match self {
            HashWidth::Bits8 => 8,
            HashWidth::Bits16 => 16,
            HashWidth::Bits32 => 32,
            HashWidth::Bits64 => 64,
        }
    }
}

impl From<HashWidth> for u8 {
    fn from(width: HashWidth) -> u8 {
        width.bits()
    }
}

impl TryFrom<u8> for HashWidth {
    type Error = HashWidthError;

    fn try_from(bits: u8) -> Result<HashWidth, HashWidthError> {
        use HashWidth::{Bits8, Bits16, Bits32, Bits64};
        let all = [Bits8, Bits16, Bits32, Bits64];
        all.into_iter().find(|it| it.bits() == bits).ok_or(HashWidthError(bits))
    }
}
