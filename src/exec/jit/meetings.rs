//! Rendezvous where processes come and go: emitted with the sender, once for each receive that it
//! can meet.

use super::emitter::{Emitter, Frame, OnFault, Val};
use super::footprint::Footprint;
use super::names::Names;
use crate::exec::FaultKind;
use crate::exec::interp::ChannelAt;
use crate::ir::{
    Action, ActionId, ChannelRef, Communication, Expr, Instance, LocationId, Pattern, Program,
};
use crate::source::Span;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, types};
use cranelift_frontend::Variable;

impl Emitter<'_, '_> {
    /// The values of a message as the channel's fields have them; nothing if there are too many or
    /// too few, which is a fault.
    pub fn message(
        &mut self,
        channel: ChannelAt,
        values: &[Expr],
        span: Span,
        parent: &Frame,
    ) -> Option<Vec<Val>> {
        let program = self.interp.program();
        let fields = &program.channels[channel.id].fields;
        let judged: Vec<Val> = values.iter().map(|value| self.value(value, parent)).collect();
        if values.len() != fields.len() {
            self.end_with_fault(FaultKind::Error, span);
            return None;
        }
        Some(self.fitting(channel.id, values, judged))
    }

    /// Every rendezvous of a send: one for each receive that takes the message.
    pub fn meet_all(
        &mut self,
        sender: Instance,
        id: ActionId,
        channel: ChannelAt,
        message: &[Val],
        taken: Block,
        unmet: Block,
    ) {
        let program = self.interp.program();
        let (met, zero) = (self.b.declare_var(types::I8), self.b.ins().iconst(types::I8, 0));
        self.b.def_var(met, zero);
        let (names, on_fault, instance) = (self.names.clone(), self.on_fault, self.instance);
        for other in program.instances().filter(|it| *it != sender) {
            for location in program.processes[other.process].locations.keys() {
                if self.is_too_large() {
                    break;
                }
                let actions = self.interp.actions_from(other.process, location);
                let may = |it: &&ActionId| may_receive(program, &program.actions[**it], channel);
                let receives: Vec<ActionId> = actions.iter().filter(may).copied().collect();
                if !receives.is_empty() {
                    self.meet_at(sender, id, channel, message, other, location, &receives, met);
                }
            }
        }
        (self.names, self.on_fault, self.instance) = (names, on_fault, instance);
        let met = self.b.use_var(met);
        self.b.ins().brif(met, taken, &[], unmet, &[]);
    }

    #[expect(clippy::too_many_arguments, reason = "all of it is the meeting")]
    fn meet_at(
        &mut self,
        sender: Instance,
        id: ActionId,
        channel: ChannelAt,
        message: &[Val],
        other: Instance,
        location: LocationId,
        receives: &[ActionId],
        met: Variable,
    ) {
        let program = self.interp.program();
        let (here, end) = (self.block(), self.block());
        let free = program.processes[other.process].has_slots();
        let parent = self.parent();
        let code = self.location(other, &parent);
        let code_here = i64::from(location.0) + i64::from(free);
        let there = self.b.ins().icmp_imm_s(IntCC::Equal, code, code_here);
        self.b.ins().brif(there, here, &[], end, &[]);
        self.go_on_at(here);
        self.names = Names::of(other, false);
        if let Some(condition) = &program.processes[other.process].life.provided {
            let may = self.block();
            self.on_fault = OnFault::Ignore(end);
            self.branch(condition, &parent, may, end);
            self.go_on_at(may);
        }
        for &receive in receives {
            let action = &program.actions[receive];
            let Some(Communication::Receive { channel: theirs, patterns, span, .. }) =
                &action.communication
            else {
                continue;
            };
            let (next, failed) = (self.block(), self.block());
            let (sides, plain) = (((id, sender.slot), (receive, other.slot)), Val::known(0));
            self.instance = self.number_meeting((sides.0, plain), (sides.1, plain));
            self.on_fault = OnFault::Report(receive, failed);
            if self.purpose.looks() {
                self.on_fault = OnFault::Ignore(failed);
            }
            self.same_channel(theirs, channel, &parent, next);
            if let Some(guard) = &action.guard {
                let holds = self.block();
                self.branch(guard, &parent, holds, next);
                self.go_on_at(holds);
            }
            if patterns.len() > program.channels[channel.id].fields.len() {
                self.fail(FaultKind::Error, *span);
            }
            for (pattern, &value) in patterns.iter().zip(message) {
                if let Pattern::Match(expected) = pattern {
                    self.go_on_if_equal(expected, value, &parent, next);
                }
            }
            if self.purpose.selects() {
                self.go_on_if_chosen_or_tell(failed);
            }
            self.names.channel = Some(channel);
            if !self.purpose.looks() {
                self.hand_over((sender, id), (other, receive), channel, patterns, message, *span);
            }
            self.jump(failed);
            self.go_on_at(failed);
            if self.purpose.looks() {
                self.mark();
            }
            let one = self.b.ins().iconst(types::I8, 1);
            self.b.def_var(met, one);
            self.jump(next);
            self.go_on_at(next);
        }
        self.jump(end);
        self.go_on_at(end);
    }

    /// Takes a rendezvous that is possible, and what the receiver is bound to do after it.
    fn hand_over(
        &mut self,
        (sender, send): (Instance, ActionId),
        (receiver, receive): (Instance, ActionId),
        channel: ChannelAt,
        patterns: &[Pattern],
        message: &[Val],
        span: Span,
    ) {
        let chain = self.chain(receiver, receive);
        let mut footprint = Footprint::new(self.interp, self.known(), &self.names);
        footprint.location(sender);
        self.step_footprint(&mut footprint, &chain);
        let work = self.copy(&footprint.words());
        if let Some(edge) = self.interp.program().actions[send].edge {
            self.set_location(sender, edge.to, &work);
        }
        self.deliver(channel.id, patterns, message, span, &work);
        let number = self.number_of(receiver);
        self.go_through(receiver, number, &chain, send, &work);
    }

    /// Goes on if a reference means this channel, else to `otherwise`.
    fn same_channel(
        &mut self,
        theirs: &ChannelRef,
        channel: ChannelAt,
        frame: &Frame,
        otherwise: Block,
    ) {
        if let ChannelRef::Named(id) = theirs {
            if self.names.named(self.interp.program(), *id) != channel {
                self.jump(otherwise);
                self.go_on_unreachable();
            }
            return;
        }
        let same = self.block();
        self.each_channel(theirs, frame, &mut |this, at| {
            this.jump(if at == channel { same } else { otherwise });
        });
        self.go_on_at(same);
    }
}

/// Whether an action may receive from a channel.
fn may_receive(program: &Program, action: &Action, channel: ChannelAt) -> bool {
    match &action.communication {
        Some(Communication::Receive { channel: theirs, .. }) => {
            theirs.meant(program).any(|id| id == channel.id)
        }
        _ => false,
    }
}
