//! The actions of a specification: the definitions that name disjuncts of the next-state action.

use super::node::{Node, NodeId};
use super::program::CompiledSpecification;

impl CompiledSpecification {
    /// Returns the definitions that can be the action of a step, in the order of the next-state action. Each is once in
    /// the list.
    pub fn named_actions(&self) -> Vec<u32> {
        let mut walk = ActionWalk { program: self, actions: Vec::new(), visited: Vec::new() };
        if let Some(next) = self.specification.checks.next {
            walk.visit(self.body(next), next.0);
        }
        walk.actions
    }
}

/// A walk through the disjuncts of the next-state action. It enters what
/// [`enumerate_named`](super::Evaluator::enumerate_named) enters.
struct ActionWalk<'p> {
    program: &'p CompiledSpecification,
    actions: Vec<u32>,
    /// The calls that were entered, each with its action.
    visited: Vec<(NodeId, u32)>,
}

impl ActionWalk<'_> {
    fn visit(&mut self, node: NodeId, action: u32) {
        match self.program.entered(node) {
            Node::Or(operands) => operands.iter().for_each(|it| self.visit(*it, action)),
            Node::Quantified { is_exists: true, body, .. } | Node::Let { body, .. } => {
                self.visit(*body, action);
            }
            Node::Call { definition, .. } => {
                if self.visited.contains(&(node, action)) {
                    return;
                }
                self.visited.push((node, action));
                let called = self.program.definitions[*definition as usize];
                self.visit(called.body, if called.is_named { *definition } else { action });
            }
            _ if self.actions.contains(&action) => {}
            _ => self.actions.push(action),
        }
    }
}
