//! `--notify`: a command that runs at the end of a search, and its input.

use super::command::SessionOptions;
use super::{failure, say};
use crate::escape;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// The maximum bytes of a text for the command. It is less than the capacity of a pipe and the limit of a variable.
const TEXT_MAX: usize = 32 << 10;

/// The information on the search so far.
static NOTICE: Mutex<NotifyContext> = Mutex::new(NotifyContext {
    command: None,
    is_kept: false,
    model: None,
    dir: None,
    summary: None,
});

/// The information for the command.
struct NotifyContext {
    command: Option<String>,
    /// Whether the command was requested when the search began, and not in this session.
    is_kept: bool,
    model: Option<PathBuf>,
    dir: Option<PathBuf>,
    /// The result as text.
    summary: Option<String>,
}

fn update(change: impl FnOnce(&mut NotifyContext)) {
    change(&mut NOTICE.lock().unwrap_or_else(PoisonError::into_inner));
}

/// Sets the command of `--notify`, which runs at the end.
pub(super) fn set_command(args: &SessionOptions, model: Option<&Path>, dir: Option<&Path>) {
    update(|it| {
        it.command.clone_from(&args.outputs.notify);
        it.model = model.map(Path::to_path_buf);
        it.dir = dir.map(Path::to_path_buf);
    });
}

/// Sets a command that may have been requested when the search began.
pub(super) fn set_kept_command(args: &SessionOptions) {
    update(|it| {
        it.is_kept = it.command.is_none();
        it.command.clone_from(&args.outputs.notify);
    });
}

/// Cancels a saved command, because the search was already complete and the command has run before.
pub(super) fn cancel_kept_command() {
    update(|it| {
        if it.is_kept {
            it.command = None;
        }
    });
}

/// Records the temporary search directory.
pub(super) fn set_directory(dir: &Path) {
    update(|it| _ = it.dir.get_or_insert_with(|| dir.to_path_buf()));
}

/// Records the result as text.
pub(super) fn summarise(text: impl FnOnce() -> String) {
    update(|it| {
        if it.command.is_some() {
            it.summary = Some(text());
        }
    });
}

/// Runs the command, if there is one. A failure of the command is reported and changes nothing else.
pub(super) fn send(code: u8, failed: Option<&str>) {
    let mut notice = NOTICE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(command) = notice.command.take() else { return };
    let verdict = match (failed, code) {
        (Some(_), _) => "failed",
        (None, failure::VERIFIED) => "verified",
        (None, failure::VIOLATED) => "violated",
        (None, _) => "incomplete",
    };
    // A temporary directory was removed with the verdict.
    let dir = notice.dir.take().filter(|it| it.exists());
    let shown = |it: Option<PathBuf>| it.map_or(String::new(), |it| it.display().to_string());
    let summary = match failed {
        Some(why) => format!("{why}\n"),
        None => notice.summary.take().unwrap_or_else(|| format!("{verdict}\n")),
    };
    let (model, dir) = (shown(notice.model.take()), shown(dir));
    drop(notice);
    let mut run = Command::new("sh");
    run.args(["-c", &command]).stdin(Stdio::piped());
    for (name, value) in [
        ("SPILLWAY_VERDICT", verdict),
        ("SPILLWAY_EXIT_CODE", &code.to_string()),
        ("SPILLWAY_MODEL", &model),
        ("SPILLWAY_DIR", &dir),
        ("SPILLWAY_ERROR", failed.unwrap_or_default()),
    ] {
        // Variables cannot contain zero bytes.
        run.env(name, cut(&value.replace('\0', " ")));
    }
    let why = match run_with_input(run, &summary) {
        Ok(status) if status.success() => return,
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    say(format!("warning: the command of --notify failed: {why}"));
}

/// Runs a command with a text as its input.
fn run_with_input(mut command: Command, text: &str) -> std::io::Result<std::process::ExitStatus> {
    let mut child = command.spawn()?;
    if let Some(mut input) = child.stdin.take() {
        // The command need not read its input.
        let _ = input.write_all(cut(&escape::terminal(text)).as_bytes());
    }
    child.wait()
}

/// Truncates a text for the command.
fn cut(text: &str) -> &str {
    let end = (0..=TEXT_MAX.min(text.len())).rev().find(|&it| text.is_char_boundary(it));
    &text[..end.unwrap_or(0)]
}
