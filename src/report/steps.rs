//! The steps of a counterexample, as text.

use super::Values;
use super::changes::{changes, lines};
use super::chart::Chart;
use super::numbers::count;
use crate::exec::{Step, StepOutcome, Value};
use crate::source::Sources;

/// Which steps of a counterexample are shown, and what of them.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// So many of its last steps; all if nothing is said.
    pub last: Option<u64>,
    /// Variables or parts of some; then only the steps that change one of these, and what they change of them.
    pub only: Vec<String>,
    /// As a message sequence chart.
    pub chart: bool,
}

impl View {
    /// Whether something is shown that is called so and has this value, or a part of it.
    fn shows(&self, name: &str, value: Option<&Value>) -> bool {
        self.only.is_empty() || self.only.iter().any(|it| concerns(name, value, it))
    }
}

/// Whether something is what a name says, or a part of that: `c[1].x` of `c`, `P[0].x` of `P`.
fn is_of(part: &str, name: &str) -> bool {
    part.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']))
}

/// Whether something is, or has a part that is, what a name says.
fn concerns(part: &str, value: Option<&Value>, name: &str) -> bool {
    let has_parts = || value.is_some_and(|it| !it.parts().is_empty());
    is_of(part, name) || is_of(name, part) && has_parts()
}

/// Tells steps one after the other.
pub(super) struct Steps<'v> {
    view: &'v View,
    sources: &'v Sources,
    /// The number of the next one, and that of the last.
    next: u64,
    last: u64,
    /// What is to be shown and was in no state.
    missing: Vec<&'v str>,
    /// Where a chart is wanted.
    chart: Chart,
}

impl<'v> Steps<'v> {
    /// Of a counterexample with so many.
    pub fn new(view: &'v View, sources: &'v Sources, last: u64) -> Self {
        let missing = view.only.iter().map(String::as_str).collect();
        Steps { view, sources, next: 0, last, missing, chart: Chart::default() }
    }

    /// The next step, the start at first, with what it changed of the state before; nothing if it is not shown.
    pub fn next(&mut self, step: &Step, (before, after): (&Values, &Values)) -> String {
        let number = self.next;
        self.next += 1;
        if self.view.chart {
            self.chart.add(number, step, (before, after));
            return String::new();
        }
        let has = |it: &str| after.iter().any(|(name, value)| concerns(name, Some(value), it));
        self.missing.retain(|it| !has(it));
        let first = self.last - self.view.last.unwrap_or(self.last).min(self.last);
        if number < first {
            return String::new();
        }
        let is_begun = number > first || number == 0;
        let told = match &step.outcome {
            StepOutcome::Fault(fault) => {
                let place = self.sources.locate(fault.span).unwrap_or_default();
                vec![format!("{}: {} ({place})", fault.kind.violation(), fault.message)]
            }
            StepOutcome::Successor(_) if number == first => {
                let shown = after.iter().filter(|(name, value)| self.view.shows(name, Some(value)));
                shown.map(|(name, value)| format!("{name} = {value}")).collect()
            }
            StepOutcome::Successor(_) => {
                let changes = changes(before, after).into_iter();
                let shown = changes.filter(|it| self.view.shows(&it.name, it.new.or(it.old)));
                shown.flat_map(|it| lines(&it)).collect()
            }
        };
        // Steps that change nothing that is shown are of no interest, but for the ends.
        if !self.view.only.is_empty() && told.is_empty() && number > first && number < self.last {
            return String::new();
        }
        let mut out = match is_begun {
            true => String::new(),
            false => format!("       {} left out\n", count(number, "step")),
        };
        out += &format!("{number:>5}  {}\n", self.title(number, step));
        told.iter().for_each(|line| out += &format!("         {line}\n"));
        out
    }

    fn title(&self, number: u64, step: &Step) -> String {
        if number == 0 {
            return "initial state".to_owned();
        }
        let places = step.spans.iter().filter_map(|&span| self.sources.locate(span));
        match places.collect::<Vec<_>>().join(" + ") {
            places if places.is_empty() => step.title(),
            places => format!("{}    {places}", step.title()),
        }
    }

    /// What comes behind the last one: the chart, or what was to be shown and never there.
    pub fn end(&self) -> String {
        match self.missing[..] {
            _ if self.view.chart => self.chart.text(self.view.last),
            [] => String::new(),
            _ => format!("       there is no variable {}\n", self.missing.join(", ")),
        }
    }
}
