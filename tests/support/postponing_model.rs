//! A test model that postpones transitions.

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

/// A model in which some states postpone some of their transitions.
pub struct PostponingModel<M> {
    /// The underlying model.
    pub model: M,
    /// The seed of the choice of postponed transitions.
    pub seed: u64,
    /// Whether it postpones transitions.
    pub postpones: bool,
    /// The number of states to expand before a stop request.
    pub states_until_stop: AtomicI64,
    /// The control that receives the request.
    pub control: Option<Arc<SearchControl>>,
}

/// The treatment of the transitions of a state.
struct Choice {
    /// The successors of transitions that are not postponed: at least one. If others are postponed, they have at least
    /// one other successor.
    first: Vec<Vec<u8>>,
    rest: Vec<Vec<u8>>,
    /// Whether the rest must be expanded unless one of the first is new.
    has_obligation: bool,
    /// Whether a transition faults, and whether that transition is postponed.
    fails: bool,
    fault_is_postponed: bool,
}

/// The fault of the failing transition.
const FAILING: Violation = Violation::Fault(FaultKind::Assertion, 77);

impl<M: StateSpace + SystemDescription> PostponingModel<M> {
    /// Creates a model that postpones transitions by `seed`.
    pub fn new(model: M, seed: u64) -> PostponingModel<M> {
        PostponingModel {
            model,
            seed,
            postpones: true,
            states_until_stop: AtomicI64::new(i64::MAX),
            control: None,
        }
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
        let has_obligation = !rest.is_empty() && !random.is_multiple_of(5);
        let fails = (random >> 24).is_multiple_of(6);
        Choice {
            fault_is_postponed: !rest.is_empty() && (random >> 32).is_multiple_of(2),
            first,
            rest,
            has_obligation,
            fails,
        }
    }

    /// Returns whether to stop the expansion early.
    fn stops_early(&self) -> bool {
        if let Some(control) = &self.control
            && self.states_until_stop.fetch_sub(1, Ordering::Relaxed) == 0
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

impl<M: StateSpace + SystemDescription> PostponingStateSpace for PostponingModel<M> {
    fn expand_reduced(
        &self,
        states: &[u8],
        out: &mut SuccessorSink,
        obligations: &mut ObligationSink,
    ) {
        for (position, state) in states.chunks_exact(self.width()).enumerate() {
            let Choice { first, rest, has_obligation, fails, fault_is_postponed } =
                self.choice(state);
            let stops = self.stops_early();
            for successor in first.iter().take(if stops { 1 } else { usize::MAX }) {
                out.candidate(successor);
                if has_obligation {
                    obligations.add(position, successor);
                }
            }
            if stops {
                out.record_finding(Violation::Deadlock, state);
                out.count_partially_expanded(1);
                return;
            }
            out.count_partially_expanded(u64::from(!rest.is_empty()));
            self.model
                .violations(state)
                .into_iter()
                .for_each(|check| out.record_finding(check, state));
            if fails && !fault_is_postponed {
                out.record_finding(FAILING, state);
            }
        }
    }

    fn expand_postponed(&self, states: &[u8], out: &mut SuccessorSink) {
        for state in states.chunks_exact(self.width()) {
            let Choice { rest, has_obligation, fails, fault_is_postponed, .. } = self.choice(state);
            assert!(has_obligation, "a state without an obligation is expanded");
            let stops = self.stops_early();
            rest.iter().take(if stops { 1 } else { usize::MAX }).for_each(|it| out.candidate(it));
            if stops {
                out.record_finding(Violation::Deadlock, state);
                return;
            }
            if fails && fault_is_postponed {
                out.record_finding(FAILING, state);
            }
        }
    }
}

impl<M: StateSpace + SystemDescription> StateSpace for PostponingModel<M> {
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
            postponing: self.postpones.then_some(self),
            cycle_proviso: None,
            sleep_sets: None,
            dominance: None,
            growing: None,
            views: None,
        }
    }
}

impl<M: StateSpace + SystemDescription> SystemDescription for PostponingModel<M> {
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
