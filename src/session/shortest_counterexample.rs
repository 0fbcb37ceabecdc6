//! The search for a shorter counterexample after a search with postponed transitions.
//!
//! Such a search finds violations, but the path may be longer than necessary. So the levels above the violation are
//! searched again without postponing, in a subdirectory of the search directory. The first counterexample remains
//! valid in any case: the search directory itself is not changed.

use super::directory::reject_link;
use super::searched_model::{DecidedReductions, ModelSummary, SearchedModel};
use super::verdict::CheckpointEvidence;
use super::{
    CheckConfig, DirectoryContents, Error, ExecutableProgram, SearchDirectory, SearchJob, TextModel,
};
use crate::budget::AnalysisBudget;
use crate::reduce::{ReductionKind, ReductionPlan};
use crate::report::{ShorteningResult, ViolationReport};
use crate::search::StateStorage;
use crate::search::checkpoint::SavedSearch;
use crate::search::files::SHORTER;
use std::path::{Path, PathBuf};

/// A model that is searched without postponing transitions, its description, and its job.
pub struct UnreducedSearch<'m> {
    pub(super) searched: SearchedModel<'m>,
    pub(super) about: ModelSummary<'m>,
    pub(super) job: SearchJob,
}

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
        let decided = DecidedReductions { wished, left_off: None };
        let searched = self.reduced_as(runs, decided, budget);
        let mut config = config.clone();
        config.search.shortest = false;
        let job = SearchJob::new(&config, self, &searched, storage);
        UnreducedSearch { searched, about: self.about(&config.search_limits()), job }
    }
}

/// Returns the path of the search for a shorter counterexample, for a search directory.
pub(super) fn search_path(dir: &Path) -> PathBuf {
    dir.join(SHORTER)
}

/// Returns the number of levels above the first violation, if they may have a shorter counterexample.
pub(super) fn bound(found: &[ViolationReport]) -> Option<u64> {
    let first = found.first().filter(|it| !it.shortest)?;
    (first.depth > 0).then_some(first.depth)
}

/// Returns the result of a search for a shorter counterexample, as far as it was saved.
pub(super) fn shortened_from(
    below: u64,
    saved: &SavedSearch,
    found: &[ViolationReport],
) -> ShorteningResult {
    let levels = &saved.store.levels;
    let count = levels.len();
    let states = levels.keys_by_level().sum();
    let depth = found.first().map(|it| it.depth).filter(|_| saved.verdict != 0);
    let last = count.checked_sub(1).map_or(0, |last| levels.keys(last));
    let is_through = count as u64 >= below && saved.open.expanded == last;
    ShorteningResult { below, states, depth, is_done: saved.verdict != 0 || is_through }
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

/// Returns the directory with the shortest counterexamples of a search: its own, or that of the search for a shorter
/// one.
pub fn trace_directory(dir: &Path) -> Result<PathBuf, Error> {
    let path = search_path(dir);
    reject_link(&path)?;
    let found = match SearchDirectory::has_search(&path) {
        true => DirectoryContents::read(&path)?.saved.is_some_and(|saved| saved.verdict != 0),
        false => false,
    };
    Ok(if found { path } else { dir.to_path_buf() })
}
