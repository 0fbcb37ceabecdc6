//! Strong stubborn sets (Valmari 1989 and 1991; Definition 8 of Godefroid and Pirottin 1993), found by
//! closure from each action instance that is enabled.
//!
//! A set is closed if with each member that is enabled it has all that do not go with it, and with each
//! that is not, all that may make one of the conditions hold that it waits for (Laarman, Pater, van de
//! Pol and Weber 2013 call these necessary enabling sets). What is enabled in it can be taken first in
//! every run out of the state that takes any of it.
//!
//! With the *conditional* relation (Definitions 9 and 11) what does not go with an enabled member depends on
//! the state: on how full a channel is, or what a counter holds.

use super::enabling_sets::{EnablingSets, ObservedState, RequiredSets};
use super::fact_dependence::FactDependence;
use super::relation::MemberRelation;
use crate::analysis::bit_sets;

/// The rules by which a set is closed in a state.
#[derive(Clone, Copy)]
pub(super) struct ClosureRules<'r> {
    /// What depends on what.
    pub relation: &'r MemberRelation,
    /// Which facts about the state each member asks for.
    pub asking: &'r FactDependence,
    /// The sets that each member needs in the state.
    pub needs: &'r EnablingSets,
}

/// Room for closures.
#[derive(Debug, Default)]
pub(super) struct StubbornClosure {
    /// The set, once it is closed.
    pub set: Vec<u64>,
    /// How many enabled members it has.
    pub enabled: u32,
    open: Vec<usize>,
    /// Members from which the closure was too large.
    avoided: Vec<u64>,
    /// Whether the set has one of these.
    pub has_avoided: bool,
    /// Members that were looked at, in all sets so far.
    pub looked: u64,
}

impl StubbornClosure {
    /// Begins with another state.
    pub fn forget(&mut self, relation: &MemberRelation) {
        self.avoided.clear();
        self.avoided.resize(relation.monitors.len(), 0);
    }

    /// Gives up, in this state, as soon as the set has this member, from which the closure was too large.
    pub fn avoid(&mut self, member: usize) {
        bit_sets::insert(&mut self.avoided, member);
    }

    /// Begins with nothing.
    fn clear(&mut self, relation: &MemberRelation) {
        self.set.clear();
        self.set.resize(relation.monitors.len(), 0);
        self.open.clear();
        self.enabled = 0;
        self.has_avoided = false;
    }

    /// Begins with what a set has.
    pub fn begin(&mut self, relation: &MemberRelation, seen: ObservedState, with: &[u64]) {
        self.forget(relation);
        self.clear(relation);
        self.add(seen, with);
    }

    /// Begins with one enabled member.
    pub fn begin_with(&mut self, relation: &MemberRelation, member: usize) {
        self.clear(relation);
        bit_sets::insert(&mut self.set, member);
        self.enabled = 1;
        self.open.push(member);
    }

    /// Adds a set to it.
    #[inline(always)]
    fn add(&mut self, seen: ObservedState, row: &[u64]) {
        for (word, (known, &row)) in self.set.iter_mut().zip(row).enumerate() {
            let new = row & !*known;
            if new == 0 {
                continue;
            }
            *known |= row;
            self.has_avoided |= new & self.avoided[word] != 0;
            self.enabled += (new & seen.enabled[word]).count_ones();
            self.open.extend(bit_sets::members_of_word(word, new));
        }
    }

    /// Closes the set; gives up, with `false`, as soon as it has more than `most` enabled members or one
    /// that is avoided. `enabling_sets` have looked at the state.
    pub fn close(&mut self, rules: ClosureRules<'_>, seen: ObservedState, most: u32) -> bool {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("popcnt") {
            // SAFETY: the processor has the instruction, which is all that is asked of it.
            return unsafe { self.close_counting(rules, seen, most) };
        }
        self.close_anyhow(rules, seen, most)
    }

    /// The same where a processor counts members by an instruction.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "popcnt")]
    fn close_counting(&mut self, rules: ClosureRules<'_>, seen: ObservedState, most: u32) -> bool {
        self.close_anyhow(rules, seen, most)
    }

    #[inline(always)]
    fn close_anyhow(&mut self, rules: ClosureRules<'_>, seen: ObservedState, most: u32) -> bool {
        let ClosureRules { relation, asking, needs } = rules;
        while let Some(member) = self.open.pop() {
            self.looked += 1;
            if bit_sets::has(seen.enabled, member) {
                self.add(seen, relation.dependent.row(member));
            }
            match needs.of(asking, member) {
                RequiredSets::OneOf(sets) => {
                    if let Some(cheapest) = self.cheapest(relation, seen, needs, sets) {
                        self.add(seen, cheapest);
                    }
                }
                RequiredSets::All(sets) => {
                    for &set in sets {
                        self.add(seen, needs.row(relation, set));
                    }
                }
            }
            if self.enabled > most || self.has_avoided {
                return false;
            }
        }
        true
    }

    /// The set with the least to add; of several the first. None if there is one with nothing to add.
    #[inline(always)]
    fn cheapest<'r>(
        &self,
        relation: &'r MemberRelation,
        seen: ObservedState,
        needs: &EnablingSets,
        sets: &[u32],
    ) -> Option<&'r [u64]> {
        if let &[only] = sets {
            return Some(needs.row(relation, only));
        }
        let mut least = (u32::MAX, u32::MAX);
        let mut cheapest = None;
        for &set in sets {
            let row = needs.row(relation, set);
            let cost = self.cost(row, seen);
            if cost < least {
                (cheapest, least) = (Some(row), cost);
            }
            if cost == (0, 0) {
                return None;
            }
        }
        cheapest
    }

    /// What it costs to add a set: enabled members above all.
    #[inline(always)]
    fn cost(&self, row: &[u64], seen: ObservedState) -> (u32, u32) {
        let (mut enabled, mut all) = (0, 0);
        for ((row, known), is_enabled) in row.iter().zip(&self.set).zip(seen.enabled) {
            let new = row & !known;
            enabled += (new & is_enabled).count_ones();
            all += new.count_ones();
        }
        (enabled, all)
    }
}
