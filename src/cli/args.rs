//! Commands and flags.

mod editors;
mod expert_args;
mod expert_options;
mod headings;
mod hunt;
mod page;
mod property;
mod questions;
mod reduction_flags;
mod reductions;
mod resources;
mod short_help;
mod sweep;
mod task;
mod trace;

pub use editors::EditorArgs;
pub(in crate::cli) use expert_args::ExpertArgs;
pub use expert_args::{former_flag, requested_text};
pub use hunt::HuntArgs;
use page::listen_address;
pub use page::{
    CompletionsArgs, DoctorArgs, ExploreArgs, GraphArgs, ManArgs, NewArgs, ReportArgs, ValuesArgs,
    WatchArgs,
};
pub use property::{AutomatonFormatArg, LivenessArgs, ShownPropertyArgs};
pub use questions::QuestionArgs;
pub(in crate::cli) use questions::StateSpaceQuery;
pub(in crate::cli) use reduction_flags::SetParameter;
pub(in crate::cli) use reductions::ReduceArgs;
pub use resources::{CounterexampleArgs, SessionArgs};
pub use short_help::{ParsedCommandLine, parse};
pub use sweep::SweepArgs;
pub use task::{TaskArgs, TaskCommand, TaskRequest};
pub use trace::TraceArgs;

use super::failure::CommandFailure;
use super::languages;
use crate::front::Language;
use crate::ir::{EndRule, OverflowRule};
use crate::session::config::{self, Definition, StoreKind, parse_duration, parse_size};
use crate::session::{CheckConfig, STORES};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use expert_args::EXPERT;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Exact, disk-backed model checking in a fixed memory budget.
#[derive(Debug, Parser)]
#[command(name = "spillway", version, about, after_help = EXIT_CODES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: CliCommand,
}

const EXIT_CODES: &str = "\
Exit codes: 0 verified, 1 violated, 2 error in the model or the command line,
3 stopped and resumable, 4 search directory damaged.";

const CHECK_EXAMPLES: &str = "\
Examples:
  spillway check MODEL --memory 4GiB --dir DIR
      Check all properties of the model in 4 GiB of memory; keep the search in DIR.
  spillway check MODEL --invariant 'x < 4' --ltl 'G F (x == 0)'
      Check an invariant and a formula.
  spillway check MODEL --only deadlock --max-time 8h --junit result.xml
      Check for deadlocks for at most eight hours; write a file for continuous integration.";

const HUNT_EXAMPLES: &str = "\
Examples:
  spillway hunt MODEL
      Hunt for a violation for a minute.
  spillway hunt MODEL --walks 10000 --seed 7 --threads 1
      Hunt in 10,000 walks; the same command repeats them.
  spillway hunt MODEL --strategies dive --max-time 10min --only deadlock
      Dive for deadlocks, for at most ten minutes.";

const SWEEP_EXAMPLES: &str = "\
Examples:
  spillway sweep MODEL --over N=2..6 --max-time 10min
      Check the model for N from 2 to 6, each for at most ten minutes.
  spillway sweep MODEL --config sweep.toml --dir DIR
      Check all combinations of the lists in section [sweep]; a second run goes on.";

const RESUME_EXAMPLES: &str = "\
Examples:
  spillway resume DIR
      Resume the search with the limits of the session before.
  spillway resume DIR --memory 8GiB --max-time 12h
      Resume it with more memory, for at most twelve hours.";

const TRACE_EXAMPLES: &str = "\
Examples:
  spillway trace DIR --last 5 --only x,P.y
      Print the last five steps, and only two variables.
  spillway trace DIR --as plantuml > trace.puml
      Draw the counterexample as a sequence diagram.
  spillway trace DIR --eval 'x,y,x < y'
      Print two variables and a condition in each state.
  spillway trace DIR --diff OTHER
      Show where two counterexamples part.";

