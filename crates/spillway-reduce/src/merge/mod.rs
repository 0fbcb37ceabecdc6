//! Transition merging: fuses consecutive local transitions whose intermediate states are invisible.
//!
//! A location is *transient* if all actions of the process there are local ([`LocalActions`]) and one of them is
//! always enabled. A process that reaches it continues at once, in every possible way, within the same transition
//! (statement merging: Holzmann 1999; Kurshan, Levin and Yenigün 2002; path reduction: Yorav 2002; Pelánek 2005,
//! section 4.2).
//!
//! *Correctness.* The actions of a process at such a location are a persistent set and invisible: whatever other
//! processes do, they stay enabled and commute with them. So no other transition need be taken there. A violation in
//! an intermediate state occurs after it too, by the same transitions of the others. A loop is merged only if it ends
//! (`loops`), so the other processes are not ignored.
//!
//! ```text
//! a -> b { send c(x); }                     a -> b { send c(x); } continues with
//! b -> b1 { guard i < 3; i := i + 1; }          b -> b1 -> d or
//! b -> d { guard i >= 3; i := 0; }              b -> d
//! b1 -> d { x := 0; }                       in one transition, which ends at d
//! d -> a { receive e(y); }
//! ```
//!
//! If processes are dynamic, an action whose continuation must follow in the same transition is marked as part of an
//! atomic sequence. Otherwise an action becomes one action for each continuation. The continuation is in its body,
//! with assumptions in place of guards.

mod always_enabled;
mod compose;
mod loops;
mod path;
mod transient_locations;

pub(super) use always_enabled::is_always_enabled;

use super::entry::{
    AutomaticUse, DetectionContext, PreservedRuns, ReductionEntry, ReductionMethod,
    ReductionSubject, RewriteContext, SavingMeasure,
};
use super::rewrite_pass::{MergedStep, MergedSteps, RewritePass, StateTest};
use super::{NotApplied, PreservedProperties, PropertyClass, ReductionKind};
use loops::LoopAnalysis;
use spillway_analysis::access::AccessTable;
use spillway_analysis::local_actions::LocalActions;
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_base::numbers::count;
use spillway_exec::Interp;
use spillway_ir::layout::CellId;
use spillway_ir::{
    Action, ActionId, ActionsByLocation, Communication, EndRule, Layout, LocationId, ProcessId,
    Program, PropertyKind, StmtKind, TurnRule,
};
use spillway_model::{ActionCounts, CheckSelection, FiniteRunPolicy};
use std::collections::{BTreeMap, BTreeSet};
use transient_locations::LocationAnalyses;

/// The title of the reduction.
pub const NAME: &str = "merged transitions";

/// The most action instances. The analysis of local actions takes too long for more.
const INSTANCES_MAX: u32 = 1 << 14;

/// The transient locations of processes.
type TransientLocations = BTreeSet<(ProcessId, LocationId)>;

/// The entry of the table.
pub static ENTRY: ReductionEntry = ReductionEntry {
    name: "merge",
    title: NAME,
    summary: "Transition merging: consecutive transitions with invisible intermediate states are fused",
    paper: "Holzmann 1999; Kurshan, Levin and Yenigün 2002; Yorav 2002; Pelánek 2005, section 4.2",
    page: "merge",
    kind: ReductionKind::Rewriting,
    parameters: &[],
    automatic: AutomaticUse::Tried,
    preserves: PreservedProperties::ALL
        .without(PropertyClass::Depth)
        .without(PropertyClass::Claims),
    preserved_runs: PreservedRuns::All,
    allows_joint_resets: false,
    allows_constraint: false,
    incompatible_with: &[],
    nothing_found: "no location of a process can be passed through invisibly",
    saving: SavingMeasure::StableStates,
    detect,
    method: ReductionMethod::Rewrite { rewrite, refuse: refusal },
};

/// Rewrites a program.
fn rewrite(
    program: &mut Program,
    context: &RewriteContext,
) -> Result<Option<Box<dyn RewritePass>>, BudgetExceeded> {
    let found = TransitionMerging::rewrite(program, context.written, context.budget)?;
    Ok(found.map(|it| Box::new(it) as Box<dyn RewritePass>))
}

