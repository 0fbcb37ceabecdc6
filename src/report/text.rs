//! Reports as text.

use super::answers::{self, ConditionAnswer, answers};
use super::constraints::constraint_rows;
use super::coverage::never_taken;
use super::lasso::length as length_of_run;
use super::refusals::print_refusal;
use super::steps::{TraceDisplayOptions, TraceHeading, write_steps};
use super::table::{row, row_on_one_line, wrapped};
use super::{
    CheckScope, CounterexampleEnd, CoverWitness, RUST, Report, ShorteningResult, UncheckedSpec,
    ViolationReport,
};
use crate::model::{COVER, EVENTUALLY, HuntedViolation, Violation};
use crate::model::{CompilationStats, InterpretationReason};
use crate::model::{ReductionRefusal, ReductionSummary, TriedCombination};
use crate::numbers::{count, grouped};
use crate::search::SearchVerdict;
use crate::search::memory_plan::ByteCount;
use crate::search::store_stats::StorePart;
use crate::search::trace::Counterexample;
use crate::source::SourceMap;

/// Formats the result of a search, ending in a line break. `ending` is the end of the counterexample, if one is shown.
/// `verbose` adds the costs in full.
pub fn print_result(report: &Report, ending: Option<&CounterexampleEnd>, verbose: bool) -> String {
    let Report { outcome, .. } = report;
    let found = report.violations();
    let (first, broken) = (first(report, ending, &found), violated_eventually(report));
    let answers = answers(report);
    let verdict = verdict(report, ending);
    let mut out = wrapped("", &format!("{}: {verdict}", report.model_name));
    out += &match (ending, first, broken) {
        (Some(ending), ..) => ending.rows(),
        (None, Some(first), _) if first.has_trace() && !answers::has(&answers, first.check) => {
            row("after", &length(first))
        }
        (None, None, Some((_, (before, round)))) => row("after", &length_of_run(before, round)),
        (None, ..) => String::new(),
    };
    let told = ending.map(|it| it.stands_for).or(first.map(|it| it.check));
    if let Some(shortened) = report.shortened {
        out += &row("shortest", &print_shortened("full search", shortened));
    }
    if let Some(HuntedViolation { strategy, transitions, .. }) = &outcome.hunted {
        let transitions = count(*transitions, "transition");
        out += &row("hunt", &format!("{strategy} found the violation; {transitions} of hunts"));
    }
    out += &answers::rows(&answers, &report.further);
    out += &print_others(report, &found, &answers, told, broken.map(|it| it.0));
    let broken = report.eventually.iter().filter(|it| it.broken.is_some());
    let violations = match found.len() + broken.count() {
        0 => String::new(),
        all => format!("{} in ", count(all as u64, "violation")),
    };
    let counted = outcome.counters.labelled();
    let counted = counted.filter_map(|(counter, value)| Some(count(value, counter.noun?)));
    let mut counts = vec![count(outcome.states(), "state")];
    counts.extend(counted);
    counts.push(count(outcome.levels.len() as u64, "level"));
    counts.push(count(outcome.deadlocks(), "deadlock"));
    let memory = ByteCount(report.peak_rss_bytes);
    let took = format!("{:.1} s, {memory} of memory", report.seconds);
    out += &row("found", &format!("{violations}{}; {took}", counts.join(", ")));
    out += &generated(report);
    out += &constraint_rows(report.constraints());
    out += &row("checked", &report.scope.checked());
    out += &print_scope(report.scope);
    out += &print_errors(report);
    out += &print_reductions(report, verbose);
    out += &never_taken(report, verbose).map_or(String::new(), |told| row("never executed", &told));
    if let Some(claim) = report.claim {
        out += &row("claim", &format!("{claim}; deadlocks are not checked"));
    }
    if verbose {
        out += &print_costs(report);
    } else if let Some(compiled) = report.compiled.as_ref().filter(|it| is_slow(it)) {
        out += &row("run", &print_compiled(compiled));
    }
    out + &print_kept(report)
}

