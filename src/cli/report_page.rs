//! The page of a search result.

use super::{explain, reachable_graph};
use crate::report::{self, Report, ReportPage, StatusPanel, TraceView, ViolationReport};
use crate::search::trace::Counterexample;
use crate::search::{SearchVerdict, events};
use crate::session::SourceModel;
use std::path::Path;

/// The maximum number of states of a model that is drawn.
const DRAWN_MAX: u64 = 300;

/// A violation and a path to it.
pub(super) type ShownViolation<'s> = (ViolationReport, Counterexample<'s>);

/// The context of the page of a search in a directory.
#[derive(Clone, Copy, Default)]
pub(super) struct PageContext<'b> {
    /// The memory for reconstructing the counterexample. `None`: that of the search.
    pub memory: Option<u64>,
    /// A note that says why the search is not complete.
    pub note: Option<&'b str>,
    /// The status of the search, on a page that is shown while it runs.
    pub live: Option<&'b StatusPanel>,
    /// Whether the counterexample is omitted, since its reconstruction takes time.
    pub is_brief: bool,
}

/// A search in a directory, and its report.
pub(super) struct ReportedSearch<'r> {
    pub report: &'r Report<'r>,
    pub model: &'r dyn SourceModel,
    pub dir: &'r Path,
}

/// Passes the page of a report to a function, with the counterexample that is shown.
pub(super) fn with_page<T>(
    search: &ReportedSearch<'_>,
    shown: Option<&ShownViolation<'_>>,
    and_then: impl FnOnce(ReportPage<'_>) -> T,
) -> T {
    let ReportedSearch { report, model, dir } = *search;
    let ending = shown
        .map(|(violation, way)| report::CounterexampleEnd::of(violation, way, model.sources()));
    let way =
        ending.as_ref().zip(shown).map(|(end, it)| TraceView::of(end, &it.1, model.sources()));
    let (events, program) = (events::read(dir), model.as_program());
    let layout = program.map(|it| explain::layout(&it.interp));
    let is_small =
        report.verdict() != SearchVerdict::Incomplete && report.outcome.states() <= DRAWN_MAX;
    let graph = is_small.then(|| reachable_graph::state_diagram(model, DRAWN_MAX)).flatten();
    and_then(ReportPage {
        way,
        events: &events,
        layout: layout.as_deref(),
        graph: graph.as_ref(),
        ..ReportPage::of(report, ending.as_ref())
    })
}

impl<'b> PageContext<'b> {
    /// Adds the context to a page.
    pub(super) fn apply_to<'p>(self, page: ReportPage<'p>) -> ReportPage<'p>
    where
        'b: 'p,
    {
        ReportPage { note: self.note, live: self.live, ..page }
    }
}
