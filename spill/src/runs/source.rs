//! Sources of keys for a merge: runs in memory and on disk, restricted to a range of keys.

use super::partition::KeyRange;
use crate::disk::Result;
use crate::keys::{is_ascending, restrict};
use crate::segments::{BlockReader, Segment};
use std::ops::Range;

/// The number of bytes that a [`SliceSource`] yields at a time, unless a key is longer.
const SLICE_BATCH_BYTES: usize = 64 << 10;

/// A source of keys for a merge.
pub trait KeySource: Send {
    /// Replaces `out` with the next batch of keys: ascending, without repeats, and greater than the keys before. `out`
    /// is empty at the end, and after that in every call.
    fn next(&mut self, out: &mut Vec<u8>) -> Result<()>;
}

/// Keys in memory.
#[derive(Debug)]
pub struct SliceSource<'a> {
    rest: &'a [u8],
    batch_bytes: usize,
}

impl<'a> SliceSource<'a> {
    /// Creates the source of those of the ascending `keys` that are not less than `low` and less than `high`.
    pub fn new(width: usize, keys: &'a [u8], low: Option<&[u8]>, high: Option<&[u8]>) -> Self {
        debug_assert!(is_ascending(width, keys));
        let batch_bytes = (SLICE_BATCH_BYTES / width).max(1) * width;
        SliceSource { rest: restrict(width, keys, low, high), batch_bytes }
    }
}

impl KeySource for SliceSource<'_> {
    fn next(&mut self, out: &mut Vec<u8>) -> Result<()> {
        let (batch, rest) = self.rest.split_at(self.batch_bytes.min(self.rest.len()));
        self.rest = rest;
        out.clear();
        out.extend_from_slice(batch);
        Ok(())
    }
}

/// Keys in a segment, decoded block after block. Pages that were read are released.
pub struct SegmentSource {
    reader: BlockReader,
    low: Option<Vec<u8>>,
    high: Option<Vec<u8>>,
    /// The next block.
    block: usize,
    /// The block after the last one that can hold a key of the range.
    end: usize,
}

impl SegmentSource {
    /// Creates the source of the keys of `segment` that are not less than `low` and less than `high`.
    pub fn new(segment: Segment, low: Option<&[u8]>, high: Option<&[u8]>) -> Self {
        let Range { start: block, end } = segment.blocks_in_range(low, high);
        let [low, high] = [low, high].map(|bound| bound.map(<[u8]>::to_vec));
        SegmentSource { reader: BlockReader::new(segment), low, high, block, end }
    }
}

impl KeySource for SegmentSource {
    fn next(&mut self, out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        while out.is_empty() && self.block < self.end {
            self.reader.read_ahead(self.block, self.end);
            self.reader.decode(self.block, out)?;
            self.block += 1;
            let low = self.low.take();
            let high = self.high.as_deref().filter(|_| self.block == self.end);
            if low.is_some() || high.is_some() {
                let width = self.reader.segment().width();
                let kept = restrict(width, out, low.as_deref(), high);
                let (start, length) = (kept.as_ptr().addr() - out.as_ptr().addr(), kept.len());
                out.copy_within(start..start + length, 0);
                out.truncate(length);
            }
        }
        Ok(())
    }
}

/// Creates one source for each slice and segment, restricted to `range`.
pub(crate) fn sources<'a>(
    width: usize,
    slices: &[&'a [u8]],
    segments: &[Segment],
    range: KeyRange,
) -> Vec<Box<dyn KeySource + 'a>> {
    let KeyRange { low, high } = range;
    let mut sources: Vec<Box<dyn KeySource + 'a>> =
        Vec::with_capacity(slices.len() + segments.len());
    for keys in slices {
        sources.push(Box::new(SliceSource::new(width, keys, low, high)));
    }
    for segment in segments {
        sources.push(Box::new(SegmentSource::new(segment.clone(), low, high)));
    }
    sources
}
