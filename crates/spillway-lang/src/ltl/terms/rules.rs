//! Construction of terms by simplification rules.
//!
//! Each rule for `&&` and `U` has its dual for `||` and `V`. The code has each rule once: it is parameterised by the
//! junction ("and" or "or") or the operator (until or release).

use super::{LtlTerm, TermId, TermTable};

/// `&&` or `||`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum JunctionKind {
    And,
    Or,
}

impl JunctionKind {
    fn dual(self) -> JunctionKind {
        match self {
            JunctionKind::And => JunctionKind::Or,
            JunctionKind::Or => JunctionKind::And,
        }
    }
}

impl TermTable {
    /// Returns the conjunction of these terms.
    pub(super) fn and(&mut self, sides: Vec<TermId>) -> TermId {
        self.join(JunctionKind::And, sides)
    }

    /// Returns the disjunction of these terms.
    pub(super) fn or(&mut self, sides: Vec<TermId>) -> TermId {
        self.join(JunctionKind::Or, sides)
    }

    /// Returns `X it`.
    pub(super) fn next(&mut self, it: TermId) -> TermId {
        match self.is_eventual(it) && self.is_universal(it) {
            true => it,
            false => self.intern(LtlTerm::Next(it)),
        }
    }

    /// Returns `left U right`.
    pub(super) fn until(&mut self, left: TermId, right: TermId) -> TermId {
        self.operator(JunctionKind::Or, left, right)
    }

    /// Returns `left V right`.
    pub(super) fn release(&mut self, left: TermId, right: TermId) -> TermId {
        self.operator(JunctionKind::And, left, right)
    }

    /// Returns whether `one` makes `other` redundant in a junction: in `&&` the stronger term stays.
    fn absorbs(&mut self, how: JunctionKind, one: TermId, other: TermId) -> bool {
        match how {
            JunctionKind::And => self.implies(one, other),
            JunctionKind::Or => self.implies(other, one),
        }
    }

    /// Returns the junction of no terms.
    fn neutral(&mut self, how: JunctionKind) -> TermId {
        self.constant(how == JunctionKind::And)
    }

    fn sides(&self, how: JunctionKind, id: TermId) -> Vec<TermId> {
        match (how, self.get(id)) {
            (JunctionKind::And, LtlTerm::And(all)) | (JunctionKind::Or, LtlTerm::Or(all)) => {
                all.clone()
            }
            _ => vec![id],
        }
    }

    fn join(&mut self, how: JunctionKind, sides: Vec<TermId>) -> TermId {
        let mut kept: Vec<TermId> = Vec::new();
        let mut open: Vec<TermId> = sides.into_iter().rev().collect();
        while let Some(side) = open.pop() {
            let parts = self.sides(how, side);
            if parts.len() > 1 {
                open.extend(parts.into_iter().rev());
                continue;
            }
            let opposite = self.negation(side);
            let mut is_needed = true;
            for at in (0..kept.len()).rev() {
                let other = kept[at];
                if self.absorbs(how, other, opposite) {
                    return self.neutral(how.dual());
                }
                if self.absorbs(how, other, side) {
                    is_needed = false;
                    break;
                }
                if self.absorbs(how, side, other) {
                    kept.remove(at);
                } else if let Some(merged) = self.merge_junction(how, other, side) {
                    kept.remove(at);
                    open.push(merged);
                    is_needed = false;
                    break;
                }
            }
            if is_needed {
                kept.push(side);
            }
        }
        kept.sort_unstable();
        kept.dedup();
        match (kept.as_slice(), how) {
            ([], _) => self.neutral(how),
            ([one], _) => *one,
            (_, JunctionKind::And) => self.intern(LtlTerm::And(kept)),
            (_, JunctionKind::Or) => self.intern(LtlTerm::Or(kept)),
        }
    }

    /// Returns the junction of two terms as one term that is no junction, if there is a rule for it.
    fn merge_junction(&mut self, how: JunctionKind, one: TermId, other: TermId) -> Option<TermId> {
        let pair = (self.get(one).clone(), self.get(other).clone());
        // The operator whose second operands can be joined, and the operator whose first operands can.
        let ((left, right), (other_left, other_right), joins_second) = match (pair, how) {
            ((LtlTerm::Next(one), LtlTerm::Next(other)), _) => {
                let both = self.join(how, vec![one, other]);
                return Some(self.next(both));
            }
            ((LtlTerm::Until(a, b), LtlTerm::Until(c, d)), _) => {
                ((a, b), (c, d), how == JunctionKind::Or)
            }
            ((LtlTerm::Release(a, b), LtlTerm::Release(c, d)), _) => {
                ((a, b), (c, d), how == JunctionKind::And)
            }
            _ => return None,
        };
        if let (Some(one), Some(other)) = (self.under_both(how, one), self.under_both(how, other)) {
            // `[]<>a || []<>b` and `<>[]a && <>[]b`.
            let inner = self.join(how, vec![one, other]);
            let inner = self.free(how, inner);
            return Some(self.free(how.dual(), inner));
        }
        let kind = match self.get(one) {
            LtlTerm::Until(..) => JunctionKind::Or,
            _ => JunctionKind::And,
        };
        if joins_second && left == other_left {
            let second = self.join(how, vec![right, other_right]);
            return Some(self.operator(kind, left, second));
        }
        if !joins_second && right == other_right {
            let first = self.join(how, vec![left, other_left]);
            return Some(self.operator(kind, first, right));
        }
        None
    }

