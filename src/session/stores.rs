//! The table of stores: how visited states can be stored, and the options of each store.
//!
//! The values of `--store`, the options for experts and the check that an option suits the selected store come from
//! this table.

use super::config::{SearchConfig, StoreKind};
use crate::search::comback::{HashWidth, HashWidthError, StateCacheConfig, StateCacheError};
use std::num::ParseIntError;
use std::path::PathBuf;
use thiserror::Error;

/// A store of visited states: its entry in [`STORES`].
#[derive(Debug)]
pub struct StoreEntry {
    /// The value of the configuration that selects it.
    pub kind: StoreKind,
    /// The name on the command line and in configuration files.
    pub name: &'static str,
    /// The help of the command line.
    pub summary: &'static str,
    /// The options of this store only.
    pub options: &'static [StoreOption],
}

/// An option of a store.
#[derive(Debug)]
pub struct StoreOption {
    /// The name on the command line, and the key in configuration files.
    pub name: &'static str,
    /// The name of the value in help.
    pub value_name: &'static str,
    /// The help of the command line, as a part of a sentence.
    pub help: &'static str,
    /// The possible values, each with its meaning. Empty if [`set`](StoreOption::set) decides.
    pub values: &'static [(&'static str, &'static str)],
    /// Sets the option to the value of this text.
    pub set: fn(&mut SearchConfig, &str) -> Result<(), StoreOptionError>,
    /// Returns whether the option is set.
    pub is_set: fn(&SearchConfig) -> bool,
}

/// The reason why a text is no value of an option of a store.
#[derive(Debug, Error)]
pub enum StoreOptionError {
    /// The text is no number.
    #[error(transparent)]
    Number(#[from] ParseIntError),
    /// The number is no width of a hash.
    #[error(transparent)]
    HashWidth(#[from] HashWidthError),
    /// The text describes no cache.
    #[error(transparent)]
    Cache(#[from] StateCacheError),
}

/// All stores. The first is the default.
pub static STORES: &[StoreEntry] = &[
    StoreEntry {
        kind: StoreKind::Sorted,
        name: "sorted",
        summary: "Front-coded sorted runs",
        options: &[],
    },
    StoreEntry {
        kind: StoreKind::Raw,
        name: "raw",
        summary: "Uncompressed states, for comparison",
        options: &[],
    },
    StoreEntry { kind: StoreKind::Rle, name: "rle", summary: "Run-length codes", options: &[] },
    StoreEntry {
        kind: StoreKind::Huffman,
        name: "huffman",
        summary: "Static Huffman codes",
        options: &[StoreOption {
            name: "huffman-table",
            value_name: "FILE",
            help: "a file with byte frequencies [default: from a sample of the states]",
            values: &[],
            set: |config, text| {
                config.huffman_table = Some(PathBuf::from(text));
                Ok(())
            },
            is_set: |config| config.huffman_table.is_some(),
        }],
    },
    StoreEntry {
        kind: StoreKind::Comback,
        name: "comback",
        summary: "Hashes and back-edges (ComBack), for states of hundreds of bytes",
        options: &[
            StoreOption {
                name: "comback-hash",
                value_name: "BITS",
                help: "the number of bits of a hash [default: 32]",
                values: &[
                    ("8", "For tests: nearly every hash collides"),
                    ("16", "For tests: many hashes collide"),
                    ("32", "For up to about 10^9 states"),
                    ("64", "For more states"),
                ],
                set: |config, text| {
                    config.comback_hash = Some(HashWidth::try_from(text.parse::<u8>()?)?);
                    Ok(())
                },
                is_set: |config| config.comback_hash.is_some(),
            },
            StoreOption {
                name: "comback-cache",
                value_name: "KIND[:SIZE]",
                help: "the cache of reconstructed states: none, random, fifo, heuristic or stratified[-K], with a \
                       number of states or `max` [default: fifo, 4 bytes for each visited state]",
                values: &[],
                set: |config, text| {
                    config.comback_cache = Some(text.parse::<StateCacheConfig>()?);
                    Ok(())
                },
                is_set: |config| config.comback_cache.is_some(),
            },
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_store_has_an_entry_with_its_configuration_name() {
        for entry in STORES {
            let name = serde_json::to_value(entry.kind).unwrap();
            assert_eq!(name, entry.name);
            for option in entry.options {
                for (value, _) in option.values {
                    let mut config = SearchConfig::default();
                    assert!(!(option.is_set)(&config), "{}", option.name);
                    (option.set)(&mut config, value).unwrap();
                    assert!((option.is_set)(&config), "{}={value}", option.name);
                }
            }
        }
        assert_eq!(STORES[0].kind, StoreKind::default());
    }
}
