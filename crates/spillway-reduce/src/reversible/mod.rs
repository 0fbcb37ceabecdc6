//! Reversible rules (Ip and Dill, "State reduction using reversible rules", 1996).
//!
//! A rule that only adds something, for example a request, can be undone given the state alone. The states that such
//! rules reach from one state, their *progenitor*, are searched from it and not stored.
//!
//! - `cases`: the effects of an action instance, case by case; `find` computes them by trials.
//! - `choose`: the cases that may be undone together; `symmetric` and `singular` test further properties.
//! - `local_search`: the search from a progenitor; `model`: the reduced transition system.
//!
//! The search visits only states that the program reaches, whatever the rules are. A state is omitted only if a state
//! from which the rules lead to it is a successor of the same progenitor's states. That is the paper's Lemma 2,
//! tested in each state rather than proved of the rules.

mod cases;
mod choose;
mod find;
mod local_search;
mod model;
mod singular;
mod state_set;
mod symmetric;

pub use cases::{CaseCell, CaseMultiset, ReversibleCase};
pub use model::{ProgenitorExpansion, ProgenitorModel};

use super::entry::{
    AppliedReduction, AutomaticUse, DetectionContext, Incompatibility, IncompatibilityKind,
    PreservedRuns, ReductionContext, ReductionEntry, ReductionMethod, ReductionSubject,
    SavingMeasure,
};
use super::parameters::{
    ExpertOptionSpec, FlagSpec, ParameterControl, ParameterKind, ParameterSpec,
};
use super::{
    NotApplied, PreservedProperties, PropertyClass, Reduction, ReductionKind, ReductionStack,
    ReductionTraits,
};
use find::CaseFinder;
use local_search::CaseExecutor;
use spillway_analysis::instances::{ActionInstances, InstanceId};
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_base::numbers::{count, grouped};
use spillway_exec::Interp;
use spillway_ir::layout::CellId;
use spillway_ir::{ActionId, Layout, Program};
use spillway_model::{CheckSelection, Counters, StateSpace};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The name in reports.
pub const NAME: &str = "reversible rules";

/// The entry of the table.
pub static ENTRY: ReductionEntry = ReductionEntry {
    name: "reversible",
    title: NAME,
    summary: "Reversible rules: only progenitor states are stored",
    paper: "Ip and Dill 1996",
    page: "reversible",
    kind: ReductionKind::Representative,
    parameters: &[
        ParameterSpec {
            name: RULES,
            summary: "the reversible rules; by default all that are found",
            kind: ParameterKind::Names { form: "RULE", is_valid: |_| true },
            control: ParameterControl::Flag(FlagSpec {
                name: "reversible",
                value_name: "RULE,...",
                help: "Store only progenitors, by these reversible rules [default: all that are found]",
                bare: true,
                off: None,
            }),
            excludes: None,
        },
        ParameterSpec {
            name: CHECK,
            summary: "whether reversibility is checked in every state; by default not",
            kind: ParameterKind::Switch,
            control: ParameterControl::Expert(ExpertOptionSpec {
                name: "check-reversible",
                value_name: "",
                help: "Check in every state that the rules are reversible",
            }),
            excludes: None,
        },
    ],
    automatic: AutomaticUse::Never,
    // Each state that is not stored is searched from one that is, by transitions of the program.
    preserves: PreservedProperties::ALL
        .without(PropertyClass::Claims)
        .without(PropertyClass::StutterInvariant)
        .without(PropertyClass::StutteringClaims)
        .without(PropertyClass::Depth),
    preserved_runs: PreservedRuns::None,
    allows_joint_resets: false,
    allows_constraint: false,
    incompatible_with: &[
        Incompatibility { other: "por", kind: IncompatibilityKind::OtherSteps },
        Incompatibility { other: "confluence", kind: IncompatibilityKind::OtherSteps },
        Incompatibility { other: "simultaneous", kind: IncompatibilityKind::OtherSteps },
        Incompatibility { other: "boring", kind: IncompatibilityKind::OtherSteps },
        Incompatibility { other: "doomed", kind: IncompatibilityKind::OtherSteps },
    ],
    nothing_found: "no rule is reversible",
    saving: SavingMeasure::States,
    detect,
    method: ReductionMethod::Wrap(apply),
};

/// The parameter that names rules.
const RULES: &str = "rules";

