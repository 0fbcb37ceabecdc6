//! The progress display of a search: a line that is redrawn on a terminal, plain lines elsewhere. Before the search
//! begins, a terminal shows phases that take longer than a second.
//!
//! The cursor rests at the beginning of the line, and the line ends with its last character. If the terminal becomes
//! narrower and wraps the line, all of it is after the cursor, so the next redraw clears it.

use super::command::SessionOptions;
use super::line_wrap::{DEFAULT_COLUMNS, truncate_text};
use super::{output, quantities, say};
use crate::escape;
use crate::report::{count, grouped};
use crate::search::control::SearchPhase;
use crate::search::hunt::HuntProgress;
use crate::search::liveness::owcty::STAGES;
use crate::search::{MemoryPlan, SearchControl};
use crate::session::SearchDirectory;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The interval between redraws on a terminal.
const REDRAW: Duration = Duration::from_millis(200);

/// The interval between plain lines.
const PLAIN: Duration = Duration::from_secs(10);

/// Shorter phases before a search are not shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// Clears the line of the terminal, even if it was wrapped.
pub(super) const CLEAR: &str = "\r\x1b[J";

/// Displays progress on standard error until it is dropped. Then the line of the terminal is cleared.
pub(super) struct ProgressDisplay {
    /// Dropped first, which wakes the thread.
    done: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The contents and the destination of the display.
struct ProgressOutput<L> {
    /// The delay before anything is shown.
    patience: Duration,
    /// Whether lines are shown on a terminal only.
    is_quiet: bool,
    /// A note that is printed once, if the search takes some time.
    note: Option<String>,
    /// Returns the line for a number of columns. `None` once a stop was requested.
    line: L,
}

impl ProgressDisplay {
    /// Displays the progress of a search. If the result is JSON and there is no terminal, only the note is printed.
    pub(super) fn of_search(
        control: &Arc<SearchControl>,
        directory: &SearchDirectory,
        args: &SessionOptions,
        note: Option<String>,
    ) -> ProgressDisplay {
        let (control, disk) = (Arc::clone(control), Arc::downgrade(&directory.disk));
        let budget = args.limits.memory;
        let is_drawn = output::columns().is_some();
        let mut last = None;
        let line = move |columns| {
            if control.is_stopped() {
                return None;
            }
            let disk = Weak::upgrade(&disk).map_or(0, |disk| disk.usage().live);
            let (mut figures, stay) = ProgressFigures::of(&control, budget, disk);
            // A phase that ends within one redraw interval would only flicker.
            let is_lasting = last.replace(stay) == Some(stay);
            if is_drawn && !is_lasting {
                figures.phase = figures.usual_phase();
            }
            Some(figures.line(columns))
        };
        ProgressDisplay::show(ProgressOutput {
            patience: Duration::ZERO,
            is_quiet: args.json,
            note,
            line,
        })
    }

    /// Displays the progress of a hunt in a model with this number of actions; 0 if they are not counted.
    pub(super) fn of_hunt(
        control: &Arc<SearchControl>,
        progress: &Arc<HuntProgress>,
        actions: u64,
        args: &SessionOptions,
    ) -> ProgressDisplay {
        let (control, progress) = (Arc::clone(control), Arc::clone(progress));
        let (begun, budget) = (Instant::now(), args.limits.memory);
        let line = move |columns| {
            let figures = HuntLine { progress: &progress, elapsed: begun.elapsed(), actions };
            let memory = (MemoryPlan::resident(), budget);
            (!control.is_stopped()).then(|| fitting_line(figures.pieces(memory), columns))
        };
        ProgressDisplay::show(ProgressOutput {
            patience: Duration::ZERO,
            is_quiet: args.json,
            note: None,
            line,
        })
    }

    /// Displays on a terminal that a phase without progress data is running.
    pub(super) fn of_wait(what: String) -> ProgressDisplay {
        let begun = Instant::now();
        let line = move |columns| {
            Some(truncate_text(&format!("{what}, {} s", begun.elapsed().as_secs()), columns))
        };
        ProgressDisplay::show(ProgressOutput {
            patience: PATIENCE,
            is_quiet: true,
            note: None,
            line,
        })
    }

