//! Transition merging: the same violations are found in fewer states, and reported in steps of the model as written.
//! Each condition has a model that needs it.
//!
//! `SPILLWAY_LARGE` runs more random programs, which take minutes.

use crate::generated;
use crate::support::lockstep::{ALL, load, with_conditional_effect};
use crate::support::memory::memory_beside_tests;
use crate::support::reductions::both as both_of;
use crate::support::reductions::{partial_order_plan, preserved_classes, rewritings};
use crate::support::{stored, tiny_plan};
use proptest::prelude::*;
use spill::Codec;
use spillway::Check;
use spillway::budget::AnalysisBudget;
use spillway::exec::{ExecutionMode, Interp};
use spillway::ir::{ActionId, validate};
use spillway::model::{
    StateSpace, SystemDescription as _, Violation, is_action_hidden, memory, original_action_counts,
};
use spillway::reduce::PropertyClass;
use spillway::reduce::merge::TransitionMerging;
use spillway::reduce::partial_order::{CycleProviso, PartialOrderMethod, PartialOrderStrategy};
use spillway::reduce::rewrite_pass::RewritePass as _;
use spillway::reduce::rewriting::RewrittenProgram;
use spillway::reduce::{ReductionConfig, ReductionPlan};
use spillway::search::{SearchLimits, SearchOutcome, StateStorage};
use spillway::session::TextModel;
use std::collections::BTreeSet;

fn merge() -> ReductionPlan {
    ReductionPlan::of(["merge"])
}

fn violations_of(outcome: &SearchOutcome) -> BTreeSet<Violation> {
    outcome.findings.iter().map(|(check, _)| check).collect()
}

/// Checks that merging keeps the violations, with both executors, and that counterexamples are runs of the model as
/// written. Returns the numbers of states, all and reduced.
fn check_verdicts_kept(
    language: &str,
    text: &str,
    plan: &ReductionPlan,
) -> Result<(u64, u64), TestCaseError> {
    let model = load(language, text);
    let full = memory::search(model.searched().model(), &ALL).unwrap();
    let model = model.with_plan(plan.clone());
    if let Some(rewritten) = model.rewritten(plan, &AnalysisBudget::largest()) {
        let problems = validate::validate(rewritten.interp().program()).err();
        prop_assert!(problems.is_none(), "{:?}", problems);
    }
    let searched = model.searched();
    let merged = memory::search(searched.model(), &ALL).unwrap();
    prop_assert_eq!(violations_of(&merged), violations_of(&full), "{}", text);
    prop_assert!(merged.states() <= full.states());
    let never = |searched: &dyn StateSpace, merged: &SearchOutcome| {
        let counts = original_action_counts(searched, merged.action_counts.clone());
        let all = model.interp.program().actions.keys();
        all.filter(|&it| counts.of(it) == 0 && !is_action_hidden(searched, it)).collect::<Vec<_>>()
    };
    let fails = |it: &Violation| matches!(it, Violation::Fault(..));
    // If values or dead variables are merged, another one of several equivalent actions may be executed.
    if !plan.selection.has("values")
        && !plan.selection.has("dead")
        && !violations_of(&full).iter().any(fails)
    {
        let visible = |it: &ActionId| !is_action_hidden(searched.model(), *it);
        let full = never(&model.interp, &full).into_iter().filter(visible);
        let merged = never(searched.model(), &merged);
        prop_assert_eq!(merged, full.collect::<Vec<_>>(), "{}", text);
    }
    if searched.model().capabilities().simulation.is_some() {
        assert_counterexamples_replay(searched.model(), &merged, &ALL);
    }
    let reduce = ReductionConfig::from(plan.clone());
    let check = |exec| {
        Check::of_text(&model).reduce(reduce.clone()).memory(memory_beside_tests(512)).exec(exec)
    };
    for exec in [ExecutionMode::Jit, ExecutionMode::Interp] {
        let run = check(exec).keep_going().run().unwrap();
        prop_assert_eq!(&run.outcome().levels, &merged.levels);
        prop_assert_eq!(violations_of(run.outcome()), violations_of(&full));
    }
    Ok((full.states(), merged.states()))
}

/// Checks that the counterexamples of a sorted store are runs of the model as written.
pub fn assert_counterexamples_replay(
    model: &dyn StateSpace,
    found: &SearchOutcome,
    limits: &SearchLimits,
) {
    let plan = tiny_plan(2, model.width(), 64, 64);
    let storage = StateStorage::Sorted(Codec::Raw);
    let (outcome, disk) = stored::search(&[model], &storage, &[plan], &[], limits);
    assert_eq!(outcome.levels, found.levels);
    let explained = model.description();
    for trace in stored::traces(model, &*disk, &outcome) {
        assert!(explained.starts().contains(&trace.steps[0]));
        for (state, step) in trace.states.iter().zip(&trace.steps[1..]) {
            assert!(explained.steps(state).contains(step));
        }
    }
}

