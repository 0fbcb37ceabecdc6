//! The table entries of the reductions that choose transitions: partial order, confluence and simultaneous
//! reachability. One [`PartialOrder`] serves all of them that are selected.

use super::{CycleProviso, PartialOrder, PartialOrderMethod, PartialOrderStrategy};
use crate::entry::{
    AppliedReduction, AutomaticUse, DetectionContext, Incompatibility, IncompatibilityKind,
    PreservedRuns, ReductionContext, ReductionEntry, ReductionMethod, ReductionSubject,
    SavingMeasure,
};
use crate::parameters::{
    ChoiceValue, ExpertOptionSpec, FlagSpec, ParameterControl, ParameterKind, ParameterSpec,
    ParameterValues,
};
use crate::{
    NotApplied, PreservedProperties, PropertyClass, ReductionKind, ReductionRefusal,
    ReductionSelection, confluence, simultaneous,
};
use spillway_base::numbers::count;
use spillway_ir::ActionId;
use spillway_model::CheckSelection;
use std::collections::BTreeMap;

/// The title of the reduction.
const NAME: &str = "partial order";

/// The parameter that selects the method.
pub(super) const METHOD: &str = "method";

/// The parameter that selects the cycle proviso.
pub(super) const PROVISO: &str = "proviso";

/// The proviso parameter, which the other entries share.
const PROVISO_PARAMETER: ParameterSpec = ParameterSpec {
    name: PROVISO,
    summary: "the cycle proviso, which solves the ignoring problem; by default static, levels with symmetry",
    kind: ParameterKind::Choice(&[
        ChoiceValue {
            name: "static",
            summary: "A static order of the states; each cycle has a fully expanded state",
            preserves_runs: true,
        },
        ChoiceValue {
            name: "levels",
            summary: "A state is re-expanded unless one of its transitions leads to the next level",
            preserves_runs: false,
        },
        ChoiceValue {
            name: "chains",
            summary: "States with a single explored transition are not stored; visible transitions are explored at the end of the chain",
            preserves_runs: true,
        },
        ChoiceValue {
            name: "static+chains",
            summary: "As chains, but only if the chain does not end above its start in the order of `static`",
            preserves_runs: true,
        },
    ]),
    control: ParameterControl::Expert(ExpertOptionSpec {
        name: "por-proviso",
        value_name: "PROVISO",
        help: "The cycle proviso [default: static; levels with symmetry; --reduce auto tries levels if static saves too little]",
    }),
    excludes: None,
};

/// The entry of partial order.
pub static POR: ReductionEntry = ReductionEntry {
    name: "por",
    title: NAME,
    summary: "Partial-order reduction",
    paper: "Holzmann, Godefroid and Pirottin 1992; Godefroid and Pirottin 1993; Valmari 1989; Overman 1981",
    page: "partial-order",
    kind: ReductionKind::Choice,
    parameters: &[
        ParameterSpec {
            name: METHOD,
            summary: "the method that selects the explored transitions; by default conditional",
            kind: ParameterKind::Choice(&[
                ChoiceValue {
                    name: "local",
                    summary: "The transitions of a process whose enabled transitions are all local",
                    preserves_runs: true,
                },
                ChoiceValue {
                    name: "overman",
                    summary: "The transitions of a set of processes that no other process can affect (Overman)",
                    preserves_runs: true,
                },
                ChoiceValue { name: "stubborn", summary: "A stubborn set", preserves_runs: true },
                ChoiceValue {
                    name: "conditional",
                    summary: "A stubborn set, with dependence that is conditional on channel lengths and counters",
                    preserves_runs: true,
                },
                ChoiceValue {
                    name: "sleep",
                    summary: "Sleep sets: all states, fewer transitions",
                    preserves_runs: false,
                },
                ChoiceValue {
                    name: "local+sleep",
                    summary: "`local` with sleep sets; preserves deadlocks only",
                    preserves_runs: false,
                },
            ]),
            control: ParameterControl::Flag(FlagSpec {
                name: "por",
                value_name: "METHOD",
                help: "The partial-order method [default: conditional]",
                bare: false,
                off: None,
            }),
            excludes: None,
        },
        PROVISO_PARAMETER,
    ],
    automatic: AutomaticUse::Tried,
    preserves: PreservedProperties::ALL
        .without(PropertyClass::Claims)
        .without(PropertyClass::StutteringClaims)
        .without(PropertyClass::StutterInvariant)
        .without(PropertyClass::StepErrors)
        .without(PropertyClass::Invariants)
        .without(PropertyClass::Depth),
    preserved_runs: PreservedRuns::All,
    allows_joint_resets: false,
    allows_constraint: false,
    incompatible_with: &[],
    nothing_found: "no independent transitions were found",
    saving: SavingMeasure::Trial,
    detect: |_| Vec::new(),
    method: ReductionMethod::Wrap(apply),
};

