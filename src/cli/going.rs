//! How a search goes, as `status` tells it before and beside what it came to.

use super::figures;
use crate::report::grouped;
use crate::session::{Going, Reached};
use serde_json::{Value, json};

/// Whether a search is running, and how it goes; with where it is in its levels, if it `is_in_levels`.
pub(super) fn heading(going: &Going, is_in_levels: bool) -> String {
    let state = match (going.is_running, going.running_for) {
        (true, Some(time)) => format!("running for {}", figures::clock(time)),
        (true, None) => "running".to_owned(),
        (false, _) => "not running".to_owned(),
    };
    let Some(Reached { level, states, frontier, expanded }) = going.at else {
        return format!("{state}; no checkpoint yet\n");
    };
    let ago = going.checkpoint_ago.map(figures::about);
    let ago = ago.map_or(String::new(), |ago| format!(" {ago} ago"));
    let mut out = format!("{state}; last checkpoint{ago}:\n");
    if going.is_running && is_in_levels {
        let rate = going.rate.map(|rate| format!(", {}", figures::rate(rate)));
        out += &format!(
            "  level {}, {} states{}, frontier {}, {}% expanded\n",
            grouped(level),
            grouped(states),
            rate.unwrap_or_default(),
            grouped(frontier),
            expanded * 100 / frontier.max(1),
        );
    }
    out
}

/// A result as JSON, with how the search goes.
pub(super) fn with_going(mut result: Value, going: &Going) -> Value {
    let at = going.at;
    let figures = json!({
        "running": going.is_running,
        "running_seconds": going.running_for.map(|it| it.as_secs_f64()),
        "checkpoint_seconds_ago": going.checkpoint_ago.map(|it| it.as_secs_f64()),
        "level": at.map(|it| it.level),
        "frontier": at.map(|it| it.frontier),
        "frontier_expanded": at.map(|it| it.expanded),
        "sitting_states_per_second": going.rate,
    });
    if let (Value::Object(result), Value::Object(figures)) = (&mut result, figures) {
        result.extend(figures);
    }
    result
}
