//! Search directories that were made where none was named: found again, and removed if nobody searches in them.
//!
//! What is removed is only what a search made: the directory has the prefix, is ours, has a job in it, and nothing that is
//! not a search's; and its lock is held while it goes.

use super::directory::PREFIX;
use super::job::SearchJob;
use super::removal::{folders_in, foreign_in, remove_whole};
use super::run_status::{checkpoint_age, file_age};
use super::{DirectoryContents, Error, SearchSnapshot, SearchState};
use crate::search::files::JOB;
use spill::RealDisk;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A temporary search directory.
#[derive(Debug)]
pub struct TemporarySearch {
    /// Where it is.
    pub path: PathBuf,
    /// What is in it.
    pub found: DirectoryJob,
    /// The bytes of its files.
    pub bytes: u64,
    /// Whether a search is running in it.
    pub running: bool,
    /// What it is doing or what became of it, in the word of [`SearchState::name`].
    pub state: &'static str,
    /// How long ago the search began, by the clock of its job.
    pub age: Duration,
    /// How long ago the last checkpoint was made, by the clock of its file, if there is one.
    pub checkpoint_ago: Option<Duration>,
}

/// What is in a directory that looks like a search's.
#[derive(Debug)]
pub enum DirectoryJob {
    /// A search.
    Search {
        /// The model's name.
        model: String,
        /// Its language; `rust` for a Rust type.
        language: String,
    },
    /// A search by another version of Spillway, and what says so.
    OtherVersion(spill::Error),
    /// A job that is damaged, and how.
    Damaged(spill::Error),
}

/// What became of a directory that was to be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemovalOutcome {
    /// It is gone.
    Removed,
    /// It is left: a search is running in it.
    Running,
    /// It is left: this in it is no search's.
    Foreign(String),
    /// It is left: what is in it may be no search's, as its job is damaged.
    Damaged,
}

/// The temporary search directories in `folder` that belong to whoever asks, by name.
pub fn temporary_in(folder: &Path) -> Result<Vec<TemporarySearch>, Error> {
    let look = || -> io::Result<Vec<TemporarySearch>> {
        // What is made there is ours.
        let us = tempfile::tempfile_in(folder)?.metadata()?.uid();
        let mut all = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let is_named = entry.file_name().to_string_lossy().starts_with(PREFIX);
            // Directories come and go; a link is none.
            let is_ours = || entry.metadata().is_ok_and(|it| it.is_dir() && it.uid() == us);
            if is_named && is_ours() {
                all.extend(TemporarySearch::at(entry.path()));
            }
        }
        all.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(all)
    };
    look().map_err(|error| {
        let name = folder.display().to_string();
        Error::Open(folder.to_path_buf(), spill::Error::io("list", name, error))
    })
}

impl TemporarySearch {
    /// What is at a place, if that is a search directory.
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

    /// Removes it, unless a search is running in it or there is something in it that is no search's.
    pub fn remove(&self) -> Result<RemovalOutcome, Error> {
        match &self.found {
            DirectoryJob::Damaged(_) => Ok(RemovalOutcome::Damaged),
            DirectoryJob::Search { .. } | DirectoryJob::OtherVersion(_) => {
                remove(&self.path).map_err(Error::open(&self.path))
            }
        }
    }
}

/// The bytes of all files below a directory.
fn bytes_in(path: &Path) -> u64 {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let bytes = entries.map(|entry| match entry.metadata() {
        Ok(it) if it.is_dir() => bytes_in(&entry.path()),
        Ok(it) => it.len(),
        Err(_) => 0,
    });
    bytes.sum()
}

/// Removes a search directory, and those of searches beside it in it.
fn remove(path: &Path) -> spill::Result<RemovalOutcome> {
    let below = folders_in(path)?;
    // Nothing goes before it is known that all may.
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
