//! The choice between compiled code and the interpreter.

#[cfg(feature = "jit")]
use super::Jit;
#[cfg(feature = "jit")]
use super::jit::CompileLimits;
use super::{CompilationStats, ExecutionMode, Interp, InterpretationReason, SelectiveStateSpace};
use spillway_analysis::instances::NumberingError;
use spillway_ir::ActionId;
use spillway_model::StateSpace;
#[cfg(feature = "jit")]
use std::sync::Arc;

/// A program with its way of execution.
#[derive(Clone)]
pub enum Executor<'a> {
    /// Executed as machine code.
    #[cfg(feature = "jit")]
    Compiled(Arc<Jit<'a>>),
    /// Executed by the interpreter, with the reason.
    Interpreted(&'a Interp, InterpretationReason),
}

impl<'a> Executor<'a> {
    /// Prepares a program for execution in the requested mode, or by the interpreter.
    pub fn new(interp: &'a Interp, wanted: ExecutionMode) -> Executor<'a> {
        Executor::of(interp, wanted, None, true)
    }

    /// Does the same within limits. Compiling takes at most about `memory` bytes. `counts` says whether compiled code
    /// counts the executions of each action.
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

    /// Returns an executor of the same mode for another program.
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

    /// Returns the transition system.
    pub fn model(&self) -> &dyn StateSpace {
        match self {
            #[cfg(feature = "jit")]
            Executor::Compiled(jit) => &**jit,
            Executor::Interpreted(interp, _) => *interp,
        }
    }

    /// Returns the transition system, owned.
    pub fn into_model(self) -> Box<dyn StateSpace + 'a> {
        match self {
            #[cfg(feature = "jit")]
            Executor::Compiled(jit) => Box::new(jit),
            Executor::Interpreted(interp, _) => Box::new(interp),
        }
    }

    /// Returns the interface for expanding chosen action instances, or why it is not available.
    pub fn selective(&self) -> Result<Box<dyn SelectiveStateSpace + 'a>, NumberingError> {
        Ok(match self {
            #[cfg(feature = "jit")]
            Executor::Compiled(jit) => Box::new(jit.selector()?),
            Executor::Interpreted(interp, _) => Box::new(interp.selector()?),
        })
    }

    /// Returns the machine code of an action as text, or why there is none.
    #[cfg_attr(not(feature = "jit"), allow(unused_variables))]
    pub fn assembly(&self, action: ActionId) -> Result<String, InterpretationReason> {
        match self {
            #[cfg(feature = "jit")]
            Executor::Compiled(jit) => {
                jit.assembly(action).map_err(InterpretationReason::NotCompiled)
            }
            Executor::Interpreted(_, why) => Err(why.clone()),
        }
    }

    /// Returns the result of compiling, or why the program is interpreted.
    pub fn compiled(&self) -> Result<CompilationStats, &InterpretationReason> {
        match self {
            #[cfg(feature = "jit")]
            Executor::Compiled(jit) => Ok(jit.compiled()),
            Executor::Interpreted(_, why) => Err(why),
        }
    }
}
