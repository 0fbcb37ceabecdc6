//! A segment opened for reading.
//!
//! [`Segment::open`] checks footer and index in full: that offsets are ascending and within the segment, first keys
//! ascending, counts possible and of the right sum. So later reads of the index cannot fail, and they use the mapping
//! without a copy. A block is checked when it is decoded, also against the index entries of it and of its neighbour.
//! So an intact block in the place of another is detected.

use super::block::{BlockDecoder, BlockKeys, WIDTH_MAX};
use super::footer::{FOOTER, KeyBytes, SegmentRef, check_footer, tail_bytes};
use super::index::{check_index, entry_bytes, offset_in};
use crate::codec::Codec;
use crate::disk::{Disk, Error, MappedBytes, Result};
use byteorder::{ByteOrder, LittleEndian};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// The maximum size of an index that stays resident, in bytes.
const INDEX_RESIDENT_MAX: usize = 64 << 10;

/// A segment opened for reading. Clones share the mapping.
#[derive(Clone, Debug)]
pub struct Segment {
    shared: Arc<SegmentMapping>,
    /// The codec of the blocks; it determines the form of keys outside them.
    codec: Codec,
}

#[derive(Debug)]
struct SegmentMapping {
    /// The name of the file, for messages.
    file: String,
    at: SegmentRef,
    /// The size of a whole key in bytes, as in the index.
    width: usize,
    /// The number of blocks.
    blocks: usize,
    /// The end of the segment: at least index and footer.
    tail: MappedBytes,
    /// The position of the index in `tail`. It was checked, so reading it cannot fail.
    index: Range<usize>,
    /// The readable blocks.
    bytes: MappedBytes,
    /// The offset of `bytes` in the segment.
    base: usize,
}

impl Segment {
    /// Maps the segment `at` of `file` and verifies its footer and index.
    pub fn open(disk: &dyn Disk, file: &str, at: SegmentRef, width: usize) -> Result<Segment> {
        Segment::open_pairs(disk, file, at, width, 0)
    }

    /// Does the same as [`open`](Segment::open) for pairs with values of `value_bytes` bytes, whose footer says so
    /// ([`SegmentWriter::with_values`](crate::SegmentWriter::with_values)).
    pub fn open_pairs(
        disk: &dyn Disk,
        file: &str,
        at: SegmentRef,
        width: usize,
        value_bytes: usize,
    ) -> Result<Segment> {
        assert!((1..=WIDTH_MAX).contains(&width), "a stored key has 1 to {WIDTH_MAX} bytes");
        let end = at.offset.checked_add(at.length).filter(|_| at.length >= FOOTER as u64);
        let Some(end) = end else {
            let what = format!("a segment of {} bytes is not possible", at.length);
            return Err(Error::corrupt(file, at.offset, what));
        };
        let bytes = disk.map(file, at.offset..end)?;
        let width = KeyBytes { whole: width, value: value_bytes };
        Segment::of_tail(file, at, width, bytes.clone(), |_| Ok((0, bytes)))
    }

    /// Does the same as [`open`](Segment::open) if only the blocks selected by `wanted` will be read. Only these, the
    /// index and the footer are mapped, so nothing else of a remote file is fetched.
    ///
    /// # Panics
    ///
    /// Reading another block panics.
    pub fn open_part(
        disk: &dyn Disk,
        file: &str,
        at: SegmentRef,
        width: usize,
        wanted: impl Fn(&Segment) -> Range<usize>,
    ) -> Result<Segment> {
        let end = at.offset.saturating_add(at.length);
        let footer = end.saturating_sub(FOOTER as u64)..end;
        let long_enough = at.length >= FOOTER as u64;
        let footer = long_enough.then(|| disk.map(file, footer)).transpose()?;
        let Some(tail) = footer.and_then(|it| tail_bytes(&it, width, at.length)) else {
            // Opening the whole segment reports the error.
            return Segment::open(disk, file, at, width);
        };
        let tail = disk.map(file, end - tail..end)?;
        let width = KeyBytes { whole: width, value: 0 };
        Segment::of_tail(file, at, width, tail, |segment| {
            let some = segment.extents(wanted(segment));
            let [start, end] = [some.start, some.end].map(|it| at.offset + it as u64);
            Ok((some.start, disk.map(file, start..end)?))
        })
    }

