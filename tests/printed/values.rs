//! `values`: the values of variables in the states of a search, compared with a plain enumeration.

use super::Folder;
use serde_json::Value;

const MODEL: &str = "type St: enum { Idle, Busy, Gone }; Node: scalarset(2);
var st: array [Node] of record at: St; n: 0..9; end; who: Node; x: -3..9; flag: boolean; bag: multiset [2] of 0..3; u: 0..4;
startstate begin for i: Node do st[i].at := Idle; st[i].n := 2; end; undefine who; undefine bag; undefine u; x := 0; flag := false; end;
rule \"down\" x > -3 ==> begin x := x - 1; end;
rule \"up\" x < 0 & x > -3 ==> begin x := x + 4; end;
ruleset i: Node do rule \"go\" st[i].at = Idle ==> begin st[i].at := Busy; st[i].n := 7; who := i; u := 3; end; end;
";

#[test]
fn values_lists_the_values_of_all_states() {
    let folder = Folder::with("m.m", MODEL);
    let check = ["check", "m.m", "--no-deadlock", "--reduce", "none", "--symmetry", "off"];
    assert_eq!(folder.run(&[&check[..], &["--dir", "d"]].concat()).code, 0);
    let output = folder.run(&["values", "d"]);
    let expected = "\
m.m: values in 35 states
  st[].at  Idle, Busy
  st[].n   2 to 7
  x        -3 to 3
  flag     false
  u        3, undefined
";
    assert_eq!((output.code, output.out.as_str()), (0, expected), "{}", output.err);
    // A plain enumeration of all states has the same values.
    let json: Value = serde_json::from_str(&folder.run(&["values", "d", "--json"]).out).unwrap();
    assert_eq!(
        (&json["all_together"], &json["values"][3]["names"][0]),
        (&Value::Null, &"false".into())
    );
    // Pruned states are not read.
    let rest = ["check", "m.m", "--no-deadlock", "--symmetry", "exact", "--dir", "alike"];
    assert_eq!(folder.run(&rest).code, 0);
    let out = folder.run(&["values", "alike"]).out;
    assert!(
        out.contains("  reduced  by symmetry exact: pruned states may have other values\n"),
        "{out}"
    );
}

const PASSED: &str = "mtype = { ping, pong };
chan c = [2] of { mtype, byte }; chan one = [1] of { bool }; chan meets = [0] of { byte };
byte lastval; byte seen;
proctype W() { byte mine; do :: mine < 2 -> mine++; c!pong(mine) :: mine == 2 -> break od }
active proctype R() { byte got; do :: c?_(got) -> lastval = got; seen++; one!true; one?_ od }
init { run W() }
";

#[test]
fn channels_and_dynamic_processes_have_values() {
    let folder = Folder::with("passed.pml", PASSED);
    let check = ["check", "passed.pml", "--no-deadlock", "--reduce", "none", "--dir", "d"];
    assert_eq!(folder.run(&check).code, 0);
    let out = folder.run(&["values", "d"]).out;
    let (_, rows) = out.split_once('\n').unwrap();
    let expected = "  lastval  0 to 2
  seen     0 to 2
  W[].mine 0 to 2
  R[].got  0 to 2
  len(c)   0 to 2
  c[].1    pong
  c[].2    1 to 2
  len(one) 0 to 1
  one[]    1
";
    assert_eq!(rows, expected, "{out}");
    let out = folder.run(&["values", "d", "--sum", "W[].mine,seen"]).out;
    assert!(out.ends_with("  W[].mine + seen  0 to 4\n"), "{out}");
    let output = folder.run(&["values", "d", "--sum", "c"]);
    assert!(
        output.err.contains("error: the model has no variable c with numbers\n"),
        "{}",
        output.err
    );
}

