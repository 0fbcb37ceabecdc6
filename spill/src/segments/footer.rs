//! The footer of a segment: writing, and checking against the known facts about the segment.

use super::index::entry_bytes;
use crate::disk::{Error, Result, checksum};
use byteorder::{ByteOrder, LittleEndian};
use rkyv::{Archive, Deserialize, Serialize};
use std::ops::Range;

/// The segment format version that this build reads and writes.
pub const SEGMENT_VERSION: u32 = 2;

/// The first bytes of a footer.
const MAGIC: &[u8; 8] = b"SPILLSEG";
/// The size of a footer in bytes.
pub(super) const FOOTER: usize = 48;
/// The number of bytes of the footer that its checksum covers.
const FOOTER_CHECKED: usize = 44;

/// The position of a segment in its file, and its number of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct SegmentRef {
    /// The offset of its first byte in the file.
    pub offset: u64,
    /// Its length in bytes.
    pub length: u64,
    /// The number of keys.
    pub keys: u64,
}

/// The sizes of the keys of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeyBytes {
    /// The size of a whole key in bytes, its value included.
    pub(super) whole: usize,
    /// The size of the value in bytes; 0 if there is none.
    pub(super) value: usize,
}

/// Returns the footer of a segment with keys of this width and of `length` bytes, the footer included.
pub(super) fn footer(width: KeyBytes, keys: u64, index: &[u8], length: u64) -> [u8; FOOTER] {
    let mut footer = [0; FOOTER];
    footer[..8].copy_from_slice(MAGIC);
    LittleEndian::write_u32(&mut footer[8..], SEGMENT_VERSION);
    LittleEndian::write_u16(&mut footer[12..], width.whole as u16);
    LittleEndian::write_u16(&mut footer[14..], width.value as u16);
    LittleEndian::write_u64(&mut footer[16..], keys);
    LittleEndian::write_u64(&mut footer[24..], (index.len() / entry_bytes(width.whole)) as u64);
    LittleEndian::write_u64(&mut footer[32..], length);
    LittleEndian::write_u32(&mut footer[40..], checksum(index));
    let sum = checksum(&footer[..FOOTER_CHECKED]);
    LittleEndian::write_u32(&mut footer[FOOTER_CHECKED..], sum);
    footer
}

/// Returns the size of index and footer by a footer that has not been checked, if it is possible in a segment of
/// `length` bytes.
pub(super) fn tail_bytes(footer: &[u8], width: usize, length: u64) -> Option<u64> {
    let blocks = LittleEndian::read_u64(&footer[24..]);
    let bytes = blocks.checked_mul(entry_bytes(width) as u64)?.checked_add(FOOTER as u64)?;
    (bytes <= length).then_some(bytes)
}

/// Checks the footer at the end of `bytes`, which end with the segment. Returns the number of blocks, and the position
/// of the index in `bytes`.
pub(super) fn check_footer(
    bytes: &[u8],
    file: &str,
    at: SegmentRef,
    width: KeyBytes,
) -> Result<(usize, Range<usize>)> {
    let index_end = bytes.len() - FOOTER;
    let footer = &bytes[index_end..];
    let damaged = |what: String| {
        let what = format!("the footer of a segment: {what}");
        Error::corrupt(file, at.offset + at.length - FOOTER as u64, what)
    };
    let half = |at: usize| u64::from(LittleEndian::read_u16(&footer[at..]));
    let word = |at: usize| LittleEndian::read_u32(&footer[at..]);
    let long = |at: usize| LittleEndian::read_u64(&footer[at..]);
    if &footer[..8] != MAGIC {
        return Err(damaged("it does not begin with SPILLSEG".into()));
    }
    let (expected, found) = (word(FOOTER_CHECKED), checksum(&footer[..FOOTER_CHECKED]));
    if expected != found {
        return Err(damaged(format!("checksum {expected:08x} is recorded, {found:08x} is found")));
    }
    if word(8) != SEGMENT_VERSION {
        let (found, expected) = (word(8), SEGMENT_VERSION);
        return Err(Error::Version { file: file.to_owned(), found, expected });
    }
    let expected = [width.whole as u64, width.value as u64, at.keys, at.length];
    let found = [half(12), half(14), long(16), long(32)];
    let names = ["width", "bytes of values", "keys", "length"];
    for ((expected, found), what) in expected.iter().zip(found).zip(names) {
        if *expected != found {
            return Err(damaged(format!("{what} {expected} is expected, {found} is found")));
        }
    }
    let Some((blocks, index)) = index_of(long(24), width.whole, index_end) else {
        return Err(damaged(format!("there is no room for {} blocks", long(24))));
    };
    let (expected, found) = (word(40), checksum(&bytes[index.clone()]));
    if expected != found {
        let what = format!("index checksum {expected:08x} is recorded, {found:08x} is found");
        return Err(damaged(what));
    }
    Ok((blocks, index))
}

/// Returns the number of blocks, and the position of their index, which ends at `end`; `None` if it does not fit.
fn index_of(blocks: u64, width: usize, end: usize) -> Option<(usize, Range<usize>)> {
    let blocks = usize::try_from(blocks).ok()?;
    let start = end.checked_sub(blocks.checked_mul(entry_bytes(width))?)?;
    Some((blocks, start..end))
}
