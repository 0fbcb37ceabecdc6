//! Steps of programs whose processes come and go, and whose actions hang together.
//!
//! A *step* is one action, or several that nobody comes between: after an action that says so, the
//! same process goes on, in every way it can or in the first. Where it cannot, an atomic sequence
//! is left, and a `d_step` is at fault. A rendezvous is two actions in one step, the sender's and
//! then the receiver's, who goes on if anyone does.
//!
//! The processes are looked at from the youngest to the oldest, the actions of each in their order.
//! `timeout` is true only in a second look, when the first has found nothing that can be done.

use super::apply::received_as;
use super::channels::{ChannelInstance, ChannelReceive};
use super::failure::fault;
use super::frames::LocalEnv;
use super::steps::{StepAction, StepTarget, StepTargetVisitor};
use super::{EvalFailure, Interp, TurnVisitor};
use crate::analysis::instances::ActionInstance;
use crate::ir::{Action, ActionId, Communication, ProcessInstance, TurnRule};
use crate::model::{FaultKind, stop_request};
use crate::source::Span;
use std::ops::ControlFlow;

/// The most states inside the steps that one mover begins in one state. More are an error of the
/// model: the step goes round in circles, or in more ways than anyone could wait for.
pub(in crate::exec) const WITHIN_MAX: u32 = 1 << 20;

/// The most of them that wait to be gone on from at one time: their number grows with the length of a
/// step in which there are choices.
const WAITING_MAX: usize = 1 << 16;

/// Of a step with more states inside than that, so many actions are told, and the last.
const LISTED_MAX: usize = 32;

/// A state inside a step.
struct OpenStep {
    state: Vec<u8>,
    /// How many actions of the step come before those in `taken`.
    depth: usize,
    /// The action that led here, or both sides of a rendezvous.
    taken: Vec<StepAction>,
    mover: ProcessInstance,
    turn: TurnRule,
}

/// Where a look for actions stands.
pub(super) struct MoverContext<'a> {
    state: &'a [u8],
    pub(super) mover: ProcessInstance,
    locals: LocalEnv<'a>,
    /// What has been done in the step so far.
    before: &'a [StepAction],
    /// Whether only the first possible action counts.
    first: bool,
}

impl Interp {
    /// Tells `visit` every step out of `state`.
    pub(super) fn slot_steps(&self, state: &[u8], visit: &mut StepTargetVisitor) {
        self.each_mover(state, &mut |look| self.mover_steps(look, &|_| true, visit));
    }

    /// Shows the successors of a state that one mover's steps lead to, or those of all movers. What fails leads nowhere.
    pub(crate) fn each_successor(
        &self,
        state: &[u8],
        by: Option<ProcessInstance>,
        visit: &mut dyn FnMut(&[u8]),
    ) {
        let visit = &mut |_: &[StepAction], result: Result<StepTarget, EvalFailure>| {
            result.ok().and_then(StepTarget::successor).into_iter().for_each(&mut *visit);
        };
        let Some(mover) = by else { return self.slot_steps(state, visit) };
        let locals = LocalEnv::of(mover);
        let look = MoverContext { state, mover, locals, before: &[], first: false };
        self.mover_steps(&look, &|_| true, visit);
    }

    /// Shows the states that the program begins in. What fails begins in none.
    pub(crate) fn each_start_state(&self, visit: &mut dyn FnMut(&[u8])) {
        self.run_starts(|_, state| {
            state.into_iter().for_each(&mut *visit);
            ControlFlow::Continue(())
        });
    }

    /// Asks of each instance, from the youngest, whether it can do anything; a second time with
    /// `timeout` if none can.
    pub(super) fn each_mover(&self, state: &[u8], ask: &mut dyn FnMut(&MoverContext) -> bool) {
        let instances = self.instances(state);
        for timeout in [false, true] {
            let mut any = false;
            for &mover in instances.iter().rev() {
                let mut locals = LocalEnv::of(mover);
                locals.timeout = timeout;
                any |= ask(&MoverContext { state, mover, locals, before: &[], first: false });
            }
            // Where steps were left early, it is not known that nothing can be done.
            if any || !self.has_timeout || stop_request::is_requested() {
                return;
            }
        }
    }

