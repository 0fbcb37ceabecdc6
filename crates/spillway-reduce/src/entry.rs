//! Entries of the table of reductions. An entry describes a reduction completely.

use super::claim::FiniteRunPolicy;
use super::parameters::{NO_PARAMETERS, ParameterSpec, ParameterValues};
use super::rewrite_pass::RewritePass;
use super::{
    NotApplied, PreservedProperties, Reduction, ReductionKind, ReductionRefusal, ReductionTraits,
    unrewritable_reason,
};
use spillway_analysis::instances::NumberingError;
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_base::source::{SourceMap, Span};
use spillway_exec::{Interp, SelectiveStateSpace};
use spillway_ir::{LocationId, Process, Program, Variable};
use spillway_model::CheckSelection;
use std::any::Any;

/// A reduction: its entry in the [table](super::REDUCTIONS).
#[derive(Debug)]
pub struct ReductionEntry {
    /// The name in flags, configuration files and JSON.
    pub name: &'static str,
    /// The name in reports.
    pub title: &'static str,
    /// The help of the command line.
    pub summary: &'static str,
    /// The publication.
    pub paper: &'static str,
    /// The page in `docs/reductions`, without the file extension.
    pub page: &'static str,
    /// The layer in which it acts.
    pub kind: ReductionKind,
    /// The parameters.
    pub parameters: &'static [ParameterSpec],
    /// Whether `auto` may choose it.
    pub automatic: AutomaticUse,
    /// What it preserves with all parameter values, if everything is checked.
    pub preserves: PreservedProperties,
    /// The infinite runs whose properties it preserves.
    pub preserved_runs: PreservedRuns,
    /// Whether it stays correct if resets of dead variables read other processes' locations.
    pub allows_joint_resets: bool,
    /// Whether it stays correct with a constraint: it keeps the levels and all states, apart from values that no
    /// action and no property distinguishes.
    pub allows_constraint: bool,
    /// The incompatible reductions. Each pair is listed in one of its two entries, the later one.
    pub incompatible_with: &'static [Incompatibility],
    /// The warning if a user requests it and it does not apply to the model.
    pub nothing_found: &'static str,
    /// The measure of its saving.
    pub saving: SavingMeasure,
    /// Lists the parts of a model that it applies to.
    pub detect: fn(&DetectionContext) -> Vec<ReductionSubject>,
    /// The way it is applied to a program.
    pub method: ReductionMethod,
}

/// The infinite runs whose properties a reduction preserves. Each value includes the ones before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PreservedRuns {
    /// No infinite runs. The reduction is not used in checks of infinite runs.
    None,
    /// All runs together. Another set of them may be weakly fair.
    All,
    /// All runs together, and the weakly fair runs.
    Fair,
}

impl ReductionEntry {
    /// Returns whether it may be used in checks of infinite runs, or of those that are weakly fair.
    pub fn preserves_runs(&self, is_fair: bool) -> bool {
        let least = if is_fair { PreservedRuns::Fair } else { PreservedRuns::All };
        self.preserved_runs >= least
    }
}

/// Whether and how `auto` selects a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutomaticUse {
    /// Never. A user must request it.
    Never,
    /// Wherever it applies.
    Always {
        /// The switches that it is used with.
        switches: &'static [(&'static str, bool)],
    },
    /// If a trial on the first states shows a saving.
    Tried,
}

impl AutomaticUse {
    /// Returns a description.
    pub fn describe(self) -> &'static str {
        match self {
            AutomaticUse::Never => "no",
            AutomaticUse::Always { .. } => "always",
            AutomaticUse::Tried => "if it pays",
        }
    }
}

/// A reduction that another one is incompatible with.
#[derive(Clone, Copy, Debug)]
pub struct Incompatibility {
    /// The name of the other reduction.
    pub other: &'static str,
    /// The reason.
    pub kind: IncompatibilityKind,
}

