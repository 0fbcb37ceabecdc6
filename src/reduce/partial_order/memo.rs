//! Choices that were made before: a table without an end to what is forgotten.
//!
//! A choice is a function of what is enabled and of the facts, and states that follow one another in a
//! level often agree in both. So it is looked up first. Each slot of the table holds the last choice
//! whose key fell into it; what is found is what would be computed.

/// Bytes of a table, about: it should stay in the second-level cache.
const BYTES: usize = 512 << 10;

/// Choices by what they depend on.
#[derive(Debug)]
pub(super) struct Memo {
    key_words: usize,
    value_words: usize,
    /// One less than the number of slots, which is a power of two.
    mask: usize,
    /// A slot is a key, then a value; a free one has a value of zeros, which no choice is.
    slots: Vec<u64>,
}

impl Memo {
    /// No choices yet, for keys and values of so many words.
    pub fn new(key_words: usize, value_words: usize) -> Memo {
        let words = key_words + value_words;
        let slots = (BYTES / 8 / words).next_power_of_two() / 2;
        let slots = slots.max(1);
        Memo { key_words, value_words, mask: slots - 1, slots: vec![0; slots * words] }
    }

    /// The slot for a key.
    pub fn slot(&self, key: &[u64]) -> usize {
        // The keys are sets, which differ in few bits: all are mixed.
        let mixed = key.iter().fold(0u64, |mixed, &word| {
            (mixed ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
        });
        (mixed ^ mixed >> 32) as usize & self.mask
    }

    /// The value for a key, if it is in its slot.
    pub fn get(&self, slot: usize, key: &[u64]) -> Option<&[u64]> {
        let at = slot * (self.key_words + self.value_words);
        let (known, value) =
            self.slots[at..][..self.key_words + self.value_words].split_at(self.key_words);
        (known == key && value.iter().any(|&word| word != 0)).then_some(value)
    }

    /// Puts a value that is not all zeros into the slot for its key.
    pub fn put(&mut self, slot: usize, key: &[u64], value: &[u64]) {
        debug_assert!(value.iter().any(|&word| word != 0));
        let at = slot * (self.key_words + self.value_words);
        self.slots[at..][..self.key_words].copy_from_slice(key);
        self.slots[at + self.key_words..][..self.value_words].copy_from_slice(value);
    }
}
