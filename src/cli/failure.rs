//! Failures of commands without a verdict, and the exit codes.

use crate::diag::LocatedDiagnostic;
use crate::escape;
use crate::ir::ProcessId;
use crate::search::files::DirectoryFile;
use crate::session::{DirectoryConflict, Error};
use std::fmt;
use std::io::ErrorKind;
use std::path::Path;

/// No property is violated.
pub const VERIFIED: u8 = 0;
/// A property is violated.
pub const VIOLATED: u8 = 1;
/// The model or the command line is invalid.
pub const WRONG: u8 = 2;
/// The search was stopped and can be resumed.
pub const STOPPED: u8 = 3;
/// The search directory is damaged.
pub const DAMAGED: u8 = 4;

/// A plan of tasks is no longer the current one.
pub const STALE: u8 = 5;

/// A message for the user and an exit code.
#[derive(Clone, Debug)]
pub struct CommandFailure {
    /// The exit code.
    pub code: u8,
    /// What happened and what to do.
    pub message: String,
    /// The errors in a model that the message reports.
    pub mistakes: Vec<LocatedDiagnostic>,
    /// The process that lacked a slot, if the search must be repeated with more.
    pub lacks_slots: Option<ProcessId>,
}

impl CommandFailure {
    /// Creates a failure with this exit code.
    pub fn of_code(code: u8, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), mistakes: Vec::new(), lacks_slots: None }
    }

    /// Creates a failure of the command line or its environment.
    pub fn wrong(message: impl Into<String>) -> Self {
        Self::of_code(WRONG, format!("error: {}", message.into()))
    }

    /// Creates the failure of writing an output file. `what` describes the contents.
    pub fn cannot_write(what: &str, path: &Path, error: impl fmt::Display) -> Self {
        Self::wrong(format!("cannot write {what} {}: {error}", path.display()))
    }

    /// Creates the failure of opening or reading `dir`.
    pub fn cannot_open(path: &Path, error: spill::Error) -> Self {
        let dir = path.display();
        match error {
            spill::Error::Io { action: "open", ref file, ref source }
                if *file == dir.to_string() =>
            {
                Self::wrong(match source.kind() {
                    ErrorKind::NotADirectory => format!(
                        "{dir} is a file, and a search directory is asked for\n  help: `spillway \
                         check MODEL --dir DIR` keeps a search in DIR"
                    ),
                    ErrorKind::NotFound => format!(
                        "there is no search directory {dir}\n  help: `spillway status --all` lists \
                         those that are temporary"
                    ),
                    _ => format!("{dir}: {error}"),
                })
            }
            spill::Error::Corrupt { ref file, .. } if is_of_plan(file) => Self::of_code(
                DAMAGED,
                format!(
                    "error: {dir}: {error}\n  help: remove {file}: a plan that is missing is made \
                     anew, and the search is what it was"
                ),
            ),
            spill::Error::Corrupt { .. } => Self::of_code(
                DAMAGED,
                format!(
                    "error: {dir}: {error}\n  help: restore the directory from a copy, or remove \
                     it and check the model again"
                ),
            ),
            spill::Error::Version { .. } => Self::wrong(format!(
                "{dir}: {error}\n  help: resume it with the version of spillway that made it, or \
                 remove it and check the model again"
            )),
            spill::Error::Locked { .. } => Self::wrong(format!(
                "{dir} is in use by a running search\n  help: `spillway status {}` shows how \
                 far it is",
                escape::shell_path(path)
            )),
            error if is_missing_piece(&error) => Self::of_code(
                DAMAGED,
                format!(
                    "error: {dir}: {error}\n  help: the file belongs to the search: restore it from \
                     a copy, or remove the directory and check the model again"
                ),
            ),
            error => Self::wrong(format!("{dir}: {error}")),
        }
    }

    /// Creates the failure of a running search in `dir`. Its last checkpoint is valid.
    pub fn during_search(dir: &Path, error: spill::Error) -> Self {
        if is_missing_piece(&error) {
            return Self::cannot_open(dir, error);
        }
        let help = match &error {
            spill::Error::Corrupt { .. } | spill::Error::Version { .. } => {
                return Self::cannot_open(dir, error);
            }
            // The search can be resumed when the other process has ended.
            spill::Error::Locked { .. } => {
                return Self { code: STOPPED, ..Self::cannot_open(dir, error) };
            }
            spill::Error::Source { .. } => {
                let (dir, word) = (dir.display(), escape::shell_path(dir));
                return Self::wrong(format!(
                    "{dir}: {error}\n  the search stopped at its last checkpoint\n  help: \
                     `spillway resume {word}` goes on once the model can"
                ));
            }
            spill::Error::Levels { .. } => {
                return Self::wrong(format!(
                    "{}: {error}\n  help: a model with such long runs mostly counts without bound: \
                     bound what it counts",
                    dir.display()
                ));
            }
            spill::Error::Limit { .. } => {
                return Self::wrong(format!(
                    "{}: {error}\n  help: check the model again with another --store",
                    dir.display()
                ));
            }
            spill::Error::Full { limit: Some(_), .. } => "with a larger --disk-limit",
            spill::Error::Full { .. } => "once there is more room",
            spill::Error::Io { source, .. } => match source.kind() {
                ErrorKind::FileTooLarge => "with a higher limit on the size of files (`ulimit -f`)",
                ErrorKind::WouldBlock => "with fewer --threads",
                ErrorKind::OutOfMemory => "with more memory allowed (`ulimit -v`)",
                _ => "once the disk works again",
            },
        };
        let (dir, word) = (dir.display(), escape::shell_path(dir));
        Self::of_code(
            STOPPED,
            format!(
                "error: {dir}: {error}\n  the search stopped at its last checkpoint\n  help: \
                 `spillway resume {word}` goes on {help}"
            ),
        )
    }
}

