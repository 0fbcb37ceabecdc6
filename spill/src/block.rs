//! One block of a segment: up to [`BLOCK_KEYS`] ascending keys, gap-coded, compressed, checksummed.
//!
//! Neighbours in a sorted set of states differ by little. Where keys fit an integer, a block is
//! its first key and the differences from key to key, each in the same number of bytes: as few as
//! the largest takes. That is larger than a variable-length code before compression, but zstd
//! finds the pattern in it as well, and decoding is a load, a mask and an addition a key, without
//! a branch. Since keys ascend strictly, a gap is stored less one: no gap code is invalid, and
//! every sum that does not overflow is ascending.
//!
//! Wider keys are front-coded: for each key, how many leading bytes it shares with the one before
//! (a `u16`), and after all of these the bytes that follow the shared ones of each key.
//!
//! The result, *raw*, is kept as zstd compresses it, if that is smaller. All integers are
//! little-endian; keys are as given.
//!
//! ```text
//! offset  bytes  field
//!      0      4  checksum of everything behind it
//!      4      4  keys: 1 to block_keys_max(width)
//!      8      1  code: 0 gaps, 1 shared prefixes
//!      9      1  gap bytes: 1 to width; 0 for shared prefixes
//!     10      1  compression: 0 none, 1 zstd
//!     11      1  zero
//!     12      4  length of raw
//!     16      4  length of stored
//!     20      -  stored: raw, perhaps compressed
//!
//! raw, gaps:             first key | (keys - 1) * gap bytes: difference to the key before, less 1
//! raw, shared prefixes:  keys * 2: length shared with the key before, 0 for the first | the rests
//! ```
//!
//! The decoder believes nothing: it checks every field against the others before it allocates or
//! decompresses, and that the keys ascend and the bytes are used up after.

use crate::checksum::checksum;
use crate::keys::{Int, PACKED_WIDTH_MAX, Packed, Shape, Wide, for_packed, is_ascending};
use crate::sort::common_prefix;
use crate::{Error, Result};
use byteorder::{ByteOrder, LittleEndian};
use std::cell::RefCell;
use zstd::bulk::{Compressor, Decompressor};

/// The largest number of keys in a block.
pub const BLOCK_KEYS: usize = 4096;
/// The largest number of bytes that the keys of a block take, unless it is a single key.
pub const BLOCK_BYTES: usize = 256 << 10;
/// The widest key that can be stored.
pub const WIDTH_MAX: usize = u16::MAX as usize;

/// Bytes of a block's header.
pub(crate) const HEADER: usize = 20;
/// Bytes behind the checksum in the header of a block.
const CHECKED: usize = 4;

const CODE_GAPS: u8 = 0;
const CODE_SHARED: u8 = 1;
const STORED_PLAIN: u8 = 0;
const STORED_ZSTD: u8 = 1;

/// A level of compression beyond the first gains a few per cent and costs several times as much.
const ZSTD_LEVEL: i32 = 1;
/// Shorter raw bytes are not worth the compressor's start.
const ZSTD_RAW_MIN: usize = 48;
/// Readable and writable bytes kept behind raw gaps, so that each is accessed as a whole word.
const SLACK: usize = 16;

/// The largest number of keys in a block of keys of `width` bytes.
pub const fn block_keys_max(width: usize) -> usize {
    match BLOCK_BYTES / width {
        0 => 1,
        keys if keys < BLOCK_KEYS => keys,
        _ => BLOCK_KEYS,
    }
}

thread_local! {
    // A context takes longer to make than a block to decode, and there are many readers a thread.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = RefCell::new(Compressor::new(ZSTD_LEVEL).ok());
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = RefCell::new(Decompressor::new().ok());
}

/// Compresses `raw` into `stored`; the length, or none if that is no shorter than `raw`.
fn compress(raw: &[u8], stored: &mut Vec<u8>) -> Option<usize> {
    if raw.len() < ZSTD_RAW_MIN {
        return None;
    }
    stored.resize(raw.len() - 1, 0);
    COMPRESSOR
        .with_borrow_mut(|zstd| zstd.as_mut()?.compress_to_buffer(raw, stored.as_mut_slice()).ok())
}

/// Decompresses `stored` into `raw`; the length, or none if it is damaged or longer than `raw`.
fn decompress(stored: &[u8], raw: &mut [u8]) -> Option<usize> {
    DECOMPRESSOR.with_borrow_mut(|zstd| zstd.as_mut()?.decompress_to_buffer(stored, raw).ok())
}

/// Turns keys into blocks.
#[derive(Debug)]
pub struct Encoder {
    width: usize,
    /// The block before compression, and [`SLACK`].
    raw: Vec<u8>,
    /// The block after compression.
    stored: Vec<u8>,
}

impl Encoder {
    /// An encoder of keys of `width` bytes.
    ///
    /// # Panics
    ///
    /// If `width` is zero or more than [`WIDTH_MAX`].
    pub fn new(width: usize) -> Self {
        assert!((1..=WIDTH_MAX).contains(&width), "a stored key has 1 to {WIDTH_MAX} bytes");
        Encoder { width, raw: Vec::new(), stored: Vec::new() }
    }

