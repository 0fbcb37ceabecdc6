//! The header of a block, written and checked, and the limits that both keep.

use super::defect::BlockDefect;
use crate::codec::Codec;
use crate::disk::checksum;
use byteorder::{ByteOrder, LittleEndian};

/// The largest number of keys in a block.
pub const BLOCK_KEYS: usize = 4096;
/// The largest number of bytes that the keys of a block take, unless it is a single key.
pub const BLOCK_BYTES: usize = 256 << 10;
/// The widest key that can be stored.
pub const WIDTH_MAX: usize = u16::MAX as usize;

/// The largest number of keys in a block of keys of `width` bytes.
pub const fn block_keys_max(width: usize) -> usize {
    match BLOCK_BYTES / width {
        0 => 1,
        keys if keys < BLOCK_KEYS => keys,
        _ => BLOCK_KEYS,
    }
}

/// Bytes of a block's header.
pub(crate) const HEADER: usize = 20;
/// Bytes of the checksum, which is of all behind it.
const CHECKSUM: usize = 4;

/// The widest integer that keys are squeezed to.
pub(super) const SQUEEZED_BITS_MAX: u32 = 128;

/// The most entries of a dictionary: as many as a byte can tell.
pub(super) const ENTRIES_MAX: usize = 256;

pub(super) const CODE_GAPS: u8 = 0;
pub(super) const CODE_SHARED: u8 = 1;
const STORED_PLAIN: u8 = 0;
const STORED_ZSTD: u8 = 1;

/// How the keys of a block are coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeyCoding {
    /// Gaps, shared prefixes, or the number of a codec.
    pub(super) code: u8,
    /// Entries of the dictionary; 0 where there is none.
    pub(super) entries: usize,
    /// Bytes of a gap; of records, bytes of a length; 0 for shared prefixes.
    pub(super) gap_bytes: usize,
}

/// A block's header; one that was read is checked.
pub(super) struct BlockHeader {
    /// Keys: at least one.
    pub(super) count: usize,
    pub(super) coding: KeyCoding,
    /// Whether zstd has compressed what is stored.
    pub(super) compressed: bool,
    /// Bytes before compression: enough for what the other fields say there is at least.
    pub(super) raw_length: usize,
}

impl BlockHeader {
    /// Appends a block of which `stored` is stored.
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

    /// The header of `block`, whose keys have `width` bytes and were written by `codec`.
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

    /// Whether a block of these fields could have been written.
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
    /// The number of the codec whose records these are, if they are records.
    fn codec(self) -> Option<u8> {
        (self.code > CODE_SHARED).then_some(self.code)
    }
}

/// Bytes of the length of a record of a key of `width` bytes.
pub(super) fn length_bytes(codec: &Codec, width: usize) -> usize {
    match codec.record_bytes_max(width) {
        _ if matches!(codec, Codec::Raw) => 0,
        0..=0xff => 1,
        0x100..=0xffff => 2,
        _ => 3,
    }
}
