//! Evaluation of expressions in a state.

use super::channels::{ChannelInstance, ChannelReceive};
use super::failure::{check_stop, fault};
use super::frames::{EvalContext, FunctionCall, LocalEnv, LocalValue, TypedCells};
use super::multisets::ElementCondition;
use super::{EvalFailure, Interp};
use spillway_base::source::Span;
use spillway_ir::interval::Interval;
use spillway_ir::layout::CellId;
use spillway_ir::{
    ArithmeticError, ArityMismatch, Expr, ExprKind, LocalId, NumberConversion, Owner, Place,
    PlaceRoot, PlaceSelector, ProcessInstance, Quantifier, ReceivePattern, ScalarType, Type,
    TypeId, message_arity,
};
use spillway_model::{FaultKind, RuntimeFault};

impl Interp {
    /// Returns the value of `expr` in `state`.
    pub(super) fn eval(
        &self,
        expr: &Expr,
        state: &[u8],
        locals: &LocalEnv,
    ) -> Result<i64, EvalFailure> {
        match &expr.kind {
            ExprKind::Constant(value) => Ok(*value),
            ExprKind::Read(place) => self.read(place, state, locals),
            ExprKind::Local(local) => match locals.get(*local) {
                LocalValue::Value(value) => Ok(value),
                _ => self.read(&Place::local(*local, expr.span), state, locals),
            },
            ExprKind::Unary(operator, operand) => {
                let value = self.eval(operand, state, locals)?;
                let result = self.program.arithmetic.unary(*operator, value);
                result.map_err(|error| self.no_result(error, 0, value, expr.span))
            }
            ExprKind::Binary(operator, left, right) => {
                let left = self.eval(left, state, locals)?;
                if let Some(decided) = operator.short_circuit_value(left) {
                    return Ok(decided);
                }
                let right = self.eval(right, state, locals)?;
                let result = self.program.arithmetic.binary(*operator, left, right);
                result.map_err(|error| self.no_result(error, left, right, expr.span))
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                match self.eval(condition, state, locals)? {
                    0 => self.eval(otherwise, state, locals),
                    _ => self.eval(then, state, locals),
                }
            }
            ExprKind::At { process, slot, location } => {
                let slot = match slot {
                    None => locals.slot(),
                    Some(slot) => self.eval(slot, state, locals)? as u32,
                };
                let there = slot < self.program.slots(*process)
                    && self.location_in(state, ProcessInstance { process: *process, slot })
                        == Some(*location);
                Ok(there.into())
            }
            ExprKind::Length(channel) => {
                Ok(self.length(self.channel(channel, state, locals)?, state))
            }
            ExprKind::IsEmpty(channel) => {
                Ok((self.length(self.channel(channel, state, locals)?, state) == 0).into())
            }
            ExprKind::IsFull(channel) => {
                let channel = self.channel(channel, state, locals)?;
                let capacity = i64::from(self.program.channels[channel.id].capacity);
                // A rendezvous channel is never full and never holds a message.
                Ok((capacity > 0 && self.length(channel, state) == capacity).into())
            }
            ExprKind::CanReceive(channel, patterns, anywhere) => {
                let channel = self.channel(channel, state, locals)?;
                let receive = ChannelReceive { channel, patterns, span: expr.span };
                let context = EvalContext { state, locals };
                let found = self.find_message(receive, *anywhere, context, state)?;
                Ok(found.is_some().into())
            }
            ExprKind::ChannelNumber(channel) => {
                Ok(self.channel_number(self.channel(channel, state, locals)?, state))
            }
            ExprKind::Self_ => match locals.mover {
                Some(mover) => Ok(self.pid(state, mover)),
                None => Ok(0),
            },
            ExprKind::SlotOf(process, pid) => {
                let pid = self.eval(pid, state, locals)?;
                let slot = self.slot_of(state, *process, pid);
                Ok(slot.unwrap_or(self.program.slots(*process)).into())
            }
            ExprKind::Enabled(pid) => {
                let pid = self.eval(pid, state, locals)?;
                match self.instance(state, pid) {
                    Some(at) => Ok(self.is_enabled_for(at, expr.span, state, locals)?.into()),
                    None => Ok(0),
                }
            }
            ExprKind::PriorityOf(pid) => {
                let pid = self.eval(pid, state, locals)?;
                Ok(self.instance(state, pid).map_or(0, |at| self.priority(state, at)))
            }
            ExprKind::Processes => Ok(self.count_processes(state)),
            ExprKind::Timeout => Ok(locals.timeout.into()),
            ExprKind::IsUndefined(place) => {
                let (cell, _) = self.cell(place, state, locals)?;
                Ok(self.value_in(state, cell).is_none().into())
            }
            ExprKind::Quantified { quantifier, local, over, body } => {
                let stops_at = *quantifier == Quantifier::Some;
                let (low, high) = self.scalar_bounds(*over);
                for value in low..=high {
                    check_stop(body.span)?;
                    locals.set(*local, LocalValue::Value(value));
                    if (self.eval(body, state, locals)? != 0) == stops_at {
                        return Ok(stops_at.into());
                    }
                }
                Ok((!stops_at).into())
            }
            ExprKind::Count { multiset, local, body } => {
                let condition = ElementCondition { local: *local, body };
                self.count(multiset, condition, state, locals)
            }
            ExprKind::Same(left, right) => {
                let left = self.possibly_undefined(left, state, locals)?;
                Ok((left == self.possibly_undefined(right, state, locals)?).into())
            }
            ExprKind::Contains(contains) => {
                let (first, ty) = self.cell(&contains.multiset, state, locals)?;
                let position = self.eval(&contains.position, state, locals)?;
                Ok(self.contains(first, ty, position, state).into())
            }
            ExprKind::Convert(convert) => {
                let value = self.eval(&convert.operand, state, locals)?;
                convert_value(convert, value, expr.span)
            }
            ExprKind::Call(function, arguments) => {
                let call = FunctionCall { function: *function, arguments, span: expr.span };
                let result = self.result_of(call, state, locals)?;
                result.ok_or_else(|| {
                    fault(FaultKind::Undefined, expr.span, "the result is undefined")
                })
            }
            ExprKind::Undefined => {
                Err(fault(FaultKind::Undefined, expr.span, "the undefined value is used"))
            }
        }
    }

