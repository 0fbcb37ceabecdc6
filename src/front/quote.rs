//! Pieces of the user's text in messages.

use std::borrow::Cow;

/// The most characters of the user's text that a message repeats.
pub(in crate::front) const QUOTE_MAX: usize = 60;

/// A piece of the user's text, cut if it is long.
pub(in crate::front) fn shorten(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(QUOTE_MAX) {
        Some((end, _)) => Cow::Owned(format!("{}...", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// A piece of the user's text, as messages show it.
pub(in crate::front) fn quote(text: &str) -> String {
    format!("`{}`", shorten(text))
}
