//! Promela: each point of its meaning by a small model whose counts SPIN has confirmed, and the message for each
//! mistake.
//!
//! The counts are those of SPIN 6.5.2: `spin -o1 -o2 -o3 -a`, `cc -DSAFETY -DNOREDUCE`, `pan -c0`. They are the stored
//! states, the transitions and the errors. SPIN counts one more transition: the arrival at the initial state.

use crate::support::error_message::ErrorMessage;
use spillway::exec::{Interp, Jit};
use spillway::front::promela::trail;
use spillway::front::{Options, promela};
use spillway::ir::validate::validate;
use spillway::model::{SystemDescription, Violation, memory};
use spillway::search::SearchLimits;
use spillway::source::SourceMap;

pub(crate) fn load(text: &str) -> Result<(Interp, SourceMap), ErrorMessage> {
    load_as(text, &Options::default())
}

pub(crate) fn load_as(text: &str, options: &Options) -> Result<(Interp, SourceMap), ErrorMessage> {
    let mut sources = SourceMap::default();
    sources.add("model.pml", text);
    match promela::LANGUAGE.load(&mut sources, options) {
        Ok(loaded) => {
            validate(&loaded.program).unwrap();
            Ok((Interp::new(loaded.program).unwrap(), sources))
        }
        Err(found) => {
            let found: Vec<_> = found.iter().map(|it| it.render(&sources).to_string()).collect();
            Err(found.join("\n").into())
        }
    }
}

/// Returns states, transitions and errors, as SPIN counts them.
pub(crate) fn counts(text: &str) -> (u64, u64, u64) {
    counts_as(text, &Options::default())
}

pub(crate) fn counts_as(text: &str, options: &Options) -> (u64, u64, u64) {
    let (model, _) = load_as(text, options).unwrap();
    let limits = SearchLimits { stop_on_violation: false, ..SearchLimits::default() };
    let outcome = memory::search(&model, &limits).unwrap();
    // Processes with priorities are not compiled.
    if !text.contains(" priority ") {
        let compiled = Jit::new(&model).unwrap();
        assert_eq!(
            memory::search(&compiled, &limits).unwrap(),
            outcome,
            "compiled and interpreted"
        );
    }
    // The errors are deadlocks, failing steps and incomplete traces.
    let errors = outcome.findings.iter().map(|(_, finding)| finding.count).sum();
    (outcome.states(), outcome.counters.transitions + 1, errors)
}

/// Checks the counts of small models against SPIN's.
pub(crate) fn assert_counts(models: &[(&str, (u64, u64, u64))]) {
    for (model, expected) in models {
        assert_eq!(counts(model), *expected, "{model}");
    }
}

/// SPIN's `-m` (`spin -o1 -o2 -o3 -a -m`): a message to a full channel is lost, also in `atomic` and `d_step` and in a
/// sorted send. Elements of arrays and variables may denote the channel. A rendezvous loses no message.
#[test]
fn lossy_channels_lose_messages_when_full() {
    let lossy = Options { lossy: true, ..Options::default() };
    for (model, expected) in [
        (
            "chan c = [1] of { byte };
            active proctype S() { byte v; do :: v < 3 -> v++; c!v :: v == 3 -> break od }
            active proctype R() { byte w, last;
                do :: c?w; assert(w > last); last = w; if :: w == 3 -> break :: else fi od }",
            (114, 182, 2),
        ),
        (
            "chan c = [2] of { byte }; chan r = [0] of { bit };
            active proctype S() { c!!3; c!!1; c!!2; r!1 }
            active proctype R() { byte w; r?1; do :: c?w; assert(w != 2) :: empty(c) -> break od }",
            (12, 12, 0),
        ),
        (
            "chan c = [1] of { byte }; byte n;
            active [2] proctype S() { atomic { c!1; c!2 }; d_step { c!3; n++ }; if :: c!4 :: c!5; n++ fi }
            active proctype R() { byte w; do :: c?w; assert(n < 4) :: timeout -> break od }",
            (646, 1495, 12),
        ),
        (
            "chan c[2] = [1] of { byte }; chan pick; byte got;
            active proctype S() { pick = c[1]; { pick!1; c[0]!2; pick!3 } unless { got == 9 };
                assert(full(c[0]) || got > 0) }
            active proctype R() { byte w;
                do :: c[1]?w; got = got + w :: c[0]?w; got = got + w :: got > 5 -> break od }",
            (63, 96, 3),
        ),
    ] {
        assert_eq!(counts_as(model, &lossy), expected, "{model}");
        assert_ne!(counts(model), expected, "{model}");
    }
    let unknown = "chan c = [1] of { byte }; chan r = [0] of { byte }; chan k;
        active proctype P() { k = c; k!1; r!1 }";
    assert!(load(unknown).is_ok());
    let refused = load_as(unknown, &lossy).err().unwrap();
    assert!(
        refused.contains("it is not known whether this channel") && refused.contains("--lossy"),
        "{refused}"
    );
}

