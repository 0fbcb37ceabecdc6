//! Hunts of `check`: a violation that a hunt finds is the result of the check, for each command and number of threads.

use super::Folder;
use serde_json::Value;

/// Three counters up to 90. Breadth-first search executes far more than 50,000 transitions before one counter reaches
/// 90.
pub const DVE: &str = "int x, y, z;
process P { state a; init a; assert a: x < 90; trans a -> a { guard x < 90; effect x = x + 1; }; }
process Q { state a; init a; trans a -> a { guard y < 90; effect y = y + 1; }; }
process R { state a; init a; trans a -> a { guard z < 90; effect z = z + 1; }; }
system async;
";

const PROMELA: &str = "int x, y, z;
active proctype P() { end: do :: atomic { x < 90 -> x++; assert(x < 90) } od }
active proctype Q() { end: do :: y < 90 -> y++ od }
active proctype R() { end: do :: z < 90 -> z++ od }
";

const MURPHI: &str = "var x, y, z: 0..90;
startstate begin x := 0; y := 0; z := 0; end;
rule \"x\" x < 90 ==> begin x := x + 1; end;
rule \"y\" y < 90 ==> begin y := y + 1; end;
rule \"z\" z < 90 ==> begin z := z + 1; end;
invariant \"low\" x < 90;
";

/// Three symmetric counters, none of which may reach 150.
const SYMMETRIC_MODEL: &str = "type P: scalarset(3);
var c: array [P] of 0..150;
ruleset i: P do
  startstate \"s\" begin for j: P do c[j] := 0; end; end;
  rule \"count\" c[i] < 150 ==> begin c[i] := c[i] + 1; end;
end;
invariant \"low\" forall j: P do c[j] < 150 end;
";

/// A product in which nested depth-first search first visits the counters of P and Q. R has a cycle only if it moves
/// first.
const LASSO: &str = "int y, z, t;
process P { state a; init a; trans a -> a { guard t == 0 and y < 900; effect y = y + 1; }; }
process Q { state a; init a; trans a -> a { guard t == 0 and z < 900; effect z = z + 1; }; }
process R { state a, b, c; init a; trans a -> b { guard y == 0 and z == 0; effect t = 1; },
  b -> c { effect t = 2; }, c -> b { effect t = 1; }; }
system async;
";

/// A net of three pairs of places. Its deadlock is 270 transitions away.
fn net() -> String {
    let place = |name: &str, tokens: u32| {
        format!(
            "<place id=\"{name}\"><initialMarking><text>{tokens}</text></initialMarking></place>"
        )
    };
    let arc = |number: usize, from: &str, to: &str| {
        format!("<arc id=\"c{number}\" source=\"{from}\" target=\"{to}\"/>")
    };
    let mut body = String::new();
    for number in 0..3 {
        let [from, to, by] = ["from", "to", "by"].map(|it| format!("{it}{number}"));
        body += &(place(&from, 90) + &place(&to, 0));
        body += &format!("<transition id=\"{by}\"/>");
        body += &(arc(2 * number, &from, &by) + &arc(2 * number + 1, &by, &to));
    }
    format!(
        "<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\"><net id=\"n\" \
         type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"p\">{body}</page></net></pnml>"
    )
}

fn run_json(folder: &Folder, args: &[&str], code: i32) -> Value {
    let output = folder.run(&[args, &["--json"]].concat());
    assert_eq!((output.code, output.err.as_str()), (code, ""), "{args:?}\n{}", output.out);
    serde_json::from_str(&output.out).unwrap()
}

/// The result without members that depend on time or place.
fn without_costs(mut result: Value) -> Value {
    let result = result.as_object_mut().unwrap();
    let passing = |name: &String| {
        let costs = ["seconds", "bytes", "per_second", "store_parts", "dir"];
        !costs.iter().any(|it| name.contains(it))
    };
    result.iter().filter(|it| passing(it.0)).map(|(name, it)| (name.clone(), it.clone())).collect()
}

