//! Büchi automata: a run is accepted if it is in an accepting state infinitely often.

use super::cube::Cube;

/// An edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AutomatonEdge {
    /// The condition on the letter.
    pub cube: Cube,
    /// The target state.
    pub to: usize,
}

/// A state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AutomatonState {
    /// Whether the state is accepting.
    pub accepts: bool,
    /// The edges from the state.
    pub edges: Vec<AutomatonEdge>,
}

/// A Büchi automaton. The first state is the initial state. An automaton without states accepts nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Automaton {
    /// The names of the propositions.
    pub propositions: Vec<String>,
    /// The states.
    pub states: Vec<AutomatonState>,
}

impl Automaton {
    /// Returns an automaton that accepts the words in which the first proposition holds infinitely often. It is
    /// deterministic, so a product with it is small. Its propositions have no names yet.
    pub fn infinitely_often() -> Automaton {
        let next = || {
            [(true, 1), (false, 0)]
                .map(|(holds, to)| AutomatonEdge { cube: Cube::literal(0, holds), to })
        };
        let state = |accepts| AutomatonState { accepts, edges: next().to_vec() };
        Automaton { propositions: Vec::new(), states: vec![state(false), state(true)] }
    }

    /// Returns the condition such that the automaton accepts exactly the words with a letter that satisfies it. `None` if
    /// there is no such condition, or if it is no cube.
    ///
    /// The automaton waits in its initial state, with every letter that violates the condition. From there it moves to
    /// a state in which it accepts every word.
    pub fn reached_letter(&self) -> Option<Cube> {
        let [waiting, end] = &self.states[..] else { return None };
        let cubes = |edges: &[AutomatonEdge], to: usize| -> Vec<Cube> {
            edges.iter().filter(|it| it.to == to).map(|it| it.cube).collect()
        };
        let (waits, moves) = (cubes(&waiting.edges, 0), cubes(&waiting.edges, 1));
        let &[condition] = &moves[..] else { return None };
        let is_waiting = !waiting.accepts && Cube::cover_all(&[&waits[..], &moves[..]].concat());
        let is_end = end.accepts && Cube::cover_all(&cubes(&end.edges, 1));
        (is_waiting && is_end).then_some(condition)
    }

    /// Returns whether the automaton has no states and so accepts nothing.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Returns the number of edges.
    pub fn edges(&self) -> usize {
        self.states.iter().map(|it| it.edges.len()).sum()
    }

    /// Returns the graph of the states.
    pub(super) fn graph(&self) -> Vec<Vec<usize>> {
        self.states.iter().map(|it| it.edges.iter().map(|edge| edge.to).collect()).collect()
    }

    /// Returns a cube as a formula over the names of the propositions, joined by `and`.
    pub fn label(&self, cube: Cube, and: &str) -> String {
        let literal = |(number, holds): (usize, bool)| {
            let name = &self.propositions[number];
            let is_word = name.chars().all(|it| it.is_alphanumeric() || it == '_');
            let name = if is_word { name.clone() } else { format!("({name})") };
            if holds { name } else { format!("!{name}") }
        };
        let literals: Vec<String> = cube.literals().map(literal).collect();
        if literals.is_empty() { "true".to_owned() } else { literals.join(and) }
    }
}
