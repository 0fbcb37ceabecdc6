//! Constructs that CMurphi and Rumur accept although the manual does not have them. Each is tested by the states of a
//! small model, interpreted and compiled, and with symmetry where it applies.

use crate::support::agree::assert_agree;
use crate::support::error_message::ErrorMessage;
use spillway::exec::{Interp, Jit};
use spillway::front::{LoadedModel, Options, murphi};
use spillway::ir::validate::validate;
use spillway::model::{FaultKind, StateSpace, StepOutcome, SystemDescription, Violation, memory};
use spillway::reduce::symmetry::{SymmetryEffort, SymmetryModel};
use spillway::search::{SearchLimits, SearchOutcome};
use spillway::source::SourceMap;

fn loaded(text: &str) -> Result<LoadedModel, ErrorMessage> {
    let mut sources = SourceMap::default();
    sources.add("model.m", text);
    let loaded = murphi::LANGUAGE.load(&mut sources, &Options::default());
    loaded.map_err(|errors| {
        let all = errors.iter().map(|it| it.render(&sources).to_string());
        all.collect::<Vec<_>>().join("\n").into()
    })
}

fn load(text: &str) -> Interp {
    let loaded = loaded(text).unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    validate(&loaded.program).unwrap_or_else(|problems| panic!("{problems:?}\n{text}"));
    Interp::new(loaded.program).unwrap()
}

fn explore(model: &dyn StateSpace) -> SearchOutcome {
    memory::search(model, &SearchLimits { stop_on_violation: false, ..SearchLimits::default() })
        .unwrap()
}

/// Returns the counts of a search, with both executors: states, transitions, deadlocks, and failing steps.
fn counts_of(text: &str) -> [u64; 4] {
    let interp = load(text);
    let found = [explore(&interp), explore(&Jit::new(&interp).unwrap())].map(|it| {
        let faults = it.findings.iter().filter(|(kind, _)| matches!(kind, Violation::Fault(..)));
        [it.states(), it.counters.transitions, it.deadlocks(), faults.map(|it| it.1.count).sum()]
    });
    assert_eq!(found[0], found[1], "the executors differ: {text}");
    found[0]
}

/// Returns the reachable states, one after another.
fn reachable(model: &Interp) -> Vec<u8> {
    let (mut seen, mut next) = (Vec::new(), model.starts());
    while let Some(step) = next.pop() {
        let StepOutcome::Successor(state) = step.outcome else { continue };
        if !seen.contains(&state) {
            next.extend(model.steps(&state));
            seen.push(state);
        }
    }
    seen.concat()
}

/// Returns the fault of the only start of a model.
fn start_fault(text: &str) -> (FaultKind, String) {
    match load(text).starts().remove(0).outcome {
        StepOutcome::Fault(fault) => (fault.kind, fault.message),
        StepOutcome::Successor(_) => panic!("no fault: {text}"),
    }
}

/// Returns a model with a counter to 4 and a boolean, with more declarations, statements in each step, and other items.
fn model(declarations: &str, body: &str, items: &str) -> String {
    format!(
        "var x: 0..3; b: boolean; {declarations}
         startstate begin x := 0; b := true; end;
         rule \"step\" true ==> begin x := (x + 1) % 4; {body} end; {items}"
    )
}

/// Models that have four states and four transitions if they are read as intended.
const FOUR_STATE_MODELS: &[(&str, &str, &str)] = &[
    // Reserved words in any case, including those that are names in CMurphi.
    ("", "b := TrUe; b := FALSE | tRUE; b := b = true;", "procedure p(c: BoOlEaN); begin end;"),
    // No semicolons between declarations and after ends.
    ("r: record p: boolean q: 0..3 end a: array [0..1] of boolean", "b := true;", ""),
    ("", "b := true;", "procedure p(i: 0..3 j: boolean) begin end rule false ==> end"),
    // Several names in one declaration, with a trailing comma.
    (
        "type T, U: 0..3; const M, N,: 3; var t: T; u: U;",
        "t := M; u := N; t := u; undefine t; undefine u;",
        "",
    ),
    // Strings that contain quotes.
    ("", "assert b \"say \\\"yes\\\"\"; b := true;", "rule \"a \\\"b\\\"\" false ==> end;"),
    ("", "put \"C:\\\"; b := true;", ""),
    ("", "b := true;", "rule \u{201c}so\u{201d} false ==> end;"),
    // Functions without a result.
    ("function f(v: boolean); begin b := v; end;", "f(b);", ""),
    ("function f(v: boolean) begin b := v; endprocedure;", "f(b);", ""),
    // Bounds that are expressions.
    ("y: 0 .. 3 & 1; z: 1 | 2 .. 4;", "y := 1; z := 3; undefine y; undefine z;", ""),
    // Equality in Rumur's spelling.
    ("", "b := x == x;", ""),
    // Shifts by negative or large numbers.
    ("", "b := (4 >> -1) = 8 & (8 << -x) = (8 >> x) & (1 << 200) = 0 & (x >> (x + 64)) = 0;", ""),
    // An index outside the array that is never evaluated.
    (
        "a: array [0..1] of boolean;",
        "if x > 3 then a[2] := true; end;",
        "rule false & a[7] ==> end;",
    ),
    // A type and a parameter with the same name.
    (
        "type t: 0..3; function f(t: boolean): t; begin return t ? 1 : 0; end;",
        "b := f(true) = 1;",
        "",
    ),
];

