//! `--constraint`: states outside the constraint are checked, and not expanded.

use super::Folder;
use serde_json::Value;

/// A counter without bounds in both directions, and a second one that follows it.
const COUNTERS: &str = "int x, y; active proctype P() { do :: x++ :: x-- od }
active proctype Q() { do :: y < x -> y++ od }";

fn json(folder: &Folder, args: &[&str]) -> (i32, Value) {
    let output = folder.run(&[&["check"], args, &["--json", "--no-trace"]].concat());
    let result = serde_json::from_str(&output.out)
        .unwrap_or_else(|_| panic!("{}{}", output.out, output.err));
    (output.code, result)
}

#[test]
fn the_verdict_holds_within_the_constraint() {
    let folder = Folder::with("c.pml", COUNTERS);
    let args = ["check", "c.pml", "--constraint", "x < 3 && x > -3", "--no-trace"];
    let output = folder.run(&args);
    assert_eq!((output.code, output.err.as_str()), (0, ""), "{}", output.out);
    let expected = "c.pml: verified within the constraint: every state within it was visited,\n           no violation was found\n";
    assert!(output.out.starts_with(expected), "{}", output.out);
    let row = "  constraint  x < 3 && x > -3; states outside of it were checked,\n           but not expanded\n";
    assert!(output.out.contains(row), "{}", output.out);
    // x is from -3 to 3, and y from 0 to 2. Between the test and the increment y is 0 or 1.
    let (code, result) = json(&folder, &args[1..4]);
    assert_eq!((code, &result["states"]), (0, &(7 * 3 + 7 * 2).into()), "{result}");
    assert_eq!(result["constraints"], serde_json::json!(["x < 3 && x > -3"]));
    // Several constraints hold together.
    let both = ["c.pml", "--constraint", "x < 3", "--constraint", "x > -3"];
    let (_, result) = json(&folder, &both);
    assert_eq!(result["states"], 35);
    assert_eq!(result["constraints"], serde_json::json!(["x < 3", "x > -3"]));
    // A property of the model that is not checked is still listed.
    folder.write("l.pml", &format!("{COUNTERS} ltl p {{ <> (x == 9) }}"));
    let output = folder.run(&["check", "l.pml", "--constraint", "x < 3 && x > -3", "--no-claim"]);
    assert_eq!(output.code, 0);
    assert!(output.out.starts_with("l.pml: within the constraint, every state within it was visited,\n           no violation was found\n"), "{}", output.out);
}

/// Both executors, the stores and the allowed reductions agree.
#[test]
fn every_engine_has_the_same_states() {
    let folder = Folder::with("c.pml", COUNTERS);
    let constraint = ["c.pml", "--constraint", "x < 3 && x > -3"];
    for flags in
        [&["--exec", "interp"][..], &["--reduce", "none"], &["--store", "raw"], &["--keep-going"]]
    {
        let (code, result) = json(&folder, &[&constraint, flags].concat());
        assert_eq!((code, &result["states"]), (0, &35.into()), "{flags:?}");
    }
}

/// States outside the constraint are checked: an invariant may fail in them. They are not deadlocks.
#[test]
fn states_outside_the_constraint_are_checked() {
    let folder = Folder::with("c.pml", COUNTERS);
    for (invariant, code) in [("x < 3", 1), ("x < 4", 0)] {
        for exec in ["jit", "interp"] {
            let args = ["c.pml", "--constraint", "x < 3 && x > -3", "--invariant", invariant];
            let (ended, result) = json(&folder, &[&args[..], &["--exec", exec]].concat());
            assert_eq!(ended, code, "{invariant} {result}");
            assert_eq!(result["deadlocks"], 0);
        }
    }
    // A deadlock within the constraint is reported.
    folder.write("d.pml", "byte x; active proctype P() { do :: x < 9 -> x++ od }");
    assert_eq!(folder.run(&["check", "d.pml", "--constraint", "x < 9"]).code, 0);
    assert_eq!(folder.run(&["check", "d.pml", "--constraint", "x < 20"]).code, 1);
    // An error in the evaluation of the constraint is a run-time error of the model.
    let output = folder.run(&["check", "d.pml", "--constraint", "4 / x < 2", "--no-trace"]);
    assert_eq!(output.code, 1);
    assert!(output.out.contains("division by zero"), "{}", output.out);
}