    /// Creates a segment from its mapped end, with its mapped blocks and their offset.
    fn of_tail(
        file: &str,
        at: SegmentRef,
        width: KeyBytes,
        tail: MappedBytes,
        blocks_of: impl FnOnce(&Segment) -> Result<(usize, MappedBytes)>,
    ) -> Result<Segment> {
        let (blocks, index) = check_footer(&tail, file, at, width)?;
        let start = at.length as usize - (tail.len() - index.start);
        check_index(&tail[index.clone()], start, at.keys, width.whole).map_err(|what| {
            let offset = at.offset + start as u64;
            Error::corrupt(file, offset, format!("the index of a segment: {what}"))
        })?;
        // An index may be large, and most of it may never be needed.
        tail.release(index.clone());
        let (file, width) = (file.to_owned(), width.whole);
        let bytes = MappedBytes::memory(Arc::new(Vec::new()), 0..0);
        let shared = SegmentMapping { file, at, width, blocks, tail, index, bytes, base: 0 };
        let mut segment = Segment { shared: Arc::new(shared), codec: Codec::Gaps };
        let (base, bytes) = blocks_of(&segment)?;
        let shared = Arc::get_mut(&mut segment.shared).expect("nobody else has it yet");
        (shared.base, shared.bytes) = (base, bytes);
        Ok(segment)
    }

    /// Returns the segment with the codec that wrote its blocks. Its keys are then in the codec's form outside blocks.
    pub fn with_codec(self, codec: &Codec) -> Segment {
        Segment { codec: codec.clone(), ..self }
    }

    /// Returns the segment with whole keys.
    pub fn unprojected(&self) -> Segment {
        self.clone().with_codec(&self.codec.unprojected())
    }

    /// Returns the number of bytes in a key.
    pub fn width(&self) -> usize {
        self.codec.key_width(self.shared.width)
    }

    /// Creates a decoder for its blocks.
    pub fn decoder(&self) -> BlockDecoder {
        BlockDecoder::new(self.shared.width)
    }

    /// Returns the position of the segment in its file.
    pub fn at(&self) -> SegmentRef {
        self.shared.at
    }

    /// Returns the number of keys.
    pub fn keys(&self) -> u64 {
        self.shared.at.keys
    }

    /// Returns the number of blocks.
    pub fn blocks(&self) -> usize {
        self.shared.blocks
    }

