//! Assignments in formulas: `x' = e`, `x' \in S`, `UNCHANGED e`.

use super::evaluator::{Evaluator, SlotContent};
use super::generation::{Continuation, ContinuationKind, Flow, GenerationPhase};
use super::node::{Node, NodeId};
use super::observation::VariableWrite;
use crate::resolve::tree::BinaryOperator;
use crate::standard::elements::Elements;
use crate::standard::{Outcome, sets};
use crate::value::{LazyValue, Value};

impl Evaluator<'_> {
    /// `x = e`, which assigns or compares.
    pub(super) fn equality(
        &mut self,
        left: NodeId,
        right: NodeId,
        base: u32,
        rest: Option<&Continuation<'_>>,
    ) -> Outcome<Flow> {
        let variable = self.target(left, base);
        if let Some(variable) = variable
            && self.assigned(variable).is_none()
        {
            let value = match self.is_observed() {
                true => self.eval_assigned(variable, right, base)?,
                false => self.eval(right, base)?,
            };
            return self.assign(variable, value, rest);
        }
        if self.comparison(BinaryOperator::Equal, left, right, base)? {
            self.proceed(rest)
        } else {
            Ok(Flow::Continue(()))
        }
    }

    /// `x \in S` or `x \subseteq S`, which tries each element or subset, or tests.
    pub(super) fn membership(
        &mut self,
        operator: BinaryOperator,
        operands: [NodeId; 2],
        base: u32,
        rest: Option<&Continuation<'_>>,
    ) -> Outcome<Flow> {
        let [left, right] = operands;
        let variable = self.target(left, base);
        if let Some(variable) = variable
            && self.assigned(variable).is_none()
        {
            let mut set = self.eval(right, base)?;
            if operator == BinaryOperator::SubsetOrEqual {
                set = sets::lazy(LazyValue::Subsets(set));
            }
            self.note_write(variable, VariableWrite::Value);
            let mut elements = Elements::of(self, &set)?;
            while let Some(element) = elements.next(self)? {
                if self.assign(variable, element, rest)?.is_break() {
                    return Ok(Flow::Break(()));
                }
            }
            return Ok(Flow::Continue(()));
        }
        if self.comparison(operator, left, right, base)? {
            self.proceed(rest)
        } else {
            Ok(Flow::Continue(()))
        }
    }

    fn assigned(&mut self, variable: u32) -> &mut Option<Value> {
        match self.generation.phase {
            GenerationPhase::Initial => &mut self.current[variable as usize],
            _ => &mut self.next[variable as usize],
        }
    }

    /// Assigns a value to a variable while the rest is enumerated.
    fn assign(
        &mut self,
        variable: u32,
        value: Value,
        rest: Option<&Continuation<'_>>,
    ) -> Outcome<Flow> {
        let value = sets::stored(self, value)?;
        let is_part = (variable as usize) < self.program.variable_count();
        *self.assigned(variable) = Some(value);
        self.generation.unassigned -= usize::from(is_part);
        let flow = self.proceed(rest)?;
        self.generation.unassigned += usize::from(is_part);
        *self.assigned(variable) = None;
        Ok(flow)
    }

    /// Returns the variable that a formula with this left side assigns.
    fn target(&self, node: NodeId, base: u32) -> Option<u32> {
        match (self.generation.phase, self.program.entered(node)) {
            (GenerationPhase::Initial, _) => self.variable_of(node, base),
            (_, Node::Prime(operand)) => self.variable_of(*operand, base),
            (_, Node::Local(slot)) => {
                let (node, base) = self.thunk_at(base + slot)?;
                self.target(node, base)
            }
            (_, Node::Call { definition, arguments }) if arguments.is_empty() => {
                self.target(self.program.definitions[*definition as usize].body, base)
            }
            _ => None,
        }
    }

    /// Returns the variable that an expression is.
    fn variable_of(&self, node: NodeId, base: u32) -> Option<u32> {
        match self.program.entered(node) {
            Node::Variable(variable) => Some(*variable),
            Node::Local(slot) => {
                let (node, base) = self.thunk_at(base + slot)?;
                self.variable_of(node, base)
            }
            Node::Call { definition, arguments } if arguments.is_empty() => {
                self.variable_of(self.program.definitions[*definition as usize].body, base)
            }
            _ => None,
        }
    }

    /// Returns the expression in a slot, with its frame.
    pub(super) fn thunk_at(&self, mut index: u32) -> Option<(NodeId, u32)> {
        loop {
            match &self.stack[index as usize] {
                SlotContent::Thunk(it) | SlotContent::Forced(_, it) => {
                    return Some((it.node, it.base));
                }
                SlotContent::Forward(target) => index = *target,
                _ => return None,
            }
        }
    }

    /// `UNCHANGED e`, which unfolds tuples and definitions.
    pub(super) fn unchanged(
        &mut self,
        node: NodeId,
        base: u32,
        rest: Option<&Continuation<'_>>,
    ) -> Outcome<Flow> {
        let program = self.program;
        if let Some(variable) = self.variable_of(node, base) {
            return self.unchanged_variable(variable, rest);
        }
        match program.entered(node) {
            Node::Tuple(operands) => self.all_unchanged(operands, base, rest),
            Node::Call { definition, arguments } if arguments.is_empty() => {
                let frame = self.open_frame(*definition, &[], base);
                let body = program.definitions[*definition as usize].body;
                let flow = self.unchanged(body, frame, rest)?;
                self.close_frame(frame);
                Ok(flow)
            }
            Node::Local(slot) if self.thunk_at(base + slot).is_some() => {
                let (node, base) = self.thunk_at(base + slot).unwrap_or((node, base));
                self.unchanged(node, base, rest)
            }
            _ if self.is_unchanged(node, base)? => self.proceed(rest),
            _ => Ok(Flow::Continue(())),
        }
    }

    pub(super) fn all_unchanged(
        &mut self,
        operands: &[NodeId],
        base: u32,
        rest: Option<&Continuation<'_>>,
    ) -> Outcome<Flow> {
        match operands {
            [] => self.proceed(rest),
            [last] => self.unchanged(*last, base, rest),
            [first, others @ ..] => {
                let rest =
                    Continuation { kind: ContinuationKind::Unchanged(others), base, next: rest };
                self.unchanged(*first, base, Some(&rest))
            }
        }
    }

    fn unchanged_variable(
        &mut self,
        variable: u32,
        rest: Option<&Continuation<'_>>,
    ) -> Outcome<Flow> {
        let Some(before) = &self.current[variable as usize] else {
            return Err(self.unassigned(variable));
        };
        match &self.next[variable as usize] {
            None => {
                let before = before.clone();
                self.note_write(variable, VariableWrite::Unchanged);
                self.assign(variable, before, rest)
            }
            Some(after) => {
                if self.is_observed() {
                    self.note_variable(variable, false);
                    self.note_variable(variable, true);
                }
                if crate::value::equal(before, after)? {
                    self.proceed(rest)
                } else {
                    Ok(Flow::Continue(()))
                }
            }
        }
    }
}
