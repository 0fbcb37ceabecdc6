//! One block of a segment: up to [`BLOCK_KEYS`] ascending keys, gap-coded, compressed, checksummed.
//!
//! Neighbours in a sorted set of states differ by little, and mostly in the same few ways. So a block keeps only the
//! bits in which its keys vary, as integers (see `keys/squeeze.rs`). Of these it stores the differences from one to
//! the next, the *gaps*. A block of 4096 keys has some hundred different gaps. Gaps that occur again are listed in a
//! *dictionary*, and each gap is one byte, the number of its entry. Rare gaps are written out, as *literals*. The
//! input of zstd is one byte for each key instead of five or ten. Decoding is a look-up and an addition for each key,
//! without a branch. Keys ascend strictly, so a gap is stored minus one. No code is invalid, and every sum that does
//! not overflow is ascending.
//!
//! Keys that vary in more than 128 bits are front-coded, and so is a single key. For each key this stores the number
//! of leading bytes it shares with the previous key (a `u16`). The remaining bytes of each key follow after all of
//! these numbers. Before that, the writer makes smaller blocks, whose keys vary in fewer bits
//! (`BlockBatch::needs_split`).
//!
//! With a `Codec` other than gaps, keys are written as its records, in key order: the length of each, then the records
//! one after another, never compressed. The length of a record takes as many bytes as the longest possible record
//! needs, and none if all records are as long as the keys.
//!
//! The result, *raw*, is compressed by zstd, if that makes it smaller. All integers are little-endian; keys are stored
//! as given. Several integers of the same length are stored as *planes*: the low bytes of all, then the next bytes of
//! all, and so on.
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
//! A block of the three keys `00 00 00 00 01`, `.. 02` and `.. 04`, which vary in the last three bits:
//!
//! ```text
//! xx xx xx xx                  checksum
//! 03 00 | 02 00                3 keys, 2 entries
//! 00 00 01 00                  gaps, not compressed, of a byte each
//! 0e 00 00 00 | 0e 00 00 00    14 bytes raw, and as many stored
//! 00 01                        the gap of the first entry, that of the second
//! 00 01                        the entries: 1 and 2, less one each
//! 00 00 00 00 07               the bits that vary
//! 00 00 00 00 01               the first key
//! ```
//!
//! The decoder trusts no field. It checks every field against the others before it allocates or decompresses.
//! Afterwards it checks that the keys ascend and all bytes are used.

mod decoder;
mod defect;
mod encoder;
mod front_coding;
mod gaps;
mod header;
mod keys;
mod records;
mod zstd;

pub use decoder::BlockDecoder;
pub use encoder::BlockEncoder;
pub(super) use header::HEADER;
pub use header::{BLOCK_BYTES, BLOCK_KEYS, WIDTH_MAX, block_keys_max};
pub(crate) use keys::BlockKeys;
pub(crate) use records::RecordLookup;