    /// Returns the first key of a block.
    pub fn first_key(&self, block: usize) -> Cow<'_, [u8]> {
        let whole = self.first_whole_key(block);
        match self.codec.projection() {
            None => Cow::Borrowed(whole),
            // Decoding the block checks the constant bits.
            Some(projection) => Cow::Owned(projection.extract_bits(whole)),
        }
    }

    /// Returns the first key of a block as in the index.
    fn first_whole_key(&self, block: usize) -> &[u8] {
        &self.entry(block)[..self.shared.width]
    }

    /// Returns the number of keys in a block: at least one.
    pub fn block_keys(&self, block: usize) -> usize {
        LittleEndian::read_u32(&self.entry(block)[self.shared.width + 8..]) as usize
    }

    /// Returns the block that holds `key` if any does: the last block whose first key is not greater, or else block 0.
    pub fn find(&self, key: &[u8]) -> usize {
        self.find_in(0..self.blocks(), key)
    }

    /// Does the same as [`find`](Segment::find) among some blocks; the result is the first of these if all are
    /// greater. It is fast if the result is near the front.
    pub(crate) fn find_in(&self, blocks: Range<usize>, key: &[u8]) -> usize {
        let mut whole = Vec::new();
        let key = match self.codec.projection() {
            None => key,
            Some(projection) => {
                projection.unproject(key, &mut whole);
                &whole
            }
        };
        let (mut low, mut high, mut step) = (blocks.start, blocks.end, 1);
        // All blocks before `low` have first keys not greater than `key`, all from `high` on greater ones.
        while low < high {
            let probe = (low + step - 1).min(high - 1);
            if self.first_whole_key(probe) > key {
                high = probe;
                break;
            }
            low = probe + 1;
            step *= 2;
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if self.first_whole_key(middle) > key {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low.saturating_sub(1).max(blocks.start)
    }

    /// Returns the blocks that can hold keys not less than `low` and less than `high`, and those that
    /// [`find`](Segment::find) returns for such keys.
    pub(crate) fn blocks_in_range(&self, low: Option<&[u8]>, high: Option<&[u8]>) -> Range<usize> {
        let end = match high {
            _ if self.blocks() == 0 => 0,
            None => self.blocks(),
            Some(high) => self.find(high) + 1,
        };
        low.map_or(0, |low| self.find(low)).min(end)..end
    }

    /// Returns the blocks with the keys of these numbers, counted from the segment's first.
    pub(crate) fn blocks_of_numbers(&self, numbers: Range<u64>) -> Range<usize> {
        let (mut some, mut before) = (0..0, 0);
        for block in 0..self.blocks() {
            let end = before + self.block_keys(block) as u64;
            if end <= numbers.start {
                some.start = block + 1;
            }
            if before < numbers.end {
                some.end = block + 1;
            }
            before = end;
        }
        some.start.min(some.end)..some.end
    }

    /// Replaces `keys` with those of a block.
    pub fn decode(
        &self,
        block: usize,
        decoder: &mut BlockDecoder,
        keys: &mut Vec<u8>,
    ) -> Result<()> {
        keys.clear();
        self.open_block(block, decoder)?;
        self.decode_records(block, decoder)?;
        decoder.block().write(self.width(), keys);
        Ok(())
    }

    /// Decodes the records of the block in the decoder, if it has records, to keys.
    pub(crate) fn decode_records(&self, block: usize, decoder: &mut BlockDecoder) -> Result<()> {
        let offset = self.shared.at.offset + self.extent(block).start as u64;
        decoder.decode_records(&self.shared.file, offset)
    }

    /// Decodes a block into the decoder, with its keys or records in their stored form.
    pub(crate) fn open_block(&self, block: usize, decoder: &mut BlockDecoder) -> Result<()> {
        let SegmentMapping { file, at, bytes, .. } = &*self.shared;
        let range = self.extent(block);
        let offset = at.offset + range.start as u64;
        bytes.note_read(range.len());
        decoder.set_codec(&self.codec);
        decoder.open_part(bytes, self.mapped(range), file, offset)?;
        if !self.matches_index(block, &decoder.block()) {
            decoder.close();
            let what = "a block of keys: it is not the one that the index describes";
            return Err(Error::corrupt(file, offset, what));
        }
        Ok(())
    }

    /// Returns whether the keys of a block agree with the index.
    fn matches_index(&self, block: usize, keys: &BlockKeys<'_>) -> bool {
        let (width, count) = (self.width(), keys.count(self.width()));
        let mut ends = Vec::with_capacity(2 * width);
        keys.write_range(0..1, width, &mut ends);
        keys.write_range(count - 1..count, width, &mut ends);
        let (first, last) = ends.split_at(width);
        count == self.block_keys(block)
            && *first == *self.first_key(block)
            && (block + 1 == self.blocks() || *last < *self.first_key(block + 1))
    }

    /// Releases the pages of these blocks and of their index entries, which will not be read again soon.
    pub fn release(&self, blocks: Range<usize>) {
        let SegmentMapping { bytes, tail, index, width, .. } = &*self.shared;
        if !bytes.is_copied() {
            bytes.release(self.mapped(self.extents(blocks.clone())));
        }
        if index.len() > INDEX_RESIDENT_MAX {
            let entry = |block: usize| index.start + block * entry_bytes(*width);
            tail.release(entry(blocks.start)..entry(blocks.end));
        }
    }

    /// Does the same for a reader that is dropped. It also releases the pages after the blocks, and the index, since a
    /// search for keys reads distant pages of it. A small index stays: mapping it again at each level would cost more
    /// than its memory.
    pub(crate) fn release_all(&self, blocks: Range<usize>) {
        let SegmentMapping { bytes, tail, index, .. } = &*self.shared;
        if !bytes.is_copied() {
            bytes.release_all(self.mapped(self.extents(blocks)));
        }
        if index.len() > INDEX_RESIDENT_MAX {
            tail.release(index.clone());
        }
    }

    /// Requests these blocks, which will be read soon.
    pub fn will_need(&self, blocks: Range<usize>) {
        self.shared.bytes.will_need(self.mapped(self.extents(blocks)));
    }

    /// Returns the position of a block in the segment.
    pub(crate) fn extent(&self, block: usize) -> Range<usize> {
        let SegmentMapping { at, tail, index, width, .. } = &*self.shared;
        let entries = &tail[index.clone()];
        let end = match block + 1 {
            next if next == self.blocks() => at.length as usize - (tail.len() - index.start),
            next => offset_in(entries, *width, next) as usize,
        };
        offset_in(entries, *width, block) as usize..end
    }

    /// Returns the position of some neighbouring blocks in the segment.
    pub(crate) fn extents(&self, blocks: Range<usize>) -> Range<usize> {
        if blocks.is_empty() {
            return 0..0;
        }
        self.extent(blocks.start).start..self.extent(blocks.end - 1).end
    }

    /// Returns the position of a part of the segment in the mapped bytes.
    fn mapped(&self, part: Range<usize>) -> Range<usize> {
        let base = if part.is_empty() { part.start } else { self.shared.base };
        part.start - base..part.end - base
    }

    fn entry(&self, block: usize) -> &[u8] {
        let entry = entry_bytes(self.shared.width);
        &self.shared.tail[self.shared.index.clone()][block * entry..][..entry]
    }
}
