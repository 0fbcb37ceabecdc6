//! Walks through [units](super::units).

use super::checks::GeneratedStates;
use super::evaluator::Evaluator;
use super::generation::Flow;
use super::node::{Argument, BindingNode, BoundNode, Node, NodeId};
use super::observation::ObservedAccesses;
use super::units::{
    CheckedCondition, JudgedUnit, NoUnits, SteppedUnit, UnitTable, UnitWalk, WantedUnit,
};
use crate::level::Level;
use crate::resolve::ids::ExprId;
use crate::standard::Outcome;
use crate::value::Value;
use std::ops::ControlFlow;

impl<'p> Evaluator<'p> {
    /// Generates the successors of a state by the units of the next-state action that are wanted, or by all units in the
    /// first walk. `wanted` is in ascending order.
    ///
    /// # Errors
    ///
    /// An evaluation fails, or a successor does not have a value for each variable.
    pub fn step_units(
        &mut self,
        table: &mut UnitTable,
        wanted: &[WantedUnit],
        state: &[Value],
        successors: &mut GeneratedStates,
    ) -> Outcome<Result<Vec<SteppedUnit>, NoUnits>> {
        self.begin_walk(table, wanted);
        let result = self.successors(state, successors);
        let walk = self.end_walk(table, result.is_ok());
        result.map(|()| if walk.is_broken { Err(NoUnits) } else { Ok(walk.stepped) })
    }

    /// Evaluates the units of conditions that are wanted in the present state and successor, or all units in the first
    /// walk, until one of them does not hold. `wanted` is in ascending order.
    ///
    /// # Errors
    ///
    /// An evaluation fails.
    pub fn judge_units(
        &mut self,
        conditions: &[CheckedCondition],
        table: &mut UnitTable,
        wanted: &[WantedUnit],
    ) -> Outcome<Result<Vec<JudgedUnit>, NoUnits>> {
        self.reset();
        self.begin_walk(table, wanted);
        let result = self.judge_all(conditions);
        let walk = self.end_walk(table, matches!(result, Ok(true)));
        result.map(|_| if walk.is_broken { Err(NoUnits) } else { Ok(walk.judged) })
    }

    fn begin_walk(&mut self, table: &mut UnitTable, wanted: &[WantedUnit]) {
        self.unit_walk.begin(std::mem::take(table), wanted);
        let _ = self.take_observed();
    }

    /// Ends the walk. `is_whole` says whether it passed all units.
    fn end_walk(&mut self, table: &mut UnitTable, is_whole: bool) -> UnitWalk {
        self.observe(false);
        let is_opaque = self.take_observed().is_opaque;
        let walk = &mut self.unit_walk;
        walk.is_splitting = false;
        walk.is_broken |= is_opaque;
        *table = walk.take_table(is_whole);
        std::mem::take(walk)
    }

    /// Returns whether the walk under way splits a part of the next-state action or passes it as a unit. Nothing if there
    /// is no walk, or a unit is under way.
    pub(super) fn splits_action(&self, node: NodeId, base: u32) -> Option<bool> {
        if !self.unit_walk.is_splitting {
            return None;
        }
        Some(match self.program.entered(node) {
            Node::Or(_) => true,
            Node::Quantified { is_exists: true, bounds, .. } => self.are_constant(bounds),
            node => self.splits_around(node, base),
        })
    }

    fn splits_condition(&self, node: NodeId, base: u32) -> bool {
        match self.program.entered(node) {
            Node::And(_) => true,
            Node::Quantified { is_exists: false, bounds, .. } => self.are_constant(bounds),
            node => self.splits_around(node, base),
        }
    }

    /// Returns whether the names that a LET or a call binds are constant.
    fn splits_around(&self, node: &'p Node, base: u32) -> bool {
        let is_constant = |it: &Argument| match it {
            Argument::Lazy(lazy) => self.thunk(lazy, base).level == Level::Constant,
            Argument::Literal(_) | Argument::Local(_) => true,
            Argument::Operator(_) => false,
        };
        match node {
            Node::Let { bindings, .. } => self.have_constant_values(bindings, base),
            Node::Call { arguments, .. } => arguments.iter().all(is_constant),
            _ => false,
        }
    }

    fn have_constant_values(&self, bindings: &[BindingNode], base: u32) -> bool {
        bindings.iter().all(|it| self.thunk(&it.value, base).level == Level::Constant)
    }

    fn are_constant(&self, bounds: &[BoundNode]) -> bool {
        let level = |it: &BoundNode| self.program.specification[ExprId(it.set)].level;
        bounds.iter().all(|it| level(it) == Level::Constant)
    }

