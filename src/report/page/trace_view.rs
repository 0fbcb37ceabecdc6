//! A counterexample on a page: its steps with what they change, to be gone through one by one.

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

/// Of longer counterexamples so many of the first and of the last steps are shown.
const FIRST: u64 = 500;
const LAST: u64 = 3500;

/// What is wrong at the end of a run that is violated by then.
const DECIDED: &str = "whatever follows now, the property is violated";

/// A counterexample, ready to be shown.
pub struct TraceView {
    title: String,
    rows: String,
    steps: TraceExtent,
    shown: Vec<StepView>,
    chart: SequenceChart,
    /// What changes somewhere, with its values at first.
    changing: Vec<(String, String)>,
}

/// What there is to know of all steps.
struct TraceExtent {
    all: u64,
    /// How many of them are left out.
    left_out: u64,
    /// What comes again and again.
    folds: Vec<FoldedSteps>,
    /// The number of the step behind which a loop begins, if it ends in one.
    loop_start: Option<u64>,
}

/// A step that is shown.
struct StepView {
    number: u64,
    title: String,
    /// Where it stands.
    places: Vec<StepPlace>,
    /// The first of them.
    place: Option<SourceLocation>,
    changed: Vec<String>,
    /// What is wrong there, if something is: it is the failing step.
    wrong: Vec<String>,
    /// What has another value behind it, by its number among all that change, and that value.
    values: Vec<(usize, String)>,
}

/// Where a step stands.
#[derive(Clone, PartialEq, Eq, Hash)]
struct StepPlace {
    /// The number of the file.
    file: u32,
    line: usize,
    /// How the place is called.
    label: String,
}

/// What changes somewhere in a counterexample.
#[derive(Default)]
struct ChangingValues {
    all: Vec<(String, String)>,
    numbers: HashMap<String, usize>,
}

impl ChangingValues {
    /// The number of a part that had a value before.
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
    /// That of a counterexample that ends.
    pub fn of(ending: &CounterexampleEnd, way: &Counterexample, sources: &SourceMap) -> TraceView {
        let (title, rows) = (ending.title(), ending.rows());
        let told =
            ending.with_steps(way, |course| TraceView::from_steps(course, title, rows, sources));
        told.failing(ending.violation_lines())
    }

    /// That of a run.
    pub fn of_run(run: &ViolatingRun, name: &str, sources: &SourceMap) -> TraceView {
        let title = format!("{name}: {}", run.length());
        let told =
            run.with_steps(|course| TraceView::from_steps(course, title, run.rows(), sources));
        let is_decided = run.loop_start().is_none();
        told.failing(is_decided.then(|| DECIDED.to_owned()).into_iter().collect())
    }

    /// The same, where this is wrong at its last step.
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
        // What is left out in the middle need not be as what is shown around it.
        let folds = if left_out == 0 { fold_steps(&list, course.loop_start) } else { Vec::new() };
        let steps =
            TraceExtent { all: course.last, left_out, folds, loop_start: course.loop_start };
        TraceView { title: title_of_all, rows, steps, shown, chart, changing: changing.all }
    }

    /// Its steps, a line each, and behind each what it changed.
    pub(in crate::report) fn lines(&self) -> Vec<String> {
        let told = |it: &StepView| {
            let places = it.places.iter().map(|at| format!("  ({})", at.label)).collect::<String>();
            let first = format!("{:>5}  {}{places}", it.number, it.title);
            let changed = it.changed.iter().chain(&it.wrong).map(|it| format!("         {it}"));
            std::iter::once(first).chain(changed).collect::<Vec<_>>()
        };
        self.shown.iter().flat_map(told).collect()
    }

    /// Its steps with what they changed, and where each stands, if it stands anywhere.
    pub(in crate::report) fn flow(
        &self,
    ) -> impl Iterator<Item = (String, Option<&SourceLocation>)> {
        self.shown.iter().map(|it| {
            // The values at first would be a whole state.
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
                        " in the middle are left out; " code { "spillway trace" } " tells them." }
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
                    p { "From its last step on it goes on as after step " (grouped(start)) "." }
                }
                script #way-data type="application/json" { (PreEscaped(self.data())) }
                @if let Some(drawn) = sequence::draw_chart(&self.chart, self.fails()) {
                    details open { summary { "as a message sequence chart" } (drawn) }
                }
            }
        }
    }

    /// Whether its last step is the one that fails.
    fn fails(&self) -> bool {
        self.shown.last().is_some_and(|it| !it.wrong.is_empty())
    }

    /// For the script: what changes, at each step that is shown what has another value, and which steps are folded.
    /// No `<` is in it, so that nothing ends it.
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

/// Where a step stands, each place once.
fn places(sources: &SourceMap, spans: &[Span]) -> Vec<StepPlace> {
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
                    @if loop_start == Some(self.number) { div.keys { "The loop starts behind this step." } }
                }
                td.place {
                    @for at in &self.places { a href={ "#l" (at.file) "-" (at.line) } { (at.label) } " " }
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
