//! Reports as JSON, one object each.

use super::answers;
use super::changes::{StepValues, ValueChange, changes};
use super::coverage;
use super::refusals::print_refusal;
use super::steps::each_step;
use super::values::{pairs, value, with_place};
use super::{
    CheckScope, CounterexampleEnd, CoverWitness, EventuallyResult, NamedValues, Report,
    ShorteningResult, UncheckedSpec, ViolationReport,
};
use crate::model::{HuntedViolation, ReductionRefusal, ReductionSummary, TriedCombination};
use crate::model::{StepDescription, StepOutcome};
use crate::search::comback::RebuildStats;
use crate::search::store_stats::StorePart;
use crate::search::trace::Counterexample;
use crate::source::SourceMap;
use serde_json::{Map, Value, json};

/// Returns the verdict on an `eventually` property.
pub fn promise_as_json(promise: &EventuallyResult) -> Value {
    let verdict = match (promise.broken, promise.is_open) {
        (Some(_), _) => "violated",
        (None, true) => "incomplete",
        (None, false) => "verified",
    };
    json!({
        "name": promise.name,
        "verdict": verdict,
        "stem": promise.broken.map(|(stem, _)| stem),
        "cycle": promise.broken.map(|(_, cycle)| cycle),
    })
}

/// Returns the result of a search, with the warnings.
pub fn result_as_json(report: &Report, warnings: &[String]) -> Value {
    let Report { model, outcome, seconds, .. } = report;
    let found = report.violations();
    let code = report.compiled.as_ref().and_then(|it| it.as_ref().ok());
    let mut object = json!({
        "model": report.model_name,
        "language": report.language,
        "verdict": outcome.verdict.name(),
        "states": outcome.states(),
        "levels": outcome.levels.len(),
        "deadlocks": outcome.deadlocks(),
        "violations": found.iter().map(violation).collect::<Vec<_>>(),
        "answers": answers::as_json(report),
        "examples": report.examples().iter().map(example).collect::<Vec<_>>(),
        "state_bits": model.bits(),
        "key_order": report.key_order,
        "store": report.store,
        "store_parts": report.parts.iter().map(part).collect::<Map<_, _>>(),
        "rebuilt": report.rebuilt.map(rebuilt),
        "exec": report.compiled.as_ref().map(|it| if it.is_ok() { "jit" } else { "interp" }),
        "compile_seconds": code.map(|it| it.time.as_secs_f64()),
        "code_bytes": code.map(|it| it.bytes),
        "seconds": seconds,
        "states_per_second": outcome.states() as f64 / seconds.max(1e-9),
        "peak_rss_bytes": report.peak_rss_bytes,
        "disk_bytes_peak": report.disk.peak,
        "disk_bytes_written": report.disk.written,
        "disk_bytes_read": report.disk.read,
        "store_bytes": report.store_bytes,
        "reductions": report.reductions.iter().map(|it| &it.name).collect::<Vec<_>>(),
        "reduced": report.reductions.iter().map(reduction_as_json).collect::<Vec<_>>(),
        "not_reduced": report.unused.iter().map(refusal_as_json).collect::<Vec<_>>(),
        "tried": report.trial.tried.iter().map(combination_as_json).collect::<Vec<_>>(),
        "shortened": report.shortened.map(shortening_as_json),
        "hunt": outcome.hunted.as_ref().map(hunt_as_json),
        "claim": report.claim,
        "steps_cut_off": report.scope.cut_off_steps(outcome),
        "states_unjudged": report.scope.unjudged_states(outcome),
        "coverage": coverage::as_json(report),
        "warnings": warnings,
        "dir": report.dir,
    });
    for (counter, value) in outcome.counters.labelled() {
        if let Some(member) = counter.json_member {
            object[member] = json!(value);
        }
    }
    for (key, value) in scope(report.scope).into_iter().chain(optional_members(report)) {
        object[key] = value;
    }
    object
}

/// Returns the members that only some results have.
fn optional_members(report: &Report) -> impl Iterator<Item = (&'static str, Value)> {
    let constraints: Vec<&str> = report.constraints().map(|it| it.text).collect();
    let members = [
        ("restarted_after", report.trial.restarted_after.map(|it| json!(it))),
        ("states_generated", report.generated().map(|it| json!(it))),
        ("constraints", (!constraints.is_empty()).then(|| json!(constraints))),
    ];
    members.into_iter().filter_map(|(name, value)| Some((name, value?)))
}

/// Writes the result of a search, with its counterexample as the member of that name, or null.
pub fn write_result(
    report: &Report,
    warnings: &[String],
    shown: Option<&(ViolationReport, Counterexample)>,
    write: &mut dyn FnMut(&str),
) {
    let whole = format!("{:#}", result_as_json(report, warnings));
    write(whole.strip_suffix("\n}").unwrap_or(&whole));
    write(",\n  \"counterexample\": ");
    match shown {
        None => write("null"),
        Some((violation, way)) => write_trace(report.sources, violation, way, "  ", write),
    }
    write("\n}\n");
}

fn reduction_as_json(told: &ReductionSummary) -> Value {
    let ReductionSummary { name, preserves, effect: did, proviso, .. } = told;
    json!({ "name": name, "preserves": preserves.to_string(), "did": did, "proviso": proviso })
}

/// Returns the result of the search for a shorter counterexample.
pub fn shortening_as_json(it: ShorteningResult) -> Value {
    json!({ "below": it.below, "states": it.states, "depth": it.depth, "done": it.is_done })
}

/// Returns how a hunt found the violation that ended the search.
fn hunt_as_json(it: &HuntedViolation) -> Value {
    let HuntedViolation { strategy, transitions, found_depth, .. } = it;
    json!({ "strategy": strategy, "transitions": transitions, "found_depth": found_depth })
}

