//! A snapshot of a search, running or not, read from its directory.

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

/// The phases of a search after all states are reached.
const SWEEPS: [SearchPhase; 3] =
    [SearchPhase::Gathering, SearchPhase::Sweeping, SearchPhase::Tracing];

/// The maximum number of levels on which a forecast is based. More levels are grouped.
const LEVELS_MAX: u64 = 1 << 16;

/// The state of a search: what it does or how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchState {
    /// It is running.
    Running,
    /// It is complete.
    Ended(SearchVerdict),
    /// It was stopped at a checkpoint.
    Stopped,
    /// An error ended it. The message is known if it could be recorded.
    Failed(Option<String>),
    /// Its process ended without a record.
    Killed,
    /// It has not begun, or has no record.
    Unknown,
}

impl SearchState {
    /// Returns the name that all commands use.
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

    /// Returns whether the result is still unknown.
    pub fn is_open(&self) -> bool {
        !matches!(self, SearchState::Ended(_))
    }
}

/// A snapshot of a search.
pub struct SearchSnapshot {
    /// The model's name.
    pub model: String,
    /// The state of the search.
    pub state: SearchState,
    /// Whether it is running, since when, and its position at the last checkpoint.
    pub run_status: RunStatus,
    /// The progress of the current or last session. `None` if there is no record.
    pub status: Option<SearchStatus>,
    /// The events of all sessions.
    pub events: Vec<SearchEvent>,
    /// The bytes of its files.
    pub bytes: u64,
    /// The free bytes on the disk of its files, if known.
    pub free: Option<u64>,
    /// The configuration of the check, with the limits of its last session.
    pub config: CheckConfig,
}

impl SearchSnapshot {
    /// Takes a snapshot of the search in `dir`, which has these contents.
    pub fn of(dir: &Path, contents: &DirectoryContents) -> SearchSnapshot {
        let run_status = RunStatus::of(dir, contents);
        let begun = contents.session_start.map_or(0, |it| it.begun);
        // The record of an earlier session does not describe a session that has just begun.
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
    /// Returns how long ago the last process of the search ended, if recorded.
    pub fn ended_ago(&self) -> Option<Duration> {
        match self.state {
            SearchState::Running | SearchState::Killed | SearchState::Unknown => None,
            SearchState::Ended(_) | SearchState::Stopped | SearchState::Failed(_) => {
                self.status.as_ref().map(SearchStatus::age).or(self.run_status.checkpoint_ago)
            }
        }
    }
}

/// The forecast of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchForecast {
    /// The total number of states.
    pub states: CountEstimate,
    /// The seconds until the end at the speed of this session, if known.
    pub seconds: Option<CountEstimate>,
    /// The total bytes on disk.
    pub disk: CountEstimate,
    /// The seconds until the disk or its limit is full, if that happens before the end.
    pub full_in: Option<f64>,
}

impl SearchSnapshot {
    /// Returns the forecast, or why there is none. `None` for a search that has ended or has no progress record.
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

    /// Returns the number of states of each level. The last level may not be fully expanded.
    fn levels(&self) -> Vec<f64> {
        let mut levels = EvenLevels::default();
        for it in completed_levels(&self.events) {
            // Levels without a record are assumed to be like the one before.
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

/// A sequence of levels in groups. Each entry is the end of a group of levels and the number of states of each of its
/// levels.
#[derive(Default)]
struct EvenLevels(Vec<(u64, f64)>);

impl EvenLevels {
    fn count(&self) -> u64 {
        self.0.last().map_or(0, |it| it.0)
    }

    /// Appends levels up to `end` with this number of states each.
    fn up_to(&mut self, end: u64, each: f64) {
        if end > self.count() {
            self.0.push((end, each));
        }
    }

    /// Returns the states of each level. If there are more than `most` levels, they are put into groups of equal size.
    /// The first group may be smaller.
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

/// Returns the verdict if the search is complete.
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
        // The checkpoint of an emptiness check records only the reachability search.
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
    fn many_levels_are_grouped() {
        let all = levels(&[(3, 1.0), (3, 9.0), (5, 4.0), (7, 2.0)]);
        assert_eq!(all.group_levels(7), [1.0, 1.0, 1.0, 4.0, 4.0, 2.0, 2.0]);
        // Groups of two, from the end.
        assert_eq!(all.group_levels(4), [1.0, 2.0, 8.0, 4.0]);
        assert_eq!(all.group_levels(1), [15.0]);
        assert!(levels(&[]).group_levels(4).is_empty());
    }

    #[test]
    fn the_number_of_level_groups_is_bounded() {
        let end = u64::from(u32::MAX) + 1;
        let grouped = levels(&[(9, 1.0), (end, 2.0)]).group_levels(LEVELS_MAX);
        assert_eq!(grouped.len() as u64, LEVELS_MAX);
        assert_eq!(grouped.iter().sum::<f64>(), 9.0 + 2.0 * (end - 9) as f64);
    }
}
