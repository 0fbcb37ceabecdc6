//! Structural reductions of Petri nets: fewer places and transitions, before the search.
//!
//! They apply to programs whose actions are transitions of a net, as far as these add constants to counters and wait
//! for enough tokens in them (`action_parts`, `places`, `net`). Sources: Berthelot, Checking Properties of Nets Using
//! Transformations (1985), and Transformations and Decompositions of Nets (1987); Haddad and Pradat-Peyre, New
//! Efficient Petri Nets Reductions for Parallel Programs Verification (2006); Thierry-Mieg, Structural Reductions
//! Revisited (2020).
//!
//! 1. *Agglomerations* (`agglomerate`) fuse transitions around a place. The place stays empty.
//! 2. *Redundant* places, *constant* places, *dead* transitions and *dominated* transitions (`redundant`) are
//!    removed. Both steps repeat until nothing changes.
//! 3. Each remaining transition becomes an action: its own, or one that executes several in sequence (`write_back`).
//!    Removed places keep their first tokens in each state.
//!
//! *What is preserved*: the existence of deadlocks, if they are checked; invariants and covers; failing transitions.
//! Depths and properties of runs are not preserved.
//!
//! *Correctness.* A run of the reduced net is a run of the net in which some actions follow each other at once. So
//! its violations are real, and no counter exceeds its range. Conversely, take a run of the net to a violation.
//!
//! - Post-agglomeration. Each of *F* needs only tokens of *p*, and takes no others. So it can be moved forward,
//!   directly after the transition that put its tokens there. The transitions in between find at least the same
//!   tokens. At the end *p* may have tokens left. Then transitions of *F* take them. This changes nothing observed,
//!   and removes tokens from no other place. In a deadlock *p* is empty.
//! - Pre-agglomeration. Each of *H* puts tokens into *p* only. So it can be moved back, directly before the
//!   transition that takes its tokens. The transitions in between lose nothing: they did not need these tokens of
//!   *p*, and the tokens that it takes stay available. At the end the tokens of some of *H* may not have been taken.
//!   These transitions are removed, and nothing observed changes. The end stays a deadlock without them. A transition
//!   outside *F* that is enabled then needs no tokens of the places that they take from, so it was enabled before. If
//!   one of *F* is enabled after some of *H*, as many of the removed ones had put their tokens there, so it was
//!   enabled before. Conversely, a deadlock of the reduced net becomes one of the net by executing all enabled
//!   transitions of *H* until none is left. That ends, since each takes tokens and none puts tokens where they take
//!   them (`path`).
//! - Redundant parts do not change which transitions are enabled. That their tokens suffice is an invariant of the
//!   net.
//!
//! ```text
//! idle -> send -> sent, slot         post: sent is not stopped at         idle -> send; arrive -> there, slot
//! sent -> arrive -> there                                                 idle -> send; lose -> slot
//! sent -> lose
//! ```

mod action_parts;
mod agglomerate;
mod net;
mod path;
mod places;
mod redundant;
mod write_back;

pub use agglomerate::AgglomerationKind;

use super::checked_properties::{drop_unchecked, preserved_for};
use super::entry::{
    AutomaticUse, DetectionContext, PreservedRuns, ReductionEntry, ReductionMethod,
    ReductionSubject, RewriteContext, SavingMeasure,
};
use super::rewrite_pass::{MergedStep, MergedSteps, RewritePass, StateTest};
use super::{NotApplied, PreservedProperties, PropertyClass, ReductionKind};
use agglomerate::{Agglomeration, agglomerate};
use net::CounterNet;
use places::NetPlaces;
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_base::numbers::{count, grouped};
use spillway_exec::Interp;
use spillway_ir::layout::CellId;
use spillway_ir::{
    Action, ActionId, EndRule, Entity as _, Layout, Program, PropertyKind, Schedule, VarId,
};
use spillway_model::{ActionCounts, CheckSelection};
use std::collections::BTreeSet;