fn assert_hunted(name: &str, text: &str, kind: &str) {
    let folder = Folder::with(name, text);
    let args = ["check", name, "--reduce", "none", "--threads", "1"];
    let found = run_json(&folder, &args, 1);
    assert_eq!(found["hunt"]["strategy"], "dive", "{found:#}");
    assert_eq!(found["counterexample"]["kind"], kind);
    let depth = found["counterexample"]["depth"].as_u64().unwrap();
    // The levels of the search do not reach the violation.
    assert!(depth >= 90 && found["levels"].as_u64().unwrap() < 80, "{depth} {}", found["levels"]);
    let two = run_json(&folder, &["check", name, "--reduce", "none", "--threads", "2"], 1);
    assert_eq!(without_costs(two), without_costs(found));
}

#[test]
fn a_hunt_finds_a_deep_violation_in_each_language() {
    assert_hunted("deep.dve", DVE, "assert");
    assert_hunted("deep.pml", PROMELA, "assert");
    assert_hunted("deep.m", MURPHI, "invariant");
    assert_hunted("deep.pnml", &net(), "deadlock");
}

#[test]
fn without_hunts_the_search_ends_with_the_level_of_the_violation() {
    let folder = Folder::with("deep.dve", DVE);
    let args = ["check", "deep.dve", "--reduce", "none"];
    let all = [
        run_json(&folder, &[&args[..], &["--no-dive"]].concat(), 1),
        run_json(&folder, &[&args[..], &["--shortest"]].concat(), 1),
    ];
    for found in &all {
        assert_eq!((&found["hunt"], &found["levels"]), (&Value::Null, &91.into()));
        assert_eq!(found["counterexample"]["depth"], 90);
    }
    assert_eq!(without_costs(all[0].clone()), without_costs(all[1].clone()));
    let full_search = run_json(&folder, &[&args[..], &["--keep-going"]].concat(), 1);
    assert_eq!(
        (&full_search["hunt"], &full_search["states"]),
        (&Value::Null, &(91_u64.pow(3)).into())
    );
    let shown = folder.run(&["check", "deep.dve", "--reduce", "none", "--no-trace"]).out;
    assert!(shown.contains("  hunt     dive found the violation; "), "{shown}");
    assert!(shown.contains(" transitions of hunts\n"), "{shown}");
    let shown = folder.run(&["check", "deep.dve", "--reduce", "none", "--no-trace", "--no-dive"]);
    assert!(shown.out.contains("  after    90 steps (shortest)\n"), "{}", shown.out);
}

#[test]
fn a_model_that_holds_has_the_same_counts_with_hunts_and_without() {
    let folder = Folder::with("holds.dve", &DVE.replace("assert a: x < 90;", ""));
    for flags in [&["--reduce", "none"][..], &[]] {
        let args = [&["check", "holds.dve", "--no-deadlock"], flags].concat();
        let with = run_json(&folder, &args, 0);
        let without = run_json(&folder, &[&args[..], &["--no-dive"]].concat(), 0);
        assert_eq!(without_costs(with), without_costs(without));
    }
}

#[test]
fn each_command_reads_the_directory_of_a_hunted_violation() {
    let folder = Folder::with("deep.m", MURPHI);
    let args = ["check", "deep.m", "--reduce", "none", "--dir", "kept"];
    let found = run_json(&folder, &args, 1);
    let steps = &found["counterexample"]["steps"];
    let status = run_json(&folder, &["status", "kept"], 0);
    assert_eq!((&status["hunt"], &status["verdict"]), (&found["hunt"], &"violated".into()));
    assert_eq!(status["violations"], found["violations"]);
    assert_eq!((&status["state"], &status["levels"]), (&"ended".into(), &found["levels"]));
    let trace = run_json(&folder, &["trace", "kept"], 1);
    assert_eq!(&trace["counterexamples"][0]["steps"], steps);
    let resumed = folder.run(&["resume", "kept", "--json"]);
    assert_eq!(resumed.code, 1);
    assert!(resumed.err.contains("this search is complete"), "{}", resumed.err);
    let resumed: Value = serde_json::from_str(&resumed.out).unwrap();
    assert_eq!((&resumed["hunt"], &resumed["counterexample"]["steps"]), (&found["hunt"], steps));
    assert_eq!(folder.run(&["report", "kept"]).code, 0);
    let page = std::fs::read_to_string(folder.path("kept.html")).unwrap();
    assert!(page.contains("there may be a shorter one"), "{page}");
    let walk = folder.run(&["simulate", "deep.m", "--from", "kept:88", "--steps", "1"]);
    assert_eq!(walk.code, 0, "{}", walk.err);
    let junit = folder.run(&["check", "deep.m", "--reduce", "none", "--junit", "junit.xml"]);
    assert_eq!(junit.code, 1);
    let junit = std::fs::read_to_string(folder.path("junit.xml")).unwrap();
    assert!(junit.contains("<failure") && junit.contains("low"), "{junit}");
}

