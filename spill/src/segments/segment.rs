//! Segments: immutable sorted sets of keys on disk.
//!
//! A segment is blocks of ascending keys (see `block/`), an index of them, and a footer. It
//! takes a range of a file, which may hold many, one after another, as an append-only log; every
//! offset inside is relative to the segment's start. All integers are little-endian.
//!
//! ```text
//! blocks   one after another, without gaps
//! index    for each block:  first key: width | offset: 8 | keys: 4
//! footer   offset  bytes  field
//!               0      8  "SPILLSEG"
//!               8      4  format version
//!              12      4  width of a key
//!              16      8  keys
//!              24      8  blocks
//!              32      8  length of the segment, this footer included
//!              40      4  checksum of the index
//!              44      4  checksum of the 44 bytes before
//! ```
//!
//! [`Segment::open`] checks footer and index in full: that offsets are ascending and within the
//! segment, first keys ascending, counts possible and of the right sum. So nothing that reads the
//! index later can fail, and it is read where it is mapped, not copied. A block is checked when it
//! is decoded, and against what the index says of it and of its neighbour: a block that is intact
//! but in another's place is noticed.

use super::block::{Block, Decoder, Encoder, HEADER, WIDTH_MAX, block_keys_max};
use crate::codec::Codec;
use crate::disk::{Append, Disk, Error, Mapped, Result, checksum};
use crate::keys::is_ascending;
use byteorder::{ByteOrder, LittleEndian};
use rkyv::{Archive, Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// The version of the format of segments that this build reads and writes.
pub const SEGMENT_VERSION: u32 = 2;

const MAGIC: &[u8; 8] = b"SPILLSEG";
const FOOTER: usize = 48;
/// Bytes of the footer that its checksum covers.
const FOOTER_CHECKED: usize = 44;
/// Bytes of an index entry behind its key.
const ENTRY_TAIL: usize = 12;
/// Encoded blocks are handed to the file in pieces of about this size.
const WRITE_BYTES: usize = 256 << 10;
/// An index of up to so many bytes stays resident.
const INDEX_KEPT: usize = 64 << 10;

/// Where a segment is within its file, and how many keys it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct SegmentRef {
    /// Offset of its first byte in the file.
    pub offset: u64,
    /// Its length in bytes.
    pub length: u64,
    /// The number of keys.
    pub keys: u64,
}

/// Appends one segment to a file.
///
/// Memory is bounded by a block of keys, some 256 KiB of encoded blocks, and the index: a key and
/// 12 bytes for every block.
pub struct SegmentWriter<'a> {
    width: usize,
    out: &'a mut dyn Append,
    encoder: Encoder,
    /// Offset of the segment in the file.
    start: u64,
    /// Keys that do not fill a block yet.
    pending: Vec<u8>,
    /// Encoded blocks that are not written yet.
    blocks: Vec<u8>,
    /// Bytes of blocks already written.
    written: u64,
    index: Vec<u8>,
    /// Keys in encoded blocks.
    keys: u64,
}

impl<'a> SegmentWriter<'a> {
    /// A writer of a segment of keys of `width` bytes, whole ones, to the end of `out`.
    ///
    /// # Panics
    ///
    /// If `width` is zero or more than [`WIDTH_MAX`].
    pub fn new(width: usize, out: &'a mut dyn Append) -> Self {
        SegmentWriter {
            width,
            encoder: Encoder::new(width),
            start: out.len(),
            out,
            pending: Vec::new(),
            blocks: Vec::new(),
            written: 0,
            index: Vec::new(),
            keys: 0,
        }
    }

    /// Leaves out the compression, for a segment that is soon read once and gone.
    pub fn uncompressed(self) -> Self {
        SegmentWriter { encoder: self.encoder.uncompressed(), ..self }
    }

    /// Writes blocks as `codec` does.
    pub fn coded(self, codec: &Codec) -> Self {
        SegmentWriter { encoder: self.encoder.coded(codec), ..self }
    }