#[test]
fn every_language_has_constraints() {
    let root = env!("CARGO_MANIFEST_DIR");
    let folder = Folder::with("nothing", "");
    for (model, constraint) in [
        ("models/promela/peterson.pml", "turn == 0"),
        ("models/murphi/msi_bus.m", "forall c: Cache do line[c] != Shared end"),
        ("models/dve/philosophers.dve", "taken[0] == 0"),
        ("models/pnml/buffer.pnml", "room > 0"),
        ("models/tla/two_phase_commit.tla", "coordinator.phase # \"commit\""),
    ] {
        let model = format!("{root}/{model}");
        let unreduced = json(&folder, &[&model, "--reduce", "none", "--keep-going"]);
        let (_, within) = json(
            &folder,
            &[&model, "--reduce", "none", "--keep-going", "--constraint", constraint],
        );
        let states = |it: &Value| it["states"].as_u64().unwrap();
        assert!((1..states(&unreduced.1)).contains(&states(&within)), "{model} {within}");
        if !model.ends_with(".tla") {
            // The allowed reductions keep the verdict and the levels.
            let reduced = [
                "--reduce",
                "values,states,dead,symmetry",
                "--keep-going",
                "--constraint",
                constraint,
            ];
            let (_, reduced) = json(&folder, &[&[model.as_str()][..], &reduced].concat());
            assert_eq!(reduced["verdict"], within["verdict"], "{model}");
            assert_eq!(reduced["levels"], within["levels"], "{model}");
        }
        assert_eq!(within["constraints"], serde_json::json!([constraint]), "{model}");
    }
}

/// In a specification the flag equals CONSTRAINT of its configuration.
#[test]
fn a_specification_has_the_counts_of_its_configuration() {
    let module = "---- MODULE m ----\nEXTENDS Integers\nVARIABLE x\nInit == x = 0\nNext == x' = x + 1 \\/ x' = x - 1\nSmall == x < 5 /\\ x > -5\n====\n";
    let folder = Folder::with("m.tla", module);
    let plain = "INIT Init\nNEXT Next\n";
    folder.write("m.cfg", &format!("{plain}CONSTRAINT Small\n"));
    let (code, by_file) = json(&folder, &["m.tla"]);
    folder.write("m.cfg", plain);
    let (_, by_flag) = json(&folder, &["m.tla", "--constraint", "Small"]);
    assert_eq!((code, &by_file["states"]), (0, &9.into()));
    for member in ["states", "transitions", "levels", "states_generated", "verdict", "constraints"]
    {
        assert_eq!(by_file[member], by_flag[member], "{member}");
    }
    assert_eq!(by_flag["constraints"], serde_json::json!(["Small"]));
    let output = folder.run(&["check", "m.tla", "--constraint", "x' < 3"]);
    assert_eq!(output.code, 2);
    assert!(
        output.err.contains("this formula has action level, not state level"),
        "{}",
        output.err
    );
}

