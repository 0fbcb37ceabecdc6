//! Search directories: made, recognised, locked, described.
//!
//! Beside what the search keeps in it, a directory holds the *job*: the model's text and the flags
//! that decide what is searched for, so that it can be resumed anywhere by itself.

use super::config::CheckConfig;
use super::error::{DirectoryConflict, Error};
use super::eventually_verdicts::EventuallyVerdicts;
use super::in_memory_answer::InMemoryAnswer;
use super::job::SearchJob;
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

/// What a session of a search begins with.
pub(super) struct SessionSetup<'c> {
    /// How the session begins.
    pub start: SessionStart,
    /// The memory of the search.
    pub plan: MemoryPlan,
    /// Stops the search.
    pub control: &'c SearchControl,
}

/// Names of temporary search directories begin with this.
pub(super) const PREFIX: &str = "spillway-";

/// A search directory that this process holds the lock of.
pub struct SearchDirectory {
    /// Where it is.
    pub path: PathBuf,
    /// Its files, counted.
    pub disk: Arc<MeteredDisk>,
    /// What the sitting before took, if there was one that told.
    pub previous_limits: Option<SavedLimits>,
    /// Removes it when dropped.
    temporary: Option<RemoveOnDrop>,
}

impl SearchDirectory {
    /// A new directory for `job`: at `path`, or a temporary one.
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
        // Its own name should survive what its files survive; where it cannot be made to, it may not.
        if let Some(parent) = path.canonicalize().ok().as_deref().and_then(Path::parent) {
            let _ = std::fs::File::open(parent).and_then(|parent| parent.sync_all());
        }
        reject_if_used(&path, job)?;
        let directory = SearchDirectory::lock(path, temporary, disk_limit)?;
        let failed = |error| Error::Begin(directory.path.clone(), error);
        if has_job(&directory.path) {
            // Another process has begun just before the lock was taken, and has ended since.
            return Err(Error::Taken(directory.path.clone(), DirectoryConflict::Otherwise));
        }
        let begin = || {
            // What is left of a search that was abandoned is of no use to this one.
            remove_files(&directory.path, &*directory.disk, &[RealDisk::LOCK])?;
            if directory.is_temporary() {
                directory.disk.create(TEMPORARY)?;
            }
            job.commit(&*directory.disk)
        };
        begin().map_err(failed)?;
        Ok(directory)
    }

    /// Refuses a place where a new directory for `job` cannot be made, as something else is there.
    pub fn check_unused(path: &Path, job: &SearchJob) -> Result<(), Error> {
        if path.exists() { reject_if_used(path, job) } else { Ok(()) }
    }

    /// A directory that a search has begun in, and what lies in it. It may take what it might before, if nothing else is said.
    pub fn open(
        path: &Path,
        disk_limit: Option<u64>,
    ) -> Result<(SearchDirectory, DirectoryContents), Error> {
        let before = DirectoryContents::read(path)?.limits;
        let disk_limit = disk_limit.or(before.and_then(|it| it.limits.disk_limit));
        let directory = SearchDirectory::lock(path.to_path_buf(), None, disk_limit)?;
        // Read again: another process may have ended its search just before the lock was taken.
        let contents = DirectoryContents::read(path)?;
        Ok((SearchDirectory { previous_limits: contents.limits.clone(), ..directory }, contents))
    }

    /// Whether a search has begun in a directory.
    pub fn has_search(path: &Path) -> bool {
        has_job(path)
    }

    /// Whether there is a file of this name in it.
    pub(super) fn has_file(&self, name: &str) -> bool {
        self.disk.list().is_ok_and(|files| files.iter().any(|(it, _)| it == name))
    }

    /// A directory in which a search has begun that is to be gone on with: the same job's. With its last
    /// checkpoint, if it made one.
    pub fn resume(
        path: &Path,
        job: &SearchJob,
        disk_limit: Option<u64>,
    ) -> Result<(SearchDirectory, Option<SavedSearch>), Error> {
        let (directory, DirectoryContents { job: theirs, saved, .. }) =
            SearchDirectory::open(path, disk_limit)?;
        if theirs.undecided().is_some() && theirs.is_of_same_model(job) {
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

    /// Takes this job instead of one of which it was still to be decided how it is reduced.
    pub fn decide(&self, job: &SearchJob) -> Result<(), Error> {
        job.commit(&*self.disk).map_err(|error| Error::Begin(self.path.clone(), error))
    }

    /// Keeps what a search in memory came to, so that none is needed here.
    pub fn save_answer(&self, answer: &InMemoryAnswer) -> Result<(), Error> {
        answer.commit(&*self.disk).map_err(|error| Error::Begin(self.path.clone(), error))
    }

    /// Keeps what this sitting takes for the next one.
    pub fn save_limits(&self, means: &SavedLimits) -> Result<(), Error> {
        let means = means.in_directory(&self.path);
        means.commit(&*self.disk).map_err(|error| Error::Begin(self.path.clone(), error))
    }

    /// The same, where it is not what the sitting before took. What is refused is not to be kept.
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

    /// Runs a sitting of a search, and leaves for whoever looks on how it begins, how it goes, and what it came to, as
    /// `verdict` says.
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

    /// Keeps the directory even if it is a temporary one.
    pub fn keep(&mut self) {
        // What is not dropped removes nothing.
        self.temporary.take().into_iter().for_each(std::mem::forget);
    }

    /// Has the directory removed that was gone on with, unless it is kept from now on, if it is a temporary one: its search
    /// has come to its end.
    pub fn remove_if_temporary(&mut self) {
        if self.temporary.is_none() && is_temporary(&self.path) {
            self.temporary = Some(RemoveOnDrop(self.path.clone()));
        }
    }

    /// Begins anew with another job for the same search. Whenever this is interrupted, there is a job to begin anew with: as
    /// long as it is the one before, its search ends where this one began anew.
    pub fn restart(&self, job: &SearchJob) -> Result<(), Error> {
        let begin = || -> spill::Result<()> {
            // Without a manifest nothing else is there.
            let kept = [JOB, RUN_LIMITS, TEMPORARY, RealDisk::LOCK];
            let files = self.disk.list()?.into_iter().map(|(name, _)| name);
            let (first, others): (Vec<_>, Vec<_>) =
                files.filter(|it| !kept.contains(&it.as_str())).partition(|it| it == MANIFEST);
            first.iter().chain(&others).try_for_each(|it| self.disk.remove(it))?;
            job.commit(&*self.disk)
        };
        begin().map_err(|error| Error::Begin(self.path.clone(), error))
    }

    /// Leaves nothing of a search that is to be made again.
    pub fn discard(self) {
        let SearchDirectory { path, disk, temporary, .. } = self;
        if temporary.is_none() {
            // What cannot be removed is found, and told, when the directory is to be used again.
            let _ = abandon(&path);
        }
        drop(disk);
    }

    /// Whether it was made where temporary files are, since nobody named one.
    pub fn is_unnamed(&self) -> bool {
        is_temporary(&self.path)
    }

    /// Whether it will be removed.
    pub fn is_temporary(&self) -> bool {
        self.temporary.is_some()
    }
}

/// What lies in a search directory, read without touching it.
pub struct DirectoryContents {
    /// What is searched for.
    pub job: SearchJob,
    /// The last checkpoint.
    pub saved: Option<SavedSearch>,
    /// What was found in memory, if that was enough.
    pub answer: Option<InMemoryAnswer>,
    /// What is said to be so eventually in a search of a Rust type, and what came of it.
    pub promises: Vec<EventuallyResult>,
    /// What the last sitting takes, if it told.
    pub limits: Option<SavedLimits>,
    /// How the last sitting began, if it told: only to be shown.
    pub session_start: Option<SessionStart>,
    /// The bytes of all files.
    pub bytes: u64,
    /// Whether a search is running in it.
    pub running: bool,
}

impl DirectoryContents {
    /// What is checked in the directory, and how, with what its last session took.
    pub fn config(&self) -> CheckConfig {
        let SavedLimits { limits, outputs: output, .. } = self.limits.clone().unwrap_or_default();
        CheckConfig { limits, output, ..self.job.config() }
    }

    /// The answer of a search for what is to be seen in states and steps that came to this, with what is known of runs.
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
        let answer = has(ANSWER).then(|| InMemoryAnswer::load(&disk, job.digest)).transpose();
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

/// The last checkpoint of a job's search.
pub(super) fn last(disk: &dyn Disk, job: &SearchJob) -> spill::Result<Option<SavedSearch>> {
    let saved = SavedSearch::load(disk)?;
    // One without a level is of no use, and may be from before it was decided how to reduce.
    if saved.digest != job.digest && saved.store.levels.is_empty() {
        return Ok(None);
    }
    if saved.digest != job.digest || saved.storage != job.storage {
        return Err(spill::Error::corrupt(MANIFEST, 0, "it belongs to another model than the job"));
    }
    Ok(Some(saved))
}

/// Whether a directory was made since none was named, and is still where it was made: what somebody copied is theirs.
fn is_temporary(path: &Path) -> bool {
    let whole = path.canonicalize().ok();
    let is_named =
        |it: &Path| it.file_name().is_some_and(|it| it.to_string_lossy().starts_with(PREFIX));
    let is_there =
        |it: &Path| it.parent().map(Path::to_path_buf) == std::env::temp_dir().canonicalize().ok();
    let is_where_made = whole.is_some_and(|it| is_named(&it) && is_there(&it));
    is_where_made && is_file(&path.join(TEMPORARY))
}

/// Refuses a link, or a file, where the folder of a search beside another one is to be: a link would lead elsewhere.
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

/// Whether there is a job in a directory.
fn has_job(path: &Path) -> bool {
    is_file(&path.join(JOB))
}

/// Whether there is a file, and not only a link to one.
fn is_file(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|it| it.is_file())
}

/// Whether files are in a directory in which no search has begun, or one was abandoned: then only that is left of its job which
/// replaces one.
fn are_of_none(files: &[(String, u64)]) -> bool {
    let has = |wanted: &str| files.iter().any(|(name, _)| name == wanted);
    let is_abandoned = has(&unfinished(JOB));
    let is_harmless = |name: &str| match DirectoryFile::of(name) {
        Some(DirectoryFile::Fixed) => name == RealDisk::LOCK || is_abandoned,
        found => found.is_some() && is_abandoned,
    };
    !has(JOB) && files.iter().all(|(name, _)| is_harmless(name))
}

/// Refuses a directory that is not empty, saying what is in it.
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