    fn show(
        shown: ProgressOutput<impl FnMut(usize) -> Option<String> + Send + 'static>,
    ) -> ProgressDisplay {
        let (done, ended) = channel::<()>();
        let is_drawn = output::columns().is_some();
        let is_seen = is_drawn || !shown.is_quiet || shown.note.is_some();
        let run = move || match is_drawn {
            true => shown.draw(&ended),
            false => shown.say(&ended),
        };
        // Without a thread nothing is shown.
        let thread = is_seen.then(std::thread::Builder::new).and_then(|it| it.spawn(run).ok());
        ProgressDisplay { done: Some(done), thread }
    }
}

impl<L: FnMut(usize) -> Option<String>> ProgressOutput<L> {
    /// Redraws the line repeatedly.
    fn draw(mut self, ended: &Receiver<()>) {
        if !wait_unless_ended(ended, self.patience) {
            return;
        }
        let begun = Instant::now();
        while wait_unless_ended(ended, REDRAW) {
            if begun.elapsed() >= PATIENCE
                && let Some(note) = self.note.take()
            {
                output::draw(CLEAR);
                say(note);
            }
            let Some(line) = (self.line)(output::columns().unwrap_or(DEFAULT_COLUMNS)) else {
                // A second signal ends the process at once. No line may remain then.
                output::draw(CLEAR);
                say("stopping at a checkpoint");
                let _ = ended.recv();
                return;
            };
            output::draw(&format!("{CLEAR}{line}\r"));
        }
        output::draw(CLEAR);
    }

    /// Prints a line periodically.
    fn say(mut self, ended: &Receiver<()>) {
        while wait_unless_ended(ended, PLAIN) {
            self.note.take().into_iter().for_each(say);
            match self.is_quiet {
                true => return,
                false => (self.line)(DEFAULT_COLUMNS).into_iter().for_each(say),
            }
        }
    }
}

/// Waits. Returns false if the display ends before.
fn wait_unless_ended(ended: &Receiver<()>, wait: Duration) -> bool {
    ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout)
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Returns a note with the temporary directory, for a user whose search disappears.
pub(super) fn note(directory: &SearchDirectory) -> Option<String> {
    let (dir, word) = (directory.path.display(), escape::shell_path(&directory.path));
    directory.is_temporary().then(|| {
        format!(
            "note: the search is kept in {dir}; after a crash `spillway resume {word}` resumes it"
        )
    })
}

/// The progress of a search.
#[derive(Clone, Debug)]
struct ProgressFigures {
    elapsed: Duration,
    phase: SearchPhase,
    level: u64,
    states: u64,
    rate: Option<f64>,
    frontier: u64,
    expanded: u64,
    /// The stage, the number of the sweep, and the remaining states.
    sweep: Option<(&'static str, u64, u64)>,
    /// The resident bytes, and the budget.
    memory: (u64, u64),
    /// The bytes of the directory.
    disk: u64,
}

impl ProgressFigures {
    /// Returns the current progress, and a number that identifies the current stay in a phase.
    fn of(control: &SearchControl, budget: u64, disk: u64) -> (ProgressFigures, u64) {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let progress = &control.progress;
        let (phase, stay) = progress.phase();
        let stage = STAGES.get(get(&progress.stage) as usize).copied().unwrap_or_default();
        let sweep = (stage, get(&progress.sweep), get(&progress.set));
        let figures = ProgressFigures {
            elapsed: control.elapsed(),
            phase,
            level: get(&progress.level),
            states: get(&progress.states),
            rate: control.rate(),
            frontier: get(&progress.frontier),
            expanded: get(&progress.expanded),
            sweep: Some(sweep).filter(|(_, number, _)| *number > 0),
            memory: (MemoryPlan::resident(), budget),
            disk,
        };
        (figures, stay)
    }

    /// Returns the phase in which a search is most of the time.
    fn usual_phase(&self) -> SearchPhase {
        match self.sweep {
            _ if self.states == 0 => self.phase,
            Some(_) => SearchPhase::Sweeping,
            None => SearchPhase::Expanding,
        }
    }

