//! Writing a segment, front to back.

use super::block::{BlockEncoder, block_keys_max};
use super::footer::{FOOTER, KeyBytes, SegmentRef, footer};
use super::index::{entry_bytes, push_tail};
use crate::codec::Codec;
use crate::disk::{AppendFile, Result};
use crate::keys::is_ascending;

/// The approximate size of the pieces in which encoded blocks are written to the file.
const WRITE_BYTES: usize = 256 << 10;

/// Appends one segment to a file.
///
/// Memory is bounded by a block of keys, some 256 KiB of encoded blocks, and the index: a key and 12 bytes for every
/// block.
pub struct SegmentWriter<'a> {
    /// The size of a whole key in bytes.
    width: usize,
    /// The size of a value in bytes; 0 if there are none, or the footer does not record it.
    value_bytes: usize,
    out: &'a mut dyn AppendFile,
    encoder: BlockEncoder,
    /// Blocks that begin before this many bytes of blocks are not compressed.
    plain_bytes: u64,
    /// The offset of the segment in the file.
    start: u64,
    /// Keys that do not fill a block yet: fewer bytes than the largest block takes.
    pending: Vec<u8>,
    /// Encoded blocks that are not written yet.
    blocks: Vec<u8>,
    /// The number of bytes of written blocks.
    written: u64,
    /// The entries of the encoded blocks.
    index: Vec<u8>,
    /// The number of keys in encoded blocks.
    keys: u64,
}

impl<'a> SegmentWriter<'a> {
    /// Creates a writer of a segment of whole keys of `width` bytes at the end of `out`.
    ///
    /// # Panics
    ///
    /// If `width` is zero or more than [`WIDTH_MAX`](crate::WIDTH_MAX).
    pub fn new(width: usize, out: &'a mut dyn AppendFile) -> Self {
        SegmentWriter {
            width,
            value_bytes: 0,
            encoder: BlockEncoder::new(width),
            plain_bytes: 0,
            start: out.len(),
            out,
            pending: Vec::new(),
            blocks: Vec::new(),
            written: 0,
            index: Vec::new(),
            keys: 0,
        }
    }

    /// Disables compression, for a segment that is soon read once and deleted.
    pub fn without_compression(self) -> Self {
        self.with_plain_bytes(u64::MAX)
    }

    /// Disables the compression of the first blocks, which take about `bytes` bytes.
    pub fn with_plain_bytes(self, bytes: u64) -> Self {
        SegmentWriter { plain_bytes: bytes, ..self }
    }

    /// Records in the footer that keys end with values of `value_bytes` bytes, so that readers do not treat pairs as
    /// plain keys.
    pub fn with_values(self, value_bytes: usize) -> Self {
        SegmentWriter { value_bytes, ..self }
    }

    /// Sets the codec of the blocks.
    pub fn with_codec(self, codec: &Codec) -> Self {
        SegmentWriter { encoder: self.encoder.with_codec(codec), ..self }
    }

    /// Adds `keys`, which ascend, also across calls.
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

    /// Returns whether no key has been pushed yet.
    pub fn is_empty(&self) -> bool {
        self.keys == 0 && self.pending.is_empty()
    }

    /// Writes the remaining keys, the index and the footer. The file is neither flushed nor synced.
    pub fn finish(mut self) -> Result<SegmentRef> {
        if !self.pending.is_empty() {
            self.flush_pending()?;
        }
        let length = self.written as usize + self.blocks.len() + self.index.len() + FOOTER;
        let width = KeyBytes { whole: self.width, value: self.value_bytes };
        let footer = footer(width, self.keys, &self.index, length as u64);
        self.blocks.extend_from_slice(&self.index);
        self.blocks.extend_from_slice(&footer);
        self.out.write(&self.blocks)?;
        Ok(SegmentRef { offset: self.start, length: length as u64, keys: self.keys })
    }

    /// [Finishes](SegmentWriter::finish) the segment; a segment without keys takes no bytes.
    pub fn finish_or_empty(self) -> Result<SegmentRef> {
        match self.is_empty() {
            true => Ok(SegmentRef { offset: self.start, length: 0, keys: 0 }),
            false => self.finish(),
        }
    }

    fn flush_pending(&mut self) -> Result<()> {
        let mut pending = std::mem::take(&mut self.pending);
        self.encode(&pending)?;
        pending.clear();
        self.pending = pending;
        Ok(())
    }

    /// Encodes one block, or several if the keys differ too much, and enters them in the index.
    fn encode(&mut self, keys: &[u8]) -> Result<()> {
        let width = self.encoder.key_width();
        let count = keys.len() / width;
        let batch = self.encoder.batch(keys);
        if batch.needs_split() {
            let (low, high) = keys.split_at(count / 2 * width);
            self.encode(low)?;
            return self.encode(high);
        }
        let offset = self.written + self.blocks.len() as u64;
        let first = self.index.len();
        match self.encoder.projection() {
            None => self.index.extend_from_slice(&keys[..width]),
            Some(projection) => projection.unproject(&keys[..width], &mut self.index),
        }
        debug_assert!(self.entry_before(first).is_none_or(|before| *before < self.index[first..]));
        push_tail(&mut self.index, offset, count);
        self.keys += count as u64;
        self.encoder.encode_batch(&batch, offset >= self.plain_bytes, &mut self.blocks);
        if self.blocks.len() >= WRITE_BYTES {
            self.out.write(&self.blocks)?;
            self.written += self.blocks.len() as u64;
            self.blocks.clear();
        }
        Ok(())
    }

    /// Returns the first key of the block whose entry ends at `end` of the index.
    fn entry_before(&self, end: usize) -> Option<&[u8]> {
        let start = end.checked_sub(entry_bytes(self.width))?;
        Some(&self.index[start..start + self.width])
    }
}
