//! A transition system as a model: its states packed.

use super::{Invariant, Pack, Steps, TransitionSystem};
use crate::exec::{
    Expansion, Explain, Fault, FaultKind, Lift, Model, Postpones, PropertyInfo, Step, StepOutcome,
    Value, Violation, any_bits, stop,
};
use crate::source::Span;
use std::fmt::Display;
use std::ops::ControlFlow;

/// The number that its steps have as actions: their names depend on the state.
const STEP: u32 = 0;

/// A transition system whose states are bytes.
pub struct Packed<'s, T: TransitionSystem> {
    system: &'s T,
    invariants: Vec<Invariant<T::State>>,
    /// Bytes of a state.
    width: usize,
    digest: [u8; 32],
}

impl<'s, T: TransitionSystem> Packed<'s, T> {
    /// The model of a system.
    pub fn new(system: &'s T) -> Packed<'s, T> {
        let (invariants, width) = (system.invariants(), T::State::BYTES.max(1));
        let mut packed = Packed { system, invariants, width, digest: [0; 32] };
        let mut hasher = blake3::Hasher::new();
        hasher.update(std::any::type_name::<T>().as_bytes()).update(&[0]);
        hasher.update(system.parameters().as_bytes()).update(&[0]);
        for invariant in &packed.invariants {
            hasher.update(invariant.name.as_bytes()).update(&[0]);
        }
        system.initial().iter().for_each(|state| {
            hasher.update(&packed.pack(state));
        });
        packed.digest = *hasher.finalize().as_bytes();
        packed
    }

    fn pack(&self, state: &T::State) -> Vec<u8> {
        let mut bytes = vec![0; self.width];
        state.pack(&mut bytes[..T::State::BYTES]);
        bytes
    }

    /// The state that is these bytes, if one is.
    fn unpack(&self, bytes: &[u8]) -> Option<T::State> {
        let state = T::State::unpack(bytes.get(..T::State::BYTES)?);
        (self.pack(&state) == bytes).then_some(state)
    }

    /// The invariants that do not hold in a state.
    fn violated(&self, state: &T::State) -> impl Iterator<Item = Violation> {
        let broken = (0..).zip(&self.invariants).filter(|(_, it)| !(it.holds)(state));
        broken.map(|(number, _)| Violation::Property(number))
    }

    /// Shows every step out of a state; whether there was one.
    fn each_step(
        &self,
        state: &T::State,
        mut show: impl FnMut(&dyn Display, Result<T::State, String>),
    ) -> bool {
        let mut any = false;
        let mut each = |name: &dyn Display, to| {
            any = true;
            show(name, to);
        };
        self.system.steps(state, &mut Steps::new(&mut each));
        any
    }

    fn step(&self, name: String, to: Result<T::State, String>) -> Step {
        let outcome = match to {
            Ok(state) => StepOutcome::Successor(self.pack(&state)),
            Err(message) => StepOutcome::Fault(Fault {
                kind: FaultKind::Error,
                message,
                span: Span::default(),
                operands: Vec::new(),
            }),
        };
        let (spans, actions, movers) = (Vec::new(), Vec::new(), Vec::new());
        Step {
            action: STEP,
            name,
            parameters: Vec::new(),
            by: Vec::new(),
            spans,
            actions,
            movers,
            outcome,
        }
    }

    fn expand_one(&self, bytes: &[u8], key: &mut [u8], out: &mut Expansion) {
        let Some(state) = self.unpack(bytes) else {
            return out.fail(format!("the bytes {bytes:02x?} are no state"));
        };
        let moved = self.each_step(&state, |_, to| match to {
            Ok(next) => {
                next.pack(&mut key[..T::State::BYTES]);
                out.candidate(key);
            }
            Err(_) => out.finding(Violation::Fault(FaultKind::Error, STEP), bytes),
        });
        if !moved && !self.system.may_end(&state) {
            out.finding(Violation::Deadlock, bytes);
        }
        self.violated(&state).for_each(|check| out.finding(check, bytes));
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
        self.system.initial().iter().for_each(|state| out.candidate(&self.pack(state)));
    }

    fn expand(&self, states: &[u8], out: &mut Expansion) {
        let mut key = vec![0; self.width];
        for state in states.chunks_exact(self.width) {
            if stop::is_asked() || out.has_failed() {
                return;
            }
            self.expand_one(state, &mut key, out);
        }
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
        if let Some(state) = self.unpack(state) {
            self.each_step(&state, |name, to| steps.push(self.step(name.to_string(), to)));
        }
        steps
    }

    fn each_start(&self, visit: &mut dyn FnMut(Step) -> ControlFlow<()>) {
        for state in self.system.initial() {
            if visit(self.step("start".into(), Ok(state))).is_break() {
                return;
            }
        }
    }

    fn properties(&self) -> Vec<PropertyInfo> {
        let info = |it: &Invariant<_>| {
            let (kind, name, span) = ("invariant", it.name.clone(), Span::default());
            PropertyInfo { kind, name, span }
        };
        self.invariants.iter().map(info).collect()
    }

    fn action_name(&self, _: u32) -> String {
        "a step".into()
    }

    fn violations(&self, state: &[u8]) -> Vec<Violation> {
        let Some(state) = self.unpack(state) else { return Vec::new() };
        let stuck = !self.each_step(&state, |_, _| {}) && !self.system.may_end(&state);
        stuck.then_some(Violation::Deadlock).into_iter().chain(self.violated(&state)).collect()
    }

    fn describe(&self, state: &[u8]) -> Vec<(String, Value)> {
        match self.unpack(state) {
            Some(state) => {
                let told = self.system.describe(&state).into_iter();
                told.map(|(name, value)| (name, value.into())).collect()
            }
            None => vec![("no state".into(), format!("{state:02x?}").into())],
        }
    }
}
