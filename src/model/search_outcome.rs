//! What a search is asked and what it answers.

use super::{ActionCounts, CheckSelection, Counters, Findings, StateSpace, Violation};

/// What to check and when to stop.
#[derive(Clone, Debug)]
pub struct SearchLimits {
    /// Which checks count as violations.
    pub checks: CheckSelection,
    /// Whether to stop at the end of the first level with a violation.
    pub stop_on_violation: bool,
    /// Whether to stop inside that level, at the first state in the level's order that violates something. The states after
    /// it are not expanded.
    pub stop_within_level: bool,
    /// Whether to stop at the end of the level by which states decide each selected property.
    pub stop_when_answered: bool,
    /// Stop, resumably, at the end of the level that reaches this many states.
    pub max_states: Option<u64>,
    /// Whether a shortest counterexample is wanted although transitions may be postponed.
    pub shortest: bool,
    /// Whether to count how often each action is taken.
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
    /// Whether a search may stop, as states decide each selected property.
    pub fn are_answered(&self, model: &dyn StateSpace, findings: &Findings) -> bool {
        self.stop_when_answered && self.checks.all_decided(model, findings)
    }

    /// Whether a search with this outcome visited all states, so that what it did not find does not exist.
    pub fn visited_all(&self, model: &dyn StateSpace, outcome: &SearchOutcome) -> bool {
        match outcome.verdict {
            // It may have stopped early.
            _ if self.are_answered(model, &outcome.findings) => false,
            SearchVerdict::Verified => true,
            // That a property holds in no state is known at the end only.
            SearchVerdict::Violated => {
                !self.stop_on_violation || !self.checks.any_selected(model, &outcome.findings)
            }
            SearchVerdict::Incomplete => false,
        }
    }
}

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchOutcome {
    /// The verdict.
    pub verdict: SearchVerdict,
    /// The number of states of each level.
    pub levels: Vec<u64>,
    /// The statistics of all states expanded.
    pub counters: Counters,
    /// Everything that was found wrong, selected as a violation or not.
    pub findings: Findings,
    /// How often each action was taken, by its number in the program that was run; empty if that was not counted.
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

/// The verdict of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchVerdict {
    /// Nothing selected is violated, and every reachable state was visited, except those behind failing steps whose errors
    /// are not selected.
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
