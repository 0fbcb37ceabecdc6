//! Properties in a file separate from the model.

use crate::diag::Diagnostic;
use crate::ir::{ConditionModality, CtlFormula};
use crate::source::Span;

/// A property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalProperty {
    /// The name.
    pub name: String,
    /// The property, or the reason why it is rejected.
    pub kind: Result<ExternalPropertyKind, Diagnostic>,
    /// The span in the file.
    pub span: Span,
}

/// The kinds of such properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExternalPropertyKind {
    /// A condition on states, in the language of the model.
    Condition(ConditionModality, String),
    /// A formula of linear temporal logic, which must hold for all runs.
    Runs(String),
    /// A formula of branching time, which must hold in all initial states.
    Branching(CtlFormula<String>),
    /// The maximum of the sum of all numbers in these variables.
    Most(Vec<String>),
}
