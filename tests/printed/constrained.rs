//! `--constraint`: states outside of it are checked, and not expanded.

use super::Folder;
use serde_json::Value;

/// A counter without bounds in both directions, and a second one that follows it.
const COUNTERS: &str = "int x, y; active proctype P() { do :: x++ :: x-- od }
active proctype Q() { do :: y < x -> y++ od }";

fn json(folder: &Folder, args: &[&str]) -> (i32, Value) {
    let ran = folder.run(&[&["check"], args, &["--json", "--no-trace"]].concat());
    let told = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}{}", ran.out, ran.err));
    (ran.code, told)
}

#[test]
fn the_verdict_holds_within_the_constraint() {
    let folder = Folder::with("c.pml", COUNTERS);
    let args = ["check", "c.pml", "--constraint", "x < 3 && x > -3", "--no-trace"];
    let ran = folder.run(&args);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    let expected = "c.pml: verified within the constraint: every state within it was visited,\n           no violation was found\n";
    assert!(ran.out.starts_with(expected), "{}", ran.out);
    let row = "  constraint  x < 3 && x > -3; states outside of it were checked,\n           but not expanded\n";
    assert!(ran.out.contains(row), "{}", ran.out);
    // x is from -3 to 3, and y from 0 to 2. Between the test and the increment y is 0 or 1.
    let (code, told) = json(&folder, &args[1..4]);
    assert_eq!((code, &told["states"]), (0, &(7 * 3 + 7 * 2).into()), "{told}");
    assert_eq!(told["constraints"], serde_json::json!(["x < 3 && x > -3"]));
    // Several constraints hold together.
    let both = ["c.pml", "--constraint", "x < 3", "--constraint", "x > -3"];
    let (_, told) = json(&folder, &both);
    assert_eq!(told["states"], 35);
    assert_eq!(told["constraints"], serde_json::json!(["x < 3", "x > -3"]));
    // A property of the model that no search checks stays unchecked.
    folder.write("l.pml", &format!("{COUNTERS} ltl p {{ <> (x == 9) }}"));
    let ran = folder.run(&["check", "l.pml", "--constraint", "x < 3 && x > -3", "--no-claim"]);
    assert_eq!(ran.code, 0);
    assert!(ran.out.starts_with("l.pml: within the constraint, every state within it was visited,\n           no violation was found\n"), "{}", ran.out);
}

/// The engines and the reductions that are used agree.
#[test]
fn every_engine_has_the_same_states() {
    let folder = Folder::with("c.pml", COUNTERS);
    let constraint = ["c.pml", "--constraint", "x < 3 && x > -3"];
    for flags in
        [&["--exec", "interp"][..], &["--reduce", "none"], &["--store", "raw"], &["--keep-going"]]
    {
        let (code, told) = json(&folder, &[&constraint, flags].concat());
        assert_eq!((code, &told["states"]), (0, &35.into()), "{flags:?}");
    }
}

