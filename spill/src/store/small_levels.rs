//! The latest levels of a store while they are small: a hash table instead of sorted runs.
//!
//! A search may have millions of levels of a few states. Merging each of them into sorted runs would copy every key
//! once for each doubling of the store, and a candidate would be searched in every run. So keys of small levels are
//! appended to one buffer, level after level, and a table of hashes finds them. The levels become a sorted run when the
//! buffer is full or when a level is not small. This is the memtable of a log-structured merge tree (O'Neil et al.,
//! 1996), but with a hash table, because a level needs no order among the levels.
//!
//! The table is exact: a hash only selects the keys that are compared.

use super::run::YoungRun;
use crate::keys::{KeyShape, for_shape};
use crate::runs::sort_dedup;
use std::sync::Arc;

/// The number of keys of a small level, and of its candidates, at most.
pub(super) const SMALL_LEVEL_KEYS: usize = 1024;

/// The size of the candidates of a small level in bytes, at most.
pub(super) const SMALL_LEVEL_BYTES: usize = 1 << 20;

/// The number of slots of a new table.
const SLOTS_MIN: usize = 256;

/// Slots for each key, at least.
const SLOTS_PER_KEY: usize = 2;

/// The unused capacity that sorted levels may keep, as a divisor of their size.
const SLACK: usize = 8;

/// The slot without a key.
const EMPTY: u64 = 0;

/// The latest levels: at least one, each small.
pub(super) struct SmallLevels {
    /// The size of a key in bytes.
    width: usize,
    /// The number of the first level.
    pub(super) first: u32,
    /// The number of levels.
    count: u32,
    /// The maximum size of the buffer and the table, in bytes.
    bytes_max: usize,
    /// The keys of all levels. Each level is ascending; no key occurs twice.
    keys: Vec<u8>,
    /// The keys of the last level, for the expansion.
    last_level: Arc<Vec<u8>>,
    /// An open hash table with linear probing, with at least [`SLOTS_PER_KEY`] slots for each key. A slot holds 32 bits
    /// of the hash of a key above the index of the key plus one.
    slots: Vec<u64>,
}

/// The runs into which small levels are sorted.
pub(super) struct SortedSmallLevels {
    /// All levels but the last, if there are any.
    pub(super) earlier: Option<YoungRun>,
    /// The last level.
    pub(super) last: YoungRun,
    /// A buffer that is no longer needed.
    pub(super) room: Vec<u8>,
}

impl SmallLevels {
    /// Creates a table of at most `bytes_max` bytes for keys of `width` bytes that begins with level `first`, in an empty
    /// buffer. A level must be [added](SmallLevels::push).
    pub(super) fn new(width: usize, first: u32, buffer: Vec<u8>, bytes_max: usize) -> SmallLevels {
        SmallLevels {
            width,
            first,
            count: 0,
            bytes_max,
            keys: buffer,
            last_level: Arc::default(),
            slots: vec![EMPTY; SLOTS_MIN],
        }
    }

    /// Returns whether a level of `bytes` bytes of keys of `width` bytes fits in an empty table of at most `bytes_max`
    /// bytes.
    pub(super) fn can_hold(width: usize, bytes: usize, bytes_max: usize) -> bool {
        let slots = slots_for(bytes / width);
        let table = if slots > SLOTS_MIN { slots + SLOTS_MIN } else { slots };
        2 * bytes + table * size_of::<u64>() <= bytes_max
    }