/// The entry of confluence.
pub static CONFLUENCE: ReductionEntry = ReductionEntry {
    name: "confluence",
    title: confluence::NAME,
    summary: "Confluence: confluent invisible transitions have priority",
    paper: "Blom and van de Pol 2002; Pace, Lang and Mateescu 2003; Pelánek 2005, section 3.2.4",
    page: "confluence",
    kind: ReductionKind::Choice,
    parameters: &[
        ParameterSpec {
            name: USE,
            summary: "the use of confluent transitions; by default map, prioritised with por",
            kind: ParameterKind::Choice(&[
                ChoiceValue {
                    name: "prioritised",
                    summary: "A confluent transition is the only one explored; every state is stored",
                    preserves_runs: false,
                },
                ChoiceValue {
                    name: "map",
                    summary: "A state is replaced by the end of its confluent transitions",
                    preserves_runs: false,
                },
            ]),
            control: ParameterControl::Expert(ExpertOptionSpec {
                name: "confluence",
                value_name: "USE",
                help: "The use of confluent transitions [default: map]",
            }),
            excludes: Some(PROVISO),
        },
        PROVISO_PARAMETER,
    ],
    automatic: AutomaticUse::Never,
    preserves: PreservedProperties::ALL
        .without(PropertyClass::Claims)
        .without(PropertyClass::StutteringClaims)
        .without(PropertyClass::StutterInvariant)
        .without(PropertyClass::Depth),
    preserved_runs: PreservedRuns::None,
    allows_joint_resets: false,
    allows_constraint: false,
    incompatible_with: &[Incompatibility {
        other: "por",
        kind: IncompatibilityKind::OtherValue {
            parameter: METHOD,
            default: "conditional",
            needed: "conditional",
        },
    }],
    nothing_found: "no invisible transition is independent of all others",
    saving: SavingMeasure::States,
    detect: list_confluent,
    method: ReductionMethod::Wrap(apply_beside),
};

/// The entry of simultaneous reachability.
pub static SIMULTANEOUS: ReductionEntry = ReductionEntry {
    name: "simultaneous",
    title: simultaneous::NAME,
    summary: "Simultaneous reachability: independent transitions of several processes are executed in one step",
    paper: "Özdemir and Ural 1997; Vernadat, Azéma and Michel 1996; Pelánek 2005, section 3.2.5",
    page: "simultaneous",
    kind: ReductionKind::Choice,
    parameters: &[PROVISO_PARAMETER],
    automatic: AutomaticUse::Never,
    preserves: PreservedProperties::ALL
        .without(PropertyClass::Claims)
        .without(PropertyClass::StutteringClaims)
        .without(PropertyClass::StutterInvariant)
        .without(PropertyClass::Depth),
    preserved_runs: PreservedRuns::None,
    allows_joint_resets: false,
    allows_constraint: false,
    incompatible_with: &[
        Incompatibility {
            other: "por",
            kind: IncompatibilityKind::OtherValue {
                parameter: METHOD,
                default: "conditional",
                needed: "conditional",
            },
        },
        Incompatibility {
            other: "confluence",
            kind: IncompatibilityKind::Contradiction(
                "confluent transitions are executed one at a time, not simultaneously",
            ),
        },
    ],
    nothing_found: "no transitions can be executed simultaneously",
    saving: SavingMeasure::States,
    detect: |_| Vec::new(),
    method: ReductionMethod::Wrap(apply_beside),
};

/// The parameter that says how confluent transitions are used.
const USE: &str = "use";

/// Applies the reduction, unless the entry of partial order applies it.
fn apply_beside<'m>(context: &ReductionContext<'m, '_>) -> AppliedReduction<'m> {
    match context.parameters_of(POR.name) {
        Some(_) => Ok(None),
        None => apply(context),
    }
}

/// Returns the proviso that the use of confluent transitions implies, or `default`.
fn proviso_of_use(parameters: &ParameterValues, default: CycleProviso) -> CycleProviso {
    match parameters.choice(USE) {
        Some("map") => CycleProviso::Chains,
        Some(_) => CycleProviso::Static,
        None => default,
    }
}

/// Lists the actions with confluent transitions.
fn list_confluent(context: &DetectionContext) -> Vec<ReductionSubject> {
    let (method, proviso) = (PartialOrderMethod::Confluence, CycleProviso::Chains);
    let Ok(selector) = context.interp.selector() else { return Vec::new() };
    let (way, checks) = (PartialOrderStrategy { method, proviso }, CheckSelection::default());
    let budget = context.budget.for_analysis(confluence::NAME);
    let found = PartialOrder::of(context.interp, Box::new(selector), way, &checks, &budget);
    let Ok(found) = found else { return Vec::new() };
    let mut instances: BTreeMap<ActionId, u64> = BTreeMap::new();
    for action in found.confluent_actions() {
        *instances.entry(action).or_default() += 1;
    }
    let subjects = instances.into_iter().map(|(id, instances)| {
        let action = &context.program().actions[id];
        let about = format!("{} confluent", count(instances, "instance"));
        context.at(&action.name, action.span, about)
    });
    subjects.collect()
}