    /// Returns the pieces of the line in order of display, each with its rank. If the line is too short, the piece
    /// with the greatest rank is dropped first.
    fn pieces(&self) -> Vec<(u8, String)> {
        let mut pieces = vec![(0, quantities::clock(self.elapsed))];
        let doing = (1, self.phase.name().to_owned());
        let usual = self.usual_phase();
        let ProgressFigures { states, frontier, .. } = *self;
        match self.sweep {
            _ if states == 0 => pieces.push(doing),
            Some((stage, number, left)) => {
                // There is no space for the direction.
                let stage = stage.strip_suffix(" from accepting states").unwrap_or(stage);
                let stage = if self.phase == usual { (1, stage.to_owned()) } else { doing };
                let left = format!("{} left", count(left, "state"));
                pieces.extend([stage, (3, format!("sweep {}", grouped(number))), (2, left)]);
                pieces.push((6, format!("{} reached", grouped(states))));
            }
            None => {
                pieces.push((3, format!("level {}", grouped(self.level))));
                pieces.push((2, count(states, "state")));
                pieces.extend(self.rate.map(|rate| (5, quantities::rate(rate))));
                pieces.push((6, format!("frontier {}", grouped(frontier))));
                match self.phase == usual {
                    true => {
                        let share = quantities::percent(self.expanded, frontier);
                        pieces.push((7, format!("{share}% expanded")));
                    }
                    false => pieces.push(doing),
                }
            }
        }
        pieces.push((4, quantities::share(self.memory.0, self.memory.1)));
        pieces.push((8, format!("disk {}", quantities::size(self.disk))));
        pieces
    }

