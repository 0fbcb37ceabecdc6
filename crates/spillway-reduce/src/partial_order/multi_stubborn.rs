//! Several disjoint stubborn sets of a state. One transition of each is taken simultaneously
//! ([`simultaneous`](crate::simultaneous)).

use super::enabling_sets::ObservedState;
use super::stubborn::{ClosureRules, StubbornClosure};
use spillway_analysis::bit_sets;

/// The most combinations of transitions in a state. If the first set alone has more, it stays alone.
const WAYS_MAX: u32 = 64;

/// The most sets with several enabled members. Each at least doubles the combinations.
pub(super) const SEVERAL_MAX: usize = WAYS_MAX.ilog2() as usize;

/// Finds further stubborn sets, given a first one.
pub(super) struct MultiStubbornSearch<'f> {
    pub rules: ClosureRules<'f>,
    /// The observed state.
    pub seen: ObservedState<'f>,
    /// The instances whose transitions ascend, if the proviso uses the order.
    pub climbing: Option<&'f [u64]>,
}

/// The sets found so far.
struct StubbornSetList<'f> {
    /// The members of all sets.
    all: &'f mut [u64],
    /// The enabled members of each set that has several, one after the other.
    several: &'f mut [u64],
    count: usize,
    ways: u32,
}

impl MultiStubbornSearch<'_> {
    /// Adds to `all`, the members of a closed set, those of further sets, whose enabled members are disjoint. Writes
    /// to `several`, initially empty, the enabled members of each set that has more than one.
    pub fn find(&self, closure: &mut StubbornClosure, all: &mut [u64], several: &mut [u64]) {
        let MultiStubbornSearch { rules: ClosureRules { relation, .. }, seen, .. } = *self;
        let first: Vec<u64> = all.iter().zip(seen.enabled).map(|(set, it)| set & it).collect();
        let mut found = StubbornSetList { all, several, count: 0, ways: 1 };
        found.note(&first);
        closure.forget(relation);
        bit_sets::members(&first).for_each(|it| closure.avoid(it));
        // Sets with one enabled member add no combinations. So they are tried first.
        for most in [1, WAYS_MAX] {
            for seed in bit_sets::members(seen.enabled) {
                let most = most.min(WAYS_MAX / found.ways.max(1));
                if most > 0 && !bit_sets::has(found.all, seed) {
                    self.try_from(seed, most, closure, &mut found);
                }
            }
        }
    }

    /// Adds the set that an enabled member seeds, if it is allowed.
    fn try_from(
        &self,
        seed: usize,
        most: u32,
        closure: &mut StubbornClosure,
        found: &mut StubbornSetList<'_>,
    ) {
        let MultiStubbornSearch { rules: rules @ ClosureRules { relation, .. }, seen, .. } = *self;
        closure.begin_with(relation, seed);
        if !closure.close(rules, seen, most) {
            return;
        }
        let enabled: Vec<u64> =
            closure.set.iter().zip(seen.enabled).map(|(set, it)| set & it).collect();
        // A transition that does not ascend could undo the ascent of another, and the obligations would become due.
        let climbs = self.climbing.is_none_or(|climbing| bit_sets::is_subset(&enabled, climbing));
        let has_all = || {
            let both = closure.set.iter().zip(&*found.all).map(|(one, other)| one | other);
            relation.monitors.iter().zip(both).all(|(monitors, both)| monitors & !both == 0)
        };
        if climbs || has_all() {
            bit_sets::extend(found.all, &closure.set);
            found.note(&enabled);
            bit_sets::members(&enabled).for_each(|it| closure.avoid(it));
        }
    }
}

impl StubbornSetList<'_> {
    /// Records the enabled members of a set.
    fn note(&mut self, enabled: &[u64]) {
        let members = bit_sets::count(enabled);
        self.ways = self.ways.saturating_mul(members);
        if members > 1 {
            // The rows hold instances, which are the first members.
            let words = self.several.len() / SEVERAL_MAX;
            self.several[self.count * words..][..words].copy_from_slice(&enabled[..words]);
            self.count += 1;
        }
    }
}
