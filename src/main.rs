//! The `spillway` command.

use spillway::cli::Allocator;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

fn main() -> ExitCode {
    spillway::cli::run()
}
