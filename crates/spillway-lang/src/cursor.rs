//! A cursor in a text, for lexers.
//!
//! A lexer inspects the remaining text, determines the length in bytes of its next token, and takes that many bytes.
//! The span of the taken bytes identifies the token; its text is read from the source through the span.

use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;

/// A position in the text of a file.
#[derive(Clone)]
pub(crate) struct TextCursor<'a> {
    text: &'a str,
    file: u32,
    /// A byte offset on a character boundary.
    at: usize,
}

impl<'a> TextCursor<'a> {
    /// Creates a cursor at the start of file `file`, whose text is `text`.
    pub(crate) fn new(file: u32, text: &'a str) -> Self {
        Self { text, file, at: 0 }
    }

    /// Creates a cursor at the start of a part of file `span.file`, whose text is `text`.
    pub(crate) fn within(span: Span, text: &'a str) -> Self {
        Self { text: &text[..span.end as usize], file: span.file, at: span.start as usize }
    }

    /// Returns the remaining text.
    pub(crate) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Returns the next byte, or `None` at the end of the text.
    pub(crate) fn byte(&self) -> Option<u8> {
        self.rest().as_bytes().first().copied()
    }

    /// Returns the source text of a span of this file.
    pub(crate) fn text(&self, span: Span) -> &'a str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// Returns the line on which a span begins, counted from 1.
    pub(crate) fn line(&self, span: Span) -> usize {
        self.text[..span.start as usize].matches('\n').count() + 1
    }

    /// Returns the number of consecutive bytes from here that satisfy `belongs`.
    pub(crate) fn count_while(&self, belongs: impl Fn(u8) -> bool) -> usize {
        let rest = self.rest().as_bytes();
        rest.iter().position(|&byte| !belongs(byte)).unwrap_or(rest.len())
    }

    /// Returns the span of the next `length` bytes, without taking them.
    pub(crate) fn peek_span(&self, length: usize) -> Span {
        Span::new(self.file, self.at..self.at + length)
    }

    /// Takes the next `length` bytes.
    pub(crate) fn take(&mut self, length: usize) -> Span {
        let span = self.peek_span(length);
        self.at += length;
        span
    }

    /// Takes all consecutive bytes from here that satisfy `belongs`.
    pub(crate) fn take_while(&mut self, belongs: impl Fn(u8) -> bool) -> Span {
        self.take(self.count_while(belongs))
    }

    /// Takes a comment that begins here with two characters and ends with `*/`.
    pub(crate) fn take_comment(&mut self) -> Result<Span, Diagnostic> {
        match self.rest()[2..].find("*/") {
            Some(length) => Ok(self.take(length + 4)),
            None => Err(Diagnostic::error(self.peek_span(2), "this comment is never closed")
                .help("close it with `*/`")),
        }
    }
}
