//! What compiling gave, or why there is no machine code: as reports tell it, whoever compiled.

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

/// Why the compiler rejected a program.
#[cfg(feature = "jit")]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct NotCompiled {
    /// What stands in the way.
    pub reason: String,
}

/// Why a program is interpreted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InterpretationReason {
    /// The caller asked for the interpreter.
    #[error("as asked for")]
    Requested,
    /// The compiler rejected the program.
    #[cfg(feature = "jit")]
    #[error(transparent)]
    NotCompiled(NotCompiled),
    /// This build has no compiler.
    #[error("as it was built without a compiler")]
    NoCompiler,
}
