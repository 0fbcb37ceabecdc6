//! The configuration of ComBack's cache of states.

use rkyv::{Archive, Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;
use thiserror::Error;

/// The default stride of a stratified cache: it holds the states of the levels whose numbers are multiples of this.
const STRATUM: u16 = 10;

/// The kind of a cache: which states it holds, and which it evicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub enum CacheKind {
    /// No cache.
    None,
    /// Any states; a random one is evicted.
    Random,
    /// Any states; the oldest one is evicted.
    Fifo,
    /// Any states; of some random ones, the one at which paths began least often lately is evicted.
    Heuristic,
    /// The states of every k-th level; the oldest one is evicted.
    Stratified(u16),
}

/// The capacity of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub enum CacheSize {
    /// This number of bytes for each visited state, within the memory plan.
    BytesAState(u8),
    /// This number of states, within the memory plan.
    States(u64),
    /// All that the memory plan allows.
    Max,
}

impl Default for CacheSize {
    /// Returns a size below that of the tables, whatever the width of states.
    fn default() -> Self {
        CacheSize::BytesAState(4)
    }
}

/// A cache of rebuilt states and its capacity: `none`, `fifo`, `random:max`, `stratified-5:1000`.
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
    /// The kind of the cache.
    pub kind: CacheKind,
    /// The capacity.
    pub size: CacheSize,
}

impl Default for StateCacheConfig {
    fn default() -> Self {
        StateCacheConfig { kind: CacheKind::Fifo, size: CacheSize::default() }
    }
}

/// An error in the text of a cache.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StateCacheError {
    /// The kind is unknown.
    #[error(
        "expected none, random, fifo, heuristic, stratified or stratified-K, optionally with a number of states or \
         `max`, as in fifo:10000"
    )]
    Kind,
    /// The size is not a number of states.
    #[error("`{0}` is not a number of states")]
    Size(String),
    /// The kind `none` has no size.
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
    fn cache_configurations_have_a_kind_and_an_optional_size() {
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
