//! The status panel of a search.

use super::named;
use crate::cli::failure::CommandFailure;
use crate::cli::quantities::{clock, percent, rate, rough_duration, share, size};
use crate::cli::run_status::estimate_rows;
use crate::cli::status;
use crate::escape;
use crate::report::{PanelStatus, StatusPanel, count, grouped};
use crate::search::SearchVerdict;
use crate::search::events::{CompletedLevels, SearchEvent, completed_levels};
use crate::session::{
    CheckpointPosition, DirectoryContents, RunStatus, SearchSnapshot, SearchState,
};
use std::path::Path;
use std::time::Duration;

/// The maximum number of bars. More levels are grouped.
const BARS_MAX: usize = 32;

/// Returns the panel of the search in a directory.
pub(super) fn read_panel(dir: &Path) -> StatusPanel {
    match DirectoryContents::read(dir) {
        Ok(contents) => {
            let live = SearchSnapshot::of(dir, &contents);
            panel_of(dir, &live, contents)
        }
        Err(error) => {
            let why = CommandFailure::from(error).message.replace('\n', " ");
            StatusPanel {
                name: named(dir),
                dir: named(dir),
                status: PanelStatus::Lost,
                says: format!("nothing to show: {why}"),
                rows: Vec::new(),
                bars: Vec::new(),
                stamp: why,
            }
        }
    }
}

/// Returns the panel of a search whose data was read.
fn panel_of(dir: &Path, live: &SearchSnapshot, contents: DirectoryContents) -> StatusPanel {
    let seen = match live.state {
        SearchState::Running => PanelStatus::Running,
        SearchState::Ended(SearchVerdict::Verified) => PanelStatus::Verified,
        SearchState::Ended(_) => PanelStatus::Violated,
        SearchState::Stopped
        | SearchState::Failed(_)
        | SearchState::Killed
        | SearchState::Unknown => PanelStatus::Open,
    };
    let checkpoint = live.run_status.at.map(|it| (it.states, it.expanded));
    StatusPanel {
        name: live.model.clone(),
        dir: named(dir),
        status: seen,
        says: status_sentence(dir, live, contents),
        rows: rows(live),
        bars: bars(live),
        stamp: format!("{seen:?} {checkpoint:?} {}", live.events.len()),
    }
}

/// Returns the state of the search as a sentence.
fn status_sentence(path: &Path, live: &SearchSnapshot, contents: DirectoryContents) -> String {
    let dir = escape::shell_path(path);
    let goes_on = match live.run_status.at {
        Some(_) => format!("`spillway resume {dir}` resumes it"),
        None => format!("`spillway resume {dir}` starts again, since there is no checkpoint"),
    };
    match &live.state {
        SearchState::Running => match live.run_status.running_for {
            Some(time) => format!("running for {}", clock(time)),
            None => "running".to_owned(),
        },
        SearchState::Ended(verdict) => {
            let told = status::verdict(path, contents, live);
            // The verdict is known even if the directory is no longer readable.
            let told = told.unwrap_or_else(|_| verdict.name().to_owned());
            match verdict {
                SearchVerdict::Violated => {
                    format!("{told}; `spillway trace {dir}` shows it")
                }
                SearchVerdict::Verified | SearchVerdict::Incomplete => told,
            }
        }
        SearchState::Stopped => format!("stopped at a checkpoint; {goes_on}"),
        SearchState::Failed(None) => format!("failed; {goes_on}"),
        SearchState::Failed(Some(why)) => format!("failed: {why}; {goes_on}"),
        SearchState::Killed => format!("killed, or the machine went down; {goes_on}"),
        SearchState::Unknown => format!("not running; {goes_on}"),
    }
}

