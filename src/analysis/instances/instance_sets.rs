//! Sets of action instances, one for each state of a block: a bit for each instance.

use super::InstanceId;
use crate::analysis::bit_sets::{self, WORD_BITS};
use crate::ir::Entity;

/// As many sets as there are states in a block, each of instances below one number.
///
/// Set `s` is words `s * words_each` up to the next; instance `i` is bit `i % 64` of its word
/// `i / 64`. Bits of no instance are 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceSets {
    instances: u32,
    words_each: usize,
    words: Vec<u64>,
}

impl InstanceSets {
    /// No sets yet, of instances below `instances`.
    pub fn new(instances: u32) -> InstanceSets {
        let words_each = bit_sets::words_of(instances as usize);
        InstanceSets { instances, words_each, words: Vec::new() }
    }

    /// Makes it so many sets, all empty.
    pub fn clear(&mut self, sets: usize) {
        self.words.clear();
        self.words.resize(sets * self.words_each, 0);
    }

    /// Makes it so many sets of all instances.
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

    /// Leaves the first so many sets.
    pub fn truncate(&mut self, sets: usize) {
        self.words.truncate(sets * self.words_each);
    }

    /// How many sets there are.
    pub fn len(&self) -> usize {
        self.words.len() / self.words_each
    }

    /// Whether there are no sets.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// How many instances there are.
    pub fn instances(&self) -> u32 {
        self.instances
    }

    /// Words of one set.
    pub fn words_each(&self) -> usize {
        self.words_each
    }

    /// Set number `at`, as words.
    pub fn words(&self, at: usize) -> &[u64] {
        &self.words[at * self.words_each..][..self.words_each]
    }

    /// The same, to be changed; bits of no instance are to stay 0.
    pub fn words_mut(&mut self, at: usize) -> &mut [u64] {
        &mut self.words[at * self.words_each..][..self.words_each]
    }

    /// Every set, as words, one after another.
    pub fn all_words(&self) -> &[u64] {
        &self.words
    }

    /// The same, to be changed.
    pub fn all_words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Adds an instance to set number `at`.
    pub fn insert(&mut self, at: usize, instance: InstanceId) {
        debug_assert!(instance.0 < self.instances);
        bit_sets::insert(self.words_mut(at), instance.index());
    }

    /// Takes an instance out of set number `at`.
    pub fn remove(&mut self, at: usize, instance: InstanceId) {
        bit_sets::remove_member(self.words_mut(at), instance.index());
    }

    /// Whether an instance is in set number `at`.
    pub fn contains(&self, at: usize, instance: InstanceId) -> bool {
        is_in(self.words(at), instance)
    }

    /// Whether set number `at` has no instance.
    pub fn is_none(&self, at: usize) -> bool {
        self.words(at).iter().all(|&word| word == 0)
    }

    /// The instances in set number `at`, ascending.
    pub fn iter(&self, at: usize) -> impl Iterator<Item = InstanceId> + '_ {
        bit_sets::members(self.words(at)).map(|member| InstanceId(member as u32))
    }
}

/// Whether an instance is in a set, given as words.
pub fn is_in(words: &[u64], instance: InstanceId) -> bool {
    instance.index() < words.len() * WORD_BITS && bit_sets::has(words, instance.index())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_what_is_put_in() {
        for instances in [0, 1, 63, 64, 65, 128, 200] {
            let mut sets = InstanceSets::new(instances);
            assert!(sets.is_empty());
            sets.clear(3);
            let some: Vec<InstanceId> =
                (0..instances).filter(|it| it % 3 == 1 || it % 64 == 63).map(InstanceId).collect();
            some.iter().for_each(|&it| sets.insert(1, it));
            assert_eq!(sets.iter(1).collect::<Vec<_>>(), some);
            assert!(sets.is_none(0) && sets.is_none(2) && sets.len() == 3);
            assert_eq!(sets.is_none(1), some.is_empty());
            for instance in (0..instances).map(InstanceId) {
                assert_eq!(sets.contains(1, instance), some.contains(&instance));
            }
            some.iter().for_each(|&it| sets.remove(1, it));
            assert!(sets.is_none(1));
            sets.fill(2);
            assert_eq!(sets.len(), 2);
            for at in 0..2 {
                assert!(sets.iter(at).eq((0..instances).map(InstanceId)));
            }
        }
    }
}