    /// Returns the value of an expression that is stored or passed unchanged, so it may be undefined.
    pub(super) fn possibly_undefined(
        &self,
        expr: &Expr,
        state: &[u8],
        locals: &LocalEnv,
    ) -> Result<Option<i64>, EvalFailure> {
        match &expr.kind {
            ExprKind::Undefined => Ok(None),
            ExprKind::Read(place) => {
                let (cell, _) = self.cell(place, state, locals)?;
                Ok(self.value_in(state, cell))
            }
            ExprKind::Convert(convert) => {
                let value = self.possibly_undefined(&convert.operand, state, locals)?;
                value.map(|value| convert_value(convert, value, expr.span)).transpose()
            }
            ExprKind::Call(function, arguments) => {
                let call = FunctionCall { function: *function, arguments, span: expr.span };
                self.result_of(call, state, locals)
            }
            _ => self.eval(expr, state, locals).map(Some),
        }
    }

    /// Returns whether an optional condition holds.
    pub(super) fn holds(
        &self,
        condition: Option<&Expr>,
        state: &[u8],
        locals: &LocalEnv,
    ) -> Result<bool, EvalFailure> {
        condition.map_or(Ok(true), |expr| Ok(self.eval(expr, state, locals)? != 0))
    }

    /// Returns whether an expression holds in a state, for an instance whose names have these values; `None` if
    /// evaluation fails.
    pub fn judge_condition(
        &self,
        expr: &Expr,
        mover: Option<ProcessInstance>,
        values: &[(LocalId, i64)],
        state: &[u8],
    ) -> Option<bool> {
        let locals = mover.map_or_else(LocalEnv::default, LocalEnv::of);
        values.iter().for_each(|&(local, value)| locals.set(local, LocalValue::Value(value)));
        self.eval(expr, state, &locals).ok().map(|value| value != 0)
    }

