//! What a running search is told from outside, and what it tells.
//!
//! Signals, deadlines and progress displays live in other threads; they meet the search in a few
//! atomic numbers.

use super::events::{CompletedLevels, ProgressSample, add_levels};
use crate::budget::AnalysisSupervisor;
use crate::model::stop_request::{StopRequest, StopScope};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Sooner than this after the search began it is not told how fast it is.
const RATE_AFTER: Duration = Duration::from_millis(100);

/// So many levels, or sets of some, are kept until somebody takes them.
const LEVELS_MAX: usize = 64;

/// Requests to a search, and its progress.
#[derive(Debug)]
pub struct SearchControl {
    stop: StopRequest,
    deadline: Option<Instant>,
    /// When the sitting began.
    begun: Instant,
    /// The longest time between checkpoints while a level is expanded.
    pub checkpoint_every: Duration,
    /// How far the search is.
    pub progress: SearchProgress,
    /// The command line that asked for the search, if one did.
    pub command: Option<String>,
}

/// What a search is at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchPhase {
    /// It has not begun.
    #[default]
    Preparing,
    /// The model is read.
    Reading,
    /// The model is analysed for a reduction.
    Analysing,
    /// A sample of the states is taken.
    Sampling,
    /// Reductions are tried on the first states.
    Trying,
    /// The model is compiled.
    Compiling,
    /// It reads where it goes on from.
    Restoring,
    /// The model makes its initial states.
    Beginning,
    /// A level is expanded.
    Expanding,
    /// Which states are expanded again is found out.
    Joining,
    /// The next level is made of the candidates.
    Settling,
    /// A checkpoint is written.
    Saving,
    /// The states that can lie on accepting cycles are gathered.
    Gathering,
    /// These are swept over.
    Sweeping,
    /// The run that was found is read from what was written.
    Tracing,
}

impl SearchPhase {
    const ALL: [SearchPhase; 15] = [
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
        SearchPhase::Saving,
        SearchPhase::Gathering,
        SearchPhase::Sweeping,
        SearchPhase::Tracing,
    ];

    /// In words.
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
            SearchPhase::Saving => "writing a checkpoint",
            SearchPhase::Gathering => "gathering states",
            SearchPhase::Sweeping => "sweeping",
            SearchPhase::Tracing => "tracing the run",
        }
    }
}

/// Numbers that a display may read at any time.
#[derive(Debug, Default)]
pub struct SearchProgress {
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
    /// What the sweep is for, by its number in [`STAGES`](super::liveness::owcty::STAGES).
    pub stage: AtomicU64,
    /// Levels that are done, until they are taken, some of them as one.
    levels: Mutex<Vec<CompletedLevels>>,
    /// How many phases have begun, and in the lowest byte which is the last.
    phase: AtomicU64,
    /// The reduction for which the model was last analysed.
    analysis: Mutex<String>,
    /// States expanded when the search began, in earlier sittings.
    before: AtomicU64,
    /// Milliseconds of the sitting before the search began.
    waited: AtomicU64,
}

impl SearchControl {
    /// A search that runs until `deadline`, if there is one, or until it is told to stop. Deadlines are
    /// looked at between states; work on one state is only broken off by a request.
    pub fn new(checkpoint_every: Duration, deadline: Option<Instant>) -> Self {
        let (stop, progress) = (StopRequest::default(), SearchProgress::default());
        Self { stop, deadline, begun: Instant::now(), checkpoint_every, progress, command: None }
    }

    /// How long the sitting has been going on.
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// States expanded a second since the search began, those of earlier sittings left out; nothing before there is
    /// something to tell.
    pub fn rate(&self) -> Option<f64> {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let SearchProgress { before, waited, .. } = &self.progress;
        let seconds = self.elapsed().saturating_sub(Duration::from_millis(get(waited)));
        let expanded = self.progress.all_expanded().saturating_sub(get(before));
        let is_told = expanded > 0 && seconds >= RATE_AFTER;
        is_told.then(|| expanded as f64 / seconds.as_secs_f64())
    }

