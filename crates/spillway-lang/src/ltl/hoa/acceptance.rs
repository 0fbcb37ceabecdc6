//! Acceptance conditions, and their conversion to a generalised Büchi condition.
//!
//! A condition requires that a run takes edges of some sets infinitely often (`Inf`) and of others finitely often
//! (`Fin`). These requirements are joined by `&` and `|`, as in co-Büchi, Rabin, Streett and parity conditions. In
//! disjunctive normal form, each disjunct has `Inf` sets and `Fin` sets. A run that satisfies a disjunct takes no
//! edge of its `Fin` sets from some point on. The new automaton guesses this point. It moves from a copy that accepts
//! nothing to a copy for the disjunct, which lacks these edges and requires the `Inf` sets. See Grädel, Thomas and
//! Wilke, "Automata, Logics, and Infinite Games", 2002, section 1.3.

use crate::ltl::generalized::{GeneralizedAutomaton, MarkedEdge};

/// The maximal number of disjuncts of a condition.
pub(super) const DISJUNCTS_MAX: usize = 1 << 10;
/// The maximal numbers of states and of edges of all copies.
const STATES_MAX: usize = 1 << 20;
const EDGES_MAX: usize = 1 << 22;

/// Sets of edges and complements of sets, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct EdgeSets {
    sets: u64,
    complements: u64,
}

impl EdgeSets {
    fn one(set: usize, is_complement: bool) -> EdgeSets {
        let bit = 1 << set;
        match is_complement {
            false => EdgeSets { sets: bit, complements: 0 },
            true => EdgeSets { sets: 0, complements: bit },
        }
    }

    fn union(self, other: EdgeSets) -> EdgeSets {
        EdgeSets { sets: self.sets | other.sets, complements: self.complements | other.complements }
    }

    /// Returns whether one of the sets contains an edge with these marks.
    fn contain(self, marks: u64) -> bool {
        self.sets & marks != 0 || self.complements & !marks != 0
    }

    fn count(self) -> u32 {
        self.sets.count_ones() + self.complements.count_ones()
    }

    /// Returns the sets that contain an edge with these marks, renumbered from 0.
    fn numbers(self, marks: u64) -> u64 {
        let bits = |of: u64| (0..64).filter(move |at| of >> at & 1 == 1);
        let inside = bits(self.sets).map(|at| marks >> at & 1);
        let outside = bits(self.complements).map(|at| !marks >> at & 1);
        inside.chain(outside).enumerate().fold(0, |all, (number, bit)| all | bit << number)
    }

    fn meets(self, other: EdgeSets) -> bool {
        self.sets & other.sets != 0 || self.complements & other.complements != 0
    }
}

/// A disjunct: all of some sets are visited infinitely often, and none of others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct AcceptanceDisjunct {
    infinitely: EdgeSets,
    finitely: EdgeSets,
}

/// A condition in disjunctive normal form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HoaAcceptance {
    disjuncts: Vec<AcceptanceDisjunct>,
}

/// The error of a condition or an automaton with too many parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AcceptanceTooLarge;

impl HoaAcceptance {
    /// Returns the condition that every run satisfies, or no run.
    pub fn constant(value: bool) -> HoaAcceptance {
        HoaAcceptance {
            disjuncts: if value { vec![AcceptanceDisjunct::default()] } else { Vec::new() },
        }
    }

    /// Returns `Inf(set)` or `Inf(!set)`.
    pub fn infinitely(set: usize, is_complement: bool) -> HoaAcceptance {
        let infinitely = EdgeSets::one(set, is_complement);
        HoaAcceptance {
            disjuncts: vec![AcceptanceDisjunct { infinitely, ..AcceptanceDisjunct::default() }],
        }
    }

    /// Returns `Fin(set)` or `Fin(!set)`.
    pub fn finitely(set: usize, is_complement: bool) -> HoaAcceptance {
        let finitely = EdgeSets::one(set, is_complement);
        HoaAcceptance {
            disjuncts: vec![AcceptanceDisjunct { finitely, ..AcceptanceDisjunct::default() }],
        }
    }

    /// Returns the disjunction.
    pub fn or(mut self, other: HoaAcceptance) -> Result<HoaAcceptance, AcceptanceTooLarge> {
        self.disjuncts.extend(other.disjuncts);
        self.checked()
    }

