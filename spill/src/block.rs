//! One block of a segment: up to [`BLOCK_KEYS`] ascending keys, gap-coded, compressed, checksummed.
//!
//! Neighbours in a sorted set of states differ by little, and mostly in the same few ways. So a
//! block keeps the bits in which its keys vary, as integers (see `squeeze.rs`), and of these the
//! differences from one to the next, the *gaps*. A block of 4096 keys has some hundred different
//! gaps: those that occur again are listed in a *dictionary*, and a gap is one byte, the number of
//! its entry. Rare ones are written out, as *literals*. What zstd is given is a byte a key instead
//! of five or ten, and decoding is a look-up and an addition a key, without a branch. Since keys
//! ascend strictly, a gap is stored less one: no code is invalid, and every sum that does not
//! overflow is ascending.
//!
//! Keys that vary in more than 128 bits are front-coded: for each key, how many leading bytes it
//! shares with the one before (a `u16`), and after all of these the bytes that follow the shared
//! ones of each key. Before it comes to that, whoever fills blocks makes smaller ones, whose keys
//! vary in fewer bits ([`Encoder::wants_fewer`]).
//!
//! The result, *raw*, is kept as zstd compresses it, if that is smaller. All integers are
//! little-endian; keys are as given. Several integers of the same length are stored as *planes*:
//! the low bytes of all, then the next bytes of all, and so on.
//!
//! ```text
//! offset  bytes  field
//!      0      4  checksum of everything behind it
//!      4      2  keys: 1 to block_keys_max(width)
//!      6      2  entries of the dictionary: 0 to 256; 0 for shared prefixes
//!      8      1  code: 0 gaps, 1 shared prefixes
//!      9      1  compression: 0 none, 1 zstd
//!     10      1  gap bytes: 1 to 16; 0 for shared prefixes
//!     11      1  zero
//!     12      4  length of raw
//!     16      4  length of stored
//!     20      -  stored: raw, perhaps compressed
//!
//! raw, gaps:             keys - 1: for each gap the number of its entry, or 255, if that is not an
//!                                  entry, for a literal
//!                        planes of the dictionary, ascending
//!                        planes of the literals
//!                        width: bits that vary | width: first key
//! raw, shared prefixes:  keys * 2: length shared with the key before, 0 for the first | the rests
//! ```
//!
//! The decoder believes nothing: it checks every field against the others before it allocates or
//! decompresses, and that the keys ascend and the bytes are used up after.

use crate::checksum::checksum;
use crate::gaps::{ENTRIES_MAX, Gaps, sum_gaps};
use crate::keys::{PACKED_WIDTH_MAX, Shape, Wide, is_ascending};
use crate::sort::common_prefix;
use crate::squeeze::Squeeze;
use crate::{Error, Result};
use byteorder::{ByteOrder, LittleEndian};
use std::cell::RefCell;
use std::ops::Range;
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

pub(crate) const CODE_GAPS: u8 = 0;
const CODE_SHARED: u8 = 1;
const STORED_PLAIN: u8 = 0;
const STORED_ZSTD: u8 = 1;

/// A level of compression beyond the first gains a few per cent and costs several times as much.
const ZSTD_LEVEL: i32 = 1;
/// Shorter raw bytes are not worth the compressor's start.
const ZSTD_RAW_MIN: usize = 48;
/// The widest integer that keys are squeezed to.
const SQUEEZED_BITS_MAX: u32 = 128;
/// Blocks whose keys vary in too many bits are halved down to this many keys.
const HALVED_KEYS_MIN: usize = 256;

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
    /// The block before compression.
    raw: Vec<u8>,
    /// The block after compression.
    stored: Vec<u8>,
    narrow: Gaps<u64>,
    wide: Gaps<u128>,
    compresses: bool,
}

impl Encoder {
    /// An encoder of keys of `width` bytes.
    ///
    /// # Panics
    ///
    /// If `width` is zero or more than [`WIDTH_MAX`].
    pub fn new(width: usize) -> Self {
        assert!((1..=WIDTH_MAX).contains(&width), "a stored key has 1 to {WIDTH_MAX} bytes");
        let (narrow, wide) = (Gaps::default(), Gaps::default());
        Encoder { width, raw: Vec::new(), stored: Vec::new(), narrow, wide, compresses: true }
    }

    /// Leaves out the compression, for blocks that are soon read once and gone.
    pub fn uncompressed(self) -> Self {
        Encoder { compresses: false, ..self }
    }

    /// Whether `keys` had better be encoded as two blocks, because they vary in too many bits.
    pub fn wants_fewer(&self, keys: &[u8]) -> bool {
        self.width > PACKED_WIDTH_MAX
            && keys.len() / self.width > HALVED_KEYS_MIN
            && Squeeze::of(self.width, keys).bits() > SQUEEZED_BITS_MAX
    }

