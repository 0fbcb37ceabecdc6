//! A walk through a model: a path of steps from an initial state, and the steps that may follow.

use crate::model::{
    StepDescription, StepOutcome, SystemDescription, Violation, is_reachability_kind,
};
use crate::report::WalkedSteps;
use crate::session::SourceModel;
use std::ops::ControlFlow;

/// A walk through a model.
pub(super) struct ModelWalk<'w> {
    /// The model that provides the texts.
    pub model: &'w dyn SourceModel,
    /// The system that takes the steps.
    pub walked: &'w dyn SystemDescription,
    /// The initial state, then each step. Only the last step may fail.
    pub steps: Vec<WalkStep>,
    /// The numbers of the properties that only watch expressions: they are neither violated nor fail.
    pub watched: Vec<u32>,
}

/// A step of a walk, or one that may follow it.
#[derive(Clone, Debug)]
pub(super) struct WalkStep {
    /// Its number among all steps of its state, or among all initial states.
    pub choice: usize,
    /// The step.
    pub step: StepDescription,
}

impl WalkStep {
    /// Returns the state that it leads to. `None` if it fails.
    pub(super) fn state(&self) -> Option<&[u8]> {
        match &self.step.outcome {
            StepOutcome::Successor(state) => Some(state),
            StepOutcome::Fault(_) => None,
        }
    }
}

impl<'w> ModelWalk<'w> {
    /// Creates a walk before its initial state.
    pub(super) fn new(model: &'w dyn SourceModel, walked: &'w dyn SystemDescription) -> Self {
        ModelWalk { model, walked, steps: Vec::new(), watched: Vec::new() }
    }

    /// Creates a walk along steps that `walked` has described.
    pub(super) fn along(
        model: &'w dyn SourceModel,
        walked: &'w dyn SystemDescription,
        steps: &[StepDescription],
    ) -> Self {
        let mut walk = ModelWalk::new(model, walked);
        for step in steps {
            let next = walk.find_step(|_, it| it == step);
            walk.steps.push(next.unwrap_or_else(|| unreachable!("`walked` described the step")));
        }
        walk
    }

    /// Returns the current state. `None` before the initial state, and after a failing step.
    pub(super) fn state(&self) -> Option<&[u8]> {
        self.steps.last().and_then(WalkStep::state)
    }

    /// Returns the first next step that `is_wanted` accepts by its number and its description.
    pub(super) fn find_step(
        &self,
        mut is_wanted: impl FnMut(usize, &StepDescription) -> bool,
    ) -> Option<WalkStep> {
        let mut found = None;
        self.visit_steps(&mut |choice, step| match is_wanted(choice, &step) {
            true => {
                found = Some(WalkStep { choice, step });
                ControlFlow::Break(())
            }
            false => ControlFlow::Continue(()),
        });
        found
    }

    /// Visits every step that may follow, with its number, until `visit` breaks off. There may be very many initial
    /// states.
    fn visit_steps(&self, visit: &mut dyn FnMut(usize, StepDescription) -> ControlFlow<()>) {
        match (self.steps.last(), self.state()) {
            (None, _) => {
                let mut choice = 0;
                self.walked.visit_starts(&mut |step| {
                    choice += 1;
                    visit(choice - 1, step)
                });
            }
            (Some(_), Some(state)) => {
                let steps = self.walked.steps(state).into_iter().enumerate();
                let mut steps = steps.filter(|(_, step)| !self.evaluates_watched(step));
                let _ = steps.try_for_each(|(choice, step)| visit(choice, step));
            }
            (Some(_), None) => {}
        }
    }

    /// Returns the steps that may follow, at most `most` of them. The walk ends at a failed assertion. The continuation
    /// after it, which a search explores, is left out.
    pub(super) fn options(&self, most: usize) -> Vec<WalkStep> {
        let mut all: Vec<WalkStep> = Vec::new();
        self.visit_steps(&mut |choice, step| {
            all.push(WalkStep { choice, step });
            match all.len() < most {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
        let fails_before =
            |it: &WalkStep| all.iter().any(|failed| it.step.continues_fault_of(&failed.step));
        all.iter().filter(|it| !fails_before(it)).cloned().collect()
    }

    /// Returns whether a step is the failed evaluation of a watched expression.
    fn evaluates_watched(&self, step: &StepDescription) -> bool {
        let judged = || self.walked.property_judged_by(step.action);
        let fails = matches!(step.outcome, StepOutcome::Fault(_));
        fails && !self.watched.is_empty() && judged().is_some_and(|it| self.watched.contains(&it))
    }

    /// Takes the next step of this number. Returns whether there is one.
    pub(super) fn take(&mut self, choice: usize) -> bool {
        let step = self.find_step(|number, _| number == choice);
        let is_there = step.is_some();
        self.steps.extend(step);
        is_there
    }

    /// Returns the numbers of its steps.
    pub(super) fn choices(&self) -> Vec<usize> {
        self.steps.iter().map(|it| it.choice).collect()
    }

    /// Returns its steps for reports.
    pub(super) fn walked_steps(&self) -> WalkedSteps<'_> {
        WalkedSteps { model: self.walked, steps: self.steps.iter().map(|it| &it.step).collect() }
    }

    /// Returns the violations in a state. A state that satisfies a reachability property violates nothing.
    pub(super) fn violations(&self, state: &[u8]) -> Vec<Violation> {
        let is_violated = |it: &Violation| match it {
            Violation::Property(number) => {
                let kind = self.walked.property(*number).map(|it| it.kind);
                !self.watched.contains(number) && !kind.is_some_and(is_reachability_kind)
            }
            Violation::Deadlock | Violation::Fault(..) => true,
        };
        self.walked.violations(state).into_iter().filter(is_violated).collect()
    }
}

#[cfg(any(feature = "editors", feature = "http"))]
impl ModelWalk<'_> {
    /// Goes to the end of a path. The part in common with the walk is kept. If a choice does not exist, the walk ends
    /// before it, and the result is false.
    pub(super) fn go(&mut self, choices: &[usize]) -> bool {
        let steps = &mut self.steps;
        let common = steps.iter().zip(choices).take_while(|(step, choice)| step.choice == **choice);
        let common = common.count();
        steps.truncate(common);
        choices[common..].iter().all(|&it| self.take(it))
    }
}
