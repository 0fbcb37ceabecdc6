//! Quotations of the user's text in messages.

use std::borrow::Cow;

/// The maximum number of characters of the user's text in a quotation.
pub(crate) const QUOTE_MAX: usize = 60;

/// Shortens a piece of the user's text if it is long.
pub(crate) fn shorten(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(QUOTE_MAX) {
        Some((end, _)) => Cow::Owned(format!("{}...", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// Quotes a piece of the user's text for a message.
pub(crate) fn quote(text: &str) -> String {
    format!("`{}`", shorten(text))
}
