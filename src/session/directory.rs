//! Search directories: made, recognised, locked, described.
//!
//! Beside what the search keeps in it, a directory holds the *job*: the model's text and the flags
//! that decide what is searched for, so that it can be resumed anywhere by itself.

use super::answer::Answer;
use super::error::{Error, Taken};
use super::eventually_verdicts::EventuallyVerdicts;
use super::job::Job;
use super::means::Means;
use super::removal::{Removed, abandon, remove_files};
use super::searched::Decided;
use super::sitting::Sitting;
use crate::report::Promise;
use crate::search::Verdict;
use crate::search::checkpoint::Saved;
use crate::search::files::{
    ANSWER, DirectoryFile, EVENTUALLY_VERDICTS, JOB, MANIFEST, MEANS, SITTING, TEMPORARY,
    unfinished,
};
use crate::search::recorder::{self, Begun};
use crate::search::{Control, MemoryPlan};
use spill::{Disk, Metered, RealDisk};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Names of temporary search directories begin with this.
pub(super) const PREFIX: &str = "spillway-";

/// A search directory that this process holds the lock of.
pub struct Directory {
    /// Where it is.
    pub path: PathBuf,
    /// Its files, counted.
    pub disk: Arc<Metered>,
    /// What the sitting before took, if there was one that told.
    pub kept: Option<Means>,
    /// Removes it when dropped.
    temporary: Option<Removed>,
}