/// The reason why two reductions are incompatible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IncompatibilityKind {
    /// Their combination has no proof. The later one is not applied.
    Unproven,
    /// The other one changes the transitions of the program. The later one is not applied.
    OtherSteps,
    /// A selection with both is rejected, with this reason.
    Contradiction(&'static str),
    /// A selection with both is rejected, unless a parameter of the other one has the needed value.
    OtherValue {
        /// The other one's parameter.
        parameter: &'static str,
        /// The default value.
        default: &'static str,
        /// The needed value.
        needed: &'static str,
    },
}

impl IncompatibilityKind {
    /// Whether a selection with both is rejected.
    pub fn is_contradiction(self) -> bool {
        matches!(
            self,
            IncompatibilityKind::Contradiction(_) | IncompatibilityKind::OtherValue { .. }
        )
    }
}

/// The measure of a reduction's saving on the first states of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SavingMeasure {
    /// The number of states of the same levels.
    States,
    /// The number of states in which no process is at a transient location. Transitions are longer, so levels do not
    /// compare.
    StableStates,
    /// The levels: it visits all states, some of them in earlier levels.
    Levels,
    /// A trial with all parameter values, as `auto` does it.
    Trial,
}

/// The way a reduction is applied to a program.
#[derive(Clone, Copy, Debug)]
pub enum ReductionMethod {
    /// It rewrites the program before the search.
    Rewrite {
        /// Rewrites a program. Returns `None` if nothing changes.
        rewrite: RewriteFn,
        /// Returns the reason why a program cannot be rewritten at all, if there is one. The meaning of finite runs is
        /// given if its claim is checked on infinite runs.
        refuse: fn(&Program, CheckSelection, Option<FiniteRunPolicy>) -> Option<NotApplied>,
    },
    /// It wraps the transition system.
    Wrap(for<'m> fn(&ReductionContext<'m, '_>) -> AppliedReduction<'m>),
}

/// Rewrites a program.
pub type RewriteFn =
    fn(&mut Program, &RewriteContext<'_>) -> Result<Option<Box<dyn RewritePass>>, BudgetExceeded>;

/// The result of applying a reduction: `None` if it does not apply to the model.
pub type AppliedReduction<'m> = Result<Option<Box<dyn Reduction<'m> + 'm>>, ReductionRefusal>;

/// The inputs of a rewriting reduction.
pub struct RewriteContext<'c> {
    /// The interpreter of the program as written.
    pub written: &'c Interp,
    /// The selected checks.
    pub checks: CheckSelection,
    /// The reduction's parameters.
    pub parameters: &'c ParameterValues,
    /// The budget of its analysis.
    pub budget: &'c AnalysisBudget<'c>,
}

/// The inputs of a wrapping reduction.
pub struct ReductionContext<'m, 'c> {
    /// The entry that is applied.
    pub entry: &'static ReductionEntry,
    /// The interpreter of the program.
    pub interp: &'m Interp,
    /// The names of all selected reductions, with their parameters.
    pub chosen: &'c [(&'static str, &'c ParameterValues)],
    /// The selected checks.
    pub checks: CheckSelection,
    /// The meaning of finite runs, if the claim is checked on infinite runs.
    pub finite_runs: Option<FiniteRunPolicy>,
    /// The name of the never claim that the program is searched with.
    pub claim: Option<&'c str>,
    /// Whether the states of the search are representatives of orbits.
    pub is_symmetric: bool,
    /// Creates the executor of selected actions.
    pub selective: &'c SelectiveFn<'m, 'c>,
    /// The budget of its analysis.
    pub budget: &'c AnalysisBudget<'c>,
}

/// Creates the executor of a program's selected actions.
pub type SelectiveFn<'m, 'c> =
    dyn Fn() -> Result<Box<dyn SelectiveStateSpace + 'm>, NumberingError> + 'c;