/// The title of the reduction.
pub const NAME: &str = "structural reduction";

/// The entry of the table.
pub static ENTRY: ReductionEntry = ReductionEntry {
    name: "structural",
    title: NAME,
    summary: "Structural reductions of Petri nets: agglomeration, redundant places and transitions",
    paper: "Berthelot 1985 and 1987; Haddad and Pradat-Peyre 2006; Thierry-Mieg 2020",
    page: "structural",
    kind: ReductionKind::Rewriting,
    parameters: &[],
    automatic: AutomaticUse::Never,
    preserves: preserved_for(CheckSelection::ALL).without(PropertyClass::Depth),
    preserved_runs: PreservedRuns::None,
    allows_joint_resets: true,
    allows_constraint: false,
    incompatible_with: &[],
    nothing_found: "no place or transition of the net can be removed",
    saving: SavingMeasure::StableStates,
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
    let found =
        StructuralReduction::rewrite(program, context.written, context.checks, context.budget)?;
    Ok(found.map(|it| Box::new(it) as Box<dyn RewritePass>))
}

/// Lists the places and transitions of a net that can be removed.
fn detect(context: &DetectionContext) -> Vec<ReductionSubject> {
    let program = context.program();
    let Some(found) = context.pass::<StructuralReduction>() else { return Vec::new() };
    let place = |id, about: &str| context.variable(&program.variables[id], about.into());
    let agglomerated = found.agglomerated().iter().map(|&(id, side)| match side {
        AgglomerationKind::Post => {
            place(id, "post-agglomeration: its consumers follow its producers at once")
        }
        AgglomerationKind::Pre => {
            place(id, "pre-agglomeration: its producers wait for its consumers")
        }
    });
    let redundant =
        found.redundant().iter().map(|&id| place(id, "redundant: it never disables a transition"));
    let removed = found.removed().map(|id| &program.actions[id]);
    let removed = removed.map(|it| context.at(&it.name, it.span, "removed"));
    agglomerated.chain(redundant).chain(removed).collect()
}

/// The structural reductions of a program.
#[derive(Debug)]
pub struct StructuralReduction {
    checks: CheckSelection,
    /// The actions that execute several in sequence, with these.
    composed: Vec<(ActionId, Vec<ActionId>)>,
    /// The actions that are not executed because others have the same effect, or only if others follow.
    left_out: BTreeSet<ActionId>,
    /// The actions that are no longer executed alone.
    gone: BTreeSet<ActionId>,
    /// For each pre-agglomeration, in order, the sequences of actions that wait.
    waiting: Vec<Vec<Vec<ActionId>>>,
    agglomerated: Vec<(VarId, AgglomerationKind)>,
    redundant: Vec<VarId>,
    /// The first values of redundant places: cells and codes.
    first: Vec<(CellId, u32)>,
}

impl StructuralReduction {
    /// Reduces a program for some checks; `written` runs the program. Returns `None` if nothing is reduced.
    pub(super) fn rewrite(
        program: &mut Program,
        written: &Interp,
        checks: CheckSelection,
        budget: &AnalysisBudget,
    ) -> Result<Option<StructuralReduction>, BudgetExceeded> {
        let Some(places) = NetPlaces::of(program, checks, budget)? else { return Ok(None) };
        let mut net = CounterNet::of(program, &places);
        let mut reducing =
            NetReducer { net: &mut net, checks, budget, done: NetReductions::default() };
        reducing.reduce()?;
        let NetReductions { agglomerated, redundant, left_out, is_any } = reducing.done;
        if !is_any {
            return Ok(None);
        }
        let write_back::RewrittenActions { composed, gone } = write_back::write(&net, program);
        for id in program.properties.keys() {
            drop_unchecked(program, checks, id);
        }
        let place = VarId::from_index;
        let redundant: Vec<VarId> = redundant.into_iter().map(place).collect();
        let layout = written.layout();
        let first = redundant.iter().map(|&id| {
            let cell = layout.variables[id].in_slot(0);
            (cell, layout.cells[cell].code(net.initial[id.index()]) as u32)
        });
        let waits = |it: &&Agglomeration| it.side == AgglomerationKind::Pre;
        let sequences =
            |it: &Agglomeration| it.before.iter().map(|it| it.sequence.clone()).collect();
        Ok(Some(StructuralReduction {
            checks,
            composed,
            left_out,
            gone,
            waiting: agglomerated.iter().filter(waits).map(sequences).collect(),
            agglomerated: agglomerated.iter().map(|it| (place(it.place), it.side)).collect(),
            first: first.collect(),
            redundant,
        }))
    }

