//! Sorted runs of fixed-width keys on disk, in bounded memory.
//!
//! Each folder uses only those below it:
//!
//! ```text
//! store      all keys found so far: the log of levels, runs of like size, which candidates are new
//! runs       sorted runs, in memory or on disk: sort, merge, subtract, cut into ranges
//! segments   a sorted set of keys as bytes: blocks, their index, a footer
//! codec      keys as records of other lengths
//! keys       the forms of keys: integers, tuples of numbers, the bits in which keys differ
//! values     the values of keys, and the operators that combine the values of equal keys
//! disk       files: appended to, mapped, committed, counted, failing on request
//! ```

mod codec;
mod disk;
pub mod keys;
mod runs;
mod segments;
mod store;
pub mod values;

pub use codec::{ByteFrequencies, Codec, HuffmanCode, HuffmanTables, SavedCodec};
pub use disk::fault;
pub use disk::{
    AppendFile, Disk, DiskUsage, Error, FaultDisk, HEAD_BYTES, HeadCheck, MappedBytes, MeteredDisk,
    PayloadFormat, RealDisk, RemoteDisk, RemoteOrigin, Result, checksum, commit, commit_value,
    free_bytes, load, load_value, put_value, read_committed,
};
pub use keys::hash::hash;
pub use keys::project::{Projection, SavedProjection};
pub use runs::{
    KeyMerge, KeySource, RecentKeys, SegmentSource, SegmentSubtract, SliceSource, batch_keys,
    drain, map_parallel, sort_dedup, sort_pairs, split, subtract, subtract_keys,
};
pub use segments::{
    BLOCK_BYTES, BLOCK_KEYS, BlockDecoder, BlockEncoder, SEGMENT_VERSION, Segment, SegmentRef,
    SegmentWriter, WIDTH_MAX, block_keys_max,
};
pub use store::{
    Candidates, FileName, FileSegment, Frontier, KeyPartition, LevelFormat, LevelLog, LevelShard,
    PartitionWorker, SavedLevels, SavedRun, SavedShard, SavedStore, SavedValues, SettleOutcome,
    SettledPairs, Store, StoreBudget, StoreSubtract, ValueChanges,
};
pub use values::{Dominance, ValueSpec};
