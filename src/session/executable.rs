//! A model's program in executable form.

use crate::exec::{Executor, Interp};
use crate::reduce::claim::{ClaimProduct, FiniteRunPolicy, NeverClaim};
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

    /// Returns the interpreter of this form of the program.
    pub(super) fn interp(&self) -> &'m Interp {
        self.form.interp()
    }

    /// Returns the product of this form of the program and its claim on infinite runs. `None` without a claim.
    pub fn product(&self, finite_runs: FiniteRunPolicy) -> Option<ClaimProduct<'m>> {
        let claim = NeverClaim::for_runs(self.interp(), Some(finite_runs))?;
        Some(claim.with(self.interp()))
    }

    /// Returns the executor.
    pub fn executor(&self) -> &Executor<'m> {
        &self.executor
    }
}
