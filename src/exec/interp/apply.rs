//! What statements and messages do to a state.

use super::eval::{Locals, fault, with_local};
use super::channels::ChannelAt;
use super::{Failure, Interp};
use crate::exec::FaultKind;
use crate::ir::layout::CellId;
use crate::ir::{
    Argument, Communication, Expr, ExprKind, Overflow, Pattern, Place, Stmt, StmtKind,
    Type,
};
use crate::source::Span;

impl Interp {
    /// Runs statements in order, each in the state the ones before it left.
    pub(super) fn run(
        &self,
        body: &[Stmt],
        state: &mut [u8],
        locals: &Locals,
    ) -> Result<(), Failure> {
        body.iter().try_for_each(|stmt| self.statement(stmt, state, locals))
    }

    pub(super) fn statement(&self, stmt: &Stmt, state: &mut [u8], locals: &Locals) -> Result<(), Failure> {
        match &stmt.kind {
            StmtKind::Assign { target, value, overflow } => {
                self.assign(target, value, *overflow, state, locals)
            }
            StmtKind::Copy { target, source } => self.copy(target, source, state, locals),
            StmtKind::If(branches) => {
                for (condition, body) in branches {
                    if self.holds(condition.as_ref(), state, locals)? {
                        return self.run(body, state, locals);
                    }
                }
                Ok(())
            }
            StmtKind::Switch(subject, branches) => self.switch(subject, branches, state, locals),
            StmtKind::For { local, first, last, step, body } => {
                let first = self.eval(first, state, locals)?;
                let last = self.eval(last, state, locals)?;
                let step = self.eval(step, state, locals)?;
                if step == 0 {
                    return Err(fault(FaultKind::Limit, stmt.span, "the loop's step is 0"));
                }
                let mut value = first;
                while if step > 0 { value <= last } else { value >= last } {
                    self.run(body, state, &with_local(locals, local.0, value))?;
                    value += step;
                }
                Ok(())
            }
            StmtKind::ForEach { local, over, body } => {
                let (low, high) = self.scalar_bounds(*over);
                (low..=high).try_for_each(|value| {
                    self.run(body, state, &with_local(locals, local.0, value))
                })
            }
            StmtKind::While { condition, body, limit } => {
                let mut rounds = 0;
                while self.eval(condition, state, locals)? != 0 {
                    rounds += 1;
                    if rounds > *limit {
                        let message = format!("the loop runs more than {limit} rounds");
                        return Err(fault(FaultKind::Limit, stmt.span, message));
                    }
                    self.run(body, state, locals)?;
                }
                Ok(())
            }
            StmtKind::Undefine(place) => self.fill(place, state, locals, |_| None),
            StmtKind::Clear(place) => self.fill(place, state, locals, Some),
            StmtKind::Assert { condition, message } => match self.eval(condition, state, locals)? {
                0 => Err(fault(FaultKind::Assertion, stmt.span, message.clone())),
                _ => Ok(()),
            },
            StmtKind::Error(message) => Err(fault(FaultKind::Error, stmt.span, message.clone())),
            StmtKind::Communicate(communication) => {
                let before = state.to_vec();
                match self.exchange(communication, &before, state, locals)? {
                    true => Ok(()),
                    false => Err(fault(FaultKind::Limit, stmt.span, "the channel blocks")),
                }
            }
            StmtKind::MultisetAdd { multiset, element } => {
                self.multiset_add(multiset, element, stmt.span, state, locals)
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
                self.store(cell, pid, Overflow::Wraps, place.span, state)
            }
            StmtKind::Exit => {
                locals.mover.iter().for_each(|&mover| self.end_instance(mover, state));
                Ok(())
            }
            StmtKind::Call(..) | StmtKind::Return(_) | StmtKind::Declare { .. } => {
                Err(fault(FaultKind::Error, stmt.span, "this statement cannot be executed yet"))
            }
        }
    }

    fn assign(
        &self,
        target: &Place,
        value: &Expr,
        overflow: Overflow,
        state: &mut [u8],
        locals: &Locals,
    ) -> Result<(), Failure> {
        let (cell, _) = self.cell(target, state, locals)?;
        if value.kind == ExprKind::Undefined {
            self.layout.set(state, cell, None);
            return Ok(());
        }
        let value = self.eval(value, state, locals)?;
        self.store(cell, value, overflow, target.span, state)
    }

