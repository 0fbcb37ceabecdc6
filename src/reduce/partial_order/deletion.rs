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
}

/// Room for deletion.
#[derive(Debug, Default)]
pub(super) struct Deletion {
    /// The set.
    pub set: Vec<u64>,
    /// How many enabled members it has.
    pub enabled: u32,
    /// Sets that are pointed to of which a member is out.
    broken: Vec<u64>,
    /// Of each member how many sets that it needs now have to break for it to go.
    left: Vec<u32>,
    before: (Vec<u64>, Vec<u64>, Vec<u32>),
    open: Vec<usize>,
    users: Users,
}

/// Who needs each of the sets that are pointed to, in one state.
#[derive(Debug, Default)]
struct Users {
    /// Each need: the number of a set, and the member.
    needs: Vec<(u32, u32)>,
    /// Where the users of each set begin; the last is where all end.
    first: Vec<u32>,
    users: Vec<u32>,
}

impl Users {
    /// Puts the needs in the order of the sets, of which there are so many.
    fn sort(&mut self, sets: usize) {
        self.first.clear();
        self.first.resize(sets + 1, 0);
        self.needs.iter().for_each(|&(set, _)| self.first[set as usize] += 1);
        let mut end = 0;
        for first in &mut self.first {
            end += *first;
            *first = end;
        }
        self.users.clear();
        self.users.resize(self.needs.len(), 0);
        for &(set, user) in &self.needs {
            let at = &mut self.first[set as usize];
            *at -= 1;
            self.users[*at as usize] = user;
        }
    }

    fn of(&self, set: usize) -> &[u32] {
        &self.users[self.first[set] as usize..self.first[set + 1] as usize]
    }
}

impl Needed {
    pub fn new(relation: &Relation) -> Needed {
        let members = relation.waits.len();
        let pointed = relation.enabling.count();
        let mut needed =
            Needed { by: Rows::new(members, members), sets: Rows::new(members, pointed) };
        for member in 0..members {
            for other in bits::members(relation.dependent.row(member)) {
                bits::insert(needed.by.row_mut(other), member);
            }
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
        self.look(relation, seen, closure);
        self.enabled = bits::count(seen.enabled);
        let enabled: Vec<usize> = bits::members(seen.enabled).collect();
        for &member in enabled.iter().rev() {
            if !bits::has(&self.set, member) {
                continue;
            }
            self.before.0.clone_from(&self.set);
            self.before.1.clone_from(&self.broken);
            self.before.2.clone_from(&self.left);
            let enabled = self.enabled;
            self.take_out(needed, seen, member);
            if self.enabled == 0 {
                self.enabled = enabled;
                self.set.clone_from(&self.before.0);
                self.broken.clone_from(&self.before.1);
                self.left.clone_from(&self.before.2);
            }
        }
    }

    /// Finds out which sets each member needs: one that is not possible some, of those that have the first
    /// step towards it; one that is, or of which it is not known why it is not, all.
    fn look(&mut self, relation: &Relation, seen: Seen, closure: &Closure) {
        let Users { needs, .. } = &mut self.users;
        needs.clear();
        self.left.clear();
        for member in 0..relation.waits.len() {
            let first = needs.len();
            let need = |set: usize| (set as u32, member as u32);
            let mut left = 1;
            if bits::has(seen.enabled, member) {
                needs.extend(relation.needed_now(member, seen.facts).map(need));
            } else {
                needs.extend(closure.failing(relation, seen, member).map(need));
                left = (needs.len() - first) as u32;
                if left == 0 {
                    left = 1;
                    needs.extend(relation.not_known(member).map(need));
                }
            }
            self.left.push(left);
        }
        self.users.sort(relation.enabling.count());
    }

    fn take_out(&mut self, needed: &Needed, seen: Seen, member: usize) {
        self.open.clear();
        self.open.push(member);
        bits::take_out(&mut self.set, member);
        self.enabled -= 1;
        // Without any it is of no use.
        while self.enabled > 0
            && let Some(out) = self.open.pop()
        {
            for word in 0..self.set.len() {
                let gone = needed.by.row(out)[word] & self.set[word] & seen.enabled[word];
                self.set[word] &= !gone;
                self.enabled -= gone.count_ones();
                self.open.extend(bits::in_word(word, gone));
            }
            for word in 0..self.broken.len() {
                let newly = needed.sets.row(out)[word] & !self.broken[word];
                self.broken[word] |= newly;
                bits::in_word(word, newly).for_each(|set| self.lose(set, seen));
            }
        }
    }

    /// Takes out whoever cannot stay without a set.
    fn lose(&mut self, set: usize, seen: Seen) {
        for &user in self.users.of(set) {
            let user = user as usize;
            let left = &mut self.left[user];
            *left = left.saturating_sub(1);
            if *left == 0 && bits::has(&self.set, user) {
                bits::take_out(&mut self.set, user);
                self.enabled -= u32::from(bits::has(seen.enabled, user));
                self.open.push(user);
            }
        }
    }
}
