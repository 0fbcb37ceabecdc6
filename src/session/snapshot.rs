//! A search as it looks from outside at one moment, running or not: what its directory tells.

use super::CheckConfig;
use super::{DirectoryContents, RunStatus, SearchJob, verdict};
use crate::search::SearchVerdict;
use crate::search::control::SearchPhase;
use crate::search::estimate::{CountEstimate, EstimateFailure};
use crate::search::events::{self, SearchEvent, completed_levels};
use crate::search::status::SearchStatus;
use spill::free_bytes;
use std::path::Path;
use std::time::Duration;

/// What a search is at once all states are reached.
const SWEEPS: [SearchPhase; 3] =
    [SearchPhase::Gathering, SearchPhase::Sweeping, SearchPhase::Tracing];

/// What is yet to come is judged by so many levels at most; where there are more, several count as one.
const LEVELS_MAX: u64 = 1 << 16;

/// What a search is doing, or what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchState {
    /// It is running.
    Running,
    /// It came to its end.
    Ended(SearchVerdict),
    /// It was stopped at a checkpoint.
    Stopped,
    /// An error ended it, and which, if that could be written down.
    Failed(Option<String>),
    /// Its process is gone without a word.
    Killed,
    /// It has not begun, or nothing is told of that.
    Unknown,
}

impl SearchState {
    /// The word by which every command calls it.
    pub fn name(&self) -> &'static str {
        match self {
            SearchState::Running => "running",
            SearchState::Ended(_) => "ended",
            SearchState::Stopped => "stopped",
            SearchState::Failed(_) => "failed",
            SearchState::Killed => "killed",
            SearchState::Unknown => "not running",
        }
    }

    /// Whether it is not known yet what it comes to.
    pub fn is_open(&self) -> bool {
        !matches!(self, SearchState::Ended(_))
    }
}

/// A search as it looks at one moment.
pub struct SearchSnapshot {
    /// The model's name.
    pub model: String,
    /// What it is doing.
    pub state: SearchState,
    /// Whether it is running, since when, and where it was at its last checkpoint.
    pub run_status: RunStatus,
    /// How far this sitting is, or the last one was; nothing if it does not tell.
    pub status: Option<SearchStatus>,
    /// What happened in all sittings.
    pub events: Vec<SearchEvent>,
    /// The bytes of its files.
    pub bytes: u64,
    /// The bytes that are free on the disk that they are on, if that can be told.
    pub free: Option<u64>,
    /// What is checked, and how, with what its last session took.
    pub config: CheckConfig,
}

impl SearchSnapshot {
    /// The search in `dir`, which has these contents.
    pub fn of(dir: &Path, contents: &DirectoryContents) -> SearchSnapshot {
        let run_status = RunStatus::of(dir, contents);
        let begun = contents.session_start.map_or(0, |it| it.begun);
        // What an earlier sitting left says nothing of one that has just begun.
        let is_of_sitting = |it: &SearchStatus| !run_status.is_running || it.at >= begun;
        let status = SearchStatus::read(dir).filter(is_of_sitting);
        let events = events::read(dir);
        SearchSnapshot {
            model: contents.job.model_name().to_owned(),
            state: state(contents, status.as_ref(), &events),
            run_status,
            status,
            events,
            bytes: contents.bytes,
            free: free_bytes(dir),
            config: contents.config(),
        }
    }
}

impl SearchSnapshot {
    /// How long ago the last process that searched in it ended, as far as it told.
    pub fn ended_ago(&self) -> Option<Duration> {
        match self.state {
            SearchState::Running | SearchState::Killed | SearchState::Unknown => None,
            SearchState::Ended(_) | SearchState::Stopped | SearchState::Failed(_) => {
                self.status.as_ref().map(SearchStatus::age).or(self.run_status.checkpoint_ago)
            }
        }
    }
}

/// What is yet to come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchForecast {
    /// States in all.
    pub states: CountEstimate,
    /// Seconds until the end, at the speed of this sitting so far, if that is known.
    pub seconds: Option<CountEstimate>,
    /// Bytes on disk in all.
    pub disk: CountEstimate,
    /// Seconds until the disk, or what may be taken of it, is full, if it will be before the end.
    pub full_in: Option<f64>,
}

impl SearchSnapshot {
    /// What is yet to come, or why that cannot be told; nothing of a search that has ended, or does not say how far it is.
    pub fn forecast(&self) -> Option<Result<SearchForecast, EstimateFailure>> {
        let status = self.status.as_ref().filter(|_| self.state.is_open())?;
        let now = &status.now;
        let is_reaching = now.states > 0 && SWEEPS.iter().all(|it| it.name() != now.phase);
        let states = || CountEstimate::of_levels(&self.levels());
        is_reaching.then(|| states().map(|it| self.forecast_from(status, it)))
    }

