//! Facts about all states with the same enabled instances, before any other fact is read.

use super::fact_dependence::FactDependence;
use super::relation::MemberRelation;
use spillway_analysis::bit_sets;

/// The facts about all states with the same enabled instances.
#[derive(Debug, Default)]
pub(super) struct EnabledSetFacts {
    /// The universal seeds, followed by the needed facts.
    words: Vec<u64>,
    /// Words of a set of instances.
    instances: usize,
    /// Buffers: the instances reached from a seed, and those not yet processed.
    drawn: Vec<u64>,
    open: Vec<usize>,
}

impl EnabledSetFacts {
    /// Sets the sizes, in words, of the sets of instances and of facts.
    pub fn resize(&mut self, instances: usize, facts: usize) {
        self.instances = instances;
        self.words.resize(instances + facts, 0);
    }

    /// Returns the enabled instances whose closure has all enabled instances: each requires those that depend on it,
    /// these require others, and so on.
    pub fn universal_seeds(&self) -> &[u64] {
        &self.words[..self.instances]
    }

    /// Returns the facts that a choice needs.
    pub fn needed_facts(&self) -> &[u64] {
        &self.words[self.instances..]
    }

    /// Returns both sets, for caching.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Returns both sets, to be filled from the cache.
    pub fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Assumes that there is no universal seed, and that all facts are needed.
    pub fn assume_nothing(&mut self) {
        let (drawing, asked) = self.words.split_at_mut(self.instances);
        drawing.fill(0);
        asked.fill(u64::MAX);
    }

    /// Computes both sets for a set of enabled instances.
    pub fn compute(&mut self, relation: &MemberRelation, asking: &FactDependence, enabled: &[u64]) {
        self.words.fill(0);
        for seed in bit_sets::members(enabled) {
            if self.draws_all(relation, enabled, seed) {
                bit_sets::insert(&mut self.words, seed);
            }
        }
        // If all instances are taken, no fact is needed.
        if !bit_sets::is_subset(enabled, self.universal_seeds()) {
            asking.mark_needed_facts(enabled, &mut self.words[self.instances..]);
        }
    }

    /// Whether the closure of an instance has all enabled ones. The result for earlier instances is in `words`.
    fn draws_all(&mut self, relation: &MemberRelation, enabled: &[u64], seed: usize) -> bool {
        let EnabledSetFacts { words, instances, drawn, open } = self;
        drawn.clear();
        drawn.resize(*instances, 0);
        bit_sets::insert(drawn, seed);
        open.clear();
        open.push(seed);
        while let Some(member) = open.pop() {
            let row = relation.dependent.row(member).iter().zip(enabled);
            for (word, (drawn, (with, enabled))) in drawn.iter_mut().zip(row).enumerate() {
                let new = with & enabled & !*drawn;
                if new & words[word] != 0 {
                    return true;
                }
                *drawn |= new;
                open.extend(bit_sets::members_of_word(word, new));
            }
        }
        bit_sets::is_subset(enabled, drawn)
    }
}
