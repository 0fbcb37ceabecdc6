//! A set of fingerprints of states in bounded memory: hash compaction (Wolper and Leroy, "Reliable hashing without
//! collision detection", 1993).
//!
//! An entry is 64 bits: 48 bits of a fingerprint, and the number of the *generation* to which the entry belongs. A new
//! generation empties the set without touching its memory. Sixteen more bits of the fingerprint follow from the bucket
//! of the entry, so the set can grow. When a bucket is full and the set may not grow, a new entry replaces another one.
//! Two states with the same fingerprint count as one, so a search with this set may miss states.

pub use spill::hash as fingerprint;
use spillway_base::random::scramble;

/// Entries of a bucket: those of a cache line.
const BUCKET: usize = 8;

/// The least number of buckets: from it on, the bucket determines the bits that an entry leaves out.
const BUCKETS_MIN_BITS: u32 = 16;

/// The bits of a fingerprint in an entry.
const ENTRY_BITS: u32 = 48;

/// The last generation before entries are erased.
const GENERATION_MAX: u64 = (1 << (u64::BITS - ENTRY_BITS)) - 1;

/// An odd number with irregular bits, for the multiplication of words.
const FACTOR: u64 = 0x9e6c_63d0_876a_68ee | 1;

/// Mixes a word by the two halves of a product.
fn fold(word: u64) -> u64 {
    let product = u128::from(word) * u128::from(FACTOR);
    product as u64 ^ (product >> 64) as u64
}

/// Returns the bytes of a part of at most eight bytes as a word.
fn word(part: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..part.len()].copy_from_slice(part);
    u64::from_le_bytes(bytes)
}

/// Returns a number for the bits in which two states of the same width differ. Transitions of one action that change the
/// same values in the same way have the same number.
pub fn difference_class(one: &[u8], other: &[u8]) -> u64 {
    let parts = one.chunks(8).zip(other.chunks(8));
    scramble(
        parts.fold(FACTOR, |hash, (one, other)| {
            fold(hash.rotate_left(23) ^ word(one) ^ word(other))
        }),
    )
}

/// The result of an insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertionResult {
    /// The fingerprint is new.
    New,
    /// The fingerprint is new and replaced another one.
    Replacing,
    /// The fingerprint was present.
    Known,
}

/// A set of fingerprints in bounded memory.
pub struct FingerprintSet {
    entries: Vec<u64>,
    /// The logarithm of the number of buckets.
    bits: u32,
    /// The largest value of `bits`.
    bits_max: u32,
    generation: u64,
}

impl FingerprintSet {
    /// Creates an empty set that takes at most `bytes` bytes, but at least 4 MiB when it is used.
    pub fn new(bytes: u64) -> FingerprintSet {
        let buckets = (bytes / (BUCKET * size_of::<u64>()) as u64).max(1);
        let bits_max = buckets.ilog2().max(BUCKETS_MIN_BITS);
        FingerprintSet { entries: Vec::new(), bits: BUCKETS_MIN_BITS, bits_max, generation: 1 }
    }

    /// Removes all fingerprints.
    pub fn clear(&mut self) {
        self.generation += 1;
        if self.generation > GENERATION_MAX {
            self.entries.fill(0);
            self.generation = 1;
        }
    }

    /// Inserts a fingerprint.
    pub fn insert(&mut self, fingerprint: u64) -> InsertionResult {
        if self.entries.is_empty() {
            self.entries = vec![0; BUCKET << self.bits];
        }
        loop {
            let (entry, generation) = (self.entry(fingerprint), self.generation);
            let bucket = self.bucket_mut(fingerprint);
            if bucket.contains(&entry) {
                return InsertionResult::Known;
            }
            if let Some(free) = bucket.iter_mut().find(|it| **it >> ENTRY_BITS != generation) {
                *free = entry;
                return InsertionResult::New;
            }
            if self.bits == self.bits_max {
                self.bucket_mut(fingerprint)[entry as usize % BUCKET] = entry;
                return InsertionResult::Replacing;
            }
            self.grow();
        }
    }

