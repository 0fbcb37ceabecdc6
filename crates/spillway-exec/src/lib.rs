//! Execution of programs: from the program form to a [`StateSpace`](spillway_model::StateSpace).
//!
//! [`Interp`] is the reference semantics: an interpreter, which also describes steps for users. `Jit` compiles the
//! same semantics to machine code and gives the same successors in the same order. [`Executor`] picks one of them. An
//! engine that needs only some transitions of a state, or their action instances, requests a [`SelectiveStateSpace`]
//! from the executor.

// Without the compiler, the parts that serve only compiled code are unused.
#![cfg_attr(not(feature = "jit"), allow(dead_code, unused_imports))]

mod action_selection;
mod compiler_support;
mod executor;
mod fairness;
pub mod interp;
#[cfg(feature = "jit")]
pub mod jit;

pub use action_selection::{
    GroupedSuccessors, LABEL_BYTES, LabelledSink, SelectiveStateSpace, labelled, split_by_ends,
};
pub use compiler_support::CompilerSupport;
pub use executor::Executor;
pub use fairness::{FairExpander, FairExpanderError, ProcessNumbering, ProcessNumberingError};
pub use interp::{Interp, ViolationDistance};
#[cfg(feature = "jit")]
pub use jit::Jit;
pub use spillway_model::{CompilationStats, ExecutionMode, InterpretationReason};
