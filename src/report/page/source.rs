//! The model's text with the coverage of each line.

use super::super::Report;
use super::super::coverage::{ActionCoverage, coverage, is_whole};
use crate::numbers::grouped;
use crate::source::SourceMap;
use maud::{Markup, html};
use std::collections::HashMap;

/// The maximum number of lines of a file that are shown.
const LINES_MAX: usize = 5000;

/// The coverage of the actions in a line.
#[derive(Default)]
struct LineCoverage {
    taken: u64,
    /// The number of actions that were never executed, and the number of all actions.
    never: usize,
    all: usize,
}

/// The files of a model, with coverage.
pub struct AnnotatedSources<'t> {
    sources: &'t SourceMap,
    /// The coverage of each action, and a description of the search. `None` if executions were not counted.
    counted: Option<(Vec<ActionCoverage>, &'static str)>,
}

impl<'t> AnnotatedSources<'t> {
    /// Returns the sources of a report's model.
    pub(super) fn of(report: &Report<'t>) -> AnnotatedSources<'t> {
        let counted = coverage(report).map(|it| (it, where_counted(report)));
        AnnotatedSources { sources: report.sources, counted }
    }

    /// Returns the sources of a model without coverage.
    pub fn uncounted(sources: &'t SourceMap) -> AnnotatedSources<'t> {
        AnnotatedSources { sources, counted: None }
    }

    pub(super) fn section(&self) -> Markup {
        let mut lines: HashMap<(&str, usize), LineCoverage> = HashMap::new();
        for it in self.counted.iter().flat_map(|it| &it.0) {
            let Some(place) = &it.place else { continue };
            let line = lines.entry((&place.file, place.position.line)).or_default();
            line.taken += it.taken;
            line.never += usize::from(it.is_never_taken());
            line.all += 1;
        }
        html! {
            section #model {
                h2 { "Model" }
                @if let Some((_, place)) = self.counted {
                    p { "The number beside a line counts the executions of its actions" (place)
                        ". Lines of which no action was executed are " span.never { "marked" } ", those with some unexecuted \
                         actions at their number." }
                }
                @for (number, file) in self.sources.iter().enumerate() {
                    h3 { (file.name) }
                    @if file.text.lines().count() > LINES_MAX {
                        p.note { "These are its first " (grouped(LINES_MAX as u64)) " lines." }
                    }
                    table.text {
                        @for (line, text) in (1..).zip(file.text.lines().take(LINES_MAX)) {
                            (row(number, line, text, lines.get(&(file.name.as_str(), line))))
                        }
                    }
                }
            }
        }
    }
}

/// Describes the search in which executions were counted.
fn where_counted(report: &Report) -> &'static str {
    match (report.reductions.is_empty(), is_whole(report)) {
        (true, true) => "",
        (false, true) => " in the reduced search",
        (true, false) => " up to where the search ended",
        (false, false) => " in the reduced search, up to where it ended",
    }
}

fn row(file: usize, line: usize, text: &str, met: Option<&LineCoverage>) -> Markup {
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
