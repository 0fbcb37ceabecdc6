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

/// Writes segments of a few keys without values, one after another, with the same buffers. The bytes are those that a
/// [`SegmentWriter`] writes.
pub(crate) struct SmallSegmentWriter {
    /// The size of a whole key in bytes.
    width: usize,
    encoder: BlockEncoder,
    /// The segment, and its index.
    bytes: Vec<u8>,
    index: Vec<u8>,
}

impl SmallSegmentWriter {
    /// Creates a writer of whole keys of `width` bytes in blocks of `codec`.
    pub(crate) fn new(width: usize, codec: &Codec) -> SmallSegmentWriter {
        let encoder = BlockEncoder::new(width).with_codec(codec);
        SmallSegmentWriter { width, encoder, bytes: Vec::new(), index: Vec::new() }
    }

    /// Appends a segment of `keys`, ascending and at least one, to `out`. Blocks that begin before `plain` bytes of blocks
    /// are not compressed.
    pub(crate) fn write(
        &mut self,
        keys: &[u8],
        plain: u64,
        out: &mut dyn AppendFile,
    ) -> Result<SegmentRef> {
        let SmallSegmentWriter { width, encoder, bytes, index } = self;
        let (width, key_width) = (*width, encoder.key_width());
        let batch = (keys.len() <= block_keys_max(width) * key_width).then(|| encoder.batch(keys));
        let Some(batch) = batch.filter(|it| !it.needs_split()) else {
            let codec = encoder.codec().clone();
            let writer = SegmentWriter::new(width, out).with_codec(&codec);
            let mut writer = writer.with_plain_bytes(plain);
            writer.push(keys)?;
            return writer.finish();
        };
        bytes.clear();
        index.clear();
        match encoder.projection() {
            None => index.extend_from_slice(&keys[..width]),
            Some(projection) => projection.unproject(&keys[..key_width], index),
        }
        let count = keys.len() / key_width;
        match batch.is_one_key() {
            // The whole key is in the index.
            true => encoder.encode_one(index, plain == 0, bytes),
            false => encoder.encode_batch(&batch, plain == 0, bytes),
        }
        push_tail(index, 0, count);
        let length = (bytes.len() + index.len() + FOOTER) as u64;
        let footer = footer(KeyBytes { whole: width, value: 0 }, count as u64, index, length);
        bytes.extend_from_slice(index);
        bytes.extend_from_slice(&footer);
        let offset = out.len();
        out.write(bytes)?;
        Ok(SegmentRef { offset, length, keys: count as u64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::{Disk, FaultDisk};
    use crate::keys::Projection;
    use proptest::prelude::*;
    use std::sync::Arc;

    proptest! {
        /// Few and many keys, in one block and in several, that vary in few and in many bits.
        #[test]
        fn small_segments_have_the_bytes_of_any_writer(
            width in prop::sample::select(vec![1, 3, 8, 12, 40, 2000]),
            sets in prop::collection::vec((1usize..1025, any::<bool>()), 1..4),
            seed in any::<u64>(),
            plain in prop::sample::select(vec![0, 1, u64::MAX]),
            is_projected in any::<bool>(),
        ) {
            let segments = sets.iter().map(|&(count, varied)| {
                let key = |at: usize| -> Vec<u8> {
                    let noise = if varied { seed.wrapping_mul(2 * at as u64 + 1) } else { at as u64 };
                    (0..width).map(|byte| (noise >> (byte % 8 * 8)) as u8 & 0x7f).collect()
                };
                let keys: std::collections::BTreeSet<Vec<u8>> = (0..count).map(key).collect();
                keys.into_iter().flatten().collect::<Vec<u8>>()
            });
            let segments: Vec<Vec<u8>> = segments.collect();
            let projection = Projection::of_keys(width, &segments.concat());
            let codec = if is_projected { Codec::Projected(Arc::new(projection)) } else { Codec::Gaps };
            let disk = FaultDisk::new();
            let [mut one, mut other] = ["one", "other"].map(|name| disk.create(name).unwrap());
            let mut small = SmallSegmentWriter::new(width, &codec);
            for keys in &segments {
                let keys = codec.adopt(&Codec::Gaps, width, keys);
                let written = small.write(&keys, plain, &mut *one).unwrap();
                let writer = SegmentWriter::new(width, &mut *other).with_codec(&codec);
                let mut writer = writer.with_plain_bytes(plain);
                writer.push(&keys).unwrap();
                prop_assert_eq!(written, writer.finish().unwrap());
            }
            one.flush().unwrap();
            other.flush().unwrap();
            let [one, other] = [("one", one.len()), ("other", other.len())].map(|(name, length)| {
                disk.map(name, 0..length).unwrap()
            });
            prop_assert!(*one == *other);
        }
    }
}
