//! Actions: from guards to candidates, in the interpreter's order.

use super::bindings::Listed;
use super::code::Mode;
use super::emitter::{Emitter, Exit, Frame, OnFault};
use super::expr::Leave;
use super::footprint::Footprint;
use super::guards::first_conjunct;
use super::named_channels::{named, named_or_none};
use super::purpose::may_be_taken_back;
use super::runtime::Runtime;
use super::shape::location_in;
use super::simple::Test;
use super::supported::is_native;
use super::val::Val;
use super::words::At;
use crate::analysis::bindings::conjuncts;
use crate::exec::interp::ChannelAt;
use crate::exec::{FaultKind, LABEL_BYTES};
use crate::ir::layout::Cell;
use crate::ir::{
    Action, ActionId, Assertions, Binary, ChannelId, Communication, Edge, Expr, ExprKind, Fit,
    Instance, LocationId, Overflow, Parameter, Pattern, Place, ProcessId, StmtKind, Urgency,
    messages,
};
use crate::source::Span;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value, types};
use std::collections::BTreeMap;
use std::mem::offset_of;
use std::ops::Range;

/// The sending actions that one receiving action can meet, by the process and its location.
type Senders = BTreeMap<ProcessId, BTreeMap<LocationId, Vec<ActionId>>>;

