//! Commands and flags.

mod page;
mod property;
mod questions;
mod reduction_flags;
mod reductions;
mod resources;
mod short_help;
mod task;
mod trace;

pub use page::{
    CompletionsArgs, DoctorArgs, GraphArgs, ManArgs, NewArgs, ReportArgs, ValuesArgs, WatchArgs,
};
pub use property::{AutomatonFormatArg, LivenessArgs, ShownPropertyArgs};
pub use questions::QuestionArgs;
pub(in crate::cli) use questions::StateSpaceQuery;
pub(in crate::cli) use reduction_flags::SetParameter;
pub(in crate::cli) use reductions::ReduceArgs;
pub use resources::SessionArgs;
pub use short_help::parse;
pub use task::{TaskArgs, TaskCommand, TaskRequest};
pub use trace::TraceArgs;

use super::failure::CommandFailure;
use super::languages;
use crate::front::Language;
use crate::ir::{EndRule, OverflowRule};
use crate::search::comback::{HashWidth, StateCacheConfig};
use crate::session::config::{self, Definition, StoreKind, parse_duration, parse_size};
use crate::session::{CheckConfig, KeyOrder};
use clap::{Args, Parser, Subcommand, ValueEnum};
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
Exit codes: 0 verified, 1 violated, 2 the model or the command line is wrong,
3 stopped before the end and resumable, 4 the search directory is damaged.";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Visit every reachable state of a model and report what is violated
    Check(Box<CheckArgs>),
    /// Go on with a search that was stopped, killed or ran out of disk
    Resume(ResumeArgs),
    /// Show how far a search has come, running or not
    Status(StatusArgs),
    /// Look at searches while they run, on the terminal and in a browser
    Watch(WatchArgs),
    /// Show the counterexamples that a search found
    Trace(TraceArgs),
    /// Show which values variables have in the states that a search has come to
    Values(ValuesArgs),
    /// Write what a search found, or what checking a model finds, as a page for a browser
    Report(ReportArgs),
    /// Draw the states of a small model and the steps between them, as DOT for Graphviz
    Graph(GraphArgs),
    /// Show a model as Spillway understands it: program, state layout, memory plan
    Explain(ExplainArgs),
    /// Walk through a model, at random or by hand
    Simulate(SimulateArgs),
    /// Do a search in parts, by several processes on several machines
    Task(TaskArgs),
    /// Write a small model with comments, to start from
    New(NewArgs),
    /// Say what this machine can do for a search, and which flags that suggests
    Doctor(DoctorArgs),
    /// Print what a shell needs to complete commands and flags
    Completions(CompletionsArgs),
    /// Print the manual page
    Man(ManArgs),
}

/// Which model, and what its constants are.
#[derive(Args, Clone, Debug)]
pub struct ModelArgs {
    /// The model's file.
    #[arg(help = format!(
        "The model's file; its ending names the language ({})",
        languages::usual_endings()
    ))]
    pub model: PathBuf,
    /// The model's language, whatever the file is called
    #[arg(long, value_parser = languages::parser())]
    pub language: Option<&'static Language>,
    /// Replace the value of a constant of the model.
    #[arg(long = "define", short = 'D', value_name = "NAME[=VALUE]", help = format!(
        "Replace a constant's value; in {} define a macro, of any text (a NAME alone is 1)",
        languages::titles(|it| it.options.macros)
    ))]
    pub defines: Vec<Definition>,
    /// What should hold in every state, beside what the model says: an expression of its language
    #[arg(long = "invariant", value_name = "EXPR")]
    pub invariants: Vec<String>,
    /// What should hold in some state: an expression of the model's language
    #[arg(long = "cover", value_name = "EXPR")]
    pub covers: Vec<String>,
    /// What becomes of a value outside its variable's range.
    #[arg(long, value_enum, help = format!(
        "What becomes of a value outside its variable's range in {} [default: error]",
        languages::titles(|it| it.options.overflow)
    ))]
    pub overflow: Option<OverflowArg>,
    /// What counts as a deadlock.
    #[arg(long, value_enum, help = format!(
        "What counts as a deadlock in {} [default: stuttering]",
        languages::titles(|it| it.options.deadlock)
    ))]
    pub deadlock: Option<DeadlockArg>,
    /// How many instances of a process a `run` in a loop may make.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=255), help = format!(
        "How many instances of a process a `run` in a loop may make ({})",
        languages::titles(|it| it.options.slots.is_some())
    ))]
    pub slots: Option<u32>,
    /// Lose what is sent to a full channel.
    #[arg(long, help = format!(
        "Lose what is sent to a full channel, rather than wait for room ({})",
        languages::titles(|it| it.options.lossy)
    ))]
    pub lossy: bool,
    /// Search with this never claim of the model.
    #[arg(long, value_name = "NAME", conflicts_with = "no_claim", help = format!(
        "Search with this never claim of the model ({}) [default: the first, if there is one]",
        languages::titles(|it| it.options.claim)
    ))]
    pub claim: Option<String>,
    /// Leave out the property of runs that the model brings with it.
    #[arg(long, help = format!(
        "Leave out the property that the model brings with it: never claims, an ltl formula, a property process ({})",
        languages::titles(|it| it.options.model_property)
    ))]
    pub no_claim: bool,
}