    /// Appends the block of `keys`, ascending, at least one and at most [`block_keys_max`], to
    /// `out`.
    pub fn encode(&mut self, keys: &[u8], out: &mut Vec<u8>) {
        let count = keys.len() / self.width;
        assert!((1..=block_keys_max(self.width)).contains(&count), "a block of {count} keys");
        debug_assert!(is_ascending(self.width, keys));
        let raw = &mut self.raw;
        let (code, gap_bytes) = for_packed!(self.width,
            shape => (CODE_GAPS, write_gaps(shape, keys, raw)),
            else (CODE_SHARED, write_shared(shape, keys, raw)));
        let raw_length = match code {
            CODE_GAPS => self.width + (count - 1) * gap_bytes,
            _ => self.raw.len(),
        };
        let raw = &self.raw[..raw_length];
        let (compression, stored) = match compress(raw, &mut self.stored) {
            Some(length) => (STORED_ZSTD, &self.stored[..length]),
            None => (STORED_PLAIN, raw),
        };

        let mut header = [0; HEADER];
        LittleEndian::write_u32(&mut header[4..], count as u32);
        header[8] = code;
        header[9] = gap_bytes as u8;
        header[10] = compression;
        LittleEndian::write_u32(&mut header[12..], raw_length as u32);
        LittleEndian::write_u32(&mut header[16..], stored.len() as u32);
        let start = out.len();
        out.extend_from_slice(&header);
        out.extend_from_slice(stored);
        let sum = checksum(&out[start + CHECKED..]);
        LittleEndian::write_u32(&mut out[start..], sum);
    }
}

/// Gap-codes `keys` into `raw`; the bytes of a gap. Leaves [`SLACK`] behind.
fn write_gaps<P: Packed>(shape: P, keys: &[u8], raw: &mut Vec<u8>) -> usize {
    let width = shape.width();
    let one = P::Int::from_low(1);
    let (first, rest) = keys.split_at(width);
    let first = shape.key(first);
    let mut last = first;
    let mut all = P::Int::ZERO;
    for key in rest.chunks_exact(width) {
        let key = shape.key(key);
        all = all.or(key.sub(last).sub(one));
        last = key;
    }
    let gap_bytes = all.length().div_ceil(8).max(1) as usize;
    raw.resize(keys.len() + SLACK, 0);
    shape.store(first, raw);
    let mut last = first;
    let mut at = width;
    for key in rest.chunks_exact(width) {
        let key = shape.key(key);
        let gap = key.sub(last).sub(one);
        if gap_bytes <= 8 {
            LittleEndian::write_u64(&mut raw[at..], gap.low());
        } else {
            LittleEndian::write_u128(&mut raw[at..], gap.wide());
        }
        last = key;
        at += gap_bytes;
    }
    gap_bytes
}

/// Front-codes `keys` into `raw`. There are no gaps, so zero.
fn write_shared(shape: Wide, keys: &[u8], raw: &mut Vec<u8>) -> usize {
    let count = keys.len() / shape.width();
    raw.clear();
    raw.resize(2 * count, 0);
    let mut last: &[u8] = &[];
    for (i, key) in keys.chunks_exact(shape.width()).enumerate() {
        let shared = common_prefix(last, key);
        LittleEndian::write_u16(&mut raw[2 * i..], shared as u16);
        raw.extend_from_slice(&key[shared..]);
        last = key;
    }
    0
}

/// Turns blocks back into keys.
#[derive(Debug)]
pub struct Decoder {
    width: usize,
    /// The block after decompression, and [`SLACK`].
    raw: Vec<u8>,
}

impl Decoder {
    /// A decoder of keys of `width` bytes.
    ///
    /// # Panics
    ///
    /// If `width` is zero or more than [`WIDTH_MAX`].
    pub fn new(width: usize) -> Self {
        assert!((1..=WIDTH_MAX).contains(&width), "a stored key has 1 to {WIDTH_MAX} bytes");
        Decoder { width, raw: Vec::new() }
    }

    /// Replaces `keys` by those of `block`, which lies at `offset` in `file`.
    ///
    /// Whatever the bytes, `keys` then holds a strictly ascending set, or this fails with
    /// [`Error::Corrupt`]; allocations are bounded by the largest block.
    pub fn decode(
        &mut self,
        block: &[u8],
        file: &str,
        offset: u64,
        keys: &mut Vec<u8>,
    ) -> Result<()> {
        self.decode_or_why(block, keys).map_err(|what| {
            keys.clear();
            Error::corrupt(file, offset, format!("a block of keys: {what}"))
        })
    }

