//! What the processes do in the loop of a run: who moves, who could and never does, and what the others wait for.

use super::final_state::ProcessStatus;
use super::table::row;
use crate::model::{ProcessLocation, StepDescription, StepOutcome, SystemDescription};
use crate::source::SourceMap;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// In so many states of a loop it is looked who could move.
const STATES_MAX: usize = 1000;

/// So many locations of a process that moves are named.
const LOCATIONS_MAX: usize = 4;

/// No more processes are shown.
const SHOWN_MAX: usize = 20;

/// The loop of a run.
pub struct RunCycle {
    /// The number of the step behind which it begins.
    pub(super) back: usize,
    /// Where each process is there, and what it does from there on.
    processes: Vec<(ProcessStatus, CycleRole)>,
}

/// What a process does in a loop.
enum CycleRole {
    /// It moves, and comes to these locations.
    Moves(Vec<String>),
    /// It does not move, though in some state of the loop it could.
    CouldMove,
    /// It cannot move.
    Waits,
}

impl CycleRole {
    /// As JSON calls it.
    fn name(&self) -> &'static str {
        match self {
            CycleRole::Moves(_) => "moves",
            CycleRole::CouldMove => "could move",
            CycleRole::Waits => "waits",
        }
    }
}

impl RunCycle {
    /// That of a run with these steps, whose last one leads to where it was behind the one of number `back`.
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
            // What is read may have other values in other states of the loop.
            let standing = if states.len() > 1 { without_values(standing) } else { standing };
            (ProcessStatus::new(standing, matches!(does, CycleRole::Waits), sources), does)
        });
        RunCycle { back, processes: processes.collect() }
    }

    /// In rows.
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
                CycleRole::CouldMove => format!("{}, could move and never does", at.text(width)),
                CycleRole::Waits => at.text(width),
            };
            out += &row(label, &text);
        }
        if let Some(more) = self.processes.len().checked_sub(SHOWN_MAX).filter(|&it| it > 0) {
            out += &row("", &format!("and {more} more"));
        }
        out
    }

    /// As JSON: where each process is where the loop begins, and what it does in it.
    pub(super) fn json(&self) -> Value {
        let told = self.processes.iter().map(|(at, does)| {
            let mut told = at.json();
            told["in_loop"] = json!(does.name());
            told
        });
        told.collect()
    }
}

/// Who takes some steps.
fn takers(steps: &[StepDescription]) -> BTreeSet<String> {
    let all = steps.iter().flat_map(|step| step.actors.iter().flatten());
    all.map(|actor| actor.process.clone()).collect()
}

/// Where a process is in some states, in the order in which it comes there.
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
