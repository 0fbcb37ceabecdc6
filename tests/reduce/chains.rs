//! Chains of states that are traversed and not stored. The set of stored states does not depend on threads, memory or
//! interruptions. Chains end, and a violation at the end of a chain is reported in single steps.

use crate::runs::assert_is_run;
use crate::support::memory::memory_beside_tests;
use crate::support::reductions::both;
use crate::support::reductions::{bisimilar, dead, partial_order_plan, scalarsets};
use spillway::Check;
use spillway::exec::ExecutionMode;
use spillway::front::{Language, Options};
use spillway::model::Violation;
use spillway::reduce::partial_order::{CycleProviso, PartialOrderMethod, PartialOrderStrategy};
use spillway::reduce::{ReductionConfig, ReductionPlan};
use spillway::search::{CheckSelection, SearchOutcome, SearchVerdict, StateStorage};
use spillway::session::TextModel;
use spillway::source::SourceMap;

const CHAINS: [CycleProviso; 2] = [CycleProviso::Chains, CycleProviso::StaticChains];

fn model(language: &str, text: &str) -> TextModel {
    let mut sources = SourceMap::default();
    sources.add("model", text);
    let language = Language::from_name(language).unwrap();
    TextModel::load(language, sources, Options::default()).unwrap().0
}

fn conditional_plan(proviso: CycleProviso) -> ReductionPlan {
    let strategy = PartialOrderStrategy { method: PartialOrderMethod::Conditional, proviso };
    partial_order_plan(strategy)
}

fn check(model: &TextModel, reduce: impl Into<ReductionConfig>) -> Check<'_> {
    Check::of_text(model).reduce(reduce).memory(memory_beside_tests(512))
}

fn outcome(check: Check) -> SearchOutcome {
    check.run().unwrap().outcome().clone()
}

/// Two processes that count and repeatedly write a variable, about which a third one asserts something.
const COUNTERS: &str = "
    byte x, y, both;
    process P { state a, b; init a;
        trans a -> a { guard x < 90; effect x = x + 1; }, a -> b { guard x == 90; effect both = both + 1; },
            b -> a { guard both > 0; effect x = 0, both = both - 1; }; }
    process Q { state a, b; init a;
        trans a -> a { guard y < 70; effect y = y + 1; }, a -> b { guard y == 70; effect both = both + 1; },
            b -> a { guard both > 0; effect y = 0, both = both - 1; }; }
    process R { state a; init a; assert a: both < 2; trans a -> a { guard both > 3; }; }
    system async;";

/// Chains are not stored. The stored states do not depend on threads, memory, executor, store or interruptions.
#[test]
fn counts_are_independent_of_threads_memory_executor_and_store() {
    let model = model("dve", COUNTERS);
    let full = outcome(check(&model, ReductionConfig::none()).keep_going());
    let without_chains =
        outcome(check(&model, conditional_plan(CycleProviso::Static)).keep_going());
    let folder = tempfile::tempdir().unwrap();
    for proviso in CHAINS {
        let expected = outcome(check(&model, conditional_plan(proviso)).keep_going().threads(1));
        assert!(20 * expected.states() < without_chains.states(), "{expected:?}");
        assert!(without_chains.states() < full.states() && without_chains.counters.skipped == 0);
        assert!(expected.counters.skipped > 150, "{expected:?}");
        let violated =
            |it: &SearchOutcome| it.findings.iter().map(|(it, _)| it).collect::<Vec<_>>();
        assert_eq!(violated(&expected), violated(&full));
        for (threads, memory) in [(1, 256), (2, 256), (3, 512)] {
            let check = check(&model, conditional_plan(proviso)).keep_going().threads(threads);
            assert_eq!(
                outcome(check.memory(memory_beside_tests(memory))),
                expected,
                "{threads} {memory}"
            );
        }
        let interpreted =
            check(&model, conditional_plan(proviso)).keep_going().exec(ExecutionMode::Interp);
        assert_eq!(outcome(interpreted), expected);
        let comback = StateStorage::Comback(Default::default());
        let stored =
            outcome(check(&model, conditional_plan(proviso)).keep_going().storage(comback));
        assert_eq!(
            (stored.levels, stored.counters.skipped),
            (expected.levels.clone(), expected.counters.skipped)
        );
        let dir = folder.path().join(proviso.name());
        let stopped = check(&model, conditional_plan(proviso)).keep_going().dir(&dir).max_states(3);
        assert_eq!(outcome(stopped).verdict, SearchVerdict::Incomplete);
        assert_eq!(
            outcome(check(&model, conditional_plan(proviso)).keep_going().dir(&dir)),
            expected
        );
    }
}

/// Counterexamples consist of single steps, with any rewriting and any store.
#[test]
fn counterexamples_contain_the_steps_of_chains() {
    let model = model("dve", COUNTERS);
    for proviso in CHAINS {
        for (rewritings, storage) in [
            (ReductionPlan::default(), StateStorage::default()),
            (bisimilar(), StateStorage::default()),
            (dead(), StateStorage::Comback(Default::default())),
        ] {
            let found =
                check(&model, both(&rewritings, &conditional_plan(proviso))).storage(storage);
            let found = found.run().unwrap();
            assert!(found.outcome().levels.len() < 20, "{:?}", found.outcome());
            let counterexample = found.counterexample().unwrap().unwrap();
            assert_eq!(counterexample.check(), Violation::Property(0));
            assert!(counterexample.depth() >= 162, "{}", counterexample.depth());
            assert_is_run(&format!("{proviso:?}"), &model.interp, &counterexample.trace());
        }
    }
}

