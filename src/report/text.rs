//! Reports as text.

use super::{Report, Values, Violation, changes, violations};
use crate::exec::jit::Compiled;
use crate::exec::{Model, Outcome as StepOutcome, Step};
use crate::search::Verdict;
use crate::search::plan::Bytes;
use crate::search::trace::Counterexample;
use crate::search::visited::Part;
use crate::source::Sources;
use std::fmt::Write;

/// The result of a search, ending in a line break.
pub fn print_result(report: &Report) -> String {
    let Report { model, outcome, .. } = report;
    let found = violations(*model, report.sources, report.limits, outcome);
    let mut out = String::new();
    let verdict = match outcome.verdict {
        Verdict::Verified => "verified: every reachable state was visited".to_string(),
        Verdict::Violated => format!("VIOLATED: {}", count(found.len() as u64, "violation")),
        Verdict::Incomplete => "incomplete: stopped before the end".to_string(),
    };
    let seconds = report.seconds;
    let rate = outcome.states() as f64 / seconds.max(1e-9);
    // Writing to a string does not fail.
    let _ = writeln!(out, "{}: {verdict}", report.model_name);
    let _ = writeln!(
        out,
        "  {}, {}, {}, {}",
        count(outcome.states(), "state"),
        count(outcome.transitions, "transition"),
        count(outcome.levels.len() as u64, "level"),
        count(outcome.deadlocks(), "deadlock"),
    );
    if !report.reductions.is_empty() {
        let _ = writeln!(out, "  reduced by {}", report.reductions.join(", "));
    }
    if let Some(claim) = report.claim {
        let _ = writeln!(out, "  with the claim {claim}, which leaves deadlocks out");
    }
    let _ = writeln!(
        out,
        "  {seconds:.1} s, {rate:.0} states/s, {} bits a state; at most {} of memory and {} of disk",
        model.bits(),
        Bytes(report.peak_rss_bytes),
        Bytes(report.disk.peak),
    );
    let each = |bytes: u64, count: u64| bytes as f64 / count.max(1) as f64;
    let _ = writeln!(
        out,
        "  {:.2} bytes written a state, {} read a level",
        each(report.disk.written, outcome.states()),
        Bytes(each(report.disk.read, outcome.levels.len() as u64) as u64),
    );
    if !report.parts.is_empty() {
        let part = |part: &Part| {
            let [memory, disk] = [part.memory, part.disk].map(|it| each(it, outcome.states()));
            format!("{} {memory:.2} + {disk:.2}", part.kind.name())
        };
        let parts: Vec<_> = report.parts.iter().map(part).collect();
        let _ = writeln!(out, "  bytes a state in memory + on disk: {}", parts.join(", "));
    }
    if let Some(rebuilt) = report.rebuilt {
        let _ = writeln!(
            out,
            "  {} rebuilt for {}, {:.2} actions each",
            count(rebuilt.states, "state"),
            count(rebuilt.suspects, "suspect"),
            each(rebuilt.actions, rebuilt.states),
        );
    }
    if let Some(compiled) = report.compiled {
        let _ = writeln!(out, "  {}", print_compiled(compiled));
    }
    for violation in &found {
        let _ = writeln!(out, "  {}", print_violation(violation));
    }
    if let Some(dir) = &report.dir {
        let _ = writeln!(out, "  search directory: {dir}");
    }
    out
}

/// How a model is run.
pub fn print_compiled(compiled: Result<Compiled, &str>) -> String {
    match compiled {
        Ok(Compiled { time, bytes, interpreted }) => {
            let left = match interpreted {
                0 => String::new(),
                some => format!(", {} left to the interpreter", count(some as u64, "action")),
            };
            let (seconds, code) = (time.as_secs_f64(), Bytes(bytes as u64));
            format!("compiled in {seconds:.2} s to {code} of machine code{left}")
        }
        Err(why) => format!("interpreted, {why}"),
    }
}

fn print_violation(violation: &Violation) -> String {
    let Violation { kind, name, depth, count, place, .. } = violation;
    let place = place.as_ref().map_or(String::new(), |place| format!(" at {place}"));
    let first = self::count(*depth, "step");
    format!("{kind}: {name}{place} ({count} found, the first after {first})")
}

/// Writes a counterexample: the initial state, then each step with what it changed. Each piece of text
/// is handed on as it is made: the whole may be more than there is memory for.
pub fn write_trace(
    model: &dyn Model,
    sources: &Sources,
    violation: &Violation,
    trace: &Counterexample,
    write: &mut dyn FnMut(&str),
) {
    let steps = count(trace.depth() as u64, "step");
    write(&format!("counterexample: {}: {}, {steps}\n", violation.kind, violation.name));
    let (mut number, mut before) = (0, Vec::new());
    trace.each_step(&mut |step, state| {
        let after = state.map_or_else(Vec::new, |state| model.describe(state));
        write(&print_step(sources, number, step, (&before, &after)));
        (number, before) = (number + 1, after);
    });
    write(&print_ending(violation));
}

/// A step, the start if it is number 0, and what it changed of the state before.
fn print_step(
    sources: &Sources,
    number: u64,
    step: &Step,
    (before, after): (&Values, &Values),
) -> String {
    let mut out = String::new();
    let places: Vec<_> = step.spans.iter().filter_map(|&span| sources.locate(span)).collect();
    let title = if number == 0 { "initial state" } else { &step.name };
    let places = if number == 0 { String::new() } else { format!("    {}", places.join(" + ")) };
    let _ = writeln!(out, "{number:>5}  {title}{places}");
    match &step.outcome {
        StepOutcome::Fault(fault) => {
            let place = sources.locate(fault.span).unwrap_or_default();
            let _ = writeln!(out, "         error: {} ({place})", fault.message);
        }
        StepOutcome::Successor(_) if number == 0 => {
            for (name, value) in after {
                let _ = writeln!(out, "         {name} = {value}");
            }
        }
        StepOutcome::Successor(_) => {
            for (name, old, new) in changes(before, after) {
                let _ = writeln!(out, "         {name}: {old} -> {new}");
            }
        }
    }
    out
}

/// What is wrong at the end of a counterexample.
fn print_ending(violation: &Violation) -> String {
    let ending = match violation.kind {
        "deadlock" => "no step can be taken here".to_string(),
        "error" => String::new(),
        "claim" => {
            let place = violation.place.as_deref().unwrap_or("the model");
            format!("here the claim `{}` of {place} comes to its end", violation.name)
        }
        kind => {
            let place = violation.place.as_deref().unwrap_or("the model");
            format!("here the {kind} `{}` of {place} does not hold", violation.name)
        }
    };
    if ending.is_empty() { String::new() } else { format!("       {ending}\n") }
}

/// `1 step`, `2 steps`.
fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
