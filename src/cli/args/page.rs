//! Flags of the commands that write pages, graphs and values, and of those that describe the command line and the machine.

use super::expert_args::ExpertArgs;
use super::{ModelArgs, ModelFlags};
use crate::cli::languages;
use crate::front::Language;
use crate::session::config::parse_size;
use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;
use thiserror::Error;

/// `spillway report`.
#[derive(Args, Clone, Debug)]
pub struct ReportArgs {
    /// The search directory, or a model, which is then checked; `check --report FILE` has all flags of `check`
    #[arg(value_name = "DIR|MODEL")]
    pub target: PathBuf,
    /// Write the page to this file [default: the name of the directory or the model, with .html]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// The maximum resident memory of the process [default: that of the search]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub memory: Option<u64>,
}

/// Names of variables.
#[derive(Clone, Debug)]
pub struct VariableNames(pub(in crate::cli) Vec<String>);

/// A text that is no list of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("expected names separated by commas, as in x,y")]
struct VariableNamesError;

/// Names with commas between them.
fn names(text: &str) -> Result<VariableNames, VariableNamesError> {
    let names: Vec<String> = text.split(',').map(|it| it.trim().to_owned()).collect();
    match names.iter().any(String::is_empty) {
        true => Err(VariableNamesError),
        false => Ok(VariableNames(names)),
    }
}

/// `spillway values`.
#[derive(Args, Clone, Debug)]
pub struct ValuesArgs {
    /// The search directory
    pub dir: PathBuf,
    /// Print the least and the greatest sum of these variables
    #[arg(long = "sum", value_name = "NAME,...", value_parser = names)]
    pub sums: Vec<VariableNames>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// The maximum resident memory of the process [default: that of the search]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub memory: Option<u64>,
}

/// `spillway watch`.
#[derive(Args, Clone, Debug)]
pub struct WatchArgs {
    /// The search directories [default: all running searches in temporary directories]
    #[arg(value_name = "DIR")]
    pub dirs: Vec<PathBuf>,
    /// Also serve a page at this address, or at this port of 127.0.0.1; port 0 selects a free port
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = listen_address)]
    pub listen: Option<SocketAddr>,
}

/// `spillway explore`.
#[derive(Args, Clone, Debug)]
pub struct ExploreArgs {
    /// The model, or a search directory, whose counterexample is opened
    #[arg(value_name = "MODEL|DIR")]
    pub target: PathBuf,
    /// Serve the pages at this address, or at this port of 127.0.0.1 [default: a free port]
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = listen_address)]
    pub listen: Option<SocketAddr>,
    #[command(flatten)]
    pub(in crate::cli) flags: ModelFlags,
    #[command(flatten)]
    pub(in crate::cli) expert: ExpertArgs,
}

/// A text that is no address to listen to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("expected a port, as in 8080, or an address and a port, as in 127.0.0.1:8080")]
pub(super) struct ListenAddressError;

/// An address to listen to.
pub(super) fn listen_address(text: &str) -> Result<SocketAddr, ListenAddressError> {
    let port = text.parse().map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
    let named = || {
        let named = text.strip_prefix("localhost:")?;
        named.parse().ok().map(|port| SocketAddr::from(([127, 0, 0, 1], port)))
    };
    port.ok().or_else(named).or_else(|| text.parse().ok()).ok_or(ListenAddressError)
}

/// `spillway graph`.
#[derive(Args, Clone, Debug)]
pub struct GraphArgs {
    #[command(flatten)]
    pub(in crate::cli) model: ModelArgs,
    /// Write the graph to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Reject models with more states
    #[arg(long = "max-states", value_name = "N", default_value_t = 500)]
    pub states_max: u64,
    /// Draw the net itself, with its initial marking
    #[arg(long, conflicts_with_all = ["changes", "states_max"])]
    pub structure: bool,
    /// Draw the state at the end of the counterexample in this search directory, or after a step of it
    #[arg(long, value_name = "DIR[:STEP]", requires = "structure")]
    pub from: Option<String>,
    /// Label each transition with its changes, and all states but the initial ones with their numbers
    #[arg(long)]
    pub changes: bool,
    #[command(flatten)]
    pub(in crate::cli) expert: ExpertArgs,
}

/// `spillway new`.
#[derive(Args, Clone, Debug)]
pub struct NewArgs {
    /// The language
    #[arg(value_parser = languages::parser())]
    pub language: &'static Language,
    /// The new file [default: model, with the extension of the language]
    pub file: Option<PathBuf>,
}

/// `spillway doctor`.
#[derive(Args, Clone, Debug)]
pub struct DoctorArgs {
    /// The place of search directories [default: the folder of temporary files]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
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
    /// Write a page for each command to this folder [default: print the first page]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}
