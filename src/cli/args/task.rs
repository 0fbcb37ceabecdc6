//! Flags of `task`.

use super::resources::size;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `spillway task`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
A search in tasks: `plan` says what is to be done, `run` does a part of it, on
any machine that sees DIR, `commit` makes it the state of the search.
Exit codes: 0 done, 5 the plan is not the current one any more: plan again.")]
pub struct TaskArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: TaskCommand,
}

/// The commands of `spillway task`.
#[derive(Clone, Debug, Subcommand)]
pub enum TaskCommand {
    /// Say what is to be done next, as one line of JSON
    Plan(TaskPlanArgs),
    /// Do one task of a plan; one that has been done is not done again
    Run(TaskRunArgs),
    /// Make what the tasks of a plan did the state of the search
    Commit(TaskCommitArgs),
}

/// `spillway task plan`.
#[derive(Args, Clone, Debug)]
pub struct TaskPlanArgs {
    /// The search directory
    pub dir: PathBuf,
    /// Into how many tasks to share it out, at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub tasks: u32,
    /// Leave levels of fewer states to one process
    #[arg(long, value_name = "STATES", default_value_t = 200_000)]
    pub thin: u64,
}

/// `spillway task run`.
#[derive(Args, Clone, Debug)]
pub struct TaskRunArgs {
    /// The search directory
    pub dir: PathBuf,
    /// The plan, as `plan` called it
    #[arg(long, value_name = "ID")]
    pub plan: String,
    /// The number of the task, from 0
    #[arg(long, value_name = "I")]
    pub task: u32,
    /// The most memory the process may hold resident
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "1GiB")]
    pub memory: u64,
}

/// `spillway task commit`.
#[derive(Args, Clone, Debug)]
pub struct TaskCommitArgs {
    /// The search directory
    pub dir: PathBuf,
    /// The plan, as `plan` called it
    #[arg(long, value_name = "ID")]
    pub plan: String,
}
