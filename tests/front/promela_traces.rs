//! `trace` and `notrace`: each point of their meaning by a small model whose counts SPIN has confirmed.
//!
//! The counts are those of SPIN 6.5.2 (see `promela.rs`). Models with arrays of channels are compiled with
//! `-DNOBOUNDCHECK`.

use super::promela::{assert_counts, counts, load};
use spillway::model::{StepOutcome, SystemDescription, Violation, memory};
use spillway::search::SearchLimits;
use std::process::Command;

#[test]
fn traces_are_matched_event_by_event() {
    let in_order = "
        chan c = [2] of { byte };
        active proctype P() { c!1; c!2; c!1 }
        active proctype Q() { byte v; c?v; c?v; c?v }
        trace { do :: c!1; c!2 od }";
    let out_of_order = "
        chan c = [2] of { byte };
        active proctype P() { c!1; c!2 }
        active proctype Q() { byte v; c?v; c?v }
        trace { c!1; c!3; c!2 }";
    let after_the_end = "
        chan c = [2] of { byte };
        active proctype P() { c!1; c!2; c!3 }
        active proctype Q() { byte v; c?v; c?v; c?v }
        trace { c!1; c!2 }";
    let both_directions = "
        mtype = { ask, yes, no }
        chan out = [1] of { mtype, byte }; chan back = [1] of { mtype };
        active proctype P() { out!ask,1; if :: back?yes -> out!ask,2 :: back?no fi }
        active proctype Q() { byte n; out?ask,n; if :: back!yes; out?ask,n :: back!no fi }
        trace { out!ask,1; out?ask,_; if :: back!yes; back?yes; out!ask,2; out?ask,1 :: back!no; back?no fi }";
    let names_matter = "
        chan c = [1] of { byte }; chan d = [1] of { byte };
        active proctype P() { c!1; d!2; c!3 }
        active proctype Q() { byte v; c?v; d?v; c?v }
        trace { c!1; c!3 }";
    let gotos = "
        chan c = [3] of { byte };
        active proctype P() { c!1; c!2; c!1; c!3 }
        active proctype Q() { byte v; c?v; c?v; c?v; c?v }
        trace { one: c!1; if :: c!2 -> goto one :: c!3 fi }";
    assert_counts(&[
        (in_order, (11, 13, 0)),
        (out_of_order, (8, 9, 2)),
        (after_the_end, (11, 13, 2)),
        (both_directions, (14, 15, 1)),
        (names_matter, (11, 13, 0)),
        (gotos, (16, 21, 0)),
    ]);
}

/// Only the first match counts. A `notrace` ends at an event that it does not match.
#[test]
fn a_notrace_is_violated_when_it_completes() {
    let completes = "
        chan c = [2] of { byte };
        active proctype P() { c!1; c!2 }
        active proctype Q() { byte v; c?v; c?v }
        notrace { c!1; c!2 }";
    let gives_up = "
        chan c = [2] of { byte };
        active proctype P() { c!1; c!3; c!1; c!2 }
        active proctype Q() { byte v; do :: c?v -> if :: v == 2 -> break :: else fi od }
        notrace { c!1; c!2 }";
    let never_ends = "
        chan c = [1] of { byte };
        active proctype P() { c!1; c!2; c!1 }
        active proctype Q() { byte v; c?v; c?v; c?v }
        notrace { do :: c!1; c!2 od }";
    let loop_then = "
        chan c = [1] of { byte };
        active proctype P() { byte n; do :: n < 3 -> n++; if :: c!1 :: c!2 fi :: else -> break od }
        active proctype Q() { byte v; end: do :: c?v od }
        notrace { do :: c!1 :: c!2 -> break od; c!2 }";
    assert_counts(&[
        (completes, (8, 9, 2)),
        (gives_up, (23, 31, 0)),
        (never_ends, (9, 9, 0)),
        (loop_then, (59, 81, 4)),
    ]);
}