/// Lists the processes with transient locations.
fn detect(context: &DetectionContext) -> Vec<ReductionSubject> {
    let program = context.program();
    let merged = context.pass::<TransitionMerging>();
    let mut at: BTreeMap<ProcessId, Vec<String>> = BTreeMap::new();
    for (process, location) in merged.into_iter().flat_map(TransitionMerging::locations) {
        let name = context.location(location, &program.processes[process]);
        at.entry(process).or_default().push(name);
    }
    let subjects = at.into_iter().map(|(process, at)| {
        let process = &program.processes[process];
        let (few, all) = (at.len(), process.locations.len());
        let about = format!("passed through at {few} of its {all} locations: {}", at.join(", "));
        context.at(&process.name, process.span, about)
    });
    subjects.collect()
}

/// The merged transitions of a program.
#[derive(Debug)]
pub struct TransitionMerging {
    passed: TransientLocations,
    /// The number of loops that are executed to their end.
    loops: usize,
    actions: usize,
    /// The composed actions, each with its components in order.
    composed: Vec<(ActionId, Vec<ActionId>)>,
}

impl TransitionMerging {
    /// Merges the transitions of a program. Returns `None` if it has no transient locations.
    pub(super) fn rewrite(
        program: &mut Program,
        written: &Interp,
        budget: &AnalysisBudget,
    ) -> Result<Option<TransitionMerging>, BudgetExceeded> {
        let before = program.clone();
        let Ok(table) = AccessTable::new(&before, written.layout()) else { return Ok(None) };
        if table.instances().count() > INSTANCES_MAX {
            return Ok(None);
        }
        let local = LocalActions::new(&table);
        let leaving = ActionsByLocation::leaving(&before);
        let loops = LoopAnalysis::new(&table, &leaving, written);
        let analyses =
            LocationAnalyses { table: &table, local: &local, leaving: &leaving, loops: &loops };
        let (passed, rings) = transient_locations::find(&analyses, written, budget)?;
        let (actions, composed) = match before.has_dynamic_processes() {
            true => (mark(program, &passed), Vec::new()),
            false => {
                let (passed, rings) = (&passed, &rings[..]);
                let (leaving, loops, before) = (&leaving, &loops, &before);
                let ways =
                    compose::Continuations { program: before, leaving, loops, passed, rings };
                compose::compose(program, &local, &ways)
            }
        };
        let loops = rings.len();
        let passed = leading_to(&before, program, passed);
        Ok((actions > 0).then_some(TransitionMerging { passed, loops, actions, composed }))
    }

    /// Returns the transient locations.
    pub fn locations(&self) -> impl Iterator<Item = (ProcessId, LocationId)> {
        self.passed.iter().copied()
    }
}

impl MergedSteps for TransitionMerging {
    fn path(&self, step: &MergedStep<'_>) -> Option<Vec<Vec<u8>>> {
        path::path(&self.passed, step)
    }

    fn expand_action_counts(&self, taken: &ActionCounts) -> ActionCounts {
        let mut apart = taken.clone();
        // All counts are taken out first: the number of a composed action may be that of a component of others.
        let times: Vec<u64> = self.composed.iter().map(|(merged, _)| apart.take(*merged)).collect();
        for ((_, actions), times) in self.composed.iter().zip(times) {
            actions.iter().for_each(|&it| apart.add(it, times));
        }
        apart
    }

    fn path_to_deadlock(&self, _: &Interp, _: &[u8]) -> Vec<Vec<u8>> {
        Vec::new()
    }

    fn preserves_depth(&self) -> bool {
        false
    }

    /// Tests whether no process is at a transient location.
    fn stable_state_test<'p>(&'p self, program: &'p Program, layout: &'p Layout) -> StateTest<'p> {
        let cells = self.passed.iter().flat_map(|&(process, location)| {
            let code = location.0 + program.processes[process].first_location();
            let slots = 0..program.slots(process);
            slots.map(move |slot| (layout.locations[process].in_slot(slot), code))
        });
        let cells: Vec<(CellId, u32)> = cells.collect();
        Box::new(move |state| cells.iter().all(|&(cell, code)| layout.code(state, cell) != code))
    }
}

