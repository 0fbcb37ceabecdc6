//! Exploring a model's states, breadth-first and exactly.
//!
//! [`external`] is the search Spillway exists for: levels on disk, duplicates detected by sorted
//! merges, memory bounded. [`memory`] is the same search on a page, as the oracle of the tests.
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
pub mod memory;
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

pub use crate::exec::CheckSelection;
pub use allocator::{return_free_blocks, return_large_blocks};
pub use control::SearchControl;
pub use external::{ExternalSearch, SearchResources};
pub use memory_plan::{MemoryPlan, cores};
pub use storage::StateStorage;

use crate::exec::{ActionCounts, Counters, Findings, StateSpace, Violation};

/// What to look for and when to stop.
#[derive(Clone, Debug)]
pub struct SearchLimits {
    /// Which checks count as violations.
    pub checks: CheckSelection,
    /// Whether to stop at the end of the first level with a violation.
    pub stop_on_violation: bool,
    /// Whether it stops inside that level then: with the first state in the level's order that violates something. The
    /// states behind it are not expanded.
    pub stop_within_level: bool,
    /// Whether to stop at the end of the level by which there is a state for or against each property of states.
    pub stop_when_answered: bool,
    /// Stop, resumably, at the end of the level that reaches this many states.
    pub max_states: Option<u64>,
    /// Whether a shortest counterexample is wanted, though steps may be put off.
    pub shortest: bool,
    /// Whether it is counted how often each action is taken.
    pub coverage: bool,
}

impl Default for SearchLimits {
    fn default() -> Self {
        let checks = CheckSelection::default();
        SearchLimits {
            checks,
            stop_on_violation: true,
            stop_within_level: false,
            stop_when_answered: false,
            max_states: None,
            shortest: false,
            coverage: true,
        }
    }
}

impl SearchLimits {
    /// Whether a search may stop, as there is a state for or against each property of states.
    pub fn are_answered(&self, model: &dyn StateSpace, findings: &Findings) -> bool {
        self.stop_when_answered && self.checks.all_decided(model, findings)
    }

    /// Whether a search with this outcome visited all states, so that what it did not find is not there.
    pub fn visited_all(&self, model: &dyn StateSpace, outcome: &SearchOutcome) -> bool {
        match outcome.verdict {
            // It may have ended before.
            _ if self.are_answered(model, &outcome.findings) => false,
            SearchVerdict::Verified => true,
            // What should be in some state, and is in none, is known at the end only.
            SearchVerdict::Violated => {
                !self.stop_on_violation || !self.checks.any_selected(model, &outcome.findings)
            }
            SearchVerdict::Incomplete => false,
        }
    }
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchOutcome {
    /// The answer.
    pub verdict: SearchVerdict,
    /// The number of states of each level.
    pub levels: Vec<u64>,
    /// The statistics of all states expanded.
    pub counters: Counters,
    /// All that was found wrong, selected as a violation or not.
    pub findings: Findings,
    /// How often each action was taken, by its number in the program that was run; where that was not counted, not at all.
    pub action_counts: ActionCounts,
}

impl SearchOutcome {
    /// The number of states found.
    pub fn states(&self) -> u64 {
        self.levels.iter().sum()
    }

    /// The number of deadlock states among those expanded.
    pub fn deadlocks(&self) -> u64 {
        self.findings.count(Violation::Deadlock)
    }
}

/// The answer of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchVerdict {
    /// Nothing selected is violated, and every reachable state was visited but those behind steps that
    /// end in errors that are not selected.
    Verified,
    /// Something selected is violated.
    Violated,
    /// The search stopped before the end and can be resumed.
    #[default]
    Incomplete,
}

impl SearchVerdict {
    /// As reports call it.
    pub fn name(self) -> &'static str {
        match self {
            SearchVerdict::Verified => "verified",
            SearchVerdict::Violated => "violated",
            SearchVerdict::Incomplete => "incomplete",
        }
    }
}
