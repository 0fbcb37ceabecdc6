//! CTL formulas in property files of the Model Checking Contest.

use super::mcc_properties::{PropertyTranslator, is_temporal, only_operand, unsupported_term};
use super::parse::PnmlTerm;
use super::xml::PnmlResult;
use spillway_model::{CtlFormula, CtlNode};

impl PropertyTranslator<'_> {
    /// Returns the formula of a term.
    pub(super) fn branching(&self, term: &PnmlTerm) -> PnmlResult<CtlFormula<String>> {
        let mut formula = CtlFormula::default();
        let root = self.node_of(term, &mut formula)?;
        Ok(formula.with_root(root))
    }

    /// Adds the node of a term to the formula, and returns its number.
    fn node_of(&self, term: &PnmlTerm, formula: &mut CtlFormula<String>) -> PnmlResult<usize> {
        if !is_temporal(term) {
            return Ok(formula.node(CtlNode::Condition(self.condition(term)?)));
        }
        match term.name() {
            "exists-path" => self.some_path(only_operand(term)?, formula),
            "all-paths" => self.every_path(only_operand(term)?, formula),
            "negation" => {
                let one = self.node_of(only_operand(term)?, formula)?;
                Ok(formula.not(one))
            }
            "conjunction" => {
                let all = self.nodes_of(&term.terms, formula)?;
                Ok(formula.node(CtlNode::And(all)))
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
                Ok(formula.node(CtlNode::Equal(left, right)))
            }
            "exclusive-disjunction" => {
                let [left, right] = self.two_of(term, formula)?;
                let same = formula.node(CtlNode::Equal(left, right));
                Ok(formula.not(same))
            }
            _ => Err(unsupported_term(term, "is nothing that is so or not, as far as is read")),
        }
    }

    fn nodes_of(
        &self,
        terms: &[PnmlTerm],
        formula: &mut CtlFormula<String>,
    ) -> PnmlResult<Vec<usize>> {
        terms.iter().map(|it| self.node_of(it, formula)).collect()
    }

    fn two_of(&self, term: &PnmlTerm, formula: &mut CtlFormula<String>) -> PnmlResult<[usize; 2]> {
        let [left, right] = term.parts()?;
        Ok([self.node_of(left, formula)?, self.node_of(right, formula)?])
    }

    /// Returns the two operands of an `until`.
    fn sides(&self, path: &PnmlTerm, formula: &mut CtlFormula<String>) -> PnmlResult<[usize; 2]> {
        let [before, reach] = path.parts()?;
        Ok([
            self.node_of(only_operand(before)?, formula)?,
            self.node_of(only_operand(reach)?, formula)?,
        ])
    }

    /// Returns the node for "some path satisfies this".
    fn some_path(&self, path: &PnmlTerm, formula: &mut CtlFormula<String>) -> PnmlResult<usize> {
        let node = match path.name() {
            "until" => {
                let [before, reach] = self.sides(path, formula)?;
                CtlNode::Until(before, reach)
            }
            name => {
                let state = self.node_of(only_operand(path)?, formula)?;
                match name {
                    "next" => CtlNode::Next(state),
                    "globally" => CtlNode::Always(state),
                    _ => CtlNode::Until(formula.node(CtlNode::And(Vec::new())), state),
                }
            }
        };
        Ok(formula.node(node))
    }

    /// Returns the node for "every path satisfies this", as the negation of "some path violates it".
    fn every_path(&self, path: &PnmlTerm, formula: &mut CtlFormula<String>) -> PnmlResult<usize> {
        let node = match path.name() {
            "until" => {
                let [before, reach] = self.sides(path, formula)?.map(|it| formula.not(it));
                let neither = formula.node(CtlNode::And(vec![before, reach]));
                let breaks = formula.node(CtlNode::Until(reach, neither));
                let never = formula.node(CtlNode::Always(reach));
                return Ok({
                    let some = formula.or(&[breaks, never]);
                    formula.not(some)
                });
            }
            name => {
                let state = self.node_of(only_operand(path)?, formula)?;
                let not = formula.not(state);
                match name {
                    "next" => CtlNode::Next(not),
                    "finally" => CtlNode::Always(not),
                    _ => CtlNode::Until(formula.node(CtlNode::And(Vec::new())), not),
                }
            }
        };
        let some = formula.node(node);
        Ok(formula.not(some))
    }
}