fn rows(live: &SearchSnapshot) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    rows.extend(found(live).map(|it| ("found", it)));
    rows.extend(
        live.ended_ago().map(|it| (live.state.name(), format!("{} ago", rough_duration(it)))),
    );
    if let Some(status) = &live.status {
        let now = &status.now;
        match live.state {
            SearchState::Running => {
                let fast = status.rate.map_or(String::new(), |it| format!("{}, ", rate(it)));
                let threads = count(u64::from(status.threads), "thread");
                rows.push(("speed", format!("{fast}{threads}; {}", now.phase)));
            }
            SearchState::Killed | SearchState::Unknown => rows.push((
                "last activity",
                format!("{} ago, {}", rough_duration(status.age()), now.phase),
            )),
            SearchState::Ended(_) | SearchState::Stopped | SearchState::Failed(_) => {}
        }
        if live.state.is_open() {
            rows.push(("memory", share(now.memory, status.budget)));
        }
        let all = Duration::try_from_secs_f64(status.before + now.seconds).unwrap_or_default();
        rows.push(("time", time(live, all)));
    }
    rows.push(("disk", disk(live)));
    rows.extend(estimate_rows(live));
    let checkpoint = match live.run_status.checkpoint_ago {
        Some(ago) => format!("the last {} ago", rough_duration(ago)),
        None => "none yet".to_owned(),
    };
    rows.extend(live.state.is_open().then_some(("checkpoint", checkpoint)));
    rows
}

/// Formats the progress so far.
fn found(live: &SearchSnapshot) -> Option<String> {
    let told = |(states, level, frontier, expanded): (u64, u64, u64, u64)| {
        let states = count(states, "state");
        let (level, share) = (grouped(level), percent(expanded, frontier));
        format!("{states}, level {level}, frontier {}, {share}% expanded", grouped(frontier))
    };
    let now = live.status.as_ref().map(|it| &it.now);
    if !live.state.is_open() {
        let CheckpointPosition { states, level, .. } = live.run_status.at?;
        return Some(format!("{}, {}", count(states, "state"), count(level + 1, "level")));
    }
    match (now, live.run_status.at) {
        (Some(now), _) if now.states > 0 => {
            Some(told((now.states, now.level, now.frontier, now.expanded)))
        }
        (_, Some(CheckpointPosition { states, level, frontier, expanded })) => {
            Some(told((states, level, frontier, expanded)))
        }
        (_, None) => live.state.is_open().then(|| "nothing yet".to_owned()),
    }
}

/// Formats the time of searching.
fn time(live: &SearchSnapshot, all: Duration) -> String {
    let sittings =
        live.events.iter().filter(|it| matches!(it, SearchEvent::Sitting { .. })).count();
    match sittings {
        0 | 1 => clock(all),
        _ => format!("{} in {sittings} sessions", clock(all)),
    }
}

/// Formats the used and the free disk space.
fn disk(live: &SearchSnapshot) -> String {
    let taken = live.status.as_ref().map_or(live.bytes, |it| it.now.disk);
    let free = live.free.map(|it| format!(", {} free", size(it)));
    let limit = live.config.limits.disk_limit.map(|it| format!(", {} allowed", size(it)));
    size(taken) + &limit.unwrap_or_default() + &free.unwrap_or_default()
}

/// Returns the number of states of each level. Many levels are grouped.
fn bars(live: &SearchSnapshot) -> Vec<(String, u64)> {
    let mut done = completed_levels(&live.events);
    let RunStatus { at, .. } = live.run_status;
    let now = live.status.as_ref().map(|it| (it.now.level, it.now.frontier));
    let open = now.or(at.map(|it| (it.level, it.frontier)));
    let open = open.filter(|(level, _)| done.last().is_none_or(|it| it.last < *level));
    done.extend(open.map(|(level, states)| CompletedLevels {
        first: level,
        last: level,
        states,
        transitions: 0,
    }));
    let levels = done.last().map_or(0, |it| it.last + 1);
    let each = levels.div_ceil(BARS_MAX as u64).max(1);
    let mut bars: Vec<CompletedLevels> = Vec::new();
    for it in done {
        match bars.last_mut() {
            Some(bar) if it.last < bar.first + each => *bar = bar.joined_with(it),
            _ => bars.push(it),
        }
    }
    let told = |it: &CompletedLevels| {
        let label = match it.first == it.last {
            true => it.first.to_string(),
            false => format!("{}-{}", it.first, it.last),
        };
        (label, it.states / (it.last - it.first + 1))
    };
    bars.iter().map(told).collect()
}
