//! Processes that always have an enabled action. With such a process there is no deadlock.

use crate::merge::is_always_enabled;
use spillway_analysis::access::AccessTable;
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_exec::Interp;
use spillway_ir::walk::any_stmt;
use spillway_ir::{
    Action, ActionId, ActionsByLocation, InstanceCount, LocationId, ProcessId, Program,
    PropertyKind, Stmt, StmtKind, Urgency,
};
use std::collections::BTreeSet;

/// Units of work to decide whether an action is always enabled at a location: all values that it reads may be tried.
const EACH_LOCATION: u64 = 1 << 10;

/// Returns the first process that always has an enabled action, wherever it and all others are.
pub(super) fn find(
    table: &AccessTable<'_>,
    written: &Interp,
    budget: &AnalysisBudget,
) -> Result<Option<ProcessId>, BudgetExceeded> {
    let program = table.program();
    let mut processes = program.processes.values();
    let is_held =
        processes.any(|it| it.locations.values().any(|at| at.urgency == Urgency::Committed));
    let mut properties = program.properties.values();
    // A transition to an excluded state does not count.
    let is_assumed = properties.any(|it| matches!(it.kind, PropertyKind::Assumption(_)));
    if is_held || is_assumed {
        return Ok(None);
    }
    let leaving = ActionsByLocation::leaving(program);
    for id in program.processes.keys() {
        if is_perpetual(table, written, &leaving, id, budget)? {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

fn is_perpetual(
    table: &AccessTable<'_>,
    written: &Interp,
    leaving: &ActionsByLocation,
    id: ProcessId,
    budget: &AnalysisBudget,
) -> Result<bool, BudgetExceeded> {
    let program = table.program();
    let process = &program.processes[id];
    let is_there = match process.instances {
        InstanceCount::One => true,
        InstanceCount::Slots { active, .. } => active > 0 || begins(program, id),
    };
    let mut properties = program.properties.values();
    let moves = !properties.any(|it| it.kind == PropertyKind::Automaton(id));
    budget.work(program.actions.len() as u64)?;
    if !is_there || !moves || process.life.provided.is_some() {
        return Ok(false);
    }
    for at in reached(program, leaving, id) {
        budget.work(EACH_LOCATION)?;
        if !is_step_always_enabled(table, written, id, at, leaving.at(id, at)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether each initial state has an instance of a process.
fn begins(program: &Program, id: ProcessId) -> bool {
    let runs = |it: &Stmt| matches!(it.kind, StmtKind::Run { process, .. } if process == id);
    !program.starts.is_empty() && program.starts.iter().all(|it| it.body.iter().any(runs))
}

/// Whether one of the actions at a location is always enabled.
fn is_step_always_enabled(
    table: &AccessTable<'_>,
    written: &Interp,
    process: ProcessId,
    at: LocationId,
    actions: &[ActionId],
) -> bool {
    let all = &table.program().actions;
    if actions.iter().any(|&it| is_other(&all[it])) {
        return false;
    }
    let plain =
        |it: &&ActionId| all[**it].communication.is_none() && all[**it].parameters.is_empty();
    let mut found: Vec<ActionId> = actions.iter().filter(plain).copied().collect();
    if found.len() < actions.len() {
        // An `else` action may wait for a message.
        found.retain(|&it| !all[it].control.otherwise);
    }
    !found.is_empty() && is_always_enabled(table, written, process, at, &found)
}

/// Whether an action may end its process, or be disabled although its guard holds.
fn is_other(action: &Action) -> bool {
    let is_other = |it: &StmtKind| {
        matches!(it, StmtKind::Exit | StmtKind::Assume(_) | StmtKind::Communicate(_))
    };
    action.control.tier != 0 || any_stmt(&action.body, &is_other)
}

/// Returns the locations that a process may reach.
fn reached(program: &Program, leaving: &ActionsByLocation, id: ProcessId) -> BTreeSet<LocationId> {
    let start = program.processes[id].start;
    let (mut found, mut open) = (BTreeSet::from([start]), vec![start]);
    while let Some(at) = open.pop() {
        let edges = leaving.at(id, at).iter().filter_map(|it| program.actions[*it].edge);
        open.extend(edges.map(|it| it.to).filter(|&it| found.insert(it)));
    }
    found
}
