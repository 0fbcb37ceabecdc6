//! Choices that were made before.
//!
//! A choice is a function of what is enabled and of the facts, and of the many states of a level most agree in
//! these with another. So it is looked up first; what is found is what would be computed. What was of no use
//! for a while is forgotten: choices are kept in two halves, and when one is full the other begins anew.

use hashbrown::HashTable;

/// Bytes of a half, about. Both are in what the memory plan sets aside for a thread.
const HALF_BYTES: usize = 2 << 20;

/// Choices by what they depend on. Keys that begin with the same word are of one length, and so are their values.
#[derive(Debug, Default)]
pub(super) struct ChoiceCache {
    young: CacheGeneration,
    old: CacheGeneration,
}

#[derive(Debug, Default)]
struct CacheGeneration {
    /// Where keys are in `words`.
    keys: HashTable<ChoiceCacheEntry>,
    /// Keys, each with its value behind it.
    words: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
struct ChoiceCacheEntry {
    begin: u32,
    length: u32,
    /// Of the key: others are not looked at.
    hash: u64,
}

impl ChoiceCache {
    /// Makes `value` the one for a key, if that is known.
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

    /// Notes the value for a key that is not known.
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

/// Whether two keys are one: they are short.
fn is_same(one: &[u64], other: &[u64]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).fold(0, |any, (one, other)| any | one ^ other) == 0
}

/// The keys are sets, which differ in few bits: all are mixed.
fn mixed(key: &[u64]) -> u64 {
    let mixed = key.iter().fold(0u64, |mixed, &word| {
        (mixed ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    });
    mixed ^ mixed >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys of two kinds, of which those of one are longer; the value tells the key.
    fn known(at: u64) -> (Vec<u64>, Vec<u64>) {
        let mut key = vec![at % 2, at, at.rotate_left(40)];
        key.resize(if at.is_multiple_of(2) { 3 } else { 20 }, 7);
        (key, vec![at, !at])
    }

    #[test]
    fn what_is_found_is_what_was_put_and_the_last_is_not_forgotten() {
        let (mut memo, mut found, mut value) = (ChoiceCache::default(), 0, vec![0; 2]);
        const COUNT: u64 = 200_000;
        for at in 0..COUNT {
            let (key, right) = known(at);
            assert!(!memo.get(&key, &mut value));
            memo.put(&key, &right);
            for before in [at, at.saturating_sub(1000)] {
                let (key, right) = known(before);
                assert!(memo.get(&key, &mut value), "{before} at {at}");
                assert_eq!(value, right);
            }
        }
        for at in (0..COUNT).rev() {
            let (key, right) = known(at);
            if memo.get(&key, &mut value) {
                assert_eq!(value, right);
                found += 1;
            }
        }
        assert!((15_000..50_000).contains(&found), "{found}");
        let bytes = memo.young.bytes() + memo.old.bytes();
        assert!(bytes <= 2 * (HALF_BYTES + 200), "{bytes}");
    }
}