    /// Adds `keys`, which ascend, and from what was pushed before.
    pub fn push(&mut self, mut keys: &[u8]) -> Result<()> {
        let width = self.encoder.key_width();
        debug_assert!(is_ascending(width, keys));
        debug_assert!(
            self.pending.is_empty() || keys.is_empty() || {
                self.pending[self.pending.len() - width..] < keys[..width]
            }
        );
        let block_bytes = block_keys_max(self.width) * width;
        if !self.pending.is_empty() {
            let missing = (block_bytes - self.pending.len()).min(keys.len());
            self.pending.extend_from_slice(&keys[..missing]);
            keys = &keys[missing..];
            if self.pending.len() < block_bytes {
                return Ok(());
            }
            self.flush_pending()?;
        }
        let (blocks, rest) = keys.split_at(keys.len() - keys.len() % block_bytes);
        for block in blocks.chunks_exact(block_bytes) {
            self.encode(block)?;
        }
        self.pending.extend_from_slice(rest);
        Ok(())
    }

    /// Whether no key has been pushed yet.
    pub fn is_empty(&self) -> bool {
        self.keys == 0 && self.pending.is_empty()
    }

    /// Writes what is left, the index and the footer. The file is neither flushed nor synced.
    pub fn finish(mut self) -> Result<SegmentRef> {
        if !self.pending.is_empty() {
            self.flush_pending()?;
        }
        let entry = self.width + ENTRY_TAIL;
        let length = self.written as usize + self.blocks.len() + self.index.len() + FOOTER;
        let mut footer = [0; FOOTER];
        footer[..8].copy_from_slice(MAGIC);
        LittleEndian::write_u32(&mut footer[8..], SEGMENT_VERSION);
        LittleEndian::write_u32(&mut footer[12..], self.width as u32);
        LittleEndian::write_u64(&mut footer[16..], self.keys);
        LittleEndian::write_u64(&mut footer[24..], (self.index.len() / entry) as u64);
        LittleEndian::write_u64(&mut footer[32..], length as u64);
        LittleEndian::write_u32(&mut footer[40..], checksum(&self.index));
        let sum = checksum(&footer[..FOOTER_CHECKED]);
        LittleEndian::write_u32(&mut footer[FOOTER_CHECKED..], sum);
        self.blocks.extend_from_slice(&self.index);
        self.blocks.extend_from_slice(&footer);
        self.out.write(&self.blocks)?;
        Ok(SegmentRef { offset: self.start, length: length as u64, keys: self.keys })
    }

    fn flush_pending(&mut self) -> Result<()> {
        let mut pending = std::mem::take(&mut self.pending);
        self.encode(&pending)?;
        pending.clear();
        self.pending = pending;
        Ok(())
    }

    /// Encodes one block, or several if the keys differ too much, and enters it in the index.
    fn encode(&mut self, keys: &[u8]) -> Result<()> {
        let width = self.encoder.key_width();
        let count = keys.len() / width;
        if self.encoder.wants_fewer(keys) {
            let (low, high) = keys.split_at(count / 2 * width);
            self.encode(low)?;
            return self.encode(high);
        }
        let offset = self.written + self.blocks.len() as u64;
        let first = self.index.len();
        match self.encoder.projection() {
            None => self.index.extend_from_slice(&keys[..width]),
            Some(projection) => projection.lift(&keys[..width], &mut self.index),
        }
        debug_assert!(self.entry_before(first).is_none_or(|before| *before < self.index[first..]));
        let mut tail = [0; ENTRY_TAIL];
        LittleEndian::write_u64(&mut tail, offset);
        LittleEndian::write_u32(&mut tail[8..], count as u32);
        self.index.extend_from_slice(&tail);
        self.keys += count as u64;
        self.encoder.encode(keys, &mut self.blocks);
        if self.blocks.len() >= WRITE_BYTES {
            self.out.write(&self.blocks)?;
            self.written += self.blocks.len() as u64;
            self.blocks.clear();
        }
        Ok(())
    }