/// `eval` is evaluated before the message is stored.
#[test]
fn fields_are_compared_with_the_values_in_the_message() {
    let reduced = "
        chan c = [3] of { byte }; chan s = [1] of { short, bit };
        active proctype P() { byte v = 1; c!257; c!v + 1; s!70000,v; c!v - 2 }
        active proctype Q() { byte x; bit b; short t; c?x; c?x; s?t,b; c?x }
        trace { c!1; c!2; s!4464,1; c!255 }";
    let eval_old = "
        chan c = [3] of { byte }; byte x = 1;
        active proctype P() { c!1; c!2 }
        active proctype Q() { c?x; c?x }
        trace { c?eval(x); c?eval(x) }";
    let eval_of_others = "
        chan c = [1] of { byte }; byte next = 1;
        active proctype P() { c!1; next++; c!2; c!2 }
        active proctype Q() { byte v; c?v; c?v; c?v }
        trace { do :: c?eval(next) od }";
    let fewer_fields = "
        chan c = [2] of { byte, byte };
        active proctype P() { c!1,2; c!2,3 }
        active proctype Q() { byte v, w; c?v,w; c?v,w }
        trace { c!1; c!3 }";
    assert_counts(&[
        (reduced, (17, 23, 0)),
        (eval_old, (8, 9, 1)),
        (eval_of_others, (11, 12, 1)),
        (fewer_fields, (8, 9, 2)),
    ]);
}

#[test]
fn targets_of_a_receive_do_not_affect_the_comparison() {
    let stored_elsewhere = "
        chan c = [3] of { byte, byte, byte }; byte a[3]; byte i;
        init { byte b; c!1,2,3; c!2,5,1; c!0,7,2; c?_,b,_; c?i,a[i],_; assert(a[2] == 5); c?eval(i - 2),_,i; assert(i == 2) }
        trace { c?1,2,3; c?2,5,1; c?0,_,3 }";
    let stored_narrow = "
        chan c = [3] of { byte, short };
        init { bit b; byte v; c!2,300; c?b,v; assert(b == 0 && v == 44); c!3,-1; c?b,_; c!4,4; c?b,v }
        trace { c?2,300; c?3,-1; c?4,5 }";
    let stored_late = "
        chan c = [2] of { byte, byte }; byte v;
        active proctype P() { c!1,2; c!2,1 }
        active proctype Q() { byte w; c?v,w; c?eval(w),v }
        trace { c?1,2; c?2,2 }";
    let elements = "
        chan c[2] = [1] of { byte };
        init { byte i, x; c[i]!1; c[i]?i; c[i]!2; c[0]!3; c[i]?x; assert(x == 2) }
        trace { c[0]!1; c[0]?1; c[0]!4 }";
    assert_counts(&[
        (stored_elsewhere, (10, 10, 1)),
        (stored_narrow, (9, 9, 1)),
        (stored_late, (8, 9, 1)),
        (elements, (8, 8, 1)),
    ]);
}

#[test]
fn a_rendezvous_is_a_send_and_then_a_receive() {
    let meeting = "
        chan c = [0] of { byte };
        active proctype P() { c!5; c!1; c!2 }
        active proctype Q() { byte v; c?v; c?1; c?_ }
        trace { do :: c!5; c?5; c!1; c?1; c!2; c?3 od }";
    let meeting_sends = "
        chan c = [0] of { byte };
        active proctype P() { c!5; c!1 }
        active proctype Q() { byte v; c?v; c?v }
        trace { do :: c!5 :: c!2 od }";
    assert_counts(&[(meeting, (6, 6, 1)), (meeting_sends, (5, 5, 1))]);
}

