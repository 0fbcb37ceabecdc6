//! Formulas of branching time in a contest's files.

use super::contest::{Names, inner, is_temporal, refused};
use super::parse::Term;
use super::xml::Read;
use crate::ir::{Branching, BranchingNode};

impl Names<'_> {
    /// The formula that a term is.
    pub(super) fn branching(&self, term: &Term) -> Read<Branching<String>> {
        let mut formula = Branching::default();
        let root = self.node_of(term, &mut formula)?;
        Ok(formula.rooted(root))
    }

    /// The number of the node that a term becomes.
    fn node_of(&self, term: &Term, formula: &mut Branching<String>) -> Read<usize> {
        if !is_temporal(term) {
            return Ok(formula.node(BranchingNode::Condition(self.condition(term)?)));
        }
        match term.name() {
            "exists-path" => self.some_path(inner(term)?, formula),
            "all-paths" => self.every_path(inner(term)?, formula),
            "negation" => {
                let one = self.node_of(inner(term)?, formula)?;
                Ok(formula.not(one))
            }
            "conjunction" => {
                let all = self.nodes_of(&term.terms, formula)?;
                Ok(formula.node(BranchingNode::And(all)))
            }
            "disjunction" => {
                let all = self.nodes_of(&term.terms, formula)?;
                Ok(formula.or(&all))
            }
            "implication" => {
                let [left, right] = self.two_of(term, formula)?;
                let not = formula.not(left);
                Ok(formula.or(&[not, right]))
            }
            "equivalence" => {
                let [left, right] = self.two_of(term, formula)?;
                Ok(formula.node(BranchingNode::Equal(left, right)))
            }
            "exclusive-disjunction" => {
                let [left, right] = self.two_of(term, formula)?;
                let same = formula.node(BranchingNode::Equal(left, right));
                Ok(formula.not(same))
            }
            _ => Err(refused(term, "is nothing that is so or not, as far as is read")),
        }
    }

    fn nodes_of(&self, terms: &[Term], formula: &mut Branching<String>) -> Read<Vec<usize>> {
        terms.iter().map(|it| self.node_of(it, formula)).collect()
    }

    fn two_of(&self, term: &Term, formula: &mut Branching<String>) -> Read<[usize; 2]> {
        let [left, right] = term.parts()?;
        Ok([self.node_of(left, formula)?, self.node_of(right, formula)?])
    }

    /// The two sides of an `until`.
    fn sides(&self, path: &Term, formula: &mut Branching<String>) -> Read<[usize; 2]> {
        let [before, reach] = path.parts()?;
        Ok([self.node_of(inner(before)?, formula)?, self.node_of(inner(reach)?, formula)?])
    }

    /// That some path is so.
    fn some_path(&self, path: &Term, formula: &mut Branching<String>) -> Read<usize> {
        let node = match path.name() {
            "until" => {
                let [before, reach] = self.sides(path, formula)?;
                BranchingNode::Until(before, reach)
            }
            name => {
                let state = self.node_of(inner(path)?, formula)?;
                match name {
                    "next" => BranchingNode::Next(state),
                    "globally" => BranchingNode::Always(state),
                    _ => BranchingNode::Until(formula.node(BranchingNode::And(Vec::new())), state),
                }
            }
        };
        Ok(formula.node(node))
    }

    /// That every path is so: that none is not so.
    fn every_path(&self, path: &Term, formula: &mut Branching<String>) -> Read<usize> {
        let node = match path.name() {
            "until" => {
                let [before, reach] = self.sides(path, formula)?.map(|it| formula.not(it));
                let neither = formula.node(BranchingNode::And(vec![before, reach]));
                let breaks = formula.node(BranchingNode::Until(reach, neither));
                let never = formula.node(BranchingNode::Always(reach));
                return Ok({
                    let some = formula.or(&[breaks, never]);
                    formula.not(some)
                });
            }
            name => {
                let state = self.node_of(inner(path)?, formula)?;
                let not = formula.not(state);
                match name {
                    "next" => BranchingNode::Next(not),
                    "finally" => BranchingNode::Always(not),
                    _ => BranchingNode::Until(formula.node(BranchingNode::And(Vec::new())), not),
                }
            }
        };
        let some = formula.node(node);
        Ok(formula.not(some))
    }
}
