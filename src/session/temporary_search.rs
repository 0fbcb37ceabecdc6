//! Temporary search directories: listing, and removal if no search is running in them.
//!
//! A new search in a temporary directory removes those of searches that were killed soon after they began.
//!
//! Only directories of a search are removed. Such a directory has the prefix in its name, belongs to the current user,
//! has a job, and has no foreign files. Its lock is held during the removal.

use super::directory::PREFIX;
use super::job::SearchJob;
use super::removal::{folders_in, foreign_in, remove_whole};
use super::run_status::{checkpoint_age, file_age};
use super::{DirectoryContents, Error, SearchDirectory, SearchSnapshot, SearchState};
use crate::search::files::{JOB, TEMPORARY};
use spill::RealDisk;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A temporary search directory.
#[derive(Debug)]
pub struct TemporarySearch {
    /// The path.
    pub path: PathBuf,
    /// The job of the directory.
    pub found: DirectoryJob,
    /// The bytes of its files.
    pub bytes: u64,
    /// Whether a search is running in it.
    pub running: bool,
    /// The state of the search, as [`SearchState::name`] returns it.
    pub state: &'static str,
    /// The time since the search began, by the clock of its job.
    pub age: Duration,
    /// The age of the last checkpoint by the clock of its file, if there is one.
    pub checkpoint_ago: Option<Duration>,
}

/// The job of a directory that looks like a search directory.
#[derive(Debug)]
pub enum DirectoryJob {
    /// A search.
    Search {
        /// The model's name.
        model: String,
        /// Its language; `rust` for a Rust type.
        language: String,
    },
    /// A search by another version of Spillway, with the error that says so.
    OtherVersion(spill::Error),
    /// A damaged job, with the error.
    Damaged(spill::Error),
}

/// The result of the removal of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemovalOutcome {
    /// The directory was removed.
    Removed,
    /// The directory stays: a search is running in it.
    Running,
    /// The directory stays: this entry does not belong to a search.
    Foreign(String),
    /// The directory stays: its job is damaged, so its files may not be a search's.
    Damaged,
}

/// The time up to which a killed search is not worth resuming. Without a terminal its directory was not named before.
const SHORT: Duration = Duration::from_secs(10);

/// Returns the temporary search directories in `folder` that belong to the current user, in order of name.
pub fn temporary_in(folder: &Path) -> Result<Vec<TemporarySearch>, Error> {
    let candidates = candidates_in(folder).map_err(|error| {
        let name = folder.display().to_string();
        Error::Open(folder.to_path_buf(), spill::Error::io("list", name, error))
    })?;
    Ok(candidates.into_iter().filter_map(TemporarySearch::at).collect())
}

/// Creates a directory for `job`: at `path`, or a temporary one. Then those of killed searches go.
pub(super) fn create_directory(
    path: Option<&Path>,
    job: &SearchJob,
    disk_limit: Option<u64>,
) -> Result<SearchDirectory, Error> {
    if path.is_none() {
        remove_killed();
    }
    SearchDirectory::create(path, job, disk_limit)
}

/// Removes the temporary directories of searches that were killed soon after they began. Failures are tolerated:
/// `status --all` lists what is left.
fn remove_killed() {
    for path in candidates_in(&std::env::temp_dir()).unwrap_or_default() {
        if was_killed_soon(&path) {
            let _ = remove(&path);
        }
    }
}

/// Returns whether a directory is that of a search whose process is gone without a record of its end, soon after the
/// search began.
fn was_killed_soon(path: &Path) -> bool {
    let Ok(disk) = RealDisk::open(path) else { return false };
    let Some(age) = file_age(&path.join(JOB)) else { return false };
    let worked = age.saturating_sub(checkpoint_age(path).unwrap_or(age));
    if disk.is_locked() || !path.join(TEMPORARY).is_file() || worked >= SHORT {
        return false;
    }
    let state = DirectoryContents::read(path).map(|it| SearchSnapshot::of(path, &it).state);
    state.is_ok_and(|it| matches!(it, SearchState::Killed | SearchState::Unknown))
}

/// Returns the directories in `folder` with names of temporary search directories that belong to the current user, in
/// order of name.
fn candidates_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    // The owner of a new file here is the current user.
    let us = tempfile::tempfile_in(folder)?.metadata()?.uid();
    let mut all = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let is_named = entry.file_name().to_string_lossy().starts_with(PREFIX);
        // Directories appear and disappear. A link is not a directory.
        let is_ours = || entry.metadata().is_ok_and(|it| it.is_dir() && it.uid() == us);
        if is_named && is_ours() {
            all.push(entry.path());
        }
    }
    all.sort();
    Ok(all)
}

impl TemporarySearch {
    /// Returns the search directory at a path, if there is one.
    fn at(path: PathBuf) -> Option<TemporarySearch> {
        let disk = RealDisk::open(&path).ok()?;
        let age = file_age(&path.join(JOB))?;
        let checkpoint_ago = checkpoint_age(&path);
        let found = match SearchJob::load(&disk) {
            Ok(job) => {
                let (model, language) = (job.model_name().to_owned(), job.language().to_owned());
                DirectoryJob::Search { model, language }
            }
            Err(error @ spill::Error::Version { .. }) => DirectoryJob::OtherVersion(error),
            Err(error) => DirectoryJob::Damaged(error),
        };
        let (bytes, running) = (bytes_in(&path), disk.is_locked());
        let unknown = if running { SearchState::Running } else { SearchState::Unknown };
        let state = DirectoryContents::read(&path)
            .map_or(unknown, |it| SearchSnapshot::of(&path, &it).state)
            .name();
        Some(TemporarySearch { path, found, bytes, running, state, age, checkpoint_ago })
    }

    /// Removes the directory, unless a search is running in it or it has foreign entries.
    pub fn remove(&self) -> Result<RemovalOutcome, Error> {
        match &self.found {
            DirectoryJob::Damaged(_) => Ok(RemovalOutcome::Damaged),
            DirectoryJob::Search { .. } | DirectoryJob::OtherVersion(_) => {
                remove(&self.path).map_err(Error::open(&self.path))
            }
        }
    }
}

/// Returns the bytes of all files below a directory.
fn bytes_in(path: &Path) -> u64 {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let bytes = entries.map(|entry| match entry.metadata() {
        Ok(it) if it.is_dir() => bytes_in(&entry.path()),
        Ok(it) => it.len(),
        Err(_) => 0,
    });
    bytes.sum()
}

/// Removes a search directory, with the folders of its other searches.
fn remove(path: &Path) -> spill::Result<RemovalOutcome> {
    let below = folders_in(path)?;
    // Nothing is removed before it is known that everything may be removed.
    let mut held = Vec::new();
    for folder in std::iter::once(path).chain(below.iter().map(PathBuf::as_path)) {
        let disk = RealDisk::open(folder)?;
        match disk.lock() {
            Ok(()) => held.push(disk),
            Err(spill::Error::Locked { .. }) => return Ok(RemovalOutcome::Running),
            Err(error) => return Err(error),
        }
        if let Some(name) = foreign_in(folder, folder == path)? {
            return Ok(RemovalOutcome::Foreign(name));
        }
    }
    remove_whole(path)?;
    drop(held);
    Ok(RemovalOutcome::Removed)
}
