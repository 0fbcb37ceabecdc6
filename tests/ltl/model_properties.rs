//! Properties within a model: never claims with accept labels and an end, and accept and progress labels in processes.
//! The expected verdicts are SPIN's or derived by hand. Also the messages for unsuitable requests.

use super::bench::{Bench, CommandOutput};
use serde_json::Value;
use std::process::Command;

/// Counts in a cycle; a claim that ends when x is 2, two that accept.
const CLAIMS: &str = "byte x, v;
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
active proctype Q() { v = 1 }
never stops { do :: x != 2 :: x == 2 -> break od }
never never_stops { do :: x != 7 :: x == 7 -> break od }
never low { do :: skip :: x == 1 -> goto accept od; accept: do :: x <= 1 od }
never returns { T0: do :: x != 1 :: x == 1 -> goto accept_S od; accept_S: goto T0 }
never both { do :: skip :: atomic { x == 1 -> x == 1 -> goto accept } od; accept: do :: x == 1 -> break od }
never v { do :: skip od }
";
/// The only process ends, or waits for ever.
const ENDS: &str = "byte x; active proctype P() { x = 1; accept_here: (x == 5) }
never ends { do :: x == 0 :: x == 1 -> break od }
never stays { do :: skip :: x == 1 -> goto accept od; accept: do :: x == 1 od }
never gone { do :: skip :: x == 2 -> goto accept od; accept: do :: x == 2 od }
";
/// Passes an accept label and a progress label in each round.
const ROUND: &str = "byte x;
active proctype P() { do :: x = 1; accept_a: x = 2; progress_b: x = 3 od }
";
/// Passes its accept label at most three times; may repeat without its progress label.
const AT_MOST: &str = "byte x;
active proctype P() { do :: x < 3 -> accept: x++ :: x == 3 :: x < 3 -> progress: skip od }
";
/// Labels inside atomic sequences are not observed.
const UNSEEN: &str = "byte x;
active proctype P() { do :: atomic { x = 1; accept: x = 2; progress: x = 3 } od }
";
/// Three initial instances; only one moves, and not the first.
const ACTIVE: &str = "byte x;
active [3] proctype P() { _pid == 2; do :: x = 1; accept: x = 2 od }
active [3] proctype Q() { _pid == 5; do :: x = 1; progress: x = 2 od }
";
/// Only the second started instance repeats.
const RUN: &str = "byte x;
proctype P(byte k) { k == 1; do :: x = 1; progress: x = 2; accept: x = 3 od }
init { run P(0); run P(1) }
";
/// Waits for ever before it reaches a label.
const WAITS: &str = "byte x;
active proctype P() { x = 1; (x == 5); progress: x = 2; accept: x = 3 }
";
const DVE: &str = "byte x; process P { state a, b; init a; accept b;
trans a -> b { effect x = 1; }, b -> a { effect x = 0; }, a -> a { }; }
process L { state q; init q; accept q; trans q -> q { guard x == 2; }; }
";
const MURPHI: &str = "var x: 0..1; startstate x := 0; end; rule x := 1 - x; end; liveness x = 1;";

fn bench() -> Bench {
    let plain = DVE.replace("accept b;", "");
    let [accepting, plain] = [DVE, &plain].map(|it| format!("{it}system async property L;"));
    Bench::of([
        ("accepting.dve", &*accepting),
        ("plain.dve", &plain),
        ("claims.pml", CLAIMS),
        ("ends.pml", ENDS),
        ("round.pml", ROUND),
        ("at_most.pml", AT_MOST),
        ("unseen.pml", UNSEEN),
        ("active.pml", ACTIVE),
        ("run.pml", RUN),
        ("waits.pml", WAITS),
        ("m.m", MURPHI),
    ])
}

impl Bench {
    /// Asserts that `check` has this exit code with both executors. Returns its output.
    fn check_with_both_executors(&self, code: i32, args: &[&str]) -> String {
        let all = ["jit", "interp"].map(|exec| {
            let output = self.run(&[&["check"][..], args, &["--exec", exec]].concat());
            assert_eq!(output.code, code, "{args:?}\n{}{}", output.out, output.err);
            assert_eq!(output.err, "", "{args:?}");
            assert_eq!(output.shows_run(), code == 1, "{}", output.out);
            output.out
        });
        let [compiled, interpreted] = all;
        if code == 0 {
            assert_eq!(compiled, interpreted);
        }
        compiled
    }

