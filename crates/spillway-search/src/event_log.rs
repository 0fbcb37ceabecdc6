//! The recorder of a running search: it writes events ([`events`](super::events)) and the current progress
//! ([`status`](super::status)).

use super::control::SearchControl;
use super::events::{ProgressSample, SearchEvent, VERSION, add_levels, append, open_log};
use super::memory_plan::MemoryPlan;
use super::status::SearchStatus;
use spill::{MeteredDisk, RealDisk};
use std::fs::File;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The interval of samples shortly after the start of a search.
const SOON: Duration = Duration::from_millis(50);

/// The interval of samples later.
const USUAL: Duration = Duration::from_secs(1);

/// The greatest number of events for the levels completed between two samples.
const LEVELS_EACH: usize = 6;

/// The start of a session as it is recorded.
#[derive(Clone, Copy)]
pub struct RecordedStart {
    /// Milliseconds since the beginning of 1970.
    pub at: u64,
    /// The number of states expanded before.
    pub expanded: u64,
    /// Seconds of searching before.
    pub before: f64,
    /// The memory plan.
    pub plan: MemoryPlan,
}

/// A session of a search that is recorded.
pub struct RecordedSession<'s> {
    /// The search directory.
    pub dir: &'s Path,
    /// The search directory as the disk of the search.
    pub disk: &'s MeteredDisk,
    /// The start of the session.
    pub start: RecordedStart,
    /// The progress of the search.
    pub control: &'s SearchControl,
}

/// Runs a search and records its progress in its directory. `verdict` returns the verdict of a result.
pub fn run_recorded<T>(
    session: RecordedSession<'_>,
    verdict: impl Fn(&T) -> &'static str,
    run: impl FnOnce() -> spill::Result<T>,
) -> spill::Result<T> {
    let RecordedSession { dir, disk, start, control } = session;
    let Ok(files) = RealDisk::open(dir) else { return run() };
    let Some(mut file) = open_log(&files) else { return run() };
    let RecordedStart { at, expanded, before, plan: MemoryPlan { budget, threads, .. } } = start;
    let threads = threads as u32;
    let command = control.command.clone();
    append(
        &mut file,
        &SearchEvent::Sitting { version: VERSION, at, command, expanded, before, budget, threads },
    );
    let (done, ended) = channel::<()>();
    let started = Instant::now();
    let mut recorder = EventRecorder { file, files, started, control, disk, start };
    recorder.status(None);
    let came_to = std::thread::scope(|scope| {
        let look_on = move || {
            recorder.record_until_end(&ended);
            recorder
        };
        // Without a thread, only the end is recorded.
        let thread = std::thread::Builder::new().spawn_scoped(scope, look_on).ok();
        let came_to = run();
        drop(done);
        (came_to, thread.and_then(|it| it.join().ok()))
    });
    let (came_to, recorder) = came_to;
    if let Some(mut recorder) = recorder {
        recorder.note();
        let seconds = started.elapsed().as_secs_f64();
        let (verdict, error) = match &came_to {
            Ok(it) => (verdict(it), None),
            Err(error) => ("failed", Some(error.to_string())),
        };
        recorder.status(Some(verdict));
        let verdict = verdict.to_owned();
        append(&mut recorder.file, &SearchEvent::Ended { seconds, verdict, error });
    }
    came_to
}

/// Records the progress of a search while it runs.
struct EventRecorder<'r> {
    file: File,
    /// The directory of the log and of the status, not metered.
    files: RealDisk,
    started: Instant,
    control: &'r SearchControl,
    disk: &'r MeteredDisk,
    start: RecordedStart,
}

impl EventRecorder<'_> {
    fn record_until_end(&mut self, ended: &Receiver<()>) {
        let mut next = wait(Duration::ZERO);
        let is_going_on = |wait| ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout);
        while is_going_on(next.saturating_sub(self.started.elapsed()).min(USUAL)) {
            self.status(None);
            let elapsed = self.started.elapsed();
            if elapsed >= next {
                self.note();
                next = elapsed + wait(elapsed);
            }
        }
    }

    /// Writes the progress of the search, and its verdict if it has ended.
    fn status(&self, verdict: Option<&str>) {
        let (rate, verdict) = (self.control.rate(), verdict.map(str::to_owned));
        let RecordedStart { before, plan: MemoryPlan { budget, threads, .. }, .. } = self.start;
        let status = SearchStatus::new(before, budget, threads as u32, self.sample());
        SearchStatus { rate, verdict, ..status }.replace(&self.files);
    }

    fn sample(&self) -> ProgressSample {
        let (memory, disk) = (MemoryPlan::resident(), self.disk.usage().live);
        let seconds = self.started.elapsed().as_secs_f64();
        self.control.progress.sample(seconds, memory, disk)
    }

    /// Writes an event for the completed levels and one for the progress.
    fn note(&mut self) {
        let mut levels = Vec::new();
        for done in self.control.progress.take_levels() {
            add_levels(&mut levels, done, LEVELS_EACH);
        }
        levels.into_iter().for_each(|it| append(&mut self.file, &SearchEvent::Levels(it)));
        let sample = self.sample();
        append(&mut self.file, &SearchEvent::Progress(sample));
    }
}

/// Returns the interval to the next sample after some time. Later, about three hundred samples are taken each time the
/// elapsed time doubles.
fn wait(elapsed: Duration) -> Duration {
    (elapsed / 20).clamp(SOON, USUAL.max(elapsed / 300))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_become_rarer() {
        let (mut elapsed, mut samples) = (Duration::ZERO, 0);
        while elapsed < Duration::from_secs(7 * 24 * 3600) {
            elapsed += wait(elapsed);
            samples += 1;
        }
        assert!(samples < 3000, "{samples}");
        assert_eq!(wait(Duration::from_secs(60)), USUAL);
    }
}
