//! The outcome of a search.

use super::{ActionCounts, Counters, Findings, Violation};

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchOutcome {
    /// The verdict.
    pub verdict: SearchVerdict,
    /// The number of states of each level.
    pub levels: Vec<u64>,
    /// The counters of all expanded states.
    pub counters: Counters,
    /// All findings, selected as violations or not.
    pub findings: Findings,
    /// The number of executions of each action, by its number in the executed program; empty if they were not counted.
    pub action_counts: ActionCounts,
    /// The violation that a hunt between two levels found, if one ended the search. It is among the findings.
    pub hunted: Option<HuntedViolation>,
}

/// A violation that a hunt found. The search that it ended has not visited all states of smaller depth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HuntedViolation {
    /// The violated check.
    pub check: Violation,
    /// The name of the strategy of the hunt.
    pub strategy: String,
    /// The transitions of all hunts of the search.
    pub transitions: u64,
    /// The number of steps of the path before it was shortened, a failing one excluded.
    pub found_depth: u64,
    /// Whether no path of the searched system to this violation is shorter.
    pub is_shortest: bool,
}

impl SearchOutcome {
    /// Returns the number of visited states.
    pub fn states(&self) -> u64 {
        self.levels.iter().sum()
    }

    /// Returns the number of states that the model generated, with duplicates: initial states and targets of transitions.
    pub fn generated(&self) -> u64 {
        self.counters.initial + self.counters.transitions
    }

    /// Returns the number of deadlock states among those expanded.
    pub fn deadlocks(&self) -> u64 {
        self.findings.count(Violation::Deadlock)
    }
}

/// The verdict of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchVerdict {
    /// No selected check is violated, and every reachable state was visited, except those behind failing steps whose
    /// errors are not selected.
    Verified,
    /// A selected check is violated.
    Violated,
    /// The search stopped before the end and can be resumed.
    #[default]
    Incomplete,
}

impl SearchVerdict {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            SearchVerdict::Verified => "verified",
            SearchVerdict::Violated => "violated",
            SearchVerdict::Incomplete => "incomplete",
        }
    }
}
