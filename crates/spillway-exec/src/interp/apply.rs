//! The effect of statements and messages on a state.

use super::channels::{ChannelInstance, ChannelReceive};
use super::covers;
use super::failure::{check_stop, fault};
use super::frames::{BodyFlow, EvalContext, FunctionCall, LocalEnv, LocalValue, StoreRule};
use super::multisets::MultisetAddition;
use super::{EvalFailure, Interp};
use spillway_base::source::Span;
use spillway_ir::layout::{CellId, ScalarCell};
use spillway_ir::{
    ChannelId, Communication, Expr, LocalId, OverflowRule, Place, ReceivePattern, Stmt, StmtKind,
    message_arity,
};
use spillway_model::FaultKind;

/// The body of a loop over values.
struct ForBody<'a> {
    /// The local that holds the value.
    local: LocalId,
    body: &'a [Stmt],
    /// The position of the loop in the source.
    span: Span,
}

/// A message to be put into a channel.
struct QueuedMessage<'m> {
    values: &'m [i64],
    /// Whether it is inserted before the first greater message.
    sorted: bool,
    span: Span,
}

impl Interp {
    /// Runs statements in order, each in the state that the previous ones left.
    pub(super) fn run(
        &self,
        body: &[Stmt],
        state: &mut [u8],
        locals: &LocalEnv,
    ) -> Result<BodyFlow, EvalFailure> {
        for stmt in body {
            match self.statement(stmt, state, locals)? {
                BodyFlow::Next => {}
                flow => return Ok(flow),
            }
        }
        Ok(BodyFlow::Next)
    }

    /// Runs a statement that controls others.
    pub(super) fn statement(
        &self,
        stmt: &Stmt,
        state: &mut [u8],
        locals: &LocalEnv,
    ) -> Result<BodyFlow, EvalFailure> {
        match &stmt.kind {
            StmtKind::If(branches) => {
                for (condition, body) in branches {
                    if self.holds(condition.as_ref(), state, locals)? {
                        return self.run(body, state, locals);
                    }
                }
                Ok(BodyFlow::Next)
            }
            StmtKind::Switch(subject, branches) => self.switch(subject, branches, state, locals),
            StmtKind::For { local, first, last, step, body } => {
                let first = self.eval(first, state, locals)?;
                let last = self.eval(last, state, locals)?;
                let step = self.eval(step, state, locals)?;
                if step == 0 {
                    return Err(fault(FaultKind::Limit, stmt.span, "the loop's step is 0"));
                }
                let goes_on = |value: &i64| if step > 0 { *value <= last } else { *value >= last };
                let values = std::iter::successors(Some(first), |value| value.checked_add(step));
                let values = values.take_while(goes_on);
                self.run_for(
                    values,
                    ForBody { local: *local, body, span: stmt.span },
                    state,
                    locals,
                )
            }
            StmtKind::ForEach { local, over, body } => {
                let (low, high) = self.scalar_bounds(*over);
                self.run_for(
                    low..=high,
                    ForBody { local: *local, body, span: stmt.span },
                    state,
                    locals,
                )
            }
            StmtKind::Declare { local, ty, body, .. } => {
                self.declare(*local, *ty, state, locals);
                self.run(body, state, locals)
            }
            StmtKind::Alias { local, place, body, .. } => {
                let (cell, ty) = self.cell(place, state, locals)?;
                locals.set(*local, LocalValue::Cells(cell, ty));
                self.run(body, state, locals)
            }
            StmtKind::While { condition, body, limit } => {
                let mut rounds = 0;
                while self.eval(condition, state, locals)? != 0 {
                    check_stop(stmt.span)?;
                    rounds += 1;
                    if rounds > *limit {
                        let message = format!("the loop runs more than {limit} rounds");
                        return Err(fault(FaultKind::Limit, stmt.span, message));
                    }
                    match self.run(body, state, locals)? {
                        BodyFlow::Next => {}
                        flow => return Ok(flow),
                    }
                }
                Ok(BodyFlow::Next)
            }
            StmtKind::Call { function, arguments, into } => {
                let call = FunctionCall { function: *function, arguments, span: stmt.span };
                let flow = self.call(call, state, locals)?;
                if let (BodyFlow::Return(result), Some(place)) = (&flow, into) {
                    let (cell, _) = self.cell(place, state, locals)?;
                    let rule = StoreRule { overflow: OverflowRule::Fails, span: place.span };
                    self.store_or_undefine(cell, *result, rule, state)?;
                }
                Ok(if matches!(flow, BodyFlow::Dropped) { flow } else { BodyFlow::Next })
            }
            StmtKind::Return(Some(value)) => {
                self.possibly_undefined(value, state, locals).map(BodyFlow::Return)
            }
            StmtKind::Return(None) => Ok(BodyFlow::Return(None)),
            StmtKind::Assume(condition) => match self.eval(condition, state, locals)? {
                0 => Ok(BodyFlow::Dropped),
                _ => Ok(BodyFlow::Next),
            },
            _ => self.effect(stmt, state, locals).map(|()| BodyFlow::Next),
        }
    }

