//! Formulas in negation normal form, each kept once and made as simple as rules can.
//!
//! A term is known by a number, so that equal terms are equal numbers and what has been found out about one is kept.
//! The rules are those of Somenzi and Bloem ("Efficient Büchi automata from LTL formulae", 2000) and of Etessami and
//! Holzmann ("Optimizing Büchi automata", 2000). Two sorts of terms let operators around them go: those that stay
//! true if anything is put before a word (*eventual*, `<>p`) and those that stay true if anything is cut off its
//! beginning (*universal*, `[]p`).

mod implied;
mod rules;

use super::formula::{Connective, Formula};
use super::nodes::{Node, NodeId, Nodes};
use std::collections::HashMap;

/// Names a [`Term`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TermId(u32);

/// A formula in negation normal form.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// Always true, or always false.
    Constant(bool),
    /// A proposition, and whether it holds.
    Literal(usize, bool),
    /// All of two or more, sorted.
    And(Vec<TermId>),
    /// One of two or more, sorted.
    Or(Vec<TermId>),
    /// After one step.
    Next(TermId),
    /// The second now or later, and until then the first.
    Until(TermId, TermId),
    /// The second until both, or for ever.
    Release(TermId, TermId),
}

/// What a term does not mind.
#[derive(Clone, Copy, Debug)]
struct Sorts {
    /// It is seen that it stays true whatever is put before a word.
    is_eventual: bool,
    /// It is seen that it stays true whatever is cut off a word's beginning.
    is_universal: bool,
}

/// All terms that there are.
#[derive(Debug, Default)]
pub struct Terms {
    all: Vec<Term>,
    /// Of each term, whether it is seen to be eventual and universal.
    sorts: Vec<Sorts>,
    known: HashMap<Term, TermId>,
    /// Answers of [`Terms::implies`].
    implied: HashMap<(TermId, TermId), bool>,
    /// The negation of each term of which it was asked. Without it, terms that share others cost a time exponential in their depth.
    negated: HashMap<TermId, TermId>,
    /// The term of each node of the formula, for the node and for its negation.
    converted: HashMap<(NodeId, bool), TermId>,
}

impl Terms {
    /// What a term says.
    pub fn get(&self, id: TermId) -> &Term {
        &self.all[id.0 as usize]
    }

    /// The term of a formula, simplified.
    pub fn of(&mut self, formula: &Formula) -> TermId {
        let (nodes, root) = Nodes::of(formula);
        self.converted.clear();
        self.convert(&nodes, root, true)
    }

    /// A term as it is.
    pub(super) fn intern(&mut self, term: Term) -> TermId {
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
        self.intern(Term::Constant(value))
    }

    /// The term of a node, or of its negation.
    fn convert(&mut self, nodes: &Nodes, node: NodeId, meant: bool) -> TermId {
        if let Some(&id) = self.converted.get(&(node, meant)) {
            return id;
        }
        let id = match *nodes.get(node) {
            Node::Constant(value) => self.constant(value == meant),
            Node::Proposition(number) => self.intern(Term::Literal(number, meant)),
            Node::Not(it) => self.convert(nodes, it, !meant),
            Node::Next(it) => {
                let it = self.convert(nodes, it, meant);
                self.next(it)
            }
            Node::Eventually(it) => self.convert_unary(nodes, true, meant, it),
            Node::Always(it) => self.convert_unary(nodes, false, meant, it),
            Node::Binary(operator, left, right) => {
                self.convert_binary(nodes, operator, [left, right], meant)
            }
        };
        self.converted.insert((node, meant), id);
        id
    }

    fn convert_binary(
        &mut self,
        nodes: &Nodes,
        operator: Connective,
        [left, right]: [NodeId; 2],
        meant: bool,
    ) -> TermId {
        let mut side = |node, meant| self.convert(nodes, node, meant);
        match operator {
            Connective::And => {
                let sides = [side(left, meant), side(right, meant)];
                self.junction(meant, sides)
            }
            Connective::Or => {
                let sides = [side(left, meant), side(right, meant)];
                self.junction(!meant, sides)
            }
            Connective::Implies => {
                let sides = [side(left, !meant), side(right, meant)];
                self.junction(!meant, sides)
            }
            Connective::Equivalent => {
                let both = [side(left, true), side(right, meant)];
                let neither = [side(left, false), side(right, !meant)];
                self.either_pair(both, neither)
            }
            Connective::Differ => {
                let first = [side(left, true), side(right, !meant)];
                let second = [side(left, false), side(right, meant)];
                self.either_pair(first, second)
            }
            Connective::Until => {
                let (left, right) = (side(left, meant), side(right, meant));
                self.temporal(meant, left, right)
            }
            Connective::Release => {
                let (left, right) = (side(left, meant), side(right, meant));
                self.temporal(!meant, left, right)
            }
            // `a W b` is `b V (a || b)`: the second, when it comes, ends it.
            Connective::WeakUntil => {
                let (first, second) = (side(left, meant), side(right, meant));
                let either = self.junction(!meant, [first, second]);
                self.temporal(!meant, second, either)
            }
            // `a M b` is `b U (a && b)`: a release that has to come.
            Connective::StrongRelease => {
                let (first, second) = (side(left, meant), side(right, meant));
                let both = self.junction(meant, [first, second]);
                self.temporal(meant, second, both)
            }
        }
    }

    /// One of two conjunctions.
    fn either_pair(&mut self, one: [TermId; 2], other: [TermId; 2]) -> TermId {
        let sides = [self.junction(true, one), self.junction(true, other)];
        self.junction(false, sides)
    }

    fn junction(&mut self, is_and: bool, sides: [TermId; 2]) -> TermId {
        if is_and { self.and(sides.to_vec()) } else { self.or(sides.to_vec()) }
    }

    /// `<>it` or `[]it`, or what negates it.
    fn convert_unary(
        &mut self,
        nodes: &Nodes,
        is_eventually: bool,
        meant: bool,
        it: NodeId,
    ) -> TermId {
        let is_until = is_eventually == meant;
        let (free, it) = (self.constant(is_until), self.convert(nodes, it, meant));
        self.temporal(is_until, free, it)
    }

    /// `left U right` or `left V right`.
    fn temporal(&mut self, is_until: bool, left: TermId, right: TermId) -> TermId {
        if is_until { self.until(left, right) } else { self.release(left, right) }
    }

    /// The negation of a term, as simple as the term.
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
            Term::Constant(value) => Term::Constant(!value),
            Term::Literal(number, holds) => Term::Literal(number, !holds),
            Term::And(all) => Term::Or(each(all)),
            Term::Or(all) => Term::And(each(all)),
            Term::Next(it) => Term::Next(self.negation(it)),
            Term::Until(left, right) => Term::Release(self.negation(left), self.negation(right)),
            Term::Release(left, right) => Term::Until(self.negation(left), self.negation(right)),
        };
        let negated = self.intern(negated);
        self.negated.insert(id, negated);
        self.negated.insert(negated, id);
        negated
    }
}
