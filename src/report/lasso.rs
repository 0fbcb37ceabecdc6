//! Runs that violate a property, as text and as JSON: a way to where it begins to repeat, and what is repeated; or a way to
//! where it is violated whatever follows.

use super::changes::StepValues;
use super::cycle::RunCycle;
use super::final_state::FinalStateView;
use super::json::step as step_as_json;
use super::steps::{StepCallback, StepSequence, TraceDisplayOptions, write_steps};
use super::table::{row, wrapped};
use crate::model::{StepDescription, StepOutcome, SystemDescription};
use crate::numbers::count;
use crate::source::SourceMap;
use serde_json::{Value, json};
use std::fmt;

/// A run of a model, step by step, as its reference semantics take it.
pub struct ViolatingRun<'m> {
    /// Describes its states.
    pub model: &'m dyn SystemDescription,
    /// The start, then each step.
    pub steps: Vec<StepDescription>,
    /// What comes behind them.
    pub end: ViolatingRunEnd,
    /// Whether it is known that there is no shorter one.
    pub is_shortest: bool,
}

/// How a run that violates a property goes on behind the steps that are shown.
pub enum ViolatingRunEnd {
    /// As behind an earlier step: the last one leads back there.
    Loop(RunCycle),
    /// In whatever way: it is violated by then, where it looks so.
    Decided(Box<FinalStateView>),
}

/// How long a run is, up to where it repeats and from there.
pub(super) fn length(before: u64, round: u64) -> String {
    format!("{}, then {} again and again", count(before, "step"), count(round, "step"))
}

/// Shown, it is how long it is, its steps, each with what it changed, and where it goes on. Of a model from a
/// text [`ViolatingRun::text`] tells where the steps stand, too.
impl fmt::Display for ViolatingRun<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&wrapped("", &format!("run: {}", self.length())))?;
        f.write_str(&self.steps_as_text(&SourceMap::default(), &TraceDisplayOptions::default()))
    }
}

impl<'m> ViolatingRun<'m> {
    /// One that goes on as behind the step of this number, where its last step leads.
    pub fn with_cycle(
        model: &'m dyn SystemDescription,
        steps: Vec<StepDescription>,
        back: usize,
        sources: &SourceMap,
    ) -> Self {
        let end = ViolatingRunEnd::Loop(RunCycle::of(model, &steps, back, sources));
        ViolatingRun { model, steps, end, is_shortest: false }
    }

    /// The same, where it may be known that there is no shorter one.
    pub fn shortest_if(self, is_shortest: bool) -> Self {
        ViolatingRun { is_shortest, ..self }
    }

    /// Shows each step.
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

    /// How long it is.
    pub fn length(&self) -> String {
        let perhaps = if self.is_shortest { "" } else { "; there may be a shorter one" };
        let last = self.steps.len() as u64 - 1;
        let length = match self.loop_start() {
            Some(back) => length(back as u64, last - back as u64),
            None => format!("{}, whatever follows", count(last, "step")),
        };
        length + perhaps
    }

    /// As text.
    pub fn text(&self, sources: &SourceMap, view: &TraceDisplayOptions, name: &str) -> String {
        let heading = format!("counterexample: {name}: {}", self.length());
        wrapped("", &heading) + &self.steps_as_text(sources, view)
    }

    /// Does something with the course of its steps.
    pub(super) fn with_steps<T>(&self, and_then: impl FnOnce(&StepSequence<'_>) -> T) -> T {
        and_then(&StepSequence {
            last: self.steps.len() as u64 - 1,
            loop_start: self.loop_start().map(|it| it as u64),
            visit_all: &|visit| self.each(visit),
        })
    }

    /// The steps, and how it goes on behind them.
    fn steps_as_text(&self, sources: &SourceMap, view: &TraceDisplayOptions) -> String {
        let mut out = String::new();
        self.with_steps(|course| write_steps(sources, view, course, &mut |text| out += text));
        out + &match self.loop_start() {
            Some(back) => format!("       from here it goes on as after step {back}\n"),
            None => "       whatever follows now, the property is violated\n".to_owned(),
        }
    }

    /// In rows: how long it is, and what it looks like where it is violated whatever follows, or who moves in its loop.
    pub fn rows(&self) -> String {
        let scene = match &self.end {
            ViolatingRunEnd::Loop(round) => round.rows(),
            ViolatingRunEnd::Decided(scene) => scene.rows(),
        };
        row("after", &self.length()) + &scene
    }

    /// As JSON.
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

    /// The number of the step behind which what is repeated begins, if it is not violated before.
    pub fn loop_start(&self) -> Option<usize> {
        match &self.end {
            ViolatingRunEnd::Loop(round) => Some(round.back),
            ViolatingRunEnd::Decided(_) => None,
        }
    }
}
