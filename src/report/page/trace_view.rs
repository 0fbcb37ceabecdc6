//! A counterexample on a page: its steps with their changes, for stepping through.

use super::super::changes::{changes, lines};
use super::super::chart::SequenceChart;
use super::super::steps::{FoldedSteps, StepSequence, fold_steps, title};
use super::super::{CounterexampleEnd, ViolatingRun};
use super::sequence;
use crate::escape;
use crate::model::{StateValue, StepOutcome};
use crate::numbers::{count, grouped};
use crate::search::trace::Counterexample;
use crate::source::{SourceLocation, SourceMap, Span};
use maud::{Markup, PreEscaped, html};
use serde_json::json;
use std::collections::HashMap;

/// The maximum numbers of first and of last steps that are shown.
const FIRST: u64 = 500;
const LAST: u64 = 3500;

/// The text at the end of a run after which every continuation violates the property.
const DECIDED: &str = "whatever follows now, the property is violated";

/// A counterexample, prepared for display.
pub struct TraceView {
    title: String,
    rows: String,
    steps: TraceExtent,
    shown: Vec<StepView>,
    chart: SequenceChart,
    /// The variables that change, with their initial values.
    changing: Vec<(String, String)>,
}

/// The properties of the whole sequence of steps.
struct TraceExtent {
    all: u64,
    /// The number of steps that are left out.
    left_out: u64,
    /// The folded steps.
    folds: Vec<FoldedSteps>,
    /// The number of the step after which a cycle begins, if there is one.
    loop_start: Option<u64>,
}

/// A step that is shown.
struct StepView {
    number: u64,
    title: String,
    /// Its positions in the source.
    places: Vec<StepPlace>,
    /// The first position.
    place: Option<SourceLocation>,
    changed: Vec<String>,
    /// The violation, if this is the failing step.
    wrong: Vec<String>,
    /// The variables that have another value after it, by number among those that change, with that value.
    values: Vec<(usize, String)>,
}

/// A position of a step.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct StepPlace {
    /// The number of the file.
    file: u32,
    line: usize,
    /// The text of the position.
    label: String,
}

/// The variables that change in a counterexample.
#[derive(Default)]
struct ChangingValues {
    all: Vec<(String, String)>,
    numbers: HashMap<String, usize>,
}

impl ChangingValues {
    /// Returns the number of a variable, and records its value before the change.
    fn number(&mut self, name: &str, old: Option<&StateValue>) -> usize {
        *self.numbers.entry(name.to_owned()).or_insert_with(|| {
            self.all.push((name.to_owned(), value_text(old)));
            self.all.len() - 1
        })
    }
}

fn value_text(value: Option<&StateValue>) -> String {
    value.map_or("–".to_owned(), StateValue::to_string)
}

impl TraceView {
    /// Creates the view of a finite counterexample.
    pub fn of(ending: &CounterexampleEnd, way: &Counterexample, sources: &SourceMap) -> TraceView {
        let (title, rows) = (ending.title(), ending.rows());
        let told =
            ending.with_steps(way, |course| TraceView::from_steps(course, title, rows, sources));
        told.failing(ending.violation_lines())
    }

    /// Creates the view of a run.
    pub fn of_run(run: &ViolatingRun, name: &str, sources: &SourceMap) -> TraceView {
        let title = format!("{name}: {}", run.length());
        let told =
            run.with_steps(|course| TraceView::from_steps(course, title, run.rows(), sources));
        let is_decided = run.loop_start().is_none();
        told.failing(is_decided.then(|| DECIDED.to_owned()).into_iter().collect())
    }

    /// Marks the last step as failing, with these lines.
    fn failing(mut self, wrong: Vec<String>) -> TraceView {
        self.shown.last_mut().into_iter().for_each(|it| it.wrong.clone_from(&wrong));
        self
    }

    fn from_steps(
        course: &StepSequence<'_>,
        title_of_all: String,
        rows: String,
        sources: &SourceMap,
    ) -> TraceView {
        let mut number = 0;
        let (mut shown, mut chart, mut changing) =
            (Vec::new(), SequenceChart::default(), ChangingValues::default());
        let (mut titles, mut list) = (HashMap::new(), Vec::new());
        let last_from = course.last.saturating_sub(LAST);
        (course.visit_all)(&mut |step, values| {
            if number > 0 {
                chart.add(number, step, values);
            }
            if number <= FIRST || number >= last_from {
                let found = match step.outcome {
                    StepOutcome::Successor(_) => changes(values.before, values.after),
                    StepOutcome::Fault(_) => Vec::new(),
                };
                let values = found.iter().filter(|_| number > 0);
                let values =
                    values.map(|it| (changing.number(&it.name, it.old), value_text(it.new)));
                let it = StepView {
                    number,
                    title: title(number, step),
                    places: places(sources, &step.spans),
                    place: step.spans.iter().find_map(|&it| sources.place(it)),
                    values: values.collect(),
                    changed: found.iter().flat_map(lines).collect(),
                    wrong: Vec::new(),
                };
                if (1..course.last).contains(&number) {
                    let new = titles.len() as u32;
                    let what = (it.title.clone(), it.places.clone());
                    list.push((number, *titles.entry(what).or_insert(new)));
                }
                shown.push(it);
            }
            number += 1;
        });
        let left_out = number - shown.len() as u64;
        // The steps that are left out in the middle may differ from those shown around them.
        let folds = if left_out == 0 { fold_steps(&list, course.loop_start) } else { Vec::new() };
        let steps =
            TraceExtent { all: course.last, left_out, folds, loop_start: course.loop_start };
        TraceView { title: title_of_all, rows, steps, shown, chart, changing: changing.all }
    }

