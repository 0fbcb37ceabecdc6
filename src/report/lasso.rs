//! Runs that go on for ever, as text and as JSON: a way to where it begins to repeat, and what is repeated.

use super::json;
use super::numbers::count;
use super::rows::wrapped;
use super::steps::{Course, View, Visit, write_steps};
use crate::exec::{Explain, Step, StepOutcome};
use crate::source::Sources;
use serde_json::Value;

/// A run of a model, step by step, as its reference semantics take it.
pub struct Run<'m> {
    /// Describes its states.
    pub model: &'m dyn Explain,
    /// The start, then each step; the last leads back.
    pub steps: Vec<Step>,
    /// The number of the step behind which what is repeated begins.
    pub back: usize,
    /// Whether it is known that there is no shorter one.
    pub is_shortest: bool,
}

/// How long a run is, up to where it repeats and from there.
pub(super) fn length(before: u64, round: u64) -> String {
    format!("{}, then {} again and again", count(before, "step"), count(round, "step"))
}

impl Run<'_> {
    /// Shows each step.
    fn each(&self, visit: &mut Visit<'_>) {
        let mut before = Vec::new();
        for step in &self.steps {
            let after = match &step.outcome {
                StepOutcome::Successor(state) => self.model.describe(state),
                StepOutcome::Fault(_) => Vec::new(),
            };
            visit(step, (&before, &after));
            before = after;
        }
    }

    /// How long it is.
    pub fn length(&self) -> String {
        let perhaps = if self.is_shortest { "" } else { "; there may be a shorter one" };
        let round = (self.steps.len() - 1 - self.back) as u64;
        length(self.back as u64, round) + perhaps
    }

    /// As text.
    pub fn text(&self, (sources, view): (&Sources, &View), name: &str) -> String {
        let mut out = wrapped("", &format!("counterexample: {name}: {}", self.length()));
        let course = Course {
            last: self.steps.len() as u64 - 1,
            loop_start: Some(self.back as u64),
            each: &|visit| self.each(visit),
        };
        write_steps((sources, view), &course, &mut |text| out += text);
        out + &format!("       from here it goes on as after step {}\n", self.back)
    }

    /// As JSON.
    pub fn json(&self, sources: &Sources) -> Value {
        let mut steps = Vec::new();
        self.each(&mut |step, values| {
            steps.push(json::step(sources, steps.len() as u64, step, values));
        });
        serde_json::json!({ "loop_start": self.back, "steps": steps })
    }
}
