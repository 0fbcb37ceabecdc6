//! The command line: reads flags, prints, sets exit codes. Nothing else does any of these.

mod args;
mod directory;
mod explain;
mod failure;
mod model;
mod progress;
mod run;
mod simulate;
mod slots;
mod status;
mod storage;
mod trace;

pub use directory::Job;

use args::{Cli, Command};
use clap::Parser;
use failure::Failure;
use std::process::ExitCode;

/// What a command ends with.
type Ending = Result<u8, Failure>;

/// Runs the command that the process was started with.
pub fn run() -> ExitCode {
    crate::search::return_large_blocks();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version requests are no errors.
            let code = if error.use_stderr() { failure::WRONG } else { failure::VERIFIED };
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let ending = match cli.command {
        Command::Check(args) => run::check(&args),
        Command::Resume(args) => run::resume(&args),
        Command::Status(args) => status::status(&args),
        Command::Trace(args) => trace::trace(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::Simulate(args) => simulate::simulate(&args),
    };
    match ending {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::from(failure.code)
        }
    }
}

/// Prints to standard output. A reader that went away ends the output, not the process.
fn print(text: &str) {
    use std::io::Write;
    let _ = std::io::stdout().write_all(text.as_bytes());
}