impl From<Error> for CommandFailure {
    fn from(error: Error) -> CommandFailure {
        if let Some(process) = error.lacks_slots() {
            let help = "`spillway resume` of its directory begins anew with more slots, as does `--slots N`";
            let message = format!("error: {error}\n  help: {help}");
            return CommandFailure {
                lacks_slots: Some(process),
                ..CommandFailure::of_code(STOPPED, message)
            };
        }
        let help = match &error {
            // Each diagnostic already says that it is an error.
            Error::Text(shown, mistakes) => {
                let mistakes = mistakes.clone();
                return CommandFailure { mistakes, ..CommandFailure::of_code(WRONG, shown) };
            }
            Error::Open(..) | Error::Begin(..) | Error::Run(..) => {
                return CommandFailure::of_disk(error);
            }
            Error::Stopped(_) => return CommandFailure::before_search(&error),
            Error::Memory(_) => "give at least that much with --memory".into(),
            Error::Nothing { model, impossible, there } => {
                return CommandFailure::nothing_to_check(model, impossible, there);
            }
            Error::Cache { .. } => {
                "give more memory with --memory, or ask for fewer with --comback-cache".into()
            }
            Error::Temporary(..) => "name a place with --dir".into(),
            Error::NotEmpty(_) => "name a new or empty one".into(),
            Error::Taken(path, DirectoryConflict::SameModel) => format!(
                "`spillway resume {}` goes on with it; to begin anew, remove it or name another",
                escape::shell_path(path)
            ),
            Error::Taken(_, DirectoryConflict::OtherModel(_) | DirectoryConflict::Otherwise) => {
                "name another directory".into()
            }
            Error::NoRunProperty(_) => "give a formula with --ltl".into(),
            Error::SeveralSearches(path, folders) => {
                let first = folders.first().map(|it| path.join(it)).unwrap_or_default();
                format!("name the folder of one of them, such as {}", escape::shell_path(&first))
            }
            Error::Understood => "resume it with that version, or check the model again".into(),
            Error::Unreadable(_)
            | Error::IllFormed(_)
            | Error::Sample(_)
            | Error::FrequencyTable(_)
            | Error::Create(..)
            | Error::Taken(_, DirectoryConflict::Running(_))
            | Error::NoSearch(_)
            | Error::NoStates(_)
            | Error::Unshared(..)
            | Error::Language(_)
            | Error::Misfit(_)
            | Error::RustType(_) => String::new(),
        };
        match help.as_str() {
            "" => CommandFailure::wrong(error.to_string()),
            help => CommandFailure::wrong(format!("{error}\n  help: {help}")),
        }
    }
}

impl CommandFailure {
    /// Creates the failure of options that leave nothing to check.
    fn nothing_to_check(model: &str, impossible: &str, there: &str) -> CommandFailure {
        let why = match impossible {
            "" => "`--no-deadlock` takes back what `--only` asks for",
            why => why,
        };
        CommandFailure::wrong(format!(
            "{model}: the flags leave nothing to check: {why}\n  help: leave `--only` out, or name \
             what the model has: {there}"
        ))
    }

    /// Creates the failure of a disk: an error, damage, or a directory in use.
    fn of_disk(error: Error) -> CommandFailure {
        match error {
            Error::Begin(dir, error) => {
                let help = match &error {
                    spill::Error::Full { limit: None, .. } => {
                        "\n  help: name a place with more room with --dir"
                    }
                    spill::Error::Full { .. } => "\n  help: give a larger --disk-limit",
                    _ => "",
                };
                let mut failure = CommandFailure::cannot_open(&dir, error);
                failure.message += help;
                failure
            }
            Error::Open(dir, error) => CommandFailure::cannot_open(&dir, error),
            Error::Run(dir, error) => CommandFailure::during_search(&dir, error),
            other => CommandFailure::wrong(other.to_string()),
        }
    }
}

/// Returns whether a file is a plan of tasks or a receipt.
fn is_of_plan(file: &str) -> bool {
    DirectoryFile::of(file) == Some(DirectoryFile::OfPlan)
}

/// Returns whether a file of keys that the manifest names is missing, or is no file.
fn is_missing_piece(error: &spill::Error) -> bool {
    matches!(error, spill::Error::Io { file, source, .. }
        if source.kind() == ErrorKind::NotFound && spill::FileName::is_key_file(file)
            || source.kind() == ErrorKind::InvalidData && file != spill::RealDisk::LOCK)
}

impl fmt::Display for CommandFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
