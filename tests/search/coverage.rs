//! Coverage: the number of executions of each action equals that of a plain enumeration of every transition of every
//! state.

use crate::support::lockstep::load;
use crate::support::memory::memory_beside_tests;
use spillway::Check;
use spillway::exec::ExecutionMode;
use spillway::ir::{Action, Schedule, TurnRule};
use spillway::model::{StepOutcome, SystemDescription as _};
use spillway::report::ActionCoverage;
use spillway::session::TextModel;
use spillway::source::SourceLocation;
use std::collections::{BTreeMap, BTreeSet};

/// Larger models are covered by the runs over the corpus.
const STATES_MAX: usize = 4000;

/// How often the statements at a place were executed.
type PlaceCounts = BTreeMap<String, u64>;

fn place_text(place: Option<SourceLocation>) -> String {
    place.map_or(String::new(), |it| it.to_string())
}

/// The counts from all transitions of each state. `None` for a model with too many states.
fn enumerated_counts(model: &TextModel) -> Option<PlaceCounts> {
    let starts = model.interp.starts().into_iter().map(|it| it.outcome);
    let mut open: Vec<Vec<u8>> = starts.filter_map(successor).collect();
    let mut seen: BTreeSet<Vec<u8>> = open.iter().cloned().collect();
    let mut taken = PlaceCounts::new();
    while let Some(state) = open.pop() {
        for step in model.interp.steps(&state) {
            let spans = step.spans;
            let Some(next) = successor(step.outcome) else { continue };
            for span in spans {
                *taken.entry(place_text(model.sources.place(span))).or_default() += 1;
            }
            if seen.insert(next.clone()) {
                open.push(next);
            }
        }
        if seen.len() > STATES_MAX {
            return None;
        }
    }
    Some(taken)
}

fn successor(outcome: StepOutcome) -> Option<Vec<u8>> {
    match outcome {
        StepOutcome::Successor(state) => Some(state),
        StepOutcome::Fault(_) => None,
    }
}

fn measured_coverage(model: &TextModel, exec: ExecutionMode) -> Vec<ActionCoverage> {
    let check = Check::of_text(model).reduce(spillway::reduce::ReductionConfig::none());
    check
        .keep_going()
        .memory(memory_beside_tests(512))
        .exec(exec)
        .run()
        .unwrap()
        .coverage()
        .unwrap()
}

fn counts_by_place(measured_coverage: Vec<ActionCoverage>) -> PlaceCounts {
    let mut taken = PlaceCounts::new();
    for it in measured_coverage.into_iter().filter(|it| it.taken > 0) {
        *taken.entry(place_text(it.place)).or_default() += it.taken;
    }
    taken
}

#[test]
fn coverage_equals_an_enumeration_of_all_transitions() {
    let root = env!("CARGO_MANIFEST_DIR");
    let mut compared = 0;
    for (language, folder) in [("dve", "dve"), ("murphi", "murphi"), ("promela", "promela")] {
        for entry in std::fs::read_dir(format!("{root}/models/{folder}")).unwrap() {
            let path = entry.unwrap().path();
            let model = load(language, &std::fs::read_to_string(&path).unwrap());
            // A common part of several steps is counted once.
            let is_open = |it: &Action| it.control.turn == TurnRule::Open;
            let program = model.interp.program();
            // A lockstep transition has the place of its first process's action.
            let is_lockstep = program.schedule == Schedule::Lockstep;
            if is_lockstep || !program.actions.values().all(is_open) {
                continue;
            }
            let Some(expected) = enumerated_counts(&model) else { continue };
            for exec in [ExecutionMode::Jit, ExecutionMode::Interp] {
                assert_eq!(
                    counts_by_place(measured_coverage(&model, exec)),
                    expected,
                    "{path:?}, {exec:?}"
                );
            }
            compared += 1;
        }
    }
    assert!(compared >= 20, "only {compared} models are small enough");
}

const HANDED_OVER: &str = "chan c = [0] of { byte };
byte x;
active proctype A() {
  c!1;
  atomic {
    x = 4;
    if
    :: x = 5
    :: x = 6
    :: x == 7
    fi
  }
  d_step {
    x = 8;
    assert(x == 8)
  }
}
active proctype B() {
  c?x
}
";

/// B ends before or after the next step of A.
#[test]
fn common_parts_of_atomic_paths_are_counted_once() {
    for exec in [ExecutionMode::Jit, ExecutionMode::Interp] {
        let model = load("promela", HANDED_OVER);
        let mut by_line = BTreeMap::new();
        for it in measured_coverage(&model, exec) {
            *by_line.entry(it.place.map_or(0, |it| it.position.line)).or_insert(0) += it.taken;
        }
        let taken = |line: usize| by_line[&line];
        assert_eq!([4, 19].map(taken), [1, 1], "they meet once");
        assert_eq!([6, 8, 9, 10].map(taken), [2, 2, 2, 0], "B is there or gone");
        assert_eq!([14, 15].map(taken), [4, 4], "and x is 5 or 6");
        assert!(!by_line.contains_key(&13), "a d_step is counted by its statements");
    }
}

/// An action that always fails is executed, although it never leads to a state.
#[test]
fn failing_actions_are_not_never_executed() {
    let model = load(
        "dve",
        "byte x = 0; process P { state a, b; init a;
        trans a -> a { guard x < 2; effect x = x + 1; },
        a -> b { guard x == 2; effect x = 1 / (x - 2); },
        b -> a { guard x == 1; }; } system async;",
    );
    let measured_coverage = measured_coverage(&model, ExecutionMode::Jit);
    let place_text: Vec<_> =
        measured_coverage.iter().map(|it| (it.taken, it.failed, it.is_never_taken())).collect();
    assert_eq!(place_text, [(2, false, false), (0, true, false), (0, false, true)]);
}