    /// Tells `visit` every step of a mover that begins with something `wanted`. Gives whether there is
    /// any step, wanted or not.
    pub(super) fn mover_steps(
        &self,
        look: &MoverContext,
        wanted: &dyn Fn(ActionInstance) -> bool,
        visit: &mut StepTargetVisitor,
    ) -> bool {
        let (mut open, mover) = (Vec::new(), look.mover);
        let any = self.offers(look, &mut open, &mut |taken, result| {
            if wanted(self.instance_begun_by(mover, taken)) {
                visit(taken, result);
            }
        });
        open.retain(|it| wanted(self.instance_begun_by(mover, &it.taken)));
        self.complete_open_steps(open, visit);
        any
    }

    /// Tells `visit` what a mover can do: what its steps begin with. Gives whether there is anything.
    pub(super) fn visit_offers(
        &self,
        look: &MoverContext,
        visit: &mut dyn FnMut(ActionInstance),
    ) -> bool {
        let (mut open, mover) = (Vec::new(), look.mover);
        let any = self
            .offers(look, &mut open, &mut |taken, _| visit(self.instance_begun_by(mover, taken)));
        open.iter().for_each(|it| visit(self.instance_begun_by(mover, &it.taken)));
        any
    }

    /// What a step of a mover begins with.
    pub(super) fn instance_begun_by(
        &self,
        mover: ProcessInstance,
        taken: &[StepAction],
    ) -> ActionInstance {
        let process =
            |it: &StepAction| self.program.actions[it.action].edge.map(|edge| edge.process);
        match *taken {
            [] => ActionInstance::MayMove { process: mover.process, slot: mover.slot },
            // Whoever goes on after its own action is the same.
            [sender, receiver, ..]
                if process(&sender) != process(&receiver) || sender.slot != receiver.slot =>
            {
                ActionInstance::Meeting { sender: sender.side(), receiver: receiver.side() }
            }
            [one, ..] => ActionInstance::Alone(one.side()),
        }
    }

    /// Whether anything can be done without `timeout`.
    pub(crate) fn can_move_at_once(&self, state: &[u8]) -> bool {
        self.instances(state).into_iter().any(|mover| {
            let look = MoverContext {
                state,
                mover,
                locals: LocalEnv::of(mover),
                before: &[],
                first: false,
            };
            self.offers(&look, &mut Vec::new(), &mut |_, _| {})
        })
    }

    /// The first step out of `state`, of those that begin with something `wanted`, that does not end, if
    /// there is one: its last action of those gone through, and the error.
    pub(in crate::exec) fn endless_step(
        &self,
        state: &[u8],
        wanted: &dyn Fn(ActionInstance) -> bool,
    ) -> Option<(ActionId, EvalFailure)> {
        let mut found = None;
        let mut visit = |taken: &[StepAction], result: Result<StepTarget, EvalFailure>| match result
        {
            Err(failure) if failure.message == endless_message() => {
                let last = taken.last().map_or(ActionId(0), |it| it.action);
                found.get_or_insert((last, failure));
            }
            _ => {}
        };
        self.each_mover(state, &mut |look| self.mover_steps(look, wanted, &mut visit));
        found
    }

    /// Tells `visit` every step of this mover that begins with something `wanted`, and, one by one, the actions on the
    /// way; in a `d_step`, that goes on with its first possible action. Gives whether there is any step, wanted or not.
    pub(in crate::exec) fn steps_of_mover(
        &self,
        state: &[u8],
        mover: ProcessInstance,
        (first, timeout): (bool, bool),
        wanted: &dyn Fn(ActionInstance) -> bool,
        visit: &mut TurnVisitor,
    ) -> bool {
        let mut locals = LocalEnv::of(mover);
        locals.timeout = timeout;
        let look = MoverContext { state, mover, locals, before: &[], first };
        self.mover_steps(&look, wanted, &mut |taken, result| {
            let begun = self.instance_begun_by(mover, taken);
            match result {
                Ok(StepTarget::Intermediate) => {
                    taken
                        .iter()
                        .for_each(|it| visit(begun, it.action, Ok(StepTarget::Intermediate)));
                }
                result => {
                    let last = taken.last().map_or(ActionId(0), |it| it.action);
                    visit(begun, last, result);
                }
            }
        })
    }

