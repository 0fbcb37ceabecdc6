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
    bisimilar, partial_order_plan, partial_order_plan_for, preserved_classes, rewritings,
    scalarsets,
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

const STRATEGIES: [PartialOrderStrategy; 2] = [
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

fn plan_of(strategy: PartialOrderStrategy) -> ReductionPlan {
    partial_order_plan(strategy)
}

fn violations_of(outcome: &SearchOutcome) -> BTreeSet<Violation> {
    outcome.findings.iter().map(|(check, _)| check).collect()
}

fn search_in_memory(model: &TextModel, limits: &SearchLimits) -> SearchOutcome {
    memory::search(model.searched().model(), limits).unwrap()
}

/// Checks that simultaneous transitions keep the violations, with both executors, and that counterexamples replay.
/// Returns the numbers of states, all and reduced.
fn check_verdicts_kept(language: &str, text: &str) -> Result<(u64, u64), TestCaseError> {
    let mut model = load(language, text);
    let (full, deadlocks) = (search_in_memory(&model, &ALL), search_in_memory(&model, &DEADLOCKS));
    let mut reduced_states = full.states();
    for strategy in STRATEGIES {
        model = model.with_plan(partial_order_plan_for(strategy, CheckSelection::default()));
        let reduced = search_in_memory(&model, &ALL);
        prop_assert_eq!(violations_of(&reduced), violations_of(&full), "{:?} {}", strategy, text);
        // Every deadlock is found, not only one.
        prop_assert_eq!(reduced.deadlocks(), full.deadlocks(), "{:?} {}", strategy, text);
        let searched = model.searched();
        match strategy.proviso {
            // ComBack cannot reconstruct postponed transitions.
            CycleProviso::Levels => assert_counterexamples_replay(searched.model(), &reduced, &ALL),
            _ => drop(stored::replay_in_all_stores(searched.model(), &reduced, &ALL)),
        }
        drop(searched);
        reduced_states = reduced_states.min(reduced.states());
        model = model.with_plan(partial_order_plan_for(strategy, DEADLOCKS.checks));
        let reduced = search_in_memory(&model, &DEADLOCKS);
        prop_assert_eq!(reduced.deadlocks(), deadlocks.deadlocks(), "{:?} {}", strategy, text);
        let check = |exec| {
            Check::of_text(&model)
                .reduce(plan_of(strategy))
                .memory(memory_beside_tests(512))
                .exec(exec)
        };
        let run = |exec| check(exec).keep_going().run().unwrap().outcome().clone();
        prop_assert_eq!(run(ExecutionMode::Jit), run(ExecutionMode::Interp));
    }
    Ok((full.states(), reduced_states))
}

/// Returns independent processes with this number of steps.
fn independent_processes(processes: usize, steps: usize) -> String {
    let process_text = |number: usize| {
        let states: Vec<_> = (0..=steps).map(|it| format!("s{it}")).collect();
        let transitions: Vec<_> =
            (0..steps).map(|it| format!("s{it} -> s{} {{ effect x = x + 1; }}", it + 1)).collect();
        let (states, transitions) = (states.join(", "), transitions.join(", "));
        format!("process P{number} {{ byte x; state {states}; init s0; trans {transitions}; }}")
    };
    (0..processes).map(process_text).collect::<Vec<_>>().join("\n") + " system async;"
}

/// `n` independent processes of `k` steps have (k + 1)^n states. Partial order visits one path of n k + 1 states.
/// Simultaneous transitions visit k + 1 states.
#[test]
fn independent_processes_move_simultaneously() {
    for (processes, steps) in [(2, 3), (3, 4), (4, 2)] {
        let text = independent_processes(processes, steps);
        let (full, reduced) = check_verdicts_kept("dve", &text).unwrap();
        assert_eq!((full, reduced), ((steps as u64 + 1).pow(processes as u32), steps as u64 + 1));
    }
    let model = load("dve", &independent_processes(3, 4));
    let found = Check::of_text(&model)
        .reduce(plan_of(STRATEGIES[0]))
        .memory(memory_beside_tests(512))
        .run()
        .unwrap();
    assert_eq!((found.outcome().states(), found.outcome().counters.transitions), (5, 4));
    // The intermediate states of three simultaneous steps are skipped, two for each of four.
    assert_eq!(found.outcome().counters.skipped, 8);
    let counterexample = found.counterexample().unwrap().unwrap();
    assert_eq!((counterexample.check(), counterexample.depth()), (Violation::Deadlock, 12));
}

/// Alternatives multiply: two and three alternatives have six combinations. A third process moves with each.
#[test]
fn choices_combine_with_each_other() {
    let text = "process P { state a, b, c; init a; trans a -> b { }, a -> c { }; }
        process Q { byte y; state a, b; init a; trans a -> b { effect y = 1; }, a -> b { effect y = 2; }, a -> b { effect y = 3; }; }
        process R { state a, b; init a; trans a -> b { }; } system async;";
    assert_eq!(check_verdicts_kept("dve", text).unwrap(), (24, 1 + 6));
    // Six of seven processes with two alternatives move simultaneously, in 64 combinations. The last process moves
    // afterwards.
    let choice = |number| {
        format!("process P{number} {{ state a, b, c; init a; trans a -> b {{ }}, a -> c {{ }}; }}")
    };
    let text = (0..7).map(choice).collect::<Vec<_>>().join("\n") + " system async;";
    assert_eq!(check_verdicts_kept("dve", &text).unwrap(), (3u64.pow(7), 1 + 64 + 128));
}

/// Models that lose a violation or a deadlock if one condition is omitted.
const CONDITION_MODELS: &[(&str, &str)] = &[
    ("two transitions that compete for a resource", "byte free = 1; process P { state a, b; init a; trans a -> b { guard free > 0; effect free = free - 1; }; }
        process Q { state a, b; init a; trans a -> b { guard free > 0; effect free = free - 1; }; } system async;"),
    ("an order that another transition detects", "byte g; process P { byte x; state a, b, c, d; init a; trans a -> b { effect g = 1; }, b -> c { guard g == 2; },
        c -> d { effect x = 1 / x; }; }
        process Q { state a, b; init a; trans a -> b { effect g = 2; }; } system async;"),
    ("a chain of waiting processes", "byte g, h; process P { state a, b, c; init a; trans a -> b { guard h == 1; }, a -> c { }; }
        process Q { state a, b; init a; trans a -> b { guard g == 1; effect h = 1; }; }
        process R { state a, b; init a; trans a -> b { effect g = 1; }; }
        process S { byte y; state a, b; init a; trans a -> b { guard P.b; effect y = 1 / y; }; } system async;"),
    ("assertions that fail between two steps", "byte g, h; process P { state a, b, c; init a;
        trans a -> b { effect g = 1; }, b -> c { effect g = 0; }; }
        process Q { state a, b, c; init a; trans a -> b { effect h = 1; }, b -> c { effect h = 0; }; }
        process R { state q; init q; assert q: g == 0 or h == 1; assert q: h == 0 or g == 1; trans q -> q { guard g == 9; }; } system async;"),
    ("assertions that each step violates", "byte g, h; process P { state a, b, c; init a;
        trans a -> b { effect g = 1; }, b -> c { effect g = 0; }; }
        process Q { state a, b, c; init a; trans a -> b { effect h = 1; }, b -> c { effect h = 0; }; }
        process R { state q; init q; assert q: g == 0; assert q: h == 0; trans q -> q { guard g == 9; }; } system async;"),
    ("two failing transitions", "byte x; byte y; process P { state a, b; init a; trans a -> b { effect x = 1 / x; }; }
        process Q { state a, b; init a; trans a -> b { effect y = 1 / y; }; } system async;"),
    ("a failing transition beside a successful one", "byte x; process P { state a, b; init a; trans a -> b { effect x = 1 / x; }; }
        process Q { byte y; state a, b, c; init a; trans a -> b { effect y = 1; }, b -> c { effect y = 5 / (y - 1); }; } system async;"),
    ("two waiting processes in different sets", "byte g; process R { state a, b; init a; trans a -> b { }; }
        process P { state p, q, r; init p; trans p -> q { }, p -> r { guard g == 1; }; }
        process S { state p, q, r; init p; trans p -> q { }, p -> r { guard g == 1; }; }
        process Q { state a, b; init a; trans a -> b { effect g = 1; }; }
        process W { byte y; state w, v; init w; trans w -> v { guard P.r and S.r; effect y = 1 / y; }; } system async;"),
    ("cycles beside a violation", "byte g; process P { byte x; state a; init a; trans a -> a { effect x = 1 - x; }; }
        process Q { byte x; state a; init a; trans a -> a { effect x = 1 - x; }; }
        process R { state a, b, c; init a; assert b: g == 1; trans a -> b { }, b -> c { }; } system async;"),
];

#[test]
fn condition_models_keep_their_violations() {
    let results = CONDITION_MODELS.iter().map(|(case, text)| {
        let is_violated = !violations_of(&search_in_memory(&load("dve", text), &ALL)).is_empty();
        assert!(is_violated, "{case}");
        (case, check_verdicts_kept("dve", text))
    });
    let failures: Vec<_> = results.filter_map(|(case, it)| Some((case, it.err()?))).collect();
    assert!(failures.is_empty(), "{failures:#?}");
}

/// Two processes run in cycles, one step apart. Of each pair of steps, one satisfies the static proviso and the other
/// does not. A third process has too many alternatives to move with them.
#[test]
fn alternating_cycles_do_not_postpone_a_violation_forever() {
    let alternatives: Vec<String> =
        (1..=65).map(|it| format!("t -> t {{ guard x == 0; effect x = {it}; }}")).collect();
    let cycle = |name: &str, initial: &str| {
        format!(
            "process {name} {{ state a, b; init {initial}; trans a -> b {{ }}, b -> a {{ }}; }}"
        )
    };
    for (p, q) in [("a", "b"), ("b", "a"), ("a", "a"), ("b", "b")] {
        let text = format!(
            "byte x; {} {} process T {{ state t; init t; assert t: x != 40; trans {}; }} system async;",
            cycle("P", p),
            cycle("Q", q),
            alternatives.join(", ")
        );
        let model = load("dve", &text);
        assert_eq!(violations_of(&search_in_memory(&model, &ALL)).len(), 1);
        assert_eq!(check_verdicts_kept("dve", &text).unwrap().0, 4 * 66);
    }
}

/// Promela and Murphi, with atomic sequences, channels and `timeout`.
#[test]
fn transitions_are_simultaneous_in_promela_and_murphi() {
    let text = "byte g; active proctype P() { byte x; x = 1; x = 2; g = 1 }
        active proctype Q() { byte y; y = 1; y = 2; timeout -> assert(g == 0) }";
    let (full, reduced) = check_verdicts_kept("promela", text).unwrap();
    assert!(3 * reduced < 2 * full, "{reduced} of {full}");
    // A sequence that ends in two states has two alternatives.
    let text =
        "active proctype P() { byte x; atomic { x = 1; if :: x = 2 :: x = 3 fi }; assert(x != 3) }
        active proctype Q() { byte y; atomic { y = 1; if :: y = 2 :: y = 3 fi }; assert(y != 2) }";
    let (full, reduced) = check_verdicts_kept("promela", text).unwrap();
    assert!(reduced < full, "{reduced} of {full}");
    let text = "chan c = [1] of { byte }; active proctype P() { c!1; c!2; assert(false) }
        active proctype Q() { byte x; do :: c?x :: x == 1 -> break od } active proctype R() { byte y; y = 1; y = 2 }";
    check_verdicts_kept("promela", text).unwrap();
    let text = "var x, y, z: 0..3; startstate x := 0; y := 0; z := 0; end;
        rule \"x\" x < 3 ==> x := x + 1; end; rule \"y\" y < 3 ==> y := y + 1; end; rule \"back\" z = 3 ==> z := 3; end;
        rule \"z\" z < 3 ==> z := z + 1; end; invariant \"z\" z < 3;";
    let (full, reduced) = check_verdicts_kept("murphi", text).unwrap();
    assert!(4 * reduced < full, "{reduced} of {full}");
}

/// Generates processes that mostly use their own variables.
fn mostly_independent(numbers: &[u8]) -> String {
    let mut choices = Choices(numbers.iter());
    let mut text = String::from("byte g, h;\n");
    for name in ["P", "Q", "R"] {
        let count = 2 + choices.below(3);
        let names: Vec<_> = (0..count).map(|it| format!("s{it}")).collect();
        let asserted = choices.choose(&[
            "",
            "",
            "assert s1: h < 2;",
            "assert s1: x != 2;",
            "assert s0: g != 2;",
        ]);
        let steps: Vec<_> = (0..2 + choices.below(4))
            .map(|_| {
                let from = choices.below(count);
                let to = (from + choices.below(3)) % count;
                let guard = choices.choose(&[
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
                let effect = choices.choose(&[
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

/// Checks that random models keep their verdicts, and that many have fewer states.
fn try_random_models(cases: u32, language: &str, text: fn(&[u8]) -> String) {
    let cases = if is_large() { 40 * cases } else { cases };
    try_random((cases, 4), text, |text| check_verdicts_kept(language, text));
}

#[test]
fn random_mostly_independent_processes_keep_their_verdicts() {
    try_random_models(100, "dve", mostly_independent);
}

#[test]
fn random_dve_models_keep_their_verdicts() {
    try_random_models(50, "dve", random_dve_model);
}

#[test]
fn random_promela_models_keep_their_verdicts() {
    try_random_models(50, "promela", random_promela_model);
}

/// Two symmetric pairs of processes with dead values and simultaneous transitions. One of the second pair fails.
const SYMMETRIC_PAIRS: &str = "byte g; process P_0 { byte x; state a, b, c; init a; trans a -> b { effect x = 1; }, b -> c { effect x = 2; }, c -> a { guard x == 3; }; }
    process P_1 { byte x; state a, b, c; init a; trans a -> b { effect x = 1; }, b -> c { effect x = 2; }, c -> a { guard x == 3; }; }
    process Q_0 { byte x; state a, b, c; init a; trans a -> b { effect x = 1, g = g + 1; }, a -> c { effect x = 2; }, b -> c { guard g == 2; effect x = 1 / (g - 2); }; }
    process Q_1 { byte x; state a, b, c; init a; trans a -> b { effect x = 1, g = g + 1; }, a -> c { effect x = 2; }, b -> c { guard g == 2; effect x = 1 / (g - 2); }; }
    system async;";

/// The reduction combines with rewritings of the program, and with symmetry, where the proviso is by levels. A
/// simultaneous step of a representative is lifted to the represented states.
#[test]
fn simultaneous_transitions_combine_with_rewritings_and_symmetry() {
    let models = CONDITION_MODELS.iter().map(|(_, text)| *text).chain([SYMMETRIC_PAIRS]);
    for text in models {
        let model = load("dve", text);
        let expected = violations_of(&search_in_memory(&model, &ALL));
        let kind = |it: &Violation| format!("{it:?}").chars().take(6).collect::<String>();
        let kinds = |all: &BTreeSet<Violation>| all.iter().map(kind).collect::<BTreeSet<_>>();
        let sets = [ReductionPlan::default(), bisimilar(), rewritings()];
        for (strategy, rewritings) in
            STRATEGIES.into_iter().flat_map(|strategy| sets.iter().map(move |it| (strategy, it)))
        {
            for with_symmetry in [false, true] {
                let mut reduce = both(rewritings, &plan_of(strategy));
                if with_symmetry {
                    reduce = reduce.with("symmetry", ParameterValues::default());
                }
                let check = Check::of_text(&model)
                    .reduce(reduce)
                    .memory(memory_beside_tests(512))
                    .keep_going();
                let run = check.run().unwrap();
                assert_eq!(
                    kinds(&violations_of(run.outcome())),
                    kinds(&expected),
                    "{strategy:?} {text}"
                );
                if !expected.is_empty() {
                    let counterexample = run.counterexample().unwrap().unwrap();
                    assert_is_run(text, &model.interp, &counterexample.trace());
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
    let expected = search(symmetry.clone());
    let run = search(both(&symmetry, &plan_of(STRATEGIES[0])));
    assert!(
        run.outcome().states() < expected.outcome().states() && run.outcome().counters.skipped > 0
    );
    assert_eq!(violations_of(run.outcome()), violations_of(expected.outcome()));
    let counterexample = run.counterexample().unwrap().unwrap();
    assert_is_run("symmetric", &model.interp, &counterexample.trace());
}

/// The summary gives the preserved properties and the effect. With a claim, or with a proviso of chains, the reduction
/// is refused by name.
#[test]
fn simultaneous_transitions_report_preserved_properties_effect_and_refusals() {
    let text = "byte g; active proctype P() { byte x; do :: g = 1; x = 1; x = 0 od } active proctype Q() { byte y; do :: y = 1; y = 0 od }";
    let with_strategy = |text: &str, strategy| {
        load("promela", text).with_plan(partial_order_plan_for(strategy, CheckSelection::default()))
    };
    for strategy in STRATEGIES {
        let model = with_strategy(text, strategy);
        let searched = model.searched();
        assert_eq!(
            preserved_classes(searched.stack().preserves()),
            [PropertyClass::Deadlocks, PropertyClass::StepErrors, PropertyClass::Invariants]
        );
        let summary =
            &searched.stack().summaries(&Counters { skipped: 7, ..Counters::default() })[0];
        assert_eq!(
            (summary.name.as_str(), summary.proviso),
            ("simultaneous reachability", Some("none needed"))
        );
        let effect = summary.effect.as_ref().unwrap();
        assert!(effect.ends_with("7 passed through without being stored"), "{effect}");
        let model = with_strategy(
            &format!("{text} never {{ do :: g == 1 -> break :: else od }}"),
            strategy,
        );
        assert!(
            model.searched().stack().refusals()[0]
                .reason
                .to_string()
                .contains("observes every state")
        );
    }
    for proviso in [CycleProviso::Chains, CycleProviso::StaticChains] {
        let model = with_strategy(
            text,
            PartialOrderStrategy { method: PartialOrderMethod::Simultaneous, proviso },
        );
        let searched = model.searched();
        let refusal = &searched.stack().refusals()[0];
        assert_eq!(refusal.name, "simultaneous reachability");
        assert_eq!(refusal.reason.remedy(), Some(Remedy::StaticProviso), "{}", refusal.reason);
    }
}

/// A search directory keeps the reduction, and rejects a search without it.
#[test]
fn a_resumed_search_keeps_simultaneous_transitions() {
    let text = "byte n, m; process P { state a; init a; trans a -> a { guard n < 100; effect n = n + 1; }; }
        process Q { state a; init a; trans a -> a { guard m < 100; effect m = m + 1; }; }
        process R { state q; init q; assert q: n < 100; trans q -> q { guard n > 101; }; } system async;";
    let model = load("dve", text);
    let folder = tempfile::tempdir().unwrap();
    for strategy in STRATEGIES {
        let selection = plan_of(strategy).selection;
        assert_eq!(PartialOrderStrategy::of_chosen(|name| selection.get(name)), Some(strategy));
        let check = |reduce: ReductionPlan| {
            Check::of_text(&model).reduce(reduce).memory(memory_beside_tests(512))
        };
        let dir = folder.path().join(format!("{strategy:?}"));
        drop(check(plan_of(strategy)).dir(&dir).max_states(10).run().unwrap());
        assert!(check(ReductionPlan::default()).dir(&dir).run().is_err());
        let full = check(plan_of(strategy)).run().unwrap();
        let expected = BTreeSet::from([Violation::Deadlock, Violation::Property(0)]);
        assert_eq!(violations_of(full.outcome()), expected);
        // Both processes count simultaneously.
        assert_eq!(full.outcome().states(), 101);
        assert_eq!(check(plan_of(strategy)).dir(&dir).run().unwrap().outcome(), full.outcome());
    }
}
