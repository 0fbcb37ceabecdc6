//! What happens in a search, written down for whoever draws a picture of it: a line of JSON for each event, appended to a
//! file in the search directory (`docs/format.md`, `docs/schema/events.json`).
//!
//! A thread beside the search (`recorder.rs`) looks at its counters now and then, ever more seldom, so that it costs nothing and
//! the file stays small. Nothing rests on the file: it is not made durable, what cannot be written is left out, and a line that a
//! crash has torn is passed over. What lies behind the last checkpoint of a sitting is done again by the next, and told again.

use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

/// The name of the file.
pub const EVENTS: &str = "events.jsonl";

/// The version of what its lines say.
pub(super) const VERSION: u32 = 1;

/// A file longer than this, in bytes, is thinned out before more is appended.
const BYTES_MAX: u64 = 1 << 20;

/// Something that happened in a search. Times are seconds since the sitting began, of memory and disk there are bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
pub enum Event {
    /// A sitting begins.
    Sitting {
        /// Of what the lines say.
        version: u32,
        /// When: milliseconds after the beginning of 1970.
        at: u64,
        /// The command line, if the search was asked for by one.
        command: Option<String>,
        /// States expanded before.
        expanded: u64,
        /// Seconds of searching before.
        before: f64,
        /// The most memory that may be resident.
        budget: u64,
        /// Threads.
        threads: u32,
    },
    /// One or several levels have been expanded whole.
    Levels(LevelsDone),
    /// How far the search is.
    Progress(Sample),
    /// The sitting ended.
    Ended {
        /// When.
        seconds: f64,
        /// `verified`, `violated`, `incomplete`, or `failed`.
        verdict: String,
        /// Why it failed, if it did.
        error: Option<String>,
    },
}

/// Levels that have been expanded whole.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelsDone {
    /// The first of them.
    pub first: u64,
    /// The last of them.
    pub last: u64,
    /// The states of all of them.
    pub states: u64,
    /// The transitions out of these.
    pub transitions: u64,
}

impl LevelsDone {
    /// These and those that follow them.
    pub fn and(self, next: LevelsDone) -> LevelsDone {
        LevelsDone {
            first: self.first,
            last: next.last,
            states: self.states + next.states,
            transitions: self.transitions + next.transitions,
        }
    }
}

/// Adds levels to some, of which pairs become one where there are many.
pub(super) fn add_levels(all: &mut Vec<LevelsDone>, done: LevelsDone, most: usize) {
    if all.len() >= most {
        *all = all.chunks(2).filter_map(|it| it.iter().copied().reduce(LevelsDone::and)).collect();
    }
    all.push(done);
}

/// How far a search is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// When.
    pub seconds: f64,
    /// What it is at.
    pub phase: String,
    /// The level being expanded.
    pub level: u64,
    /// States found.
    pub states: u64,
    /// Transitions taken in this sitting.
    pub transitions: u64,
    /// States of the level being expanded.
    pub frontier: u64,
    /// Those of them that have been expanded.
    pub expanded: u64,
    /// What is resident.
    pub memory: u64,
    /// What lies on disk.
    pub disk: u64,
    /// Checkpoints made in this sitting.
    pub checkpoints: u64,
}

/// The file, to be appended to; nothing if it cannot be.
pub(super) fn opened(dir: &Path) -> Option<File> {
    let path = dir.join(EVENTS);
    // What is no file may be waited for.
    let is_file = std::fs::metadata(&path).map(|it| (it.is_file(), it.len()));
    let (is_file, length) = is_file.unwrap_or((true, 0));
    if !is_file {
        return None;
    }
    if length > BYTES_MAX {
        let lines = thinned(&read(dir)).iter().filter_map(line).collect::<String>();
        std::fs::write(&path, lines).ok()?;
    }
    let mut file = OpenOptions::new().create(true).append(true).open(path).ok()?;
    // A line that was torn ends here.
    if length > 0 {
        let _ = file.write_all(b"\n");
    }
    Some(file)
}

