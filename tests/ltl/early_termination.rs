//! Automata that accept every continuation: on disk, a violation is found in the level of such a state, if a run
//! continues from there. The formulas are not equivalent to invariants, which another search decides.

use super::bench::Bench;
use serde_json::Value;

/// A model of more than 40,000 states.
const WIDE: &str = "byte x, y;
active proctype P() { do :: x < 200 -> x++ :: x == 200 -> x = 0 od }
active proctype Q() { do :: y < 200 -> y++ :: y == 200 -> y = 0 od }
never idle { do :: skip od }
";
/// Ends when x is 3.
const ENDS: &str = "byte x; active proctype P() { x = 1; x = 2; x = 3 }";
/// Ends in an error after 2, or repeats.
const FAILS: &str = "byte x, a[2]; active proctype P() {
    do :: x < 2 -> x++ :: x == 2 -> a[x] = 1; x = 0 :: x == 1 -> x = 0 od }";

/// Stops the check at once and resumes it on disk, twice: the result of the first session stays.
fn on_disk(bench: &Bench, args: &[&str]) -> Value {
    let dir = format!("d{}", std::fs::read_dir(bench.0.path()).unwrap().count());
    let flags = ["--reduce", "none", "--max-states", "1", "--dir", &dir];
    let start = [&["check"], args, &flags].concat();
    let started = bench.run(&start);
    assert_eq!(started.code, 3, "{args:?}\n{}{}", started.out, started.err);
    let [first, repeated] = [(); 2].map(|()| bench.run(&["resume", &dir, "--json"]));
    assert_eq!((first.code, &first.out), (repeated.code, &repeated.out), "{args:?}");
    serde_json::from_str(&first.out).unwrap()
}

#[test]
fn a_violation_is_found_in_the_level_of_an_all_accepting_state() {
    let bench = Bench::of([("wide.pml", WIDE), ("ends.pml", ENDS), ("fails.pml", FAILS)]);
    let result = on_disk(&bench, &["wide.pml", "--ltl", "(x != 3) W (x == 202)"]);
    assert_eq!(
        (&result["verdict"], &result["stage"]),
        (&"violated".into(), &"reaching states".into())
    );
    assert!(result["states"].as_u64().unwrap() < 100, "{result}");
    // The first automaton has no state that accepts every continuation; that of the second is unreachable.
    for (formula, verdict) in
        [("[]<> (x == 3)", "violated"), ("(x != 201) W (x == 202)", "verified")]
    {
        let result = on_disk(&bench, &["wide.pml", "--ltl", formula]);
        assert_eq!(result["verdict"], verdict, "{formula}");
        assert!(result["states"].as_u64().unwrap() >= 40_401, "{result}");
        assert_eq!(result["stage"], "done", "{formula}");
    }
}

#[test]
fn an_all_accepting_state_needs_an_infinite_continuation() {
    let bench = Bench::of([("wide.pml", WIDE), ("ends.pml", ENDS), ("fails.pml", FAILS)]);
    let judged = [
        (&["ends.pml", "--ltl", "(x != 2) W (x == 202)"][..], "violated", "reaching states"),
        (
            &["ends.pml", "--ltl", "(x != 2) W (x == 202)", "--deadlock-runs", "ignore"],
            "verified",
            "done",
        ),
        (&["fails.pml", "--ltl", "(x != 2) W (x == 202)"], "verified", "done"),
        // No run continues from the first such state, but runs continue from others.
        (&["fails.pml", "--ltl", "(x != 1) W (x == 202)"], "violated", "done"),
    ];
    for (args, verdict, stage) in judged {
        let result = on_disk(&bench, args);
        assert_eq!(
            (&result["verdict"], &result["stage"]),
            (&verdict.into(), &stage.into()),
            "{args:?}"
        );
        let in_memory = bench.run(&[&["check"], args, &["--json"]].concat());
        let in_memory: Value = serde_json::from_str(&in_memory.out).unwrap();
        assert_eq!(in_memory["verdict"], verdict, "{args:?}");
    }
}

#[test]
fn an_automaton_without_accepting_states_has_no_violating_run() {
    let bench = Bench::of([("wide.pml", WIDE)]);
    let output = bench.run(&["check", "wide.pml", "--ltl", "idle"]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.out.contains("no run violates idle, whatever the model does"), "{}", output.out);
}
