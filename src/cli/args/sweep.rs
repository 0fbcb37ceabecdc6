//! Flags of `sweep`.

use super::{CheckArgs, headings};
use crate::session::config::ConstantValues;
use clap::{Args, ValueEnum};

/// `spillway sweep`.
#[derive(Args, Clone, Debug)]
pub struct SweepArgs {
    #[command(flatten)]
    pub(in crate::cli) check: CheckArgs,
    /// Check the model with each of these values of a constant; several lists give all combinations
    #[arg(help_heading = headings::MODEL, long = "over", value_name = "NAME=VALUE,...|FIRST..LAST")]
    pub over: Vec<ConstantValues>,
    /// Print the table in a format of other tools
    #[arg(help_heading = headings::OUTPUT, long = "as", value_enum, value_name = "FORMAT", conflicts_with = "json")]
    pub format: Option<SweepFormatArg>,
}

/// A format that other tools read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SweepFormatArg {
    /// Comma-separated values, a line for each row
    Csv,
}
