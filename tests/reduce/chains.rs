//! Chains of states that are traversed and not stored. The set of stored states does not depend on threads, memory or
//! interruptions. Chains end, and a violation at the end of a chain is reported in single steps.

use crate::runs::assert_is_run;
use crate::support::memory::memory_beside_tests;
use crate::support::reductions::both;
use crate::support::reductions::{bisimilar, by_way, dead, scalarsets};
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

fn by(proviso: CycleProviso) -> ReductionPlan {
    let way = PartialOrderStrategy { method: PartialOrderMethod::Conditional, proviso };
    by_way(way)
}

fn check(model: &TextModel, reduce: impl Into<ReductionConfig>) -> Check<'_> {
    Check::of_text(model).reduce(reduce).memory(memory_beside_tests(512))
}

fn outcome(check: Check) -> SearchOutcome {
    check.run().unwrap().outcome().clone()
}

/// Two count by themselves, for ever, and both write what a third asserts about, now and then.
const COUNT: &str = "
    byte x, y, both;
    process P { state a, b; init a;
        trans a -> a { guard x < 90; effect x = x + 1; }, a -> b { guard x == 90; effect both = both + 1; },
            b -> a { guard both > 0; effect x = 0, both = both - 1; }; }
    process Q { state a, b; init a;
        trans a -> a { guard y < 70; effect y = y + 1; }, a -> b { guard y == 70; effect both = both + 1; },
            b -> a { guard both > 0; effect y = 0, both = both - 1; }; }
    process R { state a; init a; assert a: both < 2; trans a -> a { guard both > 3; }; }
    system async;";

/// Chains are not stored, and what is left does not depend on how it is searched.
#[test]
fn counts_do_not_depend_on_how_it_is_searched() {
    let model = model("dve", COUNT);
    let whole = outcome(check(&model, ReductionConfig::none()).keep_going());
    let order = outcome(check(&model, by(CycleProviso::Static)).keep_going());
    let folder = tempfile::tempdir().unwrap();
    for proviso in CHAINS {
        let expected = outcome(check(&model, by(proviso)).keep_going().threads(1));
        assert!(20 * expected.states() < order.states(), "{expected:?}");
        assert!(order.states() < whole.states() && order.counters.skipped == 0);
        assert!(expected.counters.skipped > 150, "{expected:?}");
        let violated =
            |it: &SearchOutcome| it.findings.iter().map(|(it, _)| it).collect::<Vec<_>>();
        assert_eq!(violated(&expected), violated(&whole));
        for (threads, memory) in [(1, 256), (2, 256), (3, 512)] {
            let check = check(&model, by(proviso)).keep_going().threads(threads);
            assert_eq!(
                outcome(check.memory(memory_beside_tests(memory))),
                expected,
                "{threads} {memory}"
            );
        }
        let interpreted = check(&model, by(proviso)).keep_going().exec(ExecutionMode::Interp);
        assert_eq!(outcome(interpreted), expected);
        let comback = StateStorage::Comback(Default::default());
        let stored = outcome(check(&model, by(proviso)).keep_going().storage(comback));
        assert_eq!(
            (stored.levels, stored.counters.skipped),
            (expected.levels.clone(), expected.counters.skipped)
        );
        let dir = folder.path().join(proviso.name());
        let stopped = check(&model, by(proviso)).keep_going().dir(&dir).max_states(3);
        assert_eq!(outcome(stopped).verdict, SearchVerdict::Incomplete);
        assert_eq!(outcome(check(&model, by(proviso)).keep_going().dir(&dir)), expected);
    }
}

/// What is violated behind long chains is told step by step, with dead variables reset and without, however states are stored.
#[test]
fn counterexamples_go_through_chains() {
    let model = model("dve", COUNT);
    for proviso in CHAINS {
        for (rewritings, storage) in [
            (ReductionPlan::default(), StateStorage::default()),
            (bisimilar(), StateStorage::default()),
            (dead(), StateStorage::Comback(Default::default())),
        ] {
            let found = check(&model, both(&rewritings, &by(proviso))).storage(storage);
            let found = found.run().unwrap();
            assert!(found.outcome().levels.len() < 20, "{:?}", found.outcome());
            let way = found.counterexample().unwrap().unwrap();
            assert_eq!(way.check(), Violation::Property(0));
            assert!(way.depth() >= 162, "{}", way.depth());
            assert_is_run(&format!("{proviso:?}"), &model.interp, &way.trace());
        }
    }
}

