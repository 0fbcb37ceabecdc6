//! Entries of the table of reductions: all that is said of a reduction in one place.

use super::claim::FiniteRunPolicy;
use super::parameters::{NO_PARAMETERS, ParameterSpec, ParameterValues};
use super::rewrite_pass::RewritePass;
use super::{
    NotApplied, PreservedProperties, Reduction, ReductionKind, ReductionRefusal, ReductionTraits,
    unrewritable_reason,
};
use crate::analysis::instances::NumberingError;
use crate::budget::{AnalysisBudget, BudgetExceeded};
use crate::exec::{Interp, SelectiveStateSpace};
use crate::ir::{LocationId, Process, Program, Variable};
use crate::model::CheckSelection;
use crate::source::{SourceMap, Span};
use std::any::Any;

/// A reduction: its entry in the [table](super::REDUCTIONS).
#[derive(Debug)]
pub struct ReductionEntry {
    /// Its name in flags, configuration files and JSON.
    pub name: &'static str,
    /// What reports call it.
    pub title: &'static str,
    /// The help of the command line: what it does.
    pub summary: &'static str,
    /// Where it was published.
    pub paper: &'static str,
    /// Its page in `docs/reductions`, without the ending.
    pub page: &'static str,
    /// Where in the stack it acts.
    pub kind: ReductionKind,
    /// Its parameters.
    pub parameters: &'static [ParameterSpec],
    /// Whether `auto` may choose it.
    pub automatic: AutomaticUse,
    /// What it preserves with any parameters, in a search for everything.
    pub preserves: PreservedProperties,
    /// Whether it may be used where whole runs are checked.
    pub preserves_runs: bool,
    /// Whether it stays correct where resets of dead variables look at other processes' locations.
    pub allows_joint_resets: bool,
    /// The reductions that it does not go with. Each pair is in one of the two entries, the later one.
    pub incompatible_with: &'static [Incompatibility],
    /// The warning where it was asked for and the model has nothing for it.
    pub nothing_found: &'static str,
    /// How its saving is measured.
    pub saving: SavingMeasure,
    /// Lists what it is about in a model.
    pub detect: fn(&DetectionContext) -> Vec<ReductionSubject>,
    /// Makes it ready for a program.
    pub method: ReductionMethod,
}

/// Whether, and how, `auto` chooses a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutomaticUse {
    /// Never: somebody has to ask for it.
    Never,
    /// Wherever it applies.
    Always {
        /// Whether also in a search that counts all violations.
        for_counts: bool,
        /// The switches that it is used with.
        switches: &'static [(&'static str, bool)],
    },
    /// Where the first states of a search show that it pays.
    Tried,
}

impl AutomaticUse {
    /// In words.
    pub fn describe(self) -> &'static str {
        match self {
            AutomaticUse::Never => "no",
            AutomaticUse::Always { .. } => "always",
            AutomaticUse::Tried => "if it pays",
        }
    }
}

/// A reduction that another does not go with.
#[derive(Clone, Copy, Debug)]
pub struct Incompatibility {
    /// The name of the other reduction.
    pub other: &'static str,
    /// Why.
    pub kind: IncompatibilityKind,
}

/// Why two reductions do not go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IncompatibilityKind {
    /// Nobody has shown that they do. The later one is not applied.
    Unproven,
    /// The other one has other steps than the program. The later one is not applied.
    OtherSteps,
    /// A selection with both is refused, for this reason.
    Contradiction(&'static str),
    /// A selection with both is refused, unless a choice of the other one has this value.
    OtherValue {
        /// The other one's parameter.
        parameter: &'static str,
        /// Its default.
        default: &'static str,
        /// The value that it needs.
        needed: &'static str,
    },
}

impl IncompatibilityKind {
    /// Whether a selection with both is refused.
    pub fn is_contradiction(self) -> bool {
        matches!(
            self,
            IncompatibilityKind::Contradiction(_) | IncompatibilityKind::OtherValue { .. }
        )
    }
}

/// How the saving of a reduction is measured on the first states of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SavingMeasure {
    /// By the states of the same levels.
    States,
    /// By the states in which nobody is at a place that is passed through: steps are longer, so levels do not compare.
    StableStates,
    /// It visits all states, some of them in earlier levels.
    Levels,
    /// As `auto` tries it, with all ways to use it.
    Trial,
}

/// How a reduction is made ready for a program.
#[derive(Clone, Copy, Debug)]
pub enum ReductionMethod {
    /// It rewrites the program before it is run.
    Rewrite {
        /// Rewrites a program; nothing if there is nothing to do.
        rewrite: RewriteFn,
        /// Why a program is not rewritten, whatever it does, if so.
        refuse: fn(&Program, CheckSelection) -> Option<NotApplied>,
    },
    /// It wraps what runs the program.
    Wrap(for<'m> fn(&ReductionContext<'m, '_>) -> AppliedReduction<'m>),
}

/// Rewrites a program.
pub type RewriteFn =
    fn(&mut Program, &RewriteContext<'_>) -> Result<Option<Box<dyn RewritePass>>, BudgetExceeded>;

/// What came of applying a reduction: nothing if the model has nothing for it.
pub type AppliedReduction<'m> = Result<Option<Box<dyn Reduction<'m> + 'm>>, ReductionRefusal>;

/// What a rewriting reduction works with.
pub struct RewriteContext<'c> {
    /// Runs the program as written.
    pub written: &'c Interp,
    /// What is checked.
    pub checks: CheckSelection,
    /// The reduction's parameters.
    pub parameters: &'c ParameterValues,
    /// What its analysis may take.
    pub budget: &'c AnalysisBudget<'c>,
}