    fn decode_or_why(
        &mut self,
        block: &[u8],
        keys: &mut Vec<u8>,
    ) -> std::result::Result<(), String> {
        let header = Header::read(self.width, block)?;
        let stored = &block[HEADER..];
        self.raw.resize((header.raw_length + SLACK).max(self.raw.len()), 0);
        if header.compressed {
            let length = decompress(stored, &mut self.raw[..header.raw_length]);
            if length != Some(header.raw_length) {
                return Err("it does not decompress to the length recorded".into());
            }
        } else {
            self.raw[..header.raw_length].copy_from_slice(stored);
        }
        keys.resize(header.count * self.width, 0);
        let raw = &self.raw[..header.raw_length + SLACK];
        for_packed!(self.width,
            shape => read_gaps(shape, raw, header.gap_bytes, keys),
            else read_shared(shape, &raw[..header.raw_length], keys))
    }
}

/// A block's header, checked.
struct Header {
    count: usize,
    gap_bytes: usize,
    compressed: bool,
    raw_length: usize,
}

impl Header {
    fn read(width: usize, block: &[u8]) -> std::result::Result<Header, String> {
        if block.len() < HEADER {
            return Err(format!("{} bytes are too few for a header", block.len()));
        }
        let word = |at: usize| LittleEndian::read_u32(&block[at..]);
        let (expected, found) = (word(0), checksum(&block[CHECKED..]));
        if expected != found {
            return Err(format!("checksum {expected:08x} is recorded, {found:08x} is found"));
        }
        let count = word(4) as usize;
        if !(1..=block_keys_max(width)).contains(&count) {
            return Err(format!("it claims to hold {count} keys"));
        }
        let (code, gap_bytes) = (block[8], block[9] as usize);
        let (raw_length, stored_length) = (word(12) as usize, word(16) as usize);
        let possible = match code {
            CODE_GAPS if width <= PACKED_WIDTH_MAX => {
                (1..=width).contains(&gap_bytes) && raw_length == width + (count - 1) * gap_bytes
            }
            CODE_SHARED if width > PACKED_WIDTH_MAX => {
                gap_bytes == 0 && raw_length <= count * (2 + width)
            }
            _ => false,
        };
        let compressed = block[10] == STORED_ZSTD;
        let plain = block[10] == STORED_PLAIN && stored_length == raw_length;
        if !possible || !(compressed || plain) || block[11] != 0 {
            return Err("the fields of its header contradict each other".into());
        }
        if stored_length != block.len() - HEADER {
            let found = block.len() - HEADER;
            return Err(format!("{stored_length} bytes are recorded, {found} are found"));
        }
        Ok(Header { count, gap_bytes, compressed, raw_length })
    }
}

/// Decodes gaps from `raw`, which has [`SLACK`], to fill `keys`, which has room for at least one.
fn read_gaps<P: Packed>(
    shape: P,
    raw: &[u8],
    gap_bytes: usize,
    keys: &mut [u8],
) -> std::result::Result<(), String> {
    let mut key = shape.key(raw);
    let (first, rest) = keys.split_at_mut(shape.width());
    shape.store(key, first);
    let gaps = &raw[shape.width()..];
    let mut wrapped = false;
    let mut step = |gap: P::Int, slot: &mut [u8]| {
        let next = key.add(gap).add(P::Int::from_low(1));
        if P::SUM_MAY_WRAP {
            wrapped |= next <= key;
        }
        key = next;
        shape.store(key, slot);
    };
    let slots = rest.chunks_exact_mut(shape.width());
    if gap_bytes <= 8 {
        let mask = u64::MAX >> (64 - 8 * gap_bytes);
        for (i, slot) in slots.enumerate() {
            step(P::Int::from_low(LittleEndian::read_u64(&gaps[i * gap_bytes..]) & mask), slot);
        }
    } else {
        let mask = u128::MAX >> (128 - 8 * gap_bytes);
        for (i, slot) in slots.enumerate() {
            step(P::Int::from_wide(LittleEndian::read_u128(&gaps[i * gap_bytes..]) & mask), slot);
        }
    }
    if wrapped || key.length() > P::BITS {
        return Err("its keys exceed their width".into());
    }
    Ok(())
}

/// Decodes shared prefixes from `raw` to fill `keys`, which has room for at least one.
fn read_shared(shape: Wide, raw: &[u8], keys: &mut [u8]) -> std::result::Result<(), String> {
    let width = shape.width();
    let count = keys.len() / width;
    let Some((lengths, mut rests)) = raw.split_at_checked(2 * count) else {
        return Err("it ends early".into());
    };
    for (i, length) in lengths.chunks_exact(2).enumerate() {
        let shared = LittleEndian::read_u16(length) as usize;
        if shared >= width || (i == 0 && shared > 0) {
            return Err(format!("a key shares {shared} bytes with the one before"));
        }
        let Some((rest, remaining)) = rests.split_at_checked(width - shared) else {
            return Err("it ends early".into());
        };
        rests = remaining;
        let (before, key) = keys[..(i + 1) * width].split_at_mut(i * width);
        if i > 0 {
            let last = &before[(i - 1) * width..];
            if last[shared] >= rest[0] {
                return Err("its keys do not ascend".into());
            }
            key[..shared].copy_from_slice(&last[..shared]);
        }
        key[shared..].copy_from_slice(rest);
    }
    if !rests.is_empty() {
        return Err(format!("{} bytes are left over", rests.len()));
    }
    Ok(())
}
