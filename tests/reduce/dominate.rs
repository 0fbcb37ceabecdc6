//! Dominance: of two states that differ only in some variables, one that simulates the other is enough. Models with one
//! condition each test which variables qualify. The violations are compared with those of the search of all states,
//! with equal depths, and reported in steps of the model.
//!
//! `SPILLWAY_LARGE` runs more random models, which take minutes.

use crate::support::error_message::ErrorMessage;
use crate::support::lockstep::{check_resumed_reduction, choose, load};
use crate::support::reductions::both;
use crate::support::reductions::{for_checks, preserved_classes, scalarsets};
use crate::support::stored::{assert_traces_replay, search, storages};
use crate::support::{Random, is_large, tiny_plan};
use spillway::front::{Language, Options};
use spillway::model::{CheckSelection, StateSpace, Violation, memory};
use spillway::reduce::dominance::DominanceSense;
use spillway::reduce::{ParameterValues, ReductionConfig, ReductionPlan};
use spillway::reduce::{PropertyClass, ReductionKind};
use spillway::search::{SearchLimits, SearchOutcome, StateStorage};
use spillway::session::TextModel;
use spillway::source::SourceMap;
use std::collections::BTreeMap;
use std::fmt::Write;

const NO_DEADLOCK: CheckSelection = CheckSelection { deadlock: false, ..CheckSelection::ALL };

/// Returns dominance pruning by all suitable variables, or by a named one.
fn pruning_plan(named: Option<(&str, DominanceSense)>, checks: CheckSelection) -> ReductionPlan {
    let named = named.map(|(name, sense)| vec![format!("{name}:{}", sense.name())]);
    let parameters = ParameterValues::default().with("variables", named.unwrap_or_default());
    for_checks(&[], checks).with("dominate", parameters)
}

fn with_pruning(model: TextModel, checks: CheckSelection) -> TextModel {
    model.with_plan(pruning_plan(None, checks))
}

/// Returns the pruned variables with their better direction, or the reason for a refusal.
fn pruned_variables(language: &str, text: &str, checks: CheckSelection) -> String {
    let model = with_pruning(load(language, text), checks);
    let searched = model.searched();
    match searched.stack().summaries(&Default::default()).first() {
        Some(summary) => summary.effect.clone().unwrap(),
        None => searched.stack().refusals()[0].reason.to_string(),
    }
}

const NONE: &str = "no variable has values that dominate others";

/// Returns a DVE process with these variables and transitions.
fn process(x: &str, trans: &str) -> String {
    format!(
        "channel {{byte}} c[1]; byte a[4]; process P {{ {x}; state p, q, r; init p; trans {trans}; }} system async;"
    )
}

