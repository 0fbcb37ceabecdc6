//! A model's program in executable form.

use crate::exec::{Executor, Interp};
use crate::reduce::rewriting::{ProgramForm, RewrittenProgram};

/// A program with its executor, and the form of the program.
#[derive(Clone)]
pub struct ExecutableProgram<'m> {
    pub(super) form: ProgramForm<'m>,
    pub(super) executor: Executor<'m>,
}

impl<'m> ExecutableProgram<'m> {
    /// Makes a form of a program executable by `run`.
    pub(super) fn new(
        form: ProgramForm<'m>,
        run: impl FnOnce(&'m Interp) -> Executor<'m>,
    ) -> ExecutableProgram<'m> {
        ExecutableProgram { form, executor: run(form.interp()) }
    }

    /// Returns the program, if some of its transitions are merged.
    pub(super) fn merged(&self) -> Option<&'m RewrittenProgram> {
        self.form.merged()
    }

    /// Returns the executor.
    pub fn executor(&self) -> &Executor<'m> {
        &self.executor
    }
}
