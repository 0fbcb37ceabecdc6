//! A model's program ready to run, in one of its forms.

use crate::exec::{Executor, Interp};
use crate::reduce::rewriting::ProgramForm;

/// A program ready to run, and which form of it that is.
#[derive(Clone)]
pub struct ExecutableProgram<'m> {
    pub(super) form: ProgramForm<'m>,
    pub(super) executor: Executor<'m>,
}

impl<'m> ExecutableProgram<'m> {
    /// A program in a form, which `run` makes ready.
    pub(super) fn new(
        form: ProgramForm<'m>,
        run: impl FnOnce(&'m Interp) -> Executor<'m>,
    ) -> ExecutableProgram<'m> {
        ExecutableProgram { form, executor: run(form.interp()) }
    }

    /// What runs it.
    pub fn executor(&self) -> &Executor<'m> {
        &self.executor
    }
}