    fn run_for(
        &self,
        values: impl Iterator<Item = i64>,
        each: ForBody,
        state: &mut [u8],
        locals: &LocalEnv,
    ) -> Result<BodyFlow, EvalFailure> {
        for value in values {
            check_stop(each.span)?;
            locals.set(each.local, LocalValue::Value(value));
            match self.run(each.body, state, locals)? {
                BodyFlow::Next => {}
                flow => return Ok(flow),
            }
        }
        Ok(BodyFlow::Next)
    }

    /// Runs a statement with a single effect.
    fn effect(&self, stmt: &Stmt, state: &mut [u8], locals: &LocalEnv) -> Result<(), EvalFailure> {
        match &stmt.kind {
            StmtKind::Assign { target, value, overflow } => {
                let (cell, _) = self.cell(target, state, locals)?;
                let value = self.possibly_undefined(value, state, locals)?;
                let rule = StoreRule { overflow: *overflow, span: target.span };
                self.store_or_undefine(cell, value, rule, state)
            }
            StmtKind::Copy { target, source } => self.copy(target, source, state, locals),
            StmtKind::Undefine(place) => self.fill(place, true, state, locals),
            StmtKind::Clear(place) => self.fill(place, false, state, locals),
            StmtKind::Assert { condition, message, asserted } => {
                match self.eval(condition, state, locals)? {
                    0 => {
                        let failed = fault((*asserted).into(), stmt.span, message);
                        Err(self.assertion_failure(failed, condition, state, locals))
                    }
                    _ => Ok(()),
                }
            }
            StmtKind::Cover { property, condition } => {
                if self.eval(condition, state, locals)? != 0 {
                    covers::note_cover(*property);
                }
                Ok(())
            }
            StmtKind::Error(message) => Err(fault(FaultKind::Error, stmt.span, message.clone())),
            StmtKind::Communicate(communication) => {
                let before = state.to_vec();
                let context = EvalContext { state: &before, locals };
                match self.exchange(communication, context, state, &mut |_| {})? {
                    true => Ok(()),
                    false => Err(fault(FaultKind::Limit, stmt.span, "the channel blocks")),
                }
            }
            StmtKind::MultisetAdd { multiset, element } => {
                let added = MultisetAddition { multiset, element, span: stmt.span };
                self.multiset_add(added, state, locals)
            }
            StmtKind::MultisetRemove { multiset, position } => {
                self.multiset_remove(multiset, position, state, locals)
            }
            StmtKind::Print { .. } => Ok(()),
            StmtKind::Run { process, arguments, into } => {
                let values = self.message(arguments, state, locals)?;
                let pid = self.start_instance(*process, &values, stmt.span, state)?;
                let Some(place) = into else { return Ok(()) };
                let (cell, _) = self.cell(place, state, locals)?;
                let rule = StoreRule { overflow: OverflowRule::Wraps, span: place.span };
                self.store(cell, pid, rule, state)
            }
            StmtKind::Exit => {
                locals.mover.iter().for_each(|&mover| self.end_instance(mover, state));
                Ok(())
            }
            _ => unreachable!("other statements say which ones run"),
        }
    }

    /// Stores a value or "undefined", which the cell must allow.
    pub(super) fn store_or_undefine(
        &self,
        cell: CellId,
        value: Option<i64>,
        rule: StoreRule,
        state: &mut [u8],
    ) -> Result<(), EvalFailure> {
        match value {
            Some(value) => self.store(cell, value, rule, state),
            None if self.layout.cells[cell].undefined => {
                self.layout.set(state, cell, None);
                Ok(())
            }
            None => Err(fault(FaultKind::Undefined, rule.span, "an undefined value is stored")),
        }
    }

