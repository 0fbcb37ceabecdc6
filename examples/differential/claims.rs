//! Why a model differs from SPIN under its claim: found by taking a cause away.
//!
//! Without the claim the counts must be the same. Then the model is changed so that one documented
//! cause, or two, cannot be met, and compared again: with a claim that has no end, and with a process
//! more that can always move, so that the system never stands still. What is left of the model must
//! give the same counts. SPIN counts the claim as a process, and we do not; so what SPIN is given
//! takes it off where the model asks.

use super::causes::{Comparison, beside};
use super::ours::{self, Answer};
use super::tools::{self, Ran};
use spillway::front::Language;
use std::path::Path;

/// The documented cause without which a model gives the same, if there is one.
pub fn cause(text: &str, folder: &Path) -> Option<&'static str> {
    let (system, claim) = text.split_once("never {")?;
    if !is_same(system, folder) {
        return None;
    }
    let moving = format!("{system}active proctype Moving() {{ do :: true -> true od }}\n");
    let endless = format!("{}; false }}\n", claim.trim_end().strip_suffix('}')?);
    let tried = [
        (system, claim, "SPIN counts a claim as a process"),
        (system, &endless, "SPIN tells of the end of a claim again"),
        (&moving, claim, "a claim where the system stands still or has ended"),
        (&moving, &endless, "the end of a claim, and a claim where the system stands still"),
    ];
    let mut tried = tried.into_iter();
    let cause =
        tried.find(|(system, claim, _)| is_same(&format!("{system}never {{{claim}"), folder));
    cause.map(|(_, _, cause)| cause)
}

/// Whether a model has the counts of SPIN, given one that does not count the claim.
fn is_same(text: &str, folder: &Path) -> bool {
    let Answer::Explored(ours) = ours::explore(Language::Promela, text) else { return false };
    let claimed = text.contains("never {");
    let processes = if claimed { "(_nr_pr - 1)" } else { "_nr_pr" };
    let Ran::Answer(theirs) = tools::spin(&text.replace("_nr_pr", processes), folder) else {
        return false;
    };
    matches!(beside(text, &ours, &theirs), Comparison::Same)
}