    /// Returns whether a level of `bytes` bytes fits.
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        let all = self.keys.len() + bytes;
        let slots = slots_for(all / self.width).max(self.slots.len());
        // The larger table is filled from the previous one.
        let table = if slots > self.slots.len() { slots + self.slots.len() } else { slots };
        all + bytes + table * size_of::<u64>() <= self.bytes_max
            && all / self.width < u32::MAX as usize
    }

    /// Returns the size in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.keys.len() + self.last_level.len() + size_of_val(self.slots.as_slice())
    }

    /// Returns all keys, level after level.
    pub(super) fn keys(&self) -> &[u8] {
        &self.keys
    }

    /// Returns the number of the last level.
    pub(super) fn last(&self) -> u32 {
        self.first + self.count - 1
    }

    /// Returns the keys of the last level.
    pub(super) fn last_level(&self) -> &Arc<Vec<u8>> {
        &self.last_level
    }

    /// Removes the keys that are in the table from `batch`.
    pub(super) fn subtract(&self, batch: &mut Vec<u8>) {
        let kept = for_shape!(self.width, shape => self.keep_new(shape, batch));
        batch.truncate(kept * self.width);
    }

    /// Moves the keys that are not in the table to the front. Returns their number.
    fn keep_new<S: KeyShape>(&self, shape: S, batch: &mut [u8]) -> usize {
        let mut kept = 0;
        for index in 0..batch.len() / shape.width() {
            if !self.contains(shape, shape.key_at(batch, index)) {
                if kept < index {
                    shape.copy_key(batch, index, kept);
                }
                kept += 1;
            }
        }
        kept
    }

    fn contains<'a, S: KeyShape>(&'a self, shape: S, key: S::Key<'a>) -> bool {
        let tag = tag(shape.hash(key));
        let mask = self.slots.len() - 1;
        let mut at = tag as usize & mask;
        while self.slots[at] != EMPTY {
            let slot = self.slots[at];
            let index = slot as u32 as usize - 1;
            if slot >> 32 == tag && shape.key_at(&self.keys, index) == key {
                return true;
            }
            at = (at + 1) & mask;
        }
        false
    }

    /// Adds a level of ascending keys that the table does not have.
    pub(super) fn push(&mut self, keys: &[u8]) {
        let before = self.keys.len() / self.width;
        self.keys.extend_from_slice(keys);
        let slots = slots_for(self.keys.len() / self.width);
        if slots > self.slots.len() {
            self.grow(slots);
        }
        for_shape!(self.width, shape => {
            for at in 0..keys.len() / self.width {
                let tag = tag(shape.hash(shape.key_at(keys, at)));
                insert(&mut self.slots, tag << 32 | (before + at + 1) as u64);
            }
        });
        self.count += 1;
        // The expansion of the previous level has returned its reference.
        let last_level = Arc::make_mut(&mut self.last_level);
        last_level.clear();
        last_level.extend_from_slice(keys);
    }

    /// Enlarges the table to `count` slots.
    fn grow(&mut self, count: usize) {
        let mut slots = vec![EMPTY; count];
        self.slots.iter().filter(|&&slot| slot != EMPTY).for_each(|&slot| insert(&mut slots, slot));
        self.slots = slots;
    }

    /// Sorts the levels. `scratch` is overwritten.
    pub(super) fn sort(self, mut scratch: Vec<u8>) -> SortedSmallLevels {
        let (first, last) = (self.first, self.last());
        let SmallLevels { width, mut keys, last_level, slots, .. } = self;
        drop(slots);
        keys.truncate(keys.len() - last_level.len());
        let earlier = (!keys.is_empty()).then(|| {
            sort_dedup(width, &mut keys, &mut scratch);
            keys.shrink_to(keys.len() + keys.len() / SLACK);
            YoungRun { first, last: last - 1, keys: Arc::new(keys) }
        });
        let last = YoungRun { first: last, last, keys: last_level };
        SortedSmallLevels { earlier, last, room: scratch }
    }
}

/// Returns the number of slots of a table of `keys` keys.
fn slots_for(keys: usize) -> usize {
    (keys * SLOTS_PER_KEY).next_power_of_two().max(SLOTS_MIN)
}

/// Returns the bits of a hash that a slot holds. The high bits of a hash are the best.
fn tag(hash: u64) -> u64 {
    hash >> 32
}

/// Writes a slot to the first empty one of its place.
fn insert(slots: &mut [u64], slot: u64) {
    let mask = slots.len() - 1;
    let mut at = (slot >> 32) as usize & mask;
    while slots[at] != EMPTY {
        at = (at + 1) & mask;
    }
    slots[at] = slot;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn keys_of_small_levels_are_found(
            width in prop::sample::select(vec![2, 9, 20, 70]),
            levels in prop::collection::vec(prop::collection::btree_set(0u16..3000, 1..200), 1..12),
        ) {
            let key = |number: u16| {
                let mut key = vec![7; width];
                key[width / 2 - 1..][..2].copy_from_slice(&number.to_be_bytes());
                key
            };
            let flat = |keys: &BTreeSet<u16>| keys.iter().flat_map(|&it| key(it)).collect::<Vec<u8>>();
            let (mut all, mut small) = (BTreeSet::new(), None::<SmallLevels>);
            let mut last = BTreeSet::new();
            for level in &levels {
                let new: BTreeSet<u16> = level.difference(&all).copied().collect();
                let mut batch = flat(level);
                small.iter().for_each(|small| small.subtract(&mut batch));
                prop_assert_eq!(&batch, &flat(&new));
                let empty = || SmallLevels::new(width, 5, Vec::new(), usize::MAX);
                small.get_or_insert_with(empty).push(&batch);
                all.extend(&new);
                last = new;
            }
            let small = small.unwrap();
            prop_assert_eq!(&**small.last_level(), &flat(&last));
            let SortedSmallLevels { earlier, last: run, .. } = small.sort(Vec::new());
            let count = levels.len() as u32;
            prop_assert_eq!((run.first, run.last), (4 + count, 4 + count));
            prop_assert_eq!(&*run.keys, &flat(&last));
            let before: BTreeSet<u16> = all.difference(&last).copied().collect();
            prop_assert_eq!(earlier.is_some(), !before.is_empty());
            if let Some(earlier) = earlier {
                prop_assert_eq!((earlier.first, earlier.last), (5, 3 + count));
                prop_assert_eq!(&*earlier.keys, &flat(&before));
            }
        }
    }

    #[test]
    fn a_full_table_has_no_room() {
        let mut small = SmallLevels::new(8, 0, Vec::new(), 40_000);
        let mut count = 0;
        while small.has_room(8) {
            small.push(&u64::to_be_bytes(count));
            count += 1;
            assert!(small.bytes() <= 40_000);
        }
        assert!((500..2000).contains(&count), "{count}");
    }
}