/// The parameter that checks in every state that the rules are reversible.
const CHECK: &str = "check";

/// Finds the reversible rules of a program. With symmetry it keeps cases that are the same for all elements of a
/// scalarset.
fn apply<'m>(context: &ReductionContext<'m, '_>) -> AppliedReduction<'m> {
    let find = || {
        context.check_rewritable()?;
        ReversibleReduction::of(context).map(Some)
    };
    context.applied(find())
}

/// Lists the reversible rules.
fn detect(context: &DetectionContext) -> Vec<ReductionSubject> {
    let budget = context.budget.for_analysis(NAME);
    let Ok(found) = ReversibleRules::of(context.interp, &[], &budget) else { return Vec::new() };
    let subjects = found.actions().into_iter().map(|(id, instances, cases)| {
        let action = &context.program().actions[id];
        let instances = count(instances as u64, "instance");
        let about = format!("{instances}, {}", count(cases as u64, "case"));
        context.at(&action.name, action.span, about)
    });
    subjects.collect()
}

/// The reversible rules of a program.
#[derive(Clone, Debug)]
pub struct ReversibleRules {
    cases: Vec<ReversibleCase>,
}

impl ReversibleRules {
    /// Finds the reversible rules of a program, or those of the named ones. Returns the reason if there are none.
    pub fn of(
        interp: &Interp,
        named: &[String],
        budget: &AnalysisBudget,
    ) -> Result<ReversibleRules, NotApplied> {
        let instances = ActionInstances::new(interp.program())?;
        let is_named = |name: &String| named.is_empty() || named.contains(name);
        let mut finder = CaseFinder::new(interp)?;
        let mut cases = Vec::new();
        for (id, _) in interp.program().actions.iter().filter(|(_, it)| is_named(&it.name)) {
            for number in alone(&instances, id) {
                let found = finder.cases(&instances, number, budget)?;
                budget.hold(found.iter().map(ReversibleCase::bytes).sum())?;
                cases.extend(found);
            }
        }
        let cases = choose::chosen(cases, budget)?;
        match cases.is_empty() {
            true => Err(NotApplied::NothingFound(ENTRY.nothing_found.into())),
            false => Ok(ReversibleRules { cases }),
        }
    }

    /// Returns which states of a progenitor must be expanded for the selected checks.
    pub fn progenitor_expansion(
        &self,
        interp: &Interp,
        checks: &CheckSelection,
        budget: &AnalysisBudget,
    ) -> Result<ProgenitorExpansion, BudgetExceeded> {
        Ok(match singular::SingularityCheck::new(interp, &self.cases) {
            Some(singular) if singular.holds(budget)? => ProgenitorExpansion::Immediate {
                deadlocks: checks.deadlock,
                properties: (checks.invariants || checks.assertions || checks.faults)
                    && !singular.is_invisible(),
            },
            _ => ProgenitorExpansion::All,
        })
    }

    /// Returns the cases.
    pub fn cases(&self) -> &[ReversibleCase] {
        &self.cases
    }

    /// Returns the rules, each with the number of its instances and of their cases.
    pub fn rules<'p>(&self, program: &'p Program) -> Vec<(&'p str, usize, usize)> {
        let told = self.actions().into_iter();
        told.map(|(id, instances, cases)| (program.actions[id].name.as_str(), instances, cases))
            .collect()
    }

    /// Returns the same by action.
    pub fn actions(&self) -> Vec<(ActionId, usize, usize)> {
        let mut rules: BTreeMap<ActionId, (BTreeSet<InstanceId>, usize)> = BTreeMap::new();
        for case in &self.cases {
            let (instances, cases) = rules.entry(case.action).or_default();
            instances.insert(case.instance);
            *cases += 1;
        }
        rules.into_iter().map(|(id, (instances, cases))| (id, instances.len(), cases)).collect()
    }
}

/// Returns the numbers of the instances of an action alone.
fn alone(instances: &ActionInstances, action: ActionId) -> impl Iterator<Item = InstanceId> {
    let first = instances.first_alone(action, 0);
    let count = instances.count_alone(action);
    first.into_iter().flat_map(move |first| (first..first + count).map(InstanceId))
}

/// The reduction by reversible rules.
pub struct ReversibleReduction<'m> {
    interp: &'m Interp,
    found: ReversibleRules,
    searched: ProgenitorExpansion,
    /// Whether the cases are the same for all elements of each scalarset, as symmetry requires.
    with_symmetry: bool,
}