/// One model for each way of reading a variable: name, declaration, transitions, and expected direction.
const READ_CASES: &[(&str, &str, &str, &str)] = &[
    ("an upper bound", "byte x", "p -> p { guard x < 9; effect x = x + 1; }", "P.x down"),
    ("a lower bound", "byte x = 9", "p -> p { guard x > 0; effect x = x - 1; }", "P.x up"),
    (
        "a flag that is tested before and after it is set",
        "byte x",
        "p -> p { guard x < 1; effect x = 1; }, p -> q { guard x == 1; }",
        NONE,
    ),
    (
        "a flag that is tested for 1",
        "byte x",
        "q -> p { effect x = 1; }, p -> q { guard x == 1; }, p -> q {}",
        "P.x up",
    ),
    (
        "the greatest value",
        "byte x",
        "p -> p { effect x = 0; }, p -> p { effect x = 2; }, p -> q { guard 2 == x; }",
        "P.x up",
    ),
    (
        "all values except the greatest",
        "byte x",
        "p -> p { effect x = 0; }, p -> p { effect x = 2; }, p -> q { guard x != 2; }",
        "P.x down",
    ),
    (
        "a value between others",
        "byte x",
        "p -> p { effect x = 0; }, p -> p { effect x = 2; }, p -> q { guard x == 1; }",
        NONE,
    ),
    (
        "an upper and a lower bound",
        "byte x",
        "p -> p { guard x < 9; effect x = x + 1; }, p -> q { guard x > 3; }",
        NONE,
    ),
    ("a sum", "byte x", "p -> p { guard x < 7 and 3 + x <= 9; effect x = x + 3; }", "P.x down"),
    (
        "a difference",
        "byte x",
        "p -> p { guard x < 7 and 9 - x >= 3; effect x = x + 3; }",
        "P.x down",
    ),
    ("a product", "byte x", "p -> p { guard 2 * x < 9; effect x = x + 1; }", NONE),
    (
        "a negation",
        "byte x",
        "p -> p { guard x < 9; effect x = x + 1; }, p -> q { guard not (x > 3); }",
        "P.x down",
    ),
    (
        "an implication",
        "byte x",
        "p -> p { guard x < 9; effect x = x + 1; }, p -> q { guard x > 3 imply a[0] == 1; }",
        "P.x down",
    ),
    (
        "a remainder",
        "byte x",
        "p -> p { guard x < 9; effect x = x + 1; }, p -> q { guard x % 2 < 1; }",
        NONE,
    ),
    (
        "an addition that wraps",
        "byte x",
        "p -> p { effect x = x + 1; }, p -> q { guard x < 9; }",
        NONE,
    ),
    (
        "an addition that does not wrap",
        "byte x",
        "p -> p { effect x = x + (x < 9); }, p -> q { guard x < 9; }",
        "P.x down",
    ),
    (
        "a decreasing function",
        "byte x",
        "p -> p { effect x = 9 - (x > 3); }, p -> q { guard x < 9; }",
        NONE,
    ),
    (
        "a copy that is tested by an order",
        "byte x, y",
        "p -> p { guard x < 9; effect x = x + 1; }, p -> p { effect y = x; }, p -> q { guard y < 3; }",
        "P.x down, P.y down",
    ),
    (
        "a copy that is tested for equality",
        "byte x, y",
        "p -> p { guard x < 9; effect x = x + 1; }, p -> p { effect y = x; }, p -> q { guard y == 3; }",
        NONE,
    ),
    (
        "a difference that is stored",
        "byte x, y",
        "p -> p { guard x < 9; effect x = x + 1; }, p -> p { effect y = 9 - x; }, p -> q { guard y > 3; }",
        "P.x down, P.y up",
    ),
    (
        "a function that is not monotonic",
        "byte x, y",
        "p -> p { guard x < 9; effect x = x + 1; }, p -> p { effect y = (x - 4) * (x - 4); }, p -> q { guard y < 9; }",
        "P.y down",
    ),
    (
        "an index",
        "byte x",
        "p -> p { guard x < 3; effect x = x + 1; }, p -> q { guard a[x] == 0; }",
        NONE,
    ),
    (
        "the index of a written element",
        "byte x",
        "p -> p { guard x < 3; effect x = x + 1; }, p -> q { effect a[x] = 1; }, q -> p { guard a[1] == 1; }",
        NONE,
    ),
    (
        "a sent variable",
        "byte x, y",
        "p -> p { guard x < 9; effect x = x + 1; }, p -> p { sync c!x; }, p -> p { sync c?y; }",
        "P.y down",
    ),
    (
        "a receiving variable",
        "byte x",
        "p -> p { guard x < 9; effect x = x + 1; }, p -> p { sync c!3; }, p -> p { sync c?x; }",
        "P.x down",
    ),
];

#[test]
fn reads_of_a_variable_determine_its_better_values() {
    for (case, x, trans, expected) in READ_CASES {
        let text = process(x, trans);
        // `a` is never read, or is not the subject.
        let found = pruned_variables("dve", &text, NO_DEADLOCK);
        let of_process: Vec<&str> = found.split(", ").filter(|it| !it.starts_with("a ")).collect();
        let of_process =
            if of_process.is_empty() { NONE.to_owned() } else { of_process.join(", ") };
        assert_eq!(of_process, *expected, "{case}: {text}");
        compare_with_full_search("dve", &text, NO_DEADLOCK).unwrap();
    }
}

