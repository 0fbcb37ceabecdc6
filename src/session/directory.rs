//! Search directories: creation, recognition, locking, description.
//!
//! In addition to the files of the search, a directory stores the *job*: the model's text and the flags that decide
//! what is checked. So a search can be resumed anywhere without other files.

use super::config::CheckConfig;
use super::error::{DirectoryConflict, Error};
use super::eventually_verdicts::EventuallyVerdicts;
use super::job::SearchJob;
use super::liveness_answer::LivenessAnswer;
use super::removal::{RemoveOnDrop, abandon, remove_files};
use super::run_limits::SavedLimits;
use super::saved_check::SavedCheck;
use super::session_log::SessionStart;
use crate::report::EventuallyResult;
use crate::search::SearchVerdict;
use crate::search::checkpoint::SavedSearch;
use crate::search::event_log::{self, RecordedSession, RecordedStart};
use crate::search::files::{
    ANSWER, DirectoryFile, EVENTUALLY_VERDICTS, JOB, MANIFEST, RUN_LIMITS, SESSION_START,
    TEMPORARY, unfinished,
};
use crate::search::{MemoryPlan, SearchControl, SearchLimits};
use spill::{Disk, MeteredDisk, RealDisk};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The inputs of a session of a search.
pub(super) struct SessionSetup<'c> {
    /// The start record of the session.
    pub start: SessionStart,
    /// The memory plan of the search.
    pub plan: MemoryPlan,
    /// Stops the search.
    pub control: &'c SearchControl,
}

/// The prefix of the names of temporary search directories.
pub(super) const PREFIX: &str = "spillway-";

/// A search directory whose lock this process holds.
pub struct SearchDirectory {
    /// The path.
    pub path: PathBuf,
    /// Its files. Reads and writes are counted.
    pub disk: Arc<MeteredDisk>,
    /// The limits of the previous session, if it recorded them.
    pub previous_limits: Option<SavedLimits>,
    /// Removes the directory when dropped.
    temporary: Option<RemoveOnDrop>,
}

impl SearchDirectory {
    /// Creates a directory for `job`: at `path`, or a temporary one.
    pub fn create(
        path: Option<&Path>,
        job: &SearchJob,
        disk_limit: Option<u64>,
    ) -> Result<SearchDirectory, Error> {
        let (path, temporary) = match path {
            Some(path) => (path.to_path_buf(), None),
            None => {
                let made = tempfile::Builder::new().prefix(PREFIX).tempdir();
                let made = made.map_err(|error| Error::Temporary(std::env::temp_dir(), error))?;
                let path = made.keep();
                (path.clone(), Some(RemoveOnDrop(path)))
            }
        };
        std::fs::create_dir_all(&path).map_err(|error| Error::Create(path.clone(), error))?;
        // Makes the directory's own name as durable as its files. A failure is tolerated.
        if let Some(parent) = path.canonicalize().ok().as_deref().and_then(Path::parent) {
            let _ = std::fs::File::open(parent).and_then(|parent| parent.sync_all());
        }
        reject_if_used(&path, job)?;
        let directory = SearchDirectory::lock(path, temporary, disk_limit)?;
        let failed = |error| Error::Begin(directory.path.clone(), error);
        if has_job(&directory.path) {
            // Another process began a search just before the lock was taken, and has ended since.
            return Err(Error::Taken(directory.path.clone(), DirectoryConflict::Otherwise));
        }
        let begin = || {
            // Files of an abandoned search are useless for this one.
            remove_files(&directory.path, &*directory.disk, &[RealDisk::LOCK])?;
            if directory.is_temporary() {
                directory.disk.create(TEMPORARY)?;
            }
            job.commit(&*directory.disk)
        };
        begin().map_err(failed)?;
        Ok(directory)
    }

    /// Returns an error if `path` exists and no directory for `job` can be created there.
    pub fn check_unused(path: &Path, job: &SearchJob) -> Result<(), Error> {
        if path.exists() { reject_if_used(path, job) } else { Ok(()) }
    }

    /// Opens and reads a directory that has a search. The disk limit defaults to that of the previous session.
    pub fn open(
        path: &Path,
        disk_limit: Option<u64>,
    ) -> Result<(SearchDirectory, DirectoryContents), Error> {
        let before = DirectoryContents::read(path)?.limits;
        let disk_limit = disk_limit.or(before.and_then(|it| it.limits.disk_limit));
        let directory = SearchDirectory::lock(path.to_path_buf(), None, disk_limit)?;
        // Reads again: another process may have ended its search just before the lock was taken.
        let contents = DirectoryContents::read(path)?;
        Ok((SearchDirectory { previous_limits: contents.limits.clone(), ..directory }, contents))
    }

