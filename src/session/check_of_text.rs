//! The search of a model that was read from a text, by the builder.

use super::check::{Check, CheckSubject};
use super::text_search::{ReductionChoice, TextSearch};
use super::{DirectoryContents, Error, SpecificationModel, StoredSearch, TextModel};
use crate::exec::ExecutionMode;
use crate::reduce::ReductionConfig;
use crate::search::SearchControl;

impl<'m> Check<'m> {
    /// Creates a search of a model that was read from a text.
    pub fn of_text(model: &'m TextModel) -> Check<'m> {
        Check::of(CheckSubject::Text(model))
    }

    /// Creates a search of a specification.
    pub fn of_specification(model: &'m SpecificationModel) -> Check<'m> {
        Check::of(CheckSubject::Specification(model))
    }

    /// Sets the reductions for a model from a text. The default is the model's own [plan](TextModel::wished), which
    /// has no reductions unless they were set. A resumed search keeps its reductions. Rust types are not reduced,
    /// since they have no program text to analyse.
    pub fn reduce(mut self, reduce: impl Into<ReductionConfig>) -> Self {
        self.config.search.reductions = reduce.into();
        self.is_reduced_as_wished = false;
        self
    }

    /// Sets how a model from a text is executed. The default is machine code where that is supported.
    pub fn exec(mut self, exec: ExecutionMode) -> Self {
        self.config.limits.exec = exec;
        self
    }

    /// Prepares the search of a model from a text, except for its directory.
    pub(super) fn store_text(
        &self,
        model: &'m TextModel,
        goes_on: bool,
        control: &SearchControl,
    ) -> Result<StoredSearch<'m>, Error> {
        let choice = match self.is_reduced_as_wished {
            true => ReductionChoice::OfModel,
            false => self.reduction_choice(goes_on)?,
        };
        let search = TextSearch::new(model, &self.config, goes_on, control);
        let reduced = search.with_storage(self.storage.clone()).reduce(choice)?;
        let storage = reduced.storage()?;
        reduced.store(storage)
    }

    /// Returns the reductions of the configuration. A resumed search keeps the reductions that its first states
    /// decided.
    fn reduction_choice(&self, goes_on: bool) -> Result<ReductionChoice, Error> {
        let request = self.config.search.reduction_request();
        let dir = self.dir.as_deref().filter(|_| goes_on && request.is_tried);
        let job = dir.map(|dir| DirectoryContents::read(dir).map(|it| it.job)).transpose()?;
        Ok(match job.filter(|it| it.undecided().is_none()) {
            Some(job) => ReductionChoice::of_job(&job),
            None => ReductionChoice::Requested(request),
        })
    }
}
