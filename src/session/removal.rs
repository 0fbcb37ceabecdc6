//! The removal of search directories. It removes only files whose whole names are those of a search's files.
//!
//! The job is removed last. If the process is killed before, the directory is still recognisable: a directory without
//! a job has no search.

use crate::search::files::{ANSWER, CYCLES, DirectoryFile, JOB, MANIFEST, is_folder, unfinished};
use spill::{Disk, RealDisk, Result};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The files that record the progress of a search. They are removed first: without them the search restarts, whatever
/// other files exist.
const FIRST: [&str; 3] = [MANIFEST, CYCLES, ANSWER];

/// Removes a directory when dropped, with all files of a search in it. Other files stay, and then the directory stays
/// too.
pub(super) struct RemoveOnDrop(pub PathBuf);

impl Drop for RemoveOnDrop {
    fn drop(&mut self) {
        // `status --all` lists what could not be removed.
        let _ = remove_whole(&self.0);
    }
}

/// Removes the files of a search in a directory, the folders of its other searches, and the directory if it is then
/// empty.
pub(super) fn remove_whole(path: &Path) -> Result<()> {
    folders_in(path)?.iter().try_for_each(|it| {
        remove_files(it, &RealDisk::open(it)?, &[])?;
        fs::remove_dir(it).map_err(|error| failed(it, error))
    })?;
    remove_files(path, &RealDisk::open(path)?, &[])?;
    fs::remove_dir(path).map_err(|error| failed(path, error))
}

/// Turns a directory into one without a search. The caller holds its lock, which stays.
pub(super) fn abandon(path: &Path) -> Result<()> {
    let disk = RealDisk::open(path)?;
    // From here on the directory has no search. A new search knows that the remaining files are abandoned.
    let job = unfinished(JOB);
    disk.rename(JOB, &job)?;
    disk.sync_dir()?;
    remove_files(path, &disk, &[RealDisk::LOCK, &job])?;
    disk.remove(&job)
}

/// Removes the files of a search in a directory, except those in `kept`.
pub(super) fn remove_files(path: &Path, disk: &dyn Disk, kept: &[&str]) -> Result<()> {
    let mut names = Vec::new();
    for entry in entries(path)? {
        let is_ours = entry.kind.is_file() && DirectoryFile::of(&entry.name).is_some();
        names.extend((is_ours && !kept.contains(&&*entry.name)).then_some(entry.name));
    }
    let rank = |name: &str| match name {
        JOB => 2,
        name => u8::from(!FIRST.contains(&name)),
    };
    names.sort_by_key(|it| rank(it));
    names.iter().try_for_each(|it| disk.remove(it))
}

/// Returns the folders of the other searches in a directory.
pub(super) fn folders_in(path: &Path) -> Result<Vec<PathBuf>> {
    let entries = entries(path)?.into_iter();
    let folders = entries.filter(|it| it.kind.is_dir() && is_folder(&it.name));
    Ok(folders.map(|it| path.join(it.name)).collect())
}

/// Returns the name of an entry that does not belong to a search, if there is one.
pub(super) fn foreign_in(path: &Path, may_have_folders: bool) -> Result<Option<String>> {
    let is_ours = |it: &DirectoryEntry| match it.kind.is_dir() {
        true => may_have_folders && is_folder(&it.name),
        false => it.kind.is_file() && DirectoryFile::of(&it.name).is_some(),
    };
    Ok(entries(path)?.into_iter().find(|it| !is_ours(it)).map(|it| it.name))
}

/// An entry of a directory: its name and its file type. Links are not followed.
struct DirectoryEntry {
    name: String,
    kind: fs::FileType,
}

fn entries(path: &Path) -> Result<Vec<DirectoryEntry>> {
    let read = || -> io::Result<Vec<DirectoryEntry>> {
        let mut all = Vec::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            // A name that is not valid UTF-8 is never a search's, and lossy conversion does not turn it into one.
            let name = entry.file_name().to_string_lossy().into_owned();
            all.push(DirectoryEntry { name, kind: entry.file_type()? });
        }
        Ok(all)
    };
    read().map_err(|error| spill::Error::io("list", path.display().to_string(), error))
}

fn failed(path: &Path, error: io::Error) -> spill::Error {
    spill::Error::io("remove", path.display().to_string(), error)
}
