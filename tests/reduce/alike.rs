//! Symmetry of processes: the permutations are automorphisms in every state, an asymmetry is detected, and one state of
//! each orbit is visited, compared with a count of the orbits.
//!
//! `SPILLWAY_LARGE` runs more random models, which take minutes.

use crate::generated::try_all;
use crate::support::follow::{ALL, load};
use crate::support::stored::replayed;
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

/// A state with processes exchanged.
fn image(interp: &Interp, one: &Automorphism, state: &[u8]) -> Vec<u8> {
    let layout = interp.layout();
    let mut image = state.to_vec();
    for (cell, moved) in (0..).map(CellId).zip(&one.cells) {
        let code = layout.code(state, cell);
        let is_there =
            moved.behind.is_none_or(|(count, before)| layout.code(state, count) > before);
        let code = match &moved.codes {
            CodeMap::To(codes) if is_there => codes[code as usize],
            _ => code,
        };
        layout.set_code(&mut image, moved.to, code);
    }
    image
}

/// What comes of a state: its successors, and how steps fail.
fn futures(
    steps: &[StepDescription],
    renamed: impl Fn(&[u8]) -> Vec<u8>,
) -> (BTreeMap<Vec<u8>, u32>, BTreeMap<String, u32>) {
    let (mut states, mut faults) = (BTreeMap::new(), BTreeMap::new());
    for step in steps {
        match &step.outcome {
            StepOutcome::Successor(state) => *states.entry(renamed(state)).or_default() += 1,
            StepOutcome::Fault(RuntimeFault { kind, .. }) => {
                // Which process it is of is another for another process.
                let kind = format!("{kind:?}");
                let kind = kind.split(|it: char| !it.is_alphabetic()).next().unwrap_or_default();
                *faults.entry(kind.to_string()).or_default() += 1;
            }
        }
    }
    (states, faults)
}

/// What was found of a model.
#[derive(Debug, Default, PartialEq)]
struct Found {
    /// How many automorphisms were found.
    given: usize,
    states: usize,
    orbits: usize,
}

/// That what is said to exchange processes does in every state that can be reached, if these are not too many, and
/// that one state of each orbit is visited.
fn followed(model: &TextModel, most: usize) -> Result<Option<Found>, TestCaseError> {
    let interp = &model.interp;
    let found =
        automorphisms(interp.program(), interp.layout(), &AnalysisBudget::largest()).unwrap();
    let mut open: Vec<Vec<u8>> = futures(&interp.starts(), <[u8]>::to_vec).0.into_keys().collect();
    let mut met: BTreeSet<_> = open.iter().cloned().collect();
    while let Some(state) = open.pop() {
        let steps = interp.steps(&state);
        for one in &found {
            let there = image(interp, one, &state);
            let (ours, theirs) = (
                futures(&steps, |state| image(interp, one, state)),
                futures(&interp.steps(&there), <[u8]>::to_vec),
            );
            prop_assert_eq!(ours, theirs, "of {:?} by {:?}", state, one.instances);
            let count = |state: &[u8]| interp.violations(state).len();
            prop_assert_eq!(count(&state), count(&there));
        }
        for successor in futures(&steps, <[u8]>::to_vec).0.into_keys() {
            if met.insert(successor.clone()) {
                open.push(successor);
            }
        }
        if met.len() > most {
            return Ok(None);
        }
    }
    let orbits = orbits(interp, &found, &met);
    let symmetry =
        Symmetry::of_processes(interp.program(), interp.layout(), &AnalysisBudget::largest())
            .unwrap();
    prop_assert_eq!(symmetry.is_some(), !found.is_empty());
    if let Some(symmetry) = symmetry {
        let symmetric = symmetry.of_model(interp);
        let (whole, fewer) = (memory::search(interp, &ALL), memory::search(&symmetric, &ALL));
        let (whole, fewer) = (whole.unwrap(), fewer.unwrap());
        prop_assert_eq!(fewer.states() as usize, orbits);
        prop_assert_eq!(kinds(&fewer), kinds(&whole));
        replayed(&symmetric, &fewer, &ALL);
    }
    Ok(Some(Found { given: found.len(), states: met.len(), orbits }))
}

/// What was found first of each kind, whoever it is of, and how deep that is.
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

/// How many orbits some states lie in.
fn orbits(interp: &Interp, found: &[Automorphism], states: &BTreeSet<Vec<u8>>) -> usize {
    let mut seen = BTreeSet::new();
    let mut orbits = 0;
    for state in states {
        if !seen.insert(state.clone()) {
            continue;
        }
        orbits += 1;
        let mut open = vec![state.clone()];
        while let Some(state) = open.pop() {
            let images = found.iter().map(|one| image(interp, one, &state));
            open.extend(images.filter(|it| seen.insert(it.clone())));
        }
    }
    orbits
}