/// Returns a combination of reductions that was compared with others. Shares are rounded to six digits.
fn combination_as_json(it: &TriedCombination) -> Value {
    let rounded = |share: f64| (share * 1e6).round() / 1e6;
    json!({
        "reductions": it.reductions,
        "samples": it.samples.iter().map(|&share| rounded(share)).collect::<Vec<_>>(),
        "states": rounded(it.states),
        "work": rounded(it.work),
        "complete": it.complete,
        "chosen": it.is_chosen,
    })
}

fn refusal_as_json(refused: &ReductionRefusal) -> Value {
    json!({ "name": refused.name, "why": print_refusal(&refused.reason) })
}

/// Returns the members of a result for the scope: checked and unchecked properties.
pub fn scope(scope: &CheckScope) -> [(&'static str, Value); 3] {
    [
        ("checked", json!(scope.checked)),
        ("left_out", json!(scope.left_out)),
        ("unchecked", unchecked_as_json(&scope.unchecked)),
    ]
}

/// Returns the properties of the model that were not checked.
pub fn unchecked_as_json(all: &[UncheckedSpec]) -> Value {
    let one = |it: &UncheckedSpec| {
        let missed = json!({ "what": it.what, "name": it.name, "flag": it.flag });
        with_place(missed, it.place.as_ref())
    };
    all.iter().map(one).collect()
}

/// Returns the bytes of a part of the store.
fn part(part: &StorePart) -> (String, Value) {
    (part.kind.name().replace([' ', '-'], "_"), json!({ "memory": part.memory, "disk": part.disk }))
}

fn rebuilt(rebuilt: RebuildStats) -> Value {
    json!({
        "suspects": rebuilt.suspects,
        "states": rebuilt.states,
        "actions": rebuilt.actions,
        "from_cache": rebuilt.cached,
    })
}

/// Returns a witness of a reachability property.
fn example(CoverWitness { kind, name, states, depth, .. }: &CoverWitness) -> Value {
    json!({ "kind": kind, "name": name, "states": states, "depth": depth })
}

fn violation(violation: &ViolationReport) -> Value {
    let ViolationReport { kind, name, depth, count, place, .. } = violation;
    let told = json!({ "kind": kind, "name": name, "depth": depth, "count": count });
    with_place(told, place.as_ref())
}

/// Writes a counterexample as an object: the initial state, then each step with its changes. All lines except the
/// first begin with `indent`. The text is written in pieces, since the whole may exceed the memory.
pub fn write_trace(
    sources: &SourceMap,
    violation: &ViolationReport,
    trace: &Counterexample,
    indent: &str,
    write: &mut dyn FnMut(&str),
) {
    let ending = CounterexampleEnd::of(violation, trace, sources);
    let CounterexampleEnd { violation, .. } = &ending;
    let last = trace.last().map(|state| pairs(&trace.describe(state)));
    let [operands, ends_at, disabled] = ending.members();
    let told = json!({
        "kind": violation.kind, "name": violation.name, "depth": trace.depth(), "last_state": last,
        "operands": operands, "ends_at": ends_at, "disabled": disabled,
    });
    let told = with_place(told, violation.place.as_ref());
    write("{\n");
    for (name, value) in told.as_object().into_iter().flatten() {
        write(&format!("{indent}  \"{name}\": {},\n", indent_lines(value, &format!("{indent}  "))));
    }
    write(&format!("{indent}  \"steps\": ["));
    let mut number = 0;
    let inner = format!("{indent}    ");
    each_step(trace, &mut |told, values| {
        let step = step(sources, number, told, values);
        let comma = if number == 0 { "" } else { "," };
        write(&format!("{comma}\n{inner}{}", indent_lines(&step, &inner)));
        number += 1;
    });
    write(&format!("\n{indent}  ]\n{indent}}}"));
}

/// Returns a step with its changes. Step 0 is the initial state.
pub(super) fn step(
    sources: &SourceMap,
    number: u64,
    step: &StepDescription,
    StepValues { before, after }: StepValues<'_>,
) -> Value {
    let places = step.spans.iter().filter_map(|&span| sources.place(span));
    let places: Value = places.map(|it| with_place(json!({}), Some(&it))).collect();
    let mut object = json!({ "step": number, "action": step.name, "places": places });
    if !step.parameters.is_empty() {
        object["parameters"] = pairs(&step.parameters);
    }
    match &step.outcome {
        StepOutcome::Fault(fault) => {
            let calls: Value = fault
                .calls
                .iter()
                .map(|it| {
                    with_place(json!({ "function": it.function }), sources.place(it.span).as_ref())
                })
                .collect();
            let error = json!({ "message": fault.message, "calls": calls });
            object["error"] = with_place(error, sources.place(fault.span).as_ref());
            if fault.reached.is_some() {
                object["changes"] = changes_as_json(before, after);
            }
        }
        StepOutcome::Successor(_) if number == 0 => object["state"] = pairs(after),
        StepOutcome::Successor(_) => object["changes"] = changes_as_json(before, after),
    }
    object
}

/// Returns the changes of a step. The changes of a failing step are those before the failure.
fn changes_as_json(before: &NamedValues, after: &NamedValues) -> Value {
    let told = |ValueChange { name, old, new }| (name, json!([old.map(value), new.map(value)]));
    let changes = changes(before, after).into_iter().map(told);
    changes.collect::<Map<_, _>>().into()
}

/// Formats a value. All lines except the first begin with `indent`.
fn indent_lines(value: &Value, indent: &str) -> String {
    format!("{value:#}").replace('\n', &format!("\n{indent}"))
}
