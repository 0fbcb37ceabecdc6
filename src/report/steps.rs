//! The steps of a counterexample, as text.

use super::NamedValues;
use super::changes::{StepValues, changes, lines, print_state};
use super::chart::SequenceChart;
use super::folding::folds;
use super::position_names::PositionNames;
use super::table::{WIDTH, places_behind, wrapped};
use crate::model::{CallSite, StateValue, StepDescription, StepOutcome};
use crate::numbers::count;
use crate::search::trace::Counterexample;
use crate::source::{SourceMap, Span};
use std::collections::{BTreeSet, HashMap, VecDeque};

/// The steps of a counterexample that are shown, and their form.
#[derive(Clone, Debug, Default)]
pub struct TraceDisplayOptions {
    /// The number of last steps that are shown. `None`: all.
    pub last: Option<u64>,
    /// The variables or parts that are shown. If there are any, only steps that change one of them are shown, with
    /// these changes.
    pub only: Vec<String>,
    /// Whether to show a message sequence chart.
    pub chart: bool,
    /// Whether to show repeated steps in full.
    pub unfolded: bool,
    /// The width of a chart in characters. The default is 80.
    pub width: Option<usize>,
}

impl TraceDisplayOptions {
    /// Returns whether a part with this name and value is shown.
    fn shows(&self, name: &str, value: Option<&StateValue>) -> bool {
        self.only.is_empty() || self.only.iter().any(|it| concerns(name, value, it))
    }
}

/// Returns whether a part is the one of this name or belongs to it: `c[1].x` of `c`, `P[0].x` of `P`.
fn is_of(part: &str, name: &str) -> bool {
    part.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']))
}

/// Returns whether a part is the one of this name, belongs to it, or contains it.
fn concerns(part: &str, value: Option<&StateValue>, name: &str) -> bool {
    let has_parts = || value.is_some_and(|it| !it.named_parts().is_empty());
    is_of(part, name) || is_of(name, part) && has_parts()
}

/// A visitor of steps and the values around them, beginning with the initial state.
pub(super) type StepCallback<'v> = dyn FnMut(&StepDescription, StepValues<'_>) + 'v;

/// Visits every step of a counterexample. A failing step has no values after it.
pub(super) fn each_step(trace: &Counterexample, visit: &mut StepCallback<'_>) {
    let mut before = Vec::new();
    trace.each_step(&mut |step, state| {
        let reached = match &step.outcome {
            StepOutcome::Fault(fault) => fault.reached.as_deref(),
            StepOutcome::Successor(_) => None,
        };
        let after = state.or(reached).map_or_else(Vec::new, |state| trace.describe(state));
        visit(step, StepValues { before: &before, after: &after });
        before = after;
    });
}

/// The maximum number of calls that are shown for a failing step: the innermost and the outermost.
const CALLS_SHOWN: usize = 8;

/// Formats the functions in which a step failed, innermost first, each with its call site, which `locate` names.
pub fn call_lines(
    calls: &[CallSite],
    locate: &mut dyn FnMut(Span) -> Option<String>,
) -> Vec<String> {
    let mut line = |CallSite { function, span }: &CallSite| {
        let place = locate(*span).map_or(String::new(), |it| format!(", called at {it}"));
        format!("in {function}{place}")
    };
    if calls.len() <= CALLS_SHOWN {
        return calls.iter().map(line).collect();
    }
    let (inner, outer) = (&calls[..CALLS_SHOWN / 2], &calls[calls.len() - CALLS_SHOWN / 2..]);
    let left_out = format!("in {} more calls", calls.len() - CALLS_SHOWN);
    let mut lines: Vec<String> = inner.iter().map(&mut line).collect();
    lines.push(left_out);
    lines.extend(outer.iter().map(line));
    lines
}

/// Returns the title of a step by its number.
pub(super) fn title(number: u64, step: &StepDescription) -> String {
    if number == 0 { "initial state".to_owned() } else { step.title() }
}

/// Formats the positions of a step as a line.
pub(super) fn places(sources: &SourceMap, step: &StepDescription) -> String {
    let places = step.spans.iter().filter_map(|&span| sources.locate(span));
    places.collect::<Vec<_>>().join(" + ")
}

/// Returns all positions that are shown with a step.
fn positions(step: &StepDescription) -> impl Iterator<Item = Span> + '_ {
    let of_fault = match &step.outcome {
        StepOutcome::Fault(fault) => {
            let calls = fault.calls.iter().map(|it| it.span);
            Some(std::iter::once(fault.span).chain(calls))
        }
        StepOutcome::Successor(_) => None,
    };
    step.spans.iter().copied().chain(of_fault.into_iter().flatten())
}

/// The steps of a counterexample.
pub(super) struct StepSequence<'c> {
    /// The number of the last step. The initial state is 0.
    pub last: u64,
    /// The number of the step after which a cycle begins, if there is one.
    pub loop_start: Option<u64>,
    /// Visits all steps. It can be called repeatedly.
    pub visit_all: &'c dyn Fn(&mut StepCallback<'_>),
}

