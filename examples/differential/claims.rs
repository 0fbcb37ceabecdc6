//! Finds the cause of a difference from SPIN under a claim, by removing causes.
//!
//! Without the claim the counts must be equal. Then the model is changed to exclude one documented cause, or two, and
//! compared again. One change is a claim without an end. The other is an additional process that can always move, so
//! that the system never blocks. The changed model must give equal counts.
//!
//! SPIN counts the claim as a process, and Spillway does not. So SPIN's version of the model subtracts it where the
//! model reads the number of processes.

use super::causes::{Comparison, compare_counts, padded};
use super::spillway_answers::{self, Answer, Explored};
use super::tools::{self, ToolAnswer, ToolOutcome};
use spillway::front::promela;
use std::path::Path;

/// The maximum factor by which an additional process increases the number of states.
const STATES_FACTOR: usize = 4;

/// Returns the documented cause whose removal makes the answers equal, if there is one.
pub fn cause(text: &str, ours: &Explored, folder: &Path) -> Option<&'static str> {
    let (system, claim) = text.split_once("never {")?;
    if !is_same(system, folder) {
        return None;
    }
    let theirs = spin(text, folder)?;
    if matches!(compare_counts(text, ours, &theirs), Comparison::Same) {
        return Some("SPIN counts a claim as a process");
    }
    // The verdict must be equal with the cause included.
    if (ours.findings() > 0) != (theirs.errors > 0) {
        return None;
    }
    let moving = format!("{system}active proctype Moving() {{ do :: true -> true od }}\n");
    let endless = format!("{}; false }}\n", claim.trim_end().strip_suffix('}')?);
    let changes = [
        (system, endless.as_str(), "SPIN tells of the end of a claim again"),
        (&moving, claim, "a claim where the system stands still or has ended"),
        (&moving, &endless, "the end of a claim, and a claim where the system stands still"),
    ];
    let mut changes = changes.into_iter();
    let cause =
        changes.find(|(system, claim, _)| is_same(&format!("{system}never {{{claim}"), folder));
    cause.map(|(_, _, cause)| cause)
}

/// Returns whether a model has SPIN's counts.
fn is_same(text: &str, folder: &Path) -> bool {
    let ours = spillway_answers::explore_more(&promela::LANGUAGE, text, STATES_FACTOR);
    let Answer::Explored(ours) = ours else { return false };
    let theirs = spin(text, folder);
    theirs.is_some_and(|theirs| matches!(compare_counts(text, &ours, &theirs), Comparison::Same))
}

/// Returns SPIN's answer for a model, without counting the claim and with all bits stored.
fn spin(text: &str, folder: &Path) -> Option<ToolAnswer> {
    let processes = if text.contains("never {") { "(_nr_pr - 1)" } else { "_nr_pr" };
    match tools::spin(&padded(&text.replace("_nr_pr", processes)), folder) {
        ToolOutcome::Answer(theirs) => Some(theirs),
        _ => None,
    }
}
