//! Consistency of the numbers of a manifest.
//!
//! A checksum proves that the bytes are those that were written, not that the writer, perhaps another build, was
//! correct. These checks cover what the search relies on without further checks: every index is within its list, no sum
//! overflows, and the invariants of the store hold. Whether the files agree with the manifest is checked when they are
//! opened.

use super::saved_hunts::hunts_agree;
use super::{DiskFigures, SavedFinding, SavedLevel, SavedPostponed, SavedSearch};
use crate::storage::SavedStorage;
use spill::{FileName, FileSegment, SavedLevels, SavedRun, SavedStore, WIDTH_MAX};

/// The bound on counts. Real counts are far smaller, and a few of them can be added without overflow.
const COUNT_MAX: u64 = 1 << 60;

/// Returns whether a part of a manifest is consistent.
type ConsistencyCheck = fn(&SavedSearch) -> bool;

/// The parts. Each relies on the previous ones: keys of levels are added only if the levels are consistent.
const PARTS: [(ConsistencyCheck, &str); 9] = [
    (numbers_agree, "numbers"),
    (values_agree, "values"),
    (|saved| levels_agree(&saved.store.levels, saved.width.into()), "levels"),
    (|saved| runs_agree(&saved.store), "runs"),
    (frontier_agrees, "frontier"),
    (|saved| open_level_agrees(&saved.open, &saved.store.levels), "half expanded level"),
    (postponed_agrees, "postponed transitions"),
    (findings_agree, "findings"),
    (hunts_agree, "hunts"),
];

/// Returns the first inconsistent part of `saved`.
pub(super) fn contradiction(saved: &SavedSearch) -> Option<&'static str> {
    PARTS.into_iter().find(|(agrees, _)| !agrees(saved)).map(|(_, part)| part)
}

fn numbers_agree(saved: &SavedSearch) -> bool {
    let DiskFigures { peak, written, read } = saved.disk;
    let journal = saved.encoding.map_or(0, |it| it.length);
    let counts = [peak, written, read, saved.peak_rss_bytes, journal];
    let mut action_counts = saved.action_counts.iter().chain(&saved.open.action_counts);
    let parts = saved.parts.iter().flat_map(|part| [part.memory, part.disk]);
    (1..=WIDTH_MAX).contains(&(saved.width as usize))
        && counts.into_iter().chain(parts).all(|count| count <= COUNT_MAX)
        && [saved.counters, saved.open.counters].iter().all(|it| it.are_at_most(COUNT_MAX))
        && action_counts.all(|&count| count <= COUNT_MAX)
        && saved.encoding.is_none_or(|it| it.length > 0)
        && saved.width as usize > saved.tag_bytes()
        && saved.verdict <= 2
}

/// Values follow states of the sorted store and do not change.
fn values_agree(saved: &SavedSearch) -> bool {
    let are_behind = |bytes: u32| (1..saved.width).contains(&bytes);
    saved.values.as_ref().is_none_or(|values| {
        matches!(saved.storage, SavedStorage::Sorted(_))
            && are_behind(values.bytes)
            && values.changes.is_none()
    })
}

/// No level is empty, and the segments lie within their shards.
fn levels_agree(levels: &SavedLevels, width: u64) -> bool {
    let shards = &levels.shards;
    let in_lane = |piece: &FileSegment| match piece.file {
        FileName::Levels { shard } => {
            lies_within(piece, shards.get(usize::from(shard)).map(|shard| &shard.length))
        }
        _ => false,
    };
    let mut keys = 0_u64;
    let mut has_room = |pieces: &[FileSegment]| {
        let sum = sum_of_keys(pieces).and_then(|sum| sum.checked_add(keys));
        keys = sum.unwrap_or(u64::MAX);
        keys.checked_mul(width).is_some_and(|bytes| bytes <= COUNT_MAX)
    };
    shards.len() <= usize::from(u16::MAX)
        && shards.iter().enumerate().all(|(number, shard)| is_shard(shard.file, number))
        && levels.is_sound()
        && levels
            .iter()
            .all(|pieces| !pieces.is_empty() && pieces.iter().all(in_lane) && has_room(&pieces))
}

/// Returns whether a file is the shard with this number of the log of levels.
fn is_shard(file: FileName, number: usize) -> bool {
    matches!(file, FileName::Levels { shard } if usize::from(shard) == number)
}

/// The runs partition the levels and hold as many keys. Those on disk come first.
fn runs_agree(store: &SavedStore) -> bool {
    let SavedStore { levels, runs } = store;
    let mut next = 0;
    let follows = |run: &SavedRun| {
        let follows = run.first == next && run.first <= run.last;
        next = run.last.saturating_add(1);
        follows && (run.last as usize) < levels.len()
    };
    let all_follow = runs.iter().all(follows);
    all_follow
        && next as usize == levels.len()
        && runs.is_sorted_by_key(|run| run.pieces.is_empty())
        && runs.iter().all(|run| run.pieces.is_empty() || keys_agree(run, levels))
}

