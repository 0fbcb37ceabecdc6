//! Bisimilar locations of processes: only one of them is visited. The rewritten program and the original run in
//! lockstep, and the size of the reduced space is compared with counts by hand.
//!
//! `SPILLWAY_LARGE` runs more random models, which take minutes.

use crate::support::lockstep::{
    self, check_random_models, check_resumed_reduction, check_rewriting, choose, load,
};
use crate::support::reductions::{bisimilar, dead};
use crate::support::{Random, is_large};
use spillway::Check;
use spillway::budget::AnalysisBudget;
use spillway::reduce::PreservedProperties;
use spillway::reduce::equivalent_locations::LocationMerging;
use spillway::reduce::{ReductionConfig, ReductionPlan};
use std::fmt::Write;

fn state_counts(language: &str, text: &str) -> (usize, usize) {
    lockstep::state_counts(language, text, ReductionPlan::of(["states"]))
}

/// Returns the number of locations that are merged with earlier ones.
fn merged_locations(language: &str, text: &str) -> usize {
    let model = load(language, text);
    let Some(rewritten) =
        model.rewritten(&ReductionPlan::of(["states"]), &AnalysisBudget::largest())
    else {
        return 0;
    };
    let locations = rewritten.pass::<LocationMerging>().unwrap().locations(model.interp.program());
    locations.iter().map(|it| it.others.len()).sum()
}

/// `b` and `c` have the same actions. As written, `a` has 0, 1 and 2, `b` has 1, and `c` has 2.
#[test]
fn locations_with_equal_actions_are_merged() {
    let text = "process P { byte x; state a, b, c; init a; trans a -> b { guard x == 0; effect x = 1; },
        a -> c { guard x == 1; effect x = 1; }, b -> a { guard x == 1; }, c -> a { guard x == 1; }; } system async;";
    assert_eq!(merged_locations("dve", text), 1);
    assert_eq!(state_counts("dve", text), (4, 3));
}

/// Two paths of three locations with the same actions, one of them declared in reverse order.
#[test]
fn chains_are_merged_from_the_first_location_on() {
    let text = "process P { byte x; state a, b1, c1, d1, b2, c2, d2; init a; trans
        a -> b1 { guard x == 0; effect x = 1; }, a -> b2 { guard x == 0; effect x = 1; },
        b1 -> c1 { effect x = 2; }, b1 -> d1 { effect x = 3; }, c1 -> d1 { effect x = 4; }, d1 -> a { effect x = 0; },
        d2 -> a { effect x = 0; }, c2 -> d2 { effect x = 4; }, b2 -> d2 { effect x = 3; }, b2 -> c2 { effect x = 2; }; }
        system async;";
    assert_eq!(merged_locations("dve", text), 3);
    assert_eq!(state_counts("dve", text), (9, 5));
}

/// The initial location is merged with an earlier one.
#[test]
fn initial_locations_are_merged() {
    let text = "process P { state a, b; init b; trans a -> b { }, b -> a { }; } system async;";
    assert_eq!(state_counts("dve", text), (2, 1));
    let text = "proctype C(bit x) { do :: x = 1; x = 1 od } init { run C(0); run C(1) }";
    assert_eq!(merged_locations("promela", text), 1);
    let (full, reduced) = state_counts("promela", text);
    assert!(reduced < full, "{reduced} of {full}");
}

/// Actions that differ only in their output are equal.
#[test]
fn printed_output_does_not_prevent_merging() {
    let text = "byte x; active proctype P() { do :: x = 1; printf(\"one\"); x = 0 :: x = 1; printf(\"two\"); x = 0 od }";
    assert_eq!(merged_locations("promela", text), 2);
    assert_eq!(state_counts("promela", text), (5, 3));
}

/// Merged values make more actions equal: `x` is only compared with 0.
#[test]
fn values_are_merged_before_locations() {
    let text = "byte t; process P { byte x; state a, b, c; init a; trans a -> b { guard x == 0; }, a -> c { guard x == 0; },
        b -> a { effect x = 1; }, c -> a { effect x = 2; }, a -> a { guard x != 0; effect x = 0; }; } system async;";
    assert_eq!(merged_locations("dve", text), 0);
    assert_eq!(lockstep::state_counts("dve", text, bisimilar()), (5, 3));
}

