//! Counterexamples in the formats of other tools.

mod diagrams;
mod failure_report;
mod itf;
#[cfg(feature = "junit")]
mod junit;
#[cfg(not(feature = "junit"))]
#[path = "no_junit.rs"]
mod junit;
mod sarif;
mod table;
mod tlc;

pub use failure_report::FailureReport;
pub use junit::{junit, junit_of_failure};
pub use sarif::{sarif, sarif_of_failure};

use super::changes::{StepValues, changes, lines};
use super::chart::SequenceChart;
use super::steps::{StepSequence, places, title};
use super::{CounterexampleEnd, NamedValues, ViolatingRun, WalkedSteps};
use crate::model::{StateValue, StepDescription, StepOutcome};
use crate::search::trace::Counterexample;
use crate::source::SourceMap;

/// A format of other tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceFormat {
    /// The Informal Trace Format of Apalache and related tools, as JSON: the states, each variable with its value.
    Itf,
    /// Comma-separated values: the steps, each with the values of the variables after it.
    Csv,
    /// A sequence diagram of PlantUML.
    PlantUml,
    /// A sequence diagram of Mermaid.
    Mermaid,
    /// The states as TLC prints them, with values in TLA+.
    Tlc,
}

impl TraceFormat {
    /// The name of [`TraceFormat::Tlc`] on the command line: that of the language of its values.
    pub const TLC_NAME: &str = "tla";
}

/// The values of the variables in a state. `None` if a step fails.
type StateValuation = Option<Vec<(String, StateValue)>>;

/// A counterexample with the values in all its states.
struct ValuedTrace<'t> {
    model: &'t str,
    sources: &'t SourceMap,
    /// A line about the violation.
    title: String,
    /// The steps, beginning with the initial state. The last step may fail, and then has no state.
    steps: Vec<(StepDescription, StateValuation)>,
    /// The number of the step after which a cycle begins, if the last step closes one.
    loop_start: Option<usize>,
}

/// Formats a counterexample of a model of this name.
pub fn format_counterexample(
    format: TraceFormat,
    model: &str,
    sources: &SourceMap,
    ending: &CounterexampleEnd,
    way: &Counterexample,
) -> String {
    let violation = &ending.violation;
    let violated = format!("{}: {}", violation.kind, violation.name);
    ending.with_steps(way, |course| {
        ValuedTrace::from_steps(course, model, sources, &violated).text(format)
    })
}

/// Formats a run of a model of this name that violates the property of that name.
pub fn format_run(
    format: TraceFormat,
    model: &str,
    sources: &SourceMap,
    run: &ViolatingRun,
    name: &str,
) -> String {
    run.with_steps(|course| ValuedTrace::from_steps(course, model, sources, name).text(format))
}

/// Formats steps of a model of this name, under a title.
pub fn format_steps(
    format: TraceFormat,
    model: &str,
    sources: &SourceMap,
    steps: &WalkedSteps<'_>,
    title: &str,
) -> String {
    steps.with_steps(|course| ValuedTrace::from_steps(course, model, sources, title).text(format))
}

impl<'t> ValuedTrace<'t> {
    fn from_steps(
        course: &StepSequence<'_>,
        model: &'t str,
        sources: &'t SourceMap,
        violated: &str,
    ) -> Self {
        let mut steps = Vec::new();
        (course.visit_all)(&mut |step, values| {
            let state = match step.outcome {
                StepOutcome::Successor(_) => Some(values.after.to_vec()),
                StepOutcome::Fault(_) => None,
            };
            steps.push((step.clone(), state));
        });
        let title = format!("{model}: {violated}");
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        let loop_start = course.loop_start.map(|it| it as usize);
        ValuedTrace { model, sources, title, steps, loop_start }
    }

    fn text(&self, format: TraceFormat) -> String {
        match format {
            TraceFormat::Itf => itf::text(self),
            TraceFormat::Csv => table::text(self),
            TraceFormat::PlantUml => diagrams::plant_uml(self),
            TraceFormat::Mermaid => diagrams::mermaid(self),
            TraceFormat::Tlc => tlc::text(self),
        }
    }

    /// Returns the variables of all states, in order of appearance.
    fn variables(&self) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        let mut known = std::collections::HashSet::new();
        for (name, _) in self.steps.iter().filter_map(|(_, values)| values.as_ref()).flatten() {
            if known.insert(name.as_str()) {
                all.push(name);
            }
        }
        all
    }

    /// Returns the title of a step by its number.
    fn title_of(&self, number: usize) -> String {
        title(number as u64, &self.steps[number].0)
    }

    /// Returns the positions of a step in the source.
    fn places(&self, step: &StepDescription) -> String {
        places(self.sources, step)
    }

    /// Returns the chart of all steps, and the changes of each.
    fn chart(&self) -> (SequenceChart, Vec<Vec<String>>) {
        let (mut chart, mut changed) = (SequenceChart::default(), Vec::new());
        let mut before: &NamedValues = &[];
        for (number, (step, after)) in self.steps.iter().enumerate() {
            let after = after.as_deref().unwrap_or_default();
            if number > 0 {
                chart.add(number as u64, step, StepValues { before, after });
            }
            let is_told = number > 0 && !after.is_empty();
            changed.push(match is_told {
                true => changes(before, after).iter().flat_map(lines).collect(),
                false => Vec::new(),
            });
            before = after;
        }
        (chart, changed)
    }
}