/// The constraints of a configuration bound the search, and the verdict says so.
#[test]
fn the_verdict_names_the_constraints_of_a_configuration() {
    let module = "---- MODULE m ----\nEXTENDS Integers\nVARIABLE x\nInit == x = 0\nNext == x' = x + 1 \\/ x' = x - 1\nSmall == x < 5 /\\ x > -5\nUp == x' > x\n====\n";
    let folder = Folder::with("m.tla", module);
    folder.write("m.cfg", "INIT Init\nNEXT Next\nCONSTRAINT Small\nACTION_CONSTRAINT Up\n");
    let ran = folder.run(&["check", "m.tla"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let verdict = "m.tla: verified within the constraint: every state within it was visited,\n           no violation was found\n";
    assert!(ran.out.starts_with(verdict), "{}", ran.out);
    let rows = "  constraint  Small; states outside of it were checked, but not expanded\n  constraint  Up; steps outside of it were not taken\n";
    assert!(ran.out.contains(rows), "{}", ran.out);
    let (_, told) = json(&folder, &["m.tla", "--constraint", "x < 3"]);
    assert_eq!(told["constraints"], serde_json::json!(["Small", "Up", "x < 3"]));
}

/// A hunt within a constraint says so.
#[test]
fn hunts_name_their_constraint() {
    let folder = Folder::with("d.pml", "byte x; active proctype P() { do :: x < 99 -> x++ od }");
    let args = ["hunt", "d.pml", "--constraint", "x < 9", "--walks", "3", "--threads", "1"];
    let ran = folder.run(&args);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let verdict = "d.pml: no violation found within the constraint in 1 walk;";
    assert!(ran.out.starts_with(verdict), "{}", ran.out);
    let row = "  constraint  x < 9; states outside of it were checked, but not expanded\n";
    assert!(ran.out.contains(row), "{}", ran.out);
    let ran = folder.run(&[&args[..], &["--json"]].concat());
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(told["hunts"][0]["constraints"], serde_json::json!(["x < 9"]));
    // Without one there is no such member.
    let ran = folder.run(&["hunt", "d.pml", "--walks", "1", "--threads", "1", "--json"]);
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(told["hunts"][0].get("constraints"), None, "{told}");
}

#[test]
fn unproven_reductions_are_omitted_with_a_constraint() {
    let folder = Folder::with("c.pml", COUNTERS);
    let flags = [
        "check",
        "c.pml",
        "--constraint",
        "x < 3 && x > -3",
        "--reduce",
        "slice,merge,por,dead",
        "-v",
    ];
    let output = folder.run(&flags);
    assert_eq!(output.code, 0, "{}", output.err);
    let words = output.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for name in ["slice", "merged transitions", "partial order"] {
        let reason = words.split("not reduced by ").find(|it| it.starts_with(name));
        let reason = reason.unwrap_or_else(|| panic!("{name}: {}", output.out));
        assert!(
            reason.contains(
                ": a constraint bounds the search, and the reduction is not proven beside it"
            ),
            "{reason}"
        );
    }
}

/// The manual names the allowed reductions.
#[test]
fn the_manual_lists_the_reductions_allowed_with_a_constraint() {
    let manual = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reference/command-line.md");
    let manual = std::fs::read_to_string(manual).unwrap();
    let used = spillway::reduce::REDUCTIONS.iter().filter(|it| it.allows_constraint);
    let mut names: Vec<String> = used.map(|it| format!("`{}`", it.name)).collect();
    let last = names.pop().unwrap();
    let message = format!("only {} and {last} are", names.join(", "));
    assert!(manual.contains(&message), "{message}");
}

#[test]
fn the_search_directory_keeps_the_constraint() {
    let folder = Folder::with("c.pml", COUNTERS);
    let begin = [
        "check",
        "c.pml",
        "--constraint",
        "x < 30 && x > -30",
        "--dir",
        "d",
        "--max-states",
        "100",
    ];
    assert_eq!(folder.run(&begin).code, 3);
    let output = folder.run(&["resume", "d"]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.out.contains("verified within the constraint"), "{}", output.out);
    let output = folder.run(&["status", "d"]);
    assert!(output.out.contains("  constraint  x < 30 && x > -30"), "{}", output.out);
    let other = ["check", "c.pml", "--constraint", "x < 31 && x > -30", "--dir", "d"];
    assert_eq!(folder.run(&other).code, 2);
    let output = folder.run(&["report", "d", "--out", "page.html"]);
    assert_eq!(output.code, 0, "{}", output.err);
    let page = std::fs::read_to_string(folder.path("page.html")).unwrap();
    assert!(page.contains("verified within the constraint"), "{page}");
    // A configuration file may have the constraint.
    folder.write("spillway.toml", "[properties]\nconstraint = [\"x < 3 && x > -3\"]\n");
    let (_, result) = json(&folder, &["c.pml", "--config", "spillway.toml"]);
    assert_eq!(result["states"], 35);
}

#[test]
fn temporal_properties_and_enabledness_are_rejected_with_a_constraint() {
    let folder = Folder::with(
        "l.pml",
        &format!("{COUNTERS} ltl p {{ <> (x == 9) }} ltl q {{ [] (y < 9) }}"),
    );
    for (flags, why) in [
        (
            &["--ltl", "<> (x == 9)"][..],
            "error: --constraint is for properties of states, but --ltl",
        ),
        (
            &["--ltl", "p", "--invariant", "x < 9"],
            "error: a temporal property cannot be checked within a constraint, which cuts runs off\n  help: --no-claim leaves out the properties of the model\n",
        ),
        (&[], "a temporal property cannot be checked within a constraint"),
    ] {
        let output = folder.run(
            &[&["check", "l.pml", "--constraint", "x < 3 && x > -3", "--no-trace"], flags].concat(),
        );
        assert_eq!(output.code, 2, "{flags:?} {}{}", output.out, output.err);
        assert!(output.err.contains(why), "{flags:?} {}", output.err);
    }
    let output = folder.run(&["check", "l.pml", "--constraint", "timeout", "--no-claim"]);
    assert_eq!(output.code, 2);
    let why = "constraint:1:1: error: a constraint cannot depend on which steps are enabled, since it disables steps\n";
    assert!(output.err.starts_with(why), "{}", output.err);
    assert!(output.err.ends_with("  help: leave out `timeout` and `enabled`\n"), "{}", output.err);
}

/// `graph`, `explain` and `hunt` apply the constraint, too.
#[test]
fn other_commands_stop_at_the_constraint() {
    let folder = Folder::with("d.pml", "byte x; active proctype P() { do :: x < 9 -> x++ od }");
    let output = folder.run(&["graph", "d.pml", "--constraint", "x < 4"]);
    assert_eq!((output.code, output.out.matches(" -> ").count()), (0, 8), "{}", output.out);
    let output = folder.run(&["explain", "d.pml", "--constraint", "x < 4"]);
    assert!(output.out.contains("constraint `x < 4`: x < 4"), "{}", output.out);
    let output =
        folder.run(&["hunt", "d.pml", "--constraint", "x < 9", "--walks", "3", "--threads", "1"]);
    assert_eq!(output.code, 0, "{}", output.out);
}
