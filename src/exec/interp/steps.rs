//! Which actions can be taken in a state, and in which order they are listed.
//!
//! Interleaved programs list, process after process, the actions from the location it is at, then
//! the actions of no process; a rendezvous is listed with its receiver, once for each sender.
//! Lockstep programs list every combination of one action for each process, the last process's
//! varying fastest.

use super::eval::{Locals, fault, with_local};
use super::channels::ChannelAt;
use super::{Failure, Interp};
use crate::exec::FaultKind;
use crate::ir::{Action, ActionId, Communication, Entity, Grip, Instances, Owner, Parameter, ProcessId, Schedule};

/// An action that is part of a step, and the slot of its mover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    pub action: ActionId,
    pub slot: u32,
}

/// Told of every step: its actions, and the successor or the fault.
pub(super) type Visitor<'a> = dyn FnMut(&[Taken], Result<&[u8], Failure>) + 'a;

/// A step of one action.
fn alone(action: ActionId) -> [Taken; 1] {
    [Taken { action, slot: 0 }]
}

/// A rendezvous, which is listed with its receiver.
fn joint(receiver: ActionId, sender: ActionId) -> [Taken; 2] {
    [receiver, sender].map(|action| Taken { action, slot: 0 })
}

impl Interp {
    /// Tells `visit` every step out of `state`, using `work` for the successors.
    pub(super) fn each_step(&self, state: &[u8], work: &mut Vec<u8>, visit: &mut Visitor) {
        match self.program.schedule {
            Schedule::Interleaved if self.has_slots => self.turns(state, visit),
            Schedule::Interleaved => self.interleaved(state, work, visit),
            Schedule::Lockstep => self.lockstep(state, work, visit),
        }
    }

    /// Tells `visit` every initial state, or the fault of the start with this number.
    pub(super) fn each_start(&self, mut visit: impl FnMut(u32, Result<&[u8], Failure>)) {
        let zero = self.declared_state();
        for (number, start) in self.program.starts.iter().enumerate() {
            self.each_binding(&start.parameters, &Locals::default(), &mut |locals| {
                let mut state = zero.clone();
                let result = self.run(&start.body, &mut state, locals);
                visit(number as u32, result.map(|()| state.as_slice()));
            });
        }
    }

    /// The state of the declarations, before any start has run.
    fn declared_state(&self) -> Vec<u8> {
        let mut state = vec![0; self.layout.bytes];
        for (id, variable) in self.program.variables.iter() {
            if self.is_in_slots(variable.owner) {
                continue;
            }
            let first = self.layout.variables[id].first;
            for (offset, &value) in variable.initial.iter().enumerate() {
                let cell = crate::ir::layout::CellId(first.0 + offset as u32);
                self.layout.set(&mut state, cell, value);
            }
        }
        for (id, process) in self.program.processes.iter() {
            if process.instances != Instances::One {
                continue;
            }
            let cell = self.layout.locations[id].first;
            self.layout.set(&mut state, cell, Some(i64::from(process.start.0)));
        }
        state
    }

    fn is_in_slots(&self, owner: Owner) -> bool {
        match owner {
            Owner::Program => false,
            Owner::Process(process) => self.program.processes[process].instances != Instances::One,
        }
    }

    fn interleaved(&self, state: &[u8], work: &mut Vec<u8>, visit: &mut Visitor) {
        let only_committed = self.has_committed && self.some_committed(state);
        for process in self.program.processes.keys() {
            if only_committed && !self.is_committed(state, process) {
                continue;
            }
            let at = self.location(state, process);
            for &id in &self.from[process.index()][at.index()] {
                self.steps_of(id, only_committed, state, work, visit);
            }
        }
        if !only_committed {
            for &id in &self.free {
                self.steps_of(id, false, state, work, visit);
            }
        }
    }

    fn is_committed(&self, state: &[u8], process: ProcessId) -> bool {
        let at = self.location(state, process);
        self.program.processes[process].locations[at].grip == Grip::Committed
    }

    fn some_committed(&self, state: &[u8]) -> bool {
        self.program.processes.keys().any(|process| self.is_committed(state, process))
    }

