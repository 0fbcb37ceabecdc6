//! Doomed states: a violation is surely reachable from them, so the search takes a shortcut to it (Pelánek 2005,
//! section 3.3.1).
//!
//! - *Errors*: what a process can do whatever its environment does (de Alfaro, Henzinger and Mang 2000).
//!   [Abstractions](super::abstraction) decide it. In all states with certain cell values an action leads to states
//!   with other values, and so on to a failing transition or a violated property.
//! - *Deadlocks*: if no process can reach a cycle that others could pass with it, all runs end (`cycles`; the
//!   covering sets of Bošnački, Leue and Lafuente 2006, and of Kurshan, Levin, Minea, Peled and Yenigün 1998).
//!
//! A doomed state has one more successor: the violating state at the end of a walk. It is visited in the next level,
//! and the search ends there. The walk consists of transitions of the program, so no false violation is found. That a
//! state is doomed only decides whether a walk is worthwhile. A counterexample contains the transitions of the walk.

mod cycles;
mod model;
mod walk;

use super::abstraction::{CellAbstraction, TargetAbstraction, compute_abstractions};
use super::entry::{
    AppliedReduction, AutomaticUse, DetectionContext, PreservedRuns, ReductionContext,
    ReductionEntry, ReductionMethod, ReductionSubject, SavingMeasure,
};
use super::{
    NotApplied, PreservedProperties, PropertyClass as Holds, Reduction, ReductionKind,
    ReductionStack, ReductionTraits,
};
use cycles::TerminatingLocations;
use model::ShortcutModel;
use spillway_base::budget::AnalysisBudget;
use spillway_base::numbers::{count, grouped};
use spillway_exec::Interp;
use spillway_ir::Layout;
use spillway_ir::layout::CellId;
use spillway_model::{CheckSelection, Counters, StateSpace};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The title of the reduction.
pub const NAME: &str = "doomed states";

/// The entry of the table.
pub static ENTRY: ReductionEntry = ReductionEntry {
    name: "doomed",
    title: NAME,
    summary: "Doomed states: states from which a violation is inevitable are not stored",
    paper: "Pelánek 2005, section 3.3.1; de Alfaro, Henzinger and Mang 2000",
    page: "doomed",
    kind: ReductionKind::Pruning,
    parameters: &[],
    automatic: AutomaticUse::Never,
    // All states are visited, but some in earlier levels.
    preserves: PreservedProperties::ALL
        .without(Holds::Claims)
        .without(Holds::StutteringClaims)
        .without(Holds::StutterInvariant)
        .without(Holds::Depth),
    preserved_runs: PreservedRuns::None,
    allows_joint_resets: false,
    allows_constraint: false,
    incompatible_with: &[],
    nothing_found: "no state with an inevitable violation was found",
    saving: SavingMeasure::Levels,
    detect,
    method: ReductionMethod::Wrap(apply),
};

/// Finds the doomed states of a program.
fn apply<'m>(context: &ReductionContext<'m, '_>) -> AppliedReduction<'m> {
    let find = || {
        context.check_rewritable()?;
        let budget = context.budget.for_analysis(NAME);
        DoomedStates::of(context.interp, context.checks, &budget).map(Some)
    };
    context.applied(find())
}

/// Lists the abstractions and processes by which violations are inevitable.
fn detect(context: &DetectionContext) -> Vec<ReductionSubject> {
    let budget = context.budget.for_analysis(NAME);
    let found = DoomedStates::of(context.interp, CheckSelection::ALL, &budget);
    let descriptions = found.map(|it| it.descriptions()).unwrap_or_default();
    let about = "a violation is inevitable";
    let subject = |name| ReductionSubject { name, place: None, about: about.into() };
    descriptions.into_iter().map(subject).collect()
}

/// The test for the doomed states of a program.
#[derive(Clone)]
pub struct DoomedStates<'m> {
    interp: &'m Interp,
    fate: Arc<DoomAnalysis>,
}

/// The analyses that decide whether a state is doomed.
#[derive(Debug)]
struct DoomAnalysis {
    parts: Vec<TargetDistance>,
    cycles: Option<TerminatingLocations>,
}

/// For each combination of some cells, the number of transitions that surely lead to a violation.
#[derive(Debug)]
struct TargetDistance {
    kept: CellAbstraction,
    surely: Vec<u16>,
}

impl TargetDistance {
    /// Returns one plus the number of transitions to the violation; 0 if the state is not known to be doomed.
    fn rank(&self, layout: &Layout, state: &[u8]) -> u16 {
        self.kept.of(layout, state).map_or(0, |it| self.surely[it])
    }
}

impl<'m> DoomedStates<'m> {
    /// Computes the doomed states of a program for some checks. Returns the reason if none are known.
    pub fn of(
        interp: &'m Interp,
        checks: CheckSelection,
        budget: &AnalysisBudget,
    ) -> Result<DoomedStates<'m>, NotApplied> {
        let found = compute_abstractions(interp, checks, None, budget)?;
        let doomed = found.into_iter().filter(|it| it.sure_distances.iter().any(|it| *it > 2));
        let parts: Vec<TargetDistance> = doomed
            .map(|TargetAbstraction { kept, sure_distances: surely, .. }| TargetDistance {
                kept,
                surely,
            })
            .collect();
        let cycles = match checks.deadlock {
            true => TerminatingLocations::of(interp, budget)?,
            false => None,
        };
        if parts.is_empty() && cycles.is_none() {
            return Err(NotApplied::NothingFound(ENTRY.nothing_found.into()));
        }
        Ok(DoomedStates { interp, fate: DoomAnalysis { parts, cycles }.into() })
    }

    /// Describes the analyses: the variables and processes whose values decide, and the processes that can reach
    /// locations without cycles.
    pub fn descriptions(&self) -> Vec<String> {
        let (program, layout) = (self.interp.program(), self.interp.layout());
        let of_part = |it: &TargetDistance| {
            let doomed = it.surely.iter().filter(|it| **it > 0).count();
            let all = it.kept.combinations();
            let names = it.kept.names(program, layout).join(", ");
            format!("{} of {} combinations of {names}", grouped(doomed as u64), grouped(all as u64))
        };
        let parts = self.fate.parts.iter().map(of_part);
        let cycles =
            self.fate.cycles.as_ref().map(|_| "where no process can repeat a cycle".into());
        parts.chain(cycles).collect()
    }
}

impl<'m> Reduction<'m> for DoomedStates<'m> {
    fn name(&self) -> String {
        NAME.into()
    }

    fn traits(&self) -> ReductionTraits {
        ReductionTraits { keeps_all_actions: true, ..ENTRY.traits() }
    }

    fn describe_effect(&self, counters: &Counters) -> Option<String> {
        Some(format!("{} passed through without being stored", count(counters.skipped, "state")))
    }

    fn conflict(&self, before: &ReductionStack<'m>) -> Option<NotApplied> {
        before.program_state_conflict()
    }

    fn changed_cells(&self, _: &Layout) -> BTreeSet<CellId> {
        BTreeSet::new()
    }

    fn is_symmetric(&self) -> bool {
        true
    }

    fn wrap(&self, model: Box<dyn StateSpace + 'm>) -> Box<dyn StateSpace + 'm> {
        Box::new(ShortcutModel::new(model, self.interp, self.fate.clone()))
    }
}
