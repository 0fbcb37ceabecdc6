//! Sorted sets of keys as bytes on a disk, written once, and read block by block.
//!
//! A [`Segment`] is a range of a file: blocks of some thousand keys, an index of the blocks and a footer
//! (`segment.rs`). A block is as small as what its keys have in common allows (`block/`). Whoever reads
//! many blocks in a row gives back the pages that are behind (`reader.rs`).

mod block;
mod reader;
mod segment;

pub use block::{BLOCK_BYTES, BLOCK_KEYS, Decoder, Encoder, WIDTH_MAX, block_keys_max};
pub(crate) use block::{Block, Sought};
pub(crate) use reader::BlockReader;
pub use segment::{SEGMENT_VERSION, Segment, SegmentRef, SegmentWriter};
