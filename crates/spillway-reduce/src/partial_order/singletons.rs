//! Closed sets with a single enabled member.
//!
//! Most choices are such a set. So it is sought before any other, and without the [requirements of all
//! members](super::enabling_sets): only those of the members that the closure meets are computed. A closure ends as
//! soon as it would have a second enabled member.

use super::enabling_sets::ObservedState;
use super::fact_dependence::FactDependence;
use super::relation::{EnablingCondition, MemberRelation, MoverLocation};
use spillway_analysis::bit_sets::{self, BitMatrix};
use std::collections::BTreeMap;

/// A word of a set that has members there.
#[derive(Clone, Copy, Debug)]
struct SetWord {
    at: usize,
    bits: u64,
}

/// Sets as their words with members. Most sets of a relation have few.
#[derive(Clone, Debug)]
struct SparseSets {
    words: Vec<SetWord>,
    /// The start of each set; the last entry is the end.
    begins: Vec<usize>,
}

/// A set that a disabled member may require instead of others.
#[derive(Clone, Copy, Debug)]
struct EnablingAlternative {
    /// The number of the enabling set.
    enabling: usize,
    /// The number of the set of members that need no other set where this one is contained.
    settled: usize,
}

/// A condition of a member that a fact may refute.
#[derive(Clone, Copy, Debug)]
struct RefutableCondition {
    fact: usize,
    set: EnablingAlternative,
    mover: Option<usize>,
}

/// The sets of a relation, for closures with a single enabled member.
#[derive(Clone, Debug)]
pub(super) struct SingletonRules {
    dependent: SparseSets,
    enabling: SparseSets,
    settled: SparseSets,
    conditions: Vec<RefutableCondition>,
    /// The start of each member's conditions; the last entry is the end.
    begins: Vec<usize>,
    /// For each fact about the location of a mover, the members that make the mover leave that location.
    leaving: Vec<Option<EnablingAlternative>>,
}

/// Buffers for closures with a single enabled member.
#[derive(Debug, Default)]
pub(super) struct SingletonSearch {
    /// The set; closed after `close` returns `true`.
    pub set: Vec<u64>,
    open: Vec<usize>,
    /// Members whose requirement the set contains.
    settled: Vec<u64>,
    /// For each mover, the set that makes it leave its location, if the state shows the location.
    leaving: Vec<Option<EnablingAlternative>>,
    /// The number of members examined since the counter was last reset.
    pub looked: u64,
}

/// The closure has a second enabled member.
struct SecondEnabled;

impl SetWord {
    /// Returns the members of the word without this one.
    fn others(self, member: usize) -> u64 {
        let is_here = member / bit_sets::WORD_BITS == self.at;
        self.bits & !(u64::from(is_here) << (member % bit_sets::WORD_BITS))
    }
}

impl SparseSets {
    fn new(rows: &BitMatrix) -> SparseSets {
        let mut sets = SparseSets { words: Vec::new(), begins: vec![0] };
        for row in 0..rows.count() {
            let words = rows.row(row).iter().enumerate().filter(|(_, bits)| **bits != 0);
            sets.words.extend(words.map(|(at, &bits)| SetWord { at, bits }));
            sets.begins.push(sets.words.len());
        }
        sets
    }

    #[inline]
    fn of(&self, set: usize) -> &[SetWord] {
        &self.words[self.begins[set]..self.begins[set + 1]]
    }

    fn bytes(&self) -> usize {
        size_of_val(self.words.as_slice())
    }
}

impl SingletonRules {
    pub fn new(relation: &MemberRelation, asking: &FactDependence) -> SingletonRules {
        let members = relation.waits.len();
        let mut settled = BitMatrix::new(0, members);
        let mut numbers: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        let (mut conditions, mut begins) = (Vec::new(), vec![0]);
        for (member, waits) in relation.waits.iter().enumerate() {
            for EnablingCondition { fact, enabling, mover, .. } in waits.iter().copied() {
                let Some(fact) = fact else { continue };
                let number = numbers.entry((fact, enabling));
                let number = *number.or_insert_with(|| settled.push(&settled.empty_set()));
                bit_sets::insert(settled.row_mut(number), member);
                let set = EnablingAlternative { enabling, settled: number };
                conditions.push(RefutableCondition { fact, set, mover });
            }
            begins.push(conditions.len());
        }
        let mut leaving = vec![None; relation.facts.words() * bit_sets::WORD_BITS];
        for (mover, locations) in relation.movers.iter().enumerate() {
            for MoverLocation { fact, leaving: enabling } in locations.iter().copied() {
                // A member that does not wait for this location waits for another one.
                let mut elsewhere = asking.by_mover.row(mover).to_vec();
                bit_sets::subtract(&mut elsewhere, asking.by_fact.row(fact));
                leaving[fact] =
                    Some(EnablingAlternative { enabling, settled: settled.push(&elsewhere) });
            }
        }
        SingletonRules {
            dependent: SparseSets::new(&relation.dependent),
            enabling: SparseSets::new(&relation.enabling),
            settled: SparseSets::new(&settled),
            conditions,
            begins,
            leaving,
        }
    }