    /// The first key of the block whose entry ends at `end` of the index.
    fn entry_before(&self, end: usize) -> Option<&[u8]> {
        let start = end.checked_sub(self.width + ENTRY_TAIL)?;
        Some(&self.index[start..start + self.width])
    }
}

/// A segment opened for reading. Clones share the mapping.
#[derive(Clone, Debug)]
pub struct Segment {
    shared: Arc<Shared>,
    codec: Codec,
}

#[derive(Debug)]
struct Shared {
    file: String,
    at: SegmentRef,
    width: usize,
    /// The number of blocks.
    blocks: usize,
    /// Where the index is in `bytes`.
    index: Range<usize>,
    /// Exactly the segment.
    bytes: Mapped,
}

impl Segment {
    /// Maps the segment `at` of `file` and verifies its footer and index.
    pub fn open(disk: &dyn Disk, file: &str, at: SegmentRef, width: usize) -> Result<Segment> {
        assert!((1..=WIDTH_MAX).contains(&width), "a stored key has 1 to {WIDTH_MAX} bytes");
        let end = at.offset.checked_add(at.length).filter(|_| at.length >= FOOTER as u64);
        let Some(end) = end else {
            let what = format!("a segment of {} bytes is not possible", at.length);
            return Err(Error::corrupt(file, at.offset, what));
        };
        let bytes = disk.map(file, at.offset..end)?;
        let (blocks, index) = check_footer(&bytes, file, at, width)?;
        check_index(&bytes, index.clone(), at.keys, width).map_err(|what| {
            let offset = at.offset + index.start as u64;
            Error::corrupt(file, offset, format!("the index of a segment: {what}"))
        })?;
        // An index may be large, and most of it may never be needed.
        bytes.release(index.clone());
        let shared = Shared { file: file.to_owned(), at, width, blocks, index, bytes };
        Ok(Segment { shared: Arc::new(shared), codec: Codec::Gaps })
    }

    /// The segment, if `codec` has written its blocks. Keys are then as the codec has them outside
    /// blocks.
    pub fn coded(self, codec: &Codec) -> Segment {
        Segment { codec: codec.clone(), ..self }
    }

    /// The same keys, whole.
    pub fn unprojected(&self) -> Segment {
        self.clone().coded(&self.codec.unprojected())
    }

    /// The number of bytes in a key.
    pub fn width(&self) -> usize {
        self.codec.key_width(self.shared.width)
    }

    /// A decoder for its blocks.
    pub fn decoder(&self) -> Decoder {
        Decoder::new(self.shared.width)
    }

    /// Where the segment is.
    pub fn at(&self) -> SegmentRef {
        self.shared.at
    }

    /// The number of keys.
    pub fn keys(&self) -> u64 {
        self.shared.at.keys
    }

    /// The number of blocks.
    pub fn blocks(&self) -> usize {
        self.shared.blocks
    }

