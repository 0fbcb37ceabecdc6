//! `watch`: running searches on a terminal and as a web page.
//!
//! It only reads the directories of searches. It also opens the port, which searches themselves do not. The searches
//! keep running when it ends.

mod status_panel;
#[cfg(feature = "http")]
mod web;
#[cfg(not(feature = "http"))]
#[path = "no_web.rs"]
mod web;

use super::args::WatchArgs;
use super::failure::{self, CommandFailure};
use super::output::{self, print, print_drawn};
use super::{CommandResult, line_wrap, signals};
use crate::report::{PanelStatus, StatusPanel};
use crate::session::{TemporarySearch, temporary_in};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The interval between reads.
const LOOK: Duration = Duration::from_secs(1);

/// The default number of lines of a terminal.
const LINES: usize = 24;

/// Control sequences: move to the corner of the screen, clear the rest of the line, clear the rest of the screen.
const HOME: &str = "\x1b[H";
const END_OF_LINE: &str = "\x1b[K\n";
const REST: &str = "\x1b[J";

/// `spillway watch`.
pub(super) fn watch(args: &WatchArgs) -> CommandResult {
    let dirs = watched_directories(args)?;
    signals::end_at_once(failure::VERIFIED);
    let server = args.listen.map(|address| web::serve(address, &dirs)).transpose()?;
    let is_drawn = output::columns_of_output().is_some();
    if !is_drawn {
        match server {
            Some(server) => return Err(server.wait()),
            None => print(&screen(&dirs, line_wrap::DEFAULT_COLUMNS, usize::MAX).0),
        }
        return Ok(failure::VERIFIED);
    }
    print_drawn("\x1b[2J");
    loop {
        let (columns, lines) =
            output::size_of_output().unwrap_or((line_wrap::DEFAULT_COLUMNS, LINES));
        let (text, is_over) = screen(&dirs, columns, lines.saturating_sub(1));
        print_drawn(&format!("{HOME}{}{REST}", text.replace('\n', END_OF_LINE)));
        if is_over && server.is_none() || output::is_broken() {
            return Ok(failure::VERIFIED);
        }
        std::thread::sleep(LOOK);
    }
}

/// Returns the directories to watch: the named ones, or those of all running searches in temporary directories.
fn watched_directories(args: &WatchArgs) -> Result<Vec<PathBuf>, CommandFailure> {
    for dir in &args.dirs {
        if !dir.is_dir() {
            return Err(CommandFailure::wrong(format!(
                "there is no search directory {}",
                dir.display()
            )));
        }
    }
    if !args.dirs.is_empty() {
        return Ok(args.dirs.clone());
    }
    let folder = std::env::temp_dir();
    let all = temporary_in(&folder)?.into_iter().filter(|it| it.running);
    let running: Vec<PathBuf> = all.map(|TemporarySearch { path, .. }| path).collect();
    if running.is_empty() {
        let help = "`spillway watch DIR` watches a search that was started with --dir";
        let folder = folder.display();
        return Err(CommandFailure::wrong(format!(
            "no search is running in {folder}\n  help: {help}"
        )));
    }
    Ok(running)
}

/// Returns the screen of all searches, and whether none is running.
fn screen(dirs: &[PathBuf], columns: usize, lines: usize) -> (String, bool) {
    let glances: Vec<StatusPanel> = dirs.iter().map(|it| status_panel::read_panel(it)).collect();
    let each = (lines / glances.len().max(1)).max(1);
    let mut out = String::new();
    for (number, glance) in glances.iter().enumerate() {
        if number > 0 && each > 1 {
            out.push('\n');
        }
        let room = each.saturating_sub(usize::from(number > 0)).max(1);
        for line in glance.lines(columns, room) {
            out += &line_wrap::truncate_text(&line, columns);
            out.push('\n');
        }
    }
    (out, glances.iter().all(|it| it.status != PanelStatus::Running))
}

/// Formats a directory for a command.
fn named(dir: &Path) -> String {
    dir.display().to_string()
}
