//! The page of what was found.

use super::{explain, states};
use crate::report::{self, Glance, Page, Report, ViolationReport, Way};
use crate::search::trace::Counterexample;
use crate::search::{Verdict, events};
use crate::session::TextModel;
use std::path::Path;

/// A model of no more states is drawn.
const DRAWN_MAX: u64 = 300;

/// A violation and the way to it.
pub(super) type Shown<'s> = (ViolationReport, Counterexample<'s>);

/// What is on the page of a search in a directory beside what was found.
#[derive(Clone, Copy, Default)]
pub(super) struct Beside<'b> {
    /// The memory to look for the counterexample in, if not that which the search had.
    pub memory: Option<u64>,
    /// Why it is not the page of a whole search.
    pub note: Option<&'b str>,
    /// How the search goes, on a page that is shown meanwhile.
    pub live: Option<&'b Glance>,
    /// Without the counterexample, which takes time to find.
    pub is_brief: bool,
}

/// Does something with the page of a report, with the counterexample that is shown.
pub(super) fn with_page<T>(
    report: &Report,
    (model, dir): (&TextModel, &Path),
    shown: Option<&Shown<'_>>,
    and_then: impl FnOnce(Page<'_>) -> T,
) -> T {
    let ending = shown.map(|(violation, way)| report::Ending::of(violation, way, &model.sources));
    let way = ending.as_ref().zip(shown).map(|(end, it)| Way::of(end, &it.1, &model.sources));
    let (events, layout) = (events::read(dir), explain::layout(&model.interp));
    let is_small = report.verdict() != Verdict::Incomplete && report.outcome.states() <= DRAWN_MAX;
    let graph = is_small.then(|| states::drawn(model, DRAWN_MAX)).flatten();
    and_then(Page {
        way,
        events: &events,
        layout: Some(&layout),
        graph: graph.as_ref(),
        ..Page::of(report, ending.as_ref())
    })
}

impl<'b> Beside<'b> {
    /// The page with what is beside.
    pub(super) fn on<'p>(self, page: Page<'p>) -> Page<'p>
    where
        'b: 'p,
    {
        Page { note: self.note, live: self.live, ..page }
    }
}
