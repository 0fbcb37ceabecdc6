//! A formula as a graph: subformulas that are equal are one node.
//!
//! Tables over subformulas are keyed by the numbers of nodes. Their size is then linear in the formula, whereas keys that
//! are subformulas themselves take space quadratic in its depth.

use super::formula::{Connective, Formula};
use std::collections::HashMap;

/// Names a [`Node`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct NodeId(u32);

/// An operator, with the nodes of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    Constant(bool),
    Proposition(usize),
    Not(NodeId),
    Next(NodeId),
    Eventually(NodeId),
    Always(NodeId),
    Binary(Connective, NodeId, NodeId),
}

/// All nodes of a formula. Operands have lower numbers than their operators.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    all: Vec<Node>,
    known: HashMap<Node, NodeId>,
}

impl Nodes {
    /// The nodes of a formula, and its own.
    pub fn of(formula: &Formula) -> (Nodes, NodeId) {
        let mut nodes = Nodes::default();
        let root = nodes.add(formula);
        (nodes, root)
    }

    /// What a node is.
    pub fn get(&self, id: NodeId) -> &Node {
        &self.all[id.0 as usize]
    }

    fn add(&mut self, formula: &Formula) -> NodeId {
        let node = match formula {
            Formula::Constant(value) => Node::Constant(*value),
            Formula::Proposition(number) => Node::Proposition(*number),
            Formula::Not(it) => Node::Not(self.add(it)),
            Formula::Next(it) => Node::Next(self.add(it)),
            Formula::Eventually(it) => Node::Eventually(self.add(it)),
            Formula::Always(it) => Node::Always(self.add(it)),
            Formula::Binary(operator, left, right) => {
                Node::Binary(*operator, self.add(left), self.add(right))
            }
        };
        let all = &mut self.all;
        *self.known.entry(node).or_insert_with(|| {
            all.push(node);
            NodeId(all.len() as u32 - 1)
        })
    }
}