impl Emitter<'_, '_> {
    /// All steps of some actions, whose mover is at its location. Neighbours whose guards begin
    /// with the same test are only tried where it holds, and those that each need a bit of one word only where one of these is 1.
    pub fn actions(&mut self, actions: &[ActionId], mode: Mode) {
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
            self.go_on_at(some);
            self.tested_actions(&ids, mode);
            self.jump(end);
            self.go_on_at(end);
        }
    }

    /// The same, without a look at all of them before.
    fn tested_actions(&mut self, actions: &[ActionId], mode: Mode) {
        let program = self.interp.program();
        let test = |&id: &ActionId| (id, self.leading_test(&program.actions[id]));
        let tested: Vec<(ActionId, Option<Test>)> = actions.iter().map(test).collect();
        for group in tested.chunk_by(|one, other| one.1.is_some() && one.1 == other.1) {
            if self.is_too_large() {
                break;
            }
            let end = self.block();
            if let [(_, Some(test)), _, ..] = group {
                let holds = self.block();
                let truth = self.parent_matches(test.word, test.mask, test.expected);
                self.b.ins().brif(truth, holds, &[], end, &[]);
                self.go_on_at(holds);
            }
            group.iter().for_each(|&(id, _)| self.steps_of(id, mode));
            self.jump(end);
            self.go_on_at(end);
        }
    }

    /// All steps of one action.
    fn steps_of(&mut self, id: ActionId, mode: Mode) {
        let action = &self.interp.program().actions[id];
        match &action.communication {
            Some(it) if self.interp.is_rendezvous(it) => {
                if matches!(it, Communication::Receive { .. }) {
                    self.rendezvous(id, mode);
                }
            }
            _ if self.is_native(id) && !self.is_left(&[id]) => self.single(id),
            _ => self.interpreted(id, mode),
        }
    }

    /// The test that a guard begins with.
    fn leading_test(&self, action: &Action) -> Option<Test> {
        self.as_test(first_conjunct(action)?)
    }

    /// Bits of a word of which one has to be 1 where a guard holds, going by what it begins with.
    fn needs(&self, action: &Action) -> Option<(usize, u64)> {
        self.as_need(first_conjunct(action)?)
    }

    /// Leaves an action to the interpreter.
    pub fn interpreted(&mut self, id: ActionId, mode: Mode) {
        self.interpreted += 1;
        let action = self.b.ins().iconst(types::I32, i64::from(id.0));
        let committed = self.b.ins().iconst(types::I32, i64::from(mode == Mode::Committed));
        let cursor = self.b.use_var(self.cursor);
        let arguments = [self.runtime, self.state, cursor, action, committed];
        let call = self.b.ins().call(self.imports.interpret, &arguments);
        let cursor = self.b.inst_results(call)[0];
        self.b.def_var(self.cursor, cursor);
    }

    /// Leaves all that a mover can do, wherever it is, to the interpreter.
    pub fn interpreted_mover(&mut self, mode: Mode, number: u32) {
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
        let rest = rest.reduce(|left, right| Expr {
            span: left.span,
            kind: ExprKind::Binary(Binary::And, Box::new(left), Box::new(right)),
        });
        let listed = Listed { parameters: &action.parameters, conjuncts: &conjuncts, size };
        self.follow(&listed, &plan.plan.steps, end, &mut |this, next| {
            this.take_alone(id, rest.as_ref(), next);
        });
        self.go_on_at(end);
    }

    /// An action whose parameters are bound, if this holds; then code goes on at `next`.
    fn take_alone(&mut self, id: ActionId, guard: Option<&Expr>, next: Block) {
        let action = &self.interp.program().actions[id];
        let able = self.begin_instance(id, next, |this| this.number_alone(id, 0));
        let parent = self.judging(&[action]);
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
        let mut footprint = Footprint::new(self.interp, self.known(), &self.names);
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
        number: impl FnOnce(&mut Self) -> Option<Val>,
    ) -> Option<Block> {
        self.on_fault = OnFault::Report(at_fault, next);
        self.purpose.instances()?;
        self.instance = number(self);
        if self.purpose.looks() {
            let able = self.block();
            self.on_fault = OnFault::Ignore(able);
            return Some(able);
        }
        self.go_on_if_chosen(next);
        None
    }

    /// The instance at hand is enabled.
    fn end_look(&mut self, able: Block, next: Block) {
        self.jump(able);
        self.go_on_at(able);
        self.mark();
        self.jump(next);
    }

    /// Whether it is left to the interpreter what of these actions is enabled: their bodies decide.
    fn is_left(&self, actions: &[ActionId]) -> bool {
        let actions = actions.iter().map(|&id| &self.interp.program().actions[id]);
        self.purpose.looks() && actions.into_iter().any(may_be_taken_back)
    }

    /// Goes on if the guard holds, else to `otherwise`.
    fn guard(&mut self, guard: Option<&Expr>, parent: &Frame, otherwise: Block) {
        if let Some(guard) = guard {
            let holds = self.block();
            self.branch(guard, parent, holds, otherwise);
            self.go_on_at(holds);
        }
    }

    /// The state, and room for what functions remember while guards and messages of these actions
    /// are judged.
    fn judging(&mut self, actions: &[&Action]) -> Frame {
        if !self.interp.layout().has_frames() && !self.sizes.any_outlined() {
            return self.parent();
        }
        let mut footprint = Footprint::new(self.interp, self.known(), &self.names);
        for action in actions {
            action.guard.iter().for_each(|guard| footprint.judge(guard));
            action.communication.iter().for_each(|it| footprint.judge_message(it));
        }
        self.copy(&footprint.words())
    }

    /// Moves, as the process in this slot, and runs the body. Where processes come and go a failed
    /// assertion may be told without failing the step.
    pub fn complete(&mut self, slot: u32, id: ActionId, work: &Frame) {
        let program = self.interp.program();
        let action = &program.actions[id];
        if let Some(last) = program.last {
            let pid = self.pid(work);
            let place = Place::variable(last, action.span);
            let (at, shape) = self.at(&place, work);
            let cell = self.shapes.cell(shape);
            self.store_value(work, at, cell, pid, Overflow::Wraps, action.span);
        }
        if let Some(Edge { process, from, to }) = action.edge
            && from != to
        {
            self.set_location(Instance { process, slot }, to, work);
        }
        let end = self.block();
        self.exit = Some(Exit::plain(end));
        self.own = self.interp.layout().frames.actions.get(id);
        let goes_on = program.comes_and_goes() && program.assertions == Assertions::GoOn;
        for stmt in &action.body {
            match (&stmt.kind, action.edge) {
                (StmtKind::Assert { condition, asserted, .. }, _) if goes_on => {
                    self.tell_unless(condition, (id, (*asserted).into(), stmt.span), work);
                }
                (StmtKind::Exit, Some(Edge { process, .. })) => {
                    self.end_instance(Instance { process, slot }, work);
                }
                _ => self.run(std::slice::from_ref(stmt), work),
            }
        }
        self.jump(end);
        self.go_on_at(end);
    }

    /// Tells of an assertion that fails, and goes on.
    fn tell_unless(
        &mut self,
        condition: &Expr,
        (id, kind, span): (ActionId, FaultKind, Span),
        work: &Frame,
    ) {
        let (fine, broken) = (self.block(), self.block());
        self.b.set_cold_block(broken);
        self.branch(condition, work, fine, broken);
        self.go_on_at(broken);
        self.tell(id, kind, span);
        self.jump(fine);
        self.go_on_at(fine);
    }

    /// Counts an action that is being taken and has not failed.
    pub fn count_taken(&mut self, action: ActionId) {
        if !self.counts {
            return;
        }
        let (flags, at) = (MemFlagsData::new().with_notrap(), 8 * action.0 as i32);
        let counts = self.load_field(offset_of!(Runtime, taken));
        let count = self.b.ins().load(types::I64, flags, counts, at);
        let more = self.b.ins().iadd_imm_s(count, 1);
        self.b.ins().store(flags, more, counts, at);
    }

    /// Hands a successor over.
    pub fn candidate(&mut self, action: ActionId, work: &Frame, sorted: Range<usize>) {
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
        let limit = self.load_field(offset_of!(Runtime, limit));
        let beyond = self.b.ins().icmp(IntCC::UnsignedGreaterThan, cursor, limit);
        self.b.ins().brif(beyond, full, &[], room, &[]);
        self.go_on_at(full);
        let arguments = [self.runtime, self.state, cursor];
        let call = self.b.ins().call(self.imports.make_room, &arguments);
        let emptied = self.b.inst_results(call)[0];
        self.b.def_var(self.cursor, emptied);
        self.jump(room);
        self.go_on_at(room);
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
                self.go_on_at(next);
            }
            Some((parameter, rest)) => {
                let (low, high) = self.scalar_bounds(parameter.over);
                let (local, leave) = (parameter.local, Leave::ToEnd);
                self.count_up((low, high), size, local, leave, &mut |this, _, next| {
                    this.each_binding(rest, size, body);
                    this.jump(next);
                });
            }
        }
    }

    /// Every rendezvous of one receiving action: one for each sender.
    fn rendezvous(&mut self, id: ActionId, mode: Mode) {
        let receiver = &self.interp.program().actions[id];
        let Some(communication) = &receiver.communication else { return };
        let senders = self.senders(receiver, named_or_none(communication), mode);
        let mut all: Vec<ActionId> =
            senders.values().flat_map(BTreeMap::values).flatten().copied().collect();
        all.push(id);
        if all.iter().any(|&id| !self.is_native(id)) || self.is_left(&all) {
            return self.interpreted(id, mode);
        }
        if senders.is_empty() {
            return;
        }
        let size = self.sizes.action(self.interp.program(), receiver);
        self.each_binding(&receiver.parameters, size, &mut |this, next| {
            let parent = this.judging(&[receiver]);
            let ours = this.combination(&receiver.parameters);
            this.instance = None;
            if let Some(guard) = &receiver.guard {
                let (holds, failed) = (this.block(), this.block());
                let site = this.b.append_block_param(failed, types::I32);
                this.b.set_cold_block(failed);
                this.on_fault = OnFault::Ask(id, failed);
                this.branch(guard, &parent, holds, next);
                this.go_on_at(failed);
                this.fault_if_partner(site, (id, ours), &senders, &parent, next);
                this.go_on_at(holds);
            }
            for (&process, locations) in &senders {
                this.meet((id, ours), process, locations, &parent);
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
        (receiver, ours): (ActionId, Val),
        senders: &Senders,
        parent: &Frame,
        next: Block,
    ) {
        let report = self.block();
        for (&process, locations) in senders {
            let at = self.location(Instance { process, slot: 0 }, parent);
            for (location, senders) in locations {
                let go_on = self.block();
                let there = self.b.ins().icmp_imm_s(IntCC::Equal, at, i64::from(location.0));
                if self.purpose.instances().is_none() {
                    self.b.ins().brif(there, report, &[], go_on, &[]);
                    self.go_on_at(go_on);
                    continue;
                }
                let here = self.block();
                self.b.ins().brif(there, here, &[], go_on, &[]);
                self.go_on_at(here);
                // It is the fault of the first that could meet.
                let sides = ((senders[0], 0), (receiver, 0));
                let theirs = Val::known(0);
                self.instance = self.number_meeting((sides.0, theirs), (sides.1, ours));
                match self.purpose.looks() {
                    true => {
                        self.mark();
                        self.jump(next);
                    }
                    false => {
                        self.go_on_if_chosen(next);
                        self.jump(report);
                    }
                }
                self.go_on_at(go_on);
            }
        }
        self.jump(next);
        self.go_on_at(report);
        self.report(site);
        self.jump(next);
    }

    /// The code of where an instance is.
    pub fn location(&mut self, of: Instance, frame: &Frame) -> Value {
        let cell = location_in(self.interp.layout(), of);
        self.read(frame, At::fixed(cell.bit), cell.bits)
    }

    /// The joint steps with the sends of one process, which is at one of its locations.
    fn meet(
        &mut self,
        receiver: (ActionId, Val),
        process: ProcessId,
        locations: &BTreeMap<LocationId, Vec<ActionId>>,
        parent: &Frame,
    ) {
        let end = self.block();
        let at = self.location(Instance { process, slot: 0 }, parent);
        for (location, senders) in locations {
            let (here, elsewhere) = (self.block(), self.block());
            let there = self.b.ins().icmp_imm_s(IntCC::Equal, at, i64::from(location.0));
            self.b.ins().brif(there, here, &[], elsewhere, &[]);
            self.go_on_at(here);
            for &sender in senders {
                self.joint(receiver, sender);
            }
            self.jump(end);
            self.go_on_at(elsewhere);
        }
        self.jump(end);
        self.go_on_at(end);
    }

    /// One joint step: values sent are judged in the parent, then the receiver stores them, moves
    /// and runs, then the sender.
    fn joint(&mut self, (receiver_id, combination): (ActionId, Val), sender_id: ActionId) {
        let program = self.interp.program();
        let (receiver, sender) = (&program.actions[receiver_id], &program.actions[sender_id]);
        let (
            Some(Communication::Receive { patterns, channel, span, .. }),
            Some(Communication::Send { values, .. }),
        ) = (&receiver.communication, &sender.communication)
        else {
            unreachable!("a receiver meets senders");
        };
        // The locals of both are numbered alike.
        let theirs = self.names.of_another_body();
        let ours = std::mem::replace(&mut self.names, theirs);
        let size = self.sizes.action(program, sender);
        self.each_binding(&sender.parameters, size, &mut |this, next| {
            let able = this.begin_instance(receiver_id, next, |this| {
                let theirs = this.combination(&sender.parameters);
                this.number_meeting(((sender_id, 0), theirs), ((receiver_id, 0), combination))
            });
            let parent = &this.judging(&[receiver, sender]);
            this.guard(sender.guard.as_ref(), parent, next);
            let message: Vec<Val> = values.iter().map(|value| this.value(value, parent)).collect();
            let message = this.fitting(named(channel), values, message);
            let theirs = std::mem::replace(&mut this.names, ours.clone());
            for (pattern, &value) in patterns.iter().zip(&message) {
                if let Pattern::Match(expected) = pattern {
                    this.go_on_if_equal(expected, value, parent, next);
                }
            }
            if let Some(able) = able {
                this.names = theirs;
                return this.end_look(able, next);
            }
            let mut footprint = Footprint::new(this.interp, this.known(), &this.names);
            footprint.action(receiver_id, receiver);
            footprint.rename(&theirs);
            footprint.action(sender_id, sender);
            let work = this.copy(&footprint.words());
            this.deliver(named(channel), patterns, &message, *span, &work);
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
    pub fn fitting(&mut self, channel: ChannelId, values: &[Expr], message: Vec<Val>) -> Vec<Val> {
        let about = &self.interp.program().channels[channel];
        let fields = message.into_iter().zip(&about.fields).zip(values);
        let fitting = fields.map(|((value, &field), expr)| {
            let (low, high) = self.scalar_bounds(field);
            self.fit(Cell::new(0, low, high, false), value, about.overflow, expr.span)
        });
        fitting.collect()
    }

    fn senders(&self, receiver: &Action, channel: Option<ChannelId>, mode: Mode) -> Senders {
        let mut senders = Senders::new();
        for (id, process) in self.interp.program().processes.iter() {
            if receiver.edge.is_some_and(|edge| edge.process == id) {
                continue;
            }
            for (at, location) in process.locations.iter() {
                if mode == Mode::Committed && location.urgency != Urgency::Committed {
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
        channel: ChannelAt,
        parent: &Frame,
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
                self.can_receive(channel, patterns, parent, *span, go_on, otherwise);
            }
        }
        self.go_on_at(go_on);
    }

    /// Sends or receives on a buffered channel that is ready: values are judged in the parent.
    pub fn exchange(
        &mut self,
        communication: &Communication,
        channel: ChannelAt,
        parent: &Frame,
        work: &Frame,
    ) {
        let program = self.interp.program();
        let buffer = self.shapes.buffer(program, self.interp.layout(), channel);
        let length = self.length(channel, parent);
        let length = self.as_int(length);
        let now = match communication {
            Communication::Send { values, span, .. } => {
                let message: Vec<Val> =
                    values.iter().map(|value| self.value(value, parent)).collect();
                let slack = (buffer.capacity - 1) * buffer.stride;
                let dynamic = match buffer.capacity {
                    1 => None,
                    _ => Some(self.b.ins().imul_imm_s(length, i64::from(buffer.stride))),
                };
                let overflow = program.channels[channel.id].overflow;
                self.judge_fit(communication, channel);
                let message = message.into_iter().chain(std::iter::repeat(Val::known(0)));
                for (&field, value) in buffer.fields.iter().zip(message) {
                    let at = At { bit: buffer.start + field.bit, slack, dynamic };
                    self.store_value(work, at, field, value, overflow, *span);
                }
                self.b.ins().iadd_imm_s(length, 1)
            }
            Communication::Receive { patterns, peek, span, .. } => {
                self.judge_fit(communication, channel);
                let message: Vec<Val> = buffer
                    .fields
                    .iter()
                    .map(|&field| {
                        self.read_field(parent, At::fixed(buffer.start + field.bit), field)
                    })
                    .collect();
                self.deliver(channel.id, patterns, &message, *span, work);
                if *peek {
                    return;
                }
                // Messages move up, and nothing, which is zeros, moves in behind the last.
                let bits = buffer.capacity * buffer.stride;
                for start in (0..bits).step_by(64) {
                    let wanted = 64.min(bits - start);
                    let there = wanted.min(bits.saturating_sub(start + buffer.stride));
                    let from = At::fixed(buffer.start + start + buffer.stride);
                    let moved = self.read(work, from, there);
                    let moved = match (wanted - there, there) {
                        (0, _) | (_, 0) => moved,
                        (short, _) => self.b.ins().ishl_imm_s(moved, i64::from(short)),
                    };
                    self.write(work, At::fixed(buffer.start + start), wanted, moved);
                }
                self.b.ins().iadd_imm_s(length, -1)
            }
        };
        self.write(work, At::fixed(buffer.length.bit), buffer.length.bits, now);
    }

    /// Tells of a communication that does not fit the messages of its channel (see [`crate::ir::messages`]), or fails.
    pub fn judge_fit(&mut self, communication: &Communication, channel: ChannelAt) {
        let fields = self.interp.program().channels[channel.id].fields.len();
        let span = communication.span();
        match (communication.fit(fields), self.on_fault) {
            (Fit::Fits, _) => {}
            (Fit::GoesOn(misfit), OnFault::Report(action, _)) => {
                self.tell(action, misfit.into(), span);
            }
            // Where it is only looked at what is enabled: the action by itself is, for the error, but whether it is
            // possible is for others to say.
            (Fit::GoesOn(_), _) => self.mark_instance(),
            (Fit::Fails(misfit), _) => self.fail(misfit.into(), span),
        }
    }

    /// Stores a message where a receive wants it. Fields that it does not have are read as 0, where they are read.
    pub fn deliver(
        &mut self,
        channel: ChannelId,
        patterns: &[Pattern],
        message: &[Val],
        span: Span,
        work: &Frame,
    ) {
        let overflow = self.interp.program().channels[channel].overflow;
        let beyond = messages::reads_zero_beyond(message.len()).then_some(Val::known(0));
        let message = message.iter().copied().chain(beyond.into_iter().cycle());
        for (pattern, value) in patterns.iter().zip(message) {
            if let Pattern::Into(place) = pattern {
                let (at, shape) = self.at(place, work);
                let cell = self.shapes.cell(shape);
                self.store_value(work, at, cell, value, overflow, span);
            }
        }
    }
}
