//! Compiled or interpreted: the choice, and what came of it.

#[cfg(feature = "jit")]
use super::Jit;
#[cfg(feature = "jit")]
use super::jit::CompileLimits;
use super::{CompilationStats, Interp, InterpretationReason, SelectiveStateSpace};
use crate::analysis::instances::NumberingError;
use crate::model::StateSpace;
use rkyv::{Archive, Deserialize, Serialize};
#[cfg(feature = "jit")]
use std::sync::Arc;

/// How a program is run.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Archive,
    Serialize,
    Deserialize,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum ExecutionMode {
    /// As machine code, where that can be made.
    #[default]
    Jit,
    /// By the interpreter.
    Interp,
}

/// A program being run.
#[derive(Clone)]
pub enum Executor<'a> {
    /// As machine code.
    #[cfg(feature = "jit")]
    Compiled(Arc<Jit<'a>>),
    /// By the interpreter, and why.
    Interpreted(&'a Interp, InterpretationReason),
}

impl<'a> Executor<'a> {
    /// Prepares a program to be run as asked for, or by the interpreter.
    pub fn new(interp: &'a Interp, wanted: ExecutionMode) -> Executor<'a> {
        Executor::of(interp, wanted, None, true)
    }

    /// The same; compiling takes about so many bytes of memory at most, and it is said whether compiled code counts how
    /// often each action is taken.
    pub fn with_limits(
        interp: &'a Interp,
        wanted: ExecutionMode,
        memory: u64,
        counts: bool,
    ) -> Executor<'a> {
        Executor::of(interp, wanted, Some(memory), counts)
    }

    fn of(
        interp: &'a Interp,
        wanted: ExecutionMode,
        memory: Option<u64>,
        counts: bool,
    ) -> Executor<'a> {
        match wanted {
            ExecutionMode::Interp => Executor::Interpreted(interp, InterpretationReason::Requested),
            ExecutionMode::Jit => Executor::compile(interp, memory, counts),
        }
    }

    #[cfg(feature = "jit")]
    fn compile(interp: &'a Interp, memory: Option<u64>, counts: bool) -> Executor<'a> {
        let default = CompileLimits::default();
        let limits = CompileLimits { memory: memory.unwrap_or(default.memory), counts, ..default };
        match Jit::within(interp, limits) {
            Ok(jit) => Executor::Compiled(Arc::new(jit)),
            Err(why) => Executor::Interpreted(interp, InterpretationReason::NotCompiled(why)),
        }
    }

    #[cfg(not(feature = "jit"))]
    fn compile(interp: &'a Interp, _: Option<u64>, _: bool) -> Executor<'a> {
        Executor::Interpreted(interp, InterpretationReason::NoCompiler)
    }

    /// Another program, run in the same way.
    pub fn same_mode_for(&self, interp: &'a Interp) -> Executor<'a> {
        match self {
            #[cfg(feature = "jit")]
            Executor::Compiled(jit) => {
                let CompileLimits { memory, counts, .. } = jit.limits();
                Executor::compile(interp, Some(memory), counts)
            }
            Executor::Interpreted(_, why) => Executor::Interpreted(interp, why.clone()),
        }
    }

    /// The transition system.
    pub fn model(&self) -> &dyn StateSpace {
        match self {
            #[cfg(feature = "jit")]
            Executor::Compiled(jit) => &**jit,
            Executor::Interpreted(interp, _) => *interp,
        }
    }

    /// The transition system, owned.
    pub fn into_model(self) -> Box<dyn StateSpace + 'a> {
        match self {
            #[cfg(feature = "jit")]
            Executor::Compiled(jit) => Box::new(jit),
            Executor::Interpreted(interp, _) => Box::new(interp),
        }
    }

    /// Its steps by the choice of what they begin with, or why that is not to be had.
    pub fn selective(&self) -> Result<Box<dyn SelectiveStateSpace + 'a>, NumberingError> {
        Ok(match self {
            #[cfg(feature = "jit")]
            Executor::Compiled(jit) => Box::new(jit.selector()?),
            Executor::Interpreted(interp, _) => Box::new(interp.selector()?),
        })
    }

    /// What compiling gave, or why the program is interpreted.
    pub fn compiled(&self) -> Result<CompilationStats, &InterpretationReason> {
        match self {
            #[cfg(feature = "jit")]
            Executor::Compiled(jit) => Ok(jit.compiled()),
            Executor::Interpreted(_, why) => Err(why),
        }
    }
}
