//! What is known of all states in which the same is enabled, before any fact is looked at.

use super::fact_dependence::FactDependence;
use super::relation::MemberRelation;
use crate::analysis::bit_sets;

/// What is known of all states in which the same is enabled.
#[derive(Debug, Default)]
pub(super) struct EnabledSetFacts {
    /// The drawing instances, then the facts that are asked for.
    words: Vec<u64>,
    /// Words of a set of instances.
    instances: usize,
    /// Room: what has been drawn in, and what of it is still to be looked at.
    drawn: Vec<u64>,
    open: Vec<usize>,
}

impl EnabledSetFacts {
    /// Makes it one of so many words of instances and of facts.
    pub fn resize(&mut self, instances: usize, facts: usize) {
        self.instances = instances;
        self.words.resize(instances + facts, 0);
    }

    /// The enabled instances that draw in all others that are enabled: each what does not go with it, that what does
    /// not go with that, and so on. A closed set with one of these has all.
    pub fn universal_seeds(&self) -> &[u64] {
        &self.words[..self.instances]
    }

    /// The facts that a choice asks for.
    pub fn needed_facts(&self) -> &[u64] {
        &self.words[self.instances..]
    }

    /// All of it, to be kept.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// All of it, to be filled with what was kept.
    pub fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Of nothing it is known that it draws in all; all facts are asked for.
    pub fn assume_nothing(&mut self) {
        let (drawing, asked) = self.words.split_at_mut(self.instances);
        drawing.fill(0);
        asked.fill(u64::MAX);
    }

    /// Finds out what is known where this is enabled.
    pub fn compute(&mut self, relation: &MemberRelation, asking: &FactDependence, enabled: &[u64]) {
        self.words.fill(0);
        for seed in bit_sets::members(enabled) {
            if self.draws_all(relation, enabled, seed) {
                bit_sets::insert(&mut self.words, seed);
            }
        }
        // Where all is taken nothing is asked.
        if !bit_sets::is_subset(enabled, self.universal_seeds()) {
            asking.mark_needed_facts(enabled, &mut self.words[self.instances..]);
        }
    }

    /// Whether an instance draws in all that is enabled; those before it are known.
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