/// The widths in SPIN: a `bit` alone has one bit, and in an array a byte. In a message it has one bit, unless it is the
/// only field.
#[test]
fn bits_have_the_widths_of_spin() {
    assert_counts(&[
        ("bit b[2]; active proctype A() { b[0] = 2; assert(b[0] == 0) }", (4, 4, 1)),
        ("bool b[2] = 3; active proctype A() { assert(b[0] == 1); b[0]; b[0] = 2 }", (5, 5, 1)),
        (
            "typedef T { bit b[2]; bit c }; T t; active proctype A() { t.b[1] = 2; t.c = 2; \
          assert(t.b[1] == 0); assert(t.c == 0) }",
            (6, 6, 1),
        ),
        (
            "chan c = [1] of { bit, bit }; int g; int k; \
          init { k = 0 - 1; c!k,1; c?g,_; assert(g == 1) }",
            (6, 6, 0),
        ),
        ("chan c = [1] of { bit }; int g; init { c!2; c?g; assert(g == 2) }", (5, 5, 0)),
    ]);
}

/// Any byte can be sent and stored as a channel, even if there is no such channel.
#[test]
fn channels_are_bytes() {
    assert_counts(&[
        (
            "chan c = [0] of { chan }; active proctype P() { c!2 } active proctype Q() { c?2 }",
            (4, 4, 0),
        ),
        (
            "chan c = [1] of { chan }; int x; chan d; active proctype P() { c!255; c?d; c!d; c?x; \
          assert(x == 255); c!300; c?d; c!d; c?x; assert(x == 44); c!7; c?d; assert(d == 7) }",
            (15, 15, 0),
        ),
        (
            "chan c = [1] of { byte }; chan d; int k; \
          active proctype P() { k = 1000; c!200; c?d; k = d; assert(k == 200) }",
            (7, 7, 0),
        ),
    ]);
}

/// A message may bring a name of one `mtype` set to a variable of another set.
#[test]
fn names_of_another_mtype_set_are_received_unchanged() {
    assert_counts(&[
        (
            "mtype = { a, b, c, d, e }; mtype:f = { x1 }; chan c1 = [1] of { mtype }; \
        mtype:f v; active proctype Q() { c1!e; c1?v; assert(v == 1) }",
            (5, 5, 0),
        ),
        (
            "mtype = { a, b, c, d, e }; mtype:f = { x1 }; typedef T { mtype m; byte n }; T t; \
        chan c1 = [1] of { mtype:f, byte }; byte v, w; \
        active proctype Q() { t.m = a; c1!t; c1?v,w; assert(v == 5) }",
            (6, 6, 0),
        ),
    ]);
}

#[test]
fn select_is_an_if_for_names_of_letters_and_digits() {
    assert_counts(&[
        ("int g0; active proctype A() { select (g0 : 1 .. 1) }", (3, 3, 0)),
        ("int g_; active proctype A() { select (g_ : 1 .. 1) }", (4, 4, 0)),
    ]);
}

/// SPIN moves such a label to a block around both parts.
#[test]
fn a_label_before_an_unless_belongs_to_both_parts() {
    assert_counts(&[(
        "chan c = [1] of { byte }; active proctype A() { bit b; \
        L4: { b = 1 - b; } unless { c?_; }; goto L4 }",
        (2, 3, 0),
    )]);
}

