//! Comparison of Spillway's answer with the reference tool's: equal, different, or different as documented.
//!
//! A cause is recognised by the tool's messages or by the model's constructs. The parts that the cause does not affect
//! must still be equal.

use super::claims;
use super::spillway_answers::{Answer, Explored};
use super::tools::{self, ToolAnswer, ToolOutcome};
use spillway::front::{Language, murphi, promela};
use spillway::model::FaultKind;
use std::path::Path;
use std::sync::OnceLock;

/// The result of comparing two answers.
pub enum Comparison {
    /// The answers are equal.
    Same,
    /// There is only Spillway's answer. Contains the reason.
    None(String),
    /// The answers differ as documented.
    Explained(&'static str),
    /// Both tools reject the text, or only the reference tool does. Contains the reason.
    Refused(String),
    /// The answers differ. Contains a description.
    Different(String),
}

/// Returns the tool that is the reference of a language, if it is installed.
pub fn tool(language: &Language) -> Option<&'static str> {
    static SPIN: OnceLock<bool> = OnceLock::new();
    static RUMUR: OnceLock<bool> = OnceLock::new();
    let (installed, command, flag, name) = match language.name {
        "promela" => (&SPIN, "spin", "-V", "SPIN"),
        "murphi" => (&RUMUR, "rumur", "--version", "Rumur"),
        _ => return None,
    };
    installed.get_or_init(|| tools::is_installed(command, flag)).then_some(name)
}

/// Compares Spillway's answer with the reference tool's.
pub fn compare(language: &Language, text: &str, ours: &Answer, folder: &Path) -> Comparison {
    let Some(tool) = tool(language) else {
        return match ours {
            Answer::Refused(why) => Comparison::Different(format!("refused: {why}")),
            _ => Comparison::None("no other tool".into()),
        };
    };
    let theirs = match *language == promela::LANGUAGE {
        true => tools::spin(text, folder),
        false => tools::rumur(text, false, folder),
    };
    match (ours, theirs) {
        (_, ToolOutcome::GaveUp(why)) => Comparison::None(format!("{tool}: {}", first_words(&why))),
        (Answer::Explored(explored), ToolOutcome::Answer(theirs)) => {
            match *language == promela::LANGUAGE {
                true => promela(text, explored, &theirs, folder),
                false => murphi(text, explored, &theirs, folder),
            }
        }
        (Answer::Refused(why), ToolOutcome::Answer(_)) => {
            Comparison::Different(format!("refused, not so by {tool}: {why}"))
        }
        (Answer::Refused(_), ToolOutcome::Refused(why)) => {
            Comparison::Refused(format!("refused by both: {}", first_words(&why)))
        }
        (_, ToolOutcome::Refused(_))
            if *language == murphi::LANGUAGE && has_unsupported_constructs(text) =>
        {
            Comparison::None(format!("{tool} has no unions, multisets and priorities"))
        }
        (_, ToolOutcome::Refused(why)) => {
            Comparison::Refused(format!("refused by {tool}: {}", first_words(&why)))
        }
        (Answer::Large, _) => Comparison::None("too many states".into()),
    }
}

/// Returns whether a Murphi model contains constructs that Rumur does not support.
fn has_unsupported_constructs(text: &str) -> bool {
    let priority = |it: &str| it.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
    text.contains("union {")
        || text.contains("multiset [")
        || text.split("rule ").skip(1).any(priority)
}

/// Returns the first words of a message, without numbers and positions.
fn first_words(text: &str) -> String {
    let line = text.lines().find(|line| line.contains("Error")).or(text.lines().next());
    let line = line.unwrap_or_default().rsplit("Error: ").next().unwrap_or_default();
    line.chars().filter(|c| !c.is_ascii_digit()).take(70).collect()
}

/// Compares with SPIN. If the answers differ, it looks for a documented cause: state bits that SPIN does not store, or
/// the effect of a claim.
fn promela(text: &str, ours: &Explored, theirs: &ToolAnswer, folder: &Path) -> Comparison {
    let first = compare_counts(text, ours, theirs);
    let Comparison::Different(how) = first else { return first };
    if has_priorities(text)
        && let ToolOutcome::Answer(theirs) = tools::spin(&padded(text), folder)
        && !matches!(compare_counts(text, ours, &theirs), Comparison::Different(_))
    {
        return Comparison::Explained("SPIN does not store all bits beside a priority");
    }
    let cause = claims::cause(text, ours, folder);
    cause.map_or(Comparison::Different(how), Comparison::Explained)
}

