//! What is shown while a search runs: a line that is redrawn on a terminal, plain lines elsewhere.
//! Before it begins, a terminal shows what it waits for where that takes longer than a second.

use super::say;
use crate::search::cycles::STAGES;
use crate::search::plan::Bytes;
use crate::search::{Control, MemoryPlan};
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

/// What takes no longer than this before a search begins is not shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// Shows how something goes on, on standard error, until it is dropped; then the terminal's line is
/// cleared.
pub(super) struct Display {
    /// Dropped first, which wakes the thread.
    done: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Display {
    /// Shows what `control` tells; `quiet` off a terminal.
    pub(super) fn of_search(control: &Arc<Control>, disk: &Arc<Metered>, quiet: bool) -> Display {
        let (control, disk) = (Arc::clone(control), Arc::downgrade(disk));
        let begun = Instant::now();
        Display::show(Duration::ZERO, quiet, move || line(&control, &disk, begun))
    }

    /// Shows on a terminal that something is still at work which says nothing itself.
    pub(super) fn of_wait(what: String) -> Display {
        let begun = Instant::now();
        Display::show(PATIENCE, true, move || format!("{what}, {} s", begun.elapsed().as_secs()))
    }

    /// Shows `line` again and again, but nothing if it is over before `patience` is.
    fn show(
        patience: Duration,
        quiet: bool,
        line: impl Fn() -> String + Send + 'static,
    ) -> Display {
        let (done, ended) = channel::<()>();
        let terminal = std::io::stderr().is_terminal();
        let shown = terminal || !quiet;
        // Where there is no thread to be had, nothing is shown.
        let thread = shown.then(std::thread::Builder::new).and_then(|thread| {
            let goes_on = move |wait| ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout);
            let spawned = thread.spawn(move || {
                if !goes_on(patience) {
                    return;
                }
                let bar = terminal.then(bar);
                let interval = if terminal { REDRAW } else { PLAIN };
                while goes_on(interval) {
                    match &bar {
                        Some(bar) => bar.set_message(line()),
                        None => say(line()),
                    }
                }
                if let Some(bar) = bar {
                    bar.finish_and_clear();
                }
            });
            spawned.ok()
        });
        Display { done: Some(done), thread }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        drop(self.done.take());
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
    if get(&progress.sweep) > 0 {
        let stage = STAGES.get(get(&progress.stage) as usize).copied().unwrap_or_default();
        return format!(
            "{stage}, sweep {}, {} states of {states} left, {} of memory, {} of disk",
            get(&progress.sweep),
            get(&progress.set),
            Bytes(MemoryPlan::resident()),
            Bytes(live),
        );
    }
    format!(
        "level {}, {states} states, {rate:.0} states/s, frontier {frontier} ({}% done), {} of \
         memory, {} of disk",
        get(&progress.level),
        expanded * 100 / frontier.max(1),
        Bytes(MemoryPlan::resident()),
        Bytes(live),
    )
}