    /// Returns whether a directory has a search.
    pub fn has_search(path: &Path) -> bool {
        has_job(path)
    }

    /// Returns whether the directory has a file of this name.
    pub(super) fn has_file(&self, name: &str) -> bool {
        self.disk.list().is_ok_and(|files| files.iter().any(|(it, _)| it == name))
    }

    /// Opens a directory to resume its search, which must be of the same job. Returns the last checkpoint, if there is
    /// one.
    pub fn resume(
        path: &Path,
        job: &SearchJob,
        disk_limit: Option<u64>,
    ) -> Result<(SearchDirectory, Option<SavedSearch>), Error> {
        let (directory, DirectoryContents { job: theirs, saved, .. }) =
            SearchDirectory::open(path, disk_limit)?;
        if theirs.is_undecided() && theirs.is_of_same_model(job) {
            directory.decide(job)?;
            return Ok((directory, None));
        }
        let wishes = |job: &SearchJob| {
            let SearchLimits { checks, stop_on_violation, .. } = job.limits(None);
            (checks, stop_on_violation, job.storage.clone(), job.runs.clone())
        };
        let taken = match theirs.digest == job.digest {
            true if wishes(&theirs) == wishes(job) => return Ok((directory, saved)),
            true => DirectoryConflict::Otherwise,
            false => DirectoryConflict::OtherModel(theirs.model_name().into()),
        };
        Err(Error::Taken(path.to_path_buf(), taken))
    }

    /// Replaces a job with undecided reductions by this job.
    pub fn decide(&self, job: &SearchJob) -> Result<(), Error> {
        job.commit(&*self.disk).map_err(|error| Error::Begin(self.path.clone(), error))
    }

    /// Saves the result of a search in memory, so that no search on disk is needed.
    pub fn save_answer(&self, answer: &LivenessAnswer) -> Result<(), Error> {
        answer.commit(&*self.disk).map_err(|error| Error::Begin(self.path.clone(), error))
    }

    /// Saves the limits of this session for the next one.
    pub fn save_limits(&self, means: &SavedLimits) -> Result<(), Error> {
        let means = means.in_directory(&self.path);
        means.commit(&*self.disk).map_err(|error| Error::Begin(self.path.clone(), error))
    }

    /// Saves the limits if they differ from those of the previous session. Rejected limits must not be saved.
    pub fn save_changed_limits(&self, means: &SavedLimits) -> Result<(), Error> {
        match self.previous_limits.as_ref().is_some_and(|it| it.is_equivalent(means)) {
            true => Ok(()),
            false => self.save_limits(means),
        }
    }

    fn lock(
        path: PathBuf,
        temporary: Option<RemoveOnDrop>,
        disk_limit: Option<u64>,
    ) -> Result<SearchDirectory, Error> {
        let open = || -> spill::Result<MeteredDisk> {
            let real = RealDisk::open(&path)?;
            real.lock()?;
            MeteredDisk::new(Arc::new(real), disk_limit)
        };
        let disk = open().map_err(|error| Error::Open(path.clone(), error))?;
        Ok(SearchDirectory { path, disk: Arc::new(disk), previous_limits: None, temporary })
    }

    /// Runs a session of a search. Records its start, its progress and its result for observers; `verdict` extracts
    /// the verdict.
    pub(super) fn run_session<T>(
        &self,
        setup: SessionSetup<'_>,
        verdict: impl Fn(&T) -> &'static str,
        run: impl FnOnce() -> spill::Result<T>,
    ) -> spill::Result<T> {
        let SessionSetup { start, plan, control } = setup;
        start.save(&*self.disk);
        let SessionStart { begun: at, expanded, seconds: before } = start;
        let start = RecordedStart { at, expanded, before, plan };
        let session = RecordedSession { dir: &self.path, disk: &self.disk, start, control };
        event_log::run_recorded(session, verdict, run)
    }

    /// Keeps the directory, even a temporary one.
    pub fn keep(&mut self) {
        // The guard removes the directory when dropped, so it must not be dropped.
        self.temporary.take().into_iter().for_each(std::mem::forget);
    }

