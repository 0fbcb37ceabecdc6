//! The output of a command: results on standard output, everything else on standard error.
//!
//! Output is text: control characters in it are made visible (`escape`). Only colours, [`print_drawn`] and
//! [`draw`] write control sequences, which are Spillway's own.
//!
//! Output errors never cause a panic. Errors on standard error are ignored. A result that cannot be written is a
//! failure of the command, reported once at its end ([`write_error`]). A reader that closes the pipe (`spillway ... |
//! head`) is no failure.

use super::color::{color_message, color_output};
use super::line_wrap::{DEFAULT_COLUMNS, wrap_lines};
use crate::escape;
use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The minimum width of wrapped lines. On a narrower terminal lines are not wrapped.
const NARROW: usize = 40;

/// The error of standard output, once a write has failed.
static BROKEN: Mutex<Option<io::Error>> = Mutex::new(None);

/// Whether the process was started without standard output.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether anything was printed.
static IS_BEGUN: AtomicBool = AtomicBool::new(false);

/// Returns whether anything was printed to standard output, or a write was attempted.
pub(super) fn is_begun() -> bool {
    IS_BEGUN.load(Ordering::Relaxed)
}

/// Prints text to standard output.
pub(super) fn print(text: &str) {
    print_drawn(&color_output(&escape::terminal(text)));
}

/// Prints JSON, or a part of it.
pub(super) fn print_json(text: &str) {
    print_drawn(&escape::json(text));
}

/// Prints text with control sequences. Foreign text in it must already be escaped.
pub(super) fn print_drawn(text: &str) {
    IS_BEGUN.store(true, Ordering::Relaxed);
    let mut broken = BROKEN.lock().unwrap_or_else(PoisonError::into_inner);
    if broken.is_some() {
        return;
    }
    let mut out = io::stdout().lock();
    let written = match CLOSED.load(Ordering::Relaxed) {
        true => Err(io::Error::other("it is closed")),
        false => out.write_all(text.as_bytes()).and_then(|()| out.flush()),
    };
    *broken = written.err();
}

/// Returns why output was lost, if any was lost and a reader existed.
pub(super) fn write_error() -> Option<String> {
    let broken = BROKEN.lock().unwrap_or_else(PoisonError::into_inner);
    broken.as_ref().filter(|error| error.kind() != ErrorKind::BrokenPipe).map(io::Error::to_string)
}

/// Returns the columns of standard output, if it is a terminal. The result is at least the minimum width.
pub(super) fn columns_of_output() -> Option<usize> {
    let columns = io::stdout().is_terminal().then(|| columns_of(libc::STDOUT_FILENO));
    columns.map(|it| it.max(NARROW))
}

/// Returns the columns and lines of standard output, if it is a terminal of known size.
pub(super) fn size_of_output() -> Option<(usize, usize)> {
    io::stdout().is_terminal().then(|| size_of(libc::STDOUT_FILENO)).flatten()
}

/// Returns whether writing to standard output has failed.
pub(super) fn is_broken() -> bool {
    BROKEN.lock().unwrap_or_else(PoisonError::into_inner).is_some()
}

/// Returns the columns of a terminal.
fn columns_of(terminal: libc::c_int) -> usize {
    // A terminal without a known size reports none.
    size_of(terminal).map_or(DEFAULT_COLUMNS, |it| it.0)
}

/// Returns the columns and lines of a terminal, if it knows them.
fn size_of(terminal: libc::c_int) -> Option<(usize, usize)> {
    // SAFETY: the structure consists of integers, for which zero is valid.
    let mut size: libc::winsize = unsafe { std::mem::zeroed() };
    // SAFETY: the request writes only to `size`, which is valid for writes.
    let asked = unsafe { libc::ioctl(terminal, libc::TIOCGWINSZ, &mut size) };
    let known = asked == 0 && size.ws_col > 0 && size.ws_row > 0;
    known.then(|| (size.ws_col.into(), size.ws_row.into()))
}

/// Returns the columns of standard error, if it is a terminal on which a line can be redrawn.
pub(super) fn columns() -> Option<usize> {
    let is_dumb = std::env::var_os("TERM").is_some_and(|it| it == "dumb");
    if is_dumb || !io::stderr().is_terminal() {
        return None;
    }
    Some(columns_of(libc::STDERR_FILENO))
}

/// Draws on standard error, a terminal.
pub(super) fn draw(text: &str) {
    let mut err = io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// Prints lines to standard error. On a terminal they are wrapped between words.
pub fn say(line: impl Display) {
    let line = line.to_string();
    let line = escape::terminal(&line);
    let line = match columns() {
        Some(columns) if columns >= NARROW => wrap_lines(&line, columns).into(),
        _ => line,
    };
    let _ = writeln!(io::stderr(), "{}", color_message(&line));
}

/// The warnings.
static WARNINGS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Prints a warning to standard error. JSON objects on standard output repeat it.
pub(super) fn warn(warning: impl Display) {
    let warning = warning.to_string();
    say(&warning);
    WARNINGS.lock().unwrap_or_else(PoisonError::into_inner).push(warning);
}

/// Returns the warnings so far.
pub(super) fn warnings() -> Vec<String> {
    WARNINGS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Checks for standard output before anything else runs. At the start of `main` a closed descriptor has already been
/// replaced by `/dev/null`, which discards everything.
#[cfg(target_os = "linux")]
extern "C" fn look() {
    // SAFETY: this asks for the flags of a descriptor, which may be closed, and writes nothing.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    CLOSED.store(flags == -1, Ordering::Relaxed);
}

// SAFETY: the section holds pointers to functions with the C calling convention that run before `main`. This function
// needs nothing that is initialised later.
#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

/// Returns the message that a search was stopped before a level was complete.
pub(super) fn stopped_message(dir: &str) -> String {
    format!("stopped before the first level was complete; `spillway resume {dir}` starts again")
}
