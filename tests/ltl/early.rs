//! Automata that accept every continuation: on disk, a violation is found in the level of such a state, if a run
//! continues from there. The formulas are not equivalent to invariants, which another search decides.

use super::bench::Bench;
use serde_json::Value;

/// Forty thousand states.
const WIDE: &str = "byte x, y;
active proctype P() { do :: x < 200 -> x++ :: x == 200 -> x = 0 od }
active proctype Q() { do :: y < 200 -> y++ :: y == 200 -> y = 0 od }
never idle { do :: skip od }
";
/// Ends where it is at 3.
const ENDS: &str = "byte x; active proctype P() { x = 1; x = 2; x = 3 }";
/// Meets an error behind 2, or goes round.
const FAILS: &str = "byte x, a[2]; active proctype P() {
    do :: x < 2 -> x++ :: x == 2 -> a[x] = 1; x = 0 :: x == 1 -> x = 0 od }";

/// Stopped at once, and gone on with on disk; twice, as what was decided stays so.
fn on_disk(bench: &Bench, args: &[&str]) -> Value {
    let dir = format!("d{}", std::fs::read_dir(bench.0.path()).unwrap().count());
    let flags = ["--reduce", "none", "--max-states", "1", "--dir", &dir];
    let begun = [&["check"], args, &flags].concat();
    let begun = bench.run(&begun);
    assert_eq!(begun.code, 3, "{args:?}\n{}{}", begun.out, begun.err);
    let [first, again] = [(); 2].map(|()| bench.run(&["resume", &dir, "--json"]));
    assert_eq!((first.code, &first.out), (again.code, &again.out), "{args:?}");
    serde_json::from_str(&first.out).unwrap()
}

#[test]
fn a_violation_is_found_in_the_level_in_which_the_automaton_accepts_whatever_follows() {
    let bench = Bench::of([("wide.pml", WIDE), ("ends.pml", ENDS), ("fails.pml", FAILS)]);
    let told = on_disk(&bench, &["wide.pml", "--ltl", "(x != 3) W (x == 202)"]);
    assert_eq!((&told["verdict"], &told["stage"]), (&"violated".into(), &"reaching states".into()));
    assert!(told["states"].as_u64().unwrap() < 100, "{told}");
    // Nowhere is everything accepted by this one, and by this one only where nobody comes.
    for (formula, verdict) in
        [("[]<> (x == 3)", "violated"), ("(x != 201) W (x == 202)", "verified")]
    {
        let told = on_disk(&bench, &["wide.pml", "--ltl", formula]);
        assert_eq!(told["verdict"], verdict, "{formula}");
        assert!(told["states"].as_u64().unwrap() >= 40_401, "{told}");
        assert_eq!(told["stage"], "done", "{formula}");
    }
}

#[test]
fn there_has_to_be_a_run_on_from_where_everything_is_accepted() {
    let bench = Bench::of([("wide.pml", WIDE), ("ends.pml", ENDS), ("fails.pml", FAILS)]);
    let judged = [
        (&["ends.pml", "--ltl", "(x != 2) W (x == 202)"][..], "violated", "reaching states"),
        (
            &["ends.pml", "--ltl", "(x != 2) W (x == 202)", "--deadlock-runs", "ignore"],
            "verified",
            "done",
        ),
        (&["fails.pml", "--ltl", "(x != 2) W (x == 202)"], "verified", "done"),
        // From the first one no run goes on, but from others.
        (&["fails.pml", "--ltl", "(x != 1) W (x == 202)"], "violated", "done"),
    ];
    for (args, verdict, stage) in judged {
        let told = on_disk(&bench, args);
        assert_eq!(
            (&told["verdict"], &told["stage"]),
            (&verdict.into(), &stage.into()),
            "{args:?}"
        );
        let in_memory = bench.run(&[&["check"], args, &["--json"]].concat());
        let in_memory: Value = serde_json::from_str(&in_memory.out).unwrap();
        assert_eq!(in_memory["verdict"], verdict, "{args:?}");
    }
}

#[test]
fn an_automaton_that_accepts_nowhere_is_violated_by_no_run() {
    let bench = Bench::of([("wide.pml", WIDE)]);
    let told = bench.run(&["check", "wide.pml", "--ltl", "idle"]);
    assert_eq!(told.code, 0, "{}", told.err);
    assert!(told.out.contains("no run violates idle, whatever the model does"), "{}", told.out);
}
