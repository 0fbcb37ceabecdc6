//! A model made for tests that puts steps off.

use spillway::model::{
    Capabilities, FaultKind, ObligationSink, PostponingStateSpace, ProgramDescription,
    PropertyInfo, RuntimeFault, StateSpace, StepDescription, StepOutcome, SuccessorSink,
    SystemDescription, Violation, any_bits, stop_request,
};
use spillway::search::SearchControl;
use spillway::source::Span;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// A model of which some states put off some of their steps.
pub struct Lazy<M> {
    /// The model.
    pub model: M,
    /// Chooses which.
    pub seed: u64,
    /// Whether it does.
    pub lazy: bool,
    /// So many states are expanded until it is time to stop.
    pub left: AtomicI64,
    /// Who is told then.
    pub control: Option<Arc<SearchControl>>,
}

/// What becomes of the steps of a state.
struct Choice {
    /// Successors of steps that are taken first: at least one, and of those put off at least one other.
    first: Vec<Vec<u8>>,
    rest: Vec<Vec<u8>>,
    /// Whether the rest is needed unless one of the first is new.
    owes: bool,
    /// Whether a step meets an error, and whether that step is put off.
    fails: bool,
    fails_late: bool,
}

/// The action of a step that fails.
const FAILING: Violation = Violation::Fault(FaultKind::Assertion, 77);

impl<M: StateSpace + SystemDescription> Lazy<M> {
    /// The model, of which the seed chooses what is put off.
    pub fn new(model: M, seed: u64) -> Lazy<M> {
        Lazy { model, seed, lazy: true, left: AtomicI64::new(i64::MAX), control: None }
    }

    fn random(&self, state: &[u8]) -> u64 {
        let mut all = state.to_vec();
        all.extend(self.seed.to_be_bytes());
        spill::hash(&all)
    }

    fn choice(&self, state: &[u8]) -> Choice {
        let random = self.random(state);
        let mut first = successors(&self.model, state);
        let mut rest = Vec::new();
        if first.iter().collect::<BTreeSet<_>>().len() > 1 && !random.is_multiple_of(4) {
            let chosen = first[(random >> 8) as usize % first.len()].clone();
            let also =
                |it: &Vec<u8>| *it == chosen || (random >> 16).is_multiple_of(3) && *it < chosen;
            (first, rest) = first.into_iter().partition(also);
        }
        let owes = !rest.is_empty() && !random.is_multiple_of(5);
        let fails = (random >> 24).is_multiple_of(6);
        Choice {
            fails_late: !rest.is_empty() && (random >> 32).is_multiple_of(2),
            first,
            rest,
            owes,
            fails,
        }
    }

    /// Whether it is time to leave early.
    fn leaves(&self) -> bool {
        if let Some(control) = &self.control
            && self.left.fetch_sub(1, Ordering::Relaxed) == 0
        {
            control.stop();
        }
        stop_request::is_requested()
    }
}

fn successors(model: &impl SystemDescription, state: &[u8]) -> Vec<Vec<u8>> {
    let outcomes = model.steps(state).into_iter().map(|step| step.outcome);
    let states = outcomes.filter_map(|outcome| match outcome {
        StepOutcome::Successor(state) => Some(state),
        StepOutcome::Fault(_) => None,
    });
    states.collect()
}

impl<M: StateSpace + SystemDescription> PostponingStateSpace for Lazy<M> {
    fn expand_reduced(&self, states: &[u8], out: &mut SuccessorSink, owed: &mut ObligationSink) {
        for (position, state) in states.chunks_exact(self.width()).enumerate() {
            let Choice { first, rest, owes, fails, fails_late } = self.choice(state);
            let leaves = self.leaves();
            for successor in first.iter().take(if leaves { 1 } else { usize::MAX }) {
                out.candidate(successor);
                if owes {
                    owed.add(position, successor);
                }
            }
            if leaves {
                out.record_finding(Violation::Deadlock, state);
                out.count_partially_expanded(1);
                return;
            }
            out.count_partially_expanded(u64::from(!rest.is_empty()));
            self.model
                .violations(state)
                .into_iter()
                .for_each(|check| out.record_finding(check, state));
            if fails && !fails_late {
                out.record_finding(FAILING, state);
            }
        }
    }

    fn expand_postponed(&self, states: &[u8], out: &mut SuccessorSink) {
        for state in states.chunks_exact(self.width()) {
            let Choice { rest, owes, fails, fails_late, .. } = self.choice(state);
            assert!(owes, "it is asked for what nobody owes");
            let leaves = self.leaves();
            rest.iter().take(if leaves { 1 } else { usize::MAX }).for_each(|it| out.candidate(it));
            if leaves {
                out.record_finding(Violation::Deadlock, state);
                return;
            }
            if fails && fails_late {
                out.record_finding(FAILING, state);
            }
        }
    }
}

impl<M: StateSpace + SystemDescription> StateSpace for Lazy<M> {
    fn width(&self) -> usize {
        self.model.width()
    }

    fn bits(&self) -> u32 {
        self.model.bits()
    }

    fn initial(&self, out: &mut SuccessorSink) {
        self.model.initial(out);
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        self.model.expand(states, out);
        for state in states.chunks_exact(self.width()) {
            if self.choice(state).fails {
                out.record_finding(FAILING, state);
            }
        }
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        any_bits(self.width())
    }

    fn digest(&self) -> [u8; 32] {
        let mut digest = self.model.digest();
        digest[30] = self.seed as u8;
        digest
    }

    fn description(&self) -> &dyn SystemDescription {
        self
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            simulation: None,
            postponing: self.lazy.then_some(self),
            sleep_sets: None,
            dominance: None,
        }
    }
}

impl<M: StateSpace + SystemDescription> SystemDescription for Lazy<M> {
    fn steps(&self, state: &[u8]) -> Vec<StepDescription> {
        let mut steps = self.model.steps(state);
        if self.choice(state).fails {
            let fault = RuntimeFault::new(FaultKind::Assertion, "", Span::default());
            let outcome = StepOutcome::Fault(fault);
            let (spans, actions) = (Vec::new(), Vec::new());
            steps.push(StepDescription {
                action: 77,
                name: "fail".into(),
                parameters: Vec::new(),
                actors: Vec::new(),
                spans,
                actions,
                movers: vec![],
                outcome,
            });
        }
        steps
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
        self.model.violations(state)
    }

    fn describe(&self, state: &[u8]) -> Vec<(String, spillway::model::StateValue)> {
        self.model.describe(state)
    }

    fn program(&self) -> Option<&dyn ProgramDescription> {
        None
    }
}
