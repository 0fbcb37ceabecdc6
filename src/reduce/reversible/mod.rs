//! Reversible rules (Ip and Dill, "State reduction using reversible rules", 1996).
//!
//! A rule that only adds something, a request that is sent, say, can be undone by looking at the state. All
//! states that such rules lead to from one, their *progenitor*, are searched from it and not stored.
//!
//! - `cases`: what an action instance does, case by case; `find`: found by trying it;
//! - `choose`: which of them may be undone together; `symmetric`, `singular`: what else holds of them;
//! - `local`: the search from a progenitor; `model`: what is visited then.
//!
//! What is left is a search of states that the program reaches, whatever the rules are: a state is left out
//! only if one from which they lead to it is among the successors of the same progenitor's states. That is the
//! paper's Lemma 2, asked of each state rather than shown of the rules.

mod cases;
mod choose;
mod find;
mod gathered;
mod local;
mod model;
mod singular;
mod symmetric;

pub use cases::{Case, Counted, Held};
pub use model::{Progenitors, Searched};

use super::{Kept, Kind, NotApplied, Preserved, Reduction, Stack};
use crate::analysis::instances::{ActionInstances, InstanceId};
use crate::budget::{AnalysisBudget, Exceeded};
use crate::exec::{Checks, Interp, Model, Tally};
use crate::ir::{ActionId, Program};
use crate::numbers::grouped;
use find::Finder;
use local::Backwards;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// As reports call it.
pub const REDUCTION_NAME: &str = "reversible rules";

/// Which rules are to be undone, of those that can be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Those with these names; all if none is named.
    pub named: Vec<String>,
    /// Whether it is checked in every state that they are reversible.
    pub is_checked: bool,
}

impl Rules {
    /// All that can be.
    pub const ALL: Rules = Rules { named: Vec::new(), is_checked: false };

    /// Those with these names, or all.
    pub fn named(names: &[String]) -> Rules {
        let named = names.iter().filter(|it| !it.is_empty()).cloned().collect();
        Rules { named, is_checked: false }
    }
}

/// Which rules of a program are reversible.
#[derive(Clone, Debug)]
pub struct Reversible {
    cases: Vec<Case>,
}

impl Reversible {
    /// Those of a program, of these rules if any are named; or why there are none.
    pub fn of(
        interp: &Interp,
        named: &[String],
        budget: &AnalysisBudget,
    ) -> Result<Reversible, NotApplied> {
        let instances = ActionInstances::new(interp.program()).map_err(|error| error.reason)?;
        let is_named = |name: &String| named.is_empty() || named.contains(name);
        let mut finder = Finder::new(interp)?;
        let mut cases = Vec::new();
        for (id, _) in interp.program().actions.iter().filter(|(_, it)| is_named(&it.name)) {
            for number in alone(&instances, id) {
                let found = finder.cases(&instances, number, budget)?;
                budget.hold(found.iter().map(Case::bytes).sum())?;
                cases.extend(found);
            }
        }
        let cases = choose::chosen(cases, budget)?;
        match cases.is_empty() {
            true => Err("no rule can be undone".into()),
            false => Ok(Reversible { cases }),
        }
    }

    /// Which of the states that a progenitor stands for have to be expanded, where this is looked for.
    pub fn searched(
        &self,
        interp: &Interp,
        checks: &Checks,
        budget: &AnalysisBudget,
    ) -> Result<Searched, Exceeded> {
        Ok(match singular::Singular::new(interp, &self.cases) {
            Some(singular) if singular.holds(budget)? => Searched::Immediate {
                deadlocks: checks.deadlock,
                properties: (checks.invariants || checks.assertions || checks.faults)
                    && !singular.is_unseen(),
            },
            _ => Searched::All,
        })
    }

    /// Their cases.
    pub fn cases(&self) -> &[Case] {
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
pub struct Undoing<'m> {
    interp: &'m Interp,
    found: Reversible,
    searched: Searched,
    /// Whether the cases are the same for all elements of each scalarset, as that was wanted.
    with_symmetry: bool,
}

impl<'m> Undoing<'m> {
    /// That of a program by some rules, in a search for some checks; or why it has none. With symmetry, rules are
    /// taken as far as they are the same for all elements of a scalarset.
    pub fn of(
        interp: &'m Interp,
        rules: &Rules,
        (checks, with_symmetry): (&Checks, bool),
        budget: &AnalysisBudget,
    ) -> Result<Undoing<'m>, NotApplied> {
        let actions = &interp.program().actions;
        let is_there = |name: &&String| actions.values().any(|it| it.name == **name);
        if let Some(name) = rules.named.iter().find(|it| !is_there(it)) {
            return Err(format!("there is no rule `{name}`").into());
        }
        let mut found = Reversible::of(interp, &rules.named, budget)?;
        if with_symmetry {
            found.cases = symmetric::symmetric_of(interp, found.cases, budget)?;
            if found.cases.is_empty() {
                return Err("no rule can be undone for all elements of a scalarset".into());
            }
        }
        let searched = match rules.is_checked {
            true => Searched::AllChecked,
            false => found.searched(interp, checks, budget)?,
        };
        Ok(Undoing { interp, found, searched, with_symmetry })
    }
}

impl<'m> Undoing<'m> {
    /// The model that stores progenitors, of one.
    pub fn of_model(&self, model: Box<dyn Model + 'm>) -> Progenitors<'m> {
        let backwards = Arc::new(Backwards::new(self.interp, &self.found.cases));
        Progenitors::new(model, self.interp, backwards, self.searched)
    }
}

impl<'m> Reduction<'m> for Undoing<'m> {
    fn name(&self) -> String {
        REDUCTION_NAME.into()
    }

    fn kind(&self) -> Kind {
        Kind::Representative
    }

    /// Each state that is not stored is searched from one that is, by steps of the program.
    fn preserves(&self) -> Preserved {
        let kept = Preserved::ALL.without(Kept::Claims).without(Kept::StutterInvariant);
        kept.without(Kept::StutteringClaims).without(Kept::Depth)
    }

    fn did(&self, _: &Tally) -> Option<String> {
        let rules = self.found.rules(self.interp.program());
        let told = |(name, instances, _): &(&str, usize, usize)| match instances {
            1 => format!("`{name}`"),
            _ => format!("`{name}` ({} instances)", grouped(*instances as u64)),
        };
        let rules = rules.iter().map(told).collect::<Vec<_>>().join(", ");
        let searched = match self.searched {
            Searched::All | Searched::AllChecked => "all that a state stands for is expanded",
            Searched::Immediate { .. } => "each state and its immediate successors are expanded",
        };
        Some(format!("undone: {rules}; {searched}"))
    }

    fn is_symmetric(&self) -> bool {
        let budget = AnalysisBudget::largest();
        let is_symmetric = || symmetric::is_symmetric(self.interp, &self.found.cases, &budget);
        self.with_symmetry || is_symmetric().unwrap_or_default()
    }

    fn refuses(&self, before: &Stack<'m>) -> Option<String> {
        let others = before.names(&[Kind::Choice, Kind::Product, Kind::Pruning]);
        others.first().map(|other| format!("{other} has other steps than the program"))
    }

    fn over(&self, model: Box<dyn Model + 'm>) -> Box<dyn Model + 'm> {
        Box::new(self.of_model(model))
    }
}
