//! Comparisons of two operands, without copying those at hand.

use super::evaluator::Evaluator;
use super::node::{Node, NodeId};
use crate::resolve::tree::BinaryOperator;
use crate::standard::{Failure, Outcome, boolean, sets};
use crate::value::{LiteralValue, Value};

impl Evaluator<'_> {
    /// Evaluates a comparison of two operands, without copying those at hand.
    pub(super) fn comparison(
        &mut self,
        operator: BinaryOperator,
        left: NodeId,
        right: NodeId,
        base: u32,
    ) -> Outcome<bool> {
        if self.is_observed()
            && let Some(result) = self.comparison_observed(operator, [left, right], base)?
        {
            return Ok(result);
        }
        if let (Some(left), Some(right)) = (self.peek(left, base), self.peek(right, base))
            && let Some(result) = compare_at_hand(operator, left, right)
        {
            return result;
        }
        if let Some(result) = self.literal_membership(operator, [left, right], base)? {
            return Ok(result);
        }
        self.comparison_of_evaluated(operator, [left, right], base)
    }

    /// Tests whether a tuple or record literal is in a set at hand, without making the tuple or record.
    fn literal_membership(
        &mut self,
        operator: BinaryOperator,
        operands: [NodeId; 2],
        base: u32,
    ) -> Outcome<Option<bool>> {
        let [left, right] = operands;
        let (names, parts) = match (operator, &self.program.nodes[left as usize]) {
            (BinaryOperator::In | BinaryOperator::NotIn, Node::Tuple(parts)) => (None, parts),
            (BinaryOperator::In | BinaryOperator::NotIn, Node::Record { names, values }) => {
                (Some(names), values)
            }
            _ => return Ok(None),
        };
        if !matches!(self.peek(right, base), Some(Value::Set(_))) {
            return Ok(None);
        }
        let parts = self.components(parts, base)?;
        let Some(Value::Set(elements)) = self.peek(right, base) else { return Ok(None) };
        let is_member =
            sets::contains_literal(&elements.slice, LiteralValue { names, parts: &parts })?;
        Ok(Some(is_member == (operator == BinaryOperator::In)))
    }

    fn comparison_of_evaluated(
        &mut self,
        operator: BinaryOperator,
        operands: [NodeId; 2],
        base: u32,
    ) -> Outcome<bool> {
        let [left, right] = operands;
        let one = self.eval(left, base)?;
        if let Some(right) = self.peek(right, base)
            && let Some(result) = compare_at_hand(operator, &one, right)
        {
            return result;
        }
        let two = self.eval(right, base)?;
        match compare_at_hand(operator, &one, &two) {
            Some(result) => result,
            None => self.compare(operator, &one, &two),
        }
    }

    pub(super) fn compare(
        &mut self,
        operator: BinaryOperator,
        left: &Value,
        right: &Value,
    ) -> Outcome<bool> {
        match operator {
            BinaryOperator::Equal => sets::equals(self, left, right),
            BinaryOperator::NotEqual => Ok(!sets::equals(self, left, right)?),
            BinaryOperator::In => sets::contains(self, right, left),
            BinaryOperator::NotIn => Ok(!sets::contains(self, right, left)?),
            BinaryOperator::Equivalent => Ok(boolean("<=>", left)? == boolean("<=>", right)?),
            BinaryOperator::SubsetOrEqual => sets::is_subset(self, left, right),
            _ => Err(Failure::unsupported("a comparison")),
        }
    }
}

/// Returns whether two scalars of one kind are equal, and nothing for other values.
#[inline]
fn equal_scalars(left: &Value, right: &Value) -> Option<bool> {
    match (left, right) {
        (Value::Int(one), Value::Int(two)) => Some(one == two),
        (Value::Str(one), Value::Str(two)) => Some(one == two),
        (Value::Bool(one), Value::Bool(two)) => Some(one == two),
        _ => None,
    }
}

/// Compares two canonical values without the evaluator, if that is possible.
fn compare_at_hand(operator: BinaryOperator, left: &Value, right: &Value) -> Option<Outcome<bool>> {
    match operator {
        BinaryOperator::Equal | BinaryOperator::NotEqual => {
            if let Some(result) = equal_scalars(left, right) {
                return Some(Ok(result == (operator == BinaryOperator::Equal)));
            }
            if !left.is_canonical() || !right.is_canonical() {
                return None;
            }
            let result = crate::value::equal(left, right);
            Some(result.map(|it| it == (operator == BinaryOperator::Equal)).map_err(Into::into))
        }
        BinaryOperator::In | BinaryOperator::NotIn => {
            if !left.is_canonical() {
                return None;
            }
            if let (Value::Interval(low, high), Value::Int(it)) = (right, left) {
                return Some(Ok((low <= it && it <= high) == (operator == BinaryOperator::In)));
            }
            let Value::Set(elements) = right else { return None };
            let result = sets::contains_sorted(&elements.slice, left);
            Some(result.map(|it| it == (operator == BinaryOperator::In)))
        }
        _ => None,
    }
}
