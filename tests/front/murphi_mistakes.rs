//! Classic mistakes in Murphi: each has one message, with its place and a remedy. No text causes a panic.

use spillway::exec::Interp;
use spillway::front::{Options, murphi};
use spillway::ir::validate::validate;
use spillway::model::{FaultKind, SystemDescription, Violation, memory};
use spillway::search::SearchLimits;
use spillway::search::trace::replay;
use spillway::source::SourceMap;

fn load(text: &str) -> Result<Interp, Vec<String>> {
    let mut sources = SourceMap::default();
    sources.add("model.m", text);
    let loaded = murphi::LANGUAGE.load(&mut sources, &Options::default()).map_err(|errors| {
        errors.iter().map(|it| it.render(&sources).to_string()).collect::<Vec<_>>()
    })?;
    validate(&loaded.program).unwrap();
    Interp::new(loaded.program).map_err(|error| vec![error.render(&sources).to_string()])
}

/// Returns a model of declarations (line 1), the part with the mistake (from line 2 on), and a start state.
fn model(part: &str) -> String {
    format!(
        "type E: enum {{ e, f }}; S: scalarset(2); R: record n: 0..3; end; \
         var x: 0..3; y: 0..3; b: boolean; a: array [0..3] of 0..3; s: S; v: E; r: R; \
         t: array [S] of 0..3;\n{part}\nstartstate begin x := 0; end;"
    )
}

/// Bodies of a rule with a mistake, from column 15 of line 2 on, with the place, the message and the help.
const BODIES: &[(&str, &str, &str, &str)] = &[
    ("if x = 0 x := 1; end;", "2:24", "expected `then`", "if condition then"),
    ("if x = 0 then x := 1;", "2:37", "expected `end` or `endif`", "the `if` of line 2"),
    ("if x = 0 then x := 1; endfor;", "2:37", "`end` or `endif`, found `endfor`", "the `if` of"),
    ("if b then x := 1; else if b then x := 2; end;", "", "expected `end`", "`elsif` none"),
    ("for i: 0..3 x := i; end;", "2:27", "expected `do`", "begins with `do`"),
    ("for i = 0 to 3 do x := i; end;", "2:21", "found `=`", "`i := 0 to 3 do`"),
    ("x = 1;", "2:17", "`=` compares", "`:=`"),
    ("x := 1 y := 2;", "2:22", "expected `;`", "separated by `;`"),
    ("x := 1 @ 2;", "2:22", "'@' has no meaning", "remove it"),
    ("x := y mod 2;", "2:22", "found `mod`", "`%`"),
    ("x := (y <> 2) ? 1 : 2;", "2:24", "found `>`", "`!=`"),
    ("x := 99999999999999999999999;", "2:20", "64 bits", ""),
    ("z := 1;", "2:15", "`z` is not declared", "declare it before"),
    ("X := 1;", "2:15", "`X` is not declared", "there is `x`"),
    ("g(x);", "2:15", "`g` is not declared", "declare it before"),
    ("t[0] := 1;", "2:17", "a number, but one of `S`", "from a parameter"),
    ("a[b] := 1;", "2:17", "a truth value, but a number", "? 1 : 0"),
    ("a[s] := 1;", "2:17", "one of `S`, but a number", "only `=` and `!=`"),
    ("a(1) := 1;", "2:15", "a call cannot be assigned", "a[i]"),
    ("x := true;", "2:20", "a truth value, but a number", "? 1 : 0"),
    ("v := 1;", "2:20", "a number, but one of `E`", "that the enumeration lists"),
    ("s := s + 1;", "2:20", "one of `S`, but a number", "no order and no arithmetic"),
    ("if v < f then x := 1; end;", "2:18", "one of `E`, but a number", "no order"),
    ("if x then x := 1; end;", "2:18", "a number, but a truth value", "compares"),
    ("if v = 0 then x := 1; end;", "2:18", "one of `E` is compared with a number", "one type"),
    ("e := f;", "2:15", "this cannot be changed", "not constants"),
    ("for i: 0..3 do i := 1; end;", "2:30", "this cannot be changed", "not constants"),
    ("x.n := 1;", "2:17", "no record", "only records"),
    ("r.m := 1;", "2:17", "no field `m`", "its fields are `n`"),
    ("x[1] := 1;", "2:15", "neither an array nor a multiset", "index in brackets"),
    ("a := r;", "2:15", "of different types", "of one type"),
    ("switch x case e: x := 1; end;", "2:29", "one of `E`, but a number", "no order"),
    ("return 1;", "2:22", "nothing to return a value to", "`return` alone"),
    ("x := undefined + 1;", "2:20", "cannot be computed with", "isundefined"),
    ("while b x := 1; end;", "2:23", "expected `do`", "begins with `do`"),
    ("error x;", "2:21", "expected a string", ""),
    ("x := trues;", "2:20", "`trues` is not declared", "did you mean `true`?"),
    ("multisetadd(x, y);", "2:30", "no multiset", "comes last"),
];

