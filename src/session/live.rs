//! A search as it looks from outside at one moment, running or not: what its directory tells.

use super::{Contents, Going, Job, verdict};
use crate::search::Verdict;
use crate::search::control::Phase;
use crate::search::estimate::{Estimate, Unclear};
use crate::search::events::{self, Event, levels_done};
use crate::search::status::Status;
use spill::free_bytes;
use std::path::Path;
use std::time::Duration;

/// What a search is at once all states are reached.
const SWEEPS: [Phase; 3] = [Phase::Gathering, Phase::Sweeping, Phase::Tracing];

/// What is yet to come is judged by so many levels at most; where there are more, several count as one.
const LEVELS_MAX: u64 = 1 << 16;

/// What a search is doing, or what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It is running.
    Running,
    /// It came to its end.
    Ended(Verdict),
    /// It was stopped at a checkpoint.
    Stopped,
    /// An error ended it, and which, if that could be written down.
    Failed(Option<String>),
    /// Its process is gone without a word.
    Killed,
    /// It has not begun, or nothing is told of that.
    Unknown,
}

impl State {
    /// The word by which every command calls it.
    pub fn name(&self) -> &'static str {
        match self {
            State::Running => "running",
            State::Ended(_) => "ended",
            State::Stopped => "stopped",
            State::Failed(_) => "failed",
            State::Killed => "killed",
            State::Unknown => "not running",
        }
    }

    /// Whether it is not known yet what it comes to.
    pub fn is_open(&self) -> bool {
        !matches!(self, State::Ended(_))
    }
}

/// A search as it looks at one moment.
pub struct Live {
    /// The model's name.
    pub model: String,
    /// What it is doing.
    pub state: State,
    /// Whether it is running, since when, and where it was at its last checkpoint.
    pub going: Going,
    /// How far this sitting is, or the last one was; nothing if it does not tell.
    pub status: Option<Status>,
    /// What happened in all sittings.
    pub events: Vec<Event>,
    /// The bytes of its files.
    pub bytes: u64,
    /// The bytes that are free on the disk that they are on, if that can be told.
    pub free: Option<u64>,
    /// The most bytes that it may have on disk, if it was told so.
    pub disk_limit: Option<u64>,
}

impl Live {
    /// The search in `dir`, which has these contents.
    pub fn of(dir: &Path, contents: &Contents) -> Live {
        let going = Going::of(dir, contents);
        let begun = contents.sitting.map_or(0, |it| it.begun);
        // What an earlier sitting left says nothing of one that has just begun.
        let is_of_sitting = |it: &Status| !going.is_running || it.at >= begun;
        let status = Status::read(dir).filter(is_of_sitting);
        let events = events::read(dir);
        Live {
            model: contents.job.model_name().to_owned(),
            state: state(contents, status.as_ref(), &events),
            going,
            status,
            events,
            bytes: contents.bytes,
            free: free_bytes(dir),
            disk_limit: contents.means.as_ref().and_then(|it| it.disk_limit),
        }
    }
}

impl Live {
    /// How long ago the last process that searched in it ended, as far as it told.
    pub fn ended_ago(&self) -> Option<Duration> {
        match self.state {
            State::Running | State::Killed | State::Unknown => None,
            State::Ended(_) | State::Stopped | State::Failed(_) => {
                self.status.as_ref().map(Status::age).or(self.going.checkpoint_ago)
            }
        }
    }
}

/// What is yet to come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ahead {
    /// States in all.
    pub states: Estimate,
    /// Seconds until the end, at the speed of this sitting so far, if that is known.
    pub seconds: Option<Estimate>,
    /// Bytes on disk in all.
    pub disk: Estimate,
    /// Seconds until the disk, or what may be taken of it, is full, if it will be before the end.
    pub full_in: Option<f64>,
}

impl Live {
    /// What is yet to come, or why that cannot be told; nothing of a search that has ended, or does not say how far it is.
    pub fn ahead(&self) -> Option<Result<Ahead, Unclear>> {
        let status = self.status.as_ref().filter(|_| self.state.is_open())?;
        let now = &status.now;
        let is_reaching = now.states > 0 && SWEEPS.iter().all(|it| it.name() != now.phase);
        let states = || Estimate::of_levels(&self.levels());
        is_reaching.then(|| states().map(|it| self.ahead_of(status, it)))
    }