    /// Formats as many pieces as fit into a number of columns.
    fn line(&self, columns: usize) -> String {
        fitting_line(self.pieces(), columns)
    }
}

/// Formats as many pieces as fit into a number of columns. If the line is too short, the piece with the greatest rank
/// is dropped first.
fn fitting_line(mut pieces: Vec<(u8, String)>, columns: usize) -> String {
    loop {
        let texts: Vec<&str> = pieces.iter().map(|(_, text)| text.as_str()).collect();
        let line = texts.join("  ");
        let last = (0..pieces.len()).max_by_key(|&at| pieces[at].0);
        match last.filter(|_| line.len() > columns && pieces.len() > 1) {
            Some(last) => drop(pieces.remove(last)),
            None => return truncate_text(&line, columns),
        }
    }
}

/// The progress of a hunt.
struct HuntLine<'p> {
    progress: &'p HuntProgress,
    elapsed: Duration,
    /// The number of actions of the model; 0 if they are not counted.
    actions: u64,
}

impl HuntLine<'_> {
    /// Returns the pieces of the line with their ranks, given the resident bytes and the budget.
    fn pieces(&self, memory: (u64, u64)) -> Vec<(u8, String)> {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let HuntProgress { walks, transitions, depth_max, actions } = self.progress;
        let rate = get(transitions) as f64 / self.elapsed.as_secs_f64().max(1e-3);
        let mut pieces = vec![
            (0, quantities::clock(self.elapsed)),
            (1, count(get(walks), "walk")),
            (3, quantities::rate(rate)),
            (2, format!("depth {}", grouped(get(depth_max)))),
        ];
        if self.actions > 0 {
            let executed = (grouped(get(actions)), count(self.actions, "action"));
            pieces.push((4, format!("{} of {}", executed.0, executed.1)));
        }
        pieces.push((5, quantities::share(memory.0, memory.1)));
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures() -> ProgressFigures {
        ProgressFigures {
            elapsed: Duration::from_secs(134),
            phase: SearchPhase::Expanding,
            level: 117,
            states: 26_997_501,
            rate: Some(1_310_000.0),
            frontier: 547_650,
            expanded: 202_631,
            sweep: None,
            memory: (82 << 20, 128 << 20),
            disk: 1288490189,
        }
    }

    #[test]
    fn the_progress_line_fits_its_columns_by_priority() {
        let whole = "0:02:14  level 117  26,997,501 states  1.3 M/s  frontier 547,650  37% expanded  82/128 MiB  disk 1.2 GiB";
        for (columns, line) in [
            (200, whole),
            (whole.len(), whole),
            (80, "0:02:14  level 117  26,997,501 states  1.3 M/s  frontier 547,650  82/128 MiB"),
            (75, "0:02:14  level 117  26,997,501 states  1.3 M/s  82/128 MiB"),
            (50, "0:02:14  level 117  26,997,501 states  82/128 MiB"),
            (40, "0:02:14  level 117  26,997,501 states"),
            (30, "0:02:14  26,997,501 states"),
            (10, "0:02:14"),
            (4, "0:02"),
            (0, ""),
        ] {
            assert_eq!(figures().line(columns), line, "{columns}");
        }
    }

    #[test]
    fn the_progress_line_names_the_phase() {
        let at = |phase, columns| ProgressFigures { phase, ..figures() }.line(columns);
        assert_eq!(
            at(SearchPhase::Settling, 80),
            "0:02:14  level 117  26,997,501 states  1.3 M/s  settling  82/128 MiB"
        );
        assert_eq!(
            at(SearchPhase::Settling, 90),
            "0:02:14  level 117  26,997,501 states  1.3 M/s  frontier 547,650  settling  82/128 MiB"
        );
        assert_eq!(
            at(SearchPhase::Saving, 80),
            "0:02:14  level 117  26,997,501 states  1.3 M/s  writing a checkpoint  82/128 MiB"
        );
        assert_eq!(at(SearchPhase::Saving, 30), "0:02:14  writing a checkpoint");
        let nothing =
            ProgressFigures { phase: SearchPhase::Beginning, states: 0, rate: None, ..figures() };
        assert_eq!(nothing.line(50), "0:02:14  making initial states  82/128 MiB");
        assert_eq!(nothing.usual_phase(), SearchPhase::Beginning);
    }

    #[test]
    fn sweeps_are_shown_with_remaining_states() {
        let sweep = Some((STAGES[0], 12, 1_234_567));
        let swept = ProgressFigures { phase: SearchPhase::Sweeping, sweep, ..figures() };
        assert_eq!(
            swept.line(80),
            "0:02:14  trimming  sweep 12  1,234,567 states left  82/128 MiB"
        );
        assert_eq!(
            swept.line(100),
            "0:02:14  trimming  sweep 12  1,234,567 states left  26,997,501 reached  82/128 MiB  disk 1.2 GiB"
        );
        let reaching = ProgressFigures { sweep: Some((STAGES[1], 345, 1)), ..swept.clone() };
        let line = "0:02:14  reaching  sweep 345  1 state left  82/128 MiB";
        assert_eq!(reaching.line(60), line);
        let saving = ProgressFigures { phase: SearchPhase::Saving, ..swept };
        assert!(saving.line(80).starts_with("0:02:14  writing a checkpoint  sweep 12  "));
        assert_eq!(saving.usual_phase(), SearchPhase::Sweeping);
    }

    #[test]
    fn a_hunt_is_shown_with_walks_and_coverage() {
        let progress = HuntProgress {
            walks: 1234.into(),
            transitions: 3_000_000.into(),
            depth_max: 5678.into(),
            actions: 12.into(),
        };
        let line = |actions, columns| {
            let elapsed = Duration::from_secs(2);
            let pieces =
                HuntLine { progress: &progress, elapsed, actions }.pieces((1 << 20, 8 << 20));
            fitting_line(pieces, columns)
        };
        let whole = "0:00:02  1,234 walks  1.5 M/s  depth 5,678  12 of 13 actions  1/8 MiB";
        assert_eq!(line(13, 100), whole);
        assert_eq!(line(13, 60), "0:00:02  1,234 walks  1.5 M/s  depth 5,678  12 of 13 actions");
        assert_eq!(line(0, 60), "0:00:02  1,234 walks  1.5 M/s  depth 5,678  1/8 MiB");
        assert_eq!(line(13, 30), "0:00:02  1,234 walks");
    }

    #[test]
    fn no_line_is_wider_than_its_columns() {
        let huge = ProgressFigures {
            elapsed: Duration::from_secs(u64::MAX),
            level: u64::MAX,
            states: u64::MAX,
            rate: Some(f64::MAX),
            frontier: u64::MAX,
            expanded: u64::MAX / 100,
            memory: (u64::MAX, u64::MAX),
            disk: u64::MAX,
            ..figures()
        };
        let sweep = Some((STAGES[2], u64::MAX, u64::MAX));
        let swept = ProgressFigures { phase: SearchPhase::Sweeping, sweep, ..huge.clone() };
        for columns in 0..300 {
            for figures in [&figures(), &huge, &swept] {
                assert!(figures.line(columns).len() <= columns, "{columns}: {figures:?}");
            }
        }
    }
}
