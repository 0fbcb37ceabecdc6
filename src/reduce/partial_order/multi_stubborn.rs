//! More than one stubborn set of a state, so that one step of each is taken together
//! ([`simultaneous`](crate::reduce::simultaneous)).

use super::enabling_sets::ObservedState;
use super::stubborn::{ClosureRules, StubbornClosure};
use crate::analysis::bit_sets;

/// So many ways together are taken at most of a state; if the first set alone has more, it stays alone.
const WAYS_MAX: u32 = 64;

/// So many sets with several enabled members there can be, as each at least doubles the ways.
pub(super) const SEVERAL_MAX: usize = WAYS_MAX.ilog2() as usize;

/// Finds the sets that are taken of a state beside a first one.
pub(super) struct MultiStubbornSearch<'f> {
    pub rules: ClosureRules<'f>,
    /// The state.
    pub seen: ObservedState<'f>,
    /// The instances whose steps climb, if something put off is taken up where none does.
    pub climbing: Option<&'f [u64]>,
}

/// The sets so far.
struct StubbornSetList<'f> {
    /// The members of all.
    all: &'f mut [u64],
    /// The enabled members of each set that has several, one behind the other.
    several: &'f mut [u64],
    count: usize,
    ways: u32,
}

impl MultiStubbornSearch<'_> {
    /// Adds to `all`, the members of a closed set, those of others, whose enabled members are none of those of the sets
    /// before. Gives in `several`, which begins empty, the enabled members of each set that has more than one.
    pub fn find(&self, closure: &mut StubbornClosure, all: &mut [u64], several: &mut [u64]) {
        let MultiStubbornSearch { rules: ClosureRules { relation, .. }, seen, .. } = *self;
        let first: Vec<u64> = all.iter().zip(seen.enabled).map(|(set, it)| set & it).collect();
        let mut found = StubbornSetList { all, several, count: 0, ways: 1 };
        found.note(&first);
        closure.forget(relation);
        bit_sets::members(&first).for_each(|it| closure.avoid(it));
        // Sets of one cost nothing, and so come before others.
        for most in [1, WAYS_MAX] {
            for seed in bit_sets::members(seen.enabled) {
                let most = most.min(WAYS_MAX / found.ways.max(1));
                if most > 0 && !bit_sets::has(found.all, seed) {
                    self.try_from(seed, most, closure, &mut found);
                }
            }
        }
    }

    /// Adds the set that an enabled member begins, if it may be.
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
        // A step that does not climb could take back that another does, and what is put off would be taken up at once.
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
    /// Notes the enabled members of a set.
    fn note(&mut self, enabled: &[u64]) {
        let members = bit_sets::count(enabled);
        self.ways = self.ways.saturating_mul(members);
        if members > 1 {
            // Rows are of instances, the first of all members.
            let words = self.several.len() / SEVERAL_MAX;
            self.several[self.count * words..][..words].copy_from_slice(&enabled[..words]);
            self.count += 1;
        }
    }
}
