//! The limits and the outcome of a search.

use super::{ActionCounts, CheckSelection, Counters, Findings, StateSpace, Violation};

/// The checks of a search, and when it stops.
#[derive(Clone, Debug)]
pub struct SearchLimits {
    /// The checks that count as violations.
    pub checks: CheckSelection,
    /// Whether to stop at the end of the first level with a violation.
    pub stop_on_violation: bool,
    /// Whether to stop inside that level, at the first state in the level's order with a violation. The states after it
    /// are not expanded.
    pub stop_within_level: bool,
    /// Whether to stop at the end of the level with which all selected properties are decided.
    pub stop_when_answered: bool,
    /// The number of states with which the search stops, resumably, at the end of a level.
    pub max_states: Option<u64>,
    /// Whether a shortest counterexample is required although transitions may be postponed.
    pub shortest: bool,
    /// Whether to count the executions of each action.
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
    /// Returns whether a search may stop, since all selected properties are decided.
    pub fn are_answered(&self, model: &dyn StateSpace, findings: &Findings) -> bool {
        self.stop_when_answered && self.checks.all_decided(model, findings)
    }

    /// Returns whether a search with this outcome visited all states, so that missing findings do not exist.
    pub fn visited_all(&self, model: &dyn StateSpace, outcome: &SearchOutcome) -> bool {
        match outcome.verdict {
            // The search may have stopped early.
            _ if self.are_answered(model, &outcome.findings) => false,
            SearchVerdict::Verified => true,
            // A violated reachability property is known only after all states.
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
    /// The counters of all expanded states.
    pub counters: Counters,
    /// All findings, selected as violations or not.
    pub findings: Findings,
    /// The number of executions of each action, by its number in the executed program; empty if they were not counted.
    pub action_counts: ActionCounts,
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
