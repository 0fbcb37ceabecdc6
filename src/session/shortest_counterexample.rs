//! A shorter counterexample than the one that was found, where steps were put off.
//!
//! A search that puts steps off finds what is violated, but perhaps after more steps than are needed. So
//! the levels above are searched once more with all steps, in a directory below that of the search. What
//! was found first stands whatever comes of it: nothing in its directory is touched.

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

/// A model as it is searched without putting steps off, what there is to tell of it, and what to keep.
pub struct UnreducedSearch<'m> {
    pub(super) searched: SearchedModel<'m>,
    pub(super) about: ModelSummary<'m>,
    pub(super) job: SearchJob,
}

/// The search whose counterexample is to be shortened.
pub struct ShortenedSearch<'c> {
    /// How the model was wished to be reduced.
    pub wished: ReductionPlan,
    /// What is checked.
    pub config: &'c CheckConfig,
    /// How states are stored.
    pub storage: &'c StateStorage,
}

impl TextModel {
    /// The model as it is searched for a shorter counterexample than a search found.
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

/// Where a search for something shorter lies, for the search in a directory.
pub(super) fn search_path(dir: &Path) -> PathBuf {
    dir.join(SHORTER)
}

/// How many levels there are to search for something shorter than what was found, if that may be there.
pub(super) fn bound(found: &[ViolationReport]) -> Option<u64> {
    let first = found.first().filter(|it| !it.shortest)?;
    (first.depth > 0).then_some(first.depth)
}

/// What came of a search for something shorter, as far as it was saved.
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

/// What came of searching for something shorter than what was `found` in a directory; nothing if it was not
/// tried.
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

/// Where the shortest counterexamples of the search in a directory are: there, or where something shorter was
/// found.
pub fn trace_directory(dir: &Path) -> Result<PathBuf, Error> {
    let path = search_path(dir);
    reject_link(&path)?;
    let found = match SearchDirectory::has_search(&path) {
        true => DirectoryContents::read(&path)?.saved.is_some_and(|saved| saved.verdict != 0),
        false => false,
    };
    Ok(if found { path } else { dir.to_path_buf() })
}