fn has_priorities(text: &str) -> bool {
    text.contains(" priority ")
}

/// Adds a variable to each process of a model with priorities.
///
/// SPIN computes the size of a process without the byte of its priority. So if all last locals are bits, it omits as
/// many of them from the stored state.
pub(super) fn padded(text: &str) -> String {
    if !has_priorities(text) {
        return text.to_owned();
    }
    let begins_process = |line: &str| {
        let is_process = ["active", "proctype", "init"].iter().any(|it| line.starts_with(it));
        is_process && line.contains('{')
    };
    let padded_line = |line: &str| match begins_process(line) {
        true => line.replacen('{', "{ byte padding;", 1) + "\n",
        false => format!("{line}\n"),
    };
    text.lines().map(padded_line).collect()
}

/// Compares arrivals at states, the initial one included, and errors of any kind.
pub(super) fn compare_counts(text: &str, ours: &Explored, theirs: &ToolAnswer) -> Comparison {
    let outcome = &ours.outcome;
    let counts = (outcome.states(), outcome.counters.transitions + 1, ours.findings());
    let their_counts = (theirs.states, theirs.transitions, theirs.errors);
    let message = theirs.messages.concat();
    if counts == their_counts && is_first(ours, &message) {
        return Comparison::Same;
    }
    // Only the first of SPIN's messages is known, but SPIN's other stops occur in no generated model.
    let blocked = ours.faults(|kind| kind == FaultKind::Error);
    if theirs.stopped && blocked > 0 && text.contains("d_step") {
        return Comparison::Explained("SPIN stops its search where a d_step blocks");
    }
    // No generated index leaves its array, so the error is a reference to a process that has ended.
    if text.contains("]:") && ours.faults(|kind| kind == FaultKind::Index) > 0 {
        return Comparison::Explained(
            "a variable of a process that is gone is 0 in SPIN's verifier",
        );
    }
    Comparison::Different(format!(
        "states, arrivals, errors: ours {counts:?}, SPIN's {their_counts:?}\nours: {}\nSPIN: {message}{}",
        ours.findings_text(),
        if theirs.stopped { " (stopped)" } else { "" }
    ))
}

/// Returns whether SPIN's first error is among those found.
fn is_first(ours: &Explored, message: &str) -> bool {
    let asserted = ours.faults(|kind| kind == FaultKind::Assertion);
    match message {
        _ if message.contains("invalid end state") => ours.outcome.deadlocks() > 0,
        // Errors of other kinds are assertions of its verifier.
        _ if message.contains("assertion violated") => asserted > 0 || ours.faults(|_| true) > 0,
        _ => true,
    }
}

/// Compares with Rumur: states that violate no invariant, rules fired, and errors of each kind.
fn murphi(text: &str, ours: &Explored, theirs: &ToolAnswer, folder: &Path) -> Comparison {
    let counted = ours.rumur_counts();
    let of = |what: &str| theirs.messages.iter().filter(|it| it.contains(what)).count() as u64;
    let (invariants, deadlocks) = (of("invariant ") + of("invariant&quot;"), of("deadlock"));
    let others = theirs.errors - invariants - deadlocks;
    let counts = (counted.states, counted.rules, counted.faults, counted.broken, counted.deadlocks);
    let their_counts = (theirs.states, theirs.transitions, others, invariants, deadlocks);
    if counts == their_counts {
        return match text.contains("scalarset") && counted.rules.is_multiple_of(4) {
            true => compare_reduced(text, ours, folder),
            false => Comparison::Same,
        };
    }
    let undefined = theirs.messages.iter().any(|it| it.contains("undefined value"));
    if undefined {
        return Comparison::Explained(
            "Rumur takes copying or comparing an undefined value for an error",
        );
    }
    let mut messages = theirs.messages.clone();
    messages.dedup();
    Comparison::Different(format!(
        "states, rules, errors, invariants, deadlocks: ours {counts:?}, Rumur's {their_counts:?}\n\
         ours: {}\nRumur: {}",
        ours.findings_text(),
        messages.join("; ")
    ))
}

/// Compares with Rumur's verdict under symmetry reduction.
fn compare_reduced(text: &str, ours: &Explored, folder: &Path) -> Comparison {
    let ToolOutcome::Answer(theirs) = tools::rumur(text, true, folder) else {
        return Comparison::Same;
    };
    let verdict = ours.findings() > 0;
    match verdict == (theirs.errors > 0) {
        true => Comparison::Same,
        false => Comparison::Different(format!("with symmetry Rumur finds {:?}", theirs.messages)),
    }
}
