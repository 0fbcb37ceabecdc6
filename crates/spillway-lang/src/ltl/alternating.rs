//! Translation of a term to a very weak alternating automaton (Gastin and Oddoux, "Fast LTL to Büchi automata
//! translation", 2001).
//!
//! A state is a term that is no junction. A run is in several states at once and must satisfy all of their terms. A
//! transition reads a letter and leads to a set of states. The only cycles are loops at one state (very weak). A run
//! is accepting if it does not stay in any `U` state for ever: each promise is kept.

use super::cube::Cube;
use super::terms::{LtlTerm, TermId, TermTable};
use std::collections::HashMap;

/// A transition: its condition on the letter, and the sorted target states.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct AlternatingTransition {
    pub cube: Cube,
    pub to: Vec<TermId>,
}

/// The error of a formula with too many transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormulaTooLarge;

/// The maximal number of transitions of a state.
const TRANSITIONS_MAX: usize = 20_000;
/// The maximal number of pairs of transitions that are compared or joined for one automaton: some seconds of work.
const PAIRS_MAX: u64 = 100_000_000;

/// The automaton of all terms, computed on demand.
#[derive(Debug, Default)]
pub(super) struct AlternatingAutomaton {
    pub terms: TermTable,
    transitions: HashMap<TermId, Vec<AlternatingTransition>>,
    /// The number of pairs of transitions that were compared or joined.
    pairs: u64,
}

impl AlternatingAutomaton {
    /// Returns the alternative sets of states that satisfy a term.
    pub fn obligation_sets(&mut self, id: TermId) -> Result<Vec<Vec<TermId>>, FormulaTooLarge> {
        match self.terms.get(id).clone() {
            LtlTerm::Constant(true) => Ok(vec![Vec::new()]),
            LtlTerm::Constant(false) => Ok(Vec::new()),
            LtlTerm::Or(any) => {
                let mut ways = Vec::new();
                for side in any {
                    ways.extend(self.obligation_sets(side)?);
                }
                self.count_pairs(ways.len(), ways.len())?;
                Ok(least(ways))
            }
            LtlTerm::And(all) => {
                let mut ways = vec![Vec::new()];
                for side in all {
                    let more = self.obligation_sets(side)?;
                    let both = |one: &Vec<TermId>| {
                        more.iter().map(|other| union(one, other)).collect::<Vec<_>>()
                    };
                    let all: Vec<Vec<TermId>> = ways.iter().flat_map(both).collect();
                    self.count_pairs(all.len(), all.len())?;
                    ways = least(all);
                    if ways.len() > TRANSITIONS_MAX {
                        return Err(FormulaTooLarge);
                    }
                }
                Ok(ways)
            }
            _ => Ok(vec![vec![id]]),
        }
    }

    /// Returns the transitions from a term, without those whose condition and targets are implied by another one.
    pub fn transitions(
        &mut self,
        id: TermId,
    ) -> Result<Vec<AlternatingTransition>, FormulaTooLarge> {
        if let Some(known) = self.transitions.get(&id) {
            return Ok(known.clone());
        }
        let found = match self.terms.get(id).clone() {
            LtlTerm::Constant(false) => Vec::new(),
            LtlTerm::Constant(true) => {
                vec![AlternatingTransition { cube: Cube::ANY, to: Vec::new() }]
            }
            LtlTerm::Literal(number, holds) => {
                vec![AlternatingTransition { cube: Cube::literal(number, holds), to: Vec::new() }]
            }
            LtlTerm::Next(it) => {
                let ways = self.obligation_sets(it)?.into_iter();
                ways.map(|to| AlternatingTransition { cube: Cube::ANY, to }).collect()
            }
            LtlTerm::Or(any) => {
                let mut found = Vec::new();
                for side in any {
                    found.extend(self.transitions(side)?);
                }
                found
            }
            LtlTerm::And(all) => {
                let mut found = vec![AlternatingTransition { cube: Cube::ANY, to: Vec::new() }];
                for side in all {
                    let side = self.transitions(side)?;
                    let both = self.product(&found, &side)?;
                    found = self.least_of(both)?;
                }
                found
            }
            LtlTerm::Until(left, right) => {
                let stay = [AlternatingTransition { cube: Cube::ANY, to: vec![id] }];
                let left = self.transitions(left)?;
                let stay = self.product(&left, &stay)?;
                [self.transitions(right)?, stay].concat()
            }
            LtlTerm::Release(left, right) => {
                let mut freed = self.transitions(left)?;
                freed.push(AlternatingTransition { cube: Cube::ANY, to: vec![id] });
                let right = self.transitions(right)?;
                self.product(&right, &freed)?
            }
        };
        let found = self.least_of(found)?;
        self.transitions.insert(id, found.clone());
        Ok(found)
    }

