//! Results decided in memory that are kept in the named directory, and the actions of processes in a cycle.

use super::bench::{Bench, CommandOutput};
use serde_json::{Value, json};

/// Two processes alternate, one could always move, one waits, one ends.
const LOOPS: &str = "byte x;
chan c = [0] of { byte };
active [2] proctype P() { do :: x == _pid -> x = 1 - x od }
active proctype Q() { do :: x < 2 -> skip od }
active proctype R() { c?5; skip }
active proctype S() { skip }
ltl comes { <> (x == 2) }
ltl low { [] (x < 2) }
";

fn bench() -> Bench {
    Bench::of([("loops.pml", LOOPS)])
}

fn object(CommandOutput { out, err, .. }: &CommandOutput) -> Value {
    serde_json::from_str(out).unwrap_or_else(|_| panic!("{out}{err}"))
}

/// The commands on a directory have the exit code and object of `check`.
#[test]
fn a_named_directory_keeps_a_verdict_found_in_memory() {
    let bench = bench();
    for (name, flags, code) in [
        ("plain", &["--ltl", "comes"][..], 1),
        ("short", &["--ltl", "comes", "--shortest"], 1),
        ("fair", &["--ltl", "comes", "--fair", "weak"], 1),
        ("holds", &["--ltl", "low"], 0),
    ] {
        let check = [&["check", "loops.pml", "--dir", name, "--json"], flags].concat();
        let checked = bench.run(&check);
        assert_eq!((checked.code, &*checked.err), (code, ""), "{name}");
        let result = object(&checked);
        assert_eq!(result["stage"], "in memory");
        let traced = bench.run(&["trace", name, "--json"]);
        assert_eq!((traced.code, object(&traced)), (code, result.clone()), "{name}");
        let resumed = bench.run(&["resume", name, "--json"]);
        assert_eq!((resumed.code, object(&resumed)), (code, result.clone()), "{name}");
        let has_ended = resumed.err.contains("this search is complete");
        assert_eq!(has_ended, name != "short", "{name}: {}", resumed.err);
        let status = object(&bench.run(&["status", name, "--json"]));
        let members = ["verdict", "states", "transitions", "stage", "fairness", "property"];
        assert!(members.iter().all(|it| status[it] == result[it]), "{name}: {status}");
        assert_eq!(status["running"], false);
        let repeated = bench.run(&check);
        assert_eq!(repeated.code, 2, "{name}");
        assert!(repeated.err.contains(&format!("spillway resume {name}")), "{}", repeated.err);
        let from = bench.run(&["simulate", "loops.pml", "--from", name, "--steps", "1"]);
        assert_eq!(from.code, if code == 1 { 0 } else { 2 }, "{name}: {}", from.err);
        if code == 1 {
            let chart = bench.run(&["trace", name, "--msc"]);
            assert!(chart.code == 1 && chart.out.contains("P[0]"), "{}", chart.out);
            let trail = bench.run(&["trace", name, "--spin-trail", "t"]);
            assert_eq!(trail.code, 0, "{}", trail.err);
            let text = bench.run(&["check", "loops.pml", "--dir", "other", "--ltl", "comes"]);
            let kept = "  kept in  other\n  next     spillway trace other --msc\n";
            assert!(text.out.contains(kept), "{}", text.out);
            std::fs::remove_dir_all(bench.0.path().join("other")).unwrap();
        }
    }
}

#[test]
fn a_damaged_or_foreign_answer_is_rejected() {
    let bench = bench();
    for dir in ["one", "two"] {
        let flags = ["--ltl", if dir == "one" { "comes" } else { "[] (x < 1)" }];
        assert_eq!(
            bench.run(&[&["check", "loops.pml", "--dir", dir][..], &flags].concat()).code,
            1
        );
    }
    let [one, two] = ["one", "two"].map(|dir| bench.0.path().join(dir).join("answer"));
    let bytes = std::fs::read(&one).unwrap();
    for at in (0..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 16;
        std::fs::write(&one, damaged).unwrap();
        let output = bench.run(&["trace", "one"]);
        assert_eq!((output.code, &*output.out), (4, ""), "byte {at}: {}", output.err);
        assert!(output.err.contains("answer"), "{}", output.err);
    }
    std::fs::copy(&two, &one).unwrap();
    for command in ["trace", "status", "resume"] {
        let output = bench.run(&[command, "one"]);
        assert_eq!(output.code, 4, "{command}: {}{}", output.out, output.err);
        assert!(output.err.contains("it does not belong to the job"), "{}", output.err);
    }
    // Without the file the search has no verdict yet, and continues on disk.
    std::fs::remove_file(&one).unwrap();
    let output = bench.run(&["trace", "one"]);
    assert!(output.code == 0 && output.out.contains("no checkpoint yet"), "{}", output.out);
    assert_eq!(bench.run(&["resume", "one"]).code, 1);
}

