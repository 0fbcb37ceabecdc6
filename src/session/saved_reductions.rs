//! The decisions on reductions, as a search directory stores them.

use crate::model::TrialOutcome;
use crate::reduce::ReductionSelection;

/// The reductions of a directory's search.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct SavedReductions {
    /// The reductions. They may be provisional, see `is_undecided`.
    pub(super) selection: ReductionSelection,
    /// Whether the first states have still to decide about further reductions.
    pub(super) is_undecided: bool,
    /// The outcome of the trial that decided them.
    #[serde(flatten)]
    pub(super) trial: TrialOutcome,
}

impl SavedReductions {
    /// Returns the JSON that a job stores.
    pub(super) fn saved(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|error| unreachable!("reductions: {error}"))
    }
}
