//! A cache of choices.
//!
//! A choice is a function of the enabled instances and the needed facts, and most states of a level agree with others
//! in these. A hit returns exactly the choice that would be computed. The cache has two halves. When one is full, the
//! other is cleared, which drops choices that were not used for a while.

use hashbrown::HashTable;

/// The approximate size of a half in bytes. The memory plan reserves both for each thread.
const HALF_BYTES: usize = 2 << 20;

/// Choices by their keys. Keys with the same first word have the same length, and so have their values.
#[derive(Debug, Default)]
pub(super) struct ChoiceCache {
    young: CacheGeneration,
    old: CacheGeneration,
}

#[derive(Debug, Default)]
struct CacheGeneration {
    /// The positions of the keys in `words`.
    keys: HashTable<ChoiceCacheEntry>,
    /// The keys, each followed by its value.
    words: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
struct ChoiceCacheEntry {
    begin: u32,
    length: u32,
    /// The hash of the key, to skip most comparisons.
    hash: u64,
}

impl ChoiceCache {
    /// Copies the value of a key to `value`. Returns `false` if the key is not cached.
    pub fn get(&mut self, key: &[u64], value: &mut [u64]) -> bool {
        let hash = mixed(key);
        if self.young.get(hash, key, value) {
            return true;
        }
        let is_old = self.old.get(hash, key, value);
        if is_old {
            self.put_by(hash, key, value);
        }
        is_old
    }

    /// Caches the value of a new key.
    pub fn put(&mut self, key: &[u64], value: &[u64]) {
        self.put_by(mixed(key), key, value);
    }

    fn put_by(&mut self, hash: u64, key: &[u64], value: &[u64]) {
        if self.young.bytes() >= HALF_BYTES {
            std::mem::swap(&mut self.young, &mut self.old);
            self.young.keys.clear();
            self.young.words.clear();
        }
        self.young.put(hash, key, value);
    }
}

impl CacheGeneration {
    fn bytes(&self) -> usize {
        size_of_val(self.words.as_slice()) + self.keys.len() * size_of::<ChoiceCacheEntry>()
    }

    fn key(&self, place: ChoiceCacheEntry) -> &[u64] {
        &self.words[place.begin as usize..][..place.length as usize]
    }

    fn get(&self, hash: u64, key: &[u64], value: &mut [u64]) -> bool {
        let found = self.keys.find(hash, |&it| it.hash == hash && is_same(self.key(it), key));
        let Some(&ChoiceCacheEntry { begin, length, .. }) = found else { return false };
        value.copy_from_slice(&self.words[(begin + length) as usize..][..value.len()]);
        true
    }

    fn put(&mut self, hash: u64, key: &[u64], value: &[u64]) {
        let place =
            ChoiceCacheEntry { begin: self.words.len() as u32, length: key.len() as u32, hash };
        self.words.extend_from_slice(key);
        self.words.extend_from_slice(value);
        self.keys.insert_unique(hash, place, |it| it.hash);
    }
}

/// Whether two keys are equal. The loop suits short keys.
fn is_same(one: &[u64], other: &[u64]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).fold(0, |any, (one, other)| any | one ^ other) == 0
}

/// Hashes all words: keys are sets, which differ in few bits.
fn mixed(key: &[u64]) -> u64 {
    let mixed = key.iter().fold(0u64, |mixed, &word| {
        (mixed ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    });
    mixed ^ mixed >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns keys of two lengths. The value identifies the key.
    fn entry(at: u64) -> (Vec<u64>, Vec<u64>) {
        let mut key = vec![at % 2, at, at.rotate_left(40)];
        key.resize(if at.is_multiple_of(2) { 3 } else { 20 }, 7);
        (key, vec![at, !at])
    }

    #[test]
    fn recent_entries_are_found_with_their_values() {
        let (mut memo, mut found, mut value) = (ChoiceCache::default(), 0, vec![0; 2]);
        const COUNT: u64 = 200_000;
        for at in 0..COUNT {
            let (key, expected) = entry(at);
            assert!(!memo.get(&key, &mut value));
            memo.put(&key, &expected);
            for before in [at, at.saturating_sub(1000)] {
                let (key, expected) = entry(before);
                assert!(memo.get(&key, &mut value), "{before} at {at}");
                assert_eq!(value, expected);
            }
        }
        for at in (0..COUNT).rev() {
            let (key, expected) = entry(at);
            if memo.get(&key, &mut value) {
                assert_eq!(value, expected);
                found += 1;
            }
        }
        assert!((15_000..50_000).contains(&found), "{found}");
        let bytes = memo.young.bytes() + memo.old.bytes();
        assert!(bytes <= 2 * (HALF_BYTES + 200), "{bytes}");
    }
}
