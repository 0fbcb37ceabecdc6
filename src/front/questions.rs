//! What a file beside the model asks of it, one thing after the other.

use crate::diag::Diagnostic;
use crate::ir::{Branching, Holds};
use crate::source::Span;

/// Something that is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// What it is called.
    pub name: String,
    /// What it is, or why it cannot be asked.
    pub asks: Result<Asks, Diagnostic>,
    /// Where it stands.
    pub span: Span,
}

/// What that is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asks {
    /// A condition on states, in the language of the model.
    Condition(Holds, String),
    /// A formula of linear temporal logic, which holds for all runs.
    Runs(String),
    /// A formula of branching time, which holds in all initial states.
    Branching(Branching<String>),
    /// The most that these variables come to, all their numbers added up.
    Most(Vec<String>),
}
