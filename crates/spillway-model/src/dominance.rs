//! Dominance: states that make others redundant.

use std::sync::Arc;

/// A state is a key followed by numbers. It *dominates* a state with the same key if each of its numbers is at most the
/// other's. Everything that is possible from the other state is then possible from it. An engine may drop a state that
/// is dominated by a visited state of the same level or of an earlier one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dominance {
    /// Bytes of each number, most significant first.
    numbers: Arc<[u8]>,
}

impl Dominance {
    /// The last bytes of a state are numbers of `numbers[0]`, `numbers[1]`, ... bytes.
    ///
    /// # Panics
    ///
    /// Panics if there is no number, or one has no bytes.
    pub fn new(numbers: &[u8]) -> Dominance {
        assert!(!numbers.is_empty() && !numbers.contains(&0), "a number has at least one byte");
        Dominance { numbers: numbers.into() }
    }

    /// Returns the bytes of each number.
    pub fn numbers(&self) -> &[u8] {
        &self.numbers
    }

    /// Returns the bytes of all numbers.
    pub fn bytes(&self) -> usize {
        self.numbers.iter().map(|&it| usize::from(it)).sum()
    }

    /// Returns the bytes of the key of a state of `width` bytes.
    pub fn key_bytes(&self, width: usize) -> usize {
        width - self.bytes()
    }

    /// Returns whether state `one` dominates state `other`.
    pub fn dominates(&self, one: &[u8], other: &[u8]) -> bool {
        let mut at = self.key_bytes(one.len());
        one[..at] == other[..at]
            && self.numbers.iter().all(|&bytes| {
                let number = at..at + usize::from(bytes);
                at = number.end;
                one[number.clone()] <= other[number]
            })
    }
}
