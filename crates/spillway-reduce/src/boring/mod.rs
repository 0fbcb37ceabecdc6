//! Boring states: no violation is reachable from them, so they are pruned (Pelánek 2005, section 3.3.2).
//!
//! [Abstractions](super::abstraction) of the program are explored before the search: one for each target, with
//! selected cells. A state is boring if in each abstraction the target is unreachable from the combination of the
//! state. If a value never decreases and no violation is possible beyond some bound, the abstraction to that value
//! alone suffices. It is a progress function, as in the sweep-line method (Christensen, Kristensen and Mailund 2001).
//!
//! ```text
//! now in 0..200, `done` is to be reached while now <= 60:    now = 61, 62, ... 200 are boring
//! ```

mod model;

use super::abstraction::{
    CellAbstraction, TargetAbstraction, ViolationTarget, compute_abstractions,
};
use super::entry::{
    AppliedReduction, AutomaticUse, DetectionContext, PreservedRuns, ReductionContext,
    ReductionEntry, ReductionMethod, ReductionSubject, SavingMeasure,
};
use super::parameters::{FlagSpec, ParameterControl, ParameterKind, ParameterSpec};
use super::variable_names::{cells_of, variable};
use super::{
    NotApplied, PreservedProperties, PropertyClass as Holds, Reduction, ReductionKind,
    ReductionStack, ReductionTraits,
};
use model::PrunedModel;
use spillway_analysis::bit_sets;
use spillway_base::budget::AnalysisBudget;
use spillway_base::numbers::{count, grouped};
use spillway_exec::Interp;
use spillway_ir::layout::CellId;
use spillway_ir::{Layout, Program};
use spillway_model::{CheckSelection, Counters, StateSpace};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The title of the reduction.
pub const NAME: &str = "boring states";

/// The entry of the table.
pub static ENTRY: ReductionEntry = ReductionEntry {
    name: "boring",
    title: NAME,
    summary: "Boring states: states from which no violation is reachable are pruned",
    paper: "Pelánek 2005, section 3.3.2; Christensen, Kristensen and Mailund 2001",
    page: "boring",
    kind: ReductionKind::Pruning,
    parameters: &[ParameterSpec {
        name: PROGRESS,
        summary: "variables whose sum never decreases; by default those that prune most",
        kind: ParameterKind::Names { form: "NAME", is_valid: |it| !it.is_empty() },
        control: ParameterControl::Flag(FlagSpec {
            name: "progress",
            value_name: "NAME,...",
            help: "Prune states by these variables, whose sum must never decrease (which is checked)",
            bare: false,
            off: None,
        }),
        excludes: None,
    }],
    automatic: AutomaticUse::Never,
    // All paths to violations are explored, so their depth is preserved. Infinite runs are cut off.
    preserves: PreservedProperties::ALL
        .without(Holds::Claims)
        .without(Holds::StutteringClaims)
        .without(Holds::StutterInvariant),
    preserved_runs: PreservedRuns::None,
    allows_joint_resets: false,
    allows_constraint: false,
    incompatible_with: &[],
    nothing_found: "a violation may be reachable from every state",
    saving: SavingMeasure::States,
    detect,
    method: ReductionMethod::Wrap(apply),
};

/// The parameter that names variables.
const PROGRESS: &str = "progress";

/// Finds the boring states of a program.
fn apply<'m>(context: &ReductionContext<'m, '_>) -> AppliedReduction<'m> {
    let find = || {
        context.check_rewritable()?;
        let budget = context.budget.for_analysis(NAME);
        let progress = context.parameters().names(PROGRESS);
        BoringStates::of(context.interp, context.checks, progress, &budget).map(Some)
    };
    context.applied(find())
}

/// Lists the abstractions that exclude violations other than deadlocks.
fn detect(context: &DetectionContext) -> Vec<ReductionSubject> {
    let checks = CheckSelection { deadlock: false, ..CheckSelection::ALL };
    let budget = context.budget.for_analysis(NAME);
    let found = BoringStates::of(context.interp, checks, &[], &budget);
    let descriptions = found.map(|it| it.descriptions().to_vec()).unwrap_or_default();
    let about = "no violation is reachable, except for deadlocks";
    let subject = |name| ReductionSubject { name, place: None, about: about.into() };
    descriptions.into_iter().map(subject).collect()
}

/// The test for the boring states of a program.
#[derive(Clone)]
pub struct BoringStates<'m> {
    layout: &'m Layout,
    parts: Arc<[TargetReachability]>,
    /// Descriptions of the abstractions.
    told: Vec<String>,
}

