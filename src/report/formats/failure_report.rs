//! Why a search did not begin or did not end, as tools of continuous integration want it.

use crate::diag::LocatedDiagnostic;

/// A search without a verdict.
#[derive(Clone, Debug)]
pub struct FailureReport {
    /// The model's name.
    pub model: String,
    /// Why, in full.
    pub message: String,
    /// The mistakes in the model, each with its place.
    pub mistakes: Vec<LocatedDiagnostic>,
    /// The exit code.
    pub code: u8,
}

impl FailureReport {
    /// What a rule or a test is called that fails so.
    pub(super) fn id(&self) -> &'static str {
        if self.mistakes.is_empty() { "failure" } else { "mistake" }
    }

    /// The same in words.
    pub(super) fn title(&self) -> &'static str {
        match self.mistakes.is_empty() {
            true => "failure: the search comes to its end",
            false => "mistake: the model can be read",
        }
    }

    /// Why, in a line.
    pub(super) fn headline(&self) -> String {
        let first = self.message.lines().next().unwrap_or_default();
        first.strip_prefix("error: ").unwrap_or(first).to_owned()
    }
}
