//! What comes before a search: the model is read, analysed, sampled and compiled.
//!
//! A deadline or a signal counts from the beginning of the command. Analyses and samples end soon after a stop is
//! asked for, and the command then ends as a search does that is stopped. What does not end by itself in some time, a
//! model that is read from a pipe for one, is ended with the process: nothing is kept then that could be damaged.

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

/// Between two looks at whether to stop, and two redrawings on a terminal.
const LOOK: Duration = Duration::from_millis(200);

/// What takes no longer than this is not shown on a terminal.
const PATIENCE: Duration = Duration::from_secs(1);

/// Between two lines where there is no terminal.
const PLAIN: Duration = Duration::from_secs(10);

/// So long after a stop was asked for the process is ended.
const GRACE: Duration = Duration::from_secs(3);

/// A command that prepares a search. While this lives, the process ends some time after it was asked to stop.
pub(super) struct SearchPreparation {
    /// Who stops the command, and what it is at.
    pub(super) control: Arc<SearchControl>,
    signals: RefCell<Option<SignalHandlers>>,
    /// Dropped first, which wakes the thread.
    done: RefCell<Option<Sender<()>>>,
    thread: RefCell<Option<JoinHandle<()>>>,
}

impl SearchPreparation {
    /// One that begins now, in a command with these arguments.
    pub(super) fn begin(args: &SessionOptions) -> SearchPreparation {
        SearchPreparation::for_next_search(args, super::control::control(args))
    }

    /// One of another search of the same command.
    pub(super) fn for_next_search(
        args: &SessionOptions,
        control: Arc<SearchControl>,
    ) -> SearchPreparation {
        let signals = RefCell::new(Some(SignalHandlers::stop(&control)));
        let (done, ended) = channel();
        let watch = PreparationWatchdog { control: Arc::clone(&control), is_quiet: args.json };
        let run = move || watch.run(&ended);
        // Where there is no thread to be had, nothing is shown, and only a second signal ends the process.
        let thread = std::thread::Builder::new().spawn(run).ok();
        SearchPreparation {
            control,
            signals,
            done: RefCell::new(Some(done)),
            thread: RefCell::new(thread),
        }
    }

    /// From now on the command is at this.
    pub(super) fn enter(&self, phase: SearchPhase) {
        self.control.progress.enter(phase);
    }

    /// The budget of each analysis that was made before, when the search began.
    pub(super) fn largest_budget(&self) -> AnalysisBudget<'_> {
        AnalysisBudget::largest_watched(&*self.control)
    }

    /// The model ready to run, in what of a budget is free before a search begins.
    pub(super) fn executor<'m>(&self, model: &'m Interp, budget: SearchBudget) -> Executor<'m> {
        self.enter(SearchPhase::Compiling);
        let _heeding = self.control.heed();
        budget.executor(model)
    }

    /// A failure if the command was asked to stop: where it would go on with what is not whole.
    pub(super) fn check_not_stopped(&self) -> Result<(), CommandFailure> {
        match self.control.should_stop() {
            true => Err(Error::Stopped(self.control.progress.describe_phase()).into()),
            false => Ok(()),
        }
    }

    /// The preparation is over. What signals do stays as it is.
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

/// Watches a preparation from a thread of its own: shows what it is at, and ends the process where it does not stop.
struct PreparationWatchdog {
    control: Arc<SearchControl>,
    /// Whether lines are shown on a terminal alone.
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

/// Takes the terminal's line away.
fn clear(is_drawn: bool) {
    if is_drawn {
        output::draw(super::progress::CLEAR);
    }
}

/// What is said of a command that was stopped before its search began.
fn stopped(control: &SearchControl) -> CommandFailure {
    CommandFailure::from(Error::Stopped(control.progress.describe_phase()))
}

impl CommandFailure {
    /// A command was stopped before its search began.
    pub(super) fn before_search(error: &Error) -> CommandFailure {
        let help = "no search directory was changed; give more time with --max-time";
        CommandFailure::of_code(STOPPED, format!("{error}\n  help: {help}"))
    }
}
