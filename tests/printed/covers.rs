//! `cover` of Murphi: the number of states that satisfy it, or none; the same under any reduction.

use super::Folder;
use serde_json::Value;
use std::collections::BTreeSet;

/// Three nodes, each with its own cycle. One node may own a resource.
const NODES: &str = "\
const N: 3;
type Node: scalarset(N);
var st: array [Node] of 0..2; owner: Node; rounds: 0..4; dead: 0..9;
startstate for i: Node do st[i] := 0; end; undefine owner; rounds := 0; dead := 0; end;
ruleset i: Node do
  rule \"go\" st[i] = 0 ==> st[i] := 1; dead := 3; end;
  rule \"own\" st[i] = 1 & isundefined(owner) ==> st[i] := 2; owner := i; end;
  rule \"leave\" st[i] = 2 & rounds < 4 ==> st[i] := 0; undefine owner; rounds := rounds + 1; dead := 0; end;
end;
cover \"all wait\" forall i: Node do st[i] = 1 end;
ruleset i: Node do cover \"one owns\" !isundefined(owner) & owner = i; end;
cover \"last round\" rounds = 4;
cover \"two own\" exists i: Node do exists j: Node do i != j & st[i] = 2 & st[j] = 2 end end;
cover \"five rounds\" rounds = 4 & forall i: Node do st[i] = 2 end;
";

/// The names of the satisfied covers, and of the others.
fn cover_names(result: &Value) -> [BTreeSet<String>; 2] {
    ["examples", "violations"].map(|which| {
        let all = result[which].as_array().unwrap().iter();
        let all = all.filter(|it| it["kind"] == "cover");
        all.map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    })
}

#[test]
fn reductions_keep_the_verdicts_of_covers() {
    let folder = Folder::with("nodes.m", NODES);
    let check = |flags: &[&str]| -> Value {
        let output =
            folder.run(&[&["check", "nodes.m", "--no-deadlock", "--json"], flags].concat());
        assert_eq!(output.code, 1, "{flags:?}: {}", output.err);
        serde_json::from_str(&output.out).unwrap()
    };
    let unreduced = check(&["--reduce", "none", "--symmetry", "off"]);
    let expected = cover_names(&unreduced);
    let names = |all: &[&str]| all.iter().map(|it| it.to_string()).collect::<BTreeSet<_>>();
    assert_eq!(
        expected,
        [names(&["all wait", "last round", "one owns"]), names(&["five rounds", "two own"])]
    );
    for flags in [
        &["--exec", "interp"][..],
        &["--reduce", "auto"],
        &["--reduce", "symmetry"],
        &["--symmetry", "fast"],
        &["--reduce", "por", "--symmetry", "off"],
        &["--reduce", "por", "-X", "por-proviso=levels"],
        &["--reduce", "por", "--por", "stubborn", "-X", "por-proviso=static", "--symmetry", "off"],
        &["--reduce", "dead,slice,values,linear"],
        &["--reduce", "confluence", "--symmetry", "off"],
        &["--reduce", "reversible"],
        &["--reduce", "reversible,symmetry"],
        &["--store", "comback"],
        &["--store", "huffman"],
    ] {
        assert_eq!(cover_names(&check(flags)), expected, "{flags:?}");
    }
}

#[test]
fn covers_are_reported_with_states_or_position() {
    let folder = Folder::with("nodes.m", NODES);
    let check = |flags: &[&str], code| {
        let output = folder.run(&[&["check", "nodes.m", "--no-deadlock"], flags].concat());
        assert_eq!(output.code, code, "{flags:?}: {}{}", output.out, output.err);
        output.out
    };
    let out = check(&["--reduce", "none", "--symmetry", "off", "--dir", "d"], 1);
    for words in [
        "nodes.m: VIOLATED: cover: two own at nodes.m:13:1, in no reachable state\n",
        "  also     cover: five rounds at nodes.m:14:1, in no reachable state\n",
        "  cover    all wait: in 5 states, first after 3 steps\n",
        "  checked  covers, run-time errors\n",
    ] {
        assert!(out.contains(words), "no `{words}` in\n{out}");
    }
    let output = folder.run(&["trace", "d"]);
    let expected = "VIOLATED: cover: two own at nodes.m:13:1, in no reachable state\n\
                    VIOLATED: cover: five rounds at nodes.m:14:1, in no reachable state\n";
    assert_eq!((output.code, &*output.out, &*output.err), (1, expected, ""));
    // Covers that are not checked are listed, and there is no violation.
    let out = check(&["--only", "error"], 0);
    assert!(out.contains("  not checked  deadlocks, covers\n"), "{out}");
    // A search that ends at another violation has not seen all states.
    folder.write("nodes.m", &format!("{NODES}invariant \"two rounds\" rounds < 2;\n"));
    let out = check(&["--no-trace"], 1);
    assert!(out.contains("VIOLATED: invariant: two rounds") && !out.contains("two own"), "{out}");
}
