//! The steps of a counterexample, as text.

use super::NamedValues;
use super::changes::{StepValues, changes, lines, print_state};
use super::chart::SequenceChart;
use super::folding::folds;
use super::table::{WIDTH, places_behind, wrapped};
use crate::model::{CallSite, StateValue, StepDescription, StepOutcome};
use crate::numbers::count;
use crate::search::trace::Counterexample;
use crate::source::SourceMap;
use std::collections::{HashMap, VecDeque};

/// Which steps of a counterexample are shown, and what of them.
#[derive(Clone, Debug, Default)]
pub struct TraceDisplayOptions {
    /// So many of its last steps; all if nothing is said.
    pub last: Option<u64>,
    /// Variables or parts of some; then only the steps that change one of these, and what they change of them.
    pub only: Vec<String>,
    /// As a message sequence chart.
    pub chart: bool,
    /// Each step, also where some come again and again.
    pub unfolded: bool,
    /// Characters in a line of a chart; 80 if nothing is said.
    pub width: Option<usize>,
}

impl TraceDisplayOptions {
    /// Whether something is shown that is called so and has this value, or a part of it.
    fn shows(&self, name: &str, value: Option<&StateValue>) -> bool {
        self.only.is_empty() || self.only.iter().any(|it| concerns(name, value, it))
    }
}

/// Whether something is what a name says, or a part of that: `c[1].x` of `c`, `P[0].x` of `P`.
fn is_of(part: &str, name: &str) -> bool {
    part.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']))
}

/// Whether something is, or has a part that is, what a name says.
fn concerns(part: &str, value: Option<&StateValue>, name: &str) -> bool {
    let has_parts = || value.is_some_and(|it| !it.named_parts().is_empty());
    is_of(part, name) || is_of(name, part) && has_parts()
}

/// Is shown a step, the start at first, with the values around it.
pub(super) type StepCallback<'v> = dyn FnMut(&StepDescription, StepValues<'_>) + 'v;

/// Shows every step of a counterexample; behind one that fails there are no values.
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

/// Calls that are shown where a step failed: where there are more, the innermost and the outermost.
const CALLS_SHOWN: usize = 8;

/// The functions that a step failed in, the innermost first, each with where it is called.
pub fn call_lines(sources: &SourceMap, calls: &[CallSite]) -> Vec<String> {
    let line = |CallSite { function, span }: &CallSite| {
        let place = sources.locate(*span).map_or(String::new(), |it| format!(", called at {it}"));
        format!("in {function}{place}")
    };
    if calls.len() <= CALLS_SHOWN {
        return calls.iter().map(line).collect();
    }
    let (inner, outer) = (&calls[..CALLS_SHOWN / 2], &calls[calls.len() - CALLS_SHOWN / 2..]);
    let left_out = format!("in {} more calls", calls.len() - CALLS_SHOWN);
    inner.iter().map(line).chain([left_out]).chain(outer.iter().map(line)).collect()
}

/// What a step of a counterexample is called, by its number.
pub(super) fn title(number: u64, step: &StepDescription) -> String {
    if number == 0 { "initial state".to_owned() } else { step.title() }
}

/// Where a step stands, in a line.
pub(super) fn places(sources: &SourceMap, step: &StepDescription) -> String {
    let places = step.spans.iter().filter_map(|&span| sources.locate(span));
    places.collect::<Vec<_>>().join(" + ")
}

/// The steps of a counterexample.
pub(super) struct StepSequence<'c> {
    /// The number of the last one; the start is 0.
    pub last: u64,
    /// The number of the step behind which a loop begins, if it ends in one.
    pub loop_start: Option<u64>,
    /// Shows all of them, the same each time.
    pub visit_all: &'c dyn Fn(&mut StepCallback<'_>),
}

/// Writes the steps of a counterexample, each with what it changed, or what is wanted of that.
pub(super) fn write_steps(
    sources: &SourceMap,
    view: &TraceDisplayOptions,
    course: &StepSequence<'_>,
    write: &mut dyn FnMut(&str),
) {
    let mut steps = StepPrinter::new(view, sources, course);
    steps.fold();
    (course.visit_all)(&mut |step, values| write(&steps.next(step, values)));
    write(&steps.end());
}

/// Steps that come again and again.
pub(super) struct FoldedSteps {
    /// The numbers of the first and the last of those that are shown.
    shown: (u64, u64),
    /// That of the last that is left out.
    pub until: u64,
    /// How often they come again.
    again: u64,
}