#[test]
fn the_last_mover_is_stored_even_for_unreachable_reads() {
    assert_counts(&[(
        "byte x; active proctype A() { x = 1; x = 2; goto e; if :: (_last == 1) -> skip fi; \
         e: skip } active proctype B() { x = 3; x = 4 }",
        (33, 45, 0),
    )]);
}

#[test]
fn the_body_of_a_for_may_begin_with_a_label() {
    assert_counts(&[("byte i; active proctype A() { for (i : 1 .. 2) { L: skip } }", (10, 10, 0))]);
}

#[test]
fn an_unless_in_a_d_step_is_ignored() {
    assert_counts(&[(
        "byte i; active proctype A() \
        { d_step { { i = 1; i = 2 } unless { i == 1 -> i = 3 } }; assert(i == 2) }",
        (4, 4, 0),
    )]);
}

/// After a rendezvous has ended the atomic sequence, control is at the end of the options. SPIN's verifier has no
/// escapes there.
#[test]
fn the_end_of_options_has_no_escapes() {
    let model = |first: &str, second: &str| {
        format!(
            "chan c = [0] of {{ byte }}; byte v; active proctype A() {{ c?_ }} \
             active proctype B() {{ {{ {first} }} unless {{ c?0 }} }} active proctype C() {{ {second} }}"
        )
    };
    let choice = "atomic { if :: skip :: c!0 fi }";
    let guarded = "atomic { { c!0 } unless { v > 1 }; v = 2 }";
    let models = [
        (model(choice, "c!0"), (13, 15, 2)),
        (model(choice, &format!("{{ {choice} }} unless {{ c?0 }}")), (22, 35, 1)),
        (model("atomic { if :: skip :: c!0 fi; v++ }", "c!0"), (13, 15, 2)),
        (model(&format!("{choice}; v++"), "c!0"), (21, 26, 2)),
        (model(guarded, "c!0"), (8, 8, 3)),
    ];
    assert_counts(&models.each_ref().map(|(text, expected)| (text.as_str(), *expected)));
}

/// SPIN's verifier reports this error. If processes read `enabled` in a cycle, its stack overflows.
#[test]
fn enabled_of_the_own_process_is_an_error() {
    assert_counts(&[("active proctype A() { enabled(0) }", (1, 1, 1))]);
    let circle = "active proctype A() { enabled(1) } active proctype B() { enabled(0) }";
    assert_eq!(counts(circle), (1, 1, 2));
}

#[test]
fn jumps_are_steps_where_they_are_in_spin() {
    let model = "
        byte x;
        init { do :: x < 3 -> x++ :: x == 2 -> goto out :: else -> break od; x = 9; out: x = 0 }
    ";
    assert_eq!(counts(model), (12, 13, 0));
}

#[test]
fn atomic_sequences_store_a_state_only_where_they_block() {
    let model = "
        byte x, y;
        active proctype A() { atomic { x = 1; if :: x = 2 :: x = 3 fi; y == 1; x = 4 } }
        active proctype B() { y = 1; x = 0 }
    ";
    assert_eq!(counts(model), (17, 26, 0));
}

#[test]
fn a_d_step_executes_the_first_enabled_option() {
    let model = "
        byte x, y;
        active [2] proctype A() { d_step { x < 4 -> if :: x++ :: x = x + 2 fi; do :: y < 2 ->
        y++ :: else -> break od } }
    ";
    assert_eq!(counts(model), (7, 9, 0));
}

#[test]
fn a_d_step_may_begin_with_a_choice() {
    let model = "
        byte x;
        active proctype A() { d_step { if :: x == 1 -> x = 5 :: x == 2 -> x = 6 fi } }
        active proctype B() { x = 1; x = 2 }
    ";
    assert_eq!(counts(model), (11, 12, 0));
}

#[test]
fn a_rendezvous_passes_the_turn_to_the_receiver() {
    let model = "
        chan c = [0] of { byte };
        byte x, y;
        active proctype S() { atomic { x = 1; c!3; x = 2 } }
        active proctype R() { atomic { c?y; y = y + x; x = 7 } }
        active proctype T() { x = 9 }
    ";
    assert_eq!(counts(model), (19, 25, 0));
}

