//! A search that is settled, on its way into a directory.

use super::shortest_counterexample::UnreducedSearch;
use super::temporary_search::create_directory;
use super::{
    DirectoryContents, Error, PreparedSearch, SavedLimits, SearchDirectory, SearchJob, Session,
};
use crate::search::checkpoint::SavedSearch;
use std::path::Path;

/// A search that is settled except for its directory.
pub struct StoredSearch<'m> {
    pub(super) prepared: PreparedSearch<'m>,
    pub(super) job: SearchJob,
    pub(super) unreduced: Option<UnreducedSearch<'m>>,
}

/// A session that can run.
pub struct ReadySession<'m> {
    /// The session.
    pub session: Session<'m>,
    /// The last checkpoint. `None` if there is none.
    pub saved: Option<SavedSearch>,
    /// The search for a shorter counterexample, if one is requested.
    pub unreduced: Option<UnreducedSearch<'m>>,
}

impl<'m> StoredSearch<'m> {
    /// Creates a session in a new directory, or in a temporary one.
    ///
    /// # Errors
    ///
    /// If the directory is in use, or the disk fails.
    pub fn begin(
        self,
        path: Option<&Path>,
        limits: &SavedLimits,
    ) -> Result<ReadySession<'m>, Error> {
        let directory = create_directory(path, &self.job, limits.limits.disk_limit)?;
        self.in_directory(directory, None, limits)
    }

    /// Resumes the search of a directory from its last checkpoint.
    ///
    /// # Errors
    ///
    /// If the directory has another search, or the disk fails.
    pub fn resume(self, path: &Path, limits: &SavedLimits) -> Result<ReadySession<'m>, Error> {
        let disk_limit = limits.limits.disk_limit;
        let (directory, saved) = SearchDirectory::resume(path, &self.job, disk_limit)?;
        self.in_directory(directory, saved, limits)
    }

    /// Resumes the search of an open directory from its last checkpoint.
    ///
    /// # Errors
    ///
    /// If the disk fails.
    pub fn resume_in(
        self,
        directory: SearchDirectory,
        contents: DirectoryContents,
        limits: &SavedLimits,
    ) -> Result<ReadySession<'m>, Error> {
        // Nothing was searched before the reductions were decided.
        let saved = match contents.job.is_undecided() {
            false => contents.saved,
            true => {
                directory.decide(&self.job)?;
                None
            }
        };
        self.in_directory(directory, saved, limits)
    }

    fn in_directory(
        self,
        directory: SearchDirectory,
        saved: Option<SavedSearch>,
        limits: &SavedLimits,
    ) -> Result<ReadySession<'m>, Error> {
        directory.save_changed_limits(&limits.with_disk_limit(directory.disk.limit()))?;
        let StoredSearch { prepared, unreduced, job } = self;
        let session = Session::new(prepared, directory).with_job(job);
        Ok(ReadySession { session, saved, unreduced })
    }
}