/// If the property holds, the search for errors uses the directory.
#[test]
fn the_search_for_errors_replaces_the_kept_verdict() {
    let fails =
        LOOPS.replace("{ skip }", "{ assert(x == 5) }").replace("ltl comes { <> (x == 2) }\n", "");
    let bench = Bench::of([("fails.pml", &*fails)]);
    let output = bench.run(&["check", "fails.pml", "--dir", "d"]);
    assert!(
        output.code == 1 && output.out.contains("assert(x == 5)"),
        "{}{}",
        output.out,
        output.err
    );
    assert!(!bench.0.path().join("d/answer").exists());
    let output = bench.run(&["trace", "d"]);
    assert!(output.code == 1 && output.out.contains("assert(x == 5)"), "{}", output.out);
}

#[test]
fn a_cycle_is_reported_with_moving_enabled_and_waiting_processes() {
    let bench = bench();
    let result =
        object(&bench.run(&["check", "loops.pml", "--ltl", "comes", "--json", "--shortest"]));
    let run = &result["counterexample"];
    let process = |name: &str| {
        let all = run["ends_at"].as_array().unwrap();
        all.iter().find(|it| it["process"] == name).unwrap_or_else(|| panic!("{name}: {run}"))
    };
    // The shortest cycle is one step of Q, or of P[0] to its own location.
    let moving: Vec<&str> = ["P[0]", "P[1]", "Q[2]", "R[3]", "S[4]"]
        .into_iter()
        .filter(|name| process(name)["in_loop"] == "moves")
        .collect();
    assert!(!moving.is_empty() && !moving.contains(&"R[3]"), "{run}");
    assert_eq!(process("R[3]")["in_loop"], "waits");
    assert_eq!(process("R[3]")["waits_for"][0]["what"], "c?5");
    assert_eq!(process("S[4]")["in_loop"], "could move");
    assert_eq!(process("S[4]")["waits_for"], Value::Null);
    let text = bench.run(&["check", "loops.pml", "--ltl", "comes", "--shortest"]).out;
    let (_, rows) = text.split_once("\n  loop     ").expect(&text);
    let rows: Vec<&str> = rows.lines().take(5).map(str::trim).collect();
    assert!(rows.iter().any(|it| it.contains("  moves: line ")), "{text}");
    assert!(
        rows.iter().any(|it| it.starts_with("R[3]  ") && it.contains("waits for c?5")),
        "{text}"
    );
    let s = rows.iter().find(|it| it.starts_with("S[4]  ")).unwrap();
    assert!(s.ends_with(", enabled, but never moves"), "{text}");
    // In a fair run, every process that is always enabled moves.
    let fair =
        object(&bench.run(&["check", "loops.pml", "--ltl", "comes", "--json", "--fair", "weak"]));
    let all = fair["counterexample"]["ends_at"].as_array().unwrap();
    let does = |name: &str| all.iter().find(|it| it["process"] == name).map(|it| &it["in_loop"]);
    assert_eq!(does("Q[2]"), Some(&json!("moves")), "{fair}");
    assert_eq!(does("S[4]").unwrap_or(&json!("waits")), "waits", "{fair}");
}

/// In a deadlock each process waits, and its condition is shown with the values.
#[test]
fn a_finite_run_is_reported_with_the_condition_of_each_process() {
    let bench = Bench::of([(
        "ends.pml",
        "byte x = 3; active proctype P() { x > 4; x = 1 }\nltl comes { <> (x == 1) }\n",
    )]);
    let output = bench.run(&["check", "ends.pml"]);
    assert_eq!(output.code, 1);
    assert!(output.out.contains("\n  loop     P[0]  "), "{}", output.out);
    assert!(output.flat().contains(", waits for x > 4 (x = 3)\n"), "{}", output.out);
}
