//! A shorter counterexample than the one that was found, where steps were put off.
//!
//! A search that puts steps off finds what is violated, but perhaps after more steps than are needed. So
//! the levels above are searched once more with all steps, in a directory below that of the search. What
//! was found first stands whatever comes of it: nothing in its directory is touched.

use super::directory::refuse_link;
use super::evidence::Evidence;
use super::searched::{About, Decided, Searched};
use super::{Contents, Directory, Error, Job, Runnable, TextModel};
use crate::budget::AnalysisBudget;
use crate::reduce::Wished;
use crate::report::{Shortened, ViolationReport};
use crate::search::checkpoint::Saved;
use crate::search::files::SHORTER;
use crate::search::{Limits, Storage};
use std::path::{Path, PathBuf};

/// A model as it is searched without putting steps off, what there is to tell of it, and what to keep.
pub struct Unreduced<'m> {
    pub(super) searched: Searched<'m>,
    pub(super) about: About<'m>,
    pub(super) job: Job,
}

impl TextModel {
    /// The model as it is searched for a shorter counterexample than what a search wished for so found.
    pub fn unreduced<'m>(
        &'m self,
        runs: Runnable<'m>,
        wished: Wished,
        (limits, storage): (&Limits, &Storage),
        budget: &AnalysisBudget,
    ) -> Unreduced<'m> {
        let wished = Wished { partial_order: None, reversible: None, ..wished };
        let decided = Decided { wished, left_off: None, is_open: false };
        let searched = self.reduced_as(runs, decided, budget);
        let limits = &Limits { shortest: false, ..limits.clone() };
        let job = Job::new(self, &searched, limits, storage);
        Unreduced { searched, about: self.about(limits), job }
    }
}

/// Where a search for something shorter lies, for the search in a directory.
pub(super) fn place(dir: &Path) -> PathBuf {
    dir.join(SHORTER)
}

/// How many levels there are to search for something shorter than what was found, if that may be there.
pub(super) fn bound(found: &[ViolationReport]) -> Option<u64> {
    let first = found.first().filter(|it| !it.shortest)?;
    (first.depth > 0).then_some(first.depth)
}

/// What came of a search for something shorter, as far as it was saved.
pub(super) fn told(below: u64, saved: &Saved, found: &[ViolationReport]) -> Shortened {
    let levels = &saved.store.levels;
    let count = levels.len();
    let states = levels.each_keys().sum();
    let depth = found.first().map(|it| it.depth).filter(|_| saved.verdict != 0);
    let last = count.checked_sub(1).map_or(0, |last| levels.keys(last));
    let is_through = count as u64 >= below && saved.open.expanded == last;
    Shortened { below, states, depth, is_done: saved.verdict != 0 || is_through }
}

/// What came of searching for something shorter than what was `found` in a directory; nothing if it was not
/// tried.
pub fn shortened_in(dir: &Path, found: &[ViolationReport]) -> Result<Option<Shortened>, Error> {
    let path = place(dir);
    refuse_link(&path)?;
    let Some(below) = bound(found).filter(|_| Directory::has_search(&path)) else {
        return Ok(None);
    };
    let Contents { job, saved: Some(saved), .. } = Contents::read(&path)? else {
        return Ok(None);
    };
    let model = job.model(&path)?;
    let (limits, sources) = (job.limits(None), &model.sources);
    let evidence = Evidence { saved: &saved, dir: &path, limits: &limits, sources };
    let found = evidence.violations(&model.searched())?;
    Ok(Some(told(below, &saved, &found)))
}

/// Where the shortest counterexamples of the search in a directory are: there, or where something shorter was
/// found.
pub fn traced_in(dir: &Path) -> Result<PathBuf, Error> {
    let path = place(dir);
    refuse_link(&path)?;
    let found = match Directory::has_search(&path) {
        true => Contents::read(&path)?.saved.is_some_and(|saved| saved.verdict != 0),
        false => false,
    };
    Ok(if found { path } else { dir.to_path_buf() })
}