/// Models in which locations would be equal if one distinction were ignored, with the number of locations that are
/// merged.
const DISTINGUISHED_LOCATIONS: &[(&str, &str, &str, usize)] = &[
    ("a guard", "dve", "process P { byte x; state a, b, c, d; init a; trans a -> b { }, a -> c { },
        b -> d { guard x == 0; }, c -> d { guard x == 1; }; } system async;", 0),
    ("an effect", "dve", "byte g; process P { state a, b, c, d; init a; assert d: g < 2; trans a -> b { }, a -> c { },
        b -> d { effect g = 1; }, c -> d { effect g = 2; }; } system async;", 0),
    ("a message", "dve", "byte g; channel {byte} c[1]; process P { state a, b, d; init a; trans a -> b { }, a -> d { },
        b -> a { sync c!1; }, d -> a { sync c!2; }; }
        process Q { byte y; state q; init q; assert q: y < 2; trans q -> q { sync c?y; }; } system async;", 0),
    ("sending and receiving", "dve", "channel {byte} c[1]; process P { byte x; state a, b, d; init a; trans a -> b { }, a -> d { },
        b -> a { sync c!x; }, d -> a { sync c?x; }; } system async;", 0),
    ("different targets", "dve", "process P { byte x; state a, b, c, d, e; init a; trans a -> b { }, a -> c { },
        b -> d { effect x = 1; }, c -> e { effect x = 1; }, d -> a { effect x = 0; }; } system async;", 0),
    ("an assertion at one location", "dve", "process P { byte x; state a, b, c; init a; assert c: x == 0;
        trans a -> b { effect x = 1; }, a -> c { effect x = 0; }, b -> a { effect x = 0; }, c -> a { effect x = 0; }; }
        system async;", 0),
    ("a location that a guard tests", "dve", "process P { state a, b, c; init a;
        trans a -> b { }, b -> c { }, c -> b { }; }
        process Q { state q, r; init q; trans q -> r { guard P.c; }; } system async;", 0),
    ("commitment", "dve", "byte g; process P { state a, b, c; init a; commit c;
        trans a -> b { }, a -> c { }, b -> a { effect g = 0; }, c -> a { effect g = 0; }; }
        process Q { state q, r; init q; assert r: g == 1; trans q -> r { effect g = 1; }, r -> q { }; } system async;", 0),
    ("a fault in one transition", "dve", "process P { byte x, y; state a, b, c; init a; trans a -> b { effect x = 0; }, a -> c { effect x = 0; },
        b -> a { effect y = 1 / x; }, c -> a { effect y = 1 / x; }; } system async;", 0),
    ("a fault in the rendezvous partner", "dve", "channel {byte} r; process P { byte x; state a, b, c; init a;
        trans a -> b { }, a -> c { }, b -> a { sync r?x; }, c -> a { sync r?x; }; }
        process Q { byte y; state q; init q; trans q -> q { sync r!(1 / y); }; } system async;", 0),
    ("a valid end state", "promela", "chan c = [0] of { bit }; active proctype P() { if :: skip; end: c!1 :: skip; c!1 fi }", 0),
    ("an assertion", "promela", "byte x; active proctype P() { if :: x = 1; assert(x == 0) :: x = 1; assert(x == 0) fi }
        active proctype Q() { do :: x == 1 -> x = 0 od }", 0),
    ("a label in a remote reference", "promela", "byte x; active proctype P() { do :: x = 1; L: x = 0 :: x = 1; x = 0 od }
        active proctype Q() { (P@L); assert(x == 1) }", 0),
    ("a claim", "promela", "byte x; active proctype P() { do :: x = 1; L: x = 0 :: x = 1; x = 0 od }
        never { do :: P@L -> break :: else od }", 0),
    ("progress", "promela", "byte x; active proctype P() { do :: x = 1; progress: x = 0 :: x = 1; x = 0 od }", 0),
    ("acceptance", "promela", "byte x; active proctype P() { do :: x = 1; accept: x = 0 :: x = 1; x = 0 od }", 0),
    ("atomic", "promela", "byte x; active proctype P() { do :: x = 1; atomic { x = 2; x = 3 }; x = 0 :: x = 1; x = 2; x = 3; x = 0 od }
        active proctype Q() { assert(x != 2) }", 2),
    ("the first enabled option of a d_step", "promela", "byte x; active proctype P() { do
        :: x = 0; d_step { skip; if :: x = 1 :: x = 2 fi }
        :: x = 0; d_step { skip; if :: x = 2 :: x = 1 fi } od } active proctype Q() { assert(x != 2) }", 1),
    ("the options before `else`", "promela", "byte x; active proctype P() { do
        :: x < 2; if :: x == 0 -> x = 1 :: else -> x = 2 fi
        :: x < 2; if :: x == 1 -> x = 1 :: else -> x = 2 fi od } active proctype Q() { assert(x != 2) }", 2),
    ("an escape", "promela", "byte x; active proctype P() { if
        :: { x = 0; x = 1 } unless { x == 0 -> x = 3 }
        :: { x = 0; x = 1 } fi } active proctype Q() { (x == 1) -> assert(false) }", 0),
    ("else", "promela", "byte x; active proctype P() { do
        :: x < 3; if :: x < 1 -> x++ :: else -> x = 2 fi
        :: x < 3; if :: x < 1 -> x++ :: x < 3 -> x = 2 fi od } active proctype Q() { assert(x != 2) }", 2),
    ("a `provided` clause that faults", "promela", "byte x = 1; active proctype P() provided (8 / x > 0) { do
        :: x = 0; x = 1 :: x = 0; x = 1 od }", 0),
];

#[test]
fn distinguished_locations_are_not_merged() {
    let mut found = Vec::new();
    for (case, language, text, expected) in DISTINGUISHED_LOCATIONS {
        for plan in [ReductionPlan::of(["states"]), bisimilar()] {
            if let Err(error) = check_rewriting(language, text, &plan) {
                panic!("{case}: {error}");
            }
        }
        found.push((*case, merged_locations(language, text), *expected));
    }
    found.retain(|(_, merged, expected)| merged != expected);
    assert_eq!(found, []);
}

/// Generates two processes of six locations with few different actions.
fn random_model(random: &mut Random) -> String {
    const LOCATIONS: [&str; 6] = ["a", "b", "d", "e", "f", "h"];
    let mut text = "byte g; channel {byte} c[1]; channel {byte} r;\n".to_owned();
    for (process, other) in [("P", "Q"), ("Q", "P")] {
        let _ =
            write!(text, "process {process} {{ byte x; state {}; init a;", LOCATIONS.join(", "));
        if random.below(4) == 0 {
            let _ = write!(text, " commit {};", choose(random, &LOCATIONS));
        }
        if random.below(4) == 0 {
            let _ = write!(text, " assert {}: x < 2;", choose(random, &LOCATIONS));
        }
        let names = format!("guard not {other}.{};", choose(random, &LOCATIONS));
        let actions = [
            "effect x = 1;",
            "effect x = 0;",
            "guard x == 0; effect g = 1;",
            "guard g == 1; effect g = 0;",
            "sync c!x;",
            "sync c?x;",
            "sync r!x;",
            "sync r?x;",
            "effect x = (x + 1) % 3;",
            "effect g = g + 200;",
            "",
        ];
        let chosen: Vec<_> = (0..3).map(|_| choose(random, &actions)).collect();
        let mut edges = Vec::new();
        for from in LOCATIONS {
            for _ in 0..1 + random.below(2) {
                let action = match random.below(40) {
                    0 => &names,
                    _ => choose(random, &chosen),
                };
                // Most actions lead to three locations.
                let all = if random.below(3) == 0 { &LOCATIONS[..] } else { &LOCATIONS[..3] };
                let to = choose(random, all);
                edges.push(format!("  {from} -> {to} {{ {action} }}"));
            }
        }
        let _ = writeln!(text, " trans\n{}; }}", edges.join(",\n"));
    }
    text + "system async;\n"
}

#[test]
fn rewritten_random_models_simulate_the_originals() {
    let mut random = Random::new(41);
    let count = if is_large() { 10_000 } else { 150 };
    let models = (0..count).map(|_| random_model(&mut random));
    check_random_models(models, ReductionPlan::of(["states"]), |it| {
        it.pass::<LocationMerging>().is_some()
    });
}

/// The reduction preserves everything and reports its effect. A resumed search keeps it. Its counterexample has the
/// actions of the model as written.
#[test]
fn a_resumed_search_keeps_merged_locations() {
    let text = "int n; process P { byte x; state a, b, c; init a; trans a -> b { effect x = 1; },
        a -> c { effect x = 2; }, b -> a { effect x = 0; }, c -> a { effect x = 0; }; }
        process Q { state a, b; init a; assert b: n < 99; trans a -> a { guard n < 100; effect n = n + 1; },
        a -> b { guard n == 100 and P.a; }; }
        process R { state a, b1, b2; init a; trans a -> b1 { guard n > 98; }, a -> b2 { guard n <= 98; }, b1 -> a { }, b2 -> a { }; }
        system async;";
    let model = load("dve", text).with_plan(ReductionPlan::of(["states"]));
    let searched = model.searched();
    assert_eq!(searched.stack().preserves(), PreservedProperties::ALL);
    let summaries = searched.stack().summaries(&Default::default());
    assert_eq!(summaries[0].name, "bisimilar locations");
    assert_eq!(summaries[0].effect.as_deref(), Some("2 locations merged with others"));
    let config_of = |plan: ReductionPlan| ReductionConfig::from(plan);
    check_resumed_reduction(&model, config_of(ReductionPlan::of(["states"])), config_of(dead()), 1);
    let found =
        Check::of_text(&model).reduce(config_of(ReductionPlan::of(["states"]))).run().unwrap();
    let counterexample = found.counterexample().unwrap().unwrap();
    assert_eq!(counterexample.depth(), 101);
}
