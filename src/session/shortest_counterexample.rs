//! The search for a shorter counterexample after a search with postponed transitions.
//!
//! Such a search finds violations, but the path may be longer than necessary. So the levels above the violation are
//! searched again without postponing, in a subdirectory of the search directory. The first counterexample remains
//! valid in any case: the search directory itself is not changed.

use super::directory::reject_link;
use super::searched_model::{ModelSummary, SearchedModel};
use super::{DirectoryContents, Error, SearchDirectory, SearchJob};
use crate::report::{ShorteningResult, ViolationReport};
use crate::search::checkpoint::SavedSearch;
use crate::search::files::SHORTER;
use std::path::{Path, PathBuf};

/// A model that is searched without postponing transitions, its description, and its job.
pub struct UnreducedSearch<'m> {
    pub(super) searched: SearchedModel<'m>,
    pub(super) about: ModelSummary<'m>,
    pub(super) job: SearchJob,
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
