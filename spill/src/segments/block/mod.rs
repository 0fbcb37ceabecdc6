//! One block of a segment: up to [`BLOCK_KEYS`] ascending keys, gap-coded, compressed, checksummed.
//!
//! Neighbours in a sorted set of states differ by little, and mostly in the same few ways. So a
//! block keeps the bits in which its keys vary, as integers (see `keys/squeeze.rs`), and of these the
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
//! With a [`Codec`] other than gaps, keys are written as its records instead, in key order: the
//! length of each, then one record behind the other, never compressed. The length of a record takes
//! as many bytes as the longest possible one needs, and none where all are as long as the keys.
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
//!      8      1  code: 0 gaps, 1 shared prefixes; records: 2 raw, 3 run-length, 4 Huffman
//!      9      1  compression: 0 none, 1 zstd
//!     10      1  gap bytes: 1 to 16; 0 for shared prefixes; of records, bytes of a length
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
//! raw, records:          keys * bytes of a length: lengths | the records
//! ```
//!
//! The decoder believes nothing: it checks every field against the others before it allocates or
//! decompresses, and that the keys ascend and the bytes are used up after.

mod gaps;
mod records;

pub(crate) use records::{Records, Sought};

use crate::codec::Codec;
use crate::disk::{Error, Result, checksum};
use crate::keys::{PACKED_WIDTH_MAX, Projection, Shape, Squeeze, Wide, is_ascending};
use byteorder::{ByteOrder, LittleEndian};
use gaps::{ENTRIES_MAX, Gaps, sum_gaps};
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;
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

/// What is wrong with a block whose keys vary where no key of the search does.
const STRANGE: &str = "its keys vary in bits in which no key of the search does";

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
    records: Records,
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
        let (narrow, wide, records) = (Gaps::default(), Gaps::default(), Records::default());
        let (raw, stored) = (Vec::new(), Vec::new());
        Encoder { width, raw, stored, narrow, wide, records, compresses: true }
    }

    /// Writes keys as `codec` does.
    pub fn coded(mut self, codec: &Codec) -> Self {
        self.records.codec = codec.clone();
        self
    }

    /// Leaves out the compression, for blocks that are soon read once and gone.
    pub fn uncompressed(self) -> Self {
        Encoder { compresses: false, ..self }
    }

    /// Bytes of the keys that it is given: of projected ones, if its codec has them projected.
    pub(crate) fn key_width(&self) -> usize {
        self.records.codec.key_width(self.width)
    }

    /// On what those keys are projected, if they are.
    pub(crate) fn projection(&self) -> Option<&Arc<Projection>> {
        self.records.codec.projection()
    }

    /// Whether `keys` had better be encoded as two blocks, because they vary in too many bits.
    pub fn wants_fewer(&self, keys: &[u8]) -> bool {
        let width = self.key_width();
        self.records.codec.number().is_none()
            && width > PACKED_WIDTH_MAX
            && keys.len() / width > HALVED_KEYS_MIN
            && Squeeze::of(width, keys).bits() > SQUEEZED_BITS_MAX
    }

    /// Appends the block of `keys`, ascending, at least one and at most [`block_keys_max`], to
    /// `out`.
    pub fn encode(&mut self, keys: &[u8], out: &mut Vec<u8>) {
        let width = self.key_width();
        let count = keys.len() / width;
        assert!((1..=block_keys_max(self.width)).contains(&count), "a block of {count} keys");
        debug_assert!(is_ascending(width, keys));
        self.raw.clear();
        if let Some(code) = self.records.codec.number() {
            let bytes = length_bytes(&self.records.codec, self.width);
            self.records.encode(self.width, keys);
            write_records(&self.records, bytes, &mut self.raw);
            return append_block(
                out,
                (count, 0),
                (code, STORED_PLAIN, bytes),
                &self.raw,
                &self.raw,
            );
        }
        let squeeze = Squeeze::of(width, keys);
        let projection = self.records.codec.projection();
        let (code, entries, gap_bytes) = match (squeeze.bits(), projection) {
            (0..=64, _) => self.narrow.write(&squeeze, keys, &mut self.raw),
            (65..=SQUEEZED_BITS_MAX, _) => self.wide.write(&squeeze, keys, &mut self.raw),
            (_, None) => write_shared(Wide(self.width), keys, &mut self.raw),
            (_, Some(projection)) => {
                let mut whole = Vec::new();
                projection.lift(keys, &mut whole);
                write_shared(Wide(self.width), &whole, &mut self.raw)
            }
        };
        if code == CODE_GAPS {
            match projection {
                None => {
                    self.raw.extend_from_slice(&squeeze.varying());
                    self.raw.extend_from_slice(&keys[..width]);
                }
                Some(projection) => {
                    self.raw.extend_from_slice(&projection.lift_mask(&squeeze.varying()));
                    projection.lift(&keys[..width], &mut self.raw);
                }
            }
        }
        let compressed = match self.compresses {
            true => compress(&self.raw, &mut self.stored),
            false => None,
        };
        let (compression, stored) = match compressed {
            Some(length) => (STORED_ZSTD, &self.stored[..length]),
            None => (STORED_PLAIN, self.raw.as_slice()),
        };
        append_block(out, (count, entries), (code, compression, gap_bytes), &self.raw, stored);
    }
}

