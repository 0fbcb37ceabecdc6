//! Strong stubborn sets (Valmari 1989 and 1991; Definition 8 of Godefroid and Pirottin 1993), computed by closure
//! from given members: the monitors for proviso transitions, or a member of a further set that is taken together with
//! others. [`singletons`](super::singletons) and [`deletion`](super::deletion) find the set that is chosen.
//!
//! A set is closed if it has these members:
//!
//! - with each enabled member, all that are dependent on it;
//! - with each disabled member, a necessary enabling set: all instances that may make one of its failing conditions
//!   hold (Laarman, Pater, van de Pol and Weber 2013).
//!
//! In every run from the state that takes a member of the set, the first such member is enabled in the state and can
//! be taken first.
//!
//! With the *conditional* relation (Definitions 9 and 11) the dependence of an enabled member depends on the state:
//! on the length of a channel, or on the value of a counter.

use super::enabling_sets::{EnablingSets, ObservedState, RequiredSets};
use super::fact_dependence::FactDependence;
use super::relation::MemberRelation;
use spillway_analysis::bit_sets;

/// The rules by which a set is closed in a state.
#[derive(Clone, Copy)]
pub(super) struct ClosureRules<'r> {
    /// The dependence of members.
    pub relation: &'r MemberRelation,
    /// The facts that each member needs.
    pub asking: &'r FactDependence,
    /// The sets that each member requires in the state.
    pub needs: &'r EnablingSets,
}

/// Buffers for closures.
#[derive(Debug, Default)]
pub(super) struct StubbornClosure {
    /// The set; closed after `close` returns `true`.
    pub set: Vec<u64>,
    /// The number of its enabled members.
    pub enabled: u32,
    open: Vec<usize>,
    /// The required sets that the set contains, as far as they are known.
    contained: Vec<u64>,
    /// The members that require one of several sets, if the set contains at least one of these.
    settled: Vec<u64>,
    /// Members whose closure was too large.
    avoided: Vec<u64>,
    /// Whether the set has an avoided member.
    pub has_avoided: bool,
    /// The number of members examined since the counter was last reset.
    pub looked: u64,
}

impl StubbornClosure {
    /// Clears the avoided members, for another state.
    pub fn forget(&mut self, relation: &MemberRelation) {
        self.avoided.clear();
        self.avoided.resize(relation.monitors.len(), 0);
    }

    /// Marks a member whose closure was too large. In this state, closures that reach it fail.
    pub fn avoid(&mut self, member: usize) {
        bit_sets::insert(&mut self.avoided, member);
    }

    /// Clears the set.
    fn clear(&mut self, relation: &MemberRelation) {
        self.set.clear();
        self.set.resize(relation.monitors.len(), 0);
        self.open.clear();
        self.contained.clear();
        self.settled.clear();
        self.settled.resize(relation.monitors.len(), 0);
        self.enabled = 0;
        self.has_avoided = false;
    }

    /// Starts with the members of `with`.
    pub fn begin(&mut self, relation: &MemberRelation, seen: ObservedState, with: &[u64]) {
        self.forget(relation);
        self.clear(relation);
        self.add(seen, with);
    }

    /// Starts with one enabled member.
    pub fn begin_with(&mut self, relation: &MemberRelation, member: usize) {
        self.clear(relation);
        bit_sets::insert(&mut self.set, member);
        self.enabled = 1;
        self.open.push(member);
    }

    /// Adds a row to the set.
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
            self.open.extend(bit_sets::members_of_word(word, new & !self.settled[word]));
        }
    }

    /// Adds a required set, and notes the members that it settles.
    #[inline(always)]
    fn add_required(&mut self, rules: ClosureRules<'_>, seen: ObservedState, set: u32) {
        if bit_sets::has(&self.contained, set as usize) {
            return;
        }
        let ClosureRules { relation, needs, .. } = rules;
        self.settle(needs, set);
        self.add(seen, needs.row(relation, set));
    }

    /// Notes that the set contains a required set.
    #[inline(always)]
    fn settle(&mut self, needs: &EnablingSets, set: u32) {
        bit_sets::insert(&mut self.contained, set as usize);
        let users = needs.users(set as usize).iter().zip(&needs.choosers);
        for (settled, (users, choosers)) in self.settled.iter_mut().zip(users) {
            *settled |= users & choosers;
        }
    }

    /// Closes the set. Returns `false` as soon as it has more than `most` enabled members or an avoided one.
    /// `enabling_sets` must be up to date for the state.
    pub fn close(&mut self, rules: ClosureRules<'_>, seen: ObservedState, most: u32) -> bool {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("popcnt") {
            // SAFETY: the processor has the instruction, which is the only requirement.
            return unsafe { self.close_counting(rules, seen, most) };
        }
        self.close_anyhow(rules, seen, most)
    }

    /// As `close`, compiled with the instruction that counts bits.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "popcnt")]
    fn close_counting(&mut self, rules: ClosureRules<'_>, seen: ObservedState, most: u32) -> bool {
        self.close_anyhow(rules, seen, most)
    }

    #[inline(always)]
    fn close_anyhow(&mut self, rules: ClosureRules<'_>, seen: ObservedState, most: u32) -> bool {
        let ClosureRules { relation, asking, needs } = rules;
        self.contained.resize(bit_sets::words_of(needs.count()), 0);
        while let Some(member) = self.open.pop() {
            if bit_sets::has(&self.settled, member) {
                continue;
            }
            self.looked += 1;
            if bit_sets::has(seen.enabled, member) {
                self.add(seen, relation.dependent.row(member));
            }
            match needs.of(asking, member) {
                RequiredSets::OneOf(sets) => {
                    let cheapest = self.cheapest(relation, seen, needs, sets);
                    self.add_required(rules, seen, cheapest);
                }
                RequiredSets::All(sets) => {
                    sets.iter().for_each(|&set| self.add_required(rules, seen, set));
                }
            }
            if self.enabled > most || self.has_avoided {
                return false;
            }
        }
        true
    }

    /// Returns the set that adds the least; the first of several.
    #[inline(always)]
    fn cheapest(
        &self,
        relation: &MemberRelation,
        seen: ObservedState,
        needs: &EnablingSets,
        sets: &[u32],
    ) -> u32 {
        let mut cheapest = sets[0];
        if sets.len() == 1 {
            return cheapest;
        }
        let mut least = (u32::MAX, u32::MAX);
        for &set in sets {
            let cost = self.cost(needs.row(relation, set), seen);
            if cost < least {
                (cheapest, least) = (set, cost);
            }
            if cost == (0, 0) {
                break;
            }
        }
        cheapest
    }

    /// Returns the cost of a set: first its new enabled members, then all new members.
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