    /// Asserts exit code 2 and one message with these words.
    fn assert_rejected(&self, args: &[&str], words: &[&str]) {
        let CommandOutput { code, out, err } = self.run(args);
        assert_eq!((code, &*out), (2, ""), "{args:?}\n{err}");
        assert_eq!(err.matches("error: ").count(), 1, "{args:?}\n{err}");
        for word in words {
            assert!(err.contains(word), "{args:?}: no `{word}` in\n{err}");
        }
    }
}

#[test]
fn never_claims_accept_at_accept_labels_and_at_their_end() {
    let bench = bench();
    let judged = [
        ("stops", 1),
        ("never_stops", 0),
        ("low", 0),
        // The claim passes its accept label in each round.
        ("returns", 1),
        // The claim reaches the label only inside an atomic sequence, and then ends.
        ("both", 1),
    ];
    for (claim, code) in judged {
        bench.check_with_both_executors(code, &["claims.pml", "--ltl", claim]);
    }
    let out = bench.check_with_both_executors(1, &["claims.pml", "--ltl", "stops"]);
    assert!(out.contains("\nclaims.pml: VIOLATED: a run does not satisfy stops\n"), "{out}");
    assert!(out.contains("  after    4 steps, whatever follows"), "{out}");
    assert!(out.contains("  with     x = 2\n"), "{out}");
}

#[test]
fn never_claims_accept_finite_runs() {
    let bench = bench();
    for (claim, stutter, ignore) in [("ends", 1, 1), ("stays", 1, 0), ("gone", 0, 0)] {
        bench.check_with_both_executors(stutter, &["ends.pml", "--ltl", claim]);
        bench.check_with_both_executors(
            ignore,
            &["ends.pml", "--ltl", claim, "--deadlock-runs", "ignore"],
        );
    }
    bench.check_with_both_executors(1, &["ends.pml", "--acceptance"]);
    bench.check_with_both_executors(0, &["ends.pml", "--acceptance", "--deadlock-runs", "ignore"]);
}

#[test]
fn labels_of_all_instances_count_outside_atomic_sequences() {
    let bench = bench();
    let judged = [
        ("round.pml", 1, 0),
        ("at_most.pml", 0, 1),
        ("unseen.pml", 0, 1),
        ("active.pml", 1, 1),
        ("run.pml", 1, 0),
        // As in SPIN, a finite run is not a non-progress cycle.
        ("waits.pml", 0, 0),
    ];
    for (model, acceptance, non_progress) in judged {
        bench.check_with_both_executors(acceptance, &[model, "--acceptance"]);
        bench.check_with_both_executors(non_progress, &[model, "--non-progress"]);
    }
    bench.check_with_both_executors(
        1,
        &["waits.pml", "--non-progress", "--deadlock-runs", "stutter"],
    );
    bench.check_with_both_executors(1, &["accepting.dve", "--acceptance"]);
}

/// As with `pan -l`, every cycle without a progress label is a non-progress cycle. As with `pan -a`, a model without
/// accept labels has no acceptance cycle, and there is a warning.
#[test]
fn models_without_labels_have_the_verdicts_of_spin() {
    let bench = Bench::of([
        ("round.pml", "byte x; active proctype P() { do :: x = 1 - x od }"),
        ("late.pml", "byte x; active proctype P() { do :: x = 1 - x od; progress: accept: x = 5 }"),
        ("ends.pml", "byte x; active proctype P() { do :: x < 3 -> x++ :: else -> break od }"),
        ("waits.pml", "byte x; active proctype P() { end: do :: x < 3 -> x++ od }"),
    ]);
    let judged = [("round", 1), ("late", 1), ("ends", 0), ("waits", 0)];
    for (name, non_progress) in judged {
        let model = format!("{name}.pml");
        for (flag, code, so) in [
            ("--non-progress", non_progress, "every cycle is a non-progress cycle"),
            ("--acceptance", 0, "there is no such cycle"),
        ] {
            for exec in ["jit", "interp"] {
                let args = ["check", &model, flag, "--exec", exec];
                let output = bench.run(&args);
                assert_eq!(output.code, code, "{args:?}\n{}{}", output.out, output.err);
                assert_eq!(output.shows_run(), code == 1, "{}", output.out);
                let label = if flag == "--acceptance" { "accept" } else { "progress" };
                let warning = format!("has a location with a label `{label}`, so {so}");
                assert!(output.err.contains(&warning), "{args:?}\n{}", output.err);
            }
        }
    }
    // The search on disk has the same verdict.
    let on_disk = ["check", "round.pml", "--non-progress", "--dir", "d", "--max-states", "1"];
    assert_eq!(bench.run(&on_disk).code, 3);
    assert_eq!(bench.run(&["resume", "d"]).code, 1);
}

