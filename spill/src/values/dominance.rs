//! Dominance of numbers after keys: of pairs with equal keys, only those that no other dominates are kept.
//!
//! A key with numbers *dominates* another with the same key if each of its numbers is at most the other's. So with one
//! number, the least one is kept; with several, all minimal ones are kept. In sorted order, the pairs that dominate a
//! pair come before it. A pair that a dropped pair dominates is also dominated by a kept one. So one pass over the
//! pairs with a key is enough, and the result is a function of the set of pairs.
//!
//! Of the pairs of a key and two numbers of a byte, `07 | 01 05` and `07 | 02 03` are kept, and `07 | 02 05` is not.

use std::sync::Arc;

/// The dominance relation on pairs with equal keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dominance {
    /// The size of each number in bytes; numbers are stored most significant byte first.
    numbers: Arc<[u8]>,
    bytes: usize,
}

impl Dominance {
    /// Creates the relation on numbers of these sizes in bytes, one after another, the last at the end of a pair.
    ///
    /// # Panics
    ///
    /// If there are none, or one has no bytes.
    pub fn new(numbers: &[u8]) -> Dominance {
        assert!(!numbers.is_empty() && !numbers.contains(&0), "a number has at least one byte");
        Dominance { numbers: numbers.into(), bytes: numbers.iter().map(|&it| it as usize).sum() }
    }

    /// Returns the size of all numbers in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the size of the key of a pair of `width` bytes.
    ///
    /// # Panics
    ///
    /// If the key has no bytes.
    pub fn key_bytes(&self, width: usize) -> usize {
        assert!(width > self.bytes, "a pair has a key before its numbers");
        width - self.bytes
    }

    /// Returns whether each number of `some` is at most that of `others`.
    pub fn dominates(&self, some: &[u8], others: &[u8]) -> bool {
        let mut at = 0;
        self.numbers.iter().all(|&bytes| {
            let number = at..at + bytes as usize;
            at = number.end;
            some[number.clone()] <= others[number]
        })
    }

    /// Removes from ascending `pairs` of `width` bytes those that another with the same key dominates.
    pub fn keep_undominated(&self, width: usize, pairs: &mut Vec<u8>) {
        let key = self.key_bytes(width);
        // The start and the end of the kept pairs with the last key.
        let (mut group, mut kept) = (0, 0);
        for next in (0..pairs.len()).step_by(width) {
            let (before, rest) = pairs.split_at(next);
            let pair = &rest[..width];
            if group == kept || before[group..group + key] != pair[..key] {
                group = kept;
            }
            let mut stay = before[group..kept].chunks_exact(width);
            if stay.any(|it| self.dominates(&it[key..], &pair[key..])) {
                continue;
            }
            pairs.copy_within(next..next + width, kept);
            kept += width;
        }
        pairs.truncate(kept);
    }

    /// Returns the start of the pairs with the last key in ascending `pairs` of `width` bytes.
    pub fn last_key(&self, width: usize, pairs: &[u8]) -> usize {
        let key = self.key_bytes(width);
        let Some(last) = pairs.len().checked_sub(width) else { return 0 };
        let same = |pair: &&[u8]| pair[..key] == pairs[last..last + key];
        pairs.len() - width * pairs.rchunks_exact(width).take_while(same).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_documented_example_holds() {
        let mut pairs = [[7, 1, 5], [7, 2, 3], [7, 2, 5], [8, 2, 5]].concat();
        let dominance = Dominance::new(&[1, 1]);
        assert_eq!(dominance.last_key(3, &pairs), 9);
        dominance.keep_undominated(3, &mut pairs);
        assert_eq!(pairs, [[7, 1, 5], [7, 2, 3], [8, 2, 5]].concat());
        assert_eq!(dominance.last_key(3, &[]), 0);
    }

    proptest! {
        #[test]
        fn undominated_pairs_are_kept(
            pairs in prop::collection::btree_set(prop::array::uniform4(0u8..4), 0..60),
            wide in any::<bool>(),
        ) {
            let dominance = Dominance::new(if wide { &[2, 1] } else { &[1, 1, 1] });
            let is_dominated = |it: &[u8; 4]| pairs.iter().any(|other| {
                other != it && other[0] == it[0] && dominance.dominates(&other[1..], &it[1..])
            });
            let expected: BTreeSet<[u8; 4]> =
                pairs.iter().filter(|it| !is_dominated(it)).copied().collect();
            let mut left: Vec<u8> = pairs.iter().flatten().copied().collect();
            dominance.keep_undominated(4, &mut left);
            prop_assert_eq!(left, expected.into_iter().flatten().collect::<Vec<_>>());
        }
    }
}
