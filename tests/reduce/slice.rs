//! Slicing: code that cannot influence a checked property is removed. Violations are found at the same depth, and
//! reported in steps of the model as written. Each condition has a model that needs it.
//!
//! `SPILLWAY_LARGE` runs more random models, which take minutes.

use crate::support::error_message::ErrorMessage;
use crate::support::lockstep::{choose, load};
use crate::support::memory::memory_beside_tests;
use crate::support::reductions::both as both_of;
use crate::support::reductions::{bisimilar, for_checks};
use crate::support::{Random, is_large};
use spillway::Check;
use spillway::budget::AnalysisBudget;
use spillway::ir::validate;
use spillway::model::{CheckSelection, SystemDescription, Violation, memory};
use spillway::reduce::slice::ProgramSlice;
use spillway::reduce::{PreservedProperties, PropertyClass};
use spillway::reduce::{ReductionConfig, ReductionPlan};
use spillway::search::{SearchLimits, SearchOutcome, SearchVerdict};
use spillway::session::{CheckResult, Error, TextModel};
use std::collections::BTreeMap;
use std::fmt::Write;

const DEADLOCKS: CheckSelection = CheckSelection { deadlock: true, ..CheckSelection::NONE };
const ASSERTIONS: CheckSelection = CheckSelection { assertions: true, ..CheckSelection::NONE };
const INVARIANTS: CheckSelection = CheckSelection { invariants: true, ..CheckSelection::NONE };
const FAULTS: CheckSelection = CheckSelection { faults: true, ..CheckSelection::NONE };
const ALL_SELECTIONS: [CheckSelection; 5] =
    [CheckSelection::ALL, DEADLOCKS, ASSERTIONS, INVARIANTS, FAULTS];

/// Returns the selected violations with their depths.
fn violation_depths(
    model: &TextModel,
    checks: &CheckSelection,
    outcome: &SearchOutcome,
) -> BTreeMap<Violation, u64> {
    let all = outcome.findings.iter().map(|(check, found)| (check, found.level));
    all.filter(|(check, _)| checks.selects(&model.interp, *check)).collect()
}

/// Checks that rewritings keep the selected violations and their depths, and that counterexamples are runs of the model
/// as written. Returns the numbers of states, all and reduced.
fn compare_with_full_search(
    language: &str,
    text: &str,
    plan: &ReductionPlan,
    checks: CheckSelection,
) -> Result<(u64, u64), ErrorMessage> {
    let model = load(language, text);
    let limits = SearchLimits { checks, stop_on_violation: false, ..SearchLimits::default() };
    let search = |model: &TextModel| memory::search(model.searched().model(), &limits).unwrap();
    let full = search(&model);
    let model = model.with_plan(plan.clone());
    if let Some(rewritten) = model.rewritten(plan, &AnalysisBudget::largest()) {
        let problems = validate::validate(rewritten.interp().program()).err();
        assert!(problems.is_none(), "{problems:?}");
    }
    let reduced = search(&model);
    let expected = violation_depths(&model, &checks, &full);
    let is_same = violation_depths(&model, &checks, &reduced) == expected;
    let is_less = reduced.states() <= full.states();
    if !is_same || !is_less {
        let found = (violation_depths(&model, &checks, &reduced), reduced.states());
        return Err(format!("{checks:?}: {expected:?} and {found:?}\n{text}").into());
    }
    let check = |plan: &ReductionPlan| {
        let reduce = plan.clone();
        Check::of_text(&model).reduce(reduce).memory(memory_beside_tests(512)).checks(checks).run()
    };
    let whole_run = match check(&ReductionPlan::default()) {
        // The model has none of the checked properties.
        Err(Error::Nothing { .. }) => return Ok((full.states(), reduced.states())),
        it => it.unwrap(),
    };
    let run = check(plan).unwrap();
    assert_eq!(run.verdict(), whole_run.verdict(), "{text}");
    let depth = |result: &CheckResult| result.counterexample().unwrap().map(|it| it.depth());
    assert_eq!(depth(&run), depth(&whole_run), "{text}");
    if let Some(counterexample) = run.counterexample().unwrap() {
        let (trace, interp) = (counterexample.trace(), &model.interp);
        assert!(interp.starts().contains(&trace.steps[0]));
        for (state, step) in trace.states.iter().zip(&trace.steps[1..]) {
            assert!(interp.steps(state).contains(step), "{text}");
        }
    }
    Ok((full.states(), reduced.states()))
}