/// The combinations from which one target may be reached.
#[derive(Clone, Debug)]
struct TargetReachability {
    kept: CellAbstraction,
    may_reach: Vec<u64>,
}

impl TargetReachability {
    /// Whether the target may be reached from a state.
    fn may_reach(&self, layout: &Layout, state: &[u8]) -> bool {
        self.kept.of(layout, state).is_none_or(|it| bit_sets::has(&self.may_reach, it))
    }
}

impl<'m> BoringStates<'m> {
    /// Computes the boring states of a program for some checks, with the named variables if any. Returns the reason
    /// if there are none.
    pub fn of(
        interp: &'m Interp,
        checks: CheckSelection,
        progress: &[String],
        budget: &AnalysisBudget,
    ) -> Result<BoringStates<'m>, NotApplied> {
        let (program, layout) = (interp.program(), interp.layout());
        let cells = named_cells(program, layout, progress)?;
        let kept = (!progress.is_empty()).then_some(&cells[..]);
        let found = compute_abstractions(interp, checks, kept, budget)?;
        if !progress.is_empty() {
            check_progress(&found, &cells, progress)?;
        }
        if let Some(it) = found.iter().find(|it| it.may_reach_count == it.reachable_count) {
            return Err(everywhere(program, it.target));
        }
        if found.is_empty() {
            return Err(NotApplied::NothingChecked);
        }
        let told: BTreeSet<String> =
            found.iter().filter_map(|it| describe_pruned(interp, it)).collect();
        let told = told.into_iter().collect();
        let parts = found.into_iter().map(|TargetAbstraction { kept, may_reach, .. }| {
            TargetReachability { kept, may_reach }
        });
        Ok(BoringStates { layout, parts: parts.collect(), told })
    }

    /// Returns descriptions of the combinations from which no violation is reachable.
    pub fn descriptions(&self) -> &[String] {
        &self.told
    }
}

/// Returns the cells of some variables.
fn named_cells(
    program: &Program,
    layout: &Layout,
    names: &[String],
) -> Result<Vec<CellId>, NotApplied> {
    let mut cells = Vec::new();
    for name in names {
        let id = variable(program, name)?;
        cells.extend(cells_of(layout, |it| it == id));
    }
    Ok(cells)
}

/// Rejects variables that are no progress measure: they may decrease, or have too many values in total.
fn check_progress(
    found: &[TargetAbstraction],
    cells: &[CellId],
    names: &[String],
) -> Result<(), NotApplied> {
    let names = names.join(" + ");
    let Some(first) = found.first() else { return Ok(()) };
    if first.kept.cells().count() < cells.len() || first.steps_are_too_many {
        return Err(NotApplied::TooManyValues(names));
    }
    match first.falling_step {
        None => Ok(()),
        Some((from, to)) => Err(NotApplied::NoProgress { names, from, to }),
    }
}

/// Returns the reason when a target may be reachable from every state.
fn everywhere(program: &Program, target: ViolationTarget) -> NotApplied {
    let is_deadlock = target == ViolationTarget::Deadlock;
    let target = match target {
        ViolationTarget::Deadlock => "a deadlock".into(),
        ViolationTarget::Errors => "a failing transition".into(),
        ViolationTarget::Property(id) => {
            format!("a state that decides `{}`", program.properties[id].name)
        }
    };
    NotApplied::ReachableEverywhere { target, is_deadlock }
}

/// Describes how many combinations are pruned, and the variables that they consist of.
fn describe_pruned(interp: &Interp, found: &TargetAbstraction) -> Option<String> {
    let names = found.kept.names(interp.program(), interp.layout());
    let left = grouped((found.reachable_count - found.may_reach_count) as u64);
    let all = grouped(found.reachable_count as u64);
    (!names.is_empty()).then(|| format!("{left} of {all} combinations of {}", names.join(", ")))
}

impl<'m> Reduction<'m> for BoringStates<'m> {
    fn name(&self) -> String {
        NAME.into()
    }

    fn traits(&self) -> ReductionTraits {
        ENTRY.traits()
    }

    fn describe_effect(&self, counters: &Counters) -> Option<String> {
        let steps = count(counters.pruned, "transition");
        Some(match self.told.is_empty() {
            true => "no violation is reachable".into(),
            false => format!("{steps} pruned, to {}", self.told.join("; ")),
        })
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
        Box::new(PrunedModel::new(model, self.layout, self.parts.clone()))
    }
}
