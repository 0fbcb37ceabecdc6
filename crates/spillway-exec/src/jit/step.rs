//! Taking actions: messages, moves and bodies, and the resulting candidates.

use super::code_value::CodeValue;
use super::emitter::{BodyExit, Emitter, FaultHandling, WordFrame};
use super::runtime::JitRuntime;
use super::shape::location_in;
use super::words::{BitOffset, ScalarPlace};
use crate::LABEL_BYTES;
use crate::interp::{ChannelInstance, ChannelReceive, StoreRule};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value, types};
use spillway_base::source::Span;
use spillway_ir::layout::ScalarCell;
use spillway_ir::{
    Action, ActionId, AssertionRule, ChannelId, Communication, CommunicationFit, Expr,
    OverflowRule, Place, ProcessEdge, ProcessInstance, ReceivePattern, StmtKind, message_arity,
};
use spillway_model::FaultKind;
use std::mem::offset_of;
use std::ops::Range;

/// Actions that a mover takes in one step.
#[derive(Clone, Copy)]
pub(super) struct ActionChain<'c> {
    /// The number of the mover.
    pub number: u32,
    /// The actions, in order.
    pub actions: &'c [ActionId],
    /// The action that the step is named by. In a rendezvous it is the sender's, which is not in the chain.
    pub first: ActionId,
}

/// A fault of an action.
struct ActionFault {
    action: ActionId,
    kind: FaultKind,
    span: Span,
}

impl Emitter<'_, '_> {
    /// Continues if the guard holds, else jumps to `otherwise`.
    pub fn guard(&mut self, guard: Option<&Expr>, parent: &WordFrame, otherwise: Block) {
        if let Some(guard) = guard {
            let holds = self.block();
            self.branch(guard, parent, holds, otherwise);
            self.continue_at(holds);
        }
    }

    /// Returns the state, with space for the frames of functions in the guards and messages of these actions.
    pub fn evaluation_frame(&mut self, actions: &[&Action]) -> WordFrame {
        if !self.interp.layout().has_frames() && !self.sizes.any_outlined() {
            return self.parent();
        }
        let mut footprint = self.footprint(&self.names);
        for action in actions {
            action.guard.iter().for_each(|guard| footprint.add_expr(guard));
            action.communication.iter().for_each(|it| footprint.add_message(it));
        }
        self.copy(&footprint.words())
    }

    /// Moves the current mover, and runs the body. With dynamic processes, a failed assertion may be reported without
    /// failing the step.
    pub fn complete(&mut self, id: ActionId, work: &WordFrame) {
        let slot = self.names.mover.map_or(0, |it| it.slot);
        let program = self.interp.program();
        let action = &program.actions[id];
        if let Some(last) = program.last {
            let pid = self.pid(work);
            let place = Place::variable(last, action.span);
            let to = self.scalar_place(&place, work);
            let rule = StoreRule { overflow: OverflowRule::Wraps, span: action.span };
            self.store_value(work, to, pid, rule);
        }
        if let Some(ProcessEdge { process, from, to }) = action.edge
            && from != to
        {
            self.set_location(ProcessInstance { process, slot }, to, work);
        }
        let end = self.block();
        self.exit = Some(BodyExit::plain(end));
        self.own = self.interp.layout().frames.actions.get(id);
        let goes_on =
            program.has_dynamic_processes() && program.assertions == AssertionRule::Continue;
        for stmt in &action.body {
            match (&stmt.kind, action.edge) {
                (StmtKind::Assert { condition, asserted, .. }, _) if goes_on => {
                    let (kind, span) = ((*asserted).into(), stmt.span);
                    self.report_unless(condition, ActionFault { action: id, kind, span }, work);
                }
                (StmtKind::Exit, Some(ProcessEdge { process, .. })) => {
                    self.end_instance(ProcessInstance { process, slot }, work);
                }
                _ => self.run(std::slice::from_ref(stmt), work),
            }
        }
        self.jump(end);
        self.continue_at(end);
    }

    /// Reports a failed assertion, and continues.
    fn report_unless(&mut self, condition: &Expr, fault: ActionFault, work: &WordFrame) {
        let (fine, broken) = (self.block(), self.block());
        self.b.set_cold_block(broken);
        self.branch(condition, work, fine, broken);
        self.continue_at(broken);
        self.report_action_fault(fault.action, fault.kind, fault.span);
        self.jump(fine);
        self.continue_at(fine);
    }

