//! What lies behind states and need not be explored: which reductions of that kind there are to be.

use super::boring::{self, BoringStates, ProgressVariables};
use super::dominance::{self, DominanceVariables, DominatedValues};
use super::doomed::{self, DoomedStates};
use super::{BudgetedReduction, ReductionStackBuilder, unrewritable_reason};
use crate::budget::AnalysisBudget;
use crate::exec::Interp;
use crate::model::CheckSelection;

/// Which of them there are to be, in a search for some checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PruningSelection {
    /// States that others dominate are left out, by the variables that are named, or by all that are found.
    pub dominate: Option<DominanceVariables>,
    /// States from which nothing that is looked for can be reached are left out, by variables that only rise together, or by what
    /// is found.
    pub boring: Option<ProgressVariables>,
    /// Where something that is looked for surely follows, one walks on to it.
    pub doomed: bool,
    /// What is looked for.
    pub checks: CheckSelection,
}

impl Default for PruningSelection {
    fn default() -> Self {
        PruningSelection::NONE
    }
}

impl PruningSelection {
    /// None: whatever is reached is explored, level by level.
    pub const NONE: PruningSelection = PruningSelection {
        dominate: None,
        boring: None,
        doomed: false,
        checks: CheckSelection::ALL,
    };

    /// States that others dominate are left out, and that is all.
    pub const DOMINATE: PruningSelection =
        PruningSelection { dominate: Some(Vec::new()), ..PruningSelection::NONE };

    /// States from which nothing that is looked for can be reached are left out, and that is all.
    pub const BORING: PruningSelection =
        PruningSelection { boring: Some(Vec::new()), ..PruningSelection::NONE };

    /// One walks on to what surely follows, and that is all.
    pub const DOOMED: PruningSelection =
        PruningSelection { doomed: true, ..PruningSelection::NONE };

    /// The same in a search for these checks.
    pub fn for_checks(self, checks: CheckSelection) -> PruningSelection {
        PruningSelection { checks, ..self }
    }

    /// Whether there is to be any.
    pub fn is_any(&self) -> bool {
        self.dominate.is_some() || self.boring.is_some() || self.doomed
    }

    /// Adds those of the program that is run so, or why there are none. Each analysis gets a `budget` of its own.
    pub(super) fn add_to<'m>(
        &self,
        gathered: &mut ReductionStackBuilder<'m>,
        interp: &'m Interp,
        budget: &AnalysisBudget,
    ) {
        let (program, layout, checks) = (interp.program(), interp.layout(), self.checks);
        if let Some(why) = unrewritable_reason(program, layout) {
            let wished = [
                (self.boring.is_some(), boring::NAME),
                (self.doomed, doomed::NAME),
                (self.dominate.is_some(), dominance::NAME),
            ];
            let refused = wished.into_iter().filter(|it| it.0).map(|(_, name)| name);
            gathered.refuse(refused, why);
            return;
        }
        if let Some(progress) = &self.boring {
            let budget = budget.for_analysis(boring::NAME);
            let found = BoringStates::of(interp, checks, progress, &budget);
            gathered.add((BudgetedReduction::Boring, boring::NAME), found);
        }
        if self.doomed {
            let found = DoomedStates::of(interp, checks, &budget.for_analysis(doomed::NAME));
            gathered.add((BudgetedReduction::Doomed, doomed::NAME), found);
        }
        if let Some(named) = &self.dominate {
            let budget = budget.for_analysis(dominance::NAME);
            let found = DominatedValues::of((program, layout), named, checks, &budget);
            gathered.add((BudgetedReduction::Dominate, dominance::NAME), found);
        }
    }
}
