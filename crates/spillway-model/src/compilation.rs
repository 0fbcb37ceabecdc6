//! The result of compiling a program, or why there is no machine code, as reports show it.

use std::time::Duration;

/// The result of compiling a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompilationStats {
    /// The compile time.
    pub time: Duration,
    /// The size of the machine code in bytes.
    pub bytes: usize,
    /// The number of actions that the interpreter runs.
    pub interpreted: usize,
}

/// Why the compiler rejected a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct NotCompiled {
    /// The construct or limit that prevents compilation.
    pub reason: String,
}

/// Why a program is interpreted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InterpretationReason {
    /// The caller requested the interpreter.
    #[error("as requested")]
    Requested,
    /// Compiling takes longer than interpreting the few states that were expanded.
    #[error("because it expanded few states")]
    FewStates,
    /// The compiler rejected the program.
    #[error(transparent)]
    NotCompiled(NotCompiled),
    /// This build has no compiler.
    #[error("this build has no compiler")]
    NoCompiler,
}
