//! Reduction of Büchi automata: useless states are dropped, and equivalent states are merged.
//!
//! A state *simulates* another one by direct simulation. It accepts where the other does, and it can follow each edge
//! of the other, letter by letter, to a state that simulates the target. States that simulate each other are merged.
//! An edge is dropped if another edge is possible for more letters and leads to a simulating state (Etessami and
//! Holzmann 2000). The check compares single edges, so it misses some simulations.

use super::automaton::{Automaton, AutomatonEdge, AutomatonState};
use super::components::{AutomatonComponents, ComponentClass, has_cycle};
use super::congruence::congruence;

/// The maximal numbers of states and edges for simulations, because each round compares all pairs of edges.
const SIMULATED_MAX: usize = 600;
const SIMULATED_EDGES_MAX: usize = 5_000;
/// The maximal number of edges of a state that are joined, because joining compares all pairs.
const JOINED_MAX: usize = 500;

impl Automaton {
    /// Returns a smaller automaton with the same language.
    pub(super) fn reduced(mut self) -> Automaton {
        loop {
            let before = (self.states.len(), self.edges());
            for passing in [true, false] {
                self.keep_useful();
                self.normalize_acceptance(passing);
                self.join_edges();
                self.merge_equal();
                if self.states.len() <= SIMULATED_MAX && self.edges() <= SIMULATED_EDGES_MAX {
                    self.merge_simulated();
                }
            }
            self.keep_useful();
            if (self.states.len(), self.edges()) == before {
                return self;
            }
        }
    }

    /// Drops unreachable states, and states from which nothing is accepted.
    fn keep_useful(&mut self) {
        let found = AutomatonComponents::of(self);
        let mut accepts: Vec<bool> =
            found.classes.iter().map(|it| *it != ComponentClass::Rejecting).collect();
        // A component precedes the components from which it is reached.
        let mut order: Vec<usize> = (0..self.states.len()).collect();
        order.sort_by_key(|&at| found.of_state[at]);
        for at in order {
            let leads = self.states[at].edges.iter().any(|it| accepts[found.of_state[it.to]]);
            accepts[found.of_state[at]] |= leads;
        }
        let is_useful = |at: usize| accepts[found.of_state[at]];
        for state in &mut self.states {
            state.edges.retain(|it| is_useful(it.to));
        }
        if self.states.is_empty() || !is_useful(0) {
            return self.states.clear();
        }
        self.drop_unreached();
    }

    /// Normalises the acceptance of states where it does not matter. States on no cycle accept as `passing` says.
    /// States of rejecting components do not accept. States of components all of whose cycles accept do.
    fn normalize_acceptance(&mut self, passing: bool) {
        let found = AutomatonComponents::of(self);
        let graph = self.graph();
        let cyclic = has_cycle(&graph, &found.of_state, found.classes.len());
        for (at, state) in self.states.iter_mut().enumerate() {
            let component = found.of_state[at];
            state.accepts = match found.classes[component] {
                _ if !cyclic[component] => passing,
                ComponentClass::Rejecting => false,
                ComponentClass::Terminal | ComponentClass::Weak => true,
                ComponentClass::Strong => state.accepts,
            };
        }
    }

    /// Joins edges to the same state whose union is one cube.
    fn join_edges(&mut self) {
        for state in &mut self.states {
            let mut at = if state.edges.len() <= JOINED_MAX { 0 } else { state.edges.len() };
            while at < state.edges.len() {
                let edge = state.edges[at];
                let joined = (at + 1..state.edges.len()).find_map(|other| {
                    let next = state.edges[other];
                    let cube = edge.cube.or(next.cube).filter(|_| edge.to == next.to)?;
                    Some((other, cube))
                });
                match joined {
                    None => at += 1,
                    Some((other, cube)) => {
                        state.edges.remove(other);
                        state.edges[at].cube = cube;
                        // The new edge may be joined with earlier ones.
                        at = 0;
                    }
                }
            }
            state.edges.sort_unstable();
        }
    }

    /// Merges states with the same acceptance and the same edges.
    fn merge_equal(&mut self) {
        let states: Vec<(bool, Vec<AutomatonEdge>)> =
            self.states.iter().map(|it| (it.accepts, it.edges.clone())).collect();
        let name = congruence(&states, |it| it.to, |it, to| AutomatonEdge { to, ..it });
        if name.iter().enumerate().any(|(at, &name)| at != name) {
            self.rename(&name);
        }
    }

    /// Redirects edges to the representatives of their targets.
    fn rename(&mut self, name: &[usize]) {
        for state in &mut self.states {
            state.edges.iter_mut().for_each(|it| it.to = name[it.to]);
            state.edges.sort_unstable();
            state.edges.dedup();
        }
        // A merged state is not reached. The first state always represents itself.
        for (at, state) in self.states.iter_mut().enumerate() {
            if name[at] != at {
                *state = AutomatonState { accepts: false, edges: vec![] };
            }
        }
        self.drop_unreached();
    }

    fn drop_unreached(&mut self) {
        let (graph, mut seen) = (self.graph(), vec![false; self.states.len()]);
        let mut open = vec![0];
        while let Some(at) = open.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                open.extend(&graph[at]);
            }
        }
        let mut number = vec![0; seen.len()];
        let mut count = 0;
        for (at, &is_seen) in seen.iter().enumerate() {
            number[at] = count;
            count += usize::from(is_seen);
        }
        let mut is_seen = seen.into_iter();
        self.states.retain(|_| is_seen.next().unwrap_or(false));
        for edge in self.states.iter_mut().flat_map(|it| &mut it.edges) {
            edge.to = number[edge.to];
        }
    }

    fn merge_simulated(&mut self) {
        if self.states.is_empty() {
            return;
        }
        let simulates = self.simulation();
        let count = self.states.len();
        let name: Vec<usize> = (0..count)
            .map(|at| (0..at).find(|&it| simulates[it][at] && simulates[at][it]).unwrap_or(at))
            .collect();
        for state in &mut self.states {
            let better = |it: &AutomatonEdge, other: &AutomatonEdge| {
                let (from, to) = (name[it.to], name[other.to]);
                (it.cube, from) != (other.cube, to)
                    && it.cube.implies(other.cube)
                    && simulates[to][from]
            };
            let kept =
                state.edges.iter().filter(|it| !state.edges.iter().any(|other| better(it, other)));
            state.edges = kept.copied().collect();
        }
        self.rename(&name);
    }

    /// Computes the simulation relation: `[one][other]` is true if `one` simulates `other`.
    fn simulation(&self) -> Vec<Vec<bool>> {
        let accepts = |one: &AutomatonState, other: &AutomatonState| one.accepts || !other.accepts;
        let of =
            |one: &AutomatonState| self.states.iter().map(|other| accepts(one, other)).collect();
        let mut simulates: Vec<Vec<bool>> = self.states.iter().map(of).collect();
        loop {
            let mut changed = false;
            for one in 0..self.states.len() {
                for other in 0..self.states.len() {
                    if simulates[one][other] && !self.follows(one, other, &simulates) {
                        simulates[one][other] = false;
                        changed = true;
                    }
                }
            }
            if !changed {
                return simulates;
            }
        }
    }

    /// Returns whether `one` can follow each edge of `other`.
    fn follows(&self, one: usize, other: usize, simulates: &[Vec<bool>]) -> bool {
        let mut edges = self.states[other].edges.iter();
        edges.all(|it| {
            let by = |own: &AutomatonEdge| it.cube.implies(own.cube) && simulates[own.to][it.to];
            self.states[one].edges.iter().any(by)
        })
    }
}
