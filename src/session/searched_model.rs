//! The model that is searched, and its description for reports.

use crate::exec::{CompilationStats, InterpretationReason};
use crate::ir::StateCondition;
use crate::model::StateSpace;
use crate::reduce::{ReductionPlan, ReductionRefusal, ReductionStack};
use crate::report::CheckScope;
use crate::source::SourceMap;
use std::borrow::Cow;

/// The model that is searched: an executable program with its reductions.
pub struct SearchedModel<'m> {
    model: Box<dyn StateSpace + 'm>,
    stack: ReductionStack<'m>,
    compiled: Option<Result<CompilationStats, InterpretationReason>>,
    wished: ReductionPlan,
    is_undecided: bool,
}

impl<'m> SearchedModel<'m> {
    /// Applies `stack` to a model. `stack` was built for the plan `wished`. The result of compilation, or the reason
    /// for interpretation, is recorded if the model is a program.
    pub fn new(
        runs: Box<dyn StateSpace + 'm>,
        stack: ReductionStack<'m>,
        compiled: Option<Result<CompilationStats, InterpretationReason>>,
        wished: ReductionPlan,
    ) -> SearchedModel<'m> {
        SearchedModel { model: stack.wrap(runs), stack, compiled, wished, is_undecided: false }
    }

    /// Returns the model.
    pub fn model(&self) -> &(dyn StateSpace + 'm) {
        &*self.model
    }

    /// Returns the reductions.
    pub fn stack(&self) -> &ReductionStack<'m> {
        &self.stack
    }

    /// Returns the plan of reductions, as it was decided.
    pub fn wished(&self) -> ReductionPlan {
        self.wished.clone()
    }

    /// Marks the reductions as undecided, with this provisional plan.
    pub(super) fn undecided(self, wished: ReductionPlan) -> SearchedModel<'m> {
        SearchedModel { wished, is_undecided: true, ..self }
    }

    /// Returns whether the reductions are undecided. Then a search must not begin.
    pub fn is_undecided(&self) -> bool {
        self.is_undecided
    }

    /// Returns the result of compilation, or why the program is interpreted. `None` if neither is known.
    pub fn compiled(&self) -> Option<Result<CompilationStats, &InterpretationReason>> {
        Some(self.compiled.as_ref()?.as_ref().copied())
    }
}

/// The decisions on reductions when a search began.
#[derive(Clone, Debug)]
pub struct DecidedReductions {
    /// The plan of reductions.
    pub wished: ReductionPlan,
    /// The reductions that were rejected as unprofitable.
    pub left_off: Option<ReductionRefusal>,
}

/// The description of a model for reports.
pub struct ModelSummary<'m> {
    /// The name of its file or type.
    pub name: Cow<'m, str>,
    /// The name of its language.
    pub language: &'m str,
    /// The name of its key order.
    pub key_order: &'m str,
    /// Its texts.
    pub sources: Cow<'m, SourceMap>,
    /// The conditions on states that are checked in addition to its own properties.
    pub conditions: &'m [StateCondition],
    /// The never claim of its search.
    pub claim: Option<&'m str>,
    /// What is checked and what is not.
    pub scope: CheckScope,
}
