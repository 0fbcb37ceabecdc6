//! What happens in a search, written down for whoever draws a picture of it: a line of JSON for each event, appended to a
//! file in the search directory (`docs/reference/format.md`, `docs/schema/events.json`).
//!
//! A thread beside the search (`event_log.rs`) looks at its counters now and then, ever more seldom, so that it costs nothing and
//! the file stays small. Nothing rests on the file: it is not made durable, what cannot be written is left out, and a line that a
//! crash has torn is passed over. What lies behind the last checkpoint of a sitting is done again by the next, and told again.
//!
//! Nor is the file trusted: it has no checksum, and anybody may have written it. It is read line by line, so much of it at most
//! ([`READ_MAX`], [`LINE_MAX`], [`EVENTS_MAX`]), and a line with numbers that no search comes to is passed over.

pub use super::files::EVENTS;
use super::files::unfinished;
use serde::{Deserialize, Serialize};
use spill::{Disk, RealDisk};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// The version of what its lines say.
pub(super) const VERSION: u32 = 1;

/// A file longer than this, in bytes, is thinned out before more is appended.
const BYTES_MAX: u64 = 1 << 20;

/// Of a longer file only the last so many bytes are read. What is written stays far below.
const READ_MAX: u64 = 16 << 20;

/// A line of more bytes is none of ours.
const LINE_MAX: u64 = 64 << 10;

/// Where there are more events they are thinned out.
const EVENTS_MAX: usize = 1 << 16;

/// Levels have numbers of 32 bits.
const LEVEL_MAX: u64 = u32::MAX as u64;

/// No search takes so many seconds.
const SECONDS_MAX: f64 = 1e12;

/// Something that happened in a search. Times are seconds since the sitting began, of memory and disk there are bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
pub enum SearchEvent {
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
    Levels(CompletedLevels),
    /// How far the search is.
    Progress(ProgressSample),
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
pub struct CompletedLevels {
    /// The first of them.
    pub first: u64,
    /// The last of them.
    pub last: u64,
    /// The states of all of them.
    pub states: u64,
    /// The transitions out of these.
    pub transitions: u64,
}

impl CompletedLevels {
    /// These and those that follow them.
    pub fn joined_with(self, next: CompletedLevels) -> CompletedLevels {
        CompletedLevels {
            first: self.first,
            last: next.last,
            states: self.states.saturating_add(next.states),
            transitions: self.transitions.saturating_add(next.transitions),
        }
    }

