//! Terms: formulas in negation normal form, each stored once and simplified by rules.
//!
//! A term has a number, so equal terms have equal numbers, and results about terms are cached. The rules are those of
//! Somenzi and Bloem ("Efficient Büchi automata from LTL formulae", 2000) and of Etessami and Holzmann ("Optimizing
//! Büchi automata", 2000). Operators around two kinds of terms can be dropped. An *eventual* term stays true if
//! anything is put before a word (`<>p`). A *universal* term stays true if any prefix of a word is removed (`[]p`).

mod implication;
mod rules;

use super::formula::{LtlConnective, LtlFormula};
use super::formula_graph::{FormulaGraph, FormulaNode, FormulaNodeId};
use std::collections::HashMap;

/// The number of a [`LtlTerm`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TermId(u32);

/// A formula in negation normal form.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LtlTerm {
    /// True or false.
    Constant(bool),
    /// A proposition and its value.
    Literal(usize, bool),
    /// A conjunction of two or more terms, sorted.
    And(Vec<TermId>),
    /// A disjunction of two or more terms, sorted.
    Or(Vec<TermId>),
    /// The term holds after one step.
    Next(TermId),
    /// The second term holds now or later, and the first one until then.
    Until(TermId, TermId),
    /// The second term holds until both do, or for ever.
    Release(TermId, TermId),
}

/// Known closure properties of a term.
#[derive(Clone, Copy, Debug)]
struct TermPurity {
    /// Whether the term is known to stay true if anything is put before a word.
    is_eventual: bool,
    /// Whether the term is known to stay true if any prefix of a word is removed.
    is_universal: bool,
}

/// All terms.
#[derive(Debug, Default)]
pub struct TermTable {
    all: Vec<LtlTerm>,
    /// For each term, whether it is known to be eventual and universal.
    sorts: Vec<TermPurity>,
    known: HashMap<LtlTerm, TermId>,
    /// The results of [`TermTable::implies`].
    implied: HashMap<(TermId, TermId), bool>,
    /// The computed negations. Without this cache, the time for terms with shared parts is exponential in their
    /// depth.
    negated: HashMap<TermId, TermId>,
    /// The term of each node of the formula, and of its negation.
    converted: HashMap<(FormulaNodeId, bool), TermId>,
}

impl TermTable {
    /// Returns a term.
    pub fn get(&self, id: TermId) -> &LtlTerm {
        &self.all[id.0 as usize]
    }

    /// Returns the simplified term of a formula.
    pub fn of(&mut self, formula: &LtlFormula) -> TermId {
        let (nodes, root) = FormulaGraph::of(formula);
        self.converted.clear();
        self.convert(&nodes, root, true)
    }

    /// Returns the number of a term without simplification.
    pub(super) fn intern(&mut self, term: LtlTerm) -> TermId {
        if let Some(&id) = self.known.get(&term) {
            return id;
        }
        let id = TermId(self.all.len() as u32);
        self.sorts.push(self.sorts_of(&term));
        self.all.push(term.clone());
        self.known.insert(term, id);
        id
    }

    pub(super) fn constant(&mut self, value: bool) -> TermId {
        self.intern(LtlTerm::Constant(value))
    }

    /// Returns the term of a node, or of its negation.
    fn convert(&mut self, nodes: &FormulaGraph, node: FormulaNodeId, meant: bool) -> TermId {
        if let Some(&id) = self.converted.get(&(node, meant)) {
            return id;
        }
        let id = match *nodes.get(node) {
            FormulaNode::Constant(value) => self.constant(value == meant),
            FormulaNode::Proposition(number) => self.intern(LtlTerm::Literal(number, meant)),
            FormulaNode::Not(it) => self.convert(nodes, it, !meant),
            FormulaNode::Next(it) => {
                let it = self.convert(nodes, it, meant);
                self.next(it)
            }
            FormulaNode::Eventually(it) => self.convert_unary(nodes, true, meant, it),
            FormulaNode::Always(it) => self.convert_unary(nodes, false, meant, it),
            FormulaNode::Binary(operator, left, right) => {
                self.convert_binary(nodes, operator, [left, right], meant)
            }
        };
        self.converted.insert((node, meant), id);
        id
    }