#[test]
fn channels_are_identified_by_any_name() {
    let by_parameter = "
        chan c = [1] of { byte }; chan d = [1] of { byte };
        proctype P(chan x; byte n) { x!n; x!2 }
        init { byte v; run P(c, 1); run P(d, 3); c?v; c?v; d?v; d?v }
        trace { c!1; c!3 }";
    let by_parameter_meeting = "
        chan c = [0] of { byte }; chan d = [2] of { byte };
        proctype P(chan x) { x!1; x!2 }
        proctype Q(chan x) { byte v; x?v; x?v }
        init { run P(c); run Q(c); run P(d); run Q(d) }
        trace { c!1; c?1; c!3 }";
    let in_variable = "
        chan c = [2] of { byte }; chan e = [2] of { byte }; chan d;
        active proctype P() { c!7; d = c; d!1; d = e; c!4; e!5; d!2 }
        active proctype Q() { byte x; c?x; c?x; c?x; e?x; e?x }
        trace { d!1; d!2 }";
    let in_structure = "
        typedef Link { chan c = [1] of { byte }; chan r = [0] of { bit } }
        Link l;
        active proctype P() { l.c!1; l.r?1; l.c!2 }
        active proctype Q() { byte x; l.c?x; l.r!1; l.c?x }
        trace { l.c!1; l.r!1; l.r?1; l.c!3 }";
    assert_counts(&[
        (by_parameter, (21, 28, 2)),
        (by_parameter_meeting, (83, 137, 32)),
        (in_variable, (25, 35, 3)),
        (in_structure, (8, 8, 1)),
    ]);
}

#[test]
fn polls_and_peeks_are_no_events_and_moved_messages_are() {
    let no_events = "
        chan c = [2] of { byte };
        active proctype P() { c!1; c!2 }
        active proctype Q() { c?[1] -> c?<1>; c?<_>; c??<2>; c?1; c?2 }
        trace { c?1; c?3 }";
    let inside_sequences = "
        chan c = [3] of { byte };
        active proctype P() { atomic { c!1; c!2 }; d_step { c!3; c!5 } }
        active proctype Q() { byte v; atomic { c?v; c?v }; d_step { c?v; c?v } }
        trace { c!1; c!2; c!3; c!4 }";
    let of_a_for = "
        typedef Msg { byte n; bit b }
        chan c = [2] of { Msg };
        active proctype P() { Msg m; m.n = 1; c!m; m.n = 2; c!m; for (m in c) { assert(m.n > 0) } }
        trace { c!1,_; c!2,_; c?1,0; c!1,0; c?2; c!3 }";
    assert_counts(&[
        (no_events, (14, 17, 1)),
        (inside_sequences, (7, 7, 2)),
        (of_a_for, (18, 18, 1)),
    ]);
}

/// This is also SPIN's behaviour for a `notrace`.
#[test]
fn incomplete_traces_are_invalid_end_states_while_processes_remain() {
    let all_gone = "
        chan c = [2] of { byte };
        active proctype P() { c!1 }
        active proctype Q() { byte v; c?v }
        trace { c!1; c!2 }";
    let not_complete = "
        chan c = [2] of { byte };
        active proctype P() { c!1; if :: c!2 :: skip fi }
        active proctype Q() { byte v; end: do :: c?v od }
        trace { c!1; c!2 }";
    let may_end = "
        chan c = [2] of { byte };
        active proctype P() { c!1; c!2; if :: c!1 :: skip fi }
        active proctype Q() { byte v; end: do :: c?v od }
        trace { end: do :: c!1; c!2 od }";
    let notrace_not_complete = "
        chan c = [2] of { byte };
        active proctype P() { if :: c!1; c!2 :: c!2 :: skip fi }
        active proctype Q() { byte v; end: do :: c?v od }
        notrace { c!1; c!3 }";
    assert_counts(&[
        (all_gone, (5, 5, 0)),
        (not_complete, (8, 10, 1)),
        (may_end, (12, 16, 1)),
        (notrace_not_complete, (8, 10, 1)),
    ]);
}