impl ModelArgs {
    /// Sets what the flags say.
    pub(super) fn apply(&self, config: &mut CheckConfig) {
        let ModelArgs { language, defines, overflow, deadlock, slots, lossy, claim, .. } = self;
        let model = &mut config.model;
        override_with(&mut model.language, &language.map(|it| it.name.to_owned()));
        model.definitions.extend(defines.iter().cloned());
        override_with(&mut model.overflow, &overflow.map(OverflowRule::from));
        override_with(&mut model.deadlock, &deadlock.map(EndRule::from));
        override_with(&mut model.slots, slots);
        model.lossy |= lossy;
        override_with(&mut model.claim, claim);
        model.no_claim = (model.no_claim && claim.is_none()) || self.no_claim;
        replace_with(&mut config.properties.invariants, &self.invariants);
        replace_with(&mut config.properties.covers, &self.covers);
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
    /// When no rule can be taken
    Stuck,
    /// When no rule can be taken that leads to another state, as CMurphi has it
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
    /// A run-time error, as DiVinE has it
    Error,
    /// Reduced modulo the size of the range, as in C and as LTSmin has it
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

/// What comes first in the key by which states are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum KeyOrderArg {
    /// The model's variables as it declares them
    #[default]
    Declared,
    /// An order from what the variables belong to
    Static,
    /// The order that stores a sample of the states smallest, if it is much smaller than declared
    Sampled,
}

impl From<KeyOrderArg> for KeyOrder {
    fn from(arg: KeyOrderArg) -> KeyOrder {
        match arg {
            KeyOrderArg::Declared => KeyOrder::Declared,
            KeyOrderArg::Static => KeyOrder::Static,
            KeyOrderArg::Sampled => KeyOrder::Sampled,
        }
    }
}

/// How states are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum StoreArg {
    /// As gaps between sorted states, compressed
    #[default]
    Sorted,
    /// As their bytes, to measure against
    Raw,
    /// As run-length codes
    Rle,
    /// As static Huffman codes
    Huffman,
    /// As hashes and back-edges, for states of hundreds of bytes
    Comback,
}

impl From<StoreArg> for StoreKind {
    fn from(arg: StoreArg) -> StoreKind {
        match arg {
            StoreArg::Sorted => StoreKind::Sorted,
            StoreArg::Raw => StoreKind::Raw,
            StoreArg::Rle => StoreKind::Rle,
            StoreArg::Huffman => StoreKind::Huffman,
            StoreArg::Comback => StoreKind::Comback,
        }
    }
}

/// Bits of a hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum HashBits {
    /// For tests: almost every state is a suspect
    #[value(name = "8")]
    Bits8,
    /// For tests: suspects abound
    #[value(name = "16")]
    Bits16,
    /// Up to some thousand million states
    #[default]
    #[value(name = "32")]
    Bits32,
    /// For more
    #[value(name = "64")]
    Bits64,
}

impl From<HashBits> for HashWidth {
    fn from(arg: HashBits) -> HashWidth {
        match arg {
            HashBits::Bits8 => HashWidth::Bits8,
            HashBits::Bits16 => HashWidth::Bits16,
            HashBits::Bits32 => HashWidth::Bits32,
            HashBits::Bits64 => HashWidth::Bits64,
        }
    }
}

