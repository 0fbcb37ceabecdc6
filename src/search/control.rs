//! What a running search is told from outside, and what it tells.
//!
//! Signals, deadlines and progress displays live in other threads; they meet the search in a few
//! atomic numbers.

use crate::exec::stop::{Heeding, Stop};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Requests to a search, and its progress.
#[derive(Debug)]
pub struct Control {
    stop: Stop,
    deadline: Option<Instant>,
    /// The longest time between checkpoints while a level is expanded.
    pub checkpoint_every: Duration,
    /// How far the search is.
    pub progress: Progress,
}

/// Numbers that a display may read at any time.
#[derive(Debug, Default)]
pub struct Progress {
    /// The level being expanded, from 0.
    pub level: AtomicU64,
    /// States found.
    pub states: AtomicU64,
    /// Transitions taken.
    pub transitions: AtomicU64,
    /// States of the level being expanded.
    pub frontier: AtomicU64,
    /// Those of them that have been expanded.
    pub expanded: AtomicU64,
    /// Checkpoints made.
    pub checkpoints: AtomicU64,
    /// Sweeps over states that can lie on accepting cycles; 0 while states are still looked for.
    pub sweep: AtomicU64,
    /// States that are not known yet not to lie on one.
    pub set: AtomicU64,
    /// What the sweep is for, by its number in [`STAGES`](super::cycles::STAGES).
    pub stage: AtomicU64,
}

impl Control {
    /// A search that runs until `deadline`, if there is one, or until it is told to stop. Deadlines are
    /// looked at between states; work on one state is only broken off by a request.
    pub fn new(checkpoint_every: Duration, deadline: Option<Instant>) -> Self {
        Self { stop: Stop::default(), deadline, checkpoint_every, progress: Progress::default() }
    }

    /// Asks the search to stop, leaving a checkpoint.
    pub fn stop(&self) {
        self.stop.ask();
    }

    /// Set by whoever wants the search to stop, a signal handler for one.
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        self.stop.flag()
    }

    /// Whether the search should stop now. A deadline that has passed is a request from then on.
    pub fn should_stop(&self) -> bool {
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.stop();
        }
        self.is_stopped()
    }

    /// Whether the search has been asked to stop, or a passed deadline has been noticed.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_asked()
    }

    /// Has the models that this thread runs look at the request while they are at work. What they
    /// have given is to be dropped if [`is_stopped`](Control::is_stopped) when they return.
    #[must_use = "it is heeded for as long as this lives"]
    pub fn heed(&self) -> Heeding {
        self.stop.heed()
    }
}

impl Default for Control {
    fn default() -> Self {
        Control::new(Duration::from_secs(600), None)
    }
}

impl Progress {
    pub(super) fn set(counter: &AtomicU64, value: u64) {
        counter.store(value, Ordering::Relaxed);
    }

    pub(super) fn add(counter: &AtomicU64, value: u64) {
        counter.fetch_add(value, Ordering::Relaxed);
    }
}