    /// Every step of one action, whose mover is at its location.
    fn steps_of(
        &self,
        id: ActionId,
        only_committed: bool,
        state: &[u8],
        work: &mut Vec<u8>,
        visit: &mut Visitor,
    ) {
        let action = &self.program.actions[id];
        self.each_binding(&action.parameters, &Locals::default(), &mut |locals| match &action.communication {
            Some(communication) if self.is_rendezvous(communication) => {
                if matches!(communication, Communication::Receive { .. }) {
                    self.receive(id, only_committed, state, locals, work, visit);
                }
            }
            _ => match self.is_enabled(action, state, locals) {
                Ok(false) => {}
                Ok(true) => {
                    let result = self.take(action, state, locals, work);
                    visit(&alone(id), result.map(|()| work.as_slice()));
                }
                Err(fault) => visit(&alone(id), Err(fault)),
            },
        });
    }

    fn is_rendezvous(&self, communication: &Communication) -> bool {
        self.program.channels[self.named(communication.channel())].capacity == 0
    }

    fn is_enabled(&self, action: &Action, state: &[u8], locals: &Locals) -> Result<bool, Failure> {
        if !self.holds(action.guard.as_ref(), state, locals)? {
            return Ok(false);
        }
        match &action.communication {
            Some(communication) => self.is_ready(communication, state, locals),
            None => Ok(true),
        }
    }

    /// Takes an enabled action alone: the message, the move, the body.
    fn take(
        &self,
        action: &Action,
        state: &[u8],
        locals: &Locals,
        work: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        work.clear();
        work.extend_from_slice(state);
        if let Some(communication) = &action.communication {
            self.exchange(communication, state, work, locals)?;
        }
        self.move_and_run(action, work, locals)
    }

    fn move_and_run(
        &self,
        action: &Action,
        state: &mut [u8],
        locals: &Locals,
    ) -> Result<(), Failure> {
        if let Some(edge) = action.edge {
            let cell = self.layout.locations[edge.process].first;
            self.layout.set(state, cell, Some(i64::from(edge.to.0)));
        }
        self.run(&action.body, state, locals)
    }

    /// Every rendezvous of one receiving action: one for each sender.
    fn receive(
        &self,
        id: ActionId,
        only_committed: bool,
        state: &[u8],
        locals: &Locals,
        work: &mut Vec<u8>,
        visit: &mut Visitor,
    ) {
        let receiver = &self.program.actions[id];
        match self.holds(receiver.guard.as_ref(), state, locals) {
            Ok(true) => {}
            Ok(false) => return,
            // A guard that cannot be judged is an error only if the step could otherwise happen:
            // it is reported with the first sender that is there.
            Err(fault) => {
                if let Some(sender) = self.senders(id, only_committed, state).next() {
                    visit(&joint(id, sender), Err(fault));
                }
                return;
            }
        }
        for sender_id in self.senders(id, only_committed, state) {
            let sender = &self.program.actions[sender_id];
            self.each_binding(&sender.parameters, &Locals::default(), &mut |theirs| match self
                .rendezvous(receiver, sender, state, locals, theirs, work)
            {
                Ok(false) => {}
                Ok(true) => visit(&joint(id, sender_id), Ok(work.as_slice())),
                Err(fault) => visit(&joint(id, sender_id), Err(fault)),
            });
        }
    }

    /// The sending actions, of other processes at the right place, on the receiver's channel.
    fn senders(
        &self,
        receiver: ActionId,
        only_committed: bool,
        state: &[u8],
    ) -> impl Iterator<Item = ActionId> {
        let receiver = &self.program.actions[receiver];
        let channel = receiver.communication.as_ref().map(|it| self.named(it.channel()));
        let mover = receiver.edge.map(|edge| edge.process);
        self.program
            .processes
            .keys()
            .filter(move |&process| Some(process) != mover)
            .filter(move |&process| !only_committed || self.is_committed(state, process))
            .flat_map(move |process| {
                let at = self.location(state, process);
                self.from[process.index()][at.index()].iter().copied()
            })
            .filter(move |&id| match &self.program.actions[id].communication {
                Some(Communication::Send { channel: theirs, .. }) => {
                    Some(self.named(theirs)) == channel
                }
                _ => false,
            })
    }

