//! Smaller closed sets by deletion (Valmari 1991; Hansen, Lin, Liu, Nguyen and Sun, "Diamonds are a girl's
//! best friend: partial order reduction for timed automata with abstractions", 2014, have it beside closures).
//!
//! All members together are a closed set. One enabled member after the other is taken out of it, with all
//! that cannot stay without: enabled members that do not go with one that is out, and members that are not
//! possible and of whose sets that have the first step towards them each has lost one. What is left is closed
//! again. If nothing enabled is left of it, the member has to stay. In the end none can go.

use super::relation::Relation;
use super::stubborn::{Closure, Seen};
use crate::analysis::bits::{self, Rows};

/// Who cannot stay in a set without whom.
#[derive(Debug)]
pub(super) struct Needed {
    /// Of each member those that it has to be with where they are possible.
    by: Rows,
    /// Of each member the numbers of the sets that are pointed to and have it.
    sets: Rows,
    /// Of each of these sets the members that point to it.
    users: Vec<Vec<usize>>,
}

/// Room for deletion.
#[derive(Debug, Default)]
pub(super) struct Deletion {
    /// The set.
    pub set: Vec<u64>,
    /// Sets that are pointed to of which a member is out.
    broken: Vec<u64>,
    before: (Vec<u64>, Vec<u64>),
    /// How many enabled members it has.
    pub enabled: u32,
    open: Vec<usize>,
}

impl Needed {
    pub fn new(relation: &Relation) -> Needed {
        let members = relation.waits.len();
        let pointed = relation.enabling.count();
        let mut needed = Needed {
            by: Rows::new(members, members),
            sets: Rows::new(members, pointed),
            users: vec![Vec::new(); pointed],
        };
        for member in 0..members {
            for other in bits::members(relation.dependent.row(member)) {
                bits::insert(needed.by.row_mut(other), member);
            }
            let mut sets: Vec<usize> =
                relation.sometimes[member].iter().map(|it| it.with).collect();
            for wait in &relation.waits[member] {
                let places = wait.mover.into_iter().flat_map(|it| &relation.movers[it]);
                sets.push(wait.enabling);
                sets.extend(places.map(|it| it.leaving));
            }
            sets.sort_unstable();
            sets.dedup();
            sets.into_iter().for_each(|set| needed.users[set].push(member));
        }
        for set in 0..pointed {
            for member in bits::members(relation.enabling.row(set)) {
                bits::insert(needed.sets.row_mut(member), set);
            }
        }
        needed
    }
}

impl Deletion {
    /// Makes the set one that is closed, has enabled members, and loses them all if any of them goes. `closure`
    /// has looked at the state.
    pub fn run(&mut self, relation: &Relation, needed: &Needed, seen: Seen, closure: &Closure) {
        self.set.clear();
        self.set.resize(seen.enabled.len(), 0);
        (0..relation.waits.len()).for_each(|it| bits::insert(&mut self.set, it));
        self.broken.clear();
        self.broken.resize(bits::words_of(relation.enabling.count()), 0);
        self.enabled = bits::count(seen.enabled);
        let enabled: Vec<usize> = bits::members(seen.enabled).collect();
        for &member in enabled.iter().rev() {
            if !bits::has(&self.set, member) {
                continue;
            }
            self.before.0.clone_from(&self.set);
            self.before.1.clone_from(&self.broken);
            let enabled = self.enabled;
            self.take_out(relation, needed, seen, closure, member);
            if self.enabled == 0 {
                self.enabled = enabled;
                self.set.clone_from(&self.before.0);
                self.broken.clone_from(&self.before.1);
            }
        }
    }

    fn take_out(
        &mut self,
        relation: &Relation,
        needed: &Needed,
        seen: Seen,
        closure: &Closure,
        member: usize,
    ) {
        self.open.clear();
        self.open.push(member);
        bits::take_out(&mut self.set, member);
        self.enabled -= 1;
        // Without any it is of no use.
        while self.enabled > 0
            && let Some(out) = self.open.pop()
        {
            for word in 0..self.set.len() {
                let mut gone = needed.by.row(out)[word] & self.set[word] & seen.enabled[word];
                self.set[word] &= !gone;
                self.enabled -= gone.count_ones();
                while gone != 0 {
                    self.open.push(word * 64 + gone.trailing_zeros() as usize);
                    gone &= gone - 1;
                }
            }
            for word in 0..self.broken.len() {
                let mut newly = needed.sets.row(out)[word] & !self.broken[word];
                self.broken[word] |= newly;
                while newly != 0 {
                    let set = word * 64 + newly.trailing_zeros() as usize;
                    newly &= newly - 1;
                    for &user in &needed.users[set] {
                        if bits::has(&self.set, user)
                            && !self.may_stay(relation, seen, closure, user)
                        {
                            bits::take_out(&mut self.set, user);
                            self.enabled -= u32::from(bits::has(seen.enabled, user));
                            self.open.push(user);
                        }
                    }
                }
            }
        }
    }

    /// Whether a member has all that it needs of the sets that are pointed to.
    fn may_stay(&self, relation: &Relation, seen: Seen, closure: &Closure, member: usize) -> bool {
        let is_whole = |set: usize| !bits::has(&self.broken, set);
        if bits::has(seen.enabled, member) {
            return relation.needed_now(member, seen.facts).all(is_whole);
        }
        let mut failing = closure.failing(relation, seen, member).peekable();
        if failing.peek().is_some() {
            return failing.any(is_whole);
        }
        relation.not_known(member).all(is_whole)
    }
}
