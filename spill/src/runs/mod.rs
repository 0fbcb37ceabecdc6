//! Sorted runs: sets of ascending keys, each a slice in memory or a [`Segment`](crate::Segment).
//!
//! Everything here goes through runs from front to back, once, so that runs on disk cost no more than
//! reading them. Keys become a run by being sorted (`sort.rs`), after most repeats have been dropped
//! (`recent_keys.rs`); runs are merged into one (`merge.rs`, `source.rs`; in memory in the room of one of them: `union_in_place.rs`), or subtracted from candidates (`subtract.rs`).
//! Two that are about as long are walked through in two halves at a time (`lockstep.rs`).
//! A run may hold values beside its keys (`pairs.rs`).
//! For several threads the key space is cut into ranges (`partition.rs`, `threads.rs`): a range of the
//! result needs nothing but that range of each run.

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