const LSP_EXAMPLES: &str = "\
Examples:
  spillway lsp
      Serve an editor; docs/how-to/editors.md shows the settings of editors.
  spillway lsp --max-time 10s --memory 256MiB
      Stop the checks of the editor after ten seconds; use at most 256 MiB.";

const DAP_EXAMPLES: &str = "\
Examples:
  spillway dap
      Serve the debugger of an editor; docs/how-to/editors.md shows the settings of editors.
  spillway dap --max-states 100000
      Stop the search for a counterexample at 100,000 states.";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Check the properties of a model in all reachable states
    #[command(after_long_help = CHECK_EXAMPLES)]
    Check(Box<CheckArgs>),
    /// Hunt for a violation by random walks and dives; without one, nothing is proved
    #[command(after_long_help = HUNT_EXAMPLES)]
    Hunt(Box<HuntArgs>),
    /// Check a model with lists of values of its constants, and compare the results
    #[command(after_long_help = SWEEP_EXAMPLES)]
    Sweep(Box<SweepArgs>),
    /// Resume a search that was stopped or killed, or ran out of disk space
    #[command(after_long_help = RESUME_EXAMPLES)]
    Resume(ResumeArgs),
    /// Show the progress of a search, running or stopped
    Status(StatusArgs),
    /// Watch running searches, on the terminal or in a browser
    Watch(WatchArgs),
    /// Print the counterexamples that a search found
    #[command(after_long_help = TRACE_EXAMPLES)]
    Trace(TraceArgs),
    /// Print the values that variables have in the visited states
    Values(ValuesArgs),
    /// Write the result of a search as an HTML page
    Report(ReportArgs),
    /// Explore the states of a model, or a counterexample, in a browser
    Explore(Box<ExploreArgs>),
    /// Write the state space of a small model in DOT, for Graphviz
    Graph(GraphArgs),
    /// Print the program, state layout, reductions and memory plan of a model
    Explain(ExplainArgs),
    /// Execute a model step by step, at random or by choice
    Simulate(SimulateArgs),
    /// Run a search as tasks of several processes or machines
    Task(TaskArgs),
    /// Write a small model with comments, to start from
    New(NewArgs),
    /// Serve an editor with diagnostics, hovers, outlines and checks of models (Language Server Protocol)
    #[command(after_long_help = LSP_EXAMPLES)]
    Lsp(EditorArgs),
    /// Serve an editor with steps through counterexamples and models (Debug Adapter Protocol)
    #[command(after_long_help = DAP_EXAMPLES)]
    Dap(EditorArgs),
    /// Examine this machine and suggest flags
    Doctor(DoctorArgs),
    /// Print the completion script of a shell
    Completions(CompletionsArgs),
    /// Print the manual page
    Man(ManArgs),
}

/// Which model, and what its constants are.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = headings::MODEL)]
pub struct ModelArgs {
    /// The model's file.
    #[arg(help_heading = None, help = format!(
        "The model file; its extension selects the language ({})",
        languages::usual_endings()
    ))]
    pub model: PathBuf,
    #[command(flatten)]
    pub(super) flags: ModelFlags,
}

