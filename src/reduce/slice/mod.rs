//! Slicing: what can influence nothing that is looked for is removed before the search.
//!
//! A search is for something: deadlocks, errors in steps, failed assertions, invariants ([`CheckSelection`]). What can influence none
//! of it need not be there (Weiser 1984; for model checking Hatcliff, Dwyer and Zheng 2000; Pelánek 2005, section 3.2.1).
//!
//! 1. *What matters* begins with what properties ask for and with the actions that may fail (`cone`). An
//!    action stays if it may change what matters, and then all that it waits for matters, all that it stores where that matters, and all
//!    by which it may fail (`relevance`). Whoever sends or receives on a channel has everybody stay who does. So do
//!    the actions by which the mover comes to where the action begins; what lies behind the last of them does not.
//! 2. *Deadlocks*: whatever can move keeps from one. So all actions stay, and it is only variables that can go, unless
//!    some process always has a step that is possible, wherever it is and whatever the others do (`perpetual`). Then there is no deadlock, and
//!    it is left a step that leads nowhere wherever something of it is removed, so that there is none in what is left.
//! 3. *Removed* actions are never possible and say nothing any more; variables that do not matter have their first values
//!    behind each step that writes them. A step of what is left is a step of the program as written.
//!
//! *Why that keeps what is looked for.* Take a run of the program as written, and leave out the steps of removed actions. No other
//! step misses them: what it waits for and what it stores where that matters is as it was, and its mover is where it was, since
//! whatever leads there stayed. So it is a run of what is left, and a violation at its end is one there; it is
//! not longer. The other way around a run of what is left is one of the program as written, in which some actions are
//! not taken. So depths are kept, too.
//!
//! ```text
//! process P { a -> b { n := n + 1; }    b -> a { guard x < 2; x := x + 1; } }     looked for: x < 3, nothing else
//! process Q { c -> d { guard n > 1; }   d -> c { m := n; } }
//! becomes
//! process P { a -> b { n := 0; }        b -> a { guard x < 2; x := x + 1; } }
//! process Q { c -> d { guard false; }   d -> c { guard false; } }
//! ```

mod cone;
mod first_values;
mod items;
mod perpetual;
mod relevance;

use super::checked_properties::{drop_unchecked, is_property_checked, preserved_for};
use super::dead::statements;
use super::entry::{
    AutomaticUse, DetectionContext, ReductionEntry, ReductionMethod, ReductionSubject,
    RewriteContext, SavingMeasure,
};
use super::rewrite_pass::{MergedSteps, RewritePass};
use super::{NotApplied, PreservedProperties, ReductionKind};
use crate::analysis::access::AccessTable;
use crate::analysis::bit_sets;
use crate::budget::{AnalysisBudget, BudgetExceeded};
use crate::exec::Interp;
use crate::ir::layout::CellId;
use crate::ir::{
    Action, ActionControl, ActionId, EndRule, Expr, Layout, LocationId, Owner, ProcessEdge,
    ProcessId, Program, PropertyKind, Stmt, VarId,
};
use crate::model::CheckSelection;
use crate::numbers::{count, grouped};
use crate::source::Span;
use cone::ConeOfInfluence;
use first_values::FirstValues;
use std::collections::{BTreeMap, BTreeSet};

/// What the reduction is called.
pub const NAME: &str = "slice";

/// Of more action instances it takes long to find out what they may do.
const INSTANCES_MAX: u32 = 1 << 14;

/// What is looked for, as far as it decides what matters.
#[derive(Clone, Copy, Debug)]
struct SliceCriterion {
    checks: CheckSelection,
    /// Whether it matters which steps are possible.
    is_every_step: bool,
}

impl SliceCriterion {
    /// Whether a property is judged.
    fn is_relevant_property(self, program: &Program, property: &PropertyKind) -> bool {
        is_property_checked(program, self.checks, property)
    }
}

/// The reduction in the table.
pub static ENTRY: ReductionEntry = ReductionEntry {
    name: "slice",
    title: NAME,
    summary: "Slicing: parts that cannot influence a property are removed",
    paper: "Weiser 1984; Hatcliff, Dwyer and Zheng 2000; Pelánek 2005, section 3.2.1",
    page: "slice",
    kind: ReductionKind::Rewriting,
    parameters: &[],
    automatic: AutomaticUse::Never,
    preserves: preserved_for(CheckSelection::ALL),
    preserves_runs: false,
    allows_joint_resets: true,
    incompatible_with: &[],
    nothing_found: "all of the model can influence what is looked for",
    saving: SavingMeasure::States,
    detect,
    method: ReductionMethod::Rewrite { rewrite, refuse: refusal },
};

