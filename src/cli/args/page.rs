//! Flags of `report`, `values` and `graph`, and of what is told of the command line itself.

use super::ModelArgs;
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
    /// The search directory, or a model, which is checked as `check` does; `check --report FILE` has all its flags
    #[arg(value_name = "DIR|MODEL")]
    pub target: PathBuf,
    /// Write the page to this file [default: called like the directory or the model, .html]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// The memory to look for the counterexample in [default: as the search had]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub memory: Option<u64>,
}

/// Names of variables.
#[derive(Clone, Debug)]
pub struct VariableNames(pub(in crate::cli) Vec<String>);

/// A text that is no list of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("it is names with commas between them, as in x,y")]
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
    /// Tell what these variables come to, all their numbers added up
    #[arg(long = "sum", value_name = "NAME,...", value_parser = names)]
    pub sums: Vec<VariableNames>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// The most memory the process may hold resident [default: what the search had]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub memory: Option<u64>,
}

/// `spillway watch`.
#[derive(Args, Clone, Debug)]
pub struct WatchArgs {
    /// The search directories [default: those of all searches that run in temporary ones]
    #[arg(value_name = "DIR")]
    pub dirs: Vec<PathBuf>,
    /// Show them to browsers, too, at this address, or at this port of 127.0.0.1; 0 takes any that is free
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = address)]
    pub listen: Option<SocketAddr>,
}

/// A text that is no address to listen to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("it is a port, as 8080, or an address and a port, as 127.0.0.1:8080")]
struct ListenAddressError;

/// An address to listen to.
fn address(text: &str) -> Result<SocketAddr, ListenAddressError> {
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
    /// Write the graph to this file, not to standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Refuse a model of more states
    #[arg(long = "max-states", value_name = "N", default_value_t = 500)]
    pub states_max: u64,
    /// Draw the model itself, with the state that it begins in
    #[arg(long, conflicts_with_all = ["changes", "states_max"])]
    pub structure: bool,
    /// Draw it as it is at the end of the counterexample that a search directory keeps, or behind a step of it
    #[arg(long, value_name = "DIR[:STEP]", requires = "structure")]
    pub from: Option<String>,
    /// Tell at each step what it changes, and of states but the initial ones their numbers
    #[arg(long)]
    pub changes: bool,
}

/// `spillway new`.
#[derive(Args, Clone, Debug)]
pub struct NewArgs {
    /// The language
    #[arg(value_parser = languages::parser())]
    pub language: &'static Language,
    /// The file, which must not be there yet [default: model, with the usual ending]
    pub file: Option<PathBuf>,
}

/// `spillway doctor`.
#[derive(Args, Clone, Debug)]
pub struct DoctorArgs {
    /// Where search directories would be [default: where temporary files are]
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
    /// Write a page for each command to this folder [default: the first page, to standard output]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}