fn state_counts(language: &str, text: &str) -> (u64, u64) {
    check_verdicts_kept(language, text, &merge()).unwrap()
}

/// Returns the names of the locations that merging passes through.
fn passed_locations(model: &TextModel) -> Vec<String> {
    let program = model.interp.program();
    let fused = model
        .rewritten(&merge(), &AnalysisBudget::largest())
        .and_then(|it| it.pass::<TransitionMerging>());
    let locations = fused.into_iter().flat_map(|it| it.locations());
    locations.map(|(process, at)| program.processes[process].locations[at].name.clone()).collect()
}

/// Two processes with four locations have 16 states. Each one stops at two of its locations.
#[test]
fn a_chain_of_local_transitions_becomes_one_transition() {
    let process = |name: &str| {
        format!(
            "process {name} {{ byte x; state a, b, c, d; init a; trans a -> b {{ effect g = 1; }},
            b -> c {{ effect x = 1; }}, c -> d {{ effect x = 2; }}, d -> a {{ guard g == 1; effect x = 0; }}; }}"
        )
    };
    let text = format!("byte g = 1; {} {} system async;", process("P"), process("Q"));
    assert_eq!(state_counts("dve", &text), (16, 4));
    let model = load("dve", &text);
    assert_eq!(passed_locations(&model), ["b", "c", "b", "c"]);
}

/// Both alternatives of a choice reach the same location. `b`, `c` and `d` are passed through.
#[test]
fn a_diamond_becomes_one_transition_per_path() {
    let text = "byte g; process P { byte i, x; state a, b, c, d; init a;
        trans a -> b { guard g == 0; effect i = 0; }, a -> b { guard g == 0; effect i = 3; },
              b -> c { guard i < 3; effect x = 1; }, b -> d { guard i >= 3; }, c -> d { effect i = 1; },
              d -> a { effect x = 0, i = 0; }; }
        process Q { state a; init a; trans a -> a { guard g == 1; effect g = 0; }; } system async;";
    assert_eq!(passed_locations(&load("dve", text)), ["b", "c", "d"]);
    assert_eq!(state_counts("dve", text), (6, 1));
}

/// A loop of local transitions stops once in each round, and the violations of other processes are found.
#[test]
fn loops_stop_once_per_round() {
    let text = "byte g; active proctype P() { byte x; do :: x == 0 -> x = 1 :: else -> x = 0 od }
        active proctype Q() { g = 1; g = 2; assert(g != 2) }";
    let (full, merged) = state_counts("promela", text);
    assert!(merged < full, "{merged} of {full}");
    let text = "process P { state a, b, c; init a; trans a -> b { }, b -> c { }, c -> a { }; }
        process Q { state a, b; init a; assert b: false; trans a -> b { }; } system async;";
    assert_eq!(state_counts("dve", text), (6, 2));
    // The rounds differ only in a variable that decides nothing.
    let text = "byte g; process P { byte i; byte x; state a, b; init a; trans a -> b { guard g == 0; effect g = 1; },
        b -> b { guard i < 4; effect x = 1 - x; }, b -> a { guard i >= 4; effect g = 0; }; }
        process Q { state q, r; init q; assert r: g == 0; trans q -> r { guard g == 1; }; } system async;";
    state_counts("dve", text);
    assert!(passed_locations(&load("dve", text)).is_empty());
}

/// Terminating loops, with the numbers of states, all and merged. The process stops where it waits for `g == 0`, before
/// the first round and after it.
const TERMINATING_LOOPS: &[(&str, &str, u64, u64)] = &[
    // The loop has 5, 4 and 4 states, 3 before it, 1 after it, and the 3 again with 4 in `i`.
    ("a counter", "byte g; active proctype P() { byte i, x; do :: g == 0 -> g = 1; i = 0;
        do :: i < 4 -> x = 0; i++ :: else -> break od; g = 0 od }", 20, 2),
    ("a counter that decreases by two", "byte g; active proctype P() { byte i; do :: g == 0 -> g = 1; i = 6;
        do :: i > 1 -> i = i - 2 :: else -> break od; g = 0 od }", 11, 1),
    ("nested loops", "byte g; active proctype P() { unsigned i : 2, j : 2; do :: g == 0 -> g = 1; i = 0;
        do :: i < 3 -> j = 0; do :: j < 2 -> j++ :: else -> break od; i++ :: else -> break od; g = 0 od }", 34, 2),
    // A counter that wraps around reaches its end.
    ("a counter that wraps around", "byte g; active proctype P() { byte i; do :: g == 0 -> g = 1; i = 250;
        do :: i > 0 -> i++ :: else -> break od; g = 0 od }", 17, 1),
];

