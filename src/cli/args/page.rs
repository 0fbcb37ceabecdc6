//! Flags of `report` and `graph`, and of what is told of the command line itself.

use super::ModelArgs;
use super::resources::size;
use clap::Args;
use std::path::PathBuf;

/// `spillway report`.
#[derive(Args, Clone, Debug)]
pub struct ReportArgs {
    /// The search directory, or a model, which is checked as `check` does; `check --report FILE` has all its flags
    #[arg(value_name = "DIR|MODEL")]
    pub target: PathBuf,
    /// Write the page to this file [default: called like the directory or the model, .html]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// The memory to look for the counterexample in [default: as the search had]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub memory: Option<u64>,
}

/// `spillway graph`.
#[derive(Args, Clone, Debug)]
pub struct GraphArgs {
    #[command(flatten)]
    pub(in crate::cli) model: ModelArgs,
    /// Write the graph to this file, not to standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Refuse a model of more states
    #[arg(long = "max-states", value_name = "N", default_value_t = 500)]
    pub states_max: u64,
    /// Tell at each step what it changes, and of states but the initial ones their numbers
    #[arg(long)]
    pub changes: bool,
}

/// `spillway completions`.
#[derive(Args, Clone, Debug)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// `spillway man`.
#[derive(Args, Clone, Debug)]
pub struct ManArgs {
    /// Write a page for each command to this folder [default: the first page, to standard output]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}
