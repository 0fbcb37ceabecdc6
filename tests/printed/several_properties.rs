//! Several properties in one check: a verdict for each, in every format, and one exit code.

use super::Folder;
use serde_json::Value;

/// `below` is violated, the others hold.
const COUNTER: &str = "byte x;
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
ltl small { [] (x <= 3) }
ltl comes { <> (x == 3) }
ltl below { [] (x < 3) }
";

fn folder() -> Folder {
    Folder::with("count.pml", COUNTER)
}

/// The kind, the name and the verdict of each property of a result.
fn verdicts(result: &Value) -> Vec<(&str, &str, &str)> {
    let text = |it: &'_ Value| it.as_str().unwrap().to_owned().leak() as &str;
    let all = result["verdicts"].as_array().unwrap().iter();
    all.map(|it| (text(&it["kind"]), text(&it["name"]), text(&it["verdict"]))).collect()
}

const ALL: [(&str, &str, &str); 5] = [
    ("ltl", "below", "violated"),
    ("deadlock", "no state without successor", "verified"),
    ("error", "no run-time error", "verified"),
    ("ltl", "small", "verified"),
    ("ltl", "comes", "verified"),
];

#[test]
fn all_properties_of_a_model_are_checked_by_default() {
    let folder = folder();
    let output = folder.run(&["check", "count.pml"]);
    let summary = "count.pml: VIOLATED: 1 of 5 properties\n  violated ltl: below\n";
    assert!(output.code == 1 && output.out.contains(summary), "{}", output.out);
    assert!(
        !output.out.contains("NOT checked") && output.err.is_empty(),
        "{}{}",
        output.out,
        output.err
    );
    let files = ["--junit", "j.xml", "--report", "r.html", "--sarif", "s.sarif"];
    let output = folder.run(&[&["check", "count.pml", "--json"][..], &files].concat());
    let result: Value = serde_json::from_str(&output.out).unwrap();
    assert_eq!((output.code, &result["verdict"]), (1, &"violated".into()));
    assert_eq!(verdicts(&result), ALL);
    assert_eq!(result["searches"].as_array().unwrap().len(), 4);
    let read = |name: &str| std::fs::read_to_string(folder.path(name)).unwrap();
    let junit = read("j.xml");
    assert!(junit.contains("tests=\"5\" skipped=\"0\" errors=\"0\" failures=\"1\""), "{junit}");
    let page = read("r.html");
    assert!(page.contains("<h2>Properties</h2>") && page.contains("violated ltl: below"), "{page}");
    let sarif: Value = serde_json::from_str(&read("s.sarif")).unwrap();
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), 1);
}

#[test]
fn the_command_line_selects_properties() {
    let folder = folder();
    let checked = |flags: &[&str], code: i32| {
        let output = folder.run(&[&["check", "count.pml", "--json"], flags].concat());
        assert_eq!(output.code, code, "{flags:?}: {}{}", output.out, output.err);
        serde_json::from_str::<Value>(&output.out).unwrap()
    };
    let two = checked(&["--ltl", "small", "--ltl", "[] (x < 9)"], 0);
    let names: Vec<&str> =
        verdicts(&two).into_iter().filter(|it| it.0 == "ltl").map(|it| it.1).collect();
    assert_eq!(names, ["small", "[] (x < 9)"]);
    let all = checked(&["--ltl", "all"], 1);
    assert_eq!(verdicts(&all).into_iter().filter(|it| it.0 == "ltl").count(), 3);
    let mixed = checked(&["--ltl", "small", "--non-progress", "--invariant", "x < 3"], 1);
    let violated = verdicts(&mixed).into_iter().filter(|it| it.2 == "violated");
    assert_eq!(violated.map(|it| it.0).collect::<Vec<_>>(), ["invariant", "non-progress"]);
    // One property takes one search.
    assert_eq!(checked(&["--ltl", "small"], 0)["property"], "small");

    let output = folder.run(&["check", "count.pml", "--spin-trail", "t"]);
    let message = "error: --spin-trail needs a single search, but this check takes 4\n  help: --ltl NAME checks one property";
    assert!(output.code == 2 && output.err.contains(message), "{}", output.err);
    folder.write("plain.pml", "byte x; active proctype P() { x = 1 }\n");
    let output = folder.run(&["check", "plain.pml", "--ltl", "all"]);
    let message =
        "error: plain.pml has no property of infinite runs\n  help: give a formula with --ltl";
    assert!(output.code == 2 && output.err.contains(message), "{}", output.err);
}

#[test]
fn a_check_of_several_properties_is_resumed() {
    let folder = folder();
    let output = folder.run(&["check", "count.pml", "--dir", "d", "--max-states", "1"]);
    let summary = "count.pml: incomplete: 5 of 5 properties are not decided\n  open     deadlock";
    assert!(output.code == 3 && output.out.contains(summary), "{}{}", output.out, output.err);
    // The directory suffices: the model's file is changed, and one search had not begun.
    folder.write("count.pml", "changed");
    std::fs::remove_dir_all(folder.path("d/2-ltl")).unwrap();
    let status = folder.run(&["status", "d"]);
    assert!(
        status.code == 0 && status.out.contains("2-ltl: not started\n3-ltl: "),
        "{}",
        status.out
    );
    let output = folder.run(&["resume", "d", "--json"]);
    let result: Value = serde_json::from_str(&output.out).unwrap();
    assert_eq!((output.code, verdicts(&result)), (1, ALL.to_vec()), "{}", output.err);
    let traced = folder.run(&["trace", "d/3-ltl"]);
    assert!(
        traced.code == 1 && traced.out.starts_with("counterexample in count.pml: below"),
        "{}",
        traced.out
    );
    for command in [&["trace", "d"][..], &["status", "d", "--json"], &["values", "d"]] {
        let output = folder.run(command);
        let message = "error: d holds a check of several searches: 0-states, 1-ltl, 2-ltl, 3-ltl\n  help: give the directory of one of them, such as d/0-states";
        assert!(output.code == 2 && output.err.contains(message), "{command:?}: {}", output.err);
    }
    folder.write("count.pml", COUNTER);
    let output = folder.run(&["check", "count.pml", "--dir", "d"]);
    assert_eq!(output.code, 2, "{}", output.out);
}

#[test]
fn all_properties_hold() {
    let folder = Folder::with(
        "count.pml",
        &COUNTER.replace("ltl below", "ltl least").replace("x < 3) }\n", "x < 4) }\n"),
    );
    let output = folder.run(&["check", "count.pml"]);
    let summary = "count.pml: verified: all 5 properties hold\n  verified deadlock: ";
    assert!(output.code == 0 && output.out.contains(summary), "{}{}", output.out, output.err);
}
