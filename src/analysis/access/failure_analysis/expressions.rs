//! What fails when an expression is judged or a place is found.

use super::{AbstractState, FailureAnalysis, FunctionResult};
use crate::ir::interval::{self, Interval, NONE, is_none};
use crate::ir::{
    Arithmetic, BinaryOp, CallArgument, ChannelRef, Expr, ExprKind, Function, FunctionId, LocalId,
    NumberConversion, Owner, Place, PlaceRoot, PlaceSelector, ReceivePattern, Type, TypeId,
    UnaryOp, message_arity,
};

/// Positions of a multiset with more are not looked at one by one.
const POSITIONS_MAX: u32 = 64;

impl FailureAnalysis<'_> {
    /// Judges an expression whose value is needed.
    pub fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Constant(_) | ExprKind::Self_ | ExprKind::Processes | ExprKind::Timeout => {}
            ExprKind::Undefined | ExprKind::Enabled(_) => self.add_failure(),
            ExprKind::Read(place) => self.read(place),
            ExprKind::Local(local) => self.local(*local, expr),
            ExprKind::IsUndefined(place) => self.place(place),
            ExprKind::Unary(operator, operand) => {
                self.expr(operand);
                let negates = *operator == UnaryOp::Negate;
                let least = self.of.values(operand).0 == i64::MIN;
                self.add_failure_if(negates && least && self.is_checked());
            }
            ExprKind::Binary(operator, left, right) => self.binary(*operator, left, right),
            ExprKind::Conditional(condition, then, otherwise) => {
                self.expr(condition);
                self.under_condition(condition, true, |it| it.expr(then));
                self.under_condition(condition, false, |it| it.expr(otherwise));
            }
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
            ExprKind::Convert(convert) => {
                self.expr(&convert.operand);
                self.converted(convert);
            }
            ExprKind::Call(function, arguments) => {
                let result = self.call_in_expression(*function, arguments);
                self.add_failure_if(result.undefined);
            }
            _ => self.question(&expr.kind),
        }
    }

    /// Expressions that ask about control, channels and multisets.
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

    fn is_checked(&self) -> bool {
        self.of.program().arithmetic == Arithmetic::Checked64
    }

    /// Does something as it is done where a condition holds, or does not.
    fn under_condition(&mut self, condition: &Expr, holds: bool, run: impl FnOnce(&mut Self)) {
        let before = self.of.state.clone();
        self.assume(condition, holds);
        run(self);
        self.of.state = before;
    }

    fn binary(&mut self, operator: BinaryOp, left: &Expr, right: &Expr) {
        self.expr(left);
        match operator {
            BinaryOp::And | BinaryOp::Implies => {
                self.under_condition(left, true, |it| it.expr(right))
            }
            BinaryOp::Or => self.under_condition(left, false, |it| it.expr(right)),
            _ => {
                self.expr(right);
                let may = self.operation_may_fail(operator, left, right);
                self.add_failure_if(may);
            }
        }
    }

    fn operation_may_fail(&self, operator: BinaryOp, left: &Expr, right: &Expr) -> bool {
        let arithmetic = self.of.program().arithmetic;
        let (left, right) = (self.of.values(left), self.of.values(right));
        let leaves = || {
            self.is_checked() && interval::binary(arithmetic, operator, left, right).may_overflow
        };
        match operator {
            BinaryOp::Divide | BinaryOp::Remainder => (right.0 <= 0 && 0 <= right.1) || leaves(),
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => {
                right.0 < 0 || right.1 >= arithmetic.word() || leaves()
            }
            _ => !arithmetic.always_succeeds(operator) && leaves(),
        }
    }

    fn local(&mut self, local: LocalId, expr: &Expr) {
        if self.of.local_place_type(local).is_some() {
            self.read(&Place::local(local, expr.span));
        }
    }

    /// Judges what is at a place, which has to have a value.
    fn read(&mut self, place: &Place) {
        self.place(place);
        let may = self.may_be_undefined_at(place);
        self.add_failure_if(may);
        // Whoever goes on has read a value.
        if let Some(cell) = self.of.certain_cell(place)
            && self.of.state.get(cell).is_none()
            && !is_none(self.of.values_at(place))
        {
            let held = self.of.values_at(place);
            self.of.state.set(cell, held);
        }
    }

    /// Whether there may be no value at a place.
    pub(super) fn may_be_undefined_at(&mut self, place: &Place) -> bool {
        let ty = self.of.place_type(place);
        self.of.may_be_undefined(ty) && !self.of.is_surely_defined(place)
    }

    /// Judges an expression that is stored or given as it is. Gives whether it may be undefined.
    pub(super) fn possibly_undefined(&mut self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Undefined => true,
            ExprKind::Read(place) => {
                self.place(place);
                self.may_be_undefined_at(place)
            }
            ExprKind::Convert(convert) => {
                let undefined = self.possibly_undefined(&convert.operand);
                self.converted(convert);
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

    /// A value that is in no piece cannot be converted.
    fn converted(&mut self, convert: &NumberConversion) {
        let (low, high) = self.of.values(&convert.operand);
        let mut next = low;
        // Pieces are few, and in no order.
        while let Some(piece) =
            convert.pieces.iter().find(|it| next <= high && it.low <= next && next <= it.high)
        {
            match piece.high.checked_add(1) {
                Some(after) => next = after,
                None => return,
            }
        }
        self.add_failure_if(next <= high);
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

    /// Finds a place.
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

    /// It fails if there is no element at this position.
    pub(super) fn has_element(&mut self, multiset: &Place, position: &Expr) {
        let known = self.of.certain_cell(multiset).zip(self.of.single(position));
        let there = known.is_some_and(|(cell, at)| self.of.state.surely_contains(cell, at));
        self.add_failure_if(!there);
    }

    /// It fails if a value is outside this range.
    pub(super) fn is_within(&mut self, expr: &Expr, range: Interval) {
        let (low, high) = self.of.values(expr);
        self.add_failure_if(low < range.0 || range.1 < high);
    }

    /// Finds a channel.
    pub fn channel(&mut self, channel: &ChannelRef) {
        match channel {
            ChannelRef::Named(_) => {}
            ChannelRef::Element { count, index, .. } => {
                self.expr(index);
                self.is_within(index, (0, i64::from(*count) - 1));
            }
            ChannelRef::Computed(number) => {
                self.expr(number);
                let common = self.of.program().channels_of(Owner::Program).count() as i64;
                self.is_within(number, (1, common));
            }
        }
    }

    /// Judges what the fields of a message are compared with.
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

    /// Calls a function.
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
            // It ends without a result.
            self.add_failure();
            self.of.state = AbstractState::unreachable();
            let (low, high) = self.result.values;
            self.result.values = (low.max(bounds.0), high.min(bounds.1));
        }
        let left = std::mem::replace(&mut self.left, left);
        self.of.state.join(left);
        std::mem::replace(&mut self.result, result)
    }

    /// Takes it that a function fails in every way, and gives any result.
    fn fail_function(&mut self, function: &Function) -> FunctionResult {
        self.add_failure();
        self.found.assertion |= !self.of.state.is_unreachable();
        let values = function.result.map_or(NONE, |ty| self.of.bounds(ty));
        FunctionResult { values, undefined: true }
    }

    /// Stores what is given to a function, or added to a multiset, by value. Gives whether any of it
    /// may be undefined.
    pub(super) fn give(
        &mut self,
        argument: &CallArgument,
        to: &crate::analysis::access::collector::ResolvedPlace,
        ty: TypeId,
    ) -> bool {
        match argument {
            CallArgument::Value(value) => {
                let undefined = self.possibly_undefined(value);
                self.store_in(to, ty, (value, undefined), crate::ir::OverflowRule::Fails);
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
