//! Flags of `report`.

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
