//! The search for a shorter counterexample of a model that is a text: its model, and its result in a directory.

use super::directory::reject_link;
use super::shortest_counterexample::{UnreducedSearch, bound, search_path, shortened_from};
use super::verdict::CheckpointEvidence;
use super::{
    CheckConfig, DirectoryContents, Error, ExecutableProgram, SearchDirectory, SearchJob, TextModel,
};
use crate::budget::AnalysisBudget;
use crate::reduce::{ReductionKind, ReductionPlan};
use crate::report::{ShorteningResult, ViolationReport};
use crate::search::StateStorage;
use std::path::Path;

/// The search whose counterexample is to be shortened.
pub struct ShortenedSearch<'c> {
    /// The plan of reductions of the model.
    pub wished: ReductionPlan,
    /// The properties that are checked.
    pub config: &'c CheckConfig,
    /// How states are stored.
    pub storage: &'c StateStorage,
}

impl TextModel {
    /// Returns the model without partial order and reversible rules, for the search of a shorter counterexample.
    pub fn unreduced<'m>(
        &'m self,
        runs: ExecutableProgram<'m>,
        shortened: ShortenedSearch<'_>,
        budget: &AnalysisBudget,
    ) -> UnreducedSearch<'m> {
        let ShortenedSearch { wished, config, storage } = shortened;
        let wished = wished.without_kind(ReductionKind::Choice);
        let wished = wished.with_selection(wished.selection.clone().without("reversible"));
        let searched = self.reduced_as(runs, wished.into(), budget);
        let mut config = config.clone();
        config.search.shortest = false;
        let job = SearchJob::new(&config, self, &searched, storage);
        UnreducedSearch { searched, about: self.about(&config.search_limits()), job }
    }
}

/// Returns the result of the search for a counterexample shorter than those `found` in a directory. `None` if there
/// was no such search.
pub fn shortened_in(
    dir: &Path,
    found: &[ViolationReport],
) -> Result<Option<ShorteningResult>, Error> {
    let path = search_path(dir);
    reject_link(&path)?;
    let Some(below) = bound(found).filter(|_| SearchDirectory::has_search(&path)) else {
        return Ok(None);
    };
    let DirectoryContents { job, saved: Some(saved), .. } = DirectoryContents::read(&path)? else {
        return Ok(None);
    };
    let model = job.model(&path)?;
    let (limits, sources) = (job.limits(None), &model.sources);
    let evidence = CheckpointEvidence { saved: &saved, dir: &path, limits: &limits, sources };
    let found = evidence.violations(&model.searched())?;
    Ok(Some(shortened_from(below, &saved, &found)))
}
