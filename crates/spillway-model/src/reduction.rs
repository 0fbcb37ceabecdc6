//! The reductions of a search as reports show them.

use super::{NotApplied, PreservedProperties};
use serde::{Deserialize, Serialize};

/// A reduction as reports print it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReductionSummary {
    /// The name.
    pub name: String,
    /// The preserved properties.
    pub preserves: PreservedProperties,
    /// The effect in the search.
    pub effect: Option<String>,
    /// The cycle proviso, if transitions are postponed.
    pub proviso: Option<&'static str>,
    /// Whether each executable action is still executed.
    pub keeps_all_actions: bool,
    /// Whether the model itself demands it. No flag turns it off.
    pub is_of_model: bool,
}

/// A reduction that was requested or tried and is not applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReductionRefusal {
    /// The names of its table entries.
    pub reductions: Vec<String>,
    /// The name in reports.
    pub name: String,
    /// The reason.
    pub reason: NotApplied,
}