    /// Tells `visit` what the steps of this mover begin with.
    pub(in crate::exec) fn visit_offers_of(
        &self,
        state: &[u8],
        mover: ProcessInstance,
        timeout: bool,
        visit: &mut dyn FnMut(ActionInstance),
    ) {
        let mut locals = LocalEnv::of(mover);
        locals.timeout = timeout;
        self.visit_offers(&MoverContext { state, mover, locals, before: &[], first: false }, visit);
    }

    /// Completes the steps that have been begun, depth first.
    fn complete_open_steps(&self, mut open: Vec<OpenStep>, visit: &mut StepTargetVisitor) {
        open.reverse();
        let mut within_seen = 0;
        // The actions of the step at hand.
        let mut path = Vec::new();
        while let Some(within) = open.pop() {
            let OpenStep { state, depth, taken, mover, turn } = &within;
            path.truncate(*depth);
            path.extend_from_slice(taken);
            visit(&path[*depth..], Ok(StepTarget::Intermediate));
            if *turn == TurnRule::Open {
                visit(&path, Ok(StepTarget::To(state)));
                continue;
            }
            within_seen += 1;
            if stop_request::is_requested() {
                return;
            }
            if within_seen > WITHIN_MAX || open.len() > WAITING_MAX {
                let span = self.span_of_last(&path);
                let failure = fault(FaultKind::Limit, span, endless_message());
                let last = path.last().copied();
                path.truncate(LISTED_MAX);
                path.extend(last);
                return visit(&path, Err(failure));
            }
            let first = *turn == TurnRule::First;
            let look = MoverContext {
                state,
                mover: *mover,
                locals: LocalEnv::of(*mover),
                before: &path,
                first,
            };
            let mut next = Vec::new();
            let any = self.offers(&look, &mut next, visit);
            if !any && first {
                let message = "the d_step cannot go on after this";
                let failure = fault(FaultKind::Error, self.span_of_last(&path), message);
                visit(&path, Err(failure));
            } else if !any {
                visit(&path, Ok(StepTarget::To(state)));
            }
            open.extend(next.into_iter().rev());
        }
    }

    fn span_of_last(&self, taken: &[StepAction]) -> Span {
        taken.last().map(|it| self.program.actions[it.action].span).unwrap_or_default()
    }

    /// Collects what the mover can do; whether there is anything.
    fn offers(
        &self,
        look: &MoverContext,
        open: &mut Vec<OpenStep>,
        visit: &mut StepTargetVisitor,
    ) -> bool {
        let Some(location) = self.location_in(look.state, look.mover) else { return false };
        // Inside a `d_step` nothing is asked any more.
        let may_move = if look.first { Ok(true) } else { self.may_move(look.state, &look.locals) };
        match may_move {
            Ok(true) => {}
            Ok(false) => return false,
            Err(failure) => {
                visit(look.before, Err(failure));
                return true;
            }
        }
        let (mut any, mut plain, mut tier) = (false, false, 0);
        for &id in self.actions_from(look.mover.process, location) {
            let action = &self.program.actions[id];
            if (tier != 0 && tier != action.control.tier) || (look.first && any) {
                break;
            }
            if action.control.otherwise && plain {
                continue;
            }
            match self.offer(look, id, action, open, visit) {
                Ok(OfferOutcome::Nothing) => {}
                Ok(OfferOutcome::NoReceiver) => tier = 0,
                Ok(OfferOutcome::Taken) => (any, plain, tier) = (true, true, action.control.tier),
                Err(failure) => {
                    visit(
                        &with(look.before, &[StepAction::without_parameters(id, look.mover)]),
                        Err(failure),
                    );
                    (any, plain, tier) = (true, true, action.control.tier);
                }
            }
        }
        any
    }