#[test]
fn escapes_have_precedence_and_inner_ones_first() {
    let model = "
        byte x;
        active proctype A() { { { do :: x < 5 -> x++ od } unless { x == 3 -> x = 10 } } unless {
        x >= 3 -> x = x + 20 } }
    ";
    assert_eq!(counts(model), (10, 10, 0));
}

#[test]
fn processes_end_from_the_youngest() {
    let model = "
        byte n;
        proctype P(byte k) { n = n + k }
        init { run P(1); run P(2); (_nr_pr == 1); run P(3) }
    ";
    assert_eq!(counts(model), (18, 22, 0));
}

#[test]
fn timeout_holds_if_nothing_else_is_enabled() {
    let model = "
        byte x;
        active proctype A() { do :: timeout -> x = 1; break :: x == 2 -> x = 3 od }
        active proctype B() { x = 2; x == 3 }
    ";
    assert_eq!(counts(model), (9, 9, 0));
}

#[test]
fn else_holds_if_no_earlier_option_is_enabled() {
    let model = "
        chan c = [1] of { byte }; byte x;
        active proctype A() { do :: x == 1 -> x = 2 :: x == 2 -> break :: else -> x = 1 od; c!x
        }
        active proctype B() { c?x }
    ";
    assert_eq!(counts(model), (10, 10, 0));
}

#[test]
fn messages_are_stored_in_the_widths_of_their_fields() {
    let model = "
        chan c = [2] of { byte, short }; int a, b;
        init { c!300, 70000; c?a, b; c!-1, -1; c?a, b }
    ";
    assert_eq!(counts(model), (6, 6, 0));
}

#[test]
fn sorted_sends_random_receives_and_peeks_select_messages() {
    let model = "
        chan c = [3] of { byte };
        byte x, y;
        init { c!!3; c!!1; c!!2; c?<x>; assert(x == 1); c??eval(2); c??[3]; c?y; assert(y == 1)
        }
    ";
    assert_eq!(counts(model), (11, 11, 0));
}

#[test]
fn channels_are_values() {
    let model = "
        chan hub = [1] of { chan }; byte got;
        proctype C(byte k) { chan mine = [0] of { byte }; hub!mine; mine?got; assert(got == k) }
        active proctype S() { chan who; byte k = 5; do :: hub?who -> who!k; k++ :: timeout ->
        break od }
        init { run C(5) }
    ";
    assert_eq!(counts(model), (14, 17, 0));
}

#[test]
fn initial_values_between_statements_are_statements() {
    let model = "
        byte g;
        init { byte a = 2; g = a; byte b = g; byte c; g = b + c; { int d = 3; g = d } }
    ";
    assert_eq!(counts(model), (8, 8, 0));
}

#[test]
fn select_and_for_are_choices_and_loops() {
    let model = "
        byte i, sum; int a[3];
        init { for (i : 1 .. 3) { sum = sum + i } select (i : 1 .. 3); for (i in a) { a[i] = sum
        } }
    ";
    assert_eq!(counts(model), (27, 29, 0));
}

#[test]
fn a_range_of_select_may_omit_its_lower_bound() {
    let model = "byte i, n; init { select (i : .. 3); n = i; select (n : .. 40) }";
    assert_eq!(counts(model), (661, 661, 0));
}

#[test]
fn structures_are_sent_field_by_field() {
    let model = "
        typedef T { byte a; bit b[2]; short c };
        chan c = [1] of { T }; T x, y;
        init { x.a = 3; x.b[1] = 1; x.c = -4; c!x; c?y; assert(y.a == 3 && y.b[1] && y.c == -4)
        }
    ";
    assert_eq!(counts(model), (8, 8, 0));
}

#[test]
fn runs_continue_after_a_failed_assertion() {
    let model = "
        byte x;
        active proctype A() { x = 1; assert(x == 0); x = 2; assert(x == 2) }
        active proctype B() { assert(x != 1) }
    ";
    assert_eq!(counts(model), (16, 24, 5));
}

