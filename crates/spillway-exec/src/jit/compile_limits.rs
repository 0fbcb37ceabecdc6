//! The limits of compiling a program.

use std::time::Duration;

/// The limits of compiling, and options of the code.
#[derive(Clone, Copy, Debug)]
pub struct CompileLimits {
    /// The time limit; the interpreter runs the remaining actions.
    pub time: Duration,
    /// The memory limit in bytes; the interpreter runs actions that would exceed it.
    pub memory: u64,
    /// Functions are compiled separately if all actions together have more parts than this (statements and
    /// expressions).
    pub inlined: u64,
    /// Whether code counts the executions of each action.
    pub counts: bool,
    /// The number of states and transitions of the interpreter before code is compiled, for each function of a process.
    /// With 0, all code is compiled at once.
    pub interpreted_per_function: u64,
}

impl Default for CompileLimits {
    fn default() -> CompileLimits {
        CompileLimits {
            time: TIME_MAX,
            memory: MEMORY_DEFAULT,
            inlined: INLINED_MAX,
            counts: true,
            interpreted_per_function: 0,
        }
    }
}

/// The number of states and transitions of the interpreter in a search before code is compiled, for each function of a
/// process. All functions are compiled, and the interpreter evaluates one for each process of a state. So the ratio of both
/// costs is proportional to their number for each process.
pub(crate) const INTERPRETED_PER_FUNCTION: u64 = 300;

/// The default time limit.
const TIME_MAX: Duration = Duration::from_millis(1500);

/// The default memory limit in bytes.
const MEMORY_DEFAULT: u64 = 256 << 20;

/// Programs up to this size are compiled with all functions at their calls. This gives the faster code and takes a
/// quarter of a second at most.
const INLINED_MAX: u64 = 6000;

/// The memory that Cranelift takes for an instruction, in bytes. Measured: 600 to 750 on functions of 50,000 to
/// 130,000 instructions.
const INSTRUCTION_BYTES: u64 = 1000;

/// The estimated number of instructions for a part (statement or expression). Measured: 5 to 12.
const PART_INSTRUCTIONS: u64 = 6;

/// The maximum size of a function in instructions: the time of the back end grows more than linearly.
const INSTRUCTIONS_MAX: u64 = 150_000;

impl CompileLimits {
    /// Returns the maximum number of instructions of a function.
    pub(super) fn instructions(self) -> u64 {
        (self.memory / INSTRUCTION_BYTES).min(INSTRUCTIONS_MAX)
    }

    /// Returns the estimated maximum number of parts.
    pub(super) fn parts(self) -> u64 {
        self.instructions() / PART_INSTRUCTIONS
    }
}
