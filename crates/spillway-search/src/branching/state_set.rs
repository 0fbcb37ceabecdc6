//! Sets of states, and small counters of states, by rank, in memory.

/// A bit for each rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StateSet(pub(super) Vec<u64>);

impl StateSet {
    /// Creates an empty set of `ranks` ranks.
    pub(super) fn none(ranks: u64) -> StateSet {
        StateSet(vec![0; ranks.div_ceil(64) as usize])
    }

    pub(super) fn has(&self, rank: u64) -> bool {
        self.0[(rank / 64) as usize] >> (rank % 64) & 1 == 1
    }

    pub(super) fn insert(&mut self, rank: u64) {
        self.0[(rank / 64) as usize] |= 1 << (rank % 64);
    }

    pub(super) fn remove(&mut self, rank: u64) {
        self.0[(rank / 64) as usize] &= !(1 << (rank % 64));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|it| *it == 0)
    }

    /// Returns whether a word that contains ranks of this range is not empty.
    pub(super) fn may_meet(&self, first: u64, last: u64) -> bool {
        self.0[(first / 64) as usize..=(last / 64) as usize].iter().any(|it| *it != 0)
    }

    /// Removes the ranks that are not in another set.
    pub(super) fn intersect(&mut self, other: &StateSet) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own &= other);
    }

    /// Returns the ranks of `all` that are not in the set.
    pub(super) fn complement(&self, all: &StateSet) -> StateSet {
        StateSet(self.0.iter().zip(&all.0).map(|(own, all)| !own & all).collect())
    }

    /// Returns the ranks of `all` that are in both sets or in neither.
    pub(super) fn agreement(&self, other: &StateSet, all: &StateSet) -> StateSet {
        let words = self.0.iter().zip(&other.0).zip(&all.0);
        StateSet(words.map(|((own, other), all)| !(own ^ other) & all).collect())
    }

    /// Returns the ranks in the set, ascending.
    pub(super) fn ranks(&self) -> impl Iterator<Item = u64> {
        let words = self.0.iter().zip(0u64..).filter(|(word, _)| **word != 0);
        words.flat_map(|(word, at)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| 64 * at + bit)
        })
    }
}

/// The saturating number of successors of each state: four bits for each rank.
pub(super) struct SuccessorCounters(Vec<u8>);

impl SuccessorCounters {
    /// This number of successors or more.
    const MANY: u8 = 15;

    pub(super) fn zero(ranks: u64) -> SuccessorCounters {
        SuccessorCounters(vec![0; ranks.div_ceil(2) as usize])
    }

    /// Returns the counter of a rank; nothing if it is saturated.
    pub(super) fn get(&self, rank: u64) -> Option<u8> {
        let count = self.0[(rank / 2) as usize] >> (4 * (rank % 2)) & 15;
        (count < Self::MANY).then_some(count)
    }

    fn change(&mut self, rank: u64, by: impl FnOnce(u8) -> u8) {
        let (byte, shift) = (&mut self.0[(rank / 2) as usize], 4 * (rank % 2));
        let count = by(*byte >> shift & 15);
        *byte = *byte & !(15 << shift) | count << shift;
    }

    pub(super) fn increment(&mut self, rank: u64) {
        self.change(rank, |count| (count + 1).min(Self::MANY));
    }

    /// Decrements a counter that is not saturated.
    pub(super) fn decrement(&mut self, rank: u64) {
        self.change(
            rank,
            |count| if count == Self::MANY { count } else { count.saturating_sub(1) },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn state_sets_agree_with_sets(one in prop::collection::btree_set(0..200u64, 0..60), other in prop::collection::btree_set(0..200u64, 0..60)) {
            let of = |ranks: &BTreeSet<u64>| {
                let mut set = StateSet::none(200);
                ranks.iter().for_each(|it| set.insert(*it));
                set
            };
            let ranks = |set: &StateSet| set.ranks().collect::<BTreeSet<u64>>();
            let all = of(&(0..200).collect());
            let (first, second) = (of(&one), of(&other));
            prop_assert_eq!(ranks(&first), one.clone());
            prop_assert_eq!(ranks(&first.complement(&all)), (0..200).filter(|it| !one.contains(it)).collect());
            let same = (0..200).filter(|it| one.contains(it) == other.contains(it)).collect();
            prop_assert_eq!(ranks(&first.agreement(&second, &all)), same);
            let mut both = first.clone();
            both.intersect(&second);
            prop_assert_eq!(ranks(&both), one.intersection(&other).copied().collect());
            for rank in &one {
                prop_assert!(first.may_meet(*rank, *rank));
            }
        }

        #[test]
        fn successor_counters_saturate(ups in prop::collection::vec(0..9u64, 0..200)) {
            let mut counters = SuccessorCounters::zero(9);
            ups.iter().for_each(|it| counters.increment(*it));
            for rank in 0..9 {
                let count = ups.iter().filter(|it| **it == rank).count() as u8;
                prop_assert_eq!(counters.get(rank), Some(count).filter(|it| *it < 15));
                counters.decrement(rank);
                let less = if count < 15 { Some(count.saturating_sub(1)) } else { None };
                prop_assert_eq!(counters.get(rank), less);
            }
        }
    }
}