/// A violation in the dominated state is a violation in the dominating one. A check of deadlocks forbids guards that
/// restrict the dominated state.
#[test]
fn the_checks_determine_the_better_values() {
    let text = |assertion: &str| {
        format!(
            "process P {{ byte x; state p, q; init p; assert q: {assertion};
            trans p -> p {{ guard x < 9; effect x = x + 1; }}, p -> q {{}}, q -> p {{}}; }} system async;"
        )
    };
    assert_eq!(pruned_variables("dve", &text("x > 3"), NO_DEADLOCK), "P.x down");
    assert_eq!(pruned_variables("dve", &text("x < 3"), NO_DEADLOCK), NONE);
    let without_assertions = CheckSelection { assertions: false, ..NO_DEADLOCK };
    assert_eq!(pruned_variables("dve", &text("x < 3"), without_assertions), "P.x down");
    let refusal = "pruning by `P.x` may miss a deadlock";
    assert_eq!(pruned_variables("dve", &text("x > 3"), CheckSelection::ALL), refusal);
    let read = text("x > 3").replace("guard x < 9; effect x = x + 1", "effect x = x + (x < 9)");
    assert_eq!(pruned_variables("dve", &read, CheckSelection::ALL), "P.x down");
    for (assertion, checks) in
        [("x > 3", NO_DEADLOCK), ("x < 3", without_assertions), ("x < 3", NO_DEADLOCK)]
    {
        compare_with_full_search("dve", &text(assertion), checks).unwrap();
    }
    compare_with_full_search("dve", &read, CheckSelection::ALL).unwrap();
}

/// `else`, `timeout` and interrupted atomic sequences depend on disabled transitions.
#[test]
fn reads_of_disabled_transitions_prevent_pruning() {
    let text = |body: &str| format!("byte x; bool b; active proctype P() {{ do :: {body} od }}");
    let cases = [
        ("x < 9 -> x = x + (x < 9)", "x down"),
        ("if :: x < 9 -> x = x + (x < 9) :: else -> b = !b fi", NONE),
        ("x < 9 -> x = x + (x < 9) :: timeout -> b = !b", NONE),
        ("atomic { b -> x < 9; x = x + (x < 9) } :: b = !b", NONE),
        ("atomic { x < 9 -> x = x + (x < 9) } :: b = !b", "x down"),
        ("c!x :: c?x", NONE),
    ];
    for (body, expected) in cases {
        let text = format!("chan c = [1] of {{ byte }}; {}", text(body));
        let found = pruned_variables("promela", &text, NO_DEADLOCK);
        let of_x = found.split(", ").find(|it| it.starts_with("x ")).unwrap_or(NONE);
        assert_eq!(of_x, expected, "{body}: {found}");
        compare_with_full_search("promela", &text, NO_DEADLOCK).unwrap();
    }
}

/// Conditions that select statements or end a step must have the same value.
#[test]
fn dominating_states_run_the_same_statements() {
    let cases = [
        ("if x < 3 then b := true; end;", NONE),
        ("if b then x := 0; end;", "x down"),
        ("if b then y := x; end;", "x down"),
        ("assert x < 9;", NONE),
        ("b := x < 4;", NONE),
        ("switch x case 3: b := true; end;", NONE),
        ("while x < 3 do x := 3; end;", NONE),
        ("for i: 0..1 do a[i] := x; end;", NONE),
    ];
    for (body, expected) in cases {
        let text = format!(
            "var x, y: 0..9; b: boolean; a: array [0..1] of 0..9;
            startstate begin x := 0; y := 0; b := false; a[0] := 0; a[1] := 0; end;
            rule \"up\" x < 9 ==> begin x := x + 1; end;
            rule \"y\" y < 4 ==> begin y := 5; end;
            rule \"a\" a[0] = 4 | b ==> begin b := !b; end;
            rule \"body\" true ==> begin {body} end;"
        );
        let found = pruned_variables("murphi", &text, NO_DEADLOCK);
        let of_x = found.split(", ").find(|it| it.starts_with("x ")).unwrap_or(NONE);
        assert_eq!(of_x, expected, "{body}: {found}");
        compare_with_full_search("murphi", &text, NO_DEADLOCK).unwrap();
    }
}

