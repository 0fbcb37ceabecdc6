//! Sorted runs: sets of ascending keys, each a slice in memory or a [`Segment`](crate::Segment).
//!
//! All operations read runs from front to back, once. So runs on disk are only read once. The parts are:
//!
//! - Sorting keys to a run (`sort.rs`), after most repeats are dropped (`recent_keys.rs`).
//! - Merging runs (`merge.rs`, `source.rs`), or in memory in the buffer of one of them (`union_in_place.rs`).
//! - Subtracting runs from candidates (`subtract.rs`).
//! - Walking through two runs of similar size in two halves at a time (`lockstep.rs`).
//! - Runs of pairs of keys and values (`pairs.rs`).
//! - Cutting the key space into ranges for several threads (`partition.rs`, `threads.rs`): a range of the result
//!   depends only on that range of each run.

mod lockstep;
mod merge;
mod pairs;
mod partition;
mod recent_keys;
mod sort;
mod source;
mod subtract;
mod threads;
mod union_in_place;

pub(crate) use merge::merge_slices;
pub use merge::{KeyMerge, batch_keys, drain};
pub(crate) use pairs::join_slice;
pub use pairs::{sort_pairs, subtract_keys};
pub(crate) use partition::KeyRange;
pub use partition::split;
pub use recent_keys::RecentKeys;
pub use sort::sort_dedup;
pub(crate) use source::sources;
pub use source::{KeySource, SegmentSource, SliceSource};
pub use subtract::{SegmentSubtract, subtract};
pub use threads::map_parallel;
pub(crate) use threads::threads_for;
pub(crate) use union_in_place::{grow, grow_bytes_max};
