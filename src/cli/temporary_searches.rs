//! `status --all`: searches in temporary directories, and the removal of those that are not running.

use super::failure::{self, CommandFailure};
use super::{CommandResult, print, print_json, quantities, say};
use crate::escape;
use crate::session::{DirectoryJob, RemovalOutcome, TemporarySearch, temporary_in};
use serde_json::{Value, json};
use std::time::Duration;

/// Lists the searches in temporary directories. Removes those that have been idle for the time `remove`, if it is
/// given.
pub(super) fn list(remove: Option<Duration>, as_json: bool) -> CommandResult {
    let folder = std::env::temp_dir();
    let all = temporary_in(&folder)?;
    let (mut ends, mut failed) = (Vec::new(), Vec::new());
    for search in &all {
        let idle = search.checkpoint_ago.map_or(search.age, |it| it.min(search.age));
        let is_to_go = !search.running && remove.is_some_and(|it| idle >= it);
        match is_to_go.then(|| search.remove()).transpose() {
            Ok(end) => {
                end.iter().filter_map(|end| why_left(search, end)).for_each(say);
                ends.push(end);
            }
            Err(error) => {
                failed.push(error.to_string());
                ends.push(None);
            }
        }
    }
    let both = || all.iter().zip(&ends);
    let folder = folder.display().to_string();
    match as_json {
        true => {
            let searches: Vec<Value> = both().map(|(it, end)| to_json(it, end.as_ref())).collect();
            print_json(&format!("{:#}\n", json!({ "folder": folder, "searches": searches })));
        }
        false if all.is_empty() => print(&format!("no searches in {folder}\n")),
        false => {
            print(&table(both()));
            print(&summary(both(), remove.is_some()));
        }
    }
    match failed.is_empty() {
        true => Ok(failure::VERIFIED),
        false => Err(CommandFailure::wrong(failed.join("\nerror: "))),
    }
}

/// Returns why a directory was not removed.
fn why_left(search: &TemporarySearch, end: &RemovalOutcome) -> Option<String> {
    let why = match end {
        RemovalOutcome::Removed => return None,
        RemovalOutcome::Running => "a search is running in it".to_owned(),
        RemovalOutcome::Foreign(name) => format!("{name} in it is not a file of a search"),
        RemovalOutcome::Damaged => {
            "its job is damaged, so it may not be a search directory".to_owned()
        }
    };
    Some(format!("note: {} is not removed: {why}", search.path.display()))
}

/// Returns the state of a search.
fn state(search: &TemporarySearch, end: Option<&RemovalOutcome>) -> &'static str {
    match (end, &search.found) {
        (Some(RemovalOutcome::Removed), _) => "removed",
        (_, DirectoryJob::Damaged(_)) => "damaged",
        _ => search.state,
    }
}

fn model(search: &TemporarySearch) -> Option<&str> {
    match &search.found {
        DirectoryJob::Search { model, .. } => Some(model),
        DirectoryJob::OtherVersion(_) | DirectoryJob::Damaged(_) => None,
    }
}

/// Returns why a search cannot be resumed, if so.
fn problem(search: &TemporarySearch) -> Option<String> {
    match &search.found {
        DirectoryJob::Search { .. } => None,
        DirectoryJob::OtherVersion(error) | DirectoryJob::Damaged(error) => Some(error.to_string()),
    }
}

/// Formats a line for each search.
fn table<'a>(
    all: impl Iterator<Item = (&'a TemporarySearch, &'a Option<RemovalOutcome>)>,
) -> String {
    let mut rows = vec![["STATE", "BEGUN", "SIZE", "DIRECTORY", "MODEL"].map(str::to_owned)];
    for (search, end) in all {
        let named = model(search).map(str::to_owned).or_else(|| problem(search));
        rows.push([
            state(search, end.as_ref()).to_owned(),
            format!("{} ago", quantities::rough_duration(search.age)),
            quantities::size(search.bytes),
            escape::line(&search.path.display().to_string()).into_owned(),
            escape::line(&named.unwrap_or_default()).into_owned(),
        ]);
    }
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths: [usize; 5] = std::array::from_fn(width);
    let line = |[state, begun, size, dir, model]: &[String; 5]| {
        let [first, second, third, fourth, _] = widths;
        format!("{state:first$}  {begun:>second$}  {size:>third$}  {dir:fourth$}  {model}\n")
    };
    rows.iter().map(line).collect()
}

/// Formats the possible actions.
fn summary<'a>(
    all: impl Iterator<Item = (&'a TemporarySearch, &'a Option<RemovalOutcome>)>,
    is_removing: bool,
) -> String {
    let (mut stale, mut removed, mut bytes) = (0, 0, 0);
    for (search, end) in all {
        stale += u64::from(!search.running);
        if *end == Some(RemovalOutcome::Removed) {
            (removed, bytes) = (removed + 1, bytes + search.bytes);
        }
    }
    match is_removing {
        true => {
            let searches = if removed == 1 { "search" } else { "searches" };
            format!("{removed} {searches} removed, {}\n", quantities::size(bytes))
        }
        false if stale == 0 => String::new(),
        false => "`spillway resume DIRECTORY` resumes a search that is not running,\n`spillway status --all --clean` \
         removes searches without activity for a week,\n`spillway status --all --remove-stale` removes all searches \
         that are not running\n"
            .to_owned(),
    }
}

fn to_json(search: &TemporarySearch, end: Option<&RemovalOutcome>) -> Value {
    let language = match &search.found {
        DirectoryJob::Search { language, .. } => Some(language),
        DirectoryJob::OtherVersion(_) | DirectoryJob::Damaged(_) => None,
    };
    json!({
        "dir": search.path.display().to_string(),
        "model": model(search),
        "language": language,
        "state": search.state,
        "running": search.running,
        "age_seconds": search.age.as_secs_f64(),
        "checkpoint_seconds_ago": search.checkpoint_ago.map(|it| it.as_secs_f64()),
        "bytes": search.bytes,
        "removed": end == Some(&RemovalOutcome::Removed),
        "problem": problem(search),
    })
}