    /// Returns the conjunction.
    pub fn and(self, other: &HoaAcceptance) -> Result<HoaAcceptance, AcceptanceTooLarge> {
        let both = |one: &AcceptanceDisjunct, other: &AcceptanceDisjunct| AcceptanceDisjunct {
            infinitely: one.infinitely.union(other.infinitely),
            finitely: one.finitely.union(other.finitely),
        };
        let with = |one: &AcceptanceDisjunct| {
            let one = *one;
            other.disjuncts.iter().map(move |it| both(&one, it))
        };
        let disjuncts = self.disjuncts.iter().flat_map(with);
        // No set is visited both infinitely and finitely often.
        let disjuncts = disjuncts.filter(|it| !it.infinitely.meets(it.finitely));
        HoaAcceptance { disjuncts: disjuncts.collect() }.checked()
    }

    fn checked(self) -> Result<HoaAcceptance, AcceptanceTooLarge> {
        let mut kept: Vec<AcceptanceDisjunct> = Vec::with_capacity(self.disjuncts.len());
        for it in self.disjuncts {
            if !kept.contains(&it) {
                kept.push(it);
            }
        }
        match kept.len() > DISJUNCTS_MAX {
            true => Err(AcceptanceTooLarge),
            false => Ok(HoaAcceptance { disjuncts: kept }),
        }
    }

    /// Returns the automaton with these edges and initial states that accepts by this condition. The marks of the
    /// edges are the declared sets. Returns `None` without initial states or disjuncts.
    pub fn generalized(
        &self,
        edges: Vec<Vec<MarkedEdge>>,
        starts: &[usize],
    ) -> Result<Option<GeneralizedAutomaton>, AcceptanceTooLarge> {
        let sets = self.disjuncts.iter().map(|it| it.infinitely.count()).max().unwrap_or(0);
        let has_finitely = self.disjuncts.iter().any(|it| it.finitely.count() > 0);
        // The waiting copy visits no set, so there must be at least one set.
        let sets = if has_finitely { sets.max(1) } else { sets };
        let copies = self.disjuncts.len() + usize::from(has_finitely);
        let (states, edge_count) = (edges.len(), edges.iter().map(Vec::len).sum::<usize>());
        let waits = if has_finitely { self.disjuncts.len() } else { 0 };
        if states.saturating_mul(copies) > STATES_MAX
            || edge_count.saturating_mul(copies + waits) > EDGES_MAX
        {
            return Err(AcceptanceTooLarge);
        }
        let mut all = Vec::with_capacity(states * copies);
        for disjunct in &self.disjuncts {
            let first = all.len();
            all.extend(edges.iter().map(|edges| disjunct.copy(edges, first, sets)));
        }
        let mut starts: Vec<usize> = (0..self.disjuncts.len())
            .flat_map(|copy| starts.iter().map(move |at| copy * states + at))
            .chain(starts.iter().filter(|_| has_finitely).map(|at| all.len() + at))
            .collect();
        if has_finitely {
            let first = all.len();
            let entered = self.disjuncts.iter().enumerate();
            let entered: Vec<usize> = entered
                .filter(|(_, it)| it.finitely.count() > 0)
                .map(|(copy, _)| copy * states)
                .chain([first])
                .collect();
            let waiting = |edges: &Vec<MarkedEdge>| {
                let to_each = |edge: &MarkedEdge| {
                    let edge = *edge;
                    entered.iter().map(move |at| MarkedEdge { to: at + edge.to, marks: 0, ..edge })
                };
                edges.iter().flat_map(to_each).collect()
            };
            all.extend(edges.iter().map(waiting));
        }
        let start = match starts.as_slice() {
            [] => return Ok(None),
            [_] => starts.remove(0),
            // An extra state has the edges of all initial states.
            _ => {
                let begin = starts.iter().flat_map(|&at| all[at].clone()).collect();
                all.push(begin);
                all.len() - 1
            }
        };
        Ok(Some(GeneralizedAutomaton { edges: all, start, sets }))
    }
}

impl AcceptanceDisjunct {
    /// Returns the edges of a state in the copy for this disjunct, whose states are numbered from `first`.
    fn copy(&self, edges: &[MarkedEdge], first: usize, sets: u32) -> Vec<MarkedEdge> {
        // If the disjunct has fewer sets than another, every edge is in the remaining sets.
        let all = u64::MAX.checked_shr(64 - sets).unwrap_or(0);
        let own = u64::MAX.checked_shr(64 - self.infinitely.count()).unwrap_or(0);
        let kept = edges.iter().filter(|it| !self.finitely.contain(it.marks));
        kept.map(|it| MarkedEdge {
            to: first + it.to,
            marks: self.infinitely.numbers(it.marks) | all & !own,
            ..*it
        })
        .collect()
    }
}
