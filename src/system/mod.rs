//! Models that are Rust types.
//!
//! A [`TransitionSystem`] has states and actions of some types, and says which states it starts in, which actions
//! there are in each and where they lead. [`PackedSystem`] makes it a [`Model`](crate::exec::StateSpace): a state is then a key,
//! the bytes that serde and postcard make of it, and is searched, stored and reported like that of any model. Whoever
//! needs more (a form of states of their own, masks of what steps write) writes a `Model`.

mod consistency;
mod packed_system;
mod packing;
mod panics;
mod property;
mod restriction;
mod value_serializer;

pub use consistency::{ModelInconsistency, check_consistency};
pub use packed_system::PackedSystem;
pub use packing::PackingError;
pub use property::Property;
pub use restriction::RestrictedSystem;

use crate::exec::StateValue;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// Something that is in one state and can go to others.
///
/// It is a function: the same actions in a state, and the same state behind each, whenever it is asked and by
/// whichever thread. Where it panics (an assertion of its own, an overflow, an index out of bounds) a search tells
/// that as an error of the model, with the way there; a program that is built to abort where it panics aborts.
///
/// A state must be all that its serialization says: equal states are equal bytes. Unordered collections (`HashMap`,
/// `HashSet`) break that, and a search that sees it ends with an error; use `BTreeMap` and `BTreeSet`.
///
/// Two jugs of five and of three litres, from which four are to be measured:
///
/// ```
/// use spillway::{Property, TransitionSystem};
///
/// struct Jugs;
///
/// #[derive(Debug)]
/// enum Do { FillLarger, FillSmaller, EmptyLarger, EmptySmaller, IntoSmaller, IntoLarger }
///
/// impl TransitionSystem for Jugs {
///     type State = (u8, u8);
///     type Action = Do;
///
///     fn initial(&self) -> Vec<(u8, u8)> {
///         vec![(0, 0)]
///     }
///
///     fn actions(&self, _: &(u8, u8), actions: &mut Vec<Do>) {
///         use Do::*;
///         actions.extend([FillLarger, FillSmaller, EmptyLarger, EmptySmaller, IntoSmaller, IntoLarger]);
///     }
///
///     fn next(&self, &(five, three): &(u8, u8), action: &Do) -> Option<(u8, u8)> {
///         let (to_three, to_five) = (five.min(3 - three), three.min(5 - five));
///         Some(match action {
///             Do::FillLarger => (5, three),
///             Do::FillSmaller => (five, 3),
///             Do::EmptyLarger => (0, three),
///             Do::EmptySmaller => (five, 0),
///             Do::IntoSmaller => (five - to_three, three + to_three),
///             Do::IntoLarger => (five + to_five, three - to_five),
///         })
///     }
///
///     fn properties(&self) -> Vec<Property<'_, (u8, u8)>> {
///         vec![Property::always("nobody has four litres", |&(five, _)| five != 4)]
///     }
/// }
///
/// let found = spillway::check(&Jugs)?;
/// assert_eq!(found.counterexample()?.unwrap().depth(), 6);
/// # Ok::<(), spillway::Error>(())
/// ```
pub trait TransitionSystem: Send + Sync {
    /// What it can be in.
    type State: Debug + Serialize + DeserializeOwned;

    /// What it can do.
    type Action: Debug;

    /// The states that it starts in.
    fn initial(&self) -> Vec<Self::State>;

    /// Adds every action that there may be in `state`.
    fn actions(&self, state: &Self::State, actions: &mut Vec<Self::Action>);

    /// Where an action leads; nothing if it is not possible in `state` after all.
    fn next(&self, state: &Self::State, action: &Self::Action) -> Option<Self::State>;

    /// What is asked of it.
    fn properties(&self) -> Vec<Property<'_, Self::State>> {
        Vec::new()
    }

    /// Whether it may end in `state`: then it is no deadlock that there is no step.
    fn may_end(&self, state: &Self::State) -> bool {
        let _ = state;
        false
    }

    /// What people call an action.
    fn name(&self, action: &Self::Action) -> String {
        format!("{action:?}")
    }

    /// A state as variables, names and values, in order: by default what it serializes to, a variable for each field
    /// if it is a struct.
    fn describe(&self, state: &Self::State) -> Vec<(String, StateValue)> {
        value_serializer::variables(state)
    }

    /// What tells it from others of its type: its parameters. A search in a directory goes on only with a system that
    /// says the same, and that does the same in a sample of states. Two values whose first few hundred states are alike are
    /// told apart by this alone.
    fn parameters(&self) -> String {
        String::new()
    }
}
