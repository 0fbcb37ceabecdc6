//! What a file beside the model asks of it, one thing after the other.

use crate::diag::Diagnostic;
use crate::ir::{ConditionModality, CtlFormula};
use crate::source::Span;

/// Something that is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalProperty {
    /// What it is called.
    pub name: String,
    /// What it is, or why it cannot be asked.
    pub kind: Result<ExternalPropertyKind, Diagnostic>,
    /// Where it stands.
    pub span: Span,
}

/// What that is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExternalPropertyKind {
    /// A condition on states, in the language of the model.
    Condition(ConditionModality, String),
    /// A formula of linear temporal logic, which holds for all runs.
    Runs(String),
    /// A formula of branching time, which holds in all initial states.
    Branching(CtlFormula<String>),
    /// The most that these variables come to, all their numbers added up.
    Most(Vec<String>),
}
