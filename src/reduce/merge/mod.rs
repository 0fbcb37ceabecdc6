//! Transition merging: a process does not stop where nobody could tell that it did.
//!
//! A location is *passed through* if all that a process can do there is its own matter ([`LocalActions`]) and something
//! of it is always possible. Whoever comes there goes on at once, in every way it can, within the step that brought it
//! (statement merging: Holzmann 1999; Kurshan, Levin and Yenigün 2002; path reduction: Yorav 2002; Pelánek 2005, section
//! 4.2).
//!
//! *Why that keeps what it keeps.* Where a process is at such a location, what it can do next is a persistent set, and
//! invisible: whatever the others do, it stays possible, and comes to the same before and after. So no other step need be
//! taken there: what is violated there is violated behind it, by the same steps of the others. No loop is passed
//! through whole that may not end (`loops`), so the others have their turn.
//!
//! ```text
//! a -> b { send c(x); }                     a -> b { send c(x); } goes on with
//! b -> b1 { guard i < 3; i := i + 1; }          b -> b1 -> d or
//! b -> d { guard i >= 3; i := 0; }              b -> d
//! b1 -> d { x := 0; }                       in one step; d is where it stops
//! d -> a { receive e(y); }
//! ```
//!
//! Where processes come and go the program says so by itself: an action of which the rest is to follow in the same step
//! is marked as one of an atomic sequence. Where they are always there, an action becomes one for each way that
//! leads on, with what follows in its body, and an assumption where a guard was.

mod always_enabled;
mod compose;
mod loops;
mod path;
mod transient_locations;

pub(super) use always_enabled::is_always_enabled;

use super::entry::{
    AutomaticUse, DetectionContext, ReductionEntry, ReductionMethod, ReductionSubject,
    RewriteContext, SavingMeasure,
};
use super::rewrite_pass::{MergedStep, MergedSteps, RewritePass, StateTest};
use super::{NotApplied, PreservedProperties, PropertyClass, ReductionKind};
use crate::analysis::access::AccessTable;
use crate::analysis::local_actions::LocalActions;
use crate::budget::{AnalysisBudget, BudgetExceeded};
use crate::exec::Interp;
use crate::ir::layout::CellId;
use crate::ir::{
    Action, ActionId, ActionsByLocation, Communication, EndRule, Layout, LocationId, ProcessId,
    Program, PropertyKind, StmtKind, TurnRule,
};
use crate::model::{ActionCounts, CheckSelection};
use crate::numbers::count;
use loops::LoopAnalysis;
use std::collections::{BTreeMap, BTreeSet};
use transient_locations::LocationAnalyses;

/// What the reduction is called.
pub const NAME: &str = "merged transitions";

/// Of more action instances it takes long to find out what is their process's own matter.
const INSTANCES_MAX: u32 = 1 << 14;

/// The locations at which a process does not stop.
type TransientLocations = BTreeSet<(ProcessId, LocationId)>;

/// The reduction in the table.
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
    preserves_runs: false,
    allows_joint_resets: false,
    incompatible_with: &[],
    nothing_found: "nowhere could a process go on without being seen",
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

/// The processes that do not stop somewhere.
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
        let about = format!("goes on at {few} of its {all} locations: {}", at.join(", "));
        context.at(&process.name, process.span, about)
    });
    subjects.collect()
}

/// What was merged in a program.
#[derive(Debug)]
pub struct TransitionMerging {
    passed: TransientLocations,
    /// How many loops are gone through to their end.
    loops: usize,
    actions: usize,
    /// Of each action that was put together of several, which those are, in their order.
    composed: Vec<(ActionId, Vec<ActionId>)>,
}

impl TransitionMerging {
    /// Has the processes of a program, whose states are laid out as `written` does, go on where nobody can tell; nothing
    /// if they nowhere do.
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

    /// The locations at which a process does not stop that comes there.
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
        // All are taken out first: one of several may have the number of an action that others are made of.
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

    /// Whether no process is at such a location in a state of the program, so that the state is not passed through.
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

/// Why nothing of a program is merged, whatever it does, if so.
fn refusal(program: &Program, _: CheckSelection) -> Option<NotApplied> {
    let mut properties = program.properties.values();
    let claim = properties.find(|it| matches!(it.kind, PropertyKind::Claim(_)));
    if let Some(claim) = claim {
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

/// Marks the actions whose mover goes on, where processes come and go; tells how many.
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

/// Whether the mover of an action is to go on behind it. After a rendezvous it is the receiver who does.
fn mover_continues(program: &Program, action: &Action, passed: &TransientLocations) -> bool {
    let may_send_so = action.communication.as_ref().is_some_and(|it| {
        matches!(it, Communication::Send { .. }) && it.channel().may_be_rendezvous(program)
    });
    action.edge.is_some_and(|edge| passed.contains(&(edge.process, edge.to)))
        && action.control.turn == TurnRule::Open
        && !may_send_so
        && !crate::ir::walk::any_stmt(&action.body, &|it| *it == StmtKind::Exit)
}

/// Those of some locations that an action was changed for.
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
    // Behind those follow others.
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
        let goes = if self.actions == 1 { "goes" } else { "go" };
        let places = count(self.passed.len() as u64, "location");
        let loops = match self.loops {
            0 => String::new(),
            some => format!(", {} to the end", count(some as u64, "loop")),
        };
        format!(
            "{places} passed through{loops}; {} {goes} on",
            count(self.actions as u64, "action")
        )
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
