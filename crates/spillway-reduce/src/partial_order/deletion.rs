//! Smaller closed sets by deletion (Valmari 1991; Hansen, Lin, Liu, Nguyen and Sun, "Diamonds are a girl's best
//! friend: partial order reduction for timed automata with abstractions", 2014, use it as well as closures).
//!
//! The set of all members is closed. The search removes one enabled member after another, with all members that
//! cannot stay without it:
//!
//! - enabled members that depend on a removed one;
//! - disabled members if each of their enabling sets has lost a member.
//!
//! The remaining set is closed again. If it has no enabled member, the removal is undone, and the member stays. In
//! the end no member can be removed.

use super::enabling_sets::{EnablingSets, ObservedState};
use super::relation::MemberRelation;
use super::stubborn::ClosureRules;
use spillway_analysis::bit_sets::{self, BitMatrix};

/// For each member, the numbers of the sets that contain it.
#[derive(Clone, Debug)]
pub(super) struct ContainingSets(BitMatrix);

/// Buffers of the deletion algorithm.
#[derive(Debug, Default)]
pub(super) struct DeletionSearch {
    /// The current set.
    pub set: Vec<u64>,
    /// The number of its enabled members.
    pub enabled: u32,
    /// Members that enabled members of the set require.
    held: Vec<u64>,
    /// The sets that have lost a member; behind them the movers whose leaving set has.
    broken: Vec<u64>,
    /// For each member, the number of required sets that must break before it is removed.
    left: Vec<u32>,
    before: (Vec<u64>, Vec<u64>, Vec<u32>),
    open: Vec<usize>,
    /// The number of removed members since the counter was last reset.
    pub looked: u64,
}

impl ContainingSets {
    pub fn new(relation: &MemberRelation) -> ContainingSets {
        let sets = relation.enabling.count();
        let mut having = BitMatrix::new(relation.waits.len(), sets);
        for set in 0..sets {
            for member in bit_sets::members(relation.enabling.row(set)) {
                bit_sets::insert(having.row_mut(member), set);
            }
        }
        ContainingSets(having)
    }
}

impl DeletionSearch {
    /// Makes the set a minimal closed set with an enabled member. `enabling_sets` must be up to date for the state.
    pub fn run(&mut self, rules: ClosureRules<'_>, having: &ContainingSets, seen: ObservedState) {
        let ClosureRules { relation, needs, .. } = rules;
        self.set.clear();
        self.set.resize(seen.enabled.len(), 0);
        (0..relation.waits.len()).for_each(|it| bit_sets::insert(&mut self.set, it));
        self.broken.clear();
        self.broken.resize(having.0.words() + needs.takes.words(), 0);
        self.look(relation, seen, needs);
        self.enabled = bit_sets::count(seen.enabled);
        let enabled: Vec<usize> = bit_sets::members(seen.enabled).collect();
        for &member in enabled.iter().rev() {
            if !bit_sets::has(&self.set, member) {
                continue;
            }
            self.before.0.clone_from(&self.set);
            self.before.1.clone_from(&self.broken);
            self.before.2.clone_from(&self.left);
            let enabled = self.enabled;
            self.take_out(rules, having, seen, member);
            if self.enabled == 0 {
                self.enabled = enabled;
                self.set.clone_from(&self.before.0);
                self.broken.clone_from(&self.before.1);
                self.left.clone_from(&self.before.2);
            }
        }
    }

    /// Computes for each member how many of its sets must break before it is removed.
    fn look(&mut self, relation: &MemberRelation, seen: ObservedState, needs: &EnablingSets) {
        self.left.clone_from(&needs.lives);
        self.held.clear();
        self.held.resize(seen.enabled.len(), 0);
        for member in bit_sets::members(seen.enabled) {
            bit_sets::extend(&mut self.held, relation.dependent.row(member));
        }
    }

    fn take_out(
        &mut self,
        rules: ClosureRules<'_>,
        having: &ContainingSets,
        seen: ObservedState,
        member: usize,
    ) {
        let ClosureRules { relation, needs, .. } = rules;
        self.open.clear();
        self.remove(member, seen);
        // A set without enabled members is useless.
        while self.enabled > 0
            && let Some(out) = self.open.pop()
        {
            self.looked += 1;
            if bit_sets::has(&self.held, out) {
                self.let_go(relation, seen, out);
            }
            let pointed = having.0.row(out);
            for (word, sets) in pointed.iter().enumerate() {
                let newly = self.newly_broken(word, *sets);
                bit_sets::members_of_word(word, newly)
                    .for_each(|set| self.lose(needs.users(set), seen));
            }
            for (word, movers) in needs.takes.row(out).iter().enumerate() {
                let newly = self.newly_broken(pointed.len() + word, *movers);
                let sets = bit_sets::members_of_word(word, newly).map(|mover| needs.set_of(mover));
                sets.for_each(|set| self.lose(needs.users(set), seen));
            }
        }
    }

    /// Marks the sets of a word as broken. Returns those that were intact.
    fn newly_broken(&mut self, word: usize, sets: u64) -> u64 {
        let newly = sets & !self.broken[word];
        self.broken[word] |= newly;
        newly
    }

    /// Removes the enabled members that require the removed member `out`.
    fn let_go(&mut self, relation: &MemberRelation, seen: ObservedState, out: usize) {
        for word in 0..self.set.len() {
            for member in bit_sets::members_of_word(word, self.set[word] & seen.enabled[word]) {
                if relation.dependent.contains(member, out) {
                    self.remove(member, seen);
                }
            }
        }
    }

    fn remove(&mut self, member: usize, seen: ObservedState) {
        bit_sets::remove_member(&mut self.set, member);
        self.enabled -= u32::from(bit_sets::has(seen.enabled, member));
        self.open.push(member);
    }

    /// Counts a broken set for its users, and removes those that cannot stay.
    fn lose(&mut self, users: &[u64], seen: ObservedState) {
        for (word, users) in users.iter().enumerate() {
            for user in bit_sets::members_of_word(word, users & self.set[word]) {
                self.left[user] -= 1;
                if self.left[user] == 0 {
                    self.remove(user, seen);
                }
            }
        }
    }
}
