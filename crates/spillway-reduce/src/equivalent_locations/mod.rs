//! Bisimulation of locations: bisimilar locations of a process are merged, and processes move to the first of them.
//!
//! [`LocationBisimulation`] computes these locations. The program is rewritten where processes start and where
//! actions lead. Locations and actions stay, so that they keep their numbers, but no process reaches a location that
//! is bisimilar to an earlier one.
//!
//! *Correctness.* Two states are equivalent if they differ only in the locations of processes, and each process is at
//! bisimilar locations. Both enable equal actions, in the same order where that matters. These have the same effects,
//! lead to equivalent states, and do not fail. Other processes cannot observe the difference, since no expression
//! names these locations and their marks are the same. So equivalence is a bisimulation. A transition of the
//! rewritten program ends in a state that is equivalent to the end of an equal transition of the program as written.
//! That is a transition of the same action, or of an equal one at another location.
//!
//! ```text
//! a -> b { x := 1; }                       a -> b { x := 1; }       b and c are bisimilar
//! a -> c { x := 2; }          becomes      a -> b { x := 2; }
//! b -> a { send q(x); }                    b -> a { send q(x); }
//! c -> a { send q(x); }                    c -> a { send q(x); }    (c is not reachable)
//! ```

use super::entry::{
    AutomaticUse, DetectionContext, PreservedRuns, ReductionEntry, ReductionMethod,
    ReductionSubject, RewriteContext, SavingMeasure,
};
use super::rewrite_pass::{MergedSteps, RewritePass};
use super::{PreservedProperties, ReductionKind};
use spillway_analysis::bisimulation::LocationBisimulation;
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_base::numbers::grouped;
use spillway_ir::layout::CellId;
use spillway_ir::{Action, ActionId, Layout, LocationId, ProcessId, Program};
use std::collections::BTreeSet;

/// The title of the reduction.
pub const NAME: &str = "bisimilar locations";

/// The entry of the table.
pub static ENTRY: ReductionEntry = ReductionEntry {
    name: "states",
    title: NAME,
    summary: "Bisimulation of locations: bisimilar locations of a process are merged",
    paper: "Moore 1956; Pelánek 2005, section 3.1.3",
    page: "states",
    kind: ReductionKind::Rewriting,
    parameters: &[],
    automatic: AutomaticUse::Always { switches: &[] },
    preserves: PreservedProperties::ALL,
    preserved_runs: PreservedRuns::Fair,
    allows_joint_resets: true,
    allows_constraint: true,
    incompatible_with: &[],
    nothing_found: "no process has bisimilar locations",
    saving: SavingMeasure::States,
    detect,
    method: ReductionMethod::Rewrite { rewrite, refuse: |_, _, _| None },
};

/// Rewrites a program.
fn rewrite(
    program: &mut Program,
    context: &RewriteContext,
) -> Result<Option<Box<dyn RewritePass>>, BudgetExceeded> {
    let found = LocationMerging::rewrite(program, context.written.layout(), context.budget)?;
    Ok(found.map(|it| Box::new(it) as Box<dyn RewritePass>))
}

/// Lists the bisimilar locations of processes, each with those merged into it.
fn detect(context: &DetectionContext) -> Vec<ReductionSubject> {
    let program = context.program();
    let found = context.pass::<LocationMerging>().map(|it| it.locations(program));
    let subjects = found.unwrap_or_default().into_iter().map(|it| {
        let process = &program.processes[it.process];
        let others: Vec<_> = it.others.iter().map(|&it| context.location(it, process)).collect();
        let first = &process.locations[it.first];
        let name = format!("{}.{}", process.name, first.name);
        context.at(&name, first.span, format!("bisimilar to {}", others.join(", ")))
    });
    subjects.collect()
}

/// The merged locations of a program.
#[derive(Debug)]
pub struct LocationMerging {
    bisimilar: LocationBisimulation,
    /// The location cells of the instances whose locations are merged, with the representative of each code.
    cells: Vec<(CellId, Vec<u32>)>,
}

/// Merged locations of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EquivalentLocations {
    /// The process.
    pub process: ProcessId,
    /// The location that represents all.
    pub first: LocationId,
    /// The other locations.
    pub others: Vec<LocationId>,
}

impl LocationMerging {
    /// Redirects the edges of a program to the first of bisimilar locations. Returns `None` if nothing changes.
    pub(super) fn rewrite(
        program: &mut Program,
        layout: &Layout,
        budget: &AnalysisBudget,
    ) -> Result<Option<LocationMerging>, BudgetExceeded> {
        let Some(bisimilar) = LocationBisimulation::of(program, layout, budget)? else {
            return Ok(None);
        };
        let mut changes = 0;
        let mut lead = |process, to: &mut LocationId| {
            let first = bisimilar.representative(process, *to);
            changes += usize::from(first != *to);
            *to = first;
        };
        for id in program.actions.keys() {
            program.actions[id].edge.iter_mut().for_each(|it| lead(it.process, &mut it.to));
        }
        program.processes.keys().for_each(|id| lead(id, &mut program.processes[id].start));
        let cells = cells(program, layout, &bisimilar);
        Ok((changes > 0).then_some(LocationMerging { bisimilar, cells }))
    }

    /// Returns the merged locations.
    pub fn locations(&self, program: &Program) -> Vec<EquivalentLocations> {
        let of = |process| {
            let sets = self.bisimilar.sets(process).into_iter();
            sets.filter_map(move |set| {
                let (&first, others) = set.split_first()?;
                Some(EquivalentLocations { process, first, others: others.to_vec() })
            })
        };
        program.processes.keys().flat_map(of).collect()
    }
}

/// Returns the location cells of the instances whose locations are merged, with the code of the representative for
/// each code.
fn cells(
    program: &Program,
    layout: &Layout,
    bisimilar: &LocationBisimulation,
) -> Vec<(CellId, Vec<u32>)> {
    let mut cells = Vec::new();
    for (id, process) in program.processes.iter() {
        if bisimilar.sets(id).is_empty() {
            continue;
        }
        // With slots, code 0 means that there is no instance.
        let free = process.first_location();
        let firsts = process.locations.keys().map(|it| bisimilar.representative(id, it).0 + free);
        let firsts: Vec<u32> = (0..free).chain(firsts).collect();
        let slots = 0..program.slots(id);
        cells.extend(slots.map(|it| (layout.locations[id].in_slot(it), firsts.clone())));
    }
    cells
}

impl RewritePass for LocationMerging {
    fn describe_effect(&self, program: &Program) -> String {
        match self.locations(program).iter().map(|it| it.others.len()).sum::<usize>() {
            1 => "1 location merged with another".into(),
            others => format!("{} locations merged with others", grouped(others as u64)),
        }
    }

    fn keeps_all_actions(&self) -> bool {
        true
    }

    fn loses_action_count(&self, _: ActionId, action: &Action) -> bool {
        // The action at the representative may be executed because of another one, which may be the only one
        // reachable.
        action.edge.is_some_and(|it| self.bisimilar.is_merged(it.process, it.from))
    }

    fn preserves(&self) -> PreservedProperties {
        PreservedProperties::ALL
    }

    fn changed_cells(&self, _: &Program, _: &Layout) -> BTreeSet<CellId> {
        BTreeSet::new()
    }

    fn merged_steps(&self) -> Option<&dyn MergedSteps> {
        None
    }

    fn represent(&self, layout: &Layout, state: &mut [u8]) {
        for (cell, firsts) in &self.cells {
            let code = layout.code(state, *cell) as usize;
            layout.set_code(state, *cell, firsts[code]);
        }
    }
}