    /// Returns the approximate size in bytes.
    pub fn bytes(&self) -> usize {
        self.dependent.bytes() + self.enabling.bytes() + self.settled.bytes()
    }
}

impl SingletonSearch {
    /// Moves to another state.
    pub fn observe(
        &mut self,
        rules: &SingletonRules,
        asking: &FactDependence,
        seen: ObservedState,
    ) {
        self.leaving.clear();
        self.leaving.resize(asking.by_mover.count(), None);
        for (word, (facts, about)) in seen.facts.iter().zip(asking.locations()).enumerate() {
            for fact in bit_sets::members_of_word(word, !facts & about) {
                if let Some(mover) = asking.mover_of[fact] {
                    self.leaving[mover] = rules.leaving[fact];
                }
            }
        }
    }

    /// Computes a closed set whose only enabled member is `seed`. Returns whether the closure found one.
    pub fn close(
        &mut self,
        rules: &SingletonRules,
        relation: &MemberRelation,
        seen: ObservedState,
        seed: usize,
    ) -> bool {
        let dependent = rules.dependent.of(seed);
        if dependent.iter().any(|it| it.others(seed) & seen.enabled[it.at] != 0) {
            return false;
        }
        self.set.clear();
        self.set.resize(seen.enabled.len(), 0);
        self.settled.clear();
        self.settled.resize(seen.enabled.len(), 0);
        self.open.clear();
        bit_sets::insert(&mut self.set, seed);
        self.close_from(rules, relation, seen, seed).is_ok()
    }

    fn close_from(
        &mut self,
        rules: &SingletonRules,
        relation: &MemberRelation,
        seen: ObservedState,
        seed: usize,
    ) -> Result<(), SecondEnabled> {
        self.looked += 1;
        self.add(rules.dependent.of(seed), seen)?;
        for set in relation.value_dependent_sets(seed, seen.facts) {
            self.add(rules.enabling.of(set), seen)?;
        }
        while let Some(member) = self.open.pop() {
            if bit_sets::has(&self.settled, member) {
                continue;
            }
            self.looked += 1;
            match self.cheapest(rules, seen, member)? {
                Some(EnablingAlternative { enabling, settled }) => {
                    for &SetWord { at, bits } in rules.settled.of(settled) {
                        self.settled[at] |= bits;
                    }
                    self.add(rules.enabling.of(enabling), seen)?;
                }
                None => {
                    for set in relation.unrefuted_enabling_sets(member) {
                        self.add(rules.enabling.of(set), seen)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds a set, unless it has another enabled member.
    #[inline]
    fn add(&mut self, set: &[SetWord], seen: ObservedState) -> Result<(), SecondEnabled> {
        for &SetWord { at, bits } in set {
            let new = bits & !self.set[at];
            if new & seen.enabled[at] != 0 {
                return Err(SecondEnabled);
            }
            self.set[at] |= new;
            self.open.extend(bit_sets::members_of_word(at, new & !self.settled[at]));
        }
        Ok(())
    }

    /// Returns the enabling set of a disabled member that adds the least; the first of several. Returns `None` if no
    /// condition of the member is known to fail. It is an error if each of the sets has another enabled member.
    #[inline]
    fn cheapest(
        &self,
        rules: &SingletonRules,
        seen: ObservedState,
        member: usize,
    ) -> Result<Option<EnablingAlternative>, SecondEnabled> {
        let (mut cheapest, mut least, mut is_any) = (None, u32::MAX, false);
        for condition in &rules.conditions[rules.begins[member]..rules.begins[member + 1]] {
            if !bit_sets::has(seen.facts, condition.fact) {
                continue;
            }
            is_any = true;
            let leaving = condition.mover.and_then(|mover| self.leaving[mover]);
            for set in [Some(condition.set), leaving].into_iter().flatten() {
                match self.added(rules.enabling.of(set.enabling), seen) {
                    Some(0) => return Ok(Some(set)),
                    Some(added) if added < least => (cheapest, least) = (Some(set), added),
                    _ => {}
                }
            }
        }
        if is_any && cheapest.is_none() { Err(SecondEnabled) } else { Ok(cheapest) }
    }

    /// Returns the number of members that a set adds, or `None` if one of them is enabled.
    #[inline]
    fn added(&self, set: &[SetWord], seen: ObservedState) -> Option<u32> {
        let mut added = 0;
        for &SetWord { at, bits } in set {
            let new = bits & !self.set[at];
            if new & seen.enabled[at] != 0 {
                return None;
            }
            if new != 0 {
                added += new.count_ones();
            }
        }
        Some(added)
    }
}