/// Formats the number of generated states, if users of the language compare it.
fn generated(report: &Report) -> String {
    let Some(generated) = report.generated() else { return String::new() };
    let initial = count(report.outcome.counters.initial, "initial state");
    row("generated", &format!("{} with {initial}", count(generated, "state")))
}

/// Returns the verdict as a sentence.
pub fn print_verdict(report: &Report) -> String {
    verdict(report, None)
}

/// Returns the verdict as a sentence. `ending` is the end of the counterexample, if one is shown.
pub(super) fn verdict(report: &Report, ending: Option<&CounterexampleEnd>) -> String {
    let (found, answers) = (report.violations(), answers(report));
    let first = first(report, ending, &found);
    // Another violation takes precedence over answers.
    if first.is_none_or(|it| answers::has(&answers, it.check))
        && let Some(summary) = answers::summary(&answers, &report.further)
    {
        return summary;
    }
    match (report.verdict(), first, violated_eventually(report)) {
        (SearchVerdict::Verified, ..) => print_verified(report),
        (SearchVerdict::Violated, Some(first), _) => format!("VIOLATED: {}", headline(first)),
        (SearchVerdict::Violated, None, Some((name, _))) => {
            format!("VIOLATED: {EVENTUALLY}: {name}")
        }
        (SearchVerdict::Violated, None, None) => "VIOLATED".to_owned(),
        (SearchVerdict::Incomplete, ..) => "incomplete: the search is not complete".to_owned(),
    }
}

/// Returns the violation that is reported first: that of the counterexample that is shown, or the shallowest.
fn first<'r>(
    report: &Report,
    ending: Option<&'r CounterexampleEnd>,
    found: &'r [ViolationReport],
) -> Option<&'r ViolationReport> {
    let is_violated = report.verdict() == SearchVerdict::Violated;
    ending.map(|it| &it.violation).or(found.first().filter(|_| is_violated))
}

/// Returns the first violated `eventually` property, with the lengths of its run.
fn violated_eventually<'r>(report: &'r Report) -> Option<(&'r String, (u64, u64))> {
    report.eventually.iter().find_map(|it| Some((&it.name, it.broken?)))
}

/// Formats the reductions in use, and with `verbose` those that are not used.
fn print_reductions(report: &Report, verbose: bool) -> String {
    let mut out = String::new();
    for ReductionSummary { name, preserves, effect: did, proviso, .. } in &report.reductions {
        let did = did.as_ref().map_or(String::new(), |did| format!(": {did}"));
        let proviso = proviso.map_or(String::new(), |proviso| format!("; proviso: {proviso}"));
        out += &row("reduced", &format!("by {name}, which preserves {preserves}{did}{proviso}"));
    }
    // Rust types have no reductions.
    if report.reductions.iter().any(|it| !it.is_of_model) && report.language != RUST {
        out += &row("", "off: --reduce none");
    }
    for ReductionRefusal { name, reason: why, .. } in report.unused.iter().filter(|_| verbose) {
        out += &row("not reduced", &format!("by {name}: {}", print_refusal(why)));
    }
    if let Some(states) = report.trial.restarted_after {
        let states = count(states, "state");
        let why = "choosing transitions cost more than it saved";
        out += &row("restarted", &format!("after {states}, since {why}"));
    }
    let tried = report.trial.tried.iter().filter(|_| verbose);
    out + &tried.map(|it| row("tried", &print_combination(it))).collect::<String>()
}

/// Formats a combination of reductions that was compared with others.
fn print_combination(it: &TriedCombination) -> String {
    let name = match it.reductions.is_empty() {
        true => "no further reduction".into(),
        false => it.reductions.join(", "),
    };
    let chosen = if it.is_chosen { "; chosen" } else { "" };
    let states = match it.complete {
        Some(states) => format!("{} in all", count(states, "state")),
        None => format!("{} of the states", percent(it.states)),
    };
    format!("{name}: {states}, {} of the work{chosen}", percent(it.work))
}

