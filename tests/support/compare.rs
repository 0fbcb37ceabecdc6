//! The comparison of two models: the same answer to every query, in the same order.
#![allow(dead_code)]

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use spillway::exec::jit::{CompileLimits, CompiledStep};
use spillway::exec::{Interp, Jit};
use spillway::model::{
    Capabilities, ExpansionOutcome, Findings, ProgramDescription, PropertyInfo, StateSpace,
    StepDescription, StepOutcome, SuccessorSink, SystemDescription, Violation,
};
use std::ops::ControlFlow;

/// Checks that every executor agrees with the interpreter in these states (whole states, one after another). A new
/// executor is added here.
pub fn all_agree(reference: &Interp, states: &[u8]) -> Agreement {
    let restated = RestatedModel::unchanged(reference);
    agree_at_the_start(reference, &restated)?;
    agree(reference, &restated, states)?;
    // A program that is not compiled is interpreted anyway.
    if let Ok(jit) = Jit::new(reference) {
        agree_at_the_start(reference, &jit)?;
        agree(reference, &jit, states)?;
        steps_agree(reference, &jit, states)?;
    }
    // Either functions are compiled separately, or almost nothing is compiled. Only one of the two is tested, so that
    // tests with many programs see both often.
    let separate_functions = CompileLimits { inlined: 0, ..CompileLimits::default() };
    let almost_uncompiled = CompileLimits { memory: ALMOST_UNCOMPILED, ..CompileLimits::default() };
    let has_functions = !reference.program().functions.is_empty();
    let is_even = reference.digest()[0].is_multiple_of(2);
    let limits = if has_functions && is_even { separate_functions } else { almost_uncompiled };
    if let Ok(jit) = Jit::within(reference, limits) {
        agree(reference, &jit, states)?;
        steps_agree(reference, &jit, states)?;
    }
    Ok(())
}

/// A memory limit in bytes under which only the smallest functions are compiled.
const ALMOST_UNCOMPILED: u64 = 60_000;

fn steps_agree(reference: &Interp, jit: &Jit, states: &[u8]) -> Agreement {
    let actions = reference.program().actions.len() as u32;
    for state in states.chunks_exact(reference.width()) {
        let steps = reference.steps(state).into_iter();
        let expected: Vec<CompiledStep> =
            steps.filter(|step| step.action < actions).map(compiled).collect();
        prop_assert_eq!(expected, jit.compiled_steps(state), "from {:?}", state);
    }
    Ok(())
}

/// Returns a step as compiled code describes it.
fn compiled(step: StepDescription) -> CompiledStep {
    let outcome = match step.outcome {
        StepOutcome::Successor(state) => Ok(state),
        StepOutcome::Fault(fault) => Err((fault.kind, fault.span)),
    };
    CompiledStep { action: step.action, outcome }
}

/// The result of a comparison; an error names the first difference.
pub type Agreement = Result<(), TestCaseError>;

/// Checks that both have the same names, the same initial states and the same faults of starts.
pub fn agree_at_the_start(reference: &dyn StateSpace, other: &dyn StateSpace) -> Agreement {
    prop_assert_eq!(reference.width(), other.width());
    prop_assert_eq!(reference.bits(), other.bits());
    let [expected, found] = [reference.description(), other.description()];
    prop_assert_eq!(expected.properties(), found.properties());
    prop_assert_eq!(reference.write_masks(), other.write_masks());
    prop_assert_eq!(reference.digest(), other.digest());
    prop_assert_eq!(expected.starts(), found.starts());
    let initial = |model: &dyn StateSpace| collect(model, usize::MAX, |out| model.initial(out));
    prop_assert_eq!(initial(reference), initial(other));
    Ok(())
}

/// Checks that both agree in each of the concatenated `states`: expanded together, expanded one by one into a small
/// buffer, and step by step.
pub fn agree(reference: &dyn StateSpace, other: &dyn StateSpace, states: &[u8]) -> Agreement {
    let width = reference.width();
    let [expected, found] = [reference.description(), other.description()];
    for state in states.chunks_exact(width) {
        prop_assert_eq!(expected.steps(state), found.steps(state), "from {:?}", state);
        prop_assert_eq!(expected.violations(state), found.violations(state), "in {:?}", state);
        blocks_agree(reference, other, state, 3 * width)?;
    }
    blocks_agree(reference, other, states, usize::MAX)?;
    if let Some(state) = states.chunks_exact(width).next() {
        prop_assert_eq!(expected.describe(state), found.describe(state));
    }
    Ok(())
}

