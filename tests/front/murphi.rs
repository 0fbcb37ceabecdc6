//! Murphi: the meaning of each construct, by the states and verdicts of small models, and the diagnostics of incorrect
//! models.

use crate::support::error_message::ErrorMessage;
use spillway::exec::Interp;
use spillway::front::{Options, murphi};
use spillway::ir::EndRule;
use spillway::ir::validate::validate;
use spillway::model::{FaultKind, StateSpace, StepOutcome, SystemDescription, Violation, memory};
use spillway::reduce::symmetry::{SymmetryEffort, SymmetryModel};
use spillway::search::{self, SearchLimits};
use spillway::source::SourceMap;

fn load_with(text: &str, options: &Options) -> Result<Interp, ErrorMessage> {
    let mut sources = SourceMap::default();
    sources.add("model.m", text);
    let loaded = murphi::LANGUAGE.load(&mut sources, options).map_err(|errors| {
        errors.iter().map(|it| it.render(&sources).to_string()).collect::<Vec<_>>().join("\n")
    })?;
    validate(&loaded.program).unwrap();
    Ok(Interp::new(loaded.program).unwrap())
}

fn load(text: &str) -> Interp {
    load_with(text, &Options::default()).unwrap_or_else(|errors| panic!("{errors}"))
}

fn explore(model: &dyn StateSpace) -> search::SearchOutcome {
    memory::search(model, &SearchLimits { stop_on_violation: false, ..SearchLimits::default() })
        .unwrap()
}

/// Returns the value of the variable `x` in every state, in the order of exploration, without repetitions.
fn values_of_x(text: &str) -> Vec<String> {
    let model = load(text);
    let mut seen: Vec<Vec<u8>> = Vec::new();
    let mut next: std::collections::VecDeque<_> = model.starts().into();
    while let Some(step) = next.pop_front() {
        let StepOutcome::Successor(state) = step.outcome else { panic!("{:?}", step.outcome) };
        if !seen.contains(&state) {
            next.extend(model.steps(&state));
            seen.push(state);
        }
    }
    let x = |state: &Vec<u8>| {
        model
            .describe(state)
            .into_iter()
            .find(|(name, _)| name == "x")
            .map(|(_, value)| value.to_string())
    };
    let mut values: Vec<String> = seen.iter().filter_map(x).collect();
    values.dedup();
    values
}

/// Returns the value of `x` after a body has run at the start.
fn value_after(declarations: &str, body: &str) -> String {
    let text = format!("{declarations} rule true ==> end; startstate {body} end;");
    values_of_x(&text).remove(0)
}

/// Returns the kind and message of the fault of a body at the start.
fn fault(declarations: &str, body: &str) -> (FaultKind, String) {
    let model = load(&format!("{declarations} rule true ==> end; startstate {body} end;"));
    match model.starts().remove(0).outcome {
        StepOutcome::Fault(fault) => (fault.kind, fault.message),
        StepOutcome::Successor(state) => panic!("no fault: {:?}", model.describe(&state)),
    }
}

const NUMBER: &str = "var x: 0..99; y: 0..9; a: array [0..3] of 0..9;";

#[test]
fn operator_precedence_follows_the_manual() {
    let cases = [
        ("x := 2 + 3 * 4", "14"),
        ("x := 7 / 2 + 7 % 4", "6"),
        ("x := (!1 = 2) ? 5 : 6", "5"),
        ("x := (true | false & false) ? 1 : 2", "1"),
        ("x := (false -> false -> false) ? 1 : 2", "1"),
        ("x := -1 + 4", "3"),
        ("x := 12 & 10", "8"),
        ("x := 12 | 3", "15"),
        ("x := 12 ^ 5", "9"),
        ("x := 1 << 4", "16"),
        ("x := 33 >> 4", "2"),
        ("x := 0x1F", "31"),
        ("x := ~(-8)", "7"),
        ("x := forall i: 0..3 do i < 4 end ? 1 : 2", "1"),
        ("x := exists i := 1 to 9 by 4 do i = 4 end ? 1 : 2", "2"),
    ];
    for (body, expected) in cases {
        assert_eq!(value_after(NUMBER, body), expected, "{body}");
    }
}

