//! Strong stubborn sets (Valmari 1989 and 1991; Definition 8 of Godefroid and Pirottin 1993), found by
//! closure from each action instance that is enabled.
//!
//! A set is closed if with each member that is enabled it has all that do not go with it, and with each
//! that is not, all that may make one of the conditions hold that it waits for (Laarman, Pater, van de
//! Pol and Weber 2013 call these necessary enabling sets). What is enabled in it can be taken first in
//! every run out of the state that takes any of it.

use super::bits;
use super::relation::{Relation, Wait};

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
    open: Vec<usize>,
    union: Vec<u64>,
}

impl Closure {
    /// Begins with what a set has.
    pub fn begin(&mut self, relation: &Relation, with: &[u64]) {
        self.set.clear();
        self.set.resize(relation.monitors.len(), 0);
        self.open.clear();
        self.add(with);
    }

    /// Begins with one member.
    pub fn begin_with(&mut self, relation: &Relation, member: usize) {
        self.set.clear();
        self.set.resize(relation.monitors.len(), 0);
        self.open.clear();
        bits::insert(&mut self.set, member);
        self.open.push(member);
    }

    /// Adds a set to it.
    fn add(&mut self, row: &[u64]) {
        for (word, (known, &row)) in self.set.iter_mut().zip(row).enumerate() {
            let mut new = row & !*known;
            *known |= row;
            while new != 0 {
                self.open.push(word * 64 + new.trailing_zeros() as usize);
                new &= new - 1;
            }
        }
    }

    /// Closes the set; gives up, with `false`, as soon as it has more than `most` enabled members.
    pub fn close(&mut self, relation: &Relation, seen: Seen, most: u32) -> bool {
        while let Some(member) = self.open.pop() {
            if bits::has(seen.enabled, member) {
                self.add(relation.dependent.row(member));
                if self.enabled(seen) > most {
                    return false;
                }
            } else {
                self.wait(relation, seen, member);
            }
        }
        self.enabled(seen) <= most
    }

    /// How many enabled members it has.
    pub fn enabled(&self, seen: Seen) -> u32 {
        let both = self.set.iter().zip(seen.enabled);
        both.map(|(set, enabled)| (set & enabled).count_ones()).sum()
    }

    /// Adds what may make a member possible that is not: for one condition that does not hold the one
    /// with the least to add; where it is not known which one that is, for all of which it is not known.
    fn wait(&mut self, relation: &Relation, seen: Seen, member: usize) {
        let waits = &relation.waits[member];
        let fails = |fact: Option<usize>| fact.is_some_and(|fact| bits::has(seen.facts, fact));
        let failing = waits.iter().filter(|it| fails(it.fact));
        let least = failing.min_by_key(|it| self.cost(relation, seen, it.enabling));
        if let Some(wait) = least {
            return self.add(relation.enabling.row(wait.enabling));
        }
        let mut union = std::mem::take(&mut self.union);
        union.clear();
        union.resize(self.set.len(), 0);
        let is_open = |wait: &&Wait| !wait.decides;
        // If all of them hold, it is not understood why it is not possible.
        let any = waits.iter().any(|it| is_open(&it));
        for wait in waits.iter().filter(|it| !any || is_open(it)) {
            bits::extend(&mut union, relation.enabling.row(wait.enabling));
        }
        self.add(&union);
        self.union = union;
    }

    /// What it costs to add a set: enabled members above all.
    fn cost(&self, relation: &Relation, seen: Seen, row: usize) -> (u32, u32) {
        let row = relation.enabling.row(row);
        let (mut enabled, mut all) = (0, 0);
        for ((new, known), is_enabled) in row.iter().zip(&self.set).zip(seen.enabled) {
            let new = new & !known;
            enabled += (new & is_enabled).count_ones();
            all += new.count_ones();
        }
        (enabled, all)
    }
}