/// How a model is read, and conditions on its states.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = headings::MODEL)]
pub struct ModelFlags {
    /// The language of the model, whatever the extension
    #[arg(long, value_parser = languages::parser())]
    pub language: Option<&'static Language>,
    /// Replace the value of a constant of the model.
    #[arg(long = "define", short = 'D', value_name = "NAME[=VALUE]", help = format!(
        "Set a constant; in {} define a macro",
        languages::titles(|it| it.options.macros)
    ))]
    pub defines: Vec<Definition>,
    /// Check that this expression of the model's language holds in every state
    #[arg(help_heading = headings::PROPERTIES, long = "invariant", value_name = "EXPR")]
    pub invariants: Vec<String>,
    /// Check that this expression of the model's language holds in some reachable state
    #[arg(help_heading = headings::PROPERTIES, long = "cover", value_name = "EXPR")]
    pub covers: Vec<String>,
    /// Do not expand states in which this expression of the model's language does not hold
    #[arg(help_heading = headings::PROPERTIES, long = "constraint", value_name = "EXPR")]
    pub constraints: Vec<String>,
    /// The configuration of a specification.
    #[arg(long, value_name = "FILE", help = format!(
        "The configuration file ({}) [default: the model file with the extension cfg]",
        languages::titles(|it| it.options.has_configuration)
    ))]
    pub cfg: Option<PathBuf>,
    /// A further folder of modules.
    #[arg(long = "library", value_name = "DIR", help = format!(
        "Look for modules in this folder, too ({})",
        languages::titles(|it| it.options.has_configuration)
    ))]
    pub libraries: Vec<PathBuf>,
    /// What becomes of a value outside its variable's range.
    #[arg(long, value_enum, help = format!(
        "The effect of a value outside the range of its variable, in {} [default: error]",
        languages::titles(|it| it.options.overflow)
    ))]
    pub overflow: Option<OverflowArg>,
    /// What counts as a deadlock.
    #[arg(long, value_enum, help = format!(
        "The states that are deadlocks, in {} [default: stuttering]",
        languages::titles(|it| it.options.deadlock)
    ))]
    pub deadlock: Option<DeadlockArg>,
    /// Lose what is sent to a full channel.
    #[arg(long, help = format!(
        "Lose messages that are sent to a full channel instead of blocking ({})",
        languages::titles(|it| it.options.lossy)
    ))]
    pub lossy: bool,
    /// Search with this never claim of the model.
    #[arg(help_heading = headings::PROPERTIES, long, value_name = "NAME", conflicts_with = "no_claim", help = format!(
        "Use this never claim of the model ({}) [default: the first]",
        languages::titles(|it| it.options.claim)
    ))]
    pub claim: Option<String>,
    /// Leave out the property of runs that the model brings with it.
    #[arg(help_heading = headings::PROPERTIES, long, help = format!(
        "Do not check the claim, formula or property process of the model ({})",
        languages::titles(|it| it.options.model_property)
    ))]
    pub no_claim: bool,
}

impl ModelFlags {
    /// Sets what the flags say.
    pub(super) fn apply(&self, config: &mut CheckConfig) {
        let ModelFlags { language, defines, overflow, deadlock, lossy, claim, .. } = self;
        let model = &mut config.model;
        override_with(&mut model.language, &language.map(|it| it.name.to_owned()));
        model.definitions.extend(defines.iter().cloned());
        override_with(&mut model.overflow, &overflow.map(OverflowRule::from));
        override_with(&mut model.deadlock, &deadlock.map(EndRule::from));
        model.lossy |= lossy;
        override_with(&mut model.claim, claim);
        override_with(&mut model.configuration, &self.cfg);
        replace_with(&mut model.libraries, &self.libraries);
        model.no_claim = (model.no_claim && claim.is_none()) || self.no_claim;
        replace_with(&mut config.properties.invariants, &self.invariants);
        replace_with(&mut config.properties.covers, &self.covers);
        replace_with(&mut config.properties.constraints, &self.constraints);
    }
}

/// Sets a value that a flag gives.
fn override_with<T: Clone>(value: &mut Option<T>, given: &Option<T>) {
    if given.is_some() {
        value.clone_from(given);
    }
}

/// Sets a list that flags give.
fn replace_with<T: Clone>(list: &mut Vec<T>, given: &[T]) {
    if !given.is_empty() {
        *list = given.to_vec();
    }
}

/// When a state is a deadlock, where the language leaves that to the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DeadlockArg {
    /// States in which no rule is enabled
    Stuck,
    /// States in which no enabled rule changes the state, as in CMurphi
    Stuttering,
}

impl From<DeadlockArg> for EndRule {
    fn from(arg: DeadlockArg) -> EndRule {
        match arg {
            DeadlockArg::Stuck => EndRule::Never,
            DeadlockArg::Stuttering => EndRule::NeverStuttering,
        }
    }
}

