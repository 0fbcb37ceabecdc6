//! Programs in lockstep: a step consists of one action of each process. Combinations are listed with the last
//! process's action varying fastest.

use super::failure::fault;
use super::frames::{EvalContext, LocalEnv};
use super::step_sink::{StepAction, StepTarget, StepTargetVisitor};
use super::{EvalFailure, Interp};
use spillway_ir::{ActionId, ProcessId, PropertyKind};
use spillway_model::{FaultKind, stop_request};

/// An action that a process can take in lockstep, and the values of its parameters.
type LockstepChoice<'a> = (ActionId, LocalEnv<'a>);

impl Interp {
    /// Calls `visit` with every combination of one enabled action for each process.
    pub(super) fn lockstep(&self, state: &[u8], visit: &mut StepTargetVisitor) {
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
                    Err(fault) => visit(&[StepAction::new(id, locals)], Err(fault)),
                });
            }
            choices.push(enabled);
        }
        if choices.is_empty() || choices.iter().any(Vec::is_empty) {
            return;
        }
        let (mut chosen, mut work) = (vec![0; choices.len()], Vec::new());
        loop {
            let actions: Vec<&LockstepChoice> =
                choices.iter().zip(&chosen).map(|(enabled, &at)| &enabled[at]).collect();
            let taken: Vec<StepAction> =
                actions.iter().map(|(id, locals)| StepAction::new(*id, locals)).collect();
            // A step is listed with the first of its actions.
            match self.take_all(&actions, state, &mut work) {
                Ok(false) => {}
                Ok(true) => {
                    let target = self.arrive(&mut work);
                    if target.is_ok() {
                        visit(&taken, Ok(StepTarget::Intermediate));
                    }
                    visit(&taken[..1], target);
                }
                Err(failure) => visit(&taken[..1], Err(failure)),
            }
            if !advance(&mut chosen, &choices) || stop_request::is_requested() {
                return;
            }
        }
    }

    /// Returns whether a process takes part in steps. Observer automata do not.
    fn moves(&self, process: ProcessId) -> bool {
        !self
            .program
            .properties
            .values()
            .any(|property| matches!(property.kind, PropertyKind::Automaton(id) if id == process))
    }

    /// Takes one action of each process. Values and patterns are evaluated in `state`; messages and free capacity are
    /// those that the previous processes left. Returns false if an assumption fails.
    fn take_all(
        &self,
        actions: &[&LockstepChoice],
        state: &[u8],
        work: &mut Vec<u8>,
    ) -> Result<bool, EvalFailure> {
        self.load(state, work);
        for (id, locals) in actions {
            let action = &self.program.actions[*id];
            if let Some(communication) = &action.communication
                && !self.exchange(
                    communication,
                    EvalContext { state, locals },
                    work,
                    &mut |_| {},
                )?
            {
                let message = "two processes use the last room or message of the channel";
                return Err(fault(FaultKind::Limit, communication.span(), message));
            }
            if !self.complete(action, work, locals, &mut |_| {})? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Advances `chosen` to the next combination, the last position fastest; returns false after the last one.
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
