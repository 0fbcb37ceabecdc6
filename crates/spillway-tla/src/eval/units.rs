//! Units: the parts of the next-state action and of conditions whose number does not depend on the state.
//!
//! The next-state action is split at disjunctions, at `\E` over constant sets, and at calls with constant arguments. A
//! condition is split at conjunctions, at `\A` over constant sets, and at such calls. What is not split is a *unit*. Units
//! are numbered in the order of evaluation, the same in every state. The names around a unit are constant, so a unit
//! depends on nothing but the variables that it reads.
//!
//! A walk evaluates some units and passes over the others. It remembers how many units are below each part that is split,
//! and passes over such a part as a whole if no unit below it is wanted.

use super::checks::GeneratedStates;
use super::evaluator::Evaluator;
use super::generation::Flow;
use super::node::{Argument, BindingNode, BoundNode, Node, NodeId};
use super::observation::Observed;
use crate::level::Level;
use crate::resolve::ids::{DefinitionId, ExprId};
use crate::standard::Outcome;
use crate::value::Value;
use std::ops::{ControlFlow, Range};

/// The most units of an action or of conditions. More of them are not worth while.
const UNITS_MAX: u32 = 1 << 12;

/// A condition on a state or on a step.
#[derive(Clone, Copy, Debug)]
pub enum Condition {
    /// A definition without parameters.
    Predicate(DefinitionId),
    /// `[action]_subscript`: a step that the action allows or that leaves the subscript unchanged.
    Step {
        /// The action.
        action: DefinitionId,
        /// The subscript.
        subscript: DefinitionId,
    },
}

/// A unit that a walk evaluates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WantedUnit {
    /// Its number.
    pub number: u32,
    /// Whether its evaluation is observed.
    pub is_observed: bool,
}

/// A unit of the next-state action that was evaluated.
#[derive(Debug)]
pub struct SteppedUnit {
    /// Its number.
    pub number: u32,
    /// The indices of its successors.
    pub successors: Range<usize>,
    /// What was observed, if that was wanted.
    pub observed: Option<Observed>,
}

/// A unit of conditions that was evaluated.
#[derive(Debug)]
pub struct JudgedUnit {
    /// Its number.
    pub number: u32,
    /// Whether it holds.
    pub holds: bool,
    /// What was observed, if that was wanted.
    pub observed: Option<Observed>,
}

/// The units of an action or of conditions, as far as walks know them.
#[derive(Clone, Debug, Default)]
pub struct UnitTable {
    /// The ends of the parts that are split, in the order in which a walk enters them.
    spans: Vec<UnitSpan>,
    /// The number of units. Nothing before the first walk.
    units: Option<u32>,
}

/// The end of a part that is split.
#[derive(Clone, Copy, Debug)]
struct UnitSpan {
    /// The number of the first unit behind it.
    unit: u32,
    /// The index of the first part behind it.
    part: u32,
}

impl UnitTable {
    /// Returns the number of units, once a walk has passed all of them.
    pub fn units(&self) -> Option<u32> {
        self.units
    }
}

/// A walk under way.
#[derive(Debug, Default)]
pub(super) struct UnitWalk {
    /// Whether parts are split. Within a unit they are not.
    is_splitting: bool,
    table: UnitTable,
    /// The units that are evaluated, in ascending order. In the first walk, all are.
    wanted: Vec<WantedUnit>,
    /// The index of the next one of these.
    next_wanted: usize,
    unit: u32,
    part: u32,
    /// Whether a constant outside units is none, or there are too many units.
    is_broken: bool,
    stepped: Vec<SteppedUnit>,
    judged: Vec<JudgedUnit>,
}

impl UnitWalk {
    fn is_first(&self) -> bool {
        self.table.units.is_none()
    }

    /// Returns how the next unit is evaluated, if it is, and moves on.
    fn next_unit(&mut self) -> Option<WantedUnit> {
        let number = self.unit;
        self.unit += 1;
        self.is_broken |= self.unit > UNITS_MAX;
        if self.is_first() {
            return Some(WantedUnit { number, is_observed: false });
        }
        let wanted = self.wanted.get(self.next_wanted).copied();
        let wanted = wanted.filter(|it| it.number == number);
        self.next_wanted += usize::from(wanted.is_some());
        wanted
    }

    /// Enters a part that is split. Returns its index, or nothing if it is passed over.
    fn enter(&mut self) -> Option<u32> {
        let part = self.part;
        if self.is_first() {
            self.table.spans.push(UnitSpan { unit: 0, part: 0 });
        } else {
            let end = self.table.spans[part as usize];
            let is_wanted =
                self.wanted.get(self.next_wanted).is_some_and(|it| it.number < end.unit);
            if !is_wanted {
                (self.unit, self.part) = (end.unit, end.part);
                return None;
            }
        }
        self.part += 1;
        Some(part)
    }

    /// Leaves a part that is split.
    fn leave(&mut self, part: u32) {
        if self.is_first() {
            self.table.spans[part as usize] = UnitSpan { unit: self.unit, part: self.part };
        }
    }
}

/// The walk cannot be used: something around units is not constant, or there are too many units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoUnits;

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
        conditions: &[Condition],
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
        let walk = &mut self.unit_walk;
        *walk = UnitWalk {
            is_splitting: true,
            table: std::mem::take(table),
            wanted: std::mem::take(&mut walk.wanted),
            ..UnitWalk::default()
        };
        walk.wanted.clear();
        walk.wanted.extend_from_slice(wanted);
        let _ = self.take_observed();
    }

    /// Ends the walk. `is_whole` says whether it passed all units.
    fn end_walk(&mut self, table: &mut UnitTable, is_whole: bool) -> UnitWalk {
        self.observe(false);
        let is_opaque = self.take_observed().is_opaque;
        let walk = &mut self.unit_walk;
        walk.is_splitting = false;
        walk.is_broken |= is_opaque;
        if walk.is_first() {
            match is_whole && !walk.is_broken {
                true => walk.table.units = Some(walk.unit),
                false => walk.table.spans.clear(),
            }
        }
        *table = std::mem::take(&mut walk.table);
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

    fn observed_unit(&mut self, wanted: WantedUnit) -> Option<Observed> {
        let observed = self.take_observed();
        if wanted.is_observed {
            return Some(observed);
        }
        self.unit_walk.is_broken |= observed.is_opaque;
        None
    }

    fn judge_all(&mut self, conditions: &[Condition]) -> Outcome<bool> {
        for condition in conditions {
            let holds = match *condition {
                Condition::Predicate(definition) => {
                    let frame = self.open_frame(definition.0, &[], 0);
                    let holds = self.judge(self.program.body(definition), frame)?;
                    self.close_frame(frame);
                    holds
                }
                Condition::Step { action, subscript } => self.judge_unit(|it| {
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
