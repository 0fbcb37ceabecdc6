//! The runs of a system on which a condition never holds.

use super::packed_system::{PackedSystem, SystemError, step};
use super::packing;
use super::panics::{SystemPanic, catch_panic};
use crate::model::{
    Capabilities, ProgramDescription, Property, PropertyExpectation, PropertyInfo, StateSpace,
    StateValue, StepDescription, StepOutcome, SuccessorSink, SystemDescription, TransitionSystem,
    Violation,
};
use std::ops::ControlFlow;

/// A panic of a property in a state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("evaluating `{property}` in {state}: {panic}")]
struct PropertyPanic {
    /// The name of the property.
    property: String,
    /// The state, as `Debug` prints it.
    state: String,
    panic: SystemPanic,
}

/// The states of a system in which a condition does not hold, and the steps between them. A state without successors
/// gets a step to itself. So the infinite runs of this model are exactly the runs of the system on which the condition
/// never holds.
pub struct RestrictedSystem<'s, T: TransitionSystem> {
    packed: PackedSystem<'s, T>,
    avoided: Property<'s, T::State>,
    digest: [u8; 32],
}

impl<'s, T: TransitionSystem> RestrictedSystem<'s, T> {
    /// Returns a model for each `eventually` property of a system whose states take `width` bytes, with the property's
    /// name.
    pub fn of_eventualities(system: &'s T, width: usize) -> Vec<(String, RestrictedSystem<'s, T>)> {
        let promised: Vec<Property<'s, T::State>> = system
            .properties()
            .into_iter()
            .filter(|it| it.expectation() == PropertyExpectation::Eventually)
            .collect();
        if promised.is_empty() {
            return Vec::new();
        }
        let of_system = PackedSystem::with_width(system, width).digest();
        let avoiding = promised.into_iter().map(|avoided| {
            let (packed, name) =
                (PackedSystem::without_digest(system, width), avoided.name().to_owned());
            let mut hasher = blake3::Hasher::new();
            hasher.update(&of_system).update(b"avoiding\0").update(name.as_bytes());
            let digest = *hasher.finalize().as_bytes();
            (name, RestrictedSystem { packed, avoided, digest })
        });
        avoiding.collect()
    }

    /// Returns whether the condition holds in a state, so that the state is not in this model.
    fn avoids(&self, state: &T::State) -> Result<bool, PropertyPanic> {
        catch_panic(|| self.avoided.holds(state)).map_err(|panic| PropertyPanic {
            property: self.avoided.name().to_owned(),
            state: format!("{state:?}"),
            panic,
        })
    }

    fn expand_one(
        &self,
        bytes: &[u8],
        key: &mut [u8],
        actions: &mut Vec<T::Action>,
        out: &mut SuccessorSink,
    ) -> Result<(), SystemError> {
        let state: T::State = packing::unpack(bytes)?;
        let mut failed = Ok(());
        let ends = !self.packed.each_step(&state, actions, |_, next| {
            let next = next.ok().filter(|_| failed.is_ok());
            let Some(next) = next else { return };
            match self.avoids(&next) {
                Ok(true) => {}
                Ok(false) => match packing::pack(&next, key) {
                    Ok(()) => out.candidate(key),
                    Err(why) => failed = Err(why.into()),
                },
                Err(why) => failed = Err(why.into()),
            }
        });
        if ends {
            out.candidate(bytes);
        }
        failed
    }
}

impl<T: TransitionSystem> StateSpace for RestrictedSystem<'_, T> {
    fn width(&self) -> usize {
        self.packed.width()
    }

    fn bits(&self) -> u32 {
        self.packed.bits()
    }

    fn initial(&self, out: &mut SuccessorSink) {
        let initial = match self.packed.initial_states() {
            Ok(initial) => initial,
            Err(why) => return out.fail(why),
        };
        for (state, bytes) in initial {
            match self.avoids(&state) {
                Ok(true) => {}
                Ok(false) => out.candidate(&bytes),
                Err(why) => return out.fail(why),
            }
        }
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        self.packed.each_state(states, out, |state, key, actions, out| {
            self.expand_one(state, key, actions, out)
        });
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        self.packed.write_masks()
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

impl<T: TransitionSystem> SystemDescription for RestrictedSystem<'_, T> {
    fn steps(&self, state: &[u8]) -> Vec<StepDescription> {
        let all = self.packed.steps(state);
        if all.is_empty() {
            return vec![step("no process can move".into(), Ok(state.to_vec()))];
        }
        let stays = |it: &StepDescription| match &it.outcome {
            StepOutcome::Successor(next) => {
                packing::unpack(next).is_ok_and(|next| self.avoids(&next) == Ok(false))
            }
            StepOutcome::Fault(_) => false,
        };
        all.into_iter().filter(stays).collect()
    }

    fn visit_starts(&self, visit: &mut dyn FnMut(StepDescription) -> ControlFlow<()>) {
        for (state, bytes) in self.packed.initial_states().unwrap_or_default() {
            if self.avoids(&state) == Ok(false) && visit(step("start".into(), Ok(bytes))).is_break()
            {
                return;
            }
        }
    }

    fn properties(&self) -> Vec<PropertyInfo> {
        Vec::new()
    }

    fn action_name(&self, action: u32) -> String {
        self.packed.action_name(action)
    }

    fn violations(&self, _: &[u8]) -> Vec<Violation> {
        Vec::new()
    }

    fn describe(&self, state: &[u8]) -> Vec<(String, StateValue)> {
        self.packed.describe(state)
    }

    fn program(&self) -> Option<&dyn ProgramDescription> {
        None
    }
}