#[test]
fn statements_have_their_meaning() {
    let cases = [
        ("x := 0; for i := 0 to 6 by 3 do x := x + i; end", "9"),
        ("x := 0; for i: 1..2; j: 1..2 do x := x * 3 + i * j; end", "55"),
        ("x := 5; while x > 2 do x := x - 2; end", "1"),
        ("y := 2; switch y case 0, 1: x := 1; case 2, 3: x := 2; else x := 3; end", "2"),
        ("y := 9; switch y case 0: x := 1; end; x := 4", "4"),
        ("if false then x := 1; elsif true then x := 2; else x := 3; end", "2"),
        ("y := 1; a[1] := 7; alias e: a[y] do y := 2; x := e; end", "7"),
        ("y := 1; alias e: y + 1 do y := 5; x := e; end", "2"),
        ("x := 1; return; x := 2", "1"),
        ("clear a; x := a[3]", "0"),
        ("clear a; undefine a; x := isundefined(a[0]) ? 1 : 2", "1"),
        ("x := 3; x := undefined; x := isundefined(x) ? 1 : 2", "1"),
        ("x := y", "undefined"),
    ];
    for (body, expected) in cases {
        assert_eq!(value_after(NUMBER, body), expected, "{body}");
    }
}

#[test]
fn faults_are_reported_with_their_values() {
    let cases = [
        ("x := 100", FaultKind::Range, "100"),
        ("x := 0; for i := 3 to 1 by -1 do x := x * 10 + i; end", FaultKind::Range, "321"),
        ("x := y + 1", FaultKind::Undefined, "undefined value is read"),
        ("x := a[y]", FaultKind::Undefined, "undefined value is read"),
        ("y := 9; x := a[y]", FaultKind::Index, "the index is 9"),
        ("y := 0; x := 5 / y", FaultKind::Division, "5 is divided by zero"),
        ("while true do x := 1; end", FaultKind::Limit, "more than 1000 rounds"),
        ("assert 1 = 2 \"one is two\"", FaultKind::Assertion, "one is two"),
        ("assert 1 =   2", FaultKind::Assertion, "1 = 2"),
        ("error \"stop here\"", FaultKind::Error, "stop here"),
    ];
    for (body, kind, message) in cases {
        let (found, found_message) = fault(NUMBER, body);
        assert!(
            found == kind && found_message.contains(message),
            "{body}: {found:?} {found_message}"
        );
    }
}

#[test]
fn functions_have_copied_and_reference_parameters_results_and_effects() {
    let functions = "
        type Pair: record l, r: 0..9; end;
        var x: 0..99; y: 0..9; p: Pair;
        procedure swap(var q: Pair); var old: 0..9;
        begin old := q.l; q.l := q.r; q.r := old; end;
        function twice(n: 0..49): 0..98; begin return 2 * n; end;
        function pair(l, r: 0..9): Pair; var q: Pair; begin q.l := l; q.r := r; return q; end;
        function draw(): 0..9; begin y := y + 1; return y; end;
        function kept(q: Pair): 0..9; begin p.l := 8; return q.l; end;
        function sign(n: 0..9): 0..2; begin if n > 0 then return 1; end; end;
        function maybe(n: 0..9): 0..9; var nothing: 0..9;
        begin if n = 0 then return nothing; end; return n; end;";
    let cases = [
        ("x := twice(twice(3)) + 1", "13"),
        ("p.l := 1; p.r := 2; swap(p); x := 10 * p.l + p.r", "21"),
        ("p := pair(3, 4); x := 10 * p.l + p.r", "34"),
        ("y := 0; x := draw() * 10 + draw()", "12"),
        ("y := 0; if draw() = 2 then x := 0; elsif draw() = 2 then x := y; else x := 9; end", "2"),
        ("y := 0; x := 0; while draw() < 4 do x := x + 10; end; x := x + y", "34"),
        ("y := 0; x := (y = 1 & draw() = 1) ? 1 : 2; x := 10 * x + y", "20"),
        ("y := 0; x := (y = 0 | draw() = 1) ? 1 : 2; x := 10 * x + y", "10"),
        ("y := 0; x := (y = 0 & draw() = 1) ? 1 : 2; x := 10 * x + y", "11"),
        ("p := pair(1, 1); x := kept(p) * 10 + p.l", "18"),
        ("y := maybe(0); x := isundefined(y) ? 1 : 2", "1"),
        ("y := 3; draw(); x := y", "4"),
    ];
    for (body, expected) in cases {
        assert_eq!(value_after(functions, body), expected, "{body}");
    }
    let (kind, message) = fault(functions, "x := sign(0)");
    assert!(kind == FaultKind::Undefined && message.contains("sign ends"), "{message}");
    let (kind, message) = fault(functions, "x := twice(49 + 1)");
    assert!(kind == FaultKind::Range, "{message}");
}

