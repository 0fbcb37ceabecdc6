//! The operands that decided a condition, for reports.

use super::failure::fault;
use super::frames::{LocalEnv, LocalValue};
use super::{EvalFailure, Interp};
use spillway_ir::{
    Action, BinaryOp, Communication, Expr, ExprKind, Owner, Place, PlaceRoot, PlaceSelector,
    ProcessInstance, PropertyId, PropertyKind, Quantifier, Type, UnaryOp,
};
use spillway_model::{FaultKind, StateValue};

/// The maximum number of reported operands of a condition.
const OPERANDS_MAX: usize = 20;

impl Interp {
    /// Returns the failure of an assertion, with the operands that decided it.
    #[cold]
    pub(super) fn assertion_failure(
        &self,
        mut failed: EvalFailure,
        condition: &Expr,
        state: &[u8],
        locals: &LocalEnv,
    ) -> EvalFailure {
        failed.operands = self.operands_of_condition_with(condition, state, locals);
        failed
    }

    /// Returns the failure of reading an undefined value at a place.
    #[cold]
    pub(super) fn undefined(&self, place: &Place, state: &[u8], locals: &LocalEnv) -> EvalFailure {
        if locals.is_terse {
            return fault(FaultKind::Undefined, place.span, String::new());
        }
        let looked = OperandCollector { interp: self, state, locals, found: Vec::new() };
        let name = looked.name(place);
        let told = name.as_ref().map_or(String::new(), |name| format!(": {name}"));
        let message = format!("an undefined value is read{told}");
        let mut failure = fault(FaultKind::Undefined, place.span, message);
        failure.operands.extend(name.map(|name| (name, StateValue::Undefined)));
        failure
    }

    /// Returns the operands that made a state property fail in a state.
    pub(super) fn operands_of(&self, state: &[u8], property: u32) -> Vec<(String, StateValue)> {
        match &self.program.properties[PropertyId(property)].kind {
            PropertyKind::Invariant(condition)
            | PropertyKind::AtEnd(condition)
            | PropertyKind::AssertionAt { condition, .. } => {
                self.operands_of_condition(condition, state)
            }
            _ => Vec::new(),
        }
    }

    /// Returns the operands that decide whether a process can take an action: the values that the guard reads, and the
    /// contents of the channel.
    pub(super) fn operands_of_action(
        &self,
        action: &Action,
        mover: ProcessInstance,
        state: &[u8],
    ) -> Vec<(String, StateValue)> {
        let guard = action.guard.as_ref();
        let mut found = guard.map_or(Vec::new(), |it| {
            self.operands_of_condition_with(it, state, &LocalEnv::of(mover))
        });
        if let Some(Communication::Send { channel, .. } | Communication::Receive { channel, .. }) =
            &action.communication
        {
            found.extend(self.held_in(channel, Some(mover), state));
        }
        found
    }

    /// Returns the operands that decided a condition without parameters in a state: the values it reads, by name.
    pub fn operands_of_condition(
        &self,
        condition: &Expr,
        state: &[u8],
    ) -> Vec<(String, StateValue)> {
        self.operands_of_condition_with(condition, state, &LocalEnv::default())
    }

    pub(super) fn operands_of_condition_with(
        &self,
        condition: &Expr,
        state: &[u8],
        locals: &LocalEnv,
    ) -> Vec<(String, StateValue)> {
        let mut looked = OperandCollector { interp: self, state, locals, found: Vec::new() };
        looked.condition(condition);
        looked.found
    }
}

/// Collects the operands of a condition that has a value.
struct OperandCollector<'a> {
    interp: &'a Interp,
    state: &'a [u8],
    locals: &'a LocalEnv<'a>,
    found: Vec<(String, StateValue)>,
}

