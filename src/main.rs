//! The `spillway` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    spillway::cli::run()
}
