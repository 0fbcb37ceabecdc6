//! The path of a debug session through a model: steps that were taken, and steps that follow.

use crate::cli::explored_trace::ExploredTrace;
use crate::cli::model_walk::{ModelWalk, WalkStep};
use crate::model::{RuntimeFault, StepOutcome};
use crate::random::SplitMix64;

/// The maximum number of enabled steps of a state among which one is chosen.
pub(super) const OPTIONS_MAX: usize = 1000;

/// A path through a model. It follows the counterexample as long as no other step is chosen.
pub(super) struct DebugPath<'p> {
    /// The steps that were taken. The first leads to the initial state.
    pub walk: ModelWalk<'p>,
    /// The steps that were taken back, the next one last.
    ahead: Vec<WalkStep>,
    /// The counterexample, if there is one.
    pub trace: Option<&'p ExploredTrace>,
    /// The seed of random steps. Without it the first enabled step is taken.
    seed: Option<u64>,
}

impl<'p> DebugPath<'p> {
    /// Creates a path at its initial state.
    pub(super) fn new(
        walk: ModelWalk<'p>,
        trace: Option<&'p ExploredTrace>,
        seed: Option<u64>,
    ) -> DebugPath<'p> {
        let mut path = DebugPath { walk, ahead: Vec::new(), trace, seed };
        path.advance();
        path
    }

    /// Returns the number of steps that lead to the initial state and from it.
    pub(super) fn len(&self) -> usize {
        self.walk.steps.len()
    }

    /// Returns the choices of the steps.
    pub(super) fn choices(&self) -> Vec<usize> {
        self.walk.steps.iter().map(|it| it.choice).collect()
    }

    /// Returns whether it follows the counterexample.
    pub(super) fn is_on_trace(&self) -> bool {
        self.trace.is_some_and(|it| it.choices.starts_with(&self.choices()))
    }

    /// Returns whether it is at the end of the counterexample.
    pub(super) fn is_at_trace_end(&self) -> bool {
        self.trace.is_some_and(|it| it.choices == self.choices())
    }

    /// Returns the next step, if there is one.
    pub(super) fn planned(&self) -> Option<WalkStep> {
        if let Some(step) = self.ahead.last() {
            return Some(step.clone());
        }
        if let Some(trace) = self.trace.filter(|_| self.is_on_trace()) {
            let choice = *trace.choices.get(self.len())?;
            return self.walk.find_step(|number, _| number == choice);
        }
        let mut options = self.walk.options(OPTIONS_MAX);
        let number = match self.seed {
            _ if options.is_empty() => return None,
            None => 0,
            // The choice depends on the position alone, so that a step that is taken back is taken again.
            Some(seed) => SplitMix64::new(seed ^ self.len() as u64).below(options.len()),
        };
        Some(options.swap_remove(number))
    }

    /// Takes the next step. Returns whether there is one.
    pub(super) fn advance(&mut self) -> bool {
        let next = self.planned();
        self.ahead.pop();
        let is_there = next.is_some();
        self.walk.steps.extend(next);
        is_there
    }

    /// Takes a step by its number. Returns whether there is one.
    pub(super) fn choose(&mut self, choice: usize) -> bool {
        if self.planned().is_some_and(|it| it.choice == choice) {
            return self.advance();
        }
        let is_there = self.walk.take(choice);
        if is_there {
            self.ahead.clear();
        }
        is_there
    }

    /// Takes back the last step. Returns whether there is one after the initial state.
    pub(super) fn go_back(&mut self) -> bool {
        if self.len() <= 1 {
            return false;
        }
        self.ahead.extend(self.walk.steps.pop());
        if self.is_on_trace() {
            // The counterexample continues from here.
            self.ahead.clear();
        }
        true
    }

    /// Begins the cycle of the counterexample again, at its end. Returns whether there is one.
    pub(super) fn repeat_cycle(&mut self) -> bool {
        let back = self.trace.filter(|_| self.is_at_trace_end()).and_then(|it| it.loop_start);
        let Some(back) = back else { return false };
        self.walk.steps.truncate(back + 1);
        self.ahead.clear();
        true
    }

    /// Returns the error in the last step.
    pub(super) fn fault(&self) -> Option<&RuntimeFault> {
        match &self.walk.steps.last()?.step.outcome {
            StepOutcome::Fault(fault) => Some(fault),
            StepOutcome::Successor(_) => None,
        }
    }

    /// Returns the state that is shown: the current one, or what a failing step has reached, or the state before it.
    pub(super) fn shown_state(&self) -> Option<&[u8]> {
        let before = || self.walk.steps.iter().rev().find_map(WalkStep::state);
        let reached = self.fault().and_then(|it| it.reached.as_deref());
        self.walk.state().or(reached).or_else(before)
    }
}
