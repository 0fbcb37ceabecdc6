//! What a command says: results on standard output, all else on standard error.
//!
//! What is printed or said is text: control characters in it are shown, not obeyed (`escape`). Only [`print_drawn`] and [`draw`]
//! write control sequences, which are our own.
//!
//! Neither is a reason to panic. What cannot be said on standard error is not said. A result that
//! cannot be written is a failure of the command, told once, at its end ([`write_error`]); only a reader that
//! went away (`spillway ... | head`) is none: it has seen what it wanted to see.

use super::line_wrap::{DEFAULT_COLUMNS, wrap_lines};
use crate::escape;
use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// On a narrower terminal lines are as long as they are.
const NARROW: usize = 40;

/// Why standard output takes no more, once it does not.
static BROKEN: Mutex<Option<io::Error>> = Mutex::new(None);

/// Whether the process was started without a standard output.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether anything was printed.
static IS_BEGUN: AtomicBool = AtomicBool::new(false);

/// Whether anything was printed to standard output, or was to be.
pub(super) fn is_begun() -> bool {
    IS_BEGUN.load(Ordering::Relaxed)
}

/// Prints text to standard output.
pub(super) fn print(text: &str) {
    print_drawn(&escape::terminal(text));
}

/// Prints JSON, or a part of it.
pub(super) fn print_json(text: &str) {
    print_drawn(&escape::json(text));
}

/// Prints text that draws on the terminal by control sequences; text of others in it is escaped already.
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

/// Why some of what was printed is lost, if it is and somebody was there to read it.
pub(super) fn write_error() -> Option<String> {
    let broken = BROKEN.lock().unwrap_or_else(PoisonError::into_inner);
    broken.as_ref().filter(|error| error.kind() != ErrorKind::BrokenPipe).map(io::Error::to_string)
}

/// How many columns standard output has, if it is a terminal; what is narrow is not asked to hold more than it can.
pub(super) fn columns_of_output() -> Option<usize> {
    let columns = io::stdout().is_terminal().then(|| columns_of(libc::STDOUT_FILENO));
    columns.map(|it| it.max(NARROW))
}

/// How many columns and lines standard output has, if it is a terminal that was told its size.
pub(super) fn size_of_output() -> Option<(usize, usize)> {
    io::stdout().is_terminal().then(|| size_of(libc::STDOUT_FILENO)).flatten()
}

/// Whether standard output takes no more.
pub(super) fn is_broken() -> bool {
    BROKEN.lock().unwrap_or_else(PoisonError::into_inner).is_some()
}

/// How many columns a terminal has.
fn columns_of(terminal: libc::c_int) -> usize {
    // A terminal that nobody told its size has none.
    size_of(terminal).map_or(DEFAULT_COLUMNS, |it| it.0)
}

/// How many columns and lines a terminal has, if somebody told it.
fn size_of(terminal: libc::c_int) -> Option<(usize, usize)> {
    // SAFETY: it is numbers, of which zero is one.
    let mut size: libc::winsize = unsafe { std::mem::zeroed() };
    // SAFETY: it is written to where it may be, by a request that writes nothing else.
    let asked = unsafe { libc::ioctl(terminal, libc::TIOCGWINSZ, &mut size) };
    let known = asked == 0 && size.ws_col > 0 && size.ws_row > 0;
    known.then(|| (size.ws_col.into(), size.ws_row.into()))
}

/// How many columns standard error has, if it is a terminal on which a line can be drawn again.
pub(super) fn columns() -> Option<usize> {
    let is_dumb = std::env::var_os("TERM").is_some_and(|it| it == "dumb");
    if is_dumb || !io::stderr().is_terminal() {
        return None;
    }
    Some(columns_of(libc::STDERR_FILENO))
}

/// Draws on a terminal that is standard error.
pub(super) fn draw(text: &str) {
    let mut err = io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// Says a line on standard error, or more; on a terminal they are folded between words.
pub fn say(line: impl Display) {
    let line = line.to_string();
    let line = escape::terminal(&line);
    let line = match columns() {
        Some(columns) if columns >= NARROW => wrap_lines(&line, columns).into(),
        _ => line,
    };
    let _ = writeln!(io::stderr(), "{line}");
}

/// What was warned of.
static WARNINGS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Says a warning on standard error, which objects on standard output repeat.
pub(super) fn warn(warning: impl Display) {
    let warning = warning.to_string();
    say(&warning);
    WARNINGS.lock().unwrap_or_else(PoisonError::into_inner).push(warning);
}

/// What was warned of so far.
pub(super) fn warnings() -> Vec<String> {
    WARNINGS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Looks whether there is a standard output before anything else runs: what is closed at the start of
/// `main` has been replaced by `/dev/null`, which takes and loses everything.
#[cfg(target_os = "linux")]
extern "C" fn look() {
    // SAFETY: asks for the flags of a descriptor, which may be closed, and touches nothing.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    CLOSED.store(flags == -1, Ordering::Relaxed);
}

// SAFETY: the section holds pointers to functions of the C convention, to be called before `main`;
// this one needs nothing that is set up only then.
#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

/// That no level was complete when a search was stopped.
pub(super) fn stopped_message(dir: &str) -> String {
    format!("stopped before the first level was complete; `spillway resume {dir}` begins anew")
}
