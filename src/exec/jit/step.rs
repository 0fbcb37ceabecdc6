//! Actions: from guards to candidates, in the interpreter's order.

use super::bindings::BindingEmission;
use super::branchless::CellTest;
use super::code::MoverMode;
use super::code_purpose::may_be_discarded;
use super::code_value::CodeValue;
use super::emitter::{BodyExit, Emitter, FaultHandling, WordFrame};
use super::expr::LoopExit;
use super::guards::first_conjunct;
use super::instances::EmittedSide;
use super::named_channels::{named, named_or_none};
use super::native_support::is_native;
use super::runtime::JitRuntime;
use super::shape::location_in;
use super::words::{BitOffset, ScalarPlace};
use crate::analysis::bindings::conjuncts;
use crate::exec::LABEL_BYTES;
use crate::exec::interp::{ChannelInstance, ChannelReceive};
use crate::ir::layout::ScalarCell;
use crate::ir::{
    Action, ActionId, AssertionRule, BinaryOp, ChannelId, Communication, CommunicationFit, Expr,
    ExprKind, LocationId, OverflowRule, Parameter, Place, ProcessEdge, ProcessId, ProcessInstance,
    ReceivePattern, StmtKind, Urgency, message_arity,
};
use crate::model::FaultKind;
use crate::source::Span;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value, types};
use std::collections::BTreeMap;
use std::mem::offset_of;
use std::ops::Range;

/// The sending actions that one receiving action can meet, by the process and its location.
type SendersByLocation = BTreeMap<ProcessId, BTreeMap<LocationId, Vec<ActionId>>>;

impl Emitter<'_, '_> {
    /// All steps of some actions, whose mover is at its location. Neighbours whose guards begin
    /// with the same test are only tried where it holds, and those that each need a bit of one word only where one of these is 1.
    pub fn actions(&mut self, actions: &[ActionId], mode: MoverMode) {
        let program = self.interp.program();
        let needs = |&id: &ActionId| (id, self.needs(&program.actions[id]));
        let needing: Vec<(ActionId, Option<(usize, u64)>)> = actions.iter().map(needs).collect();
        let word = |it: &(ActionId, Option<(usize, u64)>)| it.1.map(|(word, _)| word);
        for group in needing.chunk_by(|one, other| word(one) == word(other)) {
            let ids: Vec<ActionId> = group.iter().map(|it| it.0).collect();
            let Some(word) = word(&group[0]).filter(|_| ids.len() > 1) else {
                self.tested_actions(&ids, mode);
                continue;
            };
            let bits = group.iter().filter_map(|it| it.1).fold(0, |all, (_, bits)| all | bits);
            let (some, end) = (self.block(), self.block());
            let truth = self.parent_has_any(word, bits);
            self.b.ins().brif(truth, some, &[], end, &[]);
            self.continue_at(some);
            self.tested_actions(&ids, mode);
            self.jump(end);
            self.continue_at(end);
        }
    }

    /// The same, without a look at all of them before.
    fn tested_actions(&mut self, actions: &[ActionId], mode: MoverMode) {
        let program = self.interp.program();
        let test = |&id: &ActionId| (id, self.leading_test(&program.actions[id]));
        let tested: Vec<(ActionId, Option<CellTest>)> = actions.iter().map(test).collect();
        for group in tested.chunk_by(|one, other| one.1.is_some() && one.1 == other.1) {
            if self.is_too_large() {
                break;
            }
            let end = self.block();
            if let [(_, Some(test)), _, ..] = group {
                let holds = self.block();
                let truth = self.parent_matches(test.word, test.mask, test.expected);
                self.b.ins().brif(truth, holds, &[], end, &[]);
                self.continue_at(holds);
            }
            group.iter().for_each(|&(id, _)| self.steps_of(id, mode));
            self.jump(end);
            self.continue_at(end);
        }
    }

    /// All steps of one action.
    fn steps_of(&mut self, id: ActionId, mode: MoverMode) {
        let action = &self.interp.program().actions[id];
        match &action.communication {
            Some(it) if self.interp.is_rendezvous(it) => {
                if matches!(it, Communication::Receive { .. }) {
                    self.rendezvous(id, mode);
                }
            }
            _ if self.is_native(id) && !self.is_left(&[id]) => self.single(id),
            _ => self.emit_interpreted(id, mode),
        }
    }

