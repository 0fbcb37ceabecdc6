//! Rendezvous of permanent processes: emitted with the receiver, once for each sender that it can meet.

use super::code_value::CodeValue;
use super::emitter::{Emitter, FaultHandling, WordFrame};
use super::instances::EmittedSide;
use super::named_channels::{named, named_or_none};
use crate::interp::{ChannelInstance, ChannelReceive, MoverMode};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use spillway_ir::{
    Action, ActionId, ChannelId, Communication, LocationId, ProcessId, ProcessInstance,
    ReceivePattern, Urgency,
};
use std::collections::BTreeMap;

/// The sending actions that one receiving action can meet, by process and location.
type SendersByLocation = BTreeMap<ProcessId, BTreeMap<LocationId, Vec<ActionId>>>;

/// A receiving action, and the sending actions that it can meet.
struct PossiblePartners<'s> {
    receiver: EmittedSide,
    senders: &'s SendersByLocation,
}

impl Emitter<'_, '_> {
    /// Emits every rendezvous of one receiving action: one for each sender.
    pub fn meet_senders(&mut self, id: ActionId, mode: MoverMode) {
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
                let partners = PossiblePartners { receiver: ours, senders: &senders };
                this.fault_if_partner(site, partners, &parent, next);
                this.continue_at(holds);
            }
            for (&process, locations) in &senders {
                this.meet(ours, process, locations, &parent);
            }
            this.jump(next);
        });
    }

    /// Reports a guard that fails, if the step is possible otherwise.
    fn fault_if_partner(
        &mut self,
        site: Value,
        partners: PossiblePartners<'_>,
        parent: &WordFrame,
        next: Block,
    ) {
        let PossiblePartners { receiver, senders } = partners;
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
                // The fault belongs to the first possible partner.
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

    /// Emits the joint steps with the sends of one process, at each of its locations.
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

    /// Emits one joint step. Sent values are evaluated in the parent. Then the receiver stores them, moves and runs
    /// its body; then the sender moves and runs its body.
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
        // The locals of both sides have the same numbers.
        let theirs = self.names.for_another_body();
        let ours = std::mem::replace(&mut self.names, theirs);
        let size = self.sizes.action(program, sender);
        self.each_binding(&sender.parameters, size, &mut |this, next| {
            let combination = this.combination(&sender.parameters);
            let sending = EmittedSide { action: sender_id, slot: 0, combination };
            this.instance = this.number_meeting(sending, receiving);
            let able = this.begin_instance(receiver_id, next);
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
            let marks = this.purpose.marks_enabled();
            if marks && !this.is_decided_by_bodies(&[receiver_id, sender_id]) {
                this.names = theirs;
                return this.mark_after(able, next);
            }
            this.on_drop = marks.then_some(next);
            let mut footprint = this.footprint(&this.names);
            footprint.action(receiver_id, receiver);
            footprint.rename(&theirs);
            footprint.action(sender_id, sender);
            let work = this.copy(&footprint.words());
            let channel = ChannelInstance { id: named(channel), slot: 0 };
            this.deliver(ChannelReceive { channel, patterns, span: *span }, &message, &work);
            this.complete(receiver_id, &work);
            this.names = theirs;
            this.complete(sender_id, &work);
            this.on_drop = None;
            if marks {
                return this.mark_after(able, next);
            }
            this.count_taken(receiver_id);
            this.count_taken(sender_id);
            this.candidate(receiver_id, &work, footprint.multisets_written());
            this.jump(next);
        });
        self.names = ours;
    }

    /// Begins the code of the current action instance; it is skipped if the instance is not chosen. Returns the block
    /// for a failure: after the instance, or, if only enabled instances are computed, the block that marks it as
    /// enabled.
    fn begin_instance(&mut self, at_fault: ActionId, next: Block) -> Block {
        if self.purpose.marks_enabled() {
            let able = self.block();
            self.on_fault = FaultHandling::Ignore(able);
            return able;
        }
        self.on_fault = FaultHandling::Report(at_fault, next);
        if self.purpose.selects() {
            self.continue_if_chosen(next);
        }
        next
    }

    /// Marks the current instance, also where code comes from `able`, and continues at `next`.
    fn mark_after(&mut self, able: Block, next: Block) {
        self.jump(able);
        self.continue_at(able);
        self.mark();
        self.jump(next);
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
}