#[test]
fn unions_distinguish_their_members() {
    let unions = "
        type A: enum { a0, a1 }; B: scalarset(2); C: enum { c0 };
             U: union { A, B, C }; V: union { C, B };
        var x: 0..99; u: U; v: V; b: B; t: array [U] of 0..9; w: array [V] of 0..9;";
    let cases = [
        ("u := a1; x := (u = a1 & u != a0) ? 1 : 2", "1"),
        ("u := c0; v := u; x := (v = c0 & u = v) ? 1 : 2", "1"),
        ("u := a0; x := ismember(u, A) & !ismember(u, B) ? 1 : 2", "1"),
        ("x := ismember(u, A) ? 1 : 2", "2"),
        ("x := (u = b) ? 1 : 2", "1"),
        ("u := a0; x := (u = b) ? 1 : 2", "2"),
        ("for i: U do t[i] := 0; end; t[c0] := 7; v := c0; x := t[v]", "7"),
        ("x := 0; for i: V do x := x + 1; end", "3"),
        ("u := c0; switch u case a0: x := 1; case c0: x := 2; else x := 3; end", "2"),
        ("switch u case a0: x := 1; else x := 3; end", "3"),
        ("for i: B do b := i; end; u := b; v := u; b := v; x := (u = b) ? 4 : 5", "4"),
    ];
    for (body, expected) in cases {
        assert_eq!(value_after(unions, body), expected, "{body}");
    }
    let (kind, message) = fault(unions, "u := a0; v := u");
    assert!(kind == FaultKind::Range && message.contains("another member"), "{message}");
}

#[test]
fn multiset_positions_are_stable_within_a_step() {
    let bag = "type M: record v: 0..9; end; var x: 0..99; m: multiset [3] of M; e: M;
        procedure add(v: 0..9); var n: M; begin n.v := v; multisetadd(n, m); end;";
    let cases = [
        ("add(1); add(2); x := multisetcount(i: m, m[i].v > 1)", "1"),
        (
            "add(1); add(2); add(1); multisetremovepred(i: m, m[i].v = 1); \
          x := multisetcount(i: m, true)",
            "1",
        ),
        ("add(5); undefine m; x := multisetcount(i: m, true)", "0"),
        ("add(5); clear m; x := multisetcount(i: m, true)", "0"),
        ("add(4); add(5); multisetremove(0, m); x := m[1].v", "5"),
        ("add(4); add(5); multisetremove(0, m); add(6); x := m[0].v", "6"),
    ];
    for (body, expected) in cases {
        assert_eq!(value_after(bag, body), expected, "{body}");
    }
    let (kind, message) = fault(bag, "add(1); add(1); add(1); add(1)");
    assert!(kind == FaultKind::Limit && message.contains("holds its 3"), "{message}");
    let (kind, message) = fault(bag, "add(1); x := m[1].v");
    assert!(kind == FaultKind::Index && message.contains("no element"), "{message}");
    // Equal multisets are equal states. Each element is chosen, including repetitions.
    let text = format!(
        "{bag} ruleset v: 1..2 do rule multisetcount(i: m, true) < 3 ==> add(v); end; end;
         choose i: m do rule true ==> multisetremove(i, m); end; end; startstate x := 0; end;"
    );
    let outcome = explore(&load(&text));
    assert_eq!((outcome.states(), outcome.counters.transitions), (10, 2 * 6 + 2 + 3 * 2 + 4 * 3));
}