    /// Returns the product of two lists of transitions.
    pub fn product(
        &mut self,
        one: &[AlternatingTransition],
        other: &[AlternatingTransition],
    ) -> Result<Vec<AlternatingTransition>, FormulaTooLarge> {
        self.count_pairs(one.len(), other.len())?;
        product(one, other)
    }

    /// Returns the transitions that are not redundant.
    fn least_of(
        &mut self,
        all: Vec<AlternatingTransition>,
    ) -> Result<Vec<AlternatingTransition>, FormulaTooLarge> {
        self.count_pairs(all.len(), all.len())?;
        Ok(least_of(all))
    }

    /// Counts the pairs of two lists with these lengths.
    pub fn count_pairs(&mut self, one: usize, other: usize) -> Result<(), FormulaTooLarge> {
        self.pairs = self.pairs.saturating_add(one as u64 * other as u64);
        if self.pairs > PAIRS_MAX { Err(FormulaTooLarge) } else { Ok(()) }
    }

    /// Returns whether a run must not stay in the state for ever.
    pub fn is_promise(&self, id: TermId) -> bool {
        matches!(self.terms.get(id), LtlTerm::Until(..))
    }
}

/// Returns the product of two lists of transitions.
fn product(
    one: &[AlternatingTransition],
    other: &[AlternatingTransition],
) -> Result<Vec<AlternatingTransition>, FormulaTooLarge> {
    let mut both = Vec::new();
    for first in one {
        for second in other {
            if let Some(cube) = first.cube.and(second.cube) {
                both.push(AlternatingTransition { cube, to: union(&first.to, &second.to) });
            }
        }
        if both.len() > TRANSITIONS_MAX {
            both.sort_unstable();
            both.dedup();
            if both.len() > TRANSITIONS_MAX {
                return Err(FormulaTooLarge);
            }
        }
    }
    both.sort_unstable();
    both.dedup();
    Ok(both)
}

/// Returns the union of sorted lists.
pub(super) fn union(one: &[TermId], other: &[TermId]) -> Vec<TermId> {
    let mut all = [one, other].concat();
    all.sort_unstable();
    all.dedup();
    all
}

/// Returns whether a sorted list contains another one.
pub(super) fn is_subset(one: &[TermId], other: &[TermId]) -> bool {
    one.iter().all(|it| other.binary_search(it).is_ok())
}

/// Returns the minimal sets.
fn least(mut sets: Vec<Vec<TermId>>) -> Vec<Vec<TermId>> {
    sets.sort_unstable();
    sets.dedup();
    let is_least = |set: &Vec<TermId>| sets.iter().all(|it| it == set || !is_subset(it, set));
    sets.iter().filter(|set| is_least(set)).cloned().collect()
}

/// Returns the transitions that are not redundant.
fn least_of(mut all: Vec<AlternatingTransition>) -> Vec<AlternatingTransition> {
    all.sort_unstable();
    all.dedup();
    let is_needless = |it: &AlternatingTransition| {
        let by = |other: &AlternatingTransition| {
            other != it && it.cube.implies(other.cube) && is_subset(&other.to, &it.to)
        };
        all.iter().any(by)
    };
    all.iter().filter(|it| !is_needless(it)).cloned().collect()
}
