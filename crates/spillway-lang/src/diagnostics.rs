//! A collector of diagnostics, for checkers that continue after an error so that one run reports many.

use spillway_base::diag::{Diagnostic, Severity};
use spillway_base::source::{SourceMap, Span};
use std::cell::{Cell, RefCell};
use std::collections::HashSet;

/// The maximum number of diagnostics shown.
const SHOWN_MAX: usize = 20;
/// The maximum number of diagnostics collected; after that, the checker may stop.
const COLLECTED_MAX: usize = 1000;

/// A collector of diagnostics. Its methods take a shared reference, so that code which borrows names can report errors.
pub(crate) struct DiagnosticSink<'a> {
    sources: &'a SourceMap,
    found: RefCell<CollectedDiagnostics>,
    errors: Cell<usize>,
}

#[derive(Default)]
struct CollectedDiagnostics {
    diagnostics: Vec<Diagnostic>,
    places: HashSet<(Span, bool)>,
}

impl<'a> DiagnosticSink<'a> {
    /// Creates an empty collector for some files.
    pub(crate) fn new(sources: &'a SourceMap) -> Self {
        Self { sources, found: RefCell::default(), errors: Cell::new(0) }
    }

    /// Adds a diagnostic, unless one of the same severity exists for the same place.
    pub(crate) fn add(&self, diagnostic: Diagnostic) {
        let error = diagnostic.severity == Severity::Error;
        self.errors.set(self.errors.get() + usize::from(error));
        let mut found = self.found.borrow_mut();
        let place = (diagnostic.span, error);
        let new = diagnostic.span == Span::default() || found.places.insert(place);
        if new && found.diagnostics.len() < COLLECTED_MAX {
            found.diagnostics.push(diagnostic);
        }
    }

    /// Adds an error.
    pub(crate) fn error(&self, span: Span, message: impl Into<String>) {
        self.add(Diagnostic::error(span, message));
    }

    /// Adds an error with a help text.
    pub(crate) fn error_with(
        &self,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.add(Diagnostic::error(span, message).help(help));
    }

    /// Returns the number of errors so far.
    pub(crate) fn errors(&self) -> usize {
        self.errors.get()
    }

    /// Returns whether the limit is reached, so that further checking reports nothing new.
    pub(crate) fn is_full(&self) -> bool {
        self.found.borrow().diagnostics.len() >= COLLECTED_MAX && self.errors() > 0
    }

    /// Returns the line of a span.
    pub(crate) fn line(&self, span: Span) -> usize {
        self.sources.file(span.file).position(span.start).line
    }

    /// Returns the source text of a span.
    pub(crate) fn text(&self, span: Span) -> &'a str {
        self.sources.text(span)
    }

    /// Returns the errors if there are any, else the warnings, ordered by place.
    pub(crate) fn finish(self) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
        let failed = self.errors() > 0;
        let severity = if failed { Severity::Error } else { Severity::Warning };
        let mut shown = self.found.into_inner().diagnostics;
        shown.retain(|diagnostic| diagnostic.severity == severity);
        shown.sort_by_key(|diagnostic| diagnostic.span);
        if let Some(more) = shown.len().checked_sub(SHOWN_MAX).filter(|&more| more > 0) {
            shown.truncate(SHOWN_MAX);
            let what = if failed { "errors" } else { "warnings" };
            let message = format!("{more} more {what} are not shown");
            shown.push(Diagnostic { severity, ..Diagnostic::error(Span::default(), message) });
        }
        if failed { Err(shown) } else { Ok(shown) }
    }
}
