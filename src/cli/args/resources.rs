//! What a session of a search may take, prints and writes.

use super::override_with;
use crate::exec::ExecutionMode;
use crate::session::CheckConfig;
use crate::session::config::{parse_duration, parse_size};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// How the model is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExecArg {
    /// As machine code, where there is a back end for this machine
    Jit,
    /// By the interpreter, many times slower: the reference
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

/// What a session of a search may take, prints and writes. What is not given is as it was in the session before.
#[derive(Args, Clone, Debug)]
pub struct SessionArgs {
    /// The most memory the process may hold resident, such as 64MiB or 4GiB [default: 1GiB, or what the search had]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub memory: Option<u64>,
    /// Threads to search with [default: all cores, or as many as the memory is enough for]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: Option<u16>,
    /// The most bytes the search directory may take
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub disk_limit: Option<u64>,
    /// The longest time between two checkpoints, such as 30s or 10min [default: 10min, or what the search had]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub checkpoint_every: Option<Duration>,
    /// Stop, resumably, at the end of the level that reaches this many states
    #[arg(long, value_name = "N")]
    pub max_states: Option<u64>,
    /// Stop, resumably, after this time
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub max_time: Option<Duration>,
    /// How the model is run; the counts do not depend on it [default: jit, or as the search was]
    #[arg(long, value_enum)]
    pub exec: Option<ExecArg>,
    /// Print the result as one JSON object, the counterexample in it
    #[arg(long)]
    pub json: bool,
    /// Leave the counterexample out
    #[arg(long)]
    pub no_trace: bool,
    /// Show each step of the counterexample, also where some come again and again
    #[arg(long, conflicts_with = "json")]
    pub unfolded: bool,
    /// Show the counterexample as a message sequence chart
    #[arg(long, conflicts_with_all = ["json", "no_trace", "unfolded"])]
    pub msc: bool,
    /// Tell what the search took, too: of time, memory, disk and store, and which reductions did not pay
    #[arg(long, short)]
    pub verbose: bool,
    /// Write the counterexample to this file as a trail, which SPIN replays: `spin -t -p -k FILE MODEL`
    #[arg(long, value_name = "FILE")]
    pub spin_trail: Option<PathBuf>,
    /// Write what was found to this file, as a page for a browser
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Write what came of each thing that was looked for to this file, as JUnit's XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write what is violated to this file, as SARIF, the counterexample as its code flow
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,
    /// Run this command at the end, by `sh`, with SPILLWAY_VERDICT and more in its environment
    #[arg(long, value_name = "CMD")]
    pub notify: Option<String>,
    /// End with exit code 1 where the model asks for something that was not checked, too
    #[arg(long)]
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
