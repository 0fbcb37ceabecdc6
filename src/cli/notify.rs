//! `--notify`: a command that is run when a search has ended, and what it is told.

use super::command::SessionOptions;
use super::{failure, say};
use crate::escape;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// The most bytes of a text that it is told: less than a pipe holds, and than a system takes as a variable.
const TEXT_MAX: usize = 32 << 10;

/// What is known of the search by now.
static NOTICE: Mutex<NotifyContext> = Mutex::new(NotifyContext {
    command: None,
    is_kept: false,
    model: None,
    dir: None,
    summary: None,
});

/// What a command is to be told.
struct NotifyContext {
    command: Option<String>,
    /// Whether it was asked for when the search began, and not now.
    is_kept: bool,
    model: Option<PathBuf>,
    dir: Option<PathBuf>,
    /// The result as text.
    summary: Option<String>,
}

fn update(change: impl FnOnce(&mut NotifyContext)) {
    change(&mut NOTICE.lock().unwrap_or_else(PoisonError::into_inner));
}

/// Has the command of `--notify` run at the end.
pub(super) fn set_command(args: &SessionOptions, model: Option<&Path>, dir: Option<&Path>) {
    update(|it| {
        it.command.clone_from(&args.outputs.notify);
        it.model = model.map(Path::to_path_buf);
        it.dir = dir.map(Path::to_path_buf);
    });
}

/// The same where it may have been asked for when the search began.
pub(super) fn set_kept_command(args: &SessionOptions) {
    update(|it| {
        it.is_kept = it.command.is_none();
        it.command.clone_from(&args.outputs.notify);
    });
}

/// Notes that the search has come to its end before: whoever asked for the command then has been told.
pub(super) fn cancel_kept_command() {
    update(|it| {
        if it.is_kept {
            it.command = None;
        }
    });
}

/// Notes where the search is, if nobody named a directory.
pub(super) fn set_directory(dir: &Path) {
    update(|it| _ = it.dir.get_or_insert_with(|| dir.to_path_buf()));
}

/// Notes the result, as text.
pub(super) fn summarise(text: impl FnOnce() -> String) {
    update(|it| {
        if it.command.is_some() {
            it.summary = Some(text());
        }
    });
}

/// Runs the command, if there is one. What becomes of it changes nothing, but is told where it fails.
pub(super) fn send(code: u8, failed: Option<&str>) {
    let mut notice = NOTICE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(command) = notice.command.take() else { return };
    let verdict = match (failed, code) {
        (Some(_), _) => "failed",
        (None, failure::VERIFIED) => "verified",
        (None, failure::VIOLATED) => "violated",
        (None, _) => "incomplete",
    };
    // A temporary directory is gone with the verdict.
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
        // No variable holds a zero byte.
        run.env(name, cut(&value.replace('\0', " ")));
    }
    let why = match run_with_input(run, &summary) {
        Ok(status) if status.success() => return,
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    say(format!("warning: the command of --notify failed: {why}"));
}

/// Runs a command that reads a text, if it reads.
fn run_with_input(mut command: Command, text: &str) -> std::io::Result<std::process::ExitStatus> {
    let mut child = command.spawn()?;
    if let Some(mut input) = child.stdin.take() {
        // Whoever does not read it has no need of it.
        let _ = input.write_all(cut(&escape::terminal(text)).as_bytes());
    }
    child.wait()
}

/// As much of a text as is told.
fn cut(text: &str) -> &str {
    let end = (0..=TEXT_MAX.min(text.len())).rev().find(|&it| text.is_char_boundary(it));
    &text[..end.unwrap_or(0)]
}
