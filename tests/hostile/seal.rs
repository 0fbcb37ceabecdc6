//! Corrects the checksums of damaged bytes, as far as the checksums are at their places.
//!
//! This module depends only on the places and ranges of checksums in `docs/reference/format.md`.

use spill::{SEGMENT_VERSION, checksum};

const FOOTER: usize = 48;
/// The bytes of an index entry of a segment after its key.
const ENTRY_TAIL: usize = 12;

/// Seals a block, whose first bytes are the checksum of the rest.
pub fn block(block: &mut [u8]) {
    if let Some((sum, checked)) = block.split_first_chunk_mut::<4>() {
        *sum = checksum(checked).to_le_bytes();
    }
}

/// Seals a segment: its blocks, its index and its footer. With `frame`, the footer also gets the expected magic,
/// version, width and length.
pub fn segment(width: usize, segment: &mut [u8], frame: bool) {
    let length = segment.len() as u64;
    let Some(end) = segment.len().checked_sub(FOOTER) else { return };
    let (body, footer) = segment.split_at_mut(end);
    if frame {
        footer[..8].copy_from_slice(b"SPILLSEG");
        footer[8..12].copy_from_slice(&SEGMENT_VERSION.to_le_bytes());
        footer[12..16].copy_from_slice(&(width as u32).to_le_bytes());
        footer[32..40].copy_from_slice(&length.to_le_bytes());
    }
    let index = (long(footer, 24) as usize)
        .checked_mul(width + ENTRY_TAIL)
        .and_then(|length| end.checked_sub(length));
    if let Some(index) = index {
        let (blocks, index) = body.split_at_mut(index);
        seal_blocks(width, blocks, index);
        footer[40..44].copy_from_slice(&checksum(index).to_le_bytes());
    }
    let sum = checksum(&footer[..44]);
    footer[44..].copy_from_slice(&sum.to_le_bytes());
}

/// The number of keys that the footer of a segment claims.
pub fn keys_of_segment(segment: &[u8]) -> Option<u64> {
    let footer = segment.len().checked_sub(FOOTER)?;
    Some(long(&segment[footer..], 16))
}

fn seal_blocks(width: usize, blocks: &mut [u8], index: &[u8]) {
    let entries = index.chunks_exact(width + ENTRY_TAIL);
    let starts: Vec<usize> = entries.map(|entry| long(entry, width) as usize).collect();
    for (at, &start) in starts.iter().enumerate() {
        let end = starts.get(at + 1).copied().unwrap_or(blocks.len());
        if let Some(bytes) = blocks.get_mut(start..end) {
            block(bytes);
        }
    }
}

fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}
