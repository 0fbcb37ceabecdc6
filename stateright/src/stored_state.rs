//! How states of a model are written and read.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// A form of states `S` that serde can write and read: `S` itself, if it can be; else something that has one and
/// writes it the same way whenever it is equal.
pub trait StoredState<S>: Debug + Serialize + DeserializeOwned {
    /// That of a state.
    fn of(state: S) -> Self;

    /// The state.
    fn state(&self) -> &S;
}

impl<S: Debug + Serialize + DeserializeOwned> StoredState<S> for S {
    fn of(state: S) -> S {
        state
    }

    fn state(&self) -> &S {
        self
    }
}
