//! The conditions on sets of variables with linear dependence, one at a time. Without the condition, the analysis would
//! find a set where there is none, or would separate variables that belong together.

use crate::support::lockstep::{check_reduction, load};
use crate::support::reductions::dead;
use spillway::reduce::{ParameterValues, ReductionPlan};

fn linear(rewritings: ReductionPlan) -> ReductionPlan {
    rewritings.with("linear", ParameterValues::default())
}

/// Returns the effect of the linear sets, or nothing if there are none.
fn linear_effect(language: &str, text: &str, rewritings: ReductionPlan) -> Option<String> {
    let mut model = load(language, text);
    model.wished = linear(rewritings);
    let searched = model.searched();
    let summaries = searched.stack().summaries(&Default::default());
    summaries.into_iter().find(|it| it.name == "linear sets").and_then(|it| it.effect)
}

/// A DVE model with the linear set of `x` and `y`, and further actions before and after.
fn dve(globals: &str, before: &str, after: &str) -> String {
    format!(
        "{globals} process P {{ byte x, y; state a, b; init a; trans {before}
        a -> a {{ guard x == y; effect x = (x + 1) % 3; }}, a -> a {{ guard x != y; effect y = x; }}{after}; }}
        system async;"
    )
}

/// The same in Promela.
fn promela(globals: &str, more: &str) -> String {
    format!(
        "{globals} byte x, y; active proctype P() {{ byte z; do
        :: x == y -> x = (x + 1) % 3 :: x != y -> y = x {more} od }}"
    )
}

#[test]
fn each_construct_alone_prevents_a_linear_set() {
    let (of_dve, of_promela) = (dve("", "", ""), promela("", ""));
    for (language, text) in [("dve", &of_dve), ("promela", &of_promela)] {
        let effect = linear_effect(language, text, ReductionPlan::default());
        assert_eq!(effect.as_deref(), Some("a state represents up to 3"), "{language}");
    }
    let zeros = "byte t[3];";
    let buffer = "chan c = [2] of { byte };";
    let broken = [
        (
            "a constant and a variable that is compared later",
            "dve",
            dve("", "a -> b { guard y == 2; },", ""),
        ),
        (
            "a sum that another variable stores",
            "dve",
            dve("byte z;", "", ", a -> b { effect z = x + y; }, b -> a { guard z == 1; }"),
        ),
        (
            "an index of a copied element",
            "dve",
            dve("byte t[3]; byte z;", "", ", a -> b { effect z = t[x]; }"),
        ),
        (
            "an index on the left of a comparison",
            "dve",
            dve(zeros, "", ", a -> b { guard t[x] == t[0]; }"),
        ),
        (
            "an index on the right of a comparison",
            "dve",
            dve(zeros, "", ", a -> b { guard t[0] == t[x]; }"),
        ),
        (
            "an index of an element that is compared with a constant",
            "dve",
            dve(zeros, "", ", a -> b { guard t[x] == 0; }"),
        ),
        (
            "a coefficient of two on the left",
            "dve",
            dve("", "", ", a -> b { guard (2 * x) % 3 == y; }"),
        ),
        ("an addition without a modulus", "dve", dve("", "", ", a -> b { guard x + 1 == y; }")),
        ("a sorted send", "promela", promela(buffer, ":: c!!x :: c?z")),
        ("a receive pattern with a constant", "promela", promela(buffer, ":: c!x :: c?1")),
        (
            "a receive pattern with a coefficient of two",
            "promela",
            promela(buffer, ":: c!x :: c?eval((2 * y) % 3)"),
        ),
        ("a receive pattern with a sum", "promela", promela(buffer, ":: c!0 :: c?eval(x + y)")),
        (
            "a receive pattern with an array element",
            "promela",
            promela("chan c = [2] of { byte }; byte t[3];", ":: c!0 :: c?eval(t[x])"),
        ),
        ("a poll of a channel", "promela", promela(buffer, ":: c!x :: c?[1] -> c?z")),
    ];
    for (case, language, text) in broken {
        assert_eq!(linear_effect(language, &text, ReductionPlan::default()), None, "{case}");
        check_reduction(load(language, &text), linear(ReductionPlan::default()))
            .unwrap_or_else(|error| panic!("{case}: {error}"));
    }
}

/// The values start at 1, and are only exchanged.
#[test]
fn values_must_start_at_zero() {
    let text = "process P { byte x = 1, y = 2, z = 1; state a, b; init a; trans
        a -> b { effect z = x, x = y, y = z; }, b -> a { guard x != y; }; } system async;";
    assert_eq!(linear_effect("dve", text, ReductionPlan::default()), None);
    check_reduction(load("dve", text), linear(ReductionPlan::default())).unwrap();
}

/// Resetting the dead `t` sets it to 0, without the added constant.
#[test]
fn reset_variables_are_in_no_linear_set() {
    let text = "process P { byte t[2]; byte x, y; state a, b; init a; trans a -> b { effect t[0] = x, t[1] = y; },
        b -> a { guard t[0] == t[1]; effect x = (x + 1) % 3; }, b -> a { guard t[0] != t[1]; effect y = x; }; } system async;";
    assert!(linear_effect("dve", text, ReductionPlan::default()).is_some());
    assert_eq!(linear_effect("dve", text, dead()), None);
    check_reduction(load("dve", text), linear(dead())).unwrap();
}

/// The matched value belongs to the set of the message. A message of `x` never equals `y`, which is always one more.
#[test]
fn matched_values_belong_to_the_set_of_the_message() {
    let text = "chan c = [1] of { byte }; byte x, y = 1; active proctype P() { byte z; do
        :: c!x :: atomic { x = (x + 1) % 3; y = (y + 1) % 3; if :: c?z :: empty(c) fi }
        :: c?eval(y) -> assert(false) od }";
    assert!(linear_effect("promela", text, ReductionPlan::default()).is_some());
    check_reduction(load("promela", text), linear(ReductionPlan::default())).unwrap();
}
