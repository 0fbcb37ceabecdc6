//! Runs that go on for ever, as text and as JSON: a way to where it begins to repeat, and what is repeated.

use super::numbers::count;
use super::steps::{Steps, View};
use super::{Values, json};
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

/// Is shown a step with its number, and what the state before and what that after it are.
type VisitStep<'v> = dyn FnMut(usize, &Step, (&Values, &Values)) + 'v;

impl Run<'_> {
    /// Shows each step.
    fn each(&self, visit: &mut VisitStep<'_>) {
        let mut before = Vec::new();
        for (number, step) in self.steps.iter().enumerate() {
            let after = match &step.outcome {
                StepOutcome::Successor(state) => self.model.describe(state),
                StepOutcome::Fault(_) => Vec::new(),
            };
            visit(number, step, (&before, &after));
            before = after;
        }
    }

    /// How long it is.
    pub fn length(&self) -> String {
        let round = count((self.steps.len() - 1 - self.back) as u64, "step");
        let before = count(self.back as u64, "step");
        let perhaps = if self.is_shortest { "" } else { "; there may be a shorter one" };
        format!("{before}, then {round} again and again{perhaps}")
    }

    /// As text.
    pub fn text(&self, (sources, view): (&Sources, &View), name: &str) -> String {
        let mut out = format!("counterexample: {name}: {}\n", self.length());
        let mut steps = Steps::new(view, sources, self.steps.len() as u64 - 1);
        self.each(&mut |number, step, values| {
            out += &steps.next(step, values);
            if number == self.back && !view.chart {
                out += "       <<<the loop starts here>>>\n";
            }
        });
        out += &steps.end();
        out + &format!("       from here it goes on as after step {}\n", self.back)
    }

    /// As JSON.
    pub fn json(&self, sources: &Sources) -> Value {
        let mut steps = Vec::new();
        self.each(&mut |number, step, values| {
            steps.push(json::step(sources, number as u64, step, values));
        });
        serde_json::json!({ "loop_start": self.back, "steps": steps })
    }
}