    /// Returns the value of an expression without parameters in a state.
    ///
    /// # Errors
    ///
    /// If the evaluation fails, with the reason.
    pub fn evaluate(&self, expr: &Expr, state: &[u8]) -> Result<i64, RuntimeFault> {
        self.eval(expr, state, &LocalEnv::default()).map_err(|it| *it)
    }

    /// Returns the failure of an operation on two integers without a result.
    #[cold]
    fn no_result(&self, error: ArithmeticError, left: i64, right: i64, span: Span) -> EvalFailure {
        let message = match error {
            ArithmeticError::Division => format!("{left} is divided by zero"),
            ArithmeticError::Shift => {
                let word = self.program.arithmetic.word();
                format!("{left} is shifted by {right}, but a word has {word} bits")
            }
            ArithmeticError::Range => "the result does not fit 64 bits".to_string(),
        };
        fault(error.into(), span, message)
    }

    fn read(&self, place: &Place, state: &[u8], locals: &LocalEnv) -> Result<i64, EvalFailure> {
        let (cell, _) = self.cell(place, state, locals)?;
        self.value_in(state, cell).ok_or_else(|| self.undefined(place, state, locals))
    }

    /// Returns the first cell of a place and the place's type.
    pub(super) fn cell(
        &self,
        place: &Place,
        state: &[u8],
        locals: &LocalEnv,
    ) -> Result<(CellId, TypeId), EvalFailure> {
        let (CellId(mut cell), mut ty) = match place.root {
            PlaceRoot::Variable(variable) => {
                let about = &self.program.variables[variable];
                let slot = self.slot_at(place, about.owner, state, locals)?;
                (self.own_cell(variable, slot), about.ty)
            }
            PlaceRoot::Local(local) => match locals.get(local) {
                LocalValue::Cells(first, ty) => (first, ty),
                _ => unreachable!("the validator tells names from places"),
            },
        };
        for selector in &place.path {
            let whole = TypedCells { first: CellId(cell), ty };
            let (offset, part) = self.select(selector, whole, state, locals)?;
            cell += offset;
            ty = part;
        }
        Ok((CellId(cell), ty))
    }

    /// Returns the slot of the variable that a place begins at.
    fn slot_at(
        &self,
        place: &Place,
        owner: Owner,
        state: &[u8],
        locals: &LocalEnv,
    ) -> Result<u32, EvalFailure> {
        match (&place.slot, owner) {
            (_, Owner::Program) => Ok(0),
            (None, Owner::Process(_)) => Ok(locals.slot()),
            (Some(slot), Owner::Process(process)) => {
                let slot = self.eval(slot, state, locals)?;
                if !(0..i64::from(self.program.slots(process))).contains(&slot) {
                    let name = &self.program.processes[process].name;
                    let message = format!("no process {name} has this pid");
                    return Err(fault(FaultKind::Index, place.span, message));
                }
                Ok(slot as u32)
            }
        }
    }