/// `spillway check`.
#[derive(Args, Clone, Debug)]
pub struct CheckArgs {
    #[command(flatten)]
    pub(super) model: ModelArgs,
    #[command(flatten)]
    pub(super) run: SessionArgs,
    #[command(flatten)]
    pub(super) runs: LivenessArgs,
    /// Read what no flag says from this file, in TOML: its keys are the long names of the flags
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Keep the search in this directory, which must be new or empty [default: a temporary one, removed after a verdict]
    #[arg(long)]
    pub dir: Option<PathBuf>,
    #[command(flatten)]
    pub(super) questions: QuestionArgs,
    /// Check only these
    #[arg(long, value_name = "CHECKS", value_delimiter = ',', value_enum)]
    pub only: Vec<CheckKind>,
    /// Do not count states without successors as violations
    #[arg(long)]
    pub no_deadlock: bool,
    /// Explore the whole state space and count violations
    #[arg(long)]
    pub keep_going: bool,
    /// Search on for a shorter counterexample: without partial order, where one was found with it; or, beside --ltl and the like, for a shortest run
    #[arg(long, conflicts_with = "keep_going")]
    pub shortest: bool,
    /// Do not count how often each action is taken, nor tell which never was
    #[arg(long)]
    pub no_coverage: bool,
    /// How the variables are ordered in the stored states; the counts do not depend on it [default: declared]
    #[arg(long, value_enum)]
    pub key_order: Option<KeyOrderArg>,
    #[command(flatten)]
    pub(super) reductions: ReduceArgs,
    /// How states are stored; the counts do not depend on it [default: sorted]
    #[arg(long, value_enum)]
    pub store: Option<StoreArg>,
    /// How often each byte is in a state, for `--store huffman` [default: from a sample]
    #[arg(long, value_name = "FILE")]
    pub huffman_table: Option<PathBuf>,
    /// Bits of a hash, for `--store comback` [default: 32]
    #[arg(long, value_name = "BITS", value_enum)]
    pub comback_hash: Option<HashBits>,
    /// Which states are kept to begin rebuilding at, and how many, for `--store comback`: none,
    /// random, fifo, heuristic, stratified or stratified-K, every K-th level; such as fifo:10000 or
    /// fifo:max, as many as there is memory for [default: fifo, 4 bytes for each state found]
    #[arg(long, value_name = "KIND[:SIZE]", value_parser = str::parse::<StateCacheConfig>)]
    pub comback_cache: Option<StateCacheConfig>,
}

/// What can be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CheckKind {
    /// States without a successor
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
        self.model.apply(config);
        self.run.apply(config);
        self.runs.apply(config);
        let search = &mut config.search;
        search.keep_going |= self.keep_going;
        search.stop_when_answered |= self.questions.property_file.is_some();
        search.shortest |= self.shortest;
        search.no_coverage |= self.no_coverage;
        self.key_order.into_iter().for_each(|it| search.key_order = it.into());
        self.store.into_iter().for_each(|it| search.store = it.into());
        override_with(&mut search.huffman_table, &self.huffman_table);
        override_with(&mut search.comback_hash, &self.comback_hash.map(HashWidth::from));
        override_with(&mut search.comback_cache, &self.comback_cache);
        let properties = &mut config.properties;
        if !self.only.is_empty() {
            properties.only = Some(self.only.iter().map(|&it| it.into()).collect());
        }
        properties.no_deadlock |= self.no_deadlock;
        properties.strict |= self.run.strict;
        self.reductions.apply(&mut config.search.reductions)
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
    /// List the searches that were begun without --dir, in temporary directories
    #[arg(long, conflicts_with = "dir")]
    pub all: bool,
    /// Remove those of them that are not running
    #[arg(long, requires = "all", conflicts_with = "dir")]
    pub remove_stale: bool,
    /// Remove those of them in which nobody has searched for so long [default: 7d]
    #[arg(long, value_name = "TIME", requires = "all", conflicts_with_all = ["dir", "remove_stale"], num_args = 0..=1, default_missing_value = "7d", value_parser = parse_duration)]
    pub clean: Option<Duration>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// Tell what memory the search takes for what, too
    #[arg(long, short, conflicts_with = "json")]
    pub verbose: bool,
}

/// `spillway explain`.
#[derive(Args, Clone, Debug)]
pub struct ExplainArgs {
    #[command(flatten)]
    pub(super) model: ModelArgs,
    /// How the variables are ordered in the stored states
    #[arg(long, value_enum, default_value_t)]
    pub key_order: KeyOrderArg,
    #[command(flatten)]
    pub(super) reductions: ReduceArgs,
    /// Show only which reductions there are for the model: of what, where, what each saves
    #[arg(long = "reductions")]
    pub reductions_only: bool,
    /// The memory budget to plan for
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = parse_size)]
    pub memory: u64,
    /// The threads to plan for [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: Option<u16>,
    /// Show only the machine code of this action, given by its number or its name
    #[arg(long, value_name = "ACTION")]
    pub asm: Option<String>,
    #[command(flatten)]
    pub(super) shown: ShownPropertyArgs,
}

/// `spillway simulate`.
#[derive(Args, Clone, Debug)]
pub struct SimulateArgs {
    #[command(flatten)]
    pub(super) model: ModelArgs,
    /// Choose each step by hand
    #[arg(long, short)]
    pub interactive: bool,
    /// The most steps to take [default: 20; by hand, any number]
    #[arg(long, value_name = "N")]
    pub steps: Option<u64>,
    /// The seed of the random choices; the same seed walks the same way
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Begin behind a step of the first counterexample of the search in a directory [default: the last step]
    #[arg(long, value_name = "DIR[:STEP]", conflicts_with_all = ["overflow", "deadlock", "slots", "lossy", "claim", "no_claim"])]
    pub from: Option<String>,
}