/// The rule for values outside a variable's range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OverflowArg {
    /// A run-time error, as in DiVinE
    Error,
    /// The value modulo the size of the range, as in LTSmin
    Wrap,
}

impl From<OverflowArg> for OverflowRule {
    fn from(arg: OverflowArg) -> OverflowRule {
        match arg {
            OverflowArg::Error => OverflowRule::Fails,
            OverflowArg::Wrap => OverflowRule::Wraps,
        }
    }
}

/// Reads the name of a store.
fn store_parser() -> impl TypedValueParser<Value = StoreKind> {
    let names = STORES.iter().map(|it| PossibleValue::new(it.name).help(it.summary));
    let kind = |name: String| {
        let entry = STORES.iter().find(|it| it.name == name);
        entry.map_or_else(StoreKind::default, |it| it.kind)
    };
    PossibleValuesParser::new(names).map(kind)
}

/// `spillway check`.
#[derive(Args, Clone, Debug)]
pub struct CheckArgs {
    #[command(flatten)]
    pub(super) model: ModelArgs,
    /// Read the configuration of the check from this TOML file; flags override it
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Check only these properties of states and transitions
    #[arg(help_heading = headings::PROPERTIES, long, value_name = "CHECKS", value_delimiter = ',', value_enum)]
    pub only: Vec<CheckKind>,
    /// Do not check for deadlocks
    #[arg(help_heading = headings::PROPERTIES, long)]
    pub no_deadlock: bool,
    /// Find all violated properties, not only one
    #[arg(help_heading = headings::PROPERTIES, long)]
    pub keep_going: bool,
    /// After a violation, search for a shortest counterexample; with --ltl, --automaton, --acceptance or --non-progress, for a shortest run
    #[arg(help_heading = headings::PROPERTIES, long, conflicts_with = "keep_going")]
    pub shortest: bool,
    /// Search in breadth-first order alone, without the hunts that look for a deep violation first
    #[arg(help_heading = headings::PROPERTIES, long)]
    pub no_dive: bool,
    #[command(flatten)]
    pub(super) runs: LivenessArgs,
    /// Keep the search in this new or empty directory [default: a temporary one, deleted after a verdict]
    #[arg(help_heading = headings::LIMITS, long)]
    pub dir: Option<PathBuf>,
    #[command(flatten)]
    pub(super) run: SessionArgs,
    #[command(flatten)]
    pub(super) questions: QuestionArgs,
    /// Do not count the executions of each action
    #[arg(help_heading = headings::OUTPUT, long)]
    pub no_coverage: bool,
    /// After a violation, open the counterexample in a browser, as `explore` does [default port: a free one]
    #[arg(help_heading = headings::OUTPUT, long, value_name = "[ADDRESS:]PORT", num_args = 0..=1, require_equals = true, default_missing_value = "0", value_parser = listen_address, conflicts_with_all = ["mcc", "property_file"])]
    pub explore: Option<SocketAddr>,
    #[command(flatten)]
    pub(super) reductions: ReduceArgs,
    /// The storage of visited states [default: sorted]
    #[arg(help_heading = headings::STORAGE, long, value_parser = store_parser())]
    pub store: Option<StoreKind>,
    #[command(flatten)]
    pub(super) expert: ExpertArgs,
}

/// What can be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CheckKind {
    /// Deadlocks
    Deadlock,
    /// Assertions
    Assert,
    /// Invariants
    Invariant,
    /// Run-time errors
    Error,
    /// Never claims
    Claim,
}

impl From<CheckKind> for config::CheckKind {
    fn from(arg: CheckKind) -> config::CheckKind {
        match arg {
            CheckKind::Deadlock => config::CheckKind::Deadlock,
            CheckKind::Assert => config::CheckKind::Assert,
            CheckKind::Invariant => config::CheckKind::Invariant,
            CheckKind::Error => config::CheckKind::Error,
            CheckKind::Claim => config::CheckKind::Claim,
        }
    }
}