#[test]
fn end_labels_mark_valid_end_states() {
    let model = "
        byte x;
        active proctype A() { end: do :: x == 1 -> x = 0 od }
        active proctype B() { x = 1; x == 2 }
    ";
    assert_eq!(counts(model), (4, 4, 1));
}

#[test]
fn provided_and_priorities_disable_processes() {
    let model = "
        byte x;
        active proctype A() provided (x < 2) { do :: x++ od }
        active proctype B() { x = 0; x = 1 }
    ";
    assert_eq!(counts(model), (10, 15, 1));
}

/// If no other statement is enabled, `timeout` also holds in the test whether another process is enabled: for a
/// priority, for `enabled`, or for `provided`.
#[test]
fn timeout_holds_in_the_evaluation_of_other_processes() {
    let by_priority = "byte g; active proctype P() priority 2 { timeout; assert(g != 0) }
        active proctype Q() { if :: timeout fi }";
    assert_eq!(counts(by_priority), (6, 6, 1));
    let in_order = "byte x; active proctype P() priority 3 { timeout; x = 2 }
        active proctype Q() priority 2 { x = 1; timeout; x = 5 }
        active proctype R() { timeout; x = 7; x == 5; x = 6 }";
    assert_eq!(counts(in_order), (8, 8, 1));
    let enabled = "byte x; active proctype P() { timeout; x = 2 }
        active proctype Q() { if :: enabled(0) -> x = 1 :: timeout -> x = 5 fi }
        active proctype R() { x == 2; (enabled(0) && timeout) }";
    assert_eq!(counts(enabled), (19, 21, 4));
    let provided = "byte x; active proctype P() provided (timeout) { x = 1; x = 2 }
        active proctype Q() { x == 2; x = 3; timeout; x = 4 }";
    assert_eq!(counts(provided), (9, 9, 0));
}

#[test]
fn a_d_step_completes_even_if_its_process_becomes_disabled() {
    let model = "
        byte x, y;
        active proctype A() provided (y == 0) { d_step { x = 1; y = 1; x = 2; x = 3 } }
        active proctype B() { y = 0 }
    ";
    assert_eq!(counts(model), (9, 10, 0));
}

#[test]
fn remote_references_select_processes_by_pid() {
    let model = "
        byte x;
        active proctype A() { byte k; k = 1; here: k = 2; k = 3 }
        active proctype B() { A[0]@here; x = A[0]:k; assert(x == 1 || x >= 2) }
    ";
    assert_eq!(counts(model), (28, 34, 1));
}

#[test]
fn inlines_and_macros_are_textual() {
    let model = "
        #define TWICE(a) a = a + a
        #define JOIN(a, b) a##b
        byte xy = 1;
        inline step(v) { byte t = v; TWICE(v); v = v + t }
        init { step(JOIN(x, y)); step(xy) }
    ";
    assert_eq!(counts(model), (8, 8, 0));
}

#[test]
fn a_parameter_may_start_a_line() {
    let model = "
        inline put(v, w) {
            if :: w > 1 -> skip :: else fi
            v = w
        }
        byte a;
        init { put(a, 1); put(a, 2) }
    ";
    assert_eq!(counts(model), (7, 7, 0));
}

