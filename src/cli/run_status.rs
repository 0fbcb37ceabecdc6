//! The running status of a search, as `status` prints it with the result.

use super::quantities;
use crate::report::{self, grouped};
use crate::search::estimate::{CountEstimate, EstimateFailure};
use crate::session::{SearchForecast, SearchSnapshot};
use serde_json::{Value, json};

/// Returns whether and how a search is running, with its position in the levels if `is_in_levels` is set.
pub(super) fn status_heading(live: &SearchSnapshot, is_in_levels: bool) -> String {
    let going = &live.run_status;
    let mut out = live.state.name().to_owned();
    out += &match (going.is_running, going.running_for, live.ended_ago()) {
        (true, Some(time), _) => format!(" for {}", quantities::clock(time)),
        (false, _, Some(ago)) => format!(" {} ago", quantities::rough_duration(ago)),
        _ => String::new(),
    };
    if !live.state.is_open() {
        return out + ":\n";
    }
    let checkpoint = match going.checkpoint_ago.filter(|_| going.at.is_some()) {
        None => "no checkpoint yet\n".to_owned(),
        Some(ago) => format!("last checkpoint {} ago:\n", quantities::rough_duration(ago)),
    };
    // The status of the session is newer than its checkpoint.
    let now = live.status.as_ref().map(|it| (&it.now, it.rate)).filter(|it| it.0.states > 0);
    let now = now.map(|(it, rate)| (it.level, it.states, it.frontier, it.expanded, rate));
    let at = going.at.map(|it| (it.level, it.states, it.frontier, it.expanded, going.rate));
    match now.or(at).filter(|_| going.is_running && is_in_levels) {
        None => out += &format!("; {checkpoint}"),
        Some((level, states, frontier, expanded, rate)) => {
            let rate = rate.map_or(String::new(), |it| format!(", {}", quantities::rate(it)));
            out += &format!(
                "\n  level {}, {} states{rate}, frontier {}, {}% expanded\n",
                grouped(level),
                grouped(states),
                grouped(frontier),
                quantities::percent(expanded, frontier),
            );
            estimate_rows(live).iter().for_each(|(label, told)| out += &report::row(label, told));
            out += &checkpoint;
        }
    }
    out
}

/// Returns the rows of the forecast of a search, each with its label.
pub(super) fn estimate_rows(live: &SearchSnapshot) -> Vec<(&'static str, String)> {
    let SearchForecast { states, seconds, disk, full_in } = match live.forecast() {
        None => return Vec::new(),
        Some(Ok(ahead)) => ahead,
        Some(Err(why)) => {
            let why = match why {
                EstimateFailure::TooFew => "too few levels",
                EstimateFailure::Growing => "levels are still growing",
                EstimateFailure::Ambiguous => "levels show no clear trend",
            };
            return vec![("in all", format!("no estimate yet: {why}"))];
        }
    };
    let told = |it: CountEstimate, unit: fn(f64) -> String| {
        format!("about {} ({} to {})", unit(it.about), unit(it.low), unit(it.high))
    };
    let mut rows = vec![("in all", format!("states: {}", told(states, quantities::short)))];
    rows.extend(seconds.map(|it| ("time left", told(it, quantities::rough_seconds))));
    rows.push(("on disk", told(disk, |it| quantities::size(it as u64))));
    rows.extend(full_in.map(|it| {
        let left = quantities::rough_seconds(it);
        let told = match live.run_status.is_running {
            true => {
                format!("in about {left}, before the search ends; space can be freed until then")
            }
            false => format!("about {left} after it resumes, before the search ends"),
        };
        ("disk full", told)
    }));
    rows
}

/// Returns the forecast as JSON.
fn ahead_as_json(live: &SearchSnapshot) -> Value {
    let told = |it: CountEstimate| json!({ "about": it.about, "low": it.low, "high": it.high });
    match live.forecast() {
        None | Some(Err(_)) => Value::Null,
        Some(Ok(SearchForecast { states, seconds, disk, full_in })) => json!({
            "states": told(states),
            "seconds_left": seconds.map(told),
            "disk": told(disk),
            "disk_full_in_seconds": full_in,
        }),
    }
}

/// Adds the running status to a result in JSON.
pub(super) fn with_run_status(mut result: Value, live: &SearchSnapshot) -> Value {
    let going = &live.run_status;
    let at = going.at;
    let figures = json!({
        "state": live.state.name(),
        "running": going.is_running,
        "running_seconds": going.running_for.map(|it| it.as_secs_f64()),
        "checkpoint_seconds_ago": going.checkpoint_ago.map(|it| it.as_secs_f64()),
        "level": at.map(|it| it.level),
        "frontier": at.map(|it| it.frontier),
        "frontier_expanded": at.map(|it| it.expanded),
        "sitting_states_per_second": going.rate,
        "now": live.status.as_ref().map(|it| json!(it)),
        "estimate": ahead_as_json(live),
        "config": live.config,
    });
    if let (Value::Object(result), Value::Object(figures)) = (&mut result, figures) {
        result.extend(figures);
    }
    result
}