#[test]
fn label_properties_have_a_name_and_a_state_count() {
    let bench = bench();
    let output = bench.run(&["check", "run.pml", "--non-progress", "--json", "--reduce", "none"]);
    let result: Value = serde_json::from_str(&output.out).unwrap();
    assert_eq!(result["property"], "[]<> (some process is at a label `progress`)");
    // `pan -l` stores the same number of states.
    assert_eq!(
        (&result["verdict"], &result["states"]),
        (&"verified".into(), &12.into()),
        "{result}"
    );
    let output = bench.run(&["explain", "round.pml", "--acceptance"]);
    let expected = "formula <>[] !(some process is at a label `accept`): violated by the runs";
    assert!(output.out.starts_with(expected), "{}", output.out);
    assert!(output.out.contains("2 states, 4 edges, strong"), "{}", output.out);
}

/// SPIN's output when it replays a counterexample, and the number of the last line of the trail. `None` if SPIN is not
/// installed.
fn replayed(bench: &Bench, model: &str, property: &[&str]) -> Option<(String, String)> {
    let args = [&["check", model], property, &["--spin-trail", "trail"]].concat();
    assert_eq!(bench.run(&args).code, 1, "{args:?}");
    let lines = std::fs::read_to_string(bench.0.path().join("trail")).unwrap();
    let last = lines.lines().last().and_then(|line| line.split(':').next()).unwrap().to_owned();
    assert!(lines.matches("-1:-1:-1\n").count() <= 1, "{lines}");
    let mut spin = Command::new("spin");
    let spin = spin.args(["-t", "-p", "-k", "trail", model]).current_dir(bench.0.path());
    let Ok(out) = spin.output() else {
        eprintln!("there is no spin to replay trails with");
        return None;
    };
    Some((last, String::from_utf8(out.stdout).unwrap()))
}

#[test]
fn spin_replays_trails_with_the_start_of_the_cycle() {
    let bench = bench();
    let properties = [
        ("claims.pml", &["--ltl", "low"][..], Some("x = (x+1)")),
        ("claims.pml", &["--ltl", "stops"], None),
        ("claims.pml", &["--ltl", "[] (x < 3)"], None),
        ("claims.pml", &["--ltl", "<>[] (x == 0)"], Some("x = 0")),
        ("round.pml", &["--acceptance"], Some("x = 2")),
        ("at_most.pml", &["--non-progress"], Some("x==3")),
        ("active.pml", &["--non-progress"], Some("x = 2")),
        ("run.pml", &["--acceptance"], Some("x = 3")),
        ("ends.pml", &["--acceptance"], Some("")),
    ];
    for (model, property, round) in properties {
        if property == ["--ltl", "low"] {
            // This property holds: no trail is written.
            let args = [&["check", model], property, &["--spin-trail", "none"]].concat();
            assert_eq!(bench.run(&args).code, 0);
            assert!(!bench.0.path().join("none").exists());
            continue;
        }
        let Some((last, printed)) = replayed(&bench, model, property) else { return };
        // SPIN stops early, with another number, if it cannot replay a step.
        let ends = format!("trail ends after {last} steps");
        assert!(printed.contains(&ends), "{model} {property:?}: no `{ends}` in\n{printed}");
        let cycle = printed.split_once("<<<<<START OF CYCLE>>>>>");
        // A run all of whose continuations violate the property has no cycle.
        assert_eq!(cycle.is_some(), round.is_some(), "{model} {property:?}:\n{printed}");
        let has_round = |(cycle, round): ((&str, &str), &str)| cycle.1.contains(round);
        assert!(cycle.zip(round).is_none_or(has_round), "{model} {property:?}:\n{printed}");
    }
    let args = ["check", "accepting.dve", "--acceptance", "--spin-trail", "trail"];
    bench.assert_rejected(
        &args,
        &["only counterexamples of Promela models can be replayed by SPIN"],
    );
    let args = ["check", "round.pml", "--deadlock-runs", "ignore"];
    let words = ["--deadlock-runs", "is for properties of infinite runs", "--ltl"];
    bench.assert_rejected(&args, &words);
}

