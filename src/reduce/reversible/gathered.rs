//! States that were met, each once, in the order in which they came.

use crate::random::mix;

/// A set of states of one width.
pub(super) struct Gathered {
    width: usize,
    states: Vec<u8>,
    /// Numbers of states, one more than they are, where their hashes say; 0 is none.
    table: Vec<u32>,
}

impl Gathered {
    pub(super) fn new(width: usize) -> Gathered {
        Gathered { width, states: Vec::new(), table: vec![0; 64] }
    }

    pub(super) fn clear(&mut self) {
        self.states.clear();
        match self.table.len() > 1 << 12 {
            true => self.table = vec![0; 64],
            false => self.table.fill(0),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.states.len() / self.width
    }

    /// The bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.states.len() + self.table.len() * 4
    }

    /// All of them, one after another.
    pub(super) fn states(&self) -> &[u8] {
        &self.states
    }

    pub(super) fn get(&self, at: usize) -> &[u8] {
        &self.states[at * self.width..(at + 1) * self.width]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.states.chunks_exact(self.width)
    }

    pub(super) fn contains(&self, state: &[u8]) -> bool {
        self.table[self.place(state)] != 0
    }

    /// Adds a state; false if it is there already.
    pub(super) fn insert(&mut self, state: &[u8]) -> bool {
        let place = self.place(state);
        if self.table[place] != 0 {
            return false;
        }
        self.states.extend_from_slice(state);
        self.table[place] = self.len() as u32;
        if self.len() * 2 > self.table.len() {
            self.grow();
        }
        true
    }

    fn grow(&mut self) {
        self.table = vec![0; self.table.len() * 4];
        for at in 0..self.len() {
            let place = self.place(self.get(at));
            self.table[place] = at as u32 + 1;
        }
    }

    /// Where a state is in the table, or would be.
    fn place(&self, state: &[u8]) -> usize {
        let mask = self.table.len() - 1;
        let mut place = hash(state) as usize & mask;
        loop {
            match self.table[place] {
                0 => return place,
                number if self.get(number as usize - 1) == state => return place,
                _ => place = (place + 1) & mask,
            }
        }
    }
}

fn hash(state: &[u8]) -> u64 {
    let (words, rest) = state.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = words.iter().chain([&last]).map(|it| u64::from_le_bytes(*it));
    words.fold(state.len() as u64, |hash, word| mix(hash ^ word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn what_is_gathered_is_a_set_in_the_order_in_which_it_came() {
        for width in [1, 3, 8, 11] {
            let (mut gathered, mut known) = (Gathered::new(width), BTreeSet::new());
            for round in 0..2 {
                let mut order = Vec::new();
                for number in 0..2000u64 {
                    let state: Vec<u8> = (0..width as u64)
                        .map(|at| (mix(number % 700 + at * 977) % 5) as u8)
                        .collect();
                    assert_eq!(gathered.contains(&state), known.contains(&state), "{round}");
                    assert_eq!(gathered.insert(&state), known.insert(state.clone()));
                    if order.last() != Some(&state) && !order.contains(&state) {
                        order.push(state);
                    }
                }
                assert!(gathered.iter().eq(order.iter().map(Vec::as_slice)));
                assert_eq!(gathered.len(), known.len());
                gathered.clear();
                known.clear();
            }
        }
    }
}
