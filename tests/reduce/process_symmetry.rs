//! Symmetry of processes: the permutations are automorphisms in every state, and an asymmetry is detected. One state of
//! each orbit is visited, compared with a count of the orbits.
//!
//! `SPILLWAY_LARGE` runs more random models, which take minutes.

use crate::generated::try_all;
use crate::support::lockstep::{ALL, load};
use crate::support::stored::replay_in_all_stores;
use proptest::prelude::*;
use spillway::analysis::automorphisms::{Automorphism, CodeMap, automorphisms};
use spillway::budget::AnalysisBudget;
use spillway::exec::Interp;
use spillway::ir::layout::CellId;
use spillway::model::{
    RuntimeFault, StepDescription, StepOutcome, SystemDescription, Violation, memory,
};
use spillway::reduce::symmetry::Symmetry;
use spillway::search::SearchOutcome;
use spillway::session::TextModel;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the image of a state under an automorphism.
fn image(interp: &Interp, automorphism: &Automorphism, state: &[u8]) -> Vec<u8> {
    let layout = interp.layout();
    let mut image = state.to_vec();
    for (cell, target) in (0..).map(CellId).zip(&automorphism.cells) {
        let code = layout.code(state, cell);
        let exists = target.behind.is_none_or(|(count, before)| layout.code(state, count) > before);
        let code = match &target.codes {
            CodeMap::To(codes) if exists => codes[code as usize],
            _ => code,
        };
        layout.set_code(&mut image, target.to, code);
    }
    image
}

/// Returns the successors of a state with their numbers, and the faults by kind.
fn step_outcomes(
    steps: &[StepDescription],
    renamed: impl Fn(&[u8]) -> Vec<u8>,
) -> (BTreeMap<Vec<u8>, u32>, BTreeMap<String, u32>) {
    let (mut states, mut faults) = (BTreeMap::new(), BTreeMap::new());
    for step in steps {
        match &step.outcome {
            StepOutcome::Successor(state) => *states.entry(renamed(state)).or_default() += 1,
            StepOutcome::Fault(RuntimeFault { kind, .. }) => {
                // The identity of the faulting process is omitted, because an automorphism changes it.
                let kind = format!("{kind:?}");
                let kind = kind.split(|it: char| !it.is_alphabetic()).next().unwrap_or_default();
                *faults.entry(kind.to_string()).or_default() += 1;
            }
        }
    }
    (states, faults)
}

/// The figures of one model.
#[derive(Debug, Default, PartialEq)]
struct SymmetryFigures {
    /// The number of generating automorphisms.
    generators: usize,
    states: usize,
    orbits: usize,
}

/// Checks that every automorphism commutes with the steps in every reachable state, and that the reduced search visits
/// one state of each orbit. Returns nothing if more than `max_states` states are reachable.
fn check_automorphisms(
    model: &TextModel,
    max_states: usize,
) -> Result<Option<SymmetryFigures>, TestCaseError> {
    let interp = &model.interp;
    let automorphisms =
        automorphisms(interp.program(), interp.layout(), &AnalysisBudget::largest()).unwrap();
    let mut open: Vec<Vec<u8>> =
        step_outcomes(&interp.starts(), <[u8]>::to_vec).0.into_keys().collect();
    let mut reached: BTreeSet<_> = open.iter().cloned().collect();
    while let Some(state) = open.pop() {
        let steps = interp.steps(&state);
        for automorphism in &automorphisms {
            let image_state = image(interp, automorphism, &state);
            let (images_of_outcomes, outcomes_of_image) = (
                step_outcomes(&steps, |state| image(interp, automorphism, state)),
                step_outcomes(&interp.steps(&image_state), <[u8]>::to_vec),
            );
            prop_assert_eq!(
                images_of_outcomes,
                outcomes_of_image,
                "of {:?} by {:?}",
                state,
                automorphism.instances
            );
            let count = |state: &[u8]| interp.violations(state).len();
            prop_assert_eq!(count(&state), count(&image_state));
        }
        for successor in step_outcomes(&steps, <[u8]>::to_vec).0.into_keys() {
            if reached.insert(successor.clone()) {
                open.push(successor);
            }
        }
        if reached.len() > max_states {
            return Ok(None);
        }
    }
    let orbits = orbits(interp, &automorphisms, &reached);
    let symmetry =
        Symmetry::of_processes(interp.program(), interp.layout(), &AnalysisBudget::largest())
            .unwrap();
    prop_assert_eq!(symmetry.is_some(), !automorphisms.is_empty());
    if let Some(symmetry) = symmetry {
        let symmetric = symmetry.of_model(interp);
        let (full, reduced) = (memory::search(interp, &ALL), memory::search(&symmetric, &ALL));
        let (full, reduced) = (full.unwrap(), reduced.unwrap());
        prop_assert_eq!(reduced.states() as usize, orbits);
        prop_assert_eq!(kinds(&reduced), kinds(&full));
        replay_in_all_stores(&symmetric, &reduced, &ALL);
    }
    Ok(Some(SymmetryFigures { generators: automorphisms.len(), states: reached.len(), orbits }))
}

