//! Options of a check. A configuration stores them; languages, executors and reductions read them.

use rkyv::Archive;
use serde::{Deserialize, Serialize};

/// How a program is executed.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
    Serialize,
    Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum ExecutionMode {
    /// As machine code, if the program can be compiled.
    #[default]
    Jit,
    /// By the interpreter.
    Interp,
}

/// The rule for a value outside the domain of its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OverflowRule {
    /// The step fails (DiVinE, Murphi).
    #[serde(rename = "error")]
    Fails,
    /// The value is reduced modulo the size of the domain (C, and so LTSmin's DVE and SPIN).
    #[serde(rename = "wrap")]
    Wraps,
}

/// The states without successors that are no deadlocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndRule {
    /// None (DVE, Petri nets).
    #[default]
    #[serde(rename = "stuck")]
    Never,
    /// None, and a state whose steps all lead back to it is a deadlock, too (Murphi).
    #[serde(rename = "stuttering")]
    NeverStuttering,
    /// States in which every process has ended or is at a location marked `valid_end` (Promela). Buffered channels
    /// need not be empty.
    AllAtValidEnd,
}

/// The meaning of a finite run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FiniteRunPolicy {
    /// Its last state repeats for ever.
    Stutter,
    /// It is ignored.
    #[serde(rename = "ignore")]
    Ignored,
}
