//! Formulas as graphs: equal subformulas are one node.
//!
//! Tables over subformulas use the numbers of nodes as keys. Their size is linear in the formula. With subformulas as
//! keys, the size would be quadratic in the depth.

use super::formula::{LtlConnective, LtlFormula};
use std::collections::HashMap;

/// The number of a [`FormulaNode`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FormulaNodeId(u32);

/// An operator with the nodes of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum FormulaNode {
    Constant(bool),
    Proposition(usize),
    Not(FormulaNodeId),
    Next(FormulaNodeId),
    Eventually(FormulaNodeId),
    Always(FormulaNodeId),
    Binary(LtlConnective, FormulaNodeId, FormulaNodeId),
}

/// The nodes of a formula. Operands have lower numbers than their operators.
#[derive(Debug, Default)]
pub(super) struct FormulaGraph {
    all: Vec<FormulaNode>,
    known: HashMap<FormulaNode, FormulaNodeId>,
}

impl FormulaGraph {
    /// Returns the nodes of a formula, and the node of the formula itself.
    pub fn of(formula: &LtlFormula) -> (FormulaGraph, FormulaNodeId) {
        let mut nodes = FormulaGraph::default();
        let root = nodes.add(formula);
        (nodes, root)
    }

    /// Returns a node.
    pub fn get(&self, id: FormulaNodeId) -> &FormulaNode {
        &self.all[id.0 as usize]
    }

    fn add(&mut self, formula: &LtlFormula) -> FormulaNodeId {
        let node = match formula {
            LtlFormula::Constant(value) => FormulaNode::Constant(*value),
            LtlFormula::Proposition(number) => FormulaNode::Proposition(*number),
            LtlFormula::Not(it) => FormulaNode::Not(self.add(it)),
            LtlFormula::Next(it) => FormulaNode::Next(self.add(it)),
            LtlFormula::Eventually(it) => FormulaNode::Eventually(self.add(it)),
            LtlFormula::Always(it) => FormulaNode::Always(self.add(it)),
            LtlFormula::Binary(operator, left, right) => {
                FormulaNode::Binary(*operator, self.add(left), self.add(right))
            }
        };
        let all = &mut self.all;
        *self.known.entry(node).or_insert_with(|| {
            all.push(node);
            FormulaNodeId(all.len() as u32 - 1)
        })
    }
}