/// Dead variables are reset where the model is searched, and are what they are where a counterexample is told; some
/// are dead as their process is gone.
#[test]
fn chains_are_told_with_what_is_dead() {
    let model = model(
        "promela",
        "byte g, turn, seen;
        active proctype P() { byte x; x = 7; x = x + 1; g = 3; turn = 1; g > 2 -> turn = 2 }
        active proctype Q() { byte y; turn == 2 -> y = 5; seen = y; y = 9; seen++; assert(seen != 6) }",
    );
    let whole = outcome(check(&model, ReductionConfig::none()).keep_going());
    for proviso in CHAINS {
        let reduce = both(&dead(), &by(proviso));
        let all = outcome(check(&model, reduce.clone()).keep_going());
        assert!(all.states() < whole.states(), "{all:?}");
        let found = check(&model, reduce).run().unwrap();
        let way = found.counterexample().unwrap().unwrap();
        assert_is_run(&format!("{proviso:?}"), &model.interp, &way.trace());
    }
}

/// A chain that closes on itself is stored once, by its least state; what it puts off is taken up there.
#[test]
fn a_chain_that_closes_on_itself_ends() {
    let circle = "process Circle { state a, b, c, d, e; init a;
        trans a -> b { }, b -> c { }, c -> d { }, d -> e { }, e -> c { }; }";
    let alone = model("dve", &format!("{circle} system async;"));
    let fails = "byte x; process Fails { state a, b, c; init a;
        trans a -> b { }, b -> c { effect x = 1 / x; }; }";
    let beside = model("dve", &format!("{fails} {circle} system async;"));
    for proviso in CHAINS {
        let found = outcome(check(&beside, by(proviso)));
        assert_eq!(found.verdict, SearchVerdict::Violated, "{proviso:?}");
    }
    // The start, and one state of the circle: `b` and what is before the least are run through from the start,
    // the whole circle from that.
    let found = outcome(check(&alone, by(CycleProviso::Chains)));
    assert_eq!((found.states(), found.counters.transitions), (2, 2));
    assert_eq!(found.counters.skipped, 1 + 2);
}

/// States from which a single step leads on are not stored for millions of steps, but for some, so that the search can be
/// stopped and gone on with. A deadlock at the end is found, with all steps to it.
#[test]
fn a_long_chain_is_stored_now_and_then() {
    let model = model(
        "dve",
        "int x; byte y;
        process P { state a, b; init a; trans a -> a { guard x < 32000; effect x = x + 1; },
            a -> b { guard x == 32000; }; }
        system async;",
    );
    let found = check(&model, by(CycleProviso::Chains)).run().unwrap();
    let outcome = found.outcome();
    assert_eq!((outcome.verdict, outcome.deadlocks()), (SearchVerdict::Violated, 1));
    let states = outcome.states();
    assert!((3..60).contains(&states), "{states}");
    assert_eq!(outcome.levels, vec![1; states as usize]);
    assert_eq!(outcome.states() + outcome.counters.skipped, 32_002);
    let way = found.counterexample().unwrap().unwrap();
    assert_eq!((way.check(), way.depth()), (Violation::Deadlock, 32_001));
}

/// What is wrong with a state, or with a step out of it, is found, as is a step that leads nowhere new: such states are stored.
#[test]
fn what_can_be_wrong_is_not_run_through() {
    for (language, text, violated) in [
        // An invariant that holds again with the next step.
        (
            "murphi",
            "var x: 0..4; startstate x := 0; end;
            rule \"on\" x < 4 ==> x := x + 1; end; rule \"again\" x = 4 ==> x := 0; end;
            invariant \"not two\" x != 2;",
            Violation::Property(0),
        ),
        // A step that fails after others of its chain.
        (
            "dve",
            "byte x = 3; byte y; process P { state a, b; init a;
                trans a -> b { effect x = x - 1; }, b -> a { effect y = 1 / x; }; } system async;",
            Violation::Fault(spillway::model::FaultKind::Division, 1),
        ),
        // A rule that stores what is there leads nowhere.
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
            let found = check(&model, by(proviso)).checks(checks).run().unwrap();
            let all: Vec<_> = found.outcome().findings.iter().map(|(it, _)| it).collect();
            assert_eq!(all, [violated], "{proviso:?}: {text}");
            let way = found.counterexample().unwrap().unwrap();
            assert_eq!(way.check(), violated);
            assert_is_run(&format!("{proviso:?}"), &model.interp, &way.trace());
        }
    }
}

/// Beside symmetry steps are put off by levels, and no state is run through.
#[test]
fn beside_symmetry_no_state_is_run_through() {
    let model = model(
        "murphi",
        "type P: scalarset(3); var x: array[P] of 0..3; startstate for p: P do x[p] := 0; end; end;
        ruleset p: P do rule \"on\" x[p] < 3 ==> x[p] := x[p] + 1; end; end;
        invariant \"less\" forall p: P do x[p] < 4 end;",
    );
    let symmetry = scalarsets("exact");
    for proviso in CHAINS {
        let found = outcome(check(&model, both(&symmetry, &by(proviso))).keep_going());
        assert_eq!(found.counters.skipped, 0);
    }
}
