//! How states lie between being found and being forgotten: whole, or projected.
//!
//! Of a candidate its tag stands behind the state, of a state of the last level in front (see
//! `tagged_model.rs`). The codec that candidates have is that of keys with tags; what it says of the states
//! alone, and of keys with the tag in front, is taken from it here.

use super::tagged_model::TAG;
use spill::{Codec, Projection};
use std::borrow::Cow;
use std::sync::Arc;

/// The form of states in memory.
pub(super) struct StateEncoding {
    /// Of candidates.
    pub(super) candidates: Codec,
    /// Of states of the last level.
    pub(super) numbered: Codec,
    /// Of states without tags, if they are projected.
    states: Option<Projection>,
    /// Bytes of a whole state.
    whole: usize,
}

impl StateEncoding {
    /// The form of states of `whole` bytes if candidates have a codec; none if that has them projected
    /// and does not keep the bits of tags, or if those of states do not fill bytes.
    pub(super) fn of(candidates: Codec, whole: usize) -> Option<StateEncoding> {
        let Some(projection) = candidates.projection() else {
            return Some(StateEncoding {
                numbered: candidates.clone(),
                candidates,
                states: None,
                whole,
            });
        };
        let (key, varying) = projection.key_and_mask();
        let in_front = |key: &[u8]| [&key[whole..], &key[..whole]].concat();
        let numbered = Projection::new(&in_front(key), &in_front(varying));
        let states = Projection::new(&key[..whole], &varying[..whole]);
        let bits: u32 = varying.iter().map(|bits| bits.count_ones()).sum();
        let fills = bits as usize == 8 * (states.width() + TAG);
        if !fills || !projection.keeps_value(TAG) {
            return None;
        }
        let numbered = Codec::Projected(Arc::new(numbered));
        Some(StateEncoding { candidates, numbered, states: Some(states), whole })
    }

    /// Bytes of a state.
    pub(super) fn width(&self) -> usize {
        self.states.as_ref().map_or(self.whole, Projection::width)
    }

    /// A whole state.
    pub(super) fn lift<'s>(&self, state: &'s [u8], room: &'s mut Vec<u8>) -> &'s [u8] {
        let Some(projection) = &self.states else { return state };
        room.clear();
        projection.unproject(state, room);
        room
    }

    /// A whole state of the store, as it lies here.
    pub(super) fn project<'s>(&self, state: &'s [u8]) -> Cow<'s, [u8]> {
        match &self.states {
            None => Cow::Borrowed(state),
            Some(projection) => Cow::Owned(projection.extract_bits(state)),
        }
    }
}