    /// A search begins, or goes on from where all of `states` but those left of the last level were expanded.
    pub(super) fn begin(&self, states: u64, frontier: u64, expanded: u64) {
        let progress = &self.progress;
        SearchProgress::set(&progress.states, states);
        SearchProgress::set(&progress.frontier, frontier);
        SearchProgress::set(&progress.expanded, expanded);
        SearchProgress::set(&progress.before, progress.all_expanded());
        SearchProgress::set(&progress.waited, self.elapsed().as_millis() as u64);
    }

    /// Asks the search to stop, leaving a checkpoint.
    pub fn stop(&self) {
        self.stop.request();
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
        self.stop.is_requested()
    }

    /// Has the models that this thread runs look at the request while they are at work. What they
    /// have given is to be dropped if [`is_stopped`](SearchControl::is_stopped) when they return.
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
    /// States expanded, of all levels.
    fn all_expanded(&self) -> u64 {
        let [states, frontier, expanded] = [&self.states, &self.frontier, &self.expanded]
            .map(|counter| counter.load(Ordering::Relaxed));
        states.saturating_sub(frontier) + expanded.min(frontier)
    }

    /// What the search is at, and a number that is another whenever it was at something else in between.
    pub fn phase(&self) -> (SearchPhase, u64) {
        let both = self.phase.load(Ordering::Relaxed);
        (SearchPhase::ALL.get((both & 0xff) as usize).copied().unwrap_or_default(), both)
    }

    /// Notes that a level has been expanded whole.
    pub(super) fn record_levels(&self, level: CompletedLevels) {
        if let Ok(mut levels) = self.levels.lock() {
            add_levels(&mut levels, level, LEVELS_MAX);
        }
    }

    /// The levels that were done since they were last taken.
    pub(super) fn take_levels(&self) -> Vec<CompletedLevels> {
        self.levels.lock().map(|mut it| std::mem::take(&mut *it)).unwrap_or_default()
    }

    /// How far the search is after some seconds, with the bytes it takes of memory and disk.
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

    /// What the search is at, in words, with the reduction for which the model is analysed.
    pub fn describe_phase(&self) -> String {
        let phase = self.phase().0;
        match self.analysis.lock() {
            Ok(analysis) if phase == SearchPhase::Analysing && !analysis.is_empty() => {
                format!("{} for {analysis}", phase.name())
            }
            _ => phase.name().to_owned(),
        }
    }

    /// From now on the search is at something else; what it was at.
    pub(crate) fn enter(&self, phase: SearchPhase) -> SearchPhase {
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
    fn a_phase_is_known_again_and_a_stay_in_it_has_a_number() {
        let progress = SearchProgress::default();
        let mut numbers = vec![progress.phase().1];
        for phase in SearchPhase::ALL.into_iter().chain(SearchPhase::ALL).skip(1) {
            let left = progress.phase().0;
            assert_eq!(progress.enter(phase), left);
            assert_eq!(progress.phase().0, phase);
            let number = progress.phase().1;
            assert_eq!((progress.enter(phase), progress.phase().1), (phase, number));
            numbers.push(number);
        }
        assert!(numbers.is_sorted_by(|one, other| one < other), "{numbers:?}");
    }

    #[test]
    fn states_of_earlier_sittings_are_not_in_the_rate() {
        let control = SearchControl::default();
        let since = Instant::now().checked_sub(Duration::from_secs(1000));
        let control = SearchControl { begun: since.unwrap_or(control.begun), ..control };
        control.begin(1_000_000_000, 400, 100);
        assert_eq!(control.progress.all_expanded(), 999_999_700);
        SearchProgress::set(&control.progress.waited, 0);
        assert_eq!(control.rate(), None);
        SearchProgress::add(&control.progress.expanded, 300);
        // Of a machine that has been up for a thousand seconds.
        if since.is_some() {
            let rate = control.rate().unwrap();
            assert!(rate > 0.0 && rate <= 0.3, "{rate}");
        }
    }
}
