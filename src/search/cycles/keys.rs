//! States as keys of a region: without the bits in which none of those reached differs.

use super::other_successors;
use spill::{Codec, Projection, Result};
use std::sync::Arc;

/// How states become keys, and keys states. The order is the same.
#[derive(Clone)]
pub(super) struct Keys {
    /// Bytes of a state.
    whole: usize,
    projection: Option<Arc<Projection>>,
}

impl Keys {
    /// As a search that has reached all states had them in memory.
    pub(super) fn of(whole: usize, codec: &Codec) -> Keys {
        Keys { whole, projection: codec.projection().cloned() }
    }

    /// Bytes of a state.
    pub(super) fn whole(&self) -> usize {
        self.whole
    }

    /// Bytes of a key.
    pub(super) fn width(&self) -> usize {
        self.projection.as_ref().map_or(self.whole, |it| it.width())
    }

    /// Replaces `states` by the states of `keys`.
    pub(super) fn lift(&self, keys: &[u8], states: &mut Vec<u8>) {
        states.clear();
        match &self.projection {
            None => states.extend_from_slice(keys),
            Some(projection) => projection.lift(keys, states),
        }
    }

    /// Replaces `keys` by the keys of `states`, which were all reached.
    pub(super) fn project(&self, states: &[u8], keys: &mut Vec<u8>) -> Result<()> {
        keys.clear();
        let Some(projection) = &self.projection else {
            keys.extend_from_slice(states);
            return Ok(());
        };
        let mut strangers = Vec::new();
        projection.project(states, keys, &mut strangers);
        match strangers.is_empty() {
            true => Ok(()),
            false => Err(other_successors()),
        }
    }
}
