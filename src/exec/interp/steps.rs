//! Which actions can be taken in a state, and in which order they are listed.
//!
//! Interleaved programs list, process after process, the actions from the location it is at, then
//! the actions of no process; a rendezvous is listed with its receiver, once for each sender.
//! Lockstep programs list every combination of one action for each process, the last process's
//! varying fastest.

use super::channels::{ChannelInstance, ChannelReceive};
use super::failure::fault;
use super::frames::{BodyFlow, LocalEnv, LocalValue};
use super::{EvalFailure, Interp};
use crate::analysis::instances::{ActionInstance, InstanceSide};
use crate::ir::{
    Action, ActionId, AssertionRule, Communication, Owner, Parameter, ProcessId, ProcessInstance,
    Schedule, Stmt, StmtKind, Urgency,
};
use crate::model::{FaultKind, stop_request};
use std::ops::ControlFlow;

/// An action that is part of a step, the slot of its mover, and which combination of its
/// parameters' values, counted as [`InstanceSide`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StepAction {
    pub action: ActionId,
    pub slot: u32,
    pub combination: u32,
}

impl StepAction {
    /// An action of a process that comes and goes, which has no parameters.
    pub fn without_parameters(action: ActionId, mover: ProcessInstance) -> StepAction {
        StepAction { action, slot: mover.slot, combination: 0 }
    }

    /// It as one side of what a step begins with.
    pub fn side(self) -> InstanceSide {
        let StepAction { action, slot, combination } = self;
        InstanceSide { action, slot, combination }
    }
}

/// What a step of a program whose processes are always there begins with.
pub(super) fn begun(taken: &[StepAction]) -> Option<ActionInstance> {
    match *taken {
        [] => None,
        [one] => Some(ActionInstance::Alone(one.side())),
        [receiver, sender, ..] => {
            Some(ActionInstance::Meeting { sender: sender.side(), receiver: receiver.side() })
        }
    }
}

/// Told of every step: its actions, and where they lead or the fault.
pub(super) type StepTargetVisitor<'a> =
    dyn FnMut(&[StepAction], Result<StepTarget<'_>, EvalFailure>) + 'a;

/// Where the actions of a step lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::exec) enum StepTarget<'s> {
    /// To its successor.
    To(&'s [u8]),
    /// To a state that is left out.
    LeftOut,
    /// To where the same step goes on, in one way or in several, or not at all if they all fail: it is told of these
    /// actions once, whatever follows.
    Intermediate,
}

impl<'s> StepTarget<'s> {
    /// The successor, where it is one.
    pub fn successor(self) -> Option<&'s [u8]> {
        match self {
            StepTarget::To(successor) => Some(successor),
            StepTarget::LeftOut | StepTarget::Intermediate => None,
        }
    }
}

/// Where actions that are taken lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ActionResult {
    /// To a state.
    State,
    /// To one that is left out: an assumption about all states does not hold there.
    LeftOut,
    /// Nowhere: the message does not match, or an assumption of a body does not hold. There is no
    /// such step.
    Nowhere,
}

/// A step of one action.
fn single_action_step(action: ActionId, locals: &LocalEnv) -> [StepAction; 1] {
    [StepAction { action, slot: 0, combination: locals.combination.get() }]
}

/// A rendezvous, which is listed with its receiver. Each side has its own parameters.
fn rendezvous_step(receiver: (ActionId, &LocalEnv), sender: (ActionId, u32)) -> [StepAction; 2] {
    let receiver = (receiver.0, receiver.1.combination.get());
    [receiver, sender].map(|(action, combination)| StepAction { action, slot: 0, combination })
}

/// An action that a process can take in lockstep, and the values of its parameters.
type LockstepChoice<'a> = (ActionId, LocalEnv<'a>);

impl Interp {
    /// Tells `visit` every step out of `state`, using `work` for the successors.
    pub(super) fn each_step(
        &self,
        state: &[u8],
        work: &mut Vec<u8>,
        visit: &mut StepTargetVisitor,
    ) {
        match self.program.schedule {
            Schedule::Interleaved if self.has_slots => self.slot_steps(state, visit),
            Schedule::Interleaved => self.interleaved(state, work, visit),
            Schedule::Lockstep => self.lockstep(state, work, visit),
        }
    }

