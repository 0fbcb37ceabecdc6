//! Structural reductions of Petri nets: places and transitions fewer, before the search.
//!
//! Of a program whose actions are transitions of a net, as far as they add constants to counters and wait for enough tokens in
//! them (`action_parts`, `places`, `net`). Sources: Berthelot, Checking Properties of Nets Using Transformations (1985), and Transformations and
//! Decompositions of Nets (1987); Haddad and Pradat-Peyre, New Efficient Petri Nets Reductions for Parallel Programs
//! Verification (2006); Thierry-Mieg, Structural Reductions Revisited (2020).
//!
//! 1. *Agglomerations* (`agglomerate`), of transitions around a place, with their conditions: nobody leaves tokens in that place.
//! 2. *Redundant* places, *constant* places, *dead* transitions and those that do what *another does* (`redundant`), with their conditions.
//!    They are removed, and what is left is looked at again, until nothing is found.
//! 3. Each transition that is left is an action: its own, or one that does what several do in turn (`write_back`). Places that are
//!    removed have their first tokens in each state.
//!
//! *What is preserved*: whether there is a deadlock, where deadlocks are looked for; which invariants hold, and what is
//! covered; which steps fail. Depths are not, nor anything that is said of runs.
//!
//! *Why.* A run of what is left is one of the net, in which some actions follow each other at once: so what is found is there, and no counter
//! needs more room than before. The other way around take a run of the net to a state where something that is looked for is so.
//!
//! - Post-agglomeration. Each of *F* needs nothing but tokens of *p*, and takes nothing else from anybody: it can be moved to the front, to right
//!   behind the one that put its tokens there, and whatever comes in between finds at least the tokens that it had. At the end there may be tokens in
//!   *p* that nobody took: then somebody of *F* takes them there, and nothing that is seen changes, nor does anybody lose tokens. In a deadlock there are none.
//! - Pre-agglomeration. Each of *H* puts tokens into *p* alone: it can be moved to the back, to right before the one that takes its tokens, and whatever
//!   comes in between has lost nothing, for it needed no tokens of *p* that it put there, and those that it had taken were not needed. At the end there may be some of *H* of which nobody took the tokens: they
//!   are left out, and nothing that is seen changes. If it was a deadlock, it is one without them: whoever could go on there needs
//!   nothing of the places that they took from, so it could before; and if one of *F* could with some of *H* before it, then there are as many of
//!   these left out, as nobody else took their tokens, and so it could. The other way around a deadlock of what is left
//!   becomes one of the net when all of *H* are taken that can be, for as long as they can be, and that is not for ever, as each takes
//!   tokens and none puts some where they take them (`path`).
//! - What is redundant changes nothing of what can be taken; that there are no tokens too few is an invariant of the net.
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
    AutomaticUse, DetectionContext, ReductionEntry, ReductionMethod, ReductionSubject,
    RewriteContext, SavingMeasure,
};
use super::rewrite_pass::{MergedStep, MergedSteps, RewritePass, StateTest};
use super::{NotApplied, PreservedProperties, PropertyClass, ReductionKind};
use crate::budget::{AnalysisBudget, BudgetExceeded};
use crate::exec::Interp;
use crate::ir::layout::CellId;
use crate::ir::{
    Action, ActionId, EndRule, Entity as _, Layout, Program, PropertyKind, Schedule, VarId,
};
use crate::model::{ActionCounts, CheckSelection};
use crate::numbers::{count, grouped};
use agglomerate::{Agglomeration, agglomerate};
use net::CounterNet;
use places::NetPlaces;
use std::collections::BTreeSet;

/// What the reduction is called.
pub const NAME: &str = "structural reduction";

/// The reduction in the table.
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
    preserves_runs: false,
    allows_joint_resets: true,
    incompatible_with: &[],
    nothing_found: "no place or transition of a net is found that could go",
    saving: SavingMeasure::StableStates,
    detect,
    method: ReductionMethod::Rewrite { rewrite, refuse: refusal },
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

/// The places and transitions of a net that need not be there.
fn detect(context: &DetectionContext) -> Vec<ReductionSubject> {
    let program = context.program();
    let Some(found) = context.pass::<StructuralReduction>() else { return Vec::new() };
    let place = |id, about: &str| context.variable(&program.variables[id], about.into());
    let agglomerated = found.agglomerated().iter().map(|&(id, side)| match side {
        AgglomerationKind::Post => place(id, "whoever puts tokens there goes on at once"),
        AgglomerationKind::Pre => place(id, "tokens are put there when somebody takes them"),
    });
    let redundant = found.redundant().iter().map(|&id| place(id, "keeps nobody from anything"));
    let removed = found.removed().map(|id| &program.actions[id]);
    let removed = removed.map(|it| context.at(&it.name, it.span, "removed"));
    agglomerated.chain(redundant).chain(removed).collect()
}

/// What was reduced in a program.
#[derive(Debug)]
pub struct StructuralReduction {
    checks: CheckSelection,
    /// Of each action that is several ones in turn, which those are.
    composed: Vec<(ActionId, Vec<ActionId>)>,
    /// Actions that are not taken, and others are all the same; or that are taken only if somebody goes on.
    left_out: BTreeSet<ActionId>,
    /// The actions that are no longer taken by themselves.
    gone: BTreeSet<ActionId>,
    /// Of each agglomeration that has some wait, in their order, what waits.
    waiting: Vec<Vec<Vec<ActionId>>>,
    agglomerated: Vec<(VarId, AgglomerationKind)>,
    redundant: Vec<VarId>,
    /// The first tokens of what is redundant: a cell, and its code.
    first: Vec<(CellId, u32)>,
}

impl StructuralReduction {
    /// Reduces a program, which `written` runs, in a search for some checks; nothing if there is nothing to reduce.
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

    /// What is looked for.
    pub fn checks(&self) -> CheckSelection {
        self.checks
    }

    /// The places in which nobody leaves tokens any more.
    pub fn agglomerated(&self) -> &[(VarId, AgglomerationKind)] {
        &self.agglomerated
    }

    /// The places that keep nobody from anything.
    pub fn redundant(&self) -> &[VarId] {
        &self.redundant
    }

    /// The actions that are not taken any more, be it by themselves or with others.
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

    /// Whether nobody has left tokens in a state where nobody leaves any.
    fn stable_state_test<'p>(&'p self, _: &'p Program, layout: &'p Layout) -> StateTest<'p> {
        let cells = self.agglomerated.iter().map(|(id, _)| layout.variables[*id].in_slot(0));
        let cells: Vec<CellId> = cells.collect();
        Box::new(move |state| cells.iter().all(|&cell| layout.get(state, cell) == Some(0)))
    }
}

/// What was done to a net.
#[derive(Default)]
struct NetReductions {
    agglomerated: Vec<Agglomeration>,
    redundant: Vec<usize>,
    left_out: BTreeSet<ActionId>,
    is_any: bool,
}

/// Does it.
struct NetReducer<'n> {
    net: &'n mut CounterNet,
    checks: CheckSelection,
    budget: &'n AnalysisBudget<'n>,
    done: NetReductions,
}

impl NetReducer<'_> {
    /// Reduces as long as there is anything to reduce: first where there are no more transitions then.
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

    /// Removes what makes no difference.
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
            // Each of those that put tokens there may meet each that takes some.
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

/// Why nothing of a program is reduced so in a search for some checks, whatever it does, if so.
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
        let several = if composed == 1 { "is" } else { "are" };
        format!(
            "{places} of {variables} removed; {} left of {}, of which {} {several} several in turn",
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
