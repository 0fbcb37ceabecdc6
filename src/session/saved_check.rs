//! The file in the directory of a check of several searches. It lists the searches.
//!
//! It is written before the first search begins. So a check that was stopped or killed can be resumed: searches that
//! have begun are resumed, and the others begin with the text of the model in this file.

use super::config::CheckConfig;
use super::error::Error;
#[cfg(feature = "languages")]
use super::{SearchOutputs, TextModel};
#[cfg(feature = "languages")]
use crate::front::Language;
use crate::search::checkpoint::FORMAT;
use rkyv::{Archive, Deserialize, Serialize};
#[cfg(feature = "languages")]
use spill::Disk;
use spill::RealDisk;
use std::path::Path;

/// The name of the file.
const CHECK: &str = "check";

/// The saved description of a check.
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
    /// Reads the check of a directory, if it has one.
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

#[cfg(feature = "languages")]
impl SavedCheck {
    /// Creates the description of a check whose searches are in these folders.
    pub fn new(config: &CheckConfig, model: &TextModel, folders: Vec<String>) -> SavedCheck {
        let config = CheckConfig { output: SearchOutputs::default(), ..config.clone() };
        SavedCheck {
            config: serde_json::to_string(&config).unwrap_or_default(),
            language: model.language.name.to_owned(),
            files: model.sources.model_texts(),
            folders,
        }
    }

    /// Returns whether the other check has the same model and the same properties.
    pub(super) fn is_of_same_check(&self, other: &SavedCheck) -> bool {
        let [ours, theirs] = [self, other].map(SavedCheck::config);
        (&self.language, &self.files, &self.folders)
            == (&other.language, &other.files, &other.folders)
            && (ours.model, ours.properties, ours.search)
                == (theirs.model, theirs.properties, theirs.search)
    }

    /// Returns the configuration.
    pub fn config(&self) -> CheckConfig {
        // The JSON was validated on loading.
        serde_json::from_str(&self.config).unwrap_or_default()
    }

    /// Returns the model's language.
    pub fn language(&self) -> Result<&'static Language, Error> {
        Language::from_name(&self.language).ok_or_else(|| Error::Language(self.language.clone()))
    }

    pub(super) fn commit(&self, disk: &dyn Disk) -> spill::Result<()> {
        spill::commit_value(disk, CHECK, FORMAT, self)
    }
}

/// Returns whether a directory has a check of several searches.
pub(super) fn has_check(dir: &Path) -> bool {
    std::fs::symlink_metadata(dir.join(CHECK)).is_ok_and(|it| it.is_file())
}
