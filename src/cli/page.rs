//! What was found, written as a page for a browser.

use super::failure::Failure;
use super::{explain, say};
use crate::report::{self, Beside, Report, ViolationReport};
use crate::search::events;
use crate::search::trace::Counterexample;
use crate::session::TextModel;
use std::path::Path;

/// Writes the page of a report, with the counterexample that is shown.
pub(super) fn write(
    path: &Path,
    report: &Report,
    (model, dir): (&TextModel, &Path),
    shown: Option<&(ViolationReport, Counterexample)>,
    note: Option<&str>,
) -> Result<(), Failure> {
    let ending = shown.map(|(violation, way)| report::Ending::of(violation, way, &model.sources));
    let shown = ending.as_ref().zip(shown.map(|it| &it.1));
    let (events, layout) = (events::read(dir), explain::layout(&model.interp));
    let page = report::page(report, &Beside { shown, events: &events, layout: &layout, note });
    std::fs::write(path, page).map_err(|error| Failure::writing("the report", path, error))?;
    say(format!("wrote {}", path.display()));
    Ok(())
}
