//! The states on the current path of a walk or a dive, found by their fingerprints.
//!
//! The table is open. It is never erased: an entry is valid only if the path has its fingerprint at its position. So a
//! new path begins without work.

/// The number of successive entries in which a fingerprint may be.
const WINDOW: usize = 16;

/// The initial number of entries.
const ENTRIES_MIN: usize = 1 << 10;

/// A fingerprint, and its position on the path.
#[derive(Clone, Copy, Default)]
struct PathEntry {
    fingerprint: u64,
    position: u32,
}

/// The fingerprints of the states on a path, with the accepting ones among them.
pub struct PathIndex {
    path: Vec<u64>,
    /// The number of accepting states up to each position, itself included.
    accepting: Vec<u32>,
    entries: Vec<PathEntry>,
}

impl Default for PathIndex {
    fn default() -> PathIndex {
        let entries = vec![PathEntry::default(); ENTRIES_MIN];
        PathIndex { path: Vec::new(), accepting: Vec::new(), entries }
    }
}

impl PathIndex {
    /// Begins a new path.
    pub fn clear(&mut self) {
        self.path.clear();
        self.accepting.clear();
    }

    /// Returns the number of states on the path.
    pub fn len(&self) -> usize {
        self.path.len()
    }

    /// Returns whether the path has no state.
    pub fn is_empty(&self) -> bool {
        self.path.is_empty()
    }

    /// Appends a state.
    pub fn push(&mut self, fingerprint: u64, is_accepting: bool) {
        let before = self.accepting.last().copied().unwrap_or_default();
        self.accepting.push(before + u32::from(is_accepting));
        self.path.push(fingerprint);
        let position = self.path.len() as u32 - 1;
        if !self.enter(PathEntry { fingerprint, position }) {
            self.grow();
        }
    }

    /// Removes the last state.
    pub fn pop(&mut self) {
        self.path.pop();
        self.accepting.pop();
    }

    /// Returns the position of a state on the path, if it has one.
    pub fn position(&self, fingerprint: u64) -> Option<usize> {
        let found = self.window(fingerprint).find(|&at| {
            let entry = self.entries[at];
            entry.fingerprint == fingerprint && self.is_valid(entry)
        });
        found.map(|at| self.entries[at].position as usize)
    }

    /// Returns whether the path has an accepting state from a position on.
    pub fn accepts_from(&self, position: usize) -> bool {
        let before = position.checked_sub(1).map_or(0, |it| self.accepting[it]);
        self.accepting.last().is_some_and(|&all| all > before)
    }

    fn is_valid(&self, entry: PathEntry) -> bool {
        self.path.get(entry.position as usize) == Some(&entry.fingerprint)
    }

    /// Returns the entries in which a fingerprint may be.
    fn window(&self, fingerprint: u64) -> impl Iterator<Item = usize> + use<> {
        let mask = self.entries.len() - 1;
        (0..WINDOW).map(move |it| (fingerprint as usize).wrapping_add(it) & mask)
    }

    /// Enters a state into the table. Returns false if there is no space.
    fn enter(&mut self, entry: PathEntry) -> bool {
        let free = self.window(entry.fingerprint).find(|&at| {
            let there = self.entries[at];
            // An older entry of the same state is replaced.
            there.fingerprint == entry.fingerprint || !self.is_valid(there)
        });
        free.inspect(|&at| self.entries[at] = entry).is_some()
    }

    fn grow(&mut self) {
        loop {
            self.entries = vec![PathEntry::default(); 2 * self.entries.len()];
            let all = (0..self.path.len() as u32).rev();
            let mut all = all
                .map(|position| PathEntry { fingerprint: self.path[position as usize], position });
            let all: Vec<PathEntry> = all.by_ref().collect();
            if all.into_iter().all(|it| self.enter(it)) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spillway_base::random::{SplitMix64, mix};
    use std::collections::HashMap;

    #[test]
    fn positions_agree_with_a_map_of_the_path() {
        let mut random = SplitMix64::new(1);
        let (mut index, mut path) = (PathIndex::default(), Vec::new());
        for round in 0..200_000 {
            let state = mix(random.below(30_000) as u64);
            let known = index.position(state);
            match random.below(8) {
                0 if round % 40_000 == 7 => {
                    index.clear();
                    path.clear();
                }
                0 | 1 => {
                    index.pop();
                    path.pop();
                }
                _ if known.is_none() => {
                    index.push(state, random.below(50) == 0);
                    path.push(state);
                }
                _ => {}
            }
            if round % 1000 == 0 {
                let map: HashMap<u64, usize> =
                    path.iter().enumerate().map(|(at, &it)| (it, at)).collect();
                for it in (0..30_000).map(mix) {
                    assert_eq!(index.position(it), map.get(&it).copied());
                }
            }
        }
        assert!(path.len() > 10_000, "{}", path.len());
    }

    #[test]
    fn accepting_states_are_found_after_a_position() {
        let mut index = PathIndex::default();
        assert!(!index.accepts_from(0));
        for (state, is_accepting) in [(1, false), (2, true), (3, false)] {
            index.push(state, is_accepting);
        }
        assert_eq!([0, 1, 2].map(|it| index.accepts_from(it)), [true, true, false]);
        index.pop();
        index.pop();
        assert!(!index.accepts_from(0));
        assert_eq!((index.len(), index.is_empty()), (1, false));
    }
}