/// Formats a share.
fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if percent < 0.1 => "less than 0.1 %".into(),
        percent if percent < 10.0 => format!("about {percent:.1} %"),
        percent => format!("about {percent:.0} %"),
    }
}

/// Formats the costs of the search: time, memory, disk, and the mode of execution.
fn print_costs(report: &Report) -> String {
    let Report { model, outcome, seconds, .. } = report;
    let rate = outcome.states() as f64 / seconds.max(1e-9);
    let mut out = String::new();
    let memory = ByteCount(report.peak_rss_bytes);
    out += &row("took", &format!("{seconds:.1} s, {} states/s; {memory}", grouped(rate as u64)));
    let each = |bytes: u64, count: u64| bytes as f64 / count.max(1) as f64;
    let written = each(report.disk.written, outcome.states());
    let read = ByteCount(each(report.disk.read, outcome.levels.len() as u64) as u64);
    let disk = ByteCount(report.disk.peak);
    out += &row(
        "disk",
        &format!("at most {disk}; {written:.2} bytes written per state, {read} read per level"),
    );
    out += &row("state", &format!("{} bits", model.bits()));
    if !report.parts.is_empty() {
        let part = |part: &StorePart| {
            let [memory, disk] = [part.memory, part.disk].map(|it| each(it, outcome.states()));
            format!("{} {memory:.2} + {disk:.2}", part.kind.name())
        };
        let parts: Vec<_> = report.parts.iter().map(part).collect();
        out += &row("store", &format!("bytes per state in memory + on disk: {}", parts.join(", ")));
    }
    if let Some(rebuilt) = report.rebuilt {
        let states = count(rebuilt.states, "state");
        let suspects = count(rebuilt.suspects, "suspect");
        let actions = each(rebuilt.actions, rebuilt.states);
        let told = format!("{states} reconstructed for {suspects}, {actions:.2} actions each");
        out += &row("", &told);
    }
    if let Some(compiled) = &report.compiled {
        out += &row("run", &print_compiled(compiled));
    }
    out
}

/// Formats the verdict without violations: a proof of the checked properties. It is qualified if the model has others.
fn print_verified(report: &Report) -> String {
    let Report { scope, outcome, .. } = report;
    let clean = "no violation was found";
    let all_asked = scope.unchecked.is_empty() && scope.unjudged_states(outcome) == 0;
    let has_views = report.model.capabilities().views.is_some();
    if report.constraints().next().is_some() {
        let visited = "every state within it was visited";
        return match (scope.cut_off_steps(outcome), all_asked) {
            (0, true) => format!("verified within the constraint: {visited}, {clean}"),
            (0, false) => format!("within the constraint, {visited}, {clean}"),
            _ => format!("within the constraint, {clean}"),
        };
    }
    let visited = match report.reductions.iter().any(|it| it.proviso.is_some()) {
        _ if has_views => "every value of the view was visited",
        false => "every reachable state was visited",
        true => "every state of the reduced system was visited",
    };
    match (scope.cut_off_steps(outcome), all_asked) {
        (0, true) => format!("verified: {visited}, {clean}"),
        (0, false) => format!("{visited}, {clean}"),
        _ => clean.to_owned(),
    }
}

/// Formats the consequences of unchecked errors.
fn print_errors(report: &Report) -> String {
    let Report { scope, outcome, .. } = report;
    let mut out = String::new();
    let (steps, states) = (scope.cut_off_steps(outcome), scope.unjudged_states(outcome));
    if steps > 0 {
        let steps = count(steps, "step");
        let what = "ended in errors that were not checked; their successors were not visited";
        out += &row("", &format!("{steps} {what}"));
    }
    if states > 0 {
        let states = count(states, "state");
        out += &row(
            "",
            &format!("in {states}, the evaluation of a property ended in an unchecked error"),
        );
    }
    out
}

