//! The header of a block: writing, checking, and the limits of both.

use super::defect::BlockDefect;
use crate::codec::Codec;
use crate::disk::checksum;
use byteorder::{ByteOrder, LittleEndian};

/// The maximum number of keys in a block.
pub const BLOCK_KEYS: usize = 4096;
/// The maximum size of the keys of a block in bytes, unless it is a single key.
pub const BLOCK_BYTES: usize = 256 << 10;
/// The maximum width of a key in bytes.
pub const WIDTH_MAX: usize = u16::MAX as usize;

/// Returns the maximum number of keys in a block of keys of `width` bytes.
pub const fn block_keys_max(width: usize) -> usize {
    match BLOCK_BYTES / width {
        0 => 1,
        keys if keys < BLOCK_KEYS => keys,
        _ => BLOCK_KEYS,
    }
}

/// The size of a block's header in bytes.
pub(crate) const HEADER: usize = 20;
/// The size of the checksum, which covers all bytes after it.
const CHECKSUM: usize = 4;

/// The maximum number of bits of a squeezed key.
pub(super) const SQUEEZED_BITS_MAX: u32 = 128;

/// The maximum number of entries of a dictionary: the number of values of a byte.
pub(super) const ENTRIES_MAX: usize = 256;

pub(super) const CODE_GAPS: u8 = 0;
pub(super) const CODE_SHARED: u8 = 1;
const STORED_PLAIN: u8 = 0;
const STORED_ZSTD: u8 = 1;

/// The coding of the keys of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeyCoding {
    /// Gaps, shared prefixes, or the number of a codec.
    pub(super) code: u8,
    /// The number of entries of the dictionary; 0 if there is none.
    pub(super) entries: usize,
    /// The size of a gap in bytes; for records, the size of a length; for shared prefixes 0.
    pub(super) gap_bytes: usize,
}

/// A block's header; it is checked when it is read.
pub(super) struct BlockHeader {
    /// The number of keys: at least one.
    pub(super) count: usize,
    pub(super) coding: KeyCoding,
    /// Whether the stored part is compressed by zstd.
    pub(super) compressed: bool,
    /// The number of bytes before compression: at least the minimum that follows from the other fields.
    pub(super) raw_length: usize,
}

impl BlockHeader {
    /// Appends a block with the stored part `stored`.
    pub(super) fn append(&self, stored: &[u8], out: &mut Vec<u8>) {
        let mut header = [0; HEADER];
        LittleEndian::write_u16(&mut header[4..], self.count as u16);
        LittleEndian::write_u16(&mut header[6..], self.coding.entries as u16);
        header[8] = self.coding.code;
        header[9] = if self.compressed { STORED_ZSTD } else { STORED_PLAIN };
        header[10] = self.coding.gap_bytes as u8;
        LittleEndian::write_u32(&mut header[12..], self.raw_length as u32);
        LittleEndian::write_u32(&mut header[16..], stored.len() as u32);
        let start = out.len();
        out.extend_from_slice(&header);
        out.extend_from_slice(stored);
        let sum = checksum(&out[start + CHECKSUM..]);
        LittleEndian::write_u32(&mut out[start..], sum);
    }

    /// Reads and checks the header of `block`, whose keys have `width` bytes and were written by `codec`.
    pub(super) fn read(
        width: usize,
        codec: &Codec,
        block: &[u8],
    ) -> Result<BlockHeader, BlockDefect> {
        if block.len() < HEADER {
            return Err(BlockDefect::NoHeader { bytes: block.len() });
        }
        let short = |at: usize| LittleEndian::read_u16(&block[at..]) as usize;
        let word = |at: usize| LittleEndian::read_u32(&block[at..]);
        let (recorded, found) = (word(0), checksum(&block[CHECKSUM..]));
        if recorded != found {
            return Err(BlockDefect::Checksum { recorded, found });
        }
        let count = short(4);
        if !(1..=block_keys_max(width)).contains(&count) {
            return Err(BlockDefect::KeyCount { keys: count });
        }
        let coding = KeyCoding { code: block[8], entries: short(6), gap_bytes: block[10] as usize };
        if coding.codec() != codec.number() {
            let (code, codec) = (coding.code, codec.name());
            return Err(BlockDefect::ForeignCode { code, codec });
        }
        let (raw_length, stored_length) = (word(12) as usize, word(16) as usize);
        let compressed = block[9] == STORED_ZSTD;
        let plain = block[9] == STORED_PLAIN && stored_length == raw_length;
        let header = BlockHeader { count, coding, compressed, raw_length };
        if !header.is_possible(width, codec) || !(compressed || plain) || block[11] != 0 {
            return Err(BlockDefect::Header);
        }
        if stored_length != block.len() - HEADER {
            let found = block.len() - HEADER;
            return Err(BlockDefect::StoredLength { recorded: stored_length, found });
        }
        Ok(header)
    }

    /// Returns whether the encoder can write a block with these fields.
    fn is_possible(&self, width: usize, codec: &Codec) -> bool {
        let BlockHeader { count, coding: KeyCoding { code, entries, gap_bytes }, .. } = *self;
        match code {
            _ if self.coding.codec().is_some() => {
                let longest = gap_bytes + codec.record_bytes_max(width);
                gap_bytes == length_bytes(codec, width)
                    && entries == 0
                    && !self.compressed
                    && (count * gap_bytes..=count * longest).contains(&self.raw_length)
            }
            CODE_GAPS => {
                let ends = 2 * width + count - 1 + entries * gap_bytes;
                (1..=16).contains(&gap_bytes)
                    && entries <= ENTRIES_MAX
                    && (ends..=ends + (count - 1) * gap_bytes).contains(&self.raw_length)
            }
            _ => gap_bytes == 0 && entries == 0 && self.raw_length <= count * (2 + width),
        }
    }
}

impl KeyCoding {
    /// Returns the number of the codec of the records, if they are records.
    fn codec(self) -> Option<u8> {
        (self.code > CODE_SHARED).then_some(self.code)
    }
}

/// Returns the size in bytes of the length of a record, for keys of `width` bytes.
pub(super) fn length_bytes(codec: &Codec, width: usize) -> usize {
    match codec.record_bytes_max(width) {
        _ if matches!(codec, Codec::Raw) => 0,
        0..=0xff => 1,
        0x100..=0xffff => 2,
        _ => 3,
    }
}