/// A named variable is checked. A refusal gives the reason and the place.
#[test]
fn named_variables_are_checked() {
    let text = "byte x; process P { byte x, y; state p, q; init p;
        trans p -> p { guard x < 9; effect x = x + 1; }, p -> q { guard y == 3; }, p -> p { guard y < 9; effect y = y + 1; }; }
        system async;";
    let result_for = |name: &str, sense| {
        let mut model = load("dve", text);
        model.wished = pruning_plan(Some((name, sense)), NO_DEADLOCK);
        let searched = model.searched();
        let summaries = searched.stack().summaries(&Default::default());
        match summaries.first() {
            Some(summary) => summary.effect.clone().unwrap(),
            None => searched.stack().refusals()[0].reason.to_string(),
        }
    };
    assert_eq!(result_for("P.x", DominanceSense::Down), "P.x down");
    let refusal =
        |sense, why| format!("not all {sense} values of {why} depends on more than the order");
    let larger = refusal("larger", "`P.x` dominate: `P.x` of P.p -> p");
    assert_eq!(result_for("P.x", DominanceSense::Up), larger);
    let smaller = refusal("smaller", "`P.y` dominate: `y == 3` of P.p -> q");
    assert_eq!(result_for("y", DominanceSense::Down), smaller);
    assert_eq!(result_for("z", DominanceSense::Down), "there is no variable `z`");
    assert!(
        result_for("x", DominanceSense::Down).starts_with("`x` is the name of several variables")
    );
}

/// Returns the selected violations with their depths.
fn violation_depths(
    model: &TextModel,
    checks: &CheckSelection,
    outcome: &SearchOutcome,
) -> BTreeMap<Violation, u64> {
    let all = outcome.findings.iter().map(|(check, found)| (check, found.level));
    all.filter(|(check, _)| checks.selects(&model.interp, *check)).collect()
}

/// Checks that a search with pruning has the violations of the search of all states at the same depths. It runs in
/// memory and on disk, stopped or not. Counterexamples replay. Returns the numbers of states, all and reduced.
fn compare_with_full_search(
    language: &str,
    text: &str,
    checks: CheckSelection,
) -> Result<(u64, u64), ErrorMessage> {
    let model = load(language, text);
    let limits = SearchLimits { checks, stop_on_violation: false, ..SearchLimits::default() };
    let full = memory::search(model.searched().model(), &limits).unwrap();
    let expected = violation_depths(&model, &checks, &full);
    let model = with_pruning(model, checks);
    let searched = model.searched();
    let reduced = memory::search(searched.model(), &limits).unwrap();
    if violation_depths(&model, &checks, &reduced) != expected || reduced.states() > full.states() {
        let reduced = (violation_depths(&model, &checks, &reduced), reduced.states());
        let full = full.states();
        return Err(format!("{checks:?}: {expected:?} in {full} and {reduced:?}\n{text}").into());
    }
    if searched.model().capabilities().dominance.is_some() {
        compare_stores(searched.model(), &limits, &reduced);
    }
    Ok((full.states(), reduced.states()))
}

/// Checks that every kind of sorted store has the outcome of the oracle.
fn compare_stores(model: &dyn StateSpace, limits: &SearchLimits, expected: &SearchOutcome) {
    let sorted = storages(model).into_iter().filter(|it| matches!(it, StateStorage::Sorted(_)));
    for storage in sorted.chain([StateStorage::default()]) {
        let plans = [(2, 16, 16), (1, 300, 40)];
        let plans = plans
            .map(|(threads, keys, young_keys)| tiny_plan(threads, model.width(), keys, young_keys));
        let third = expected.states() / 3;
        for pauses in [&[][..], &[third, 2 * third]] {
            let (found, disk) = search(&[model], &storage, &plans, pauses, limits);
            assert_eq!(&found, expected, "{}", storage.name());
            assert_traces_replay(model, &*disk, &found);
        }
    }
}