/// Formats the unchecked properties, a line for each reason. Empty if there are none.
pub fn print_scope(scope: &CheckScope) -> String {
    let mut out = print_unchecked(&scope.unchecked);
    if !scope.left_out.is_empty() {
        out += &row("not checked", &scope.left_out.join(", "));
    }
    out
}

/// Formats the unchecked properties of a model, with the flags that check them. Empty if there are none.
pub fn print_unchecked(unchecked: &[UncheckedSpec]) -> String {
    if unchecked.is_empty() {
        return String::new();
    }
    let mut out = row("NOT checked", &unchecked_names(unchecked));
    let mut flags: Vec<&str> = unchecked.iter().filter_map(|it| it.flag.as_deref()).collect();
    flags.dedup();
    if !flags.is_empty() {
        let named = flags.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
        let more = if flags.len() > NAMED { ", ..." } else { "" };
        out += &row("", &format!("use {named}{more}"));
    }
    out
}

/// The maximum number of names of each kind in text.
const NAMED: usize = 5;

/// Formats the unchecked properties of the model, each with its file and line.
fn unchecked_names(all: &[UncheckedSpec]) -> String {
    let mut words = Vec::new();
    for sort in all.chunk_by(|one, other| one.what == other.what) {
        for UncheckedSpec { what, name, place, .. } in sort.iter().take(NAMED) {
            words.push(match place {
                Some(place) => format!("{what} {name} ({})", place.line()),
                None => format!("{what} {name}"),
            });
        }
        let more = sort.len().saturating_sub(NAMED);
        if more > 0 {
            words.push(format!("{} more", count(more as u64, sort[0].what)));
        }
    }
    words.join(", ")
}

/// Returns whether a model was interpreted although compiled code would have been faster.
fn is_slow(compiled: &Result<CompilationStats, InterpretationReason>) -> bool {
    !matches!(compiled, Ok(_) | Err(InterpretationReason::FewStates))
}

/// Formats the mode of execution of a model.
pub fn print_compiled(compiled: &Result<CompilationStats, InterpretationReason>) -> String {
    match compiled {
        &Ok(CompilationStats { time, bytes, interpreted }) => {
            let left = match interpreted {
                0 => String::new(),
                some => format!(", {} interpreted", count(some as u64, "action")),
            };
            let (seconds, code) = (time.as_secs_f64(), ByteCount(bytes as u64));
            format!("compiled in {seconds:.2} s to {code} of machine code{left}")
        }
        Err(why) => format!("interpreted, {why}"),
    }
}

/// Formats a violation and its position, in one or more lines.
pub fn print_violated(violation: &ViolationReport) -> String {
    wrapped("", &print_violation(violation))
}

/// Formats a violation and its position as a sentence.
pub fn print_violation(violation: &ViolationReport) -> String {
    format!("VIOLATED: {}", headline(violation))
}

/// Formats a violation and its position.
fn headline(violation: &ViolationReport) -> String {
    let ViolationReport { kind, name, place, .. } = violation;
    let place = place.as_ref().map_or(String::new(), |place| format!(" at {place}"));
    let nowhere = match violation.has_trace() {
        true => String::new(),
        false => format!(", {}", violation.place_without_trace()),
    };
    format!("{kind}: {name}{place}{nowhere}")
}

/// Formats the known length of the path to a violation without reconstructing it, and the number of violations.
fn length(violation: &ViolationReport) -> String {
    let ViolationReport { depth, shortest, in_levels, .. } = violation;
    let depth = count(*depth, "step");
    let depth = match (in_levels, shortest) {
        (true, _) => format!("{depth} at least"),
        (false, true) => format!("{depth} (shortest)"),
        (false, false) => format!("{depth} at most"),
    };
    depth + &violation.all()
}

