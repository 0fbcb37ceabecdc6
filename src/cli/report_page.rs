//! The page of what was found.

use super::{explain, reachable_graph};
use crate::report::{self, Report, ReportPage, StatusPanel, TraceView, ViolationReport};
use crate::search::trace::Counterexample;
use crate::search::{SearchVerdict, events};
use crate::session::TextModel;
use std::path::Path;

/// A model of no more states is drawn.
const DRAWN_MAX: u64 = 300;

/// A violation and the way to it.
pub(super) type ShownViolation<'s> = (ViolationReport, Counterexample<'s>);

/// What is on the page of a search in a directory beside what was found.
#[derive(Clone, Copy, Default)]
pub(super) struct PageContext<'b> {
    /// The memory to look for the counterexample in, if not that which the search had.
    pub memory: Option<u64>,
    /// Why it is not the page of a whole search.
    pub note: Option<&'b str>,
    /// How the search goes, on a page that is shown meanwhile.
    pub live: Option<&'b StatusPanel>,
    /// Without the counterexample, which takes time to find.
    pub is_brief: bool,
}

/// A search in a directory, and the report of it.
pub(super) struct ReportedSearch<'r> {
    pub report: &'r Report<'r>,
    pub model: &'r TextModel,
    pub dir: &'r Path,
}

/// Does something with the page of a report, with the counterexample that is shown.
pub(super) fn with_page<T>(
    search: &ReportedSearch<'_>,
    shown: Option<&ShownViolation<'_>>,
    and_then: impl FnOnce(ReportPage<'_>) -> T,
) -> T {
    let ReportedSearch { report, model, dir } = *search;
    let ending =
        shown.map(|(violation, way)| report::CounterexampleEnd::of(violation, way, &model.sources));
    let way = ending.as_ref().zip(shown).map(|(end, it)| TraceView::of(end, &it.1, &model.sources));
    let (events, layout) = (events::read(dir), explain::layout(&model.interp));
    let is_small =
        report.verdict() != SearchVerdict::Incomplete && report.outcome.states() <= DRAWN_MAX;
    let graph = is_small.then(|| reachable_graph::state_diagram(model, DRAWN_MAX)).flatten();
    and_then(ReportPage {
        way,
        events: &events,
        layout: Some(&layout),
        graph: graph.as_ref(),
        ..ReportPage::of(report, ending.as_ref())
    })
}

impl<'b> PageContext<'b> {
    /// The page with what is beside.
    pub(super) fn apply_to<'p>(self, page: ReportPage<'p>) -> ReportPage<'p>
    where
        'b: 'p,
    {
        ReportPage { note: self.note, live: self.live, ..page }
    }
}
