//! Compiled or interpreted: the choice, and what came of it.

use super::jit::{CompileLimits, Compiled, NotCompiled};
use super::{Interp, Jit, Model, Selective};
use crate::analysis::instances::NotNumbered;

/// How a program is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exec {
    /// As machine code, where that can be made.
    #[default]
    Jit,
    /// By the interpreter.
    Interp,
}

/// A program being run.
pub enum Executor<'a> {
    /// As machine code.
    Compiled(Box<Jit<'a>>),
    /// By the interpreter, and why.
    Interpreted(&'a Interp, String),
}

impl<'a> Executor<'a> {
    /// Prepares a program to be run as asked for, or by the interpreter.
    pub fn new(interp: &'a Interp, wanted: Exec) -> Executor<'a> {
        Executor::of(interp, wanted, Jit::new)
    }

    /// The same; compiling takes about so many bytes of memory at most.
    pub fn within(interp: &'a Interp, wanted: Exec, memory: u64) -> Executor<'a> {
        let limits = CompileLimits { memory, ..CompileLimits::default() };
        Executor::of(interp, wanted, |interp| Jit::within(interp, limits))
    }

    fn of(
        interp: &'a Interp,
        wanted: Exec,
        compile: impl FnOnce(&'a Interp) -> Result<Jit<'a>, NotCompiled>,
    ) -> Executor<'a> {
        match wanted {
            Exec::Interp => Executor::Interpreted(interp, "as asked for".to_owned()),
            Exec::Jit => match compile(interp) {
                Ok(jit) => Executor::Compiled(Box::new(jit)),
                Err(refused) => Executor::Interpreted(interp, refused.reason),
            },
        }
    }

    /// The transition system.
    pub fn model(&self) -> &dyn Model {
        match self {
            Executor::Compiled(jit) => &**jit,
            Executor::Interpreted(interp, _) => *interp,
        }
    }

    /// Its steps by the choice of what they begin with, or why that is not to be had.
    pub fn selective(&self) -> Result<Box<dyn Selective + '_>, NotNumbered> {
        Ok(match self {
            Executor::Compiled(jit) => Box::new(jit.selector()?),
            Executor::Interpreted(interp, _) => Box::new(interp.selector()?),
        })
    }

    /// What compiling gave, or why the program is interpreted.
    pub fn compiled(&self) -> Result<Compiled, &str> {
        match self {
            Executor::Compiled(jit) => Ok(jit.compiled()),
            Executor::Interpreted(_, why) => Err(why),
        }
    }
}
