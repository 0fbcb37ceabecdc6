//! The ways in which code may fail.

/// The kinds of run-time errors that code may cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FailureKinds {
    /// Whether an assertion of the model may fail.
    pub assertion: bool,
    /// Whether any other error may occur: an index, a value or a count out of range, a zero divisor, an undefined
    /// value, an exceeded limit, an error statement.
    pub other: bool,
}

impl FailureKinds {
    /// Any error except a failed assertion.
    pub const OTHER: FailureKinds = FailureKinds { assertion: false, other: true };

    /// Returns whether any error is possible.
    pub fn any(self) -> bool {
        self.assertion || self.other
    }

    /// Adds the failures of other code.
    pub fn join(&mut self, other: FailureKinds) {
        self.assertion |= other.assertion;
        self.other |= other.other;
    }
}
