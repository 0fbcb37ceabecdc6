//! The [distance](MeasuredDistance) of a state to the violation of a predicate.

use super::evaluator::Evaluator;
use super::node::{Node, NodeId, UnaryNode};
use crate::resolve::ids::DefinitionId;
use crate::resolve::tree::BinaryOperator;
use crate::standard::{Outcome, boolean};
use crate::value::Value;
use spillway_model::{MeasuredDistance, UNIT_DISTANCE, combined_distance, comparison_distance};
use std::ops::ControlFlow;

/// How far a predicate is from a truth value.
struct DistanceMeasure<'e, 'p> {
    evaluator: &'e mut Evaluator<'p>,
    /// The number of evaluated parts.
    evaluated: u64,
}

impl Evaluator<'_> {
    /// Returns how far a predicate without parameters is from being true, or false, in the state that was set.
    pub fn distance(&mut self, definition: DefinitionId, wanted: bool) -> MeasuredDistance {
        self.reset();
        let (body, frame) = (self.program.body(definition), self.open_frame(definition.0, &[], 0));
        let mut measure = DistanceMeasure { evaluator: self, evaluated: 0 };
        let distance = measure.distance(body, frame, wanted);
        let evaluated = measure.evaluated;
        self.close_frame(frame);
        MeasuredDistance { distance, evaluated }
    }
}

impl<'p> DistanceMeasure<'_, 'p> {
    /// Returns how far an expression is from being true, or false.
    fn distance(&mut self, node: NodeId, base: u32, wanted: bool) -> u32 {
        let kind = &self.evaluator.program.nodes[node as usize];
        self.distance_of(node, kind, base, wanted)
    }

    fn distance_of(&mut self, node: NodeId, kind: &'p Node, base: u32, wanted: bool) -> u32 {
        match kind {
            Node::StateMemo(_, inner) => self.distance_of(node, inner, base, wanted),
            Node::Unary(UnaryNode::Not, operand) => self.distance(*operand, base, !wanted),
            Node::And(operands) => {
                let each = operands.iter().map(|it| self.distance(*it, base, wanted));
                combined_distance(each, wanted)
            }
            Node::Or(operands) => {
                let each = operands.iter().map(|it| self.distance(*it, base, wanted));
                combined_distance(each, !wanted)
            }
            Node::Implies(left, right) => {
                let each = [(*left, !wanted), (*right, wanted)].into_iter();
                combined_distance(each.map(|(it, wanted)| self.distance(it, base, wanted)), !wanted)
            }
            Node::Arithmetic { left, right, .. } => {
                let plain = self.plain(node, base, wanted);
                self.comparison(plain, [*left, *right], false, base)
            }
            Node::Binary(BinaryOperator::Equal | BinaryOperator::NotEqual, left, right) => {
                let plain = self.plain(node, base, wanted);
                self.comparison(plain, [*left, *right], true, base)
            }
            Node::If { .. } | Node::Let { .. } | Node::Call { .. } | Node::Quantified { .. } => {
                let distance = self.of_body(kind, base, wanted);
                distance.unwrap_or(UNIT_DISTANCE)
            }
            _ => self.plain(node, base, wanted),
        }
    }

    /// Returns the distance of an expression with an expression in it that has the truth value. `None` if an
    /// evaluation fails.
    fn of_body(&mut self, kind: &'p Node, base: u32, wanted: bool) -> Option<u32> {
        match kind {
            Node::If { condition, yes, no } => {
                let holds = self.attempt(|it| it.holds_node("IF", *condition, base))?;
                Some(self.distance(if holds { *yes } else { *no }, base, wanted))
            }
            Node::Let { bindings, body } => {
                self.evaluator.bind_lazily(bindings, base, false);
                Some(self.distance(*body, base, wanted))
            }
            Node::Call { definition, arguments } => {
                let body = self.evaluator.program.definitions[*definition as usize].body;
                let frame = self.evaluator.open_frame(*definition, arguments, base);
                let evaluated = &mut self.evaluated;
                let distance = self.evaluator.deeper(|evaluator| {
                    let mut measure = DistanceMeasure { evaluator, evaluated: 0 };
                    let distance = measure.distance(body, frame, wanted);
                    *evaluated += measure.evaluated;
                    Ok(distance)
                });
                self.evaluator.close_frame(frame);
                distance.ok()
            }
            Node::Quantified { is_exists, bounds, body } => {
                let (mut each, mut evaluated) = (Vec::new(), 0);
                let _ = self.attempt(|it| {
                    it.each(bounds, base, &mut |evaluator| {
                        let mut measure = DistanceMeasure { evaluator, evaluated: 0 };
                        each.push(measure.distance(*body, base, wanted));
                        evaluated += measure.evaluated;
                        Ok(ControlFlow::Continue(()))
                    })
                })?;
                self.evaluated += evaluated;
                Some(combined_distance(each.into_iter(), *is_exists != wanted))
            }
            _ => None,
        }
    }

    fn attempt<T>(&mut self, evaluate: impl FnOnce(&mut Evaluator<'p>) -> Outcome<T>) -> Option<T> {
        self.evaluated += 1;
        self.evaluator.attempt(evaluate)
    }

    /// Returns the distance of an expression that is only true or false.
    fn plain(&mut self, node: NodeId, base: u32, wanted: bool) -> u32 {
        let holds = self.attempt(|it| boolean("a predicate", &it.eval(node, base)?));
        if holds == Some(wanted) { 0 } else { UNIT_DISTANCE }
    }

    /// Returns the values of two operands that are numbers.
    fn numbers(&mut self, operands: [NodeId; 2], base: u32) -> Option<[i64; 2]> {
        let [left, right] = operands;
        let left = self.attempt(|it| it.eval(left, base))?;
        let right = self.attempt(|it| it.eval(right, base))?;
        match (left, right) {
            (Value::Int(left), Value::Int(right)) => Some([left.into(), right.into()]),
            _ => None,
        }
    }

    /// Returns the distance of a comparison, which counts more for numbers that are far apart. `plain` is its distance as
    /// an expression that is only true or false.
    fn comparison(
        &mut self,
        plain: u32,
        operands: [NodeId; 2],
        is_equality: bool,
        base: u32,
    ) -> u32 {
        if plain == 0 {
            return 0;
        }
        let numbers = self.numbers(operands, base);
        numbers.map_or(plain, |[left, right]| comparison_distance(left, right, is_equality))
    }
}
