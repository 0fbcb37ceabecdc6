//! The execution of single action instances of a program.

use spillway::analysis::instances::{ActionInstance, ActionInstances, InstanceId, InstanceSide};
use spillway::exec::interp::InterpSelector;
use spillway::exec::{Interp, SelectiveStateSpace};
use spillway::ir::{Action, Communication, Domain, Expr, Program, ScalarType, Type, Urgency};
use spillway::model::{
    FaultKind, StateSpace, StepOutcome, SuccessorSink, SystemDescription, Violation,
};
use std::collections::BTreeSet;

/// The result of a step: a state or an error.
pub type Came = Result<Vec<u8>, FaultKind>;

/// An executor of single action instances of a program.
pub enum Taker<'a> {
    /// Without dynamic processes, each instance has its own program.
    Alone(Vec<Interp>),
    /// With dynamic processes, the interpreter selects the instance.
    Among(&'a Interp, InterpSelector<'a>),
}

impl<'a> Taker<'a> {
    pub fn new(model: &'a Interp, instances: &ActionInstances) -> Taker<'a> {
        match model.program().has_dynamic_processes() {
            true => Taker::Among(model, model.selector().expect("its instances are numbered")),
            false => {
                let all = (0..instances.count()).map(|it| instances.get(InstanceId(it)).unwrap());
                Taker::Alone(all.map(|it| interp(only(model.program(), instances, it))).collect())
            }
        }
    }

    /// Returns all results of an instance in a state; none if it is not enabled.
    pub fn take(&self, instance: InstanceId, state: &[u8]) -> BTreeSet<Came> {
        match self {
            Taker::Alone(programs) => taken(&programs[instance.0 as usize], state),
            Taker::Among(model, selector) => chosen(model, selector, instance, state),
        }
    }
}

/// Returns all results of a selected instance.
fn chosen(
    model: &Interp,
    selector: &InterpSelector,
    instance: InstanceId,
    state: &[u8],
) -> BTreeSet<Came> {
    let mut sets = selector.instances().sets();
    sets.clear(1);
    sets.insert(0, instance);
    let mut states = Vec::new();
    let run = |out: &mut SuccessorSink| selector.expand_chosen(state, &sets, out);
    let collected = SuccessorSink::collect(model.width(), &mut states, run).unwrap();
    let mut came: BTreeSet<Came> =
        states.chunks_exact(model.width()).map(|it| Ok(it.to_vec())).collect();
    for (check, _) in collected.findings.iter() {
        if let Violation::Fault(kind, _) = check {
            came.insert(Err(kind));
        }
    }
    came
}

pub fn interp(program: Program) -> Interp {
    Interp::as_declared(program).expect("a part of what is executed can be executed")
}

fn came(outcome: StepOutcome) -> Came {
    match outcome {
        StepOutcome::Successor(state) => Ok(state),
        StepOutcome::Fault(fault) => Err(fault.kind),
    }
}

/// Returns all results of the actions of a program.
pub fn taken(model: &Interp, state: &[u8]) -> BTreeSet<Came> {
    let actions = model.program().actions.len() as u32;
    let steps = model.steps(state).into_iter().filter(|step| step.action < actions);
    steps.map(|step| came(step.outcome)).collect()
}

/// Returns a program with only this action instance.
fn only(program: &Program, instances: &ActionInstances, instance: ActionInstance) -> Program {
    let mut alone = program.clone();
    let sides: Vec<InstanceSide> = instance.sides().collect();
    let actions: Vec<Action> = (sides.into_iter())
        .map(|side| fixed(program, &mut alone, side, instances.values(side)))
        .collect();
    alone.actions = actions.into_iter().collect();
    alone
}

/// Returns an action whose parameters have one value each.
pub fn fixed(
    program: &Program,
    into: &mut Program,
    side: InstanceSide,
    values: Vec<i64>,
) -> Action {
    let mut action = program.actions[side.action].clone();
    for (parameter, value) in action.parameters.iter_mut().zip(values) {
        let domain = Domain::Range { low: value, high: value };
        parameter.over = into.types.push(Type::Scalar(ScalarType::defined(domain)));
    }
    action
}

/// Returns a program that has a transition exactly if the guard, or the communication, of this side alone permits it.
pub fn judging(
    program: &Program,
    instances: &ActionInstances,
    side: InstanceSide,
    guard: Option<Expr>,
    communication: Option<Communication>,
) -> Interp {
    let mut alone = program.clone();
    let action = fixed(program, &mut alone, side, instances.values(side));
    let action = Action { edge: None, guard, communication, body: Vec::new(), ..action };
    alone.actions = [action].into_iter().collect();
    alone.properties = Default::default();
    // No committed location may prevent the evaluation.
    for process in alone.processes.keys().collect::<Vec<_>>() {
        for location in alone.processes[process].locations.keys().collect::<Vec<_>>() {
            alone.processes[process].locations[location].urgency = Urgency::Free;
        }
    }
    interp(alone)
}
