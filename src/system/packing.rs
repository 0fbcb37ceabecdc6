//! States as bytes of a fixed length: their serialization by serde and postcard, padded with zeros.
//!
//! The serialization of a type is self-delimiting. So none is a prefix of another one of the same type, and padding
//! with zeros keeps different states different.

use super::panics::catch_panic;
use crate::model::TransitionSystem;
use crate::random::SplitMix64;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeSet, VecDeque};
use std::fmt::{self, Debug};

/// The number of states whose lengths are sampled.
const SAMPLED_STATES: usize = 2_000;

/// The reason why states of a Rust type cannot be searched as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackingError {
    /// A state takes more bytes than the width.
    TooLong {
        /// The state as `Debug` prints it.
        state: String,
        /// The bytes that it takes.
        takes: usize,
        /// The width in bytes.
        room: usize,
    },
    /// A state has another serialization after it was read back.
    Unsteady {
        /// The state as `Debug` prints it.
        state: String,
    },
    /// A state cannot be serialized.
    Unwritable {
        /// The state as `Debug` prints it.
        state: String,
        /// The message of serde.
        why: String,
    },
    /// Bytes that are not a state.
    Unreadable {
        /// The bytes.
        bytes: Vec<u8>,
        /// The message of serde.
        why: String,
    },
}

impl std::error::Error for PackingError {}

impl fmt::Display for PackingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PackingError::TooLong { state, takes, room } => write!(
                f,
                "a state takes {takes} bytes, but the search has {room} for each: give `Check::state_bytes` at least \
                 {takes}, and a new directory; the state is {state}"
            ),
            PackingError::Unsteady { state } => write!(
                f,
                "reading a state back and writing it again gives other bytes, so equal states would be visited as \
                 different ones: use BTreeMap and BTreeSet for HashMap and HashSet; the state is {state}"
            ),
            PackingError::Unwritable { state, why } => {
                write!(f, "a state cannot be written as bytes: {why}; the state is {state}")
            }
            PackingError::Unreadable { bytes, why } => write!(
                f,
                "what was written of a state cannot be read back: {why}; `Deserialize` must undo `Serialize`, and \
                 the type be the one that the search began with; the bytes are {bytes:02x?}"
            ),
        }
    }
}

/// Packs a state into bytes of a fixed length.
pub(super) fn pack<S: Serialize + Debug>(state: &S, bytes: &mut [u8]) -> Result<(), PackingError> {
    let room = bytes.len();
    let told = || format!("{state:?}");
    match postcard::to_slice(state, bytes) {
        Ok(written) => {
            let written = written.len();
            bytes[written..].fill(0);
            Ok(())
        }
        Err(postcard::Error::SerializeBufferFull) => Err(match length(state) {
            Ok(takes) => PackingError::TooLong { state: told(), takes, room },
            Err(why) => why,
        }),
        Err(error) => Err(PackingError::Unwritable { state: told(), why: error.to_string() }),
    }
}

/// Unpacks a state.
pub(super) fn unpack<S: DeserializeOwned>(bytes: &[u8]) -> Result<S, PackingError> {
    postcard::from_bytes(bytes)
        .map_err(|error| PackingError::Unreadable { bytes: bytes.to_vec(), why: error.to_string() })
}

/// Returns the length of a state's serialization in bytes.
fn length<S: Serialize + Debug>(state: &S) -> Result<usize, PackingError> {
    let size = postcard::serialize_with_flavor(state, postcard::ser_flavors::Size::default());
    size.map_err(|error| PackingError::Unwritable {
        state: format!("{state:?}"),
        why: error.to_string(),
    })
}

/// Returns the width for states of a system: the common length of the sampled states, or a greater one if their lengths
/// differ. The sample consists of the first states and those of a walk.
pub(super) fn width<T: TransitionSystem>(system: &T) -> usize {
    let mut lengths = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let Ok(initial) = catch_panic(|| system.initial()) else { return 1 };
    let mut open: VecDeque<T::State> = initial.into();
    let mut random = SplitMix64::new(1);
    let mut last = None;
    while let Some(state) = open.pop_front().filter(|_| seen.len() < SAMPLED_STATES) {
        let Ok(bytes) = postcard::to_stdvec(&state) else { continue };
        lengths.insert(bytes.len().max(1));
        if seen.insert(bytes) {
            open.extend(successors(system, &state));
        }
        last = Some(state);
    }
    for _ in 0..SAMPLED_STATES {
        let Some(state) = last.take() else { break };
        lengths.extend(length(&state).map(|it| it.max(1)));
        let mut next = successors(system, &state);
        last = (!next.is_empty()).then(|| next.swap_remove(random.below(next.len())));
    }
    let longest = lengths.last().copied().unwrap_or(1);
    match lengths.len() {
        0 | 1 => longest,
        _ => longest + longest / 4 + 2,
    }
}

fn successors<T: TransitionSystem>(system: &T, state: &T::State) -> Vec<T::State> {
    let all = catch_panic(|| {
        let mut actions = Vec::new();
        system.actions(state, &mut actions);
        actions
    });
    let each = all.unwrap_or_default().into_iter();
    each.filter_map(|action| catch_panic(|| system.next(state, &action)).ok().flatten()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    type State = (Option<u16>, Vec<(u8, i64)>, BTreeMap<u8, String>, bool);

    proptest! {
        #[test]
        fn states_are_unpacked_as_packed(state in any::<State>(), more in 0..20_usize) {
            let mut bytes = vec![0xa5; length(&state).unwrap() + more];
            pack(&state, &mut bytes).unwrap();
            prop_assert_eq!(&unpack::<State>(&bytes).unwrap(), &state);
        }

        #[test]
        fn different_states_have_different_bytes(one in any::<State>(), other in any::<State>()) {
            let room = length(&one).unwrap().max(length(&other).unwrap());
            let bytes = |state: &State| {
                let mut bytes = vec![0xff; room];
                pack(state, &mut bytes).unwrap();
                bytes
            };
            prop_assert_eq!(one == other, bytes(&one) == bytes(&other));
        }

        #[test]
        fn too_long_states_are_errors(state in any::<State>(), less in 1..9_usize) {
            let takes = length(&state).unwrap();
            let room = takes.saturating_sub(less);
            let told = PackingError::TooLong { state: format!("{state:?}"), takes, room };
            prop_assert_eq!(pack(&state, &mut vec![0; room]), Err(told));
        }
    }
}
