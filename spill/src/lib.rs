//! Sorted runs of fixed-width keys on disk, in bounded memory.
//!
//! Each folder knows those below it, and nothing of those above:
//!
//! ```text
//! store      all keys found so far: the log of levels, runs of like size, which candidates are new
//! runs       sorted runs, in memory or on disk: sort, merge, subtract, cut into ranges
//! segments   a sorted set of keys as bytes: blocks, their index, a footer
//! codec      keys as records of other lengths
//! keys       what a key is: integers, numbers of several, the bits in which keys differ
//! values     what lies beside a key, and what becomes of two values where equal keys meet
//! disk       files: appended to, mapped, committed, counted, failing on request
//! ```

mod codec;
mod disk;
pub mod keys;
mod runs;
mod segments;
mod store;
pub mod values;

pub use codec::{Codec, Frequencies, Huffman, SavedCodec, Tables};
pub use disk::fault;
pub use disk::{
    Accept, Append, Disk, Distant, Error, FaultDisk, Format, HEAD_BYTES, Mapped, Metered, Origin,
    RealDisk, Result, Usage, checksum, commit, commit_value, free_bytes, load, load_value,
    put_value, read_committed,
};
pub use keys::hash::hash;
pub use keys::project::{Projection, SavedProjection};
pub use runs::{
    Merge, Recent, SegmentSource, SegmentSubtract, SliceSource, Source, batch_keys, drain,
    in_parallel, sort_dedup, sort_pairs, split, subtract, subtract_keys,
};
pub use segments::{
    BLOCK_BYTES, BLOCK_KEYS, Decoder, Encoder, SEGMENT_VERSION, Segment, SegmentRef, SegmentWriter,
    WIDTH_MAX, block_keys_max,
};
pub use store::{
    Apart, Candidates, Changes, FileName, FileSegment, Frontier, Levels, Part, SavedLevels,
    SavedRun, SavedShard, SavedStore, SavedValues, Settled, SettledPairs, Shard, Shares, Store,
    StoreSubtract,
};
pub use values::{Dominance, Values};