#[test]
fn models_are_read_as_in_cmurphi_and_rumur() {
    for (declarations, body, items) in FOUR_STATE_MODELS {
        let text = model(declarations, body, items);
        assert_eq!(counts_of(&text), [4, 4, 0, 0], "{text}");
    }
}

#[test]
fn quantifiers_and_loops_have_computed_bounds() {
    let sum = "function sum(last: 0..3): 0..9; var s: 0..9; begin s := 0;
        for i := 0 to last do s := s + i; end; return s; end;";
    let cases = [
        // Over no values, `forall` is true and `exists` is false.
        ("", "b := forall i := x + 1 to x do false end;"),
        ("", "b := !exists i := x + 1 to x do true end;"),
        ("", "b := forall i := 3 to 0 do false end;"),
        ("", "b := forall i := 0 to x do i <= x end & !forall i := 0 to x do i < x end;"),
        ("", "b := exists i := x to x + 3 by 2 do i = x + 2 end;"),
        ("", "b := !exists i := x to x + 3 by 2 do i = x + 1 end;"),
        (
            "",
            "b := forall i := x to 0 by -1 do i <= x end & exists i := x to 0 by -1 do i = 0 end;",
        ),
        ("", "b := forall i := 0 to x do exists j := i to x do j = i end end;"),
        ("", "b := forall i := 0 to x; j := 0 to i do j <= x end;"),
        ("", "for i: 0..3 do b := exists j := i to i do j = i end; end;"),
        ("k: 0..3;", "k := x; b := forall i := 0 to k do i <= k end; undefine k;"),
        (sum, "b := sum(x) = ((x * (x + 1)) / 2);"),
        (sum, "b := exists i := sum(x) to sum(x) do i = sum(x) end;"),
        (sum, "b := (x > 1 ? sum(x) : sum(0)) >= 0;"),
    ];
    for (declared, body) in cases {
        let text = model(declared, &format!("{body} assert b;"), "");
        assert_eq!(counts_of(&text), [4, 4, 0, 0], "{text}");
    }
    let guard = "var x: 0..3; startstate begin x := 0; end;
        rule forall i := 0 to x do i < 3 end ==> begin x := x + 1; end;
        rule exists i := x to 3 by 3 do i = 3 end ==> begin x := 0; end;
        invariant \"small\" !exists i := x to x do i > 3 end;";
    // In state 0 the second rule is enabled too, and leads back.
    assert_eq!(counts_of(guard), [4, 5, 0, 0]);
    let step = "var x: 0..3; y: 0..3; startstate begin y := 0;
        if forall i := 0 to 3 by y do true end then x := 0; end; end; rule true ==> end;";
    assert_eq!(start_fault(step).0, FaultKind::Limit);
    let unknown =
        "var n: 0..3; startstate begin n := 1; end; ruleset i := 0 to n do rule true ==> end; end;";
    let error = loaded(unknown).unwrap_err();
    assert!(error.contains("must be known before the model runs"), "{error}");
}

#[test]
fn computed_bounds_keep_symmetry() {
    let text = "type P: scalarset(3); var held: array [P] of 0..3; total: 0..9;
        startstate for p: P do held[p] := 0; end; total := 0; end;
        ruleset p: P do
          rule !exists i := 2 to total do i > 4 end & forall j := 0 to held[p] do j < 3 end ==>
            begin held[p] := held[p] + 1; total := total + 1; end;
          rule held[p] > 0 ==> begin held[p] := held[p] - 1; total := total - 1; end;
        end;";
    let model = load(text);
    // At most 5 in total, and at most 3 of each. The orbits differ in more than names.
    assert_eq!((explore(&model).states(), counts_of(text)[2]), (44, 0));
    let reduced =
        SymmetryModel::new(&model, model.program(), model.layout(), SymmetryEffort::Exact).unwrap();
    assert_eq!(explore(&reduced).states(), 13);
}

