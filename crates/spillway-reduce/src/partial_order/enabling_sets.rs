//! The sets that members of a closed set require, in one state.

use super::fact_dependence::FactDependence;
use super::member_counters::MemberCounters;
use super::relation::{EnablingCondition, MemberRelation, MoverLocation};
use spillway_analysis::bit_sets::{self, BitMatrix};

/// A state as a choice observes it.
#[derive(Clone, Copy)]
pub(super) struct ObservedState<'s> {
    /// The enabled members.
    pub enabled: &'s [u64],
    /// The facts of the state.
    pub facts: &'s [u64],
}

/// The sets that a member requires, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequiredSets<'n> {
    /// All sets.
    All(&'n [u32]),
    /// One of the sets; there is at least one.
    OneOf(&'n [u32]),
}

/// The requirements of members in a state. For the next state only those that may change are recomputed.
///
/// The sets are the interned sets of the relation. Behind them, each mover has the set of members that make it leave
/// its current location.
#[derive(Debug, Default)]
pub(super) struct EnablingSets {
    /// The number of the relation, and the last observed state.
    of: Option<u64>,
    enabled: Vec<u64>,
    facts: Vec<u64>,
    found: Vec<MemberRequirement>,
    /// The sets that each member requires, from the member's start on.
    sets: Vec<u32>,
    /// The number of interned sets of the relation.
    pointed: usize,
    /// For each mover, the set of members that make it leave its current location.
    leaving: Vec<Option<usize>>,
    /// For each member, the movers that it makes leave their current locations.
    pub takes: BitMatrix,
    /// For each set, the members that require it, alone or as an alternative.
    users: BitMatrix,
    /// For each member, the number of its sets that it can lose.
    pub spare: MemberCounters,
    /// The members for which one of their sets is enough.
    pub choosers: Vec<u64>,
    /// Members to recompute, and movers that moved.
    again: Vec<u64>,
    moved: Vec<u64>,
}

/// The requirement of a member.
#[derive(Clone, Copy, Debug, Default)]
struct MemberRequirement {
    count: u32,
    /// Whether one of the sets is enough.
    is_choice: bool,
}

impl EnablingSets {
    /// Moves to another state; `number` identifies the relation.
    pub fn update(
        &mut self,
        number: u64,
        relation: &MemberRelation,
        asking: &FactDependence,
        seen: ObservedState,
    ) {
        let is_other = self.of != Some(number);
        if is_other {
            self.begin(number, relation, asking, seen);
        }
        for (again, (before, now)) in
            self.again.iter_mut().zip(self.enabled.iter().zip(seen.enabled))
        {
            *again |= before ^ now;
        }
        for (word, (before, now)) in self.facts.iter().zip(seen.facts).enumerate() {
            for fact in bit_sets::members_of_word(word, before ^ now) {
                bit_sets::extend(&mut self.again, asking.by_fact.row(fact));
                if let Some(mover) = asking.mover_of[fact] {
                    bit_sets::insert(&mut self.moved, mover);
                }
            }
        }
        self.enabled.copy_from_slice(seen.enabled);
        self.facts.copy_from_slice(seen.facts);
        for word in 0..self.moved.len() {
            let moved = std::mem::take(&mut self.moved[word]);
            bit_sets::members_of_word(word, moved)
                .for_each(|it| self.locate_mover(it, relation, asking));
        }
        for word in 0..self.again.len() {
            let again = std::mem::take(&mut self.again[word]);
            bit_sets::members_of_word(word, again)
                .for_each(|it| self.look_at(it, relation, asking));
        }
    }

    /// Starts with a relation, and recomputes everything.
    fn begin(
        &mut self,
        number: u64,
        relation: &MemberRelation,
        asking: &FactDependence,
        seen: ObservedState,
    ) {
        let (members, movers) = (relation.waits.len(), relation.movers.len());
        self.of = Some(number);
        self.enabled = vec![0; seen.enabled.len()];
        self.facts = vec![0; seen.facts.len()];
        self.found = vec![MemberRequirement::default(); members];
        self.sets = vec![0; asking.begins[members]];
        self.pointed = relation.enabling.count();
        self.leaving = vec![None; movers];
        self.takes = BitMatrix::new(members, movers);
        self.users = BitMatrix::new(self.pointed + movers, members);
        let most = (0..members).map(|it| asking.begins[it + 1] - asking.begins[it]).max();
        self.spare = MemberCounters::new(members, most.unwrap_or_default());
        self.choosers = vec![0; bit_sets::words_of(members)];
        self.again = vec![0; bit_sets::words_of(members)];
        (0..members).for_each(|it| bit_sets::insert(&mut self.again, it));
        self.moved = vec![0; bit_sets::words_of(movers)];
        (0..movers).for_each(|it| bit_sets::insert(&mut self.moved, it));
    }

    /// Determines the location of a mover.
    fn locate_mover(&mut self, mover: usize, relation: &MemberRelation, asking: &FactDependence) {
        let here = |it: &&MoverLocation| !bit_sets::has(&self.facts, it.fact);
        let now = relation.movers[mover].iter().find(here).map(|it| it.leaving);
        let before = std::mem::replace(&mut self.leaving[mover], now);
        if before == now {
            return;
        }
        if before.is_some() != now.is_some() {
            bit_sets::extend(&mut self.again, asking.by_mover.row(mover));
        }
        let taking =
            |set: Option<usize>| set.map(|it| bit_sets::members(relation.enabling.row(it)));
        taking(before).into_iter().flatten().for_each(|member| {
            bit_sets::remove_member(self.takes.row_mut(member), mover);
        });
        taking(now).into_iter().flatten().for_each(|member| {
            bit_sets::insert(self.takes.row_mut(member), mover);
        });
    }

    /// Returns the sets that a member requires in addition to those dependent on it.
    ///
    /// A disabled member requires an enabling set of one of its conjuncts that are known to fail. If the conjunct is
    /// the location of a process, the set that makes the process leave its current location is an alternative. If no
    /// conjunct is known to fail, it requires the sets of all that are not known to hold.
    #[inline]
    pub fn of(&self, asking: &FactDependence, member: usize) -> RequiredSets<'_> {
        let MemberRequirement { count, is_choice } = self.found[member];
        let sets = &self.sets[asking.begins[member]..][..count as usize];
        if is_choice { RequiredSets::OneOf(sets) } else { RequiredSets::All(sets) }
    }

    /// Returns a set by its number.
    #[inline]
    pub fn row<'r>(&self, relation: &'r MemberRelation, set: u32) -> &'r [u64] {
        let set = set as usize;
        match set.checked_sub(self.pointed) {
            None => relation.enabling.row(set),
            // A mover at no known location has an empty set.
            Some(mover) => self.leaving[mover].map_or(&[], |it| relation.enabling.row(it)),
        }
    }

    /// Returns the number of interned sets.
    pub fn interned(&self) -> usize {
        self.pointed
    }

    /// Returns the number of the set of members that make a mover leave its location.
    pub fn set_of(&self, mover: usize) -> usize {
        self.pointed + mover
    }

    /// Returns the number of sets.
    pub fn count(&self) -> usize {
        self.pointed + self.leaving.len()
    }

    /// Returns the members that require a set, alone or as an alternative.
    #[inline]
    pub fn users(&self, set: usize) -> &[u64] {
        self.users.row(set)
    }

    fn look_at(&mut self, member: usize, relation: &MemberRelation, asking: &FactDependence) {
        let begin = asking.begins[member];
        let before = self.found[member].count as usize;
        for &set in &self.sets[begin..][..before] {
            bit_sets::remove_member(self.users.row_mut(set as usize), member);
        }
        let found = self.find(relation, begin, member);
        self.found[member] = found;
        for &set in &self.sets[begin..][..found.count as usize] {
            bit_sets::insert(self.users.row_mut(set as usize), member);
        }
        self.spare.set(member, if found.is_choice { found.count - 1 } else { 0 });
        match found.is_choice {
            true => bit_sets::insert(&mut self.choosers, member),
            false => bit_sets::remove_member(&mut self.choosers, member),
        }
    }

    fn find(
        &mut self,
        relation: &MemberRelation,
        begin: usize,
        member: usize,
    ) -> MemberRequirement {
        let EnablingSets { enabled, facts, sets, leaving, pointed, .. } = self;
        let (sets, mut found) = (&mut sets[begin..], MemberRequirement::default());
        if bit_sets::has(enabled, member) {
            relation.value_dependent_sets(member, facts).for_each(|set| found.add(sets, set));
            return found;
        }
        let fails =
            |it: &&EnablingCondition| it.fact.is_some_and(|fact| bit_sets::has(facts, fact));
        for wait in relation.waits[member].iter().filter(fails) {
            found.is_choice = true;
            found.add(sets, wait.enabling);
            let mover = wait.mover.filter(|&mover| leaving[mover].is_some());
            mover.into_iter().for_each(|mover| found.add(sets, *pointed + mover));
        }
        if !found.is_choice {
            relation.unrefuted_enabling_sets(member).for_each(|set| found.add(sets, set));
        }
        found
    }
}

impl MemberRequirement {
    /// Adds a set to those of the member, if it is new.
    fn add(&mut self, sets: &mut [u32], set: usize) {
        let (set, count) = (set as u32, self.count as usize);
        if !sets[..count].contains(&set) {
            sets[count] = set;
            self.count += 1;
        }
    }
}