impl Directory {
    /// A new directory for `job`: at `path`, or a temporary one.
    pub fn create(
        path: Option<&Path>,
        job: &Job,
        disk_limit: Option<u64>,
    ) -> Result<Directory, Error> {
        let (path, temporary) = match path {
            Some(path) => (path.to_path_buf(), None),
            None => {
                let made = tempfile::Builder::new().prefix(PREFIX).tempdir();
                let made = made.map_err(|error| Error::Temporary(std::env::temp_dir(), error))?;
                let path = made.keep();
                (path.clone(), Some(Removed(path)))
            }
        };
        std::fs::create_dir_all(&path).map_err(|error| Error::Create(path.clone(), error))?;
        // Its own name should survive what its files survive; where it cannot be made to, it may not.
        if let Some(parent) = path.canonicalize().ok().as_deref().and_then(Path::parent) {
            let _ = std::fs::File::open(parent).and_then(|parent| parent.sync_all());
        }
        refuse_if_used(&path, job)?;
        let directory = Directory::lock(path, temporary, disk_limit)?;
        let failed = |error| Error::Begin(directory.path.clone(), error);
        if has_job(&directory.path) {
            // Another process has begun just before the lock was taken, and has ended since.
            return Err(Error::Taken(directory.path.clone(), Taken::Otherwise));
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
    pub fn refuse_if_used(path: &Path, job: &Job) -> Result<(), Error> {
        if path.exists() { refuse_if_used(path, job) } else { Ok(()) }
    }

    /// A directory that a search has begun in, and what lies in it. It may take what it might before, if nothing else is said.
    pub fn open(path: &Path, disk_limit: Option<u64>) -> Result<(Directory, Contents), Error> {
        let before = Contents::read(path)?.means;
        let disk_limit = disk_limit.or(before.and_then(|it| it.disk_limit));
        let directory = Directory::lock(path.to_path_buf(), None, disk_limit)?;
        // Read again: another process may have ended its search just before the lock was taken.
        let contents = Contents::read(path)?;
        Ok((Directory { kept: contents.means.clone(), ..directory }, contents))
    }

    /// Whether a search has begun in a directory.
    pub fn has_search(path: &Path) -> bool {
        has_job(path)
    }

    /// Whether there is a file of this name in it.
    pub(super) fn has_file(&self, name: &str) -> bool {
        self.disk.list().is_ok_and(|files| files.iter().any(|(it, _)| it == name))
    }

    /// How the search in a directory is reduced.
    pub(super) fn decided(path: &Path) -> Result<Decided, Error> {
        let job = Contents::read(path)?.job;
        let is_open = job.undecided().is_some();
        Ok(Decided { wished: job.wished(), left_off: job.left_off(), is_open })
    }

    /// A directory in which a search has begun that is to be gone on with: the same job's. With its last
    /// checkpoint, if it made one.
    pub fn go_on(
        path: &Path,
        job: &Job,
        disk_limit: Option<u64>,
    ) -> Result<(Directory, Option<Saved>), Error> {
        let (directory, Contents { job: theirs, saved, .. }) = Directory::open(path, disk_limit)?;
        if theirs.undecided().is_some() && theirs.is_of_same_model(job) {
            directory.decide(job)?;
            return Ok((directory, None));
        }
        let wishes =
            |job: &Job| (job.checks, job.keep_going, job.storage.clone(), job.runs.clone());
        let taken = match theirs.digest == job.digest {
            true if wishes(&theirs) == wishes(job) => return Ok((directory, saved)),
            true => Taken::Otherwise,
            false => Taken::OtherModel(theirs.model_name().into()),
        };
        Err(Error::Taken(path.to_path_buf(), taken))
    }

    /// Takes this job instead of one of which it was still to be decided how it is reduced.
    pub fn decide(&self, job: &Job) -> Result<(), Error> {
        job.commit(&*self.disk).map_err(|error| Error::Begin(self.path.clone(), error))
    }

    /// Keeps what a search in memory came to, so that none is needed here.
    pub fn keep_answer(&self, answer: &Answer) -> Result<(), Error> {
        answer.commit(&*self.disk).map_err(|error| Error::Begin(self.path.clone(), error))
    }

    /// Keeps what this sitting takes for the next one.
    pub fn keep_means(&self, means: &Means) -> Result<(), Error> {
        let means = means.in_directory(&self.path);
        means.commit(&*self.disk).map_err(|error| Error::Begin(self.path.clone(), error))
    }

    /// The same, where it is not what the sitting before took. What is refused is not to be kept.
    pub fn keep_changed_means(&self, means: &Means) -> Result<(), Error> {
        match self.kept.as_ref().is_some_and(|it| it.is_like(means)) {
            true => Ok(()),
            false => self.keep_means(means),
        }
    }

    fn lock(
        path: PathBuf,
        temporary: Option<Removed>,
        disk_limit: Option<u64>,
    ) -> Result<Directory, Error> {
        let open = || -> spill::Result<Metered> {
            let real = RealDisk::open(&path)?;
            real.lock()?;
            Metered::new(Arc::new(real), disk_limit)
        };
        let disk = open().map_err(|error| Error::Open(path.clone(), error))?;
        Ok(Directory { path, disk: Arc::new(disk), kept: None, temporary })
    }

    /// Runs a sitting of a search, and leaves for whoever looks on how it begins, how it goes, and what it came to, as
    /// `verdict` says.
    pub(super) fn sit<T>(
        &self,
        (sitting, plan): (Sitting, MemoryPlan),
        control: &Control,
        verdict: impl Fn(&T) -> &'static str,
        run: impl FnOnce() -> spill::Result<T>,
    ) -> spill::Result<T> {
        sitting.keep(&*self.disk);
        let Sitting { begun: at, expanded, seconds: before } = sitting;
        let begun = Begun { at, expanded, before, plan };
        recorder::recorded((&self.path, &self.disk), &begun, control, verdict, run)
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
            self.temporary = Some(Removed(self.path.clone()));
        }
    }

    /// Begins anew with another job for the same search. Whenever this is interrupted, there is a job to begin anew with: as
    /// long as it is the one before, its search ends where this one began anew.
    pub fn begin_anew(&self, job: &Job) -> Result<(), Error> {
        let begin = || -> spill::Result<()> {
            // Without a manifest nothing else is there.
            let kept = [JOB, MEANS, TEMPORARY, RealDisk::LOCK];
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
        let Directory { path, disk, temporary, .. } = self;
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
pub struct Contents {
    /// What is searched for.
    pub job: Job,
    /// The last checkpoint.
    pub saved: Option<Saved>,
    /// What was found in memory, if that was enough.
    pub answer: Option<Answer>,
    /// What is said to be so eventually in a search of a Rust type, and what came of it.
    pub promises: Vec<Promise>,
    /// What the last sitting takes, if it told.
    pub means: Option<Means>,
    /// How the last sitting began, if it told: only to be shown.
    pub sitting: Option<Sitting>,
    /// The bytes of all files.
    pub bytes: u64,
    /// Whether a search is running in it.
    pub running: bool,
}

impl Contents {
    /// The answer of a search for what is to be seen in states and steps that came to this, with what is known of runs.
    pub fn verdict_with_runs(&self, states: Verdict) -> Verdict {
        Promise::verdict_with(states, &self.promises)
    }

    /// Reads the job and the last checkpoint in `path`.
    pub fn read(path: &Path) -> Result<Contents, Error> {
        let disk = RealDisk::open(path).map_err(|error| Error::Open(path.to_path_buf(), error))?;
        let files = disk.list().map_err(|error| Error::Open(path.to_path_buf(), error))?;
        let has = |wanted: &str| files.iter().any(|(name, _)| name == wanted);
        if !has(JOB) {
            return Err(Error::NoSearch(path.to_path_buf()));
        }
        let job = Job::load(&disk).map_err(|error| Error::Open(path.to_path_buf(), error))?;
        let saved = if has(MANIFEST) { last(&disk, &job) } else { Ok(None) };
        let saved = saved.map_err(|error| Error::Open(path.to_path_buf(), error))?;
        let answer = has(ANSWER).then(|| Answer::load(&disk, job.digest)).transpose();
        let answer = answer.map_err(|error| Error::Open(path.to_path_buf(), error))?;
        let promises = has(EVENTUALLY_VERDICTS)
            .then(|| EventuallyVerdicts::load(&disk, job.digest))
            .transpose()
            .map_err(|error| Error::Open(path.to_path_buf(), error))?
            .unwrap_or_default();
        let means = has(MEANS).then(|| Means::load(&disk)).transpose();
        let means = means.map_err(|error| Error::Open(path.to_path_buf(), error))?;
        let bytes = files.iter().map(|(_, length)| length).sum();
        let sitting = has(SITTING).then(|| Sitting::load(&disk)).flatten();
        let running = disk.is_locked();
        Ok(Contents { job, saved, answer, promises, means, sitting, bytes, running })
    }
}

/// The last checkpoint of a job's search.
pub(super) fn last(disk: &dyn Disk, job: &Job) -> spill::Result<Option<Saved>> {
    let saved = Saved::load(disk)?;
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
pub(super) fn refuse_link(path: &Path) -> Result<(), Error> {
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
fn refuse_if_used(path: &Path, job: &Job) -> Result<(), Error> {
    let disk = RealDisk::open(path).map_err(|error| Error::Open(path.to_path_buf(), error))?;
    let files = disk.list().map_err(|error| Error::Open(path.to_path_buf(), error))?;
    if are_of_none(&files) {
        return Ok(());
    }
    if !files.iter().any(|(name, _)| name == JOB) {
        return Err(Error::NotEmpty(path.to_path_buf()));
    }
    drop(disk);
    let Contents { job: theirs, running, .. } = Contents::read(path)?;
    let taken = match (running, theirs.is_of_same_model(job)) {
        (true, _) => Taken::Running(theirs.model_name().into()),
        (false, true) if theirs.runs != job.runs => Taken::Otherwise,
        (false, true) => Taken::SameModel,
        (false, false) => Taken::OtherModel(theirs.model_name().into()),
    };
    Err(Error::Taken(path.to_path_buf(), taken))
}
