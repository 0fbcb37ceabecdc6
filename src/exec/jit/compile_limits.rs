//! What compiling a program may take.

use std::time::Duration;

/// What is compiled, and what that may take.
#[derive(Clone, Copy, Debug)]
pub struct CompileLimits {
    /// What is not compiled by then is interpreted.
    pub time: Duration,
    /// What would take more memory than this, in bytes, is interpreted.
    pub memory: u64,
    /// Where all actions together have more parts than this (statements and expressions), functions
    /// that they call are compiled by themselves.
    pub inlined: u64,
    /// Whether code counts how often each action is taken.
    pub counts: bool,
}

impl Default for CompileLimits {
    fn default() -> CompileLimits {
        CompileLimits { time: TIME_MAX, memory: MEMORY_DEFAULT, inlined: INLINED_MAX, counts: true }
    }
}

/// Compiling goes on for at most this long; what is not compiled by then is interpreted.
const TIME_MAX: Duration = Duration::from_millis(1500);

/// The memory that compiling may take where nobody says, in bytes.
const MEMORY_DEFAULT: u64 = 256 << 20;

/// Programs up to this size are compiled with all functions where they are called: that is the
/// faster code, and takes a quarter of a second at most.
const INLINED_MAX: u64 = 6000;

/// The memory that the back end takes for an instruction, in bytes. Measured: 600 to 750 on
/// functions of 50,000 to 130,000 instructions.
const INSTRUCTION_BYTES: u64 = 1000;

/// About so many instructions become of a part of a statement or expression. Measured: 5 to 12.
const PART_INSTRUCTIONS: u64 = 6;

/// More are not compiled as one function: the back end takes more than linear time.
const INSTRUCTIONS_MAX: u64 = 150_000;

impl CompileLimits {
    /// How many instructions a function may have.
    pub(super) fn instructions(self) -> u64 {
        (self.memory / INSTRUCTION_BYTES).min(INSTRUCTIONS_MAX)
    }

    /// About how many parts.
    pub(super) fn parts(self) -> u64 {
        self.instructions() / PART_INSTRUCTIONS
    }
}
