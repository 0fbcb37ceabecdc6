//! `--invariant` and `--cover`: conditions that must hold in every state, or in some, in each language; a directory
//! keeps them.

use super::Folder;
use serde_json::Value;

/// A model in each language that counts up to 3, and a condition on the counter.
const COUNTERS: [(&str, &str, &str); 4] = [
    (
        "count.dve",
        "byte x; process P { state s; init s; trans s -> s { guard x < 3; effect x = x + 1; }; } system async;",
        "x < 3 and not (x == 7)",
    ),
    (
        "count.m",
        "var x: 0..3; startstate begin x := 0; end; rule \"up\" x < 3 ==> begin x := x + 1; end;",
        "x < 3 & forall i: 7..8 do x != i end",
    ),
    ("count.pml", "byte x; active proctype P() { do :: x < 3 -> x++ od }", "x < 3 && !(x == 7)"),
    (
        "count.pnml",
        "<pnml><net id='n' type='ptnet'><place id='x'/><place id='rest'><initialMarking><text>3</text></initialMarking></place>
         <transition id='up'/><arc source='rest' target='up'/><arc source='up' target='x'/></net></pnml>",
        "x < 3 and fireable(up)",
    ),
];

#[test]
fn every_language_has_invariants_on_the_command_line() {
    for (name, text, invariant) in COUNTERS {
        let folder = Folder::with(name, text);
        let only = ["check", name, "--only", "invariant", "--reduce", "none", "--no-trace"];
        let held = folder.run(&[&only[..], &["--invariant", "x < 4"]].concat());
        assert_eq!(held.code, 0, "{name}: {}", held.err);
        let both = ["--invariant", "x < 4", "--invariant", invariant, "--dir", "d", "--json"];
        let output = folder.run(&[&only[..], &both].concat());
        assert_eq!(output.code, 1, "{name}: {}", output.err);
        let result: Value = serde_json::from_str(&output.out).unwrap();
        let violations = result["violations"].as_array().unwrap();
        let [found] = violations.as_slice() else { panic!("{name}: {violations:?}") };
        assert_eq!((&found["kind"], &found["name"]), (&"invariant".into(), &invariant.into()));
        assert_eq!((&found["file"], &found["line"]), (&"invariant".into(), &1.into()));
        // Each command on the directory reports the invariant.
        for command in [&["status", "d"][..], &["resume", "d", "--no-trace"]] {
            let out = folder.run(command).out;
            let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(
                out.contains(&format!("VIOLATED: invariant: {invariant} at invariant:1:")),
                "{name}: {out}"
            );
        }
        let traced = folder.run(&["trace", "d"]);
        let out = traced.out.split_whitespace().collect::<Vec<_>>().join(" ");
        let ending = format!("here the invariant `{invariant}` of invariant:1:");
        assert!(traced.code == 1 && out.contains(&ending), "{name}: {out}");
        let walked = folder.run(&["simulate", name, "--from", "d", "--steps", "0"]);
        assert_eq!(walked.code, 0, "{name}: {}", walked.err);
    }
}

#[test]
fn every_language_has_covers_on_the_command_line() {
    for (name, text, _) in COUNTERS {
        let folder = Folder::with(name, text);
        let only = ["check", name, "--only", "invariant", "--cover", "x == 2"];
        let only = if name == "count.m" {
            only.map(|it| it.replace("==", "="))
        } else {
            only.map(str::to_owned)
        };
        let only: Vec<&str> = only.iter().map(String::as_str).collect();
        let met = folder.run(&only);
        // A test and an assignment are two steps in Promela.
        let first = match name {
            "count.pml" => "in 2 states, first after 4 steps",
            _ => "in 1 state, first after 2 steps",
        };
        assert!(met.code == 0 && met.out.contains(first), "{name}: {}", met.out);
        let output = folder.run(
            &[&only[..], &["--cover", "x > 3", "--invariant", "x < 4", "--dir", "d"]].concat(),
        );
        let message = "VIOLATED: cover: x > 3 at cover:1:1, in no reachable state";
        let words = |out: &str| out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            output.code == 1 && words(&output.out).contains(message),
            "{name}: {} {}",
            output.out,
            output.err
        );
        let status = folder.run(&["status", "d"]).out;
        assert!(words(&status).contains(message), "{name}: {status}");
        let output = folder.run(&["check", name, "--cover", "x < 9", "--ltl", "[] x < 9"]);
        assert!(
            output.code == 0 && output.out.contains(" properties hold\n"),
            "{name}: {}",
            output.err
        );
    }
}

