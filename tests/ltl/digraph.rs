//! Pseudo-random graphs as models.

use spillway::search::lasso::Lasso;
use spillway::{StateSpace, TransitionSystem};

/// Pseudo-random numbers (Knuth's linear congruential generator).
pub struct GraphRng(pub u64);

impl GraphRng {
    /// A number below a bound.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) % bound as u64) as usize
    }
}

/// A directed graph with accepting nodes; node 0 is initial.
pub struct Digraph {
    pub next: Vec<Vec<u16>>,
    pub accepts: Vec<bool>,
}

impl Digraph {
    /// The nodes reachable from some nodes, which are included.
    pub fn reached(&self, from: &[u16]) -> Vec<bool> {
        let (mut seen, mut open) = (vec![false; self.next.len()], from.to_vec());
        while let Some(at) = open.pop() {
            if !std::mem::replace(&mut seen[usize::from(at)], true) {
                open.extend(&self.next[usize::from(at)]);
            }
        }
        seen
    }

    /// Asserts that a lasso is an accepted run of the graph.
    pub fn check(&self, model: &dyn StateSpace, lasso: &Lasso, seed: u64) {
        let nodes: Vec<usize> = lasso.states.iter().map(|it| node(model, it)).collect();
        assert_eq!(nodes[0], 0);
        let after = nodes.iter().skip(1).chain([&nodes[lasso.back]]);
        for (&from, &to) in nodes.iter().zip(after) {
            assert!(self.next[from].contains(&(to as u16)), "{seed}: {from} to {to}");
        }
        assert!(nodes[lasso.back..].iter().any(|&at| self.accepts[at]), "{seed}");
    }
}

/// The node of a state of the graph's model.
pub fn node(model: &dyn StateSpace, state: &[u8]) -> usize {
    model.description().describe(state)[0].1.to_string().parse().unwrap()
}

impl TransitionSystem for Digraph {
    type State = u16;
    /// The target node.
    type Action = u16;

    fn initial(&self) -> Vec<u16> {
        vec![0]
    }

    fn actions(&self, state: &u16, actions: &mut Vec<u16>) {
        actions.extend(&self.next[usize::from(*state)]);
    }

    fn next(&self, _: &u16, to: &u16) -> Option<u16> {
        Some(*to)
    }

    fn name(&self, to: &u16) -> String {
        format!("to {to}")
    }
}