/// Returns whether a loop is executed to its end, after a check that merging keeps the violations.
fn loop_is_unrolled(text: &str) -> bool {
    check_verdicts_kept("promela", text, &merge()).unwrap();
    let model = load("promela", text);
    let fused = model
        .rewritten(&merge(), &AnalysisBudget::largest())
        .and_then(|it| it.pass::<TransitionMerging>());
    fused.is_some_and(|it| {
        it.describe_effect(model.interp.program()).contains("1 loop executed to the end")
    })
}

#[test]
fn terminating_loops_are_executed_to_the_end() {
    for (name, text, full, merged) in TERMINATING_LOOPS {
        assert_eq!(state_counts("promela", text), (*full, *merged), "{name}");
        assert!(loop_is_unrolled(text), "{name}");
    }
    // Each of two rounds has two alternatives.
    let text = "byte g; active proctype P() { byte i, x; do :: g == 0 -> g = 1; i = 0; x = 0;
        do :: i < 2 -> if :: x = x + 1 :: skip fi; i++ :: else -> break od; g = 0; assert(x != 2) od }";
    assert!(loop_is_unrolled(text));
    // The process stops once in each round of the outer loop.
    let text = "byte g; active proctype P() { byte i; do :: i < 3 -> i++ :: else -> i = 0 od }
        active proctype Q() { g = 1; assert(false) }";
    assert!(loop_is_unrolled(text));
}

/// Loops that may not terminate, or whose termination is unknown. They stop once in each round.
const UNBOUNDED_LOOPS: &[(&str, &str)] = &[
    ("a loop that terminates for some values", "byte g; active proctype P() { byte i; do :: g == 0 -> g = 1; i = 0;
        do :: i != 6 -> i = i + 2 :: else -> break od; g = 0 od }"),
    ("a loop that terminates for some values of another variable", "byte g; active proctype P() { byte i; bit j; do :: g == 0 -> g = 1; i = 0; j = 1 - j;
        do :: i < 3 -> i = i + 1 - j :: else -> break od; g = 0 od } active proctype Q() { g == 1 -> g = 2; assert(false) }"),
    ("a bound that another process writes", "byte g; active proctype P() { byte i; do :: i = 0;
        do :: i < g + 1 -> i++ :: else -> break od od } active proctype Q() { g = 1; g = 0; assert(false) }"),
    ("a loop with too many paths", "byte g; active proctype P() { byte i, x; do :: g == 0 -> g = 1; i = 0; x = 0;
        do :: i < 7 -> if :: x = 1 :: x = 2 fi; i++ :: else -> break od; g = 0 od }"),
    ("a loop with too many rounds", "byte g; active proctype P() { short i; do :: g == 0 -> g = 1; i = 0;
        do :: i < 3000 -> i++ :: else -> break od; g = 0 od }"),
    ("a loop that may block", "byte g; active proctype P() { byte i; do :: g == 0 -> g = 1; i = 0;
        do :: i < 4 && i != 2 -> i++ :: i > 4 -> break od; g = 0 od } active proctype Q() { assert(g == 0) }"),
    ("a loop with a failing statement", "byte g; active proctype P() { byte i; bit x[3]; do :: g == 0 -> g = 1; i = 0;
        do :: i < 4 -> x[i] = 1; i++ :: else -> break od; g = 0 od } active proctype Q() { assert(g == 0) }"),
    ("a loop in an atomic sequence", "byte g; active proctype P() { byte i; do :: g == 0 -> atomic { g = 1; i = 0;
        do :: i < 3 -> i++ :: else -> break od }; g = 0 od }"),
];

#[test]
fn unbounded_loops_stop_once_per_round() {
    for (name, text) in UNBOUNDED_LOOPS {
        assert!(!loop_is_unrolled(text), "{name}");
    }
}