/// Appends a block: keys and entries of its dictionary; code, compression and bytes of a gap; what
/// is stored of the raw bytes.
fn append_block(
    out: &mut Vec<u8>,
    (count, entries): (usize, usize),
    (code, compression, gap_bytes): (u8, u8, usize),
    raw: &[u8],
    stored: &[u8],
) {
    let mut header = [0; HEADER];
    LittleEndian::write_u16(&mut header[4..], count as u16);
    LittleEndian::write_u16(&mut header[6..], entries as u16);
    header[8] = code;
    header[9] = compression;
    header[10] = gap_bytes as u8;
    LittleEndian::write_u32(&mut header[12..], raw.len() as u32);
    LittleEndian::write_u32(&mut header[16..], stored.len() as u32);
    let start = out.len();
    out.extend_from_slice(&header);
    out.extend_from_slice(stored);
    let sum = checksum(&out[start + CHECKED..]);
    LittleEndian::write_u32(&mut out[start..], sum);
}

/// Bytes of the length of a record.
fn length_bytes(codec: &Codec, width: usize) -> usize {
    match codec.record_bytes_max(width) {
        _ if matches!(codec, Codec::Raw) => 0,
        0..=0xff => 1,
        0x100..=0xffff => 2,
        _ => 3,
    }
}

/// Writes records into `raw`, which is empty.
fn write_records(records: &Records, length_bytes: usize, raw: &mut Vec<u8>) {
    for at in 0..records.len() {
        raw.extend_from_slice(&(records.get(at).len() as u32).to_le_bytes()[..length_bytes]);
    }
    raw.extend_from_slice(&records.bytes);
}

/// Reads the records of a block from `raw`, as far as telling them apart goes.
fn read_records(raw: &[u8], header: &Header, width: usize, records: &mut Records) -> Option<()> {
    let (lengths, bytes) = raw.split_at_checked(header.count * header.gap_bytes)?;
    records.ends.clear();
    if header.gap_bytes == 0 {
        records.ends.extend((1..=header.count).map(|key| (key * width) as u32));
    } else {
        let mut end = 0u32;
        records.ends.extend(lengths.chunks_exact(header.gap_bytes).map(|length| {
            end = end.saturating_add(LittleEndian::read_uint(length, length.len()) as u32);
            end
        }));
    }
    records.bytes.clear();
    records.bytes.extend_from_slice(bytes);
    (records.ends.last() == Some(&(bytes.len() as u32))).then_some(())
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
    records: Records,
}

/// As what the keys decoded last lie in a [`Decoder`].
#[derive(Clone, Copy, Debug)]
enum Form {
    Narrow,
    Wide,
    Keys,
    Records,
}

