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

use super::enabling_sets::ObservedState;
use super::member_counters::MemberCounters;
use super::relation::MemberRelation;
use super::stubborn::ClosureRules;
use spillway_analysis::bit_sets::{self, BitMatrix};

/// For each member, the numbers of the sets that contain it.
#[derive(Clone, Debug)]
pub(super) struct ContainingSets(BitMatrix);

/// The search of a deletion for a set, in one state.
#[derive(Clone, Copy)]
pub(super) struct DeletionGoal<'g> {
    /// The rules, up to date for the state.
    pub rules: ClosureRules<'g>,
    pub containing: &'g ContainingSets,
    pub seen: ObservedState<'g>,
    /// Enabled members: the set has one of them.
    pub wanted: &'g [u64],
    /// The set has none of these enabled members.
    pub unwanted: &'g [u64],
}

/// Buffers of the deletion algorithm.
#[derive(Debug, Default)]
pub(super) struct DeletionSearch {
    /// The current set.
    pub set: Vec<u64>,
    /// The number of its wanted members.
    wanted: u32,
    /// Members that enabled members of the set require.
    held: Vec<u64>,
    /// The sets that have lost a member; behind them the movers whose leaving set has.
    broken: Vec<u64>,
    /// For each member, the number of required sets that it can still lose.
    spare: MemberCounters,
    before: SetBefore,
    /// Members that each closed part of the set with a wanted member has.
    needed: Vec<u64>,
    /// Removed members whose sets are not broken yet.
    open: Vec<usize>,
    /// Removed members that enabled members may require directly.
    fresh: Vec<usize>,
    /// The number of removed members since the counter was last reset.
    pub looked: u64,
}

/// The set before an attempt to remove a member.
#[derive(Debug, Default)]
struct SetBefore {
    set: Vec<u64>,
    broken: Vec<u64>,
    spare: MemberCounters,
    wanted: u32,
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
    /// Makes the set a minimal closed set with a wanted member, and returns whether there is one.
    pub fn run(&mut self, goal: DeletionGoal<'_>) -> bool {
        self.begin(goal);
        for member in bit_sets::members(goal.unwanted) {
            if bit_sets::has(&self.set, member) {
                self.take_out(goal, member);
            }
        }
        if self.wanted == 0 {
            return false;
        }
        for (word, enabled) in goal.seen.enabled.iter().enumerate().rev() {
            let mut left = *enabled;
            while left != 0 {
                let bit = left.ilog2();
                left ^= 1 << bit;
                let member = word * bit_sets::WORD_BITS + bit as usize;
                if bit_sets::has(&self.set, member) {
                    self.try_without(goal, member);
                }
            }
        }
        true
    }

    /// Removes a member, unless no wanted member would be left.
    fn try_without(&mut self, goal: DeletionGoal<'_>, member: usize) {
        self.keep();
        self.take_out(goal, member);
        if self.wanted == 0 {
            self.undo();
            // Each closed part of the set with a wanted member has this one.
            bit_sets::insert(&mut self.needed, member);
        }
    }

    /// Returns the number of enabled members of the set.
    pub fn enabled(&self, seen: ObservedState) -> u32 {
        self.set.iter().zip(seen.enabled).map(|(set, enabled)| (set & enabled).count_ones()).sum()
    }

    /// Starts with the set of all members.
    fn begin(&mut self, DeletionGoal { rules, seen, wanted, .. }: DeletionGoal<'_>) {
        let ClosureRules { relation, needs, .. } = rules;
        self.set.clear();
        self.set.resize(seen.enabled.len(), 0);
        (0..relation.waits.len()).for_each(|it| bit_sets::insert(&mut self.set, it));
        self.wanted = bit_sets::count(wanted);
        self.broken.clear();
        self.broken.resize(bit_sets::words_of(needs.interned()) + needs.takes.words(), 0);
        self.spare.copy_from(&needs.spare);
        self.needed.clear();
        self.needed.resize(seen.enabled.len(), 0);
        self.held.clear();
        self.held.resize(seen.enabled.len(), 0);
        for member in bit_sets::members(seen.enabled) {
            bit_sets::extend(&mut self.held, relation.dependent.row(member));
        }
    }

    fn keep(&mut self) {
        let SetBefore { set, broken, spare, wanted } = &mut self.before;
        set.clone_from(&self.set);
        broken.clone_from(&self.broken);
        spare.copy_from(&self.spare);
        *wanted = self.wanted;
    }

    fn undo(&mut self) {
        let SetBefore { set, broken, spare, wanted } = &self.before;
        self.set.clone_from(set);
        self.broken.clone_from(broken);
        self.spare.copy_from(spare);
        self.wanted = *wanted;
    }

    /// Removes a member, and all that cannot stay without it. Ends early where no wanted member can be left.
    fn take_out(&mut self, goal: DeletionGoal<'_>, member: usize) {
        let needs = goal.rules.needs;
        self.open.clear();
        self.fresh.clear();
        self.remove(member, goal);
        // A set without wanted members is useless.
        while self.wanted > 0 {
            // The enabled members that go first end most attempts.
            if let Some(out) = self.fresh.pop() {
                self.let_go(goal, out);
                continue;
            }
            let Some(out) = self.open.pop() else { break };
            self.looked += 1;
            let pointed = goal.containing.0.row(out);
            for (word, sets) in pointed.iter().enumerate() {
                let newly = self.newly_broken(word, *sets);
                bit_sets::members_of_word(word, newly)
                    .for_each(|set| self.lose(needs.users(set), goal));
            }
            for (word, movers) in needs.takes.row(out).iter().enumerate() {
                let newly = self.newly_broken(pointed.len() + word, *movers);
                let sets = bit_sets::members_of_word(word, newly).map(|mover| needs.set_of(mover));
                sets.for_each(|set| self.lose(needs.users(set), goal));
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
    fn let_go(&mut self, goal: DeletionGoal<'_>, out: usize) {
        let DeletionGoal { rules: ClosureRules { relation, .. }, seen, .. } = goal;
        for word in 0..self.set.len() {
            for member in bit_sets::members_of_word(word, self.set[word] & seen.enabled[word]) {
                if relation.dependent.contains(member, out) {
                    self.remove(member, goal);
                }
            }
        }
    }

    fn remove(&mut self, member: usize, goal: DeletionGoal<'_>) {
        bit_sets::remove_member(&mut self.set, member);
        match bit_sets::has(&self.needed, member) {
            true => self.wanted = 0,
            false => {
                self.wanted = self.wanted.saturating_sub(bit_sets::has(goal.wanted, member).into())
            }
        }
        self.open.push(member);
        if bit_sets::has(&self.held, member) {
            self.fresh.push(member);
        }
    }

    /// Counts a broken set for its users, and removes those that cannot stay.
    fn lose(&mut self, users: &[u64], goal: DeletionGoal<'_>) {
        for (word, users) in users.iter().enumerate() {
            let users = users & self.set[word];
            if users != 0 {
                let gone = self.spare.decrement(word, users);
                bit_sets::members_of_word(word, gone).for_each(|it| self.remove(it, goal));
            }
        }
    }
}
