//! What can be chosen of ComBack.

use super::cache::{CacheKind, CacheSize};
use rkyv::{Archive, Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;
use thiserror::Error;

/// A stratified cache keeps the states of every level whose number is a multiple of this, where nothing else is said.
const STRATUM: u16 = 10;

/// What can be chosen of ComBack; none of it changes what is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct CombackSettings {
    /// Bits of a hash: 8, 16, 32 or 64.
    pub hash_bits: u8,
    /// The cache of rebuilt states.
    pub cache: StateCacheConfig,
    /// Whether suspects are rebuilt together, as delayed duplicate detection does; else each by
    /// itself.
    pub groups: bool,
}

impl Default for CombackSettings {
    fn default() -> Self {
        let (hash_bits, cache) = (HashWidth::default().bits(), StateCacheConfig::default());
        CombackSettings { hash_bits, cache, groups: true }
    }
}

impl CombackSettings {
    /// Whether there is such a thing.
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

/// A number of bits that is no width of a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{0} is no width of a hash: 8, 16, 32 and 64 are")]
pub struct HashWidthError(u8);

impl HashWidth {
    /// The number of bits.
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

/// Which rebuilt states are kept as starting points, and how many: `none`, `fifo`, `random:max`, `stratified-5:1000`.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Archive,
    Serialize,
    Deserialize,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(into = "String", try_from = "String")]
pub struct StateCacheConfig {
    /// Which states are kept.
    pub kind: CacheKind,
    /// How many states are kept.
    pub size: CacheSize,
}

impl Default for StateCacheConfig {
    fn default() -> Self {
        StateCacheConfig { kind: CacheKind::Fifo, size: CacheSize::default() }
    }
}

/// A text that names no cache.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StateCacheError {
    /// There is no such kind of cache.
    #[error(
        "expected none, random, fifo, heuristic, stratified or stratified-K, and perhaps a number of states or `max`, such as \
         fifo:10000"
    )]
    Kind,
    /// Its size is no number of states.
    #[error("`{0}` is not a number of states")]
    Size(String),
    /// No cache has a size.
    #[error("none has no size")]
    NoneWithSize,
}

impl FromStr for StateCacheConfig {
    type Err = StateCacheError;

    fn from_str(text: &str) -> Result<StateCacheConfig, StateCacheError> {
        let (kind, size) = match text.split_once(':') {
            None => (text, CacheSize::default()),
            Some((kind, "max")) => (kind, CacheSize::Max),
            Some((kind, size)) => {
                let states = size.parse().ok().filter(|&states| states > 0);
                let states = states.ok_or_else(|| StateCacheError::Size(size.to_owned()))?;
                (kind, CacheSize::States(states))
            }
        };
        if kind == "none" && text != "none" {
            return Err(StateCacheError::NoneWithSize);
        }
        let stratum = kind.strip_prefix("stratified-").map(|it| it.parse().unwrap_or(0));
        let kind = match (kind, stratum) {
            ("none", _) => CacheKind::None,
            ("random", _) => CacheKind::Random,
            ("fifo", _) => CacheKind::Fifo,
            ("heuristic", _) => CacheKind::Heuristic,
            ("stratified", _) => CacheKind::Stratified(STRATUM),
            (_, Some(levels)) if levels > 0 => CacheKind::Stratified(levels),
            _ => return Err(StateCacheError::Kind),
        };
        Ok(StateCacheConfig { kind, size })
    }
}

impl Display for StateCacheConfig {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self.kind {
            CacheKind::None => return out.write_str("none"),
            CacheKind::Random => out.write_str("random"),
            CacheKind::Fifo => out.write_str("fifo"),
            CacheKind::Heuristic => out.write_str("heuristic"),
            CacheKind::Stratified(levels) => write!(out, "stratified-{levels}"),
        }?;
        match self.size {
            CacheSize::BytesAState(_) => Ok(()),
            CacheSize::States(states) => write!(out, ":{states}"),
            CacheSize::Max => out.write_str(":max"),
        }
    }
}

impl TryFrom<String> for StateCacheConfig {
    type Error = StateCacheError;

    fn try_from(text: String) -> Result<StateCacheConfig, StateCacheError> {
        text.parse()
    }
}

impl From<StateCacheConfig> for String {
    fn from(cache: StateCacheConfig) -> String {
        cache.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_have_a_kind_and_perhaps_a_size() {
        let cache = |kind, size| Ok(StateCacheConfig { kind, size });
        let (usual, five) = (CacheSize::default(), CacheSize::States(5));
        for (text, expected, written) in [
            ("none", cache(CacheKind::None, usual), "none"),
            ("random:max", cache(CacheKind::Random, CacheSize::Max), "random:max"),
            ("fifo:5", cache(CacheKind::Fifo, five), "fifo:5"),
            ("stratified", cache(CacheKind::Stratified(STRATUM), usual), "stratified-10"),
            ("stratified-3:5", cache(CacheKind::Stratified(3), five), "stratified-3:5"),
        ] {
            assert_eq!(text.parse(), expected, "{text}");
            assert_eq!(expected.unwrap().to_string(), written);
        }
        for wrong in
            ["", "lru", "fifo:", "fifo:0", "fifo:many", "none:5", "stratified-0", "stratified-x"]
        {
            assert!(wrong.parse::<StateCacheConfig>().is_err(), "{wrong}");
        }
    }
}
