//! Dominance: of two states that differ only in certain variables, a state that simulates the other is enough
//! (Pelánek 2005, section 3.3.3).
//!
//! [`monotonicity`](spillway_analysis::monotonicity) finds these variables and the direction of better values, or
//! checks those that the user names. [`DominanceModel`] appends them to the state as numbers,
//! so that smaller ones are better. It announces that by
//! [`Capabilities::dominance`](spillway_model::Capabilities::dominance). The search keeps the states of each level that
//! neither the level nor the store dominates. Dominance is decided on the set of candidates first, and then against
//! the store. So the visited states are a function of the level before.
//!
//! ```text
//! at = work, now = 3, lost = 1      stands as (at = work, now, lost) and 3, 1
//! at = work, now = 4, lost = 1      need not be visited: 3, 1 is no worse than 4, 1
//! at = work, now = 2, lost = 2      is visited: neither is better than the other
//! ```

mod model;

use super::entry::{
    AppliedReduction, AutomaticUse, DetectionContext, Incompatibility, IncompatibilityKind,
    PreservedRuns, ReductionContext, ReductionEntry, ReductionMethod, ReductionSubject,
    SavingMeasure,
};
use super::parameters::{FlagSpec, ParameterControl, ParameterKind, ParameterSpec};
use super::variable_names::{cells_of, variable, variable_name};
use super::{
    NotApplied, PreservedProperties, PropertyClass, Reduction, ReductionKind, ReductionStack,
    ReductionTraits,
};
use model::DominanceModel;
pub use spillway_analysis::monotonicity::DominanceSense;
use spillway_analysis::monotonicity::{CheckedViolations, MonotoneVariables, monotone};
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_exec::Interp;
use spillway_ir::layout::CellId;
use spillway_ir::{Layout, Program, VarId};
use spillway_model::{CheckSelection, Counters, StateSpace};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The title of the reduction.
pub const NAME: &str = "dominated values";

/// The entry of the table.
pub static ENTRY: ReductionEntry = ReductionEntry {
    name: "dominate",
    title: NAME,
    summary: "Dominance: states that another state dominates are pruned",
    paper: "Pelánek 2005, section 3.3.3",
    page: "dominate",
    kind: ReductionKind::Dominance,
    parameters: &[ParameterSpec {
        name: VARIABLES,
        summary: "the variables, each with the direction of its dominating values; by default all that are found",
        kind: ParameterKind::Names {
            form: "NAME:down|up",
            is_valid: |it| dominating(it).is_some(),
        },
        control: ParameterControl::Flag(FlagSpec {
            name: "dominate",
            value_name: "NAME:down|up,...",
            help: "Prune dominated states, by these variables: smaller (down) or larger (up) values dominate (which is checked)",
            bare: false,
            off: None,
        }),
        excludes: None,
    }],
    automatic: AutomaticUse::Never,
    // A visited state can do whatever a pruned state can, at no greater depth. Infinite runs may pass other states.
    // If deadlocks are checked, only variables that no guard reads are used.
    preserves: PreservedProperties::ALL
        .without(PropertyClass::Claims)
        .without(PropertyClass::StutteringClaims)
        .without(PropertyClass::StutterInvariant),
    preserved_runs: PreservedRuns::None,
    allows_joint_resets: false,
    allows_constraint: false,
    incompatible_with: &[
        Incompatibility { other: "por", kind: IncompatibilityKind::Unproven },
        Incompatibility { other: "confluence", kind: IncompatibilityKind::Unproven },
        Incompatibility { other: "simultaneous", kind: IncompatibilityKind::Unproven },
        Incompatibility { other: "boring", kind: IncompatibilityKind::Unproven },
        Incompatibility { other: "doomed", kind: IncompatibilityKind::Unproven },
        Incompatibility { other: "reversible", kind: IncompatibilityKind::Unproven },
        Incompatibility { other: "symmetry", kind: IncompatibilityKind::Unproven },
        Incompatibility { other: "linear", kind: IncompatibilityKind::Unproven },
    ],
    nothing_found: "no variable has values that dominate others",
    saving: SavingMeasure::States,
    detect,
    method: ReductionMethod::Wrap(apply),
};

/// The parameter that names variables.
const VARIABLES: &str = "variables";

/// Parses a variable and the direction of its better values, as `NAME:down` or `NAME:up`.
fn dominating(text: &str) -> Option<(String, DominanceSense)> {
    let (name, sense) = text.rsplit_once(':')?;
    let sense = match sense.trim() {
        "down" => DominanceSense::Down,
        "up" => DominanceSense::Up,
        _ => return None,
    };
    Some(name.trim()).filter(|it| !it.is_empty()).map(|it| (it.to_owned(), sense))
}

/// Finds the variables of a program.
fn apply<'m>(context: &ReductionContext<'m, '_>) -> AppliedReduction<'m> {
    let find = || {
        context.check_rewritable()?;
        let budget = context.budget.for_analysis(NAME);
        let named = context.parameters().names(VARIABLES).iter().filter_map(|it| dominating(it));
        let (named, checks) = (named.collect(), context.checks);
        DominatedValues::of(context.interp, &named, checks, &budget).map(Some)
    };
    context.applied(find())
}