impl OperandCollector<'_> {
    /// Returns whether a condition holds; `None` if evaluation fails.
    fn holds(&self, condition: &Expr) -> Option<bool> {
        self.interp.eval(condition, self.state, self.locals).ok().map(|value| value != 0)
    }

    /// Collects from those parts of a condition that decided its value.
    fn condition(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, operand) => self.condition(operand),
            ExprKind::Binary(
                operator @ (BinaryOp::And | BinaryOp::Or | BinaryOp::Implies),
                left,
                right,
            ) => {
                // If the left side decides, the right side is not evaluated.
                if self.holds(left) == Some(*operator == BinaryOp::Or) {
                    return self.condition(left);
                }
                if self.holds(expr) == Some(*operator == BinaryOp::And) {
                    self.condition(left);
                }
                self.condition(right);
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                self.condition(condition);
                match self.holds(condition) {
                    Some(true) => self.condition(then),
                    Some(false) => self.condition(otherwise),
                    None => {}
                }
            }
            ExprKind::Quantified { quantifier, local, over, body } => {
                let decides = *quantifier == Quantifier::Some;
                let (low, high) = self.interp.scalar_bounds(*over);
                let found = (low..=high).find(|&value| {
                    self.locals.set(*local, LocalValue::Value(value));
                    self.holds(body) == Some(decides)
                });
                // If all elements have the same value, no element is reported.
                if found.is_some() {
                    self.condition(body);
                }
            }
            _ => self.reads(expr),
        }
    }

    /// Records the values that an expression reads.
    fn reads(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Read(place) | ExprKind::IsUndefined(place) => {
                if let Some((name, value)) = self.name(place).zip(self.value(place)) {
                    self.note(name, value);
                }
            }
            ExprKind::Unary(_, operand) => self.reads(operand),
            ExprKind::Binary(_, left, right) | ExprKind::Same(left, right) => {
                self.reads(left);
                self.reads(right);
            }
            ExprKind::Conditional(..) | ExprKind::Quantified { .. } => self.condition(expr),
            ExprKind::Convert(convert) => self.reads(&convert.operand),
            ExprKind::At { process, slot: None, .. } => {
                let process = &self.interp.program.processes[*process].name;
                if let Some(at) = self.interp.place_of(process, self.state) {
                    self.note(process.clone(), at.into());
                }
            }
            ExprKind::Length(channel)
            | ExprKind::IsEmpty(channel)
            | ExprKind::IsFull(channel)
            | ExprKind::CanReceive(channel, ..) => {
                let held = self.interp.held_in(channel, self.locals.mover, self.state);
                held.into_iter().for_each(|(name, value)| self.note(name, value));
            }
            _ => {}
        }
    }

    fn note(&mut self, name: String, value: StateValue) {
        let is_new = self.found.iter().all(|(other, _)| *other != name);
        if is_new && self.found.len() < OPERANDS_MAX {
            self.found.push((name, value));
        }
    }

    fn value(&self, place: &Place) -> Option<StateValue> {
        let (mut cell, ty) = self.interp.cell(place, self.state, self.locals).ok()?;
        Some(self.interp.value_of(ty, &mut cell, self.state))
    }

    /// Returns the name of a place of the state, with the current values of its indices; `None` for values that live
    /// only during a call.
    fn name(&self, place: &Place) -> Option<String> {
        let PlaceRoot::Variable(variable) = place.root else { return None };
        let about = &self.interp.program.variables[variable];
        let mut name = match (about.owner, self.locals.mover) {
            (Owner::Program, _) => about.name.clone(),
            (Owner::Process(owner), Some(mover)) if owner == mover.process => about.name.clone(),
            (Owner::Process(owner), _) => {
                format!("{}.{}", self.interp.program.processes[owner].name, about.name)
            }
        };
        let mut ty = about.ty;
        for selector in &place.path {
            match (selector, &self.interp.program.types[ty]) {
                (PlaceSelector::Index(index), Type::Array { by, element, .. }) => {
                    let value = self.interp.eval(index, self.state, self.locals).ok()?;
                    let index = self.interp.index_name(by.as_ref(), value);
                    name += &format!("[{index}]");
                    ty = *element;
                }
                (PlaceSelector::Index(index), Type::Multiset { element, .. }) => {
                    let value = self.interp.eval(index, self.state, self.locals).ok()?;
                    name += &format!("[{value}]");
                    ty = *element;
                }
                (PlaceSelector::Field(at), Type::Record { fields, .. }) => {
                    let (field, of) = &fields[*at as usize];
                    name += &format!(".{field}");
                    ty = *of;
                }
                _ => return None,
            }
        }
        Some(name)
    }
}
