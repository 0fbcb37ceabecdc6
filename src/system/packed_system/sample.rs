//! A digest of a system's behaviour in a sample of its states, so that a search in a directory is not resumed with
//! another value of the same type.
//!
//! The sample consists of the first states in breadth-first order and the states of a few walks. The walks are
//! deterministic, so that a system has the same sample each time.

use super::PackedSystem;
use crate::model::TransitionSystem;
use crate::system::packing;
use std::collections::{HashSet, VecDeque};

/// The number of states visited in breadth-first order.
const FIRST_STATES: usize = 256;
/// The number of walks, and the steps of each.
const WALKS: usize = 4;
const WALK_STEPS: usize = 128;

/// Adds the behaviour in a sample of states, which begins with `initial`, to a digest.
pub(super) fn hash_behaviour<T: TransitionSystem>(
    packed: &PackedSystem<'_, T>,
    initial: Vec<(T::State, Vec<u8>)>,
    hasher: &mut blake3::Hasher,
) {
    for (_, bytes) in &initial {
        hasher.update(bytes);
    }
    let initial: Vec<Vec<u8>> = initial.into_iter().map(|(_, bytes)| bytes).collect();
    let mut met: HashSet<Vec<u8>> = initial.iter().cloned().collect();
    let mut open: VecDeque<Vec<u8>> = initial.iter().cloned().collect();
    for _ in 0..FIRST_STATES {
        let Some(at) = open.pop_front() else { break };
        for next in hash_state(packed, &at, hasher) {
            if met.len() < FIRST_STATES && met.insert(next.clone()) {
                open.push_back(next);
            }
        }
    }
    for walk in 0..WALKS {
        let mut at = initial.get(walk % initial.len().max(1)).cloned();
        for step in 0..WALK_STEPS {
            let Some(state) = at else { break };
            let mut successors = hash_state(packed, &state, hasher);
            // Prime factors make the walks differ.
            let choice = (step * 7919 + walk * 104_729) % successors.len().max(1);
            at = (!successors.is_empty()).then(|| successors.swap_remove(choice));
        }
    }
}

/// Adds the behaviour in a state to a digest. Returns the successors.
fn hash_state<T: TransitionSystem>(
    packed: &PackedSystem<'_, T>,
    bytes: &[u8],
    hasher: &mut blake3::Hasher,
) -> Vec<Vec<u8>> {
    // The search reports states that do not fit.
    let Ok(state) = packing::unpack::<T::State>(bytes) else { return Vec::new() };
    let mut successors = Vec::new();
    packed.each_step(&state, &mut Vec::new(), |_, next| {
        let mut key = vec![0; bytes.len()];
        match next {
            Ok(next) if packing::pack(&next, &mut key).is_ok() => successors.push(key),
            _ => {
                hasher.update(b"failed");
            }
        }
    });
    hasher.update(&(successors.len() as u64).to_le_bytes());
    for successor in &successors {
        hasher.update(successor);
    }
    for answer in packed.property_values(&state) {
        hasher.update(&[answer.map_or(2, u8::from)]);
    }
    successors
}
