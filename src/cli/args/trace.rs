//! Flags of `trace`.

use crate::cli::output;
use crate::report::{TraceDisplayOptions, TraceFormat};
use crate::session::config::parse_size;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `spillway trace`.
#[derive(Args, Clone, Debug)]
pub struct TraceArgs {
    /// The search directory
    pub dir: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// Print the first counterexample in a format of other tools
    #[arg(long = "as", value_enum, value_name = "FORMAT", conflicts_with_all = ["json", "last", "only", "msc", "unfolded"])]
    pub format: Option<TraceFormatArg>,
    /// Print the value of these variables and conditions in each state of the first counterexample
    #[arg(long, value_name = "EXPR,...", conflicts_with_all = ["format", "spin_trail", "last", "only", "msc", "unfolded"])]
    pub eval: Vec<String>,
    /// Compare the first counterexample with that of another search directory
    #[arg(long, value_name = "DIR", conflicts_with_all = ["eval", "format", "spin_trail", "last", "only", "msc", "unfolded"])]
    pub diff: Option<PathBuf>,
    /// The maximum resident memory of the process [default: that of the search]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub memory: Option<u64>,
    /// Write the first counterexample to this file as a trail of SPIN (`spin -t -p -k FILE MODEL` replays it)
    #[arg(long, value_name = "FILE")]
    pub spin_trail: Option<PathBuf>,
    #[command(flatten)]
    pub view: TraceViewArgs,
}

/// What is shown of counterexamples.
#[derive(Args, Clone, Debug, Default)]
pub struct TraceViewArgs {
    /// Print only the last N steps, after the state in which they begin
    #[arg(long, value_name = "N", conflicts_with = "json")]
    last: Option<u64>,
    /// Print only these variables, and the steps that change them
    #[arg(long, value_name = "VARIABLE,...", value_delimiter = ',', conflicts_with = "json")]
    only: Vec<String>,
    /// Print a message sequence chart: a column for each process, an arrow for each message
    #[arg(long, conflicts_with_all = ["json", "only"])]
    msc: bool,
    /// Print each step, without folding repetitions
    #[arg(long, conflicts_with_all = ["json", "msc"])]
    unfolded: bool,
}

impl TraceViewArgs {
    pub(in crate::cli) fn view(&self) -> TraceDisplayOptions {
        let (last, only) = (self.last, self.only.clone());
        let width = output::columns_of_output();
        TraceDisplayOptions { last, only, chart: self.msc, unfolded: self.unfolded, width }
    }
}

/// A format that other tools read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TraceFormatArg {
    /// The informal trace format of Apalache: states, as JSON
    Itf,
    /// A table of the steps, and the variables after each
    Csv,
    /// A sequence diagram of PlantUML
    Plantuml,
    /// A sequence diagram of Mermaid
    Mermaid,
    /// The states as TLC prints them
    #[value(name = TraceFormat::TLC_NAME)]
    Tlc,
}

impl From<TraceFormatArg> for TraceFormat {
    fn from(it: TraceFormatArg) -> TraceFormat {
        match it {
            TraceFormatArg::Itf => TraceFormat::Itf,
            TraceFormatArg::Csv => TraceFormat::Csv,
            TraceFormatArg::Plantuml => TraceFormat::PlantUml,
            TraceFormatArg::Mermaid => TraceFormat::Mermaid,
            TraceFormatArg::Tlc => TraceFormat::Tlc,
        }
    }
}
