//! Formulas of branching time (CTL; Clarke and Emerson 1981), as nodes whose operands have lower numbers.
//!
//! Runs are maximal: they are infinite, or end in a state without successors.

use std::collections::HashMap;
use std::hash::Hash;

/// A formula of branching time. Its conditions on states have the type `C`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CtlFormula<C: Eq + Hash> {
    nodes: Vec<CtlNode<C>>,
    /// The node of the whole formula.
    root: usize,
    known: HashMap<CtlNode<C>, usize>,
}

/// A node of a formula of branching time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CtlNode<C> {
    /// A condition on states.
    Condition(C),
    /// The operand does not hold.
    Not(usize),
    /// All operands hold.
    And(Vec<usize>),
    /// Both operands hold, or neither.
    Equal(usize, usize),
    /// Some successor satisfies the operand (EX).
    Next(usize),
    /// Some run satisfies the second operand at some state, and the first one until then (EU).
    Until(usize, usize),
    /// Some run satisfies the operand in all its states (EG).
    Always(usize),
}

impl<C: Eq + Hash> Default for CtlFormula<C> {
    fn default() -> Self {
        CtlFormula { nodes: Vec::new(), root: 0, known: HashMap::new() }
    }
}

impl<C: Clone + Eq + Hash> CtlFormula<C> {
    /// Returns the nodes. Operands precede their operators.
    pub fn nodes(&self) -> &[CtlNode<C>] {
        &self.nodes
    }

    /// Returns the node of the whole formula.
    pub fn root(&self) -> usize {
        self.root
    }

    /// Returns the formula with this node as the whole formula.
    pub fn with_root(self, root: usize) -> Self {
        CtlFormula { root, ..self }
    }

    /// Returns the number of a node. Adds the node if it is new.
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

    /// Returns the number of the negation of a node.
    pub fn not(&mut self, node: usize) -> usize {
        self.node(CtlNode::Not(node))
    }

    /// Returns the number of the disjunction of nodes.
    pub fn or(&mut self, nodes: &[usize]) -> usize {
        let none = nodes.iter().map(|it| self.not(*it)).collect();
        let none = self.node(CtlNode::And(none));
        self.not(none)
    }

    /// Returns the formula with other conditions.
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
    /// Returns the operands.
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
