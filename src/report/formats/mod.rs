//! Counterexamples as other tools read them.

mod diagrams;
mod itf;
mod junit;
mod sarif;
mod table;

pub use junit::junit;
pub use sarif::sarif;

use super::changes::{changes, lines};
use super::chart::Chart;
use super::steps::{places, title};
use super::{Ending, Values};
use crate::exec::{Step, Value};
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
    ending: &'t Ending,
    /// The start first. The last may fail: then there is no state behind it.
    steps: Vec<(Step, State)>,
}

/// A counterexample of a model of this name in a format.
pub fn formatted(
    format: Format,
    (model, sources): (&str, &Sources),
    ending: &Ending,
    way: &Counterexample,
) -> String {
    let mut steps = Vec::new();
    way.each_step(&mut |step, state| {
        steps.push((step.clone(), state.map(|state| way.describe(state))));
    });
    let told = Told { model, sources, ending, steps };
    match format {
        Format::Itf => itf::text(&told),
        Format::Csv => table::text(&told),
        Format::PlantUml => diagrams::plant_uml(&told),
        Format::Mermaid => diagrams::mermaid(&told),
    }
}

impl Told<'_> {
    /// What is violated, in a line.
    fn title(&self) -> String {
        let violation = &self.ending.violation;
        let title = format!("{}: {}: {}", self.model, violation.kind, violation.name);
        title.split_whitespace().collect::<Vec<_>>().join(" ")
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