#[test]
fn parameters_priorities_and_assumptions_determine_steps() {
    let rules = "var x: 0..9;
        ruleset i: 1..3; j := 0 to 2 by 2 do rule x = 0 ==> x := i + j; end; end;
        startstate x := 0; end;";
    assert_eq!(values_of_x(rules), ["0", "1", "3", "2", "4", "5"]);
    let with_priority = "var x: 0..9;
        rule 2 x < 9 ==> x := x + 1; end; rule x = 3 ==> x := 0; end; startstate x := 0; end;";
    assert_eq!(values_of_x(with_priority), ["0", "1", "2", "3"]);
    let with_assumptions = "var x: 0..9;
        rule x < 9 ==> x := x + 1; end; rule x > 0 ==> x := 0; assume x = 1; end;
        startstate x := 0; end; assume \"small\" x < 4;";
    assert_eq!(values_of_x(with_assumptions), ["0", "1", "2", "3"]);
    let starts = "var x: 0..9; ruleset i: 2..4 do startstate x := i; end; end;
        startstate x := 3; end; rule \"rest\" x := x; end;";
    assert_eq!(values_of_x(starts), ["2", "3", "4"]);
}

#[test]
fn stuttering_states_are_deadlocks_unless_disabled() {
    let text = "var x: 0..1; rule x = 0 ==> x := 1; end; rule x = 1 ==> x := 1; end;
        startstate x := 0; end;";
    assert_eq!(explore(&load(text)).deadlocks(), 1);
    let stuck = Options { deadlock: Some(EndRule::Never), ..Options::default() };
    assert_eq!(explore(&load_with(text, &stuck).unwrap()).deadlocks(), 0);
}

#[test]
fn invariants_cover_all_parameters_and_elements() {
    let text = "type T: 0..2; var x: T; m: multiset [2] of T;
        rule x < 2 ==> x := x + 1; multisetadd(x, m); end; rule x = 2 ==> x := 2; end;
        startstate x := 0; end;
        ruleset t: T do invariant \"not two\" x != t | t < 2; end;
        choose i: m do invariant \"no element is 2\" m[i] < 2; end;
        invariant \"judged\" m[x] = 0;";
    let outcome = explore(&load(text));
    let counts: Vec<u64> =
        (0..3).map(|at| outcome.findings.count(Violation::Property(at))).collect();
    assert_eq!(counts, [1, 1, 0]);
    // An invariant that cannot be evaluated is a fault. Evaluations are numbered after two actions and a start.
    assert_eq!(outcome.findings.count(Violation::Fault(FaultKind::Index, 2 + 1 + 2)), 3);
}

/// The counts are Rumur's: states, fired rules, and whether there is a deadlock.
#[test]
fn steps_to_excluded_states_are_counted() {
    let begin = "var x: 0..3; y: boolean; startstate x := 1; y := true; end;";
    let up = "rule x < 3 ==> begin x := x + 1;";
    let cases = [
        (
            format!(
                "{begin} rule y ==> begin x := 0; end; rule y ==> begin x := 1; end; assume \"a\" x >= 1;"
            ),
            [1, 2, 0],
        ),
        (
            format!(
                "{begin} rule y ==> begin x := 0; assume x >= 1; end; rule y ==> begin x := 1; end;"
            ),
            [1, 1, 1],
        ),
        (format!("{begin} {up} end; assume \"a\" x <= 2;"), [2, 2, 0]),
        (format!("{begin} {up} assume x <= 2; end;"), [2, 1, 1]),
        (
            format!(
                "{begin} startstate x := 0; y := true; end; rule y ==> begin x := 0; end;
                 rule y ==> begin x := 1; y := false; end; assume \"a\" x >= 1;"
            ),
            [2, 2, 1],
        ),
    ];
    for (text, expected) in cases {
        let outcome = explore(&load(&text));
        let found = [outcome.states(), outcome.counters.transitions, outcome.deadlocks()];
        assert_eq!(found, expected, "{text}");
    }
    let model = load(
        "type P: scalarset(3); var held: array [P] of 0..3; total: 0..9;
         startstate for p: P do held[p] := 0; end; total := 0; end;
         ruleset p: P do
           rule held[p] < 3 ==> begin held[p] := held[p] + 1; total := total + 1; end;
           rule held[p] > 0 ==> begin held[p] := held[p] - 1; total := total - 1; end;
         end; assume \"few\" total <= 4;",
    );
    let outcome = explore(&model);
    assert_eq!((outcome.states(), outcome.counters.transitions), (32, 144));
    let reduced =
        SymmetryModel::new(&model, model.program(), model.layout(), SymmetryEffort::Exact).unwrap();
    let outcome = explore(&reduced);
    assert_eq!((outcome.states(), outcome.counters.transitions), (10, 45));
}

