//! The stored form of a model's states.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// A form of states `S` that serde can write and read. It is `S` itself if possible; otherwise it contains a state and
/// writes equal states in the same way.
pub trait StoredState<S>: Debug + Serialize + DeserializeOwned {
    /// Creates the form of a state.
    fn of(state: S) -> Self;

    /// Returns the state.
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
