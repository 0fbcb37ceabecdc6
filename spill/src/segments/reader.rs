//! Reading the blocks of a segment front to back without keeping its pages in memory.
//!
//! Blocks are copied out of a file that stays open. If too many files are open, blocks are read from a mapping
//! instead. A page that was read then stays resident until the system reclaims it, which happens late, and it counts
//! toward the memory budget. So a reader releases the pages it has passed, in pieces large enough that the system
//! calls are negligible. At most [`TRAIL_BYTES`] of passed pages stay, and none once the reader is dropped.

use super::block::{BlockDecoder, BlockKeys};
use super::segment::Segment;
use crate::disk::Result;

/// The approximate size of the pieces in which pages are released. A merge reads dozens of segments at the same time,
/// and each may hold this much of the budget.
const TRAIL_BYTES: usize = 64 << 10;

/// The approximate size of the pieces in which pages are requested. Requested pages are in the system's cache, not
/// resident.
const AHEAD_BYTES: usize = 1 << 20;

/// Decodes blocks of one segment in ascending order.
pub(crate) struct BlockReader {
    segment: Segment,
    /// Holds the block before `end`, if one was decoded.
    decoder: BlockDecoder,
    /// The first block whose pages may be resident because of this reader.
    trail: usize,
    /// The block after the one decoded last.
    end: usize,
    /// The first block that was not requested ahead.
    ahead: usize,
    /// The number of decoded blocks.
    decoded: u64,
}

impl BlockReader {
    pub(crate) fn new(segment: Segment) -> Self {
        let decoder = segment.decoder();
        BlockReader { segment, decoder, trail: 0, end: 0, ahead: 0, decoded: 0 }
    }

    pub(crate) fn segment(&self) -> &Segment {
        &self.segment
    }

    /// Requests a piece of the file from `block` on, to be read up to block `end`, unless it has been requested.
    pub(crate) fn read_ahead(&mut self, block: usize, end: usize) {
        if block < self.ahead {
            return;
        }
        let start = self.segment.extent(block).start;
        let mut ahead = block + 1;
        while ahead < end && self.segment.extent(ahead).start - start < AHEAD_BYTES {
            ahead += 1;
        }
        if ahead - block > 1 {
            self.segment.will_need(block..ahead);
        }
        self.ahead = ahead;
    }

    /// Replaces `keys` with those of `block`, which is not before the one decoded last.
    pub(crate) fn decode(&mut self, block: usize, keys: &mut Vec<u8>) -> Result<()> {
        keys.clear();
        self.open(block)?;
        self.segment.decode_records(block, &mut self.decoder)?;
        self.decoder.block().write(self.segment.width(), keys);
        Ok(())
    }

    /// Decodes `block`, which is not before the one decoded last, for [`BlockReader::block`]. Records are not decoded.
    pub(crate) fn open(&mut self, block: usize) -> Result<()> {
        debug_assert!(block + 1 >= self.end);
        if self.end == 0 {
            self.trail = block;
        }
        self.segment.open_block(block, &mut self.decoder)?;
        self.decoded += 1;
        self.end = block + 1;
        if self.segment.extents(self.trail..self.end).len() >= TRAIL_BYTES {
            self.segment.release(self.trail..self.end);
            self.trail = self.end;
        }
        Ok(())
    }

    /// Returns the number of decoded blocks.
    pub(crate) fn decoded_blocks(&self) -> u64 {
        self.decoded
    }

    /// Returns the keys of the block decoded last.
    pub(crate) fn block(&self) -> BlockKeys<'_> {
        self.decoder.block()
    }
}

impl Drop for BlockReader {
    fn drop(&mut self) {
        if self.end > 0 {
            self.segment.release_all(self.trail.min(self.end - 1)..self.end);
        }
    }
}
