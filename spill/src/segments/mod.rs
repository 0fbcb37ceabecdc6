//! Segments: immutable sorted sets of keys on disk.
//!
//! A segment is blocks of ascending keys (see `block/`), an index of them (`index.rs`), and a footer (`footer.rs`). It
//! takes a range of a file. A file may hold many segments, one after another, as an append-only log; every offset in a
//! segment is relative to its start. All integers are little-endian.
//!
//! ```text
//! blocks   one after another, without gaps
//! index    for each block:  first key: width | offset: 8 | keys: 4
//! footer   offset  bytes  field
//!               0      8  "SPILLSEG"
//!               8      4  format version
//!              12      2  width of a key, its value included
//!              14      2  bytes of a value, 0 if there are none
//!              16      8  keys
//!              24      8  blocks
//!              32      8  length of the segment, this footer included
//!              40      4  checksum of the index
//!              44      4  checksum of the 44 bytes before
//! ```
//!
//! A segment of the three keys `00 00 00 00 01`, `.. 02` and `.. 04`:
//!
//! ```text
//! xx xx xx xx 03 00 .. 01                       their block, of 34 bytes
//! 00 00 00 00 01                                its first key
//! 00 00 00 00 00 00 00 00 | 03 00 00 00         its offset, its keys
//! 53 50 49 4c 4c 53 45 47                       SPILLSEG
//! 02 00 00 00 | 05 00 | 00 00                   version, width, no values
//! 03 00 00 00 00 00 00 00                       keys
//! 01 00 00 00 00 00 00 00                       blocks
//! 63 00 00 00 00 00 00 00                       34 bytes of blocks, 17 of the index, 48 of this
//! xx xx xx xx | xx xx xx xx                     checksums
//! ```
//!
//! Segments are written front to back (`writer.rs`), opened for access to any block (`segment.rs`), and read block
//! after block by readers that release pages (`reader.rs`).

mod block;
mod footer;
mod index;
mod reader;
mod segment;
#[cfg(test)]
mod tests;
mod writer;

pub use block::{BLOCK_BYTES, BLOCK_KEYS, BlockDecoder, BlockEncoder, WIDTH_MAX, block_keys_max};
pub(crate) use block::{BlockKeys, RecordLookup};
pub use footer::{SEGMENT_VERSION, SegmentRef};
pub(crate) use reader::BlockReader;
pub use segment::Segment;
pub use writer::SegmentWriter;
pub(crate) use writer::SmallSegmentWriter;
