//! The conditions on sets of variables with linear dependence, one at a time. Without the condition, the analysis would
//! find a set where there is none, or would separate variables that belong together.

use crate::support::follow::{is_found_alike, load};
use crate::support::reductions::dead;
use spillway::reduce::{ParameterValues, ReductionPlan};

fn linear(rewritings: ReductionPlan) -> ReductionPlan {
    rewritings.with("linear", ParameterValues::default())
}

/// What is always 0, by how many values.
fn stood_for(language: &str, text: &str, rewritings: ReductionPlan) -> Option<String> {
    let mut model = load(language, text);
    model.wished = linear(rewritings);
    let searched = model.searched();
    let told = searched.stack().summaries(&Default::default());
    told.into_iter().find(|it| it.name == "linear sets").and_then(|it| it.effect)
}

/// A DVE model with a set of two, `x` and `y`, and more actions before and behind.
fn dve(globals: &str, before: &str, behind: &str) -> String {
    format!(
        "{globals} process P {{ byte x, y; state a, b; init a; trans {before}
        a -> a {{ guard x == y; effect x = (x + 1) % 3; }}, a -> a {{ guard x != y; effect y = x; }}{behind}; }}
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
fn what_breaks_a_set_does_so_by_itself() {
    let (of_dve, of_promela) = (dve("", "", ""), promela("", ""));
    for (language, text) in [("dve", &of_dve), ("promela", &of_promela)] {
        let told = stood_for(language, text, ReductionPlan::default());
        assert_eq!(told.as_deref(), Some("a state represents up to 3"), "{language}");
    }
    let zeros = "byte t[3];";
    let buffer = "chan c = [2] of { byte };";
    let broken = [
        (
            "a constant, before what it is compared with",
            "dve",
            dve("", "a -> b { guard y == 2; },", ""),
        ),
        (
            "a sum of both for others",
            "dve",
            dve("byte z;", "", ", a -> b { effect z = x + y; }, b -> a { guard z == 1; }"),
        ),
        (
            "an index of what is copied",
            "dve",
            dve("byte t[3]; byte z;", "", ", a -> b { effect z = t[x]; }"),
        ),
        ("an index at the left", "dve", dve(zeros, "", ", a -> b { guard t[x] == t[0]; }")),
        ("an index at the right", "dve", dve(zeros, "", ", a -> b { guard t[0] == t[x]; }")),
        (
            "an index of what is compared with a constant",
            "dve",
            dve(zeros, "", ", a -> b { guard t[x] == 0; }"),
        ),
        ("twice the left", "dve", dve("", "", ", a -> b { guard (2 * x) % 3 == y; }")),
        ("a sum that does not go round", "dve", dve("", "", ", a -> b { guard x + 1 == y; }")),
        ("an order of messages", "promela", promela(buffer, ":: c!!x :: c?z")),
        ("a match with a constant", "promela", promela(buffer, ":: c!x :: c?1")),
        (
            "a match with twice a variable",
            "promela",
            promela(buffer, ":: c!x :: c?eval((2 * y) % 3)"),
        ),
        ("a match with a sum of both", "promela", promela(buffer, ":: c!0 :: c?eval(x + y)")),
        (
            "a match with what has an index",
            "promela",
            promela("chan c = [2] of { byte }; byte t[3];", ":: c!0 :: c?eval(t[x])"),
        ),
        ("a question about a message", "promela", promela(buffer, ":: c!x :: c?[1] -> c?z")),
    ];
    for (what, language, text) in broken {
        assert_eq!(stood_for(language, &text, ReductionPlan::default()), None, "{what}");
        is_found_alike(load(language, &text), linear(ReductionPlan::default()))
            .unwrap_or_else(|error| panic!("{what}: {error}"));
    }
}

/// The values begin at 1, and are only exchanged.
#[test]
fn values_begin_at_0() {
    let text = "process P { byte x = 1, y = 2, z = 1; state a, b; init a; trans
        a -> b { effect z = x, x = y, y = z; }, b -> a { guard x != y; }; } system async;";
    assert_eq!(stood_for("dve", text, ReductionPlan::default()), None);
    is_found_alike(load("dve", text), linear(ReductionPlan::default())).unwrap();
}

/// `t` is cleared where it is dead: it has no constant added then.
#[test]
fn what_is_cleared_is_no_more_counted() {
    let text = "process P { byte t[2]; byte x, y; state a, b; init a; trans a -> b { effect t[0] = x, t[1] = y; },
        b -> a { guard t[0] == t[1]; effect x = (x + 1) % 3; }, b -> a { guard t[0] != t[1]; effect y = x; }; } system async;";
    assert!(stood_for("dve", text, ReductionPlan::default()).is_some());
    assert_eq!(stood_for("dve", text, dead()), None);
    is_found_alike(load("dve", text), linear(dead())).unwrap();
}

/// What a message has to be is of its set: a message of `x` is never what is waited for, as `y` is always one more.
#[test]
fn what_a_message_is_matched_with_is_of_its_set() {
    let text = "chan c = [1] of { byte }; byte x, y = 1; active proctype P() { byte z; do
        :: c!x :: atomic { x = (x + 1) % 3; y = (y + 1) % 3; if :: c?z :: empty(c) fi }
        :: c?eval(y) -> assert(false) od }";
    assert!(stood_for("promela", text, ReductionPlan::default()).is_some());
    is_found_alike(load("promela", text), linear(ReductionPlan::default())).unwrap();
}
