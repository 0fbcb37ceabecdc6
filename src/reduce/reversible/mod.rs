//! Reversible rules (Ip and Dill, "State reduction using reversible rules", 1996).
//!
//! A rule that only adds something, a request that is sent, say, can be undone by looking at the state. All
//! states that such rules lead to from one, their *progenitor*, are searched from it and not stored.
//!
//! - `cases`: what an action instance does, case by case; `find`: found by trying it;
//! - `choose`: which of them may be undone together; `symmetric`, `singular`: what else holds of them;
//! - `local_search`: the search from a progenitor; `model`: what is visited then.
//!
//! What is left is a search of states that the program reaches, whatever the rules are: a state is left out
//! only if one from which they lead to it is among the successors of the same progenitor's states. That is the
//! paper's Lemma 2, asked of each state rather than shown of the rules.

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

use super::{
    NotApplied, PreservedProperties, PropertyClass, Reduction, ReductionKind, ReductionStack,
};
use crate::analysis::instances::{ActionInstances, InstanceId};
use crate::budget::{AnalysisBudget, BudgetExceeded};
use crate::exec::{CheckSelection, Counters, Interp, StateSpace};
use crate::ir::{ActionId, Program};
use crate::numbers::grouped;
use find::CaseFinder;
use local_search::CaseExecutor;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// As reports call it.
pub const REDUCTION_NAME: &str = "reversible rules";

/// Which rules are to be undone, of those that can be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleSelection {
    /// Those with these names; all if none is named.
    pub named: Vec<String>,
    /// Whether it is checked in every state that they are reversible.
    pub is_checked: bool,
}

impl RuleSelection {
    /// All that can be.
    pub const ALL: RuleSelection = RuleSelection { named: Vec::new(), is_checked: false };

    /// Those with these names, or all.
    pub fn named(names: &[String]) -> RuleSelection {
        let named = names.iter().filter(|it| !it.is_empty()).cloned().collect();
        RuleSelection { named, is_checked: false }
    }
}

/// Which rules of a program are reversible.
#[derive(Clone, Debug)]
pub struct ReversibleRules {
    cases: Vec<ReversibleCase>,
}

impl ReversibleRules {
    /// Those of a program, of these rules if any are named; or why there are none.
    pub fn of(
        interp: &Interp,
        named: &[String],
        budget: &AnalysisBudget,
    ) -> Result<ReversibleRules, NotApplied> {
        let instances = ActionInstances::new(interp.program()).map_err(|error| error.reason)?;
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
            true => Err("no rule can be undone".into()),
            false => Ok(ReversibleRules { cases }),
        }
    }

    /// Which of the states that a progenitor stands for have to be expanded, where this is looked for.
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

    /// Their cases.
    pub fn cases(&self) -> &[ReversibleCase] {
        &self.cases
    }

    /// The rules, each with the number of its instances and of their cases.
    pub fn rules<'p>(&self, program: &'p Program) -> Vec<(&'p str, usize, usize)> {
        let told = self.actions().into_iter();
        told.map(|(id, instances, cases)| (program.actions[id].name.as_str(), instances, cases))
            .collect()
    }

    /// The same, by action.
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

/// The numbers of the instances of an action by itself.
fn alone(instances: &ActionInstances, action: ActionId) -> impl Iterator<Item = InstanceId> {
    let first = instances.first_alone(action, 0);
    let count = instances.count_alone(action);
    first.into_iter().flat_map(move |first| (first..first + count).map(InstanceId))
}

/// Reversible rules as a reduction.
pub struct ReversibleReduction<'m> {
    interp: &'m Interp,
    found: ReversibleRules,
    searched: ProgenitorExpansion,
    /// Whether the cases are the same for all elements of each scalarset, as that was wanted.
    with_symmetry: bool,
}

impl<'m> ReversibleReduction<'m> {
    /// That of a program by some rules, in a search for some checks; or why it has none. With symmetry, rules are
    /// taken as far as they are the same for all elements of a scalarset.
    pub fn of(
        interp: &'m Interp,
        rules: &RuleSelection,
        (checks, with_symmetry): (&CheckSelection, bool),
        budget: &AnalysisBudget,
    ) -> Result<ReversibleReduction<'m>, NotApplied> {
        let actions = &interp.program().actions;
        let is_there = |name: &&String| actions.values().any(|it| it.name == **name);
        if let Some(name) = rules.named.iter().find(|it| !is_there(it)) {
            return Err(format!("there is no rule `{name}`").into());
        }
        let mut found = ReversibleRules::of(interp, &rules.named, budget)?;
        if with_symmetry {
            found.cases = symmetric::symmetric_of(interp, found.cases, budget)?;
            if found.cases.is_empty() {
                return Err("no rule can be undone for all elements of a scalarset".into());
            }
        }
        let searched = match rules.is_checked {
            true => ProgenitorExpansion::AllChecked,
            false => found.progenitor_expansion(interp, checks, budget)?,
        };
        Ok(ReversibleReduction { interp, found, searched, with_symmetry })
    }
}

impl<'m> ReversibleReduction<'m> {
    /// The model that stores progenitors, of one.
    pub fn of_model(&self, model: Box<dyn StateSpace + 'm>) -> ProgenitorModel<'m> {
        let backwards = Arc::new(CaseExecutor::new(self.interp, &self.found.cases));
        ProgenitorModel::new(model, self.interp, backwards, self.searched)
    }
}

impl<'m> Reduction<'m> for ReversibleReduction<'m> {
    fn name(&self) -> String {
        REDUCTION_NAME.into()
    }

    fn kind(&self) -> ReductionKind {
        ReductionKind::Representative
    }

    /// Each state that is not stored is searched from one that is, by steps of the program.
    fn preserves(&self) -> PreservedProperties {
        let kept = PreservedProperties::ALL
            .without(PropertyClass::Claims)
            .without(PropertyClass::StutterInvariant);
        kept.without(PropertyClass::StutteringClaims).without(PropertyClass::Depth)
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
                "all that a state stands for is expanded"
            }
            ProgenitorExpansion::Immediate { .. } => {
                "each state and its immediate successors are expanded"
            }
        };
        Some(format!("undone: {rules}; {searched}"))
    }

    fn is_symmetric(&self) -> bool {
        let budget = AnalysisBudget::largest();
        let is_symmetric = || symmetric::is_symmetric(self.interp, &self.found.cases, &budget);
        self.with_symmetry || is_symmetric().unwrap_or_default()
    }

    fn incompatibility(&self, before: &ReductionStack<'m>) -> Option<String> {
        let others =
            before.names(&[ReductionKind::Choice, ReductionKind::Product, ReductionKind::Pruning]);
        others.first().map(|other| format!("{other} has other steps than the program"))
    }

    fn wrap(&self, model: Box<dyn StateSpace + 'm>) -> Box<dyn StateSpace + 'm> {
        Box::new(self.of_model(model))
    }
}
