//! Requests to a running search, and its progress.
//!
//! Signals, deadlines and progress displays are handled by other threads. They share a few atomic numbers with the
//! search.

use super::events::{CompletedLevels, ProgressSample, add_levels};
use spillway_base::budget::AnalysisSupervisor;
use spillway_model::stop_request::{StopRequest, StopScope};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The time after the start of the search from which a rate is computed.
const RATE_AFTER: Duration = Duration::from_millis(100);

/// The number of entries for completed levels that are kept until they are taken.
const LEVELS_MAX: usize = 64;

/// Requests to a search, and its progress.
#[derive(Debug)]
pub struct SearchControl {
    stop: StopRequest,
    deadline: Option<Instant>,
    /// The start of the session.
    begun: Instant,
    /// The longest time between checkpoints while a level is expanded.
    pub checkpoint_every: Duration,
    /// The progress of the search.
    pub progress: SearchProgress,
    /// The command line of the search, if there is one.
    pub command: Option<String>,
}

/// The phase of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchPhase {
    /// Before the start.
    #[default]
    Preparing,
    /// Reading the model.
    Reading,
    /// Analysing the model for a reduction.
    Analysing,
    /// Taking a sample of the states.
    Sampling,
    /// Trying reductions on the first states.
    Trying,
    /// Compiling the model.
    Compiling,
    /// Reading the last checkpoint.
    Restoring,
    /// Generating the initial states.
    Beginning,
    /// Expanding a level.
    Expanding,
    /// Computing the states to re-expand.
    Joining,
    /// Settling the next level.
    Settling,
    /// Hunting for a deep violation.
    Hunting,
    /// Writing a checkpoint.
    Saving,
    /// Gathering the states that can lie on accepting cycles.
    Gathering,
    /// Sweeping over these states.
    Sweeping,
    /// Reading the counterexample from the files.
    Tracing,
}

impl SearchPhase {
    const ALL: [SearchPhase; 16] = [
        SearchPhase::Preparing,
        SearchPhase::Reading,
        SearchPhase::Analysing,
        SearchPhase::Sampling,
        SearchPhase::Trying,
        SearchPhase::Compiling,
        SearchPhase::Restoring,
        SearchPhase::Beginning,
        SearchPhase::Expanding,
        SearchPhase::Joining,
        SearchPhase::Settling,
        SearchPhase::Hunting,
        SearchPhase::Saving,
        SearchPhase::Gathering,
        SearchPhase::Sweeping,
        SearchPhase::Tracing,
    ];

    /// Returns the description of the phase.
    pub fn name(self) -> &'static str {
        match self {
            SearchPhase::Preparing => "preparing",
            SearchPhase::Reading => "reading the model",
            SearchPhase::Analysing => "analysing the model",
            SearchPhase::Sampling => "taking a sample of the states",
            SearchPhase::Trying => "trying reductions",
            SearchPhase::Compiling => "compiling the model",
            SearchPhase::Restoring => "reading the last checkpoint",
            SearchPhase::Beginning => "making initial states",
            SearchPhase::Expanding => "expanding",
            SearchPhase::Joining => "joining obligations",
            SearchPhase::Settling => "settling",
            SearchPhase::Hunting => "hunting for a deep violation",
            SearchPhase::Saving => "writing a checkpoint",
            SearchPhase::Gathering => "gathering states",
            SearchPhase::Sweeping => "sweeping",
            SearchPhase::Tracing => "tracing the run",
        }
    }
}

/// Counters that a display may read at any time.
#[derive(Debug, Default)]
pub struct SearchProgress {
    /// The level being expanded, from 0.
    pub level: AtomicU64,
    /// The number of visited states.
    pub states: AtomicU64,
    /// The number of transitions.
    pub transitions: AtomicU64,
    /// The number of states of the level being expanded.
    pub frontier: AtomicU64,
    /// The number of expanded states of this level.
    pub expanded: AtomicU64,
    /// The number of checkpoints.
    pub checkpoints: AtomicU64,
    /// The number of sweeps over states that can lie on accepting cycles; 0 while states are explored.
    pub sweep: AtomicU64,
    /// The number of states that may still lie on an accepting cycle.
    pub set: AtomicU64,
    /// The stage of the cycle search, as an index into [`STAGES`](super::liveness::owcty::STAGES).
    pub stage: AtomicU64,
    /// Completed levels that were not taken yet; an entry may cover several.
    levels: Mutex<Vec<CompletedLevels>>,
    /// The number of phases so far, and in the lowest byte the current phase.
    phase: AtomicU64,
    /// The reduction for which the model was last analysed.
    analysis: Mutex<String>,
    /// The number of states expanded by earlier sessions.
    before: AtomicU64,
    /// Milliseconds from the start of the session to that of the search.
    waited: AtomicU64,
}

impl SearchControl {
    /// Creates the control of a search that runs until `deadline`, if there is one, or until a request to stop.
    /// Deadlines are checked between states. Only a request interrupts the work on one state.
    pub fn new(checkpoint_every: Duration, deadline: Option<Instant>) -> Self {
        let (stop, progress) = (StopRequest::default(), SearchProgress::default());
        Self { stop, deadline, begun: Instant::now(), checkpoint_every, progress, command: None }
    }

    /// Returns the time since the start of the session.
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Returns the number of states expanded for each second of this session's search, if it has expanded some for long
    /// enough.
    pub fn rate(&self) -> Option<f64> {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let SearchProgress { before, waited, .. } = &self.progress;
        let seconds = self.elapsed().saturating_sub(Duration::from_millis(get(waited)));
        let expanded = self.progress.all_expanded().saturating_sub(get(before));
        let is_told = expanded > 0 && seconds >= RATE_AFTER;
        is_told.then(|| expanded as f64 / seconds.as_secs_f64())
    }