    /// Removes a resumed temporary directory when dropped, unless `keep` is called later. The search in it is
    /// complete.
    pub fn remove_if_temporary(&mut self) {
        if self.temporary.is_none() && is_temporary(&self.path) {
            self.temporary = Some(RemoveOnDrop(self.path.clone()));
        }
    }

    /// Restarts the search with another job. The directory has a job at every moment. If an interruption leaves the
    /// old job, its search ends at the same point and restarts again.
    pub fn restart(&self, job: &SearchJob) -> Result<(), Error> {
        let begin = || -> spill::Result<()> {
            // Without a manifest all other files are meaningless.
            let kept = [JOB, RUN_LIMITS, TEMPORARY, RealDisk::LOCK];
            let files = self.disk.list()?.into_iter().map(|(name, _)| name);
            let (first, others): (Vec<_>, Vec<_>) =
                files.filter(|it| !kept.contains(&it.as_str())).partition(|it| it == MANIFEST);
            first.iter().chain(&others).try_for_each(|it| self.disk.remove(it))?;
            job.commit(&*self.disk)
        };
        begin().map_err(|error| Error::Begin(self.path.clone(), error))
    }

    /// Removes all files of a search that will be repeated.
    pub fn discard(self) {
        let SearchDirectory { path, disk, temporary, .. } = self;
        if temporary.is_none() {
            // Files that cannot be removed are reported when the directory is used again.
            let _ = abandon(&path);
        }
        drop(disk);
    }

    /// Returns whether this is a temporary directory, since no path was given.
    pub fn is_unnamed(&self) -> bool {
        is_temporary(&self.path)
    }

    /// Returns whether the directory will be removed.
    pub fn is_temporary(&self) -> bool {
        self.temporary.is_some()
    }
}

/// The contents of a search directory, read without changing it.
pub struct DirectoryContents {
    /// The job of the search.
    pub job: SearchJob,
    /// The last checkpoint.
    pub saved: Option<SavedSearch>,
    /// The result of a search in memory, if that was sufficient.
    pub answer: Option<LivenessAnswer>,
    /// The verdicts on the `eventually` properties of a Rust type.
    pub promises: Vec<EventuallyResult>,
    /// The limits of the last session, if recorded.
    pub limits: Option<SavedLimits>,
    /// The start of the last session, if recorded. It is only displayed.
    pub session_start: Option<SessionStart>,
    /// The total bytes of all files.
    pub bytes: u64,
    /// Whether a search is running in the directory.
    pub running: bool,
}

impl DirectoryContents {
    /// Returns the configuration of the check, with the limits of the last session.
    pub fn config(&self) -> CheckConfig {
        let SavedLimits { limits, outputs: output, .. } = self.limits.clone().unwrap_or_default();
        CheckConfig { limits, output, ..self.job.config() }
    }

    /// Combines the verdict on safety properties with the verdicts on `eventually` properties.
    pub fn verdict_with_runs(&self, states: SearchVerdict) -> SearchVerdict {
        EventuallyResult::verdict_with(states, &self.promises)
    }

    /// Reads the job and the last checkpoint in `path`.
    pub fn read(path: &Path) -> Result<DirectoryContents, Error> {
        let disk = RealDisk::open(path).map_err(|error| Error::Open(path.to_path_buf(), error))?;
        let files = disk.list().map_err(|error| Error::Open(path.to_path_buf(), error))?;
        let has = |wanted: &str| files.iter().any(|(name, _)| name == wanted);
        if !has(JOB) {
            return Err(match SavedCheck::load(path)? {
                Some(check) => Error::SeveralSearches(path.to_path_buf(), check.folders),
                None => Error::NoSearch(path.to_path_buf()),
            });
        }
        let job = SearchJob::load(&disk).map_err(|error| Error::Open(path.to_path_buf(), error))?;
        let saved = if has(MANIFEST) { last(&disk, &job) } else { Ok(None) };
        let saved = saved.map_err(|error| Error::Open(path.to_path_buf(), error))?;
        let answer = has(ANSWER).then(|| LivenessAnswer::load(&disk, job.digest)).transpose();
        let answer = answer.map_err(|error| Error::Open(path.to_path_buf(), error))?;
        let promises = has(EVENTUALLY_VERDICTS)
            .then(|| EventuallyVerdicts::load(&disk, job.digest))
            .transpose()
            .map_err(|error| Error::Open(path.to_path_buf(), error))?
            .unwrap_or_default();
        let means = has(RUN_LIMITS).then(|| SavedLimits::load(&disk)).transpose();
        let means = means.map_err(|error| Error::Open(path.to_path_buf(), error))?;
        let bytes = files.iter().map(|(_, length)| length).sum();
        let sitting = has(SESSION_START).then(|| SessionStart::load(&disk)).flatten();
        let running = disk.is_locked();
        Ok(DirectoryContents {
            job,
            saved,
            answer,
            promises,
            limits: means,
            session_start: sitting,
            bytes,
            running,
        })
    }
}