/// Returns the kinds of violations, each with its least level, without regard to the process.
fn kinds(outcome: &SearchOutcome) -> BTreeMap<String, u64> {
    let mut kinds = BTreeMap::new();
    for (check, finding) in outcome.findings.iter() {
        let kind = match check {
            Violation::Deadlock => "deadlock".to_string(),
            Violation::Property(_) => "property".to_string(),
            Violation::Fault(kind, _) => format!("{kind:?}"),
        };
        let level = kinds.entry(kind).or_insert(u64::MAX);
        *level = finding.level.min(*level);
    }
    kinds
}

/// Counts the orbits of a set of states.
fn orbits(interp: &Interp, automorphisms: &[Automorphism], states: &BTreeSet<Vec<u8>>) -> usize {
    let mut seen = BTreeSet::new();
    let mut orbits = 0;
    for state in states {
        if !seen.insert(state.clone()) {
            continue;
        }
        orbits += 1;
        let mut open = vec![state.clone()];
        while let Some(state) = open.pop() {
            let images =
                automorphisms.iter().map(|automorphism| image(interp, automorphism, &state));
            open.extend(images.filter(|it| seen.insert(it.clone())));
        }
    }
    orbits
}

/// Returns a DVE model of some processes. In the text `@` is the process's number and `~` the next one's.
fn ring(count: usize, globals: &str, process: &str, rest: &str) -> String {
    let process_text = |number: usize| {
        let body = process
            .replace("@", &number.to_string())
            .replace("~", &((number + 1) % count).to_string());
        format!("process P_{number} {{ {body} }}\n")
    };
    let all: String = (0..count).map(process_text).collect();
    format!("{globals}\n{all}{rest}\nsystem async;")
}

/// Returns a model of three processes at one of two locations each, and three processes that reset their flags. The
/// latter are declared in this order.
fn paired_processes(order: [usize; 3]) -> String {
    let reset_process = |at: &usize| {
        format!(
            "process R_{at} {{ state r; init r; trans r -> r {{ guard t[{at}] == 1; effect t[{at}] = 0; }}; }}\n"
        )
    };
    let reset_processes: String = order.iter().map(reset_process).collect();
    ring(
        3,
        "byte t[3];",
        "state a, b; init a; trans a -> b { guard t[@] == 0; effect t[@] = 1; }, b -> a { };",
        &reset_processes,
    )
}

