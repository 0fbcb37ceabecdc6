//! The failure of a search as a report for continuous integration.

use crate::diag::LocatedDiagnostic;

/// A search without a verdict.
#[derive(Clone, Debug)]
pub struct FailureReport {
    /// The model's name.
    pub model: String,
    /// The whole error message.
    pub message: String,
    /// The errors in the model, each with its position.
    pub mistakes: Vec<LocatedDiagnostic>,
    /// The exit code.
    pub code: u8,
}

impl FailureReport {
    /// Returns the identifier of the rule or the test that fails.
    pub(super) fn id(&self) -> &'static str {
        if self.mistakes.is_empty() { "failure" } else { "mistake" }
    }

    /// Returns the title of the rule or the test that fails.
    pub(super) fn title(&self) -> &'static str {
        match self.mistakes.is_empty() {
            true => "failure: the search comes to its end",
            false => "mistake: the model can be read",
        }
    }

    /// Returns the error message as one line.
    #[cfg(feature = "junit")]
    pub(super) fn headline(&self) -> String {
        let first = self.message.lines().next().unwrap_or_default();
        first.strip_prefix("error: ").unwrap_or(first).to_owned()
    }
}
