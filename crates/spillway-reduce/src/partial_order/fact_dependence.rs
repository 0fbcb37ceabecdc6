//! The facts that decide what members require.
//!
//! A choice reads facts only to compute the requirements of members (`enabling_sets`). An enabled member needs other
//! facts than a disabled one. So all states with the same enabled instances need the same facts, and these are the
//! cache key of a choice. From one state to the next, requirements are recomputed only for members with a changed
//! fact.

use super::relation::MemberRelation;
use spillway_analysis::bit_sets::{self, BitMatrix};

/// The dependence of members on facts.
#[derive(Clone, Debug)]
pub(super) struct FactDependence {
    /// For each fact, the members whose requirements it decides.
    pub by_fact: BitMatrix,
    /// For each mover of the relation, the members that wait for it.
    pub by_mover: BitMatrix,
    /// For each fact, the mover whose location it shows, if any.
    pub mover_of: Vec<Option<usize>>,
    /// For each member, the start of its sets among those of all; its range fits all sets that it may require at
    /// once. The last entry is the total.
    pub begins: Vec<usize>,
    /// The needed facts of each member where it is enabled.
    enabled: BitMatrix,
    /// The needed facts of each member where it is disabled.
    disabled: BitMatrix,
    /// For each fact, the members that need it where they are disabled.
    waiting: BitMatrix,
    /// The facts that are needed where nothing is enabled.
    all: Vec<u64>,
    /// The facts about the locations of movers, which each state needs.
    movers: Vec<u64>,
}

impl FactDependence {
    pub fn new(relation: &MemberRelation) -> FactDependence {
        let (members, facts) = (relation.waits.len(), relation.facts.words() * bit_sets::WORD_BITS);
        let mut asking = FactDependence {
            by_fact: BitMatrix::new(facts, members),
            by_mover: BitMatrix::new(relation.movers.len(), members),
            mover_of: vec![None; facts],
            begins: vec![0],
            enabled: BitMatrix::new(members, facts),
            disabled: BitMatrix::new(members, facts),
            waiting: BitMatrix::new(facts, members),
            all: vec![0; relation.facts.words()],
            movers: vec![0; relation.facts.words()],
        };
        for (mover, here) in relation.movers.iter().enumerate() {
            for it in here {
                asking.mover_of[it.fact] = Some(mover);
                bit_sets::insert(&mut asking.movers, it.fact);
            }
        }
        for (member, (waits, sometimes)) in
            relation.waits.iter().zip(&relation.value_dependences).enumerate()
        {
            for fact in waits.iter().filter_map(|it| it.fact) {
                bit_sets::insert(asking.disabled.row_mut(member), fact);
                bit_sets::insert(asking.waiting.row_mut(fact), member);
                bit_sets::insert(&mut asking.all, fact);
                bit_sets::insert(asking.by_fact.row_mut(fact), member);
            }
            for fact in sometimes.iter().filter_map(|it| it.unless) {
                bit_sets::insert(asking.enabled.row_mut(member), fact);
                bit_sets::insert(asking.by_fact.row_mut(fact), member);
            }
            for mover in waits.iter().filter_map(|it| it.mover) {
                bit_sets::insert(asking.by_mover.row_mut(mover), member);
            }
            let most = sometimes.len().max(2 * waits.len());
            asking.begins.push(asking.begins[member] + most);
        }
        asking
    }

    /// Returns the facts about the locations of movers.
    pub fn locations(&self) -> &[u64] {
        &self.movers
    }

    /// Sets `facts` to the facts that are needed for a set of enabled instances.
    pub fn mark_needed_facts(&self, enabled: &[u64], facts: &mut [u64]) {
        facts.copy_from_slice(&self.all);
        for member in bit_sets::members(enabled) {
            for fact in bit_sets::members(self.disabled.row(member)) {
                // Watchers, which follow the instances, are never enabled.
                let (own, watching) = self.waiting.row(fact).split_at(enabled.len());
                if bit_sets::is_subset(own, enabled) && watching.iter().all(|&it| it == 0) {
                    bit_sets::remove_member(facts, fact);
                }
            }
        }
        bit_sets::members(enabled).for_each(|it| bit_sets::extend(facts, self.enabled.row(it)));
        bit_sets::extend(facts, &self.movers);
    }
}
