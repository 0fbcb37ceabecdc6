//! Decoding blocks to keys, from untrusted bytes.

use super::defect::BlockDefect;
use super::front_coding::read_shared;
use super::gaps::sum_gaps;
use super::header::{BlockHeader, CODE_SHARED, HEADER, SQUEEZED_BITS_MAX, WIDTH_MAX};
use super::keys::BlockKeys;
use super::records::BlockRecords;
use super::zstd::decompress;
use crate::codec::Codec;
use crate::disk::{Error, MappedBytes};
use crate::keys::{KeySqueezer, WideShape, is_ascending};
use std::ops::Range;

/// Decodes blocks to keys.
#[derive(Debug)]
pub struct BlockDecoder {
    /// The size of a whole key in bytes.
    width: usize,
    /// A buffer for the block as it is stored.
    stored: Vec<u8>,
    /// A buffer for the block after decompression.
    raw: Vec<u8>,
    /// The constant bits of the keys, for blocks of gaps.
    squeeze: KeySqueezer,
    /// The form of the current block, which determines the valid fields below.
    form: DecodedForm,
    narrow: Vec<u64>,
    wide: Vec<u128>,
    keys: Vec<u8>,
    /// The records, and the codec in any form.
    records: BlockRecords,
}

/// The form of the keys decoded last.
#[derive(Clone, Copy, Debug)]
enum DecodedForm {
    Narrow,
    Wide,
    Keys,
    Records,
}

impl BlockDecoder {
    /// Creates a decoder of keys of `width` bytes.
    ///
    /// # Panics
    ///
    /// If `width` is zero or more than [`WIDTH_MAX`].
    pub fn new(width: usize) -> Self {
        assert!((1..=WIDTH_MAX).contains(&width), "a stored key has 1 to {WIDTH_MAX} bytes");
        let (squeeze, form) = (KeySqueezer::default(), DecodedForm::Keys);
        let (raw, narrow, wide, keys) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (stored, records) = (Vec::new(), BlockRecords::default());
        BlockDecoder { width, stored, raw, squeeze, form, narrow, wide, keys, records }
    }

    /// Sets the codec of the blocks.
    pub fn with_codec(mut self, codec: &Codec) -> Self {
        self.set_codec(codec);
        self
    }

    pub(crate) fn set_codec(&mut self, codec: &Codec) {
        self.records.codec = codec.clone();
    }

    /// Replaces `keys` with those of `block`, which is at `offset` in `file`.
    ///
    /// For any bytes, `keys` then holds a strictly ascending set, or this fails with [`Error::Corrupt`]. Allocations
    /// are bounded by the largest block.
    pub fn decode(
        &mut self,
        block: &[u8],
        file: &str,
        offset: u64,
        keys: &mut Vec<u8>,
    ) -> Result<(), Error> {
        keys.clear();
        self.open(block, file, offset)?;
        self.decode_records(file, offset)?;
        self.block().write(self.records.codec.key_width(self.width), keys);
        Ok(())
    }

    /// Decodes records to keys, if the block at `offset` in `file` has records.
    pub(crate) fn decode_records(&mut self, file: &str, offset: u64) -> Result<(), Error> {
        if !matches!(self.form, DecodedForm::Records) {
            return Ok(());
        }
        self.close();
        let (width, records) = (self.width, &self.records);
        let intact = (0..records.len()).all(|at| records.decode(at, width, &mut self.keys));
        if intact && is_ascending(width, &self.keys) {
            return Ok(());
        }
        self.close();
        let what = "a block of keys: its records are not of ascending keys";
        Err(Error::corrupt(file, offset, what))
    }

    /// Does the same as [`decode`](BlockDecoder::decode), but the keys stay in their own form: [`BlockDecoder::block`]
    /// returns them, or nothing if this fails.
    pub(crate) fn open(&mut self, block: &[u8], file: &str, offset: u64) -> Result<(), Error> {
        self.open_checked(block).map_err(|what| {
            self.close();
            Error::corrupt(file, offset, format!("a block of keys: {what}"))
        })
    }

    /// Does the same as [`open`](BlockDecoder::open) for the block that is a `part` of `bytes`.
    pub(crate) fn open_part(
        &mut self,
        bytes: &MappedBytes,
        part: Range<usize>,
        file: &str,
        offset: u64,
    ) -> Result<(), Error> {
        let mut stored = std::mem::take(&mut self.stored);
        let opened = match bytes.part(part, &mut stored) {
            Ok(block) => self.open(block, file, offset),
            Err(error) => Err(Error::io("read", file, error)),
        };
        self.stored = stored;
        opened
    }

