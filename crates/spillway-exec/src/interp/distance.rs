//! The [distance](spillway_model::MeasuredDistance) of a state of a program to a violation of a property of states.

use super::frames::{LocalEnv, LocalValue};
use super::{Interp, StateProperty};
use spillway_ir::{BinaryOp, Expr, ExprKind, Quantifier, UnaryOp};
use spillway_model::{MeasuredDistance, UNIT_DISTANCE, combined_distance, comparison_distance};
use std::cell::Cell;

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
    pub fn of_state(&self, state: &[u8]) -> MeasuredDistance {
        let evaluated = Cell::new(0);
        let distance = |it: &&StateProperty| {
            let is_elsewhere =
                it.at.is_some_and(|(process, at)| self.interp.location(state, process) != at);
            let locals = &LocalEnv::without_messages();
            let measure =
                DistanceMeasure { interp: self.interp, state, locals, evaluated: &evaluated };
            measure.distance(&it.condition, false).saturating_add(is_elsewhere.into())
        };
        let distance = self.properties.iter().map(distance).min().unwrap_or_default();
        MeasuredDistance { distance, evaluated: evaluated.get() }
    }
}

/// The evaluation of distances in one state.
struct DistanceMeasure<'m> {
    interp: &'m Interp,
    state: &'m [u8],
    locals: &'m LocalEnv<'m>,
    /// The number of evaluated parts.
    evaluated: &'m Cell<u64>,
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
                    _ => UNIT_DISTANCE,
                }
            }
            ExprKind::Conditional(condition, then, otherwise) => match self.value(condition) {
                None => UNIT_DISTANCE,
                Some(0) => self.distance(otherwise, wanted),
                Some(_) => self.distance(then, wanted),
            },
            ExprKind::Quantified { quantifier, local, over, body } => {
                let (low, high) = self.interp.scalar_bounds(*over);
                let each = (low..=high).map(|value| {
                    self.locals.set(*local, LocalValue::Value(value));
                    self.distance(body, wanted)
                });
                combined_distance(each, (*quantifier == Quantifier::All) == wanted)
            }
            _ => self.plain(expr, wanted),
        }
    }

    /// Combines the distances of two parts.
    fn combine(&self, parts: [(&Expr, bool); 2], are_both_needed: bool) -> u32 {
        let each = parts.into_iter().map(|(expr, wanted)| self.distance(expr, wanted));
        combined_distance(each, are_both_needed)
    }

    fn value(&self, expr: &Expr) -> Option<i64> {
        self.evaluated.set(self.evaluated.get() + 1);
        self.interp.eval(expr, self.state, self.locals).ok()
    }

    /// Returns the distance of an expression that is only true or false.
    fn plain(&self, expr: &Expr, wanted: bool) -> u32 {
        match self.value(expr) {
            Some(value) if (value != 0) == wanted => 0,
            _ => UNIT_DISTANCE,
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
    Some(comparison_distance(left, right, is_equality))
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