    fn select(
        &self,
        selector: &PlaceSelector,
        whole: TypedCells,
        state: &[u8],
        locals: &LocalEnv,
    ) -> Result<(u32, TypeId), EvalFailure> {
        match (selector, &self.program.types[whole.ty]) {
            (PlaceSelector::Index(index), Type::Array { low, length, element, .. }) => {
                let value = self.eval(index, state, locals)?;
                let high = low + i64::from(*length) - 1;
                if !(*low..=high).contains(&value) {
                    let message =
                        format!("the index is {value}, but the array has elements {low} to {high}");
                    return Err(fault(FaultKind::Index, index.span, message));
                }
                Ok(((value - low) as u32 * self.layout.sizes[*element], *element))
            }
            (PlaceSelector::Index(index), Type::Multiset { element, .. }) => {
                let position = self.position(index, whole, state, locals)?;
                Ok((position * self.bag(whole.ty).stride + 1, *element))
            }
            (PlaceSelector::Field(number), Type::Record { fields, .. }) => {
                let before = &fields[..*number as usize];
                let offset = before.iter().map(|(_, ty)| self.layout.sizes[*ty]).sum();
                Ok((offset, fields[*number as usize].1))
            }
            _ => unreachable!("the validator matches selectors to types"),
        }
    }

    /// Returns the least and greatest value of a scalar type.
    pub(super) fn scalar_bounds(&self, ty: TypeId) -> Interval {
        match &self.program.types[ty] {
            Type::Scalar(ScalarType { domain, .. }) => self.program.bounds(domain),
            _ => unreachable!("the validator lets only scalar types be ranged over"),
        }
    }

    /// Returns the number of buffered messages.
    pub(super) fn length(&self, channel: ChannelInstance, state: &[u8]) -> i64 {
        match self.program.channels[channel.id].capacity {
            0 => 0,
            _ => self.value_in(state, self.length_cell(channel)).unwrap_or_default(),
        }
    }

    /// Returns the cell of the number of buffered messages.
    pub(super) fn length_cell(&self, channel: ChannelInstance) -> CellId {
        self.layout.channels[channel.id].in_slot(channel.slot)
    }

    /// Returns the cell of a field of the `position`-th buffered message.
    pub(super) fn message_cell(
        &self,
        channel: ChannelInstance,
        position: i64,
        field: usize,
    ) -> CellId {
        let fields = self.program.channels[channel.id].fields.len() as u32;
        let first = self.length_cell(channel).0;
        CellId(first + 1 + position as u32 * fields + field as u32)
    }

    /// Returns the position of the message of `state` that a receive would take; its patterns are evaluated in
    /// `context`.
    pub(super) fn find_message(
        &self,
        receive: ChannelReceive,
        anywhere: bool,
        context: EvalContext<'_>,
        state: &[u8],
    ) -> Result<Option<i64>, EvalFailure> {
        let waiting = self.length(receive.channel, state);
        let reachable = if anywhere { waiting } else { waiting.min(1) };
        for position in 0..reachable {
            let message = self.message_at(receive.channel, position, receive.patterns.len(), state);
            if self.matches(receive, &message, context.state, context.locals)? {
                return Ok(Some(position));
            }
        }
        Ok(None)
    }

    /// Returns whether every field of a channel's message that must have a certain value has it.
    pub(super) fn matches(
        &self,
        ChannelReceive { channel, patterns, span }: ChannelReceive,
        message: &[i64],
        state: &[u8],
        locals: &LocalEnv,
    ) -> Result<bool, EvalFailure> {
        for (pattern, value) in patterns.iter().zip(message) {
            if let ReceivePattern::Match(expected) = pattern
                && self.eval(expected, state, locals)? != *value
            {
                return Ok(false);
            }
        }
        let fields = self.program.channels[channel.id].fields.len();
        match message_arity::fails_past_end(patterns, fields) {
            true => Err(self.misfit(ArityMismatch::TooManyReceived, channel, patterns.len(), span)),
            false => Ok(true),
        }
    }
}

/// Returns a value converted to another numbering.
fn convert_value(convert: &NumberConversion, value: i64, span: Span) -> Result<i64, EvalFailure> {
    let piece = convert.pieces.iter().find(|piece| (piece.low..=piece.high).contains(&value));
    piece.map(|piece| value + piece.by).ok_or_else(|| {
        fault(FaultKind::Range, span, format!("{value} is of another member of the union"))
    })
}
