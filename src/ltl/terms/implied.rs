//! What is known of terms by their form alone: which imply which, which do not mind what comes before or is cut off.

use super::{Sorts, Term, TermId, Terms};

impl Terms {
    /// Whether it is seen that each word of which `one` is true makes `other` true. If not, it may be so all the same.
    pub(super) fn implies(&mut self, one: TermId, other: TermId) -> bool {
        if one == other {
            return true;
        }
        if let Some(&known) = self.implied.get(&(one, other)) {
            return known;
        }
        // Each rule asks of smaller terms, so that this is not met again.
        let found = self.implies_by_other(one, other) || self.implies_by_one(one, other);
        self.implied.insert((one, other), found);
        found
    }

    /// By the form of what is implied.
    fn implies_by_other(&mut self, one: TermId, other: TermId) -> bool {
        match self.get(other).clone() {
            Term::Constant(value) => value,
            Term::Literal(..) => false,
            Term::And(all) => all.into_iter().all(|it| self.implies(one, it)),
            Term::Or(any) => any.into_iter().any(|it| self.implies(one, it)),
            Term::Next(it) => match *self.get(one) {
                Term::Next(after) => self.implies(after, it),
                _ => self.is_universal(one) && self.implies(one, it),
            },
            Term::Until(left, right) => {
                let both = match *self.get(one) {
                    Term::Until(before, then) => {
                        self.implies(then, other) && self.implies(before, left)
                    }
                    _ => false,
                };
                both || self.implies(one, right)
            }
            Term::Release(left, right) => {
                let both = match *self.get(one) {
                    Term::Release(frees, kept) => {
                        self.implies(one, right) && self.implies(frees, left)
                            || self.implies(kept, right) && self.implies(frees, left)
                    }
                    _ => self.is_universal(one) && self.implies(one, right),
                };
                both || self.implies(one, left) && self.implies(one, right)
            }
        }
    }

    /// By the form of what implies.
    fn implies_by_one(&mut self, one: TermId, other: TermId) -> bool {
        match self.get(one).clone() {
            Term::Constant(value) => !value,
            Term::Literal(..) => false,
            Term::And(all) => all.into_iter().any(|it| self.implies(it, other)),
            Term::Or(any) => any.into_iter().all(|it| self.implies(it, other)),
            Term::Next(it) => self.is_eventual(other) && self.implies(it, other),
            Term::Until(left, right) => {
                self.implies(right, other) && (self.implies(left, other) || self.is_eventual(other))
            }
            Term::Release(_, right) => self.implies(right, other),
        }
    }

    /// Whether it is seen that it stays true whatever is put before a word.
    pub(super) fn is_eventual(&self, id: TermId) -> bool {
        self.sorts[id.0 as usize].is_eventual
    }

    /// Whether it is seen that it stays true whatever is cut off a word's beginning.
    pub(super) fn is_universal(&self, id: TermId) -> bool {
        self.sorts[id.0 as usize].is_universal
    }

    /// The sorts of a term by those of its operands, which are known.
    pub(super) fn sorts_of(&self, term: &Term) -> Sorts {
        let (is_eventual, is_universal) = match term {
            Term::Constant(_) => (true, true),
            Term::Literal(..) => (false, false),
            Term::And(all) | Term::Or(all) => (
                all.iter().all(|&it| self.is_eventual(it)),
                all.iter().all(|&it| self.is_universal(it)),
            ),
            Term::Next(it) => (self.is_eventual(*it), self.is_universal(*it)),
            Term::Until(left, right) => (
                self.is_true(*left) || self.is_eventual(*right),
                self.is_true(*left) && self.is_universal(*right),
            ),
            Term::Release(left, right) => (
                self.is_false(*left) && self.is_eventual(*right),
                self.is_false(*left) || self.is_universal(*right),
            ),
        };
        Sorts { is_eventual, is_universal }
    }

    pub(super) fn is_true(&self, id: TermId) -> bool {
        *self.get(id) == Term::Constant(true)
    }

    pub(super) fn is_false(&self, id: TermId) -> bool {
        *self.get(id) == Term::Constant(false)
    }
}
