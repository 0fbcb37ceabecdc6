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
pub type StepResult = Result<Vec<u8>, FaultKind>;

/// An executor of single action instances of a program.
pub enum InstanceExecutor<'a> {
    /// Without dynamic processes, each instance has its own program.
    Alone(Vec<Interp>),
    /// With dynamic processes, the interpreter selects the instance.
    Among(&'a Interp, InterpSelector<'a>),
}

impl<'a> InstanceExecutor<'a> {
    pub fn new(model: &'a Interp, instances: &ActionInstances) -> InstanceExecutor<'a> {
        match model.program().has_dynamic_processes() {
            true => InstanceExecutor::Among(
                model,
                model.selector().expect("its instances are numbered"),
            ),
            false => {
                let all = (0..instances.count()).map(|it| instances.get(InstanceId(it)).unwrap());
                InstanceExecutor::Alone(
                    all.map(|it| interp(single_instance_program(model.program(), instances, it)))
                        .collect(),
                )
            }
        }
    }

    /// Returns all results of an instance in a state; none if it is not enabled.
    pub fn execute(&self, instance: InstanceId, state: &[u8]) -> BTreeSet<StepResult> {
        match self {
            InstanceExecutor::Alone(programs) => execute_all(&programs[instance.0 as usize], state),
            InstanceExecutor::Among(model, selector) => {
                execute_selected(model, selector, instance, state)
            }
        }
    }
}

/// Returns all results of a selected instance.
fn execute_selected(
    model: &Interp,
    selector: &InterpSelector,
    instance: InstanceId,
    state: &[u8],
) -> BTreeSet<StepResult> {
    let mut sets = selector.instances().sets();
    sets.clear(1);
    sets.insert(0, instance);
    let mut states = Vec::new();
    let run = |out: &mut SuccessorSink| selector.expand_chosen(state, &sets, out);
    let collected = SuccessorSink::collect(model.width(), &mut states, run).unwrap();
    let mut results: BTreeSet<StepResult> =
        states.chunks_exact(model.width()).map(|it| Ok(it.to_vec())).collect();
    for (check, _) in collected.findings.iter() {
        if let Violation::Fault(kind, _) = check {
            results.insert(Err(kind));
        }
    }
    results
}

pub fn interp(program: Program) -> Interp {
    Interp::as_declared(program).expect("a part of an executable program is executable")
}

fn step_result(outcome: StepOutcome) -> StepResult {
    match outcome {
        StepOutcome::Successor(state) => Ok(state),
        StepOutcome::Fault(fault) => Err(fault.kind),
    }
}

/// Returns all results of the actions of a program.
pub fn execute_all(model: &Interp, state: &[u8]) -> BTreeSet<StepResult> {
    let actions = model.program().actions.len() as u32;
    let steps = model.steps(state).into_iter().filter(|step| step.action < actions);
    steps.map(|step| step_result(step.outcome)).collect()
}

/// Returns a program with only this action instance.
fn single_instance_program(
    program: &Program,
    instances: &ActionInstances,
    instance: ActionInstance,
) -> Program {
    let mut alone = program.clone();
    let sides: Vec<InstanceSide> = instance.sides().collect();
    let actions: Vec<Action> = (sides.into_iter())
        .map(|side| with_fixed_parameters(program, &mut alone, side, instances.values(side)))
        .collect();
    alone.actions = actions.into_iter().collect();
    alone
}

/// Returns an action whose parameters have one value each.
pub fn with_fixed_parameters(
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
pub fn guard_program(
    program: &Program,
    instances: &ActionInstances,
    side: InstanceSide,
    guard: Option<Expr>,
    communication: Option<Communication>,
) -> Interp {
    let mut alone = program.clone();
    let action = with_fixed_parameters(program, &mut alone, side, instances.values(side));
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