    /// Stores a value, or applies the overflow rule if it is outside the domain.
    fn store(
        &self,
        cell: CellId,
        value: i64,
        rule: StoreRule,
        state: &mut [u8],
    ) -> Result<(), EvalFailure> {
        let about = &self.layout.cells[cell];
        let value = match rule.overflow {
            _ if about.holds(value) => value,
            OverflowRule::Wraps => about.wrap(value),
            OverflowRule::Fails => {
                let message =
                    format!("{value} is stored, but the range is {} to {}", about.low, about.high);
                return Err(fault(FaultKind::Range, rule.span, message));
            }
        };
        self.layout.set(state, cell, Some(value));
        Ok(())
    }

    fn copy(
        &self,
        target: &Place,
        source: &Place,
        state: &mut [u8],
        locals: &LocalEnv,
    ) -> Result<(), EvalFailure> {
        let (to, ty) = self.cell(target, state, locals)?;
        let (from, _) = self.cell(source, state, locals)?;
        self.copy_cells(from.0, to.0, self.layout.sizes[ty], state);
        Ok(())
    }

    /// Copies cells as they were, even if source and destination overlap.
    pub(super) fn copy_cells(&self, from: u32, to: u32, count: u32, state: &mut [u8]) {
        let copy = |offset: u32, state: &mut [u8]| {
            let code = self.code_in(state, CellId(from + offset));
            self.layout.set_any_code(state, CellId(to + offset), code);
        };
        match from < to {
            true => (0..count).rev().for_each(|offset| copy(offset, state)),
            false => (0..count).for_each(|offset| copy(offset, state)),
        }
    }

    fn switch(
        &self,
        subject: &Expr,
        branches: &[(Vec<Expr>, Vec<Stmt>)],
        state: &mut [u8],
        locals: &LocalEnv,
    ) -> Result<BodyFlow, EvalFailure> {
        let subject = self.eval(subject, state, locals)?;
        for (values, body) in branches {
            let mut chosen = values.is_empty();
            for value in values {
                chosen |= self.eval(value, state, locals)? == subject;
            }
            if chosen {
                return self.run(body, state, locals);
            }
        }
        Ok(BodyFlow::Next)
    }

    /// Gives unused cells their canonical content.
    pub(super) fn clear_cells(&self, first: u32, count: u32, state: &mut [u8]) {
        for cell in (first..first + count).map(CellId) {
            let about = &self.layout.cells[cell];
            let unused = if about.undefined { None } else { Some(about.least) };
            self.layout.set(state, cell, unused);
        }
    }

    /// Sends or receives on a buffered channel. Values and patterns are evaluated in `context`; the messages and the
    /// free capacity are those of `state`, which takes the effect. Returns false if the channel blocks. `tell` gets an
    /// error after which the step continues.
    pub(super) fn exchange(
        &self,
        communication: &Communication,
        context: EvalContext<'_>,
        state: &mut [u8],
        tell: &mut dyn FnMut(EvalFailure),
    ) -> Result<bool, EvalFailure> {
        let EvalContext { state: before, locals } = context;
        let channel = self.channel(communication.channel(), before, locals)?;
        match communication {
            Communication::Send { values, sorted, span, .. } => {
                if self.length(channel, state)
                    == i64::from(self.program.channels[channel.id].capacity)
                {
                    return Ok(false);
                }
                let mut message = self.message(values, before, locals)?;
                self.check_arity(communication, channel, tell)?;
                message.resize(self.program.channels[channel.id].fields.len(), 0);
                let message = QueuedMessage { values: &message, sorted: *sorted, span: *span };
                self.enqueue(channel, message, state)?;
            }
            Communication::Receive { patterns, anywhere, peek, span, .. } => {
                let receive = ChannelReceive { channel, patterns, span: *span };
                let found = self.find_message(receive, *anywhere, context, state)?;
                let Some(position) = found else { return Ok(false) };
                self.check_arity(communication, channel, tell)?;
                let message = self.message_at(channel, position, patterns.len(), state);
                self.deliver(receive, &message, state, locals)?;
                if !peek {
                    self.dequeue(channel, position, state);
                }
            }
        }
        Ok(true)
    }

    /// Returns whether a communication on a buffered channel can take place in `state`.
    pub(super) fn is_ready(
        &self,
        communication: &Communication,
        state: &[u8],
        locals: &LocalEnv,
    ) -> Result<bool, EvalFailure> {
        let channel = self.channel(communication.channel(), state, locals)?;
        match communication {
            Communication::Send { .. } => {
                let capacity = i64::from(self.program.channels[channel.id].capacity);
                Ok(self.length(channel, state) < capacity)
            }
            Communication::Receive { patterns, anywhere, span, .. } => {
                let receive = ChannelReceive { channel, patterns, span: *span };
                let context = EvalContext { state, locals };
                let found = self.find_message(receive, *anywhere, context, state)?;
                Ok(found.is_some())
            }
        }
    }

