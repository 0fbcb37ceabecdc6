//! What is to be seen of a search at one moment.

use super::named;
use crate::cli::failure::Failure;
use crate::cli::figures::{about, clock, percent, rate, share, size};
use crate::cli::going::ahead;
use crate::cli::status;
use crate::escape;
use crate::report::{Glance, Seen, count, grouped};
use crate::search::Verdict;
use crate::search::events::{Event, LevelsDone, levels_done};
use crate::session::{Contents, Going, Live, Reached, State};
use std::path::Path;
use std::time::Duration;

/// Of more levels, several make one bar.
const BARS_MAX: usize = 32;

/// What is to be seen of the search in a directory.
pub(super) fn at(dir: &Path) -> Glance {
    match Contents::read(dir) {
        Ok(contents) => {
            let live = Live::of(dir, &contents);
            of(dir, &live, contents)
        }
        Err(error) => {
            let why = Failure::from(error).message.replace('\n', " ");
            Glance {
                name: named(dir),
                dir: named(dir),
                seen: Seen::Lost,
                says: format!("nothing to be seen: {why}"),
                rows: Vec::new(),
                bars: Vec::new(),
                stamp: why,
            }
        }
    }
}

/// The same of what is known already.
fn of(dir: &Path, live: &Live, contents: Contents) -> Glance {
    let seen = match live.state {
        State::Running => Seen::Running,
        State::Ended(Verdict::Verified) => Seen::Verified,
        State::Ended(_) => Seen::Violated,
        State::Stopped | State::Failed(_) | State::Killed | State::Unknown => Seen::Open,
    };
    let checkpoint = live.going.at.map(|it| (it.states, it.expanded));
    Glance {
        name: live.model.clone(),
        dir: named(dir),
        seen,
        says: says(dir, live, contents),
        rows: rows(live),
        bars: bars(live),
        stamp: format!("{seen:?} {checkpoint:?} {}", live.events.len()),
    }
}

/// What it is doing, or what became of it, in a sentence.
fn says(path: &Path, live: &Live, contents: Contents) -> String {
    let dir = escape::shell_path(path);
    let goes_on = match live.going.at {
        Some(_) => format!("`spillway resume {dir}` goes on"),
        None => format!("`spillway resume {dir}` begins anew, as there is no checkpoint"),
    };
    match &live.state {
        State::Running => match live.going.running_for {
            Some(time) => format!("running for {}", clock(time)),
            None => "running".to_owned(),
        },
        State::Ended(verdict) => {
            let told = status::verdict(path, contents, live);
            // What cannot be read any more has its verdict nevertheless.
            let told = told.unwrap_or_else(|_| verdict.name().to_owned());
            match verdict {
                Verdict::Violated => format!("{told}; `spillway trace {dir}` tells how"),
                Verdict::Verified | Verdict::Incomplete => told,
            }
        }
        State::Stopped => format!("stopped at a checkpoint; {goes_on}"),
        State::Failed(None) => format!("failed; {goes_on}"),
        State::Failed(Some(why)) => format!("failed: {why}; {goes_on}"),
        State::Killed => format!("killed, or the machine went down; {goes_on}"),
        State::Unknown => format!("not running; {goes_on}"),
    }
}

fn rows(live: &Live) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    rows.extend(found(live).map(|it| ("found", it)));
    rows.extend(live.ended_ago().map(|it| (live.state.name(), format!("{} ago", about(it)))));
    if let Some(status) = &live.status {
        let now = &status.now;
        match live.state {
            State::Running => {
                let fast = status.rate.map_or(String::new(), |it| format!("{}, ", rate(it)));
                let threads = count(u64::from(status.threads), "thread");
                rows.push(("speed", format!("{fast}{threads}; {}", now.phase)));
            }
            State::Killed | State::Unknown => {
                rows.push(("last heard of", format!("{} ago, {}", about(status.age()), now.phase)))
            }
            State::Ended(_) | State::Stopped | State::Failed(_) => {}
        }
        if live.state.is_open() {
            rows.push(("memory", share(now.memory, status.budget)));
        }
        let all = Duration::try_from_secs_f64(status.before + now.seconds).unwrap_or_default();
        rows.push(("time", time(live, all)));
    }
    rows.push(("disk", disk(live)));
    rows.extend(ahead(live));
    let checkpoint = match live.going.checkpoint_ago {
        Some(ago) => format!("the last {} ago", about(ago)),
        None => "none yet".to_owned(),
    };
    rows.extend(live.state.is_open().then_some(("checkpoint", checkpoint)));
    rows
}

/// What was found so far.
fn found(live: &Live) -> Option<String> {
    let told = |(states, level, frontier, expanded): (u64, u64, u64, u64)| {
        let states = count(states, "state");
        let (level, share) = (grouped(level), percent(expanded, frontier));
        format!("{states}, level {level}, frontier {}, {share}% expanded", grouped(frontier))
    };
    let now = live.status.as_ref().map(|it| &it.now);
    if !live.state.is_open() {
        let Reached { states, level, .. } = live.going.at?;
        return Some(format!("{}, {}", count(states, "state"), count(level + 1, "level")));
    }
    match (now, live.going.at) {
        (Some(now), _) if now.states > 0 => {
            Some(told((now.states, now.level, now.frontier, now.expanded)))
        }
        (_, Some(Reached { states, level, frontier, expanded })) => {
            Some(told((states, level, frontier, expanded)))
        }
        (_, None) => live.state.is_open().then(|| "nothing yet".to_owned()),
    }
}

/// For how long it was searched.
fn time(live: &Live, all: Duration) -> String {
    let sittings = live.events.iter().filter(|it| matches!(it, Event::Sitting { .. })).count();
    match sittings {
        0 | 1 => clock(all),
        _ => format!("{} in {sittings} sittings", clock(all)),
    }
}

/// What it has on disk, and what there is yet.
fn disk(live: &Live) -> String {
    let taken = live.status.as_ref().map_or(live.bytes, |it| it.now.disk);
    let free = live.free.map(|it| format!(", {} free", size(it)));
    let limit = live.disk_limit.map(|it| format!(", {} allowed", size(it)));
    size(taken) + &limit.unwrap_or_default() + &free.unwrap_or_default()
}

/// States a level, several of them together where there are many.
fn bars(live: &Live) -> Vec<(String, u64)> {
    let mut done = levels_done(&live.events);
    let Going { at, .. } = live.going;
    let now = live.status.as_ref().map(|it| (it.now.level, it.now.frontier));
    let open = now.or(at.map(|it| (it.level, it.frontier)));
    let open = open.filter(|(level, _)| done.last().is_none_or(|it| it.last < *level));
    done.extend(open.map(|(level, states)| LevelsDone {
        first: level,
        last: level,
        states,
        transitions: 0,
    }));
    let levels = done.last().map_or(0, |it| it.last + 1);
    let each = levels.div_ceil(BARS_MAX as u64).max(1);
    let mut bars: Vec<LevelsDone> = Vec::new();
    for it in done {
        match bars.last_mut() {
            Some(bar) if it.last < bar.first + each => *bar = bar.and(it),
            _ => bars.push(it),
        }
    }
    let told = |it: &LevelsDone| {
        let label = match it.first == it.last {
            true => it.first.to_string(),
            false => format!("{}-{}", it.first, it.last),
        };
        (label, it.states / (it.last - it.first + 1))
    };
    bars.iter().map(told).collect()
}