    /// Takes the joint step into `work` if the sender's guard holds and the message matches.
    fn rendezvous(
        &self,
        receiver: &Action,
        sender: &Action,
        state: &[u8],
        locals: &Locals,
        theirs: &Locals,
        work: &mut Vec<u8>,
    ) -> Result<bool, Failure> {
        let (
            Some(Communication::Receive { patterns, channel, span, .. }),
            Some(Communication::Send { values, .. }),
        ) = (&receiver.communication, &sender.communication)
        else {
            return Ok(false);
        };
        if !self.holds(sender.guard.as_ref(), state, theirs)? {
            return Ok(false);
        }
        let message = self.message(values, state, theirs)?;
        if !self.matches(patterns, &message, state, locals)? {
            return Ok(false);
        }
        work.clear();
        work.extend_from_slice(state);
        self.deliver(ChannelAt { id: self.named(channel), slot: 0 }, patterns, &message, *span, work, locals)?;
        self.move_and_run(receiver, work, locals)?;
        self.move_and_run(sender, work, theirs)?;
        Ok(true)
    }

    /// Tells `visit` every combination of one enabled action for each process.
    fn lockstep(&self, state: &[u8], work: &mut Vec<u8>, visit: &mut Visitor) {
        let mut choices = Vec::new();
        for process in self.program.processes.keys().filter(|&id| self.moves(id)) {
            let at = self.location(state, process);
            let mut enabled = Vec::new();
            for &id in &self.from[process.index()][at.index()] {
                match self.is_enabled(&self.program.actions[id], state, &Locals::default()) {
                    Ok(true) => enabled.push(id),
                    Ok(false) => {}
                    Err(fault) => visit(&alone(id), Err(fault)),
                }
            }
            choices.push(enabled);
        }
        if choices.iter().any(Vec::is_empty) {
            return;
        }
        let mut chosen = vec![0; choices.len()];
        loop {
            let actions: Vec<ActionId> =
                choices.iter().zip(&chosen).map(|(enabled, &at)| enabled[at]).collect();
            let result = self.take_all(&actions, state, work);
            if let Some(&first) = actions.first() {
                visit(&alone(first), result.map(|()| work.as_slice()));
            }
            if !advance(&mut chosen, &choices) {
                return;
            }
        }
    }

    /// Whether a process takes part: automata that only watch do not.
    fn moves(&self, process: ProcessId) -> bool {
        !self.program.properties.values().any(|property| {
            matches!(property.kind, crate::ir::PropertyKind::Automaton(id) if id == process)
        })
    }

    /// Takes one action of each process: all messages and moves are judged in `state`.
    fn take_all(
        &self,
        actions: &[ActionId],
        state: &[u8],
        work: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        work.clear();
        work.extend_from_slice(state);
        for &id in actions {
            let action = &self.program.actions[id];
            if let Some(communication) = &action.communication
                && !self.exchange(communication, state, work, &Locals::default())?
            {
                let message = "two processes use the last room or message of the channel";
                return Err(fault(FaultKind::Limit, communication.span(), message));
            }
            self.move_and_run(action, work, &Locals::default())?;
        }
        Ok(())
    }

    /// Calls `visit` with every combination of the parameters' values, the last varying fastest.
    fn each_binding(
        &self,
        parameters: &[Parameter],
        locals: &Locals,
        visit: &mut dyn FnMut(&Locals),
    ) {
        match parameters.split_first() {
            None => visit(locals),
            Some((parameter, rest)) => {
                let (low, high) = self.scalar_bounds(parameter.over);
                for value in low..=high {
                    self.each_binding(rest, &with_local(locals, parameter.local.0, value), visit);
                }
            }
        }
    }
}

/// Counts `chosen` up, the last place fastest; false when all combinations have been seen.
fn advance(chosen: &mut [usize], choices: &[Vec<ActionId>]) -> bool {
    for (at, enabled) in chosen.iter_mut().zip(choices).rev() {
        *at += 1;
        if *at < enabled.len() {
            return true;
        }
        *at = 0;
    }
    false
}
