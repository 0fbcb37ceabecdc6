//! Simultaneous transitions: counts by reasoning, the same violations, and every deadlock. Each condition has a model
//! that needs it. Counterexamples are reported in single steps.
//!
//! `SPILLWAY_LARGE` runs more random models, which take minutes.

use crate::merge::{
    Choices, assert_counterexamples_replay, random_dve_model, random_promela_model, try_random,
};
use crate::runs::assert_is_run;
use crate::support::lockstep::{ALL, load};
use crate::support::memory::memory_beside_tests;
use crate::support::reductions::both;
use crate::support::reductions::{
    bisimilar, partial_order_plan, partial_order_plan_for, rewritings, scalarsets,
};
use crate::support::{is_large, stored};
use proptest::prelude::*;
use spillway::Check;
use spillway::exec::ExecutionMode;
use spillway::model::{Counters, Violation, memory};
use spillway::reduce::PropertyClass;
use spillway::reduce::Remedy;
use spillway::reduce::partial_order::{CycleProviso, PartialOrderMethod, PartialOrderStrategy};
use spillway::reduce::{ParameterValues, ReductionPlan};
use spillway::search::{CheckSelection, SearchLimits, SearchOutcome};
use spillway::session::TextModel;
use std::collections::BTreeSet;

const WAYS: [PartialOrderStrategy; 2] = [
    PartialOrderStrategy {
        method: PartialOrderMethod::Simultaneous,
        proviso: CycleProviso::Static,
    },
    PartialOrderStrategy {
        method: PartialOrderMethod::Simultaneous,
        proviso: CycleProviso::Levels,
    },
];
const DEADLOCKS: SearchLimits =
    SearchLimits { checks: CheckSelection { deadlock: true, ..CheckSelection::NONE }, ..ALL };

fn by(way: PartialOrderStrategy) -> ReductionPlan {
    partial_order_plan(way)
}

fn violated(outcome: &SearchOutcome) -> BTreeSet<Violation> {
    outcome.findings.iter().map(|(check, _)| check).collect()
}

fn found(model: &TextModel, limits: &SearchLimits) -> SearchOutcome {
    memory::search(model.searched().model(), limits).unwrap()
}

/// That the same is found where steps are taken together, by interpreter and compiled code alike, and can be told in steps of
/// the model. Gives the states of both.
fn is_kept(language: &str, text: &str) -> Result<(u64, u64), TestCaseError> {
    let mut model = load(language, text);
    let (whole, stuck) = (found(&model, &ALL), found(&model, &DEADLOCKS));
    let mut left = whole.states();
    for way in WAYS {
        model = model.with_plan(partial_order_plan_for(way, CheckSelection::default()));
        let reduced = found(&model, &ALL);
        prop_assert_eq!(violated(&reduced), violated(&whole), "{:?} {}", way, text);
        // Not only that there is one: all are there.
        prop_assert_eq!(reduced.deadlocks(), whole.deadlocks(), "{:?} {}", way, text);
        let searched = model.searched();
        match way.proviso {
            // What was put off cannot be found out where states are stored as steps back.
            CycleProviso::Levels => assert_counterexamples_replay(searched.model(), &reduced, &ALL),
            _ => drop(stored::replayed(searched.model(), &reduced, &ALL)),
        }
        drop(searched);
        left = left.min(reduced.states());
        model = model.with_plan(partial_order_plan_for(way, DEADLOCKS.checks));
        let reduced = found(&model, &DEADLOCKS);
        prop_assert_eq!(reduced.deadlocks(), stuck.deadlocks(), "{:?} {}", way, text);
        let check = |exec| {
            Check::of_text(&model).reduce(by(way)).memory(memory_beside_tests(512)).exec(exec)
        };
        let run = |exec| check(exec).keep_going().run().unwrap().outcome().clone();
        prop_assert_eq!(run(ExecutionMode::Jit), run(ExecutionMode::Interp));
    }
    Ok((whole.states(), left))
}

/// Lines of so many processes of so many steps.
fn lines(processes: usize, steps: usize) -> String {
    let line = |number: usize| {
        let states: Vec<_> = (0..=steps).map(|it| format!("s{it}")).collect();
        let all: Vec<_> =
            (0..steps).map(|it| format!("s{it} -> s{} {{ effect x = x + 1; }}", it + 1)).collect();
        let (states, all) = (states.join(", "), all.join(", "));
        format!("process P{number} {{ byte x; state {states}; init s0; trans {all}; }}")
    };
    (0..processes).map(line).collect::<Vec<_>>().join("\n") + " system async;"
}

