//! States in memory, numbered in order of discovery.

use hashbrown::HashTable;
use std::ops::Index;

/// The number of states of a chunk. Chunks are not moved as the set grows, so it never takes twice its memory.
const CHUNK_STATES: usize = 1024;

/// A set of states. Each has a number, from 0.
pub(super) struct NumberedStates {
    width: usize,
    chunks: StateChunks,
    /// The numbers of the states, by the hashes of the states.
    table: HashTable<u32>,
}

/// States in chunks, by their numbers.
struct StateChunks(Vec<Vec<u8>>);

impl StateChunks {
    fn state(&self, number: usize, width: usize) -> &[u8] {
        &self.0[number / CHUNK_STATES][number % CHUNK_STATES * width..][..width]
    }
}

impl NumberedStates {
    /// Creates an empty set of states of `width` bytes.
    pub fn new(width: usize) -> NumberedStates {
        NumberedStates { width, chunks: StateChunks(Vec::new()), table: HashTable::new() }
    }

    /// Returns the number of states.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Returns the states in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.chunks.0.iter().flat_map(|it| it.chunks_exact(self.width))
    }

    /// Returns the number of a state, if it has one.
    pub fn find(&self, state: &[u8]) -> Option<u32> {
        self.find_hashed(state, spill::hash(state))
    }

    fn find_hashed(&self, state: &[u8], hash: u64) -> Option<u32> {
        self.table.find(hash, |&it| &self[it as usize] == state).copied()
    }

    /// Returns the number of a state, and adds the state if it is new.
    pub fn number(&mut self, state: &[u8]) -> u32 {
        let hash = spill::hash(state);
        if let Some(number) = self.find_hashed(state, hash) {
            return number;
        }
        let number = self.len();
        if number.is_multiple_of(CHUNK_STATES) {
            self.chunks.0.push(Vec::new());
        }
        self.chunks.0[number / CHUNK_STATES].extend_from_slice(state);
        let (chunks, width) = (&self.chunks, self.width);
        let rehash = |&it: &u32| spill::hash(chunks.state(it as usize, width));
        self.table.insert_unique(hash, number as u32, rehash);
        number as u32
    }

    /// Removes all states.
    pub fn clear(&mut self) {
        self.chunks.0.clear();
        self.table.clear();
    }
}

/// The state with a number.
impl Index<usize> for NumberedStates {
    type Output = [u8];

    fn index(&self, number: usize) -> &[u8] {
        self.chunks.state(number, self.width)
    }
}
