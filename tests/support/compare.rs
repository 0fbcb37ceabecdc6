//! Whether two models are one: the same answer to every question, in the same order.
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

/// That whatever executes programs does as the interpreter does, in these states (whole states, one
/// after another). An executor more is added here.
pub fn all_agree(reference: &Interp, states: &[u8]) -> Agreement {
    let stepping = Retold::honestly(reference);
    agree_at_the_start(reference, &stepping)?;
    agree(reference, &stepping, states)?;
    // What is not compiled is interpreted in any case.
    if let Ok(jit) = Jit::new(reference) {
        agree_at_the_start(reference, &jit)?;
        agree(reference, &jit, states)?;
        steps_agree(reference, &jit, states)?;
    }
    // Functions compiled by themselves, or nearly nothing compiled at all: one of the two, so that
    // tests with many programs see both often.
    let by_themselves = CompileLimits { inlined: 0, ..CompileLimits::default() };
    let hardly = CompileLimits { memory: HARDLY, ..CompileLimits::default() };
    let has_functions = !reference.program().functions.is_empty();
    let is_even = reference.digest()[0].is_multiple_of(2);
    let limits = if has_functions && is_even { by_themselves } else { hardly };
    if let Ok(jit) = Jit::within(reference, limits) {
        agree(reference, &jit, states)?;
        steps_agree(reference, &jit, states)?;
    }
    Ok(())
}

/// So little memory that only the least functions are compiled, in bytes.
const HARDLY: u64 = 60_000;

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

/// What compiled code tells of a step.
fn compiled(step: StepDescription) -> CompiledStep {
    let outcome = match step.outcome {
        StepOutcome::Successor(state) => Ok(state),
        StepOutcome::Fault(fault) => Err((fault.kind, fault.span)),
    };
    CompiledStep { action: step.action, outcome }
}

/// Says where the first difference is.
pub type Agreement = Result<(), TestCaseError>;

/// That both give the same names, the same initial states and the same faults of starts.
pub fn agree_at_the_start(reference: &dyn StateSpace, other: &dyn StateSpace) -> Agreement {
    prop_assert_eq!(reference.width(), other.width());
    prop_assert_eq!(reference.bits(), other.bits());
    let [told, others] = [reference.description(), other.description()];
    prop_assert_eq!(told.properties(), others.properties());
    prop_assert_eq!(reference.write_masks(), other.write_masks());
    prop_assert_eq!(reference.digest(), other.digest());
    prop_assert_eq!(told.starts(), others.starts());
    let initial = |model: &dyn StateSpace| collect(model, usize::MAX, |out| model.initial(out));
    prop_assert_eq!(initial(reference), initial(other));
    Ok(())
}

/// That both do the same in each of `states` (whole states, one after another): expanded all at
/// once, expanded one by one into a buffer that is soon full, and step by step.
pub fn agree(reference: &dyn StateSpace, other: &dyn StateSpace, states: &[u8]) -> Agreement {
    let width = reference.width();
    let [told, others] = [reference.description(), other.description()];
    for state in states.chunks_exact(width) {
        prop_assert_eq!(told.steps(state), others.steps(state), "from {:?}", state);
        prop_assert_eq!(told.violations(state), others.violations(state), "in {:?}", state);
        blocks_agree(reference, other, state, 3 * width)?;
    }
    blocks_agree(reference, other, states, usize::MAX)?;
    if let Some(state) = states.chunks_exact(width).next() {
        prop_assert_eq!(told.describe(state), others.describe(state));
    }
    Ok(())
}

/// That both expand states to the same, handing over `limit` bytes at a time.
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
    // They may be too long to be shown.
    prop_assert!(
        successors == their_successors,
        "other successors of {} bytes of states",
        states.len()
    );
    Ok(())
}

/// What an expansion gave: all successors, how many, and the findings. Steps to states that are left
/// out are no steps that are told.
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
            .expect("room is always made");
    all.append(&mut buffer);
    (all, counters.candidates(), findings)
}

/// What there is to tell of a state: the steps out of it and what is wrong with it.
pub type Told = (Vec<StepDescription>, Vec<Violation>);

/// Changes what is told.
pub type Retell = fn(&mut Told);

/// A model that tells what another does: its expansions are put together from the other's steps,
/// so that the two ways of asking are held against each other. What it tells can be falsified, to
/// see whether a comparison would notice.
pub struct Retold<'a> {
    model: &'a dyn SystemDescription,
    /// What becomes of what [`StateSpace::steps`] and [`StateSpace::violations`] tell.
    in_steps: Retell,
    /// What becomes of what [`StateSpace::expand`] tells.
    in_expansions: Retell,
}

impl<'a> Retold<'a> {
    /// Changes nothing.
    pub fn honestly(model: &'a dyn SystemDescription) -> Self {
        Self::falsely(model, |_| {}, |_| {})
    }

    /// Changes what it is asked one by one, and what it is asked for in blocks.
    pub fn falsely(
        model: &'a dyn SystemDescription,
        in_steps: Retell,
        in_expansions: Retell,
    ) -> Self {
        Self { model, in_steps, in_expansions }
    }

    /// The truth about a state.
    pub fn told(model: &dyn SystemDescription, state: &[u8]) -> Told {
        (model.steps(state), model.violations(state))
    }

    fn retold(&self, retell: Retell, state: &[u8]) -> Told {
        let mut told = Self::told(self.model, state);
        retell(&mut told);
        told
    }
}

fn tell(steps: Vec<StepDescription>, state: &[u8], out: &mut SuccessorSink) {
    for step in steps {
        match step.outcome {
            StepOutcome::Successor(successor) => out.candidate(&successor),
            StepOutcome::Fault(fault) => {
                out.record_finding(Violation::Fault(fault.kind, step.action), state)
            }
        }
    }
}

impl StateSpace for Retold<'_> {
    fn width(&self) -> usize {
        self.model.width()
    }

    fn bits(&self) -> u32 {
        self.model.bits()
    }

    fn initial(&self, out: &mut SuccessorSink) {
        tell(self.model.starts(), &vec![0; self.width()], out);
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        for state in states.chunks_exact(self.width()) {
            let (steps, checks) = self.retold(self.in_expansions, state);
            tell(steps, state, out);
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

impl SystemDescription for Retold<'_> {
    fn steps(&self, state: &[u8]) -> Vec<StepDescription> {
        self.retold(self.in_steps, state).0
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
        self.retold(self.in_steps, state).1
    }

    fn describe(&self, state: &[u8]) -> Vec<(String, spillway::model::StateValue)> {
        self.model.describe(state)
    }

    fn program(&self) -> Option<&dyn ProgramDescription> {
        None
    }
}