    /// Stores a value, or applies the rule for one outside the domain.
    fn store(
        &self,
        cell: CellId,
        value: i64,
        overflow: Overflow,
        span: Span,
        state: &mut [u8],
    ) -> Result<(), Failure> {
        let about = &self.layout.cells[cell];
        let value = match overflow {
            _ if about.holds(value) => value,
            Overflow::Wraps => about.wrap(value),
            Overflow::Fails => {
                let message =
                    format!("{value} is stored, but the range is {} to {}", about.low, about.high);
                return Err(fault(FaultKind::Range, span, message));
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
        locals: &Locals,
    ) -> Result<(), Failure> {
        let (to, ty) = self.cell(target, state, locals)?;
        let (from, _) = self.cell(source, state, locals)?;
        let values: Vec<Option<i64>> = (0..self.layout.sizes[ty])
            .map(|offset| self.layout.get(state, CellId(from.0 + offset)))
            .collect();
        for (offset, value) in values.into_iter().enumerate() {
            self.layout.set(state, CellId(to.0 + offset as u32), value);
        }
        Ok(())
    }

    fn switch(
        &self,
        subject: &Expr,
        branches: &[(Vec<Expr>, Vec<Stmt>)],
        state: &mut [u8],
        locals: &Locals,
    ) -> Result<(), Failure> {
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
        Ok(())
    }

    /// Sets every scalar of a place to what `value` makes of its least value.
    fn fill(
        &self,
        place: &Place,
        state: &mut [u8],
        locals: &Locals,
        value: impl Fn(i64) -> Option<i64>,
    ) -> Result<(), Failure> {
        let (first, ty) = self.cell(place, state, locals)?;
        for offset in 0..self.layout.sizes[ty] {
            let cell = CellId(first.0 + offset);
            self.layout.set(state, cell, value(self.layout.cells[cell].low));
        }
        Ok(())
    }

    fn multiset_add(
        &self,
        multiset: &Place,
        element: &Argument,
        span: Span,
        state: &mut [u8],
        locals: &Locals,
    ) -> Result<(), Failure> {
        let (first, ty) = self.cell(multiset, state, locals)?;
        let Type::Multiset { capacity, element: element_type } = self.program.types[ty] else {
            unreachable!("the validator lets only multisets be added to");
        };
        let size = self.layout.get(state, first).unwrap_or_default();
        if size >= i64::from(capacity) {
            let message = format!("the multiset already holds its {capacity} elements");
            return Err(fault(FaultKind::Limit, span, message));
        }
        let width = self.layout.sizes[element_type];
        let to = first.0 + 1 + size as u32 * width;
        match element {
            Argument::Value(value) => {
                let value = self.eval(value, state, locals)?;
                self.store(CellId(to), value, Overflow::Fails, span, state)?;
            }
            Argument::Reference(place) => {
                let (from, _) = self.cell(place, state, locals)?;
                self.move_cells(from.0, to, width, state);
            }
        }
        self.layout.set(state, first, Some(size + 1));
        Ok(())
    }

    fn multiset_remove(
        &self,
        multiset: &Place,
        position: &Expr,
        state: &mut [u8],
        locals: &Locals,
    ) -> Result<(), Failure> {
        let (first, ty) = self.cell(multiset, state, locals)?;
        let Type::Multiset { element, .. } = self.program.types[ty] else {
            unreachable!("the validator lets only multisets be removed from");
        };
        let size = self.layout.get(state, first).unwrap_or_default();
        let at = self.eval(position, state, locals)?;
        if !(0..size).contains(&at) {
            let message = format!("position {at} of a multiset of {size} elements is removed");
            return Err(fault(FaultKind::Index, position.span, message));
        }
        let width = self.layout.sizes[element];
        let cell = |position: i64| first.0 + 1 + position as u32 * width;
        for later in at + 1..size {
            self.move_cells(cell(later), cell(later - 1), width, state);
        }
        self.clear_cells(cell(size - 1), width, state);
        self.layout.set(state, first, Some(size - 1));
        Ok(())
    }

    fn move_cells(&self, from: u32, to: u32, count: u32, state: &mut [u8]) {
        for offset in 0..count {
            let value = self.layout.get(state, CellId(from + offset));
            self.layout.set(state, CellId(to + offset), value);
        }
    }

    /// Gives unused cells the one content that unused cells have.
    pub(super) fn clear_cells(&self, first: u32, count: u32, state: &mut [u8]) {
        for cell in (first..first + count).map(CellId) {
            let about = &self.layout.cells[cell];
            let unused = if about.undefined { None } else { Some(about.low) };
            self.layout.set(state, cell, unused);
        }
    }

    /// Sends or receives on a buffered channel: values and patterns are judged in `before`, the
    /// effect goes to `state`. False if the channel blocks.
    pub(super) fn exchange(
        &self,
        communication: &Communication,
        before: &[u8],
        state: &mut [u8],
        locals: &Locals,
    ) -> Result<bool, Failure> {
        let channel = self.channel(communication.channel(), before, locals)?;
        match communication {
            Communication::Send { values, sorted, span, .. } => {
                self.has_arity(channel, values.len(), *span)?;
                if self.length(channel, before)
                    == i64::from(self.program.channels[channel.id].capacity)
                {
                    return Ok(false);
                }
                let message = self.message(values, before, locals)?;
                self.enqueue(channel, &message, *sorted, *span, state)?;
            }
            Communication::Receive { patterns, anywhere, peek, span, .. } => {
                let Some(position) =
                    self.find_message(channel, patterns, *anywhere, before, locals)?
                else {
                    return Ok(false);
                };
                let message = self.message_at(channel, position, before);
                self.deliver(channel, patterns, &message, *span, state, locals)?;
                if !peek {
                    self.dequeue(channel, position, state);
                }
            }
        }
        Ok(true)
    }

    /// Whether a communication on a buffered channel could go on in `state`.
    pub(super) fn is_ready(
        &self,
        communication: &Communication,
        state: &[u8],
        locals: &Locals,
    ) -> Result<bool, Failure> {
        let channel = self.channel(communication.channel(), state, locals)?;
        match communication {
            Communication::Send { .. } => {
                let capacity = i64::from(self.program.channels[channel.id].capacity);
                Ok(self.length(channel, state) < capacity)
            }
            Communication::Receive { patterns, anywhere, span, .. } => {
                self.has_fields(channel, patterns.len(), *span)?;
                Ok(self.find_message(channel, patterns, *anywhere, state, locals)?.is_some())
            }
        }
    }

    /// The values of a message about to be sent.
    pub(super) fn message(
        &self,
        values: &[Expr],
        state: &[u8],
        locals: &Locals,
    ) -> Result<Vec<i64>, Failure> {
        values.iter().map(|value| self.eval(value, state, locals)).collect()
    }

    fn message_at(&self, channel: ChannelAt, position: i64, state: &[u8]) -> Vec<i64> {
        (0..self.program.channels[channel.id].fields.len())
            .map(|field| self.layout.get(state, self.message_cell(channel, position, field)))
            .map(Option::unwrap_or_default)
            .collect()
    }

    fn enqueue(
        &self,
        channel: ChannelAt,
        message: &[i64],
        sorted: bool,
        span: Span,
        state: &mut [u8],
    ) -> Result<(), Failure> {
        let overflow = self.program.channels[channel.id].overflow;
        let waiting = self.length(channel, state);
        if waiting == i64::from(self.program.channels[channel.id].capacity) {
            return Err(fault(FaultKind::Limit, span, "two processes fill the channel at once"));
        }
        let mut position = waiting;
        while sorted
            && position > 0
            && self.message_at(channel, position - 1, state).as_slice() > message
        {
            for field in 0..message.len() {
                let from = self.message_cell(channel, position - 1, field);
                self.move_cells(from.0, self.message_cell(channel, position, field).0, 1, state);
            }
            position -= 1;
        }
        for (field, &value) in message.iter().enumerate() {
            let cell = self.message_cell(channel, position, field);
            self.store(cell, value, overflow, span, state)?;
        }
        self.layout.set(state, self.length_cell(channel), Some(waiting + 1));
        Ok(())
    }

    fn dequeue(&self, channel: ChannelAt, position: i64, state: &mut [u8]) {
        let fields = self.program.channels[channel.id].fields.len() as u32;
        let waiting = self.length(channel, state);
        for later in position + 1..waiting {
            let from = self.message_cell(channel, later, 0).0;
            self.move_cells(from, from - fields, fields, state);
        }
        self.clear_cells(self.message_cell(channel, waiting - 1, 0).0, fields, state);
        self.layout.set(state, self.length_cell(channel), Some(waiting - 1));
    }

    /// Stores a message where a receive wants it.
    pub(super) fn deliver(
        &self,
        channel: ChannelAt,
        patterns: &[Pattern],
        message: &[i64],
        span: Span,
        state: &mut [u8],
        locals: &Locals,
    ) -> Result<(), Failure> {
        let overflow = self.program.channels[channel.id].overflow;
        for (pattern, &value) in patterns.iter().zip(message) {
            if let Pattern::Into(place) = pattern {
                let (cell, _) = self.cell(place, state, locals)?;
                self.store(cell, value, overflow, span, state)?;
            }
        }
        Ok(())
    }
}
