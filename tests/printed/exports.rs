//! State graphs as DOT; exported counterexamples; completions and manual pages.

use super::Folder;
use std::process::Command;

const TWO: &str = "byte x;
process P { state a; init a; assert a: x < 2; trans a -> a { guard x < 2; effect x = x + 1; }, a -> a { guard x == 1; effect x = 1 / (x - 1); }; }
system async;
";

#[test]
fn a_small_graph_is_drawn_with_its_violations() {
    let folder = Folder::with("two.dve", TWO);
    let states = "// two.dve: 3 states, 3 steps
digraph \"two.dve\" {
  node [shape=box, fontname=\"monospace\", fontsize=10];
  edge [fontname=\"monospace\", fontsize=9];
  s0 [label=\"x = 0\\lP = a\\l\", penwidth=2];
  s1 [label=\"x = 1\\lP = a\\l\"];
  s2 [label=\"x = 2\\lP = a\\l\", color=red, penwidth=2];
  s0 -> s1 [label=\"P.a -> a\\l\"];
  s1 -> s2 [label=\"P.a -> a\\l\"];
  e2 [label=\"1 is divided by zero\\l\", shape=octagon, color=red];
  s1 -> e2 [label=\"P.a -> a\\l\", color=red];
}
";
    folder.assert_prints(&["graph", "two.dve"], 0, states);
    let output = folder.run(&["graph", "two.dve", "--changes", "--out", "two.dot"]);
    assert_eq!((output.code, output.out.as_str()), (0, ""));
    assert_eq!(output.err, "wrote two.dot; `dot -Tsvg two.dot` draws it\n");
    let changes = std::fs::read_to_string(folder.path("two.dot")).unwrap();
    assert!(changes.contains("  s1 [label=\"1\\l\"];"), "{changes}");
    assert!(changes.contains("  s0 -> s1 [label=\"P.a -> a\\lx: 0 -> 1\\l\"];"), "{changes}");
}

#[test]
fn quoted_names_in_dot_stay_quoted() {
    let text = "var x: 0..1; startstate begin x := 0; end;
rule \"to \\\"]; evil [label=\" x = 0 ==> begin x := 1; end; rule x = 1 ==> begin x := 0; end;";
    let folder = Folder::with("a\"b.m", text);
    let output = folder.run(&["graph", "a\"b.m", "--out", "g.dot"]);
    if output.code == 2 {
        // A name that the language rejects needs no quotes.
        folder.write("a\"b.m", &text.replace("\\\"", "'"));
        assert_eq!(folder.run(&["graph", "a\"b.m", "--out", "g.dot"]).code, 0);
    }
    let graph = std::fs::read_to_string(folder.path("g.dot")).unwrap();
    assert!(graph.contains("digraph \"a\\\"b.m\" {"), "{graph}");
    let Ok(drawn) = Command::new("dot").arg("-Tsvg").arg(folder.path("g.dot")).output() else {
        return eprintln!("left out: there is no dot to draw the graph with");
    };
    assert!(drawn.status.success(), "{}", String::from_utf8_lossy(&drawn.stderr));
}

#[test]
fn a_graph_with_too_many_states_is_rejected() {
    let folder = Folder::with(
        "count.dve",
        "int x; process P { state a; init a; trans a -> a { guard x < 900; effect x = x + 1; }; } system async;",
    );
    let output = folder.run(&["graph", "count.dve"]);
    let message = "error: count.dve has more than 500 states, too many to be drawn\n  help: --max-states N draws more; `spillway check count.dve --keep-going --reduce none` counts them\n";
    assert_eq!((output.code, output.out.as_str(), output.err.as_str()), (2, "", message));
    assert_eq!(folder.run(&["graph", "count.dve", "--max-states", "901"]).code, 0);
    let output = folder.run(&["graph", "count.dve", "--max-states", "901", "--out", "no/such.dot"]);
    assert_eq!(output.code, 2);
    assert!(
        output.err.starts_with("error: cannot write the graph no/such.dot: "),
        "{}",
        output.err
    );
}

#[test]
fn completions_and_manual_pages_have_every_command() {
    let folder = Folder::with("file", "");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = folder.run(&["completions", shell]);
        assert_eq!((output.code, output.err.as_str()), (0, ""));
        assert!(
            ["check", "resume", "keep-going", "report"].iter().all(|it| output.out.contains(it)),
            "{shell}"
        );
    }
    let output = folder.run(&["man"]);
    assert!(
        output.code == 0
            && output.out.contains(".TH spillway 1")
            && output.out.contains("Exit codes")
    );
    let output = folder.run(&["man", "--out", "pages"]);
    assert_eq!((output.code, output.out.as_str()), (0, ""));
    let message =
        "wrote a page for each command to pages; `man -l pages/spillway.1` shows the first\n";
    assert_eq!(output.err, message);
    let check = std::fs::read_to_string(folder.path("pages/spillway-check.1")).unwrap();
    assert!(check.contains("memory"));
    let output = folder.run(&["man", "--out", "file/pages"]);
    assert!(
        output.code == 2 && output.err.starts_with("error: cannot write file/pages: "),
        "{}",
        output.err
    );
}

const PASSED: &str = "chan c = [1] of { byte, bool };
active proctype A() { c!1,true }
active proctype B() { byte x; c?x,_; assert(x < 1) }
";

#[test]
fn counterexamples_are_exported_as_itf_csv_and_diagrams() {
    let folder = Folder::with("passed.pml", PASSED);
    assert_eq!(folder.run(&["check", "passed.pml", "--reduce", "none", "--dir", "d"]).code, 1);
    let trace = |format: &str| {
        let output = folder.run(&["trace", "d", "--as", format]);
        assert_eq!((output.code, output.err.as_str()), (1, ""));
        output.out
    };
    let result: serde_json::Value = serde_json::from_str(&trace("itf")).unwrap();
    assert_eq!(result["#meta"]["format"], "ITF");
    assert_eq!(result["#meta"]["failing-action"], "B[1]: assert(x < 1)");
    let states = result["states"].as_array().unwrap();
    let vars = result["vars"].as_array().unwrap();
    assert!(vars.iter().any(|it| it == "B[1].x"), "{vars:?}");
    for (number, state) in states.iter().enumerate() {
        assert_eq!(state["#meta"]["index"], number);
        assert!(vars.iter().all(|it| !state[it.as_str().unwrap()].is_null()));
    }
    assert_eq!(states[1]["c"], serde_json::json!([{ "#tup": [1, true] }]), "{states:#?}");
    let last = states.last().unwrap();
    assert_eq!((&last["B[1].x"], &last["c"]), (&1.into(), &serde_json::json!([])));
    // The last step fails and has no state.
    let table = trace("csv");
    let rows: Vec<&str> = table.lines().collect();
    assert!(rows[0].starts_with("step,action,place,c,"), "{table}");
    assert_eq!(rows.len(), states.len() + 2, "{table}");
    assert!(
        rows[2].starts_with("1,\"A[0]: c!1,true\",passed.pml:2:23,\"<{1, true}>\","),
        "{table}"
    );
    let diagram = trace("plantuml");
    assert!(diagram.starts_with("@startuml\ntitle passed.pml: assert: "), "{diagram}");
    assert!(
        diagram.ends_with("@enduml\n") && diagram.contains("\np0 ->> p1 : 2 c?x,_\n"),
        "{diagram}"
    );
    let diagram = trace("mermaid");
    assert!(diagram.starts_with("sequenceDiagram\n  %% passed.pml: assert: "), "{diagram}");
    assert!(diagram.contains("  Note over p1: 3 assert(x #lt; 1)\n"), "{diagram}");
}

#[test]
fn models_without_processes_have_diagrams_of_changes() {
    let folder = Folder::with(
        "lone.m",
        "var x: 0..3; a: array [1..2] of boolean; startstate begin x := 0; undefine a; end;
rule \"up\" x < 3 ==> begin x := x + 1; end; invariant \"low\" x < 2;",
    );
    assert_eq!(folder.run(&["check", "lone.m", "--dir", "d"]).code, 1);
    let output = folder.run(&["trace", "d", "--as", "plantuml"]);
    let part = "participant \"the model\" as p0\np0 -> p0 : 1 up: x: 0 -> 1\n";
    assert!(output.out.contains(part), "{}", output.out);
    let result: serde_json::Value =
        serde_json::from_str(&folder.run(&["trace", "d", "--as", "itf"]).out).unwrap();
    let undefined = serde_json::json!({ "#unserializable": "undefined" });
    assert_eq!(
        result["states"][0]["a"],
        serde_json::json!({ "#map": [[1, undefined], [2, undefined]] })
    );
    folder.write("fine.m", "var x: 0..3; startstate begin x := 0; end; rule x < 3 ==> begin x := x + 1; end; rule x = 3 ==> begin x := 0; end;");
    assert_eq!(folder.run(&["check", "fine.m", "--dir", "f"]).code, 0);
    let output = folder.run(&["trace", "f", "--as", "csv"]);
    let message = "error: no counterexample has been found\n";
    assert_eq!((output.code, output.out.as_str(), output.err.as_str()), (2, "", message));
}

#[test]
fn variables_of_a_process_are_absent_before_it_starts() {
    let model = "proctype C(byte v) { assert(v < 1) } init { run C(1) }";
    let folder = Folder::with("late.pml", model);
    assert_eq!(folder.run(&["check", "late.pml", "--dir", "d", "--reduce", "none"]).code, 1);
    let result: serde_json::Value =
        serde_json::from_str(&folder.run(&["trace", "d", "--as", "itf"]).out).unwrap();
    let mut vars = result["vars"].as_array().unwrap().iter().map(|it| it.as_str().unwrap());
    let parameter = vars.find(|it| it.ends_with(".v")).unwrap();
    let absent = serde_json::json!({ "#unserializable": "absent" });
    assert_eq!(result["states"][0][parameter], absent);
    assert_eq!(result["states"].as_array().unwrap().last().unwrap()[parameter], 1);
}

const ROUND: &str = "chan c = [1] of { byte };
byte n;
active proctype A() { do :: n == 0 -> c!1; n = 1 od }
active proctype B() { do :: c?_ -> n = 0 :: n == 1 && empty(c) -> n = 0 od }
";

#[test]
fn lassos_are_exported_with_their_cycle() {
    let folder = Folder::with("round.pml", ROUND);
    let runs = ["check", "round.pml", "--ltl", "<> (n == 2)", "--reduce", "none", "--dir", "d"];
    assert_eq!(folder.run(&runs).code, 1);
    let trace = |format: &str| {
        let output = folder.run(&["trace", "d", "--as", format]);
        assert_eq!((output.code, output.err.as_str()), (1, ""), "{}", output.out);
        output.out
    };
    let result: serde_json::Value = serde_json::from_str(&trace("itf")).unwrap();
    let states = result["states"].as_array().unwrap();
    let (loop_start, last) = (result["loop"].as_u64().unwrap() as usize, states.last().unwrap());
    // The successor of the last state is that of the equal state.
    let vars = result["vars"].as_array().unwrap().iter().map(|it| it.as_str().unwrap());
    vars.for_each(|it| assert_eq!(last[it], states[loop_start - 1][it], "{it}"));
    assert_eq!(result["#meta"]["description"], "round.pml: <> (n == 2)");
    let table = trace("csv");
    let mut read = csv::Reader::from_reader(table.as_bytes());
    assert_eq!(&read.headers().unwrap()[3], "back to step");
    let rows: Vec<_> = read.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), states.len());
    assert_eq!(&rows.last().unwrap()[3], (loop_start - 1).to_string());
    assert!(rows[..rows.len() - 1].iter().all(|it| it[3].is_empty()), "{table}");
    for (format, end) in [("plantuml", "end\n@enduml\n"), ("mermaid", "end\n")] {
        let diagram = trace(format);
        let parts: Vec<&str> = diagram.split("loop forever\n").collect();
        assert_eq!(parts.len(), 2, "{diagram}");
        assert!(parts[1].contains(&format!(": {loop_start} ")), "{diagram}");
        assert!(!parts[0].contains(&format!(": {loop_start} ")), "{diagram}");
        assert!(diagram.ends_with(end), "{diagram}");
    }
    // A finite run that decides the violation has no cycle.
    let runs = ["check", "round.pml", "--ltl", "[] (len(c) < 1)", "--dir", "by-then"];
    assert_eq!(folder.run(&runs).code, 1);
    let text = folder.run(&["trace", "by-then", "--as", "itf"]).out;
    let result: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(result.get("loop").is_none(), "{result}");
    assert_eq!(result["states"].as_array().unwrap().last().unwrap()["c"], serde_json::json!([1]));
    let runs = ["check", "round.pml", "--ltl", "[] (n < 2)", "--dir", "held"];
    assert_eq!(folder.run(&runs).code, 0);
    let output = folder.run(&["trace", "held", "--as", "itf"]);
    let message = "error: no counterexample has been found\n";
    assert_eq!((output.code, output.out.as_str(), output.err.as_str()), (2, "", message));
}
