//! The choice between compiled code and the interpreter.

#[cfg(feature = "jit")]
use super::Jit;
#[cfg(feature = "jit")]
use super::jit::{CompileLimits, INTERPRETED_PER_FUNCTION};
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
    /// Prepares a program for execution in the requested mode. A program that cannot be compiled is interpreted.
    pub fn new(interp: &'a Interp, wanted: ExecutionMode) -> Executor<'a> {
        match wanted {
            ExecutionMode::Interp => Executor::Interpreted(interp, InterpretationReason::Requested),
            #[cfg(feature = "jit")]
            ExecutionMode::Jit => Executor::within(interp, CompileLimits::default()),
            #[cfg(not(feature = "jit"))]
            ExecutionMode::Jit => Executor::Interpreted(interp, InterpretationReason::NoCompiler),
        }
    }

    /// Does the same for a search. The program is compiled once many states are expanded, or by
    /// [`compile_steps`](Executor::compile_steps). Compiling takes at most about `memory` bytes. `counts` says whether
    /// compiled code counts the executions of each action.
    #[cfg_attr(not(feature = "jit"), allow(unused_variables))]
    pub fn for_search(
        interp: &'a Interp,
        wanted: ExecutionMode,
        memory: u64,
        counts: bool,
    ) -> Executor<'a> {
        match wanted {
            #[cfg(feature = "jit")]
            ExecutionMode::Jit => {
                let interpreted_per_function = INTERPRETED_PER_FUNCTION;
                let limits = CompileLimits {
                    memory,
                    counts,
                    interpreted_per_function,
                    ..CompileLimits::default()
                };
                Executor::within(interp, limits)
            }
            _ => Executor::new(interp, wanted),
        }
    }

    #[cfg(feature = "jit")]
    fn within(interp: &'a Interp, limits: CompileLimits) -> Executor<'a> {
        let jit = match limits.interpreted_per_function {
            0 => Jit::within(interp, limits),
            _ => Jit::deferred(interp, limits),
        };
        match jit {
            Ok(jit) => Executor::Compiled(Arc::new(jit)),
            Err(why) => Executor::Interpreted(interp, InterpretationReason::NotCompiled(why)),
        }
    }

    /// Returns an executor of the same mode for another program.
    pub fn same_mode_for(&self, interp: &'a Interp) -> Executor<'a> {
        match self {
            #[cfg(feature = "jit")]
            Executor::Compiled(jit) => Executor::within(interp, jit.limits()),
            Executor::Interpreted(_, why) => Executor::Interpreted(interp, why.clone()),
        }
    }

    /// Compiles the program now, if it is not interpreted.
    pub fn compile_steps(&self) {
        match self {
            #[cfg(feature = "jit")]
            Executor::Compiled(jit) => {
                // A program that cannot be compiled is interpreted. The report says why.
                let _ = jit.compile_steps();
            }
            Executor::Interpreted(..) => {}
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

    /// Returns the result of compiling so far, or why the program was interpreted.
    pub fn compiled(&self) -> Result<CompilationStats, InterpretationReason> {
        match self {
            #[cfg(feature = "jit")]
            Executor::Compiled(jit) => jit.compiled(),
            Executor::Interpreted(_, why) => Err(why.clone()),
        }
    }
}
