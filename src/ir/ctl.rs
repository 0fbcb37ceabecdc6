//! Formulas of branching time (CTL; Clarke and Emerson 1981), as nodes that are about nodes before them.
//!
//! Runs are maximal: they go on for ever, or end in a state without successors.

use std::collections::HashMap;
use std::hash::Hash;

/// A formula of branching time about conditions on states that are a `C`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CtlFormula<C: Eq + Hash> {
    nodes: Vec<CtlNode<C>>,
    /// The node that is the whole formula.
    root: usize,
    known: HashMap<CtlNode<C>, usize>,
}

/// A node of a formula of branching time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CtlNode<C> {
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

impl<C: Eq + Hash> Default for CtlFormula<C> {
    fn default() -> Self {
        CtlFormula { nodes: Vec::new(), root: 0, known: HashMap::new() }
    }
}

impl<C: Clone + Eq + Hash> CtlFormula<C> {
    /// The nodes, those that others are about before them.
    pub fn nodes(&self) -> &[CtlNode<C>] {
        &self.nodes
    }

    /// The node that is the whole formula.
    pub fn root(&self) -> usize {
        self.root
    }

    /// The same with this node as the whole formula.
    pub fn with_root(self, root: usize) -> Self {
        CtlFormula { root, ..self }
    }

    /// The number of a node, which is added unless it is there.
    pub fn node(&mut self, node: CtlNode<C>) -> usize {
        if let CtlNode::Not(inner) = node
            && let CtlNode::Not(twice) = self.nodes[inner]
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
        self.node(CtlNode::Not(node))
    }

    /// The number of a node that holds where one of these does.
    pub fn or(&mut self, nodes: &[usize]) -> usize {
        let none = nodes.iter().map(|it| self.not(*it)).collect();
        let none = self.node(CtlNode::And(none));
        self.not(none)
    }

    /// The same formula about other conditions.
    pub fn map<D: Clone + Eq + Hash>(&self, mut of: impl FnMut(&C) -> D) -> CtlFormula<D> {
        let nodes = self.nodes.iter().map(|it| match it {
            CtlNode::Condition(condition) => CtlNode::Condition(of(condition)),
            CtlNode::Not(inner) => CtlNode::Not(*inner),
            CtlNode::And(all) => CtlNode::And(all.clone()),
            CtlNode::Equal(one, other) => CtlNode::Equal(*one, *other),
            CtlNode::Next(inner) => CtlNode::Next(*inner),
            CtlNode::Until(first, second) => CtlNode::Until(*first, *second),
            CtlNode::Always(inner) => CtlNode::Always(*inner),
        });
        CtlFormula { nodes: nodes.collect(), root: self.root, known: HashMap::new() }
    }
}

impl<C> CtlNode<C> {
    /// The nodes that it is about.
    pub fn parts(&self) -> Vec<usize> {
        match self {
            CtlNode::Condition(_) => Vec::new(),
            CtlNode::Not(one) | CtlNode::Next(one) | CtlNode::Always(one) => {
                vec![*one]
            }
            CtlNode::And(all) => all.clone(),
            CtlNode::Equal(one, other) | CtlNode::Until(one, other) => {
                vec![*one, *other]
            }
        }
    }
}
