//! The strongly connected components of automata, and their classes of acceptance.

use super::automaton::Automaton;
use super::cube::Cube;
use spillway_base::components;
use std::fmt;

/// Returns the component of each node of a graph, and the number of components. A component has a lower number than
/// the components from which it is reached.
pub(super) fn components(graph: &[Vec<usize>]) -> (Vec<usize>, usize) {
    let edges =
        |(at, to): (usize, &Vec<usize>)| to.iter().map(move |&to| (at, to)).collect::<Vec<_>>();
    let edges: Vec<(usize, usize)> = graph.iter().enumerate().flat_map(edges).collect();
    let mut found = components::components(graph.len(), &edges);
    let count = found.iter().max().map_or(0, |last| last + 1);
    found.iter_mut().for_each(|it| *it = count - 1 - *it);
    (found, count)
}

/// The kinds of components, by the difficulty of the check whether a run stays in one and is accepted. Each is a
/// special case of the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ComponentClass {
    /// No cycle has an accepting state.
    Rejecting,
    /// Every word is accepted from each state, so it is enough to reach the component.
    Terminal,
    /// Each cycle has an accepting state, so any cycle is enough.
    Weak,
    /// Some cycles have an accepting state, and some do not.
    Strong,
}

impl fmt::Display for ComponentClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ComponentClass::Rejecting => "rejecting",
            ComponentClass::Terminal => "terminal",
            ComponentClass::Weak => "weak",
            ComponentClass::Strong => "strong",
        })
    }
}

/// The components of an automaton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AutomatonComponents {
    /// The component of each state.
    pub of_state: Vec<usize>,
    /// The class of each component.
    pub classes: Vec<ComponentClass>,
}

impl AutomatonComponents {
    /// Computes the components of an automaton.
    pub fn of(automaton: &Automaton) -> AutomatonComponents {
        let accepts: Vec<bool> = automaton.states.iter().map(|it| it.accepts).collect();
        let mut found = AutomatonComponents::of_graph(&automaton.graph(), &accepts);
        let mut leaves = vec![false; found.classes.len()];
        for at in 0..accepts.len() {
            let component = found.of_state[at];
            if found.classes[component] == ComponentClass::Weak && !leaves[component] {
                leaves[component] = !stays(automaton, at, &found.of_state);
            }
        }
        for (class, leaves) in found.classes.iter_mut().zip(leaves) {
            if *class == ComponentClass::Weak && !leaves {
                *class = ComponentClass::Terminal;
            }
        }
        found
    }

    /// Computes the components of a graph with some accepting nodes, without labels. No component is terminal.
    pub fn of_graph(graph: &[Vec<usize>], accepts: &[bool]) -> AutomatonComponents {
        let (of_state, count) = components(graph);
        let has_cycle = has_cycle(graph, &of_state, count);
        // The cycles of each component without its accepting states.
        let without =
            |at: usize, to: usize| !accepts[at] && !accepts[to] && of_state[at] == of_state[to];
        let rest: Vec<Vec<usize>> = graph
            .iter()
            .enumerate()
            .map(|(at, to)| to.iter().copied().filter(|&to| without(at, to)).collect())
            .collect();
        let (of_rest, rest_count) = components(&rest);
        let rest_has_cycle = self::has_cycle(&rest, &of_rest, rest_count);
        let (mut has_accepting, mut has_other_cycle) = (vec![false; count], vec![false; count]);
        for at in 0..graph.len() {
            has_accepting[of_state[at]] |= accepts[at];
            has_other_cycle[of_state[at]] |= rest_has_cycle[of_rest[at]];
        }
        let classes = (0..count).map(|component| {
            if !has_cycle[component] || !has_accepting[component] {
                ComponentClass::Rejecting
            } else if has_other_cycle[component] {
                ComponentClass::Strong
            } else {
                ComponentClass::Weak
            }
        });
        let classes = classes.collect();
        AutomatonComponents { of_state, classes }
    }

    /// Returns the class of the automaton, which is that of its most difficult component.
    pub fn class(&self) -> ComponentClass {
        self.classes.iter().copied().max().unwrap_or(ComponentClass::Rejecting)
    }
}

/// Returns the components that have a cycle.
pub(super) fn has_cycle(graph: &[Vec<usize>], of_state: &[usize], count: usize) -> Vec<bool> {
    let mut has = vec![false; count];
    for (at, to) in graph.iter().enumerate() {
        if to.iter().any(|&to| of_state[to] == of_state[at]) {
            has[of_state[at]] = true;
        }
    }
    has
}

/// Returns whether every letter leads from a state to a state of its component.
fn stays(automaton: &Automaton, at: usize, of_state: &[usize]) -> bool {
    let inside = automaton.states[at].edges.iter().filter(|it| of_state[it.to] == of_state[at]);
    let cubes: Vec<Cube> = inside.map(|it| it.cube).collect();
    Cube::cover_all(&cubes)
}
