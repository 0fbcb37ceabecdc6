//! Rendezvous of dynamic processes: emitted with the sender, once for each receive that it can meet.

use super::code_value::CodeValue;
use super::emitter::{Emitter, FaultHandling, WordFrame};
use super::instances::EmittedSide;
use super::names::LocalNames;
use super::step::ActionChain;
use crate::interp::{ChannelInstance, ChannelReceive};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, types};
use cranelift_frontend::Variable;
use spillway_base::source::Span;
use spillway_ir::{
    Action, ActionId, ChannelRef, Communication, LocationId, ProcessInstance, Program,
    ReceivePattern, message_arity,
};
use spillway_model::FaultKind;

/// A message offered by rendezvous.
#[derive(Clone, Copy)]
pub(super) struct OfferedMessage<'m> {
    /// The sending instance.
    pub sender: ProcessInstance,
    /// The sending action.
    pub send: ActionId,
    /// The channel.
    pub channel: ChannelInstance,
    /// The values, converted to the channel's fields.
    pub message: &'m [CodeValue],
}

/// The receiving actions of a location that may take a message.
#[derive(Clone, Copy)]
struct LocationReceives<'r> {
    location: LocationId,
    actions: &'r [ActionId],
}

/// A receiving action whose patterns match a message.
#[derive(Clone, Copy)]
struct MatchedReceive<'r> {
    id: ActionId,
    patterns: &'r [ReceivePattern],
    span: Span,
}

impl Emitter<'_, '_> {
    /// Returns the values of a message, converted to the channel's fields.
    pub fn message(
        &mut self,
        channel: ChannelInstance,
        communication: &Communication,
        parent: &WordFrame,
    ) -> Vec<CodeValue> {
        let Communication::Send { values, .. } = communication else { return Vec::new() };
        let fields = self.interp.program().channels[channel.id].fields.len();
        let judged: Vec<CodeValue> = values.iter().map(|value| self.value(value, parent)).collect();
        // The second pass, with `timeout`, does not report errors again.
        if !self.names.timeout {
            self.check_arity(communication, channel);
        }
        let mut message = self.fitting(channel.id, values, judged);
        message.resize(fields, CodeValue::constant(0));
        message
    }

    /// Emits every rendezvous of a send: one for each receive that takes the message.
    pub fn rendezvous_with_all(&mut self, sent: OfferedMessage, taken: Block, unmet: Block) {
        let program = self.interp.program();
        let (met, zero) = (self.b.declare_var(types::I8), self.b.ins().iconst(types::I8, 0));
        self.b.def_var(met, zero);
        let (names, on_fault, instance) = (self.names.clone(), self.on_fault, self.instance);
        for other in program.instances().filter(|it| *it != sent.sender) {
            for location in program.processes[other.process].locations.keys() {
                if self.is_too_large() {
                    break;
                }
                let actions = self.interp.actions_from(other.process, location);
                let may =
                    |it: &&ActionId| may_receive(program, &program.actions[**it], sent.channel);
                let receives: Vec<ActionId> = actions.iter().filter(may).copied().collect();
                if !receives.is_empty() {
                    let receives = LocationReceives { location, actions: &receives };
                    self.meet_at(sent, other, receives, met);
                }
            }
        }
        (self.names, self.on_fault, self.instance) = (names, on_fault, instance);
        let met = self.b.use_var(met);
        self.b.ins().brif(met, taken, &[], unmet, &[]);
    }

    /// Emits the rendezvous with an instance, if it is at a location and may move.
    fn meet_at(
        &mut self,
        sent: OfferedMessage,
        other: ProcessInstance,
        receives: LocationReceives<'_>,
        met: Variable,
    ) {
        let LocationReceives { location, actions: receives } = receives;
        let program = self.interp.program();
        let (here, end) = (self.block(), self.block());
        let free = program.processes[other.process].has_slots();
        let parent = self.parent();
        let code = self.location(other, &parent);
        let code_here = i64::from(location.0) + i64::from(free);
        let there = self.b.ins().icmp_imm_s(IntCC::Equal, code, code_here);
        self.b.ins().brif(there, here, &[], end, &[]);
        self.continue_at(here);
        self.names = LocalNames::of(other, false);
        if let Some(condition) = &program.processes[other.process].life.provided {
            let may = self.block();
            self.on_fault = FaultHandling::Ignore(end);
            self.branch(condition, &parent, may, end);
            self.continue_at(may);
        }
        for &receive in receives {
            self.rendezvous_with_one(sent, other, receive, met);
        }
        self.jump(end);
        self.continue_at(end);
    }