/// A DVE model of some processes, each from a text in which `@` is its number and `~` the next one's.
fn ring(count: usize, globals: &str, process: &str, rest: &str) -> String {
    let one = |at: usize| {
        let body =
            process.replace("@", &at.to_string()).replace("~", &((at + 1) % count).to_string());
        format!("process P_{at} {{ {body} }}\n")
    };
    let all: String = (0..count).map(one).collect();
    format!("{globals}\n{all}{rest}\nsystem async;")
}

/// Three processes, each at one of two locations with or without what one of another kind takes away; these in some order.
fn of_two_kinds(order: [usize; 3]) -> String {
    let takes = |at: &usize| {
        format!(
            "process R_{at} {{ state r; init r; trans r -> r {{ guard t[{at}] == 1; effect t[{at}] = 0; }}; }}\n"
        )
    };
    let others: String = order.iter().map(takes).collect();
    ring(
        3,
        "byte t[3];",
        "state a, b; init a; trans a -> b { guard t[@] == 0; effect t[@] = 1; }, b -> a { };",
        &others,
    )
}

/// Models, and what can be exchanged in them: what each is about, its states, and its orbits.
fn alike() -> Vec<(&'static str, &'static str, String, Found)> {
    let found = |given, states, orbits| Found { given, states, orbits };
    vec![
        (
            "nothing names anybody",
            "dve",
            ring(3, "", "state a, b; init a; trans a -> b { }, b -> a { };", ""),
            found(2, 8, 4),
        ),
        (
            "more than could be listed",
            "dve",
            // As many orders as 9! count by how many are where.
            ring(9, "", "byte x; state a, b; init a; trans a -> b { effect x = 1; }, b -> a { effect x = 0; };", ""),
            found(8, 512, 10),
        ),
        ("each has one of another kind", "dve", of_two_kinds([0, 1, 2]), found(4, 64, 20)),
        (
            "each has one of another kind, which are in another order",
            "dve",
            of_two_kinds([1, 0, 2]),
            found(4, 64, 20),
        ),
        (
            "each two have one of another kind",
            "dve",
            ring(4, "byte t[4];", "state a; init a; trans a -> a { guard t[@] == 0; effect t[@] = 1; };",
                "process R_0 { state r; init r; trans r -> r { guard t[0] == 1 and t[1] == 1; effect t[0] = 0, t[1] = 0; }; }
                process R_1 { state r; init r; trans r -> r { guard t[2] == 1 and t[3] == 1; effect t[2] = 0, t[3] = 0; }; }"),
            // Of two nobody, one, or both; and of two such pairs.
            found(3, 16, 6),
        ),
        (
            "a variable names one",
            "dve",
            // Nobody, or one in there who is at b.
            ring(3, "byte x = 255;", "state a, b; init a;
                trans a -> b { guard x == 255; effect x = @; }, b -> a { guard x == @; effect x = 255; };", ""),
            found(2, 4, 2),
        ),
        (
            "elements of an array are theirs",
            "dve",
            // Each has eaten or not, and one of those who have may be the last.
            ring(3, "byte t[3]; byte x = 9;", "state a; init a; trans a -> a { guard t[@] == 0; effect t[@] = 1, x = @; };", ""),
            found(2, 1 + 3 + 3 * 2 + 3, 1 + 1 + 1 + 1),
        ),
        (
            "an index that is a variable",
            "dve",
            ring(3, "byte t[3]; byte x;", "state a; init a; trans a -> a { guard x == @; effect x = ~; },
                a -> a { guard x == @; effect t[x] = 1 - t[x]; };", ""),
            // Whoever it is, and what all have: three turns of each.
            found(1, 24, 8),
        ),
        (
            "neighbours share forks",
            "dve",
            ring(3, "byte t[3];", "state a, b, c; init a; trans a -> b { guard t[@] == 0; effect t[@] = 1; },
                b -> c { guard t[~] == 0; effect t[~] = 1; }, c -> a { effect t[@] = 0, t[~] = 0; };", ""),
            found(1, 14, 6),
        ),
        (
            "a server has a place for each",
            "dve",
            ring(2, "channel ask_0, ask_1, done_0, done_1;", "state a, b; init a; trans a -> b { sync ask_@!; }, b -> a { sync done_@?; };",
                "process S { state i, s_0, s_1; init i; trans i -> s_0 { sync ask_0?; }, s_1 -> i { sync done_1!; },
                i -> s_1 { sync ask_1?; }, s_0 -> i { sync done_0!; }; }"),
            found(1, 3, 2),
        ),
        (
            "statements and conjuncts in another order",
            "dve",
            ring(2, "byte t[2];", "state a; init a; trans a -> a { guard t[@] == 0; effect t[@] = 2; };",
                "process C { state i; init i; trans i -> i { guard t[0] != 0 && t[1] != 0; effect t[0] = t[0] - 1, t[1] = t[1] - 1; }; }"),
            // Both are full or one, both have one left, or none has any.
            found(1, 5, 4),
        ),
        (
            "messages name one",
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
            "an assertion that one fails",
            "promela",
            "byte in; active [3] proctype P() { do :: in++; assert(in < 3); in-- od }".into(),
            found(2, 0, 0),
        ),
    ]
}

#[test]
fn processes_that_are_alike_are_exchanged() {
    let mut wrong = Vec::new();
    for (what, language, text, expected) in alike() {
        let found = followed(&load(language, &text), 100_000);
        let is_right = match &found {
            Ok(Some(found)) if expected.states == 0 => {
                found.given == expected.given && found.orbits < found.states
            }
            Ok(found) => found.as_ref() == Some(&expected),
            Err(_) => false,
        };
        if !is_right {
            wrong.push((what, found, expected));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Models whose processes something tells apart.
fn told_apart() -> Vec<(&'static str, &'static str, String)> {
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
        ("a constant that all name", "dve", once("byte x = 9;", "x != 0", "x = @")),
        ("a value that has no room", "dve",
            ring(2, "byte t[1]; byte x;", "state a; init a; trans a -> a { guard x == @; effect x = ~; };",
                "process Q { state a; init a; trans a -> a { guard t[x] == 0; }; }")),
        ("an element that is another's", "dve", once("byte t[2]; byte x;", "t[@] == 0", "t[0] = 1")),
        ("one who can do more", "dve", once("byte x;", "x == 0", "x = 1").replacen("b -> a { };", "b -> a { }, b -> b { };", 1)),
        ("an assertion", "dve", once("byte x;", "x == 0", "x = 1").replacen("init a;", "init a; assert a: x == 0;", 1)),
        ("a committed location", "dve", once("byte x;", "x == 0", "x = 1").replacen("init a;", "init a; commit b;", 1)),
        ("a third one who looks at one", "dve",
            ring(2, "byte t[2];", "state a; init a; trans a -> a { effect t[@] = 1 - t[@]; };",
                "process Q { state a; init a; trans a -> a { guard t[0] == 1; }; }")),
        ("a loop over all", "promela",
            "byte t[2]; active [2] proctype P() { byte i; do :: i < 2 -> t[i] = 1; i++ :: i == 2 -> i = 0; t[_pid] = 0 od }".into()),
        ("who ends first", "promela", "byte x; active [2] proctype P() { x = 1 - x; x = 1 - x }".into()),
        ("a number that wraps", "promela",
            "byte x = 9; bit y; active proctype P0() { do :: x = 0; y = x od } active proctype P1() { do :: x = 1; y = x od }
             active proctype Q() { do :: x = 2 od }".into()),
        ("messages in order", "promela",
            "chan c = [2] of { byte }; active [2] proctype P() { do :: c!!_pid od } active proctype Q() { byte x; do :: c?x od }".into()),
        ("the first that can", "promela",
            "byte t[2]; active [2] proctype P() { do :: t[_pid] = 1 - t[_pid] od }
             active proctype Q() { byte x; do :: d_step { if :: t[0] == 1 -> x = 1 :: t[1] == 1 -> x = 2 :: else -> x = 0 fi } od }".into()),
        ("a claim's variable", "promela", "byte x; active [2] proctype P() provided (x != _pid) { do :: x = 1 - x od }".into()),
    ]
}

#[test]
fn what_tells_processes_apart_is_noticed() {
    for (what, language, text) in told_apart() {
        let model = load(language, &text);
        let found =
            followed(&model, 100_000).unwrap_or_else(|error| panic!("{what}: {error}")).unwrap();
        assert_eq!(found.given, 0, "{what}: {found:?}");
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

/// Three processes of one random text.
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
fn random_processes_are_alike_where_it_is_said() {
    let census = std::cell::RefCell::new([0, 0, 0]);
    try_all(300, random_rings(), |text| {
        let model = load("dve", &text);
        if let Some(found) = followed(&model, 1500)? {
            let mut census = census.borrow_mut();
            census[0] += 1;
            census[1] += i32::from(found.given > 0);
            census[2] += i32::from(found.orbits < found.states);
        }
        Ok(())
    });
    let [all, given, fewer] = census.into_inner();
    eprintln!("of {all} models {given} had automorphisms and {fewer} fewer states");
    assert!(given > all / 8 && given < all && fewer > all / 40, "{all} {given} {fewer}");
}
