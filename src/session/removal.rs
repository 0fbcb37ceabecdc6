//! Removing search directories: of what is in one only the files that a search makes, by their whole names.
//!
//! What is left when a process is killed meanwhile is still known for what it is: the job, without which there is no search,
//! goes last.

use crate::search::files::{ANSWER, CYCLES, DirectoryFile, JOB, MANIFEST, is_folder, unfinished};
use spill::{Disk, RealDisk, Result};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What says how far a search came goes first: without it, the search begins anew, whatever else is there.
const FIRST: [&str; 3] = [MANIFEST, CYCLES, ANSWER];

/// Removes a directory when dropped, with all that a search made in it. Something else in it is left, and then the directory is.
pub(super) struct RemoveOnDrop(pub PathBuf);

impl Drop for RemoveOnDrop {
    fn drop(&mut self) {
        // What cannot be removed is listed by `status --all`.
        let _ = remove_whole(&self.0);
    }
}

/// Removes what a search made in a directory, that of searches beside it, and the directory, if nothing is left in it.
pub(super) fn remove_whole(path: &Path) -> Result<()> {
    folders_in(path)?.iter().try_for_each(|it| {
        remove_files(it, &RealDisk::open(it)?, &[])?;
        fs::remove_dir(it).map_err(|error| failed(it, error))
    })?;
    remove_files(path, &RealDisk::open(path)?, &[])?;
    fs::remove_dir(path).map_err(|error| failed(path, error))
}

/// Makes a directory one in which no search has begun. Its lock is held, and stays.
pub(super) fn abandon(path: &Path) -> Result<()> {
    let disk = RealDisk::open(path)?;
    // From here on there is no search, and whoever begins one knows that the rest is nobody's.
    let job = unfinished(JOB);
    disk.rename(JOB, &job)?;
    disk.sync_dir()?;
    remove_files(path, &disk, &[RealDisk::LOCK, &job])?;
    disk.remove(&job)
}

/// Removes the files in a directory, by its disk, that a search makes, but for some.
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

/// The folders of searches beside the one in a directory.
pub(super) fn folders_in(path: &Path) -> Result<Vec<PathBuf>> {
    let entries = entries(path)?.into_iter();
    let folders = entries.filter(|it| it.kind.is_dir() && is_folder(&it.name));
    Ok(folders.map(|it| path.join(it.name)).collect())
}

/// Something in a search directory that no search makes.
pub(super) fn foreign_in(path: &Path, may_have_folders: bool) -> Result<Option<String>> {
    let is_ours = |it: &DirectoryEntry| match it.kind.is_dir() {
        true => may_have_folders && is_folder(&it.name),
        false => it.kind.is_file() && DirectoryFile::of(&it.name).is_some(),
    };
    Ok(entries(path)?.into_iter().find(|it| !is_ours(it)).map(|it| it.name))
}

/// What is in a directory: a name, and what has it. A link is a link.
struct DirectoryEntry {
    name: String,
    kind: fs::FileType,
}

fn entries(path: &Path) -> Result<Vec<DirectoryEntry>> {
    let read = || -> io::Result<Vec<DirectoryEntry>> {
        let mut all = Vec::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            // A name that is no text is none of ours, and does not become one of ours by this.
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
