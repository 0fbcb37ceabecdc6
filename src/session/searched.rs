//! A model as it is searched, and what there is to tell of it.

use crate::exec::{Compiled, Model};
use crate::reduce::Stack;
use crate::report::Scope;
use crate::source::Sources;
use std::borrow::Cow;

/// A model as it is searched: what runs it, with the reductions over that.
pub struct Searched<'m> {
    model: Box<dyn Model + 'm>,
    stack: Stack<'m>,
    compiled: Option<Result<Compiled, String>>,
}

impl<'m> Searched<'m> {
    /// What `stack` makes of a model; with what compiling it gave, or why it is interpreted, if it is run
    /// at all.
    pub fn new(
        runs: Box<dyn Model + 'm>,
        stack: Stack<'m>,
        compiled: Option<Result<Compiled, String>>,
    ) -> Searched<'m> {
        Searched { model: stack.over(runs), stack, compiled }
    }

    /// The model.
    pub fn model(&self) -> &(dyn Model + 'm) {
        &*self.model
    }

    /// How it is reduced.
    pub fn stack(&self) -> &Stack<'m> {
        &self.stack
    }

    /// What compiling it gave, or why it is interpreted; nothing if neither.
    pub fn compiled(&self) -> Option<Result<Compiled, &str>> {
        let compiled = self.compiled.as_ref()?;
        Some(compiled.as_ref().copied().map_err(String::as_str))
    }
}

/// What there is to tell of a model beside what a search finds.
pub struct About<'m> {
    /// The name of its file, or of its type.
    pub name: Cow<'m, str>,
    /// Its language.
    pub language: &'m str,
    /// How the order of its variables in a state was chosen.
    pub key_order: &'m str,
    /// Its texts.
    pub sources: Cow<'m, Sources>,
    /// The never claim that it is searched with.
    pub claim: Option<&'m str>,
    /// What is looked for, and what not.
    pub scope: Scope,
}