#[test]
fn values_changed_by_a_reduction_are_marked() {
    let folder = Folder::with("passed.pml", PASSED);
    let check = ["check", "passed.pml", "--no-deadlock", "--reduce", "dead", "--dir", "d"];
    assert_eq!(folder.run(&check).code, 0);
    let out = folder.run(&["values", "d"]).out;
    for part in [
        "  lastval  0 (changed by dead variables)\n",
        "  R[].got  0 (changed by dead variables)\n",
        "  len(c)   0 to 2\n",
        "           changed values are shown as stored, not as in the model;\n           `--reduce none --symmetry off` stores the values of the model\n",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    // The counterexample has the original value.
    folder.write("late.pml", &PASSED.replace("one?_", "one?_; assert(seen < 2)"));
    let check = ["check", "late.pml", "--no-deadlock", "--reduce", "dead", "--dir", "l"];
    let output = folder.run(&check);
    assert!(output.code == 1 && output.out.contains("lastval: 0 -> 1"), "{}", output.out);
    let json: Value =
        serde_json::from_str(&folder.run(&["values", "l", "--json", "--sum", "lastval"]).out)
            .unwrap();
    let of = |name: &str| {
        json["values"].as_array().unwrap().iter().find(|it| it["name"] == name).unwrap()
    };
    assert_eq!(of("lastval")["changed_by"], serde_json::json!(["dead variables"]));
    assert_eq!(of("len(c)")["changed_by"], serde_json::json!([]));
    assert_eq!(json["sums"][0]["changed_by"], serde_json::json!(["dead variables"]));
    // Each reduction that changes stored values is named.
    folder.write("slice.dve", "byte x; byte y; process P { state a; init a; trans a -> a { guard x < 3; effect x = x + 1, y = (y + x) % 7; }; } system async;");
    let check = ["check", "slice.dve", "--no-deadlock", "--reduce", "slice", "--dir", "s"];
    assert_eq!(folder.run(&check).code, 0);
    let out = folder.run(&["values", "s"]).out;
    assert!(out.contains("(changed by slice)"), "{out}");
}

#[test]
fn a_net_has_tokens_in_a_marking() {
    let root = env!("CARGO_MANIFEST_DIR");
    let net = std::fs::read_to_string(format!("{root}/models/pnml/kanban.pnml")).unwrap();
    let folder = Folder::with("kanban.pnml", &net);
    assert_eq!(folder.run(&["check", "kanban.pnml", "--reduce", "none", "--dir", "d"]).code, 0);
    let out = folder.run(&["values", "d"]).out;
    assert!(out.starts_with("kanban.pnml: values in 4,600 states\n  working1 0 to 2\n"), "{out}");
    assert!(out.ends_with("  a marking  8 all together\n"), "{out}");
}

#[test]
fn directories_without_states_are_rejected_with_a_reason() {
    let folder = Folder::with("m.m", MODEL);
    let check = ["check", "m.m", "--no-deadlock", "--reduce", "none"];
    let cases = [
        (
            &["--store", "comback", "--dir", "c"][..],
            "c",
            "the states of this search cannot be read: it stores hashes and back-edges",
        ),
        (&["--max-time", "0s", "--dir", "t"], "t", "there is no checkpoint yet, so no states"),
    ];
    for (flags, dir, message) in cases {
        folder.run(&[&check[..], flags].concat());
        let output = folder.run(&["values", dir]);
        assert!(
            output.code == 2 && output.err.contains(message),
            "{message}: {} {}",
            output.out,
            output.err
        );
    }
    folder
        .write("p.pml", "byte x; active proctype P() { do :: x < 200 -> x++ :: x > 0 -> x-- od }");
    let runs = ["check", "p.pml", "--ltl", "[]<> (x > 200)", "--dir", "r"];
    folder.run(&runs);
    let output = folder.run(&["values", "r"]);
    let message = "a search for infinite runs stores states of the product with an automaton\n  help: `spillway check MODEL --dir DIR` stores those of the model\n";
    assert!(output.code == 2 && output.err.contains(message), "{} {}", output.out, output.err);
    folder.write("q.pml", "byte x; active proctype P() { do :: x < 20 -> x++ :: x > 0 -> x-- od } never { do :: x > 30 -> break :: else od }");
    let claimed = ["check", "q.pml", "--claim", "never_0", "--only", "claim", "--dir", "n"];
    folder.run(&claimed);
    let output = folder.run(&["values", "n"]);
    let message =
        "the states of this search cannot be read: it stores states of a product with a claim";
    assert!(output.code == 2 && output.err.contains(message), "{} {}", output.out, output.err);
    assert!(folder.run(&["values", "absent"]).code == 2);
}