/// If processes exist always, the action before a loop contains its rounds, as many as the counter requires. `b` is
/// passed through. If the counter is unknown, there are too many paths.
#[test]
fn loop_rounds_become_part_of_the_action_before() {
    let text = |first: &str, bound: u32| {
        format!(
            "byte g, n; process P {{ byte i; state a, b; init a; trans a -> b {{ guard g == 0; effect {first}, g = 1; }},
            b -> b {{ guard i < {bound}; effect i = i + 1; }}, b -> a {{ guard i >= {bound}; effect g = 0; }}; }}
            process Q {{ state q; init q; trans q -> q {{ guard n < 9; effect n = n + 1; }}; }} system async;"
        )
    };
    assert_eq!(state_counts("dve", &text("i = 0", 4)), (7 * 10, 2 * 10));
    assert_eq!(passed_locations(&load("dve", &text("i = 0", 4))), ["b"]);
    let starts =
        [("i = n", false), ("i = 19", true), ("i = 0, i = n", false), ("i = 0, i = i + 1", false)];
    for (first, is_passed) in starts {
        let text = text(first, 20);
        assert_eq!(!passed_locations(&load("dve", &text)).is_empty(), is_passed, "{first}");
        state_counts("dve", &text);
    }
    // If there are few rounds, each path has its number of rounds.
    let few = text("i = n % 3", 3);
    state_counts("dve", &few);
    assert_eq!(passed_locations(&load("dve", &few)), ["b"]);
    // The known value is overwritten before the loop.
    let text = "byte g, n; process P { byte i; byte k; state a, b, c; init a; trans a -> c { guard g == 0; effect g = 1, i = 0; }, c -> b { effect i = k; },
        b -> b { guard i < 20; effect i = i + 1; }, b -> a { guard i >= 20; effect g = 0, k = (k + 1) % 3; }; } system async;";
    state_counts("dve", text);
    assert_eq!(passed_locations(&load("dve", text)), ["c"]);
    // A value that one case sets is unknown after the other case.
    for first in ["i = 0", "skip"] {
        state_counts(
            "promela",
            &format!(
                "byte g, n; active proctype P() {{ byte i, rounds; do :: g == 0 -> d_step {{ g = 1; rounds = 0; i = 0 }};
                d_step {{ if :: n == 1 -> i = 2 :: else -> {first} fi }};
                do :: i < 4 -> i++; rounds++ :: else -> break od; assert(rounds != 2); assert(rounds != 4); g = 0 od }}
                active proctype Q() {{ do :: n = 1 - n od }}"
            ),
        );
    }
    // A value that is set conditionally within an action is unknown too.
    for first in ["", "i = 0,"] {
        let text = format!(
            "byte g, n, seen; process P {{ byte i, rounds; state a, b, c, d; init a;
            trans a -> b {{ guard g == 0; effect g = 1, rounds = 0, {first} i = 2; }},
            b -> b {{ guard i < 3; effect i = i + 1, rounds = (rounds + 1) % 8; }}, b -> c {{ guard i >= 3; }},
            c -> d {{ guard g == 1; effect seen = rounds; }}, d -> a {{ guard g == 1; effect g = 0, i = 0; }}; }}
            process Q {{ state q; init q; assert q: seen != 1; assert q: seen != 3; trans q -> q {{ effect n = 1 - n; }}; }}
            process When {{ state w, v; init w; trans w -> v {{ guard n == 1; }}; }} system async;"
        );
        let written = with_conditional_effect(&text, "P.a -> b", "When.w -> v");
        let merged = RewrittenProgram::of(&written, &merge()).unwrap();
        let found = |interp: &Interp| violations_of(&memory::search(interp, &ALL).unwrap());
        assert_eq!(found(&written).len(), 2);
        assert_eq!(found(merged.interp()), found(&written));
    }
}

/// A counterexample contains each step of an executed loop.
#[test]
fn counterexamples_contain_the_steps_of_loops() {
    let text = "byte g; active proctype P() { byte i; do :: i < 5 -> i++ :: else -> break od; g = 1; assert(false) }";
    let model = load("promela", text);
    let found =
        Check::of_text(&model).reduce(merge()).memory(memory_beside_tests(512)).run().unwrap();
    let trace = found.counterexample().unwrap().unwrap().trace();
    // Five rounds of two steps, the exit of the loop, and two more steps. The last step fails.
    assert_eq!((found.outcome().levels.len(), trace.depth()), (2, 13));
}

/// The receiver of a rendezvous continues, and so does the sender if processes exist always.
#[test]
fn rendezvous_partners_continue() {
    let text = "channel c; process P { byte x; state a, b; init a; trans a -> b { sync c!; }, b -> a { effect x = 0; }; }
        process Q { byte y; state a, b; init a; trans a -> b { sync c?; }, b -> a { effect y = 0; }; } system async;";
    assert_eq!(state_counts("dve", text), (4, 1));
    let text = "chan c = [0] of { bit };
        active proctype P() { byte x; end: do :: c!1; x = 1; x = 0 od }
        active proctype Q() { byte y; end: do :: c?_; y = 1; y = 0 od }";
    let (full, merged) = state_counts("promela", text);
    assert!(3 * merged <= full, "{merged} of {full}");
}

