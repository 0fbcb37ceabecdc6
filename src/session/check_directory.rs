//! The directory of a check that takes several searches: a folder for each search, and a file that says which there are.
//!
//! The file is written before the first search begins. So a check that was stopped or killed can be resumed: searches that
//! have begun go on, and the others begin with the text of the model that is kept here.

use super::config::CheckConfig;
use super::error::Error;
use super::{SearchDirectory, SearchOutputs, TextModel};
use crate::front::Language;
use crate::search::checkpoint::FORMAT;
use rkyv::{Archive, Deserialize, Serialize};
use spill::{Disk, RealDisk};
use std::path::{Path, PathBuf};

/// The name of the file.
const CHECK: &str = "check";

/// What is kept of a check.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct SavedCheck {
    /// A [`CheckConfig`] in JSON.
    config: String,
    /// The name of the model's language.
    language: String,
    /// The names and the texts of the model's files.
    pub files: Vec<(String, String)>,
    /// The folder of each search, in order.
    pub folders: Vec<String>,
}

impl SavedCheck {
    /// A check of a model by searches in these folders.
    pub fn new(config: &CheckConfig, model: &TextModel, folders: Vec<String>) -> SavedCheck {
        let files = model.sources.model_files().map(|it| (it.name.clone(), it.text.clone()));
        let config = CheckConfig { output: SearchOutputs::default(), ..config.clone() };
        SavedCheck {
            config: serde_json::to_string(&config).unwrap_or_default(),
            language: model.language.name.to_owned(),
            files: files.collect(),
            folders,
        }
    }

    /// What is checked, and how.
    pub fn config(&self) -> CheckConfig {
        // Loading has read it before.
        serde_json::from_str(&self.config).unwrap_or_default()
    }

    /// The model's language.
    pub fn language(&self) -> Result<&'static Language, Error> {
        Language::from_name(&self.language).ok_or_else(|| Error::Language(self.language.clone()))
    }

    /// The check in a directory, if it has one.
    pub fn load(dir: &Path) -> Result<Option<SavedCheck>, Error> {
        if !has_check(dir) {
            return Ok(None);
        }
        let open = Error::open(dir);
        let disk = RealDisk::open(dir).map_err(&open)?;
        let check: SavedCheck = spill::load_value(&disk, CHECK, FORMAT).map_err(&open)?;
        match serde_json::from_str::<CheckConfig>(&check.config) {
            Ok(_) => Ok(Some(check)),
            Err(error) => {
                let what = format!("its configuration: {error}");
                Err(open(spill::Error::corrupt(CHECK, 0, what)))
            }
        }
    }
}

/// The directory of a check, locked while this lives.
pub struct CheckDirectory {
    path: PathBuf,
    disk: RealDisk,
}

impl CheckDirectory {
    /// A new directory for a check.
    ///
    /// # Errors
    ///
    /// If there is something in it.
    pub fn create(path: &Path, check: &SavedCheck) -> Result<CheckDirectory, Error> {
        std::fs::create_dir_all(path).map_err(|error| Error::Create(path.to_path_buf(), error))?;
        let directory = CheckDirectory::lock(path)?;
        let open = Error::open(path);
        let files = directory.disk.list().map_err(&open)?;
        let is_used = files.iter().any(|(name, _)| name != RealDisk::LOCK);
        let has_folders = std::fs::read_dir(path)
            .is_ok_and(|it| it.flatten().any(|it| it.file_type().is_ok_and(|it| it.is_dir())));
        if has_check(path) || SearchDirectory::has_search(path) {
            return Err(Error::Taken(path.to_path_buf(), super::DirectoryConflict::Otherwise));
        }
        if is_used || has_folders {
            return Err(Error::NotEmpty(path.to_path_buf()));
        }
        spill::commit_value(&directory.disk, CHECK, FORMAT, check).map_err(open)?;
        Ok(directory)
    }

    /// Locks the directory of a check.
    pub fn lock(path: &Path) -> Result<CheckDirectory, Error> {
        let open = Error::open(path);
        let disk = RealDisk::open(path).map_err(&open)?;
        disk.lock().map_err(&open)?;
        Ok(CheckDirectory { path: path.to_path_buf(), disk: disk })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Whether a directory is that of a check that takes several searches.
pub(super) fn has_check(dir: &Path) -> bool {
    std::fs::symlink_metadata(dir.join(CHECK)).is_ok_and(|it| it.is_file())
}