/// A property process that accepts the runs that stay at `b`.
const PROCESS: &str = "byte x; process P { state a, b; init a;
trans a -> b { effect x = 1; }, b -> a { effect x = 0; }, b -> b { }; }
process L { state q1, q2; init q1; accept q2;
trans q1 -> q1 { }, q1 -> q2 { guard x == 1; }, q2 -> q2 { guard x == 1; }; }
system async property L;
";
const FORMULA: &str = "byte x; ltl up { [] (x < 4) }
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 :: x == 3 -> break od }
";
const CLAIM: &str = "byte x; active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
never low { do :: skip :: x <= 3 -> goto accept od; accept: do :: x <= 3 od }
";

#[test]
fn properties_of_a_model_are_checked_by_default() {
    let two = FORMULA.replace("active", "ltl down { [] (x > 0) }\nactive");
    let both = format!("{FORMULA}never late {{ do :: x < 9 od }}");
    let bench = Bench::of([
        ("process.dve", PROCESS),
        ("formula.pml", FORMULA),
        ("claim.pml", CLAIM),
        ("two.pml", &two),
        ("both.pml", &both),
        ("claims.pml", CLAIMS),
    ]);
    for (model, name, code) in
        [("process.dve", "L", 1), ("formula.pml", "up", 0), ("claim.pml", "low", 1)]
    {
        let expected = bench.check_with_both_executors(code, &[model, "--ltl", name]);
        // The suggested commands name the selected property.
        let expected = expected.replace(&format!(" --ltl {name} "), " ");
        assert_eq!(bench.check_with_both_executors(code, &[model]), expected);
        assert!(!expected.contains("NOT checked"), "{expected}");
        // On disk, the resumed search keeps the property.
        let dir = format!("{model}.d");
        let started = bench.run(&["check", model, "--dir", &dir, "--max-states", "1"]);
        assert_eq!(started.code, 3, "{}", started.err);
        assert_eq!(bench.run(&["resume", &dir]).code, code, "{model}");
        for other in [&["--keep-going"][..], &["--only", "error"], &["--no-deadlock"]] {
            let output = bench.run(&[&["check", model], other].concat());
            assert_eq!(output.code, 0, "{model} {other:?}\n{}", output.out);
            assert!(output.flat().contains("no violation was found\n"), "{}", output.out);
            assert_eq!(output.flat().contains("use --ltl"), name != "low", "{}", output.out);
        }
        let output = bench.run(&["check", model, "--no-claim"]);
        assert!(output.flat().contains(&format!("use --ltl {name}\n")), "{}", output.out);
        let help = format!("--no-claim` excludes {name}");
        bench.assert_rejected(&["check", model, "--store", "rle"], &["--store is for", &help]);
    }
    // Several properties are all checked.
    for (model, names) in [("two.pml", &["up", "down"][..]), ("both.pml", &["up"])] {
        let output = bench.run(&["check", model, "--json"]);
        let result: Value = serde_json::from_str(&output.out).unwrap();
        let verdicts = result["verdicts"].as_array().unwrap().iter();
        let formulas = verdicts.filter(|it| it["kind"] == "ltl");
        let mut found: Vec<&str> = formulas.map(|it| it["name"].as_str().unwrap()).collect();
        found.sort_by_key(|it| names.iter().position(|name| name == it));
        assert_eq!(found, names, "{model}");
    }
    let output = bench.run(&["check", "claims.pml"]);
    assert!(output.out.contains("never claim stops"), "{}", output.out);
    let args = ["check", "formula.pml", "--spin-trail", "t", "--deadlock-runs", "ignore"];
    assert_eq!(bench.run(&args).code, 0);
    bench.write("changes.dve", &PROCESS.replace("q1 -> q1 { }", "q1 -> q1 { effect x = 2; }"));
    bench.assert_rejected(
        &["check", "changes.dve"],
        &["changes variables", "--no-claim` excludes L"],
    );
    assert_eq!(bench.run(&["check", "changes.dve", "--no-claim"]).code, 0);
}