    /// The test that a guard begins with.
    fn leading_test(&self, action: &Action) -> Option<CellTest> {
        self.as_test(first_conjunct(action)?)
    }

    /// Bits of a word of which one has to be 1 where a guard holds, going by what it begins with.
    fn needs(&self, action: &Action) -> Option<(usize, u64)> {
        self.as_required_bits(first_conjunct(action)?)
    }

    /// Leaves an action to the interpreter.
    pub fn emit_interpreted(&mut self, id: ActionId, mode: MoverMode) {
        self.interpreted += 1;
        let action = self.b.ins().iconst(types::I32, i64::from(id.0));
        let committed = self.b.ins().iconst(types::I32, i64::from(mode == MoverMode::Committed));
        let cursor = self.b.use_var(self.cursor);
        let arguments = [self.runtime, self.state, cursor, action, committed];
        let call = self.b.ins().call(self.imports.interpret, &arguments);
        let cursor = self.b.inst_results(call)[0];
        self.b.def_var(self.cursor, cursor);
    }

    /// Leaves all that a mover can do, wherever it is, to the interpreter.
    pub fn emit_interpreted_mover(&mut self, mode: MoverMode, number: u32) {
        let number = self.b.ins().iconst(types::I32, i64::from(number));
        let mode = self.b.ins().iconst(types::I32, mode as i64);
        let cursor = self.b.use_var(self.cursor);
        let arguments = [self.runtime, self.state, cursor, number, mode];
        let call = self.b.ins().call(self.imports.interpret_mover, &arguments);
        let cursor = self.b.inst_results(call)[0];
        self.b.def_var(self.cursor, cursor);
    }

    /// An action that its mover takes alone.
    fn single(&mut self, id: ActionId) {
        let interp = self.interp;
        let action = &interp.program().actions[id];
        let size = self.sizes.action(interp.program(), action);
        let (Some(plan), Some(guard)) = (interp.plan(id), &action.guard) else {
            return self.each_binding(&action.parameters, size, &mut |this, next| {
                this.take_alone(id, action.guard.as_ref(), next);
            });
        };
        let (conjuncts, end) = (conjuncts(guard), self.block());
        let rest = plan.plan.rest.iter().map(|it| conjuncts[*it].clone());
        let rest = rest.reduce(|left, right| {
            let span = left.span;
            Expr::new(ExprKind::Binary(BinaryOp::And, Box::new(left), Box::new(right)), span)
        });
        let listed =
            BindingEmission { parameters: &action.parameters, conjuncts: &conjuncts, size };
        self.follow(&listed, &plan.plan.steps, end, &mut |this, next| {
            this.take_alone(id, rest.as_ref(), next);
        });
        self.continue_at(end);
    }

    /// An action whose parameters are bound, if this holds; then code goes on at `next`.
    fn take_alone(&mut self, id: ActionId, guard: Option<&Expr>, next: Block) {
        let action = &self.interp.program().actions[id];
        let able = self.begin_instance(id, next, |this| this.number_alone(id, 0));
        let parent = self.evaluation_frame(&[action]);
        self.guard(guard, &parent, next);
        let message = action.communication.as_ref().map(|it| {
            let channel = self.names.named(self.interp.program(), named(it.channel()));
            (it, channel)
        });
        if let Some((communication, channel)) = message {
            self.wait_for(communication, channel, &parent, next);
        }
        if let Some(able) = able {
            return self.end_look(able, next);
        }
        let mut footprint = self.footprint(&self.names);
        footprint.action(id, action);
        let work = self.copy(&footprint.words());
        if let Some((communication, channel)) = message {
            self.exchange(communication, channel, &parent, &work);
        }
        self.complete(0, id, &work);
        self.count_taken(id);
        self.candidate(id, &work, footprint.multisets_written());
        self.jump(next);
    }