/// Applies the reduction for all selected entries of this kind.
fn apply<'m>(context: &ReductionContext<'m, '_>) -> AppliedReduction<'m> {
    let Some(way) = PartialOrderStrategy::of_chosen(|name| context.parameters_of(name)) else {
        return Ok(None);
    };
    // A representative may have any rank in the order.
    let proviso = if context.is_symmetric { CycleProviso::Levels } else { way.proviso };
    let way = PartialOrderStrategy { proviso, ..way };
    match find(context, way) {
        Ok(found) => Ok(Some(Box::new(found))),
        Err(reason) => Err(ReductionRefusal {
            reductions: way.method.entries().iter().map(|&it| it.into()).collect(),
            name: way.method.reduction_name(),
            reason,
        }),
    }
}

fn find<'m>(
    context: &ReductionContext<'m, '_>,
    way: PartialOrderStrategy,
) -> Result<PartialOrder<'m>, NotApplied> {
    context.check_rewritable()?;
    check_companions(context, way)?;
    let budget = context.budget.for_analysis(&way.method.reduction_name());
    let (interp, selective) = (context.interp, (context.selective)()?);
    let found = match context.finite_runs {
        None => PartialOrder::of(interp, selective, way, &context.checks, &budget)?,
        Some(_) => PartialOrder::for_infinite_runs(interp, selective, way, &budget)?,
    };
    // The partial order must not be given up for a claim that counts transitions.
    match context.claim.is_some() && !found.preserves().has(PropertyClass::StutteringClaims) {
        true => Err(NotApplied::DeadlocksBesideClaim),
        false => Ok(found),
    }
}

/// Rejects strategies that are incompatible with a claim or with symmetry.
fn check_companions(
    context: &ReductionContext<'_, '_>,
    way: PartialOrderStrategy,
) -> Result<(), NotApplied> {
    let (claim, is_symmetric) = (context.claim.map(str::to_owned), context.is_symmetric);
    let is_of_runs = context.finite_runs.is_some();
    Err(match claim {
        None if way.method.sleeps() && is_symmetric => NotApplied::SleepBesideSymmetry,
        Some(claim) if way.method.is_confluent() || way.method.takes_several() => {
            NotApplied::ClaimSeesStates(claim)
        }
        Some(claim) if way.method.sleeps() => NotApplied::ClaimSeesSleep(claim),
        Some(claim) if way.proviso == CycleProviso::Levels => {
            NotApplied::ClaimBesideLevels { claim, is_symmetric }
        }
        Some(claim) if way.proviso == CycleProviso::Chains && !is_of_runs => {
            NotApplied::ClaimBesideChains(claim)
        }
        _ => return Ok(()),
    })
}

impl PartialOrderStrategy {
    /// Returns the strategy for the selected reductions. `parameters_of` returns the parameters of a selected
    /// reduction.
    pub fn of_chosen<'p>(
        parameters_of: impl Fn(&str) -> Option<&'p ParameterValues>,
    ) -> Option<PartialOrderStrategy> {
        let [por, confluence, simultaneous] =
            ["por", "confluence", "simultaneous"].map(&parameters_of);
        let proviso = |it: Option<&ParameterValues>| CycleProviso::of_name(it?.choice(PROVISO)?);
        let (method, default) = match (por, confluence, simultaneous) {
            (_, _, Some(_)) => (PartialOrderMethod::Simultaneous, CycleProviso::Static),
            (None, None, None) => return None,
            (None, Some(confluence), _) => {
                (PartialOrderMethod::Confluence, proviso_of_use(confluence, CycleProviso::Chains))
            }
            (Some(_), Some(confluence), _) => (
                PartialOrderMethod::ConfluentConditional,
                proviso_of_use(confluence, CycleProviso::Static),
            ),
            (Some(por), None, _) => {
                let method = por.choice(METHOD).and_then(PartialOrderMethod::of_name);
                (method.unwrap_or(PartialOrderMethod::DEFAULT), CycleProviso::Static)
            }
        };
        let proviso = proviso(simultaneous).or(proviso(confluence)).or(proviso(por));
        Some(PartialOrderStrategy { method, proviso: proviso.unwrap_or(default) })
    }
}

impl From<PartialOrderStrategy> for ReductionSelection {
    /// Returns the reductions that the strategy belongs to.
    fn from(way: PartialOrderStrategy) -> ReductionSelection {
        let proviso = ParameterValues::DEFAULT.with(PROVISO, way.proviso.name());
        let all = way.method.entries().iter().filter(|it| {
            // Simultaneous reachability does not need the entry of partial order.
            **it != POR.name || way.method != PartialOrderMethod::Simultaneous
        });
        all.fold(ReductionSelection::default(), |all, name| {
            let is_method = PartialOrderMethod::of_name(way.method.name()).is_some();
            let parameters = match *name == POR.name && is_method {
                true => proviso.clone().with(METHOD, way.method.name()),
                false => proviso.clone(),
            };
            all.with(name, parameters)
        })
    }
}