/// Checks that both expand states to the same result, through a buffer of `limit` bytes.
fn blocks_agree(
    reference: &dyn StateSpace,
    other: &dyn StateSpace,
    states: &[u8],
    limit: usize,
) -> Agreement {
    let (successors, transitions, findings) = expand(reference, states, limit);
    let (their_successors, their_transitions, their_findings) = expand(other, states, limit);
    prop_assert_eq!(findings, their_findings);
    prop_assert_eq!(transitions, their_transitions);
    // They may be too long to print.
    prop_assert!(
        successors == their_successors,
        "other successors of {} bytes of states",
        states.len()
    );
    Ok(())
}

/// The result of an expansion: all successors, their number, and the findings. Steps to excluded states are not
/// included.
type Expanded = (Vec<u8>, u64, Findings);

fn expand(model: &dyn StateSpace, states: &[u8], limit: usize) -> Expanded {
    collect(model, limit, |out| model.expand(states, out))
}

fn collect(model: &dyn StateSpace, limit: usize, ask: impl FnOnce(&mut SuccessorSink)) -> Expanded {
    let (mut all, mut buffer) = (Vec::new(), Vec::new());
    let on_full = |buffer: &mut Vec<u8>| {
        all.append(buffer);
        ControlFlow::Continue(())
    };
    let ExpansionOutcome { counters, findings, .. } =
        SuccessorSink::collect_in_batches(model.width(), &mut buffer, limit, on_full, ask)
            .expect("`reserve` returns space");
    all.append(&mut buffer);
    (all, counters.candidates(), findings)
}

/// The answers about a state: its steps and its violations.
pub type StateAnswers = (Vec<StepDescription>, Vec<Violation>);

/// A change of answers.
pub type AnswerChange = fn(&mut StateAnswers);

/// A model that repeats the answers of another model: its expansions are built from the other's steps, so that both
/// interfaces are compared. The answers can be falsified, to test that a comparison detects differences.
pub struct RestatedModel<'a> {
    model: &'a dyn SystemDescription,
    /// The change of the results of [`StateSpace::steps`] and [`StateSpace::violations`].
    in_steps: AnswerChange,
    /// The change of the results of [`StateSpace::expand`].
    in_expansions: AnswerChange,
}

impl<'a> RestatedModel<'a> {
    /// Creates a model without changes.
    pub fn unchanged(model: &'a dyn SystemDescription) -> Self {
        Self::falsified(model, |_| {}, |_| {})
    }

    /// Creates a model with changes of its steps and of its expansions.
    pub fn falsified(
        model: &'a dyn SystemDescription,
        in_steps: AnswerChange,
        in_expansions: AnswerChange,
    ) -> Self {
        Self { model, in_steps, in_expansions }
    }

    /// Returns the true answers about a state.
    pub fn true_answers(model: &dyn SystemDescription, state: &[u8]) -> StateAnswers {
        (model.steps(state), model.violations(state))
    }

    fn changed_answers(&self, change: AnswerChange, state: &[u8]) -> StateAnswers {
        let mut answers = Self::true_answers(self.model, state);
        change(&mut answers);
        answers
    }
}

fn record_steps(steps: Vec<StepDescription>, state: &[u8], out: &mut SuccessorSink) {
    for step in steps {
        match step.outcome {
            StepOutcome::Successor(successor) => out.candidate(&successor),
            StepOutcome::Fault(fault) => {
                out.record_finding(Violation::Fault(fault.kind, step.action), state)
            }
        }
    }
}

impl StateSpace for RestatedModel<'_> {
    fn width(&self) -> usize {
        self.model.width()
    }

    fn bits(&self) -> u32 {
        self.model.bits()
    }

    fn initial(&self, out: &mut SuccessorSink) {
        record_steps(self.model.starts(), &vec![0; self.width()], out);
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        for state in states.chunks_exact(self.width()) {
            let (steps, checks) = self.changed_answers(self.in_expansions, state);
            record_steps(steps, state, out);
            checks.into_iter().for_each(|check| out.record_finding(check, state));
        }
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        self.model.write_masks()
    }

    fn digest(&self) -> [u8; 32] {
        self.model.digest()
    }

    fn description(&self) -> &dyn SystemDescription {
        self
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities::NONE
    }
}

impl SystemDescription for RestatedModel<'_> {
    fn steps(&self, state: &[u8]) -> Vec<StepDescription> {
        self.changed_answers(self.in_steps, state).0
    }

    fn visit_starts(&self, visit: &mut dyn FnMut(StepDescription) -> ControlFlow<()>) {
        self.model.visit_starts(visit);
    }

    fn properties(&self) -> Vec<PropertyInfo> {
        self.model.properties()
    }

    fn action_name(&self, action: u32) -> String {
        self.model.action_name(action)
    }

    fn violations(&self, state: &[u8]) -> Vec<Violation> {
        self.changed_answers(self.in_steps, state).1
    }

    fn describe(&self, state: &[u8]) -> Vec<(String, spillway::model::StateValue)> {
        self.model.describe(state)
    }

    fn program(&self) -> Option<&dyn ProgramDescription> {
        None
    }
}
