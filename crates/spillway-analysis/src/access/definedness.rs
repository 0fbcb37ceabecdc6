//! The cells that may be undefined in reachable states.
//!
//! In a language with undefined values, nearly every variable may be undefined by its type, but few are after the
//! start. The analysis walks through the starts, round by round through loops, to find the cells that they leave
//! undefined. Then it adds the cells that actions may make undefined, until a fixed point.

use super::abstract_state::AbstractState;
use super::cell_set::CellSet;
use super::collector::{AccessCollector, MoverSlots, StaticFacts};
use super::failure_analysis::FailureAnalysis;
use spillway_ir::layout::CellId;
use spillway_ir::{Action, Owner, Parameter, Program, StartRule};
use std::collections::BTreeSet;

/// The maximal number of loop rounds of a start that are walked one by one.
const ROUNDS_MAX: u32 = 4096;

/// Computes the cells that may be undefined.
pub(super) fn possibly_undefined(known: StaticFacts<'_>) -> CellSet {
    let mut undefined = CellSet::default();
    if !known.layout.cells.values().any(|it| it.undefined) {
        return undefined;
    }
    known.program.starts.iter().for_each(|it| undefined.extend(&undefined_after_start(known, it)));
    undefined.extend(&of_slots(known));
    loop {
        let mut all = undefined.clone();
        let known = StaticFacts { undefined: Some(&undefined), ..known };
        for action in known.program.actions.values() {
            all.extend(&undefined_by_action(known, action));
        }
        for (id, process) in known.program.processes.iter() {
            let slots = 0..known.program.slots(id);
            let mover = MoverSlots { process: Some(id), slots };
            let mut judge = FailureAnalysis::new(AccessCollector::new(known, mover));
            judge.whole_body(&process.life.prologue);
            all.extend(&judge.made_undefined());
        }
        if all == undefined {
            return all;
        }
        undefined = all;
    }
}

fn bind(collector: &mut AccessCollector<'_>, parameters: &[Parameter]) {
    for parameter in parameters {
        let values = collector.bounds(parameter.over);
        collector.bind_values(parameter.local, values);
    }
}

/// Computes the cells that a start may leave undefined.
fn undefined_after_start(known: StaticFacts<'_>, start: &StartRule) -> CellSet {
    let mut collector = AccessCollector::new(known, MoverSlots::nobody());
    bind(&mut collector, &start.parameters);
    let (mut here, mut scalars) = (AbstractState::default(), Vec::new());
    for (id, variable) in known.program.variables.iter() {
        if is_in_slots(known.program, variable.owner) {
            continue;
        }
        let CellId(first) = collector.variable_cell(id, 0);
        for (cell, value) in (first..).zip(&variable.initial) {
            value.iter().for_each(|&it| here.set(cell, (it, it)));
        }
        collector.each_scalar(variable.ty, first, &mut |cell, _| scalars.push(cell));
    }
    let mut judge = FailureAnalysis::new(collector);
    judge.set_state(here);
    judge.unroll(ROUNDS_MAX);
    judge.whole_body(&start.body);
    let (after, made) = (judge.state(), judge.made_undefined());
    let mut undefined = CellSet::default();
    if after.is_unreachable() {
        return undefined;
    }
    // For scalars the final state decides. For elements of multisets any earlier undefined value counts.
    let scalars: BTreeSet<u32> = scalars.into_iter().collect();
    let left = scalars.iter().copied().filter(|&it| after.get(it).is_none());
    let elements = made.iter().map(|it| it.0).filter(|it| !scalars.contains(it));
    left.chain(elements).for_each(|it| undefined.insert(it..it + 1));
    undefined
}

/// Returns the cells of processes that start and end, which may be undefined at first.
fn of_slots(known: StaticFacts<'_>) -> CellSet {
    let mut cells = CellSet::default();
    for (id, _) in known.program.processes.iter().filter(|(_, it)| it.has_slots()) {
        (0..known.program.slots(id)).for_each(|slot| cells.extend(&known.own_cells(id, slot)));
    }
    cells
}

fn is_in_slots(program: &Program, owner: Owner) -> bool {
    match owner {
        Owner::Program => false,
        Owner::Process(process) => program.processes[process].has_slots(),
    }
}

/// Computes the cells that an action may make undefined, for any mover.
fn undefined_by_action(known: StaticFacts<'_>, action: &Action) -> CellSet {
    let process = action.edge.map(|edge| edge.process);
    let slots = 0..process.map_or(1, |it| known.program.slots(it));
    let mut collector = AccessCollector::new(known, MoverSlots { process, slots });
    bind(&mut collector, &action.parameters);
    let mut judge = FailureAnalysis::new(collector);
    action.guard.iter().for_each(|it| judge.condition(it));
    if action.communication.is_some() {
        // Another process may execute statements before.
        judge.set_state(AbstractState::default());
    }
    judge.take_action(action);
    judge.made_undefined()
}
