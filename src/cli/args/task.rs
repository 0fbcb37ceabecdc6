//! Flags of `task`.

use crate::session::config::parse_size;
use clap::{Args, Parser, Subcommand};
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
    Plan {
        /// The search directory
        dir: PathBuf,
        #[command(flatten)]
        what: TaskPlanArgs,
    },
    /// Do one task of a plan; one that has been done is not done again
    Run {
        /// The search directory
        dir: PathBuf,
        #[command(flatten)]
        what: TaskRunArgs,
        #[command(flatten)]
        within: TaskResourceArgs,
    },
    /// Make what the tasks of a plan did the state of the search
    Commit {
        /// The search directory
        dir: PathBuf,
        #[command(flatten)]
        what: TaskCommitArgs,
    },
    /// Do what lines on standard input say, each as behind `task`, without DIR
    #[command(after_help = "\
The model is read and compiled once, however many lines there are. Each is
answered by one line of JSON with the exit code it would have, as `code`, and
what would be said on standard error, as `error`. It ends with the input.")]
    Serve {
        /// The search directory
        dir: PathBuf,
        #[command(flatten)]
        within: TaskResourceArgs,
        /// DIR has copies of files that lie elsewhere: ask for them by lines of JSON
        #[arg(long)]
        asks: bool,
    },
}

/// Something to be done in a search directory, without its name: a line that `serve` reads.
#[derive(Clone, Debug, Parser)]
#[command(no_binary_name = true, arg_required_else_help = false, disable_help_flag = true)]
#[command(disable_help_subcommand = true)]
pub enum TaskRequest {
    /// What `spillway task plan` does.
    Plan(TaskPlanArgs),
    /// What `spillway task run` does.
    Run(TaskRunArgs),
    /// What `spillway task commit` does.
    Commit(TaskCommitArgs),
}

/// How to share out what is to be done.
#[derive(Args, Clone, Copy, Debug)]
pub struct TaskPlanArgs {
    /// Into how many tasks to share it out, at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub tasks: u32,
    /// Leave levels of fewer states to one process
    #[arg(long, value_name = "STATES", default_value_t = 200_000)]
    pub thin: u64,
}

/// Which task to do.
#[derive(Args, Clone, Debug)]
pub struct TaskRunArgs {
    /// The plan, as `plan` called it
    #[arg(long, value_name = "ID")]
    pub plan: String,
    /// The number of the task, from 0
    #[arg(long, value_name = "I")]
    pub task: u32,
}

/// What to commit.
#[derive(Args, Clone, Debug)]
pub struct TaskCommitArgs {
    /// The plan, as `plan` called it
    #[arg(long, value_name = "ID")]
    pub plan: String,
}

/// What doing tasks may take.
#[derive(Args, Clone, Copy, Debug)]
pub struct TaskResourceArgs {
    /// The most memory the process may hold resident
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "1GiB")]
    pub memory: u64,
}
