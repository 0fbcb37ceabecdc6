//! Why a search did not begin, or did not end.

use super::frequency_table::FrequencyTableError;
use crate::diag::{Diagnostic, LocatedDiagnostic, Severity};
use crate::search::memory_plan::BudgetTooSmall;
use crate::source::SourceMap;
use crate::system::PackingError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a search did not begin, or did not end. What is shown says what happened; what to do about it is
/// for whoever knows how the search was asked for. `{:?}` shows the same as `{}`, since that is what a `main` prints that
/// returns it.
#[derive(thiserror::Error)]
pub enum Error {
    /// There is no text of a model to be read, and why.
    #[error("{0}")]
    Unreadable(String),
    /// The text of the model is wrong: all mistakes as they are printed, with file, line and the place in it, and each by itself.
    #[error("{0}")]
    Text(String, Vec<LocatedDiagnostic>),
    /// The program that was made of the text is not well-formed, which is a fault of Spillway: what is
    /// wrong with it.
    #[error(
        "the program made from this model is not well-formed; this is a fault of spillway, please report it\n  {0}"
    )]
    IllFormed(String),
    /// The model failed when it was looked at before the search.
    #[error("{0}")]
    Sample(spill::Error),
    /// The check was stopped before the search began, while it was at this.
    #[error("stopped before the search began, while {0}")]
    Stopped(String),
    /// The memory budget is too small.
    #[error("{0}")]
    Memory(BudgetTooSmall),
    /// What is wanted leaves nothing to look for.
    #[error("{model}: {}", nothing_left(impossible))]
    Nothing {
        /// The model's name.
        model: String,
        /// Why some of it cannot be looked for; empty if everything is taken back.
        impossible: String,
        /// What could be looked for.
        there: String,
    },
    /// There is no room for so large a cache of states.
    #[error("a cache of {wanted} states is too large: this budget has room for {room}")]
    Cache {
        /// The states asked for.
        wanted: u64,
        /// Those that there is room for.
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
    /// The directory has files in it that are not a search's.
    #[error("{} is not empty, and not a search directory", .0.display())]
    NotEmpty(PathBuf),
    /// The directory has another search in it.
    #[error("{}", .1.at(.0))]
    Taken(PathBuf, DirectoryConflict),
    /// All properties of runs of the model of this name are asked for, and it has none.
    #[error("{0} has no property of runs")]
    NoRunProperty(String),
    /// There is no search in the directory.
    #[error("{} is not a search directory, or no search has begun in it", .0.display())]
    NoSearch(PathBuf),
    /// The directory is that of a check that takes several searches, in these folders.
    #[error("{} holds a check of several searches: {}", .0.display(), .1.join(", "))]
    SeveralSearches(PathBuf, Vec<String>),
    /// The model of the search is in a language that this version does not know.
    #[error("models in {0} cannot be read by this version")]
    Language(String),
    /// The model of the search is a Rust type: only the program that has it can go on.
    #[error("the model {0} is a Rust type: go on with the program that began the search")]
    RustType(String),
    /// This version understands the model of the search differently.
    #[error(
        "this version of spillway understands the model differently from the one that began the search"
    )]
    Understood,
    /// The disk failed before the search began in the directory.
    #[error("{}: {}", .0.display(), .1)]
    Begin(PathBuf, spill::Error),
    /// The disk failed while the directory was opened or read, or it is damaged, or in use.
    #[error("{}: {}", .0.display(), .1)]
    Open(PathBuf, spill::Error),
    /// The search failed; its last checkpoint stands.
    #[error("{}: {}", .0.display(), .1)]
    Run(PathBuf, spill::Error),
    /// The search keeps no states that could be looked at, and why.
    #[error("the states of this search cannot be looked at: {0}")]
    NoStates(&'static str),
    /// The search cannot be done in tasks by several processes, and why.
    #[error("{}: this search cannot be shared out in tasks: {}", .0.display(), .1)]
    Unshared(PathBuf, &'static str),
    /// States of the Rust type that is searched cannot be kept as they are.
    #[error("{0}")]
    Misfit(PackingError),
}

/// What search is in a directory where there should be none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DirectoryConflict {
    /// One that is running, of the model of this name.
    Running(String),
    /// One of the same model.
    SameModel,
    /// One of the same model that looks for other things, or stores states in another way.
    Otherwise,
    /// One of another model, of this name.
    OtherModel(String),
}

impl Error {
    /// The mistakes among some diagnostics.
    pub(crate) fn text(diagnostics: &[Diagnostic], sources: &SourceMap) -> Error {
        let mistakes = diagnostics.iter().filter(|it| it.severity == Severity::Error);
        let shown: Vec<String> =
            mistakes.clone().map(|it| it.render(sources).to_string()).collect();
        Error::Text(shown.join("\n"), mistakes.map(|it| it.mistake(sources)).collect())
    }

    /// The search in `dir` failed.
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

    /// The disk failed while `dir` was opened or read.
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

/// Why there is nothing to check in a model.
fn nothing_left(impossible: &str) -> String {
    match impossible {
        "" => "everything is left out, so nothing is left to check".to_owned(),
        why => format!("nothing is left to check: {why}"),
    }
}

impl DirectoryConflict {
    /// It as a message about the directory `path`.
    fn at(&self, path: &Path) -> String {
        let path = path.display();
        match self {
            DirectoryConflict::Running(model) => {
                format!("{path} is in use by a running search of {model}")
            }
            DirectoryConflict::Otherwise => format!(
                "{path} holds a search of this model for other things, or stored in another way"
            ),
            DirectoryConflict::SameModel => {
                format!("{path} already holds a search of this model")
            }
            DirectoryConflict::OtherModel(model) => {
                format!("{path} holds a search of another model, {model}")
            }
        }
    }
}
