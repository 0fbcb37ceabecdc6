//! Failures of expressions and places.

use super::statements::StoreTarget;
use super::{AbstractState, FailureAnalysis, FunctionResult};
use crate::absint::{AbstractValue, CheckedRange, Environment};
use spillway_base::source::Span;
use spillway_ir::interval::{Interval, NONE, is_none};
use spillway_ir::{
    Arithmetic, CallArgument, ChannelRef, Expr, ExprKind, Function, FunctionId, LocalId, Owner,
    Place, PlaceRoot, PlaceSelector, ReceivePattern, Type, TypeId, message_arity,
};

/// The maximal size of a multiset whose positions are examined one by one.
const POSITIONS_MAX: u32 = 64;

/// Operations fail by the rules of [`CheckedRange`]. Other failures are recorded where they occur.
impl Environment for FailureAnalysis<'_> {
    type Value = CheckedRange;

    fn arithmetic(&self) -> Arithmetic {
        self.of.program().arithmetic
    }

    fn read(&mut self, place: &Place) -> CheckedRange {
        self.read_place(place);
        CheckedRange::exact(self.of.values_at(place))
    }

    fn local(&mut self, local: LocalId) -> CheckedRange {
        if self.of.local_place_type(local).is_some() {
            self.read_place(&Place::local(local, Span::default()));
        }
        CheckedRange::exact(self.of.local_values(local))
    }

    fn query(&mut self, expr: &Expr) -> CheckedRange {
        self.judge_query(&expr.kind);
        CheckedRange::exact(self.of.query_values(&expr.kind))
    }

    fn value_under(&mut self, condition: &Expr, holds: bool, expr: &Expr) -> CheckedRange {
        let before = self.of.state.clone();
        self.assume(condition, holds);
        let value = self.value(expr);
        let is_reached = !self.of.state.is_unreachable();
        self.of.state = before;
        CheckedRange { may_fail: value.may_fail && is_reached, ..value }
    }
}

