//! Büchi automata: a run is accepted if it is in an accepting state for ever again.

use super::cube::Cube;

/// An edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AutomatonEdge {
    /// What it asks of the letter.
    pub cube: Cube,
    /// The state that it leads to.
    pub to: usize,
}

/// A state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AutomatonState {
    /// Whether it accepts.
    pub accepts: bool,
    /// Its edges.
    pub edges: Vec<AutomatonEdge>,
}

/// A Büchi automaton. It begins in its first state; without states it accepts nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Automaton {
    /// What its propositions are called.
    pub propositions: Vec<String>,
    /// Its states.
    pub states: Vec<AutomatonState>,
}

impl Automaton {
    /// It accepts the words in which the first proposition holds again and again, and is deterministic, so that a
    /// product with it is small. Its propositions have no names yet.
    pub fn infinitely_often() -> Automaton {
        let next = || {
            [(true, 1), (false, 0)]
                .map(|(holds, to)| AutomatonEdge { cube: Cube::literal(0, holds), to })
        };
        let state = |accepts| AutomatonState { accepts, edges: next().to_vec() };
        Automaton { propositions: Vec::new(), states: vec![state(false), state(true)] }
    }

    /// Whether it accepts no word at all.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// How many edges it has.
    pub fn edges(&self) -> usize {
        self.states.iter().map(|it| it.edges.len()).sum()
    }

    /// Its graph.
    pub(super) fn graph(&self) -> Vec<Vec<usize>> {
        self.states.iter().map(|it| it.edges.iter().map(|edge| edge.to).collect()).collect()
    }

    /// What an edge asks, as a formula over the names of the propositions, joined as given.
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