/// Rules and declarations with a mistake, from line 2 on, with the place, the message and the help.
const PARTS: &[(&str, &str, &str, &str)] = &[
    (
        "rule x = 0 ==> x := 1;\nrule x = 1 ==> end;",
        "2:23",
        "`end` or `endrule`, found `rule`",
        "the `rule` of line 2",
    ),
    ("startstat x := 0; end;", "2:1", "found `startstat`", "did you mean `startstate`?"),
    ("rule x = 0 begin x := 1; end;", "2:12", "`==>` after the guard", "rule guard ==>"),
    ("rule x := 0 ==> x := 1; end;", "2:13", "found `==>`", "compares with `=`"),
    ("rule b and b ==> x := 1; end;", "2:8", "found `and`", "`&`"),
    ("rule not(b) ==> x := 1; end;", "2:6", "`not` is not declared", "`!`"),
    ("rule x ==> x := 1; end;", "2:6", "a number, but a truth value", "compares"),
    ("rule true ==> x := 1; end; end;", "2:28", "found `end`", "one too many"),
    ("rule \"go true ==> end;", "2:6", "not closed on its line", "`\"`"),
    ("/* rule true ==> end;", "2:1", "never closed", "`*/`"),
    ("ruleset i: 0..3 rule true ==> end; end;", "2:17", "expected `do`", "begins with `do`"),
    ("ruleset i: 0..3 do rule true ==> i := 1; end; end;", "2:34", "cannot be changed", "ruleset"),
    ("invariant \"one\";", "2:16", "expected an expression", "a value"),
    ("var rule: 0..3;", "2:5", "expected a name", "reserved"),
    ("var x: 0..3;", "2:5", "declared a second time", "another name"),
    ("type F: enum { g, f };", "2:19", "declared a second time", "another name"),
    ("var q: Q;", "2:8", "`Q` is not declared", "declare it before"),
    ("var q: 0..3 := 2;", "2:13", "expected `;`", "separated by `;`"),
    ("var q: 3..0;", "2:8", "the range is empty", ""),
    ("const Z: 0; var q: 0..(4 / Z);", "2:23", "cannot be computed", "zero divisor"),
    ("var q: multiset of 0..3;", "2:17", "expected `[`", "in brackets"),
    ("type Q: scalarset(0);", "2:19", "a number from 1 on", ""),
    ("var q: real(5, 99);", "2:8", "no real numbers", "subrange"),
    ("var q: array [0..99999] of array [0..99999] of 0..3;", "2:8", "16777216", "smaller"),
    ("function p(n: 0..3); begin return n; end;", "2:35", "nothing to return", "`return` alone"),
    ("function p(): 0..3; begin return; end;", "2:27", "returns a value", "behind `return`"),
    ("var q: 0..010;", "2:11", "for 10, Rumur for 8", "without the zero"),
    (
        "function p(): 0..3; begin return q(); end; function q(): 0..3; begin return p(); end;",
        "2:34",
        "`q` is not declared",
        "further down",
    ),
    (
        "procedure p(); begin end; rule true ==> x := p(); end;",
        "2:46",
        "has no result",
        "statement of its own",
    ),
    (
        "procedure p(n: 0..3); begin end; rule true ==> p(); end;",
        "2:48",
        "`p` takes 1 argument, not 0",
        "one for each",
    ),
    (
        "procedure p(var n: 0..3); begin end; rule true ==> p(1 + 2); end;",
        "2:54",
        "only a value",
        "in a variable",
    ),
    (
        "procedure p(var n: 0..3); begin end; rule true ==> p(b); end;",
        "2:54",
        "of another type",
        "its own type",
    ),
    ("byte z; process P { }", "2:6", "expected `:`, found `z`", "name: type"),
];

/// An incorrect declaration is reported once, and not again at its uses.
#[test]
fn an_incorrect_declaration_is_one_error() {
    for text in [
        "var x: 0..z; y: 1..4; startstate x := 0; y := 1; end; rule x < y ==> x := x + 1; end;",
        "const N: M; type T: 0..N; var x: T; startstate x := 0; end; rule x < N ==> x := N; end;",
        "var y: 0..1; startstate y := 0; end; rule y = 0 ==> var x: 0..z; begin x := 1; y := x; end;",
        "var y: 0..1; function f(a: Q): boolean; begin return a = 1; end;
         startstate y := 0; end; rule f(y) ==> y := 1; end;",
    ] {
        let Err(errors) = load(text) else { panic!("it is taken: {text}") };
        assert_eq!(errors.len(), 1, "{errors:?}\n{text}");
    }
}

