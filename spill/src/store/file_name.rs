//! The names of the files that hold keys.
//!
//! A name determines the content of the file. So a search leaves the same files however often it is interrupted, and
//! orphan files, which no manifest names, can be removed.

use rkyv::{Archive, Deserialize, Serialize};
use std::fmt;

/// A file of keys.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Archive, Serialize, Deserialize,
)]
pub enum FileName {
    /// The log of levels: segment after segment, level after level. Each settling thread appends to its own shard.
    Levels {
        /// The thread's number.
        shard: u16,
    },
    /// A part of the levels `first` to `last`, merged for look-up.
    Merged {
        /// The first level.
        first: u32,
        /// The last level.
        last: u32,
        /// The number of the part, in key order.
        part: u16,
    },
    /// Sorted candidate runs of one level by one expanding thread, segment after segment.
    Candidates {
        /// The expanded level.
        level: u32,
        /// The thread's number.
        shard: u16,
    },
    /// The states of the last level, if the levels do not hold them in this form.
    Frontier {
        /// The level.
        level: u32,
    },
    /// The new states of the level after `level` while it is settled, in runs, if they do not fit in memory.
    Fresh {
        /// The expanded level.
        level: u32,
    },
    /// The log of values that levels have changed. Each settling thread appends to two shards.
    Changes {
        /// The shard's number.
        shard: u16,
    },
    /// Sorted runs of the pairs of a state of a level and its successor, by one expanding thread, segment after
    /// segment.
    Obligations {
        /// The level.
        level: u32,
        /// The thread's number.
        shard: u16,
    },
    /// The states of a level that are to be re-expanded.
    Reexpanded {
        /// The level.
        level: u32,
    },
    /// Sorted runs of the successors of a level that have no encoding yet, by one expanding thread, run after run.
    Unencoded {
        /// The expanded level.
        level: u32,
        /// The thread's number.
        shard: u16,
    },
    /// The journal of an encoding that grows.
    Encoding {
        /// The level at whose end the file was begun.
        level: u32,
    },
    /// The keys of the region, in key order; sets are subsets of it.
    Region,
    /// A set of keys of a part of the region.
    Marks {
        /// The number of the sweep that wrote it.
        sweep: u32,
        /// The number of the part.
        shard: u16,
    },
    /// For each key of a part of the region, the keys of the region that lead to it.
    Predecessors {
        /// The number of the part.
        shard: u16,
    },
    /// The keys of a part of the region that a sweep reached first.
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
            FileName::Reexpanded { level } => write!(f, "carried-{level:08}"),
            FileName::Unencoded { level, shard } => write!(f, "unencoded-{level:08}-{shard:03}"),
            FileName::Encoding { level } => write!(f, "encoding-{level:08}"),
            FileName::Region => write!(f, "region-000"),
            FileName::Marks { sweep, shard } => write!(f, "marks-{sweep:08}-{shard:03}"),
            FileName::Predecessors { shard } => write!(f, "predecessors-{shard:03}"),
            FileName::Layer { sweep, shard } => write!(f, "layer-{sweep:08}-{shard:03}"),
        }
    }
}

impl FileName {
    /// Returns the file of keys with this name, if there is one. Only names in the written form are accepted; other
    /// names in a directory, such as `levels-of-detail.txt`, are not files of keys.
    pub fn parse(name: &str) -> Option<FileName> {
        let mut parts = name.split('-');
        let sort = parts.next()?;
        let numbers: Vec<u32> = parts.map(|it| it.parse().ok()).collect::<Option<_>>()?;
        let narrow = |number: u32| u16::try_from(number).ok();
        let file = match (sort, numbers.as_slice()) {
            ("levels", &[shard]) => FileName::Levels { shard: narrow(shard)? },
            ("merged", &[first, last, part]) => {
                FileName::Merged { first, last, part: narrow(part)? }
            }
            ("candidates", &[level, shard]) => {
                FileName::Candidates { level, shard: narrow(shard)? }
            }
            ("frontier", &[level]) => FileName::Frontier { level },
            ("fresh", &[level]) => FileName::Fresh { level },
            ("changes", &[shard]) => FileName::Changes { shard: narrow(shard)? },
            ("obligations", &[level, shard]) => {
                FileName::Obligations { level, shard: narrow(shard)? }
            }
            ("carried", &[level]) => FileName::Reexpanded { level },
            ("unencoded", &[level, shard]) => FileName::Unencoded { level, shard: narrow(shard)? },
            ("encoding", &[level]) => FileName::Encoding { level },
            ("region", &[0]) => FileName::Region,
            ("marks", &[sweep, shard]) => FileName::Marks { sweep, shard: narrow(shard)? },
            ("predecessors", &[shard]) => FileName::Predecessors { shard: narrow(shard)? },
            ("layer", &[sweep, shard]) => FileName::Layer { sweep, shard: narrow(shard)? },
            _ => return None,
        };
        // A number may have other forms, such as `+1` or `1`.
        (file.to_string() == name).then_some(file)
    }

    /// Returns whether a name in a directory is that of a file of keys.
    pub fn is_key_file(name: &str) -> bool {
        FileName::parse(name).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names() -> impl Strategy<Value = FileName> {
        let numbers = (any::<u32>(), any::<u32>(), any::<u16>(), 0..14_u8);
        numbers.prop_map(|(level, last, shard, sort)| match sort {
            0 => FileName::Levels { shard },
            1 => FileName::Merged { first: level, last, part: shard },
            2 => FileName::Candidates { level, shard },
            3 => FileName::Frontier { level },
            4 => FileName::Fresh { level },
            5 => FileName::Changes { shard },
            6 => FileName::Obligations { level, shard },
            7 => FileName::Reexpanded { level },
            8 => FileName::Region,
            9 => FileName::Marks { sweep: level, shard },
            10 => FileName::Predecessors { shard },
            11 => FileName::Unencoded { level, shard },
            12 => FileName::Encoding { level },
            _ => FileName::Layer { sweep: level, shard },
        })
    }

    proptest! {
        #[test]
        fn file_names_are_parsed_back(file in names()) {
            prop_assert_eq!(FileName::parse(&file.to_string()), Some(file));
            for other in [format!("{file}x"), format!("{file}-000"), format!("x{file}")] {
                prop_assert_eq!(FileName::parse(&other), None, "{}", other);
            }
        }
    }

    #[test]
    fn foreign_file_names_are_rejected() {
        for name in [
            "",
            "levels",
            "levels-",
            "levels-1",
            "levels-0001",
            "levels-+01",
            "levels-65536",
            "levels-of-detail.txt",
            "merged-00000001-00000002",
            "merged-cells.csv",
            "candidates-2024.pdf",
            "region-001",
            "encoding-000",
            "unencoded-00000001",
            "predecessors-3",
            "fresh-00000001-000",
            "carried-4294967296",
        ] {
            assert_eq!(FileName::parse(name), None, "{name}");
        }
    }
}