    /// Returns the checks of the search.
    pub fn checks(&self) -> CheckSelection {
        self.checks
    }

    /// Returns the places that agglomeration keeps empty.
    pub fn agglomerated(&self) -> &[(VarId, AgglomerationKind)] {
        &self.agglomerated
    }

    /// Returns the places that never disable a transition.
    pub fn redundant(&self) -> &[VarId] {
        &self.redundant
    }

    /// Returns the actions that are no longer executed, alone or in sequences.
    pub fn removed(&self) -> impl Iterator<Item = ActionId> {
        let taken: BTreeSet<_> = self.composed.iter().flat_map(|it| &it.1).collect();
        self.gone.iter().copied().filter(move |it| !taken.contains(it))
    }
}

impl MergedSteps for StructuralReduction {
    fn path(&self, step: &MergedStep<'_>) -> Option<Vec<Vec<u8>>> {
        self.path_of(step.written, step.from, step.is_end)
    }

    fn expand_action_counts(&self, taken: &ActionCounts) -> ActionCounts {
        let mut apart = taken.clone();
        for (composed, actions) in &self.composed {
            let times = apart.take(*composed);
            actions.iter().for_each(|&it| apart.add(it, times));
        }
        apart
    }

    fn path_to_deadlock(&self, written: &Interp, from: &[u8]) -> Vec<Vec<u8>> {
        self.to_deadlock(written, from)
    }

    fn preserves_depth(&self) -> bool {
        self.composed.is_empty()
    }

    /// Tests whether all agglomerated places are empty.
    fn stable_state_test<'p>(&'p self, _: &'p Program, layout: &'p Layout) -> StateTest<'p> {
        let cells = self.agglomerated.iter().map(|(id, _)| layout.variables[*id].in_slot(0));
        let cells: Vec<CellId> = cells.collect();
        Box::new(move |state| cells.iter().all(|&cell| layout.get(state, cell) == Some(0)))
    }
}

/// The reductions of a net.
#[derive(Default)]
struct NetReductions {
    agglomerated: Vec<Agglomeration>,
    redundant: Vec<usize>,
    left_out: BTreeSet<ActionId>,
    is_any: bool,
}

/// Applies the reductions.
struct NetReducer<'n> {
    net: &'n mut CounterNet,
    checks: CheckSelection,
    budget: &'n AnalysisBudget<'n>,
    done: NetReductions,
}

