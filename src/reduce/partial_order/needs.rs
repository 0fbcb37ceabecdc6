//! What each member of a closed set has to be with, in one state.

use super::relation::{Here, Relation};
use crate::analysis::bits;

/// A state as a choice sees it.
#[derive(Clone, Copy)]
pub(super) struct Seen<'s> {
    /// What is enabled.
    pub enabled: &'s [u64],
    /// The facts of it.
    pub facts: &'s [u64],
}

/// What a member has to be with: sets that are pointed to, by their numbers, none twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need<'n> {
    /// All of each.
    All(&'n [u32]),
    /// All of one of them: there is one at least.
    OneOf(&'n [u32]),
}

/// What members have to be with, found out for each when it is first asked.
#[derive(Debug, Default)]
pub(super) struct Needs {
    found: Vec<Found>,
    sets: Vec<u32>,
    /// Of each of the relation's movers the set of those that take it from where it is.
    leaving: Vec<Option<usize>>,
}

/// Where what a member needs is in `sets`.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    begin: u32,
    end: u32,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Unknown,
    All,
    OneOf,
}

impl Needs {
    /// Begins with another state: finds out where processes are.
    pub fn look(&mut self, relation: &Relation, seen: Seen) {
        self.found.clear();
        self.found.resize(relation.waits.len(), Found::default());
        self.sets.clear();
        self.leaving.clear();
        let here = |it: &&Here| !bits::has(seen.facts, it.fact);
        let leaving = |all: &Vec<Here>| all.iter().find(here).map(|it| it.leaving);
        self.leaving.extend(relation.movers.iter().map(leaving));
    }

    /// What a member has to be with beside those that do not go with it.
    ///
    /// One that is not possible: of what is known to fail for it one has to come to hold, by those who make it
    /// hold or, if it is where a process is, by those who take the process from where it is. Where it is not
    /// known what fails it needs all of which it is not known.
    pub fn of(&mut self, relation: &Relation, seen: Seen, member: usize) -> Need<'_> {
        if self.found[member].kind == Kind::Unknown {
            self.found[member] = self.find(relation, seen, member);
        }
        let Found { begin, end, kind } = self.found[member];
        let sets = &self.sets[begin as usize..end as usize];
        if kind == Kind::OneOf { Need::OneOf(sets) } else { Need::All(sets) }
    }

    fn find(&mut self, relation: &Relation, seen: Seen, member: usize) -> Found {
        let begin = self.sets.len();
        let mut kind = Kind::All;
        if bits::has(seen.enabled, member) {
            relation.needed_now(member, seen.facts).for_each(|set| self.add(begin, set));
        } else {
            for wait in &relation.waits[member] {
                if wait.fact.is_some_and(|fact| bits::has(seen.facts, fact)) {
                    kind = Kind::OneOf;
                    self.add(begin, wait.enabling);
                    let leaving = wait.mover.and_then(|mover| self.leaving[mover]);
                    leaving.into_iter().for_each(|set| self.add(begin, set));
                }
            }
            if kind == Kind::All {
                relation.not_known(member).for_each(|set| self.add(begin, set));
            }
        }
        Found { begin: begin as u32, end: self.sets.len() as u32, kind }
    }

    /// Adds a set to those that begin there, if it is not one of them.
    fn add(&mut self, begin: usize, set: usize) {
        let set = set as u32;
        if !self.sets[begin..].contains(&set) {
            self.sets.push(set);
        }
    }
}
