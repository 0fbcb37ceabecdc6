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

/// The decision of a trial of reductions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrialOutcome {
    /// The reduction that is not used, since it does not pay.
    pub left_off: Option<ReductionRefusal>,
    /// The combinations that were compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<TriedCombination>,
    /// The number of states after which the search was restarted with this decision, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restarted_after: Option<u64>,
}

impl From<Option<ReductionRefusal>> for TrialOutcome {
    fn from(left_off: Option<ReductionRefusal>) -> TrialOutcome {
        TrialOutcome { left_off, ..TrialOutcome::default() }
    }
}

/// A combination of reductions that a trial compared with others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TriedCombination {
    /// The reductions that are used in addition to those that are used without a trial. Empty if there are none.
    pub reductions: Vec<String>,
    /// The share of states that remains of each sample.
    pub samples: Vec<f64>,
    /// The predicted share of states that remains.
    pub states: f64,
    /// The predicted work, relative to the search without these reductions.
    pub work: f64,
    /// The number of all states, if the trial explored all.
    pub complete: Option<u64>,
    /// Whether the search uses it.
    pub is_chosen: bool,
}
