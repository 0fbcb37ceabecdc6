//! Quotations of the user's text in messages.

use std::borrow::Cow;

/// The maximum number of characters of the user's text in a quotation.
pub(in crate::front) const QUOTE_MAX: usize = 60;

/// Shortens a piece of the user's text if it is long.
pub(in crate::front) fn shorten(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(QUOTE_MAX) {
        Some((end, _)) => Cow::Owned(format!("{}...", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// Quotes a piece of the user's text for a message.
pub(in crate::front) fn quote(text: &str) -> String {
    format!("`{}`", shorten(text))
}
