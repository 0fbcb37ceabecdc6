//! The movers of a state and their order.
//!
//! In programs with dynamic processes, the instances are visited from the youngest to the oldest. `timeout` is true
//! only in a second pass, which runs if the first finds no step. In other programs, the processes are visited in
//! order, then the actions without a process.

use super::failure::fault;
use super::frames::LocalEnv;
use super::step_sink::StepAction;
use super::{EvalFailure, Interp};
use spillway_base::source::Span;
use spillway_ir::{ActionId, Communication, ProcessInstance, Urgency};
use spillway_model::{FaultKind, stop_request};
use std::borrow::Cow;

/// Which steps of a mover are visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum MoverMode {
    /// All steps.
    All,
    /// All steps, while only processes at committed locations may move.
    Committed,
    /// All steps, with `timeout` true.
    Timeout,
    /// In a `d_step`: the first possible step.
    First,
}

impl MoverMode {
    /// Returns the mode with this number.
    pub fn from_number(number: u32) -> MoverMode {
        match number {
            1 => MoverMode::Committed,
            2 => MoverMode::Timeout,
            3 => MoverMode::First,
            _ => MoverMode::All,
        }
    }
}

/// A mover in a state, and the mode of the visit.
#[derive(Clone, Copy)]
pub(crate) struct MoverContext<'a> {
    pub(super) state: &'a [u8],
    /// An instance of a process, or `None` for the actions without a process.
    pub mover: Option<ProcessInstance>,
    pub(super) mode: MoverMode,
    /// The one action that is visited, if not all.
    pub(super) only: Option<ActionId>,
    /// The actions taken in the step so far.
    pub(super) before: &'a [StepAction],
}

impl<'a> MoverContext<'a> {
    /// Creates the context of a mover that begins a step in a state.
    pub fn new(state: &'a [u8], mover: Option<ProcessInstance>, mode: MoverMode) -> Self {
        MoverContext { state, mover, mode, only: None, before: &[] }
    }

    /// Returns the same context, restricted to this action.
    pub fn with_only(self, action: ActionId) -> Self {
        MoverContext { only: Some(action), ..self }
    }

    /// Returns the bindings of a body that the mover runs.
    pub(super) fn locals<'f>(&self, names: LocalEnv<'f>) -> LocalEnv<'f> {
        names.with_mover(self.mover, self.mode == MoverMode::Timeout)
    }
}

impl Interp {
    /// Calls `ask` for each mover that may move; a second time with `timeout` if no mover has a step.
    pub(super) fn each_mover(&self, state: &[u8], ask: &mut dyn FnMut(&MoverContext) -> bool) {
        let mode = match self.has_committed_process(state) {
            true => MoverMode::Committed,
            false => MoverMode::All,
        };
        let any = self.each_mover_in(state, mode, ask);
        // After a stop request, steps may be missing, so no deadlock is concluded.
        if !any && self.has_timeout && !stop_request::is_requested() {
            self.each_mover_in(state, MoverMode::Timeout, ask);
        }
    }

    /// Calls `ask` for each mover in one mode. Returns whether any mover has a step.
    pub(super) fn each_mover_in(
        &self,
        state: &[u8],
        mode: MoverMode,
        ask: &mut dyn FnMut(&MoverContext) -> bool,
    ) -> bool {
        let ask = |any, mover| any | ask(&MoverContext::new(state, mover, mode));
        match self.has_slots {
            true => self.movers(state, mode).into_iter().fold(false, ask),
            false => self.static_movers(state, mode).fold(false, ask),
        }
    }

    /// Returns the movers that are visited in one mode, in order.
    pub(super) fn movers(&self, state: &[u8], mode: MoverMode) -> Vec<Option<ProcessInstance>> {
        if self.has_slots {
            return self.instances(state).into_iter().rev().map(Some).collect();
        }
        self.static_movers(state, mode).collect()
    }

    /// Returns the same movers in a program without dynamic processes.
    fn static_movers(
        &self,
        state: &[u8],
        mode: MoverMode,
    ) -> impl Iterator<Item = Option<ProcessInstance>> {
        let nobody = (mode != MoverMode::Committed).then_some(None);
        self.static_processes(state, mode).map(Some).chain(nobody)
    }

    /// Returns the processes that are visited in one mode, in a program without dynamic processes. Nothing is allocated: a
    /// rendezvous asks for them at every receive.
    pub(super) fn static_processes(
        &self,
        state: &[u8],
        mode: MoverMode,
    ) -> impl Iterator<Item = ProcessInstance> {
        // If actions without a process have priorities, no process moves.
        let count = if self.has_priorities { 0 } else { self.program.processes.len() };
        let processes = self.program.processes.keys().take(count);
        let processes = processes.map(|process| ProcessInstance { process, slot: 0 });
        processes.filter(move |&it| mode != MoverMode::Committed || self.is_committed(state, it))
    }

    /// Returns the actions of a mover at its location; `None` if the instance does not exist.
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

    /// Returns the enabled actions without a process that have the highest priority.
    fn free_of_highest_priority(&self, state: &[u8]) -> Vec<ActionId> {
        let mut highest = None;
        for &id in &self.free {
            let action = &self.program.actions[id];
            let locals = LocalEnv::new(&self.layout.frames.actions[id]);
            self.each_binding(&action.parameters, &locals, &mut |locals| {
                // A guard that fails is an error at its own priority.
                if !matches!(self.is_enabled(action, state, locals), Ok(false)) {
                    highest = highest.max(Some(action.priority));
                }
            });
        }
        let is_highest = |id: &ActionId| Some(self.program.actions[*id].priority) == highest;
        self.free.iter().copied().filter(is_highest).collect()
    }

    /// Returns whether some process is at a committed location, so that others may not move.
    pub(crate) fn has_committed_process(&self, state: &[u8]) -> bool {
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

    /// Returns whether a mover may move: its `provided` clause holds, and no instance of a higher priority can move.
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

    /// Returns the priority of an instance.
    pub(super) fn priority(&self, state: &[u8], at: ProcessInstance) -> i64 {
        match self.program.processes[at.process].life.priority {
            None => 1,
            Some(variable) => {
                self.value_in(state, self.own_cell(variable, at.slot)).unwrap_or_default()
            }
        }
    }

    /// Returns whether an instance can move, for an `enabled` query of another instance. A query about the instance
    /// itself is an error, as in SPIN. So is a cyclic query, which never ends in SPIN.
    pub(super) fn is_enabled_for(
        &self,
        at: ProcessInstance,
        span: Span,
        state: &[u8],
        locals: &LocalEnv,
    ) -> Result<bool, EvalFailure> {
        let message = if locals.mover == Some(at) {
            "a process reads whether it is enabled itself"
        } else if locals.asking >= self.count_processes(state) as u32 {
            "processes read in a cycle whether each other is enabled"
        } else {
            let mut asked = locals.for_another(at);
            asked.asking += 1;
            return self.can_move_alone(state, asked);
        };
        Err(fault(FaultKind::Error, span, message.to_owned()))
    }

    /// Returns whether the mover has an action that is possible without a partner; a send by rendezvous counts.
    /// `timeout` has the value it has for the querying process, as in SPIN.
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
