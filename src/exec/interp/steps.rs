//! Which actions can be taken in a state, and in which order they are listed.
//!
//! Interleaved programs list, process after process, the actions from the location it is at, then
//! the actions of no process; a rendezvous is listed with its receiver, once for each sender.
//! Lockstep programs list every combination of one action for each process, the last process's
//! varying fastest.

use super::channels::ChannelAt;
use super::failure::fault;
use super::frames::{Bound, Flow, Locals};
use super::{Failure, Interp};
use crate::analysis::instances::{ActionInstance, Side};
use crate::exec::{FaultKind, stop};
use crate::ir::{
    Action, ActionId, Assertions, Communication, Instance, Owner, Parameter, ProcessId, Schedule,
    Stmt, StmtKind, Urgency,
};
use std::ops::ControlFlow;

/// An action that is part of a step, the slot of its mover, and which combination of its
/// parameters' values, counted as [`Side`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    pub action: ActionId,
    pub slot: u32,
    pub combination: u32,
}

impl Taken {
    /// An action of a process that comes and goes, which has no parameters.
    pub fn by(action: ActionId, mover: Instance) -> Taken {
        Taken { action, slot: mover.slot, combination: 0 }
    }

    /// It as one side of what a step begins with.
    pub fn side(self) -> Side {
        let Taken { action, slot, combination } = self;
        Side { action, slot, combination }
    }
}

/// What a step of a program whose processes are always there begins with.
pub(super) fn begun(taken: &[Taken]) -> Option<ActionInstance> {
    match *taken {
        [] => None,
        [one] => Some(ActionInstance::Alone(one.side())),
        [receiver, sender, ..] => {
            Some(ActionInstance::Meeting { sender: sender.side(), receiver: receiver.side() })
        }
    }
}

/// Told of every step: its actions, and where they lead or the fault.
pub(super) type StepVisitor<'a> = dyn FnMut(&[Taken], Result<Led<'_>, Failure>) + 'a;

/// Where the actions of a step lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::exec) enum Led<'s> {
    /// To its successor.
    To(&'s [u8]),
    /// To a state that is left out.
    LeftOut,
    /// To where the same step goes on, in one way or in several, or not at all if they all fail: it is told of these
    /// actions once, whatever follows.
    OnTheWay,
}

impl<'s> Led<'s> {
    /// The successor, where it is one.
    pub fn successor(self) -> Option<&'s [u8]> {
        match self {
            Led::To(successor) => Some(successor),
            Led::LeftOut | Led::OnTheWay => None,
        }
    }
}

/// Where actions that are taken lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// To a state.
    State,
    /// To one that is left out: an assumption about all states does not hold there.
    LeftOut,
    /// Nowhere: the message does not match, or an assumption of a body does not hold. There is no
    /// such step.
    Nowhere,
}

/// A step of one action.
fn alone(action: ActionId, locals: &Locals) -> [Taken; 1] {
    [Taken { action, slot: 0, combination: locals.combination.get() }]
}

/// A rendezvous, which is listed with its receiver. Each side has its own parameters.
fn joint(receiver: (ActionId, &Locals), sender: (ActionId, u32)) -> [Taken; 2] {
    let receiver = (receiver.0, receiver.1.combination.get());
    [receiver, sender].map(|(action, combination)| Taken { action, slot: 0, combination })
}

/// An action that a process can take in lockstep, and the values of its parameters.
type Choice<'a> = (ActionId, Locals<'a>);

impl Interp {
    /// Tells `visit` every step out of `state`, using `work` for the successors.
    pub(super) fn each_step(&self, state: &[u8], work: &mut Vec<u8>, visit: &mut StepVisitor) {
        match self.program.schedule {
            Schedule::Interleaved if self.has_slots => self.turns(state, visit),
            Schedule::Interleaved => self.interleaved(state, work, visit),
            Schedule::Lockstep => self.lockstep(state, work, visit),
        }
    }

