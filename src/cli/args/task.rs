//! Flags of `task`.

use crate::session::config::parse_size;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// `spillway task`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
A search in tasks: `plan` writes the list of tasks, `run` does one of them, on
any machine with access to DIR, `commit` adds the results to the search.
Exit codes: 0 done, 5 the plan is no longer the current one: plan again.")]
pub struct TaskArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: TaskCommand,
}

/// The commands of `spillway task`.
#[derive(Clone, Debug, Subcommand)]
pub enum TaskCommand {
    /// Print the next work, as one line of JSON
    Plan {
        /// The search directory
        dir: PathBuf,
        #[command(flatten)]
        what: TaskPlanArgs,
    },
    /// Run one task of a plan; a finished task is not repeated
    Run {
        /// The search directory
        dir: PathBuf,
        #[command(flatten)]
        what: TaskRunArgs,
        #[command(flatten)]
        within: TaskResourceArgs,
    },
    /// Add the results of the tasks of a plan to the search
    Commit {
        /// The search directory
        dir: PathBuf,
        #[command(flatten)]
        what: TaskCommitArgs,
    },
    /// Execute the commands on standard input, each as after `task`, without DIR
    #[command(after_help = "\
The model is read and compiled once. Each line is answered by one line of JSON
with the exit code, as `code`, and the message on standard error, as `error`.
The command ends at the end of the input.")]
    Serve {
        /// The search directory
        dir: PathBuf,
        #[command(flatten)]
        within: TaskResourceArgs,
        /// Request missing files of DIR by lines of JSON
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

/// The division of the next phase into tasks.
#[derive(Args, Clone, Copy, Debug)]
pub struct TaskPlanArgs {
    /// The maximum number of tasks
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub tasks: u32,
    /// Plan no tasks for levels with fewer states
    #[arg(long, value_name = "STATES", default_value_t = 200_000)]
    pub thin: u64,
}

/// Which task to do.
#[derive(Args, Clone, Debug)]
pub struct TaskRunArgs {
    /// The name of the plan, as `plan` printed it
    #[arg(long, value_name = "ID")]
    pub plan: String,
    /// The number of the task, from 0
    #[arg(long, value_name = "I")]
    pub task: u32,
}

/// What to commit.
#[derive(Args, Clone, Debug)]
pub struct TaskCommitArgs {
    /// The name of the plan, as `plan` printed it
    #[arg(long, value_name = "ID")]
    pub plan: String,
}

/// What doing tasks may take.
#[derive(Args, Clone, Copy, Debug)]
pub struct TaskResourceArgs {
    /// The maximum resident memory of the process
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "1GiB")]
    pub memory: u64,
}
