//! The second trial of reductions, on states of the search that the first one decided.
//!
//! The samples of the first trial may mislead: choosing transitions may save much at first, and little later. A search
//! with many states has a level that is a better sample. If choosing costs much more there than it saves, the search is
//! restarted without it. That happens at most once, at a fixed number of states, and depends on counts only.
//!
//! The search is not restarted with a reduction that it does not use. From the states of one level a reduced search may
//! lead to the end at once, although it saves little from the initial states.

use super::reduction_trial::{ReductionSettings, ReductionTrial};
use super::restarted_search::{RestartDecision, RestartedSearch};
use super::trial_contender::ReductionCombination;
use super::trial_field::ChosenReductions;
use super::{CheckConfig, SearchBudget, SearchJob, SearchedModel, TextModel};
use crate::budget::AnalysisBudget;
use crate::reduce::{ReductionKind, ReductionPlan, ReductionStack};
use crate::search::{SearchControl, StateStorage};

/// The number of states after which a search is checked. Most searches reach it within a second, so a restart loses
/// little. The choice matters most for searches with more than ten times as many states.
const AFTER: u64 = 100_000;

/// The second trial of a search.
pub(super) struct SecondTrial<'m> {
    model: &'m TextModel,
    config: CheckConfig,
    storage: StateStorage,
    budget: SearchBudget,
}

impl<'m> SecondTrial<'m> {
    /// Returns the second trial of a search of a model. `None` if no trial decided to choose transitions.
    pub fn of(
        model: &'m TextModel,
        config: &CheckConfig,
        storage: &StateStorage,
        budget: SearchBudget,
        searched: &SearchedModel<'m>,
    ) -> Option<SecondTrial<'m>> {
        let stack = searched.stack();
        let is_open =
            !stack.names(&[ReductionKind::Choice]).is_empty() && !stack.trial().tried.is_empty();
        let (config, storage) = (config.clone(), storage.clone());
        is_open.then_some(SecondTrial { model, config, storage, budget })
    }
}

impl<'m> RestartDecision<'m> for SecondTrial<'m> {
    fn after(&self) -> u64 {
        AFTER
    }

    /// Nothing stops the trial: an interrupted search would not ask again.
    fn decide(
        &self,
        states: &[u8],
        searched: &SearchedModel<'m>,
        job: &SearchJob,
    ) -> Option<RestartedSearch<'m>> {
        let (limits, control) = (self.config.search_limits(), SearchControl::default());
        let analysis = AnalysisBudget::new(self.budget.memory, &control);
        let request = self.config.search.reduction_request();
        let plan = ReductionPlan::new(request.selection, limits.checks);
        let runs = self.model.runnable(&plan, &analysis, |it| self.budget.executor(it));
        let stack = ReductionStack::of(runs.form, &plan, &|| runs.executor.selective(), &analysis);
        let whole = ReductionCombination::new(Vec::new(), runs, stack, plan);
        let storage = &self.storage;
        let settings =
            ReductionSettings { limits: &limits, storage, control: &control, budget: &analysis };
        let used = searched.stack().trial().tried.iter().find(|it| it.is_chosen)?;
        let second = ReductionTrial::new(self.model, settings);
        let ChosenReductions { runs, stack, plan, mut trial } =
            second.choose_instead_of(&used.reductions, states, whole)?;
        trial.restarted_after = Some(AFTER);
        let better = self.model.searched_with(runs, stack.with_trial(trial), plan);
        let is_alike = better.model().width() == searched.model().width();
        let new = SearchJob::new(&self.config, self.model, &better, storage);
        let job = SearchJob { reductions: new.reductions, digest: new.digest, ..job.clone() };
        is_alike.then_some(RestartedSearch { searched: better, job })
    }
}