/// Of n processes of k steps each that do not touch each other there are (k + 1)^n states, and one path of partial order
/// with n k + 1; taken together they come through k + 1.
#[test]
fn lines_go_on_side_by_side() {
    for (processes, steps) in [(2, 3), (3, 4), (4, 2)] {
        let text = lines(processes, steps);
        let (whole, left) = is_kept("dve", &text).unwrap();
        assert_eq!((whole, left), ((steps as u64 + 1).pow(processes as u32), steps as u64 + 1));
    }
    let model = load("dve", &lines(3, 4));
    let found =
        Check::of_text(&model).reduce(by(WAYS[0])).memory(memory_beside_tests(512)).run().unwrap();
    assert_eq!((found.outcome().states(), found.outcome().counters.transitions), (5, 4));
    // Two states of three steps each are run through.
    assert_eq!(found.outcome().counters.skipped, 8);
    let way = found.counterexample().unwrap().unwrap();
    assert_eq!((way.check(), way.depth()), (Violation::Deadlock, 12));
}

/// Choices multiply: of two and of three ways there are six together, and a third process goes along with each.
#[test]
fn of_choices_each_goes_with_each() {
    let text = "process P { state a, b, c; init a; trans a -> b { }, a -> c { }; }
        process Q { byte y; state a, b; init a; trans a -> b { effect y = 1; }, a -> b { effect y = 2; }, a -> b { effect y = 3; }; }
        process R { state a, b; init a; trans a -> b { }; } system async;";
    assert_eq!(is_kept("dve", text).unwrap(), (24, 1 + 6));
    // Of seven processes of two ways each those of six go together, as there are 64, and the last goes then.
    let choice = |number| {
        format!("process P{number} {{ state a, b, c; init a; trans a -> b {{ }}, a -> c {{ }}; }}")
    };
    let text = (0..7).map(choice).collect::<Vec<_>>().join("\n") + " system async;";
    assert_eq!(is_kept("dve", &text).unwrap(), (3u64.pow(7), 1 + 64 + 128));
}