/// Generates two processes with counters and flags. Most reads prefer one direction of the values.
fn random_model(random: &mut Random) -> String {
    let mut text = "byte t; byte k[2]; byte g; byte o; channel {byte} c[1];\n".to_owned();
    let senses: Vec<bool> = (0..3).map(|_| random.below(2) == 0).collect();
    let names = ["t", "k[0]", "k[1]"];
    let monotone_condition = |random: &mut Random, senses: &[bool]| {
        let number = random.below(3);
        // The elements of an array share one direction.
        let sense = senses[number.min(1)];
        let comparison = if sense { "<" } else { ">" };
        let bound = random.below(4);
        match random.below(10) {
            0 => format!("{} == {bound}", names[number]),
            1 => format!("not ({} {} {bound})", names[number], if sense { ">" } else { "<" }),
            2 => format!("({} {comparison}= {bound} or g == {})", names[number], random.below(2)),
            _ => format!("{} {comparison} {bound}", names[number]),
        }
    };
    for process in ["P", "Q"] {
        let _ = writeln!(text, "process {process} {{ state a, b, d; init a;");
        if random.below(2) == 0 {
            let _ = writeln!(text, "assert b: not ({});", monotone_condition(random, &senses));
        } else if random.below(2) == 0 {
            let _ = writeln!(text, "assert d: {};", monotone_condition(random, &senses));
        }
        text.push_str("trans\n");
        let edges = 4 + random.below(5);
        for number in 0..edges {
            let (from, to) = (choose(random, &["a", "b", "d"]), choose(random, &["a", "b", "d"]));
            let guard = match random.below(4) {
                0 => format!("guard g == {};", random.below(2)),
                1 => String::new(),
                _ => format!("guard {};", monotone_condition(random, &senses)),
            };
            let sync = match random.below(8) {
                0 => "sync c!{g};".to_owned(),
                1 => format!("sync c?{{{}}};", choose(random, &["g", "t", "o"])),
                2 if random.below(4) == 0 => "sync c!{t};".to_owned(),
                _ => String::new(),
            };
            let name = choose(random, &names);
            let effect = match random.below(9) {
                0 => format!("effect {name} = {};", random.below(5)),
                1 | 2 => format!("effect {name} = {name} + ({name} < 4);"),
                3 => format!("effect {name} = {name} - ({name} > 0);"),
                4 => format!("effect {name} = {};", choose(random, &names)),
                5 => "effect g = 1 - g;".to_owned(),
                6 => format!("effect o = {};", choose(random, &names)),
                7 if random.below(3) == 0 => format!("effect g = {name} > 1;"),
                _ => String::new(),
            };
            let end = if number + 1 < edges { "," } else { ";" };
            let _ = writeln!(text, "  {from} -> {to} {{ {guard} {sync} {effect} }}{end}");
        }
        text.push_str("}\n");
    }
    text + "system async;\n"
}

#[test]
fn random_models_keep_their_verdicts_and_depths() {
    let mut random = Random::new(41);
    let (mut fewer, mut violations) = (0, 0);
    for number in 0..if is_large() { 10_000 } else { 300 } {
        let text = random_model(&mut random);
        let checks = if number % 5 == 0 { CheckSelection::ALL } else { NO_DEADLOCK };
        let (full, reduced) = compare_with_full_search("dve", &text, checks)
            .unwrap_or_else(|error| panic!("{error}"));
        fewer += u32::from(reduced < full);
        violations += u32::from(text.contains("assert"));
    }
    println!("{fewer} models have fewer states, {violations} assert something");
    assert!(fewer > 40 && violations > 40, "{fewer}, {violations}");
}