#[test]
fn errors_in_conditions_have_a_position() {
    for (name, text, _) in COUNTERS {
        let folder = Folder::with(name, text);
        let output = folder.run(&["check", name, "--invariant", "x <"]);
        assert_eq!(output.code, 2, "{name}: {}", output.out);
        assert!(output.err.starts_with("invariant:1:"), "{name}: {}", output.err);
        let output = folder.run(&["check", name, "--invariant", "x < 9", "--ltl", "[] x < 9"]);
        assert!(
            output.code == 0 && output.out.contains(" properties hold\n"),
            "{name}: {}",
            output.err
        );
        let output = folder.run(&["explain", name, "--invariant", "x < 9"]);
        assert!(output.out.contains("invariant `x < 9`: x < 9"), "{name}: {}", output.out);
    }
}

#[test]
fn command_line_conditions_exclude_formulas_of_the_model() {
    let (name, text, _) = COUNTERS[2];
    let folder = Folder::with(name, &format!("{text}\nltl small {{ [] (x < 2) }}\n"));
    let output = folder.run(&["check", name, "--invariant", "x < 4", "--no-deadlock"]);
    let message = "NOT checked  ltl small (count.pml:2)";
    assert!(output.code == 0 && output.out.contains(message), "{} {}", output.out, output.err);
}

#[test]
fn flags_override_the_configuration_file() {
    let (name, text, ..) = COUNTERS[0];
    let folder = Folder::with(name, text);
    let write = |text: &str| std::fs::write(folder.path("check.toml"), text).unwrap();
    write(
        "[properties]\ninvariant = [\"x < 3\"]\nonly = [\"invariant\"]\n\n[limits]\nmemory = \"64MiB\"\n",
    );
    let configured = ["check", name, "--config", "check.toml", "--json"];
    let violated = folder.run(&configured);
    assert_eq!(violated.code, 1, "{}", violated.err);
    // A flag replaces the value of its key, and the directory keeps the result of both.
    let flags = ["--invariant", "x < 100", "--max-states", "1", "--dir", "d"];
    let stopped = folder.run(&[&configured[..], &flags].concat());
    assert_eq!(stopped.code, 3, "{}", stopped.err);
    let output = folder.run(&["status", "d", "--json"]);
    let result: serde_json::Value = serde_json::from_str(&output.out).unwrap();
    let (properties, limits) = (&result["config"]["properties"], &result["config"]["limits"]);
    assert_eq!(properties["invariant"], serde_json::json!(["x < 100"]));
    assert_eq!(properties["only"], serde_json::json!(["invariant"]));
    assert_eq!((&limits["memory"], &limits["max-states"]), (&"64MiB".into(), &1.into()));
    assert_eq!(folder.run(&["resume", "d"]).code, 0);

    for (text, message) in [
        ("[limits]\nmemory = 64\n", "check.toml:2: "),
        (
            "[limit]\n",
            "help: keys are the long names of the flags and the names of options of -X, in the sections that docs/reference/command-line.md lists",
        ),
        ("[limits]\nmemory = \"64\"\n", "check.toml:2: a size has a unit"),
        ("\n[search]\nstores = \"raw\"\n", "check.toml:3: unknown field `stores`"),
        ("[model]\nlanguage = \"c\"\n", "unknown language c\n  help: use "),
    ] {
        write(text);
        let output = folder.run(&configured);
        assert_eq!(output.code, 2, "{text}: {}", output.err);
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_reported =
            words(&output.err).contains(&words(message)) && output.err.contains("help: ");
        assert!(is_reported, "{text}: {}", output.err);
    }
}
