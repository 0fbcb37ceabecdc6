//! Runs that violate a temporal property, as text and as JSON. A run is a lasso, or a finite path after which every
//! continuation violates the property.

use super::changes::StepValues;
use super::cycle::RunCycle;
use super::final_state::FinalStateView;
use super::json::step as step_as_json;
use super::steps::{StepCallback, StepSequence, TraceDisplayOptions, TraceHeading, write_steps};
use super::table::row;
use crate::model::{StepDescription, StepOutcome, SystemDescription};
use crate::numbers::count;
use crate::source::SourceMap;
use serde_json::{Value, json};
use std::fmt;

/// A run of a model, with steps of the reference semantics.
pub struct ViolatingRun<'m> {
    /// The model that describes the states.
    pub model: &'m dyn SystemDescription,
    /// The initial state, then each step.
    pub steps: Vec<StepDescription>,
    /// The continuation after the steps.
    pub end: ViolatingRunEnd,
    /// Whether no run is shorter.
    pub is_shortest: bool,
}

/// The continuation of a violating run after its steps.
pub enum ViolatingRunEnd {
    /// A cycle: the last step leads back to an earlier state.
    Loop(RunCycle),
    /// Any continuation: the property is already violated in this state.
    Decided(Box<FinalStateView>),
}

/// Formats the lengths of the stem and of the cycle.
pub(super) fn length(before: u64, round: u64) -> String {
    format!("{}, then a cycle of {}", count(before, "step"), count(round, "step"))
}

/// Prints the length, the steps with their changes, and the start of the cycle. For a model from a text,
/// [`ViolatingRun::text`] prints the positions of steps as well.
impl fmt::Display for ViolatingRun<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heading = TraceHeading { what: "run", title: &self.length() };
        let (sources, view) = (SourceMap::default(), TraceDisplayOptions::default());
        f.write_str(&self.text_after(&heading, &sources, &view))
    }
}

impl<'m> ViolatingRun<'m> {
    /// Creates a lasso. Its last step leads to the state after the step of number `back`.
    pub fn with_cycle(
        model: &'m dyn SystemDescription,
        steps: Vec<StepDescription>,
        back: usize,
        sources: &SourceMap,
    ) -> Self {
        let end = ViolatingRunEnd::Loop(RunCycle::of(model, &steps, back, sources));
        ViolatingRun { model, steps, end, is_shortest: false }
    }

    /// Sets whether the run is known to be shortest.
    pub fn shortest_if(self, is_shortest: bool) -> Self {
        ViolatingRun { is_shortest, ..self }
    }

    /// Visits each step.
    fn each(&self, visit: &mut StepCallback<'_>) {
        let mut before = Vec::new();
        for step in &self.steps {
            let after = match &step.outcome {
                StepOutcome::Successor(state) => self.model.describe(state),
                StepOutcome::Fault(_) => Vec::new(),
            };
            visit(step, StepValues { before: &before, after: &after });
            before = after;
        }
    }

    /// Returns the length of the run.
    pub fn length(&self) -> String {
        let perhaps = if self.is_shortest { "" } else { "; there may be a shorter one" };
        let last = self.steps.len() as u64 - 1;
        let length = match self.loop_start() {
            Some(back) => length(back as u64, last - back as u64),
            None => format!("{}, whatever follows", count(last, "step")),
        };
        length + perhaps
    }

    /// Formats the run as text.
    pub fn text(&self, sources: &SourceMap, view: &TraceDisplayOptions, name: &str) -> String {
        let title = format!("{name}: {}", self.length());
        self.text_after(&TraceHeading { what: "counterexample", title: &title }, sources, view)
    }

    /// Formats the run below a heading.
    fn text_after(
        &self,
        heading: &TraceHeading<'_>,
        sources: &SourceMap,
        view: &TraceDisplayOptions,
    ) -> String {
        let mut out = String::new();
        self.with_steps(|course| {
            write_steps(sources, view, course, heading, &mut |text| out += text)
        });
        out + &match self.loop_start() {
            Some(back) => format!("       back to the state after step {back}\n"),
            None => "       whatever follows now, the property is violated\n".to_owned(),
        }
    }

    /// Passes the steps to a function.
    pub(super) fn with_steps<T>(&self, and_then: impl FnOnce(&StepSequence<'_>) -> T) -> T {
        and_then(&StepSequence {
            last: self.steps.len() as u64 - 1,
            loop_start: self.loop_start().map(|it| it as u64),
            visit_all: &|visit| self.each(visit),
        })
    }

    /// Formats rows: the length, and the roles of processes in the cycle or the violating state.
    pub fn rows(&self) -> String {
        let scene = match &self.end {
            ViolatingRunEnd::Loop(round) => round.rows(),
            ViolatingRunEnd::Decided(scene) => scene.rows(),
        };
        row("after", &self.length()) + &scene
    }

    /// Returns the run as JSON.
    pub fn json(&self, sources: &SourceMap) -> Value {
        let mut steps = Vec::new();
        self.each(&mut |step, values| {
            steps.push(step_as_json(sources, steps.len() as u64, step, values));
        });
        let [operands, ends_at] = match &self.end {
            ViolatingRunEnd::Loop(round) => [json!({}), round.json()],
            ViolatingRunEnd::Decided(scene) => scene.members(),
        };
        json!({
            "loop_start": self.loop_start(), "operands": operands, "ends_at": ends_at, "steps": steps,
        })
    }

    /// Returns the number of the step after which the cycle begins. `None` if there is no cycle.
    pub fn loop_start(&self) -> Option<usize> {
        match &self.end {
            ViolatingRunEnd::Loop(round) => Some(round.back),
            ViolatingRunEnd::Decided(_) => None,
        }
    }
}
