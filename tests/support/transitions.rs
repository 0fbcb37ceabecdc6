//! One transition of a program, taken alone.

use spillway::analysis::access::{Instance, Transition};
use spillway::exec::{Explain, FaultKind, Interp, Outcome};
use spillway::ir::layout::CellId;
use spillway::ir::{
    Action, ActionId, Communication, Domain, Entity, Expr, Grip, Pid, Program, Scalar, Type,
};
use std::collections::BTreeSet;

/// What comes of a step: a state or an error.
pub type Came = Result<Vec<u8>, FaultKind>;

/// Takes single transitions of a program.
pub enum Taker<'a> {
    /// Where no process comes or goes, each has a program of its own.
    Alone(Vec<Interp>),
    /// Otherwise a step says who took which actions.
    Among(&'a Interp, Vec<Transition>),
}

impl<'a> Taker<'a> {
    pub fn new(model: &'a Interp, transitions: &[Transition]) -> Taker<'a> {
        match model.program().comes_and_goes() {
            true => Taker::Among(model, transitions.to_vec()),
            false => {
                let alone = transitions.iter().map(|it| interp(only(model.program(), it)));
                Taker::Alone(alone.collect())
            }
        }
    }

    /// All that can come of a transition in a state; nothing if it is not possible.
    pub fn take(&self, transition: usize, state: &[u8]) -> BTreeSet<Came> {
        match self {
            Taker::Alone(programs) => taken(&programs[transition], state),
            Taker::Among(model, transitions) => among(model, &transitions[transition], state),
        }
    }
}

pub fn interp(program: Program) -> Interp {
    Interp::as_declared(program).expect("a part of what is executed can be executed")
}

fn came(outcome: Outcome) -> Came {
    match outcome {
        Outcome::Successor(state) => Ok(state),
        Outcome::Fault(fault) => Err(fault.kind),
    }
}

/// All that the actions of a program can do.
pub fn taken(model: &Interp, state: &[u8]) -> BTreeSet<Came> {
    let actions = model.program().actions.len() as u32;
    let steps = model.steps(state).into_iter().filter(|step| step.action < actions);
    steps.map(|step| came(step.outcome)).collect()
}

/// A program that has one transition only.
fn only(program: &Program, transition: &Transition) -> Program {
    let mut alone = program.clone();
    let parts = [Some(&transition.first), transition.receiver.as_ref()].into_iter().flatten();
    let actions: Vec<Action> = parts.map(|it| fixed(program, &mut alone, it)).collect();
    alone.actions = actions.into_iter().collect();
    alone
}

/// An action whose parameters have one value each.
pub fn fixed(program: &Program, into: &mut Program, instance: &Instance) -> Action {
    let mut action = program.actions[instance.action].clone();
    for (parameter, &value) in action.parameters.iter_mut().zip(&instance.values) {
        let domain = Domain::Range { low: value, high: value };
        parameter.over = into.types.push(Type::Scalar(Scalar::defined(domain)));
    }
    action
}

/// A program that can do something exactly where the guard, or the message, of an instance alone lets
/// it.
pub fn judging(
    program: &Program,
    instance: &Instance,
    guard: Option<Expr>,
    communication: Option<Communication>,
) -> Interp {
    let mut alone = program.clone();
    let action = fixed(program, &mut alone, instance);
    let action = Action { edge: None, guard, communication, body: Vec::new(), ..action };
    alone.actions = [action].into_iter().collect();
    alone.properties = Default::default();
    // Nobody keeps it from being judged.
    for process in alone.processes.keys().collect::<Vec<_>>() {
        for location in alone.processes[process].locations.keys().collect::<Vec<_>>() {
            alone.processes[process].locations[location].grip = Grip::Free;
        }
    }
    interp(alone)
}

/// What comes of a transition of processes that come and go: of all steps that begin so.
fn among(model: &Interp, transition: &Transition, state: &[u8]) -> BTreeSet<Came> {
    let program = model.program();
    let is = |taken: &(u32, u32), instance: &Instance| {
        taken.0 == instance.action.0 && slot_of(model, state, *taken) == Some(instance.slot)
    };
    let steps = model.steps(state).into_iter().filter(|step| {
        let Some(first) = step.actions.first() else { return false };
        let second = step.actions.get(1).filter(|it| {
            let receives = |it: &Communication| matches!(it, Communication::Receive { .. });
            let action = &program.actions[ActionId(it.0)];
            it.1 != first.1 && action.communication.as_ref().is_some_and(receives)
        });
        let is_same = match (&transition.receiver, second) {
            (Some(receiver), Some(second)) => is(second, receiver),
            (receiver, second) => receiver.is_none() && second.is_none(),
        };
        is_same && is(first, &transition.first)
    });
    steps.map(|step| came(step.outcome)).collect()
}

/// The slot of the process with a pid that takes an action.
fn slot_of(model: &Interp, state: &[u8], (action, pid): (u32, u32)) -> Option<u32> {
    let (program, layout) = (model.program(), model.layout());
    let process = program.actions[ActionId::from_index(action as usize)].edge?.process;
    (0..program.slots(process)).find(|&slot| {
        let placement = layout.locations[process];
        let is_alive = !program.processes[process].has_slots()
            || layout.code(state, CellId(placement.first.0 + slot * placement.stride)) > 0;
        let own = match program.processes[process].life.pid {
            Pid::None => slot,
            Pid::From(first) => first + slot,
            Pid::In(variable) => {
                let placement = layout.variables[variable];
                let cell = CellId(placement.first.0 + slot * placement.stride);
                layout.get(state, cell).unwrap_or_default() as u32
            }
        };
        is_alive && own == pid
    })
}
