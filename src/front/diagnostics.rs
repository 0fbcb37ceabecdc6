//! Diagnostics in the making, for checkers that go on after an error so that one run finds many.

use crate::diag::{Diagnostic, Severity};
use crate::source::{SourceMap, Span};
use std::cell::{Cell, RefCell};
use std::collections::HashSet;

/// How many diagnostics are shown.
const SHOWN_MAX: usize = 20;
/// How many are collected; then the walk may stop.
const COLLECTED_MAX: usize = 1000;

/// Diagnostics in the making. It is written through a shared reference, so that names can be looked
/// up and complained about at once.
pub(in crate::front) struct DiagnosticSink<'a> {
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
    /// An empty report on some files.
    pub(in crate::front) fn new(sources: &'a SourceMap) -> Self {
        Self { sources, found: RefCell::default(), errors: Cell::new(0) }
    }

    /// Adds a diagnostic, unless there is one as bad about the same place.
    pub(in crate::front) fn add(&self, diagnostic: Diagnostic) {
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
    pub(in crate::front) fn error(&self, span: Span, message: impl Into<String>) {
        self.add(Diagnostic::error(span, message));
    }

    /// Adds an error with advice.
    pub(in crate::front) fn error_with(
        &self,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.add(Diagnostic::error(span, message).help(help));
    }

    /// How many errors there were so far.
    pub(in crate::front) fn errors(&self) -> usize {
        self.errors.get()
    }

    /// Whether there is nothing more to be learnt by going on.
    pub(in crate::front) fn is_full(&self) -> bool {
        self.found.borrow().diagnostics.len() >= COLLECTED_MAX && self.errors() > 0
    }

    /// The line a place is on.
    pub(in crate::front) fn line(&self, span: Span) -> usize {
        self.sources.file(span.file).position(span.start).line
    }

    /// The source of a place.
    pub(in crate::front) fn text(&self, span: Span) -> &'a str {
        self.sources.text(span)
    }

    /// The errors if there were any, else the warnings, ordered by place.
    pub(in crate::front) fn finish(self) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
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