    /// Begins what an action instance does. If it is not chosen that is nothing. Where only what is
    /// enabled is asked, gives where that is clear: there, too, it is if anything fails.
    fn begin_instance(
        &mut self,
        at_fault: ActionId,
        next: Block,
        number: impl FnOnce(&mut Self) -> Option<CodeValue>,
    ) -> Option<Block> {
        self.on_fault = FaultHandling::Report(at_fault, next);
        self.purpose.instances()?;
        self.instance = number(self);
        if self.purpose.marks_enabled() {
            let able = self.block();
            self.on_fault = FaultHandling::Ignore(able);
            return Some(able);
        }
        self.continue_if_chosen(next);
        None
    }

    /// The instance at hand is enabled.
    fn end_look(&mut self, able: Block, next: Block) {
        self.jump(able);
        self.continue_at(able);
        self.mark();
        self.jump(next);
    }

    /// Whether it is left to the interpreter what of these actions is enabled: their bodies decide.
    fn is_left(&self, actions: &[ActionId]) -> bool {
        let actions = actions.iter().map(|&id| &self.interp.program().actions[id]);
        self.purpose.marks_enabled() && actions.into_iter().any(may_be_discarded)
    }

    /// Goes on if the guard holds, else to `otherwise`.
    fn guard(&mut self, guard: Option<&Expr>, parent: &WordFrame, otherwise: Block) {
        if let Some(guard) = guard {
            let holds = self.block();
            self.branch(guard, parent, holds, otherwise);
            self.continue_at(holds);
        }
    }

