//! The exploration of a model's states, breadth-first and exact.
//!
//! [`external`] is the external search: levels on disk, duplicates detected by sorted merges, bounded memory.
//! [`memory`](spillway_model::memory) is the same search in memory in a few lines, as the oracle of the tests. Neither
//! depends on the language of the model.

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
pub mod hunt;
pub mod key_order;
pub mod lasso;
mod level_states;
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
mod tagged_runs;
pub mod tasks;
pub mod trace;
mod view_store;
pub mod visited;

pub use allocator::{return_free_blocks, return_large_blocks};
pub use control::SearchControl;
pub use external::{ExternalSearch, GrowthError, SearchResources};
pub use memory_plan::{MemoryPlan, cores};
pub use spillway_model::{CheckSelection, SearchLimits, SearchOutcome, SearchVerdict};
pub use storage::{StateStorage, ViewError, check_views};

use spillway_model::{Dominance, ExpansionOutcome, ModelError, StateSpace, SuccessorSink};

/// Converts the failure of a model into an error of the store's source of keys.
pub fn model_failure(error: ModelError) -> spill::Error {
    let reason = match error {
        ModelError::Failed(reason) => reason,
        broken_off @ ModelError::BrokenOff => broken_off.into(),
    };
    spill::Error::Source { reason }
}

/// Replaces the contents of a buffer by the successors of a state.
fn collect_successors(
    model: &dyn StateSpace,
    state: &[u8],
    buffer: &mut Vec<u8>,
) -> spill::Result<ExpansionOutcome> {
    collect_expansion(model.width(), buffer, |out| model.expand(state, out))
}

/// Collects the candidates of an expansion in `buffer`, which is cleared. A state has `width` bytes.
fn collect_expansion(
    width: usize,
    buffer: &mut Vec<u8>,
    run: impl FnOnce(&mut SuccessorSink),
) -> spill::Result<ExpansionOutcome> {
    buffer.clear();
    SuccessorSink::collect(width, buffer, run).map_err(model_failure)
}

/// Converts the dominance of a model for the store.
fn store_dominance(dominance: &Dominance) -> spill::Dominance {
    spill::Dominance::new(dominance.numbers())
}
