//! Who may move in a state, and in which order movers are looked at.
//!
//! Where processes come and go, their instances are looked at from the youngest to the oldest, and
//! `timeout` is true only in a second look, when the first has found nothing that can be done.
//! Elsewhere the processes are looked at in their order, and then the actions of no process.

use super::failure::fault;
use super::frames::LocalEnv;
use super::step_sink::StepAction;
use super::{EvalFailure, Interp};
use crate::ir::{ActionId, Communication, ProcessInstance, Urgency};
use crate::model::{FaultKind, stop_request};
use crate::source::Span;
use std::borrow::Cow;

/// How a mover is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::exec) enum MoverMode {
    /// For everything it can do.
    All,
    /// The same, when only processes at committed locations may move.
    Committed,
    /// The same as at first, when nothing else can be done.
    Timeout,
    /// In a `d_step`: for the first thing it can do.
    First,
}

impl MoverMode {
    /// The mode with this number.
    pub fn from_number(number: u32) -> MoverMode {
        match number {
            1 => MoverMode::Committed,
            2 => MoverMode::Timeout,
            3 => MoverMode::First,
            _ => MoverMode::All,
        }
    }
}

/// A mover in a state, and how it is looked at.
#[derive(Clone, Copy)]
pub(in crate::exec) struct MoverContext<'a> {
    pub(super) state: &'a [u8],
    /// An instance of a process, or nobody, for the actions of no process.
    pub mover: Option<ProcessInstance>,
    pub(super) mode: MoverMode,
    /// The one action that is looked at, if not all.
    pub(super) only: Option<ActionId>,
    /// What has been done in the step so far.
    pub(super) before: &'a [StepAction],
}

impl<'a> MoverContext<'a> {
    /// A mover that begins a step in a state.
    pub fn new(state: &'a [u8], mover: Option<ProcessInstance>, mode: MoverMode) -> Self {
        MoverContext { state, mover, mode, only: None, before: &[] }
    }

    /// The same, of whose actions only this one is looked at.
    pub fn with_only(self, action: ActionId) -> Self {
        MoverContext { only: Some(action), ..self }
    }

    /// The names of a body that the mover runs.
    pub(super) fn locals<'f>(&self, names: LocalEnv<'f>) -> LocalEnv<'f> {
        names.with_mover(self.mover, self.mode == MoverMode::Timeout)
    }
}

impl Interp {
    /// Asks of each mover that may move whether it can do anything; a second time with `timeout` if none can.
    pub(super) fn each_mover(&self, state: &[u8], ask: &mut dyn FnMut(&MoverContext) -> bool) {
        let mode = match self.has_committed_process(state) {
            true => MoverMode::Committed,
            false => MoverMode::All,
        };
        let any = self.each_mover_in(state, mode, ask);
        // Where steps were left early, it is not known that nothing can be done.
        if !any && self.has_timeout && !stop_request::is_requested() {
            self.each_mover_in(state, MoverMode::Timeout, ask);
        }
    }

    /// Asks of each mover, looked at in one way, whether it can do anything. Gives whether any can.
    pub(super) fn each_mover_in(
        &self,
        state: &[u8],
        mode: MoverMode,
        ask: &mut dyn FnMut(&MoverContext) -> bool,
    ) -> bool {
        let movers = self.movers(state, mode).into_iter();
        movers.fold(false, |any, mover| any | ask(&MoverContext::new(state, mover, mode)))
    }

    /// The movers that are looked at in one way, in order.
    pub(super) fn movers(&self, state: &[u8], mode: MoverMode) -> Vec<Option<ProcessInstance>> {
        if self.has_slots {
            return self.instances(state).into_iter().rev().map(Some).collect();
        }
        // Where actions of no process have priorities, nobody else moves.
        let processes = self.program.processes.keys().filter(|_| !self.has_priorities);
        let processes = processes.map(|process| ProcessInstance { process, slot: 0 });
        let may_move =
            |&it: &ProcessInstance| mode != MoverMode::Committed || self.is_committed(state, it);
        let nobody = (mode != MoverMode::Committed).then_some(None);
        processes.filter(may_move).map(Some).chain(nobody).collect()
    }

    /// The actions of a mover where it is; nothing if it is gone.
    pub(super) fn actions_of(&self, look: &MoverContext) -> Option<Cow<'_, [ActionId]>> {
        if let Some(action) = look.only {
            return Some(vec![action].into());
        }
        match look.mover {
            Some(mover) => {
                let at = self.location_in(look.state, mover)?;
                Some(self.actions_from(mover.process, at).into())
            }
            None if self.has_priorities => Some(self.free_of_highest_priority(look.state).into()),
            None => Some((&self.free[..]).into()),
        }
    }

    /// The actions of no process with the highest priority of those enabled.
    fn free_of_highest_priority(&self, state: &[u8]) -> Vec<ActionId> {
        let mut highest = None;
        for &id in &self.free {
            let action = &self.program.actions[id];
            let locals = LocalEnv::new(&self.layout.frames.actions[id]);
            self.each_binding(&action.parameters, &locals, &mut |locals| {
                // A guard that cannot be judged is an error at its own priority.
                if !matches!(self.is_enabled(action, state, locals), Ok(false)) {
                    highest = highest.max(Some(action.priority));
                }
            });
        }
        let is_highest = |id: &ActionId| Some(self.program.actions[*id].priority) == highest;
        self.free.iter().copied().filter(is_highest).collect()
    }

    /// Whether some process is at a committed location, so that others are held back.
    pub(in crate::exec) fn has_committed_process(&self, state: &[u8]) -> bool {
        let mut processes = self.program.processes.keys();
        self.has_committed
            && processes
                .any(|process| self.is_committed(state, ProcessInstance { process, slot: 0 }))
    }

    pub(super) fn is_committed(&self, state: &[u8], at: ProcessInstance) -> bool {
        self.location_in(state, at).is_some_and(|location| {
            self.program.processes[at.process].locations[location].urgency == Urgency::Committed
        })
    }

    /// Whether nothing but its place keeps the mover from moving: where it is provided to move,
    /// and no instance of a higher priority could.
    pub(super) fn may_move(&self, state: &[u8], locals: &LocalEnv) -> Result<bool, EvalFailure> {
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