/// Formats the result of the search for a shorter counterexample. `how` describes that search.
pub fn print_shortened(how: &str, told: ShorteningResult) -> String {
    let ShorteningResult { below, states, depth, is_done } = told;
    let (states, below) = (count(states, "state"), count(below, "step"));
    let least = depth.map(|depth| count(depth, "step"));
    match (least, is_done) {
        (Some(least), true) => format!("{how}: the minimum is {least} ({states})"),
        (None, true) => format!("{how}: none has less than {below} ({states})"),
        (least, false) => {
            let found = least.map_or(String::new(), |it| format!("found one of {it}, "));
            format!("{how}: {found}stopped at {states}; there may be a shorter counterexample")
        }
    }
}

/// Formats the directory of the search, and the commands for it.
fn print_kept(report: &Report) -> String {
    match (&report.dir, report.language, report.verdict()) {
        (Some(dir), RUST, SearchVerdict::Incomplete) => {
            let next = "check again with this directory to resume";
            row("kept in", dir) + &row("next", next)
        }
        (Some(dir), RUST, _)
        | (Some(dir), _, SearchVerdict::Verified | SearchVerdict::Incomplete) => {
            row("kept in", dir)
        }
        (None, RUST, _) | (None, _, SearchVerdict::Verified | SearchVerdict::Incomplete) => {
            String::new()
        }
        (dir, _, SearchVerdict::Violated) => print_next(dir.as_deref(), &report.next),
    }
}

/// Formats the directory of the search, if it is kept, and the commands that show its counterexample. Each command is
/// on one line, so that it can be copied.
pub fn print_next(dir: Option<&str>, next: &[String]) -> String {
    let kept = dir.map_or(String::new(), |dir| row("kept in", dir));
    let labels = std::iter::once("next").chain(std::iter::repeat(""));
    let lines = next.iter().zip(labels);
    lines.fold(kept, |out, (command, label)| out + &row_on_one_line(label, command))
}

/// Formats the results other than the violation that is already reported.
fn print_others(
    report: &Report,
    found: &[ViolationReport],
    answers: &[ConditionAnswer],
    told: Option<Violation>,
    broken: Option<&String>,
) -> String {
    let mut out = String::new();
    let is_violated = report.verdict() == SearchVerdict::Violated;
    let is_answered = |check| answers::has(answers, check);
    let others = found.iter().filter(|it| Some(it.check) != told && !is_answered(it.check));
    for violation in others {
        let length = length(violation);
        let label = if is_violated { "also" } else { "violated" };
        let after = if violation.has_trace() { format!(", after {length}") } else { String::new() };
        out += &row(label, &format!("{}{after}", headline(violation)));
    }
    let others = report.eventually.iter().filter(|it| Some(&it.name) != broken);
    for (name, (before, round)) in others.filter_map(|it| Some((&it.name, it.broken?))) {
        let length = length_of_run(before, round);
        out += &row("also", &format!("{EVENTUALLY}: {name}, after {length}"));
    }
    let examples = report.examples().into_iter().filter(|it| !is_answered(it.check));
    for CoverWitness { kind, name, states, depth, .. } in examples {
        // Rumur also counts states that satisfy a cover property.
        let times = match kind {
            COVER => format!("in {}, ", count(states, "state")),
            _ => String::new(),
        };
        out += &row(kind, &format!("{name}: {times}first after {}", count(depth, "step")));
    }
    out
}

/// Writes a counterexample: the initial state, then each step with its changes. The text is written in pieces, since
/// the whole may exceed the memory.
pub fn write_trace(
    sources: &SourceMap,
    view: &TraceDisplayOptions,
    ending: &CounterexampleEnd,
    trace: &Counterexample,
    write: &mut dyn FnMut(&str),
) {
    let title = ending.title();
    let heading = TraceHeading { what: "counterexample", title: &title };
    let mut names =
        ending.with_steps(trace, |course| write_steps(sources, view, course, &heading, write));
    let end = super::counterexample_end::end(&ending.violation, &mut |it| names.name(it));
    write(&end.map_or(String::new(), |it| wrapped("       ", &it)));
}