#[test]
fn a_resumed_search_hunts_as_an_uninterrupted_one() {
    let folder = Folder::with("deep.dve", DVE);
    let args = ["check", "deep.dve", "--reduce", "none"];
    let uninterrupted = run_json(&folder, &args, 1);
    let stopped =
        folder.run(&[&args[..], &["--dir", "kept", "--max-states", "3000"]].concat()).code;
    assert_eq!(stopped, 3);
    let resumed = folder.run(&["resume", "kept", "--max-states", "1000000000", "--json"]);
    let resumed: Value = serde_json::from_str(&resumed.out).unwrap();
    assert_eq!(without_costs(resumed), without_costs(uninterrupted));
}

#[test]
fn each_store_and_memory_has_hunts() {
    let folder = Folder::with("deep.dve", DVE);
    for flags in [
        &["--store", "comback"][..],
        &["--store", "raw"],
        &["--exec", "interp"],
        // Only walks, which store no states, fit this memory.
        &["--memory", "48MiB"],
    ] {
        let args = [&["check", "deep.dve", "--reduce", "none"], flags].concat();
        let found = run_json(&folder, &args, 1);
        assert!(found["hunt"]["strategy"].is_string(), "{flags:?}");
        assert!(found["counterexample"]["depth"].as_u64().unwrap() >= 90, "{flags:?}");
    }
}

#[test]
fn a_path_of_representatives_is_concretised() {
    let folder = Folder::with("alike.m", SYMMETRIC_MODEL);
    let found = run_json(&folder, &["check", "alike.m", "--reduce", "symmetry"], 1);
    assert_eq!((&found["hunt"]["strategy"], &found["levels"]), (&"dive".into(), &83.into()));
    let steps = found["counterexample"]["steps"].as_array().unwrap();
    // The last step increments some counter to 150.
    let last = steps.last().unwrap().to_string();
    assert!(steps.len() > 150 && last.contains("150"), "{last}");
}

#[test]
fn a_hunt_finds_a_lasso_in_a_large_product() {
    let folder = Folder::with("lasso.dve", LASSO);
    let args = ["check", "lasso.dve", "--ltl", "[] <> (t == 0)", "--reduce", "none"];
    let found = run_json(&folder, &[&args[..], &["--threads", "1"]].concat(), 1);
    assert!(found["hunt"]["strategy"].is_string(), "{found:#}");
    let shown = folder.run(&args).out;
    assert!(shown.contains("\n  hunt     ") && shown.contains(" found the run\n"), "{shown}");
    let run = &found["counterexample"];
    assert!(run["steps"].as_array().unwrap().len() <= 6, "{run:#}");
    let two = run_json(&folder, &[&args[..], &["--threads", "2", "--dir", "kept"]].concat(), 1);
    assert_eq!(two["counterexample"], *run);
    let status = run_json(&folder, &["status", "kept"], 0);
    assert_eq!((&status["hunt"], &status["verdict"]), (&found["hunt"], &"violated".into()));
    assert_eq!(run_json(&folder, &["trace", "kept"], 1)["counterexample"], *run);
    for flag in ["--no-dive", "--shortest"] {
        let found = run_json(&folder, &[&args[..], &[flag]].concat(), 1);
        assert_eq!(found["hunt"], Value::Null, "{flag}");
    }
}
