//! Counterexamples as other tools read them.

mod diagrams;
mod failed;
mod itf;
mod junit;
mod sarif;
mod table;

pub use failed::Failed;
pub use junit::{junit, junit_of_failure};
pub use sarif::{sarif, sarif_of_failure};

use super::changes::{changes, lines};
use super::chart::Chart;
use super::steps::{Course, places, title};
use super::{Ending, Run, Values};
use crate::exec::{Step, StepOutcome, Value};
use crate::search::trace::Counterexample;
use crate::source::Sources;

/// A format that others read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The informal trace format of Apalache and its kin, as JSON: the states, each variable with its value.
    Itf,
    /// A table of comma-separated values: the steps, each variable with its value behind it.
    Csv,
    /// A sequence diagram of PlantUML.
    PlantUml,
    /// A sequence diagram of Mermaid.
    Mermaid,
}

/// A state as the values of its variables; nothing where a step fails.
type State = Option<Vec<(String, Value)>>;

/// A counterexample with the values in all its states.
struct Told<'t> {
    model: &'t str,
    sources: &'t Sources,
    /// What is violated, in a line.
    title: String,
    /// The start first. The last may fail: then there is no state behind it.
    steps: Vec<(Step, State)>,
    /// The number of the step behind which a loop begins, if the last one leads back there.
    loop_start: Option<usize>,
}

/// A counterexample of a model of this name in a format.
pub fn formatted(
    format: Format,
    of: (&str, &Sources),
    ending: &Ending,
    way: &Counterexample,
) -> String {
    let violation = &ending.violation;
    let violated = format!("{}: {}", violation.kind, violation.name);
    ending.along(way, |course| Told::along(course, of, &violated).text(format))
}

/// A run of a model of this name that does not have the property of that name, in a format.
pub fn formatted_run(format: Format, of: (&str, &Sources), run: &Run, name: &str) -> String {
    run.along(|course| Told::along(course, of, name).text(format))
}

impl<'t> Told<'t> {
    fn along(
        course: &Course<'_>,
        (model, sources): (&'t str, &'t Sources),
        violated: &str,
    ) -> Self {
        let mut steps = Vec::new();
        (course.each)(&mut |step, (_, after)| {
            let state = match step.outcome {
                StepOutcome::Successor(_) => Some(after.to_vec()),
                StepOutcome::Fault(_) => None,
            };
            steps.push((step.clone(), state));
        });
        let title = format!("{model}: {violated}");
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        let loop_start = course.loop_start.map(|it| it as usize);
        Told { model, sources, title, steps, loop_start }
    }

    fn text(&self, format: Format) -> String {
        match format {
            Format::Itf => itf::text(self),
            Format::Csv => table::text(self),
            Format::PlantUml => diagrams::plant_uml(self),
            Format::Mermaid => diagrams::mermaid(self),
        }
    }

    /// The variables of all states, in the order in which they come up.
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

    /// What a step is called, by its number.
    fn title_of(&self, number: usize) -> String {
        title(number as u64, &self.steps[number].0)
    }

    /// Where a step stands.
    fn places(&self, step: &Step) -> String {
        places(self.sources, step)
    }

    /// The chart of all steps, and what each changes.
    fn chart(&self) -> (Chart, Vec<Vec<String>>) {
        let (mut chart, mut changed) = (Chart::default(), Vec::new());
        let mut before: &Values = &[];
        for (number, (step, after)) in self.steps.iter().enumerate() {
            let after = after.as_deref().unwrap_or_default();
            if number > 0 {
                chart.add(number as u64, step, (before, after));
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