    /// The first key of a block.
    pub fn first_key(&self, block: usize) -> Cow<'_, [u8]> {
        let whole = self.first_whole_key(block);
        match self.codec.projection() {
            None => Cow::Borrowed(whole),
            // Whether it has the constant bits is seen when its block is decoded.
            Some(projection) => Cow::Owned(projection.pick(whole)),
        }
    }

    /// The first key of a block as the index has it.
    fn first_whole_key(&self, block: usize) -> &[u8] {
        &self.entry(block)[..self.shared.width]
    }

    /// The number of keys in a block: at least one.
    pub fn keys_in(&self, block: usize) -> usize {
        LittleEndian::read_u32(&self.entry(block)[self.shared.width + 8..]) as usize
    }

    /// The block that holds `key` if any does: the last whose first key is not greater, or else
    /// block 0.
    pub fn find(&self, key: &[u8]) -> usize {
        self.find_in(0..self.blocks(), key)
    }

    /// [`find`](Segment::find) among some blocks, of which the first is taken if all are greater;
    /// fast if the answer is near the front.
    pub(crate) fn find_in(&self, blocks: Range<usize>, key: &[u8]) -> usize {
        let mut whole = Vec::new();
        let key = match self.codec.projection() {
            None => key,
            Some(projection) => {
                projection.lift(key, &mut whole);
                &whole
            }
        };
        let (mut low, mut high, mut step) = (blocks.start, blocks.end, 1);
        // All before `low` have first keys not greater than `key`, all from `high` on greater.
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

    /// Replaces `keys` by those of a block.
    pub fn decode(&self, block: usize, decoder: &mut Decoder, keys: &mut Vec<u8>) -> Result<()> {
        keys.clear();
        self.open_block(block, decoder)?;
        self.unseal(block, decoder)?;
        decoder.block().write(self.width(), keys);
        Ok(())
    }

    /// Turns the records of the block in the decoder, if it has records, into keys.
    pub(crate) fn unseal(&self, block: usize, decoder: &mut Decoder) -> Result<()> {
        let offset = self.shared.at.offset + self.extent(block).start as u64;
        decoder.unseal(&self.shared.file, offset)
    }

    /// Decodes a block, leaving its keys, or their records, in the decoder.
    pub(crate) fn open_block(&self, block: usize, decoder: &mut Decoder) -> Result<()> {
        let Shared { file, at, bytes, .. } = &*self.shared;
        let range = self.extent(block);
        let offset = at.offset + range.start as u64;
        bytes.note_read(range.len());
        decoder.set_codec(&self.codec);
        decoder.open(&bytes[range], file, offset)?;
        if !self.describes(block, &decoder.block()) {
            decoder.close();
            let what = "a block of keys: it is not the one that the index describes";
            return Err(Error::corrupt(file, offset, what));
        }
        Ok(())
    }

    /// Whether the keys of a block are those that the index promises, as far as it tells.
    fn describes(&self, block: usize, keys: &Block<'_>) -> bool {
        let (width, count) = (self.width(), keys.count(self.width()));
        let mut ends = Vec::with_capacity(2 * width);
        keys.write_some(0..1, width, &mut ends);
        keys.write_some(count - 1..count, width, &mut ends);
        let (first, last) = ends.split_at(width);
        count == self.keys_in(block)
            && *first == *self.first_key(block)
            && (block + 1 == self.blocks() || *last < *self.first_key(block + 1))
    }

    /// Tells the system that these blocks, and what the index says of them, will not be read again
    /// soon.
    pub fn release(&self, blocks: Range<usize>) {
        let Shared { bytes, index, width, .. } = &*self.shared;
        bytes.release(self.extents(blocks.clone()));
        let entry = |block: usize| index.start + block * (width + ENTRY_TAIL);
        bytes.release(entry(blocks.start)..entry(blocks.end));
    }

    /// The same, of a reader that goes away: what lies behind the blocks is not read next, nor is the
    /// index, of which looking for keys has touched pages far from them. A small one stays: to map it
    /// again at each level would cost more than it takes.
    pub(crate) fn release_wholly(&self, blocks: Range<usize>) {
        let Shared { bytes, index, .. } = &*self.shared;
        bytes.release_wholly(self.extents(blocks));
        if index.len() > INDEX_KEPT {
            bytes.release(index.clone());
        }
    }

    /// Tells the system that these blocks will be read soon.
    pub fn will_need(&self, blocks: Range<usize>) {
        self.shared.bytes.will_need(self.extents(blocks));
    }

    /// Where a block is among the segment's bytes.
    pub(crate) fn extent(&self, block: usize) -> Range<usize> {
        let Shared { bytes, index, width, .. } = &*self.shared;
        let entries = &bytes[index.clone()];
        let end = match block + 1 {
            next if next == self.blocks() => index.start,
            next => offset_in(entries, *width, next) as usize,
        };
        offset_in(entries, *width, block) as usize..end
    }

    /// Where some neighbouring blocks are among the segment's bytes.
    pub(crate) fn extents(&self, blocks: Range<usize>) -> Range<usize> {
        if blocks.is_empty() {
            return 0..0;
        }
        self.extent(blocks.start).start..self.extent(blocks.end - 1).end
    }

    fn entry(&self, block: usize) -> &[u8] {
        let entry = self.shared.width + ENTRY_TAIL;
        &self.shared.bytes[self.shared.index.clone()][block * entry..][..entry]
    }
}