/// The search resets dead variables. A counterexample has their values in the original model, and some of them belong
/// to a process that has ended.
#[test]
fn counterexamples_of_chains_restore_dead_variables() {
    let model = model(
        "promela",
        "byte g, turn, seen;
        active proctype P() { byte x; x = 7; x = x + 1; g = 3; turn = 1; g > 2 -> turn = 2 }
        active proctype Q() { byte y; turn == 2 -> y = 5; seen = y; y = 9; seen++; assert(seen != 6) }",
    );
    let full = outcome(check(&model, ReductionConfig::none()).keep_going());
    for proviso in CHAINS {
        let reduce = both(&dead(), &conditional_plan(proviso));
        let reduced = outcome(check(&model, reduce.clone()).keep_going());
        assert!(reduced.states() < full.states(), "{reduced:?}");
        let found = check(&model, reduce).run().unwrap();
        let counterexample = found.counterexample().unwrap().unwrap();
        assert_is_run(&format!("{proviso:?}"), &model.interp, &counterexample.trace());
    }
}

/// The least state of a cyclic chain is stored, and its postponed transitions are expanded.
#[test]
fn a_cyclic_chain_ends() {
    let cycle = "process Circle { state a, b, c, d, e; init a;
        trans a -> b { }, b -> c { }, c -> d { }, d -> e { }, e -> c { }; }";
    let alone = model("dve", &format!("{cycle} system async;"));
    let fails = "byte x; process Fails { state a, b, c; init a;
        trans a -> b { }, b -> c { effect x = 1 / x; }; }";
    let with_fault = model("dve", &format!("{fails} {cycle} system async;"));
    for proviso in CHAINS {
        let found = outcome(check(&with_fault, conditional_plan(proviso)));
        assert_eq!(found.verdict, SearchVerdict::Violated, "{proviso:?}");
    }
    // The stored states are the initial state and one state of the cycle. A chain from the initial state skips `b` and
    // the states before the least one. A chain from the least state skips the rest of the cycle.
    let found = outcome(check(&alone, conditional_plan(CycleProviso::Chains)));
    assert_eq!((found.states(), found.counters.transitions), (2, 2));
    assert_eq!(found.counters.skipped, 1 + 2);
}

/// A chain of millions of single successors stores some of its states, so that the search can be stopped and resumed. A
/// deadlock at its end is found, with all steps to it.
#[test]
fn a_long_chain_stores_some_states() {
    let model = model(
        "dve",
        "int x; byte y;
        process P { state a, b; init a; trans a -> a { guard x < 32000; effect x = x + 1; },
            a -> b { guard x == 32000; }; }
        system async;",
    );
    let found = check(&model, conditional_plan(CycleProviso::Chains)).run().unwrap();
    let outcome = found.outcome();
    assert_eq!((outcome.verdict, outcome.deadlocks()), (SearchVerdict::Violated, 1));
    let states = outcome.states();
    assert!((3..60).contains(&states), "{states}");
    assert_eq!(outcome.levels, vec![1; states as usize]);
    assert_eq!(outcome.states() + outcome.counters.skipped, 32_002);
    let counterexample = found.counterexample().unwrap().unwrap();
    assert_eq!((counterexample.check(), counterexample.depth()), (Violation::Deadlock, 32_001));
}

/// States with a violation, a failing transition or no new successor are stored, and so the violation is found.
#[test]
fn states_with_possible_violations_are_stored() {
    for (language, text, violated) in [
        // The next step satisfies the invariant again.
        (
            "murphi",
            "var x: 0..4; startstate x := 0; end;
            rule \"on\" x < 4 ==> x := x + 1; end; rule \"again\" x = 4 ==> x := 0; end;
            invariant \"not two\" x != 2;",
            Violation::Property(0),
        ),
        // A step that fails after other steps of its chain.
        (
            "dve",
            "byte x = 3; byte y; process P { state a, b; init a;
                trans a -> b { effect x = x - 1; }, b -> a { effect y = 1 / x; }; } system async;",
            Violation::Fault(spillway::model::FaultKind::Division, 1),
        ),
        // A rule that changes nothing has no successor.
        (
            "murphi",
            "var x: 0..4; startstate x := 0; end;
            rule \"on\" x < 3 ==> x := x + 1; end; rule \"stay\" x = 3 ==> x := 3; end;",
            Violation::Deadlock,
        ),
    ] {
        let model = model(language, text);
        for proviso in CHAINS {
            let checks = CheckSelection::default();
            let found = check(&model, conditional_plan(proviso)).checks(checks).run().unwrap();
            let violations: Vec<_> = found.outcome().findings.iter().map(|(it, _)| it).collect();
            assert_eq!(violations, [violated], "{proviso:?}: {text}");
            let counterexample = found.counterexample().unwrap().unwrap();
            assert_eq!(counterexample.check(), violated);
            assert_is_run(&format!("{proviso:?}"), &model.interp, &counterexample.trace());
        }
    }
}

/// With symmetry the proviso is by levels, and chains are not used.
#[test]
fn symmetry_excludes_chains() {
    let model = model(
        "murphi",
        "type P: scalarset(3); var x: array[P] of 0..3; startstate for p: P do x[p] := 0; end; end;
        ruleset p: P do rule \"on\" x[p] < 3 ==> x[p] := x[p] + 1; end; end;
        invariant \"less\" forall p: P do x[p] < 4 end;",
    );
    let symmetry = scalarsets("exact");
    for proviso in CHAINS {
        let found =
            outcome(check(&model, both(&symmetry, &conditional_plan(proviso))).keep_going());
        assert_eq!(found.counters.skipped, 0);
    }
}