    /// Tells `visit` every initial state, or the fault of the start with this number, until it breaks
    /// off.
    pub(super) fn run_starts(
        &self,
        mut visit: impl FnMut(u32, Result<&[u8], EvalFailure>) -> ControlFlow<()>,
    ) {
        let zero = self.declared_state();
        let mut work = Vec::new();
        for (number, start) in self.program.starts.iter().enumerate() {
            let locals = LocalEnv::new(&self.layout.frames.starts[number]);
            let went = self.bindings_until(&start.parameters, &locals, &mut |locals| {
                self.load(&zero, &mut work);
                let started = self.finish(&start.body, &mut work, locals);
                let arrived = started.and_then(|started| match started {
                    true => self.arrive(&mut work),
                    false => Ok(ActionResult::Nowhere),
                });
                match arrived {
                    Ok(ActionResult::State) => visit(number as u32, Ok(&work[..self.layout.bytes])),
                    Ok(ActionResult::LeftOut | ActionResult::Nowhere) => ControlFlow::Continue(()),
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

    fn interleaved(&self, state: &[u8], work: &mut Vec<u8>, visit: &mut StepTargetVisitor) {
        if self.has_priorities {
            return self.by_priority(state, work, visit);
        }
        self.process_steps(self.has_committed_process(state), state, work, visit);
    }

    /// Whether some process is at a committed location, so that others are held back.
    pub(in crate::exec) fn has_committed_process(&self, state: &[u8]) -> bool {
        self.has_committed && self.some_committed(state)
    }

    /// The steps of all processes, or only of those at committed locations.
    pub(super) fn process_steps(
        &self,
        only_committed: bool,
        state: &[u8],
        work: &mut Vec<u8>,
        visit: &mut StepTargetVisitor,
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
    fn by_priority(&self, state: &[u8], work: &mut Vec<u8>, visit: &mut StepTargetVisitor) {
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
        visit: &mut StepTargetVisitor,
    ) {
        let action = &self.program.actions[id];
        let locals = LocalEnv::new(&self.layout.frames.actions[id]);
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
                    self.tell(&single_action_step(id, locals), arrived, work, visit);
                }
                Err(fault) => visit(&single_action_step(id, locals), Err(fault)),
            },
        });
    }

    /// Tells `visit` what came of a step.
    fn tell(
        &self,
        taken: &[StepAction],
        arrived: Result<ActionResult, EvalFailure>,
        work: &[u8],
        visit: &mut StepTargetVisitor,
    ) {
        match arrived {
            Ok(ActionResult::State) => visit(taken, Ok(StepTarget::To(&work[..self.layout.bytes]))),
            Ok(ActionResult::LeftOut) => visit(taken, Ok(StepTarget::LeftOut)),
            Ok(ActionResult::Nowhere) => {}
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
        locals: &LocalEnv,
    ) -> Result<bool, EvalFailure> {
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
        locals: &LocalEnv,
        work: &mut Vec<u8>,
    ) -> Result<ActionResult, EvalFailure> {
        self.load(state, work);
        if let Some(communication) = &action.communication {
            self.exchange(communication, state, work, locals, &mut |_| {})?;
        }
        match self.complete(action, 0, work, locals, &mut |_| {}) {
            Ok(true) => self.arrive(work),
            Ok(false) => Ok(ActionResult::Nowhere),
            Err(failure) => Err(self.failed_in(work, failure)),
        }
    }

    /// A failure of a step that had made this of the state.
    fn failed_in(&self, work: &[u8], mut failure: EvalFailure) -> EvalFailure {
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
        locals: &LocalEnv,
        tell: &mut dyn FnMut(EvalFailure),
    ) -> Result<bool, EvalFailure> {
        if let Some(edge) = action.edge {
            let mover = ProcessInstance { process: edge.process, slot };
            if let Some(last) = self.program.last {
                let pid = self.pid(state, mover);
                self.layout.set(state, self.layout.variables[last].first, Some(pid));
            }
            self.set_location(state, mover, edge.to);
        }
        if !self.has_slots || self.program.assertions != AssertionRule::Continue {
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
    fn finish(
        &self,
        body: &[Stmt],
        state: &mut [u8],
        locals: &LocalEnv,
    ) -> Result<bool, EvalFailure> {
        Ok(!matches!(self.run(body, state, locals)?, BodyFlow::Dropped))
    }

    /// Ends a step, when all its bodies have run.
    fn arrive(&self, state: &mut [u8]) -> Result<ActionResult, EvalFailure> {
        self.sort_multisets(state);
        for assumption in &self.assumptions {
            if self.eval(assumption, state, &LocalEnv::default())? == 0 {
                return Ok(ActionResult::LeftOut);
            }
        }
        Ok(ActionResult::State)
    }

    /// Every rendezvous of one receiving action: one for each sender.
    fn receive(
        &self,
        id: ActionId,
        only_committed: bool,
        state: &[u8],
        locals: &LocalEnv,
        work: &mut Vec<u8>,
        visit: &mut StepTargetVisitor,
    ) {
        let receiver = &self.program.actions[id];
        match self.holds(receiver.guard.as_ref(), state, locals) {
            Ok(true) => {}
            Ok(false) => return,
            // A guard that cannot be judged is an error only if the step could otherwise happen:
            // it is reported with the first sender that is there.
            Err(fault) => {
                if let Some(sender) = self.senders(id, only_committed, state).next() {
                    visit(&rendezvous_step((id, locals), (sender, 0)), Err(fault));
                }
                return;
            }
        }
        for sender_id in self.senders(id, only_committed, state) {
            let sender = &self.program.actions[sender_id];
            let theirs = LocalEnv::new(&self.layout.frames.actions[sender_id]);
            self.each_binding(&sender.parameters, &theirs, &mut |theirs| {
                let arrived = self.rendezvous(receiver, sender, state, locals, theirs, work);
                let taken = rendezvous_step((id, locals), (sender_id, theirs.combination.get()));
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
        locals: &LocalEnv,
        theirs: &LocalEnv,
        work: &mut Vec<u8>,
    ) -> Result<ActionResult, EvalFailure> {
        let (
            Some(Communication::Receive { patterns, channel, span, .. }),
            Some(Communication::Send { values, .. }),
        ) = (&receiver.communication, &sender.communication)
        else {
            return Ok(ActionResult::Nowhere);
        };
        if !self.holds(sender.guard.as_ref(), state, theirs)? {
            return Ok(ActionResult::Nowhere);
        }
        let message = self.message(values, state, theirs)?;
        let message = self.fitting(self.named(channel), values, message)?;
        let channel = ChannelInstance { id: self.named(channel), slot: 0 };
        let receive = ChannelReceive { channel, patterns, span: *span };
        if !self.matches(receive, &message, state, locals)? {
            return Ok(ActionResult::Nowhere);
        }
        self.load(state, work);
        self.deliver(receive, &message, work, locals)?;
        let moved = self.complete(receiver, 0, work, locals, &mut |_| {})?
            && self.complete(sender, 0, work, theirs, &mut |_| {})?;
        if moved { self.arrive(work) } else { Ok(ActionResult::Nowhere) }
    }

    /// Tells `visit` every combination of one enabled action for each process.
    fn lockstep(&self, state: &[u8], work: &mut Vec<u8>, visit: &mut StepTargetVisitor) {
        let mut choices = Vec::new();
        for process in self.program.processes.keys().filter(|&id| self.moves(id)) {
            let at = self.location(state, process);
            let mut enabled: Vec<LockstepChoice> = Vec::new();
            for &id in self.from.at(process, at) {
                let locals = LocalEnv::new(&self.layout.frames.actions[id]);
                let action = &self.program.actions[id];
                self.each_binding(&action.parameters, &locals, &mut |locals| match self
                    .is_enabled(action, state, locals)
                {
                    Ok(true) => enabled.push((id, locals.clone())),
                    Ok(false) => {}
                    Err(fault) => visit(&single_action_step(id, locals), Err(fault)),
                });
            }
            choices.push(enabled);
        }
        if choices.iter().any(Vec::is_empty) {
            return;
        }
        let mut chosen = vec![0; choices.len()];
        loop {
            let actions: Vec<&LockstepChoice> =
                choices.iter().zip(&chosen).map(|(enabled, &at)| &enabled[at]).collect();
            let arrived = self.take_all(&actions, state, work);
            if let Some(((first, locals), others)) = actions.split_first() {
                if matches!(arrived, Ok(ActionResult::State | ActionResult::LeftOut)) {
                    others.iter().for_each(|(id, locals)| {
                        visit(&single_action_step(*id, locals), Ok(StepTarget::Intermediate))
                    });
                }
                self.tell(&single_action_step(*first, locals), arrived, work, visit);
            }
            if !advance(&mut chosen, &choices) || stop_request::is_requested() {
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
        actions: &[&LockstepChoice],
        state: &[u8],
        work: &mut Vec<u8>,
    ) -> Result<ActionResult, EvalFailure> {
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
                return Ok(ActionResult::Nowhere);
            }
        }
        self.arrive(work)
    }

    /// Calls `visit` with every combination of the parameters' values, the last varying fastest. Where an action has a
    /// [plan](Interp::plan) its combinations are listed by that instead.
    pub(super) fn each_binding<'f>(
        &self,
        parameters: &[Parameter],
        locals: &LocalEnv<'f>,
        visit: &mut dyn FnMut(&LocalEnv<'f>),
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
        locals: &LocalEnv<'f>,
        visit: &mut dyn FnMut(&LocalEnv<'f>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Some((parameter, rest)) = parameters.split_first() else { return visit(locals) };
        let (low, high) = self.scalar_bounds(parameter.over);
        let outer = locals.combination.get();
        // Where this is more than 32 bits, combinations are not numbered.
        let first = outer.wrapping_mul(high.wrapping_sub(low).wrapping_add(1) as u32);
        for value in low..=high {
            if stop_request::is_requested() {
                return ControlFlow::Break(());
            }
            locals.set(parameter.local, LocalValue::Value(value));
            locals.combination.set(first.wrapping_add(value.wrapping_sub(low) as u32));
            self.bindings_until(rest, locals, visit)?;
        }
        locals.combination.set(outer);
        ControlFlow::Continue(())
    }
}

/// Counts `chosen` up, the last place fastest; false when all combinations have been seen.
fn advance(chosen: &mut [usize], choices: &[Vec<LockstepChoice>]) -> bool {
    for (at, enabled) in chosen.iter_mut().zip(choices).rev() {
        *at += 1;
        if *at < enabled.len() {
            return true;
        }
        *at = 0;
    }
    false
}
