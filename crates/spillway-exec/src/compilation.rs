//! The result of compiling a program, or why there is no machine code, as reports show it.

use std::time::Duration;

/// The result of compiling a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompilationStats {
    /// The compile time.
    pub time: Duration,
    /// The size of the machine code in bytes.
    pub bytes: usize,
    /// The number of actions that the interpreter runs.
    pub interpreted: usize,
}

/// Whether programs can be compiled to machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompilerSupport {
    /// They can.
    Available,
    /// The compiler does not support this machine.
    UnsupportedMachine,
    /// This build has no compiler.
    NotBuilt,
}

impl CompilerSupport {
    /// Determines it for this build on this machine.
    pub fn detect() -> CompilerSupport {
        #[cfg(feature = "jit")]
        return match cranelift_native::builder() {
            Ok(_) => CompilerSupport::Available,
            Err(_) => CompilerSupport::UnsupportedMachine,
        };
        #[cfg(not(feature = "jit"))]
        return CompilerSupport::NotBuilt;
    }
}

/// Why the compiler rejected a program.
#[cfg(feature = "jit")]
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
    /// The compiler rejected the program.
    #[cfg(feature = "jit")]
    #[error(transparent)]
    NotCompiled(NotCompiled),
    /// This build has no compiler.
    #[error("this build has no compiler")]
    NoCompiler,
}