    /// The state, and room for what functions remember while guards and messages of these actions
    /// are judged.
    fn evaluation_frame(&mut self, actions: &[&Action]) -> WordFrame {
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

    /// Moves, as the process in this slot, and runs the body. Where processes come and go a failed
    /// assertion may be told without failing the step.
    pub fn complete(&mut self, slot: u32, id: ActionId, work: &WordFrame) {
        let program = self.interp.program();
        let action = &program.actions[id];
        if let Some(last) = program.last {
            let pid = self.pid(work);
            let place = Place::variable(last, action.span);
            let to = self.scalar_place(&place, work);
            self.store_value(work, to, pid, OverflowRule::Wraps, action.span);
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
                    self.report_unless(condition, id, (*asserted).into(), stmt.span, work);
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

    /// Tells of an assertion that fails, and goes on.
    fn report_unless(
        &mut self,
        condition: &Expr,
        id: ActionId,
        kind: FaultKind,
        span: Span,
        work: &WordFrame,
    ) {
        let (fine, broken) = (self.block(), self.block());
        self.b.set_cold_block(broken);
        self.branch(condition, work, fine, broken);
        self.continue_at(broken);
        self.report_action_fault(id, kind, span);
        self.jump(fine);
        self.continue_at(fine);
    }

    /// Counts an action that is being taken and has not failed.
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

    /// Hands a successor over.
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

    /// Where a candidate can be put.
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

    /// Emits `body` in a loop over each parameter's values, the last varying fastest. The body ends
    /// by going to the block it is given, and is of the size given.
    fn each_binding(
        &mut self,
        parameters: &[Parameter],
        size: u64,
        body: &mut dyn FnMut(&mut Self, Block),
    ) {
        match parameters.split_first() {
            None => {
                let next = self.block();
                body(self, next);
                self.continue_at(next);
            }
            Some((parameter, rest)) => {
                let (low, high) = self.scalar_bounds(parameter.over);
                let (local, leave) = (parameter.local, LoopExit::ToEnd);
                self.count_up((low, high), size, local, leave, &mut |this, _, next| {
                    this.each_binding(rest, size, body);
                    this.jump(next);
                });
            }
        }
    }

    /// Every rendezvous of one receiving action: one for each sender.
    fn rendezvous(&mut self, id: ActionId, mode: MoverMode) {
        let receiver = &self.interp.program().actions[id];
        let Some(communication) = &receiver.communication else { return };
        let senders = self.senders(receiver, named_or_none(communication), mode);
        let mut all: Vec<ActionId> =
            senders.values().flat_map(BTreeMap::values).flatten().copied().collect();
        all.push(id);
        if all.iter().any(|&id| !self.is_native(id)) || self.is_left(&all) {
            return self.emit_interpreted(id, mode);
        }
        if senders.is_empty() {
            return;
        }
        let size = self.sizes.action(self.interp.program(), receiver);
        self.each_binding(&receiver.parameters, size, &mut |this, next| {
            let parent = this.evaluation_frame(&[receiver]);
            let combination = this.combination(&receiver.parameters);
            let ours = EmittedSide { action: id, slot: 0, combination };
            this.instance = None;
            if let Some(guard) = &receiver.guard {
                let (holds, failed) = (this.block(), this.block());
                let site = this.b.append_block_param(failed, types::I32);
                this.b.set_cold_block(failed);
                this.on_fault = FaultHandling::Branch(id, failed);
                this.branch(guard, &parent, holds, next);
                this.continue_at(failed);
                this.fault_if_partner(site, ours, &senders, &parent, next);
                this.continue_at(holds);
            }
            for (&process, locations) in &senders {
                this.meet(ours, process, locations, &parent);
            }
            this.jump(next);
        });
    }

    fn is_native(&self, id: ActionId) -> bool {
        is_native(self.interp.program(), &self.interp.program().actions[id])
    }

    /// A guard that cannot be judged is an error only if the step could otherwise happen.
    fn fault_if_partner(
        &mut self,
        site: Value,
        receiver: EmittedSide,
        senders: &SendersByLocation,
        parent: &WordFrame,
        next: Block,
    ) {
        let report = self.block();
        for (&process, locations) in senders {
            let at = self.location(ProcessInstance { process, slot: 0 }, parent);
            for (location, senders) in locations {
                let go_on = self.block();
                let there = self.b.ins().icmp_imm_s(IntCC::Equal, at, i64::from(location.0));
                if self.purpose.instances().is_none() {
                    self.b.ins().brif(there, report, &[], go_on, &[]);
                    self.continue_at(go_on);
                    continue;
                }
                let here = self.block();
                self.b.ins().brif(there, here, &[], go_on, &[]);
                self.continue_at(here);
                // It is the fault of the first that could meet.
                let combination = CodeValue::constant(0);
                let theirs = EmittedSide { action: senders[0], slot: 0, combination };
                self.instance = self.number_meeting(theirs, receiver);
                match self.purpose.marks_enabled() {
                    true => {
                        self.mark();
                        self.jump(next);
                    }
                    false => {
                        self.continue_if_chosen(next);
                        self.jump(report);
                    }
                }
                self.continue_at(go_on);
            }
        }
        self.jump(next);
        self.continue_at(report);
        self.report(site);
        self.jump(next);
    }

    /// The code of where an instance is.
    pub fn location(&mut self, of: ProcessInstance, frame: &WordFrame) -> Value {
        let cell = location_in(self.interp.layout(), of);
        self.read(frame, BitOffset::fixed(cell.bit), cell.bits)
    }

    /// The joint steps with the sends of one process, which is at one of its locations.
    fn meet(
        &mut self,
        receiver: EmittedSide,
        process: ProcessId,
        locations: &BTreeMap<LocationId, Vec<ActionId>>,
        parent: &WordFrame,
    ) {
        let end = self.block();
        let at = self.location(ProcessInstance { process, slot: 0 }, parent);
        for (location, senders) in locations {
            let (here, elsewhere) = (self.block(), self.block());
            let there = self.b.ins().icmp_imm_s(IntCC::Equal, at, i64::from(location.0));
            self.b.ins().brif(there, here, &[], elsewhere, &[]);
            self.continue_at(here);
            for &sender in senders {
                self.joint(receiver, sender);
            }
            self.jump(end);
            self.continue_at(elsewhere);
        }
        self.jump(end);
        self.continue_at(end);
    }

    /// One joint step: values sent are judged in the parent, then the receiver stores them, moves
    /// and runs, then the sender.
    fn joint(&mut self, receiving: EmittedSide, sender_id: ActionId) {
        let (program, receiver_id) = (self.interp.program(), receiving.action);
        let (receiver, sender) = (&program.actions[receiver_id], &program.actions[sender_id]);
        let (
            Some(Communication::Receive { patterns, channel, span, .. }),
            Some(Communication::Send { values, .. }),
        ) = (&receiver.communication, &sender.communication)
        else {
            unreachable!("a receiver meets senders");
        };
        // The locals of both are numbered alike.
        let theirs = self.names.for_another_body();
        let ours = std::mem::replace(&mut self.names, theirs);
        let size = self.sizes.action(program, sender);
        self.each_binding(&sender.parameters, size, &mut |this, next| {
            let able = this.begin_instance(receiver_id, next, |this| {
                let combination = this.combination(&sender.parameters);
                let sending = EmittedSide { action: sender_id, slot: 0, combination };
                this.number_meeting(sending, receiving)
            });
            let parent = &this.evaluation_frame(&[receiver, sender]);
            this.guard(sender.guard.as_ref(), parent, next);
            let message: Vec<CodeValue> =
                values.iter().map(|value| this.value(value, parent)).collect();
            let message = this.fitting(named(channel), values, message);
            let theirs = std::mem::replace(&mut this.names, ours.clone());
            for (pattern, &value) in patterns.iter().zip(&message) {
                if let ReceivePattern::Match(expected) = pattern {
                    this.continue_if_equal(expected, value, parent, next);
                }
            }
            if let Some(able) = able {
                this.names = theirs;
                return this.end_look(able, next);
            }
            let mut footprint = this.footprint(&this.names);
            footprint.action(receiver_id, receiver);
            footprint.rename(&theirs);
            footprint.action(sender_id, sender);
            let work = this.copy(&footprint.words());
            let channel = ChannelInstance { id: named(channel), slot: 0 };
            this.deliver(ChannelReceive { channel, patterns, span: *span }, &message, &work);
            this.complete(0, receiver_id, &work);
            this.names = theirs;
            this.complete(0, sender_id, &work);
            this.count_taken(receiver_id);
            this.count_taken(sender_id);
            this.candidate(receiver_id, &work, footprint.multisets_written());
            this.jump(next);
        });
        self.names = ours;
    }

    /// The values of a message as the fields of a rendezvous have them.
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
            self.fit(ScalarCell::new(0, low, high, false), value, about.overflow, expr.span)
        });
        fitting.collect()
    }