    /// Emits the rendezvous with one receive, if it takes the message.
    fn rendezvous_with_one(
        &mut self,
        sent: OfferedMessage,
        other: ProcessInstance,
        receive: ActionId,
        met: Variable,
    ) {
        let action = &self.interp.program().actions[receive];
        let Some(communication @ Communication::Receive { channel: theirs, patterns, span, .. }) =
            &action.communication
        else {
            return;
        };
        let (next, failed) = (self.block(), self.block());
        let sender = EmittedSide::without_parameters(sent.send, sent.sender);
        let receiver = EmittedSide::without_parameters(receive, other);
        self.instance = self.number_meeting(sender, receiver);
        self.on_fault = FaultHandling::Report(receive, failed);
        if self.purpose.marks_enabled() {
            self.on_fault = FaultHandling::Ignore(failed);
        }
        let parent = self.parent();
        self.same_channel(theirs, sent.channel, &parent, next);
        if let Some(guard) = &action.guard {
            let holds = self.block();
            self.branch(guard, &parent, holds, next);
            self.continue_at(holds);
        }
        self.continue_if_matching(sent, patterns, *span, next);
        if self.purpose.selects() {
            self.continue_if_chosen_or_report(failed);
        }
        self.names.channel = Some(sent.channel);
        if !self.purpose.marks_enabled() {
            self.check_arity(communication, sent.channel);
            let receive = MatchedReceive { id: receive, patterns, span: *span };
            self.deliver_rendezvous(sent, other, receive);
        }
        self.jump(failed);
        self.continue_at(failed);
        if self.purpose.marks_enabled() {
            self.mark();
        }
        let one = self.b.ins().iconst(types::I8, 1);
        self.b.def_var(met, one);
        self.jump(next);
        self.continue_at(next);
    }

    /// Continues if a message matches the patterns of a receive, else jumps to `otherwise`.
    fn continue_if_matching(
        &mut self,
        sent: OfferedMessage,
        patterns: &[ReceivePattern],
        span: Span,
        otherwise: Block,
    ) {
        let parent = self.parent();
        let fields = self.interp.program().channels[sent.channel.id].fields.len();
        for (pattern, &value) in patterns.iter().zip(sent.message) {
            if let ReceivePattern::Match(expected) = pattern {
                self.continue_if_equal(expected, value, &parent, otherwise);
            }
        }
        self.continue_if_equal_past_end(patterns, fields, &parent, otherwise);
        if message_arity::fails_past_end(patterns, fields) {
            self.fail(FaultKind::TooManyReceived, span);
        }
    }

    /// Takes a possible rendezvous, and the receiver's fixed continuation.
    fn deliver_rendezvous(
        &mut self,
        sent: OfferedMessage,
        receiver: ProcessInstance,
        receive: MatchedReceive<'_>,
    ) {
        let MatchedReceive { id: receive, patterns, span } = receive;
        let OfferedMessage { sender, send, channel, message } = sent;
        let chain = self.chain(Some(receiver), receive);
        let senders = LocalNames::of(sender, self.names.timeout);
        let mut footprint = self.footprint(&senders);
        footprint.location(sender);
        footprint.body(send, &self.interp.program().actions[send]);
        footprint.rename(&self.names);
        self.step_footprint(&mut footprint, &chain);
        let work = self.copy(&footprint.words());
        let theirs = std::mem::replace(&mut self.names, senders);
        self.complete(send, &work);
        self.names = theirs;
        self.deliver(ChannelReceive { channel, patterns, span }, message, &work);
        let number = self.number_of(receiver);
        self.go_through(ActionChain { number, actions: &chain, first: send }, &work, 0..0);
    }

    /// Continues if a reference denotes this channel, else jumps to `otherwise`.
    fn same_channel(
        &mut self,
        theirs: &ChannelRef,
        channel: ChannelInstance,
        frame: &WordFrame,
        otherwise: Block,
    ) {
        if let ChannelRef::Named(id) = theirs {
            if self.names.named(self.interp.program(), *id) != channel {
                self.jump(otherwise);
                self.continue_unreachable();
            }
            return;
        }
        let same = self.block();
        self.each_channel(theirs, frame, &mut |this, at| {
            this.jump(if at == channel { same } else { otherwise });
        });
        self.continue_at(same);
    }
}

/// Returns whether an action may receive from a channel.
fn may_receive(program: &Program, action: &Action, channel: ChannelInstance) -> bool {
    match &action.communication {
        Some(Communication::Receive { channel: theirs, .. }) => {
            theirs.possible_channels(program).any(|id| id == channel.id)
        }
        _ => false,
    }
}
