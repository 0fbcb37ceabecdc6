//! The index of a segment: for each block its first key, its offset, and its number of keys.

use super::block::{HEADER, block_keys_max};
use byteorder::{ByteOrder, LittleEndian};
use thiserror::Error;

/// The size of an index entry after its key, in bytes.
const ENTRY_TAIL: usize = 12;

/// A reason why bytes are not an index of a segment.
#[derive(Debug, Error)]
pub(super) enum IndexDefect {
    /// The first key of a block is not greater than that of the previous block.
    #[error("block {block} does not follow the one before")]
    Order { block: usize },
    /// A block begins within the previous one, or the first does not begin the segment.
    #[error("block {block} is at {offset}, the one before ends at {end}")]
    Overlap { block: usize, offset: u64, end: u64 },
    /// A block's number of keys is impossible.
    #[error("block {block} claims to hold {keys} keys")]
    KeyCount { block: usize, keys: u32 },
    /// A block would end after the maximum offset.
    #[error("an offset overflows")]
    Overflow,
    /// Blocks extend into the index, or bytes before the index belong to no block.
    #[error("blocks end at {end}, the index begins at {start}")]
    End { end: u64, start: usize },
    /// The sum of the blocks' keys is not the segment's number of keys.
    #[error("blocks hold {found} keys, {expected} are expected")]
    KeySum { found: u64, expected: u64 },
}

/// Returns the size in bytes of an index entry for keys of `width` bytes.
#[inline]
pub(super) fn entry_bytes(width: usize) -> usize {
    width + ENTRY_TAIL
}

/// Appends the part of an index entry after the first key of a block.
pub(super) fn push_tail(index: &mut Vec<u8>, offset: u64, count: usize) {
    let mut tail = [0; ENTRY_TAIL];
    LittleEndian::write_u64(&mut tail, offset);
    LittleEndian::write_u32(&mut tail[8..], count as u32);
    index.extend_from_slice(&tail);
}

/// Returns the offset of a block according to the index.
#[inline]
pub(super) fn offset_in(index: &[u8], width: usize, block: usize) -> u64 {
    LittleEndian::read_u64(&index[block * entry_bytes(width) + width..])
}

/// Checks an index that begins at `start` and has the right checksum.
pub(super) fn check_index(
    entries: &[u8],
    start: usize,
    keys: u64,
    width: usize,
) -> Result<(), IndexDefect> {
    let (mut last, mut end, mut sum): (Option<&[u8]>, u64, u64) = (None, 0, 0);
    for (block, entry) in entries.chunks_exact(entry_bytes(width)).enumerate() {
        let (first, tail) = entry.split_at(width);
        let (offset, count) = (LittleEndian::read_u64(tail), LittleEndian::read_u32(&tail[8..]));
        if last.is_some_and(|last| last >= first) {
            return Err(IndexDefect::Order { block });
        }
        let follows = if block == 0 { offset == 0 } else { offset >= end };
        if !follows {
            return Err(IndexDefect::Overlap { block, offset, end });
        }
        if !(1..=block_keys_max(width)).contains(&(count as usize)) {
            return Err(IndexDefect::KeyCount { block, keys: count });
        }
        // It cannot end earlier; it ends where the next block begins.
        end = offset.checked_add(HEADER as u64).ok_or(IndexDefect::Overflow)?;
        sum += u64::from(count);
        last = Some(first);
    }
    if end > start as u64 || (last.is_none() && start > 0) {
        return Err(IndexDefect::End { end, start });
    }
    if sum != keys {
        return Err(IndexDefect::KeySum { found: sum, expected: keys });
    }
    Ok(())
}
