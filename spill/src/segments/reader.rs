//! Reading the blocks of a segment front to back without keeping its pages in memory.
//!
//! Blocks are copied out of a file that stays open. Of others, when too many are open, they are read where they are mapped: a
//! page that was read then stays resident until the system takes it back, which it does late, and the memory budget counts it all
//! the while. So a reader gives back what it leaves behind, in pieces large enough that the system calls do not count; at
//! most [`TRAIL_BYTES`] of pages behind it stay, and none once it is dropped.

use super::block::{BlockDecoder, BlockKeys};
use super::segment::Segment;
use crate::disk::Result;

/// Pages are given back in pieces of about this size. A merge reads dozens of segments side by
/// side, and each may hold this much of the budget.
const TRAIL_BYTES: usize = 64 << 10;

/// Pages are asked for in pieces of about this size. Pages asked for are in the system's cache,
/// not resident.
const AHEAD_BYTES: usize = 1 << 20;

/// Decodes blocks of one segment in ascending order.
pub(crate) struct BlockReader {
    segment: Segment,
    /// Has the block before `end`, if one was decoded.
    decoder: BlockDecoder,
    /// The first block of which pages may be resident because of this reader.
    trail: usize,
    /// The block after the one decoded last.
    end: usize,
    /// The first block that was not asked for ahead of time.
    ahead: usize,
    /// How many blocks were decoded.
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

    /// Asks for a piece of the file from `block` on, to be read up to block `end`, unless it has
    /// been asked for.
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

    /// Replaces `keys` by those of `block`, which is not before the one decoded last.
    pub(crate) fn decode(&mut self, block: usize, keys: &mut Vec<u8>) -> Result<()> {
        keys.clear();
        self.open(block)?;
        self.segment.decode_records(block, &mut self.decoder)?;
        self.decoder.block().write(self.segment.width(), keys);
        Ok(())
    }

    /// Decodes `block`, but not its records, which is not before the one decoded last, for [`BlockReader::block`].
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

    /// How many blocks were decoded.
    pub(crate) fn decoded_blocks(&self) -> u64 {
        self.decoded
    }

    /// The keys of the block decoded last.
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