#[test]
fn records_and_arrays_are_compared_by_elements() {
    let declared =
        "type R: record k: 0..1; n: 0..3; end; A: array [1..2] of R; B: array [2..3] of R;
        E: enum {e, f}; S: record of_e: array [E] of boolean; end;";
    let cases = [
        ("p, q: R;", "p.k := 0; p.n := x; q := p; b := p = q & !(p != q);"),
        ("p, q: R;", "p.k := 0; p.n := 1; q := p; q.n := 2; b := p != q & !(p = q);"),
        // Undefined parts are equal to each other only.
        ("p, q: R;", "undefine p; undefine q; b := p = q; p.k := 1; b := b & p != q;"),
        ("a, c: A;", "clear a; clear c; b := a = c; c[2].n := 3; b := b & a != c; undefine c;"),
        // Arrays with different first indices are compared by position.
        (
            "a: A; c: B;",
            "clear a; clear c; b := a = c; a[1].n := 1; b := b & a != c; c[2].n := 1; b := b & a = c;",
        ),
        (
            "s, t: S;",
            "clear s; clear t; b := s = t; t.of_e[f] := true; b := b & s != t; undefine t;",
        ),
        // Aggregates that a function returns.
        (
            "function mk(v: 0..3): R; var r: R; begin r.k := 1; r.n := v; return r; end;",
            "b := mk(x) = mk(x) & mk(0) != mk(1);",
        ),
    ];
    for (variables, body) in cases {
        let tail = "undefine p; undefine q; undefine a; undefine c; undefine s; undefine t;";
        let names: Vec<&str> = tail
            .split_inclusive(';')
            .filter(|it| {
                let name = it.trim().trim_start_matches("undefine ").trim_end_matches(';');
                variables.split([',', ':', ';', ' ']).any(|word| word == name)
                    && !variables.contains("function")
            })
            .collect();
        let (declared, body) =
            (format!("{declared} var {variables}"), format!("{body} assert b; {}", names.concat()));
        let text = model(&declared.replace("var function", "function"), &body, "");
        assert_eq!(counts_of(&text), [4, 4, 0, 0], "{text}");
    }
    let bags = model("m, n: multiset [2] of boolean;", "b := m = n;", "");
    let error = loaded(&bags).unwrap_err();
    assert!(error.contains("multisets are not compared"), "{error}");
    let others = model("r: record f: boolean; end; a: array [0..1] of boolean;", "b := r = a;", "");
    let error = loaded(&others).unwrap_err();
    assert!(error.contains("of different types"), "{error}");
    let symmetric =
        "type P: scalarset(2); R: record of_p: P; n: 0..1; end; var r, s: R; same: boolean;
        startstate undefine r; undefine s; same := true; end;
        ruleset p: P; n: 0..1 do
          rule true ==> begin r.of_p := p; r.n := n; same := r = s; end;
          rule true ==> begin s.of_p := p; s.n := n; same := r = s; end;
        end;";
    let model = load(symmetric);
    let reduced =
        SymmetryModel::new(&model, model.program(), model.layout(), SymmetryEffort::Exact).unwrap();
    let (full, orbits) = (explore(&model).states(), explore(&reduced).states());
    // Each record has one of four values or is undefined. Names can be exchanged in all states but the first.
    assert_eq!((full, orbits), (25, 13));
}

#[test]
fn aggregate_results_are_arguments_in_every_expression() {
    let declared = "type R: record y: boolean; n: 0..3; end;
        function mk(n: 0..3): R; var r: R; begin r.y := true; r.n := n; return r; end;
        function turn(r: R): R; var s: R; begin s := r; s.y := !r.y; return s; end;
        function get(r: R): boolean; begin return r.y; end;
        function number(r: R): 0..3; begin return r.n; end;";
    let body = "b := get(turn(turn(mk(x)))) & number(turn(mk(x))) = x;
        b := b & forall i: 0..3 do get(mk(i)) & number(mk(i)) = i end;
        b := b & (b ? get(mk(1)) : get(turn(mk(1)))) & !(x > 3 ? true : get(turn(mk(2))));
        switch x case number(mk(3)): b := b & x = 3; else b := b & x < 3; end;";
    let beside = "rule get(turn(mk(x))) ==> begin b := false; end;
        ruleset i: 0..3 do rule !get(mk(i)) ==> begin b := false; end; end;
        invariant \"so\" get(mk(x)) & b;
        cover \"some\" number(mk(x)) = 3;";
    let text = model(declared, body, beside);
    assert_eq!(counts_of(&text), [4, 4, 0, 0]);
    let changing = "var x: 0..3; function f(): boolean; begin x := 0; return true; end;
        startstate begin x := 0; end; rule f() ==> end;";
    let error = loaded(changing).unwrap_err();
    assert!(error.contains("`f` changes the state, which may not happen here"), "{error}");
}

