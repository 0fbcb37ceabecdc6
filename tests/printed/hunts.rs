//! Hunts: seeds repeat, limits hold, and the documents have the table of strategies.

use super::Folder;
use spillway::search::hunt::STRATEGIES;
use std::path::Path;

/// A maze of two counters with a rare violation.
const MAZE: &str = "byte x, y;
process P { state a; init a; assert a: x != 200 or y != 100;
  trans a -> a { effect x = (x + 7) % 251; }, a -> a { guard x % 3 == 1; effect y = (y + x) % 241; }; }
process Q { state a; init a; trans a -> a { guard y % 2 == 1; effect y = (y * 3) % 241, x = y % 251; }; }
system async;
";

/// A counter without a violation and with more states than a short hunt visits.
const WIDE: &str = "int x, y, z;
process P { state a; init a; trans a -> a { effect x = (x + 1) % 1000; }, a -> a { effect y = (y + 1) % 1000; },
  a -> a { effect z = (z + 1) % 1000; }; }
system async;
";

fn counterexample(folder: &Folder, args: &[&str]) -> serde_json::Value {
    let output = folder.run(args);
    assert_eq!((output.code, output.err.as_str()), (1, ""), "{}", output.out);
    let result: serde_json::Value = serde_json::from_str(&output.out).unwrap();
    result["hunts"][0]["counterexample"].clone()
}

#[test]
fn a_seed_and_a_number_of_threads_repeat_the_counterexample() {
    let folder = Folder::with("maze.dve", MAZE);
    for threads in ["1", "2", "3"] {
        for seed in ["1", "2"] {
            let args = ["hunt", "maze.dve", "--json", "--seed", seed, "--threads", threads];
            let first = counterexample(&folder, &args);
            assert_eq!(first["kind"], "assert");
            assert_eq!(first["last_state"]["x"], 200);
            assert_eq!(counterexample(&folder, &args), first, "{threads} {seed}");
        }
    }
}

#[test]
fn each_strategy_finds_the_violation() {
    let folder = Folder::with("maze.dve", MAZE);
    for it in &STRATEGIES {
        let args = ["hunt", "maze.dve", "--json", "--strategies", it.name, "--max-time", "5min"];
        let found = counterexample(&folder, &args);
        assert_eq!(
            (&found["last_state"]["x"], &found["last_state"]["y"]),
            (&200.into(), &100.into())
        );
    }
}

/// A specification with a large space, in which the parts of a violated invariant become true one by one.
const DOORS: &str = "---- MODULE Doors ----
EXTENDS Integers
VARIABLES door, key
Init == door = [d \\in 1..6 |-> 0] /\\ key = 0
Move(d) == door' = [door EXCEPT ![d] = (@ + 1) % 9] /\\ UNCHANGED key
Turn == key' = (key + 1) % 500 /\\ UNCHANGED door
Next == Turn \\/ \\E d \\in 1..6 : Move(d)
Shut(d) == door[d] # 8
Safe == (\\A d \\in 2..6 : ~Shut(d)) => LET far == key < 40 IN IF far THEN TRUE ELSE Shut(1)
====
";

/// The distance leads there: without one, a search among 265 million states finds nothing in so few steps.
#[test]
fn best_first_finds_a_violated_invariant_of_a_specification() {
    let folder = Folder::with("Doors.tla", DOORS);
    folder.write("Doors.cfg", "INIT Init\nNEXT Next\nINVARIANT Safe\n");
    let search = ["hunt", "Doors.tla", "--strategies", "best-first", "--threads", "1", "--json"];
    let ran = folder.run(&[&search[..], &["--max-time", "2min"]].concat());
    assert_eq!((ran.code, ran.err.as_str()), (1, ""), "{}", ran.out);
    let told: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let hunt = &told["hunts"][0];
    assert_eq!(hunt["not_used"], serde_json::json!([]), "{hunt}");
    assert!(hunt["transitions"].as_u64().unwrap() < 100_000, "{hunt}");
    assert_eq!(hunt["counterexample"]["name"], "Safe", "{hunt}");
}

#[test]
fn a_hunt_ends_at_its_limits_without_a_proof() {
    let folder = Folder::with("wide.dve", WIDE);
    let output = folder.run(&["hunt", "wide.dve", "--max-time", "300ms", "--threads", "2"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    assert!(output.out.contains("; this is not a proof\n"), "{}", output.out);
    assert!(
        output.out.contains("  ended    at the time limit, or by a signal\n"),
        "{}",
        output.out
    );
    for threads in ["1", "3"] {
        let args = ["hunt", "wide.dve", "--walks", "100", "--threads", threads, "--json"];
        let result: serde_json::Value = serde_json::from_str(&folder.run(&args).out).unwrap();
        let hunt = &result["hunts"][0];
        assert_eq!((&hunt["walks"], &hunt["ended"]), (&100.into(), &"walks".into()), "{result}");
        assert_eq!(result["verdict"], "none found");
    }
}

#[test]
fn the_guide_has_the_table_of_strategies() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/how-to/hunting.md");
    let guide = std::fs::read_to_string(path).unwrap();
    for it in &STRATEGIES {
        let row = format!("| `{}` | {} |\n", it.name, it.summary);
        assert!(guide.contains(&row), "{row}");
        for parameter in it.parameters {
            let row = format!("| `{}` | {} | {} |\n", it.name, parameter.name, parameter.value);
            assert!(guide.contains(&row), "{row}");
        }
    }
}
