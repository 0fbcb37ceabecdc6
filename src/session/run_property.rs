//! Temporal properties, as a configuration and a search directory store them.

use crate::model::CheckSelection;
use crate::search::SearchLimits;
use rkyv::{Archive, Deserialize, Serialize};
use std::path::PathBuf;

/// The fairness assumption: which runs are checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fairness {
    /// All runs.
    #[default]
    None,
    /// Weakly fair runs: a process that is always enabled from some point on moves infinitely often.
    Weak,
}

impl Fairness {
    /// Returns the name in flags and reports.
    pub fn name(self) -> &'static str {
        match self {
            Fairness::None => "none",
            Fairness::Weak => "weak",
        }
    }
}

/// A temporal property, as a search stores it.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub enum SavedProperty {
    /// A formula, or the name of a property of the model.
    Formula(String),
    /// The name and the text of a file with an automaton that accepts the violating runs.
    Automaton(String, String),
    /// No acceptance cycle: no run passes `accept` labels of processes infinitely often.
    Accept,
    /// No non-progress cycle: every infinite run passes `progress` labels infinitely often.
    Progress,
}

impl SavedProperty {
    /// Returns the flag that requests the property.
    pub fn flag(&self) -> &'static str {
        match self {
            SavedProperty::Formula(_) => "--ltl",
            SavedProperty::Automaton(..) => "--automaton",
            SavedProperty::Accept => "--acceptance",
            SavedProperty::Progress => "--non-progress",
        }
    }
}

/// Returns the limits of the reachability search of a product. It checks only whether the automaton accepts every
/// continuation.
pub(super) fn product_limits(max_states: Option<u64>) -> SearchLimits {
    let checks = CheckSelection { claims: true, ..CheckSelection::NONE };
    SearchLimits { checks, max_states, ..SearchLimits::default() }
}

/// A temporal property, as a configuration selects it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunProperty {
    /// A formula, or the name of a property of the model.
    Formula(String),
    /// A file with an automaton that accepts the violating runs.
    Automaton(PathBuf),
    /// No acceptance cycle.
    Acceptance,
    /// No non-progress cycle.
    NonProgress,
}
