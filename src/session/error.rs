//! The errors of a search.

use super::frequency_table::FrequencyTableError;
use crate::diag::LocatedDiagnostic;
use crate::model::OutOfSlots;
use crate::search::ViewError;
use crate::search::memory_plan::BudgetTooSmall;
use crate::system::PackingError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The error of a search that did not begin or did not complete. The message describes what happened. Advice is left
/// to the caller, who knows how the search was requested. `{:?}` prints the same as `{}`, because a `main` that
/// returns the error prints `{:?}`.
#[derive(thiserror::Error)]
pub enum Error {
    /// No text of a model could be read, with the reason.
    #[error("{0}")]
    Unreadable(String),
    /// The text of the model has errors: all errors as printed, with file, line and column, and each error separately.
    #[error("{0}")]
    Text(String, Vec<LocatedDiagnostic>),
    /// The program that was built from the text is not well-formed, with the reason. This is a fault of Spillway.
    #[error(
        "the program made from this model is not well-formed; this is a bug in spillway, please report it\n  {0}"
    )]
    IllFormed(String),
    /// The model failed in a sample before the search.
    #[error("{0}")]
    Sample(spill::Error),
    /// The check was stopped before the search began, in this step.
    #[error("stopped before the search began, while {0}")]
    Stopped(String),
    /// The memory budget is too small.
    #[error("{0}")]
    Memory(BudgetTooSmall),
    /// The selected options leave nothing to check.
    #[error("{model}: {}", nothing_left(impossible))]
    Nothing {
        /// The model's name.
        model: String,
        /// Why some of it cannot be checked. Empty if the options deselect everything.
        impossible: String,
        /// What could be checked.
        there: String,
    },
    /// The memory has no space for a cache of this number of states.
    #[error("a cache of {wanted} states is too large: this budget has space for {room}")]
    Cache {
        /// The requested states.
        wanted: u64,
        /// The states for which there is space.
        room: u64,
    },
    /// The table of byte frequencies cannot be used.
    #[error("{0}")]
    FrequencyTable(#[from] FrequencyTableError),
    /// A temporary directory could not be made.
    #[error("cannot make a temporary directory in {}: {}", .0.display(), .1)]
    Temporary(PathBuf, io::Error),
    /// The search directory could not be made.
    #[error("cannot make the directory {}: {}", .0.display(), .1)]
    Create(PathBuf, io::Error),
    /// The directory has files that do not belong to a search.
    #[error("{} is not empty, and not a search directory", .0.display())]
    NotEmpty(PathBuf),
    /// The directory has another search.
    #[error("{}", .1.at(.0))]
    Taken(PathBuf, DirectoryConflict),
    /// All temporal properties of the model of this name were requested, and it has none.
    #[error("{0} has no property of infinite runs")]
    NoRunProperty(String),
    /// A temporal property was to be checked within a constraint.
    #[error("a temporal property cannot be checked within a constraint, which cuts runs off")]
    ConstrainedRuns,
    /// The directory has no search.
    #[error("{} is not a search directory, or has no search yet", .0.display())]
    NoSearch(PathBuf),
    /// The directory belongs to a check of several searches, in these folders.
    #[error("{} holds a check of several searches: {}", .0.display(), .1.join(", "))]
    SeveralSearches(PathBuf, Vec<String>),
    /// The model of the search is in a language that this version does not know.
    #[error("models in {0} cannot be read by this version")]
    Language(String),
    /// The storage of states cannot identify them by the model's views.
    #[error("{0}")]
    Views(ViewError),
    /// A specification has no configuration file: the missing file, and a module in the same folder that has one.
    #[error("there is no configuration {}", .0.display())]
    NoConfiguration(PathBuf, Option<PathBuf>),
    /// The model of the search, of this name, is a specification, and the command needs a program.
    #[error("{0} is a specification, and this command reads programs only")]
    NoProgram(String),
    /// The model of the search is a Rust type. Only the program that defines it can resume the search.
    #[error("the model {0} is a Rust type: resume with the program that started the search")]
    RustType(String),
    /// This version reads the model of the search differently.
    #[error(
        "this version of spillway reads the model differently from the version that started the search"
    )]
    Understood,
    /// The disk failed before the search began in the directory.
    #[error("{}: {}", .0.display(), .1)]
    Begin(PathBuf, spill::Error),
    /// The disk failed while the directory was opened or read, or the directory is damaged or in use.
    #[error("{}: {}", .0.display(), .1)]
    Open(PathBuf, spill::Error),
    /// The search failed. Its last checkpoint is valid.
    #[error("{}: {}", .0.display(), .1)]
    Run(PathBuf, spill::Error),
    /// The search stores no states that could be queried, with the reason.
    #[error("the states of this search cannot be read: {0}")]
    NoStates(&'static str),
    /// The search cannot be divided into tasks for several processes, with the reason.
    #[error("{}: this search cannot be divided into tasks: {}", .0.display(), .1)]
    Unshared(PathBuf, &'static str),
    /// States of the Rust type cannot be stored in their layout.
    #[error("{0}")]
    Misfit(PackingError),
}

/// The search that occupies a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DirectoryConflict {
    /// A running search of the model of this name.
    Running(String),
    /// A search of the same model.
    SameModel,
    /// A search of the same model with other checks or another storage of states.
    Otherwise,
    /// A search of another model, of this name.
    OtherModel(String),
}

impl Error {
    /// Returns whether the search ended because a process lacked a slot.
    pub(super) fn is_out_of_slots(&self) -> bool {
        let (Error::Sample(error) | Error::Run(_, error) | Error::Open(_, error)) = self else {
            return false;
        };
        match error {
            spill::Error::Source { reason } => reason.is::<OutOfSlots>(),
            _ => false,
        }
    }

    /// Wraps a failure of the search in `dir`.
    pub(super) fn run(dir: &Path, error: spill::Error) -> Error {
        let dir = dir.to_path_buf();
        match error {
            spill::Error::Source { reason } => match reason.downcast::<PackingError>() {
                Ok(misfit) => Error::Misfit(*misfit),
                Err(reason) => Error::Run(dir, spill::Error::Source { reason }),
            },
            other => Error::Run(dir, other),
        }
    }

    /// Wraps a disk failure while `dir` was opened or read.
    pub(super) fn open(dir: &Path) -> impl Fn(spill::Error) -> Error + use<> {
        let dir = dir.to_path_buf();
        move |error| Error::Open(dir.clone(), error)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Returns why there is nothing to check in a model.
fn nothing_left(impossible: &str) -> String {
    match impossible {
        "" => "no property is selected, so there is nothing to check".to_owned(),
        why => format!("there is nothing to check: {why}"),
    }
}

impl DirectoryConflict {
    /// Formats the conflict as a message about the directory `path`.
    fn at(&self, path: &Path) -> String {
        let path = path.display();
        match self {
            DirectoryConflict::Running(model) => {
                format!("{path} is in use by a running search of {model}")
            }
            DirectoryConflict::Otherwise => {
                format!("{path} holds a search of this model with other checks or another storage")
            }
            DirectoryConflict::SameModel => {
                format!("{path} already holds a search of this model")
            }
            DirectoryConflict::OtherModel(model) => {
                format!("{path} holds a search of another model, {model}")
            }
        }
    }
}