#[test]
fn a_check_of_one_property_lists_the_unchecked_ones() {
    let bench = bench();
    bench.write("all.pml", &format!("{ROUND}{}", "ltl p { [] (x < 4) }\nltl q { [] (x < 5) }\n"));
    let requests = [
        (&["--ltl", "p"][..], &["ltl q", "accept label accept_a", "progress label progress_b"][..]),
        (&["--ltl", "[] (x < 6)"], &["ltl p", "ltl q", "accept label", "progress label"]),
        (&["--acceptance"], &["ltl p", "ltl q", "progress label progress_b"]),
        (&["--non-progress"], &["ltl p", "ltl q", "accept label accept_a"]),
    ];
    for (property, missed) in requests {
        let args = [&["check", "all.pml"], property].concat();
        let text = bench.run(&args).flat();
        let line = text.lines().find(|it| it.contains("NOT checked  ")).unwrap();
        let line = line.split(" use --").next().unwrap();
        assert!(missed.iter().all(|it| line.contains(it)), "{property:?}: {line}");
        assert_eq!(line.split(", ").count(), missed.len(), "{property:?}: {line}");
        let output = bench.run(&[&args[..], &["--json"]].concat());
        let result: Value = serde_json::from_str(&output.out).unwrap();
        assert_eq!(result["unchecked"].as_array().unwrap().len(), missed.len(), "{result}");
    }
    let text = bench.run(&["check", "claims.pml", "--ltl", "low"]).flat();
    let line = text.lines().find(|it| it.contains("NOT checked  ")).unwrap();
    let line = line.split(" use --").next().unwrap();
    assert!(!line.contains("never claim low") && !line.contains("accept"), "{line}");
    assert_eq!(line.matches("(claims.pml:").count(), 5, "{line}");
}

#[test]
fn unsuitable_requests_get_one_message() {
    let bench = bench();
    let v = "v is a never claim of the model and a variable of it";
    bench.assert_rejected(&["check", "claims.pml", "--ltl", "v"], &[v, "--ltl:1:1"]);
    bench.assert_rejected(
        &["check", "claims.pml", "--ltl", "nobody"],
        &["no variable and no property nobody"],
    );
    let shown = ["stops is a never claim of the model", "explain --claim stops"];
    bench.assert_rejected(&["explain", "claims.pml", "--ltl", "stops"], &shown);
    let twice = "byte x; ltl a { [] (x == 0) } active proctype P() { skip } never a { skip }";
    bench.write("twice.pml", twice);
    bench.assert_rejected(&["check", "twice.pml", "--ltl", "a"], &["a"]);
    let none =
        |model, flag| bench.assert_rejected(&["check", model, flag], &["no process of ", "label"]);
    none("m.m", "--acceptance");
    none("m.m", "--non-progress");
    // A property process is not a process of the system.
    none("plain.dve", "--acceptance");
    none("accepting.dve", "--non-progress");
    for other in [&["--ltl", "[] (x < 9)"][..], &["--non-progress"]] {
        let output = bench.run(&[&["check", "round.pml", "--acceptance"][..], other].concat());
        assert!(
            output.code == 1 && output.flat().contains("violated acceptance: "),
            "{}",
            output.out
        );
    }
    let args = ["check", "round.pml", "--acceptance", "--claim", "stops"];
    bench.assert_rejected(&args, &["cannot be used with"]);
    let args = ["check", "round.pml", "--acceptance", "--keep-going"];
    bench.assert_rejected(&args, &["--keep-going is for properties of states"]);
}