impl NetReducer<'_> {
    /// Reduces while possible. Reductions that add no transitions come first.
    fn reduce(&mut self) -> Result<(), BudgetExceeded> {
        let mut more = 0;
        loop {
            let mut is_any = self.remove()?;
            is_any |= self.agglomerate(more)?;
            self.done.is_any |= is_any;
            match (is_any, more) {
                (true, _) => {}
                (false, 0) => more = agglomerate::MORE_MAX,
                (false, _) => return Ok(()),
            }
        }
    }

    /// Removes dead, constant, dominated and redundant parts.
    fn remove(&mut self) -> Result<bool, BudgetExceeded> {
        self.budget.work(self.net.arcs())?;
        let mut is_any = redundant::remove_dead(self.net);
        is_any |= redundant::cut_constant(self.net);
        let redundant = redundant::cut_redundant(self.net, self.budget)?;
        let alike = redundant::remove_alike(self.net, self.checks.deadlock, self.budget)?;
        is_any |= !redundant.is_empty() || !alike.is_empty();
        self.done.redundant.extend(redundant);
        self.done.left_out.extend(alike.into_iter().flat_map(|it| it.sequence));
        Ok(is_any)
    }

    fn agglomerate(&mut self, more: usize) -> Result<bool, BudgetExceeded> {
        let before = self.done.agglomerated.len();
        for place in 0..self.net.initial.len() {
            // Each transition that puts tokens may meet each that takes some.
            let touching = self.net.touching[place].len() as u64;
            self.budget.work(1 + touching * touching)?;
            let Some(found) = agglomerate(self.net, place, self.checks.deadlock, more) else {
                continue;
            };
            if found.side == AgglomerationKind::Pre {
                let sequences = found.before.iter().flat_map(|it| it.sequence.iter().copied());
                self.done.left_out.extend(sequences);
            }
            self.done.agglomerated.push(found);
        }
        Ok(self.done.agglomerated.len() > before)
    }
}

/// Returns the reason why a program cannot be reduced at all for some checks, if there is one.
pub(super) fn refusal(program: &Program, checks: CheckSelection) -> Option<NotApplied> {
    let mut properties = program.properties.values();
    let sees_all = properties.find_map(|it| match it.kind {
        PropertyKind::Claim(_) => Some(NotApplied::ClaimSeesStates(it.name.clone())),
        PropertyKind::Automaton(_) => Some(NotApplied::ObservedBy(it.name.clone())),
        PropertyKind::Assumption(_) => Some(NotApplied::Assumptions),
        _ => None,
    });
    let has_priorities = program.actions.values().any(|it| it.priority != 0);
    let waits = program.actions.values().any(Action::reads_timeout);
    match () {
        () if sees_all.is_some() => sees_all,
        () if !program.processes.is_empty() => Some(NotApplied::NoNet),
        () if program.last.is_some() => Some(NotApplied::ReadsLastMover),
        () if has_priorities => Some(NotApplied::Priorities("actions".into())),
        () if waits => Some(NotApplied::ReadsTimeout),
        () if program.schedule != Schedule::Interleaved => Some(NotApplied::Lockstep),
        () if program.end == EndRule::NeverStuttering && checks.deadlock => {
            Some(NotApplied::EveryChangeMatters)
        }
        () => None,
    }
}

impl RewritePass for StructuralReduction {
    fn describe_effect(&self, program: &Program) -> String {
        let places = grouped((self.agglomerated.len() + self.redundant.len()) as u64);
        let variables = count(program.variables.len() as u64, "place");
        let composed = self.composed.len();
        let actions = program.actions.len() - composed;
        let left = actions - self.gone.len() + composed;
        format!(
            "{places} of {variables} removed; {} left of {}, {} of them agglomerated",
            grouped(left as u64),
            count(actions as u64, "transition"),
            grouped(composed as u64)
        )
    }

    fn preserves(&self) -> PreservedProperties {
        match self.preserves_depth() {
            true => preserved_for(self.checks),
            false => preserved_for(self.checks).without(PropertyClass::Depth),
        }
    }

    fn keeps_all_actions(&self) -> bool {
        true
    }

    fn loses_action_count(&self, id: ActionId, _: &Action) -> bool {
        self.left_out.contains(&id)
    }

    fn changed_cells(&self, _: &Program, layout: &Layout) -> BTreeSet<CellId> {
        let places = self.agglomerated.iter().map(|it| it.0).chain(self.redundant.iter().copied());
        super::variable_names::all_cells_of(layout, places)
    }

    fn merged_steps(&self) -> Option<&dyn MergedSteps> {
        Some(self)
    }

    fn represent(&self, layout: &Layout, state: &mut [u8]) {
        self.first.iter().for_each(|&(cell, code)| layout.set_code(state, cell, code));
    }
}
