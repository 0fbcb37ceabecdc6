//! The processes in the cycle of a lasso: those that move, those that could move and never do, and those that wait.

use super::final_state::ProcessStatus;
use super::table::row;
use crate::model::{ProcessLocation, StepDescription, StepOutcome, SystemDescription};
use crate::source::SourceMap;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The maximum number of states of a cycle that are examined.
const STATES_MAX: usize = 1000;

/// The maximum number of locations that are named for a moving process.
const LOCATIONS_MAX: usize = 4;

/// The maximum number of processes that are shown.
const SHOWN_MAX: usize = 20;

/// The cycle of a lasso.
pub struct RunCycle {
    /// The number of the step after which the cycle begins.
    pub(super) back: usize,
    /// The location of each process at the start of the cycle, and its role in the cycle.
    processes: Vec<(ProcessStatus, CycleRole)>,
}

/// The role of a process in a cycle.
enum CycleRole {
    /// It moves through these locations.
    Moves(Vec<String>),
    /// It does not move, but could move in some state of the cycle.
    CouldMove,
    /// It cannot move.
    Waits,
}

impl CycleRole {
    /// Returns the name in JSON.
    fn name(&self) -> &'static str {
        match self {
            CycleRole::Moves(_) => "moves",
            CycleRole::CouldMove => "could move",
            CycleRole::Waits => "waits",
        }
    }
}

impl RunCycle {
    /// Examines the cycle of a run. The last of its steps leads back to the state after the step of number `back`.
    pub(super) fn of(
        model: &dyn SystemDescription,
        steps: &[StepDescription],
        back: usize,
        sources: &SourceMap,
    ) -> RunCycle {
        let states = steps[back..steps.len() - 1].iter().filter_map(|step| match &step.outcome {
            StepOutcome::Successor(state) => Some(state.as_slice()),
            StepOutcome::Fault(_) => None,
        });
        let states: Vec<&[u8]> = states.take(STATES_MAX).collect();
        let movers = takers(&steps[back + 1..]);
        let able = states.iter().flat_map(|it| takers(&model.steps(it))).collect::<BTreeSet<_>>();
        let first = states.first().map(|it| model.process_locations(it)).unwrap_or_default();
        let processes = first.into_iter().map(|standing| {
            let does = match &standing.process {
                it if movers.contains(it) => CycleRole::Moves(locations(model, &states, it)),
                it if able.contains(it) => CycleRole::CouldMove,
                _ => CycleRole::Waits,
            };
            // The operands may have other values in other states of the cycle.
            let standing = if states.len() > 1 { without_values(standing) } else { standing };
            (ProcessStatus::new(standing, matches!(does, CycleRole::Waits), sources), does)
        });
        RunCycle { back, processes: processes.collect() }
    }

    /// Formats the roles as rows.
    pub(super) fn rows(&self) -> String {
        let mut out = String::new();
        let names = self.processes.iter().map(|(at, _)| at.process.chars().count());
        let width = names.max().unwrap_or(0);
        for (number, (at, does)) in self.processes.iter().take(SHOWN_MAX).enumerate() {
            let label = if number == 0 { "loop" } else { "" };
            let text = match does {
                CycleRole::Moves(through) => {
                    let more = if through.len() > LOCATIONS_MAX { ", ..." } else { "" };
                    let through = &through[..through.len().min(LOCATIONS_MAX)];
                    format!("{:<width$}  moves: {}{more}", at.process, through.join(", "))
                }
                CycleRole::CouldMove => format!("{}, enabled, but never moves", at.text(width)),
                CycleRole::Waits => at.text(width),
            };
            out += &row(label, &text);
        }
        if let Some(more) = self.processes.len().checked_sub(SHOWN_MAX).filter(|&it| it > 0) {
            out += &row("", &format!("and {more} more"));
        }
        out
    }

    /// Returns the location of each process at the start of the cycle, and its role, as JSON.
    pub(super) fn json(&self) -> Value {
        let told = self.processes.iter().map(|(at, does)| {
            let mut told = at.json();
            told["in_loop"] = json!(does.name());
            told
        });
        told.collect()
    }
}

/// Returns the processes that take these steps.
fn takers(steps: &[StepDescription]) -> BTreeSet<String> {
    let all = steps.iter().flat_map(|step| step.actors.iter().flatten());
    all.map(|actor| actor.process.clone()).collect()
}

/// Returns the locations of a process in these states, in order of appearance.
fn locations(model: &dyn SystemDescription, states: &[&[u8]], process: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for state in states {
        let at = model.process_locations(state).into_iter().find(|it| it.process == process);
        if let Some(ProcessLocation { location, .. }) = at
            && !found.contains(&location)
        {
            found.push(location);
        }
    }
    found
}

fn without_values(mut standing: ProcessLocation) -> ProcessLocation {
    standing.outgoing.iter_mut().for_each(|way| way.operands.clear());
    standing
}
