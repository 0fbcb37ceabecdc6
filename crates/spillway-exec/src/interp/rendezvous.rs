//! Rendezvous: a send and a receive of two movers in one step.
//!
//! In programs with dynamic processes, a rendezvous is listed with its sender, once for each receive that takes the
//! message. The sender's action is complete before receivers are evaluated, and at most the receiver continues the
//! step. In other programs, a rendezvous is listed with its receiver, once for each sender. Both guards are evaluated
//! in the state before the step, and the receiver's action comes first.

use super::apply::received_as;
use super::channels::{ChannelInstance, ChannelReceive};
use super::failure::fault;
use super::frames::LocalEnv;
use super::scheduling::{MoverContext, MoverMode};
use super::step_sink::{BoundAction, OfferOutcome, OpenStep, StepAction, StepSink, with};
use super::{EvalFailure, Interp};
use spillway_ir::{ActionId, Communication, ProcessInstance, TurnRule};
use spillway_model::FaultKind;

/// A message being sent.
struct SentMessage<'a> {
    /// The state in which receivers are evaluated.
    state: &'a [u8],
    /// The sender's action.
    by: StepAction,
    channel: ChannelInstance,
    /// The values, converted to the channel's fields.
    values: Vec<i64>,
}

/// A sending and a receiving action.
#[derive(Clone, Copy)]
struct RendezvousPair<'a> {
    receiver: BoundAction<'a, 'a>,
    sender: BoundAction<'a, 'a>,
}

impl Interp {
    /// Returns whether a communication is by rendezvous, for channels that are named directly.
    pub(crate) fn is_rendezvous(&self, communication: &Communication) -> bool {
        self.program.channels[self.named(communication.channel())].capacity == 0
    }

    /// Takes every rendezvous of a send: one for each receive that takes the message.
    pub(super) fn meet_receivers(
        &self,
        look: &MoverContext,
        sender: BoundAction,
        channel: ChannelInstance,
        out: &mut StepSink,
    ) -> Result<OfferOutcome, EvalFailure> {
        let (action, by) = (sender.action, sender.taken());
        if look.mode == MoverMode::First || action.control.turn == TurnRule::First {
            let span = action.communication.as_ref().map(Communication::span).unwrap_or_default();
            return Err(fault(FaultKind::Error, span, "a d_step sends by rendezvous"));
        }
        let StepSink { work, visit, .. } = &mut *out;
        let mut tell = |failure| visit(&with(look.before, &[by]), Err(failure));
        let values = self.message_sent(sender, channel, look.state, &mut |failure| {
            // The second pass, with `timeout`, does not report errors again.
            if look.mode != MoverMode::Timeout {
                tell(failure);
            }
        })?;
        self.load(look.state, work);
        self.complete(action, work, sender.locals, &mut tell)?;
        let state = work.clone();
        let sent = SentMessage { state: &state, by, channel, values };
        let mut met = false;
        let others = self.instances(look.state).into_iter().rev();
        for other in others.filter(|&it| Some(it) != look.mover) {
            met |= self.meet_receiver(&sent, other, look.before, out);
        }
        Ok(if met { OfferOutcome::Taken } else { OfferOutcome::NoReceiver })
    }

    /// Takes every rendezvous of a message with an instance. Returns whether there is any.
    fn meet_receiver(
        &self,
        sent: &SentMessage,
        mover: ProcessInstance,
        before: &[StepAction],
        out: &mut StepSink,
    ) -> bool {
        let look = MoverContext::new(sent.state, Some(mover), MoverMode::All);
        let Some(actions) = self.actions_of(&look) else { return false };
        if !matches!(self.may_move(sent.state, &LocalEnv::of(mover)), Ok(true)) {
            return false;
        }
        let (mut any, mut tier) = (false, 0);
        for &id in &*actions {
            let (action, locals) = (&self.program.actions[id], LocalEnv::of(mover));
            if tier != 0 && tier != action.control.tier {
                break;
            }
            let receiver = BoundAction { id, action, locals: &locals };
            let taken = [sent.by, receiver.taken()];
            let StepSink { work, open, visit } = &mut *out;
            let mut tell = |failure| visit(&with(before, &taken), Err(failure));
            self.load(sent.state, work);
            let came = match self.receive(receiver, sent, work, &mut tell) {
                Ok(false) => continue,
                Ok(true) => self.complete(action, work, &locals, &mut tell),
                Err(failure) => Err(failure),
            };
            match came {
                Err(failure) => tell(failure),
                Ok(_) => open.push(OpenStep {
                    state: work[..self.layout.bytes].to_vec(),
                    depth: before.len(),
                    taken: taken.to_vec(),
                    mover: Some(mover),
                    turn: action.control.turn,
                }),
            }
            (any, tier) = (true, action.control.tier);
        }
        any
    }

