//! A set of states in the order of their insertion.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// The largest capacity for numbers that is kept.
const KEPT_MAX: usize = 1 << 11;

/// Without the salt, words of zeros would hash to zero.
const SALT: u64 = 0x9e37_79b9_7f4a_7c15;

/// Odd, with half of its bits set.
const FACTOR: u64 = 0xd6e8_feb8_6659_fd93;

/// A set of states of one width.
pub(super) struct OrderedStateSet {
    width: usize,
    states: Vec<u8>,
    /// The numbers of the states.
    numbers: HashTable<u32>,
}

impl OrderedStateSet {
    pub(super) fn new(width: usize) -> OrderedStateSet {
        OrderedStateSet { width, states: Vec::new(), numbers: HashTable::new() }
    }

    pub(super) fn clear(&mut self) {
        self.states.clear();
        match self.numbers.capacity() > KEPT_MAX {
            true => self.numbers = HashTable::new(),
            false => self.numbers.clear(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.states.len() / self.width
    }

    /// Returns the size in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.states.len() + self.numbers.allocation_size()
    }

    /// Returns all states, one after another.
    pub(super) fn states(&self) -> &[u8] {
        &self.states
    }

    pub(super) fn get(&self, at: usize) -> &[u8] {
        state(&self.states, self.width, at)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.states.chunks_exact(self.width)
    }

    pub(super) fn contains(&self, state: &[u8]) -> bool {
        self.number(state).is_some()
    }

    /// Returns the number of a state, if it is in the set.
    pub(super) fn number(&self, state: &[u8]) -> Option<usize> {
        self.numbers.find(hash(state), |&it| self.get(it as usize) == state).map(|&it| it as usize)
    }

    /// Adds a state. Returns `false` if it is already in the set.
    pub(super) fn insert(&mut self, new: &[u8]) -> bool {
        let before = self.len();
        self.number_of(new) == before
    }

    /// Returns the number of a state, which is added if it is new.
    pub(super) fn number_of(&mut self, new: &[u8]) -> usize {
        let OrderedStateSet { width, states, numbers } = self;
        let known = |&it: &u32| state(states, *width, it as usize);
        let next = (states.len() / *width) as u32;
        match numbers.entry(hash(new), |it| known(it) == new, |it| hash(known(it))) {
            Entry::Occupied(there) => return *there.get() as usize,
            Entry::Vacant(free) => free.insert(next),
        };
        states.extend_from_slice(new);
        next as usize
    }

    /// Keeps the first `count` states.
    pub(super) fn truncate(&mut self, count: usize) {
        self.states.truncate(count * self.width);
        self.numbers.retain(|it| (*it as usize) < count);
    }
}

/// Returns one of some states of a width.
fn state(states: &[u8], width: usize, at: usize) -> &[u8] {
    &states[at * width..][..width]
}

fn hash(state: &[u8]) -> u64 {
    let (words, rest) = state.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = words.iter().chain([&last]).map(|it| u64::from_le_bytes(*it));
    words.fold(state.len() as u64, |hash, word| {
        // Combines both halves of the product, as wyhash does: one multiplication for each word.
        let product = u128::from(hash ^ word ^ SALT) * u128::from(FACTOR);
        product as u64 ^ (product >> 64) as u64
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use spillway_base::random::mix;
    use std::collections::BTreeSet;

    #[test]
    fn states_form_a_set_in_insertion_order() {
        for width in [1, 3, 8, 11] {
            let (mut states, mut known) = (OrderedStateSet::new(width), BTreeSet::new());
            for round in 0..2 {
                let mut order = Vec::new();
                for number in 0..2000u64 {
                    let state: Vec<u8> = (0..width as u64)
                        .map(|at| (mix(number % 700 + at * 977) % 5) as u8)
                        .collect();
                    assert_eq!(states.contains(&state), known.contains(&state), "{round}");
                    assert_eq!(states.insert(&state), known.insert(state.clone()));
                    if order.last() != Some(&state) && !order.contains(&state) {
                        order.push(state);
                    }
                }
                assert!(states.iter().eq(order.iter().map(Vec::as_slice)));
                assert_eq!(states.len(), known.len());
                for (number, state) in order.iter().enumerate() {
                    assert_eq!(states.number(state), Some(number));
                    assert_eq!(states.number_of(state), number);
                }
                let kept = order.len() / 2;
                states.truncate(kept);
                assert!(states.iter().eq(order[..kept].iter().map(Vec::as_slice)));
                assert!(
                    order.iter().enumerate().all(|(at, it)| states.contains(it) == (at < kept))
                );
                states.clear();
                known.clear();
            }
        }
    }
}