#[test]
fn mistakes_are_reported_with_their_line() {
    let mistakes = [
        ("init { x = 1 }", "1:8: error: there is no variable x"),
        ("init { int x; x = }", "expected an expression, found `}`"),
        ("byte x;\ninit { goto out }", "2:13: error: there is no label out in this process"),
        ("init { break }", "this break is in no loop"),
        ("init { run P() }", "there is no process P"),
        ("proctype P(int a) { skip }\ninit { run P() }", "P takes 1 arguments, but 0 are given"),
        ("byte x; byte x;\ninit { skip }", "x is declared already"),
        ("init { byte x;\n{ byte x; skip } }", "2:8: error: x is declared already"),
        ("byte x;\nproctype P(byte x) { skip }\ninit { run P(1) }", "x is declared already"),
        ("init { goto L; L: d_step { skip; skip } }", "this goto leads into a d_step"),
        ("byte x;\ninit { if :: true fi x = 1 }", "expected `;` or `->` between statements"),
        (
            "byte x;\nactive proctype P() { skip }\nnever { x = 1 }",
            "3:9: error: a never claim that changes the state",
        ),
        (
            "active proctype P() { skip }\nnever { byte x; skip }",
            "2:14: error: a never claim with variables",
        ),
        (
            "active proctype P() { skip }\nnever { d_step { skip; skip } }",
            "a never claim with a d_step",
        ),
        (
            "chan c = [1] of { bit };\nactive proctype P() { skip }\nnever { c?1 }",
            "a never claim sends and receives nothing",
        ),
        (
            "never a { skip }\nnever a { skip }\ninit { skip }",
            "2:7: error: there is a process or a claim a already",
        ),
        ("init { c_code { x } }", "`c_code` embeds C code, which is not supported"),
        ("init { do :: np_ -> skip od }", "`np_` is used outside a never claim"),
        ("init { if fi }", "this `if` has no option"),
        ("init { if :: else -> skip :: else -> skip fi }", "this is the second else"),
        (
            "chan c = [1] of { byte, int };\ninit { c!1, 2, 3 }",
            "2:8: error: too many parameters in send: this sends 3 values",
        ),
        ("#include \"nowhere.pml\"\ninit { skip }", "cannot read the included file"),
        ("#if 1\ninit { skip }", "this condition has no #endif"),
        ("#define F(a) a\nbyte x = F(1, 2);", "the macro F takes 1 arguments, but 2 are given"),
        ("byte a[0]; init { skip }", "an array of 0 elements is not possible"),
        ("init { L: byte x; skip }", "the label L stands before a declaration"),
        ("init { d_step { goto out }; out: skip }", "this goto leaves a d_step"),
        ("init { skip", "found the end of the file"),
        ("/* open", "this comment is never closed"),
        ("byte x;", "the model has no process"),
        ("mtype = { a, a };", "the mtype a is declared twice"),
        ("init { byte p; p = 1 + run P() }", "a run is part of a larger expression"),
        ("typedef T { byte a };\nT t; init { t.b = 1 }", "T has no field b"),
        (
            "typedef T { byte a };\nT t, u; init { t = u }",
            "2:16: error: a structure is assigned as a whole",
        ),
        (
            "proctype P(byte a, byte b) { skip }\ninit { run P(1, 2) }",
            "expected `;` between parameters",
        ),
        ("byte c;\ninit { c!1 }", "2:8: error: c is no channel: its type is not chan"),
        (
            "chan c = [1] of { byte }; byte x;\ninit { x = c + 1 }",
            "2:12: error: a channel is no number",
        ),
        ("init { int a[2]; a = 3 }", "1:18: error: a is an array: an index is missing"),
        ("typedef T { byte x[2] }; T t;\ninit { t.x = 1 }", "x is an array: an index is missing"),
        ("init { L: skip; L: skip }", "1:17: error: the label L stands here twice"),
        ("init { atomic { L: skip }; goto L }", "the label L stands first in its sequence"),
        ("init { if :: L: skip fi }", "the label L stands first in its sequence"),
        ("init { { } }", "a sequence needs at least one statement"),
        ("init { }", "a sequence needs at least one statement"),
        ("byte x;\ninit { xr x; skip }", "xr and xs are for channels"),
        ("proctype P() { skip }", "1:10: error: no process is active at the start"),
        ("active proctype P() { skip }\ninit { P[0]@L }", "2:13: error: there is no label L in P"),
        ("ltl p { [] (x == 1) }\ninit { skip }", "1:13: error: there is no variable x"),
        (
            "byte x;\nltl p { x U } init { skip }",
            "expected an operand, found the end of the formula",
        ),
        (
            "byte x;\nltl p { x X x } init { skip }",
            "expected an operator or the end of the formula, found `X`",
        ),
        ("inline f(a) { f(a) }\ninit { byte x; f(x) }", "this statement is nested too deeply"),
        (
            "active [300] proctype P() { skip }",
            "there are 300 instances, but 0 to 255 can be active",
        ),
        ("init { unsigned u : 40; u = 1 }", "40 bits are asked for, but 1 to 31 can be"),
        (
            "init { byte x; if x == 1 -> skip fi }",
            "expected `::` before an option of `if`, found `x`",
        ),
        ("proctype P { skip }", "expected `(` before the parameters, found `{`"),
        (
            "init { d_step { run P() } } proctype P() { skip }",
            "1:17: error: a run stands in a d_step",
        ),
        ("init { L: goto L }", "1:11: error: this jump leads to itself"),
        ("hidden bit b; init { b = 1 }", "1:8: error: a bit cannot be hidden"),
        ("chan c = [1] of { byte }; init { !empty(c) }", "no operand here"),
        ("chan c = [1] of { byte }; init { !(true && nfull(c)) }", "no operand here"),
        ("chan c = [1] of { byte }; int x; init { x = full(c) + 1 }", "no operand here"),
        ("init { byte i; for (i : 3 .. 1) { skip } }", "1:16: error: this loop goes from 3 to 1"),
        ("init { goto M; d_step { skip; M: skip } }", "1:8: error: this goto leads into a d_step"),
        ("init { int x = run P() } proctype P() { skip }", "a variable cannot begin with a run"),
    ];
    for (text, expected) in mistakes {
        match load(text) {
            Ok(_) => panic!("{text}: no mistake found"),
            Err(found) => assert!(found.contains(expected), "{text}:\n{found}\nnot: {expected}"),
        }
    }
}