    /// Appends the block of `keys`, ascending, at least one and at most [`block_keys_max`], to
    /// `out`.
    pub fn encode(&mut self, keys: &[u8], out: &mut Vec<u8>) {
        let count = keys.len() / self.width;
        assert!((1..=block_keys_max(self.width)).contains(&count), "a block of {count} keys");
        debug_assert!(is_ascending(self.width, keys));
        self.raw.clear();
        let squeeze = Squeeze::of(self.width, keys);
        let (code, entries, gap_bytes) = match squeeze.bits() {
            0..=64 => self.narrow.write(&squeeze, keys, &mut self.raw),
            65..=SQUEEZED_BITS_MAX => self.wide.write(&squeeze, keys, &mut self.raw),
            _ => write_shared(Wide(self.width), keys, &mut self.raw),
        };
        if code == CODE_GAPS {
            self.raw.extend_from_slice(&squeeze.varying());
            self.raw.extend_from_slice(&keys[..self.width]);
        }
        let compressed = match self.compresses {
            true => compress(&self.raw, &mut self.stored),
            false => None,
        };
        let (compression, stored) = match compressed {
            Some(length) => (STORED_ZSTD, &self.stored[..length]),
            None => (STORED_PLAIN, self.raw.as_slice()),
        };

        let mut header = [0; HEADER];
        LittleEndian::write_u16(&mut header[4..], count as u16);
        LittleEndian::write_u16(&mut header[6..], entries as u16);
        header[8] = code;
        header[9] = compression;
        header[10] = gap_bytes as u8;
        LittleEndian::write_u32(&mut header[12..], self.raw.len() as u32);
        LittleEndian::write_u32(&mut header[16..], stored.len() as u32);
        let start = out.len();
        out.extend_from_slice(&header);
        out.extend_from_slice(stored);
        let sum = checksum(&out[start + CHECKED..]);
        LittleEndian::write_u32(&mut out[start..], sum);
    }
}

/// Front-codes `keys` into `raw`, which is empty. Of the code, the entries of its dictionary and
/// the bytes of a gap there is only the first.
fn write_shared(shape: Wide, keys: &[u8], raw: &mut Vec<u8>) -> (u8, usize, usize) {
    raw.resize(2 * (keys.len() / shape.width()), 0);
    let mut last: &[u8] = &[];
    for (i, key) in keys.chunks_exact(shape.width()).enumerate() {
        let shared = common_prefix(last, key);
        LittleEndian::write_u16(&mut raw[2 * i..], shared as u16);
        raw.extend_from_slice(&key[shared..]);
        last = key;
    }
    (CODE_SHARED, 0, 0)
}

/// Turns blocks back into keys.
#[derive(Debug)]
pub struct Decoder {
    width: usize,
    /// The block after decompression.
    raw: Vec<u8>,
    /// What its keys have in common, if it is gaps.
    squeeze: Squeeze,
    form: Form,
    narrow: Vec<u64>,
    wide: Vec<u128>,
    keys: Vec<u8>,
}

/// As what the keys decoded last lie in a [`Decoder`].
#[derive(Clone, Copy, Debug)]
enum Form {
    Narrow,
    Wide,
    Keys,
}

/// The keys of a block in the form in which it holds them, ascending.
pub(crate) enum Block<'a> {
    /// Squeezed to 64 bits.
    Narrow(&'a Squeeze, &'a [u64]),
    /// Squeezed to 128 bits.
    Wide(&'a Squeeze, &'a [u128]),
    /// As they are.
    Keys(&'a [u8]),
}

impl Decoder {
    /// A decoder of keys of `width` bytes.
    ///
    /// # Panics
    ///
    /// If `width` is zero or more than [`WIDTH_MAX`].
    pub fn new(width: usize) -> Self {
        assert!((1..=WIDTH_MAX).contains(&width), "a stored key has 1 to {WIDTH_MAX} bytes");
        let (squeeze, form) = (Squeeze::default(), Form::Keys);
        let (raw, narrow, wide, keys) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Decoder { width, raw, squeeze, form, narrow, wide, keys }
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
        keys.clear();
        self.open(block, file, offset)?;
        self.block().write(self.width, keys);
        Ok(())
    }

    /// [`decode`](Decoder::decode), leaving the keys in their own form: [`Decoder::block`] has
    /// them, or nothing if this fails.
    pub(crate) fn open(&mut self, block: &[u8], file: &str, offset: u64) -> Result<()> {
        self.open_or_why(block).map_err(|what| {
            self.close();
            Error::corrupt(file, offset, format!("a block of keys: {what}"))
        })
    }

    /// Forgets the keys.
    pub(crate) fn close(&mut self) {
        self.form = Form::Keys;
        self.keys.clear();
    }

