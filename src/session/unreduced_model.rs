//! A model that is searched without reductions: a Rust type or a specification.

use super::searched_model::{ModelSummary, SearchedModel};
use super::{
    CheckConfig, Error, PreparedSearch, SearchBudget, SearchJob, StoredSearch, check_room,
    reject_empty_scope,
};
use crate::model::{ReductionSummary, StateSpace};
use crate::search::{SearchControl, SearchLimits, StateStorage, check_views};

/// A model without reductions, and its checks.
pub(super) struct UnreducedModel<'m> {
    /// The model.
    pub model: Box<dyn StateSpace + 'm>,
    /// Its description for reports.
    pub about: ModelSummary<'m>,
    /// The checks, and when the search stops.
    pub limits: SearchLimits,
    /// The reductions that the model itself demands.
    pub own_reductions: Vec<ReductionSummary>,
    /// The storage of states that replaces the configuration's, if given.
    pub storage: Option<StateStorage>,
}

impl<'m> UnreducedModel<'m> {
    /// Settles the storage of states and the memory plan of its search. `job` creates the job.
    ///
    /// # Errors
    ///
    /// If the options leave nothing to check, or the budget is too small.
    pub(super) fn store(
        self,
        config: &CheckConfig,
        goes_on: bool,
        control: &SearchControl,
        job: impl FnOnce(&StateStorage) -> SearchJob,
    ) -> Result<StoredSearch<'m>, Error> {
        let UnreducedModel { model, about, limits, own_reductions, storage } = self;
        reject_empty_scope(&about)?;
        let storage = match storage {
            Some(storage) => storage,
            None => config.search.storage(&*model, control)?,
        };
        check_views(&*model, &storage).map_err(Error::Views)?;
        let job = job(&storage);
        let searched = SearchedModel::unreduced(model).with_own_reductions(own_reductions);
        let budget = SearchBudget::of(&config.limits, goes_on);
        let plan = budget.plan_without_text(storage.stored_width(searched.model()))?;
        check_room(&storage, &plan, searched.model().width())?;
        let prepared = PreparedSearch { searched, about, limits, storage, plan, restart: None };
        Ok(StoredSearch { prepared, job, unreduced: None })
    }
}