#[test]
fn functions_may_be_recursive() {
    let declared = "type T: 0..30;
        function down(n: T): T; begin if n = 0 then return 3; end; return down(n - 1); end;
        function fib(n: T): T; begin if n < 2 then return n; end; return fib(n - 1) + fib(n - 2); end;
        procedure fill(var t: T; n: T); begin if n > 0 then t := t + 1; fill(t, n - 1); end; end;
        function some(n: T): boolean; begin
          return n > 0 & (n = 2 | exists i := 0 to n - 1 do some(i) end); end;
        function both(n: T): T; begin
          if n = 0 then return 0; end;
          t := both(n - 1); return t + 1; end;";
    let declared = declared.replacen("type T: 0..30;", "type T: 0..30; var t: T;", 1);
    let body = "t := 0; b := down(x) = 3 & fib(7) = 13 & both(x) = x;
        t := 0; fill(t, x + 2); b := b & t = x + 2;
        b := b & some(x) = (x >= 2); assert b; undefine t;";
    let text = model(&declared, body, "rule down(x) != 3 ==> end; invariant \"so\" fib(3) = 2;");
    assert_eq!(counts_of(&text), [4, 4, 0, 0]);
}

#[test]
fn recursion_beyond_the_maximum_depth_is_a_fault() {
    let begin = "var x: 0..99; function f(n: 0..99): 0..99;
        begin if n = 0 then return 0; end; return f(n - 1); end; rule true ==> end;";
    let start = |body: &str| format!("{begin} startstate {body} end;");
    let (kind, message) = start_fault(&start("x := f(60);"));
    assert_eq!(
        (kind, message.as_str()),
        (FaultKind::Error, "f is called more than 60 times within itself")
    );
    assert!(matches!(load(&start("x := f(59);")).starts()[0].outcome, StepOutcome::Successor(_)));
    // Endless recursion.
    let endless = "var x: 0..3; procedure p(); begin x := 1; p(); end;
        startstate begin x := 0; end; rule true ==> begin p(); end;";
    assert_eq!(counts_of(endless), [1, 0, 0, 1]);
    // A function may call earlier functions, but not later ones.
    let mutual = "var x: 0..3; function p(): 0..3; begin return q(); end;
        function q(): 0..3; begin return p(); end; startstate end; rule true ==> end;";
    let error = loaded(mutual).unwrap_err();
    assert!(error.contains("further down"), "{error}");
}

#[test]
fn recursive_printing_procedures_are_expanded_once() {
    let declared = "procedure show(n: 0..3); begin put n; if n > 0 then show(n - 1); end; end;
        procedure tree(n: 0..9); begin put \"node\"; for i: 0..2 do if n < 9 then tree(n + 1); end; end; end;";
    let text = model(declared, "show(x); tree(0);", "");
    let program = loaded(&text).unwrap().program;
    assert_eq!(program.functions.len(), 2);
    assert_eq!(counts_of(&text), [4, 4, 0, 0]);
}

#[test]
fn expanded_recursive_functions_agree_between_executors() {
    let text = "type T: 0..3; var a: array [0..3] of T; n: T;
        function sum(i: T): 0..12;
          begin if i = 0 then return a[0]; end; return a[i] + sum(i - 1); end;
        procedure clear_from(i: T; var t: T);
          begin a[i] := 0; t := i; if i < 3 then clear_from(i + 1, t); end; end;
        startstate begin for i: 0..3 do a[i] := 0; end; n := 0; end;
        ruleset i: 0..3 do
          rule sum(3) < 3 & a[i] < 2 ==> begin a[i] := a[i] + 1; end;
          rule a[i] = 2 ==> begin clear_from(i, n); end;
        end;
        rule n > 0 ==> begin n := n - 1; end;
        invariant \"few\" sum(3) <= 3;";
    let interp = load(text);
    let expected = counts_of(text);
    assert!(expected[0] > 20 && expected[3] == 0, "{expected:?}");
    let states = reachable(&interp);
    assert_eq!(states.len() as u64, expected[0] * interp.width() as u64);
    assert_agree("recursion", &interp, &Jit::new(&interp).unwrap(), &states);
}

