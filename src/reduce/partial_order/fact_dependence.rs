//! Which facts what members have to be with depends on.
//!
//! A choice looks at facts only to find out what members have to be with (`needs`), and of a member that is
//! enabled other facts than of one that is not. So of all states in which the same is enabled the same facts are
//! asked for, which is all that such a choice is remembered by; and from one state to the next only those
//! members have to be looked at again of whom a fact has changed.

use super::relation::MemberRelation;
use crate::analysis::bit_sets::{self, BitMatrix};

/// What is asked of which fact.
#[derive(Clone, Debug)]
pub(super) struct FactDependence {
    /// Of each fact the members that have to be with something else by it.
    pub by_fact: BitMatrix,
    /// Of each of the relation's movers the members that wait for it somewhere.
    pub by_mover: BitMatrix,
    /// Of each fact the mover that it is about, if it tells where one is.
    pub mover_of: Vec<Option<usize>>,
    /// Of each member where its sets begin among those of all, as many as it may have to be with at once; then
    /// how many there are together.
    pub begins: Vec<usize>,
    /// The facts asked for of each member where it is enabled.
    enabled: BitMatrix,
    /// And where it is not.
    disabled: BitMatrix,
    /// Of each fact the members of which it is asked where they are not enabled.
    waiting: BitMatrix,
    /// The facts that are asked for where nothing is enabled.
    all: Vec<u64>,
    /// The facts that tell where movers are, which are asked for in each state.
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

    /// Makes `facts` those that are asked for where this is enabled.
    pub fn mark_needed_facts(&self, enabled: &[u64], facts: &mut [u64]) {
        facts.copy_from_slice(&self.all);
        for member in bit_sets::members(enabled) {
            for fact in bit_sets::members(self.disabled.row(member)) {
                // Of watchers, which are behind the instances, none is enabled.
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