#[test]
fn names_in_unreachable_events_are_observed() {
    let unreached_names = "
        chan c = [1] of { byte }; chan d = [1] of { byte };
        active proctype P() { c!1; d!2 }
        active proctype Q() { byte v; c?v; d?v }
        trace { do :: c!1 od; d!2 }";
    assert_counts(&[(unreached_names, (8, 9, 2))]);
}

/// This is SPIN's behaviour. There is a warning.
#[test]
fn a_jump_of_a_trace_matches_any_event() {
    let a_jump_takes_any = "
        chan c = [3] of { byte };
        active proctype P() { c!2; c!2; c!2 }
        active proctype Q() { byte v; c?v; c?v; c?v }
        trace { do :: c!1 :: break od; c!2; c!3 }";
    assert_counts(&[(a_jump_takes_any, (12, 15, 3))]);
}

/// SPIN compares another message of the channel: the last one for a sorted send, the first one for a random receive. It
/// has two errors in the first model.
#[test]
fn the_sent_or_received_message_is_compared() {
    let sorted = "
        chan c = [3] of { byte };
        active proctype P() { c!!5; c!!1; c!!3 }
        trace { c!5; c!1; c!3 }";
    let random = "
        chan c = [3] of { byte };
        init { byte v; c!1; c!2; c!3; c??2; c??v; c?v }
        trace { c?2; c?1; c?3 }";
    assert_counts(&[(sorted, (5, 5, 0)), (random, (8, 8, 0))]);
}

/// SPIN reports a send by rendezvous as an event even without a receiver. It has two errors here.
#[test]
fn an_incomplete_rendezvous_is_no_event() {
    let model = "chan c = [0] of { byte }; active proctype P() { c!5 } trace { c!1 }";
    assert_eq!(counts(model), (1, 1, 1));
}

/// Returns the texts of the errors of a model.
fn error_texts(model: &str) -> Vec<String> {
    let (interp, _) = load(model).unwrap();
    let limits = SearchLimits { stop_on_violation: false, ..SearchLimits::default() };
    let outcome = memory::search(&interp, &limits).unwrap();
    let mut texts = Vec::new();
    for (check, finding) in outcome.findings.iter() {
        let Violation::Fault(kind, action) = check else {
            texts.push(format!("{check:?}"));
            continue;
        };
        let steps = interp.steps(&finding.witness).into_iter();
        texts.extend(steps.filter(|it| it.action == action).filter_map(|it| match it.outcome {
            StepOutcome::Fault(fault) if fault.kind == kind => {
                Some(format!("{}: {}", kind.violation(), fault.message))
            }
            _ => None,
        }));
    }
    texts
}

#[test]
fn trace_errors_name_the_event_and_the_declaration() {
    let trace = "chan c = [2] of { byte };\ninit { c!1; c!2 }\ntrace { c!1; c!3 }";
    let of_trace = "trace: `c!2` is no event that the trace at model.pml:3:1 allows here";
    let notrace = "chan c = [2] of { byte };\ninit { c!1; c!2 }\n  notrace { c!1; c!2 }";
    let of_notrace = "trace: `c!2` completes the notrace at model.pml:3:3";
    let meeting = "chan c = [0] of { byte };\nactive proctype P() { c!1 }\n\
        active proctype Q() { byte v; c?v }\ntrace { c!2 }";
    let of_meeting = "trace: the send that `c?v` receives is no event that the trace at model.pml:4:1 allows here";
    let several = "chan c = [2] of { byte };\ninit { c!1 }\ntrace { if :: c!1 :: c!_ fi }";
    let of_several = "error: `c!1` is taken by several steps of the trace at model.pml:3:1, which must be \
        deterministic";
    for (model, expected) in
        [(trace, of_trace), (notrace, of_notrace), (meeting, of_meeting), (several, of_several)]
    {
        assert_eq!(error_texts(model), [expected], "{model}");
    }
}

