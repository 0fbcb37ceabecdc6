//! Flags of `hunt`.

use super::resources::{CounterexampleArgs, ExecArg};
use super::trace::TraceFormatArg;
use super::{CheckKind, ExpertArgs, LivenessArgs, ModelArgs, headings};
use crate::search::hunt::{STRATEGIES, StrategyEntry, strategy};
use crate::session::config::{parse_duration, parse_size};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;
use std::time::Duration;

/// `spillway hunt`.
#[derive(Args, Clone, Debug)]
pub struct HuntArgs {
    #[command(flatten)]
    pub(in crate::cli) model: ModelArgs,
    /// Check only these properties of states and transitions
    #[arg(help_heading = headings::PROPERTIES, long, value_name = "CHECKS", value_delimiter = ',', value_enum)]
    pub only: Vec<CheckKind>,
    /// Do not check for deadlocks
    #[arg(help_heading = headings::PROPERTIES, long)]
    pub no_deadlock: bool,
    #[command(flatten)]
    pub(in crate::cli) runs: LivenessArgs,
    /// The seed of the random choices; the same seed and number of threads repeat the hunt
    #[arg(help_heading = headings::HUNT, long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// The strategies [default: all that suit the model]
    #[arg(help_heading = headings::HUNT, long, value_name = "NAME,...", value_delimiter = ',', value_parser = strategy_parser())]
    pub strategies: Vec<NamedStrategy>,
    /// Stop after this number of walks, dives and searches
    #[arg(help_heading = headings::LIMITS, long, value_name = "N")]
    pub walks: Option<u64>,
    /// Stop after this time [default: 60s; none with --walks]
    #[arg(help_heading = headings::LIMITS, long, value_name = "TIME", value_parser = parse_duration)]
    pub max_time: Option<Duration>,
    /// The maximum resident memory of the process, as in 64MiB or 4GiB [default: 1GiB]
    #[arg(help_heading = headings::LIMITS, long, value_name = "SIZE", value_parser = parse_size)]
    pub memory: Option<u64>,
    /// The number of threads [default: all cores that the memory suffices for]
    #[arg(help_heading = headings::LIMITS, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: Option<u16>,
    /// The executor of the model [default: jit]
    #[arg(help_heading = headings::MODEL, long, value_enum)]
    pub exec: Option<ExecArg>,
    #[command(flatten)]
    pub(in crate::cli) shown: CounterexampleArgs,
    /// Print the counterexample alone, in a format of other tools
    #[arg(help_heading = headings::OUTPUT, long = "as", value_enum, value_name = "FORMAT", conflicts_with_all = ["json", "no_trace", "unfolded", "msc"])]
    pub format: Option<TraceFormatArg>,
    /// Write the counterexample to this file as a trail of SPIN (`spin -t -p -k FILE MODEL` replays it)
    #[arg(help_heading = headings::OUTPUT, long, value_name = "FILE")]
    pub spin_trail: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) expert: ExpertArgs,
}

/// A strategy of the table.
#[derive(Clone, Copy)]
pub struct NamedStrategy(pub &'static StrategyEntry);

impl std::fmt::Debug for NamedStrategy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.name)
    }
}

/// Reads the name of a strategy.
fn strategy_parser() -> impl TypedValueParser<Value = NamedStrategy> {
    let names = STRATEGIES.iter().map(|it| PossibleValue::new(it.name).help(it.summary));
    let entry = |name: String| NamedStrategy(strategy(&name).unwrap_or(&STRATEGIES[0]));
    PossibleValuesParser::new(names).map(entry)
}
