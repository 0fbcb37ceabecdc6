//! Search directories that were made where none was named: found again, and removed if nobody searches in them.
//!
//! What is removed is only what a search made: the directory has the prefix, is ours, has a job in it, and nothing that is
//! not a search's; and its lock is held while it goes.

use super::directory::{PREFIX, TEMPORARY};
use super::going::{checkpoint_ago, written_ago};
use super::job::{JOB, Job};
use super::means::MEANS;
use super::shorter::FOLDER;
use super::sitting::SITTING;
use super::{Contents, Error, Live, State};
use crate::search::checkpoint::MANIFEST;
use crate::search::cycles::CYCLES;
use crate::search::events::EVENTS;
use crate::search::status::STATUS;
use spill::{FileName, RealDisk};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Files of a search directory, but for those of keys.
const FILES: [&str; 9] =
    [JOB, TEMPORARY, MEANS, SITTING, MANIFEST, CYCLES, EVENTS, STATUS, RealDisk::LOCK];

/// What a commit that did not finish leaves has this behind its name.
const UNFINISHED: &str = ".new";

/// A temporary search directory.
#[derive(Debug)]
pub struct Temporary {
    /// Where it is.
    pub path: PathBuf,
    /// What is in it.
    pub found: JobFound,
    /// The bytes of its files.
    pub bytes: u64,
    /// Whether a search is running in it.
    pub running: bool,
    /// What it is doing or what became of it, in the word of [`State::name`].
    pub state: &'static str,
    /// How long ago the search began, by the clock of its job.
    pub age: Duration,
    /// How long ago the last checkpoint was made, by the clock of its file, if there is one.
    pub checkpoint_ago: Option<Duration>,
}

/// What is in a directory that looks like a search's.
#[derive(Debug)]
pub enum JobFound {
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
pub enum Removal {
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
pub fn temporary_in(folder: &Path) -> Result<Vec<Temporary>, Error> {
    let look = || -> io::Result<Vec<Temporary>> {
        // What is made there is ours.
        let us = tempfile::tempfile_in(folder)?.metadata()?.uid();
        let mut all = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let is_named = entry.file_name().to_string_lossy().starts_with(PREFIX);
            // Directories come and go; a link is none.
            let is_ours = || entry.metadata().is_ok_and(|it| it.is_dir() && it.uid() == us);
            if is_named && is_ours() {
                all.extend(Temporary::at(entry.path()));
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

impl Temporary {
    /// What is at a place, if that is a search directory.
    fn at(path: PathBuf) -> Option<Temporary> {
        let disk = RealDisk::open(&path).ok()?;
        let age = written_ago(&path.join(JOB))?;
        let checkpoint_ago = checkpoint_ago(&path);
        let found = match Job::load(&disk) {
            Ok(job) => {
                let (model, language) = (job.model_name().to_owned(), job.language().to_owned());
                JobFound::Search { model, language }
            }
            Err(error @ spill::Error::Version { .. }) => JobFound::OtherVersion(error),
            Err(error) => JobFound::Damaged(error),
        };
        let (bytes, running) = (bytes_in(&path), disk.is_locked());
        let unknown = if running { State::Running } else { State::Unknown };
        let state = Contents::read(&path).map_or(unknown, |it| Live::of(&path, &it).state).name();
        Some(Temporary { path, found, bytes, running, state, age, checkpoint_ago })
    }

    /// Removes it, unless a search is running in it or there is something in it that is no search's.
    pub fn remove(&self) -> Result<Removal, Error> {
        match &self.found {
            JobFound::Damaged(_) => Ok(Removal::Damaged),
            JobFound::Search { .. } | JobFound::OtherVersion(_) => {
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

/// Removes a search directory, and that of the search for something shorter in it.
fn remove(path: &Path) -> spill::Result<Removal> {
    let below = path.join(FOLDER);
    let folders: Vec<&Path> = match is_folder(&below) {
        true => vec![path, &below],
        false => vec![path],
    };
    // Nothing goes before it is known that all may.
    let mut held = Vec::new();
    for &folder in &folders {
        let disk = RealDisk::open(folder)?;
        match disk.lock() {
            Ok(()) => held.push(disk),
            Err(spill::Error::Locked { .. }) => return Ok(Removal::Running),
            Err(error) => return Err(error),
        }
        if let Some(name) = foreign_in(folder, folder == path)? {
            return Ok(Removal::Foreign(name));
        }
    }
    folders.into_iter().rev().try_for_each(empty_and_remove)?;
    drop(held);
    Ok(Removal::Removed)
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|it| it.is_dir())
}

/// Something in a search directory that is no search's.
fn foreign_in(folder: &Path, may_have_shorter: bool) -> spill::Result<Option<String>> {
    let error = |error| spill::Error::io("list", folder.display().to_string(), error);
    for entry in fs::read_dir(folder).map_err(error)? {
        let entry = entry.map_err(error)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let kind = entry.file_type().map_err(error)?;
        let is_ours = match kind.is_dir() {
            true => may_have_shorter && name == FOLDER,
            false => kind.is_file() && is_of_search(&name),
        };
        if !is_ours {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

fn is_of_search(name: &str) -> bool {
    let whole = name.strip_suffix(UNFINISHED).unwrap_or(name);
    FILES.contains(&whole) || FileName::is_one(name)
}

/// Removes a directory with all files in it: the job last, so that what is left over is still known for what it is.
fn empty_and_remove(folder: &Path) -> spill::Result<()> {
    let empty = || {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_name() != JOB {
                fs::remove_file(entry.path())?;
            }
        }
        match fs::remove_file(folder.join(JOB)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => fs::remove_dir(folder),
        }
    };
    empty().map_err(|error| spill::Error::io("remove", folder.display().to_string(), error))
}