    fn offer(
        &self,
        look: &MoverContext,
        id: ActionId,
        action: &Action,
        open: &mut Vec<OpenStep>,
        visit: &mut StepTargetVisitor,
    ) -> Result<OfferOutcome, EvalFailure> {
        if !self.holds(action.guard.as_ref(), look.state, &look.locals)? {
            return Ok(OfferOutcome::Nothing);
        }
        if let Some(communication) = &action.communication {
            let channel = self.channel(communication.channel(), look.state, &look.locals)?;
            if self.program.channels[channel.id].capacity == 0 {
                return match communication {
                    Communication::Receive { .. } => Ok(OfferOutcome::Nothing),
                    Communication::Send { .. } => self.meet(look, id, channel, open, visit),
                };
            }
            if !self.is_ready(communication, look.state, &look.locals)? {
                return Ok(OfferOutcome::Nothing);
            }
        }
        let mut state = look.state.to_vec();
        let taken = vec![StepAction::without_parameters(id, look.mover)];
        let tell = &mut |failure| visit(&with(look.before, &taken), Err(failure));
        if let Some(communication) = &action.communication {
            self.exchange(communication, look.state, &mut state, &look.locals, tell)?;
        }
        self.complete(action, look.mover.slot, &mut state, &look.locals, tell)?;
        let (depth, turn) = (look.before.len(), action.control.turn);
        open.push(OpenStep { state, depth, taken, mover: look.mover, turn });
        Ok(OfferOutcome::Taken)
    }

    /// Every rendezvous of a send: one for each receive that takes the message.
    fn meet(
        &self,
        look: &MoverContext,
        id: ActionId,
        channel: ChannelInstance,
        open: &mut Vec<OpenStep>,
        visit: &mut StepTargetVisitor,
    ) -> Result<OfferOutcome, EvalFailure> {
        let sender = &self.program.actions[id];
        let Some(communication @ Communication::Send { values, span, .. }) = &sender.communication
        else {
            return Ok(OfferOutcome::Nothing);
        };
        if look.first || sender.control.turn == TurnRule::First {
            return Err(fault(FaultKind::Error, *span, "a d_step sends by rendezvous"));
        }
        let own = [StepAction::without_parameters(id, look.mover)];
        let message = self.message(values, look.state, &look.locals)?;
        self.check_arity(communication, channel, &mut |failure| {
            // A second look, with `timeout`, tells nothing again.
            if !look.locals.timeout {
                visit(&with(look.before, &own), Err(failure));
            }
        })?;
        let mut message = self.fitting(channel.id, values, message)?;
        message.resize(self.program.channels[channel.id].fields.len(), 0);
        let mut sent = look.state.to_vec();
        let so_far = (look.before, own.as_slice());
        self.complete(sender, look.mover.slot, &mut sent, &look.locals, &mut |failure| {
            visit(&with(look.before, &own), Err(failure));
        })?;
        let mut met = false;
        for mover in self.instances(look.state).into_iter().rev().filter(|&at| at != look.mover) {
            met |= self.receives(&sent, mover, channel, &message, so_far, open, visit);
        }
        Ok(if met { OfferOutcome::Taken } else { OfferOutcome::NoReceiver })
    }

    /// Every way in which an instance takes a message that is being sent.
    #[expect(clippy::too_many_arguments, reason = "all of it is the meeting")]
    fn receives(
        &self,
        sent: &[u8],
        mover: ProcessInstance,
        channel: ChannelInstance,
        message: &[i64],
        (before, sent_by): (&[StepAction], &[StepAction]),
        open: &mut Vec<OpenStep>,
        visit: &mut StepTargetVisitor,
    ) -> bool {
        let Some(location) = self.location_in(sent, mover) else { return false };
        let locals = LocalEnv::of(mover);
        if !matches!(self.may_move(sent, &locals), Ok(true)) {
            return false;
        }
        let (mut any, mut tier) = (false, 0);
        for &id in self.actions_from(mover.process, location) {
            let action = &self.program.actions[id];
            if tier != 0 && tier != action.control.tier {
                break;
            }
            let taken = with(sent_by, &[StepAction::without_parameters(id, mover)]);
            let mut state = sent.to_vec();
            let tell = &mut |failure| visit(&with(before, &taken), Err(failure));
            match self.take_message(action, (channel, message), &mut state, &locals, tell) {
                Ok(false) => continue,
                Ok(true) => match self.complete(action, mover.slot, &mut state, &locals, tell) {
                    Ok(_) => {
                        let (depth, turn) = (before.len(), action.control.turn);
                        open.push(OpenStep { state, depth, taken, mover, turn });
                    }
                    Err(failure) => tell(failure),
                },
                Err(failure) => tell(failure),
            }
            (any, tier) = (true, action.control.tier);
        }
        any
    }

