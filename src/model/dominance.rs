//! States that make others redundant.

use std::sync::Arc;

/// A state is a key with numbers behind it. It *dominates* a state with the same key if each of its numbers is at most the
/// other's: whatever is possible from the other is possible from it. An engine may leave out a state that a visited state
/// of the same level or of an earlier one dominates.
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
    /// If there is no number, or one has no bytes.
    pub fn new(numbers: &[u8]) -> Dominance {
        assert!(!numbers.is_empty() && !numbers.contains(&0), "a number has at least one byte");
        Dominance { numbers: numbers.into() }
    }

    /// Bytes of each number.
    pub fn numbers(&self) -> &[u8] {
        &self.numbers
    }

    /// Bytes of all numbers.
    pub fn bytes(&self) -> usize {
        self.numbers.iter().map(|&it| usize::from(it)).sum()
    }

    /// Bytes of the key of a state of `width` bytes.
    pub fn key_bytes(&self, width: usize) -> usize {
        width - self.bytes()
    }

    /// Whether state `one` dominates state `other`.
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
