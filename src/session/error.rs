//! Why a search did not begin, or did not end.

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
pub enum Error {
    /// There is no text of a model to be read, and why.
    Unreadable(String),
    /// The text of the model is wrong: all mistakes as they are printed, with file, line and the place in it, and each by itself.
    Text(String, Vec<LocatedDiagnostic>),
    /// The program that was made of the text is not well-formed, which is a fault of Spillway: what is
    /// wrong with it.
    IllFormed(String),
    /// The model failed when it was looked at before the search.
    Sample(spill::Error),
    /// The check was stopped before the search began, while it was at this.
    Stopped(String),
    /// The memory budget is too small.
    Memory(BudgetTooSmall),
    /// What is wanted leaves nothing to look for.
    Nothing {
        /// The model's name.
        model: String,
        /// Why some of it cannot be looked for; empty if everything is taken back.
        impossible: String,
        /// What could be looked for.
        there: String,
    },
    /// There is no room for so large a cache of states.
    Cache {
        /// The states asked for.
        wanted: u64,
        /// Those that there is room for.
        room: u64,
    },
    /// A temporary directory could not be made.
    Temporary(PathBuf, io::Error),
    /// The search directory could not be made.
    Create(PathBuf, io::Error),
    /// The directory has files in it that are not a search's.
    NotEmpty(PathBuf),
    /// The directory has another search in it.
    Taken(PathBuf, DirectoryConflict),
    /// All properties of runs of the model of this name are asked for, and it has none.
    NoRunProperty(String),
    /// There is no search in the directory.
    NoSearch(PathBuf),
    /// The directory is that of a check that takes several searches, in these folders.
    SeveralSearches(PathBuf, Vec<String>),
    /// The model of the search is in a language that this version does not know.
    Language(String),
    /// The model of the search is a Rust type: only the program that has it can go on.
    RustType(String),
    /// This version understands the model of the search differently.
    Understood,
    /// The disk failed before the search began in the directory.
    Begin(PathBuf, spill::Error),
    /// The disk failed while the directory was opened or read, or it is damaged, or in use.
    Open(PathBuf, spill::Error),
    /// The search failed; its last checkpoint stands.
    Run(PathBuf, spill::Error),
    /// The search keeps no states that could be looked at, and why.
    NoStates(&'static str),
    /// The search cannot be done in tasks by several processes, and why.
    Unshared(PathBuf, &'static str),
    /// States of the Rust type that is searched cannot be kept as they are.
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

impl std::error::Error for Error {}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Text(said, _) | Error::Unreadable(said) => f.write_str(said),
            Error::IllFormed(problems) => write!(
                f,
                "the program made from this model is not well-formed; this is a fault of spillway, \
                 please report it\n  {problems}"
            ),
            Error::Sample(error) => error.fmt(f),
            Error::Stopped(phase) => write!(f, "stopped before the search began, while {phase}"),
            Error::Memory(error) => error.fmt(f),
            Error::Nothing { model, impossible, .. } => match impossible.as_str() {
                "" => write!(f, "{model}: everything is left out, so nothing is left to check"),
                why => write!(f, "{model}: nothing is left to check: {why}"),
            },
            Error::Cache { wanted, room } => write!(
                f,
                "a cache of {wanted} states is too large: this budget has room for {room}"
            ),
            Error::Temporary(place, error) => {
                write!(f, "cannot make a temporary directory in {}: {error}", place.display())
            }
            Error::Create(path, error) => {
                write!(f, "cannot make the directory {}: {error}", path.display())
            }
            Error::NotEmpty(path) => {
                write!(f, "{} is not empty, and not a search directory", path.display())
            }
            Error::Taken(path, taken) => taken.of(&path.display(), f),
            Error::NoSearch(path) => write!(
                f,
                "{} is not a search directory, or no search has begun in it",
                path.display()
            ),
            Error::NoRunProperty(model) => write!(f, "{model} has no property of runs"),
            Error::SeveralSearches(path, folders) => {
                let folders = folders.join(", ");
                write!(f, "{} holds a check of several searches: {folders}", path.display())
            }
            Error::Language(name) => {
                write!(f, "models in {name} cannot be read by this version")
            }
            Error::RustType(name) => write!(
                f,
                "the model {name} is a Rust type: go on with the program that began the search"
            ),
            Error::NoStates(why) => {
                write!(f, "the states of this search cannot be looked at: {why}")
            }
            Error::Unshared(dir, why) => {
                let dir = dir.display();
                write!(f, "{dir}: this search cannot be shared out in tasks: {why}")
            }
            Error::Understood => f.write_str(
                "this version of spillway understands the model differently from the one that \
                 began the search",
            ),
            Error::Misfit(misfit) => misfit.fmt(f),
            Error::Begin(dir, error) | Error::Open(dir, error) | Error::Run(dir, error) => {
                write!(f, "{}: {error}", dir.display())
            }
        }
    }
}

impl DirectoryConflict {
    fn of(&self, path: &dyn fmt::Display, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DirectoryConflict::Running(model) => {
                write!(f, "{path} is in use by a running search of {model}")
            }
            DirectoryConflict::Otherwise => write!(
                f,
                "{path} holds a search of this model for other things, or stored in another way"
            ),
            DirectoryConflict::SameModel => {
                write!(f, "{path} already holds a search of this model")
            }
            DirectoryConflict::OtherModel(model) => {
                write!(f, "{path} holds a search of another model, {model}")
            }
        }
    }
}