#[test]
fn statements_other_than_events_are_refused() {
    let no_event = "error: a trace has sends and receives only: this is no event";
    let compares = "error: a trace compares fields with constants and global variables only";
    for (body, expected) in [
        ("c!1; skip", no_event),
        ("c!!1", no_event),
        ("c??1", no_event),
        ("c?<1>", no_event),
        ("c?[1]", no_event),
        ("x = 1; c!1", no_event),
        ("assert(x == 1)", no_event),
        ("if :: c!1 :: else fi", no_event),
        ("atomic { c!1 }", no_event),
        ("d_step { c!1 }", no_event),
        ("c!1 unless c!2", no_event),
        ("do :: c!1 od; skip", no_event),
        ("chan e = [1] of { byte }; e!1", "error: e is declared inside the trace"),
        ("c!1,2", "error: this has 2 fields, but messages of the channel have 1"),
        ("c?eval(len(c))", compares),
    ] {
        let text = format!("chan c = [2] of {{ byte }}; byte x; init {{ c!1 }} trace {{ {body} }}");
        let Err(found) = load(&text) else { panic!("{body} is accepted") };
        assert!(found.contains(expected), "{body}\n{found}");
    }
    let two = "chan c = [1] of { bit }; init { c!1 } trace { c!1 } notrace { c!0 }";
    let Err(found) = load(two) else { panic!("two are accepted") };
    assert!(found.contains("the model has a second `trace` or `notrace`: notrace"), "{found}");
    let probing = "chan c = [2] of { byte }; init { c!len(c) } trace { c!0 }";
    let Err(found) = load(probing) else { panic!("{probing} is accepted") };
    assert!(found.contains("a trace compares this value, which asks about channels"), "{found}");
}

/// Every reduction preserves the events of a trace, and so the verdict and the kind of the first violation.
#[test]
fn reductions_keep_the_verdicts_of_traces() {
    const REDUCTIONS: [&str; 12] = [
        "none",
        "por",
        "dead",
        "values",
        "states",
        "merge",
        "slice",
        "confluence",
        "simultaneous",
        "dominate",
        "boring",
        "doomed",
    ];
    let workers = "byte seen;
        chan c = [2] of { byte }; chan done = [1] of { bit };
        active [2] proctype Worker() { byte n, m; n = 1; m = n + 1; c!m; n = 0; done!1 }
        active proctype Reader() { byte v; end: do :: c?v -> seen = v; done?_; v = 0 od }";
    for (end, kind) in [
        (
            "trace { end: do :: c!2; done!1; done?1 :: c!2; c!2; done!_; done?_; done!_; done?_ od }",
            "error",
        ),
        ("trace { end: do :: c!2 :: done!1 :: done?_ od }", ""),
        ("trace { c!2; done!1; done?1; c!2; done!1; done?1 }", "trace"),
        ("trace { do :: c!2 :: done!1 :: done?_ od }", "trace"),
        ("notrace { do :: c!2 -> break :: done!_ od; c!2; done!1; done!1 }", "trace"),
        ("notrace { do :: c!2 -> break od; c!2; done!1; done?1; done!1 }", "trace"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("model.pml");
        std::fs::write(&model, format!("{workers}\n{end}\n")).unwrap();
        for reduction in REDUCTIONS {
            for exec in ["jit", "interp"] {
                let found = violation_kind(&model, &["--reduce", reduction, "--exec", exec]);
                assert_eq!(found, kind, "{end} by {reduction}, {exec}");
            }
        }
    }
}

/// Returns the kind of the first violation that `check` finds, or an empty text if there is none.
fn violation_kind(model: &std::path::Path, flags: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spillway"));
    let output = command.arg("check").arg(model).arg("--json").args(flags).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let json: serde_json::Value =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    match output.status.code() {
        Some(0) => String::new(),
        Some(1) => json["violations"][0]["kind"].as_str().unwrap().to_owned(),
        // A refused reduction has another exit code.
        _ => panic!("{flags:?}: {text}"),
    }
}
