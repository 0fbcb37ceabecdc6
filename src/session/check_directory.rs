//! The directory of a check of several searches: a folder for each search, and a file that lists the searches.

use super::SearchDirectory;
use super::error::{DirectoryConflict, Error};
use super::saved_check::{SavedCheck, has_check};
use spill::{Disk, RealDisk};
use std::path::{Path, PathBuf};

/// The directory of a check. It is locked as long as this value lives.
pub struct CheckDirectory {
    path: PathBuf,
    disk: RealDisk,
}

impl CheckDirectory {
    /// Creates the directory of a check.
    ///
    /// # Errors
    ///
    /// If the directory is not empty.
    pub fn create(path: &Path, check: &SavedCheck) -> Result<CheckDirectory, Error> {
        std::fs::create_dir_all(path).map_err(|error| Error::Create(path.to_path_buf(), error))?;
        let directory = CheckDirectory::lock(path)?;
        let open = Error::open(path);
        let files = directory.disk.list().map_err(&open)?;
        let is_used = files.iter().any(|(name, _)| name != RealDisk::LOCK);
        let has_folders = std::fs::read_dir(path)
            .is_ok_and(|it| it.flatten().any(|it| it.file_type().is_ok_and(|it| it.is_dir())));
        if has_check(path) || SearchDirectory::has_search(path) {
            return Err(Error::Taken(path.to_path_buf(), DirectoryConflict::Otherwise));
        }
        if is_used || has_folders {
            return Err(Error::NotEmpty(path.to_path_buf()));
        }
        check.commit(&directory.disk).map_err(open)?;
        Ok(directory)
    }

    /// Locks the directory of a check.
    pub fn lock(path: &Path) -> Result<CheckDirectory, Error> {
        let open = Error::open(path);
        let disk = RealDisk::open(path).map_err(&open)?;
        disk.lock().map_err(&open)?;
        Ok(CheckDirectory { path: path.to_path_buf(), disk })
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
