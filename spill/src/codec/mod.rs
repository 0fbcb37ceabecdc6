//! Codecs: keys as records, byte strings of other lengths that are as different as the keys are.
//!
//! The codecs are those that Holzmann, Godefroid and Pirottin compared ("Coverage preserving
//! reduction strategies for reachability analysis", 1992), and none. All are injective, so records
//! are compared instead of keys: equal records, equal keys. Their order means nothing.

mod huffman;
mod lengths;
mod records;
mod rle;

pub use huffman::{Frequencies, Huffman, Tables};
pub(crate) use records::{Records, Sought};

use rkyv::{Archive, Deserialize, Serialize};
use std::sync::Arc;

/// How the blocks of a store hold keys.
#[derive(Clone, Debug, Default)]
pub enum Codec {
    /// As gaps between neighbours, compressed: no records.
    #[default]
    Gaps,
    /// As they are.
    Raw,
    /// As pairs of a length and a byte.
    Rle,
    /// As static Huffman codes.
    Huffman(Arc<Huffman>),
}

/// A codec as manifests keep it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub enum SavedCodec {
    /// [`Codec::Gaps`].
    #[default]
    Gaps,
    /// [`Codec::Raw`].
    Raw,
    /// [`Codec::Rle`].
    Rle,
    /// [`Codec::Huffman`].
    Huffman {
        /// For each byte of a key, which of the codes it has; one for all if there is but one.
        columns: Vec<u16>,
        /// The codes, each as the lengths of its 256 words.
        lengths: Vec<Vec<u8>>,
    },
}

impl Codec {
    /// As flags and reports call it.
    pub fn name(&self) -> &'static str {
        match self {
            Codec::Gaps => "sorted",
            Codec::Raw => "raw",
            Codec::Rle => "rle",
            Codec::Huffman(_) => "huffman",
        }
    }

    /// What a manifest remembers.
    pub fn saved(&self) -> SavedCodec {
        match self {
            Codec::Gaps => SavedCodec::Gaps,
            Codec::Raw => SavedCodec::Raw,
            Codec::Rle => SavedCodec::Rle,
            Codec::Huffman(huffman) => huffman.saved(),
        }
    }

    /// The codec that was saved, for keys of `width` bytes; none if there is no such.
    pub fn restore(saved: &SavedCodec, width: usize) -> Option<Codec> {
        Some(match saved {
            SavedCodec::Gaps => Codec::Gaps,
            SavedCodec::Raw => Codec::Raw,
            SavedCodec::Rle => Codec::Rle,
            SavedCodec::Huffman { columns, lengths } => {
                Codec::Huffman(Arc::new(Huffman::restore(width, columns, lengths)?))
            }
        })
    }

    /// The codec's number in blocks; none for gaps.
    pub(crate) fn number(&self) -> Option<u8> {
        match self {
            Codec::Gaps => None,
            Codec::Raw => Some(2),
            Codec::Rle => Some(3),
            Codec::Huffman(_) => Some(4),
        }
    }

    /// The most bytes that the record of a key of `width` bytes takes.
    pub fn record_bytes_max(&self, width: usize) -> usize {
        match self {
            Codec::Gaps | Codec::Raw => width,
            Codec::Rle => 2 * width,
            Codec::Huffman(huffman) => huffman.record_bytes_max(),
        }
    }

    /// Appends the record of `key` to `out`.
    pub fn encode(&self, key: &[u8], out: &mut Vec<u8>) {
        match self {
            Codec::Gaps | Codec::Raw => out.extend_from_slice(key),
            Codec::Rle => rle::encode(key, out),
            Codec::Huffman(huffman) => huffman.encode(key, out),
        }
    }

    /// Replaces `out` by the records of `keys`, one behind the other, and `ends` by where each ends.
    pub fn encode_all(&self, width: usize, keys: &[u8], out: &mut Vec<u8>, ends: &mut Vec<u32>) {
        if let Codec::Huffman(huffman) = self {
            return huffman.encode_all(keys, out, ends);
        }
        out.clear();
        ends.clear();
        for key in keys.chunks_exact(width) {
            self.encode(key, out);
            ends.push(out.len() as u32);
        }
    }

    /// Replaces `key` by the one that `record` is of; false if it is of none.
    pub fn decode(&self, record: &[u8], key: &mut [u8]) -> bool {
        match self {
            Codec::Gaps | Codec::Raw => {
                let fits = record.len() == key.len();
                if fits {
                    key.copy_from_slice(record);
                }
                fits
            }
            Codec::Rle => rle::decode(record, key),
            Codec::Huffman(huffman) => huffman.decode(record, key),
        }
    }
}
