//! Flags of the servers of editors.

use super::headings;
use crate::session::config::{parse_duration, parse_size};
use clap::Args;
use std::time::Duration;

/// `spillway lsp` and `spillway dap`: the bounds of the checks that an editor starts.
#[derive(Args, Clone, Debug)]
pub struct EditorArgs {
    /// The maximum resident memory of a check [default: 512MiB]
    #[arg(help_heading = headings::LIMITS, long, value_name = "SIZE", value_parser = parse_size)]
    pub memory: Option<u64>,
    /// Stop a check after this time [default: 60s]
    #[arg(help_heading = headings::LIMITS, long, value_name = "TIME", value_parser = parse_duration)]
    pub max_time: Option<Duration>,
    /// Stop a check after the level that reaches this number of states
    #[arg(help_heading = headings::LIMITS, long, value_name = "N")]
    pub max_states: Option<u64>,
    /// Use standard input and output, which is the default; editors may give this flag
    #[arg(long, hide = true)]
    pub stdio: bool,
}