/// Atomic sequences of the model before, after and across merged transitions.
const SEQUENCES: &[&str] = &[
    "byte g; active proctype P() { byte x, y; do :: g == 0 -> x = 1; atomic { y = x; g = y }; y = 0; x = 0
        :: d_step { g == 1 -> g = 2; x = 3 }; x = 1; y = 2; x = 0; y = 0 od }
        active proctype Q() { end: do :: g == 2 -> g = 0 od }",
    "byte g; active [2] proctype P() { byte x; do :: atomic { g == 0 -> g = _pid + 1; x = 1 }; x = 2;
        if :: x = 3 :: x = 4 fi; x = x + 1; assert(g == _pid + 1); g = 0 od }",
    "proctype C(byte v) { byte w; w = v; w = w + 1; if :: w > 2 -> w = 0 :: else -> w = 1 fi; assert(w != 1) }
        init { byte x; x = 1; x = 2; run C(x); x = 0; run C(1); x = 1; x = 3 }",
    "byte g; active proctype P() { byte x; do :: x = 1; x = 2; g = 1; timeout -> g = 0 od }
        active proctype Q() { byte y; do :: g == 1 -> y = 1; y = 0; g == 0 od }",
    "chan c = [1] of { byte }; active proctype P() { byte x; do :: c!x; x = 1 - x; if :: x == 0 -> skip :: else fi od }
        active proctype Q() { byte y, n; do :: c?y -> n = y; if :: n == 1 -> n = 5 :: n != 1 -> n = 7 fi; assert(n != 7) od }",
];

#[test]
fn atomic_sequences_combine_with_merging() {
    for text in SEQUENCES {
        let (full, merged) = state_counts("promela", text);
        assert!(merged < full, "{merged} of {full}: {text}");
    }
}