/// Models each of which loses something without one of the conditions.
const SEEN: &[(&str, &str)] = &[
    ("both want the same", "byte free = 1; process P { state a, b; init a; trans a -> b { guard free > 0; effect free = free - 1; }; }
        process Q { state a, b; init a; trans a -> b { guard free > 0; effect free = free - 1; }; } system async;"),
    ("an order that is seen", "byte g; process P { byte x; state a, b, c, d; init a; trans a -> b { effect g = 1; }, b -> c { guard g == 2; },
        c -> d { effect x = 1 / x; }; }
        process Q { state a, b; init a; trans a -> b { effect g = 2; }; } system async;"),
    ("who waits for another, who waits for a third", "byte g, h; process P { state a, b, c; init a; trans a -> b { guard h == 1; }, a -> c { }; }
        process Q { state a, b; init a; trans a -> b { guard g == 1; effect h = 1; }; }
        process R { state a, b; init a; trans a -> b { effect g = 1; }; }
        process S { byte y; state a, b; init a; trans a -> b { guard P.b; effect y = 1 / y; }; } system async;"),
    ("what two together violate, and one after the other does not", "byte g, h; process P { state a, b, c; init a;
        trans a -> b { effect g = 1; }, b -> c { effect g = 0; }; }
        process Q { state a, b, c; init a; trans a -> b { effect h = 1; }, b -> c { effect h = 0; }; }
        process R { state q; init q; assert q: g == 0 or h == 1; assert q: h == 0 or g == 1; trans q -> q { guard g == 9; }; } system async;"),
    ("what each violates alone", "byte g, h; process P { state a, b, c; init a;
        trans a -> b { effect g = 1; }, b -> c { effect g = 0; }; }
        process Q { state a, b, c; init a; trans a -> b { effect h = 1; }, b -> c { effect h = 0; }; }
        process R { state q; init q; assert q: g == 0; assert q: h == 0; trans q -> q { guard g == 9; }; } system async;"),
    ("two that fail", "byte x; byte y; process P { state a, b; init a; trans a -> b { effect x = 1 / x; }; }
        process Q { state a, b; init a; trans a -> b { effect y = 1 / y; }; } system async;"),
    ("one that fails beside one that goes on", "byte x; process P { state a, b; init a; trans a -> b { effect x = 1 / x; }; }
        process Q { byte y; state a, b, c; init a; trans a -> b { effect y = 1; }, b -> c { effect y = 5 / (y - 1); }; } system async;"),
    ("who two others wait for, each in a set with another", "byte g; process R { state a, b; init a; trans a -> b { }; }
        process P { state p, q, r; init p; trans p -> q { }, p -> r { guard g == 1; }; }
        process S { state p, q, r; init p; trans p -> q { }, p -> r { guard g == 1; }; }
        process Q { state a, b; init a; trans a -> b { effect g = 1; }; }
        process W { byte y; state w, v; init w; trans w -> v { guard P.r and S.r; effect y = 1 / y; }; } system async;"),
    ("one that goes round for ever beside what is looked for", "byte g; process P { byte x; state a; init a; trans a -> a { effect x = 1 - x; }; }
        process Q { byte x; state a; init a; trans a -> a { effect x = 1 - x; }; }
        process R { state a, b, c; init a; assert b: g == 1; trans a -> b { }, b -> c { }; } system async;"),
];

#[test]
fn what_is_wrong_is_found() {
    let tried = SEEN.iter().map(|(what, text)| {
        let is_wrong = !violated(&found(&load("dve", text), &ALL)).is_empty();
        assert!(is_wrong, "{what}");
        (what, is_kept("dve", text))
    });
    let wrong: Vec<_> = tried.filter_map(|(what, it)| Some((what, it.err()?))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Two go round, each a step ahead of the other: whatever climbs of one goes along with what does not of the other. A third is
/// in too many ways to go along with them.
#[test]
fn two_take_turns_beside_what_is_looked_for() {
    let ways: Vec<String> =
        (1..=65).map(|it| format!("t -> t {{ guard x == 0; effect x = {it}; }}")).collect();
    let round = |name: &str, at: &str| {
        format!("process {name} {{ state a, b; init {at}; trans a -> b {{ }}, b -> a {{ }}; }}")
    };
    for (p, q) in [("a", "b"), ("b", "a"), ("a", "a"), ("b", "b")] {
        let text = format!(
            "byte x; {} {} process T {{ state t; init t; assert t: x != 40; trans {}; }} system async;",
            round("P", p),
            round("Q", q),
            ways.join(", ")
        );
        let model = load("dve", &text);
        assert_eq!(violated(&found(&model, &ALL)).len(), 1);
        assert_eq!(is_kept("dve", &text).unwrap().0, 4 * 66);
    }
}

/// In Promela and Murphi, with sequences, channels, and what waits until nothing else is possible.
#[test]
fn other_languages_take_steps_together() {
    let text = "byte g; active proctype P() { byte x; x = 1; x = 2; g = 1 }
        active proctype Q() { byte y; y = 1; y = 2; timeout -> assert(g == 0) }";
    let (whole, left) = is_kept("promela", text).unwrap();
    assert!(3 * left < 2 * whole, "{left} of {whole}");
    // A sequence that ends in two states is two ways.
    let text =
        "active proctype P() { byte x; atomic { x = 1; if :: x = 2 :: x = 3 fi }; assert(x != 3) }
        active proctype Q() { byte y; atomic { y = 1; if :: y = 2 :: y = 3 fi }; assert(y != 2) }";
    let (whole, left) = is_kept("promela", text).unwrap();
    assert!(left < whole, "{left} of {whole}");
    let text = "chan c = [1] of { byte }; active proctype P() { c!1; c!2; assert(false) }
        active proctype Q() { byte x; do :: c?x :: x == 1 -> break od } active proctype R() { byte y; y = 1; y = 2 }";
    is_kept("promela", text).unwrap();
    let text = "var x, y, z: 0..3; startstate x := 0; y := 0; z := 0; end;
        rule \"x\" x < 3 ==> x := x + 1; end; rule \"y\" y < 3 ==> y := y + 1; end; rule \"back\" z = 3 ==> z := 3; end;
        rule \"z\" z < 3 ==> z := z + 1; end; invariant \"z\" z < 3;";
    let (whole, left) = is_kept("murphi", text).unwrap();
    assert!(4 * left < whole, "{left} of {whole}");
}

/// Processes that mostly work for themselves.
fn apart(numbers: &[u8]) -> String {
    let mut choices = Choices(numbers.iter());
    let mut text = String::from("byte g, h;\n");
    for name in ["P", "Q", "R"] {
        let count = 2 + choices.below(3);
        let names: Vec<_> = (0..count).map(|it| format!("s{it}")).collect();
        let asserted =
            choices.one(&["", "", "assert s1: h < 2;", "assert s1: x != 2;", "assert s0: g != 2;"]);
        let steps: Vec<_> = (0..2 + choices.below(4))
            .map(|_| {
                let from = choices.below(count);
                let to = (from + choices.below(3)) % count;
                let guard = choices.one(&[
                    "",
                    "",
                    "",
                    "",
                    "guard x == 0;",
                    "guard g == 0;",
                    "guard x < 2;",
                    "guard h == 1;",
                    "guard P.s1;",
                ]);
                let effect = choices.one(&[
                    "x = 1",
                    "x = 1 - x % 2",
                    "x = (x + 1) % 3",
                    "x = 2",
                    "g = 1",
                    "h = 1 - h % 2",
                    "g = (g + 1) % 3",
                    "x = 1 / x",
                    "x = 0",
                    "x = g",
                ]);
                format!("s{from} -> s{to} {{ {guard} effect {effect}; }}")
            })
            .collect();
        let (names, steps) = (names.join(", "), steps.join(",\n  "));
        text += &format!(
            "process {name} {{ byte x; state {names}; init s0; {asserted} trans\n  {steps}; }}\n"
        );
    }
    text + "system async;"
}

/// That random models are found to be as they are, and many have fewer states.
fn try_kept(cases: u32, language: &str, text: fn(&[u8]) -> String) {
    let cases = if is_large() { 40 * cases } else { cases };
    try_random((cases, 4), text, |text| is_kept(language, text));
}

#[test]
fn random_models_of_processes_apart_are_found_as_they_are() {
    try_kept(100, "dve", apart);
}

#[test]
fn random_models_in_dve_are_found_as_they_are() {
    try_kept(50, "dve", random_dve_model);
}

#[test]
fn random_models_in_promela_are_found_as_they_are() {
    try_kept(50, "promela", random_promela_model);
}

/// Two kinds of processes that are alike, with values that are dead, in steps that are taken together; one of the second is
/// to fail.
const ALIKE: &str = "byte g; process P_0 { byte x; state a, b, c; init a; trans a -> b { effect x = 1; }, b -> c { effect x = 2; }, c -> a { guard x == 3; }; }
    process P_1 { byte x; state a, b, c; init a; trans a -> b { effect x = 1; }, b -> c { effect x = 2; }, c -> a { guard x == 3; }; }
    process Q_0 { byte x; state a, b, c; init a; trans a -> b { effect x = 1, g = g + 1; }, a -> c { effect x = 2; }, b -> c { guard g == 2; effect x = 1 / (g - 2); }; }
    process Q_1 { byte x; state a, b, c; init a; trans a -> b { effect x = 1, g = g + 1; }, a -> c { effect x = 2; }, b -> c { guard g == 2; effect x = 1 / (g - 2); }; }
    system async;";

/// It goes together with passes that rewrite the program, and with symmetry, where it is by levels: a step of several is told
/// of the states that others stand for.
#[test]
fn it_stacks() {
    let models = SEEN.iter().map(|(_, text)| *text).chain([ALIKE]);
    for text in models {
        let model = load("dve", text);
        let whole = violated(&found(&model, &ALL));
        let kind = |it: &Violation| format!("{it:?}").chars().take(6).collect::<String>();
        let kinds = |all: &BTreeSet<Violation>| all.iter().map(kind).collect::<BTreeSet<_>>();
        let sets = [ReductionPlan::default(), bisimilar(), rewritings()];
        for (way, rewritings) in
            WAYS.into_iter().flat_map(|way| sets.iter().map(move |it| (way, it)))
        {
            for processes in [false, true] {
                let mut reduce = both(rewritings, &by(way));
                if processes {
                    reduce = reduce.with("symmetry", ParameterValues::default());
                }
                let check = Check::of_text(&model)
                    .reduce(reduce)
                    .memory(memory_beside_tests(512))
                    .keep_going();
                let run = check.run().unwrap();
                assert_eq!(kinds(&violated(run.outcome())), kinds(&whole), "{way:?} {text}");
                if !whole.is_empty() {
                    let way = run.counterexample().unwrap().unwrap();
                    assert_is_run(text, &model.interp, &way.trace());
                }
            }
        }
    }
    let text = "type P: scalarset(3); var x, y: array[P] of 0..2;
        startstate for p: P do x[p] := 0; y[p] := 0; end; end;
        ruleset p: P do rule \"x\" x[p] < 2 ==> x[p] := x[p] + 1; end; rule \"y\" y[p] < 2 & x[p] > 0 ==> y[p] := y[p] + 1; end; end;
        invariant \"less\" exists p: P do y[p] < 2 end;";
    let model = load("murphi", text);
    let symmetry = scalarsets("exact");
    let search = |reduce: ReductionPlan| {
        let check = Check::of_text(&model).reduce(reduce).memory(memory_beside_tests(512));
        check.keep_going().run().unwrap()
    };
    let whole = search(symmetry.clone());
    let run = search(both(&symmetry, &by(WAYS[0])));
    assert!(
        run.outcome().states() < whole.outcome().states() && run.outcome().counters.skipped > 0
    );
    assert_eq!(violated(run.outcome()), violated(whole.outcome()));
    let way = run.counterexample().unwrap().unwrap();
    assert_is_run("symmetric", &model.interp, &way.trace());
}

/// It says what it keeps and did; beside a claim, where states are run through, and where whole runs are looked at, it is left
/// out by name.
#[test]
fn it_says_what_it_keeps_and_did() {
    let text = "byte g; active proctype P() { byte x; do :: g = 1; x = 1; x = 0 od } active proctype Q() { byte y; do :: y = 1; y = 0 od }";
    let order = |text: &str, way| {
        load("promela", text).with_plan(partial_order_plan_for(way, CheckSelection::default()))
    };
    for way in WAYS {
        let model = order(text, way);
        let searched = model.searched();
        let preserved = searched.stack().preserves();
        let kept: Vec<_> = PropertyClass::ALL.into_iter().filter(|it| preserved.has(*it)).collect();
        assert_eq!(
            kept,
            [PropertyClass::Deadlocks, PropertyClass::StepErrors, PropertyClass::Invariants]
        );
        let told = &searched.stack().summaries(&Counters { skipped: 7, ..Counters::default() })[0];
        assert_eq!(
            (told.name.as_str(), told.proviso),
            ("simultaneous reachability", Some("none needed"))
        );
        let did = told.effect.as_ref().unwrap();
        assert!(did.ends_with("7 passed through without being stored"), "{did}");
        let model = order(&format!("{text} never {{ do :: g == 1 -> break :: else od }}"), way);
        assert!(
            model.searched().stack().refusals()[0]
                .reason
                .to_string()
                .contains("observes every state")
        );
    }
    for proviso in [CycleProviso::Chains, CycleProviso::StaticChains] {
        let model =
            order(text, PartialOrderStrategy { method: PartialOrderMethod::Simultaneous, proviso });
        let searched = model.searched();
        let refused = &searched.stack().refusals()[0];
        assert_eq!(refused.name, "simultaneous reachability");
        assert_eq!(refused.reason.remedy(), Some(Remedy::StaticProviso), "{}", refused.reason);
    }
}

/// A search keeps that steps are taken together, and one that does not agree is refused.
#[test]
fn a_search_that_goes_on_takes_them_as_it_did() {
    let text = "byte n, m; process P { state a; init a; trans a -> a { guard n < 100; effect n = n + 1; }; }
        process Q { state a; init a; trans a -> a { guard m < 100; effect m = m + 1; }; }
        process R { state q; init q; assert q: n < 100; trans q -> q { guard n > 101; }; } system async;";
    let model = load("dve", text);
    let folder = tempfile::tempdir().unwrap();
    for way in WAYS {
        let kept = by(way).selection;
        assert_eq!(PartialOrderStrategy::of_chosen(|name| kept.get(name)), Some(way));
        let check = |reduce: ReductionPlan| {
            Check::of_text(&model).reduce(reduce).memory(memory_beside_tests(512))
        };
        let dir = folder.path().join(format!("{way:?}"));
        drop(check(by(way)).dir(&dir).max_states(10).run().unwrap());
        assert!(check(ReductionPlan::default()).dir(&dir).run().is_err());
        let whole = check(by(way)).run().unwrap();
        let both = BTreeSet::from([Violation::Deadlock, Violation::Property(0)]);
        assert_eq!(violated(whole.outcome()), both);
        // Both count side by side.
        assert_eq!(whole.outcome().states(), 101);
        assert_eq!(check(by(way)).dir(&dir).run().unwrap().outcome(), whole.outcome());
    }
}
