//! The keys of a region: states without the bits in which no two reached states differ.

use super::inconsistent_successors;
use spill::{Codec, Projection, Result};
use std::sync::Arc;

/// The conversion between states and keys. It keeps the order.
#[derive(Clone)]
pub(crate) struct RegionKeys {
    /// Bytes of a state.
    whole: usize,
    projection: Option<Arc<Projection>>,
}

impl RegionKeys {
    /// Takes the encoding that a search which has reached all states used in memory.
    pub(crate) fn of(whole: usize, codec: &Codec) -> RegionKeys {
        RegionKeys { whole, projection: codec.projection().cloned() }
    }

    /// Returns the bytes of a state.
    pub(crate) fn whole(&self) -> usize {
        self.whole
    }

    /// Returns the bytes of a key.
    pub(crate) fn width(&self) -> usize {
        self.projection.as_ref().map_or(self.whole, |it| it.width())
    }

    /// Replaces `states` by the states of `keys`.
    pub(crate) fn lift(&self, keys: &[u8], states: &mut Vec<u8>) {
        states.clear();
        match &self.projection {
            None => states.extend_from_slice(keys),
            Some(projection) => projection.unproject(keys, states),
        }
    }

    /// Replaces `keys` by the keys of `states`. All of these must have been reached.
    pub(crate) fn project(&self, states: &[u8], keys: &mut Vec<u8>) -> Result<()> {
        keys.clear();
        let Some(projection) = &self.projection else {
            keys.extend_from_slice(states);
            return Ok(());
        };
        let mut strangers = Vec::new();
        projection.project(states, keys, &mut strangers);
        match strangers.is_empty() {
            true => Ok(()),
            false => Err(inconsistent_successors()),
        }
    }
}

/// Returns the index of a key among ascending `keys`, if it is there.
pub(crate) fn place(keys: &[u8], wanted: &[u8]) -> Option<usize> {
    let (width, at) = (wanted.len(), first_from(keys, 0, wanted));
    (keys.get(at * width..)?.get(..width)? == wanted).then_some(at)
}

/// Returns the index of the first of ascending `keys`, from `at` on, that is not less than `wanted`. It is usually
/// near.
pub(crate) fn first_from(keys: &[u8], at: usize, wanted: &[u8]) -> usize {
    let width = wanted.len();
    let count = keys.len() / width;
    let is_less = |at: usize| keys[at * width..][..width] < *wanted;
    let (mut low, mut step) = (at, 1);
    while low + step <= count && is_less(low + step - 1) {
        (low, step) = (low + step, 2 * step);
    }
    let mut high = (low + step - 1).min(count);
    while low < high {
        let middle = low.midpoint(high);
        if is_less(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}
