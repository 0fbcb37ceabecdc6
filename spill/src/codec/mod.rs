//! Codecs: keys as records, byte strings of variable length.
//!
//! The codecs are those that Holzmann, Godefroid and Pirottin compared ("Coverage preserving reduction strategies for
//! reachability analysis", 1992), and raw keys. All are injective, so records are compared instead of keys: equal
//! records mean equal keys. The order of records has no meaning.

mod huffman;
mod lengths;
mod rle;

pub use huffman::{ByteFrequencies, HuffmanCode, HuffmanTables};

use crate::keys::Projection;
use rkyv::{Archive, Deserialize, Serialize};
use std::sync::Arc;

/// The number of keys that are converted at a time.
const ADOPTED_KEYS: usize = 512;

/// The form of keys in the blocks of a store.
#[derive(Clone, Debug, Default)]
pub enum Codec {
    /// As compressed gaps between neighbours, without records.
    #[default]
    Gaps,
    /// As gaps; outside blocks, keys are projected.
    Projected(Arc<Projection>),
    /// Unchanged.
    Raw,
    /// As pairs of a length and a byte.
    Rle,
    /// As static Huffman codes.
    Huffman(Arc<HuffmanCode>),
}

/// A codec in the form that manifests store.
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
        /// The code of each byte of a key, by number; one number for all if there is only one code.
        columns: Vec<u16>,
        /// The codes, each as the lengths of its 256 words.
        lengths: Vec<Vec<u8>>,
    },
}

impl Codec {
    /// Returns the name of the codec in flags and reports.
    pub fn name(&self) -> &'static str {
        match self {
            Codec::Gaps | Codec::Projected(_) => "sorted",
            Codec::Raw => "raw",
            Codec::Rle => "rle",
            Codec::Huffman(_) => "huffman",
        }
    }

    /// Returns the saved form, for a manifest; a [`Projection`] is saved separately.
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

    /// Returns the saved codec, for keys of `width` bytes; `None` if it is invalid.
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

    /// Returns the projection of keys outside blocks, if there is one.
    pub fn projection(&self) -> Option<&Arc<Projection>> {
        match self {
            Codec::Projected(projection) => Some(projection),
            _ => None,
        }
    }

    /// Returns the codec of the same blocks with whole keys.
    pub fn unprojected(&self) -> Codec {
        match self {
            Codec::Projected(_) => Codec::Gaps,
            other => other.clone(),
        }
    }

    /// Returns the size of a key outside blocks in bytes, if whole keys have `width`.
    pub fn key_width(&self, width: usize) -> usize {
        self.projection().map_or(width, |projection| projection.width())
    }

    /// Converts `keys` from the form of another codec to the form of this one. Whole keys have `width` bytes. No key
    /// may be an exception to this codec's projection.
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

    /// Returns the codec's number in blocks; `None` for gaps.
    pub(crate) fn number(&self) -> Option<u8> {
        match self {
            Codec::Gaps | Codec::Projected(_) => None,
            Codec::Raw => Some(2),
            Codec::Rle => Some(3),
            Codec::Huffman(_) => Some(4),
        }
    }

    /// Returns the maximum size of the record of a key of `width` bytes.
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

    /// Replaces `out` with the records of `keys`, one after another, and `ends` with the end of each.
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

    /// Replaces `key` with the key of `record`; returns false if the record is invalid.
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
