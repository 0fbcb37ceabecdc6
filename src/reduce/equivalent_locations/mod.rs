//! States of processes that nothing tells apart are one: whoever would come to a location comes to the first that is
//! bisimilar to it.
//!
//! Which locations these are is told by [`LocationBisimulation`]. The program is rewritten where processes begin and where actions lead. Locations and
//! actions stay, so that they keep their numbers, but nobody comes to those that are bisimilar to an earlier one.
//!
//! *Why that keeps everything.* Call two states alike if they differ only in where processes are, and each process is at
//! locations that are bisimilar. Equal actions are possible in both, in the same order where that matters, do
//! the same, and lead to states that are alike; none of them fails. Nobody else can tell, since no
//! expression names these locations, and their marks are the same. So being alike is a bisimulation, and a
//! step of the rewritten program ends in a state that is alike to the end of an equal step of the program as written: of the same
//! action, or of one that says the same elsewhere.
//!
//! ```text
//! a -> b { x := 1; }                       a -> b { x := 1; }       what can be done at b can be done at c
//! a -> c { x := 2; }          becomes      a -> b { x := 2; }
//! b -> a { send q(x); }                    b -> a { send q(x); }
//! c -> a { send q(x); }                    c -> a { send q(x); }    (nobody comes here)
//! ```

use super::entry::{
    AutomaticUse, DetectionContext, ReductionEntry, ReductionMethod, ReductionSubject,
    RewriteContext, SavingMeasure,
};
use super::rewrite_pass::{MergedSteps, RewritePass};
use super::{PreservedProperties, ReductionKind};
use crate::analysis::bisimulation::LocationBisimulation;
use crate::budget::{AnalysisBudget, BudgetExceeded};
use crate::ir::layout::CellId;
use crate::ir::{Action, ActionId, Layout, LocationId, ProcessId, Program};
use crate::numbers::grouped;
use std::collections::BTreeSet;

/// What the reduction is called.
pub const NAME: &str = "states of processes not told apart";

/// The reduction in the table.
pub static ENTRY: ReductionEntry = ReductionEntry {
    name: "states",
    title: NAME,
    summary: "Bisimulation of locations: bisimilar locations of a process are merged",
    paper: "Moore 1956; Pelánek 2005, section 3.1.3",
    page: "states",
    kind: ReductionKind::Rewriting,
    parameters: &[],
    automatic: AutomaticUse::Always { for_counts: false, switches: &[] },
    preserves: PreservedProperties::ALL,
    preserves_runs: true,
    allows_joint_resets: true,
    incompatible_with: &[],
    nothing_found: "no locations of a process are found that nothing tells apart",
    saving: SavingMeasure::States,
    detect,
    method: ReductionMethod::Rewrite { rewrite, refuse: |_, _| None },
};

/// Rewrites a program.
fn rewrite(
    program: &mut Program,
    context: &RewriteContext,
) -> Result<Option<Box<dyn RewritePass>>, BudgetExceeded> {
    let found = LocationMerging::rewrite(program, context.written.layout(), context.budget)?;
    Ok(found.map(|it| Box::new(it) as Box<dyn RewritePass>))
}

/// The locations of processes that are not told apart, each with those that are one with it.
fn detect(context: &DetectionContext) -> Vec<ReductionSubject> {
    let program = context.program();
    let found = context.pass::<LocationMerging>().map(|it| it.locations(program));
    let subjects = found.unwrap_or_default().into_iter().map(|it| {
        let process = &program.processes[it.process];
        let others: Vec<_> = it.others.iter().map(|&it| context.location(it, process)).collect();
        let first = &process.locations[it.first];
        let name = format!("{}.{}", process.name, first.name);
        context.at(&name, first.span, format!("the same as {}", others.join(", ")))
    });
    subjects.collect()
}

/// Which locations of a program are one.
#[derive(Debug)]
pub struct LocationMerging {
    bisimilar: LocationBisimulation,
    /// The cells that say where instances are of whose process some locations are one; with what stands for each of their codes.
    cells: Vec<(CellId, Vec<u32>)>,
}

/// Locations of a process that are one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EquivalentLocations {
    /// The process.
    pub process: ProcessId,
    /// The one that stands for all.
    pub first: LocationId,
    /// The others.
    pub others: Vec<LocationId>,
}

impl LocationMerging {
    /// Has a program, whose states are laid out so, come to one of the locations that nothing tells apart; nothing if it does so as it
    /// is.
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

    /// Which locations are one.
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

/// The cells of all instances that may be at one of several locations that are one, and the code of the first of these for
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
        // With slots code 0 says that there is no instance.
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
            1 => "1 location is one with an earlier one".into(),
            others => format!("{} locations are one with earlier ones", grouped(others as u64)),
        }
    }

    fn keeps_all_actions(&self) -> bool {
        true
    }

    fn loses_action_count(&self, _: ActionId, action: &Action) -> bool {
        // That it is taken at the first may be another's doing, which may be all that can be come to.
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
