//! Data abstraction: of values that the program does not distinguish, one is stored. The rewritten program and the
//! original run in lockstep, and the size of the reduced space is compared with counts by hand.
//!
//! `SPILLWAY_LARGE` runs more random models, which take minutes.

use crate::support::lockstep::{
    self, check_random_models, check_resumed_reduction, check_rewriting, choose, load,
};
use crate::support::reductions::{bisimilar, dead};
use crate::support::{Random, is_large};
use spillway::analysis::value_abstraction::ValueAbstraction;
use spillway::budget::{AnalysisBudget, BudgetExceeded};
use spillway::reduce::equivalent_values::ValueMerging;
use spillway::reduce::{PreservedProperties, PropertyClass};
use spillway::reduce::{ReductionConfig, ReductionPlan};
use std::fmt::Write;

fn state_counts(language: &str, text: &str) -> (usize, usize) {
    lockstep::state_counts(language, text, ReductionPlan::of(["values"]))
}

fn is_rewritten(language: &str, text: &str) -> bool {
    load(language, text)
        .rewritten(&ReductionPlan::of(["values"]), &AnalysisBudget::largest())
        .is_some()
}

/// Only whether `x` is 0 matters. As written, `x` has three values at `a` and two at `b`. Merged, it has two and one.
#[test]
fn constants_with_equal_comparisons_are_merged() {
    let text = "process P { byte x; state a, b; init a; trans a -> b { effect x = 1; },
        a -> b { effect x = 2; }, b -> a { guard x > 0; }; } system async;";
    assert_eq!(state_counts("dve", text), (5, 3));
}

/// Only whether `x` is even matters. Two of six values remain, and each leads to the other.
#[test]
fn computed_values_are_mapped_to_their_class() {
    let text = "process P { byte x; state a, b; init a; trans a -> a { guard x % 2 == 0; effect x = (x + 1) % 6; },
        a -> a { guard x % 2 == 1; effect x = (x + 1) % 6; }; } system async;";
    assert_eq!(state_counts("dve", text), (6, 2));
}

/// A counter that cycles from 3 to 9 and is only compared with 3. The classes are 0, 1, 2 and all larger values.
#[test]
fn values_beyond_the_last_comparison_are_merged() {
    let text = "active proctype P() { byte x; do :: x = (x < 9 -> x + 1 : 3) :: x < 3 od }";
    assert_eq!(state_counts("promela", text), (10, 4));
}

/// A message and its receiving variable have the same classes: 0 and 1, 2 and 3.
#[test]
fn messages_have_the_classes_of_their_variables() {
    let text = "chan c = [1] of { byte }; active proctype S() { do :: c!0 :: c!1 :: c!2 :: c!3 od }
        active proctype R() { byte y; do :: c?y; if :: y < 2 :: y >= 2 fi od }";
    let (full, merged) = state_counts("promela", text);
    // The channel is empty or full, and `y` has a value at the condition: with 4 values or with 2.
    assert!(2 * merged < full, "{merged} of {full}");
}

