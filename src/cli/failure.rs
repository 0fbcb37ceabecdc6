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

    /// Creates the failure of a command for a search directory or a model that is neither.
    pub fn no_search_and_no_model(path: &Path) -> Self {
        Self::wrong(format!("there is no search directory and no model {}", path.display()))
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
                        "{dir} is a file, not a search directory\n  help: `spillway check MODEL --dir DIR` keeps a \
                         search in DIR"
                    ),
                    ErrorKind::NotFound => format!(
                        "there is no search directory {dir}\n  help: `spillway status --all` lists temporary searches"
                    ),
                    _ => format!("{dir}: {error}"),
                })
            }
            spill::Error::Corrupt { ref file, .. } if is_of_plan(file) => Self::of_code(
                DAMAGED,
                format!(
                    "error: {dir}: {error}\n  help: remove {file}: a missing plan is written again, and the search \
                     itself is undamaged"
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
                "{dir} is in use by a running search\n  help: `spillway status {}` shows its progress",
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
                // The directory keeps the text of the model.
                return Self::wrong(format!(
                    "{}: {error}\n  help: correct the model and check it again in an empty directory",
                    dir.display()
                ));
            }
            spill::Error::Levels { .. } => {
                return Self::wrong(format!(
                    "{}: {error}\n  help: paths of this length mostly come from an unbounded counter: bound it",
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
            spill::Error::Full { .. } => "once there is more space",
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
                "error: {dir}: {error}\n  the search stopped at its last checkpoint\n  help: `spillway resume {word}` \
                 resumes it {help}"
            ),
        )
    }
}

/// Returns advice on an error; empty if there is none.
fn help(error: &Error) -> String {
    match error {
        Error::Memory(_) => "raise --memory to at least this size".into(),
        Error::Cache { .. } => "raise --memory, or lower -X comback-cache".into(),
        Error::Temporary(..) => "choose a directory with --dir".into(),
        Error::NotEmpty(_) => "use a new or empty directory".into(),
        Error::Taken(path, DirectoryConflict::SameModel) => format!(
            "`spillway resume {}` resumes it; to start again, remove it or use another directory",
            escape::shell_path(path)
        ),
        Error::Taken(_, DirectoryConflict::OtherModel(_) | DirectoryConflict::Otherwise) => {
            "use another directory".into()
        }
        Error::ConstrainedRuns => "--no-claim leaves out the properties of the model".into(),
        Error::NoRunProperty(_) => "give a formula with --ltl".into(),
        Error::SeveralSearches(path, folders) => {
            let first = folders.first().map(|it| path.join(it)).unwrap_or_default();
            format!("give the directory of one of them, such as {}", escape::shell_path(&first))
        }
        Error::Understood => "resume it with that version, or check the model again".into(),
        Error::Views(_) => "use --store sorted, raw or rle".into(),
        Error::NoConfiguration(_, Some(other)) => {
            let other = escape::shell_path(other);
            format!(
                "`spillway check {other}` checks a module that has one; --cfg FILE names another file"
            )
        }
        Error::NoConfiguration(_, None) => {
            "write this file, which says what is checked, or name another one with --cfg FILE"
                .into()
        }
        Error::NoProgram(_) => "`spillway check` checks a specification".into(),
        Error::Unreadable(_)
        | Error::Text(..)
        | Error::Open(..)
        | Error::Begin(..)
        | Error::Run(..)
        | Error::Stopped(_)
        | Error::Nothing { .. }
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
    }
}

impl From<Error> for CommandFailure {
    fn from(error: Error) -> CommandFailure {
        if let Some(process) = error.lacks_slots() {
            let help =
                "`spillway resume` restarts the search with more slots, as does `-X slots=N`";
            let message = format!("error: {error}\n  help: {help}");
            return CommandFailure {
                lacks_slots: Some(process),
                ..CommandFailure::of_code(STOPPED, message)
            };
        }
        match &error {
            // Each diagnostic already says that it is an error.
            Error::Text(shown, mistakes) => {
                let mistakes = mistakes.clone();
                CommandFailure { mistakes, ..CommandFailure::of_code(WRONG, shown) }
            }
            Error::Open(..) | Error::Begin(..) | Error::Run(..) => CommandFailure::of_disk(error),
            Error::Stopped(_) => CommandFailure::before_search(&error),
            Error::Nothing { model, impossible, there } => {
                CommandFailure::nothing_to_check(model, impossible, there)
            }
            error => match help(error).as_str() {
                "" => CommandFailure::wrong(error.to_string()),
                help => CommandFailure::wrong(format!("{error}\n  help: {help}")),
            },
        }
    }
}

impl CommandFailure {
    /// Creates the failure of options that leave nothing to check.
    fn nothing_to_check(model: &str, impossible: &str, there: &str) -> CommandFailure {
        let why = match impossible {
            "" => "`--no-deadlock` excludes what `--only` selects",
            why => why,
        };
        CommandFailure::wrong(format!(
            "{model}: the flags leave nothing to check: {why}\n  help: leave out `--only`, or select what the model \
             has: {there}"
        ))
    }

    /// Creates the failure of a disk: an error, damage, or a directory in use.
    fn of_disk(error: Error) -> CommandFailure {
        match error {
            Error::Begin(dir, error) => {
                let help = match &error {
                    spill::Error::Full { limit: None, .. } => {
                        "\n  help: choose a directory with more space with --dir"
                    }
                    spill::Error::Full { .. } => "\n  help: raise --disk-limit",
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
