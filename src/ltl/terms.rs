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

/// All terms that there are.
#[derive(Debug, Default)]
pub struct Terms {
    all: Vec<Term>,
    known: HashMap<Term, TermId>,
    /// Answers of [`Terms::implies`].
    implied: HashMap<(TermId, TermId), bool>,
    /// What formulas became, by the formula and whether it is meant.
    converted: HashMap<(Formula, bool), TermId>,
}

impl Terms {
    /// What a term says.
    pub fn get(&self, id: TermId) -> &Term {
        &self.all[id.0 as usize]
    }

    /// The term of a formula, simplified.
    pub fn of(&mut self, formula: &Formula) -> TermId {
        self.convert(formula, true)
    }

    /// A term as it is.
    pub(super) fn intern(&mut self, term: Term) -> TermId {
        if let Some(&id) = self.known.get(&term) {
            return id;
        }
        let id = TermId(self.all.len() as u32);
        self.all.push(term.clone());
        self.known.insert(term, id);
        id
    }

    pub(super) fn constant(&mut self, value: bool) -> TermId {
        self.intern(Term::Constant(value))
    }

    /// The term of a formula, or of its negation.
    fn convert(&mut self, formula: &Formula, meant: bool) -> TermId {
        match formula {
            Formula::Constant(value) => return self.constant(*value == meant),
            Formula::Proposition(number) => return self.intern(Term::Literal(*number, meant)),
            Formula::Not(it) => return self.convert(it, !meant),
            _ => {}
        }
        let key = (formula.clone(), meant);
        if let Some(&id) = self.converted.get(&key) {
            return id;
        }
        let id = match formula {
            Formula::Next(it) => {
                let it = self.convert(it, meant);
                self.next(it)
            }
            Formula::Eventually(it) => self.temporal(true, meant, &Formula::Constant(true), it),
            Formula::Always(it) => self.temporal(false, meant, &Formula::Constant(false), it),
            Formula::Binary(operator, left, right) => {
                self.convert_binary(*operator, left, right, meant)
            }
            Formula::Constant(_) | Formula::Proposition(_) | Formula::Not(_) => unreachable!(),
        };
        self.converted.insert(key, id);
        id
    }

    fn convert_binary(
        &mut self,
        operator: Connective,
        left: &Formula,
        right: &Formula,
        meant: bool,
    ) -> TermId {
        match operator {
            Connective::And => self.junction(meant, [(left, meant), (right, meant)]),
            Connective::Or => self.junction(!meant, [(left, meant), (right, meant)]),
            Connective::Implies => self.junction(!meant, [(left, !meant), (right, meant)]),
            Connective::Equivalent => {
                let both = self.junction(true, [(left, true), (right, meant)]);
                let neither = self.junction(true, [(left, false), (right, !meant)]);
                self.or(vec![both, neither])
            }
            Connective::Until => self.temporal(true, meant, left, right),
            Connective::Release => self.temporal(false, meant, left, right),
            // The second, when it comes, ends it: it is released by the second from the first or the second.
            Connective::WeakUntil => {
                let second = self.convert(right, meant);
                let either = self.junction(!meant, [(left, meant), (right, meant)]);
                match meant {
                    true => self.release(second, either),
                    false => self.until(second, either),
                }
            }
        }
    }

    fn junction(&mut self, is_and: bool, sides: [(&Formula, bool); 2]) -> TermId {
        let sides = sides.map(|(side, meant)| self.convert(side, meant)).to_vec();
        if is_and { self.and(sides) } else { self.or(sides) }
    }

    /// `left U right` or its dual, or what negates it.
    fn temporal(&mut self, is_until: bool, meant: bool, left: &Formula, right: &Formula) -> TermId {
        let (left, right) = (self.convert(left, meant), self.convert(right, meant));
        match is_until == meant {
            true => self.until(left, right),
            false => self.release(left, right),
        }
    }

    /// The negation of a term, as simple as the term.
    pub(super) fn negation(&mut self, id: TermId) -> TermId {
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
        self.intern(negated)
    }
}