    /// Counts an action that is taken and has not failed.
    pub fn count_taken(&mut self, action: ActionId) {
        if !self.counts {
            return;
        }
        let (flags, at) = (MemFlagsData::new().with_notrap(), 8 * action.0 as i32);
        let counts = self.load_field(offset_of!(JitRuntime, taken));
        let count = self.b.ins().load(types::I64, flags, counts, at);
        let more = self.b.ins().iadd_imm_s(count, 1);
        self.b.ins().store(flags, more, counts, at);
    }

    /// Emits a successor as a candidate.
    pub fn candidate(&mut self, action: ActionId, work: &WordFrame, sorted: Range<usize>) {
        let cursor = self.room();
        self.store(work, cursor);
        if !sorted.is_empty() {
            let [first, end] = [sorted.start, sorted.end].map(|it| self.iconst(it as i64));
            self.b.ins().call(self.imports.sort_multisets, &[self.runtime, cursor, first, end]);
        }
        let width = self.interp.layout().bytes as i64;
        let mut next = self.b.ins().iadd_imm_s(cursor, width);
        if self.purpose.is_labelled() {
            let label = self.label(action);
            let label = self.b.ins().ireduce(types::I32, label);
            self.b.ins().store(MemFlagsData::new().with_notrap(), label, next, 0);
            next = self.b.ins().iadd_imm_s(next, LABEL_BYTES as i64);
        }
        self.b.def_var(self.cursor, next);
    }

    /// Returns the address for a candidate.
    pub fn room(&mut self) -> Value {
        let (full, room) = (self.block(), self.block());
        self.b.set_cold_block(full);
        let cursor = self.b.use_var(self.cursor);
        let limit = self.load_field(offset_of!(JitRuntime, limit));
        let beyond = self.b.ins().icmp(IntCC::UnsignedGreaterThan, cursor, limit);
        self.b.ins().brif(beyond, full, &[], room, &[]);
        self.continue_at(full);
        let arguments = [self.runtime, self.state, cursor];
        let call = self.b.ins().call(self.imports.make_room, &arguments);
        let emptied = self.b.inst_results(call)[0];
        self.b.def_var(self.cursor, emptied);
        self.jump(room);
        self.continue_at(room);
        self.b.use_var(self.cursor)
    }

    /// Returns the location code of an instance.
    pub fn location(&mut self, of: ProcessInstance, frame: &WordFrame) -> Value {
        let cell = location_in(self.interp.layout(), of);
        self.read(frame, BitOffset::fixed(cell.bit), cell.bits)
    }

    /// Returns the values of a message, converted to the fields of a rendezvous channel.
    pub fn fitting(
        &mut self,
        channel: ChannelId,
        values: &[Expr],
        message: Vec<CodeValue>,
    ) -> Vec<CodeValue> {
        let about = &self.interp.program().channels[channel];
        let fields = message.into_iter().zip(&about.fields).zip(values);
        let fitting = fields.map(|((value, &field), expr)| {
            let (low, high) = self.scalar_bounds(field);
            let rule = StoreRule { overflow: about.overflow, span: expr.span };
            self.fit(ScalarCell::new(0, low, high, false), value, rule)
        });
        fitting.collect()
    }

    /// Continues if a communication on a buffered channel can take place, else jumps to `otherwise`.
    pub fn wait_for(
        &mut self,
        communication: &Communication,
        channel: ChannelInstance,
        parent: &WordFrame,
        otherwise: Block,
    ) {
        let go_on = self.block();
        match communication {
            Communication::Send { .. } => {
                let capacity = self.interp.program().channels[channel.id].capacity;
                let length = self.length(channel, parent);
                let length = self.as_int(length);
                let room =
                    self.b.ins().icmp_imm_s(IntCC::SignedLessThan, length, i64::from(capacity));
                self.b.ins().brif(room, go_on, &[], otherwise, &[]);
            }
            Communication::Receive { patterns, span, .. } => {
                let receive = ChannelReceive { channel, patterns, span: *span };
                self.can_receive(receive, parent, go_on, otherwise);
            }
        }
        self.continue_at(go_on);
    }

