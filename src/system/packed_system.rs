//! A transition system as a state space with packed states.

mod sample;

use super::packing::{self, PackingError};
use super::panics::{SystemPanic, catch_panic};
use crate::model::{
    Capabilities, EVENTUALLY, FaultKind, ProgramDescription, Property, PropertyExpectation,
    PropertyInfo, RuntimeFault, SOMETIMES, StateSpace, StateValue, StepDescription, StepOutcome,
    SuccessorSink, SystemDescription, TransitionSystem, Violation, any_bits, stop_request,
};
use crate::source::Span;
use std::ops::ControlFlow;

/// The error of a system that cannot answer.
pub(super) type SystemError = Box<dyn std::error::Error + Send + Sync>;

/// States with their packed bytes.
type InitialStates<S> = Vec<(S, Vec<u8>)>;

/// The action number of all steps: their names depend on the state.
const STEP: u32 = 0;

/// A transition system whose states are bytes.
pub struct PackedSystem<'s, T: TransitionSystem> {
    system: &'s T,
    properties: Vec<Property<'s, T::State>>,
    /// Bytes of a state.
    width: usize,
    digest: [u8; 32],
}

/// An observation in a state.
enum StateObservation<'a, A, S> {
    /// An action leads to a successor.
    Step(SystemQuery<'a, A>, S),
    /// The system panics at this query.
    Panic(SystemQuery<'a, A>, SystemPanic),
    /// The state has a finding.
    Finding(Violation),
}

/// A question to a system in a state.
pub(super) enum SystemQuery<'a, A> {
    Actions,
    Next(&'a A),
    MayEnd,
    Property(usize),
}

impl<'s, T: TransitionSystem> PackedSystem<'s, T> {
    /// Creates the model of a system. The width of its states is estimated from the first ones.
    pub fn new(system: &'s T) -> PackedSystem<'s, T> {
        PackedSystem::with_width(system, packing::width(system))
    }

    /// Creates the model without a digest, for callers that identify the system otherwise: a digest runs a sample of
    /// the system.
    pub(super) fn without_digest(system: &'s T, width: usize) -> PackedSystem<'s, T> {
        let (properties, width) = (system.properties(), width.max(1));
        PackedSystem { system, properties, width, digest: [0; 32] }
    }

    /// Creates the model of a system whose states take at most `width` bytes.
    pub fn with_width(system: &'s T, width: usize) -> PackedSystem<'s, T> {
        let mut packed = PackedSystem::without_digest(system, width);
        let mut hasher = blake3::Hasher::new();
        hasher.update(std::any::type_name::<T>().as_bytes()).update(&[0]);
        hasher.update(system.parameters().as_bytes()).update(&[0]);
        for property in &packed.properties {
            hasher.update(property.name().as_bytes()).update(&[0, property.expectation() as u8]);
        }
        hasher.update(&(packed.width as u64).to_le_bytes());
        // The search reports their errors.
        sample::hash_behaviour(&packed, packed.initial_states().unwrap_or_default(), &mut hasher);
        packed.digest = *hasher.finalize().as_bytes();
        packed
    }

    /// Returns whether each property holds in a state, and whether the system may end there; `None` for a panic.
    pub(super) fn property_values(&self, state: &T::State) -> Vec<Option<bool>> {
        let holds = self.properties.iter().map(|it| catch_panic(|| it.holds(state)).ok());
        holds.chain([catch_panic(|| self.system.may_end(state)).ok()]).collect()
    }

    fn pack(&self, state: &T::State) -> Result<Vec<u8>, PackingError> {
        let mut bytes = vec![0; self.width];
        packing::pack(state, &mut bytes)?;
        Ok(bytes)
    }

    /// Returns the initial states with their packed bytes.
    pub(super) fn initial_states(&self) -> Result<InitialStates<T::State>, SystemError> {
        let initial = catch_panic(|| self.system.initial())
            .map_err(|why| format!("computing the initial states: {why}"))?;
        let packed = initial.into_iter().map(|state| {
            let bytes = self.pack(&state)?;
            Ok((state, bytes))
        });
        packed.collect()
    }

    /// Expands states one by one with shared buffers for a key and for actions. Ends after a request to stop, or at the
    /// first failure.
    pub(super) fn each_state(
        &self,
        states: &[u8],
        out: &mut SuccessorSink,
        expand_one: impl Fn(
            &[u8],
            &mut [u8],
            &mut Vec<T::Action>,
            &mut SuccessorSink,
        ) -> Result<(), SystemError>,
    ) {
        let (mut key, mut actions) = (vec![0; self.width], Vec::new());
        for state in states.chunks_exact(self.width) {
            if stop_request::is_requested() || out.has_failed() {
                return;
            }
            if let Err(why) = expand_one(state, &mut key, &mut actions, out) {
                return out.fail(why);
            }
        }
    }

    /// Passes each step from a state to `show`, or its panic. Returns whether there is a step.
    pub(super) fn each_step(
        &self,
        state: &T::State,
        actions: &mut Vec<T::Action>,
        mut show: impl FnMut(SystemQuery<'_, T::Action>, Result<T::State, SystemPanic>),
    ) -> bool {
        actions.clear();
        if let Err(why) = catch_panic(|| self.system.actions(state, actions)) {
            actions.clear();
            show(SystemQuery::Actions, Err(why));
            return true;
        }
        let mut moves = false;
        for action in &*actions {
            let next = catch_panic(|| self.system.next(state, action)).transpose();
            if let Some(next) = next {
                moves = true;
                show(SystemQuery::Next(action), next);
            }
        }
        moves
    }

    /// Passes all observations in a state to `see`. Expansion and description both use it, so that they cannot differ.
    fn observe(
        &self,
        state: &T::State,
        actions: &mut Vec<T::Action>,
        mut see: impl FnMut(StateObservation<'_, T::Action, T::State>),
    ) {
        let moves = self.each_step(state, actions, |asked, next| match next {
            Ok(next) => see(StateObservation::Step(asked, next)),
            Err(why) => see(StateObservation::Panic(asked, why)),
        });
        if !moves {
            match catch_panic(|| self.system.may_end(state)) {
                Ok(true) => {}
                Ok(false) => see(StateObservation::Finding(Violation::Deadlock)),
                Err(why) => see(StateObservation::Panic(SystemQuery::MayEnd, why)),
            }
        }
        for (number, property) in self.properties.iter().enumerate() {
            let told = match property.expectation() {
                PropertyExpectation::Always => false,
                PropertyExpectation::Sometimes => true,
                // `eventually` properties are checked on runs.
                PropertyExpectation::Eventually => continue,
            };
            match catch_panic(|| property.holds(state)) {
                Ok(holds) if holds == told => {
                    see(StateObservation::Finding(Violation::Property(number as u32)));
                }
                Ok(_) => {}
                Err(why) => see(StateObservation::Panic(SystemQuery::Property(number), why)),
            }
        }
    }

    fn query_title(&self, asked: &SystemQuery<'_, T::Action>) -> String {
        match asked {
            SystemQuery::Actions => "computing the actions".into(),
            SystemQuery::Next(action) => self.system.name(action),
            SystemQuery::MayEnd => "evaluating whether it may end".into(),
            SystemQuery::Property(number) => {
                format!("evaluating `{}`", self.properties[*number].name())
            }
        }
    }

    fn expand_one(
        &self,
        bytes: &[u8],
        key: &mut [u8],
        actions: &mut Vec<T::Action>,
        out: &mut SuccessorSink,
    ) -> Result<(), PackingError> {
        let state: T::State = packing::unpack(bytes)?;
        packing::pack(&state, key)?;
        if key != bytes {
            return Err(PackingError::Unsteady { state: format!("{state:?}") });
        }
        let mut misfit = None;
        self.observe(&state, actions, |seen| match seen {
            StateObservation::Step(_, next) => match packing::pack(&next, key) {
                Ok(()) => out.candidate(key),
                Err(why) => misfit = Some(why),
            },
            StateObservation::Panic(..) => {
                out.record_finding(Violation::Fault(FaultKind::Error, STEP), bytes)
            }
            StateObservation::Finding(check) => out.record_finding(check, bytes),
        });
        misfit.map_or(Ok(()), Err)
    }
}

/// Describes a step for reports.
pub(super) fn step(name: String, to: Result<Vec<u8>, SystemError>) -> StepDescription {
    let outcome = match to {
        Ok(state) => StepOutcome::Successor(state),
        Err(why) => {
            let message = why.to_string();
            StepOutcome::Fault(RuntimeFault::new(FaultKind::Error, message, Span::default()))
        }
    };
    StepDescription::unplaced(STEP, name, outcome)
}

impl<T: TransitionSystem> StateSpace for PackedSystem<'_, T> {
    fn width(&self) -> usize {
        self.width
    }

    fn bits(&self) -> u32 {
        8 * self.width as u32
    }

    fn initial(&self, out: &mut SuccessorSink) {
        match self.initial_states() {
            Ok(initial) => initial.iter().for_each(|(_, bytes)| out.candidate(bytes)),
            Err(why) => out.fail(why),
        }
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        self.each_state(states, out, |state, key, actions, out| {
            Ok(self.expand_one(state, key, actions, out)?)
        });
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        any_bits(self.width)
    }

    fn digest(&self) -> [u8; 32] {
        self.digest
    }

    fn description(&self) -> &dyn SystemDescription {
        self
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities::NONE
    }
}

impl<T: TransitionSystem> SystemDescription for PackedSystem<'_, T> {
    fn steps(&self, state: &[u8]) -> Vec<StepDescription> {
        let mut steps = Vec::new();
        if let Ok(state) = packing::unpack(state) {
            self.observe(&state, &mut Vec::new(), |seen| match seen {
                StateObservation::Step(asked, next) => {
                    let to = self.pack(&next).map_err(SystemError::from);
                    steps.push(step(self.query_title(&asked), to));
                }
                StateObservation::Panic(asked, why) => {
                    steps.push(step(self.query_title(&asked), Err(why.into())))
                }
                StateObservation::Finding(_) => {}
            });
        }
        steps
    }

    fn visit_starts(&self, visit: &mut dyn FnMut(StepDescription) -> ControlFlow<()>) {
        for (_, bytes) in self.initial_states().unwrap_or_default() {
            if visit(step("start".into(), Ok(bytes))).is_break() {
                return;
            }
        }
    }

    fn properties(&self) -> Vec<PropertyInfo> {
        let info = |it: &Property<'_, _>| {
            let kind = match it.expectation() {
                PropertyExpectation::Always => "invariant",
                PropertyExpectation::Sometimes => SOMETIMES,
                PropertyExpectation::Eventually => EVENTUALLY,
            };
            PropertyInfo { kind, name: it.name().to_owned(), span: Span::default() }
        };
        self.properties.iter().map(info).collect()
    }

    fn action_name(&self, _: u32) -> String {
        "a step".into()
    }

    fn violations(&self, state: &[u8]) -> Vec<Violation> {
        let mut found = Vec::new();
        if let Ok(state) = packing::unpack(state) {
            self.observe(&state, &mut Vec::new(), |seen| {
                if let StateObservation::Finding(check) = seen {
                    found.push(check);
                }
            });
        }
        found
    }

    fn describe(&self, state: &[u8]) -> Vec<(String, StateValue)> {
        match packing::unpack::<T::State>(state) {
            Ok(state) => self.system.describe(&state),
            Err(_) => vec![("no state".into(), format!("{state:02x?}").into())],
        }
    }

    fn program(&self) -> Option<&dyn ProgramDescription> {
        None
    }
}