/// Rewrites a program.
fn rewrite(
    program: &mut Program,
    context: &RewriteContext,
) -> Result<Option<Box<dyn RewritePass>>, BudgetExceeded> {
    let found = ProgramSlice::rewrite(program, context.written, context.checks, context.budget)?;
    Ok(found.map(|it| Box::new(it) as Box<dyn RewritePass>))
}

/// The actions and variables that can influence nothing that is looked for.
fn detect(context: &DetectionContext) -> Vec<ReductionSubject> {
    let program = context.program();
    let Some(sliced) = context.pass::<ProgramSlice>() else { return Vec::new() };
    let actions = sliced.actions().iter().map(|&id| &program.actions[id]);
    let actions = actions.map(|it| context.at(&it.name, it.span, "removed"));
    let variables = sliced.variables().iter().map(|&id| &program.variables[id]);
    let variables = variables.map(|it| context.variable(it, "only its first value".into()));
    actions.chain(variables).collect()
}

/// What was removed from a program.
#[derive(Debug)]
pub struct ProgramSlice {
    checks: CheckSelection,
    actions: Vec<ActionId>,
    variables: Vec<VarId>,
    first: FirstValues,
}

impl ProgramSlice {
    /// Removes from a program, which `written` runs, what can influence nothing that is looked for; nothing if all of it can.
    pub(super) fn rewrite(
        program: &mut Program,
        written: &Interp,
        checks: CheckSelection,
        budget: &AnalysisBudget,
    ) -> Result<Option<ProgramSlice>, BudgetExceeded> {
        let before = program.clone();
        let Ok(table) = AccessTable::new(&before, written.layout()) else { return Ok(None) };
        if table.instances().count() > INSTANCES_MAX {
            return Ok(None);
        }
        let ever = perpetual::find(&table, written, budget)?.filter(|_| checks.deadlock);
        let looked = SliceCriterion { checks, is_every_step: checks.deadlock && ever.is_none() };
        let Some(cone) = ConeOfInfluence::of(&table, looked, budget)? else { return Ok(None) };
        let is_removed = |id: &ActionId| !cone.kept.contains(id);
        let actions: Vec<ActionId> = before.actions.keys().filter(is_removed).collect();
        remove(program, &actions, ever);
        for id in program.properties.keys() {
            drop_unchecked(program, checks, id);
        }
        let resets = reset(program, &before, &cone);
        let variables = variables(&before, &cone);
        let first = FirstValues::new(&before, written.layout(), &cone);
        let is_any = !actions.is_empty() || resets > 0;
        Ok(is_any.then_some(ProgramSlice { checks, actions, variables, first }))
    }

    /// What is looked for.
    pub fn checks(&self) -> CheckSelection {
        self.checks
    }

    /// The actions that are removed.
    pub fn actions(&self) -> &[ActionId] {
        &self.actions
    }

    /// The variables that are never anything but what they are at first, and were.
    pub fn variables(&self) -> &[VarId] {
        &self.variables
    }
}

/// Why nothing of a program is removed in a search for some checks, whatever it does, if so.
pub(super) fn refusal(program: &Program, checks: CheckSelection) -> Option<NotApplied> {
    let mut properties = program.properties.values();
    let claim = properties.find(|it| matches!(it.kind, PropertyKind::Claim(_)));
    if let Some(claim) = claim {
        return Some(NotApplied::ClaimSeesStates(claim.name.clone()));
    }
    let has_priorities = program.actions.values().any(|it| it.priority != 0)
        || program.processes.values().any(|it| it.life.priority.is_some());
    match () {
        () if program.last.is_some() => Some(NotApplied::ReadsLastMover),
        () if has_priorities => Some(NotApplied::Priorities("actions or processes".into())),
        () if program.end == EndRule::NeverStuttering && checks.deadlock => {
            Some(NotApplied::EveryChangeMatters)
        }
        () => None,
    }
}

/// Has actions never be possible. The process that always has a step, if there is one, still does.
fn remove(program: &mut Program, actions: &[ActionId], ever: Option<ProcessId>) {
    let mut left: BTreeMap<(ProcessId, LocationId), ActionId> = BTreeMap::new();
    for &id in actions {
        if let Some(edge) = program.actions[id].edge.filter(|it| Some(it.process) == ever) {
            left.entry((edge.process, edge.from)).or_insert(id);
        }
        let action = &mut program.actions[id];
        let never = Expr::constant(0, action.span);
        *action = empty(action, Some(never));
    }
    for ((process, at), id) in left {
        let action = &mut program.actions[id];
        let edge = Some(ProcessEdge { process, from: at, to: at });
        *action = Action { edge, ..empty(action, None) };
    }
}

