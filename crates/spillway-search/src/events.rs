//! The events of a search, for diagrams of its progress: a line of JSON for each event, appended to a file in the
//! search directory (`docs/reference/format.md`, `docs/schema/events.json`).
//!
//! A thread (`event_log.rs`) samples the counters of the search at increasing intervals. So the cost is negligible and
//! the file stays small. Nothing depends on the file. It is not made durable, events that cannot be written are
//! dropped, and readers skip a line that a crash truncated. The next session repeats the work after the last
//! checkpoint, and records it again.
//!
//! The file is not trusted: it has no checksum, and any program may have written it. It is read line by line, within
//! limits ([`READ_MAX`], [`LINE_MAX`], [`EVENTS_MAX`]). Lines with impossible numbers are skipped.

pub use super::files::EVENTS;
use super::files::unfinished;
use serde::{Deserialize, Serialize};
use spill::{Disk, RealDisk};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// The version of the format of the lines.
pub(super) const VERSION: u32 = 1;

/// The size in bytes from which a file is thinned out before more is appended.
const BYTES_MAX: u64 = 1 << 20;

/// Only this many bytes at the end of a file are read. Written files are much smaller.
const READ_MAX: u64 = 16 << 20;

/// Longer lines are skipped.
const LINE_MAX: u64 = 64 << 10;

/// The number of events from which they are thinned out.
const EVENTS_MAX: usize = 1 << 16;

/// The greatest number of a level: levels have numbers of 32 bits.
const LEVEL_MAX: u64 = u32::MAX as u64;

/// The bound on seconds.
const SECONDS_MAX: f64 = 1e12;

/// An event of a search. Times are in seconds since the start of the session. Memory and disk are in bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
pub enum SearchEvent {
    /// The start of a session.
    Sitting {
        /// The version of the format.
        version: u32,
        /// The time, in milliseconds since the beginning of 1970.
        at: u64,
        /// The command line of the search, if there is one.
        command: Option<String>,
        /// The number of states expanded before.
        expanded: u64,
        /// Seconds of searching before.
        before: f64,
        /// The bound on resident memory.
        budget: u64,
        /// The number of threads.
        threads: u32,
    },
    /// One or several levels are completed.
    Levels(CompletedLevels),
    /// The progress of the search.
    Progress(ProgressSample),
    /// The end of the session.
    Ended {
        /// The time of the end.
        seconds: f64,
        /// `verified`, `violated`, `incomplete`, or `failed`.
        verdict: String,
        /// The error, if the search failed.
        error: Option<String>,
    },
}

/// Completed levels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompletedLevels {
    /// The first level.
    pub first: u64,
    /// The last level.
    pub last: u64,
    /// The number of states of all these levels.
    pub states: u64,
    /// The number of transitions from these states.
    pub transitions: u64,
}

impl CompletedLevels {
    /// Returns these levels joined with the ones that follow them.
    pub fn joined_with(self, next: CompletedLevels) -> CompletedLevels {
        CompletedLevels {
            first: self.first,
            last: next.last,
            states: self.states.saturating_add(next.states),
            transitions: self.transitions.saturating_add(next.transitions),
        }
    }

    /// Returns the part of these levels before a level, which is one of them but not the first.
    fn part_before(self, level: u64) -> CompletedLevels {
        let (part, whole) = (level - self.first, self.last - self.first + 1);
        let share = |it: u64| (u128::from(it) * u128::from(part) / u128::from(whole)) as u64;
        let (states, transitions) = (share(self.states), share(self.transitions));
        CompletedLevels { first: self.first, last: level - 1, states, transitions }
    }
}

/// Appends levels. Joins pairs of entries if there are many.
pub(super) fn add_levels(all: &mut Vec<CompletedLevels>, done: CompletedLevels, most: usize) {
    if all.len() >= most {
        *all = all
            .chunks(2)
            .filter_map(|it| it.iter().copied().reduce(CompletedLevels::joined_with))
            .collect();
    }
    all.push(done);
}

/// The progress of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgressSample {
    /// The time.
    pub seconds: f64,
    /// The phase.
    pub phase: String,
    /// The level being expanded.
    pub level: u64,
    /// The number of visited states.
    pub states: u64,
    /// The number of transitions in this session.
    pub transitions: u64,
    /// The number of states of the level being expanded.
    pub frontier: u64,
    /// The number of expanded states of this level.
    pub expanded: u64,
    /// Bytes of resident memory.
    pub memory: u64,
    /// Bytes on disk.
    pub disk: u64,
    /// The number of checkpoints in this session.
    pub checkpoints: u64,
}

impl SearchEvent {
    /// Returns whether a search can have these numbers.
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
    /// Returns whether a search can have this progress.
    pub(super) fn is_possible(&self) -> bool {
        is_time(self.seconds) && self.level <= LEVEL_MAX
    }
}

/// Returns whether a search can have taken this number of seconds.
pub(super) fn is_time(seconds: f64) -> bool {
    (0.0..SECONDS_MAX).contains(&seconds)
}

/// Opens the file for appending. Returns `None` if that is not possible, for example if another kind of file has its
/// name.
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
    // Ends a torn line.
    if length > 0 {
        let _ = file.write_all(b"\n");
    }
    Some(file)
}