    fn forecast_from(&self, status: &SearchStatus, states: CountEstimate) -> SearchForecast {
        let now = &status.now;
        let done = now.states.saturating_sub(now.frontier) + now.expanded.min(now.frontier);
        let rate = status.rate.filter(|it| *it > 0.0);
        let each = now.disk as f64 / now.states as f64;
        let (disk, taken) = (states.times(each), now.disk as f64);
        let allowed = self.config.limits.disk_limit.map(|it| it as f64 - taken);
        let room = [allowed, self.free.map(|it| it as f64)].into_iter().flatten();
        let room = room.reduce(f64::min).filter(|it| disk.about - taken > *it);
        SearchForecast {
            states,
            seconds: rate.map(|rate| states.minus(done as f64).times(1.0 / rate)),
            disk,
            full_in: room.zip(rate).map(|(room, rate)| room.max(0.0) / (each * rate)),
        }
    }

    /// States of each level, those of the last included, which may not have been expanded whole.
    fn levels(&self) -> Vec<f64> {
        let mut levels = EvenLevels::default();
        for it in completed_levels(&self.events) {
            // What was not told of was not much different.
            let before = levels.0.last().map_or(1.0, |it| it.1);
            levels.up_to(it.first, before);
            levels.up_to(it.last + 1, it.states as f64 / (it.last - it.first + 1) as f64);
        }
        let now = self.status.as_ref().map(|it| &it.now);
        let open = now.filter(|it| it.level == levels.count() && it.frontier > 0);
        open.into_iter().for_each(|it| levels.up_to(it.level + 1, it.frontier as f64));
        levels.group_levels(LEVELS_MAX)
    }
}

/// Levels one behind the other: behind the last of some of as many states each, and how many states these have.
#[derive(Default)]
struct EvenLevels(Vec<(u64, f64)>);

impl EvenLevels {
    fn count(&self) -> u64 {
        self.0.last().map_or(0, |it| it.0)
    }

    /// Adds levels up to one, which have so many states each.
    fn up_to(&mut self, end: u64, each: f64) {
        if end > self.count() {
            self.0.push((end, each));
        }
    }

    /// The states of each level, or, where there are more than so many levels, of each group of as many. The first group may
    /// have fewer.
    fn group_levels(&self, most: u64) -> Vec<f64> {
        let width = self.count().div_ceil(most).max(1);
        let groups = self.count().div_ceil(width);
        let missing = groups * width - self.count();
        let mut sums = vec![0.0; groups as usize];
        let mut at = missing;
        for &(end, each) in &self.0 {
            let end = end + missing;
            while at < end {
                let next = end.min((at / width + 1) * width);
                sums[(at / width) as usize] += each * (next - at) as f64;
                at = next;
            }
        }
        sums
    }
}

fn state(
    contents: &DirectoryContents,
    status: Option<&SearchStatus>,
    events: &[SearchEvent],
) -> SearchState {
    if contents.running {
        return SearchState::Running;
    }
    if let Some(verdict) = known_verdict(contents, status) {
        return SearchState::Ended(verdict);
    }
    let ended = events.iter().rev().find_map(|it| match it {
        SearchEvent::Ended { error, .. } => Some(error.clone()),
        _ => None,
    });
    match status.map(|it| it.verdict.as_deref()) {
        None => SearchState::Unknown,
        Some(None) => SearchState::Killed,
        Some(Some("failed")) => SearchState::Failed(ended.flatten()),
        Some(Some(_)) => SearchState::Stopped,
    }
}

/// What it came to, if it came to its end.
fn known_verdict(
    contents: &DirectoryContents,
    status: Option<&SearchStatus>,
) -> Option<SearchVerdict> {
    let DirectoryContents { job, saved, answer, .. } = contents;
    let of_name = |name: &str| match name {
        "verified" => Some(SearchVerdict::Verified),
        "violated" => Some(SearchVerdict::Violated),
        _ => None,
    };
    match (answer, saved) {
        (Some(answer), _) => of_name(verdict(&answer.probe().found)),
        // The checkpoint of a search for runs tells of the states reached.
        (None, Some(_)) if SearchJob::runs(job).is_some() => of_name(status?.verdict.as_deref()?),
        (None, Some(saved)) => match saved.verdict {
            0 => None,
            1 => Some(contents.verdict_with_runs(SearchVerdict::Verified)),
            _ => Some(SearchVerdict::Violated),
        }
        .filter(|it| *it != SearchVerdict::Incomplete),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(all: &[(u64, f64)]) -> EvenLevels {
        let mut levels = EvenLevels::default();
        all.iter().for_each(|(end, each)| levels.up_to(*end, *each));
        levels
    }

    #[test]
    fn levels_are_grouped_where_there_are_many() {
        let all = levels(&[(3, 1.0), (3, 9.0), (5, 4.0), (7, 2.0)]);
        assert_eq!(all.group_levels(7), [1.0, 1.0, 1.0, 4.0, 4.0, 2.0, 2.0]);
        // Of two each, from the end.
        assert_eq!(all.group_levels(4), [1.0, 2.0, 8.0, 4.0]);
        assert_eq!(all.group_levels(1), [15.0]);
        assert!(levels(&[]).group_levels(4).is_empty());
    }

    #[test]
    fn any_number_of_levels_takes_little() {
        let end = u64::from(u32::MAX) + 1;
        let grouped = levels(&[(9, 1.0), (end, 2.0)]).group_levels(LEVELS_MAX);
        assert_eq!(grouped.len() as u64, LEVELS_MAX);
        assert_eq!(grouped.iter().sum::<f64>(), 9.0 + 2.0 * (end - 9) as f64);
    }
}