/// The heading of a counterexample.
pub(super) struct TraceHeading<'h> {
    /// What follows: `counterexample`.
    pub what: &'h str,
    /// The violated property and the number of steps.
    pub title: &'h str,
}

/// Writes a heading and the steps of a counterexample with their changes, as `view` selects them. The heading names the
/// file if all positions are in one. Returns the names of positions behind the steps.
pub(super) fn write_steps(
    sources: &SourceMap,
    view: &TraceDisplayOptions,
    course: &StepSequence<'_>,
    heading: &TraceHeading<'_>,
    write: &mut dyn FnMut(&str),
) -> PositionNames {
    let mut steps = StepPrinter::new(view, sources, course);
    steps.survey();
    let TraceHeading { what, title } = heading;
    let place = steps.names.file().map_or(String::new(), |it| format!(" in {it}"));
    write(&wrapped("", &format!("{what}{place}: {title}")));
    (course.visit_all)(&mut |step, values| write(&steps.next(step, values)));
    write(&steps.end());
    steps.names
}

/// Repeated steps.
pub(super) struct FoldedSteps {
    /// The numbers of the first and the last step that are shown.
    shown: (u64, u64),
    /// The number of the last step that is left out.
    pub until: u64,
    /// The number of repetitions that are left out.
    again: u64,
}

impl FoldedSteps {
    /// Returns the number of the first step that is left out.
    #[cfg(feature = "cli")]
    pub fn from(&self) -> u64 {
        self.shown.1 + 1
    }

    /// Returns the text in place of the steps that are left out.
    pub fn summary(&self) -> String {
        let steps = match self.shown {
            (from, to) if from == to => format!("step {from}"),
            (from, to) => format!("steps {from}-{to}"),
        };
        format!("{steps} again {}, to step {}", count(self.again, "time"), self.until)
    }
}

/// Returns the repeated steps, given the number and the class of each step. The steps left out by a fold are all
/// before a cycle begins, or all in it.
pub(super) fn fold_steps(steps: &[(u64, u32)], loop_start: Option<u64>) -> Vec<FoldedSteps> {
    let way = loop_start.map(|start| steps.partition_point(|(number, _)| *number <= start));
    let (way, round) = steps.split_at(way.unwrap_or(steps.len()));
    let of_part = |part: &[(u64, u32)]| {
        let what: Vec<u32> = part.iter().map(|it| it.1).collect();
        let folds = folds(&what).into_iter().map(|fold| FoldedSteps {
            shown: (part[fold.at].0, part[fold.shown().end - 1].0),
            until: part[fold.left_out().end - 1].0,
            again: fold.times as u64 - 1,
        });
        folds.collect::<Vec<_>>()
    };
    [of_part(way), of_part(round)].into_iter().flatten().collect()
}

/// Prints steps one after the other.
struct StepPrinter<'v> {
    view: &'v TraceDisplayOptions,
    sources: &'v SourceMap,
    course: &'v StepSequence<'v>,
    /// The number of the next step, and of the first that is shown.
    next: u64,
    first: u64,
    /// The folds from the next step on.
    folded: VecDeque<FoldedSteps>,
    /// The values before the current fold.
    kept: Vec<(String, StateValue)>,
    /// The selected parts that no state has had so far.
    missing: Vec<&'v str>,
    /// The chart, if one is requested.
    chart: SequenceChart,
    /// The names of positions.
    names: PositionNames,
}

impl<'v> StepPrinter<'v> {
    fn new(
        view: &'v TraceDisplayOptions,
        sources: &'v SourceMap,
        course: &'v StepSequence<'v>,
    ) -> Self {
        let missing = view.only.iter().map(String::as_str).collect();
        let first = course.last - view.last.unwrap_or(course.last).min(course.last);
        let (folded, kept, chart) = (VecDeque::new(), Vec::new(), SequenceChart::default());
        let names = PositionNames::default();
        StepPrinter { view, sources, course, next: 0, first, folded, kept, missing, chart, names }
    }

    /// Finds the file of all positions, if it is one, and repetitions of shown steps. Steps with the same title and the
    /// same positions count as equal. The last step is always shown.
    fn survey(&mut self) {
        if self.view.chart {
            return;
        }
        let (mut number, mut list) = (0, Vec::new());
        let mut titles: HashMap<(String, String), u32> = HashMap::new();
        let mut files = BTreeSet::new();
        (self.course.visit_all)(&mut |step, values| {
            if number > 0 && self.is_shown(number, step, values) {
                files.extend(
                    positions(step).filter_map(|it| self.sources.place(it)).map(|it| it.file),
                );
                let is_foldable = number > self.first && number < self.course.last;
                if is_foldable && !self.view.unfolded {
                    let new = titles.len() as u32;
                    let title = (title(number, step), places(self.sources, step));
                    list.push((number, *titles.entry(title).or_insert(new)));
                }
            }
            number += 1;
        });
        self.folded.extend(fold_steps(&list, self.course.loop_start));
        let only = files.pop_first().filter(|_| files.is_empty());
        self.names = PositionNames::after(only);
    }