    /// Evaluates a part of the next-state action that is split, or passes over it.
    pub(super) fn step_split(&mut self, node: NodeId, base: u32) -> Outcome<Flow> {
        let Some(part) = self.unit_walk.enter() else { return Ok(Flow::Continue(())) };
        let flow = self.enumerate_named_parts(node, base)?;
        self.unit_walk.leave(part);
        Ok(if self.unit_walk.is_broken { Flow::Break(()) } else { flow })
    }

    /// Evaluates a unit of the next-state action, or passes over it.
    pub(super) fn step_unit(&mut self, node: NodeId, base: u32) -> Outcome<Flow> {
        let Some(wanted) = self.unit_walk.next_unit() else { return Ok(Flow::Continue(())) };
        let first = self.generation.actions.len();
        let flow = self.within_unit(wanted, |it| it.enumerate_named_parts(node, base))?;
        let successors = first..self.generation.actions.len();
        let observed = self.observed_unit(wanted);
        self.unit_walk.stepped.push(SteppedUnit { number: wanted.number, successors, observed });
        Ok(flow)
    }

    fn within_unit<T>(
        &mut self,
        wanted: WantedUnit,
        evaluate: impl FnOnce(&mut Self) -> Outcome<T>,
    ) -> Outcome<T> {
        self.unit_walk.is_splitting = false;
        // What is opaque between units is so for all.
        self.unit_walk.is_broken |= self.take_observed().is_opaque;
        self.observe(wanted.is_observed);
        let result = evaluate(self);
        self.observe(false);
        self.unit_walk.is_splitting = true;
        result
    }

    fn observed_unit(&mut self, wanted: WantedUnit) -> Option<ObservedAccesses> {
        let observed = self.take_observed();
        if wanted.is_observed {
            return Some(observed);
        }
        self.unit_walk.is_broken |= observed.is_opaque;
        None
    }

    fn judge_all(&mut self, conditions: &[CheckedCondition]) -> Outcome<bool> {
        for condition in conditions {
            let holds = match *condition {
                CheckedCondition::Predicate(definition) => {
                    let frame = self.open_frame(definition.0, &[], 0);
                    let holds = self.judge(self.program.body(definition), frame)?;
                    self.close_frame(frame);
                    holds
                }
                CheckedCondition::Step { action, subscript } => self.judge_unit(|it| {
                    Ok(it.holds(action)? || it.is_definition_unchanged(subscript)?)
                })?,
            };
            if !holds {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Enters a part of a condition that is split. Returns nothing if it is passed over.
    pub(super) fn enter_part(&mut self) -> Option<u32> {
        self.unit_walk.enter()
    }

    /// Leaves a part of a condition that is split.
    pub(super) fn leave_part(&mut self, part: u32) {
        self.unit_walk.leave(part);
    }

    /// Evaluates a part of a condition. What is passed over holds.
    fn judge(&mut self, node: NodeId, base: u32) -> Outcome<bool> {
        if let Some(typing) = self.typing(node) {
            return self.judge_typing(typing, base);
        }
        if !self.splits_condition(node, base) {
            return self.judge_unit(|it| it.holds_node("a predicate", node, base));
        }
        let Some(part) = self.unit_walk.enter() else { return Ok(true) };
        let holds = self.judge_parts(self.program.entered(node), base)?;
        self.unit_walk.leave(part);
        Ok(holds && !self.unit_walk.is_broken)
    }

    fn judge_parts(&mut self, node: &'p Node, base: u32) -> Outcome<bool> {
        match node {
            Node::And(operands) => {
                for operand in operands {
                    if !self.judge(*operand, base)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Node::Quantified { bounds, body, .. } => {
                let flow = self.each(bounds, base, &mut |it| match it.judge(*body, base)? {
                    true => Ok(ControlFlow::Continue(())),
                    false => Ok(ControlFlow::Break(())),
                })?;
                Ok(flow.is_continue())
            }
            Node::Let { bindings, body } => {
                self.bind_lazily(bindings, base, false);
                self.judge(*body, base)
            }
            Node::Call { definition, arguments } => {
                let frame = self.open_frame(*definition, arguments, base);
                let body = self.program.definitions[*definition as usize].body;
                let holds = self.deeper(|it| it.judge(body, frame))?;
                self.close_frame(frame);
                Ok(holds)
            }
            _ => Ok(true),
        }
    }

    /// Evaluates a unit of a condition, or passes over it.
    pub(super) fn judge_unit(
        &mut self,
        evaluate: impl FnOnce(&mut Self) -> Outcome<bool>,
    ) -> Outcome<bool> {
        let Some(wanted) = self.unit_walk.next_unit() else { return Ok(true) };
        let holds = self.within_unit(wanted, evaluate)?;
        let observed = self.observed_unit(wanted);
        self.unit_walk.judged.push(JudgedUnit { number: wanted.number, holds, observed });
        Ok(holds)
    }
}
