//! Diagnostics: messages about a position in the source.

use crate::escape;
use crate::source::{SourceLocation, SourceMap, Span};
use std::fmt;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The model cannot be used.
    Error,
    /// The model can be used, but probably has another meaning than intended.
    Warning,
}

/// A message about a position in a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The problem, in one line.
    pub message: String,
    /// The position.
    pub span: Span,
    /// Advice, or the expected input.
    pub help: Option<String>,
}

/// A mistake in a text, independent of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocatedDiagnostic {
    /// The problem, in one line.
    pub message: String,
    /// The position, if there is one.
    pub place: Option<SourceLocation>,
    /// Advice.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Returns the diagnostic independent of the text.
    pub fn mistake(&self, sources: &SourceMap) -> LocatedDiagnostic {
        let Diagnostic { message, span, help, .. } = self.clone();
        LocatedDiagnostic { message, place: sources.place(span), help }
    }

    /// Creates an error at `span`.
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, message: message.into(), span, help: None }
    }

    /// Creates a warning at `span`.
    pub fn warning(span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(span, message) }
    }

    /// Adds advice.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Returns the message with file, line, column, the source line and a caret under the span.
    pub fn render<'a>(&'a self, sources: &'a SourceMap) -> impl fmt::Display + 'a {
        DiagnosticDisplay { diagnostic: self, sources }
    }
}

struct DiagnosticDisplay<'a> {
    diagnostic: &'a Diagnostic,
    sources: &'a SourceMap,
}

/// The greatest width of an excerpt with its line number, so that terminals do not break lines and carets point to the
/// right place. Longer source lines are cut around the caret.
const WIDTH: usize = 80;

impl fmt::Display for DiagnosticDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { diagnostic: Diagnostic { severity, message, span, help }, sources } = self;
        let message = escape::terminal(message);
        let word = match severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        match sources.locate(*span) {
            None => write!(f, "{word}: {message}")?,
            Some(place) => {
                write!(f, "{}: {word}: {message}", escape::line(&place))?;
                write_excerpt(f, sources, *span)?;
            }
        }
        if let Some(help) = help {
            write!(f, "\n  help: {}", escape::terminal(help))?;
        }
        Ok(())
    }
}

fn write_excerpt(f: &mut fmt::Formatter<'_>, sources: &SourceMap, span: Span) -> fmt::Result {
    let file = sources.file(span.file);
    let at = file.position(span.start);
    let line = file.line(at.line);
    let number = at.line.to_string();
    let most = WIDTH - number.len() - " ".len() - " | ".len();
    let beyond = line.chars().count().saturating_sub(most);
    let skipped = (at.column - 1).saturating_sub(most / 2).min(beyond);
    let shown: String = line
        .chars()
        .skip(skipped)
        .take(most)
        .map(|c| if escape::is_control(c) { ' ' } else { c })
        .collect();
    let indent = at.column - 1 - skipped;
    let length = sources.text(span).lines().next().unwrap_or("").chars().count();
    let carets = length.clamp(1, shown.chars().count().saturating_sub(indent).max(1));
    let gutter = " ".repeat(number.len());
    write!(f, "\n {gutter} |\n {number} | {shown}\n {gutter} | ")?;
    write!(f, "{}{}", " ".repeat(indent), "^".repeat(carets))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carets_stay_below_their_text_within_80_columns() {
        let text = format!("first\n{}here{}\n", "x".repeat(200), "y".repeat(200));
        let mut sources = SourceMap::default();
        let file = sources.add("long.m", &text);
        for (start, length) in [(6, 4), (100, 4), (206, 4), (380, 30)] {
            let span = Span { file, start, end: start + length };
            let shown = Diagnostic::error(span, "wrong").render(&sources).to_string();
            let lines: Vec<&str> = shown.lines().collect();
            assert!(lines.iter().all(|line| line.chars().count() <= 80), "{shown}");
            let caret = lines[3].find('^').unwrap();
            let marked = &text[start as usize..][..length as usize];
            assert!(lines[2][caret..].starts_with(marked), "{shown}");
            assert!(lines[3].ends_with(&"^".repeat(marked.len())), "{shown}");
        }
    }
}