/// Models with a mistake, the error message, and the help, if there is any.
const INVALID_MODELS: &[(&str, &str, &str)] = &[
    ("var x: 0..1; rule x = 0 ==> x := 1; startstate end;", "model.m:1:37", "`rule` of line 1"),
    (
        "var x: 0..1;\nrule x = 0 ==>\n  if x = 0 then x := 1;\nend;\nstartstate x := 0; end;",
        "expected `end` or `endrule`, found `startstate`",
        "`rule` of line 2 is still open",
    ),
    ("var x: 0..1; rule x =< 0 ==> end;", "expected an expression, found `<`", ""),
    ("var x: 0..1; rule x = 0 ==> x = 1; end;", "`=` compares", "to assign, write `:=`"),
    ("var x: 0..1; rule x = 0 ==> x := 1 x := 0; end;", "expected `;`", ""),
    ("var x: 0..1; rule y = 0 ==> end; startstate end;", "`y` is not declared", ""),
    (
        "var Count: 0..1; rule count = 0 ==> end; startstate end;",
        "`count` is not declared",
        "there is `Count`",
    ),
    ("var x: 0..1; x: 0..2; rule true ==> end; startstate end;", "a second time", ""),
    ("var x: real(6, 99); rule true ==> end; startstate end;", "no real numbers", "subrange"),
    ("var x: 3..1; rule true ==> end; startstate end;", "the range is empty", ""),
    (
        "ruleset i := -9223372036854775807 to 9223372036854775807 do rule true ==> end; end;
         startstate end;",
        "more than 2^48 - 1 values",
        "",
    ),
    (
        "ruleset i := 9223372036854775807 to -9223372036854775807 do rule true ==> end; end;
         startstate end;",
        "ranges over no values",
        "",
    ),
    (
        "type A: array [0..9999999] of boolean; var x: 0..1;
         procedure p(); var a: A; begin a[0] := true; end;
         procedure q(); var a: A; begin a[0] := true; end;
         rule true ==> p(); q(); end; startstate x := 0; end;",
        "more than 16777216 scalars",
        "constants smaller",
    ),
    (
        "ruleset i := 1 to 5000000000 do rule true ==> end; end; startstate end;",
        "more than 2^32 - 1 values",
        "",
    ),
    (
        "var x: array [9223372036854775806..9223372036854775807] of boolean;
         rule true ==> end; startstate end;",
        "last index",
        "",
    ),
    (
        "type S: scalarset(2); var s: array [0..1] of S; rule true ==> end; startstate clear s; end;",
        "elements have no order",
        "`undefine`",
    ),
    (
        "type S: scalarset(2); E: enum { e }; U: union { S, E };
         var r: record a: E; b: U; end; rule true ==> end; startstate clear r; end;",
        "elements have no order",
        "`undefine`",
    ),
    (
        "var x: 0..1; y: boolean; rule x = y ==> end; startstate end;",
        "a number is compared with a truth value",
        "",
    ),
    (
        "type A: enum { a }; B: enum { b }; var x: A; rule x = b ==> end; startstate end;",
        "one of `A` is compared with one of `B`",
        "",
    ),
    (
        "type S: scalarset(3); var s: S; rule s < s ==> end; startstate end;",
        "this is one of `S`, but a number is needed",
        "",
    ),
    (
        "type S: scalarset(3); var s: S; rule true ==> s := 1; end; startstate end;",
        "this is a number, but one of `S` is needed",
        "",
    ),
    (
        "var x: 0..1; rule x = undefined ==> end; startstate end;",
        "cannot be computed with",
        "isundefined",
    ),
    (
        "var a: array [0..1] of 0..1; b: array [0..1] of boolean; rule a = b ==> end; startstate end;",
        "the two sides are of different types",
        "of their own type",
    ),
    (
        "var r: record f: 0..1; end; rule r.g = 0 ==> end; startstate end;",
        "no field `g`",
        "its fields are `f`",
    ),
    (
        "var x: 0..1; function f(n: 0..1): 0..1; begin return f(); end; rule f(0) = 0 ==> end;
      startstate end;",
        "`f` takes 1 argument, not 0",
        "give one for each",
    ),
    (
        "var x: 0..1; procedure p(n: 0..1); begin n := 0; end; rule true ==> end; startstate end;",
        "cannot be changed here",
        "declared with `var`",
    ),
    (
        "var x: 0..1; function f(): 0..1; begin x := 0; return 1; end; rule f() = 0 ==> end;
      startstate end;",
        "changes the state",
        "statement of its own",
    ),
    (
        "var x: 0..1; procedure p(n: 0..1); begin end; rule true ==> p(); end; startstate end;",
        "`p` takes 1 argument, not 0",
        "",
    ),
    ("var x: 0..1; rule true ==> return 1; end; startstate end;", "nothing to return", ""),
    ("var x: 0..1; rule true ==> end;", "no start state", "startstate"),
    ("const N: 2; var x: 0..M; rule true ==> end; startstate end;", "`M` is not declared", ""),
    ("var n: 0..1; x: 0..n; rule true ==> end; startstate end;", "must be known", ""),
    ("var x: 0..1; rule true ==> \"x", "not closed on its line", ""),
    ("var x: 0..1; /* rule", "never closed", "`*/`"),
    ("var x: 0..1; rule x = 0 = 1 ==> end;", "comparisons do not chain", "`&`"),
    (
        "var x: 0..1; rule true ==> for i := 0 to 1 by 0 do end; end; startstate end;",
        "steps of 0",
        "",
    ),
    (
        "var x: 0..1; rule true ==> end; startstate end; x := 1;",
        "a statement stands here",
        "one too many",
    ),
];