    /// Formats the steps, one line each, followed by their changes.
    #[cfg(feature = "junit")]
    pub(in crate::report) fn lines(&self) -> Vec<String> {
        let told = |it: &StepView| {
            let places = it.places.iter().map(|at| format!("  ({})", at.label)).collect::<String>();
            let first = format!("{:>5}  {}{places}", it.number, it.title);
            let changed = it.changed.iter().chain(&it.wrong).map(|it| format!("         {it}"));
            std::iter::once(first).chain(changed).collect::<Vec<_>>()
        };
        self.shown.iter().flat_map(told).collect()
    }

    /// Returns the steps with their changes and positions.
    pub(in crate::report) fn flow(
        &self,
    ) -> impl Iterator<Item = (String, Option<&SourceLocation>)> {
        self.shown.iter().map(|it| {
            // The initial values would be a whole state.
            let changed: &[String] = if it.number == 0 { &[] } else { &it.changed };
            let told = [std::slice::from_ref(&it.title), changed].concat().join("; ");
            (told, it.place.as_ref())
        })
    }

    pub(super) fn section(&self) -> Markup {
        let TraceExtent { all, left_out, loop_start, .. } = self.steps;
        html! {
            section #way {
                h2 { "Counterexample" }
                p { (self.title) }
                pre { (self.rows) }
                @if left_out > 0 {
                    p.note { "Of " (grouped(all)) " steps " (grouped(left_out))
                        " in the middle are left out; " code { "spillway trace" } " prints them." }
                }
                p.keys { "It is opened at its last step. Arrow keys go through it step by step, Home and End to its ends. "
                    label { "Only steps with " input #find type="search" placeholder="text"; } }
                div.stepping {
                    div.steps {
                        table #steps { @for step in &self.shown { (step.row(loop_start)) } }
                    }
                    aside #values aria-live="polite" {}
                }
                @if let Some(start) = loop_start {
                    p { "After the last step, the run is back in the state after step " (grouped(start)) "." }
                }
                script #way-data type="application/json" { (PreEscaped(self.data())) }
                @if let Some(drawn) = sequence::draw_chart(&self.chart, self.fails()) {
                    details open { summary { "as a message sequence chart" } (drawn) }
                }
            }
        }
    }

    /// Returns whether the last step fails.
    fn fails(&self) -> bool {
        self.shown.last().is_some_and(|it| !it.wrong.is_empty())
    }

    /// Returns the data of the script: the variables that change, their new values at each shown step, and the folded
    /// steps. The data has no `<`, so that nothing ends the script element.
    fn data(&self) -> String {
        let steps = self.shown.iter().map(|it| json!([it.number, it.values, it.wrong]));
        let folds = self.steps.folds.iter().map(|it| json!([it.from(), it.until, it.summary()]));
        let told = json!({
            "changing": self.changing,
            "steps": steps.collect::<Vec<_>>(),
            "folds": folds.collect::<Vec<_>>(),
        });
        escape::json_in_html(&told.to_string())
    }
}

impl StepPlace {
    /// Returns a link to the position in the text on the same page.
    pub(super) fn link(&self) -> Markup {
        html! { a href={ "#l" (self.file) "-" (self.line) } { (self.label) } }
    }
}

/// Returns the distinct positions of a step.
pub(super) fn places(sources: &SourceMap, spans: &[Span]) -> Vec<StepPlace> {
    let is_one_file = sources.iter().count() == 1;
    let place = |it: &Span| {
        let place = sources.place(*it)?;
        let line = place.position.line;
        let name = place.file.rsplit('/').next().unwrap_or(&place.file);
        let label = if is_one_file { format!("line {line}") } else { format!("{name}:{line}") };
        Some(StepPlace { file: it.file, line, label })
    };
    let mut places: Vec<_> = spans.iter().filter_map(place).collect();
    places.dedup();
    places
}

impl StepView {
    fn changes(&self) -> Markup {
        html! {
            @for change in &self.changed { div.change { (change) } }
            @for wrong in &self.wrong { div.wrong { (wrong) } }
        }
    }

    fn row(&self, loop_start: Option<u64>) -> Markup {
        html! {
            tr data-step=(self.number) class=[(!self.wrong.is_empty()).then_some("bad")] {
                td.number { (self.number) }
                td {
                    (self.title)
                    @if loop_start == Some(self.number) { div.keys { "The cycle starts after this step." } }
                }
                td.place {
                    @for at in &self.places { (at.link()) " " }
                }
                td {
                    @if self.number == 0 {
                        details open[!self.wrong.is_empty()] { summary { (count(self.changed.len() as u64, "value")) } (self.changes()) }
                    } @else {
                        (self.changes())
                    }
                }
            }
        }
    }
}
