//! What a file beside the model asks of it, one thing after the other.

use crate::diag::Diagnostic;
use crate::ir::Holds;
use crate::source::Span;
use std::collections::HashMap;

/// Something that is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// What it is called.
    pub name: String,
    /// What it is, or why it cannot be asked.
    pub asks: Result<Asks, Diagnostic>,
    /// Where it stands.
    pub span: Span,
}

/// What that is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asks {
    /// A condition on states, in the language of the model.
    Condition(Holds, String),
    /// A formula of linear temporal logic, which holds for all runs.
    Runs(String),
    /// A formula of branching time, which holds in all initial states.
    Branching(Branching),
    /// The most that these variables come to, all their numbers added up.
    Most(Vec<String>),
}

/// A formula of branching time (CTL): nodes, each about nodes before it.
///
/// Runs are maximal: they go on for ever, or end in a state without successors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Branching {
    nodes: Vec<BranchingNode>,
    /// The node that is the whole formula.
    root: usize,
    known: HashMap<BranchingNode, usize>,
}

/// A node of a formula of branching time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BranchingNode {
    /// A condition on states, in the language of the model.
    Condition(String),
    /// Another does not hold.
    Not(usize),
    /// All of these hold.
    And(Vec<usize>),
    /// Both hold, or neither.
    Equal(usize, usize),
    /// Some successor satisfies another (EX).
    Next(usize),
    /// Some run satisfies the second, and the first until then (EU).
    Until(usize, usize),
    /// Some run satisfies another always (EG).
    Always(usize),
}

impl Branching {
    /// The nodes, those that others are about before them.
    pub fn nodes(&self) -> &[BranchingNode] {
        &self.nodes
    }

    /// The node that is the whole formula.
    pub fn root(&self) -> usize {
        self.root
    }

    /// The same with this node as the whole formula.
    pub fn rooted(self, root: usize) -> Branching {
        Branching { root, ..self }
    }

    /// The number of a node, which is added unless it is there.
    pub fn node(&mut self, node: BranchingNode) -> usize {
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
}

impl BranchingNode {
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
