//! Requirements of a model that a search does not check.
//!
//! Front ends list them, so that every verdict can name them.

use spillway_base::source::Span;

/// A requirement that is not checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UncheckedRequirement {
    /// The kind of the requirement.
    pub kind: UncheckedKind,
    /// The user's name.
    pub name: String,
    /// The position in the source.
    pub span: Span,
}

/// The property that no run visits `accept` labels infinitely often: its kind and its name.
pub const ACCEPTANCE: (&str, &str) = ("acceptance", "no acceptance cycle");

/// The property that every run visits `progress` labels infinitely often.
pub const NON_PROGRESS: (&str, &str) = ("non-progress", "no non-progress cycle");

/// The kinds of unchecked requirements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UncheckedKind {
    /// A formula of linear temporal logic (Promela `ltl`).
    Formula,
    /// A never claim that was not selected (Promela).
    Claim,
    /// A label that no run may visit infinitely often (Promela `accept`).
    AcceptLabel,
    /// A label that every run must visit infinitely often (Promela `progress`).
    ProgressLabel,
    /// Reachability of a state with a condition from every state (Murphi `liveness`).
    Liveness,
    /// A process that observes the others (DVE `system async property`).
    PropertyProcess,
    /// A state that no run may visit infinitely often (DVE `accept`).
    AcceptingState,
    /// The part of a property that is neither an invariant nor about initial states or single steps (TLA+ `PROPERTY`).
    TemporalProperty,
}

impl UncheckedKind {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            UncheckedKind::Formula => "ltl",
            UncheckedKind::Claim => "never claim",
            UncheckedKind::AcceptLabel => "accept label",
            UncheckedKind::ProgressLabel => "progress label",
            UncheckedKind::Liveness => "liveness",
            UncheckedKind::PropertyProcess => "property process",
            UncheckedKind::AcceptingState => "accepting state",
            UncheckedKind::TemporalProperty => "temporal property",
        }
    }

    /// Returns the flag of `check` that checks the requirement with this name, if there is one.
    pub fn flag(self, name: &str) -> Option<String> {
        match self {
            UncheckedKind::Formula | UncheckedKind::Claim | UncheckedKind::PropertyProcess => {
                Some(format!("--ltl {name}"))
            }
            UncheckedKind::AcceptLabel | UncheckedKind::AcceptingState => {
                Some("--acceptance".to_owned())
            }
            UncheckedKind::ProgressLabel => Some("--non-progress".to_owned()),
            UncheckedKind::Liveness | UncheckedKind::TemporalProperty => None,
        }
    }

    /// Returns the prefix of the labels that mark it, if it is marked by labels.
    pub fn label(self) -> Option<&'static str> {
        match self {
            UncheckedKind::AcceptLabel | UncheckedKind::AcceptingState => Some("accept"),
            UncheckedKind::ProgressLabel => Some("progress"),
            _ => None,
        }
    }

    /// Returns the kind and the name of the property to which the requirement with this name belongs. All labels of a
    /// kind mark one property.
    pub fn property(self, name: &str) -> (&'static str, &str) {
        match self {
            UncheckedKind::AcceptLabel | UncheckedKind::AcceptingState => ACCEPTANCE,
            UncheckedKind::ProgressLabel => NON_PROGRESS,
            UncheckedKind::Claim => ("claim", name),
            _ => (self.name(), name),
        }
    }

    /// Returns whether the requirement is a property by itself, not one of several marks of a property.
    pub fn is_property_of_runs(self) -> bool {
        use UncheckedKind::{Claim, Formula, PropertyProcess};
        matches!(self, Formula | Claim | PropertyProcess)
    }
}
