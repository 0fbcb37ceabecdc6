//! What is shown while a search runs: a line that is redrawn on a terminal, plain lines elsewhere.

use super::say;
use crate::search::plan::Bytes;
use crate::search::{Control, Plan};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use spill::Metered;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Between two redrawings on a terminal.
const REDRAW: Duration = Duration::from_millis(200);

/// Between two plain lines.
const PLAIN: Duration = Duration::from_secs(10);

/// Shows the progress of a search until it is finished.
pub(super) struct Display {
    done: Sender<()>,
    thread: Option<JoinHandle<()>>,
}

impl Display {
    /// Begins to show what `control` tells, on standard error; `quiet` off a terminal.
    pub(super) fn start(control: &Arc<Control>, disk: &Arc<Metered>, quiet: bool) -> Display {
        let (done, ended) = channel();
        let terminal = std::io::stderr().is_terminal();
        let shown = terminal || !quiet;
        // Where there is no thread to be had, nothing is shown.
        let thread = shown.then(std::thread::Builder::new).and_then(|thread| {
            let control = Arc::clone(control);
            let disk = Arc::downgrade(disk);
            let spawned = thread.spawn(move || {
                let begun = Instant::now();
                let bar = terminal.then(bar);
                let interval = if terminal { REDRAW } else { PLAIN };
                while ended.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                    let line = line(&control, &disk, begun);
                    match &bar {
                        Some(bar) => bar.set_message(line),
                        None => say(line),
                    }
                }
                if let Some(bar) = bar {
                    bar.finish_and_clear();
                }
            });
            spawned.ok()
        });
        Display { done, thread }
    }

    /// Clears the terminal's line.
    pub(super) fn finish(mut self) {
        let _ = self.done.send(());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{spinner} {wide_msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.enable_steady_tick(REDRAW);
    bar
}

fn line(control: &Control, disk: &Weak<Metered>, begun: Instant) -> String {
    let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let progress = &control.progress;
    let states = get(&progress.states);
    let frontier = get(&progress.frontier);
    let expanded = get(&progress.expanded).min(frontier);
    let rate = states as f64 / begun.elapsed().as_secs_f64();
    let live = disk.upgrade().map_or(0, |disk| disk.usage().live);
    format!(
        "level {}, {states} states, {rate:.0} states/s, frontier {frontier} ({}% done), {} of \
         memory, {} of disk",
        get(&progress.level),
        expanded * 100 / frontier.max(1),
        Bytes(Plan::resident()),
        Bytes(live),
    )
}