/// What a wrapping reduction works with.
pub struct ReductionContext<'m, 'c> {
    /// The entry that is applied.
    pub entry: &'static ReductionEntry,
    /// Runs the program.
    pub interp: &'m Interp,
    /// The names of all chosen reductions, with their parameters.
    pub chosen: &'c [(&'static str, &'c ParameterValues)],
    /// What is checked.
    pub checks: CheckSelection,
    /// What becomes of finite runs, where the claim is checked on whole runs.
    pub finite_runs: Option<FiniteRunPolicy>,
    /// The name of the never claim that the program is searched with.
    pub claim: Option<&'c str>,
    /// Whether states of the search stand for symmetric ones.
    pub is_symmetric: bool,
    /// Gives what takes the program's steps by choice.
    pub selective: &'c SelectiveFn<'m, 'c>,
    /// What its analysis may take.
    pub budget: &'c AnalysisBudget<'c>,
}

/// Gives what takes a program's steps by choice.
pub type SelectiveFn<'m, 'c> =
    dyn Fn() -> Result<Box<dyn SelectiveStateSpace + 'm>, NumberingError> + 'c;

impl<'m> ReductionContext<'m, '_> {
    /// The parameters of a chosen reduction.
    pub fn parameters_of(&self, name: &str) -> Option<&ParameterValues> {
        self.chosen.iter().find(|it| it.0 == name).map(|it| it.1)
    }

    /// The parameters of the reduction that is applied.
    pub fn parameters(&self) -> &ParameterValues {
        self.parameters_of(self.entry.name).unwrap_or(&NO_PARAMETERS)
    }

    /// A reduction that was found, or why it is not applied.
    pub fn applied<R: Reduction<'m> + 'm>(
        &self,
        found: Result<Option<R>, NotApplied>,
    ) -> AppliedReduction<'m> {
        match found {
            Ok(found) => Ok(found.map(|it| Box::new(it) as Box<dyn Reduction<'m> + 'm>)),
            Err(reason) => Err(ReductionRefusal::of(self.entry, reason)),
        }
    }

    /// Refuses programs that are searched as they are written.
    pub fn check_rewritable(&self) -> Result<(), NotApplied> {
        match unrewritable_reason(self.interp.program(), self.interp.layout()) {
            Some(reason) => Err(reason),
            None => Ok(()),
        }
    }
}

/// Something in a model that a reduction is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReductionSubject {
    /// Its name.
    pub name: String,
    /// Where it is in the text.
    pub place: Option<String>,
    /// What is said of it.
    pub about: String,
}

/// What a reduction lists its subjects with.
pub struct DetectionContext<'c> {
    /// Runs the program as written.
    pub interp: &'c Interp,
    /// The model's texts.
    pub sources: &'c SourceMap,
    /// What the reduction alone did to the program, if it rewrites programs and found something to do.
    pub pass: Option<&'c dyn RewritePass>,
    /// What its analysis may take.
    pub budget: &'c AnalysisBudget<'c>,
}

impl DetectionContext<'_> {
    /// The program as written.
    pub fn program(&self) -> &Program {
        self.interp.program()
    }

    /// What the pass of a type did.
    pub fn pass<P: RewritePass>(&self) -> Option<&P> {
        (self.pass? as &dyn Any).downcast_ref()
    }

    /// A variable, and what is said of it.
    pub fn variable(&self, variable: &Variable, about: String) -> ReductionSubject {
        let name = self.program().owned_name(variable.owner, &variable.name);
        ReductionSubject { name, place: self.sources.locate(variable.span), about }
    }

    /// Something with a name at a place in the text.
    pub fn at(&self, name: &str, span: Span, about: impl Into<String>) -> ReductionSubject {
        ReductionSubject {
            name: name.to_owned(),
            place: self.sources.locate(span),
            about: about.into(),
        }
    }

    /// A location of a process, with its line.
    pub fn location(&self, id: LocationId, process: &Process) -> String {
        let location = &process.locations[id];
        let place = self.sources.locate(location.span);
        match place.as_deref().and_then(|it| it.rsplit(':').nth(1)) {
            Some(line) => format!("{} (line {line})", location.name),
            None => location.name.clone(),
        }
    }
}

impl ReductionEntry {
    /// What it does to a search if it puts no steps off, compares no states, and stores all.
    pub fn traits(&self) -> ReductionTraits {
        ReductionTraits::new(vec![self.name], self.kind, self.preserves)
    }

    /// The parameters that `auto` uses it with before any trial, in a search that counts all violations or not; none if it
    /// does not use it so.
    pub fn automatic_use(&self, counts: bool) -> Option<ParameterValues> {
        match self.automatic {
            AutomaticUse::Always { for_counts, switches } if for_counts || !counts => {
                let none = ParameterValues::DEFAULT;
                Some(switches.iter().fold(none, |all, (name, value)| all.with(name, *value)))
            }
            _ => None,
        }
    }

    /// Why it does not go with another reduction, if it does not; whichever entry says so.
    pub fn incompatibility(&self, other: &ReductionEntry) -> Option<IncompatibilityKind> {
        let said = |one: &ReductionEntry, other: &str| {
            one.incompatible_with.iter().find(|it| it.other == other).map(|it| it.kind)
        };
        said(self, other.name).or_else(|| said(other, self.name))
    }
}

impl ReductionRefusal {
    /// That a reduction of the table is not applied.
    pub fn of(entry: &ReductionEntry, reason: NotApplied) -> ReductionRefusal {
        ReductionRefusal { reductions: vec![entry.name.into()], name: entry.title.into(), reason }
    }
}
