//! Transition systems that are Rust types.

use super::{Property, StateValue, value_serializer};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// A transition system whose states and actions are Rust types.
///
/// It is a function: it returns the same actions in a state, and the same state after each, every time and on every
/// thread. If it panics (an assertion of its own, an overflow, an index out of bounds), the search reports a run-time
/// error of the model, with a trace. A program that is built to abort on panics aborts.
///
/// The serialization of a state is its identity: equal states have equal bytes. Unordered collections (`HashMap`,
/// `HashSet`) break that, and a search that notices it ends with an error. Use `BTreeMap` and `BTreeSet`.
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
    /// The states.
    type State: Debug + Serialize + DeserializeOwned;

    /// The actions.
    type Action: Debug;

    /// Returns the initial states.
    fn initial(&self) -> Vec<Self::State>;

    /// Adds every action that may be possible in `state`.
    fn actions(&self, state: &Self::State, actions: &mut Vec<Self::Action>);

    /// Returns the successor by an action; nothing if the action is not possible in `state` after all.
    fn next(&self, state: &Self::State, action: &Self::Action) -> Option<Self::State>;

    /// Returns the properties to check.
    fn properties(&self) -> Vec<Property<'_, Self::State>> {
        Vec::new()
    }

    /// Returns whether the system may end in `state`: a state without successors is then no deadlock.
    fn may_end(&self, state: &Self::State) -> bool {
        let _ = state;
        false
    }

    /// Returns the name of an action in reports.
    fn name(&self, action: &Self::Action) -> String {
        format!("{action:?}")
    }

    /// Returns a state as variables in order, each a name and a value: by default its serialization, with one variable
    /// for each field of a struct.
    fn describe(&self, state: &Self::State) -> Vec<(String, StateValue)> {
        value_serializer::variables(state)
    }

    /// Returns the parameters, which distinguish the system from others of its type. A search directory is resumed only
    /// with a system that returns the same text and behaves the same in a sample of states. Two systems whose first few
    /// hundred states are equal are distinguished by this text alone.
    fn parameters(&self) -> String {
        String::new()
    }
}
