//! The `spillway` command.

use spillway::cli::ExitingAllocator;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: ExitingAllocator = ExitingAllocator;

fn main() -> ExitCode {
    spillway::cli::run()
}