    /// Formats the next step with its changes. Empty if it is not shown.
    fn next(&mut self, step: &StepDescription, values: StepValues<'_>) -> String {
        let after = values.after;
        let number = self.next;
        self.next += 1;
        if self.view.chart {
            self.chart.add(number, step, values);
            return String::new();
        }
        let has = |it: &str| after.iter().any(|(name, value)| concerns(name, Some(value), it));
        self.missing.retain(|it| !has(it));
        let mut out = match self.folded.front() {
            Some(it) if number > it.shown.1 => self.left_out(number, after),
            folded => {
                if folded.is_some_and(|it| number == it.shown.1) {
                    self.kept = after.to_vec();
                }
                self.print_step(number, step, values)
            }
        };
        if self.course.loop_start == Some(number) {
            out += "       <<<the loop starts here>>>\n";
        }
        out
    }

    /// Formats a step with its changes. Empty if it is not shown.
    fn print_step(
        &mut self,
        number: u64,
        step: &StepDescription,
        values: StepValues<'_>,
    ) -> String {
        if !self.is_shown(number, step, values) {
            return String::new();
        }
        let mut out = match number == self.first && number > 0 {
            true => format!("       {} left out\n", count(number, "step")),
            false => String::new(),
        };
        let places = match number {
            0 => String::new(),
            _ => self.names.join(self.sources, &step.spans),
        };
        out += &places_behind(&format!("{number:>5}  {}", title(number, step)), &places);
        let lines = self.step_lines(number, step, values);
        lines.iter().for_each(|it| out += &wrapped("         ", it));
        out
    }

    /// Formats a step within a fold. The last of these steps shows their combined changes.
    fn left_out(&mut self, number: u64, after: &NamedValues) -> String {
        let Some(folded) = self.folded.pop_front_if(|it| number == it.until) else {
            return String::new();
        };
        let mut out = format!("  ...  {}\n", folded.summary());
        for change in self.changed_lines(&self.kept, after) {
            out += &wrapped("         ", &change);
        }
        out
    }

    /// Returns whether a step is shown. Steps without shown changes are left out, except the first and the last.
    fn is_shown(
        &self,
        number: u64,
        step: &StepDescription,
        StepValues { before, after }: StepValues<'_>,
    ) -> bool {
        let is_end = || number == self.first || number == self.course.last;
        let is_fault = || matches!(step.outcome, StepOutcome::Fault(_));
        let changes = || !self.changed_lines(before, after).is_empty();
        number >= self.first && (self.view.only.is_empty() || is_end() || is_fault() || changes())
    }

    /// Returns the lines of a step's changes.
    fn step_lines(
        &mut self,
        number: u64,
        step: &StepDescription,
        StepValues { before, after }: StepValues<'_>,
    ) -> Vec<String> {
        match &step.outcome {
            StepOutcome::Fault(fault) => {
                let names = &mut self.names;
                let mut locate = |span| names.locate(self.sources, span);
                let place = locate(fault.span).map_or(String::new(), |it| format!(" ({it})"));
                let error = format!("{}{place}", fault.title());
                let calls = call_lines(&fault.calls, &mut locate);
                let changed = match fault.reached {
                    Some(_) => self.changed_lines(before, after),
                    None => Vec::new(),
                };
                std::iter::once(error).chain(calls).chain(changed).collect()
            }
            StepOutcome::Successor(_) if number == self.first && self.view.only.is_empty() => {
                print_state(self.sources, after)
            }
            StepOutcome::Successor(_) if number == self.first => {
                let shown = after.iter().filter(|(name, value)| self.view.shows(name, Some(value)));
                shown.map(|(name, value)| format!("{name} = {value}")).collect()
            }
            StepOutcome::Successor(_) => self.changed_lines(before, after),
        }
    }

    /// Formats the changes of the shown parts.
    fn changed_lines(&self, before: &NamedValues, after: &NamedValues) -> Vec<String> {
        let changes = changes(before, after).into_iter();
        let shown = changes.filter(|it| self.view.shows(&it.name, it.new.or(it.old)));
        shown.flat_map(|it| lines(&it)).collect()
    }

    /// Returns the text after the last step: the chart, or the selected parts that never appeared.
    fn end(&self) -> String {
        match self.missing[..] {
            _ if self.view.chart => {
                self.chart.text(self.view.last, self.view.width.unwrap_or(WIDTH))
            }
            [] => String::new(),
            _ => format!("       there is no variable {}\n", self.missing.join(", ")),
        }
    }
}