    /// Takes every rendezvous of a receive: one for each sender.
    pub(super) fn meet_senders(
        &self,
        look: &MoverContext,
        receiver: BoundAction,
        out: &mut StepSink,
    ) -> OfferOutcome {
        let mut senders = self.senders(look, receiver);
        match self.holds(receiver.action.guard.as_ref(), look.state, receiver.locals) {
            Ok(true) => {}
            Ok(false) => return OfferOutcome::Nothing,
            // A guard that fails is an error only if the step is possible otherwise. It is reported with the first
            // available sender.
            Err(failure) => {
                let Some(action) = senders.next() else { return OfferOutcome::Nothing };
                let sender = StepAction { action, slot: 0, combination: 0 };
                (out.visit)(&[receiver.taken(), sender], Err(failure));
                return OfferOutcome::Taken;
            }
        }
        let mut outcome = OfferOutcome::Nothing;
        for id in senders {
            let action = &self.program.actions[id];
            let locals = LocalEnv::new(&self.layout.frames.actions[id]);
            self.each_binding(&action.parameters, &locals, &mut |locals| {
                let sender = BoundAction { id, action, locals };
                let taken = [receiver.taken(), sender.taken()];
                let StepSink { work, visit, .. } = &mut *out;
                let tell = &mut |failure| visit(&taken, Err(failure));
                let pair = RendezvousPair { receiver, sender };
                let met = self.meet(look.state, pair, work, tell);
                if !matches!(met, Ok(false)) {
                    outcome = OfferOutcome::Taken;
                }
                self.end_step(&taken, met, work, visit);
            });
        }
        outcome
    }

    /// Returns the sending actions of other processes, at their locations, on the receiver's channel.
    fn senders(
        &self,
        look: &MoverContext,
        receiver: BoundAction,
    ) -> impl Iterator<Item = ActionId> {
        let channel = receiver.action.communication.as_ref().map(|it| self.named(it.channel()));
        let others = self.static_processes(look.state, look.mode);
        let others = others.filter(move |&it| Some(it) != look.mover);
        let actions = others.flat_map(move |mover| {
            let at = self.location_in(look.state, mover);
            at.map_or(&[][..], |at| self.actions_from(mover.process, at))
        });
        actions.copied().filter(move |&id| match &self.program.actions[id].communication {
            Some(Communication::Send { channel: theirs, .. }) => {
                Some(self.named(theirs)) == channel
            }
            _ => false,
        })
    }

    /// Takes a rendezvous into `work` if the sender's guard holds and the message matches. Returns false otherwise, or
    /// if an assumption fails.
    fn meet(
        &self,
        state: &[u8],
        pair: RendezvousPair<'_>,
        work: &mut Vec<u8>,
        tell: &mut dyn FnMut(EvalFailure),
    ) -> Result<bool, EvalFailure> {
        let RendezvousPair { receiver, sender } = pair;
        let Some(communication) = &sender.action.communication else { return Ok(false) };
        if !self.holds(sender.action.guard.as_ref(), state, sender.locals)? {
            return Ok(false);
        }
        let channel = self.channel(communication.channel(), state, sender.locals)?;
        let values = self.message_sent(sender, channel, state, tell)?;
        let sent = SentMessage { state, by: sender.taken(), channel, values };
        self.load(state, work);
        Ok(self.receive(receiver, &sent, work, tell)?
            && self.complete(receiver.action, work, receiver.locals, tell)?
            && self.complete(sender.action, work, sender.locals, tell)?)
    }

    /// Returns the values that a send by rendezvous offers, converted to the channel's fields. `tell` gets an error
    /// after which the step continues.
    fn message_sent(
        &self,
        sender: BoundAction,
        channel: ChannelInstance,
        state: &[u8],
        tell: &mut dyn FnMut(EvalFailure),
    ) -> Result<Vec<i64>, EvalFailure> {
        let Some(communication @ Communication::Send { values, .. }) = &sender.action.communication
        else {
            return Ok(Vec::new());
        };
        let message = self.message(values, state, sender.locals)?;
        self.check_arity(communication, channel, tell)?;
        let mut message = self.fitting(channel.id, values, message)?;
        message.resize(self.program.channels[channel.id].fields.len(), 0);
        Ok(message)
    }

    /// Stores a message in `work` as a receive directs; returns false if the channel or the patterns do not match.
    /// `tell` gets an error after which the step continues.
    fn receive(
        &self,
        receiver: BoundAction,
        sent: &SentMessage,
        work: &mut [u8],
        tell: &mut dyn FnMut(EvalFailure),
    ) -> Result<bool, EvalFailure> {
        let BoundAction { action, locals, .. } = receiver;
        let Some(communication @ Communication::Receive { channel: theirs, patterns, span, .. }) =
            &action.communication
        else {
            return Ok(false);
        };
        if self.channel(theirs, sent.state, locals)? != sent.channel
            || !self.holds(action.guard.as_ref(), sent.state, locals)?
        {
            return Ok(false);
        }
        let receive = ChannelReceive { channel: sent.channel, patterns, span: *span };
        let message = received_as(sent.values.clone(), patterns.len());
        if !self.matches(receive, &message, sent.state, locals)? {
            return Ok(false);
        }
        self.check_arity(communication, sent.channel, tell)?;
        self.deliver(receive, &message, work, locals)?;
        Ok(true)
    }
}