impl<'m> ReversibleReduction<'m> {
    /// Creates the reduction of a program by the named rules, or by all. Returns the reason if there are none.
    fn of(context: &ReductionContext<'m, '_>) -> Result<ReversibleReduction<'m>, NotApplied> {
        let (interp, with_symmetry) = (context.interp, context.is_symmetric);
        let budget = &context.budget.for_analysis(NAME);
        let rules = context.parameters().names(RULES);
        let named: Vec<String> = rules.iter().filter(|it| !it.is_empty()).cloned().collect();
        let actions = &interp.program().actions;
        let is_there = |name: &&String| actions.values().any(|it| it.name == **name);
        if let Some(name) = named.iter().find(|it| !is_there(it)) {
            return Err(NotApplied::NoRule(name.clone()));
        }
        let mut found = ReversibleRules::of(interp, &named, budget)?;
        if with_symmetry {
            found.cases = symmetric::symmetric_of(interp, found.cases, budget)?;
            if found.cases.is_empty() {
                let why = "no rule is reversible for all elements of a scalarset";
                return Err(NotApplied::NothingFound(why.into()));
            }
        }
        let searched = match context.parameters().switch(CHECK).unwrap_or_default() {
            true => ProgenitorExpansion::AllChecked,
            false => found.progenitor_expansion(interp, &context.checks, budget)?,
        };
        Ok(ReversibleReduction { interp, found, searched, with_symmetry })
    }

    /// Creates the reduction by all reversible rules, for all checks. With `is_checked` every state checks that they
    /// are reversible.
    pub fn of_rules(
        interp: &'m Interp,
        is_checked: bool,
        budget: &AnalysisBudget,
    ) -> Result<ReversibleReduction<'m>, NotApplied> {
        let found = ReversibleRules::of(interp, &[], budget)?;
        let searched = match is_checked {
            true => ProgenitorExpansion::AllChecked,
            false => found.progenitor_expansion(interp, &CheckSelection::ALL, budget)?,
        };
        Ok(ReversibleReduction { interp, found, searched, with_symmetry: false })
    }
}

impl<'m> ReversibleReduction<'m> {
    /// Wraps a transition system. The result stores progenitors only.
    pub fn of_model(&self, model: Box<dyn StateSpace + 'm>) -> ProgenitorModel<'m> {
        let backwards = Arc::new(CaseExecutor::new(self.interp, &self.found.cases));
        ProgenitorModel::new(model, self.interp, backwards, self.searched)
    }
}

impl<'m> Reduction<'m> for ReversibleReduction<'m> {
    fn name(&self) -> String {
        NAME.into()
    }

    fn traits(&self) -> ReductionTraits {
        ENTRY.traits()
    }

    fn describe_effect(&self, _: &Counters) -> Option<String> {
        let rules = self.found.rules(self.interp.program());
        let told = |(name, instances, _): &(&str, usize, usize)| match instances {
            1 => format!("`{name}`"),
            _ => format!("`{name}` ({} instances)", grouped(*instances as u64)),
        };
        let rules = rules.iter().map(told).collect::<Vec<_>>().join(", ");
        let searched = match self.searched {
            ProgenitorExpansion::All | ProgenitorExpansion::AllChecked => {
                "all represented states are expanded"
            }
            ProgenitorExpansion::Immediate { .. } => {
                "each state and its immediate successors are expanded"
            }
        };
        Some(format!("reversible: {rules}; {searched}"))
    }

    fn is_symmetric(&self) -> bool {
        let budget = AnalysisBudget::largest();
        let is_symmetric = || symmetric::is_symmetric(self.interp, &self.found.cases, &budget);
        self.with_symmetry || is_symmetric().unwrap_or_default()
    }

    fn conflict(&self, before: &ReductionStack<'m>) -> Option<NotApplied> {
        let products = before.names(&[ReductionKind::Product]);
        products.into_iter().next().map(NotApplied::OtherSteps)
    }

    fn changed_cells(&self, _: &Layout) -> BTreeSet<CellId> {
        BTreeSet::new()
    }

    fn wrap(&self, model: Box<dyn StateSpace + 'm>) -> Box<dyn StateSpace + 'm> {
        Box::new(self.of_model(model))
    }
}
