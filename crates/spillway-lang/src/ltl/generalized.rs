//! Generalised Büchi automata with accepting edges: a run is accepted if it takes edges of each set infinitely often.
//!
//! The automaton of an alternating automaton has sets of its states as states. A run must satisfy all terms of a set.
//! Each promise has a set of accepting edges, which contains all edges that do not postpone the promise. An edge does
//! not postpone it in two cases: it leads to a state without the promise, or it implies a transition that keeps the
//! promise.

use super::alternating::{AlternatingAutomaton, AlternatingTransition, FormulaTooLarge, is_subset};
use super::congruence::congruence;
use super::cube::Cube;
use super::terms::TermId;
use std::collections::HashMap;

/// The maximal number of states.
const STATES_MAX: usize = 10_000;
/// The maximal number of edges.
const EDGES_MAX: usize = 400_000;
/// The maximal number of sets of accepting edges.
pub(super) const SETS_MAX: usize = 64;

/// An edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MarkedEdge {
    /// The condition on the letter.
    pub cube: Cube,
    /// The target state.
    pub to: usize,
    /// The sets that contain the edge, as bits.
    pub marks: u64,
}

/// A generalised Büchi automaton with accepting edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneralizedAutomaton {
    /// The edges of each state.
    pub edges: Vec<Vec<MarkedEdge>>,
    /// The initial state.
    pub start: usize,
    /// The number of sets.
    pub sets: u32,
}

impl GeneralizedAutomaton {
    /// Computes the automaton of a term.
    pub(super) fn of(
        alternating: &mut AlternatingAutomaton,
        term: TermId,
    ) -> Result<GeneralizedAutomaton, FormulaTooLarge> {
        let ways = alternating.obligation_sets(term)?;
        let mut making =
            GeneralizedBuilder { alternating, numbers: HashMap::new(), sets: Vec::new() };
        let mut promises = Vec::new();
        let mut graph: Vec<Vec<UnmarkedEdge>> = Vec::new();
        // With several initial sets, an extra state has the edges of all of them.
        let start = match ways.as_slice() {
            [only] => making.number(only.clone()),
            _ => {
                making.sets.push(None);
                0
            }
        };
        let mut edges_made = 0;
        while let Some(set) = making.sets.get(graph.len()).cloned() {
            let transitions = match &set {
                Some(set) => making.edges(set)?,
                None => making.alternating.transitions(term)?,
            };
            let mut edges = Vec::new();
            for transition in transitions {
                for &it in &transition.to {
                    if making.alternating.is_promise(it) && !promises.contains(&it) {
                        promises.push(it);
                    }
                }
                let to = making.number(transition.to.clone());
                edges.push(UnmarkedEdge { transition, to });
            }
            edges_made += edges.len();
            if making.sets.len() > STATES_MAX || edges_made > EDGES_MAX {
                return Err(FormulaTooLarge);
            }
            graph.push(edges);
        }
        if promises.len() > SETS_MAX {
            return Err(FormulaTooLarge);
        }
        let mut edges = Vec::new();
        for raw in &graph {
            let mut marked = Vec::new();
            for it in raw {
                let marks = making.marks(&it.transition, &promises)?;
                marked.push((MarkedEdge { cube: it.transition.cube, to: it.to, marks }, it));
            }
            making.alternating.count_pairs(marked.len(), marked.len())?;
            edges.push(without_needless(&marked));
        }
        let sets = promises.len() as u32;
        let mut made = GeneralizedAutomaton { edges, start, sets };
        made.merge_equal();
        Ok(made)
    }

    /// Merges states with the same edges.
    fn merge_equal(&mut self) {
        let states: Vec<((), Vec<MarkedEdge>)> =
            std::mem::take(&mut self.edges).into_iter().map(|edges| ((), edges)).collect();
        let name = congruence(&states, |it| it.to, |it, to| MarkedEdge { to, ..it });
        let is_unchanged = name.iter().enumerate().all(|(at, &name)| at == name);
        self.edges = states.into_iter().map(|(_, edges)| edges).collect();
        if is_unchanged {
            return;
        }
        self.start = name[self.start];
        for edges in &mut self.edges {
            edges.iter_mut().for_each(|it| it.to = name[it.to]);
            edges.sort_unstable();
            edges.dedup();
        }
        self.keep_reachable();
    }

    /// Drops unreachable states.
    fn keep_reachable(&mut self) {
        let mut order = vec![self.start];
        let mut number = HashMap::from([(self.start, 0)]);
        let mut at = 0;
        while at < order.len() {
            for edge in &self.edges[order[at]] {
                number.entry(edge.to).or_insert_with(|| {
                    order.push(edge.to);
                    order.len() - 1
                });
            }
            at += 1;
        }
        let renamed = |edge: &MarkedEdge| MarkedEdge { to: number[&edge.to], ..*edge };
        self.edges = order.iter().map(|&at| self.edges[at].iter().map(renamed).collect()).collect();
        self.start = 0;
    }
}

/// An edge before the sets are known.
struct UnmarkedEdge {
    transition: AlternatingTransition,
    to: usize,
}

struct GeneralizedBuilder<'a> {
    alternating: &'a mut AlternatingAutomaton,
    numbers: HashMap<Vec<TermId>, usize>,
    /// The terms of each state, or `None` for the extra initial state.
    sets: Vec<Option<Vec<TermId>>>,
}

impl GeneralizedBuilder<'_> {
    fn number(&mut self, set: Vec<TermId>) -> usize {
        let sets = &mut self.sets;
        *self.numbers.entry(set).or_insert_with_key(|set| {
            sets.push(Some(set.clone()));
            sets.len() - 1
        })
    }

    fn edges(&mut self, set: &[TermId]) -> Result<Vec<AlternatingTransition>, FormulaTooLarge> {
        let mut found = vec![AlternatingTransition { cube: Cube::ANY, to: Vec::new() }];
        for &it in set {
            let more = self.alternating.transitions(it)?;
            found = self.alternating.product(&found, &more)?;
        }
        Ok(found)
    }

    /// Returns the promises that a transition does not postpone, as bits.
    fn marks(
        &mut self,
        edge: &AlternatingTransition,
        promises: &[TermId],
    ) -> Result<u64, FormulaTooLarge> {
        let mut marks = 0;
        for (number, promise) in promises.iter().enumerate() {
            let is_kept = edge.to.binary_search(promise).is_err() || {
                let own = self.alternating.transitions(*promise)?;
                own.iter().any(|it| {
                    edge.cube.implies(it.cube)
                        && it.to.binary_search(promise).is_err()
                        && is_subset(&it.to, &edge.to)
                })
            };
            marks |= u64::from(is_kept) << number;
        }
        Ok(marks)
    }
}

/// Returns the edges that are not redundant. An edge is redundant if another one has a weaker condition, fewer
/// targets and at least the same marks.
fn without_needless(edges: &[(MarkedEdge, &UnmarkedEdge)]) -> Vec<MarkedEdge> {
    let makes_needless = |(other, by): &(MarkedEdge, &UnmarkedEdge),
                          (it, raw): &(MarkedEdge, &UnmarkedEdge)| {
        other != it
            && it.cube.implies(other.cube)
            && it.marks & !other.marks == 0
            && is_subset(&by.transition.to, &raw.transition.to)
    };
    let kept = edges.iter().filter(|it| !edges.iter().any(|other| makes_needless(other, it)));
    let mut kept: Vec<MarkedEdge> = kept.map(|(edge, _)| *edge).collect();
    kept.sort_unstable();
    kept.dedup();
    kept
}
