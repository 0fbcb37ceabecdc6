//! What compiling gave: as reports tell it, whoever compiled.

use std::time::Duration;

/// What compiling gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompilationStats {
    /// How long it took.
    pub time: Duration,
    /// Bytes of machine code.
    pub bytes: usize,
    /// Actions that are left to the interpreter.
    pub interpreted: usize,
}