impl CheckArgs {
    /// Sets what the flags say.
    pub(super) fn apply(&self, config: &mut CheckConfig) -> Result<(), CommandFailure> {
        self.model.flags.apply(config);
        self.run.apply(config);
        self.runs.apply(config);
        let search = &mut config.search;
        search.keep_going |= self.keep_going;
        search.stop_when_answered |= self.questions.property_file.is_some();
        search.shortest |= self.shortest;
        search.no_dive |= self.no_dive;
        search.no_coverage |= self.no_coverage;
        self.store.into_iter().for_each(|it| search.store = it);
        let properties = &mut config.properties;
        if !self.only.is_empty() {
            properties.only = Some(self.only.iter().map(|&it| it.into()).collect());
        }
        properties.no_deadlock |= self.no_deadlock;
        properties.strict |= self.run.strict;
        self.expert.apply(config);
        self.reductions.apply(&self.expert, &mut config.search.reductions)
    }
}

/// `spillway resume`.
#[derive(Args, Clone, Debug)]
pub struct ResumeArgs {
    /// The search directory
    pub dir: PathBuf,
    #[command(flatten)]
    pub(super) run: SessionArgs,
}

/// `spillway status`.
#[derive(Args, Clone, Debug)]
pub struct StatusArgs {
    /// The search directory
    #[arg(required_unless_present = "all")]
    pub dir: Option<PathBuf>,
    /// List the searches in temporary directories, started without --dir
    #[arg(long, conflicts_with = "dir")]
    pub all: bool,
    /// Delete those that are not running
    #[arg(long, requires = "all", conflicts_with = "dir")]
    pub remove_stale: bool,
    /// Delete those without activity for this time [default: 7d]
    #[arg(long, value_name = "TIME", requires = "all", conflicts_with_all = ["dir", "remove_stale"], num_args = 0..=1, default_missing_value = "7d", value_parser = parse_duration)]
    pub clean: Option<Duration>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// Print the memory use by purpose
    #[arg(long, short, conflicts_with = "json")]
    pub verbose: bool,
}

/// `spillway explain`.
#[derive(Args, Clone, Debug)]
pub struct ExplainArgs {
    #[command(flatten)]
    pub(super) model: ModelArgs,
    #[command(flatten)]
    pub(super) reductions: ReduceArgs,
    /// Print only the reductions that apply to the model, with their savings
    #[arg(long = "reductions")]
    pub reductions_only: bool,
    /// The memory budget of the memory plan
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = parse_size)]
    pub memory: u64,
    /// The number of threads of the memory plan [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: Option<u16>,
    /// Print only the machine code of this action, a number or a name
    #[arg(long, value_name = "ACTION")]
    pub asm: Option<String>,
    #[command(flatten)]
    pub(super) shown: ShownPropertyArgs,
    #[command(flatten)]
    pub(super) expert: ExpertArgs,
}

/// `spillway simulate`.
#[derive(Args, Clone, Debug)]
pub struct SimulateArgs {
    #[command(flatten)]
    pub(super) model: ModelArgs,
    /// Walk by commands at a prompt: choose steps, undo them, run to breakpoints
    #[arg(long, short)]
    pub interactive: bool,
    /// The maximum number of transitions [default: 20; unlimited with --interactive]
    #[arg(long, value_name = "N")]
    pub steps: Option<u64>,
    /// The seed of the random choices
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Start after a step of the first counterexample in this search directory [default: after the last step]
    #[arg(long, value_name = "DIR[:STEP]", conflicts_with_all = ["overflow", "deadlock", EXPERT, "lossy", "claim", "no_claim"])]
    pub from: Option<String>,
    /// Take the steps of a path that `save` of an interactive walk wrote; with --steps or --interactive, go on from its end
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    pub replay: Option<PathBuf>,
    #[command(flatten)]
    pub(super) expert: ExpertArgs,
}

#[cfg(test)]
mod tests;