    fn senders(
        &self,
        receiver: &Action,
        channel: Option<ChannelId>,
        mode: MoverMode,
    ) -> SendersByLocation {
        let mut senders = SendersByLocation::new();
        for (id, process) in self.interp.program().processes.iter() {
            if receiver.edge.is_some_and(|edge| edge.process == id) {
                continue;
            }
            for (at, location) in process.locations.iter() {
                if mode == MoverMode::Committed && location.urgency != Urgency::Committed {
                    continue;
                }
                let sends = self.interp.actions_from(id, at).iter().copied().filter(|&id| {
                    match &self.interp.program().actions[id].communication {
                        Some(it @ Communication::Send { .. }) => {
                            channel.is_some() && named_or_none(it) == channel
                        }
                        _ => false,
                    }
                });
                let sends: Vec<ActionId> = sends.collect();
                if !sends.is_empty() {
                    senders.entry(id).or_default().insert(at, sends);
                }
            }
        }
        senders
    }

    /// Goes on if a communication on a buffered channel can take place, else to `otherwise`.
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

    /// Sends or receives on a buffered channel that is ready: values are judged in the parent.
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
                    self.store_value(work, to, value, overflow, *span);
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
                // Messages move up, and nothing, which is zeros, moves in behind the last.
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

    /// Tells of a communication that does not fit the messages of its channel (see [`crate::ir::message_arity`]), or fails.
    pub fn check_arity(&mut self, communication: &Communication, channel: ChannelInstance) {
        let fields = self.interp.program().channels[channel.id].fields.len();
        let span = communication.span();
        match (communication.fit(fields), self.on_fault) {
            (CommunicationFit::Fits, _) => {}
            (CommunicationFit::Continues(misfit), FaultHandling::Report(action, _)) => {
                self.report_action_fault(action, misfit.into(), span);
            }
            // Where it is only looked at what is enabled: the action by itself is, for the error, but whether it is
            // possible is for others to say.
            (CommunicationFit::Continues(_), _) => self.mark_instance(),
            (CommunicationFit::Fails(misfit), _) => self.fail(misfit.into(), span),
        }
    }

    /// Stores a message where a receive wants it. Fields that it does not have are read as 0, where they are read.
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
                self.store_value(work, to, value, overflow, span);
            }
        }
    }
}