#[test]
fn ranges_may_exceed_32_bits() {
    let text =
        "var x: 0..3; wide: -2147483648..2147483647; a: array [0..2] of -2147483648..2147483648;
        startstate begin x := 0; end;
        rule \"sum\" true ==> var acc: -2147483648..2147483647; begin
          acc := x * 1000000; x := (acc / 1000000 + 1) % 4;
          wide := x = 0 ? -2147483648 : 2147483647; a[2] := 2147483648;
          a[1] := wide; a[0] := a[2]; assert a[0] - 1 = 2147483647; assert a[1] = wide; end;
        invariant \"kept\" isundefined(wide) | wide = 2147483647 | wide = -2147483648;";
    // In the initial state some variables are undefined.
    assert_eq!(counts_of(text), [5, 5, 0, 0]);
    let beyond =
        "var w: -2147483648..2147483647; startstate begin w := 2147483648; end; rule true ==> end;";
    assert_eq!(start_fault(beyond).0, FaultKind::Range);
    let unread = "var w: -2147483648..2147483647; b: boolean;
        startstate begin b := w = 0; end; rule true ==> end;";
    assert_eq!(start_fault(unread).0, FaultKind::Undefined);
    let huge = "var w: 0..281474976710655; startstate end; rule true ==> end;";
    let error = loaded(huge).unwrap_err();
    assert!(error.contains("more than 2^48 - 1 values"), "{error}");
    // Symmetry is not applied to wide variables.
    let symmetric = "type P: scalarset(2); var w: -2147483648..2147483647; p: P;
        startstate begin w := 0; end; ruleset q: P do rule true ==> begin p := q;
          w := w = 2147483647 ? -2147483648 : 2147483647; end; end;";
    let model = load(symmetric);
    assert!(
        SymmetryModel::new(&model, model.program(), model.layout(), SymmetryEffort::Exact)
            .is_none()
    );
    assert_eq!(counts_of(symmetric)[0], 5);
}

#[test]
fn cover_statements_count_when_they_are_executed() {
    let text = "var x: 0..3; y: 0..1; function note(n: 0..3): boolean;
        begin cover \"from a guard\" n = 2; return true; end;
        procedure inner(n: 0..3); begin cover n = 3 \"from a procedure\"; end;
        startstate begin x := 0; y := 0; cover \"at the start\" x = 0; end;
        rule note(x) & x < 3 ==> begin x := x + 1; cover \"met\" x = 2; cover \"never\" x = 0;
          inner(x); end;
        rule x = 3 ==> begin cover \"before an error\" true; error \"here\"; cover \"behind it\" true; end;";
    let interp = load(text);
    let cover_counts = |outcome: &SearchOutcome| -> Vec<(String, u64)> {
        let all = interp.properties().into_iter().zip(0..);
        all.map(|(it, at)| (it.name, outcome.findings.count(Violation::Property(at)))).collect()
    };
    let expected: Vec<(String, u64)> = [
        ("from a guard", 1),
        ("from a procedure", 1),
        ("at the start", 1),
        ("met", 1),
        ("never", 0),
        ("before an error", 1),
        ("behind it", 0),
    ]
    .map(|(name, count)| (name.to_owned(), count))
    .into();
    assert_eq!(cover_counts(&explore(&interp)), expected);
    // Programs with `cover` statements are not compiled.
    assert!(Jit::new(&interp).is_err());
}

#[test]
fn models_without_rules_have_only_initial_states() {
    let text =
        "var x: 0..3; ruleset i: 0..3 do startstate x := i; end; end; invariant \"small\" x < 3;";
    let outcome = explore(&load(text));
    assert_eq!((outcome.states(), outcome.counters.transitions, outcome.deadlocks()), (4, 0, 4));
    assert_eq!(outcome.findings.count(Violation::Property(0)), 1);
}

#[test]
fn constant_indices_out_of_range_are_a_warning_and_a_fault() {
    let text = model("a: array [0..1] of boolean;", "a[2] := true;", "");
    let warnings = loaded(&text).unwrap().warnings;
    assert!(warnings.iter().any(|it| it.message == "the index is 2, but the array has 0 to 1"));
    assert_eq!(counts_of(&text), [1, 0, 0, 1]);
    let guard = model("a: array [0..1] of boolean;", "", "rule x = 2 & a[5] ==> end;");
    assert_eq!(counts_of(&guard), [4, 4, 0, 1]);
}

#[test]
fn numbers_with_different_readings_in_the_tools_are_refused() {
    let error = loaded("var x: 0..010; startstate end; rule true ==> end;").unwrap_err();
    assert!(error.contains("CMurphi takes this number for 10, Rumur for 8"), "{error}");
    assert_eq!(
        counts_of("var x: 00..07; startstate x := 0; end; rule true ==> begin x := 01 - x; end;")
            [0],
        2
    );
}