/// Returns the numbers of states, all and sliced.
fn state_counts(language: &str, text: &str, checks: CheckSelection) -> (u64, u64) {
    compare_with_full_search(language, text, &for_checks(&["slice"], checks), checks).unwrap()
}

/// Returns the number of removed actions.
fn removed_actions(model: &TextModel, checks: CheckSelection) -> usize {
    let sliced = model
        .rewritten(&for_checks(&["slice"], checks), &AnalysisBudget::largest())
        .and_then(|it| it.pass::<ProgramSlice>());
    sliced.map_or(0, |it| it.actions().len())
}

/// `Q` only records what `P` does, and `R` computes with that. No property reads them.
#[test]
fn processes_without_influence_are_removed() {
    let text = "byte g; byte n; byte m;
        process P { state a, b; init a; assert b: g < 2; trans a -> b { guard g < 2; effect g = g + 1, n = g; }, b -> a { }; }
        process Q { state c, d; init c; trans c -> d { guard n > 0; }, d -> c { effect m = n; }; }
        process R { state e; init e; trans e -> e { effect m = (m + 1) % 5; }; } system async;";
    let model = load("dve", text);
    assert_eq!(removed_actions(&model, ASSERTIONS), 3);
    let (full, sliced) = state_counts("dve", text, ASSERTIONS);
    assert!(full > 20 && sliced == 5, "{sliced} of {full}");
    // `R` can always move, so there is no deadlock to prevent.
    assert_eq!(removed_actions(&model, CheckSelection::ALL), 3);
    assert_eq!(state_counts("dve", text, CheckSelection::ALL), (full, sliced));
    // The model has none of these violations.
    assert_eq!(state_counts("dve", text, FAULTS), (full, 1));
    assert_eq!(state_counts("dve", text, DEADLOCKS), (full, 1));
}

/// The end of a process that never returns to relevant actions.
#[test]
fn actions_after_the_last_relevant_one_are_removed() {
    let text = "byte g; process P { byte x; state a, b, c, d; init a; assert b: g == 0; trans a -> b { },
        b -> c { effect g = 1; }, c -> d { effect x = 1; }, d -> c { effect x = 0; }; } system async;";
    // The assertion at `b` depends on leaving `b`.
    assert_eq!(removed_actions(&load("dve", text), ASSERTIONS), 2);
    assert_eq!(state_counts("dve", text, ASSERTIONS), (4, 3));
}

/// One invariant is independent of some rules and variables, the other one is not.
#[test]
fn rules_without_influence_on_an_invariant_are_removed() {
    let text = |invariant: &str| {
        format!(
            "var x: 0..3; y: 0..9; z: 0..9;
            startstate begin x := 0; y := 0; z := 3; end;
            rule \"x\" x < 3 ==> begin x := x + 1; y := 0; end;
            rule \"y\" y < 9 ==> begin y := y + 1; end;
            rule \"z\" y > 4 ==> begin z := y; end;
            invariant {invariant};"
        )
    };
    let of_x = text("x < 3");
    assert_eq!(removed_actions(&load("murphi", &of_x), INVARIANTS), 2);
    assert_eq!(state_counts("murphi", &of_x, INVARIANTS).1, 4);
    assert_eq!(removed_actions(&load("murphi", &text("z < 8")), INVARIANTS), 0);
    assert_eq!(removed_actions(&load("murphi", &of_x), CheckSelection::ALL), 0);
    state_counts("murphi", &text("z < 8"), INVARIANTS);
}

