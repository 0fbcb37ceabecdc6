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

use super::relation::{Here, Relation, Wait};
use crate::analysis::bits;

/// A state as a choice sees it.
#[derive(Clone, Copy)]
pub(super) struct Seen<'s> {
    /// What is enabled.
    pub enabled: &'s [u64],
    /// The facts of it.
    pub facts: &'s [u64],
}

/// Room for closures.
#[derive(Debug, Default)]
pub(super) struct Closure {
    /// The set, once it is closed.
    pub set: Vec<u64>,
    /// How many enabled members it has.
    pub enabled: u32,
    /// Of each of the relation's movers the set of those that take it from where it is.
    pub leaving: Vec<Option<usize>>,
    open: Vec<usize>,
    union: Vec<u64>,
    /// Members from which the closure was too large.
    avoided: Vec<u64>,
    /// Whether the set has one of these.
    pub has_avoided: bool,
}

impl Closure {
    /// Begins with another state.
    pub fn forget(&mut self, relation: &Relation) {
        self.avoided.clear();
        self.avoided.resize(relation.monitors.len(), 0);
    }

    /// Gives up, in this state, as soon as the set has this member, from which the closure was too large.
    pub fn avoid(&mut self, member: usize) {
        bits::insert(&mut self.avoided, member);
    }

    /// Finds out where processes are. The sets that follow are about this state.
    pub fn look(&mut self, relation: &Relation, seen: Seen) {
        self.leaving.clear();
        let here = |it: &&Here| !bits::has(seen.facts, it.fact);
        let leaving = |all: &Vec<Here>| all.iter().find(here).map(|it| it.leaving);
        self.leaving.extend(relation.movers.iter().map(leaving));
    }

    /// Begins with nothing.
    fn clear(&mut self, relation: &Relation) {
        self.set.clear();
        self.set.resize(relation.monitors.len(), 0);
        self.open.clear();
        self.enabled = 0;
        self.has_avoided = false;
    }

    /// Begins with what a set has.
    pub fn begin(&mut self, relation: &Relation, seen: Seen, with: &[u64]) {
        self.forget(relation);
        self.clear(relation);
        self.add(seen, with);
    }

    /// Begins with one enabled member.
    pub fn begin_with(&mut self, relation: &Relation, member: usize) {
        self.clear(relation);
        bits::insert(&mut self.set, member);
        self.enabled = 1;
        self.open.push(member);
    }

    /// Adds a set to it.
    fn add(&mut self, seen: Seen, row: &[u64]) {
        for (word, (known, &row)) in self.set.iter_mut().zip(row).enumerate() {
            let new = row & !*known;
            if new == 0 {
                continue;
            }
            *known |= row;
            self.has_avoided |= new & self.avoided[word] != 0;
            self.enabled += (new & seen.enabled[word]).count_ones();
            self.open.extend(bits::in_word(word, new));
        }
    }

    /// Closes the set; gives up, with `false`, as soon as it has more than `most` enabled members or one
    /// that is avoided.
    pub fn close(&mut self, relation: &Relation, seen: Seen, most: u32) -> bool {
        while let Some(member) = self.open.pop() {
            if !bits::has(seen.enabled, member) {
                self.wait(relation, seen, member);
            } else {
                self.add(seen, relation.dependent.row(member));
                for set in relation.needed_now(member, seen.facts) {
                    self.add(seen, relation.enabling.row(set));
                }
            }
            if self.enabled > most || self.has_avoided {
                return false;
            }
        }
        true
    }

    /// Adds what may make a member possible that is not: for one condition that does not hold the one
    /// with the least to add; where it is not known which one that is, for all of which it is not known.
    fn wait(&mut self, relation: &Relation, seen: Seen, member: usize) {
        if let Some(least) = self.cheapest(relation, seen, member) {
            return self.add(seen, relation.enabling.row(least));
        }
        let mut union = std::mem::take(&mut self.union);
        union.clear();
        union.resize(self.set.len(), 0);
        for set in relation.not_known(member) {
            bits::extend(&mut union, relation.enabling.row(set));
        }
        self.add(seen, &union);
        self.union = union;
    }

    /// Of the sets of which one has to be with a member, by what is known to fail, the one with the least to
    /// add.
    fn cheapest(&self, relation: &Relation, seen: Seen, member: usize) -> Option<usize> {
        let mut sets = self.failing(relation, seen, member);
        let (mut least, mut cost) = (sets.next()?, None);
        for set in sets {
            let before = *cost.get_or_insert_with(|| self.cost(relation, seen, least));
            let here = self.cost(relation, seen, set);
            if here < before {
                (least, cost) = (set, Some(here));
            }
        }
        Some(least)
    }

    /// The sets of which each has the first step towards a member, by something that is known to fail: who
    /// makes it hold, or who takes the process from where it is.
    pub fn failing<'r>(
        &'r self,
        relation: &'r Relation,
        seen: Seen<'r>,
        member: usize,
    ) -> impl Iterator<Item = usize> + use<'r> {
        let fails = move |wait: &&Wait| wait.fact.is_some_and(|fact| bits::has(seen.facts, fact));
        relation.waits[member].iter().filter(fails).flat_map(|wait| {
            let leaving = wait.mover.and_then(|mover| self.leaving[mover]);
            std::iter::once(wait.enabling).chain(leaving)
        })
    }

    /// What it costs to add a set: enabled members above all.
    fn cost(&self, relation: &Relation, seen: Seen, row: usize) -> (u32, u32) {
        let row = relation.enabling.row(row);
        let (mut enabled, mut all) = (0, 0);
        for ((new, known), is_enabled) in row.iter().zip(&self.set).zip(seen.enabled) {
            let new = new & !known;
            if new != 0 {
                enabled += (new & is_enabled).count_ones();
                all += new.count_ones();
            }
        }
        (enabled, all)
    }
}