/// Returns the last checkpoint of a job's search.
pub(super) fn last(disk: &dyn Disk, job: &SearchJob) -> spill::Result<Option<SavedSearch>> {
    let saved = SavedSearch::load(disk)?;
    // A checkpoint without a level is useless. It may be older than the decision on reductions.
    if saved.digest != job.digest && saved.store.levels.is_empty() {
        return Ok(None);
    }
    if saved.digest != job.digest || saved.storage != job.storage {
        return Err(spill::Error::corrupt(MANIFEST, 0, "it belongs to another model than the job"));
    }
    Ok(Some(saved))
}

/// Returns whether a directory was created as temporary and is still in its original place. A copy belongs to the
/// user.
fn is_temporary(path: &Path) -> bool {
    let whole = path.canonicalize().ok();
    let is_named =
        |it: &Path| it.file_name().is_some_and(|it| it.to_string_lossy().starts_with(PREFIX));
    let is_there =
        |it: &Path| it.parent().map(Path::to_path_buf) == std::env::temp_dir().canonicalize().ok();
    let is_where_made = whole.is_some_and(|it| is_named(&it) && is_there(&it));
    is_where_made && is_file(&path.join(TEMPORARY))
}

/// Returns an error if the place for the folder of another search is a link or a file. A link would lead outside.
pub(super) fn reject_link(path: &Path) -> Result<(), Error> {
    match std::fs::symlink_metadata(path) {
        Ok(found) if !found.is_dir() => {
            let what = "it is a link or a file, not a folder";
            let what = std::io::Error::new(ErrorKind::InvalidData, what);
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let error = spill::Error::io("search in", name, what);
            Err(Error::Open(path.parent().unwrap_or(path).to_path_buf(), error))
        }
        _ => Ok(()),
    }
}

/// Returns whether a directory has a job.
fn has_job(path: &Path) -> bool {
    is_file(&path.join(JOB))
}

/// Returns whether `path` is a file. A link is no file.
fn is_file(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|it| it.is_file())
}

/// Returns whether these are the files of a directory without a search, or with an abandoned one. An abandoned search
/// has no job, only the unfinished file that would replace it.
fn are_of_none(files: &[(String, u64)]) -> bool {
    let has = |wanted: &str| files.iter().any(|(name, _)| name == wanted);
    let is_abandoned = has(&unfinished(JOB));
    let is_harmless = |name: &str| match DirectoryFile::of(name) {
        Some(DirectoryFile::Fixed) => name == RealDisk::LOCK || is_abandoned,
        found => found.is_some() && is_abandoned,
    };
    !has(JOB) && files.iter().all(|(name, _)| is_harmless(name))
}

/// Returns an error that describes the contents, if a directory is in use.
fn reject_if_used(path: &Path, job: &SearchJob) -> Result<(), Error> {
    let disk = RealDisk::open(path).map_err(|error| Error::Open(path.to_path_buf(), error))?;
    let files = disk.list().map_err(|error| Error::Open(path.to_path_buf(), error))?;
    if are_of_none(&files) {
        return Ok(());
    }
    if !files.iter().any(|(name, _)| name == JOB) {
        return Err(Error::NotEmpty(path.to_path_buf()));
    }
    drop(disk);
    let DirectoryContents { job: theirs, running, .. } = DirectoryContents::read(path)?;
    let taken = match (running, theirs.is_of_same_model(job)) {
        (true, _) => DirectoryConflict::Running(theirs.model_name().into()),
        (false, true) if theirs.runs != job.runs => DirectoryConflict::Otherwise,
        (false, true) => DirectoryConflict::SameModel,
        (false, false) => DirectoryConflict::OtherModel(theirs.model_name().into()),
    };
    Err(Error::Taken(path.to_path_buf(), taken))
}
