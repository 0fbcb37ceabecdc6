//! Whether two models are one: the same answer to every question, in the same order.
#![allow(dead_code)]

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use spillway::exec::{Check, Expansion, Findings, Interp, Model, Outcome, PropertyInfo, Step};

/// Every executor that must do exactly as the interpreter does. Another one is added here, made
/// from the interpreter of the same program.
pub fn executors(interp: impl Fn() -> Interp) -> Vec<(&'static str, Box<dyn Model>)> {
    vec![("steps", Box::new(Retold::honestly(interp())))]
}

/// Says where the first difference is.
pub type Agreement = Result<(), TestCaseError>;

/// That both give the same names, the same initial states and the same faults of starts.
pub fn agree_at_the_start(reference: &dyn Model, other: &dyn Model) -> Agreement {
    prop_assert_eq!(reference.width(), other.width());
    prop_assert_eq!(reference.bits(), other.bits());
    prop_assert_eq!(reference.properties(), other.properties());
    prop_assert_eq!(reference.write_masks(), other.write_masks());
    prop_assert_eq!(reference.digest(), other.digest());
    prop_assert_eq!(reference.starts(), other.starts());
    let initial = |model: &dyn Model| collect(model, usize::MAX, |out| model.initial(out));
    prop_assert_eq!(initial(reference), initial(other));
    Ok(())
}

/// That both do the same in each of `states` (whole states, one after another): expanded all at
/// once, expanded one by one into a buffer that is soon full, and step by step.
pub fn agree(reference: &dyn Model, other: &dyn Model, states: &[u8]) -> Agreement {
    let width = reference.width();
    prop_assert_eq!(expand(reference, states, usize::MAX), expand(other, states, usize::MAX));
    for state in states.chunks_exact(width) {
        prop_assert_eq!(reference.steps(state), other.steps(state), "from {:?}", state);
        let room = 3 * width;
        let (one, two) = (expand(reference, state, room), expand(other, state, room));
        prop_assert_eq!(one, two, "from {:?}", state);
        prop_assert_eq!(reference.violations(state), other.violations(state), "in {:?}", state);
    }
    if let Some(state) = states.chunks_exact(width).next() {
        prop_assert_eq!(reference.describe(state), other.describe(state));
    }
    Ok(())
}

/// What an expansion gave: every buffer that was full and the last one, the transitions, the
/// findings.
type Expanded = (Vec<Vec<u8>>, u64, Findings);

fn expand(model: &dyn Model, states: &[u8], limit: usize) -> Expanded {
    collect(model, limit, |out| model.expand(states, out))
}

fn collect(model: &dyn Model, limit: usize, ask: impl FnOnce(&mut Expansion)) -> Expanded {
    let (mut buffer, mut buffers) = (Vec::new(), Vec::new());
    let mut on_full = |buffer: &mut Vec<u8>| {
        buffers.push(std::mem::take(buffer));
        Ok(())
    };
    let mut expansion = Expansion::new(model.width(), &mut buffer, limit, &mut on_full);
    ask(&mut expansion);
    let (transitions, findings) = expansion.finish().expect("room is always made");
    buffers.push(buffer);
    (buffers, transitions, findings)
}

/// What there is to tell of a state: the steps out of it and what is wrong with it.
pub type Told = (Vec<Step>, Vec<Check>);

/// Changes what is told.
pub type Retell = fn(&mut Told);

/// A model that tells what another does: its expansions are put together from the other's steps,
/// so that the two ways of asking are held against each other. What it tells can be falsified, to
/// see whether a comparison would notice.
pub struct Retold<M> {
    model: M,
    /// What becomes of what [`Model::steps`] and [`Model::violations`] tell.
    in_steps: Retell,
    /// What becomes of what [`Model::expand`] tells.
    in_expansions: Retell,
}

impl<M: Model> Retold<M> {
    /// Changes nothing.
    pub fn honestly(model: M) -> Self {
        Self::falsely(model, |_| {}, |_| {})
    }

    /// Changes what it is asked one by one, and what it is asked for in blocks.
    pub fn falsely(model: M, in_steps: Retell, in_expansions: Retell) -> Self {
        Self { model, in_steps, in_expansions }
    }

    /// The truth about a state.
    pub fn told(model: &M, state: &[u8]) -> Told {
        (model.steps(state), model.violations(state))
    }

    fn retold(&self, retell: Retell, state: &[u8]) -> Told {
        let mut told = Self::told(&self.model, state);
        retell(&mut told);
        told
    }
}

fn tell(steps: Vec<Step>, state: &[u8], out: &mut Expansion) {
    for step in steps {
        match step.outcome {
            Outcome::Successor(successor) => out.candidate(&successor),
            Outcome::Fault(fault) => out.finding(Check::Fault(fault.kind, step.action), state),
        }
    }
}

impl<M: Model> Model for Retold<M> {
    fn width(&self) -> usize {
        self.model.width()
    }

    fn bits(&self) -> u32 {
        self.model.bits()
    }

    fn initial(&self, out: &mut Expansion) {
        tell(self.model.starts(), &vec![0; self.width()], out);
    }

    fn expand(&self, states: &[u8], out: &mut Expansion) {
        for state in states.chunks_exact(self.width()) {
            let (steps, checks) = self.retold(self.in_expansions, state);
            tell(steps, state, out);
            checks.into_iter().for_each(|check| out.finding(check, state));
        }
    }

    fn steps(&self, state: &[u8]) -> Vec<Step> {
        self.retold(self.in_steps, state).0
    }

    fn starts(&self) -> Vec<Step> {
        self.model.starts()
    }

    fn properties(&self) -> Vec<PropertyInfo> {
        self.model.properties()
    }

    fn action_name(&self, action: u32) -> String {
        self.model.action_name(action)
    }

    fn violations(&self, state: &[u8]) -> Vec<Check> {
        self.retold(self.in_steps, state).1
    }

    fn describe(&self, state: &[u8]) -> Vec<(String, String)> {
        self.model.describe(state)
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        self.model.write_masks()
    }

    fn digest(&self) -> [u8; 32] {
        self.model.digest()
    }
}