    /// Returns whether a fingerprint is present.
    pub fn contains(&self, fingerprint: u64) -> bool {
        let first = self.first_of_bucket(fingerprint);
        let bucket = self.entries.get(first..first + BUCKET);
        bucket.is_some_and(|it| it.contains(&self.entry(fingerprint)))
    }

    /// Returns the number of entries, free or not.
    pub fn entries(&self) -> u64 {
        self.entries.len() as u64
    }

    /// Returns the bytes in use.
    pub fn bytes(&self) -> u64 {
        size_of_val(self.entries.as_slice()) as u64
    }

    fn entry(&self, fingerprint: u64) -> u64 {
        self.generation << ENTRY_BITS | fingerprint & ((1 << ENTRY_BITS) - 1)
    }

    fn first_of_bucket(&self, fingerprint: u64) -> usize {
        BUCKET * (fingerprint >> (u64::BITS - self.bits)) as usize
    }

    fn bucket_mut(&mut self, fingerprint: u64) -> &mut [u64] {
        let first = self.first_of_bucket(fingerprint);
        &mut self.entries[first..first + BUCKET]
    }

    /// Doubles the number of buckets. Each old bucket becomes two, so all entries have space.
    fn grow(&mut self) {
        let before = std::mem::take(&mut self.entries);
        let old_bits = self.bits;
        self.bits += 1;
        self.entries = vec![0; BUCKET << self.bits];
        for (at, &entry) in before.iter().enumerate() {
            if entry >> ENTRY_BITS != self.generation {
                continue;
            }
            let high = ((at / BUCKET) as u64) << (u64::BITS - old_bits);
            let bucket = self.bucket_mut(high | entry & ((1 << ENTRY_BITS) - 1));
            if let Some(free) = bucket.iter_mut().find(|it| **it == 0) {
                *free = entry;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spillway_base::random::SplitMix64;

    #[test]
    fn members_survive_growth_and_are_dropped_by_clear() {
        let mut set = FingerprintSet::new(64 << 20);
        let mut random = SplitMix64::new(3);
        let members: Vec<u64> = (0..300_000).map(|_| random.next_number()).collect();
        assert!(!set.contains(members[0]));
        for &it in &members {
            assert_eq!(set.insert(it), InsertionResult::New);
        }
        assert!(set.bits > BUCKETS_MIN_BITS && set.bytes() <= 64 << 20);
        assert!(members.iter().all(|&it| set.contains(it)));
        assert!(members.iter().all(|&it| set.insert(it) == InsertionResult::Known));
        assert!((0..1000).all(|_| !set.contains(random.next_number())));
        set.clear();
        assert!(members.iter().all(|&it| !set.contains(it)));
        assert_eq!(set.insert(members[0]), InsertionResult::New);
    }

    #[test]
    fn a_full_set_keeps_its_size_and_drops_members() {
        let mut set = FingerprintSet::new(0);
        let mut random = SplitMix64::new(4);
        let results: Vec<InsertionResult> =
            (0..1_000_000).map(|_| set.insert(random.next_number())).collect();
        assert!(results.contains(&InsertionResult::Replacing) && set.bytes() == 4 << 20);
    }

    #[test]
    fn generation_overflow_leaves_no_members() {
        let mut set = FingerprintSet::new(0);
        for _ in 0..=GENERATION_MAX {
            assert_eq!(set.insert(7), InsertionResult::New);
            set.clear();
        }
        assert!(!set.contains(7));
    }

    #[test]
    fn each_byte_changes_the_fingerprint() {
        let state = [5_u8; 19];
        let mut seen = std::collections::HashSet::from([fingerprint(&state)]);
        for at in 0..state.len() {
            let mut other = state;
            other[at] ^= 1;
            assert!(seen.insert(fingerprint(&other)));
            assert_eq!(difference_class(&state, &other), difference_class(&other, &state));
            assert_ne!(difference_class(&state, &other), difference_class(&state, &state));
        }
        assert_ne!(fingerprint(&[0; 3]), fingerprint(&[0; 4]));
    }
}
