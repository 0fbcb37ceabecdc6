//! Syntactic properties of terms: implications, and closure under prefixes and suffixes.

use super::{LtlTerm, TermId, TermPurity, TermTable};

impl TermTable {
    /// Returns whether each word that satisfies `one` is known to satisfy `other`. The check is incomplete.
    pub(super) fn implies(&mut self, one: TermId, other: TermId) -> bool {
        if one == other {
            return true;
        }
        if let Some(&known) = self.implied.get(&(one, other)) {
            return known;
        }
        // Each rule recurs on smaller terms, so this pair does not recur.
        let found = self.implies_by_other(one, other) || self.implies_by_one(one, other);
        self.implied.insert((one, other), found);
        found
    }

    /// Applies the rules for the form of the implied term.
    fn implies_by_other(&mut self, one: TermId, other: TermId) -> bool {
        match self.get(other).clone() {
            LtlTerm::Constant(value) => value,
            LtlTerm::Literal(..) => false,
            LtlTerm::And(all) => all.into_iter().all(|it| self.implies(one, it)),
            LtlTerm::Or(any) => any.into_iter().any(|it| self.implies(one, it)),
            LtlTerm::Next(it) => match *self.get(one) {
                LtlTerm::Next(after) => self.implies(after, it),
                _ => self.is_universal(one) && self.implies(one, it),
            },
            LtlTerm::Until(left, right) => {
                let both = match *self.get(one) {
                    LtlTerm::Until(before, then) => {
                        self.implies(then, other) && self.implies(before, left)
                    }
                    _ => false,
                };
                both || self.implies(one, right)
            }
            LtlTerm::Release(left, right) => {
                let both = match *self.get(one) {
                    LtlTerm::Release(frees, kept) => {
                        self.implies(one, right) && self.implies(frees, left)
                            || self.implies(kept, right) && self.implies(frees, left)
                    }
                    _ => self.is_universal(one) && self.implies(one, right),
                };
                both || self.implies(one, left) && self.implies(one, right)
            }
        }
    }

    /// Applies the rules for the form of the implying term.
    fn implies_by_one(&mut self, one: TermId, other: TermId) -> bool {
        match self.get(one).clone() {
            LtlTerm::Constant(value) => !value,
            LtlTerm::Literal(..) => false,
            LtlTerm::And(all) => all.into_iter().any(|it| self.implies(it, other)),
            LtlTerm::Or(any) => any.into_iter().all(|it| self.implies(it, other)),
            LtlTerm::Next(it) => self.is_eventual(other) && self.implies(it, other),
            LtlTerm::Until(left, right) => {
                self.implies(right, other) && (self.implies(left, other) || self.is_eventual(other))
            }
            LtlTerm::Release(_, right) => self.implies(right, other),
        }
    }

    /// Returns whether the term is known to stay true if anything is put before a word.
    pub(super) fn is_eventual(&self, id: TermId) -> bool {
        self.sorts[id.0 as usize].is_eventual
    }

    /// Returns whether the term is known to stay true if any prefix of a word is removed.
    pub(super) fn is_universal(&self, id: TermId) -> bool {
        self.sorts[id.0 as usize].is_universal
    }

    /// Returns the closure properties of a term from those of its operands, which are known.
    pub(super) fn sorts_of(&self, term: &LtlTerm) -> TermPurity {
        let (is_eventual, is_universal) = match term {
            LtlTerm::Constant(_) => (true, true),
            LtlTerm::Literal(..) => (false, false),
            LtlTerm::And(all) | LtlTerm::Or(all) => (
                all.iter().all(|&it| self.is_eventual(it)),
                all.iter().all(|&it| self.is_universal(it)),
            ),
            LtlTerm::Next(it) => (self.is_eventual(*it), self.is_universal(*it)),
            LtlTerm::Until(left, right) => (
                self.is_true(*left) || self.is_eventual(*right),
                self.is_true(*left) && self.is_universal(*right),
            ),
            LtlTerm::Release(left, right) => (
                self.is_false(*left) && self.is_eventual(*right),
                self.is_false(*left) || self.is_universal(*right),
            ),
        };
        TermPurity { is_eventual, is_universal }
    }

    pub(super) fn is_true(&self, id: TermId) -> bool {
        *self.get(id) == LtlTerm::Constant(true)
    }

    pub(super) fn is_false(&self, id: TermId) -> bool {
        *self.get(id) == LtlTerm::Constant(false)
    }
}
