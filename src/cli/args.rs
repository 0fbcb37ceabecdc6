//! Commands and flags.

mod page;
mod property;
mod questions;
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
pub use resources::SessionArgs;
pub use short_help::parse;
pub use task::{TaskArgs, TaskCommand, TaskRequest};
pub use trace::TraceArgs;

use super::languages;
use crate::front::Language;
use crate::ir::{EndRule, OverflowRule};
use crate::reduce::dominance::DominanceSense;
use crate::reduce::partial_order::{CycleProviso, PartialOrderMethod};
use crate::reduce::symmetry::SymmetryEffort;
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

/// Which of the states are visited that differ only in the names of a scalarset's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SymmetryArg {
    /// One
    Exact,
    /// At least one, in less time for each
    Fast,
    /// All
    Off,
}

impl SymmetryArg {
    /// As it is given.
    pub fn name(self) -> &'static str {
        match self {
            SymmetryArg::Exact => "exact",
            SymmetryArg::Fast => "fast",
            SymmetryArg::Off => "off",
        }
    }

    /// The trouble to take.
    pub fn effort(self) -> Option<SymmetryEffort> {
        match self {
            SymmetryArg::Exact => Some(SymmetryEffort::Exact),
            SymmetryArg::Fast => Some(SymmetryEffort::Fast),
            SymmetryArg::Off => None,
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

/// Which reductions are used.
#[derive(Args, Clone, Debug, Default)]
pub struct ReduceArgs {
    /// Which reductions are used: none, auto, or the names of some [default: auto; with --keep-going symmetry]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_enum)]
    pub reduce: Vec<ReduceArg>,
    /// Which of the states that differ only in the names of a scalarset's elements are visited [default: exact]
    #[arg(long, value_enum)]
    pub symmetry: Option<SymmetryArg>,
    /// Undo rules that can be undone, and store what is left: all such rules, or some of these
    #[arg(long, value_name = "RULE,...", value_delimiter = ',', num_args = 0.., require_equals = true)]
    pub reversible: Option<Vec<String>>,
    /// Check in every state that rules found reversible are
    #[arg(long)]
    pub check_reversible: bool,
    /// Leave out states that others dominate, by these variables, of which smaller values (down) or larger ones (up) can do
    /// all that others can, which is checked
    #[arg(long, value_name = "NAME:down|up,...", value_delimiter = ',', value_parser = dominating)]
    pub dominate: Vec<(String, DominanceSense)>,
    /// Leave out states beyond which these variables, which only rise together (as is checked), let nothing happen that is looked
    /// for
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub progress: Vec<String>,
    /// Which steps are taken of a state where their order does not matter [default: conditional, if
    /// --reduce names por, or finds it good]
    #[arg(long, value_name = "METHOD", value_enum)]
    pub por: Option<PartialOrderArg>,
    /// What keeps steps from being put off for ever [default: static; levels beside symmetry; --reduce auto tries levels where static does not save enough]
    #[arg(long, value_enum)]
    pub por_proviso: Option<ProvisoArg>,
    /// How steps that come to the same whatever else happens first are used [default: map]
    #[arg(long, value_enum)]
    pub confluence: Option<ConfluenceArg>,
}

/// A variable and which of its values are better.
fn dominating(text: &str) -> Result<(String, DominanceSense), String> {
    let parts = text.rsplit_once(':').map(|(name, sense)| (name.trim(), sense.trim()));
    match parts {
        Some((name, "down")) if !name.is_empty() => Ok((name.into(), DominanceSense::Down)),
        Some((name, "up")) if !name.is_empty() => Ok((name.into(), DominanceSense::Up)),
        _ => Err(
            "a variable and whether its smaller or its larger values can do more: as in time:down"
                .into(),
        ),
    }
}

/// A reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReduceArg {
    /// None: every state is visited
    None,
    /// Those that the first states show to pay
    Auto,
    /// Partial order
    Por,
    /// Reversible rules
    Reversible,
    /// Symmetry of scalarsets
    Symmetry,
    /// Dead variables
    Dead,
    /// Values that nothing tells apart
    Values,
    /// States of processes that nothing tells apart
    States,
    /// Sets of variables that only count on from each other
    Linear,
    /// Transition merging: nobody stops where that could not be told
    Merge,
    /// Slicing: what can influence nothing that is looked for is removed
    Slice,
    /// Structural reductions of nets: places and transitions are made fewer before the search
    Structural,
    /// Confluence: steps that come to the same whatever else happens first are taken at once
    Confluence,
    /// Simultaneous reachability: steps of several that do not disturb each other are taken together
    Simultaneous,
    /// Dominating values: what others can do all of is left out
    Dominate,
    /// Boring states: what nothing that is looked for can be reached from is left out
    Boring,
    /// Doomed states: one walks on to what surely follows
    Doomed,
}

/// How steps are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PartialOrderArg {
    /// Those of a process, where they are all its own matter
    Local,
    /// Those of a set of processes that nobody else disturbs
    Overman,
    /// Those of a stubborn set
    Stubborn,
    /// The same, where what disturbs each other depends on how full channels are and what counters hold
    Conditional,
    /// All, in one of the orders that lead to the same
    Sleep,
    /// Those of `local`, in one of the orders that lead to the same; for deadlocks alone
    #[value(name = "local+sleep")]
    LocalSleep,
}

impl From<PartialOrderArg> for PartialOrderMethod {
    fn from(arg: PartialOrderArg) -> PartialOrderMethod {
        match arg {
            PartialOrderArg::Local => PartialOrderMethod::Local,
            PartialOrderArg::Overman => PartialOrderMethod::Overman,
            PartialOrderArg::Stubborn => PartialOrderMethod::Stubborn,
            PartialOrderArg::Conditional => PartialOrderMethod::Conditional,
            PartialOrderArg::Sleep => PartialOrderMethod::Sleep,
            PartialOrderArg::LocalSleep => PartialOrderMethod::LocalSleep,
        }
    }
}

/// How confluent steps are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ConfluenceArg {
    /// Where there is one no other step is taken; every state is stored
    Prioritised,
    /// A state stands for the one where none is left
    Map,
}

impl From<ConfluenceArg> for CycleProviso {
    fn from(arg: ConfluenceArg) -> CycleProviso {
        match arg {
            ConfluenceArg::Prioritised => CycleProviso::Static,
            ConfluenceArg::Map => CycleProviso::Chains,
        }
    }
}

/// What keeps steps from being put off for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProvisoArg {
    /// An order of the states that steps climb, but for one on each cycle
    Static,
    /// States are taken up again unless a step leads to the next level
    Levels,
    /// States of which a single step is taken are run through; what is looked for is taken up where that ends
    Chains,
    /// They are run through, and it is taken up unless that ends above where it began, in the order of `static`
    #[value(name = "static+chains")]
    StaticChains,
}

impl From<ProvisoArg> for CycleProviso {
    fn from(arg: ProvisoArg) -> CycleProviso {
        match arg {
            ProvisoArg::Static => CycleProviso::Static,
            ProvisoArg::Levels => CycleProviso::Levels,
            ProvisoArg::Chains => CycleProviso::Chains,
            ProvisoArg::StaticChains => CycleProviso::StaticChains,
        }
    }
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
    pub(super) fn apply(&self, config: &mut CheckConfig) {
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