/// The keys of a block in the form in which it holds them, ascending.
pub(crate) enum Block<'a> {
    /// Squeezed to 64 bits.
    Narrow(&'a Squeeze, &'a [u64]),
    /// Squeezed to 128 bits.
    Wide(&'a Squeeze, &'a [u128]),
    /// As they are.
    Keys(&'a [u8]),
    /// As records.
    Records(&'a Records),
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
        let records = Records::default();
        Decoder { width, raw, squeeze, form, narrow, wide, keys, records }
    }

    /// Reads keys that `codec` has written.
    pub fn coded(mut self, codec: &Codec) -> Self {
        self.set_codec(codec);
        self
    }

    pub(crate) fn set_codec(&mut self, codec: &Codec) {
        self.records.codec = codec.clone();
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
        self.unseal(file, offset)?;
        self.block().write(self.records.codec.key_width(self.width), keys);
        Ok(())
    }

    /// Turns records into keys, if the block that lies at `offset` in `file` has records.
    pub(crate) fn unseal(&mut self, file: &str, offset: u64) -> Result<()> {
        if !matches!(self.form, Form::Records) {
            return Ok(());
        }
        self.close();
        let (width, records) = (self.width, &self.records);
        let intact = (0..records.len()).all(|at| records.decode(at, width, &mut self.keys));
        if intact && is_ascending(width, &self.keys) {
            return Ok(());
        }
        self.close();
        let what = "a block of keys: its records are not of ascending keys";
        Err(Error::corrupt(file, offset, what))
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
            Form::Records => Block::Records(&self.records),
        }
    }

    fn open_or_why(&mut self, block: &[u8]) -> std::result::Result<(), String> {
        let header = Header::read(self.width, &self.records.codec, block)?;
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
        if self.records.codec.number().is_some() {
            self.form = Form::Records;
            let read = read_records(raw, &header, self.width, &mut self.records);
            return read.ok_or("the lengths of its records do not add up".into());
        }
        let projection = self.records.codec.projection();
        if header.code == CODE_SHARED {
            self.form = Form::Keys;
            self.keys.resize(header.count * self.width, 0);
            read_shared(Wide(self.width), raw, &mut self.keys)?;
            let Some(projection) = projection else { return Ok(()) };
            let (whole, mut strangers) = (std::mem::take(&mut self.keys), Vec::new());
            projection.project(&whole, &mut self.keys, &mut strangers);
            return if strangers.is_empty() { Ok(()) } else { Err(STRANGE.into()) };
        }
        // The header says that there is room for them.
        let (gaps, ends) = raw.split_at(raw.len() - 2 * self.width);
        let (varying, first) = ends.split_at(self.width);
        let projected = match projection {
            None => None,
            Some(projection) if projection.keeps(varying) && projection.knows(first) => {
                Some((projection.pick(varying), projection.pick(first)))
            }
            Some(_) => return Err(STRANGE.into()),
        };
        let (varying, first) =
            projected.as_ref().map_or((varying, first), |(varying, first)| (varying, first));
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
            Block::Records(records) => records.len(),
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
            Block::Records(records) => {
                some.for_each(|at| {
                    // Where keys are believed, records are unsealed before, and this is not met.
                    records.decode(at, width, out);
                });
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
    fn read(width: usize, codec: &Codec, block: &[u8]) -> std::result::Result<Header, String> {
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
        let written = if code <= CODE_SHARED { None } else { Some(code) };
        if written != codec.number() {
            return Err(format!("code {code} is not of the codec `{}`", codec.name()));
        }
        let possible = match code {
            _ if written.is_some() => {
                let longest = gap_bytes + codec.record_bytes_max(width);
                gap_bytes == length_bytes(codec, width)
                    && entries == 0
                    && block[9] == STORED_PLAIN
                    && (count * gap_bytes..=count * longest).contains(&raw_length)
            }
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

/// The number of leading bytes in which two slices agree.
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let (a8, b8) = (a.as_chunks::<8>().0, b.as_chunks::<8>().0);
    let words = a8.iter().zip(b8).take_while(|(a, b)| a == b).count();
    let start = 8 * words;
    start + a[start..].iter().zip(&b[start..]).take_while(|(a, b)| a == b).count()
}
