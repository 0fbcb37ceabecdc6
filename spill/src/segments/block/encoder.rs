//! Encoding keys to blocks.

use super::front_coding::write_shared;
use super::gaps::GapWriter;
use super::header::{
    BlockHeader, KeyCoding, SQUEEZED_BITS_MAX, WIDTH_MAX, block_keys_max, length_bytes,
};
use super::records::BlockRecords;
use super::zstd::compress;
use crate::codec::Codec;
use crate::keys::{KeySqueezer, Projection, WideShape, is_ascending};
use std::sync::Arc;

/// Blocks whose keys vary in too many bits are halved down to this number of keys.
const HALVED_KEYS_MIN: usize = 256;

/// Encodes keys to blocks.
#[derive(Debug)]
pub struct BlockEncoder {
    /// The size of a whole key in bytes.
    width: usize,
    /// The block before compression.
    raw: Vec<u8>,
    /// The block after compression.
    stored: Vec<u8>,
    /// For keys that vary in up to 64 bits.
    narrow: GapWriter<u64>,
    /// For keys that vary in up to 128 bits.
    wide: GapWriter<u128>,
    /// For codecs with records; holds the codec in any case.
    records: BlockRecords,
}

/// The keys of a future block, with their analysis.
pub(crate) struct BlockBatch<'k> {
    keys: &'k [u8],
    count: usize,
    form: EncodedForm,
}

/// The form in which a block is written.
enum EncodedForm {
    /// As records of the codec with this number.
    Records(u8),
    /// As the only key, front-coded: gaps would need the bits that vary, as many bytes as the key has.
    One,
    /// As keys in which these bits vary.
    Keys(KeySqueezer),
}

impl BlockBatch<'_> {
    /// Returns whether the batch is one key without a record.
    pub(crate) fn is_one_key(&self) -> bool {
        matches!(self.form, EncodedForm::One)
    }

    /// Returns whether the batch should be split into two blocks, because the keys vary in too many bits.
    pub(crate) fn needs_split(&self) -> bool {
        match &self.form {
            EncodedForm::Records(_) | EncodedForm::One => false,
            EncodedForm::Keys(squeeze) => {
                self.count > HALVED_KEYS_MIN && squeeze.bits() > SQUEEZED_BITS_MAX
            }
        }
    }
}

impl BlockEncoder {
    /// Creates an encoder of keys of `width` bytes.
    ///
    /// # Panics
    ///
    /// If `width` is zero or more than [`WIDTH_MAX`].
    pub fn new(width: usize) -> Self {
        assert!((1..=WIDTH_MAX).contains(&width), "a stored key has 1 to {WIDTH_MAX} bytes");
        let (narrow, wide, records) =
            (GapWriter::default(), GapWriter::default(), BlockRecords::default());
        let (raw, stored) = (Vec::new(), Vec::new());
        BlockEncoder { width, raw, stored, narrow, wide, records }
    }

    /// Sets the codec of the blocks.
    pub fn with_codec(mut self, codec: &Codec) -> Self {
        self.records.codec = codec.clone();
        self
    }

    /// Returns the size of its input keys in bytes: projected ones, if the codec has a projection.
    pub(crate) fn key_width(&self) -> usize {
        self.records.codec.key_width(self.width)
    }

    /// Returns the codec of the blocks.
    pub(crate) fn codec(&self) -> &Codec {
        &self.records.codec
    }

    /// Returns the projection of the input keys, if there is one.
    pub(crate) fn projection(&self) -> Option<&Arc<Projection>> {
        self.records.codec.projection()
    }

    /// Appends the block of one whole key to `out`, if the codec has no records; `compresses` says whether the block may
    /// be compressed.
    pub(crate) fn encode_one(&mut self, whole: &[u8], compresses: bool, out: &mut Vec<u8>) {
        self.raw.clear();
        let coding = write_shared(WideShape(self.width), whole, &mut self.raw);
        self.append(1, coding, compresses, out);
    }

