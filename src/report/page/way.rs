//! A counterexample on a page: its steps with what they change, to be gone through one by one.

use super::super::changes::{changes, lines};
use super::super::chart::Chart;
use super::super::steps::{each_step, title};
use super::super::{Ending, Report};
use super::sequence;
use crate::exec::{StepOutcome, Value};
use crate::numbers::{count, grouped};
use crate::search::trace::Counterexample;
use crate::source::{Sources, Span};
use maud::{Markup, PreEscaped, html};
use serde_json::json;
use std::collections::HashMap;

/// Of longer counterexamples so many of the first and of the last steps are shown.
const FIRST: u64 = 500;
const LAST: u64 = 3500;

/// A counterexample, ready to be shown.
pub(super) struct Way {
    title: String,
    rows: String,
    /// How many steps there are, and how many of them are left out.
    steps: u64,
    left_out: u64,
    rows_of_steps: Vec<Step>,
    chart: Chart,
    /// What changes somewhere, with its values at first.
    changing: Vec<(String, String)>,
}

/// A step that is shown.
struct Step {
    number: u64,
    title: String,
    /// Where it stands: which file and line, and how that is called.
    places: Vec<(u16, usize, String)>,
    changed: Vec<String>,
    /// What has another value behind it, by its number among all that change, and that value.
    values: Vec<(usize, String)>,
}

/// What changes somewhere in a counterexample.
#[derive(Default)]
struct Changing {
    all: Vec<(String, String)>,
    numbers: HashMap<String, usize>,
}

impl Changing {
    /// The number of a part that had a value before.
    fn number(&mut self, name: &str, old: Option<&Value>) -> usize {
        *self.numbers.entry(name.to_owned()).or_insert_with(|| {
            self.all.push((name.to_owned(), told(old)));
            self.all.len() - 1
        })
    }
}

fn told(value: Option<&Value>) -> String {
    value.map_or("–".to_owned(), Value::to_string)
}

impl Way {
    pub fn of(report: &Report, ending: &Ending, way: &Counterexample) -> Way {
        let mut number = 0;
        let (mut shown, mut chart, mut changing) =
            (Vec::new(), Chart::default(), Changing::default());
        let last_from = ending.depth.saturating_sub(LAST);
        each_step(way, &mut |step, (before, after)| {
            if number > 0 {
                chart.add(number, step, (before, after));
            }
            if number <= FIRST || number >= last_from {
                let found = match step.outcome {
                    StepOutcome::Successor(_) => changes(before, after),
                    StepOutcome::Fault(_) => Vec::new(),
                };
                let values = found.iter().filter(|_| number > 0);
                let values = values.map(|it| (changing.number(&it.name, it.old), told(it.new)));
                shown.push(Step {
                    number,
                    title: title(number, step),
                    places: places(report.sources, &step.spans),
                    values: values.collect(),
                    changed: found.iter().flat_map(lines).collect(),
                });
            }
            number += 1;
        });
        let left_out = number - shown.len() as u64;
        let (title, steps, rows) = (ending.title(), ending.depth, ending.rows());
        let changing = changing.all;
        Way { title, rows, steps, left_out, rows_of_steps: shown, chart, changing }
    }

    pub fn shown(&self) -> Markup {
        html! {
            section #way {
                h2 { "Counterexample" }
                p { (self.title) }
                pre { (self.rows) }
                @if self.left_out > 0 {
                    p.note { "Of " (grouped(self.steps)) " steps " (grouped(self.left_out))
                        " in the middle are left out; " code { "spillway trace" } " tells them." }
                }
                p.keys { "Arrow keys go through it step by step, Home and End to its ends. "
                    label { "Only steps with " input #find type="search" placeholder="text"; } }
                div.stepping {
                    div.steps {
                        table #steps { @for step in &self.rows_of_steps { (step.row()) } }
                    }
                    aside #values aria-live="polite" {}
                }
                script #way-data type="application/json" { (PreEscaped(self.data())) }
                @if let Some(drawn) = sequence::drawn(&self.chart) {
                    details open { summary { "as a message sequence chart" } (drawn) }
                }
            }
        }
    }

    /// For the script: what changes, and at each step that is shown what has another value. No `<` is in it, so that
    /// nothing ends it.
    fn data(&self) -> String {
        let steps = self.rows_of_steps.iter().map(|it| json!([it.number, it.values]));
        let told = json!({ "changing": self.changing, "steps": steps.collect::<Vec<_>>() });
        told.to_string().replace('<', "\\u003c")
    }
}

/// Where a step stands, each place once.
fn places(sources: &Sources, spans: &[Span]) -> Vec<(u16, usize, String)> {
    let is_one_file = sources.iter().count() == 1;
    let place = |it: &Span| {
        let place = sources.place(*it)?;
        let line = place.position.line;
        let name = place.file.rsplit('/').next().unwrap_or(&place.file);
        let told = if is_one_file { format!("line {line}") } else { format!("{name}:{line}") };
        Some((it.file, line, told))
    };
    let mut places: Vec<_> = spans.iter().filter_map(place).collect();
    places.dedup();
    places
}

impl Step {
    fn changes(&self) -> Markup {
        html! { @for change in &self.changed { div.change { (change) } } }
    }

    fn row(&self) -> Markup {
        html! {
            tr data-step=(self.number) {
                td.number { (self.number) }
                td { (self.title) }
                td.place {
                    @for (file, line, place) in &self.places { a href={ "#l" (file) "-" (line) } { (place) } " " }
                }
                td {
                    @if self.number == 0 {
                        details { summary { (count(self.changed.len() as u64, "value")) } (self.changes()) }
                    } @else {
                        (self.changes())
                    }
                }
            }
        }
    }
}
