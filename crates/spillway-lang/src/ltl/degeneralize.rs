//! Translation of several sets of accepting edges to accepting states (Gastin and Oddoux 2001).
//!
//! A state is a state of the given automaton with a counter: the number of sets that were visited, in order, since
//! all sets were visited last. A state with a full counter accepts, and the counter restarts. In a component in which
//! some set has no edge, the counter is not used. It restarts where a run leaves a component.

use super::automaton::{Automaton, AutomatonEdge, AutomatonState};
use super::components::components;
use super::generalized::{GeneralizedAutomaton, MarkedEdge};
use std::collections::HashMap;

impl GeneralizedAutomaton {
    /// Returns a Büchi automaton with accepting states for the same language.
    pub(super) fn degeneralized(&self, propositions: Vec<String>) -> Automaton {
        let graph: Vec<Vec<usize>> =
            self.edges.iter().map(|it| it.iter().map(|edge| edge.to).collect()).collect();
        let (component, count) = components(&graph);
        let mut met = vec![0u64; count];
        for (at, edges) in self.edges.iter().enumerate() {
            for edge in edges.iter().filter(|it| component[it.to] == component[at]) {
                met[component[at]] |= edge.marks;
            }
        }
        let all = u64::MAX.checked_shr(64 - self.sets).unwrap_or(0);
        let accepts = |at: usize| met[component[at]] & all == all;
        // The state at the entry to a component may accept, because a run enters components finitely often.
        let first = |at: usize| if accepts(at) { self.sets } else { 0 };
        let after = |at: usize, counted: u32, edge: &MarkedEdge| match component[at]
            == component[edge.to]
            && accepts(at)
        {
            true => self.next_count(counted, edge.marks),
            false => first(edge.to),
        };
        let mut numbers = HashMap::from([((self.start, first(self.start)), 0)]);
        let mut open = vec![(self.start, first(self.start))];
        let mut states = Vec::new();
        while let Some(&(at, counted)) = open.get(states.len()) {
            let mut edges = Vec::new();
            for edge in &self.edges[at] {
                let to = (edge.to, after(at, counted, edge));
                let to = *numbers.entry(to).or_insert_with(|| {
                    open.push(to);
                    open.len() - 1
                });
                edges.push(AutomatonEdge { cube: edge.cube, to });
            }
            states.push(AutomatonState { accepts: counted == self.sets && accepts(at), edges });
        }
        Automaton { propositions, states }
    }

    /// Returns the counter after an edge with these marks.
    fn next_count(&self, counted: u32, marks: u64) -> u32 {
        let begun = if counted == self.sets { 0 } else { counted };
        begun + (marks >> begun).trailing_ones().min(self.sets - begun)
    }
}