    fn ahead_of(&self, status: &Status, states: Estimate) -> Ahead {
        let now = &status.now;
        let done = now.states.saturating_sub(now.frontier) + now.expanded.min(now.frontier);
        let rate = status.rate.filter(|it| *it > 0.0);
        let each = now.disk as f64 / now.states as f64;
        let (disk, taken) = (states.times(each), now.disk as f64);
        let allowed = self.disk_limit.map(|it| it as f64 - taken);
        let room = [allowed, self.free.map(|it| it as f64)].into_iter().flatten();
        let room = room.reduce(f64::min).filter(|it| disk.about - taken > *it);
        Ahead {
            states,
            seconds: rate.map(|rate| states.beyond(done as f64).times(1.0 / rate)),
            disk,
            full_in: room.zip(rate).map(|(room, rate)| room.max(0.0) / (each * rate)),
        }
    }

    /// States of each level, those of the last included, which may not have been expanded whole.
    fn levels(&self) -> Vec<f64> {
        let mut levels = EvenLevels::default();
        for it in levels_done(&self.events) {
            // What was not told of was not much different.
            let before = levels.0.last().map_or(1.0, |it| it.1);
            levels.up_to(it.first, before);
            levels.up_to(it.last + 1, it.states as f64 / (it.last - it.first + 1) as f64);
        }
        let now = self.status.as_ref().map(|it| &it.now);
        let open = now.filter(|it| it.level == levels.count() && it.frontier > 0);
        open.into_iter().for_each(|it| levels.up_to(it.level + 1, it.frontier as f64));
        levels.grouped(LEVELS_MAX)
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
    fn grouped(&self, most: u64) -> Vec<f64> {
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

fn state(contents: &Contents, status: Option<&Status>, events: &[Event]) -> State {
    if contents.running {
        return State::Running;
    }
    if let Some(verdict) = decided(contents, status) {
        return State::Ended(verdict);
    }
    let ended = events.iter().rev().find_map(|it| match it {
        Event::Ended { error, .. } => Some(error.clone()),
        _ => None,
    });
    match status.map(|it| it.verdict.as_deref()) {
        None => State::Unknown,
        Some(None) => State::Killed,
        Some(Some("failed")) => State::Failed(ended.flatten()),
        Some(Some(_)) => State::Stopped,
    }
}

/// What it came to, if it came to its end.
fn decided(contents: &Contents, status: Option<&Status>) -> Option<Verdict> {
    let Contents { job, saved, answer, .. } = contents;
    let of_name = |name: &str| match name {
        "verified" => Some(Verdict::Verified),
        "violated" => Some(Verdict::Violated),
        _ => None,
    };
    match (answer, saved) {
        (Some(answer), _) => of_name(verdict(&answer.probe().found)),
        // The checkpoint of a search for runs tells of the states reached.
        (None, Some(_)) if Job::runs(job).is_some() => of_name(status?.verdict.as_deref()?),
        (None, Some(saved)) => match saved.verdict {
            0 => None,
            1 => Some(contents.verdict_with_runs(Verdict::Verified)),
            _ => Some(Verdict::Violated),
        }
        .filter(|it| *it != Verdict::Incomplete),
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
        assert_eq!(all.grouped(7), [1.0, 1.0, 1.0, 4.0, 4.0, 2.0, 2.0]);
        // Of two each, from the end.
        assert_eq!(all.grouped(4), [1.0, 2.0, 8.0, 4.0]);
        assert_eq!(all.grouped(1), [15.0]);
        assert!(levels(&[]).grouped(4).is_empty());
    }

    #[test]
    fn any_number_of_levels_takes_little() {
        let end = u64::from(u32::MAX) + 1;
        let grouped = levels(&[(9, 1.0), (end, 2.0)]).grouped(LEVELS_MAX);
        assert_eq!(grouped.len() as u64, LEVELS_MAX);
        assert_eq!(grouped.iter().sum::<f64>(), 9.0 + 2.0 * (end - 9) as f64);
    }
}