    fn convert_binary(
        &mut self,
        nodes: &FormulaGraph,
        operator: LtlConnective,
        [left, right]: [FormulaNodeId; 2],
        meant: bool,
    ) -> TermId {
        let mut side = |node, meant| self.convert(nodes, node, meant);
        match operator {
            LtlConnective::And => {
                let sides = [side(left, meant), side(right, meant)];
                self.junction(meant, sides)
            }
            LtlConnective::Or => {
                let sides = [side(left, meant), side(right, meant)];
                self.junction(!meant, sides)
            }
            LtlConnective::Implies => {
                let sides = [side(left, !meant), side(right, meant)];
                self.junction(!meant, sides)
            }
            LtlConnective::Equivalent => {
                let both = [side(left, true), side(right, meant)];
                let neither = [side(left, false), side(right, !meant)];
                self.either_pair(both, neither)
            }
            LtlConnective::Differ => {
                let first = [side(left, true), side(right, !meant)];
                let second = [side(left, false), side(right, meant)];
                self.either_pair(first, second)
            }
            LtlConnective::Until => {
                let (left, right) = (side(left, meant), side(right, meant));
                self.temporal(meant, left, right)
            }
            LtlConnective::Release => {
                let (left, right) = (side(left, meant), side(right, meant));
                self.temporal(!meant, left, right)
            }
            // `a W b` is `b V (a || b)`: an occurrence of the second operand ends it.
            LtlConnective::WeakUntil => {
                let (first, second) = (side(left, meant), side(right, meant));
                let either = self.junction(!meant, [first, second]);
                self.temporal(!meant, second, either)
            }
            // `a M b` is `b U (a && b)`: a release that must happen.
            LtlConnective::StrongRelease => {
                let (first, second) = (side(left, meant), side(right, meant));
                let both = self.junction(meant, [first, second]);
                self.temporal(meant, second, both)
            }
        }
    }

    /// Returns the disjunction of two conjunctions.
    fn either_pair(&mut self, one: [TermId; 2], other: [TermId; 2]) -> TermId {
        let sides = [self.junction(true, one), self.junction(true, other)];
        self.junction(false, sides)
    }

    fn junction(&mut self, is_and: bool, sides: [TermId; 2]) -> TermId {
        if is_and { self.and(sides.to_vec()) } else { self.or(sides.to_vec()) }
    }

    /// Returns `<>it` or `[]it`, or its negation.
    fn convert_unary(
        &mut self,
        nodes: &FormulaGraph,
        is_eventually: bool,
        meant: bool,
        it: FormulaNodeId,
    ) -> TermId {
        let is_until = is_eventually == meant;
        let (free, it) = (self.constant(is_until), self.convert(nodes, it, meant));
        self.temporal(is_until, free, it)
    }

    /// Returns `left U right` or `left V right`.
    fn temporal(&mut self, is_until: bool, left: TermId, right: TermId) -> TermId {
        if is_until { self.until(left, right) } else { self.release(left, right) }
    }

    /// Returns the simplified negation of a term.
    pub(super) fn negation(&mut self, id: TermId) -> TermId {
        if let Some(&known) = self.negated.get(&id) {
            return known;
        }
        let term = self.get(id).clone();
        let mut each = |all: Vec<TermId>| {
            let mut all: Vec<TermId> = all.into_iter().map(|it| self.negation(it)).collect();
            all.sort_unstable();
            all
        };
        let negated = match term {
            LtlTerm::Constant(value) => LtlTerm::Constant(!value),
            LtlTerm::Literal(number, holds) => LtlTerm::Literal(number, !holds),
            LtlTerm::And(all) => LtlTerm::Or(each(all)),
            LtlTerm::Or(all) => LtlTerm::And(each(all)),
            LtlTerm::Next(it) => LtlTerm::Next(self.negation(it)),
            LtlTerm::Until(left, right) => {
                LtlTerm::Release(self.negation(left), self.negation(right))
            }
            LtlTerm::Release(left, right) => {
                LtlTerm::Until(self.negation(left), self.negation(right))
            }
        };
        let negated = self.intern(negated);
        self.negated.insert(id, negated);
        self.negated.insert(negated, id);
        negated
    }
}