impl<'m> ReductionContext<'m, '_> {
    /// Returns the parameters of a selected reduction.
    pub fn parameters_of(&self, name: &str) -> Option<&ParameterValues> {
        self.chosen.iter().find(|it| it.0 == name).map(|it| it.1)
    }

    /// Returns the parameters of the reduction that is applied.
    pub fn parameters(&self) -> &ParameterValues {
        self.parameters_of(self.entry.name).unwrap_or(&NO_PARAMETERS)
    }

    /// Converts the result of an analysis to an applied reduction or a refusal.
    pub fn applied<R: Reduction<'m> + 'm>(
        &self,
        found: Result<Option<R>, NotApplied>,
    ) -> AppliedReduction<'m> {
        match found {
            Ok(found) => Ok(found.map(|it| Box::new(it) as Box<dyn Reduction<'m> + 'm>)),
            Err(reason) => Err(self.entry.refusal(reason)),
        }
    }

    /// Rejects programs that must be searched as written.
    pub fn check_rewritable(&self) -> Result<(), NotApplied> {
        match unrewritable_reason(self.interp.program(), self.interp.layout()) {
            Some(reason) => Err(reason),
            None => Ok(()),
        }
    }
}

/// A part of a model that a reduction applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReductionSubject {
    /// The name.
    pub name: String,
    /// The position in the source text.
    pub place: Option<String>,
    /// The description.
    pub about: String,
}

/// The inputs of detection.
pub struct DetectionContext<'c> {
    /// The interpreter of the program as written.
    pub interp: &'c Interp,
    /// The source texts of the model.
    pub sources: &'c SourceMap,
    /// The result of this reduction's pass alone, if it rewrites programs and changed this one.
    pub pass: Option<&'c dyn RewritePass>,
    /// The budget of its analysis.
    pub budget: &'c AnalysisBudget<'c>,
}

impl DetectionContext<'_> {
    /// Returns the program as written.
    pub fn program(&self) -> &Program {
        self.interp.program()
    }

    /// Returns the pass, if it has this type.
    pub fn pass<P: RewritePass>(&self) -> Option<&P> {
        (self.pass? as &dyn Any).downcast_ref()
    }

    /// Returns a subject for a variable.
    pub fn variable(&self, variable: &Variable, about: String) -> ReductionSubject {
        let name = self.program().owned_name(variable.owner, &variable.name);
        ReductionSubject { name, place: self.sources.locate(variable.span), about }
    }

    /// Returns a subject with a name and a position in the source text.
    pub fn at(&self, name: &str, span: Span, about: impl Into<String>) -> ReductionSubject {
        ReductionSubject {
            name: name.to_owned(),
            place: self.sources.locate(span),
            about: about.into(),
        }
    }

    /// Returns a process location with its line.
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
    /// Returns the traits of a reduction that postpones no transitions, compares no states and stores all.
    pub fn traits(&self) -> ReductionTraits {
        ReductionTraits::new(vec![self.name], self.kind, self.preserves)
    }

    /// Returns the parameters that `auto` uses without a trial. `None` if `auto` does not use it that way.
    pub fn automatic_use(&self) -> Option<ParameterValues> {
        match self.automatic {
            AutomaticUse::Always { switches } => {
                let none = ParameterValues::DEFAULT;
                Some(switches.iter().fold(none, |all, (name, value)| all.with(name, *value)))
            }
            _ => None,
        }
    }

    /// Returns the incompatibility with another reduction, from either entry.
    pub fn incompatibility(&self, other: &ReductionEntry) -> Option<IncompatibilityKind> {
        let said = |one: &ReductionEntry, other: &str| {
            one.incompatible_with.iter().find(|it| it.other == other).map(|it| it.kind)
        };
        said(self, other.name).or_else(|| said(other, self.name))
    }
}

impl ReductionEntry {
    /// Returns why it is not applied to a program whose search a constraint bounds.
    pub fn constraint_refusal(&self, program: &Program) -> Option<NotApplied> {
        (program.has_constraint() && !self.allows_constraint).then_some(NotApplied::Constraint)
    }

    /// Creates the refusal of this reduction.
    pub fn refusal(&self, reason: NotApplied) -> ReductionRefusal {
        ReductionRefusal { reductions: vec![self.name.into()], name: self.title.into(), reason }
    }
}
