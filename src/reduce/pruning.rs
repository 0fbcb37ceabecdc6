//! What lies behind states and need not be explored: which reductions of that kind there are to be.

use super::boring::{self, Boring, Progress};
use super::dominate::{self, Dominating, Named};
use super::doomed::{self, Doomed};
use super::{Analysed, Gathered, as_written};
use crate::budget::AnalysisBudget;
use crate::exec::{Checks, Interp};

/// Which of them there are to be, in a search for some checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pruning {
    /// States that others dominate are left out, by the variables that are named, or by all that are found.
    pub dominate: Option<Named>,
    /// States from which nothing that is looked for can be reached are left out, by variables that only rise together, or by what
    /// is found.
    pub boring: Option<Progress>,
    /// Where something that is looked for surely follows, one walks on to it.
    pub doomed: bool,
    /// What is looked for.
    pub checks: Checks,
}

impl Default for Pruning {
    fn default() -> Self {
        Pruning::NONE
    }
}

impl Pruning {
    /// None: whatever is reached is explored, level by level.
    pub const NONE: Pruning =
        Pruning { dominate: None, boring: None, doomed: false, checks: Checks::ALL };

    /// States that others dominate are left out, and that is all.
    pub const DOMINATE: Pruning = Pruning { dominate: Some(Vec::new()), ..Pruning::NONE };

    /// States from which nothing that is looked for can be reached are left out, and that is all.
    pub const BORING: Pruning = Pruning { boring: Some(Vec::new()), ..Pruning::NONE };

    /// One walks on to what surely follows, and that is all.
    pub const DOOMED: Pruning = Pruning { doomed: true, ..Pruning::NONE };

    /// The same in a search for these checks.
    pub fn looking_for(self, checks: Checks) -> Pruning {
        Pruning { checks, ..self }
    }

    /// Whether there is to be any.
    pub fn is_wished(&self) -> bool {
        self.dominate.is_some() || self.boring.is_some() || self.doomed
    }

    /// Adds those of the program that is run so, or why there are none. Each analysis gets a `budget` of its own.
    pub(super) fn add_to<'m>(
        &self,
        gathered: &mut Gathered<'m>,
        interp: &'m Interp,
        budget: &AnalysisBudget,
    ) {
        let (program, layout, checks) = (interp.program(), interp.layout(), self.checks);
        if let Some(why) = as_written(program, layout) {
            let wished = [
                (self.boring.is_some(), boring::NAME),
                (self.doomed, doomed::NAME),
                (self.dominate.is_some(), dominate::NAME),
            ];
            let refused = wished.into_iter().filter(|it| it.0).map(|(_, name)| name);
            gathered.refuse(refused, why);
            return;
        }
        if let Some(progress) = &self.boring {
            let budget = budget.for_analysis(boring::NAME);
            let found = Boring::of(interp, checks, progress, &budget);
            gathered.add((Analysed::Boring, boring::NAME), found);
        }
        if self.doomed {
            let found = Doomed::of(interp, checks, &budget.for_analysis(doomed::NAME));
            gathered.add((Analysed::Doomed, doomed::NAME), found);
        }
        if let Some(named) = &self.dominate {
            let budget = budget.for_analysis(dominate::NAME);
            let found = Dominating::of((program, layout), named, checks, &budget);
            gathered.add((Analysed::Dominate, dominate::NAME), found);
        }
    }
}
