//! Formulas of branching time (CTL; Clarke and Emerson 1981), as nodes that are about nodes before them.
//!
//! Runs are maximal: they go on for ever, or end in a state without successors.

use std::collections::HashMap;
use std::hash::Hash;

/// A formula of branching time about conditions on states that are a `C`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branching<C: Eq + Hash> {
    nodes: Vec<BranchingNode<C>>,
    /// The node that is the whole formula.
    root: usize,
    known: HashMap<BranchingNode<C>, usize>,
}

/// A node of a formula of branching time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BranchingNode<C> {
    /// A condition on states.
    Condition(C),
    /// Another does not hold.
    Not(usize),
    /// All of these hold.
    And(Vec<usize>),
    /// Both hold, or neither.
    Equal(usize, usize),
    /// Some successor satisfies another (EX).
    Next(usize),
    /// Some run satisfies the second at some state, and the first until then (EU).
    Until(usize, usize),
    /// Some run satisfies another in all its states (EG).
    Always(usize),
}

impl<C: Eq + Hash> Default for Branching<C> {
    fn default() -> Self {
        Branching { nodes: Vec::new(), root: 0, known: HashMap::new() }
    }
}

impl<C: Clone + Eq + Hash> Branching<C> {
    /// The nodes, those that others are about before them.
    pub fn nodes(&self) -> &[BranchingNode<C>] {
        &self.nodes
    }

    /// The node that is the whole formula.
    pub fn root(&self) -> usize {
        self.root
    }

    /// The same with this node as the whole formula.
    pub fn rooted(self, root: usize) -> Self {
        Branching { root, ..self }
    }

    /// The number of a node, which is added unless it is there.
    pub fn node(&mut self, node: BranchingNode<C>) -> usize {
        if let BranchingNode::Not(inner) = node
            && let BranchingNode::Not(twice) = self.nodes[inner]
        {
            return twice;
        }
        let next = self.nodes.len();
        let nodes = &mut self.nodes;
        *self.known.entry(node).or_insert_with_key(|node| {
            nodes.push(node.clone());
            next
        })
    }

    /// The number of the negation of a node.
    pub fn not(&mut self, node: usize) -> usize {
        self.node(BranchingNode::Not(node))
    }

    /// The number of a node that holds where one of these does.
    pub fn or(&mut self, nodes: &[usize]) -> usize {
        let none = nodes.iter().map(|it| self.not(*it)).collect();
        let none = self.node(BranchingNode::And(none));
        self.not(none)
    }

    /// The same formula about other conditions.
    pub fn map<D: Clone + Eq + Hash>(&self, mut of: impl FnMut(&C) -> D) -> Branching<D> {
        let nodes = self.nodes.iter().map(|it| match it {
            BranchingNode::Condition(condition) => BranchingNode::Condition(of(condition)),
            BranchingNode::Not(inner) => BranchingNode::Not(*inner),
            BranchingNode::And(all) => BranchingNode::And(all.clone()),
            BranchingNode::Equal(one, other) => BranchingNode::Equal(*one, *other),
            BranchingNode::Next(inner) => BranchingNode::Next(*inner),
            BranchingNode::Until(first, second) => BranchingNode::Until(*first, *second),
            BranchingNode::Always(inner) => BranchingNode::Always(*inner),
        });
        Branching { nodes: nodes.collect(), root: self.root, known: HashMap::new() }
    }
}

impl<C> BranchingNode<C> {
    /// The nodes that it is about.
    pub fn parts(&self) -> Vec<usize> {
        match self {
            BranchingNode::Condition(_) => Vec::new(),
            BranchingNode::Not(one) | BranchingNode::Next(one) | BranchingNode::Always(one) => {
                vec![*one]
            }
            BranchingNode::And(all) => all.clone(),
            BranchingNode::Equal(one, other) | BranchingNode::Until(one, other) => {
                vec![*one, *other]
            }
        }
    }
}
