//! Slicing: parts that cannot influence a checked property are removed before the search.
//!
//! A search checks deadlocks, errors in transitions, assertions and invariants ([`CheckSelection`]). What cannot
//! influence any of them is removed (Weiser 1984; for model checking Hatcliff, Dwyer and Zheng 2000; Pelánek 2005,
//! section 3.2.1).
//!
//! 1. *Relevant items* start with those that properties read and with the actions that may fail (`cone`). An action
//!    stays if it may change a relevant item. Then these items become relevant: those in its guard, those that it
//!    stores in relevant items, and those by which it may fail (`relevance`). If one action on a channel stays, all
//!    senders and receivers on it stay. The actions that lead the mover to the start of the action stay too; what
//!    follows the last of them does not.
//! 2. *Deadlocks*: every enabled action prevents one. So all actions stay, and only variables can be removed, unless
//!    some process always has an enabled action, in each location and whatever other processes do (`perpetual`). Then
//!    there is no deadlock. Where an action of that process is removed, an action without effect replaces it, so that
//!    the result has no deadlock either.
//! 3. *Removed* actions are never enabled. Irrelevant variables are reset to their first values after each transition
//!    that writes them. A transition of the result is a transition of the program as written.
//!
//! *Correctness.* Remove from a run of the program as written the transitions of removed actions. The other
//! transitions stay possible: the items that they wait for, and those that they store in relevant items, are
//! unchanged. Their movers are at the same locations, since all actions that lead there stay. So this is a run of the
//! result, which is not longer and ends in the same violation. Conversely, a run of the result is a run of the
//! program as written that avoids some actions. So depths are preserved too.
//!
//! ```text
//! process P { a -> b { n := n + 1; }    b -> a { guard x < 2; x := x + 1; } }     checked: only x < 3
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
    AutomaticUse, DetectionContext, PreservedRuns, ReductionEntry, ReductionMethod,
    ReductionSubject, RewriteContext, SavingMeasure,
};
use super::rewrite_pass::{MergedSteps, RewritePass};
use super::{NotApplied, PreservedProperties, ReductionKind};
use cone::ConeOfInfluence;
use first_values::FirstValues;
use spillway_analysis::access::AccessTable;
use spillway_analysis::bit_sets;
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_base::numbers::{count, grouped};
use spillway_base::source::Span;
use spillway_exec::Interp;
use spillway_ir::layout::CellId;
use spillway_ir::{
    Action, ActionControl, ActionId, EndRule, Expr, Layout, LocationId, Owner, ProcessEdge,
    ProcessId, Program, PropertyKind, Stmt, VarId,
};
use spillway_model::CheckSelection;
use std::collections::{BTreeMap, BTreeSet};

/// The title of the reduction.
pub const NAME: &str = "slice";

/// The most action instances. The analysis takes too long for more.
const INSTANCES_MAX: u32 = 1 << 14;

/// The checks that decide which items are relevant.
#[derive(Clone, Copy, Debug)]
struct SliceCriterion {
    checks: CheckSelection,
    /// Whether it is relevant which actions are enabled.
    is_every_step: bool,
}

impl SliceCriterion {
    /// Whether a property is evaluated.
    fn is_relevant_property(self, program: &Program, property: &PropertyKind) -> bool {
        is_property_checked(program, self.checks, property)
    }
}

/// The entry of the table.
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
    preserved_runs: PreservedRuns::None,
    allows_joint_resets: true,
    allows_constraint: false,
    incompatible_with: &[],
    nothing_found: "every part of the model can influence a checked property",
    saving: SavingMeasure::States,
    detect,
    method: ReductionMethod::Rewrite {
        rewrite,
        refuse: |program, checks, _| refusal(program, checks),
    },
};

/// Rewrites a program.
fn rewrite(
    program: &mut Program,
    context: &RewriteContext,
) -> Result<Option<Box<dyn RewritePass>>, BudgetExceeded> {
    let found = ProgramSlice::rewrite(program, context.written, context.checks, context.budget)?;
    Ok(found.map(|it| Box::new(it) as Box<dyn RewritePass>))
}

/// Lists the actions and variables that cannot influence a property.
fn detect(context: &DetectionContext) -> Vec<ReductionSubject> {
    let program = context.program();
    let Some(sliced) = context.pass::<ProgramSlice>() else { return Vec::new() };
    let actions = sliced.actions().iter().map(|&id| &program.actions[id]);
    let actions = actions.map(|it| context.at(&it.name, it.span, "removed"));
    let variables = sliced.variables().iter().map(|&id| &program.variables[id]);
    let variables =
        variables.map(|it| context.variable(it, "only its initial value is kept".into()));
    actions.chain(variables).collect()
}

/// The removed parts of a program.
#[derive(Debug)]
pub struct ProgramSlice {
    checks: CheckSelection,
    actions: Vec<ActionId>,
    variables: Vec<VarId>,
    first: FirstValues,
}

impl ProgramSlice {
    /// Removes the parts of a program that cannot influence a checked property; `written` runs the program. Returns
    /// `None` if nothing is removed.
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

    /// Returns the checks of the search.
    pub fn checks(&self) -> CheckSelection {
        self.checks
    }

    /// Returns the removed actions.
    pub fn actions(&self) -> &[ActionId] {
        &self.actions
    }

    /// Returns the variables that keep their first values and did not before.
    pub fn variables(&self) -> &[VarId] {
        &self.variables
    }
}

/// Returns the reason why a program cannot be sliced at all for some checks, if there is one.
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

/// Disables actions. The process that always has an enabled action, if there is one, keeps one.
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

/// Returns an action that only moves its process.
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

/// Adds resets of irrelevant variables where they are written. Returns the number of resets.
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

/// Returns the resets of the irrelevant scalars among `written`: those of the program and of the mover. A started
/// process has its first values anyway.
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

/// Returns the variables that something writes and that are entirely irrelevant.
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
        let initial = if variables == 1 { "its initial value" } else { "their initial values" };
        let variables = count(variables as u64, "variable");
        let actions = grouped(actions as u64);
        format!("{actions} of {all} removed; {variables} reduced to {initial}")
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