#[test]
fn ltl_formulas_have_the_syntax_of_spin() {
    let model = "
        ltl a { [] (x == 1 -> <> (y || P@here)) }
        ltl b { always (x + 1 == 2 implies eventually P[0]:k == c) && !(x U y) <-> ((x W y) V x) }
        ltl { len(q) > 0 && q?[c] || timeout }
        mtype = { c }; byte x, y; chan q = [1] of { mtype };
        active proctype P() { byte k; here: k = 1 }
    ";
    assert_eq!(counts(model), (3, 3, 0));
}

#[test]
fn a_receive_of_too_few_fields_is_an_error_and_continues() {
    let model = "chan c = [1] of { byte, byte }; init { byte x; c!1, 2; c?x; x = 3 }";
    assert_eq!(counts(model), (5, 5, 1));
    let model = "chan c = [0] of { byte, byte };
        active proctype A() { c!1, 2 } active proctype B() { byte x; c?x }";
    assert_eq!(counts(model), (4, 4, 1));
    let model = "chan c = [1] of { byte, byte }; init { byte x; c!1, 2; x = c?[1]; c?<x> }";
    assert_eq!(counts(model), (5, 5, 0));
}

#[test]
fn rendezvous_channels_have_no_message_to_poll() {
    // SPIN reports this at each poll. We report it once, when the model is loaded.
    let model = "chan c = [0] of { byte }; init { byte x; if :: c?[1] :: c?<x> :: skip fi }";
    assert_eq!(counts(model), (3, 3, 0));
}

#[test]
fn similar_names_are_suggested() {
    let found = |model: &str| load(model).err().unwrap();
    let similar = found("byte count;\ninit { cuont = 1 }");
    assert!(similar.contains("did you mean `count`?"), "{similar}");
    let similar = found("mtype = { request }; mtype m;\ninit { m = reqest }");
    assert!(similar.contains("did you mean `request`?"), "{similar}");
    let dissimilar = found("byte count;\ninit { other = 1 }");
    assert!(!dissimilar.contains("did you mean"), "{dissimilar}");
}

#[test]
fn errors_in_macros_are_reported_at_their_use() {
    let found = load("#define BAD nothing + 1\nbyte x;\ninit { x = BAD }").err().unwrap();
    assert!(found.starts_with("model.pml:3:12: error: there is no variable nothing"), "{found}");
}

