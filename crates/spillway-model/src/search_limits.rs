//! The limits of a search.

use super::{CheckSelection, Findings, SearchOutcome, SearchVerdict, StateSpace};

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
    /// Whether hunts between levels may end the search with a violation that is deeper than its levels.
    pub hunts: bool,
}

impl Default for SearchLimits {
    fn default() -> Self {
        SearchLimits::DEFAULT
    }
}

impl SearchLimits {
    /// The default: all checks, and the end at the first violation.
    pub const DEFAULT: SearchLimits = SearchLimits {
        checks: CheckSelection::ALL,
        stop_on_violation: true,
        stop_within_level: false,
        stop_when_answered: false,
        max_states: None,
        shortest: false,
        coverage: true,
        hunts: false,
    };

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
