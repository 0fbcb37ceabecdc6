//! The model that is searched, and its description for reports.

#[cfg(feature = "languages")]
use crate::exec::{Executor, Interp};
use crate::model::{
    CompilationStats, Counters, InterpretationReason, PreservedProperties, PropertyClass,
    ReductionRefusal, ReductionSummary, StateCondition, StateSpace, TrialOutcome, preserves_depth,
};
#[cfg(feature = "languages")]
use crate::reduce::{ReductionPlan, ReductionStack};
use crate::report::CheckScope;
use crate::source::SourceMap;
use std::borrow::Cow;

/// The model that is searched. A model that is a text is an executable program with its reductions.
pub struct SearchedModel<'m> {
    model: Box<dyn StateSpace + 'm>,
    #[cfg(feature = "languages")]
    executor: Option<Executor<'m>>,
    /// The reductions that the model itself demands.
    own_reductions: Vec<ReductionSummary>,
    #[cfg(feature = "languages")]
    reductions: SearchedReductions<'m>,
}

/// The reductions of a program.
#[cfg(feature = "languages")]
#[derive(Default)]
struct SearchedReductions<'m> {
    stack: ReductionStack<'m>,
    wished: ReductionPlan,
    is_undecided: bool,
}

impl<'m> SearchedModel<'m> {
    /// Returns a model without reductions, which is no program.
    pub(super) fn unreduced(model: Box<dyn StateSpace + 'm>) -> SearchedModel<'m> {
        SearchedModel {
            model,
            #[cfg(feature = "languages")]
            executor: None,
            own_reductions: Vec::new(),
            #[cfg(feature = "languages")]
            reductions: SearchedReductions::default(),
        }
    }

    /// Sets the reductions that the model itself demands.
    pub(super) fn with_own_reductions(self, own_reductions: Vec<ReductionSummary>) -> Self {
        SearchedModel { own_reductions, ..self }
    }

    /// Returns the model.
    pub fn model(&self) -> &(dyn StateSpace + 'm) {
        &*self.model
    }

    /// Returns the result of compiling so far, or why the program was interpreted. `None` if neither is known.
    #[cfg(feature = "languages")]
    pub fn compiled(&self) -> Option<Result<CompilationStats, InterpretationReason>> {
        self.executor.as_ref().map(Executor::compiled)
    }

    /// Returns nothing: without languages nothing is compiled.
    #[cfg(not(feature = "languages"))]
    pub fn compiled(&self) -> Option<Result<CompilationStats, InterpretationReason>> {
        None
    }

    /// Summarises the reductions and their effects.
    #[cfg(feature = "languages")]
    pub fn summaries(&self, counters: &Counters) -> Vec<ReductionSummary> {
        let own = self.own_reductions.iter().cloned();
        own.chain(self.reductions.stack.summaries(counters)).collect()
    }

    /// Returns those that the model itself demands: without languages there are no others.
    #[cfg(not(feature = "languages"))]
    pub(super) fn summaries(&self, _: &Counters) -> Vec<ReductionSummary> {
        self.own_reductions.clone()
    }

    /// Returns the properties that the reductions preserve.
    #[cfg(feature = "languages")]
    pub(super) fn preserves(&self) -> PreservedProperties {
        self.reductions.stack.preserves()
    }

    /// Returns all: without languages there are no reductions.
    #[cfg(not(feature = "languages"))]
    pub(super) fn preserves(&self) -> PreservedProperties {
        PreservedProperties::ALL
    }

    /// Returns whether the level of a state is its distance from the initial states.
    pub fn keeps_depths(&self) -> bool {
        let postpones = self.model().capabilities().postponing.is_some();
        !postpones && preserves_depth(self.model()) && self.preserves().has(PropertyClass::Depth)
    }

    /// Returns all reductions that are not used, requested or not.
    #[cfg(feature = "languages")]
    pub(super) fn unused_reductions(&self) -> Vec<ReductionRefusal> {
        self.reductions.stack.unused_reductions()
    }

    /// Returns nothing: without languages there are no reductions.
    #[cfg(not(feature = "languages"))]
    pub(super) fn unused_reductions(&self) -> Vec<ReductionRefusal> {
        Vec::new()
    }

    /// Returns the decision of the trial of reductions.
    #[cfg(feature = "languages")]
    pub(super) fn trial(&self) -> TrialOutcome {
        self.reductions.stack.trial().clone()
    }

    /// Returns nothing: without languages there are no reductions.
    #[cfg(not(feature = "languages"))]
    pub(super) fn trial(&self) -> TrialOutcome {
        TrialOutcome::default()
    }
}

#[cfg(feature = "languages")]
impl<'m> SearchedModel<'m> {
    /// Applies `stack` to a program with its executor. `stack` was built for the plan `wished`.
    pub fn of_executor(
        executor: Executor<'m>,
        stack: ReductionStack<'m>,
        wished: ReductionPlan,
    ) -> SearchedModel<'m> {
        let model = stack.wrap(executor.clone().into_model());
        SearchedModel { executor: Some(executor), ..SearchedModel::new(model, stack, wished) }
    }

    /// Wraps a model to which `stack` is applied.
    fn new(
        model: Box<dyn StateSpace + 'm>,
        stack: ReductionStack<'m>,
        wished: ReductionPlan,
    ) -> SearchedModel<'m> {
        let reductions = SearchedReductions { stack, wished, is_undecided: false };
        SearchedModel { model, executor: None, own_reductions: Vec::new(), reductions }
    }

    /// Applies `stack` to an interpreted program for purposes other than a search.
    pub fn interpreted(
        interp: &'m Interp,
        stack: ReductionStack<'m>,
        wished: ReductionPlan,
    ) -> SearchedModel<'m> {
        SearchedModel::new(stack.wrap(Box::new(interp)), stack, wished)
    }

    /// Returns the reductions.
    pub fn stack(&self) -> &ReductionStack<'m> {
        &self.reductions.stack
    }

    /// Returns the plan of reductions, as it was decided.
    pub fn wished(&self) -> ReductionPlan {
        self.reductions.wished.clone()
    }

    /// Marks the reductions as undecided, with this provisional plan.
    pub(super) fn undecided(mut self, wished: ReductionPlan) -> SearchedModel<'m> {
        self.reductions.wished = wished;
        self.reductions.is_undecided = true;
        self
    }

    /// Returns whether the reductions are undecided. Then a search must not begin.
    pub fn is_undecided(&self) -> bool {
        self.reductions.is_undecided
    }
}

#[cfg(feature = "languages")]
/// The decisions on reductions when a search began.
#[derive(Clone, Debug)]
pub struct DecidedReductions {
    /// The plan of reductions.
    pub wished: ReductionPlan,
    /// The outcome of the trial that decided them.
    pub trial: TrialOutcome,
}

#[cfg(feature = "languages")]
impl From<ReductionPlan> for DecidedReductions {
    /// Decides for a plan without a trial.
    fn from(wished: ReductionPlan) -> DecidedReductions {
        DecidedReductions { wished, trial: TrialOutcome::default() }
    }
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
    /// The checked and the unchecked properties.
    pub scope: CheckScope,
}