    /// Stores a message where a receive wants it; false if it is another's or does not match. `tell` hears of an error
    /// behind which the step goes on.
    fn take_message(
        &self,
        action: &Action,
        (channel, message): (ChannelInstance, &[i64]),
        state: &mut [u8],
        locals: &LocalEnv,
        tell: &mut dyn FnMut(EvalFailure),
    ) -> Result<bool, EvalFailure> {
        let Some(communication @ Communication::Receive { channel: theirs, patterns, span, .. }) =
            &action.communication
        else {
            return Ok(false);
        };
        if self.channel(theirs, state, locals)? != channel
            || !self.holds(action.guard.as_ref(), state, locals)?
        {
            return Ok(false);
        }
        let message = received_as(message.to_vec(), patterns.len());
        let receive = ChannelReceive { channel, patterns, span: *span };
        if !self.matches(receive, &message, state, locals)? {
            return Ok(false);
        }
        self.check_arity(communication, channel, tell)?;
        self.deliver(receive, &message, state, locals)?;
        Ok(true)
    }

    /// Whether nothing but its place keeps the mover from moving: where it is provided to move,
    /// and no instance of a higher priority could.
    fn may_move(&self, state: &[u8], locals: &LocalEnv) -> Result<bool, EvalFailure> {
        let Some(mover) = locals.mover else { return Ok(true) };
        let life = &self.program.processes[mover.process].life;
        if !self.holds(life.provided.as_ref(), state, locals)? {
            return Ok(false);
        }
        if life.priority.is_none() {
            return Ok(true);
        }
        let own = self.priority(state, mover);
        let higher = |&at: &ProcessInstance| at != mover && self.priority(state, at) > own;
        for other in self.instances(state).into_iter().filter(higher) {
            if self.can_move_alone(state, locals.for_another(other))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The priority of an instance.
    pub(super) fn priority(&self, state: &[u8], at: ProcessInstance) -> i64 {
        match self.program.processes[at.process].life.priority {
            None => 1,
            Some(variable) => {
                self.value_in(state, self.own_cell(variable, at.slot)).unwrap_or_default()
            }
        }
    }

    /// Whether an instance can move, for another that asks (`enabled`). To ask that of oneself is an
    /// error, as in SPIN, and so is asking in a circle, which never ends there.
    pub(super) fn is_enabled_for(
        &self,
        at: ProcessInstance,
        span: Span,
        state: &[u8],
        locals: &LocalEnv,
    ) -> Result<bool, EvalFailure> {
        let message = if locals.mover == Some(at) {
            "a process asks whether it is enabled itself"
        } else if locals.asking >= self.count_processes(state) as u32 {
            "processes ask in a circle whether each other is enabled"
        } else {
            let mut asked = locals.for_another(at);
            asked.asking += 1;
            return self.can_move_alone(state, asked);
        };
        Err(fault(FaultKind::Error, span, message.to_owned()))
    }

    /// Whether the mover has an action that is possible without another's help; a send by rendezvous
    /// counts as one. `timeout` holds where it does for whoever asks, as in SPIN.
    fn can_move_alone(&self, state: &[u8], locals: LocalEnv) -> Result<bool, EvalFailure> {
        let Some(at) = locals.mover else { return Ok(false) };
        let Some(location) = self.location_in(state, at) else { return Ok(false) };
        if !self.holds(self.program.processes[at.process].life.provided.as_ref(), state, &locals)? {
            return Ok(false);
        }
        for &id in self.actions_from(at.process, location) {
            let action = &self.program.actions[id];
            if !self.holds(action.guard.as_ref(), state, &locals)? {
                continue;
            }
            let Some(communication) = &action.communication else { return Ok(true) };
            let channel = self.channel(communication.channel(), state, &locals)?;
            let possible = match self.program.channels[channel.id].capacity {
                0 => matches!(communication, Communication::Send { .. }),
                _ => self.is_ready(communication, state, &locals)?,
            };
            if possible {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn endless_message() -> String {
    format!(
        "this step does not end: nobody else can move while it goes on, and there are more than \
         {WITHIN_MAX} states inside it, or {WAITING_MAX} choices in a row"
    )
}

/// What came of looking at an action.
enum OfferOutcome {
    /// It is not possible.
    Nothing,
    /// It is a send by rendezvous that nobody takes.
    NoReceiver,
    /// It is possible.
    Taken,
}

fn with(before: &[StepAction], more: &[StepAction]) -> Vec<StepAction> {
    [before, more].concat()
}
