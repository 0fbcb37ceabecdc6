//! Formulas: conjunctions, quantifiers, and the bounds of quantifiers, sets and functions.

use super::evaluator::Evaluator;
use super::node::{BoundNode, Node};
use crate::standard::elements::Elements;
use crate::standard::{Failure, Outcome};
use crate::value::Value;
use smallvec::SmallVec;
use std::ops::ControlFlow;

impl<'p> Evaluator<'p> {
    /// Evaluates a node that is a formula.
    pub(super) fn formula(&mut self, node: &'p Node, base: u32) -> Outcome<bool> {
        match node {
            Node::And(operands) => {
                for operand in operands {
                    if !self.holds_node("/\\", *operand, base)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Node::Or(operands) => {
                for operand in operands {
                    if self.holds_node("\\/", *operand, base)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Node::Implies(left, right) => {
                Ok(!self.holds_node("=>", *left, base)? || self.holds_node("=>", *right, base)?)
            }
            Node::Quantified { is_exists, bounds, body } => {
                let flow = self.each(bounds, base, &mut |it| {
                    let holds = it.holds_node("a quantifier", *body, base)?;
                    Ok(if holds == *is_exists {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    })
                })?;
                Ok(flow.is_break() == *is_exists)
            }
            Node::BoxAction { action, subscript } => {
                Ok(self.holds_node("[A]_v", *action, base)?
                    || self.is_unchanged(*subscript, base)?)
            }
            Node::AngleAction { action, subscript } => Ok(self
                .holds_node("<<A>>_v", *action, base)?
                && !self.is_unchanged(*subscript, base)?),
            _ => Err(Failure::unsupported("a formula")),
        }
    }

    /// Binds the variables of bounds to each combination of elements, the first variable fastest, and calls `visit` each
    /// time until it breaks.
    pub(super) fn each(
        &mut self,
        bounds: &'p [BoundNode],
        base: u32,
        visit: &mut dyn FnMut(&mut Self) -> Outcome<ControlFlow<()>>,
    ) -> Outcome<ControlFlow<()>> {
        if let [bound] = bounds {
            let set = self.eval_screened(bound, base)?;
            return self.each_element(bound, base, &set, visit);
        }
        let mut sets: SmallVec<[Value; 3]> = SmallVec::with_capacity(bounds.len());
        for bound in bounds {
            let set = self.eval(bound.set, base)?;
            if is_empty(&set) {
                return Ok(ControlFlow::Continue(()));
            }
            sets.push(set);
        }
        self.each_combination(bounds, &sets, base, visit)
    }

    fn each_combination(
        &mut self,
        bounds: &'p [BoundNode],
        sets: &[Value],
        base: u32,
        visit: &mut dyn FnMut(&mut Self) -> Outcome<ControlFlow<()>>,
    ) -> Outcome<ControlFlow<()>> {
        let (Some((bound, bounds)), Some((set, sets))) = (bounds.split_last(), sets.split_last())
        else {
            return visit(self);
        };
        self.each_element(bound, base, set, &mut |it| {
            it.each_combination(bounds, sets, base, visit)
        })
    }

    fn each_element(
        &mut self,
        bound: &BoundNode,
        base: u32,
        set: &Value,
        visit: &mut dyn FnMut(&mut Self) -> Outcome<ControlFlow<()>>,
    ) -> Outcome<ControlFlow<()>> {
        if let Value::Set(elements) = set {
            for element in &elements.slice {
                self.bind_element(bound, base, element.clone())?;
                if visit(self)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            return Ok(ControlFlow::Continue(()));
        }
        let mut elements = Elements::of(self, set)?;
        while let Some(element) = elements.next(self)? {
            self.bind_element(bound, base, element)?;
            if visit(self)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Binds the variables of a bound to an element.
    #[inline]
    pub(super) fn bind_element(
        &mut self,
        bound: &BoundNode,
        base: u32,
        element: Value,
    ) -> Outcome<()> {
        if !bound.is_tuple {
            self.bind(base, bound.slots[0], element);
            return Ok(());
        }
        self.bind_components(bound, base, &element)
    }

    /// Binds the variables of a pattern to the components of a tuple.
    fn bind_components(&mut self, bound: &BoundNode, base: u32, tuple: &Value) -> Outcome<()> {
        match tuple {
            Value::Tuple(values) if values.slice.len() == bound.slots.len() => {
                for (slot, value) in bound.slots.iter().zip(&values.slice) {
                    self.bind(base, *slot, value.clone());
                }
                Ok(())
            }
            other => Err(Failure::wrong_kind("a pattern", "tuples of its length", other)),
        }
    }
}

fn is_empty(set: &Value) -> bool {
    match set {
        Value::Set(elements) => elements.slice.is_empty(),
        Value::Interval(low, high) => low > high,
        _ => false,
    }
}
