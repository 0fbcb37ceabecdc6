//! The error type of helpers whose callers compare or print its text.

use std::fmt;
use std::ops::Deref;

/// An error as text.
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

/// Prints the text unquoted, because failed tests print errors by `Debug`.
impl fmt::Debug for ErrorMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ErrorMessage {}