/// The states outside are judged: an invariant may fail in them. They are no deadlocks.
#[test]
fn states_outside_are_checked() {
    let folder = Folder::with("c.pml", COUNTERS);
    for (invariant, code) in [("x < 3", 1), ("x < 4", 0)] {
        for exec in ["jit", "interp"] {
            let args = ["c.pml", "--constraint", "x < 3 && x > -3", "--invariant", invariant];
            let (ended, told) = json(&folder, &[&args[..], &["--exec", exec]].concat());
            assert_eq!(ended, code, "{invariant} {told}");
            assert_eq!(told["deadlocks"], 0);
        }
    }
    // A deadlock within the constraint is one.
    folder.write("d.pml", "byte x; active proctype P() { do :: x < 9 -> x++ od }");
    assert_eq!(folder.run(&["check", "d.pml", "--constraint", "x < 9"]).code, 0);
    assert_eq!(folder.run(&["check", "d.pml", "--constraint", "x < 20"]).code, 1);
    // A constraint that fails to be evaluated is an error of the model's steps.
    let ran = folder.run(&["check", "d.pml", "--constraint", "4 / x < 2", "--no-trace"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("division by zero"), "{}", ran.out);
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
        let whole = json(&folder, &[&model, "--reduce", "none", "--keep-going"]);
        let (_, within) = json(
            &folder,
            &[&model, "--reduce", "none", "--keep-going", "--constraint", constraint],
        );
        let states = |it: &Value| it["states"].as_u64().unwrap();
        assert!((1..states(&whole.1)).contains(&states(&within)), "{model} {within}");
        if !model.ends_with(".tla") {
            // The reductions that are used keep the verdict and the levels.
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

/// The flag does in a specification what CONSTRAINT of its configuration does.
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
    let ran = folder.run(&["check", "m.tla", "--constraint", "x' < 3"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("this formula has action level, not state level"), "{}", ran.err);
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
fn reductions_that_may_remove_states_are_left_out_by_name() {
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
    let ran = folder.run(&flags);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let words = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for name in ["slice", "merged transitions", "partial order"] {
        let told = words.split("not reduced by ").find(|it| it.starts_with(name));
        let told = told.unwrap_or_else(|| panic!("{name}: {}", ran.out));
        assert!(
            told.contains(
                ": a constraint bounds the search, and the reduction is not proven beside it"
            ),
            "{told}"
        );
    }
}

/// The manual names the reductions that are used.
#[test]
fn the_manual_has_the_reductions_beside_a_constraint() {
    let manual = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reference/command-line.md");
    let manual = std::fs::read_to_string(manual).unwrap();
    let used = spillway::reduce::REDUCTIONS.iter().filter(|it| it.allows_constraint);
    let mut names: Vec<String> = used.map(|it| format!("`{}`", it.name)).collect();
    let last = names.pop().unwrap();
    let told = format!("only {} and {last} are", names.join(", "));
    assert!(manual.contains(&told), "{told}");
}

#[test]
fn the_constraint_belongs_to_the_search() {
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
    let ran = folder.run(&["resume", "d"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("verified within the constraint"), "{}", ran.out);
    let ran = folder.run(&["status", "d"]);
    assert!(ran.out.contains("  constraint  x < 30 && x > -30"), "{}", ran.out);
    let other = ["check", "c.pml", "--constraint", "x < 31 && x > -30", "--dir", "d"];
    assert_eq!(folder.run(&other).code, 2);
    let ran = folder.run(&["report", "d", "--out", "page.html"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let page = std::fs::read_to_string(folder.path("page.html")).unwrap();
    assert!(page.contains("verified within the constraint"), "{page}");
    // A configuration file has it too.
    folder.write("spillway.toml", "[properties]\nconstraint = [\"x < 3 && x > -3\"]\n");
    let (_, told) = json(&folder, &["c.pml", "--config", "spillway.toml"]);
    assert_eq!(told["states"], 35);
}

#[test]
fn temporal_properties_and_enabledness_are_refused() {
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
        let ran = folder.run(
            &[&["check", "l.pml", "--constraint", "x < 3 && x > -3", "--no-trace"], flags].concat(),
        );
        assert_eq!(ran.code, 2, "{flags:?} {}{}", ran.out, ran.err);
        assert!(ran.err.contains(why), "{flags:?} {}", ran.err);
    }
    let ran = folder.run(&["check", "l.pml", "--constraint", "timeout", "--no-claim"]);
    assert_eq!(ran.code, 2);
    let why = "constraint:1:1: error: a constraint cannot depend on which steps are enabled, since it disables steps\n";
    assert!(ran.err.starts_with(why), "{}", ran.err);
    assert!(ran.err.ends_with("  help: leave out `timeout` and `enabled`\n"), "{}", ran.err);
}

/// Walks, the explorer and `explain` know the constraint too.
#[test]
fn other_commands_stop_at_the_constraint() {
    let folder = Folder::with("d.pml", "byte x; active proctype P() { do :: x < 9 -> x++ od }");
    let ran = folder.run(&["graph", "d.pml", "--constraint", "x < 4"]);
    assert_eq!((ran.code, ran.out.matches(" -> ").count()), (0, 8), "{}", ran.out);
    let ran = folder.run(&["explain", "d.pml", "--constraint", "x < 4"]);
    assert!(ran.out.contains("constraint `x < 4`: x < 4"), "{}", ran.out);
    let ran =
        folder.run(&["hunt", "d.pml", "--constraint", "x < 9", "--walks", "3", "--threads", "1"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
}
