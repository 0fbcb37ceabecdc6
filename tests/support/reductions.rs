//! Plans of reductions, as tests ask for them.
#![allow(dead_code)]

use spillway::model::CheckSelection;
use spillway::reduce::partial_order::PartialOrderStrategy;
use spillway::reduce::{ParameterValues, ReductionPlan, ReductionSelection};

/// Dead variables, also those that are dead where several processes are.
pub fn dead() -> ReductionPlan {
    dead_jointly(true)
}

fn dead_jointly(joint: bool) -> ReductionPlan {
    ReductionPlan::of([]).with("dead", ParameterValues::default().with("joint", joint))
}

/// Rewriting by which states stay alike, and each step one.
pub fn bisimilar() -> ReductionPlan {
    let others = ReductionSelection::of(["values", "states"]);
    ReductionPlan::new(dead_jointly(false).selection.and(&others), CheckSelection::ALL)
}

/// Every rewriting that does not depend on what is checked.
pub fn rewritings() -> ReductionPlan {
    bisimilar().with("merge", ParameterValues::default())
}

/// Some reductions, in a search for some checks.
pub fn for_checks(names: &[&str], checks: CheckSelection) -> ReductionPlan {
    ReductionPlan::new(ReductionSelection::of(names.iter().copied()), checks)
}

/// Steps chosen in a way.
pub fn by_way(way: impl Into<PartialOrderStrategy>) -> ReductionPlan {
    ReductionPlan::new(way.into().into(), CheckSelection::ALL)
}

/// The same in a search for some checks.
pub fn by_way_for(way: impl Into<PartialOrderStrategy>, checks: CheckSelection) -> ReductionPlan {
    ReductionPlan { checks, ..by_way(way) }
}

/// Two plans together; the checks are those of the first one.
pub fn both(one: &ReductionPlan, other: &ReductionPlan) -> ReductionPlan {
    one.with_selection(one.selection.clone().and(&other.selection))
}

/// Symmetry of scalarsets alone.
pub fn scalarsets(effort: &str) -> ReductionPlan {
    let parameters = ParameterValues::default().with("effort", effort).with("processes", false);
    ReductionPlan::of([]).with("symmetry", parameters)
}