#[test]
fn mistakes_are_reported_with_place_and_help() {
    for (text, message, help) in INVALID_MODELS {
        match load_with(text, &Options::default()) {
            Ok(_) => panic!("accepted: {text}"),
            Err(error) => {
                assert!(error.contains(message), "{text}\nwanted: {message}\n{error}");
                assert!(error.contains(help), "{text}\nwanted: {help}\n{error}");
                assert!(error.contains("error: "), "{error}");
            }
        }
    }
}

#[test]
fn prefixes_of_a_model_cause_no_panic() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("models/murphi");
    let text = std::fs::read_to_string(folder.join("directory_net.m")).unwrap();
    for end in (0..text.len()).step_by(7).filter(|&end| text.is_char_boundary(end)) {
        let _ = load_with(&text[..end], &Options::default());
        let without = text[..end].to_owned() + text.get(end + 9..).unwrap_or("");
        let _ = load_with(&without, &Options::default());
    }
}

#[test]
fn constants_are_replaced_by_options() {
    let text = "const N: 2; var x: 0..9; rule x < N ==> x := x + 1; end; startstate x := 0; end;";
    let defines = |name: &str, value| Options {
        defines: vec![(name.to_owned(), value)],
        ..Options::default()
    };
    assert_eq!(explore(&load_with(text, &defines("N", 5)).unwrap()).states(), 6);
    let error = load_with(text, &defines("M", 5)).err().unwrap();
    assert!(error.contains("no constant `M`"), "{error}");
}
