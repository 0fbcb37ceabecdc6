//! Codecs: keys as records, byte strings of other lengths that are as different as the keys are.
//!
//! The codecs are those that Holzmann, Godefroid and Pirottin compared ("Coverage preserving
//! reduction strategies for reachability analysis", 1992), and none. All are injective, so records
//! are compared instead of keys: equal records, equal keys. Their order means nothing.

mod huffman;
mod lengths;
mod rle;

pub use huffman::{ByteFrequencies, HuffmanCode, HuffmanTables};

use crate::keys::Projection;
use rkyv::{Archive, Deserialize, Serialize};
use std::sync::Arc;

/// Keys turned into another form at a time.
const ADOPTED_KEYS: usize = 512;

/// How the blocks of a store hold keys.
#[derive(Clone, Debug, Default)]
pub enum Codec {
    /// As gaps between neighbours, compressed: no records.
    #[default]
    Gaps,
    /// As gaps, of keys that are projected wherever they are not in blocks.
    Projected(Arc<Projection>),
    /// As they are.
    Raw,
    /// As pairs of a length and a byte.
    Rle,
    /// As static Huffman codes.
    Huffman(Arc<HuffmanCode>),
}

/// A codec as manifests keep it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub enum SavedCodec {
    /// [`Codec::Gaps`] and [`Codec::Projected`].
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
            Codec::Gaps | Codec::Projected(_) => "sorted",
            Codec::Raw => "raw",
            Codec::Rle => "rle",
            Codec::Huffman(_) => "huffman",
        }
    }

    /// What a manifest remembers of how blocks are written; a [`Projection`] is saved by itself.
    pub fn saved(&self) -> SavedCodec {
        match self {
            Codec::Gaps | Codec::Projected(_) => SavedCodec::Gaps,
            Codec::Raw => SavedCodec::Raw,
            Codec::Rle => SavedCodec::Rle,
            Codec::Huffman(huffman) => {
                let (columns, lengths) = huffman.saved();
                SavedCodec::Huffman { columns, lengths }
            }
        }
    }

    /// The codec that was saved, for keys of `width` bytes; none if there is no such.
    pub fn restore(saved: &SavedCodec, width: usize) -> Option<Codec> {
        Some(match saved {
            SavedCodec::Gaps => Codec::Gaps,
            SavedCodec::Raw => Codec::Raw,
            SavedCodec::Rle => Codec::Rle,
            SavedCodec::Huffman { columns, lengths } => {
                Codec::Huffman(Arc::new(HuffmanCode::restore(width, columns, lengths)?))
            }
        })
    }

    /// On what keys are projected outside blocks, if they are.
    pub fn projection(&self) -> Option<&Arc<Projection>> {
        match self {
            Codec::Projected(projection) => Some(projection),
            _ => None,
        }
    }

    /// The codec of the same blocks that gives whole keys.
    pub fn unprojected(&self) -> Codec {
        match self {
            Codec::Projected(_) => Codec::Gaps,
            other => other.clone(),
        }
    }

    /// Bytes of a key outside blocks, if whole ones have `width`.
    pub fn key_width(&self, width: usize) -> usize {
        self.projection().map_or(width, |projection| projection.width())
    }

    /// Turns `keys` of `width` bytes, if they are whole, as another codec has them into keys as
    /// this one has them. None of them may be an exception to this one's projection.
    pub fn adopt(&self, other: &Codec, width: usize, keys: &[u8]) -> Vec<u8> {
        let count = keys.len() / other.key_width(width);
        let mut adopted = Vec::with_capacity(count * self.key_width(width));
        let (mut whole, mut exceptions) = (Vec::new(), Vec::new());
        for some in keys.chunks(other.key_width(width) * ADOPTED_KEYS) {
            whole.clear();
            match other.projection() {
                Some(projection) => projection.unproject(some, &mut whole),
                None => whole.extend_from_slice(some),
            }
            match self.projection() {
                Some(projection) => projection.project(&whole, &mut adopted, &mut exceptions),
                None => adopted.extend_from_slice(&whole),
            }
        }
        assert!(exceptions.is_empty(), "a wider projection has all bits of the one before");
        adopted
    }

    /// The codec's number in blocks; none for gaps.
    pub(crate) fn number(&self) -> Option<u8> {
        match self {
            Codec::Gaps | Codec::Projected(_) => None,
            Codec::Raw => Some(2),
            Codec::Rle => Some(3),
            Codec::Huffman(_) => Some(4),
        }
    }

    /// The most bytes that the record of a key of `width` bytes takes.
    pub fn record_bytes_max(&self, width: usize) -> usize {
        match self {
            Codec::Gaps | Codec::Projected(_) | Codec::Raw => width,
            Codec::Rle => 2 * width,
            Codec::Huffman(huffman) => huffman.record_bytes_max(),
        }
    }

    /// Appends the record of `key` to `out`.
    pub fn encode(&self, key: &[u8], out: &mut Vec<u8>) {
        match self {
            Codec::Gaps | Codec::Projected(_) | Codec::Raw => out.extend_from_slice(key),
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
            Codec::Gaps | Codec::Projected(_) | Codec::Raw => {
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