    /// Analyses the keys of a block: `keys`, ascending, at least one and at most [`block_keys_max`].
    pub(crate) fn batch<'k>(&self, keys: &'k [u8]) -> BlockBatch<'k> {
        let width = self.key_width();
        let count = keys.len() / width;
        assert!((1..=block_keys_max(self.width)).contains(&count), "a block of {count} keys");
        debug_assert!(is_ascending(width, keys));
        let form = match self.records.codec.number() {
            Some(code) => EncodedForm::Records(code),
            None if count == 1 => EncodedForm::One,
            None => EncodedForm::Keys(KeySqueezer::of_keys(width, keys)),
        };
        BlockBatch { keys, count, form }
    }

    /// Appends the block of `keys`, ascending, at least one and at most [`block_keys_max`], to `out`.
    pub fn encode(&mut self, keys: &[u8], out: &mut Vec<u8>) {
        self.encode_batch(&self.batch(keys), true, out);
    }

    /// Does the same for analysed keys; `compresses` says whether the block may be compressed.
    pub(crate) fn encode_batch(&mut self, batch: &BlockBatch, compresses: bool, out: &mut Vec<u8>) {
        let BlockBatch { keys, count, form } = batch;
        self.raw.clear();
        let coding = match form {
            EncodedForm::Records(code) => self.write_records(*code, keys),
            EncodedForm::One => self.write_prefixes(keys),
            EncodedForm::Keys(squeeze) => self.write_keys(squeeze, keys),
        };
        let compresses = compresses && !matches!(form, EncodedForm::Records(_));
        self.append(*count, coding, compresses, out);
    }

    /// Appends the block of `raw`, which has `count` keys, to `out`.
    fn append(&mut self, count: usize, coding: KeyCoding, compresses: bool, out: &mut Vec<u8>) {
        let compressed = match compresses {
            true => compress(&self.raw, &mut self.stored),
            false => None,
        };
        let (compressed, stored) = match compressed {
            Some(length) => (true, &self.stored[..length]),
            None => (false, self.raw.as_slice()),
        };
        BlockHeader { count, coding, compressed, raw_length: self.raw.len() }.append(stored, out);
    }

    /// Writes the records of `keys` into `raw`.
    fn write_records(&mut self, code: u8, keys: &[u8]) -> KeyCoding {
        let length_bytes = length_bytes(&self.records.codec, self.width);
        self.records.encode(self.width, keys);
        self.records.write(length_bytes, &mut self.raw);
        KeyCoding { code, entries: 0, gap_bytes: length_bytes }
    }

    /// Writes `keys` into `raw`, as gaps if they vary in few enough bits.
    fn write_keys(&mut self, squeeze: &KeySqueezer, keys: &[u8]) -> KeyCoding {
        let width = self.key_width();
        let coding = match squeeze.bits() {
            0..=64 => self.narrow.write(squeeze, keys, &mut self.raw),
            65..=SQUEEZED_BITS_MAX => self.wide.write(squeeze, keys, &mut self.raw),
            _ => return self.write_prefixes(keys),
        };
        match self.records.codec.projection() {
            None => {
                self.raw.extend_from_slice(&squeeze.varying());
                self.raw.extend_from_slice(&keys[..width]);
            }
            Some(projection) => {
                self.raw.extend_from_slice(&projection.unproject_mask(&squeeze.varying()));
                projection.unproject(&keys[..width], &mut self.raw);
            }
        }
        coding
    }

    /// Front-codes `keys` into `raw`, as whole keys.
    fn write_prefixes(&mut self, keys: &[u8]) -> KeyCoding {
        let Some(projection) = self.records.codec.projection() else {
            return write_shared(WideShape(self.width), keys, &mut self.raw);
        };
        let mut whole = Vec::new();
        projection.unproject(keys, &mut whole);
        write_shared(WideShape(self.width), &whole, &mut self.raw)
    }
}