    /// The part of these that is before a level, which is one of them but not the first.
    fn part_before(self, level: u64) -> CompletedLevels {
        let (part, whole) = (level - self.first, self.last - self.first + 1);
        let share = |it: u64| (u128::from(it) * u128::from(part) / u128::from(whole)) as u64;
        let (states, transitions) = (share(self.states), share(self.transitions));
        CompletedLevels { first: self.first, last: level - 1, states, transitions }
    }
}

/// Adds levels to some, of which pairs become one where there are many.
pub(super) fn add_levels(all: &mut Vec<CompletedLevels>, done: CompletedLevels, most: usize) {
    if all.len() >= most {
        *all = all
            .chunks(2)
            .filter_map(|it| it.iter().copied().reduce(CompletedLevels::joined_with))
            .collect();
    }
    all.push(done);
}

/// How far a search is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgressSample {
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

impl SearchEvent {
    /// Whether a search can have come to its numbers.
    fn is_possible(&self) -> bool {
        match self {
            SearchEvent::Sitting { before, .. } => is_time(*before),
            SearchEvent::Levels(CompletedLevels { first, last, .. }) => {
                first <= last && *last <= LEVEL_MAX
            }
            SearchEvent::Progress(sample) => sample.is_possible(),
            SearchEvent::Ended { seconds, .. } => is_time(*seconds),
        }
    }
}

impl ProgressSample {
    /// The same of a sample.
    pub(super) fn is_possible(&self) -> bool {
        is_time(self.seconds) && self.level <= LEVEL_MAX
    }
}

/// Whether a search can have taken so many seconds.
pub(super) fn is_time(seconds: f64) -> bool {
    (0.0..SECONDS_MAX).contains(&seconds)
}

/// The file, to be appended to; nothing if it cannot be, as where something else has its name.
pub(super) fn open_log(disk: &RealDisk) -> Option<File> {
    let length = match disk.open_to_read(EVENTS) {
        Ok(file) => file.metadata().ok()?.len(),
        Err(error) if error.is_not_found() => 0,
        Err(_) => return None,
    };
    if length > BYTES_MAX {
        let lines = thin_events(&read_from(disk)).iter().filter_map(line).collect::<String>();
        replace(disk, EVENTS, lines.as_bytes()).ok()?;
    }
    let mut file = disk.open_to_append(EVENTS).ok()?;
    // A line that was torn ends here.
    if length > 0 {
        let _ = file.write_all(b"\n");
    }
    Some(file)
}

/// Replaces a file that is only shown, not durably.
pub(super) fn replace(disk: &RealDisk, name: &str, bytes: &[u8]) -> spill::Result<()> {
    let new = unfinished(name);
    let mut file = disk.create(&new)?;
    file.write(bytes)?;
    file.flush()?;
    drop(file);
    disk.rename(&new, name)
}

fn line(event: &SearchEvent) -> Option<String> {
    serde_json::to_string(event).ok().map(|it| it + "\n")
}

/// What cannot be written, as on a full disk, is left out.
pub(super) fn append(file: &mut File, event: &SearchEvent) {
    if let Some(line) = line(event) {
        let _ = file.write_all(line.as_bytes());
    }
}

/// Half as many levels and samples, of which each stands for two.
fn thin_events(events: &[SearchEvent]) -> Vec<SearchEvent> {
    let (mut kept, mut is_odd) = (Vec::new(), false);
    for event in events {
        match (event, kept.last_mut()) {
            (SearchEvent::Levels(next), Some(SearchEvent::Levels(last)))
                if next.first == last.last + 1 =>
            {
                *last = last.joined_with(*next);
            }
            (SearchEvent::Progress(_), _) => {
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
pub fn read(dir: &Path) -> Vec<SearchEvent> {
    RealDisk::open(dir).map_or(Vec::new(), |disk| read_from(&disk))
}

fn read_from(disk: &RealDisk) -> Vec<SearchEvent> {
    let mut all = Vec::new();
    // What cannot be read is as what was not written.
    let _ = each_line(disk, |line| {
        let event = serde_json::from_slice(line).ok().filter(SearchEvent::is_possible);
        all.extend(event);
        if all.len() >= EVENTS_MAX {
            all = thin_events(&all);
            // The last ones tell most.
            let surplus = all.len().saturating_sub(EVENTS_MAX / 2);
            all.drain(..surplus);
        }
    });
    all
}

/// Gives each line of the file, or of its last part, but for lines that are too long.
fn each_line(disk: &RealDisk, mut give: impl FnMut(&[u8])) -> std::io::Result<()> {
    let Ok(mut file) = disk.open_to_read(EVENTS) else { return Ok(()) };
    let begin = file.metadata()?.len().saturating_sub(READ_MAX);
    file.seek(SeekFrom::Start(begin))?;
    let mut rest = BufReader::new(file.take(READ_MAX));
    if begin > 0 {
        // It begins in the middle of a line.
        rest.skip_until(b'\n')?;
    }
    let mut line = Vec::new();
    while (&mut rest).take(LINE_MAX).read_until(b'\n', &mut line)? > 0 {
        match line.last() {
            Some(b'\n') => give(&line),
            _ if (line.len() as u64) < LINE_MAX => give(&line),
            _ => drop(rest.skip_until(b'\n')?),
        }
        line.clear();
    }
    Ok(())
}

/// The levels that were expanded whole, in order. Of those told twice, as their checkpoint was lost, the last counts.
pub fn completed_levels(events: &[SearchEvent]) -> Vec<CompletedLevels> {
    let mut all: Vec<CompletedLevels> = Vec::new();
    for event in events {
        let SearchEvent::Levels(done) = event else { continue };
        while all.last().is_some_and(|before| before.first >= done.first) {
            all.pop();
        }
        if let Some(before) = all.last_mut().filter(|before| before.last >= done.first) {
            *before = before.part_before(done.first);
        }
        all.push(*done);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(first: u64, last: u64) -> CompletedLevels {
        let states = last - first + 1;
        CompletedLevels { first, last, states, transitions: 2 * states }
    }

    #[test]
    fn however_many_levels_there_are_few_are_told_and_none_is_lost() {
        let mut all = Vec::new();
        for level in 0..100_000 {
            add_levels(&mut all, levels(level, level), 16);
            assert!(all.len() <= 16);
        }
        assert!(all.windows(2).all(|it| it[0].last + 1 == it[1].first));
        assert_eq!(all.into_iter().reduce(CompletedLevels::joined_with), Some(levels(0, 99_999)));
    }

    #[test]
    fn what_is_torn_is_passed_over_and_long_files_are_thinned_out() {
        let folder = tempfile::tempdir().unwrap();
        let sample = |states| {
            let phase = "expanding".to_owned();
            let (level, transitions, frontier, expanded) = (1, 2, 3, 4);
            let (memory, disk, checkpoints) = (5, 6, 7);
            SearchEvent::Progress(ProgressSample {
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
        let ended = SearchEvent::Ended { seconds: 1.0, verdict: "verified".into(), error: None };
        for round in 1..=3 {
            let mut file = open_log(&RealDisk::open(folder.path()).unwrap()).unwrap();
            append(&mut file, &SearchEvent::Levels(levels(0, 9)));
            (0..3000).for_each(|states| append(&mut file, &sample(states)));
            append(&mut file, &ended);
            file.write_all(b"{\"event\": \"progr").unwrap();
            drop(file);
            let all = read(folder.path());
            let ends = all.iter().filter(|it| **it == ended).count();
            assert_eq!(ends, round);
            assert!(all.iter().all(|it| !matches!(it, SearchEvent::Sitting { .. })));
        }
        let before = read(folder.path()).len();
        drop(open_log(&RealDisk::open(folder.path()).unwrap()));
        let length = std::fs::metadata(folder.path().join(EVENTS)).unwrap().len();
        assert!(length < BYTES_MAX && read(folder.path()).len() > before / 3, "{length}");
    }

    #[test]
    fn levels_told_twice_count_once() {
        let events = [levels(0, 9), levels(10, 19), levels(15, 15), levels(16, 40), levels(30, 31)];
        let told = completed_levels(&events.map(SearchEvent::Levels));
        let expected =
            [levels(0, 9), levels(10, 14), levels(15, 15), levels(16, 29), levels(30, 31)];
        assert_eq!(told, expected);
    }

    #[test]
    fn what_others_have_written_is_read_within_bounds() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(EVENTS);
        let told =
            |first: u64, last: u64| serde_json::to_string(&levels_line(first, last)).unwrap();
        let (good, max) = (told(0, 9), u64::MAX);
        // Numbers that no search comes to, in lines that are well-formed.
        let progress = |seconds: &str, level: u64| {
            format!(
                "{{\"event\":\"progress\",\"seconds\":{seconds},\"phase\":\"x\",\"level\":{level},\"states\":{max},\
                 \"transitions\":{max},\"frontier\":{max},\"expanded\":{max},\"memory\":{max},\"disk\":{max},\"checkpoints\":{max}}}"
            )
        };
        let impossible = [
            told(0, 1 << 60),
            told(max, max),
            told(9, 8),
            progress("0.5", 1 << 60),
            progress("-1", 1),
            progress("1e300", 1),
        ];
        for line in impossible {
            std::fs::write(&file, format!("{line}\n{good}\n")).unwrap();
            assert_eq!(read(folder.path()), [levels_line(0, 9)], "{line}");
        }
        // A line without an end, then one that is too long, then a good one.
        let long = format!(
            "{}\n{}\n{good}",
            " ".repeat(3 << 20),
            good.replace(' ', "") + &" ".repeat(70 << 10)
        );
        std::fs::write(&file, long).unwrap();
        assert_eq!(read(folder.path()), [levels_line(0, 9)]);
        // Of a file of holes the end is read.
        let holes = std::fs::OpenOptions::new().write(true).open(&file).unwrap();
        holes.set_len(1 << 40).unwrap();
        drop(holes);
        let mut holes = std::fs::OpenOptions::new().append(true).open(&file).unwrap();
        holes.write_all(format!("\n{good}\n").as_bytes()).unwrap();
        assert_eq!(read(folder.path()), [levels_line(0, 9)]);
        // There are never more than so many.
        let many: String =
            (0..EVENTS_MAX as u64 + 9).map(|at| told(2 * at, 2 * at) + "\n").collect();
        std::fs::write(&file, many).unwrap();
        let all = read(folder.path());
        assert!(all.len() < EVENTS_MAX && !all.is_empty(), "{}", all.len());
        assert_eq!(
            all.last(),
            Some(&levels_line(2 * EVENTS_MAX as u64 + 16, 2 * EVENTS_MAX as u64 + 16))
        );
    }

    fn levels_line(first: u64, last: u64) -> SearchEvent {
        SearchEvent::Levels(CompletedLevels {
            first,
            last,
            states: u64::MAX,
            transitions: u64::MAX,
        })
    }

    #[test]
    fn sums_of_what_others_have_written_do_not_overflow() {
        let all =
            [CompletedLevels { first: 0, last: 9, states: u64::MAX, transitions: u64::MAX }; 2];
        let both = all[0].joined_with(CompletedLevels { first: 10, last: 19, ..all[1] });
        assert_eq!(
            (both.states, both.last, both.part_before(10).states),
            (u64::MAX, 19, u64::MAX / 2)
        );
    }
}