/// Models in which an action would be removed if one condition were omitted. The fields are name, language, text,
/// checks, and the number of actions that can be removed.
const KEPT_ACTIONS: &[(&str, &str, &str, CheckSelection, usize)] = &[
    ("a variable in a guard", "dve", "byte x; process P { state a; init a; trans a -> a { guard x < 2; effect x = x + 1; }; }
        process Q { state c, d; init c; assert d: false; trans c -> d { guard x == 2; }; } system async;", ASSERTIONS, 0),
    ("a variable that is copied to a relevant one", "dve", "byte x, y; process P { state a; init a; trans a -> a { guard x < 2; effect x = x + 1; }; }
        process Q { state c; init c; assert c: y < 2; trans c -> c { effect y = x; }; } system async;", ASSERTIONS, 0),
    ("a path to a relevant transition", "dve", "byte g; process P { state a, b, c; init a; trans a -> b { }, b -> c { }, c -> a { effect g = 1; }; }
        process Q { state q; init q; assert q: g == 0; trans q -> q { guard g == 7; }; } system async;", ASSERTIONS, 1),
    ("a location that a guard tests", "dve", "process P { state a, b; init a; trans a -> b { }, b -> a { }; }
        process Q { state c, d; init c; assert d: false; trans c -> d { guard P.b; }; } system async;", ASSERTIONS, 0),
    ("a sender", "dve", "channel {byte} k[1]; process P { state a; init a; trans a -> a { sync k!1; }; }
        process Q { byte x; state c, d; init c; assert d: false; trans c -> d { sync k?x; }; } system async;", ASSERTIONS, 0),
    ("a receiver that makes space", "dve", "channel {byte} k[1]; process P { state a, b, c; init a; assert c: false; trans a -> b { sync k!1; }, b -> c { sync k!1; }; }
        process Q { byte x; state c; init c; trans c -> c { sync k?x; }; } system async;", ASSERTIONS, 0),
    ("a rendezvous partner", "dve", "channel k; process P { state a, b; init a; assert b: false; trans a -> b { sync k!; }; }
        process Q { state c, d; init c; trans c -> d { }, d -> c { sync k?; }; } system async;", ASSERTIONS, 0),
    ("a fault", "dve", "byte t[2]; process P { byte i; state a, b; init a; trans a -> b { effect i = 2; }, b -> a { effect t[i] = 1; }; }
        system async;", FAULTS, 0),
    ("a variable that causes a fault", "dve", "byte x, y, z; process P { state a; init a; trans a -> a { guard x < 2; effect x = x + 1; }; }
        process Q { state c, d; init c; assert d: false; trans c -> c { guard z < 2; effect y = 4 / (1 - x), z = z + 1; }, c -> d { guard z == 2; }; }
        system async;", CheckSelection { assertions: true, faults: true, ..CheckSelection::NONE }, 0),
    ("a fault that stops a transition", "dve", "byte x, y, z; process P { state a, b; init a; trans a -> b { effect x = 1; }; }
        process Q { state c, d; init c; assert d: false; trans c -> c { guard z < 2; effect y = 4 / x, z = z + 1; }, c -> d { guard z == 2; }; }
        system async;", ASSERTIONS, 0),
    ("an assertion whose evaluation may fault", "dve", "byte x; byte t[2]; process P { state a, b; init a; assert b: t[x] == 0; trans a -> a { guard x < 2; effect x = x + 1; },
        a -> b { guard x == 2; }; } system async;", FAULTS, 0),
    ("an assertion in a statement", "promela", "byte x; active proctype P() { x = 1; x = 2 } active proctype Q() { assert(x < 2) }", ASSERTIONS, 2),
    ("a transition that prevents a deadlock", "dve", "byte x; process P { state a; init a; trans a -> a { guard x == 0; effect x = 1; }; }
        process Q { state c; init c; trans c -> c { guard x == 1; effect x = 0; }; } system async;", CheckSelection::ALL, 0),
    ("a process that ends in a deadlock", "dve", "byte x; process P { state a, b, c; init a; trans a -> b { }, b -> c { }; } system async;", CheckSelection::ALL, 0),
    ("a transition that is always enabled", "dve", "byte x, y; process P { state a, b; init a; trans a -> b { effect y = 1; }, b -> a { guard y < 2; effect y = 0; }; }
        process Q { state c, d; init c; assert d: x == 0; trans c -> d { effect x = 1; }; } system async;", CheckSelection::ALL, 2),
    ("a transition that may be disabled", "dve", "byte x, y; process P { state a, b; init a; trans a -> b { effect y = 1; }, b -> a { guard x == 0; }; }
        process Q { state c, d; init c; trans c -> d { effect x = 1; }; } system async;", CheckSelection::ALL, 0),
    ("a transition that waits for a message", "dve", "channel {byte} k[1]; process P { byte y; state a, b; init a; trans a -> b { }, b -> a { sync k?y; }; }
        system async;", CheckSelection::ALL, 0),
    ("a committed process", "dve", "process P { state a; init a; trans a -> a { }; }
        process Q { state c, d; init c; commit d; trans c -> d { }; } system async;", CheckSelection::ALL, 0),
    ("the end of a committed location", "dve", "byte g; process P { state a, b; init a; assert b: false; trans a -> b { }; }
        process Q { state c, d; init c; commit c; trans c -> d { }; } system async;", ASSERTIONS, 0),
    ("a process that ends", "promela", "byte x; active proctype P() { x = 1; x = 0 } active proctype Q() { byte y; y = 1; (y == 0) }", CheckSelection::ALL, 0),
    ("else", "promela", "byte x, y; active proctype P() { do :: x == 0 -> skip :: else -> assert(false) od }
        active proctype Q() { if :: y == 1 -> x = 1 :: x == 0 -> y = 1; x = 1 fi }", ASSERTIONS, 1),
    ("the statement after `else`", "promela", "byte x; byte n; active proctype P() { do :: x < 2 -> n = n + 1 :: else -> assert(false) od }
        active proctype Q() { x = 1; x = 2 }", ASSERTIONS, 1),
    ("an escape", "promela", "byte x; active proctype P() { { x < 3; assert(false) } unless { x == 0 -> skip } }
        active proctype Q() { x = 1; x = 0 }", ASSERTIONS, 3),
    ("atomic", "promela", "byte x; byte n; active proctype P() { atomic { x = 1; n = 1; n = 2; x = 0 }; n = 3 }
        active proctype Q() { assert(x == 0) }", ASSERTIONS, 3),
    ("an atomic sequence with an irrelevant end", "promela", "byte x; byte n; active proctype P() { do :: atomic { x == 0 -> x = 1; n = 1 }; n = 2 :: x = 0 od }
        active proctype Q() { assert(x == 0) }", ASSERTIONS, 1),
    ("a started process", "promela", "byte x; proctype C(byte v) { assert(v == x) } init { byte n; n = 1; run C(0); x = 1; n = 2; run C(0) }", ASSERTIONS, 0),
    ("the number of processes", "promela", "active proctype P() { skip } active proctype Q() { skip; assert(_nr_pr == 2) }
        active proctype R() { skip }", ASSERTIONS, 0),
    ("a process that must end first", "promela", "byte x; active proctype P() { x = 1 } active proctype Q() { (_nr_pr == 1); assert(false) }
        active proctype R() { skip }", ASSERTIONS, 0),
    ("timeout", "promela", "byte n; active proctype P() { do :: n < 3 -> n++ od } active proctype Q() { timeout; assert(false) }", ASSERTIONS, 0),
    ("a `provided` clause", "promela", "byte x; active proctype P() provided (x == 1) { assert(false) } active proctype Q() { x = 1; x = 0 }", ASSERTIONS, 2),
    ("the initial value of a local variable", "promela", "byte x; active proctype P() { byte y = 3; assert(y == 2) } active proctype Q() { x = 1 }", ASSERTIONS, 3),
    ("a message that a pattern matches", "promela", "chan k = [1] of { byte }; byte x; active proctype P() { do :: x < 2 -> x++ :: k!x od }
        active proctype Q() { k?2; assert(false) }", ASSERTIONS, 1),
    ("the length of a channel", "promela", "chan k = [2] of { byte }; active proctype P() { k!1; k!2 } active proctype Q() { assert(len(k) < 2) }", ASSERTIONS, 2),
    ("a variable that a procedure changes", "murphi", "var x: 0..3; y: 0..3; procedure p(var v: 0..3); begin if y = 1 then v := 3; end; end;
        startstate begin x := 0; y := 0; end; rule \"y\" y < 1 ==> begin y := y + 1; end; rule \"p\" begin p(x); end;
        invariant x < 3;", INVARIANTS, 0),
    ("a start state with a return", "murphi", "var x: 0..3; y: 0..3; ruleset i: 0..3 do startstate begin y := i; x := 0; if i = 2 then return; end; y := 3; end; end;
        rule \"x\" x < 2 ==> begin x := x + 1; end; invariant x < 2;", INVARIANTS, 0),
    ("an assumption", "murphi", "var x: 0..3; y: 0..3; startstate begin x := 0; y := 0; end;
        rule \"x\" x < 3 ==> begin x := x + 1; end; rule \"y\" y < 3 ==> begin y := y + 1; end; assume x <= y; invariant x < 3;", INVARIANTS, 0),
    ("a sent value", "dve", "byte x; channel {byte} k[1]; process P { state a; init a; trans a -> a { sync k!x; }; }
        process R { state r, s; init r; trans r -> s { effect x = 1; }; }
        process Q { byte y; state c, d; init c; assert d: y < 1; trans c -> d { sync k?y; }; } system async;", ASSERTIONS, 0),
    ("a variable in a receive pattern", "promela", "chan k = [1] of { byte }; byte y; active proctype P() { do :: k!1 od } active proctype R() { y = 1 }
        active proctype Q() { k?eval(y); assert(false) }", ASSERTIONS, 2),
    ("a statement that starts a process", "promela", "proctype C() { assert(false) } init { byte n; n = 1; run C() }", ASSERTIONS, 0),
    ("the rest of an atomic sequence", "promela", "byte x; byte n; active proctype P() { atomic { x = 1; n = 1 }; n = 2 }
        active proctype Q() { assert(x == 0) }", ASSERTIONS, 3),
    ("the `provided` clause of a process that is always enabled", "promela", "byte x = 1; active proctype P() provided (x == 1) { byte y; do :: y = 0 od }
        active proctype Q() { x = 0 } active proctype R() { byte z; z = 1; z = 2; z = 3 }", DEADLOCKS, 0),
    ("a copied array", "murphi", "type a: array [0..1] of 0..3; var x: a; y: a; startstate begin clear x; clear y; end;
        rule \"x\" begin x := y; end; rule \"y\" y[0] < 3 ==> begin y[0] := y[0] + 1; end; invariant x[0] < 3;", INVARIANTS, 0),
];

#[test]
fn relevant_actions_are_kept() {
    let mut found = Vec::new();
    for (case, language, text, checks, expected) in KEPT_ACTIONS {
        for plan in [
            for_checks(&["slice"], *checks),
            both_of(&for_checks(&["slice"], *checks), &bisimilar()),
        ] {
            if let Err(error) = compare_with_full_search(language, text, &plan, *checks) {
                panic!("{case}: {error}");
            }
        }
        found.push((*case, removed_actions(&load(language, text), *checks), *expected));
    }
    found.retain(|(_, removed, expected)| removed != expected);
    assert_eq!(found, []);
}

/// The actions of the three processes of random models. `@` is the process's own variable, `~` another one's.
const ACTIONS: [&str; 16] = [
    "effect @ = 1;",
    "effect @ = 0;",
    "guard @ < 2; effect @ = @ + 1;",
    "guard @ > 0; effect @ = 0;",
    "guard @ == 1;",
    "effect l = @;",
    "effect l = (l + 1) % 3;",
    "guard l == 1; effect l = 0;",
    "effect @ = l;",
    "guard ~ == 1;",
    "effect ~ = 0;",
    "effect l = ~;",
    "effect @ = t[l];",
    "sync c!@;",
    "sync c?l;",
    "",
];

/// Generates three processes that share little.
fn random_model(random: &mut Random) -> String {
    let mut text = "byte x0, x1, x2; byte t[2]; channel {byte} c[1];\n".to_owned();
    // If all processes share variables, nothing can be removed.
    let action_limit = if random.below(3) == 0 { ACTIONS.len() } else { 9 };
    for process in 0..3 {
        let (own, other) = (format!("x{process}"), format!("x{}", (process + 1) % 3));
        let _ = write!(text, "process P{process} {{ byte l; state a, b, d; init a;");
        if random.below(12) == 0 {
            text += " commit b;";
        }
        if random.below(3) > 0 {
            let _ = write!(text, " assert d: {} < 2;", choose(random, &[&own, &other, "l"]));
        }
        let mut edges = Vec::new();
        for from in ["a", "b", "d"] {
            for _ in 0..1 + random.below(2) {
                let action_limit = if random.below(12) == 0 { ACTIONS.len() } else { action_limit };
                let action =
                    ACTIONS[random.below(action_limit)].replace('@', &own).replace('~', &other);
                let to = choose(random, &["a", "b", "d"]);
                edges.push(format!("  {from} -> {to} {{ {action} }}"));
            }
        }
        let _ = writeln!(text, " trans\n{}; }}", edges.join(",\n"));
    }
    text + "system async;\n"
}

#[test]
fn random_models_keep_their_verdicts_and_depths() {
    let mut random = Random::new(17);
    let count = if is_large() { 10_000 } else { 40 };
    let (mut sliced, mut fewer, mut violated) = (0, 0, 0);
    for _ in 0..count {
        let text = random_model(&mut random);
        for checks in ALL_SELECTIONS {
            let plan = for_checks(&["slice"], checks);
            let (full, reduced) = compare_with_full_search("dve", &text, &plan, checks)
                .unwrap_or_else(|it| panic!("{it}"));
            let with_others = both_of(&for_checks(&["slice"], checks), &bisimilar());
            compare_with_full_search("dve", &text, &with_others, checks)
                .unwrap_or_else(|it| panic!("{it}"));
            let model = load("dve", &text);
            sliced += usize::from(removed_actions(&model, checks) > 0);
            fewer += usize::from(reduced < full);
            let limits =
                SearchLimits { checks, stop_on_violation: true, ..SearchLimits::default() };
            let found = memory::search(model.searched().model(), &limits).unwrap();
            violated += usize::from(found.verdict == SearchVerdict::Violated);
        }
    }
    println!(
        "of {} searches {sliced} are sliced, {fewer} have fewer states, {violated} find something",
        5 * count
    );
    assert!(sliced > count && fewer > count && violated > count / 3);
}

/// Slicing preserves the checked properties and their depths. A resumed search is sliced in the same way, for the same
/// checks.
#[test]
fn a_resumed_search_is_sliced_for_its_checks() {
    let text = "int n; byte m; process P { state a, b; init a; assert b: n < 99; trans a -> a { guard n < 100; effect n = n + 1; },
        a -> b { guard n == 100; }; }
        process Q { state a; init a; trans a -> a { effect m = (m + 1) % 7; }; } system async;";
    let model = load("dve", text);
    let config_for = |checks: CheckSelection| ReductionConfig::from(for_checks(&["slice"], checks));
    let check = |reduce, checks| {
        Check::of_text(&model).reduce(reduce).checks(checks).memory(memory_beside_tests(512))
    };
    // The checks of the search decide, not those of the plan.
    let found = check(config_for(CheckSelection::ALL), ASSERTIONS).run().unwrap();
    assert_eq!(found.states(), 102);
    assert_eq!(found.counterexample().unwrap().unwrap().depth(), 101);
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("d");
    let stopped = check(config_for(ASSERTIONS), ASSERTIONS).dir(&dir).max_states(50).run().unwrap();
    assert_eq!(stopped.verdict(), SearchVerdict::Incomplete);
    drop(stopped);
    assert!(check(ReductionConfig::none(), ASSERTIONS).dir(&dir).run().is_err());
    assert!(check(config_for(FAULTS), FAULTS).dir(&dir).run().is_err());
    assert_eq!(
        check(config_for(ASSERTIONS), ASSERTIONS).dir(&dir).run().unwrap().outcome(),
        found.outcome()
    );
}

#[test]
fn slicing_reports_preserved_properties_effect_and_refusals() {
    let text = "byte g; byte n; process P { state a; init a; assert a: g == 0; trans a -> a { effect n = 1; }; } system async;";
    let preserved_by = |checks| {
        let model = load("dve", text).with_plan(for_checks(&["slice"], checks));
        let searched = model.searched();
        let summaries = searched.stack().summaries(&Default::default());
        assert_eq!(summaries[0].name, "slice");
        let effect = "1 of 1 action removed; 1 variable reduced to its initial value";
        assert_eq!(summaries[0].effect.as_deref(), Some(effect));
        searched.stack().preserves()
    };
    let never =
        [PropertyClass::Claims, PropertyClass::StutteringClaims, PropertyClass::StutterInvariant];
    let all = never.iter().fold(PreservedProperties::ALL, |all, it| all.without(*it));
    assert_eq!(preserved_by(CheckSelection::ALL), all);
    assert_eq!(
        preserved_by(ASSERTIONS),
        [PropertyClass::Deadlocks, PropertyClass::StepErrors, PropertyClass::Invariants]
            .iter()
            .fold(all, |all, it| all.without(*it))
    );
    let refusals = |language: &str, text: &str, checks| {
        let model = load(language, text).with_plan(for_checks(&["slice"], checks));
        let searched = model.searched();
        searched.stack().refusals().iter().map(|it| it.reason.to_string()).collect::<Vec<_>>()
    };
    let promela = "byte g; active proctype P() { do :: g = 1 od }";
    let claim = format!("{promela} never {{ do :: g == 1 -> break :: else od }}");
    assert!(refusals("promela", &claim, ASSERTIONS)[0].contains("never claim"));
    let last = format!("{promela} active proctype Q() {{ assert(_last == 0) }}");
    assert_eq!(
        refusals("promela", &last, ASSERTIONS),
        ["an expression reads which process moved last"]
    );
    let priorities =
        "byte g; active proctype P() priority 2 { do :: g = 1 od } active proctype Q() { g = 2 }";
    assert_eq!(
        refusals("promela", priorities, ASSERTIONS),
        ["actions or processes have priorities"]
    );
    let rules = "var x: 0..3; startstate begin x := 0; end; rule \"x\" begin x := 1; end;";
    assert_eq!(
        refusals("murphi", rules, CheckSelection::ALL),
        ["every change of a variable may prevent a deadlock"]
    );
    assert!(refusals("murphi", rules, INVARIANTS).is_empty());
}
