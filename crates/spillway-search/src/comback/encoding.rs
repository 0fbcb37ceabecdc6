//! The encoding of candidates and of the states of the last level: whole or projected.
//!
//! The tag of a candidate follows its state. The tag of a state of the last level precedes it (see `tagged_model.rs`).
//! The codec of candidates applies to keys with tags. The encodings of states alone, and of keys with the tag first,
//! are derived from it here.

use super::tagged_model::TAG;
use spill::{Codec, Projection};
use std::borrow::Cow;
use std::sync::Arc;

/// The encoding of states in memory.
pub(super) struct StateEncoding {
    /// The codec of candidates.
    pub(super) candidates: Codec,
    /// The codec of states of the last level.
    pub(super) numbered: Codec,
    /// The projection of states without tags, if they are projected.
    states: Option<Projection>,
    /// Bytes of a whole state.
    whole: usize,
}

impl StateEncoding {
    /// Derives the encoding of states of `whole` bytes from the codec of candidates. Returns `None` if that codec
    /// projects candidates but drops bits of tags, or if the projected bits of states do not fill bytes.
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

    /// Returns the bytes of an encoded state.
    pub(super) fn width(&self) -> usize {
        self.states.as_ref().map_or(self.whole, Projection::width)
    }

    /// Returns the whole state.
    pub(super) fn lift<'s>(&self, state: &'s [u8], room: &'s mut Vec<u8>) -> &'s [u8] {
        let Some(projection) = &self.states else { return state };
        room.clear();
        projection.unproject(state, room);
        room
    }

    /// Returns the encoded state of a whole state of the store.
    pub(super) fn project<'s>(&self, state: &'s [u8]) -> Cow<'s, [u8]> {
        match &self.states {
            None => Cow::Borrowed(state),
            Some(projection) => Cow::Owned(projection.extract_bits(state)),
        }
    }
}