/// Models whose violations change if one condition of merging is omitted.
const CONDITION_MODELS: &[(&str, &str, &str)] = &[
    ("another process reads a written variable", "dve", "byte g; process P { byte x; state a, b; init a;
        trans a -> b { effect g = 1; }, b -> a { effect g = 0; }; }
        process Q { state a, b; init a; assert b: false; trans a -> b { guard g == 1; }; } system async;"),
    ("another process writes a read variable", "dve", "byte g; process P { byte x; state a, b, c; init a; assert c: x == 0;
        trans a -> b { guard x == 0; effect x = 0; }, b -> c { effect x = g; }, c -> a { guard g == 0; effect x = 0; }; }
        process Q { state a, b; init a; trans a -> b { guard P.b; effect g = 1; }, b -> a { effect g = 0; }; }
        system async;"),
    ("a property reads a written variable", "dve", "byte g; process P { state a, b; init a;
        trans a -> b { effect g = 1; }, b -> a { effect g = 0; }; }
        process Q { state q; init q; assert q: g != 1; trans q -> q { }; } system async;"),
    ("an assertion at the location", "dve", "process P { byte x; state a, b; init a; assert b: x == 0;
        trans a -> b { effect x = 1; }, b -> a { effect x = 0; }; } system async;"),
    ("another process tests the location", "dve", "process P { byte x; state a, b; init a;
        trans a -> b { effect x = 1; }, b -> a { effect x = 0; }; }
        process Q { state a, b; init a; assert b: false; trans a -> b { guard P.b; }; } system async;"),
    ("a statement that may fail", "dve", "byte t[2]; process P { byte i; state a, b; init a;
        trans a -> b { effect i = 1 - i; }, a -> b { effect i = 5; }, b -> a { effect t[i] = 1; }; } system async;"),
    ("an assigned value that is out of range", "dve", "process P { byte x; state a, b; init a;
        trans a -> b { effect x = 200; }, b -> a { effect x = x + 100; }; } system async;"),
    ("a failing statement before a branch", "dve", "byte t[2]; process P { byte i; state a, b; init a;
        trans a -> b { effect i = i + 1, t[i] = 1; }, b -> a { guard i < 5; }, b -> a { guard i >= 5; effect i = 0; }; }
        system async;"),
    ("a guard that may block", "dve", "process P { byte x; state a, b; init a;
        trans a -> b { effect x = 1; }, a -> b { effect x = 2; }, b -> a { guard x == 1; }; } system async;"),
    ("a deadlock", "dve", "process P { byte x; state a, b; init a;
        trans a -> a { effect x = 1 - x; }, a -> b { guard x == 1; }; } system async;"),
    ("a committed location", "dve", "byte g; process P { state a, b, c; commit c; init a;
        trans a -> b { effect g = 1; }, b -> c { }, c -> a { effect g = 0; }; }
        process Q { state a, b; init a; assert b: false; trans a -> b { guard g == 1; }; } system async;"),
    ("a send that waits for space", "promela", "chan c = [1] of { bit }; active proctype P() { c!1; c!1; assert(false) }"),
    ("a rendezvous send", "promela", "chan c = [0] of { bit }; byte g;
        active proctype P() { byte x; g = 1; c!1; x = 1; g = 0 }
        active proctype Q() { if :: c?_; assert(g == 1) :: g == 1 -> assert(false) fi }"),
    ("an escape", "promela", "byte g; active proctype P() { byte x;
        { x = 1; x = 2; x = 3; g == 2 } unless { g == 1 -> assert(x != 2) } }
        active proctype Q() { g = 1 }"),
    ("a `provided` clause", "promela", "bit stop; active proctype P() provided (!stop) { byte x;
        end0: x = 1; x = 2; end1: x == 5 } active proctype Q() { stop = 1 }"),
    ("a read of the number of processes", "promela", "active proctype P() { byte x; x = 1; x = _nr_pr; assert(x != 2) }
        active proctype Q() { skip } active proctype R() { byte y; y = 1; y = 2; _nr_pr == 1 }"),
    ("a remote reference to a location", "promela", "active proctype P() { byte x; x = 1; here: x = 2; x = 3 }
        active proctype Q() { P@here; assert(false) }"),
    ("a remote reference to a local variable", "promela", "active proctype P() { byte x; x = 1; x = 2; x = 3 }
        active proctype Q() { P[0]:x == 2; assert(false) }"),
    ("a test of `enabled`", "promela", "byte g; active proctype P() { byte x; g == 1; x = 1; x = 2; g == 3 }
        active proctype Q() { g = 1; !enabled(0); assert(false) }"),
    ("a test of `_last`", "promela", "active proctype P() { byte x; x = 1; x = 2; x = 3 }
        active proctype Q() { _last == 0; assert(false) }"),
    ("a priority that changes", "promela", "byte g; active proctype P() { byte x; x = 1; set_priority(_pid, 5); x = 2; g = 1 }
        active proctype Q() priority 3 { byte y; y = 1; g == 1; y = 2; assert(false) }"),
];

#[test]
fn condition_models_keep_their_violations() {
    let result = CONDITION_MODELS.iter().map(|(case, language, text)| {
        let result = check_verdicts_kept(language, text, &merge());
        (case, result)
    });
    let failures: Vec<_> = result.filter_map(|(case, it)| Some((case, it.err()?))).collect();
    assert!(failures.is_empty(), "{failures:#?}");
}

/// The numbers that determine a generated text. After the last one, each choice is the first alternative.
pub struct Choices<'c>(pub std::slice::Iter<'c, u8>);

impl Choices<'_> {
    pub fn below(&mut self, count: usize) -> usize {
        self.0.next().map_or(0, |it| usize::from(*it) % count)
    }

    pub fn choose<'o>(&mut self, of: &[&'o str]) -> &'o str {
        of[self.below(of.len())]
    }
}

/// Effects of generated transitions, mostly on locals.
const DVE_EFFECTS: &[&str] = &[
    "x = 1 - x % 2",
    "y = x",
    "x = 0",
    "x = (x + 1) % 3",
    "y = 1, x = y",
    "x = 2",
    "y = x + 1",
    "g = 1",
    "g = (g + 1) % 3",
    "h = x",
    "t[x] = 1",
    "x = g",
    "g = 0, x = 0",
];

/// Generates two processes in DVE with locals, globals and channels. Most transitions are local.
pub fn random_dve_model(numbers: &[u8]) -> String {
    let mut choices = Choices(numbers.iter());
    let mut text = String::from("byte g, h; byte t[2]; channel {byte} c[1]; channel r;\n");
    for name in ["P", "Q"] {
        let count = 3 + choices.below(4);
        let committed = choices.choose(&["", "", "", "", "", "", "commit s1;", "commit s2;"]);
        let asserted =
            choices.choose(&["", "assert s1: g < 2;", "assert s2: h != 1;", "assert s0: x < 2;"]);
        let names: Vec<_> = (0..count).map(|it| format!("s{it}")).collect();
        let mut steps = Vec::new();
        for location in 0..count {
            // Most transitions lead to a later location, some to an earlier one.
            let guards: &[&str] = match choices.below(12) {
                0..6 => &[""],
                6 => &["", ""],
                7 => &["guard x == 0;", "guard x != 0;"],
                8 => &["guard x < 2;", "guard x > 1;", "guard y == 1;"],
                9 => &["guard g == 1;"],
                10 => &["guard x == 1;"],
                _ => {
                    &["sync c!{x};", "sync c?{y};", "sync r!;", "sync r?;"][choices.below(4)..][..1]
                }
            };
            for guard in guards {
                let to = (location + [1, 1, 1, 2, 0, 3][choices.below(6)]) % count;
                let effect = choices.choose(DVE_EFFECTS);
                steps.push(format!("s{location} -> s{to} {{ {guard} effect {effect}; }}"));
            }
        }
        let (names, steps) = (names.join(", "), steps.join(",\n  "));
        text += &format!(
            "process {name} {{ byte x, y; state {names}; {committed} init s0; {asserted} trans\n  {steps}; }}\n"
        );
    }
    text + "system async;"
}

/// Generates two or three processes in Promela. Most statements are local.
pub fn random_promela_model(numbers: &[u8]) -> String {
    let mut choices = Choices(numbers.iter());
    let mut text = String::from("byte g, h; chan c = [1] of { byte }; chan r = [0] of { byte };\n");
    for name in ["P", "Q", "R"].iter().take(2 + choices.below(2)) {
        let statement = |choices: &mut Choices| {
            choices.choose(&[
                "x = 1 - x",
                "y = x",
                "x = 0",
                "y = 1",
                "skip",
                "x = y; y = 0",
                "g = 1",
                "g = x",
                "x = g",
                "h = 1 - h",
                "c!x",
                "c?y",
                "r!y",
                "r?x",
                "g == 1",
                "atomic { x = 1; y = 1 - y }",
                "atomic { g = 1; x = 0; h = y }",
                "d_step { x = y; y = 0 }",
                "if :: x == 0 -> y = 1 :: else -> x = 0 fi",
                "if :: x = 0 :: x = 1 fi",
                "if :: y == 0 -> skip :: y != 0 -> y = 0; x = 1 fi",
                "assert(g != 1 || x == 0)",
                "assert(h == 0 || y < 2)",
                "timeout -> g = 0",
                "do :: x < 2 -> x = x + 1 :: else -> break od; x = 0",
                "do :: y < 3 -> y++; x = 1 - x % 2 :: y >= 3 -> break od; y = 0",
                "do :: x != 2 -> x = (x + 2) % 5 :: else -> break od",
                "do :: x > 0 -> x-- :: x == 0 -> y = 1; break od",
                "do :: x < 2 -> if :: x++ :: x = x + 2 fi :: else -> break od; x = 0",
                "do :: x < y -> x++ :: else -> break od",
                "r!y -> x = 1",
            ])
        };
        let mut body = Vec::new();
        for _ in 0..1 + choices.below(2) {
            let all: Vec<_> = (0..1 + choices.below(5)).map(|_| statement(&mut choices)).collect();
            body.push(format!(":: {}", all.join("; ")));
        }
        let body = body.join("\n  ");
        text += &format!("active proctype {name}() {{ byte x, y;\n  do\n  {body}\n  od }}\n");
    }
    text
}

/// Checks random models, and that more than one in `one_in` has fewer states.
pub fn try_random(
    (cases, one_in): (u32, u32),
    text: fn(&[u8]) -> String,
    check: impl Fn(&str) -> Result<(u64, u64), TestCaseError>,
) {
    let fewer = std::cell::Cell::new(0);
    let numbers = prop::collection::vec(any::<u8>(), 20..90);
    generated::try_all(cases, numbers, |numbers| {
        let (full, reduced) = check(&text(&numbers))?;
        fewer.set(fewer.get() + u32::from(reduced < full));
        Ok(())
    });
    println!("{} of {cases} have fewer states", fewer.get());
    assert!(one_in * fewer.get() > cases, "{} of {cases} have fewer states", fewer.get());
}

/// Checks random models with merging, alone and with other rewritings.
fn try_random_merging(cases: u32, language: &str, text: fn(&[u8]) -> String) {
    try_random((cases, 8), text, |text| {
        let states = check_verdicts_kept(language, text, &merge())?;
        check_verdicts_kept(language, text, &rewritings())?;
        check_verdicts_kept(language, text, &ReductionPlan::of(["merge", "states"]))?;
        Ok(states)
    });
}

#[test]
fn random_dve_models_keep_their_verdicts() {
    try_random_merging(60, "dve", random_dve_model);
}

#[test]
fn random_promela_models_keep_their_verdicts() {
    try_random_merging(60, "promela", random_promela_model);
}

/// Merging combines with the other rewritings and with partial order, under each proviso.
#[test]
fn merging_combines_with_rewritings_and_partial_order() {
    let models = CONDITION_MODELS.iter().map(|(_, language, text)| (*language, *text));
    let models = models.chain(SEQUENCES.iter().map(|text| ("promela", *text)));
    for (language, text) in models {
        check_verdicts_kept(language, text, &rewritings()).unwrap();
        let model = load(language, text);
        let search = |reduce: ReductionConfig| {
            let check =
                Check::of_text(&model).reduce(reduce).memory(memory_beside_tests(512)).keep_going();
            check.run().unwrap()
        };
        let expected = violations_of(search(ReductionConfig::none()).outcome());
        for proviso in CycleProviso::ALL {
            let strategy =
                PartialOrderStrategy { method: PartialOrderMethod::Conditional, proviso };
            let reduce = both_of(&rewritings(), &partial_order_plan(strategy)).into();
            let found = search(reduce);
            assert_eq!(violations_of(found.outcome()), expected, "{} {text}", proviso.name());
            if !expected.is_empty() {
                let trace = found.counterexample().unwrap().unwrap().trace();
                let mut steps = model.interp.starts();
                for (step, state) in trace.steps.iter().zip(&trace.states) {
                    assert!(steps.contains(step), "{text}");
                    steps = model.interp.steps(state);
                }
            }
        }
    }
}

/// A counterexample has all steps of the model as written: three steps of the first process, which the search merges
/// into one.
#[test]
fn counterexamples_contain_the_merged_steps() {
    let text = "byte g; process P { byte x; state a, b, c, d; init a; trans a -> b { effect x = 1; },
        b -> c { effect x = 2; }, c -> d { effect x = 3; }, d -> d { guard g == 0; effect g = 1; }; }
        process Q { state q; init q; assert q: g == 0; trans q -> q { guard g == 9; }; } system async;";
    let model = load("dve", text);
    let found =
        Check::of_text(&model).reduce(merge()).memory(memory_beside_tests(512)).run().unwrap();
    assert_eq!(found.outcome().levels.len(), 3);
    let trace = found.counterexample().unwrap().unwrap().trace();
    let names: Vec<_> = trace.steps.iter().map(|it| it.name.clone()).collect();
    assert_eq!(trace.depth(), 4, "{names:?}");
}

/// Merging preserves neither depths nor claims, reports its effect, and is refused with a claim.
#[test]
fn merging_reports_preserved_properties_effect_and_refusals() {
    let text = "byte g; active proctype P() { byte x; do :: g = 1; x = 1; x = 0 od }";
    let model = load("promela", text).with_plan(merge());
    let searched = model.searched();
    let preserved = preserved_classes(searched.stack().preserves());
    let expected = [
        PropertyClass::Deadlocks,
        PropertyClass::StepErrors,
        PropertyClass::Invariants,
        PropertyClass::StutteringClaims,
        PropertyClass::StutterInvariant,
    ];
    assert_eq!(preserved, expected);
    let summaries = searched.stack().summaries(&Default::default());
    assert_eq!(summaries[0].name, "merged transitions");
    assert_eq!(
        summaries[0].effect.as_deref(),
        Some("2 locations passed through; 2 actions extended")
    );
    let claim = format!("{text} never {{ do :: g == 1 -> break :: else od }}");
    let model = load("promela", &claim).with_plan(merge());
    let searched = model.searched();
    assert!(searched.stack().refusals()[0].reason.to_string().contains("never claim"));
}

/// A search directory keeps merging, and rejects a search without it.
#[test]
fn a_resumed_search_keeps_merging() {
    let text = "int n; process P { byte x; state a, b; init a; trans a -> b { guard n < 100; effect n = n + 1; },
        b -> a { effect x = 0; }, a -> b { guard n == 100; effect n = 101; }; }
        process Q { state q; init q; assert q: n < 101; trans q -> q { guard n > 101; }; } system async;";
    let model = load("dve", text);
    let folder = tempfile::tempdir().unwrap();
    let check = |reduce: ReductionPlan| {
        Check::of_text(&model).reduce(reduce).memory(memory_beside_tests(512))
    };
    let dir = folder.path().join("d");
    drop(check(merge()).dir(&dir).max_states(10).run().unwrap());
    assert!(check(ReductionPlan::default()).dir(&dir).run().is_err());
    let full = check(merge()).run().unwrap();
    assert_eq!(check(merge()).dir(&dir).run().unwrap().outcome(), full.outcome());
}