    /// The keys decoded last.
    pub(crate) fn block(&self) -> Block<'_> {
        match self.form {
            Form::Narrow => Block::Narrow(&self.squeeze, &self.narrow),
            Form::Wide => Block::Wide(&self.squeeze, &self.wide),
            Form::Keys => Block::Keys(&self.keys),
        }
    }

    fn open_or_why(&mut self, block: &[u8]) -> std::result::Result<(), String> {
        let header = Header::read(self.width, block)?;
        let stored = &block[HEADER..];
        self.raw.resize(header.raw_length.max(self.raw.len()), 0);
        let raw = &mut self.raw[..header.raw_length];
        if header.compressed {
            if decompress(stored, raw) != Some(header.raw_length) {
                return Err("it does not decompress to the length recorded".into());
            }
        } else {
            raw.copy_from_slice(stored);
        }
        if header.code == CODE_SHARED {
            self.form = Form::Keys;
            self.keys.resize(header.count * self.width, 0);
            return read_shared(Wide(self.width), raw, &mut self.keys);
        }
        // The header says that there is room for them.
        let (gaps, ends) = raw.split_at(raw.len() - 2 * self.width);
        let (varying, first) = ends.split_at(self.width);
        self.squeeze = Squeeze::new(first, varying);
        let Header { count, entries, gap_bytes, .. } = header;
        let (squeeze, bits) = (&self.squeeze, self.squeeze.bits());
        match bits {
            _ if gap_bytes > bits.div_ceil(8).max(1) as usize => {
                Err("its gaps are longer than its keys".into())
            }
            0..=64 => {
                self.form = Form::Narrow;
                sum_gaps(squeeze, first, gaps, (count, entries, gap_bytes), &mut self.narrow)
            }
            65..=SQUEEZED_BITS_MAX => {
                self.form = Form::Wide;
                sum_gaps(squeeze, first, gaps, (count, entries, gap_bytes), &mut self.wide)
            }
            _ => Err(format!("its keys vary in {bits} bits")),
        }
    }
}

impl Block<'_> {
    /// The number of keys.
    pub(crate) fn count(&self, width: usize) -> usize {
        match self {
            Block::Narrow(_, values) => values.len(),
            Block::Wide(_, values) => values.len(),
            Block::Keys(keys) => keys.len() / width,
        }
    }

    /// Appends the keys to `out`.
    pub(crate) fn write(&self, width: usize, out: &mut Vec<u8>) {
        self.write_some(0..self.count(width), width, out);
    }

    /// Appends some of the keys to `out`.
    pub(crate) fn write_some(&self, some: Range<usize>, width: usize, out: &mut Vec<u8>) {
        match self {
            Block::Narrow(squeeze, values) => squeeze.append(&values[some], out),
            Block::Wide(squeeze, values) => squeeze.append(&values[some], out),
            Block::Keys(keys) => {
                out.extend_from_slice(&keys[some.start * width..some.end * width]);
            }
        }
    }
}

/// A block's header, checked.
struct Header {
    count: usize,
    entries: usize,
    code: u8,
    gap_bytes: usize,
    compressed: bool,
    raw_length: usize,
}

impl Header {
    fn read(width: usize, block: &[u8]) -> std::result::Result<Header, String> {
        if block.len() < HEADER {
            return Err(format!("{} bytes are too few for a header", block.len()));
        }
        let short = |at: usize| LittleEndian::read_u16(&block[at..]) as usize;
        let word = |at: usize| LittleEndian::read_u32(&block[at..]);
        let (expected, found) = (word(0), checksum(&block[CHECKED..]));
        if expected != found {
            return Err(format!("checksum {expected:08x} is recorded, {found:08x} is found"));
        }
        let (count, entries) = (short(4), short(6));
        if !(1..=block_keys_max(width)).contains(&count) {
            return Err(format!("it claims to hold {count} keys"));
        }
        let (code, gap_bytes) = (block[8], block[10] as usize);
        let (raw_length, stored_length) = (word(12) as usize, word(16) as usize);
        let possible = match code {
            CODE_GAPS => {
                let ends = 2 * width + count - 1 + entries * gap_bytes;
                (1..=16).contains(&gap_bytes)
                    && entries <= ENTRIES_MAX
                    && (ends..=ends + (count - 1) * gap_bytes).contains(&raw_length)
            }
            CODE_SHARED => gap_bytes == 0 && entries == 0 && raw_length <= count * (2 + width),
            _ => false,
        };
        let compressed = block[9] == STORED_ZSTD;
        let plain = block[9] == STORED_PLAIN && stored_length == raw_length;
        if !possible || !(compressed || plain) || block[11] != 0 {
            return Err("the fields of its header contradict each other".into());
        }
        if stored_length != block.len() - HEADER {
            let found = block.len() - HEADER;
            return Err(format!("{stored_length} bytes are recorded, {found} are found"));
        }
        Ok(Header { count, entries, code, gap_bytes, compressed, raw_length })
    }
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
