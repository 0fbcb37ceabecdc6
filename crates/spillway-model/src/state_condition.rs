//! Conditions on states that are checked in addition to the properties of the model.

use serde::{Deserialize, Serialize};

/// The states in which a condition must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConditionModality {
    /// Every state: an invariant.
    Always,
    /// Some state: a reachability goal.
    Sometimes,
    /// Each state that has successors: a constraint. A state in which it does not hold is checked, and not expanded.
    Within,
}

impl ConditionModality {
    /// Returns the name in reports: `invariant`, `cover`, `constraint`.
    pub const fn name(self) -> &'static str {
        match self {
            ConditionModality::Always => "invariant",
            ConditionModality::Sometimes => "cover",
            ConditionModality::Within => "constraint",
        }
    }
}

/// A condition on states that is checked in addition to the properties of the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct StateCondition {
    /// The states in which the condition must hold.
    pub holds: ConditionModality,
    /// The name in reports; its text if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// An expression of the model's language.
    pub text: String,
    /// Whether it only watches an expression, which messages then call so.
    #[serde(skip)]
    pub watches: bool,
}

impl StateCondition {
    /// Creates a condition without a name.
    pub fn new(holds: ConditionModality, text: impl Into<String>) -> StateCondition {
        StateCondition { holds, name: None, text: text.into(), watches: false }
    }

    /// Returns the name of its text in messages: `invariant`, or `cover NAME`, or `expression`.
    pub fn source_name(&self) -> String {
        if self.watches {
            return "expression".to_owned();
        }
        let modality = self.holds.name();
        self.name.as_ref().map_or(modality.to_owned(), |name| format!("{modality} {name}"))
    }
}