fn line(event: &Event) -> Option<String> {
    serde_json::to_string(event).ok().map(|it| it + "\n")
}

/// What cannot be written, as on a full disk, is left out.
pub(super) fn append(file: &mut File, event: &Event) {
    if let Some(line) = line(event) {
        let _ = file.write_all(line.as_bytes());
    }
}

/// Half as many levels and samples, of which each stands for two.
fn thinned(events: &[Event]) -> Vec<Event> {
    let (mut kept, mut is_odd) = (Vec::new(), false);
    for event in events {
        match (event, kept.last_mut()) {
            (Event::Levels(next), Some(Event::Levels(last))) if next.first == last.last + 1 => {
                *last = last.and(*next);
            }
            (Event::Progress(_), _) => {
                is_odd = !is_odd;
                if is_odd {
                    kept.push(event.clone());
                }
            }
            _ => kept.push(event.clone()),
        }
    }
    kept
}

/// All that was written down in a directory, without lines that are none.
pub fn read(dir: &Path) -> Vec<Event> {
    let path = dir.join(EVENTS);
    if !path.is_file() {
        return Vec::new();
    }
    let Ok(bytes) = std::fs::read(path) else { return Vec::new() };
    let lines = bytes.split(|&it| it == b'\n');
    lines.filter_map(|it| serde_json::from_slice(it).ok()).collect()
}

/// The levels that were expanded whole. Of those told twice, as their checkpoint was lost, the last counts.
pub fn levels_done(events: &[Event]) -> Vec<LevelsDone> {
    let mut all: Vec<LevelsDone> = Vec::new();
    for event in events {
        let Event::Levels(done) = event else { continue };
        while all.last().is_some_and(|before| before.first >= done.first) {
            all.pop();
        }
        all.push(*done);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(first: u64, last: u64) -> LevelsDone {
        let states = last - first + 1;
        LevelsDone { first, last, states, transitions: 2 * states }
    }

    #[test]
    fn however_many_levels_there_are_few_are_told_and_none_is_lost() {
        let mut all = Vec::new();
        for level in 0..100_000 {
            add_levels(&mut all, levels(level, level), 16);
            assert!(all.len() <= 16);
        }
        assert!(all.windows(2).all(|it| it[0].last + 1 == it[1].first));
        assert_eq!(all.into_iter().reduce(LevelsDone::and), Some(levels(0, 99_999)));
    }

    #[test]
    fn what_is_torn_is_passed_over_and_long_files_are_thinned_out() {
        let folder = tempfile::tempdir().unwrap();
        let sample = |states| {
            let phase = "expanding".to_owned();
            let (level, transitions, frontier, expanded) = (1, 2, 3, 4);
            let (memory, disk, checkpoints) = (5, 6, 7);
            Event::Progress(Sample {
                seconds: 0.5,
                phase,
                level,
                states,
                transitions,
                frontier,
                expanded,
                memory,
                disk,
                checkpoints,
            })
        };
        let ended = Event::Ended { seconds: 1.0, verdict: "verified".into(), error: None };
        for round in 1..=3 {
            let mut file = opened(folder.path()).unwrap();
            append(&mut file, &Event::Levels(levels(0, 9)));
            (0..3000).for_each(|states| append(&mut file, &sample(states)));
            append(&mut file, &ended);
            file.write_all(b"{\"event\": \"progr").unwrap();
            drop(file);
            let all = read(folder.path());
            let ends = all.iter().filter(|it| **it == ended).count();
            assert_eq!(ends, round);
            assert!(all.iter().all(|it| !matches!(it, Event::Sitting { .. })));
        }
        let before = read(folder.path()).len();
        drop(opened(folder.path()));
        let length = std::fs::metadata(folder.path().join(EVENTS)).unwrap().len();
        assert!(length < BYTES_MAX && read(folder.path()).len() > before / 3, "{length}");
    }
}
