//! A small table of recent keys, to drop repeats before they are sorted.
//!
//! Neighbouring states have successors in common. Dropping a repeat while the table is in the second-level cache costs
//! a few nanoseconds, sorting it some tens. The table is direct-mapped: a key has one slot and replaces the previous
//! key there. So the table forgets keys, but it is exact: it compares whole keys, and drops only keys that it passed
//! on before. It treats pairs as keys; pairs with an operator that is not idempotent must not be dropped (see
//! `pairs.rs`).

use crate::keys::{KeyShape, for_shape};

/// Recent keys, as many as fit.
#[derive(Debug)]
pub struct RecentKeys {
    /// The size of a key in bytes.
    width: usize,
    /// One key for each slot; the number of slots is a power of two. Each key is one that was passed on, or one that
    /// belongs to another slot.
    slots: Vec<u8>,
    /// The shift that reduces a hash to a slot number: its highest bits.
    shift: u32,
}

impl RecentKeys {
    /// Creates a table of keys of `width` bytes in at most `bytes` bytes, or of two keys.
    pub fn new(width: usize, bytes: usize) -> Self {
        let count = 1usize << (bytes / width).max(2).ilog2();
        let shift = u64::BITS - count.trailing_zeros();
        // An empty slot holds the key of zeros, which belongs to slot 0; slot 0 holds a key that belongs to another
        // slot. So no empty slot matches a key.
        let mut slots = vec![0; count * width];
        slots[..width]
            .copy_from_slice(&for_shape!(width, shape => key_of_another_slot(shape, shift)));
        RecentKeys { width, slots, shift }
    }

    /// Appends those of `keys` that the table does not hold to `out`, and inserts them.
    pub fn append_new(&mut self, keys: &[u8], out: &mut Vec<u8>) {
        let width = self.width;
        let before = out.len();
        out.resize(before + keys.len(), 0);
        let kept = for_shape!(width, shape => self.copy_new(shape, keys, &mut out[before..]));
        out.truncate(before + kept * width);
    }

    fn copy_new<S: KeyShape>(&mut self, shape: S, keys: &[u8], out: &mut [u8]) -> usize {
        let mut kept = 0;
        for index in 0..keys.len() / shape.width() {
            let key = shape.key_at(keys, index);
            let slot = (shape.hash(key) >> self.shift) as usize;
            let new = shape.key_at(&self.slots, slot) != key;
            shape.store_at(shape.key_at(keys, index), out, kept);
            shape.store_at(shape.key_at(keys, index), &mut self.slots, slot);
            kept += usize::from(new);
        }
        kept
    }
}

/// Returns a key that does not belong to slot 0.
fn key_of_another_slot<S: KeyShape>(shape: S, shift: u32) -> Vec<u8> {
    let key = |byte| [vec![0; shape.width() - 1], vec![byte]].concat();
    let elsewhere = |key: &Vec<u8>| shape.hash(shape.key(key)) >> shift != 0;
    (1..=u8::MAX).map(key).find(elsewhere).expect("not every key belongs in slot 0")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn only_repeated_keys_are_dropped(
            width in prop::sample::select(vec![1usize, 3, 8, 10, 16, 23, 70]),
            numbers in prop::collection::vec(0u8..30, 0..200),
            bytes in 0usize..2000,
            batch in 1usize..50,
        ) {
            let key = |number: &u8| {
                let mut key = vec![number / 7; width];
                key[width - 1] = *number;
                key
            };
            let mut recent = RecentKeys::new(width, bytes);
            let mut passed = Vec::new();
            let mut known = BTreeSet::new();
            for numbers in numbers.chunks(batch) {
                let before = passed.len();
                let keys: Vec<u8> = numbers.iter().flat_map(key).collect();
                recent.append_new(&keys, &mut passed);
                known.extend(passed[before..].chunks(width).map(<[u8]>::to_vec));
                prop_assert!(numbers.iter().all(|number| known.contains(&key(number))));
                prop_assert!(passed.len() - before <= keys.len());
            }
        }
    }

    #[test]
    fn repeats_are_dropped() {
        let mut recent = RecentKeys::new(10, 10_000);
        let mut passed = Vec::new();
        for _ in 0..3 {
            recent.append_new(&[0; 10], &mut passed);
            recent.append_new(&[9; 20], &mut passed);
        }
        assert_eq!(passed, [[0; 10], [9; 10]].concat());
    }
}
