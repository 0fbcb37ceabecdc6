//! Sets of action instances, one for each state of a block, as bit sets.

use super::InstanceId;
use crate::bit_sets::{self, WORD_BITS};
use spillway_ir::Entity;

/// Sets of instances, one for each state of a block.
///
/// Set `s` starts at word `s * words_each`. Instance `i` is bit `i % 64` of its word `i / 64`. Unused bits are 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceSets {
    instances: u32,
    words_each: usize,
    words: Vec<u64>,
}

impl InstanceSets {
    /// Creates an empty sequence of sets of instances below `instances`.
    pub fn new(instances: u32) -> InstanceSets {
        let words_each = bit_sets::words_of(instances as usize);
        InstanceSets { instances, words_each, words: Vec::new() }
    }

    /// Changes the sequence to `sets` empty sets.
    pub fn clear(&mut self, sets: usize) {
        self.words.clear();
        self.words.resize(sets * self.words_each, 0);
    }

    /// Changes the sequence to `sets` sets of all instances.
    pub fn fill(&mut self, sets: usize) {
        self.words.clear();
        let last = match self.instances % WORD_BITS as u32 {
            0 if self.instances > 0 => u64::MAX,
            used => (1 << used) - 1,
        };
        for _ in 0..sets {
            self.words.resize(self.words.len() + self.words_each - 1, u64::MAX);
            self.words.push(last);
        }
    }

    /// Keeps the first `sets` sets.
    pub fn truncate(&mut self, sets: usize) {
        self.words.truncate(sets * self.words_each);
    }

    /// Returns the number of sets.
    pub fn len(&self) -> usize {
        self.words.len() / self.words_each
    }

    /// Returns whether there are no sets.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns the number of instances.
    pub fn instances(&self) -> u32 {
        self.instances
    }

    /// Returns the number of words of a set.
    pub fn words_each(&self) -> usize {
        self.words_each
    }

    /// Returns the words of set number `at`.
    pub fn words(&self, at: usize) -> &[u64] {
        &self.words[at * self.words_each..][..self.words_each]
    }

    /// Returns the words of set number `at` for changes. Unused bits must stay 0.
    pub fn words_mut(&mut self, at: usize) -> &mut [u64] {
        &mut self.words[at * self.words_each..][..self.words_each]
    }

    /// Returns the words of all sets in order.
    pub fn all_words(&self) -> &[u64] {
        &self.words
    }

    /// Returns the words of all sets for changes.
    pub fn all_words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Returns the number of members of all sets.
    pub fn members(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Adds an instance to set number `at`.
    pub fn insert(&mut self, at: usize, instance: InstanceId) {
        debug_assert!(instance.0 < self.instances);
        bit_sets::insert(self.words_mut(at), instance.index());
    }

    /// Removes an instance from set number `at`.
    pub fn remove(&mut self, at: usize, instance: InstanceId) {
        bit_sets::remove_member(self.words_mut(at), instance.index());
    }

    /// Returns whether set number `at` contains an instance.
    pub fn contains(&self, at: usize, instance: InstanceId) -> bool {
        is_in(self.words(at), instance)
    }

    /// Returns whether set number `at` is empty.
    pub fn is_none(&self, at: usize) -> bool {
        self.words(at).iter().all(|&word| word == 0)
    }

    /// Returns the instances in set number `at`, in ascending order.
    pub fn iter(&self, at: usize) -> impl Iterator<Item = InstanceId> + '_ {
        bit_sets::members(self.words(at)).map(|member| InstanceId(member as u32))
    }
}

/// Returns whether an instance is in a set, given as words.
pub fn is_in(words: &[u64], instance: InstanceId) -> bool {
    instance.index() < words.len() * WORD_BITS && bit_sets::has(words, instance.index())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_inserted_instances() {
        for instances in [0, 1, 63, 64, 65, 128, 200] {
            let mut sets = InstanceSets::new(instances);
            assert!(sets.is_empty());
            sets.clear(3);
            let chosen: Vec<InstanceId> =
                (0..instances).filter(|it| it % 3 == 1 || it % 64 == 63).map(InstanceId).collect();
            chosen.iter().for_each(|&it| sets.insert(1, it));
            assert_eq!(sets.iter(1).collect::<Vec<_>>(), chosen);
            assert!(sets.is_none(0) && sets.is_none(2) && sets.len() == 3);
            assert_eq!(sets.is_none(1), chosen.is_empty());
            for instance in (0..instances).map(InstanceId) {
                assert_eq!(sets.contains(1, instance), chosen.contains(&instance));
            }
            chosen.iter().for_each(|&it| sets.remove(1, it));
            assert!(sets.is_none(1));
            sets.fill(2);
            assert_eq!(sets.len(), 2);
            for at in 0..2 {
                assert!(sets.iter(at).eq((0..instances).map(InstanceId)));
            }
        }
    }
}