#[test]
fn classic_mistakes_are_reported_once_with_their_place() {
    let bodies = BODIES.iter().map(|&(body, place, message, help)| {
        (model(&format!("rule true ==> {body} endrule;")), place, message, help)
    });
    let parts = PARTS.iter().map(|&(part, place, message, help)| {
        (model(&format!("{part}\nrule true ==> x := 1; end;")), place, message, help)
    });
    let mut failures = Vec::new();
    for (text, place, message, help) in bodies.chain(parts) {
        let place = format!("model.m:{place}");
        let errors = load(&text).err().unwrap_or_default();
        let is_expected = errors.len() == 1
            && errors[0].starts_with(&place)
            && errors[0].contains(message)
            && errors[0].contains(help)
            && (help.is_empty() || errors[0].contains("help: "));
        if !is_expected {
            let errors = errors.join("\n");
            failures.push(format!("{text}\nwanted: {place} {message}: {help}\n{errors}\n"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn mistakes_at_run_time_are_violations_with_a_trace() {
    let cases = [
        ("rule true ==> x := x + 1; end;", "x := 0", FaultKind::Range, 4),
        ("rule true ==> x := a[y]; end;", "x := 0", FaultKind::Undefined, 1),
        ("rule true ==> x := 6 / x; end;", "x := 0", FaultKind::Division, 1),
        ("rule true ==> x := 4; end;", "x := 0", FaultKind::Range, 1),
        ("rule true ==> while true do y := 0; end; end;", "x := 0", FaultKind::Limit, 1),
        ("rule true ==> assert x = 1; end;", "x := 0", FaultKind::Assertion, 1),
        // A fault at the start has no state before it.
        ("rule true ==> end;", "x := y + 1", FaultKind::Undefined, 0),
        ("rule true ==> end;", "x := 0; y := a[x]; x := y + 1", FaultKind::Undefined, 0),
    ];
    for (rule, start, kind, depth) in cases {
        let text = format!(
            "var x: 0..3; y: 0..3; a: array [0..3] of 0..3; {rule} startstate {start}; end;"
        );
        let model = load(&text).unwrap_or_else(|errors| panic!("{}", errors.join("\n")));
        let outcome = memory::search(&model, &SearchLimits::default()).unwrap();
        let (check, finding) = outcome
            .findings
            .iter()
            .find(|(check, _)| matches!(check, Violation::Fault(found, _) if *found == kind))
            .unwrap_or_else(|| panic!("{text}: {:?}", outcome.findings));
        // The model has only one run.
        let mut states = Vec::new();
        let mut next = model.starts();
        while states.last() != Some(&finding.witness) {
            let Some(spillway::model::StepOutcome::Successor(state)) =
                next.first().map(|step| step.outcome.clone())
            else {
                break;
            };
            next = model.steps(&state);
            states.push(state);
        }
        let trace = replay(&model, check, states).unwrap_or_else(|| panic!("{text}: no trace"));
        assert_eq!(trace.depth(), depth, "{text}");
    }
}

/// Splits a text into tokens and the characters between them.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let end = match is_word(first) {
            true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        pieces.push(&rest[..end]);
        rest = &rest[end..];
    }
    pieces
}

#[test]
fn broken_models_cause_no_panic() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("models/murphi");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let (mut accepted, mut refused) = (0, 0);
    let mut try_load = |text: &str| match load(text) {
        Ok(_) => accepted += 1,
        Err(_) => refused += 1,
    };
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        let pieces = pieces(&text);
        let tokens: Vec<usize> =
            (0..pieces.len()).filter(|&position| !pieces[position].trim().is_empty()).collect();
        for (number, &position) in tokens.iter().enumerate().step_by(3) {
            // The text is cut; a token is omitted; two are exchanged; one is repeated; one is replaced by another.
            try_load(&pieces[..position].concat());
            try_load(&[&pieces[..position], &pieces[position + 1..]].concat().concat());
            let other = tokens[(number + 1) % tokens.len()];
            let mut exchanged = pieces.clone();
            exchanged.swap(position, other);
            try_load(&exchanged.concat());
            try_load(&[&pieces[..=position], &[" "], &pieces[position..]].concat().concat());
            let mut foreign = pieces.clone();
            foreign[position] = pieces[tokens[(number * 31 + 7) % tokens.len()]];
            try_load(&foreign.concat());
        }
    }
    assert!(accepted > 100 && refused > 1000, "{accepted} accepted, {refused} refused");
}