    /// Returns the values of a message to be sent.
    pub(super) fn message(
        &self,
        values: &[Expr],
        state: &[u8],
        locals: &LocalEnv,
    ) -> Result<Vec<i64>, EvalFailure> {
        values.iter().map(|value| self.eval(value, state, locals)).collect()
    }

    /// Returns the values of a message that is not stored, converted to the fields of its channel. A value outside a
    /// field's domain is treated as if it were stored.
    pub(super) fn fitting(
        &self,
        channel: ChannelId,
        values: &[Expr],
        mut message: Vec<i64>,
    ) -> Result<Vec<i64>, EvalFailure> {
        let about = &self.program.channels[channel];
        for ((value, field), expr) in message.iter_mut().zip(&about.fields).zip(values) {
            let (low, high) = self.scalar_bounds(*field);
            let field = ScalarCell::new(0, low, high, false);
            *value = match about.overflow {
                _ if field.holds(*value) => *value,
                OverflowRule::Wraps => field.wrap(*value),
                OverflowRule::Fails => {
                    let message =
                        format!("{value} is sent, but the range of the field is {low} to {high}");
                    return Err(fault(FaultKind::Range, expr.span, message));
                }
            };
        }
        Ok(message)
    }

    /// Returns a buffered message, for a receive with `fields` fields.
    pub(super) fn message_at(
        &self,
        channel: ChannelInstance,
        position: i64,
        received: usize,
        state: &[u8],
    ) -> Vec<i64> {
        let message = (0..self.program.channels[channel.id].fields.len())
            .map(|field| self.value_in(state, self.message_cell(channel, position, field)))
            .map(Option::unwrap_or_default);
        received_as(message.collect(), received)
    }

    fn enqueue(
        &self,
        channel: ChannelInstance,
        queued: QueuedMessage<'_>,
        state: &mut [u8],
    ) -> Result<(), EvalFailure> {
        let QueuedMessage { values: message, sorted, span } = queued;
        let overflow = self.program.channels[channel.id].overflow;
        let waiting = self.length(channel, state);
        let mut position = waiting;
        while sorted
            && position > 0
            && self.message_at(channel, position - 1, message.len(), state).as_slice() > message
        {
            for field in 0..message.len() {
                let from = self.message_cell(channel, position - 1, field);
                self.copy_cells(from.0, self.message_cell(channel, position, field).0, 1, state);
            }
            position -= 1;
        }
        for (field, &value) in message.iter().enumerate() {
            let cell = self.message_cell(channel, position, field);
            self.store(cell, value, StoreRule { overflow, span }, state)?;
        }
        self.layout.set(state, self.length_cell(channel), Some(waiting + 1));
        Ok(())
    }

    fn dequeue(&self, channel: ChannelInstance, position: i64, state: &mut [u8]) {
        let fields = self.program.channels[channel.id].fields.len() as u32;
        let waiting = self.length(channel, state);
        for later in position + 1..waiting {
            let from = self.message_cell(channel, later, 0).0;
            self.copy_cells(from, from - fields, fields, state);
        }
        self.clear_cells(self.message_cell(channel, waiting - 1, 0).0, fields, state);
        self.layout.set(state, self.length_cell(channel), Some(waiting - 1));
    }

    /// Stores the fields of a message where a receive directs them.
    pub(super) fn deliver(
        &self,
        ChannelReceive { channel, patterns, span }: ChannelReceive,
        message: &[i64],
        state: &mut [u8],
        locals: &LocalEnv,
    ) -> Result<(), EvalFailure> {
        let overflow = self.program.channels[channel.id].overflow;
        for (pattern, &value) in patterns.iter().zip(message) {
            if let ReceivePattern::Into(place) = pattern {
                let (cell, _) = self.cell(place, state, locals)?;
                self.store(cell, value, StoreRule { overflow, span }, state)?;
            }
        }
        Ok(())
    }
}

/// Returns a message, for a receive with `fields` fields.
pub(super) fn received_as(mut message: Vec<i64>, fields: usize) -> Vec<i64> {
    if message_arity::reads_zero_past_end(message.len()) && message.len() < fields {
        message.resize(fields, 0);
    }
    message
}
