//! Plans of reductions for tests.
#![allow(dead_code)]

use spillway::model::{CheckSelection, PreservedProperties, PropertyClass};
use spillway::reduce::partial_order::PartialOrderStrategy;
use spillway::reduce::{ParameterValues, ReductionPlan, ReductionSelection};

/// Returns the elimination of dead variables, including those that are dead at combinations of locations.
pub fn dead() -> ReductionPlan {
    dead_jointly(true)
}

fn dead_jointly(joint: bool) -> ReductionPlan {
    ReductionPlan::of([]).with("dead", ParameterValues::default().with("joint", joint))
}

/// Returns the rewritings under which the states remain bisimilar and each step remains one step.
pub fn bisimilar() -> ReductionPlan {
    let others = ReductionSelection::of(["values", "states"]);
    ReductionPlan::new(dead_jointly(false).selection.and(&others), CheckSelection::ALL)
}

/// Returns every rewriting that is independent of the checks.
pub fn rewritings() -> ReductionPlan {
    bisimilar().with("merge", ParameterValues::default())
}

/// Returns a plan with some reductions, for some checks.
pub fn for_checks(names: &[&str], checks: CheckSelection) -> ReductionPlan {
    ReductionPlan::new(ReductionSelection::of(names.iter().copied()), checks)
}

/// Returns a plan with a partial order reduction.
pub fn partial_order_plan(strategy: impl Into<PartialOrderStrategy>) -> ReductionPlan {
    ReductionPlan::new(strategy.into().into(), CheckSelection::ALL)
}

/// Returns a plan with a partial order reduction, for some checks.
pub fn partial_order_plan_for(
    strategy: impl Into<PartialOrderStrategy>,
    checks: CheckSelection,
) -> ReductionPlan {
    ReductionPlan { checks, ..partial_order_plan(strategy) }
}

/// Returns the union of two plans, with the checks of the first one.
pub fn both(one: &ReductionPlan, other: &ReductionPlan) -> ReductionPlan {
    one.with_selection(one.selection.clone().and(&other.selection))
}

/// Returns a plan with the symmetry of scalarsets only.
pub fn scalarsets(effort: &str) -> ReductionPlan {
    let parameters = ParameterValues::default().with("effort", effort).with("processes", false);
    ReductionPlan::of([]).with("symmetry", parameters)
}

/// Returns the classes of properties that are preserved.
pub fn preserved_classes(preserved: PreservedProperties) -> Vec<PropertyClass> {
    PropertyClass::ALL.into_iter().filter(|it| preserved.has(*it)).collect()
}