    /// Begins or resumes a search: all of `states` are expanded except the remaining ones of the last level.
    pub(super) fn begin(&self, states: u64, frontier: u64, expanded: u64) {
        let progress = &self.progress;
        SearchProgress::set(&progress.states, states);
        SearchProgress::set(&progress.frontier, frontier);
        SearchProgress::set(&progress.expanded, expanded);
        SearchProgress::set(&progress.before, progress.all_expanded());
        SearchProgress::set(&progress.waited, self.elapsed().as_millis() as u64);
    }

    /// Requests the search to stop with a checkpoint.
    pub fn stop(&self) {
        self.stop.request();
    }

    /// Returns the flag that requests a stop, for example for a signal handler.
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        self.stop.flag()
    }

    /// Returns whether the search must stop now. A passed deadline becomes a request.
    pub fn should_stop(&self) -> bool {
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.stop();
        }
        self.is_stopped()
    }

    /// Returns whether a stop was requested or a passed deadline was noticed.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_requested()
    }

    /// Lets the models that this thread runs check the request during their work. If
    /// [`is_stopped`](SearchControl::is_stopped) when they return, their results must be dropped.
    #[must_use = "it is heeded for as long as this lives"]
    pub fn heed(&self) -> StopScope {
        self.stop.enter_scope()
    }
}

impl AnalysisSupervisor for SearchControl {
    fn should_stop(&self) -> bool {
        SearchControl::should_stop(self)
    }

    fn analysis_started(&self, analysis: &str) {
        self.progress.enter(SearchPhase::Analysing);
        if let Ok(mut name) = self.progress.analysis.lock() {
            analysis.clone_into(&mut name);
        }
    }
}

impl Default for SearchControl {
    fn default() -> Self {
        SearchControl::new(Duration::from_secs(600), None)
    }
}

impl SearchProgress {
    /// Returns the number of expanded states of all levels.
    fn all_expanded(&self) -> u64 {
        let [states, frontier, expanded] = [&self.states, &self.frontier, &self.expanded]
            .map(|counter| counter.load(Ordering::Relaxed));
        states.saturating_sub(frontier) + expanded.min(frontier)
    }

    /// Returns the phase and a number that changes with every change of the phase.
    pub fn phase(&self) -> (SearchPhase, u64) {
        let both = self.phase.load(Ordering::Relaxed);
        (SearchPhase::ALL.get((both & 0xff) as usize).copied().unwrap_or_default(), both)
    }

    /// Records a completed level.
    pub(super) fn record_levels(&self, level: CompletedLevels) {
        if let Ok(mut levels) = self.levels.lock() {
            add_levels(&mut levels, level, LEVELS_MAX);
        }
    }

    /// Takes the levels completed since the last call.
    pub(super) fn take_levels(&self) -> Vec<CompletedLevels> {
        self.levels.lock().map(|mut it| std::mem::take(&mut *it)).unwrap_or_default()
    }

    /// Returns the progress after some seconds, with the bytes of memory and disk in use.
    pub(super) fn sample(&self, seconds: f64, memory: u64, disk: u64) -> ProgressSample {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        ProgressSample {
            seconds,
            phase: self.phase().0.name().to_owned(),
            level: get(&self.level),
            states: get(&self.states),
            transitions: get(&self.transitions),
            frontier: get(&self.frontier),
            expanded: get(&self.expanded),
            memory,
            disk,
            checkpoints: get(&self.checkpoints),
        }
    }

    /// Returns a description of the phase, with the reduction for which the model is analysed.
    pub fn describe_phase(&self) -> String {
        let phase = self.phase().0;
        match self.analysis.lock() {
            Ok(analysis) if phase == SearchPhase::Analysing && !analysis.is_empty() => {
                format!("{} for {analysis}", phase.name())
            }
            _ => phase.name().to_owned(),
        }
    }

    /// Enters a phase. Returns the previous one.
    pub fn enter(&self, phase: SearchPhase) -> SearchPhase {
        let (left, both) = self.phase();
        if left != phase {
            Self::set(&self.phase, (both & !0xff) + 0x100 + phase as u64);
        }
        left
    }

    pub(super) fn set(counter: &AtomicU64, value: u64) {
        counter.store(value, Ordering::Relaxed);
    }

    pub(super) fn add(counter: &AtomicU64, value: u64) {
        counter.fetch_add(value, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_round_trip_and_each_entry_has_a_new_number() {
        let progress = SearchProgress::default();
        let mut numbers = vec![progress.phase().1];
        for phase in SearchPhase::ALL.into_iter().chain(SearchPhase::ALL).skip(1) {
            let previous = progress.phase().0;
            assert_eq!(progress.enter(phase), previous);
            assert_eq!(progress.phase().0, phase);
            let number = progress.phase().1;
            assert_eq!((progress.enter(phase), progress.phase().1), (phase, number));
            numbers.push(number);
        }
        assert!(numbers.is_sorted_by(|one, other| one < other), "{numbers:?}");
    }

    #[test]
    fn states_of_earlier_sessions_are_not_in_the_rate() {
        let control = SearchControl::default();
        let since = Instant::now().checked_sub(Duration::from_secs(1000));
        let control = SearchControl { begun: since.unwrap_or(control.begun), ..control };
        control.begin(1_000_000_000, 400, 100);
        assert_eq!(control.progress.all_expanded(), 999_999_700);
        SearchProgress::set(&control.progress.waited, 0);
        assert_eq!(control.rate(), None);
        SearchProgress::add(&control.progress.expanded, 300);
        // A machine with an uptime of a thousand seconds.
        if since.is_some() {
            let rate = control.rate().unwrap();
            assert!(rate > 0.0 && rate <= 0.3, "{rate}");
        }
    }
}
