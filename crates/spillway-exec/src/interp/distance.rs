//! The distance of a state to a violation of a property of states, for searches that expand near states first.
//!
//! It is the branch distance of search-based testing, as in HSF-SPIN: the number of parts of the negated property that
//! do not hold. A conjunction adds the distances of its parts, and a disjunction takes the least. A comparison of two
//! numbers counts one and the logarithm of their difference, so that a state with nearer numbers is nearer. The
//! distance is 0 exactly if the property is violated, as far as its evaluation has no error.

use super::frames::{LocalEnv, LocalValue};
use super::{Interp, StateProperty};
use spillway_ir::{BinaryOp, Expr, ExprKind, Quantifier, UnaryOp};

/// The distance of an expression whose evaluation has an error, and of a part that is only true or false.
const UNKNOWN: u32 = 1;

/// The distances to the violation of some properties of states.
pub struct ViolationDistance<'p> {
    interp: &'p Interp,
    properties: Vec<&'p StateProperty>,
}

impl<'p> ViolationDistance<'p> {
    /// Returns the distance to a violation of any of the properties of single states with selected numbers. `None` if
    /// there are none.
    pub fn new(
        interp: &'p Interp,
        is_selected: impl Fn(u32) -> bool,
    ) -> Option<ViolationDistance<'p>> {
        let selected = interp.judged.iter().filter(|(number, _)| is_selected(*number));
        let properties: Vec<&StateProperty> = selected.map(|(_, it)| it).collect();
        (!properties.is_empty()).then_some(ViolationDistance { interp, properties })
    }

    /// Returns the distance of a state: that to the nearest violation.
    pub fn of_state(&self, state: &[u8]) -> u32 {
        let distance = |it: &&StateProperty| {
            let is_elsewhere =
                it.at.is_some_and(|(process, at)| self.interp.location(state, process) != at);
            let measure =
                DistanceMeasure { interp: self.interp, state, locals: &LocalEnv::default() };
            measure.distance(&it.condition, false).saturating_add(is_elsewhere.into())
        };
        self.properties.iter().map(distance).min().unwrap_or_default()
    }
}

/// The evaluation of distances in one state.
struct DistanceMeasure<'m> {
    interp: &'m Interp,
    state: &'m [u8],
    locals: &'m LocalEnv<'m>,
}

impl DistanceMeasure<'_> {
    /// Returns how far an expression is from being true, or false.
    fn distance(&self, expr: &Expr, wanted: bool) -> u32 {
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, operand) => self.distance(operand, !wanted),
            ExprKind::Binary(BinaryOp::And, left, right) => {
                self.combine([(left, wanted), (right, wanted)], wanted)
            }
            ExprKind::Binary(BinaryOp::Or, left, right) => {
                self.combine([(left, wanted), (right, wanted)], !wanted)
            }
            ExprKind::Binary(BinaryOp::Implies, left, right) => {
                self.combine([(left, !wanted), (right, wanted)], !wanted)
            }
            ExprKind::Binary(operator, left, right) => {
                match (self.value(left), self.value(right)) {
                    (Some(left), Some(right)) => comparison(*operator, left, right, wanted)
                        .unwrap_or_else(|| self.plain(expr, wanted)),
                    _ => UNKNOWN,
                }
            }
            ExprKind::Conditional(condition, then, otherwise) => match self.value(condition) {
                None => UNKNOWN,
                Some(0) => self.distance(otherwise, wanted),
                Some(_) => self.distance(then, wanted),
            },
            ExprKind::Quantified { quantifier, local, over, body } => {
                let (low, high) = self.interp.scalar_bounds(*over);
                let each = (low..=high).map(|value| {
                    self.locals.set(*local, LocalValue::Value(value));
                    self.distance(body, wanted)
                });
                match (*quantifier == Quantifier::All) == wanted {
                    true => each.fold(0, u32::saturating_add),
                    false => each.min().unwrap_or(UNKNOWN),
                }
            }
            _ => self.plain(expr, wanted),
        }
    }

    /// Combines the distances of two parts: their sum if both are needed, or else the least.
    fn combine(&self, parts: [(&Expr, bool); 2], are_both_needed: bool) -> u32 {
        let [one, other] = parts.map(|(expr, wanted)| self.distance(expr, wanted));
        match are_both_needed {
            true => one.saturating_add(other),
            false => one.min(other),
        }
    }

    fn value(&self, expr: &Expr) -> Option<i64> {
        self.interp.eval(expr, self.state, self.locals).ok()
    }

    /// Returns the distance of an expression that is only true or false.
    fn plain(&self, expr: &Expr, wanted: bool) -> u32 {
        match self.value(expr) {
            Some(value) if (value != 0) == wanted => 0,
            _ => UNKNOWN,
        }
    }
}

/// Returns how far a comparison is from the wanted result. `None` if the operator compares nothing.
fn comparison(operator: BinaryOp, left: i64, right: i64, wanted: bool) -> Option<u32> {
    let (holds, is_equality) = match operator {
        BinaryOp::Equal => (left == right, true),
        BinaryOp::NotEqual => (left != right, true),
        BinaryOp::Less => (left < right, false),
        BinaryOp::LessEqual => (left <= right, false),
        BinaryOp::Greater => (left > right, false),
        BinaryOp::GreaterEqual => (left >= right, false),
        _ => return None,
    };
    if holds == wanted {
        return Some(0);
    }
    // Equal numbers become unequal in one step. A strict comparison misses by one more.
    let difference = left.abs_diff(right).max(1);
    let is_near = is_equality && left == right;
    Some(UNKNOWN + if is_near { 0 } else { difference.ilog2() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_of_comparisons_grow_with_the_difference() {
        let far =
            |operator, left, right, wanted| comparison(operator, left, right, wanted).unwrap();
        assert_eq!(far(BinaryOp::Equal, 3, 3, true), 0);
        assert_eq!(far(BinaryOp::Equal, 3, 3, false), 1);
        assert_eq!(far(BinaryOp::Equal, 3, 4, true), 1);
        assert!(far(BinaryOp::Equal, 3, 40, true) > far(BinaryOp::Equal, 3, 6, true));
        assert_eq!(far(BinaryOp::NotEqual, 5, 5, true), 1);
        assert_eq!(far(BinaryOp::Less, 5, 5, true), 1);
        assert!(far(BinaryOp::Less, 50, 5, true) > far(BinaryOp::LessEqual, 6, 5, true));
        assert_eq!(far(BinaryOp::Greater, i64::MIN, i64::MAX, true), 64);
        assert_eq!(far(BinaryOp::GreaterEqual, 5, 5, true), 0);
        assert_eq!(comparison(BinaryOp::Add, 1, 2, true), None);
    }
}
