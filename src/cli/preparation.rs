//! The phases before a search: reading, analysing, sampling and compiling the model.
//!
//! A deadline counts from the beginning of the command, and signals work from then on. Analyses and samples end soon
//! after a stop request, and the command then ends like a stopped search. A phase that does not end in time, such as
//! reading a model from a pipe, ends with the process. At that point no files exist that could be damaged.

use super::command::SessionOptions;
use super::failure::{CommandFailure, STOPPED};
use super::line_wrap::{DEFAULT_COLUMNS, truncate_text};
use super::signals::SignalHandlers;
use super::{end_now, output, quantities, say};
use crate::budget::AnalysisBudget;
use crate::exec::{Executor, Interp};
use crate::search::SearchControl;
use crate::search::control::SearchPhase;
use crate::session::{Error, SearchBudget};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The interval between checks for a stop, and between redraws on a terminal.
const LOOK: Duration = Duration::from_millis(200);

/// Shorter phases are not shown on a terminal.
const PATIENCE: Duration = Duration::from_secs(1);

/// The interval between lines without a terminal.
const PLAIN: Duration = Duration::from_secs(10);

/// The time from a stop request to the end of the process.
const GRACE: Duration = Duration::from_secs(3);

/// The preparation of a search. While this value lives, the process ends some time after a stop request.
pub(super) struct SearchPreparation {
    /// The control of the command, with its current phase.
    pub(super) control: Arc<SearchControl>,
    signals: RefCell<Option<SignalHandlers>>,
    /// Dropped first, which wakes the thread.
    done: RefCell<Option<Sender<()>>>,
    thread: RefCell<Option<JoinHandle<()>>>,
}

impl SearchPreparation {
    /// Begins the preparation of a command with these arguments.
    pub(super) fn begin(args: &SessionOptions) -> SearchPreparation {
        SearchPreparation::for_next_search(args, super::control::control(args))
    }

    /// Begins the preparation of a further search of the same command.
    pub(super) fn for_next_search(
        args: &SessionOptions,
        control: Arc<SearchControl>,
    ) -> SearchPreparation {
        let signals = RefCell::new(Some(SignalHandlers::stop(&control)));
        let (done, ended) = channel();
        let watch = PreparationWatchdog { control: Arc::clone(&control), is_quiet: args.json };
        let run = move || watch.run(&ended);
        // Without a thread nothing is shown, and only a second signal ends the process.
        let thread = std::thread::Builder::new().spawn(run).ok();
        SearchPreparation {
            control,
            signals,
            done: RefCell::new(Some(done)),
            thread: RefCell::new(thread),
        }
    }

    /// Enters a phase.
    pub(super) fn enter(&self, phase: SearchPhase) {
        self.control.progress.enter(phase);
    }

    /// Returns the budget of analyses that succeeded before, when the search began.
    pub(super) fn largest_budget(&self) -> AnalysisBudget<'_> {
        AnalysisBudget::largest_watched(&*self.control)
    }

    /// Makes the model executable, in the memory of a budget that is free before a search begins.
    pub(super) fn executor<'m>(&self, model: &'m Interp, budget: SearchBudget) -> Executor<'m> {
        self.enter(SearchPhase::Compiling);
        let _heeding = self.control.heed();
        budget.executor(model)
    }

    /// Returns an error if a stop was requested. Call it where the command would continue with partial results.
    pub(super) fn check_not_stopped(&self) -> Result<(), CommandFailure> {
        match self.control.should_stop() {
            true => Err(Error::Stopped(self.control.progress.describe_phase()).into()),
            false => Ok(()),
        }
    }

    /// Ends the preparation. Signal handlers stay in place.
    pub(super) fn end(&self) -> (Arc<SearchControl>, SignalHandlers) {
        self.stop_watching();
        let signals = self.signals.take().unwrap_or_else(|| SignalHandlers::stop(&self.control));
        self.enter(SearchPhase::Preparing);
        (Arc::clone(&self.control), signals)
    }

    fn stop_watching(&self) {
        drop(self.done.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for SearchPreparation {
    fn drop(&mut self) {
        self.stop_watching();
    }
}

/// The watchdog thread of a preparation. It displays the phase, and ends the process if the phase does not stop.
struct PreparationWatchdog {
    control: Arc<SearchControl>,
    /// Whether lines are shown on a terminal only.
    is_quiet: bool,
}

impl PreparationWatchdog {
    fn run(&self, ended: &Receiver<()>) {
        let (begun, mut said, mut asked) = (Instant::now(), 0, None);
        let mut is_drawn = false;
        while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            if self.control.should_stop() {
                if asked.get_or_insert_with(Instant::now).elapsed() >= GRACE {
                    clear(is_drawn);
                    end_now(&stopped(&self.control));
                }
                continue;
            }
            let elapsed = begun.elapsed();
            let line = format!(
                "{}  {}",
                quantities::clock(elapsed),
                self.control.progress.describe_phase()
            );
            match output::columns() {
                Some(columns) if elapsed >= PATIENCE => {
                    output::draw(&format!(
                        "{}{}\r",
                        super::progress::CLEAR,
                        truncate_text(&line, columns)
                    ));
                    is_drawn = true;
                }
                Some(_) => {}
                None => {
                    let due = elapsed.as_secs() / PLAIN.as_secs();
                    if due > said && !self.is_quiet {
                        say(truncate_text(&line, DEFAULT_COLUMNS));
                    }
                    said = due;
                }
            }
        }
        clear(is_drawn);
    }
}

/// Clears the line of the terminal.
fn clear(is_drawn: bool) {
    if is_drawn {
        output::draw(super::progress::CLEAR);
    }
}

/// Returns the failure of a command that was stopped before its search began.
fn stopped(control: &SearchControl) -> CommandFailure {
    CommandFailure::from(Error::Stopped(control.progress.describe_phase()))
}

impl CommandFailure {
    /// Returns the failure of a command that was stopped before its search began, with help.
    pub(super) fn before_search(error: &Error) -> CommandFailure {
        let help = "no search directory was changed; raise --max-time";
        CommandFailure::of_code(STOPPED, format!("{error}\n  help: {help}"))
    }
}
