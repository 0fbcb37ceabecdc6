//! A transition system as a model: its states packed.

mod sample;

use super::packing::{self, Misfit};
use super::panics::caught;
use super::property::Expectation;
use super::{Property, TransitionSystem};
use crate::exec::{
    EVENTUALLY, Expansion, Explain, Fault, FaultKind, Lift, Model, Postpones, PropertyInfo,
    SOMETIMES, Step, StepOutcome, Value, Violation, any_bits, stop,
};
use crate::source::Span;
use std::ops::ControlFlow;

/// Why something cannot be told of a system.
pub(super) type Why = Box<dyn std::error::Error + Send + Sync>;

/// States with their bytes.
type Starting<S> = Vec<(S, Vec<u8>)>;

/// The number that its steps have as actions: their names depend on the state.
const STEP: u32 = 0;

/// A transition system whose states are bytes.
pub struct Packed<'s, T: TransitionSystem> {
    system: &'s T,
    properties: Vec<Property<'s, T::State>>,
    /// Bytes of a state.
    width: usize,
    digest: [u8; 32],
}

/// What is seen in a state.
enum Seen<'a, A, S> {
    /// An action leads somewhere.
    Step(Asked<'a, A>, S),
    /// The system panics when it is asked this.
    Panic(Asked<'a, A>, String),
    /// Something is to be told of the state.
    Finding(Violation),
}

/// What a system is asked in a state.
pub(super) enum Asked<'a, A> {
    Actions,
    Next(&'a A),
    MayEnd,
    Property(usize),
}

impl<'s, T: TransitionSystem> Packed<'s, T> {
    /// The model of a system, with states as long as its first ones let expect.
    pub fn new(system: &'s T) -> Packed<'s, T> {
        Packed::with_width(system, packing::width(system))
    }

    /// The same for whoever identifies it otherwise: a digest takes a sample of what the system does.
    pub(super) fn without_digest(system: &'s T, width: usize) -> Packed<'s, T> {
        let (properties, width) = (system.properties(), width.max(1));
        Packed { system, properties, width, digest: [0; 32] }
    }

    /// The model of a system whose states take so many bytes at most.
    pub fn with_width(system: &'s T, width: usize) -> Packed<'s, T> {
        let mut packed = Packed::without_digest(system, width);
        let mut hasher = blake3::Hasher::new();
        hasher.update(std::any::type_name::<T>().as_bytes()).update(&[0]);
        hasher.update(system.parameters().as_bytes()).update(&[0]);
        for Property { name, expectation, .. } in &packed.properties {
            hasher.update(name.as_bytes()).update(&[0, *expectation as u8]);
        }
        hasher.update(&(packed.width as u64).to_le_bytes());
        // What is wrong with them is told by the search.
        sample::hash_behaviour(&packed, packed.starting().unwrap_or_default(), &mut hasher);
        packed.digest = *hasher.finalize().as_bytes();
        packed
    }

    /// Whether each property holds in a state, and whether the system may end there; nothing of what panics.
    pub(super) fn answers(&self, state: &T::State) -> Vec<Option<bool>> {
        let holds = self.properties.iter().map(|it| caught(|| (it.holds)(state)).ok());
        holds.chain([caught(|| self.system.may_end(state)).ok()]).collect()
    }

    fn pack(&self, state: &T::State) -> Result<Vec<u8>, Misfit> {
        let mut bytes = vec![0; self.width];
        packing::pack(state, &mut bytes)?;
        Ok(bytes)
    }

    /// The states that it starts in, with their bytes.
    pub(super) fn starting(&self) -> Result<Starting<T::State>, Why> {
        let initial = caught(|| self.system.initial())
            .map_err(|why| format!("asked for the initial states {why}"))?;
        let packed = initial.into_iter().map(|state| {
            let bytes = self.pack(&state)?;
            Ok((state, bytes))
        });
        packed.collect()
    }

    /// Expands states one after the other, each in the same room: for a key, and for actions. Ends where that is asked for,
    /// or with the first that fails.
    pub(super) fn each_state(
        &self,
        states: &[u8],
        out: &mut Expansion,
        expand_one: impl Fn(&[u8], (&mut [u8], &mut Vec<T::Action>), &mut Expansion) -> Result<(), Why>,
    ) {
        let (mut key, mut actions) = (vec![0; self.width], Vec::new());
        for state in states.chunks_exact(self.width) {
            if stop::is_asked() || out.has_failed() {
                return;
            }
            if let Err(why) = expand_one(state, (&mut key, &mut actions), out) {
                return out.fail(why);
            }
        }
    }

    /// Shows each step out of a state, with what it says if it panics; whether there is one.
    pub(super) fn each_step(
        &self,
        state: &T::State,
        actions: &mut Vec<T::Action>,
        mut show: impl FnMut(Asked<'_, T::Action>, Result<T::State, String>),
    ) -> bool {
        actions.clear();
        if let Err(why) = caught(|| self.system.actions(state, actions)) {
            actions.clear();
            show(Asked::Actions, Err(why));
            return true;
        }
        let mut moves = false;
        for action in &*actions {
            let next = caught(|| self.system.next(state, action)).transpose();
            if let Some(next) = next {
                moves = true;
                show(Asked::Next(action), next);
            }
        }
        moves
    }

    /// Shows all that is to be seen in a state. Searching and telling both look here, so that they cannot differ.
    fn look(
        &self,
        state: &T::State,
        actions: &mut Vec<T::Action>,
        mut see: impl FnMut(Seen<'_, T::Action, T::State>),
    ) {
        let moves = self.each_step(state, actions, |asked, next| match next {
            Ok(next) => see(Seen::Step(asked, next)),
            Err(why) => see(Seen::Panic(asked, why)),
        });
        if !moves {
            match caught(|| self.system.may_end(state)) {
                Ok(true) => {}
                Ok(false) => see(Seen::Finding(Violation::Deadlock)),
                Err(why) => see(Seen::Panic(Asked::MayEnd, why)),
            }
        }
        for (number, property) in self.properties.iter().enumerate() {
            let told = match property.expectation {
                Expectation::Always => false,
                Expectation::Sometimes => true,
                // That is for runs to show.
                Expectation::Eventually => continue,
            };
            match caught(|| (property.holds)(state)) {
                Ok(holds) if holds == told => {
                    see(Seen::Finding(Violation::Property(number as u32)));
                }
                Ok(_) => {}
                Err(why) => see(Seen::Panic(Asked::Property(number), why)),
            }
        }
    }

    fn title(&self, asked: &Asked<'_, T::Action>) -> String {
        match asked {
            Asked::Actions => "asked for the actions".into(),
            Asked::Next(action) => self.system.name(action),
            Asked::MayEnd => "asked whether it may end".into(),
            Asked::Property(number) => format!("asked for `{}`", self.properties[*number].name),
        }
    }

    fn expand_one(
        &self,
        bytes: &[u8],
        (key, actions): (&mut [u8], &mut Vec<T::Action>),
        out: &mut Expansion,
    ) -> Result<(), Misfit> {
        let state: T::State = packing::unpack(bytes)?;
        packing::pack(&state, key)?;
        if key != bytes {
            return Err(Misfit::Unsteady { state: format!("{state:?}") });
        }
        let mut misfit = None;
        self.look(&state, actions, |seen| match seen {
            Seen::Step(_, next) => match packing::pack(&next, key) {
                Ok(()) => out.candidate(key),
                Err(why) => misfit = Some(why),
            },
            Seen::Panic(..) => out.finding(Violation::Fault(FaultKind::Error, STEP), bytes),
            Seen::Finding(check) => out.finding(check, bytes),
        });
        misfit.map_or(Ok(()), Err)
    }
}

/// A step, as reports tell it.
pub(super) fn step(name: String, to: Result<Vec<u8>, String>) -> Step {
    let outcome = match to {
        Ok(state) => StepOutcome::Successor(state),
        Err(message) => StepOutcome::Fault(Fault::new(FaultKind::Error, message, Span::default())),
    };
    Step {
        action: STEP,
        name,
        parameters: Vec::new(),
        by: Vec::new(),
        spans: Vec::new(),
        actions: Vec::new(),
        movers: Vec::new(),
        outcome,
    }
}

impl<T: TransitionSystem> Model for Packed<'_, T> {
    fn width(&self) -> usize {
        self.width
    }

    fn bits(&self) -> u32 {
        8 * self.width as u32
    }

    fn initial(&self, out: &mut Expansion) {
        match self.starting() {
            Ok(initial) => initial.iter().for_each(|(_, bytes)| out.candidate(bytes)),
            Err(why) => out.fail(why),
        }
    }

    fn expand(&self, states: &[u8], out: &mut Expansion) {
        self.each_state(states, out, |state, room, out| Ok(self.expand_one(state, room, out)?));
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        any_bits(self.width)
    }

    fn digest(&self) -> [u8; 32] {
        self.digest
    }

    fn explained(&self) -> &dyn Explain {
        self
    }

    fn lifts(&self) -> Option<&dyn Lift> {
        None
    }

    fn postpones(&self) -> Option<&dyn Postpones> {
        None
    }
}

impl<T: TransitionSystem> Explain for Packed<'_, T> {
    fn steps(&self, state: &[u8]) -> Vec<Step> {
        let mut steps = Vec::new();
        if let Ok(state) = packing::unpack(state) {
            self.look(&state, &mut Vec::new(), |seen| match seen {
                Seen::Step(asked, next) => {
                    let to = self.pack(&next).map_err(|why| why.to_string());
                    steps.push(step(self.title(&asked), to));
                }
                Seen::Panic(asked, why) => steps.push(step(self.title(&asked), Err(why))),
                Seen::Finding(_) => {}
            });
        }
        steps
    }

    fn each_start(&self, visit: &mut dyn FnMut(Step) -> ControlFlow<()>) {
        for (_, bytes) in self.starting().unwrap_or_default() {
            if visit(step("start".into(), Ok(bytes))).is_break() {
                return;
            }
        }
    }

    fn properties(&self) -> Vec<PropertyInfo> {
        let info = |it: &Property<'_, _>| {
            let kind = match it.expectation {
                Expectation::Always => "invariant",
                Expectation::Sometimes => SOMETIMES,
                Expectation::Eventually => EVENTUALLY,
            };
            PropertyInfo { kind, name: it.name.clone(), span: Span::default() }
        };
        self.properties.iter().map(info).collect()
    }

    fn action_name(&self, _: u32) -> String {
        "a step".into()
    }

    fn violations(&self, state: &[u8]) -> Vec<Violation> {
        let mut found = Vec::new();
        if let Ok(state) = packing::unpack(state) {
            self.look(&state, &mut Vec::new(), |seen| {
                if let Seen::Finding(check) = seen {
                    found.push(check);
                }
            });
        }
        found
    }

    fn describe(&self, state: &[u8]) -> Vec<(String, Value)> {
        match packing::unpack::<T::State>(state) {
            Ok(state) => self.system.describe(&state),
            Err(_) => vec![("no state".into(), format!("{state:02x?}").into())],
        }
    }
}
