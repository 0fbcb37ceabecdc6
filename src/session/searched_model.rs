//! A model as it is searched, and what there is to tell of it.

use crate::exec::{CompilationStats, InterpretationReason};
use crate::ir::StateCondition;
use crate::model::StateSpace;
use crate::reduce::{ReductionPlan, ReductionRefusal, ReductionStack};
use crate::report::CheckScope;
use crate::source::SourceMap;
use std::borrow::Cow;

/// A model as it is searched: what runs it, with the reductions over that.
pub struct SearchedModel<'m> {
    model: Box<dyn StateSpace + 'm>,
    stack: ReductionStack<'m>,
    compiled: Option<Result<CompilationStats, InterpretationReason>>,
    wished: ReductionPlan,
    is_undecided: bool,
}

impl<'m> SearchedModel<'m> {
    /// What `stack`, which came of what is wished for, makes of a model; with what compiling it gave, or why
    /// it is interpreted, if it is run at all.
    pub fn new(
        runs: Box<dyn StateSpace + 'm>,
        stack: ReductionStack<'m>,
        compiled: Option<Result<CompilationStats, InterpretationReason>>,
        wished: ReductionPlan,
    ) -> SearchedModel<'m> {
        SearchedModel { model: stack.wrap(runs), stack, compiled, wished, is_undecided: false }
    }

    /// The model.
    pub fn model(&self) -> &(dyn StateSpace + 'm) {
        &*self.model
    }

    /// How it is reduced.
    pub fn stack(&self) -> &ReductionStack<'m> {
        &self.stack
    }

    /// How it was wished to be reduced, once that was decided.
    pub fn wished(&self) -> ReductionPlan {
        self.wished.clone()
    }

    /// The same, where it is still to be decided how it is reduced.
    pub(super) fn undecided(self, wished: ReductionPlan) -> SearchedModel<'m> {
        SearchedModel { wished, is_undecided: true, ..self }
    }

    /// Whether it is still to be decided how it is reduced: a search of it is not to begin.
    pub fn is_undecided(&self) -> bool {
        self.is_undecided
    }

    /// What compiling it gave, or why it is interpreted; nothing if neither.
    pub fn compiled(&self) -> Option<Result<CompilationStats, &InterpretationReason>> {
        Some(self.compiled.as_ref()?.as_ref().copied())
    }
}

/// What was decided when a search began.
#[derive(Clone, Debug)]
pub struct DecidedReductions {
    /// How it is reduced.
    pub wished: ReductionPlan,
    /// What it is not reduced by, as that would not pay.
    pub left_off: Option<ReductionRefusal>,
}

/// What there is to tell of a model beside what a search finds.
pub struct ModelSummary<'m> {
    /// The name of its file, or of its type.
    pub name: Cow<'m, str>,
    /// Its language.
    pub language: &'m str,
    /// How the order of its variables in a state was chosen.
    pub key_order: &'m str,
    /// Its texts.
    pub sources: Cow<'m, SourceMap>,
    /// The conditions on its states that are checked beside its own properties.
    pub conditions: &'m [StateCondition],
    /// The never claim that it is searched with.
    pub claim: Option<&'m str>,
    /// What is looked for, and what not.
    pub scope: CheckScope,
}