    /// Tells `visit` every initial state, or the fault of the start with this number, until it breaks
    /// off.
    pub(super) fn run_starts(
        &self,
        mut visit: impl FnMut(u32, Result<&[u8], Failure>) -> ControlFlow<()>,
    ) {
        let zero = self.declared_state();
        let mut work = Vec::new();
        for (number, start) in self.program.starts.iter().enumerate() {
            let locals = Locals::new(&self.layout.frames.starts[number]);
            let went = self.bindings_until(&start.parameters, &locals, &mut |locals| {
                self.load(&zero, &mut work);
                let started = self.finish(&start.body, &mut work, locals);
                let arrived = started.and_then(|started| match started {
                    true => self.arrive(&mut work),
                    false => Ok(Arrival::Nowhere),
                });
                match arrived {
                    Ok(Arrival::State) => visit(number as u32, Ok(&work[..self.layout.bytes])),
                    Ok(Arrival::LeftOut | Arrival::Nowhere) => ControlFlow::Continue(()),
                    Err(fault) => visit(number as u32, Err(fault)),
                }
            });
            if went.is_break() {
                break;
            }
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
            if process.has_slots() {
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
            Owner::Process(process) => self.program.processes[process].has_slots(),
        }
    }

    fn interleaved(&self, state: &[u8], work: &mut Vec<u8>, visit: &mut StepVisitor) {
        if self.has_priorities {
            return self.by_priority(state, work, visit);
        }
        self.of_those(self.holds_back(state), state, work, visit);
    }

    /// Whether some process is at a committed location, so that others are held back.
    pub(in crate::exec) fn holds_back(&self, state: &[u8]) -> bool {
        self.has_committed && self.some_committed(state)
    }

    /// The steps of all processes, or only of those at committed locations.
    pub(super) fn of_those(
        &self,
        only_committed: bool,
        state: &[u8],
        work: &mut Vec<u8>,
        visit: &mut StepVisitor,
    ) {
        for process in self.program.processes.keys() {
            if only_committed && !self.is_committed(state, process) {
                continue;
            }
            let at = self.location(state, process);
            for &id in self.from.at(process, at) {
                self.steps_of(id, only_committed, state, work, visit);
            }
        }
        if !only_committed {
            for &id in &self.free {
                self.steps_of(id, false, state, work, visit);
            }
        }
    }

    /// The steps of the enabled actions of the highest priority, where only free actions have one.
    fn by_priority(&self, state: &[u8], work: &mut Vec<u8>, visit: &mut StepVisitor) {
        let mut highest = None;
        for &id in &self.free {
            let action = &self.program.actions[id];
            let locals = Locals::new(&self.layout.frames.actions[id]);
            self.each_binding(&action.parameters, &locals, &mut |locals| {
                // A guard that cannot be judged is an error at its own priority.
                if !matches!(self.is_enabled(action, state, locals), Ok(false)) {
                    highest = highest.max(Some(action.priority));
                }
            });
        }
        for &id in &self.free {
            if Some(self.program.actions[id].priority) == highest {
                self.steps_of(id, false, state, work, visit);
            }
        }
    }

    fn is_committed(&self, state: &[u8], process: ProcessId) -> bool {
        let at = self.location(state, process);
        self.program.processes[process].locations[at].urgency == Urgency::Committed
    }

    fn some_committed(&self, state: &[u8]) -> bool {
        self.program.processes.keys().any(|process| self.is_committed(state, process))
    }

    /// Every step of one action, whose mover is at its location.
    pub(super) fn steps_of(
        &self,
        id: ActionId,
        only_committed: bool,
        state: &[u8],
        work: &mut Vec<u8>,
        visit: &mut StepVisitor,
    ) {
        let action = &self.program.actions[id];
        let locals = Locals::new(&self.layout.frames.actions[id]);
        self.each_likely_binding(id, state, &locals, &mut |locals| match &action.communication {
            Some(communication) if self.is_rendezvous(communication) => {
                if matches!(communication, Communication::Receive { .. }) {
                    self.receive(id, only_committed, state, locals, work, visit);
                }
            }
            _ => match self.is_enabled(action, state, locals) {
                Ok(false) => {}
                Ok(true) => {
                    let arrived = self.take(action, state, locals, work);
                    self.tell(&alone(id, locals), arrived, work, visit);
                }
                Err(fault) => visit(&alone(id, locals), Err(fault)),
            },
        });
    }

    /// Tells `visit` what came of a step.
    fn tell(
        &self,
        taken: &[Taken],
        arrived: Result<Arrival, Failure>,
        work: &[u8],
        visit: &mut StepVisitor,
    ) {
        match arrived {
            Ok(Arrival::State) => visit(taken, Ok(Led::To(&work[..self.layout.bytes]))),
            Ok(Arrival::LeftOut) => visit(taken, Ok(Led::LeftOut)),
            Ok(Arrival::Nowhere) => {}
            Err(fault) => visit(taken, Err(fault)),
        }
    }

    pub(in crate::exec) fn is_rendezvous(&self, communication: &Communication) -> bool {
        self.program.channels[self.named(communication.channel())].capacity == 0
    }

    pub(super) fn is_enabled(
        &self,
        action: &Action,
        state: &[u8],
        locals: &Locals,
    ) -> Result<bool, Failure> {
        if !self.holds(action.guard.as_ref(), state, locals)? {
            return Ok(false);
        }
        match &action.communication {
            Some(communication) => self.is_ready(communication, state, locals),
            None => Ok(true),
        }
    }

    /// Takes an enabled action alone: the message, the move, the body.
    pub(super) fn take(
        &self,
        action: &Action,
        state: &[u8],
        locals: &Locals,
        work: &mut Vec<u8>,
    ) -> Result<Arrival, Failure> {
        self.load(state, work);
        if let Some(communication) = &action.communication {
            self.exchange(communication, state, work, locals, &mut |_| {})?;
        }
        match self.complete(action, 0, work, locals, &mut |_| {}) {
            Ok(true) => self.arrive(work),
            Ok(false) => Ok(Arrival::Nowhere),
            Err(failure) => Err(self.failed_in(work, failure)),
        }
    }

    /// A failure of a step that had made this of the state.
    fn failed_in(&self, work: &[u8], mut failure: Failure) -> Failure {
        let reached = || work[..self.layout.bytes].to_vec();
        failure.reached.get_or_insert_with(reached);
        failure
    }

    /// Moves, as the process in this slot, and runs the body. False if an assumption fails. Where
    /// processes come and go, `tell` hears of a failed assertion that is the program's rule to pass.
    pub(super) fn complete(
        &self,
        action: &Action,
        slot: u32,
        state: &mut [u8],
        locals: &Locals,
        tell: &mut dyn FnMut(Failure),
    ) -> Result<bool, Failure> {
        if let Some(edge) = action.edge {
            let mover = Instance { process: edge.process, slot };
            if let Some(last) = self.program.last {
                let pid = self.pid(state, mover);
                self.layout.set(state, self.layout.variables[last].first, Some(pid));
            }
            self.set_location(state, mover, edge.to);
        }
        if !self.has_slots || self.program.assertions != Assertions::GoOn {
            return self.finish(&action.body, state, locals);
        }
        for stmt in &action.body {
            match (&stmt.kind, self.statement(stmt, state, locals)) {
                (_, Ok(_)) => {}
                (StmtKind::Assert { .. }, Err(failure)) if failure.kind.is_assertion() => {
                    tell(failure);
                }
                (_, Err(failure)) => return Err(failure),
            }
        }
        Ok(true)
    }

    /// Runs the body of an action or start to its end. False if an assumption fails.
    fn finish(&self, body: &[Stmt], state: &mut [u8], locals: &Locals) -> Result<bool, Failure> {
        Ok(!matches!(self.run(body, state, locals)?, Flow::Dropped))
    }

    /// Ends a step, when all its bodies have run.
    fn arrive(&self, state: &mut [u8]) -> Result<Arrival, Failure> {
        self.sort_multisets(state);
        for assumption in &self.assumptions {
            if self.eval(assumption, state, &Locals::default())? == 0 {
                return Ok(Arrival::LeftOut);
            }
        }
        Ok(Arrival::State)
    }

    /// Every rendezvous of one receiving action: one for each sender.
    fn receive(
        &self,
        id: ActionId,
        only_committed: bool,
        state: &[u8],
        locals: &Locals,
        work: &mut Vec<u8>,
        visit: &mut StepVisitor,
    ) {
        let receiver = &self.program.actions[id];
        match self.holds(receiver.guard.as_ref(), state, locals) {
            Ok(true) => {}
            Ok(false) => return,
            // A guard that cannot be judged is an error only if the step could otherwise happen:
            // it is reported with the first sender that is there.
            Err(fault) => {
                if let Some(sender) = self.senders(id, only_committed, state).next() {
                    visit(&joint((id, locals), (sender, 0)), Err(fault));
                }
                return;
            }
        }
        for sender_id in self.senders(id, only_committed, state) {
            let sender = &self.program.actions[sender_id];
            let theirs = Locals::new(&self.layout.frames.actions[sender_id]);
            self.each_binding(&sender.parameters, &theirs, &mut |theirs| {
                let arrived = self.rendezvous(receiver, sender, state, locals, theirs, work);
                let taken = joint((id, locals), (sender_id, theirs.combination.get()));
                self.tell(&taken, arrived, work, visit);
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
                self.from.at(process, at).iter().copied()
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
    ) -> Result<Arrival, Failure> {
        let (
            Some(Communication::Receive { patterns, channel, span, .. }),
            Some(Communication::Send { values, .. }),
        ) = (&receiver.communication, &sender.communication)
        else {
            return Ok(Arrival::Nowhere);
        };
        if !self.holds(sender.guard.as_ref(), state, theirs)? {
            return Ok(Arrival::Nowhere);
        }
        let message = self.message(values, state, theirs)?;
        let message = self.fitting(self.named(channel), values, message)?;
        let channel = ChannelAt { id: self.named(channel), slot: 0 };
        if !self.matches((channel, patterns, *span), &message, state, locals)? {
            return Ok(Arrival::Nowhere);
        }
        self.load(state, work);
        self.deliver(channel, patterns, &message, *span, work, locals)?;
        let moved = self.complete(receiver, 0, work, locals, &mut |_| {})?
            && self.complete(sender, 0, work, theirs, &mut |_| {})?;
        if moved { self.arrive(work) } else { Ok(Arrival::Nowhere) }
    }

    /// Tells `visit` every combination of one enabled action for each process.
    fn lockstep(&self, state: &[u8], work: &mut Vec<u8>, visit: &mut StepVisitor) {
        let mut choices = Vec::new();
        for process in self.program.processes.keys().filter(|&id| self.moves(id)) {
            let at = self.location(state, process);
            let mut enabled: Vec<Choice> = Vec::new();
            for &id in self.from.at(process, at) {
                let locals = Locals::new(&self.layout.frames.actions[id]);
                let action = &self.program.actions[id];
                self.each_binding(&action.parameters, &locals, &mut |locals| match self
                    .is_enabled(action, state, locals)
                {
                    Ok(true) => enabled.push((id, locals.clone())),
                    Ok(false) => {}
                    Err(fault) => visit(&alone(id, locals), Err(fault)),
                });
            }
            choices.push(enabled);
        }
        if choices.iter().any(Vec::is_empty) {
            return;
        }
        let mut chosen = vec![0; choices.len()];
        loop {
            let actions: Vec<&Choice> =
                choices.iter().zip(&chosen).map(|(enabled, &at)| &enabled[at]).collect();
            let arrived = self.take_all(&actions, state, work);
            if let Some(((first, locals), others)) = actions.split_first() {
                if matches!(arrived, Ok(Arrival::State | Arrival::LeftOut)) {
                    others
                        .iter()
                        .for_each(|(id, locals)| visit(&alone(*id, locals), Ok(Led::OnTheWay)));
                }
                self.tell(&alone(*first, locals), arrived, work, visit);
            }
            if !advance(&mut chosen, &choices) || stop::is_asked() {
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

    /// Takes one action of each process: all values and patterns are judged in `state`, while
    /// messages and room are what the processes before have left.
    fn take_all(
        &self,
        actions: &[&Choice],
        state: &[u8],
        work: &mut Vec<u8>,
    ) -> Result<Arrival, Failure> {
        self.load(state, work);
        for (id, locals) in actions {
            let action = &self.program.actions[*id];
            if let Some(communication) = &action.communication
                && !self.exchange(communication, state, work, locals, &mut |_| {})?
            {
                let message = "two processes use the last room or message of the channel";
                return Err(fault(FaultKind::Limit, communication.span(), message));
            }
            if !self.complete(action, 0, work, locals, &mut |_| {})? {
                return Ok(Arrival::Nowhere);
            }
        }
        self.arrive(work)
    }

    /// Calls `visit` with every combination of the parameters' values, the last varying fastest. Where an action has a
    /// [plan](Interp::plan) its combinations are listed by that instead.
    pub(super) fn each_binding<'f>(
        &self,
        parameters: &[Parameter],
        locals: &Locals<'f>,
        visit: &mut dyn FnMut(&Locals<'f>),
    ) {
        let _ = self.bindings_until(parameters, locals, &mut |locals| {
            visit(locals);
            ControlFlow::Continue(())
        });
    }

    /// The same, until `visit` breaks off.
    pub(super) fn bindings_until<'f>(
        &self,
        parameters: &[Parameter],
        locals: &Locals<'f>,
        visit: &mut dyn FnMut(&Locals<'f>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some((parameter, rest)) = parameters.split_first() else { return visit(locals) };
        let (low, high) = self.scalar_bounds(parameter.over);
        let outer = locals.combination.get();
        // Where this is more than 32 bits, combinations are not numbered.
        let first = outer.wrapping_mul(high.wrapping_sub(low).wrapping_add(1) as u32);
        for value in low..=high {
            if stop::is_asked() {
                return ControlFlow::Break(());
            }
            locals.set(parameter.local, Bound::Value(value));
            locals.combination.set(first.wrapping_add(value.wrapping_sub(low) as u32));
            self.bindings_until(rest, locals, visit)?;
        }
        locals.combination.set(outer);
        ControlFlow::Continue(())
    }
}

/// Counts `chosen` up, the last place fastest; false when all combinations have been seen.
fn advance(chosen: &mut [usize], choices: &[Vec<Choice>]) -> bool {
    for (at, enabled) in chosen.iter_mut().zip(choices).rev() {
        *at += 1;
        if *at < enabled.len() {
            return true;
        }
        *at = 0;
    }
    false
}