    /// Sends or receives on a buffered channel that is ready: values are evaluated in the parent.
    pub fn exchange(
        &mut self,
        communication: &Communication,
        channel: ChannelInstance,
        parent: &WordFrame,
        work: &WordFrame,
    ) {
        let program = self.interp.program();
        let buffer = self.shapes.buffer(program, self.interp.layout(), channel);
        let length = self.length(channel, parent);
        let length = self.as_int(length);
        let now = match communication {
            Communication::Send { values, span, .. } => {
                let message: Vec<CodeValue> =
                    values.iter().map(|value| self.value(value, parent)).collect();
                let slack = (buffer.capacity - 1) * buffer.stride;
                let dynamic = match buffer.capacity {
                    1 => None,
                    _ => Some(self.b.ins().imul_imm_s(length, i64::from(buffer.stride))),
                };
                let overflow = program.channels[channel.id].overflow;
                self.check_arity(communication, channel);
                let message = message.into_iter().chain(std::iter::repeat(CodeValue::constant(0)));
                for (&field, value) in buffer.fields.iter().zip(message) {
                    let at = BitOffset { bit: buffer.start + field.bit, slack, dynamic };
                    let to = ScalarPlace { at, cell: field };
                    self.store_value(work, to, value, StoreRule { overflow, span: *span });
                }
                self.b.ins().iadd_imm_s(length, 1)
            }
            Communication::Receive { patterns, peek, span, .. } => {
                self.check_arity(communication, channel);
                let fields = buffer.fields.iter().map(|&it| buffer.first_message(it));
                let message: Vec<CodeValue> =
                    fields.map(|it| self.read_field(parent, it)).collect();
                let receive = ChannelReceive { channel, patterns, span: *span };
                self.deliver(receive, &message, work);
                if *peek {
                    return;
                }
                // Messages move up, and zeros follow the last one.
                let bits = buffer.capacity * buffer.stride;
                for start in (0..bits).step_by(64) {
                    let wanted = 64.min(bits - start);
                    let there = wanted.min(bits.saturating_sub(start + buffer.stride));
                    let from = BitOffset::fixed(buffer.start + start + buffer.stride);
                    let moved = self.read(work, from, there);
                    let moved = match (wanted - there, there) {
                        (0, _) | (_, 0) => moved,
                        (short, _) => self.b.ins().ishl_imm_s(moved, i64::from(short)),
                    };
                    self.write(work, BitOffset::fixed(buffer.start + start), wanted, moved);
                }
                self.b.ins().iadd_imm_s(length, -1)
            }
        };
        self.write(work, BitOffset::fixed(buffer.length.bit), buffer.length.bits, now);
    }

    /// Reports a communication that does not fit the messages of its channel (see [`spillway_ir::message_arity`]), or
    /// fails.
    pub fn check_arity(&mut self, communication: &Communication, channel: ChannelInstance) {
        let fields = self.interp.program().channels[channel.id].fields.len();
        let span = communication.span();
        match (communication.fit(fields), self.on_fault) {
            (CommunicationFit::Fits, _) => {}
            (CommunicationFit::Continues(misfit), FaultHandling::Report(action, _)) => {
                self.report_action_fault(action, misfit.into(), span);
            }
            // If only enabled instances are computed: the action alone is enabled, for its error. Other instances
            // decide whether it has a step.
            (CommunicationFit::Continues(_), _) => self.mark_instance(),
            (CommunicationFit::Fails(misfit), _) => self.fail(misfit.into(), span),
        }
    }

    /// Stores a message as a receive directs. Missing fields are read as 0.
    pub fn deliver(
        &mut self,
        ChannelReceive { channel, patterns, span }: ChannelReceive,
        message: &[CodeValue],
        work: &WordFrame,
    ) {
        let overflow = self.interp.program().channels[channel.id].overflow;
        let beyond =
            message_arity::reads_zero_past_end(message.len()).then_some(CodeValue::constant(0));
        let message = message.iter().copied().chain(beyond.into_iter().cycle());
        for (pattern, value) in patterns.iter().zip(message) {
            if let ReceivePattern::Into(place) = pattern {
                let to = self.scalar_place(place, work);
                self.store_value(work, to, value, StoreRule { overflow, span });
            }
        }
    }
}