/// Models in which values would be equal if one distinction were ignored.
const DISTINGUISHED_VALUES: &[(&str, &str, &str)] = &[
    ("a comparison with another variable", "dve", "process P { byte x, y; state a, b; init a; trans a -> b { effect x = 1; },
        a -> b { effect x = 2; }, b -> a { guard x < y; }, b -> b { guard y < 2; effect y = y + 1; }; } system async;"),
    ("a comparison with a copy", "dve", "process P { byte x, y; state a, b; init a; trans a -> b { effect x = 1; },
        a -> b { effect x = 2; }, b -> a { guard x == y; effect y = x; }, b -> b { effect y = x; }; } system async;"),
    ("an index", "dve", "byte t[3]; process P { byte x; state a, b; init a; trans a -> b { effect x = 1; },
        a -> b { effect x = 2; }, b -> a { effect t[x] = 1; }; }
        process Q { state a; init a; trans a -> a { guard t[2] == 1; effect t[2] = 0; }; } system async;"),
    ("an index out of range", "dve", "byte t[3]; process P { byte x; state a, b; init a; trans a -> b { effect x = 1; },
        a -> b { effect x = 5; }, b -> a { guard t[x] == 0; }; } system async;"),
    ("an assigned value that is out of range", "dve", "process P { byte x; state a, b; init a; trans a -> b { effect x = 100; },
        a -> b { effect x = 200; }, b -> a { effect x = x + 100; }, a -> a { guard x > 0; effect x = 0; }; } system async;"),
    ("a value that leads to another", "dve", "process P { byte x; state a, b; init a; trans a -> a { guard x < 4; effect x = x + 1; },
        a -> b { guard x == 4; }, b -> a { effect x = 2; }, b -> a { effect x = 0; }; } system async;"),
    ("an assignment to a wider variable", "dve", "process P { byte x; int y; state a, b; init a; trans a -> b { effect x = 1; },
        a -> b { effect x = 2; }, b -> a { effect y = x; }, a -> a { guard y == 2; effect y = 0; }; } system async;"),
    ("an assertion", "dve", "process P { byte x; state a, b; init a; assert b: x != 2;
        trans a -> b { effect x = 1; }, a -> b { effect x = 2; }, b -> a { }; } system async;"),
    ("a read by another process", "dve", "process P { byte x; state a, b; init a; trans a -> b { effect x = 1; },
        a -> b { effect x = 2; }, b -> a { effect x = 0; }; }
        process Q { state a, b; init a; trans a -> b { guard P->x == 2; }, b -> a { }; } system async;"),
    ("a claim", "promela", "byte x; active proctype P() { do :: x = 1; x = 0 :: x = 2; x = 0 od }
        never { do :: x == 2 -> break :: else od }"),
    ("an assertion in a statement", "promela", "active proctype P() { byte x; do :: x = 1; assert(x != 2) :: x = 2; assert(x != 2) od }"),
    ("a constant in a receive pattern", "promela", "chan c = [1] of { byte }; active proctype S() { do :: c!1 :: c!2 od }
        active proctype R() { do :: c?1 :: c?2; assert(false) od }"),
    ("a variable in a receive pattern", "promela", "chan c = [1] of { byte }; active proctype S() { do :: c!1 :: c!2 od }
        active proctype R() { byte y = 1; do :: c?eval(y) :: y = 2 od }"),
    ("a poll of a channel", "promela", "chan c = [1] of { byte }; active proctype S() { do :: c!1 :: c!2 od }
        active proctype R() { do :: c?[2] -> assert(false) :: c?_ od }"),
    ("a sorted send", "promela", "chan c = [2] of { byte, byte };
        active proctype P() { byte y; c!!2,5; c!!1,6; c?_,y; assert(y == 6) }"),
    ("a receive into a wider variable", "promela", "chan c = [1] of { byte };
        active proctype P() { int y; do :: c!1; c?y :: c!2; c?y; assert(y != 2) od }"),
    ("a receive into a variable", "promela", "chan c = [0] of { byte }; active proctype S() { do :: c!1 :: c!2 od }
        active proctype R() { byte y; do :: c?y; assert(y != 2) od }"),
    ("an argument of a process", "promela", "proctype C(byte v) { assert(v != 2) }
        init { if :: run C(1) :: run C(2) fi }"),
    ("a variable in a `provided` clause", "promela", "byte x; active proctype P() provided (x < 2) { do :: x = 1 :: x = 2; x = 0 od }
        active proctype Q() { byte n; do :: n < 2 -> n++ :: n > 1 -> x = 0; n = 0 od }"),
    ("a remainder", "promela", "active proctype P() { byte x; do :: x = 1 :: x = 2 :: x % 2 == 1 -> x = 3 od }"),
    ("a channel", "promela", "chan c[2] = [1] of { byte }; active proctype P() { byte x; do :: x = 1 :: x = 0 :: c[x]!1 od }
        active proctype Q() { do :: c[1]?_ -> assert(len(c[0]) == 0) od }"),
    ("a sum of two variables", "promela", "active proctype P() { byte x, y; do :: x = 1 :: x = 2 :: y = x + y + x; assert(y != 4) od }"),
    ("a conditional", "promela", "active proctype P() { byte x, y; do :: x = 1 :: x = 2 :: y = (y == 0 -> x : 0); assert(y != 2) od }"),
    ("a process id", "promela", "byte n; proctype C() { byte p; p = _pid; n = p; assert(n < 2) }
        init { run C(); run C() }"),
];

#[test]
fn distinguished_values_are_not_merged() {
    let results = DISTINGUISHED_VALUES.iter();
    let results =
        results.map(|(case, language, text)| (case, check_rewriting(language, text, &bisimilar())));
    let failures: Vec<_> = results.filter_map(|(case, it)| Some((case, it.err()?))).collect();
    assert!(failures.is_empty(), "{failures:#?}");
}

/// Comparisons with other variables, indices and orders leave nothing to merge.
#[test]
fn programs_without_equivalent_values_are_not_rewritten() {
    let rising =
        "process P { byte x; state a; init a; trans a -> a { guard x < 5; effect x = x + 1; },
        a -> a { guard x == 0; }; } system async;";
    assert!(!is_rewritten("dve", rising), "each value leads to 5 by another number of steps");
    let wraps = "active proctype P() { byte x; do :: x > 100 -> x++ :: x <= 100 -> x++ od }";
    assert!(!is_rewritten("promela", wraps), "a byte wraps around");
    let murphi = "var x: 0..3; startstate x := 0; end; rule x < 2 ==> x := 2; end; rule x > 0 ==> x := 3; end;";
    assert!(
        !is_rewritten("murphi", murphi),
        "a transition that changes nothing else would disappear"
    );
}

/// Generates two processes with three variables each and two channels. Most conditions read one variable.
fn random_model(random: &mut Random) -> String {
    let mut text = "byte g; byte t[3]; channel {byte} c[1]; channel {byte} r;\n".to_owned();
    for process in ["P", "Q"] {
        let _ = writeln!(text, "process {process} {{ byte x, y, z; state a, b, d; init a; trans");
        let edges = 4 + random.below(5);
        for number in 0..edges {
            let (from, to) = (choose(random, &["a", "b", "d"]), choose(random, &["a", "b", "d"]));
            let variable =
                |random: &mut Random| choose(random, &["x", "y", "z", "g", "t[1]", "t[x % 3]"]);
            let (target, other) = (variable(random), variable(random));
            let k = random.below(5);
            let guard = match random.below(10) {
                0..=2 => format!("guard {target} < {k};"),
                3..=4 => format!("guard {target} == {k};"),
                5 => format!("guard {target} % 2 == {};", k % 2),
                6 if random.below(3) == 0 => format!("guard {target} <= {other};"),
                7 => format!("guard {target} >= {k} and {other} < 4;"),
                _ => String::new(),
            };
            let sync = match random.below(8) {
                0 => format!("sync c!{{{}}};", if k < 2 { target.into() } else { k.to_string() }),
                1 => format!("sync c?{{{target}}};"),
                2 => format!("sync r!{{{k}}};"),
                3 => format!("sync r?{{{target}}};"),
                _ => String::new(),
            };
            let effect = match random.below(9) {
                0..=2 => format!("effect {target} = {k};"),
                3 => format!("effect {target} = {other};"),
                4 => format!("effect {target} = ({target} + {k}) % 5;"),
                5 => format!("effect {target} = 1 - ({target} % 2);"),
                6 => format!("effect {target} = {other} / 2, {other} = {k};"),
                7 if random.below(4) == 0 => format!("effect {target} = {target} + 100;"),
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
fn rewritten_random_models_simulate_the_originals() {
    let mut random = Random::new(17);
    let count = if is_large() { 10_000 } else { 400 };
    let models = (0..count).map(|_| random_model(&mut random));
    check_random_models(models, ReductionPlan::of(["values"]), |it| {
        it.pass::<ValueMerging>().is_some()
    });
}

/// The reduction preserves everything, combines with resets, and reports its effect. A resumed search keeps it.
#[test]
fn a_resumed_search_keeps_merged_values() {
    let text = "int n; process P { byte x; state a, b; init a; trans a -> b { effect x = 1; },
        a -> b { effect x = 2; }, b -> a { guard x > 0; }; }
        process Q { state a, b; init a; assert b: n < 99; trans a -> a { guard n < 100; effect n = n + 1; },
        a -> b { guard n == 100; }; } system async;";
    let model = load("dve", text).with_plan(bisimilar());
    let searched = model.searched();
    assert!(PropertyClass::ALL.into_iter().all(|it| searched.stack().preserves().has(it)));
    assert_eq!(searched.stack().preserves(), PreservedProperties::ALL);
    let summaries = searched.stack().summaries(&Default::default());
    let names: Vec<_> = summaries.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["equivalent values", "dead variables"]);
    assert_eq!(summaries[0].effect.as_deref(), Some("1 variable with equivalent values"));
    let config_of = |plan: ReductionPlan| ReductionConfig::from(plan);
    for rewritings in [ReductionPlan::of(["values"]), bisimilar()] {
        check_resumed_reduction(&model, config_of(rewritings), config_of(dead()), 1);
    }
}

/// Returns a net whose places form a row, along which tokens move one by one.
fn row(places: usize, tokens: usize) -> String {
    let mut text = "<pnml><net id='n' type='ptnet'><page id='g'>".to_owned();
    for number in 0..places {
        let tokens = if number == 0 { tokens } else { 0 };
        write!(
            text,
            "<place id='p{number}'><initialMarking><text>{tokens}</text></initialMarking></place>
            <transition id='t{number}'/><arc source='p{number}' target='t{number}'/>
            <arc source='t{number}' target='p{}'/>",
            number + 1
        )
        .unwrap();
    }
    text + &format!("<place id='p{places}'/></page></net></pnml>")
}

/// The work grows with the places and the tokens, not with their squares, and all of it is counted.
#[test]
fn work_is_proportional_to_places_and_tokens() {
    for (places, tokens, units) in [(3_000, 1, 3_000 * 500), (20, 1_000, 20 * 1_000 * 500)] {
        let model = load("pnml", &row(places, tokens));
        let analysed = |units| {
            let budget = AnalysisBudget::largest().with_limits(units, 0);
            ValueAbstraction::of(model.interp.program(), model.interp.layout(), &budget).map(drop)
        };
        assert_eq!(analysed(units), Ok(()), "{places} {tokens}");
        assert_eq!(analysed(units / 100), Err(BudgetExceeded::Work), "{places} {tokens}");
    }
}