/// Replaces a file that is only displayed. The replacement is not durable.
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

/// Appends an event. An event that cannot be written, for example to a full disk, is dropped.
pub(super) fn append(file: &mut File, event: &SearchEvent) {
    if let Some(line) = line(event) {
        let _ = file.write_all(line.as_bytes());
    }
}

/// Returns half as many levels and samples: joined levels, and every second sample.
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

/// Reads all valid events of a directory.
pub fn read(dir: &Path) -> Vec<SearchEvent> {
    RealDisk::open(dir).map_or(Vec::new(), |disk| read_from(&disk))
}

fn read_from(disk: &RealDisk) -> Vec<SearchEvent> {
    let mut all = Vec::new();
    // Unreadable parts count as not written.
    let _ = each_line(disk, |line| {
        let event = serde_json::from_slice(line).ok().filter(SearchEvent::is_possible);
        all.extend(event);
        if all.len() >= EVENTS_MAX {
            all = thin_events(&all);
            // The last events are the most useful.
            let surplus = all.len().saturating_sub(EVENTS_MAX / 2);
            all.drain(..surplus);
        }
    });
    all
}

/// Passes each line of the file, or of its last part, to `give`, except lines that are too long.
fn each_line(disk: &RealDisk, mut give: impl FnMut(&[u8])) -> std::io::Result<()> {
    let Ok(mut file) = disk.open_to_read(EVENTS) else { return Ok(()) };
    let begin = file.metadata()?.len().saturating_sub(READ_MAX);
    file.seek(SeekFrom::Start(begin))?;
    let mut rest = BufReader::new(file.take(READ_MAX));
    if begin > 0 {
        // The last part begins within a line.
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

/// Returns the completed levels in order. If a level was recorded again after its checkpoint was lost, the last record
/// counts.
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
    fn levels_are_joined_to_a_few_ranges_without_gaps() {
        let mut all = Vec::new();
        for level in 0..100_000 {
            add_levels(&mut all, levels(level, level), 16);
            assert!(all.len() <= 16);
        }
        assert!(all.windows(2).all(|it| it[0].last + 1 == it[1].first));
        assert_eq!(all.into_iter().reduce(CompletedLevels::joined_with), Some(levels(0, 99_999)));
    }

    #[test]
    fn torn_lines_are_skipped_and_long_files_are_thinned() {
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
    fn levels_reported_twice_count_once() {
        let events = [levels(0, 9), levels(10, 19), levels(15, 15), levels(16, 40), levels(30, 31)];
        let completed = completed_levels(&events.map(SearchEvent::Levels));
        let expected =
            [levels(0, 9), levels(10, 14), levels(15, 15), levels(16, 29), levels(30, 31)];
        assert_eq!(completed, expected);
    }

    #[test]
    fn foreign_event_files_are_read_within_limits() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(EVENTS);
        let line_for =
            |first: u64, last: u64| serde_json::to_string(&levels_line(first, last)).unwrap();
        let (good, max) = (line_for(0, 9), u64::MAX);
        // Impossible numbers in well-formed lines.
        let progress = |seconds: &str, level: u64| {
            format!(
                "{{\"event\":\"progress\",\"seconds\":{seconds},\"phase\":\"x\",\"level\":{level},\"states\":{max},\
                 \"transitions\":{max},\"frontier\":{max},\"expanded\":{max},\"memory\":{max},\"disk\":{max},\"checkpoints\":{max}}}"
            )
        };
        let impossible = [
            line_for(0, 1 << 60),
            line_for(max, max),
            line_for(9, 8),
            progress("0.5", 1 << 60),
            progress("-1", 1),
            progress("1e300", 1),
        ];
        for line in impossible {
            std::fs::write(&file, format!("{line}\n{good}\n")).unwrap();
            assert_eq!(read(folder.path()), [levels_line(0, 9)], "{line}");
        }
        // A line without an end, then one that is too long, then a valid one.
        let long = format!(
            "{}\n{}\n{good}",
            " ".repeat(3 << 20),
            good.replace(' ', "") + &" ".repeat(70 << 10)
        );
        std::fs::write(&file, long).unwrap();
        assert_eq!(read(folder.path()), [levels_line(0, 9)]);
        // The end of a file of holes is read.
        let holes = std::fs::OpenOptions::new().write(true).open(&file).unwrap();
        holes.set_len(1 << 40).unwrap();
        drop(holes);
        let mut holes = std::fs::OpenOptions::new().append(true).open(&file).unwrap();
        holes.write_all(format!("\n{good}\n").as_bytes()).unwrap();
        assert_eq!(read(folder.path()), [levels_line(0, 9)]);
        // The number of events is bounded.
        let many: String =
            (0..EVENTS_MAX as u64 + 9).map(|at| line_for(2 * at, 2 * at) + "\n").collect();
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
    fn sums_of_foreign_counts_do_not_overflow() {
        let all =
            [CompletedLevels { first: 0, last: 9, states: u64::MAX, transitions: u64::MAX }; 2];
        let both = all[0].joined_with(CompletedLevels { first: 10, last: 19, ..all[1] });
        assert_eq!(
            (both.states, both.last, both.part_before(10).states),
            (u64::MAX, 19, u64::MAX / 2)
        );
    }
}
