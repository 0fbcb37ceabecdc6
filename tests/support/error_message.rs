//! The error of a helper whose callers compare or show its text.

use std::fmt;
use std::ops::Deref;

/// What is wrong, as text.
#[derive(Clone, PartialEq, Eq)]
pub struct ErrorMessage(String);

impl From<String> for ErrorMessage {
    fn from(text: String) -> ErrorMessage {
        ErrorMessage(text)
    }
}

impl From<&str> for ErrorMessage {
    fn from(text: &str) -> ErrorMessage {
        ErrorMessage(text.to_owned())
    }
}

impl Deref for ErrorMessage {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ErrorMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Shows the text as it is, since that is what a failed test prints.
impl fmt::Debug for ErrorMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ErrorMessage {}
