//! Why a model differs from SPIN under its claim: found by taking a cause away.
//!
//! Without the claim the counts must be the same. Then the model is changed so that one documented
//! cause, or two, cannot be met, and compared again: with a claim that has no end, and with a process
//! more that can always move, so that the system never stands still. What is left of the model must
//! give the same counts. SPIN counts the claim as a process, and we do not; so what SPIN is given
//! takes it off where the model asks.

use super::causes::{Comparison, beside, padded};
use super::ours::{self, Answer, Explored};
use super::tools::{self, Ran, Theirs};
use spillway::front::promela;
use std::path::Path;

/// With a process more there are more states, at most so many times.
const MORE: usize = 4;

/// The documented cause without which a model gives the same, if there is one.
pub fn cause(text: &str, ours: &Explored, folder: &Path) -> Option<&'static str> {
    let (system, claim) = text.split_once("never {")?;
    if !is_same(system, folder) {
        return None;
    }
    let theirs = spin(text, folder)?;
    if matches!(beside(text, ours, &theirs), Comparison::Same) {
        return Some("SPIN counts a claim as a process");
    }
    // The verdict must be the same with the cause in.
    if (ours.findings() > 0) != (theirs.errors > 0) {
        return None;
    }
    let moving = format!("{system}active proctype Moving() {{ do :: true -> true od }}\n");
    let endless = format!("{}; false }}\n", claim.trim_end().strip_suffix('}')?);
    let tried = [
        (system, endless.as_str(), "SPIN tells of the end of a claim again"),
        (&moving, claim, "a claim where the system stands still or has ended"),
        (&moving, &endless, "the end of a claim, and a claim where the system stands still"),
    ];
    let mut tried = tried.into_iter();
    let cause =
        tried.find(|(system, claim, _)| is_same(&format!("{system}never {{{claim}"), folder));
    cause.map(|(_, _, cause)| cause)
}

/// Whether a model has the counts of SPIN.
fn is_same(text: &str, folder: &Path) -> bool {
    let ours = ours::explore_more(&promela::LANGUAGE, text, MORE);
    let Answer::Explored(ours) = ours else { return false };
    let theirs = spin(text, folder);
    theirs.is_some_and(|theirs| matches!(beside(text, &ours, &theirs), Comparison::Same))
}

/// What SPIN says of a model in which it does not count the claim and stores all bits.
fn spin(text: &str, folder: &Path) -> Option<Theirs> {
    let processes = if text.contains("never {") { "(_nr_pr - 1)" } else { "_nr_pr" };
    match tools::spin(&padded(&text.replace("_nr_pr", processes)), folder) {
        Ran::Answer(theirs) => Some(theirs),
        _ => None,
    }
}
