//! Flags for liveness properties.

use super::{headings, override_with};
use crate::cli::failure::CommandFailure;
use crate::front::CycleLabel;
use crate::reduce::claim::FiniteRunPolicy;
use crate::session::{CheckConfig, Fairness, PropertyRequest};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// The requested liveness property.
#[derive(Args, Clone, Debug, Default)]
#[group(id = "property", multiple = true, conflicts_with_all = ["claim", "no_claim"])]
pub struct PropertyArgs {
    /// Check an LTL formula, or the formula, never claim or property process of this name, or `all`
    #[arg(help_heading = headings::LIVENESS, long, value_name = "FORMULA|NAME|all")]
    pub ltl: Vec<String>,
    /// Check that no run is accepted by the Büchi automaton in this file (HOA)
    #[arg(help_heading = headings::LIVENESS, long, value_name = "FILE")]
    pub automaton: Vec<PathBuf>,
    /// Check that there is no acceptance cycle: no run visits `accept` labels infinitely often
    #[arg(help_heading = headings::LIVENESS, long)]
    pub acceptance: bool,
    /// Check that there is no non-progress cycle: every infinite run visits `progress` labels infinitely often
    #[arg(help_heading = headings::LIVENESS, long)]
    pub non_progress: bool,
}

impl PropertyArgs {
    /// The number of properties.
    pub(in crate::cli) fn count(&self) -> usize {
        let PropertyArgs { ltl, automaton, acceptance, non_progress } = self;
        ltl.len() + automaton.len() + usize::from(*acceptance) + usize::from(*non_progress)
    }

    /// What that is, if anything; of several properties the first.
    pub(in crate::cli) fn wanted(&self) -> Option<PropertyRequest<'_>> {
        let formula = self.ltl.first().map(|it| PropertyRequest::Formula(it));
        let automaton = self.automaton.first().map(|it| PropertyRequest::Automaton(it));
        let accept = self.acceptance.then_some(PropertyRequest::Labels(CycleLabel::Accept));
        let progress = self.non_progress.then_some(PropertyRequest::Labels(CycleLabel::Progress));
        formula.or(automaton).or(accept).or(progress)
    }
}

/// A property that is checked.
#[derive(Args, Clone, Debug, Default)]
pub struct LivenessArgs {
    #[command(flatten)]
    pub(in crate::cli) property: PropertyArgs,
    /// The treatment of finite runs [default: stutter; with --non-progress: ignore]
    #[arg(help_heading = headings::LIVENESS, long, value_enum)]
    pub deadlock_runs: Option<DeadlockRunsArg>,
    /// Check only runs that are fair [default: all runs]
    #[arg(help_heading = headings::LIVENESS, long, value_enum)]
    pub fair: Option<FairArg>,
}

impl LivenessArgs {
    /// Sets what the flags say.
    pub(in crate::cli) fn apply(&self, config: &mut CheckConfig) {
        let properties = &mut config.properties;
        let PropertyArgs { ltl, automaton, acceptance, non_progress } = &self.property;
        if self.property.wanted().is_some() {
            properties.ltl.clone_from(ltl);
            properties.automata.clone_from(automaton);
            (properties.acceptance, properties.non_progress) = (*acceptance, *non_progress);
        }
        let finite_runs = self.deadlock_runs.map(FiniteRunPolicy::from);
        override_with(&mut properties.finite_runs, &finite_runs);
        if self.fair == Some(FairArg::Weak) {
            properties.fairness = Fairness::Weak;
        }
    }

    /// Rejects fairness that cannot be checked.
    pub(in crate::cli) fn reject_unsupported(&self) -> Result<(), CommandFailure> {
        match self.fair {
            Some(FairArg::Strong) => {
                Err(CommandFailure::wrong("strong fairness is not supported, only --fair weak"))
            }
            _ => Ok(()),
        }
    }
}

/// The runs that are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FairArg {
    /// Weak fairness: a process that is enabled continuously from some point on moves infinitely often
    Weak,
    /// Not supported
    #[value(hide = true)]
    Strong,
}

/// What becomes of runs that end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DeadlockRunsArg {
    /// The last state is repeated infinitely often
    Stutter,
    /// Finite runs are not checked
    Ignore,
}

impl From<DeadlockRunsArg> for FiniteRunPolicy {
    fn from(arg: DeadlockRunsArg) -> FiniteRunPolicy {
        match arg {
            DeadlockRunsArg::Stutter => FiniteRunPolicy::Stutter,
            DeadlockRunsArg::Ignore => FiniteRunPolicy::Ignored,
        }
    }
}

/// A property whose automaton is shown.
#[derive(Args, Clone, Debug)]
pub struct ShownPropertyArgs {
    #[command(flatten)]
    pub(in crate::cli) property: PropertyArgs,
    /// The format of the automaton of --ltl or --automaton [default: text]
    #[arg(long, value_enum, requires = "property")]
    pub format: Option<AutomatonFormatArg>,
}

/// How an automaton is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum AutomatonFormatArg {
    /// Plain text
    #[default]
    Text,
    /// DOT, for Graphviz
    Dot,
    /// The Hanoi omega-automata format
    Hoa,
}
