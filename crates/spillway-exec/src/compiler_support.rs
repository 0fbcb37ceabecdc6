//! Whether this build can compile programs on this machine.

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
