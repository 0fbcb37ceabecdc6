//! What a session of a search may take, prints and writes.

use super::{headings, override_with};
use crate::exec::ExecutionMode;
use crate::session::CheckConfig;
use crate::session::config::{parse_duration, parse_size};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// How the model is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExecArg {
    /// Machine code, where this machine is supported
    Jit,
    /// The interpreter: the reference, many times slower
    Interp,
}

impl From<ExecArg> for ExecutionMode {
    fn from(arg: ExecArg) -> ExecutionMode {
        match arg {
            ExecArg::Jit => ExecutionMode::Jit,
            ExecArg::Interp => ExecutionMode::Interp,
        }
    }
}

/// How the result and the counterexample are printed.
#[derive(Args, Clone, Copy, Debug)]
pub struct CounterexampleArgs {
    /// Print the result and the counterexample as one JSON object
    #[arg(help_heading = headings::OUTPUT, long)]
    pub json: bool,
    /// Do not print the counterexample
    #[arg(help_heading = headings::OUTPUT, long)]
    pub no_trace: bool,
    /// Print each step of the counterexample, without folding repetitions
    #[arg(help_heading = headings::OUTPUT, long, conflicts_with = "json")]
    pub unfolded: bool,
    /// Print the counterexample as a message sequence chart
    #[arg(help_heading = headings::OUTPUT, long, conflicts_with_all = ["json", "no_trace", "unfolded"])]
    pub msc: bool,
}

/// What a session of a search may take, prints and writes. What is not given is as it was in the session before.
#[derive(Args, Clone, Debug)]
pub struct SessionArgs {
    /// The maximum resident memory of the process, as in 64MiB or 4GiB [default: 1GiB, or that of the session before]
    #[arg(help_heading = headings::LIMITS, long, value_name = "SIZE", value_parser = parse_size)]
    pub memory: Option<u64>,
    /// The number of threads [default: all cores that the memory suffices for]
    #[arg(help_heading = headings::LIMITS, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: Option<u16>,
    /// The maximum size of the search directory
    #[arg(help_heading = headings::LIMITS, long, value_name = "SIZE", value_parser = parse_size)]
    pub disk_limit: Option<u64>,
    /// The maximum time between two checkpoints, as in 30s or 10min [default: 10min, or that of the session before]
    #[arg(help_heading = headings::LIMITS, long, value_name = "TIME", value_parser = parse_duration)]
    pub checkpoint_every: Option<Duration>,
    /// Stop after the level that reaches this number of states; the search can be resumed
    #[arg(help_heading = headings::LIMITS, long, value_name = "N")]
    pub max_states: Option<u64>,
    /// Stop after this time; the search can be resumed
    #[arg(help_heading = headings::LIMITS, long, value_name = "TIME", value_parser = parse_duration)]
    pub max_time: Option<Duration>,
    /// The executor of the model [default: jit, or that of the session before]
    #[arg(help_heading = headings::MODEL, long, value_enum)]
    pub exec: Option<ExecArg>,
    #[command(flatten)]
    pub(in crate::cli) shown: CounterexampleArgs,
    /// Also print the use of resources, and unused reductions
    #[arg(help_heading = headings::OUTPUT, long, short)]
    pub verbose: bool,
    /// Write the counterexample to this file as a trail of SPIN (`spin -t -p -k FILE MODEL` replays it)
    #[arg(help_heading = headings::OUTPUT, long, value_name = "FILE")]
    pub spin_trail: Option<PathBuf>,
    /// Write the result to this file as an HTML page
    #[arg(help_heading = headings::OUTPUT, long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Write the verdict on each property to this file as JUnit XML
    #[arg(help_heading = headings::OUTPUT, long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write the violations to this file as SARIF, with the counterexample as code flow
    #[arg(help_heading = headings::OUTPUT, long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,
    /// Run this shell command at the end; SPILLWAY_VERDICT and others are in its environment
    #[arg(help_heading = headings::OUTPUT, long, value_name = "CMD")]
    pub notify: Option<String>,
    /// Count properties of the model that were not checked as violated (exit code 1)
    #[arg(help_heading = headings::PROPERTIES, long)]
    pub strict: bool,
}

impl SessionArgs {
    /// Sets what the flags say.
    pub(in crate::cli) fn apply(&self, config: &mut CheckConfig) {
        let limits = &mut config.limits;
        self.memory.into_iter().for_each(|it| limits.memory = it);
        override_with(&mut limits.threads, &self.threads);
        override_with(&mut limits.disk_limit, &self.disk_limit);
        self.checkpoint_every.into_iter().for_each(|it| limits.checkpoint_every = it);
        override_with(&mut limits.max_states, &self.max_states);
        override_with(&mut limits.max_time, &self.max_time);
        self.exec.into_iter().for_each(|it| limits.exec = it.into());
        let output = &mut config.output;
        let name = |path: &Option<PathBuf>| path.as_ref().map(|it| it.display().to_string());
        override_with(&mut output.notify, &self.notify);
        override_with(&mut output.report, &name(&self.report));
        override_with(&mut output.junit, &name(&self.junit));
        override_with(&mut output.sarif, &name(&self.sarif));
    }
}