#[test]
fn exceeded_slots_are_a_fault_that_names_the_option() {
    let text = "proctype P() { false } init { do :: run P() od }";
    let slots = Options { slots: Some(16), ..Options::default() };
    let (model, _) = load_as(text, &slots).unwrap();
    let limits = SearchLimits { stop_on_violation: false, ..SearchLimits::default() };
    let outcome = memory::search(&model, &limits).unwrap();
    let (_, finding) =
        outcome.findings.iter().find(|(it, _)| matches!(it, Violation::Fault(..))).unwrap();
    let faults = model.steps(&finding.witness).into_iter().filter_map(|step| match step.outcome {
        spillway::model::StepOutcome::Fault(fault) => Some(fault.message),
        spillway::model::StepOutcome::Successor(_) => None,
    });
    let messages: Vec<String> = faults.collect();
    assert!(messages.iter().any(|it| it.contains("`-X slots=32`")), "{messages:?}");
    // Without a number of slots, this is no error of the model. The search must be repeated with more slots.
    let (model, _) = load(text).unwrap();
    let failed = memory::search(&model, &limits).unwrap_err();
    assert!(failed.to_string().contains("more processes run at one time"), "{failed}");
}

#[test]
fn trails_have_a_line_for_every_transition_of_spin() {
    let text = "chan c = [0] of { byte }; byte x; \
        active proctype S() { atomic { x = 1; c!3 } d_step { x = 2; x = 3 } } \
        active proctype R() { c?x; assert(x == 0) }";
    let (model, mut sources) = load(text).unwrap();
    let numbers = trail::number_transitions(&mut sources, &Options::default()).unwrap();
    let starts = model.starts();
    let spillway::model::StepOutcome::Successor(mut state) = starts[0].outcome.clone() else {
        panic!("the start fails");
    };
    let mut steps = Vec::new();
    for _ in 0..2 {
        let step = model.steps(&state).remove(0);
        if let spillway::model::StepOutcome::Successor(next) = &step.outcome {
            state = next.clone();
        }
        steps.push(step);
    }
    // The send is SPIN's transition 1 of process 0, the receive is 7 of process 1, and the assertion is 8.
    let expected = "1:0:0\n2:0:1\n3:1:7\n4:1:8\n";
    let mut trail = trail::SpinTrail::begin(&numbers, Vec::new()).unwrap();
    steps.iter().for_each(|step| trail.step(step).unwrap());
    assert_eq!(trail.end(&[]).unwrap(), expected.as_bytes());
}

/// The variable has space for all values that are stored through its structure: by channels and by initial values.
#[test]
fn names_in_structures_hold_other_values() {
    let channel = "
        mtype = { a, b, c };
        typedef T { chan q = [1] of { mtype } };
        chan other = [1] of { byte };
        T t; byte x;
        active proctype P() { t.q!77; t.q?x; assert(x == 77); other!1 }
    ";
    assert_eq!(counts(channel), (6, 6, 0));
    let begins = "
        mtype = { a, b, c };
        typedef S { mtype k = 77 };
        S s;
        active proctype P() { assert(s.k == 77) }
    ";
    assert_eq!(counts(begins), (3, 3, 0));
}

#[test]
fn messages_have_the_nesting_limit_of_expressions() {
    for message in ["c!1", "c?1", "c?"] {
        let nest = "(1".repeat(100_000) + &")".repeat(100_000);
        let model =
            format!("chan c = [1] of {{ byte }}; active proctype A() {{ {message}{nest} }}");
        let error = load(&model).err().unwrap();
        assert!(error.contains("nested too deeply"), "{error}");
    }
}

/// Each use would be read once more for each use around it.
#[test]
fn arguments_of_macros_have_a_nesting_limit() {
    let uses = "F(".repeat(100_000) + "1" + &")".repeat(100_000);
    let model = format!("#define F(x) x\nbyte y; active proctype P() {{ y = {uses} }}");
    let error = load(&model).err().unwrap();
    assert!(error.contains("more than 1000 brackets are open here"), "{error}");
}

#[test]
fn an_unsigned_has_at_most_31_bits() {
    let error = load("unsigned x : 32; active proctype P() { x = 1 }").err().unwrap();
    assert!(error.contains("32 bits are asked for, but 1 to 31 can be"), "{error}");
}