/// An action that does nothing but move.
fn empty(action: &Action, guard: Option<Expr>) -> Action {
    Action {
        parameters: Vec::new(),
        guard,
        communication: None,
        body: Vec::new(),
        control: ActionControl::default(),
        ..action.clone()
    }
}

/// Has what does not matter be reset where it is written; tells in how many places.
fn reset(program: &mut Program, before: &Program, cone: &ConeOfInfluence) -> usize {
    let mut count = 0;
    let mut add = |body: &mut Vec<Stmt>, resets: Vec<Stmt>| {
        count += resets.len();
        body.extend(resets);
    };
    for &id in &cone.kept {
        let action = &before.actions[id];
        if !items::ends(&action.body) {
            let written = items::written(before, &cone.items, action);
            let mover = action.edge.map(|it| it.process);
            let resets = resets(before, cone, written, mover, action.span);
            add(&mut program.actions[id].body, resets);
        }
    }
    for (number, start) in before.starts.iter().enumerate() {
        let written = items::written_by(before, &cone.items, &start.body);
        let resets = resets(before, cone, written, None, start.span);
        add(&mut program.starts[number].body, resets);
    }
    for (id, process) in before.processes.iter() {
        let written = items::written_by(before, &cone.items, &process.life.prologue);
        let resets = resets(before, cone, written, Some(id), process.span);
        add(&mut program.processes[id].life.prologue, resets);
    }
    count
}

/// What resets what does not matter of that which somebody writes: the program's and his own. What he starts has its first values.
fn resets(
    program: &Program,
    cone: &ConeOfInfluence,
    mut written: Vec<u64>,
    mover: Option<ProcessId>,
    span: Span,
) -> Vec<Stmt> {
    let scalars = &cone.items.scalars;
    bit_sets::subtract(&mut written, &cone.relevant);
    let is_his = |it: &usize| match program.variables[scalars.variable(*it).0].owner {
        Owner::Process(id) => Some(id) == mover || !program.processes[id].has_slots(),
        Owner::Program => true,
    };
    let all = bit_sets::members(&written).take_while(|&it| it < scalars.count());
    statements(program, scalars, &all.filter(is_his).collect::<Vec<_>>(), span)
}

/// The variables that something writes and of which nothing matters.
fn variables(program: &Program, cone: &ConeOfInfluence) -> Vec<VarId> {
    let ConeOfInfluence { items, relevant, .. } = cone;
    let mut ever = items.none();
    for action in program.actions.values() {
        bit_sets::extend(&mut ever, &items::written(program, items, action));
    }
    for start in &program.starts {
        bit_sets::extend(&mut ever, &items::written_by(program, items, &start.body));
    }
    let is_gone = |id: &VarId| {
        let mut all = items.scalars.of(*id);
        let is_written = items.scalars.of(*id).any(|it| bit_sets::has(&ever, it));
        is_written && !all.any(|it| bit_sets::has(relevant, it))
    };
    program.variables.keys().filter(is_gone).collect()
}

impl RewritePass for ProgramSlice {
    fn describe_effect(&self, program: &Program) -> String {
        let (actions, variables) = (self.actions.len(), self.variables.len());
        let all = count(program.actions.len() as u64, "action");
        let has = if variables == 1 { "has" } else { "have" };
        let variables = count(variables as u64, "variable");
        let actions = grouped(actions as u64);
        format!("{actions} of {all} removed; {variables} {has} only first values")
    }

    fn preserves(&self) -> PreservedProperties {
        preserved_for(self.checks)
    }

    fn keeps_all_actions(&self) -> bool {
        true
    }

    fn loses_action_count(&self, id: ActionId, _: &Action) -> bool {
        self.actions.binary_search(&id).is_ok()
    }

    fn changed_cells(&self, _: &Program, layout: &Layout) -> BTreeSet<CellId> {
        super::variable_names::all_cells_of(layout, self.variables.iter().copied())
    }

    fn merged_steps(&self) -> Option<&dyn MergedSteps> {
        None
    }

    fn represent(&self, layout: &Layout, state: &mut [u8]) {
        self.first.reset(layout, state);
    }
}
