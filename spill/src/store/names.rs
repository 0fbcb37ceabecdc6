//! The names of the files that hold keys.
//!
//! A name says what is in the file, so that the same search leaves the same files behind however
//! often it was interrupted, and so that whatever no manifest mentions can be swept.

use rkyv::{Archive, Deserialize, Serialize};
use std::fmt;

/// A file of keys.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Archive, Serialize, Deserialize,
)]
pub enum FileName {
    /// The log of levels: segment after segment, level after level. Each settling thread appends
    /// to a shard of its own.
    Levels {
        /// The thread's number.
        shard: u16,
    },
    /// A part of the levels `first` to `last` merged for look-up.
    Merged {
        /// The first level.
        first: u32,
        /// The last level.
        last: u32,
        /// The number of the part, in key order.
        part: u16,
    },
    /// Sorted candidate runs of one level, segment after segment, of one expanding thread.
    Candidates {
        /// The level that is being expanded.
        level: u32,
        /// The thread's number.
        shard: u16,
    },
    /// The states of the last level as they are, where the levels do not hold them.
    Frontier {
        /// The level.
        level: u32,
    },
    /// New states of the level after `level` while it is settled, in runs, where there are too many
    /// for memory.
    Fresh {
        /// The level that was expanded.
        level: u32,
    },
    /// The log of values that levels have changed; each settling thread appends to two shards.
    Changes {
        /// The shard's number.
        shard: u16,
    },
    /// Sorted runs of which state of a level has which successor, segment after segment, of one
    /// expanding thread.
    Obligations {
        /// The level.
        level: u32,
        /// The thread's number.
        shard: u16,
    },
    /// The states of a level that are to be expanded again.
    Carried {
        /// The level.
        level: u32,
    },
    /// The keys that sets are of, in key order.
    Region,
    /// A set of keys of a part of the region.
    Marks {
        /// The number of the sweep that made it.
        sweep: u32,
        /// The number of the part.
        shard: u16,
    },
    /// The keys of a part of the region that a sweep came to first.
    Layer {
        /// The number of the sweep.
        sweep: u32,
        /// The number of the part.
        shard: u16,
    },
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileName::Levels { shard } => write!(f, "levels-{shard:03}"),
            FileName::Merged { first, last, part } => {
                write!(f, "merged-{first:08}-{last:08}-{part:03}")
            }
            FileName::Candidates { level, shard } => write!(f, "candidates-{level:08}-{shard:03}"),
            FileName::Frontier { level } => write!(f, "frontier-{level:08}"),
            FileName::Fresh { level } => write!(f, "fresh-{level:08}"),
            FileName::Changes { shard } => write!(f, "changes-{shard:03}"),
            FileName::Obligations { level, shard } => {
                write!(f, "obligations-{level:08}-{shard:03}")
            }
            FileName::Carried { level } => write!(f, "carried-{level:08}"),
            FileName::Region => write!(f, "region-000"),
            FileName::Marks { sweep, shard } => write!(f, "marks-{sweep:08}-{shard:03}"),
            FileName::Layer { sweep, shard } => write!(f, "layer-{sweep:08}-{shard:03}"),
        }
    }
}

impl FileName {
    /// Whether a name found in a directory is of a file of keys.
    pub fn is_one(name: &str) -> bool {
        let sorts = ["levels-", "merged-", "candidates-", "frontier-", "fresh-", "changes-"];
        let more = ["obligations-", "carried-", "region-", "marks-", "layer-"];
        sorts.iter().chain(&more).any(|sort| name.starts_with(sort))
    }
}