/// Returns the reason why a program cannot be merged at all, if there is one.
fn refusal(
    program: &Program,
    _: CheckSelection,
    finite_runs: Option<FiniteRunPolicy>,
) -> Option<NotApplied> {
    let mut properties = program.properties.values();
    let claim = properties.find(|it| matches!(it.kind, PropertyKind::Claim(_)));
    // Whether the automaton of a property of infinite runs counts repetitions is checked where it is selected.
    if let Some(claim) = claim.filter(|_| finite_runs.is_none()) {
        return Some(NotApplied::ClaimSeesStates(claim.name.clone()));
    }
    let has_priorities = program.actions.values().any(|it| it.priority != 0);
    match () {
        () if program.last.is_some() => Some(NotApplied::ReadsLastMover),
        () if has_priorities => Some(NotApplied::Priorities("actions".into())),
        () if program.end == EndRule::NeverStuttering => Some(NotApplied::StutteringSteps),
        () => None,
    }
}

/// Marks the actions after which the mover continues, for dynamic processes. Returns their number.
fn mark(program: &mut Program, passed: &TransientLocations) -> usize {
    let ids: Vec<_> = program.actions.keys().collect();
    let mut count = 0;
    for id in ids {
        let action = &program.actions[id];
        if mover_continues(program, action, passed) {
            program.actions[id].control.turn = TurnRule::Atomic;
            count += 1;
        }
    }
    count
}

/// Whether the mover of an action must continue after it. After a rendezvous the receiver continues.
fn mover_continues(program: &Program, action: &Action, passed: &TransientLocations) -> bool {
    let may_send_so = action.communication.as_ref().is_some_and(|it| {
        matches!(it, Communication::Send { .. }) && it.channel().may_be_rendezvous(program)
    });
    action.edge.is_some_and(|edge| passed.contains(&(edge.process, edge.to)))
        && action.control.turn == TurnRule::Open
        && !may_send_so
        && !spillway_ir::walk::any_stmt(&action.body, &|it| *it == StmtKind::Exit)
}

/// Returns those of some locations for which an action was changed.
fn leading_to(
    before: &Program,
    program: &Program,
    mut passed: TransientLocations,
) -> TransientLocations {
    let mut found = BTreeSet::new();
    for (id, action) in before.actions.iter() {
        if let Some(edge) = action.edge.filter(|_| program.actions[id] != *action) {
            found.insert((edge.process, edge.to));
        }
    }
    // Others follow those.
    let leaving = ActionsByLocation::leaving(before);
    let mut open: Vec<_> = found.iter().copied().collect();
    while let Some((process, at)) = open.pop() {
        for edge in leaving.at(process, at).iter().filter_map(|it| before.actions[*it].edge) {
            if passed.contains(&(process, edge.to)) && found.insert((process, edge.to)) {
                open.push((process, edge.to));
            }
        }
    }
    passed.retain(|it| found.contains(it));
    passed
}

impl RewritePass for TransitionMerging {
    fn describe_effect(&self, _: &Program) -> String {
        let places = count(self.passed.len() as u64, "location");
        let loops = match self.loops {
            0 => String::new(),
            some => format!(", {} executed to the end", count(some as u64, "loop")),
        };
        format!("{places} passed through{loops}; {} extended", count(self.actions as u64, "action"))
    }

    fn preserves(&self) -> PreservedProperties {
        PreservedProperties::ALL.without(PropertyClass::Depth).without(PropertyClass::Claims)
    }

    fn keeps_all_actions(&self) -> bool {
        true
    }

    fn loses_action_count(&self, _: ActionId, _: &Action) -> bool {
        false
    }

    fn changed_cells(&self, _: &Program, _: &Layout) -> BTreeSet<CellId> {
        BTreeSet::new()
    }

    fn merged_steps(&self) -> Option<&dyn MergedSteps> {
        Some(self)
    }

    fn represent(&self, _: &Layout, _: &mut [u8]) {}
}