/// Upper bounds: the shares in the paper for models of these kinds (Pelánek 2005, table 4, breadth-first).
const PAPER_SHARES: &[(&str, &str, u64, u64, u64)] = &[
    ("dve/job_shop.dve", "now down", 24_331, 513, 42),
    ("murphi/naive_protocol.m", "", 3721, 573, 173),
    ("dve/torch_bridge.dve", "time down", 863, 30, 222),
    ("dve/fischer_clocks.dve", "left up, rest down", 472, 149, 421),
    ("promela/counted_losses.pml", "lost down", 4752, 695, 426),
    ("dve/delivery.dve", "fuel up", 3581, 1180, 453),
];

#[test]
fn models_are_reduced_at_least_as_much_as_in_the_paper() {
    for &(file, found, full, reduced, per_mille) in PAPER_SHARES {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(file);
        let text = std::fs::read_to_string(path).unwrap();
        let language = Language::from_file_name(file).unwrap();
        let states = compare_with_full_search(language.name, &text, NO_DEADLOCK).unwrap();
        println!("{file}: {states:?}");
        assert_eq!(states, (full, reduced), "{file}");
        assert!(1000 * reduced <= per_mille * full, "{file}");
        let variables = pruned_variables(language.name, &text, NO_DEADLOCK);
        assert!(variables.contains(found), "{file}: {variables}");
    }
}

/// A resumed search keeps pruning. Pruning is refused with partial reductions of steps, state replacement and claims.
#[test]
fn pruning_is_kept_on_resume_and_refused_with_other_reductions() {
    let text = "process P { byte x; state p, q; init p; trans p -> p { effect x = x + (x < 200); }, p -> q {}, q -> p {}; }
        process Q { byte n; state a, b; init a; assert b: n < 120; trans a -> a { guard n < 120; effect n = n + 1; },
        a -> b { guard n == 120; }; } system async;";
    let model = load("dve", text);
    let reduce = pruning_plan(None, CheckSelection::ALL).into();
    check_resumed_reduction(&model, reduce, ReductionConfig::none(), 2);
    let found = with_pruning(load("dve", text), CheckSelection::ALL);
    let expected = [
        PropertyClass::Deadlocks,
        PropertyClass::StepErrors,
        PropertyClass::Invariants,
        PropertyClass::Depth,
    ];
    assert_eq!(preserved_classes(found.searched().stack().preserves()), expected);
    let refusals = |language: &str, text: &str, other_plan: &ReductionPlan| {
        let mut sources = SourceMap::default();
        sources.add("model", text);
        let language = Language::from_name(language).unwrap();
        let mut model = TextModel::load(language, sources, Options::default()).unwrap().0;
        model.wished = both(&pruning_plan(None, NO_DEADLOCK), other_plan);
        let searched = model.searched();
        assert!(searched.stack().names(&[ReductionKind::Dominance]).is_empty());
        searched
            .stack()
            .refusals()
            .iter()
            .map(|it| it.reason.to_string())
            .collect::<Vec<_>>()
            .join("; ")
    };
    let no_proof = |name: &str| format!("the combination with {name} has no proof");
    let linear = "process P { byte x, y, z; state a; init a; trans a -> a { guard x == y; effect x = (x + 1) % 3; },
        a -> a { guard x != y; effect y = x; }, a -> a { guard z < 9; effect z = z + 1; }; } system async;";
    let reasons = refusals("dve", linear, &ReductionPlan::of(["linear"]));
    assert_eq!(reasons, no_proof("linear sets"));
    let symmetric = "type N: scalarset(2); var a: array [N] of boolean; k: boolean;
        startstate begin for i: N do a[i] := false; end; k := false; end;
        ruleset i: N do rule \"set\" !a[i] ==> begin a[i] := true; end; end; rule \"know\" true ==> begin k := true; end;
        rule \"use\" k ==> begin end;";
    assert_eq!(refusals("murphi", symmetric, &scalarsets("exact")), no_proof("symmetry exact"));
    let claimed = "byte x; active proctype P() { do :: x < 9 -> x = x + (x < 9) od } never { do :: x > 3 -> break :: else od }";
    assert_eq!(
        refusals("promela", claimed, &ReductionPlan::default()),
        no_proof("never claim never_0")
    );
}
