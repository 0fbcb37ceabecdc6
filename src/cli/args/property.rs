//! Flags that ask whether runs have a property.

use crate::reduce::claim::EndedRuns;
use crate::session::Wanted;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// What is asked of runs.
#[derive(Args, Clone, Debug)]
#[group(id = "property", multiple = false, conflicts_with_all = ["claim", "no_claim"])]
pub struct PropertyArgs {
    /// A formula of linear temporal logic over the model's variables and locations, or the name of one of the model's
    #[arg(long, value_name = "FORMULA|NAME")]
    pub ltl: Option<String>,
    /// A file with a Büchi automaton (HOA) that accepts the runs that there must not be
    #[arg(long, value_name = "FILE")]
    pub automaton: Option<PathBuf>,
}

impl PropertyArgs {
    /// What that is, if anything.
    pub(in crate::cli) fn wanted(&self) -> Option<Wanted<'_>> {
        let formula = self.ltl.as_deref().map(Wanted::Formula);
        formula.or_else(|| self.automaton.as_deref().map(Wanted::Automaton))
    }
}

/// A property that is checked.
#[derive(Args, Clone, Debug)]
pub struct RunsArgs {
    #[command(flatten)]
    pub(in crate::cli) property: PropertyArgs,
    /// What is said of runs that end, with --ltl or --automaton [default: stutter]
    #[arg(long, value_enum, requires = "property")]
    pub deadlock_runs: Option<DeadlockRunsArg>,
}

/// What becomes of runs that end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum DeadlockRunsArg {
    /// Their last state is repeated for ever
    #[default]
    Stutter,
    /// Nothing is said of them
    Ignore,
}

impl From<DeadlockRunsArg> for EndedRuns {
    fn from(arg: DeadlockRunsArg) -> EndedRuns {
        match arg {
            DeadlockRunsArg::Stutter => EndedRuns::Stutter,
            DeadlockRunsArg::Ignore => EndedRuns::Ignored,
        }
    }
}

/// A property whose automaton is shown.
#[derive(Args, Clone, Debug)]
pub struct ShownPropertyArgs {
    #[command(flatten)]
    pub(in crate::cli) property: PropertyArgs,
    /// How the automaton of --ltl or --automaton is shown [default: text]
    #[arg(long, value_enum, requires = "property")]
    pub format: Option<FormatArg>,
}

/// How an automaton is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum FormatArg {
    /// For people
    #[default]
    Text,
    /// For Graphviz
    Dot,
    /// In the Hanoi omega-automata format
    Hoa,
}