    /// Drops the keys.
    pub(crate) fn close(&mut self) {
        self.form = DecodedForm::Keys;
        self.keys.clear();
    }

    /// Returns the keys decoded last.
    pub(crate) fn block(&self) -> BlockKeys<'_> {
        match self.form {
            DecodedForm::Narrow => BlockKeys::Narrow(&self.squeeze, &self.narrow),
            DecodedForm::Wide => BlockKeys::Wide(&self.squeeze, &self.wide),
            DecodedForm::Keys => BlockKeys::Keys(&self.keys),
            DecodedForm::Records => BlockKeys::Records(&self.records),
        }
    }

    fn open_checked(&mut self, block: &[u8]) -> Result<(), BlockDefect> {
        let header = BlockHeader::read(self.width, &self.records.codec, block)?;
        let mut room = std::mem::take(&mut self.raw);
        let raw = decompress_stored(&header, &block[HEADER..], &mut room);
        let opened = raw.and_then(|raw| self.open_raw(&header, raw));
        self.raw = room;
        opened
    }

    /// Opens the block with a header and its raw bytes.
    fn open_raw(&mut self, header: &BlockHeader, raw: &[u8]) -> Result<(), BlockDefect> {
        if self.records.codec.number().is_some() {
            self.form = DecodedForm::Records;
            let read = self.records.read(raw, header, self.width);
            return read.ok_or(BlockDefect::RecordLengths);
        }
        match header.coding.code {
            CODE_SHARED => self.open_shared(header, raw),
            _ => self.open_gaps(header, raw),
        }
    }

    fn open_shared(&mut self, header: &BlockHeader, raw: &[u8]) -> Result<(), BlockDefect> {
        self.form = DecodedForm::Keys;
        self.keys.resize(header.count * self.width, 0);
        read_shared(WideShape(self.width), raw, &mut self.keys)?;
        let Some(projection) = self.records.codec.projection() else { return Ok(()) };
        let (whole, mut exceptions) = (std::mem::take(&mut self.keys), Vec::new());
        projection.project(&whole, &mut self.keys, &mut exceptions);
        if exceptions.is_empty() { Ok(()) } else { Err(BlockDefect::ForeignVaryingBits) }
    }

    fn open_gaps(&mut self, header: &BlockHeader, raw: &[u8]) -> Result<(), BlockDefect> {
        // The header guarantees that they fit.
        let (gaps, ends) = raw.split_at(raw.len() - 2 * self.width);
        let (varying, first) = ends.split_at(self.width);
        let projected = match self.records.codec.projection() {
            None => None,
            Some(projection)
                if projection.keeps(varying) && projection.matches_constants(first) =>
            {
                Some((projection.extract_bits(varying), projection.extract_bits(first)))
            }
            Some(_) => return Err(BlockDefect::ForeignVaryingBits),
        };
        let (varying, first) =
            projected.as_ref().map_or((varying, first), |(varying, first)| (varying, first));
        self.squeeze = KeySqueezer::new(first, varying);
        let (squeeze, bits) = (&self.squeeze, self.squeeze.bits());
        if header.coding.gap_bytes > bits.div_ceil(8).max(1) as usize {
            return Err(BlockDefect::LongGaps);
        }
        match bits {
            0..=64 => {
                self.form = DecodedForm::Narrow;
                sum_gaps(squeeze, first, gaps, header, &mut self.narrow)
            }
            65..=SQUEEZED_BITS_MAX => {
                self.form = DecodedForm::Wide;
                sum_gaps(squeeze, first, gaps, header, &mut self.wide)
            }
            _ => Err(BlockDefect::VaryingBits { bits }),
        }
    }
}

/// Returns the raw bytes of the stored ones, in `room` if they are compressed.
fn decompress_stored<'b>(
    header: &BlockHeader,
    stored: &'b [u8],
    room: &'b mut Vec<u8>,
) -> Result<&'b [u8], BlockDefect> {
    if !header.compressed {
        return Ok(stored);
    }
    room.resize(header.raw_length.max(room.len()), 0);
    let raw = &mut room[..header.raw_length];
    match decompress(stored, raw) == Some(header.raw_length) {
        true => Ok(raw),
        false => Err(BlockDefect::Compression),
    }
}