impl FailureAnalysis<'_> {
    /// Analyses an expression whose value must be defined.
    pub fn expr(&mut self, expr: &Expr) {
        let value = self.value(expr);
        self.add_failure_if(value.may_fail);
    }

    /// Analyses an expression that is not computed from other values.
    fn judge_query(&mut self, kind: &ExprKind) {
        match kind {
            ExprKind::Self_ | ExprKind::Processes | ExprKind::Timeout => {}
            ExprKind::Undefined | ExprKind::Enabled(_) => self.add_failure(),
            ExprKind::IsUndefined(place) => self.place(place),
            ExprKind::Same(left, right) => {
                self.possibly_undefined(left);
                self.possibly_undefined(right);
            }
            ExprKind::Quantified { local, over, body, .. } => {
                let values = self.of.bounds(*over);
                self.of.bind_values(*local, values);
                let before = self.of.state.clone();
                self.expr(body);
                self.of.state = before;
            }
            ExprKind::Count { multiset, local, body } => self.count(multiset, *local, body),
            ExprKind::Call(function, arguments) => {
                let result = self.call_in_expression(*function, arguments);
                self.add_failure_if(result.undefined);
            }
            _ => self.question(kind),
        }
    }

    /// Analyses queries about control, channels and multisets.
    fn question(&mut self, kind: &ExprKind) {
        match kind {
            ExprKind::At { slot, .. } => slot.iter().for_each(|it| self.expr(it)),
            ExprKind::SlotOf(_, pid) | ExprKind::PriorityOf(pid) => self.expr(pid),
            ExprKind::Contains(contains) => {
                self.place(&contains.multiset);
                self.expr(&contains.position);
            }
            ExprKind::Length(channel)
            | ExprKind::IsEmpty(channel)
            | ExprKind::IsFull(channel)
            | ExprKind::ChannelNumber(channel) => self.channel(channel),
            ExprKind::CanReceive(channel, patterns, _) => {
                self.channel(channel);
                self.patterns(channel, patterns);
            }
            _ => unreachable!("other expressions are computed from others"),
        }
    }

    /// Analyses a read of a place whose value must be defined.
    fn read_place(&mut self, place: &Place) {
        self.place(place);
        let may = self.may_be_undefined_at(place);
        self.add_failure_if(may);
        // The code continues only if the value was defined.
        if let Some(cell) = self.of.certain_cell(place)
            && self.of.state.get(cell).is_none()
            && !is_none(self.of.values_at(place))
        {
            let held = self.of.values_at(place);
            self.of.state.set(cell, held);
        }
    }

    /// Returns whether a place may be undefined.
    pub(super) fn may_be_undefined_at(&mut self, place: &Place) -> bool {
        let ty = self.of.place_type(place);
        self.of.may_be_undefined(ty) && !self.of.is_surely_defined(place)
    }

    /// Analyses an expression that is stored or passed unchanged. Returns whether it may be undefined.
    pub(super) fn possibly_undefined(&mut self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Undefined => true,
            ExprKind::Read(place) => {
                self.place(place);
                self.may_be_undefined_at(place)
            }
            ExprKind::Convert(convert) => {
                let undefined = self.possibly_undefined(&convert.operand);
                let operand = CheckedRange::exact(self.of.values(&convert.operand));
                self.add_failure_if(operand.converted(&convert.pieces).may_fail);
                undefined
            }
            ExprKind::Call(function, arguments) => {
                self.call_in_expression(*function, arguments).undefined
            }
            _ => {
                self.expr(expr);
                false
            }
        }
    }

    fn count(&mut self, multiset: &Place, local: LocalId, body: &Expr) {
        self.place(multiset);
        let ty = self.of.place_type(multiset);
        let Type::Multiset { capacity, .. } = self.of.program().types[ty] else { return };
        let cell = self.of.certain_cell(multiset).filter(|_| capacity <= POSITIONS_MAX);
        let before = self.of.state.clone();
        match cell {
            None => {
                self.of.bind_values(local, (0, i64::from(capacity) - 1));
                self.expr(body);
                self.of.state = before;
            }
            Some(cell) => {
                for position in 0..i64::from(capacity) {
                    self.of.bind_value(local, position);
                    self.of.state.contains(cell, position);
                    self.expr(body);
                    self.of.state = before.clone();
                }
            }
        }
    }

    /// Analyses the evaluation of a place.
    pub(super) fn place(&mut self, place: &Place) {
        if let (Some(slot), PlaceRoot::Variable(variable)) = (&place.slot, place.root)
            && let Owner::Process(process) = self.of.program().variables[variable].owner
        {
            self.expr(slot);
            let slots = i64::from(self.of.program().slots(process));
            self.is_within(slot, (0, slots - 1));
        }
        let mut ty = self.of.root_type(place);
        for (at, selector) in place.path.iter().enumerate() {
            let program = self.of.program();
            ty = match (selector, &program.types[ty]) {
                (PlaceSelector::Field(number), Type::Record { fields, .. }) => {
                    fields[*number as usize].1
                }
                (PlaceSelector::Index(index), Type::Array { low, length, element, .. }) => {
                    self.expr(index);
                    self.is_within(index, (*low, low + i64::from(*length) - 1));
                    *element
                }
                (PlaceSelector::Index(index), Type::Multiset { element, .. }) => {
                    self.expr(index);
                    let multiset = Place { path: place.path[..at].to_vec(), ..place.clone() };
                    self.has_element(&multiset, index);
                    *element
                }
                _ => unreachable!("the validator matches selectors to types"),
            };
        }
    }

    /// Adds a failure if there may be no element at a position.
    pub(super) fn has_element(&mut self, multiset: &Place, position: &Expr) {
        let known = self.of.certain_cell(multiset).zip(self.of.single(position));
        let there = known.is_some_and(|(cell, at)| self.of.state.surely_contains(cell, at));
        self.add_failure_if(!there);
    }

    /// Adds a failure if a value may be outside a range.
    pub(super) fn is_within(&mut self, expr: &Expr, range: Interval) {
        let (low, high) = self.of.values(expr);
        self.add_failure_if(low < range.0 || range.1 < high);
    }

    /// Analyses the evaluation of a channel reference.
    pub fn channel(&mut self, channel: &ChannelRef) {
        match channel {
            ChannelRef::Named(_) => {}
            ChannelRef::Element { count, index, .. } => {
                self.expr(index);
                self.is_within(index, (0, i64::from(*count) - 1));
            }
            ChannelRef::Computed(number) => {
                self.expr(number);
                if self.of.channel_of_live(number).is_some() {
                    return;
                }
                let common = self.of.program().channels_of(Owner::Program).count() as i64;
                self.is_within(number, (1, common));
            }
        }
    }

    /// Analyses the patterns with which the fields of a message are compared.
    pub(super) fn patterns(&mut self, channel: &ChannelRef, patterns: &[ReceivePattern]) {
        self.has_fields(channel, |fields| !message_arity::fails_past_end(patterns, fields));
        for pattern in patterns {
            if let ReceivePattern::Match(value) = pattern {
                self.expr(value);
            }
        }
    }

    fn call_in_expression(&mut self, id: FunctionId, arguments: &[CallArgument]) -> FunctionResult {
        let before = self.of.state.clone();
        let result = self.call(id, arguments);
        self.of.state = before;
        result
    }

    /// Analyses a call.
    pub(super) fn call(&mut self, id: FunctionId, arguments: &[CallArgument]) -> FunctionResult {
        let program = self.of.program();
        let function = &program.functions[id];
        let mut spots = Vec::new();
        for (argument, parameter) in arguments.iter().zip(&function.parameters) {
            let spot = match argument {
                CallArgument::Reference(place) => {
                    self.place(place);
                    self.of.resolve_place(place)
                }
                _ => {
                    let spot = self.of.fresh(parameter.ty);
                    self.give(argument, &spot, parameter.ty);
                    spot
                }
            };
            spots.push(spot);
        }
        if function.whole {
            return self.fail_function(function);
        }
        let left = std::mem::replace(&mut self.left, AbstractState::unreachable());
        let result = std::mem::replace(&mut self.result, FunctionResult::NEVER);
        let bounds = function.result.map(|ty| self.of.bounds(ty));
        let outer = std::mem::replace(&mut self.bounds, bounds);
        self.of.enter_with(function, spots);
        self.body(&function.body);
        self.of.leave_function();
        self.bounds = outer;
        if let Some(bounds) = bounds {
            // The function ends without a result.
            self.add_failure();
            self.of.state = AbstractState::unreachable();
            let (low, high) = self.result.values;
            self.result.values = (low.max(bounds.0), high.min(bounds.1));
        }
        let left = std::mem::replace(&mut self.left, left);
        self.of.state.join(left);
        std::mem::replace(&mut self.result, result)
    }

    /// Assumes that a function fails in every way and returns any result.
    fn fail_function(&mut self, function: &Function) -> FunctionResult {
        self.add_failure();
        self.found.assertion |= !self.of.state.is_unreachable();
        let values = function.result.map_or(NONE, |ty| self.of.bounds(ty));
        FunctionResult { values, undefined: true }
    }

    /// Stores a value that is passed to a function or added to a multiset. Returns whether any of it may be
    /// undefined.
    pub(super) fn give(
        &mut self,
        argument: &CallArgument,
        to: &crate::access::collector::ResolvedPlace,
        ty: TypeId,
    ) -> bool {
        match argument {
            CallArgument::Value(value) => {
                let undefined = self.possibly_undefined(value);
                let target = StoreTarget { place: to, ty };
                self.store_in(target, value, undefined, spillway_ir::OverflowRule::Fails);
                undefined
            }
            CallArgument::Copy(place) | CallArgument::Reference(place) => {
                self.place(place);
                let from = self.of.resolve_place(place);
                self.copy_cells(&from, to)
            }
        }
    }
}
