//! What a model asks for that no search looks for.
//!
//! Front ends name it here, beside what is searched for, so that no verdict can be told without it.

use crate::source::Span;

/// One thing that a model asks for and that is not looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UncheckedRequirement {
    /// What sort of thing.
    pub kind: UncheckedKind,
    /// The user's name for it.
    pub name: String,
    /// Where it stands in the source.
    pub span: Span,
}

/// The property that no run passes `accept` labels again and again: its kind, and what it is called.
pub const ACCEPTANCE: (&str, &str) = ("acceptance", "no acceptance cycle");

/// The property that every run passes `progress` labels again and again.
pub const NON_PROGRESS: (&str, &str) = ("non-progress", "no non-progress cycle");

/// The sorts of what is not looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UncheckedKind {
    /// A formula of linear temporal logic (Promela `ltl`).
    Formula,
    /// A never claim that was not chosen (Promela).
    Claim,
    /// Whether a run passes a label again and again that it must not (Promela `accept`).
    AcceptLabel,
    /// Whether a run passes such a label again and again (Promela `progress`).
    ProgressLabel,
    /// Whether a state where a condition holds can be reached from every state (Murphi `liveness`).
    Liveness,
    /// A process that watches the others (DVE `system async property`).
    PropertyProcess,
    /// Whether a run is in a state again and again (DVE `accept`).
    AcceptingState,
}

impl UncheckedKind {
    /// As reports call it.
    pub fn name(self) -> &'static str {
        match self {
            UncheckedKind::Formula => "ltl",
            UncheckedKind::Claim => "never claim",
            UncheckedKind::AcceptLabel => "accept label",
            UncheckedKind::ProgressLabel => "progress label",
            UncheckedKind::Liveness => "liveness",
            UncheckedKind::PropertyProcess => "property process",
            UncheckedKind::AcceptingState => "accepting state",
        }
    }

    /// The flag of `check` by which one of this name is looked for, if there is such a flag.
    pub fn flag(self, name: &str) -> Option<String> {
        match self {
            UncheckedKind::Formula | UncheckedKind::Claim | UncheckedKind::PropertyProcess => {
                Some(format!("--ltl {name}"))
            }
            UncheckedKind::AcceptLabel | UncheckedKind::AcceptingState => {
                Some("--acceptance".to_owned())
            }
            UncheckedKind::ProgressLabel => Some("--non-progress".to_owned()),
            UncheckedKind::Liveness => None,
        }
    }

    /// How the labels begin that mark it, if labels do.
    pub fn label(self) -> Option<&'static str> {
        match self {
            UncheckedKind::AcceptLabel | UncheckedKind::AcceptingState => Some("accept"),
            UncheckedKind::ProgressLabel => Some("progress"),
            _ => None,
        }
    }

    /// The kind and the name of the property that one of this name is, or belongs to: labels of a kind mark one property.
    pub fn property(self, name: &str) -> (&'static str, &str) {
        match self {
            UncheckedKind::AcceptLabel | UncheckedKind::AcceptingState => ACCEPTANCE,
            UncheckedKind::ProgressLabel => NON_PROGRESS,
            UncheckedKind::Claim => ("claim", name),
            _ => (self.name(), name),
        }
    }

    /// Whether it is a property that runs may violate as it stands, not a mark of which several make one.
    pub fn is_property_of_runs(self) -> bool {
        use UncheckedKind::{Claim, Formula, PropertyProcess};
        matches!(self, Formula | Claim | PropertyProcess)
    }
}
