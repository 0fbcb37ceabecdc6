//! Büchi automata made smaller: what is of no use dropped, what does the same made one.
//!
//! A state *simulates* another if it accepts where that does and can follow each of its edges, letter by letter, to a
//! state that simulates where that leads (direct simulation). States that simulate each other become one, and an edge
//! beside which there is one for more letters to a state that simulates its own is dropped (Etessami and Holzmann
//! 2000). Whether an edge can be followed is asked of single edges, so that some simulations are not seen.

use super::automaton::{Automaton, AutomatonEdge, AutomatonState};
use super::components::{AutomatonComponents, ComponentClass, has_cycle};
use super::congruence::congruence;

/// Above so many states or edges simulations are not looked for: each round compares all pairs of edges.
const SIMULATED_MAX: usize = 600;
const SIMULATED_EDGES_MAX: usize = 5_000;
/// States with more edges keep them apart: joining compares all pairs of a state's edges.
const JOINED_MAX: usize = 500;

impl Automaton {
    /// A smaller automaton of the same language.
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

    /// Drops states that are not reached and those from which nothing is accepted.
    fn keep_useful(&mut self) {
        let found = AutomatonComponents::of(self);
        let mut accepts: Vec<bool> =
            found.classes.iter().map(|it| *it != ComponentClass::Rejecting).collect();
        // A component comes before those from which it is reached.
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

    /// Where it makes no difference whether states accept, makes them alike: those on no cycle do as `passing` says, those
    /// of components that accept nothing do not, those all of whose cycles have one that does, do.
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

    /// Edges to one state become one where what they ask together is one cube.
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
                        // What it is now may be joined with what was passed.
                        at = 0;
                    }
                }
            }
            state.edges.sort_unstable();
        }
    }

    /// States that accept alike and have the same edges become one.
    fn merge_equal(&mut self) {
        let states: Vec<(bool, Vec<AutomatonEdge>)> =
            self.states.iter().map(|it| (it.accepts, it.edges.clone())).collect();
        let name = congruence(&states, |it| it.to, |it, to| AutomatonEdge { to, ..it });
        if name.iter().enumerate().any(|(at, &name)| at != name) {
            self.rename(&name);
        }
    }

    /// Edges lead to what stands for where they led.
    fn rename(&mut self, name: &[usize]) {
        for state in &mut self.states {
            state.edges.iter_mut().for_each(|it| it.to = name[it.to]);
            state.edges.sort_unstable();
            state.edges.dedup();
        }
        // A state that another stands for is not reached, unless it is the first, for which none does.
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

    /// Which states simulate which: `[one][other]` says that one simulates the other.
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

    /// Whether each edge of `other` is followed by one of `one`.
    fn follows(&self, one: usize, other: usize, simulates: &[Vec<bool>]) -> bool {
        let mut edges = self.states[other].edges.iter();
        edges.all(|it| {
            let by = |own: &AutomatonEdge| it.cube.implies(own.cube) && simulates[own.to][it.to];
            self.states[one].edges.iter().any(by)
        })
    }
}