/// The offset of a block according to the index.
fn offset_in(index: &[u8], width: usize, block: usize) -> u64 {
    LittleEndian::read_u64(&index[block * (width + ENTRY_TAIL) + width..])
}

/// Checks a footer: the number of blocks, and where the index is.
fn check_footer(
    bytes: &[u8],
    file: &str,
    at: SegmentRef,
    width: usize,
) -> Result<(usize, Range<usize>)> {
    let index_end = bytes.len() - FOOTER;
    let footer = &bytes[index_end..];
    let damaged = |what: String| {
        let what = format!("the footer of a segment: {what}");
        Error::corrupt(file, at.offset + index_end as u64, what)
    };
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
    let expected = [width as u64, at.keys, at.length];
    let found = [word(12).into(), long(16), long(32)];
    for ((expected, found), what) in expected.iter().zip(found).zip(["width", "keys", "length"]) {
        if *expected != found {
            return Err(damaged(format!("{what} {expected} is expected, {found} is found")));
        }
    }
    let blocks = usize::try_from(long(24)).ok();
    let index = blocks
        .and_then(|blocks| blocks.checked_mul(width + ENTRY_TAIL))
        .and_then(|length| index_end.checked_sub(length));
    match (blocks, index) {
        (Some(blocks), Some(start)) => {
            let (expected, found) = (word(40), checksum(&bytes[start..index_end]));
            if expected != found {
                let what =
                    format!("index checksum {expected:08x} is recorded, {found:08x} is found");
                return Err(damaged(what));
            }
            Ok((blocks, start..index_end))
        }
        _ => Err(damaged(format!("there is no room for {} blocks", long(24)))),
    }
}

/// Checks an index, whose checksum is right, or tells what is wrong.
fn check_index(
    bytes: &[u8],
    index: Range<usize>,
    keys: u64,
    width: usize,
) -> std::result::Result<(), String> {
    let entries = &bytes[index.clone()];
    let (mut last, mut end, mut sum): (Option<&[u8]>, u64, u64) = (None, 0, 0);
    for (block, entry) in entries.chunks_exact(width + ENTRY_TAIL).enumerate() {
        let (first, tail) = entry.split_at(width);
        let (offset, count) = (LittleEndian::read_u64(tail), LittleEndian::read_u32(&tail[8..]));
        if last.is_some_and(|last| last >= first) {
            return Err(format!("block {block} does not follow the one before"));
        }
        let follows = if block == 0 { offset == 0 } else { offset >= end };
        if !follows {
            return Err(format!("block {block} is at {offset}, the one before ends at {end}"));
        }
        if !(1..=block_keys_max(width)).contains(&(count as usize)) {
            return Err(format!("block {block} claims to hold {count} keys"));
        }
        // It cannot end sooner; where it does end is where the next begins.
        end = offset.checked_add(HEADER as u64).ok_or("an offset overflows")?;
        sum += u64::from(count);
        last = Some(first);
    }
    if end > index.start as u64 || (last.is_none() && index.start > 0) {
        return Err(format!("blocks end at {end}, the index begins at {}", index.start));
    }
    if sum != keys {
        return Err(format!("blocks hold {sum} keys, {keys} are expected"));
    }
    Ok(())
}
