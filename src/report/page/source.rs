//! The model's text, with how often what stands in each line was taken.

use super::super::Report;
use super::super::coverage::{Covered, is_whole};
use crate::numbers::grouped;
use maud::{Markup, html};
use std::collections::HashMap;

/// Of longer files only so many lines are shown.
const LINES_MAX: usize = 5000;

/// What came of the actions in a line.
#[derive(Default)]
struct Line {
    taken: u64,
    /// How many of them were never taken, and how many there are.
    never: usize,
    all: usize,
}

/// The files of a model.
pub(super) fn texts(report: &Report, covered: Option<&[Covered]>) -> Markup {
    let mut lines: HashMap<(&str, usize), Line> = HashMap::new();
    for it in covered.unwrap_or_default() {
        let Some(place) = &it.place else { continue };
        let line = lines.entry((&place.file, place.position.line)).or_default();
        line.taken += it.taken;
        line.never += usize::from(it.is_never_taken());
        line.all += 1;
    }
    html! {
        @if covered.is_some() {
            p { "Beside each line is how often its actions were taken" (where_counted(report))
                ". Lines of which none was are " span.never { "marked" } ", those of which some were not at their number." }
        }
        @for (number, file) in report.sources.iter().enumerate() {
            h3 { (file.name) }
            @if file.text.lines().count() > LINES_MAX {
                p.note { "These are its first " (grouped(LINES_MAX as u64)) " lines." }
            }
            table.text {
                @for (line, text) in (1..).zip(file.text.lines().take(LINES_MAX)) {
                    (row((number, line), text, lines.get(&(file.name.as_str(), line))))
                }
            }
        }
    }
}

/// Where that was counted.
fn where_counted(report: &Report) -> &'static str {
    match (report.reductions.is_empty(), is_whole(report)) {
        (true, true) => "",
        (false, true) => " in the reduced search",
        (true, false) => " up to where the search ended",
        (false, false) => " in the reduced search, up to where it ended",
    }
}

fn row((file, line): (usize, usize), text: &str, met: Option<&Line>) -> Markup {
    let class = match met {
        Some(it) if it.never == it.all => "never",
        Some(it) if it.never > 0 => "partly",
        _ => "",
    };
    html! {
        tr class=(class) id={ "l" (file) "-" (line) } {
            td.number { (line) }
            td.taken { @if let Some(it) = met { (grouped(it.taken)) } }
            td { code { (text) } }
        }
    }
}
