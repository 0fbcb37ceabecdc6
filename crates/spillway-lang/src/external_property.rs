//! Properties in a file separate from the model.

use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use spillway_ir::ConditionModality;
use spillway_model::CtlFormula;

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