fn keys_agree(run: &SavedRun, levels: &SavedLevels) -> bool {
    let keys = (run.first..=run.last).map(|level| levels.keys(level as usize)).sum();
    let holds_levels = |piece: &FileSegment| {
        matches!(piece.file, FileName::Levels { .. } | FileName::Merged { .. })
    };
    sum_of_keys(&run.pieces) == Some(keys) && run.pieces.iter().all(holds_levels)
}

/// With ComBack, every run is on disk, and so are the states of the last level.
fn frontier_agrees(saved: &SavedSearch) -> bool {
    let SavedStore { levels, runs } = &saved.store;
    let pieces = &saved.frontier.pieces;
    if matches!(saved.storage, SavedStorage::Sorted(_)) {
        return pieces.is_empty();
    }
    let Some(last) = levels.len().checked_sub(1) else { return pieces.is_empty() };
    let is_of_last = |piece: &FileSegment| match piece.file {
        FileName::Frontier { level } => level as usize == last,
        _ => false,
    };
    pieces.iter().all(is_of_last)
        && sum_of_keys(pieces) == Some(levels.keys(last))
        && runs.iter().all(|run| !run.pieces.is_empty())
}

/// At most all states are expanded, and the candidates are of the last level.
fn open_level_agrees(open: &SavedLevel, levels: &SavedLevels) -> bool {
    let SavedLevel { expanded, exhausted, candidates, logs, unencoded, unencoded_logs, .. } = open;
    let last = levels.len().checked_sub(1);
    let is_of_last_level = |piece: &FileSegment| match piece.file {
        FileName::Candidates { level, shard } => {
            Some(level as usize) == last && lies_within(piece, logs.get(usize::from(shard)))
        }
        _ => false,
    };
    let is_unencoded_of_last = |piece: &FileSegment| match piece.file {
        FileName::Unencoded { level, shard } => {
            Some(level as usize) == last
                && lies_within(piece, unencoded_logs.get(usize::from(shard)))
        }
        _ => false,
    };
    let states = last.map_or(0, |level| levels.keys(level));
    *expanded <= states
        && (!exhausted || *expanded == states)
        && logs.len() <= usize::from(u16::MAX)
        && candidates.iter().all(is_of_last_level)
        && unencoded_logs.len() <= usize::from(u16::MAX)
        && unencoded.iter().all(is_unencoded_of_last)
}

/// Obligations are of the level being expanded, or of the expanded one if there are no candidates and no states to
/// re-expand. The states to re-expand are of the only possible level.
fn postponed_agrees(saved: &SavedSearch) -> bool {
    let SavedPostponed { obligations, logs, carried, expanded } = &saved.postponed;
    let (open, levels) = (&saved.open, &saved.store.levels);
    let last = levels.len().checked_sub(1);
    let expanded_level = if open.exhausted { last } else { last.and_then(|it| it.checked_sub(1)) };
    let nothing_in_hand = carried.is_empty() && open.candidates.is_empty();
    let begins = nothing_in_hand && (open.exhausted || open.expanded == 0);
    let owing = if begins { [last, expanded_level] } else { [last; 2] };
    let mut of_level = obligations.iter().map(|piece| match piece.file {
        FileName::Obligations { level, shard } => {
            lies_within(piece, logs.get(usize::from(shard))).then_some(level as usize)
        }
        _ => None,
    });
    let first = of_level.next();
    let is_carried = |piece: &FileSegment| match piece.file {
        FileName::Reexpanded { level } => {
            expanded_level == Some(level as usize)
                && (*expanded..=levels.keys(level as usize)).contains(&piece.at.keys)
        }
        _ => false,
    };
    first.is_none_or(|first| owing.contains(&first) && first.is_some())
        && of_level.all(|level| Some(level) == first)
        && !(open.exhausted && !begins && first.is_some())
        && logs.len() <= usize::from(u16::MAX)
        && carried.len() <= 1
        && carried.iter().all(is_carried)
        && (*expanded == 0 || !carried.is_empty())
}

fn findings_agree(saved: &SavedSearch) -> bool {
    let mut findings = saved.findings.iter().chain(&saved.open.findings);
    findings.all(|finding| finding_agrees(finding, saved))
}

/// A finding is in an existing level. Findings before the first level are in level 0.
fn finding_agrees(finding: &SavedFinding, saved: &SavedSearch) -> bool {
    finding.level < saved.store.levels.len().max(1) as u64
        && finding.count <= COUNT_MAX
        && finding.witness.len() == saved.width as usize - saved.value_bytes()
}

/// Returns whether a segment lies in the first `length` bytes of its file.
fn lies_within(piece: &FileSegment, length: Option<&u64>) -> bool {
    let end = piece.at.offset.checked_add(piece.at.length);
    end.zip(length).is_some_and(|(end, &length)| end <= length)
}

fn sum_of_keys(pieces: &[FileSegment]) -> Option<u64> {
    pieces.iter().try_fold(0, |sum: u64, piece| sum.checked_add(piece.at.keys))
}