/// Symmetric models: name, language, text, and expected figures. Figures of 0 states only require fewer orbits than
/// states.
fn symmetric_models() -> Vec<(&'static str, &'static str, String, SymmetryFigures)> {
    let found = |generators, states, orbits| SymmetryFigures { generators, states, orbits };
    vec![
        (
            "processes without references",
            "dve",
            ring(3, "", "state a, b; init a; trans a -> b { }, b -> a { };", ""),
            found(2, 8, 4),
        ),
        (
            "a symmetry group that is too large to list",
            "dve",
            // The symmetry group has 9! elements. Orbits are the numbers of processes at each location.
            ring(9, "", "byte x; state a, b; init a; trans a -> b { effect x = 1; }, b -> a { effect x = 0; };", ""),
            found(8, 512, 10),
        ),
        ("pairs of processes of two kinds", "dve", paired_processes([0, 1, 2]), found(4, 64, 20)),
        (
            "pairs of processes of two kinds in different orders",
            "dve",
            paired_processes([1, 0, 2]),
            found(4, 64, 20),
        ),
        (
            "two processes for each process of another kind",
            "dve",
            ring(4, "byte t[4];", "state a; init a; trans a -> a { guard t[@] == 0; effect t[@] = 1; };",
                "process R_0 { state r; init r; trans r -> r { guard t[0] == 1 and t[1] == 1; effect t[0] = 0, t[1] = 0; }; }
                process R_1 { state r; init r; trans r -> r { guard t[2] == 1 and t[3] == 1; effect t[2] = 0, t[3] = 0; }; }"),
            // A pair has none, one, or both flags set. There are two such pairs.
            found(3, 16, 6),
        ),
        (
            "a variable with a process index",
            "dve",
            // No process, or one process, is at b.
            ring(3, "byte x = 255;", "state a, b; init a;
                trans a -> b { guard x == 255; effect x = @; }, b -> a { guard x == @; effect x = 255; };", ""),
            found(2, 4, 2),
        ),
        (
            "one array element for each process",
            "dve",
            // Each process has moved or not. One of those that have moved may be the last.
            ring(3, "byte t[3]; byte x = 9;", "state a; init a; trans a -> a { guard t[@] == 0; effect t[@] = 1, x = @; };", ""),
            found(2, 1 + 3 + 3 * 2 + 3, 1 + 1 + 1 + 1),
        ),
        (
            "a variable as an array index",
            "dve",
            ring(3, "byte t[3]; byte x;", "state a; init a; trans a -> a { guard x == @; effect x = ~; },
                a -> a { guard x == @; effect t[x] = 1 - t[x]; };", ""),
            // The variable and the flags, up to rotation.
            found(1, 24, 8),
        ),
        (
            "a ring with shared forks",
            "dve",
            ring(3, "byte t[3];", "state a, b, c; init a; trans a -> b { guard t[@] == 0; effect t[@] = 1; },
                b -> c { guard t[~] == 0; effect t[~] = 1; }, c -> a { effect t[@] = 0, t[~] = 0; };", ""),
            found(1, 14, 6),
        ),
        (
            "a server with a location for each client",
            "dve",
            ring(2, "channel ask_0, ask_1, done_0, done_1;", "state a, b; init a; trans a -> b { sync ask_@!; }, b -> a { sync done_@?; };",
                "process S { state i, s_0, s_1; init i; trans i -> s_0 { sync ask_0?; }, s_1 -> i { sync done_1!; },
                i -> s_1 { sync ask_1?; }, s_0 -> i { sync done_0!; }; }"),
            found(1, 3, 2),
        ),
        (
            "statements and conjuncts in different orders",
            "dve",
            ring(2, "byte t[2];", "state a; init a; trans a -> a { guard t[@] == 0; effect t[@] = 2; };",
                "process C { state i; init i; trans i -> i { guard t[0] != 0 && t[1] != 0; effect t[0] = t[0] - 1, t[1] = t[1] - 1; }; }"),
            // Both flags are 2, one is 2, both are 1, or one or both are 0.
            found(1, 5, 4),
        ),
        (
            "messages with process ids",
            "promela",
            "chan c = [2] of { byte }; byte last = 9;
             active [2] proctype P() { do :: c!_pid od }
             active proctype S() { do :: c?last od }".into(),
            found(1, 0, 0),
        ),
        (
            "pairs of processes",
            "promela",
            "byte b[2]; active proctype S0() { do :: b[0] = 1 od } active proctype S1() { do :: b[1] = 1 od }
             active proctype R0() { do :: b[0] == 1 -> b[0] = 0 od }
             active proctype R1() { do :: b[1] == 1 -> b[1] = 0 od }".into(),
            found(2, 0, 0),
        ),
        (
            "an assertion that one process violates",
            "promela",
            "byte in; active [3] proctype P() { do :: in++; assert(in < 3); in-- od }".into(),
            found(2, 0, 0),
        ),
    ]
}

#[test]
fn symmetric_processes_are_exchanged() {
    let mut failures = Vec::new();
    for (case, language, text, expected) in symmetric_models() {
        let found = check_automorphisms(&load(language, &text), 100_000);
        let is_right = match &found {
            Ok(Some(found)) if expected.states == 0 => {
                found.generators == expected.generators && found.orbits < found.states
            }
            Ok(found) => found.as_ref() == Some(&expected),
            Err(_) => false,
        };
        if !is_right {
            failures.push((case, found, expected));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// Models in which one construct breaks the symmetry of the processes.
fn asymmetric_models() -> Vec<(&'static str, &'static str, String)> {
    let once = |globals: &str, guard: &str, effect: &str| {
        let body = format!(
            "state a, b; init a; trans a -> b {{ guard {guard}; effect {effect}; }}, b -> a {{ }};"
        );
        ring(2, globals, &body, "")
    };
    vec![
        ("order", "dve", once("byte x = 1;", "x < @", "x = @")),
        ("a sum", "dve", once("byte x = 1;", "x + 1 == @ + 1", "x = @")),
        ("truth", "dve", once("byte x = 1;", "x", "x = @")),
        ("a constant that every process compares with", "dve", once("byte x = 9;", "x != 0", "x = @")),
        ("an index that is out of range", "dve",
            ring(2, "byte t[1]; byte x;", "state a; init a; trans a -> a { guard x == @; effect x = ~; };",
                "process Q { state a; init a; trans a -> a { guard t[x] == 0; }; }")),
        ("a fixed array element", "dve", once("byte t[2]; byte x;", "t[@] == 0", "t[0] = 1")),
        ("a process with an additional transition", "dve", once("byte x;", "x == 0", "x = 1").replacen("b -> a { };", "b -> a { }, b -> b { };", 1)),
        ("an assertion", "dve", once("byte x;", "x == 0", "x = 1").replacen("init a;", "init a; assert a: x == 0;", 1)),
        ("a committed location", "dve", once("byte x;", "x == 0", "x = 1").replacen("init a;", "init a; commit b;", 1)),
        ("another process that reads one element", "dve",
            ring(2, "byte t[2];", "state a; init a; trans a -> a { effect t[@] = 1 - t[@]; };",
                "process Q { state a; init a; trans a -> a { guard t[0] == 1; }; }")),
        ("a loop over all processes", "promela",
            "byte t[2]; active [2] proctype P() { byte i; do :: i < 2 -> t[i] = 1; i++ :: i == 2 -> i = 0; t[_pid] = 0 od }".into()),
        ("the order in which processes end", "promela", "byte x; active [2] proctype P() { x = 1 - x; x = 1 - x }".into()),
        ("a pid that a bit truncates", "promela",
            "byte x = 9; bit y; active proctype P0() { do :: x = 0; y = x od } active proctype P1() { do :: x = 1; y = x od }
             active proctype Q() { do :: x = 2 od }".into()),
        ("a sorted send", "promela",
            "chan c = [2] of { byte }; active [2] proctype P() { do :: c!!_pid od } active proctype Q() { byte x; do :: c?x od }".into()),
        ("the first enabled option of a d_step", "promela",
            "byte t[2]; active [2] proctype P() { do :: t[_pid] = 1 - t[_pid] od }
             active proctype Q() { byte x; do :: d_step { if :: t[0] == 1 -> x = 1 :: t[1] == 1 -> x = 2 :: else -> x = 0 fi } od }".into()),
        ("a variable in a `provided` clause", "promela", "byte x; active [2] proctype P() provided (x != _pid) { do :: x = 1 - x od }".into()),
    ]
}

#[test]
fn asymmetric_processes_are_not_exchanged() {
    for (case, language, text) in asymmetric_models() {
        let model = load(language, &text);
        let found = check_automorphisms(&model, 100_000)
            .unwrap_or_else(|error| panic!("{case}: {error}"))
            .unwrap();
        assert_eq!(found.generators, 0, "{case}: {found:?}");
    }
}

const GUARDS: &[&str] = &[
    "x == @",
    "x != @",
    "t[@] == 0",
    "t[~] == 1",
    "x == 255",
    "y == 1",
    "l == @",
    "l == x",
    "l != ~",
    "t[0] == 0 && t[1] == 0 && t[2] == 0",
    "t[x % 3] == 0",
    "x < @",
    "x < 3 && t[x] == 1",
    "x == 0",
    "l < 2",
];
const EFFECTS: &[&str] = &[
    "x = @",
    "x = ~",
    "x = 255",
    "t[@] = 1 - t[@]",
    "t[~] = 0",
    "y = 1 - y",
    "l = x",
    "l = @",
    "x = l",
    "t[l] = 1",
    "t[0] = 0, t[1] = 0, t[2] = 0",
    "x = (x + 1) % 3",
    "t[@] = 1, x = @",
    "t[1] = 0",
    "l = 0, y = l",
];
const SYNCS: &[&str] = &[
    "",
    "",
    "",
    "sync k!{@};",
    "sync k?{l};",
    "sync k!{l};",
    "sync k?{x};",
    "sync d!{@};",
    "sync d?{l};",
];

/// Generates three processes with the same random text.
fn random_rings() -> impl Strategy<Value = String> {
    let locations = || 0..3usize;
    let action = (locations(), locations(), 0..GUARDS.len() * 3, 0..EFFECTS.len(), 0..SYNCS.len());
    prop::collection::vec(action, 3..8).prop_map(|actions| {
        let name = |at: usize| ["a", "b", "c"][at];
        let texts = actions.into_iter().map(|(from, to, guard, effect, sync)| {
            let guard = GUARDS.get(guard).map(|it| format!("guard {it}; ")).unwrap_or_default();
            format!(
                "{} -> {} {{ {guard}{} effect {}; }}",
                name(from),
                name(to),
                SYNCS[sync],
                EFFECTS[effect]
            )
        });
        let actions = texts.collect::<Vec<_>>().join(", ");
        let body = format!("byte l = 255; state a, b, c; init a; trans {actions};");
        ring(3, "byte x = 255, y; byte t[3]; channel {byte} k[1]; channel {byte} d[0];", &body, "")
    })
}

#[test]
fn automorphisms_of_random_processes_hold_in_every_state() {
    let census = std::cell::RefCell::new([0, 0, 0]);
    try_all(300, random_rings(), |text| {
        let model = load("dve", &text);
        if let Some(found) = check_automorphisms(&model, 1500)? {
            let mut census = census.borrow_mut();
            census[0] += 1;
            census[1] += i32::from(found.generators > 0);
            census[2] += i32::from(found.orbits < found.states);
        }
        Ok(())
    });
    let [all, generators, fewer] = census.into_inner();
    eprintln!("of {all} models {generators} had automorphisms and {fewer} fewer states");
    assert!(
        generators > all / 8 && generators < all && fewer > all / 40,
        "{all} {generators} {fewer}"
    );
}