    /// Returns the operand of `[]<>`, which can be joined by `||`, or of `<>[]`, which can be joined by `&&`.
    fn under_both(&self, how: JunctionKind, id: TermId) -> Option<TermId> {
        let under = |id: TermId, is_until: bool| match *self.get(id) {
            LtlTerm::Until(left, right) if is_until && self.is_true(left) => Some(right),
            LtlTerm::Release(left, right) if !is_until && self.is_false(left) => Some(right),
            _ => None,
        };
        let is_until = how == JunctionKind::And;
        under(under(id, is_until)?, !is_until)
    }

    /// Returns an until (`Or`) or a release (`And`).
    fn operator(&mut self, kind: JunctionKind, left: TermId, right: TermId) -> TermId {
        let is_until = kind == JunctionKind::Or;
        // The result is the second operand if that is as true later as now.
        let lasts = if is_until { self.is_eventual(right) } else { self.is_universal(right) };
        if lasts || self.absorbs(kind, right, left) {
            return right;
        }
        if let (&LtlTerm::Next(one), &LtlTerm::Next(other)) = (self.get(left), self.get(right)) {
            let inner = self.operator(kind, one, other);
            return self.next(inner);
        }
        if let Some(whole) = self.split_until(kind, left, right) {
            return whole;
        }
        let opposite = self.negation(right);
        let free = self.constant(is_until);
        if self.absorbs(kind, left, opposite) && left != free {
            return self.operator(kind, free, right);
        }
        if left == free {
            return self.free(kind, right);
        }
        if let Some(inner) = self.second_of(kind, right) {
            // `a U (b U c)` if a implies b or b implies a.
            let (LtlTerm::Until(before, last) | LtlTerm::Release(before, last)) = *self.get(inner)
            else {
                unreachable!("it is of that kind")
            };
            if self.absorbs(kind, before, left) {
                return right;
            }
            if self.absorbs(kind, left, before) {
                return self.operator(kind, left, last);
            }
        }
        self.intern(if is_until {
            LtlTerm::Until(left, right)
        } else {
            LtlTerm::Release(left, right)
        })
    }

    /// Returns the term if it has the same operator.
    fn second_of(&self, kind: JunctionKind, id: TermId) -> Option<TermId> {
        let is_same = match self.get(id) {
            LtlTerm::Until(..) => kind == JunctionKind::Or,
            LtlTerm::Release(..) => kind == JunctionKind::And,
            _ => false,
        };
        is_same.then_some(id)
    }

    /// Returns `<>right` or `[]right`.
    fn free(&mut self, kind: JunctionKind, right: TermId) -> TermId {
        let is_until = kind == JunctionKind::Or;
        match *self.get(right) {
            LtlTerm::Next(it) => {
                let inner = self.free(kind, it);
                return self.next(inner);
            }
            LtlTerm::Until(_, last) if is_until => return self.free(kind, last),
            LtlTerm::Release(_, last) if !is_until => return self.free(kind, last),
            _ => {}
        }
        let lasts = if is_until { self.is_eventual(right) } else { self.is_universal(right) };
        if lasts {
            return right;
        }
        let free = self.constant(is_until);
        if let Some(whole) = self.split_until(kind, free, right) {
            return whole;
        }
        self.intern(if is_until {
            LtlTerm::Until(free, right)
        } else {
            LtlTerm::Release(free, right)
        })
    }

    /// Moves parts of the second operand out of the operator: `a U (b || e)` is `a U b || e` if e is eventual, and `a
    /// U (b && e)` is `a U b && e` if e is both eventual and universal.
    fn split_until(&mut self, kind: JunctionKind, left: TermId, right: TermId) -> Option<TermId> {
        for how in [kind, kind.dual()] {
            let sides = self.sides(how, right);
            let goes = |terms: &TermTable, it: TermId| match (how == kind, kind) {
                (true, JunctionKind::Or) => terms.is_eventual(it),
                (true, JunctionKind::And) => terms.is_universal(it),
                (false, _) => terms.is_eventual(it) && terms.is_universal(it),
            };
            let (outside, inside): (Vec<TermId>, Vec<TermId>) =
                sides.iter().partition(|&&it| goes(self, it));
            if sides.len() > 1 && !outside.is_empty() && !inside.is_empty() {
                let inside = self.join(how, inside);
                let inside = self.operator(kind, left, inside);
                return Some(self.join(how, [vec![inside], outside].concat()));
            }
        }
        None
    }
}
