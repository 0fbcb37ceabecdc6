//! Exploring a model's states, breadth-first and exactly.
//!
//! [`external`] is the search Spillway exists for: levels on disk, duplicates detected by sorted
//! merges, memory bounded. [`memory`](crate::model::memory) is the same search on a page, as the oracle of the tests.
//! Neither knows which language the model came from.

mod allocator;
pub mod branching;
pub mod checkpoint;
pub mod comback;
pub mod control;
pub mod estimate;
pub mod event_log;
pub mod events;
mod expand;
pub mod external;
pub mod files;
pub mod key_order;
pub mod lasso;
pub mod liveness;
pub mod memory_plan;
mod obligation_join;
mod orphan_files;
pub mod pilot;
mod projection;
pub mod scan;
mod sleep_store;
pub mod status;
pub mod storage;
pub mod store_stats;
pub mod tasks;
pub mod trace;
pub mod visited;

pub use crate::model::{CheckSelection, SearchLimits, SearchOutcome, SearchVerdict};
pub use allocator::{return_free_blocks, return_large_blocks};
pub use control::SearchControl;
pub use external::{ExternalSearch, SearchResources};
pub use memory_plan::{MemoryPlan, cores};
pub use storage::StateStorage;

use crate::model::{Dominance, ModelError};

/// The failure of a model as the search reports it: an error of whatever gives the store its keys.
pub fn model_failure(error: ModelError) -> spill::Error {
    let reason = match error {
        ModelError::Failed(reason) => reason,
        broken_off @ ModelError::BrokenOff => broken_off.into(),
    };
    spill::Error::Source { reason }
}

/// The dominance of a model as the store needs it.
fn store_dominance(dominance: &Dominance) -> spill::Dominance {
    spill::Dominance::new(dominance.numbers())
}