/// Lists the variables with dominated values, if no deadlocks are checked.
fn detect(context: &DetectionContext) -> Vec<ReductionSubject> {
    let checks = CheckSelection { deadlock: false, ..CheckSelection::ALL };
    let budget = context.budget.for_analysis(NAME);
    let found = DominatedValues::of(context.interp, &Vec::new(), checks, &budget);
    let Ok(found) = found else { return Vec::new() };
    let subjects = found.variables().iter().map(|&(id, sense)| {
        let better = match sense {
            DominanceSense::Down => "smaller",
            DominanceSense::Up => "larger",
        };
        let about = format!("{better} values dominate, except for deadlocks");
        context.variable(&context.program().variables[id], about)
    });
    subjects.collect()
}

/// The variables to examine, by name; all, if the list is empty.
pub type DominanceVariables = Vec<(String, DominanceSense)>;

/// The variables of a program whose values dominate others.
#[derive(Clone)]
pub struct DominatedValues<'m> {
    layout: &'m Layout,
    variables: Vec<(VarId, DominanceSense)>,
    /// The variables by their qualified names.
    named: Vec<(String, DominanceSense)>,
    cells: Arc<[(CellId, DominanceSense)]>,
}

impl<'m> DominatedValues<'m> {
    /// Finds the variables of a program for some checks. Returns the reason if there are none, or if a named variable
    /// does not qualify.
    pub fn of(
        interp: &'m Interp,
        named: &DominanceVariables,
        checks: CheckSelection,
        budget: &AnalysisBudget,
    ) -> Result<DominatedValues<'m>, NotApplied> {
        let (program, layout) = (interp.program(), interp.layout());
        let found = match named.is_empty() {
            true => monotone(program, None, looked_for(checks), budget)?,
            false => as_named(program, named, checks, budget)?,
        };
        let cells = cells(layout, &found.variables);
        if cells.is_empty() {
            return Err(none(program, checks, budget)?);
        }
        let names = found.variables.iter().map(|(&id, &sense)| (variable_name(program, id), sense));
        let named = names.collect();
        let variables = found.variables.into_iter().collect();
        Ok(DominatedValues { layout, variables, named, cells: cells.into() })
    }

    /// Returns the variables with the directions of their better values.
    pub fn variables(&self) -> &[(VarId, DominanceSense)] {
        &self.variables
    }
}

/// Returns the reason why there are none.
fn none(
    program: &Program,
    checks: CheckSelection,
    budget: &AnalysisBudget,
) -> Result<NotApplied, BudgetExceeded> {
    let without = CheckedViolations { deadlocks: false, ..looked_for(checks) };
    let others = monotone(program, None, without, budget)?.variables;
    Ok(match checks.deadlock && !others.is_empty() {
        true => {
            let names: Vec<String> =
                others.keys().map(|&id| format!("`{}`", variable_name(program, id))).collect();
            NotApplied::MayMissDeadlock(names.join(", "))
        }
        false => NotApplied::NothingFound(ENTRY.nothing_found.into()),
    })
}

/// Returns the named variables, if all of them qualify.
fn as_named(
    program: &Program,
    named: &DominanceVariables,
    checks: CheckSelection,
    budget: &AnalysisBudget,
) -> Result<MonotoneVariables, NotApplied> {
    let mut wanted = BTreeMap::new();
    for (wanted_name, sense) in named {
        wanted.insert(variable(program, wanted_name)?, *sense);
    }
    let found = monotone(program, Some(&wanted), looked_for(checks), budget)?;
    let refused = wanted.iter().find(|(id, _)| !found.variables.contains_key(id));
    let Some((&id, sense)) = refused else { return Ok(found) };
    let what = match sense {
        DominanceSense::Down => "smaller",
        DominanceSense::Up => "larger",
    };
    let why = found.others.get(&id).map(|it| it.to_string()).unwrap_or_default();
    let (sense, variable) = (what.into(), variable_name(program, id));
    Err(NotApplied::NotDominating { sense, variable, why })
}

fn looked_for(checks: CheckSelection) -> CheckedViolations {
    let CheckSelection { deadlock, assertions, invariants, .. } = checks;
    CheckedViolations { deadlocks: deadlock, assertions, invariants }
}

/// Returns the cells of some variables, except those with a single value, with the directions of their better values.
fn cells(
    layout: &Layout,
    variables: &BTreeMap<VarId, DominanceSense>,
) -> Vec<(CellId, DominanceSense)> {
    let of = |(&id, &sense): (&VarId, &DominanceSense)| {
        cells_of(layout, |it| it == id).into_iter().map(move |cell| (cell, sense))
    };
    variables.iter().flat_map(of).collect()
}

impl<'m> Reduction<'m> for DominatedValues<'m> {
    fn name(&self) -> String {
        NAME.into()
    }

    fn traits(&self) -> ReductionTraits {
        ENTRY.traits()
    }

    fn describe_effect(&self, _: &Counters) -> Option<String> {
        let told = self.named.iter().map(|(name, sense)| format!("{name} {}", sense.name()));
        Some(told.collect::<Vec<_>>().join(", "))
    }

    fn is_symmetric(&self) -> bool {
        false
    }

    fn conflict(&self, before: &ReductionStack<'m>) -> Option<NotApplied> {
        let products = before.names(&[ReductionKind::Product]);
        products.into_iter().next().map(NotApplied::Unproven)
    }

    fn changed_cells(&self, _: &Layout) -> BTreeSet<CellId> {
        BTreeSet::new()
    }

    fn wrap(&self, model: Box<dyn StateSpace + 'm>) -> Box<dyn StateSpace + 'm> {
        Box::new(DominanceModel::new(model, self.layout, self.cells.clone()))
    }
}
