//! How code may fail.

/// The run-time errors that code may meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FailureKinds {
    /// An assertion of the model's does not hold.
    pub assertion: bool,
    /// Any other: an index, a value or a count out of range, a zero divisor, an undefined value, a
    /// limit, an error statement.
    pub other: bool,
}

impl FailureKinds {
    /// Anything but an assertion.
    pub const OTHER: FailureKinds = FailureKinds { assertion: false, other: true };

    /// Whether there may be any.
    pub fn any(self) -> bool {
        self.assertion || self.other
    }

    /// Adds those of other code.
    pub fn join(&mut self, other: FailureKinds) {
        self.assertion |= other.assertion;
        self.other |= other.other;
    }
}