impl FoldedSteps {
    /// The number of the first step that is left out.
    #[cfg(feature = "cli")]
    pub fn from(&self) -> u64 {
        self.shown.1 + 1
    }

    /// What is said instead of those that are left out.
    pub fn summary(&self) -> String {
        let steps = match self.shown {
            (from, to) if from == to => format!("step {from}"),
            (from, to) => format!("steps {from}-{to}"),
        };
        format!("{steps} again {}, to step {}", count(self.again, "time"), self.until)
    }
}

/// Which of some steps come again and again, each given as its number and what it is: what is left out is all before a
/// loop begins, or all in it.
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

/// Tells steps one after the other.
struct StepPrinter<'v> {
    view: &'v TraceDisplayOptions,
    sources: &'v SourceMap,
    course: &'v StepSequence<'v>,
    /// The number of the next one, and that of the first that is shown.
    next: u64,
    first: u64,
    /// What is left out from the next one on.
    folded: VecDeque<FoldedSteps>,
    /// The values before what is left out.
    kept: Vec<(String, StateValue)>,
    /// What is to be shown and was in no state.
    missing: Vec<&'v str>,
    /// Where a chart is wanted.
    chart: SequenceChart,
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
        StepPrinter { view, sources, course, next: 0, first, folded, kept, missing, chart }
    }

    /// Finds which steps come again and again, as far as they are shown: those with the same title. The last one is
    /// always shown.
    fn fold(&mut self) {
        if self.view.unfolded || self.view.chart {
            return;
        }
        let (mut number, mut list) = (0, Vec::new());
        let mut titles: HashMap<(String, String), u32> = HashMap::new();
        (self.course.visit_all)(&mut |step, values| {
            if (self.first + 1..self.course.last).contains(&number)
                && (self.view.only.is_empty() || self.step_lines(number, step, values).is_some())
            {
                let new = titles.len() as u32;
                list.push((number, *titles.entry(self.title(number, step)).or_insert(new)));
            }
            number += 1;
        });
        self.folded.extend(fold_steps(&list, self.course.loop_start));
    }

    /// The next step, the start at first, with what it changed of the state before; nothing if it is not shown.
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

    /// A step, with what it changed; nothing if it is not shown.
    fn print_step(&self, number: u64, step: &StepDescription, values: StepValues<'_>) -> String {
        let Some(told) = self.step_lines(number, step, values) else { return String::new() };
        let mut out = match number == self.first && number > 0 {
            true => format!("       {} left out\n", count(number, "step")),
            false => String::new(),
        };
        let (title, places) = self.title(number, step);
        out += &places_behind(&format!("{number:>5}  {title}"), &places);
        told.iter().for_each(|it| out += &wrapped("         ", it));
        out
    }

    /// One of the steps that are left out, the last of which tells what they changed together.
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

    /// What is told of a step; nothing if it is not shown.
    fn step_lines(
        &self,
        number: u64,
        step: &StepDescription,
        StepValues { before, after }: StepValues<'_>,
    ) -> Option<Vec<String>> {
        if number < self.first {
            return None;
        }
        let told = match &step.outcome {
            StepOutcome::Fault(fault) => {
                let place = self.sources.locate(fault.span);
                let place = place.map_or(String::new(), |it| format!(" ({it})"));
                let error = format!("{}: {}{place}", fault.kind.violation(), fault.message);
                let calls = call_lines(self.sources, &fault.calls);
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
        };
        // Steps that change nothing that is shown are of no interest, but for the ends.
        let is_end = number == self.first || number == self.course.last;
        (self.view.only.is_empty() || !told.is_empty() || is_end).then_some(told)
    }

    /// What changed of what is shown.
    fn changed_lines(&self, before: &NamedValues, after: &NamedValues) -> Vec<String> {
        let changes = changes(before, after).into_iter();
        let shown = changes.filter(|it| self.view.shows(&it.name, it.new.or(it.old)));
        shown.flat_map(|it| lines(&it)).collect()
    }

    /// What a step is called, and where it stands.
    fn title(&self, number: u64, step: &StepDescription) -> (String, String) {
        let places = if number == 0 { String::new() } else { places(self.sources, step) };
        (title(number, step), places)
    }

    /// What comes behind the last one: the chart, or what was to be shown and never there.
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
