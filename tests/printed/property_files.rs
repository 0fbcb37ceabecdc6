//! `--property`: every property of a file is answered; one search answers all properties of states.

use super::Folder;
use serde_json::Value;

/// A net with one transition that empties a place of three tokens.
const NET: &str = "<pnml><net id='n' type='ptnet'><place id='x'/>
    <place id='r'><name><text>rest</text></name><initialMarking><text>3</text></initialMarking></place>
    <transition id='up'/><arc source='r' target='up'/><arc source='up' target='x'/></net></pnml>";

fn property(name: &str, formula: &str) -> String {
    format!("<property><id>{name}</id><formula>{formula}</formula></property>\n")
}

fn at_most(most: u32) -> String {
    let count = "<tokens-count><place>x</place></tokens-count>";
    format!("<integer-le>{count}<integer-constant>{most}</integer-constant></integer-le>")
}

fn always(inside: &str) -> String {
    format!("<all-paths><globally>{inside}</globally></all-paths>")
}

fn sometimes(inside: &str) -> String {
    format!("<exists-path><finally>{inside}</finally></exists-path>")
}

/// A folder with the net and a file of these properties.
fn folder(properties: &[String]) -> Folder {
    let folder = Folder::with("net.pnml", NET);
    folder.write("file.xml", &format!("<property-set>\n{}</property-set>", properties.concat()));
    folder
}

/// Properties of all kinds.
fn all() -> Vec<String> {
    vec![
        property("small", &always(&at_most(3))),
        property("smaller", &always(&at_most(1))),
        property("dead", &sometimes("<deadlock/>")),
        property("none", &sometimes(&format!("<negation>{}</negation>", at_most(3)))),
        property("most", "<place-bound><place>x</place></place-bound>"),
        property("both", "<place-bound><place>x</place><place>r</place></place-bound>"),
        property(
            "ends",
            &format!(
                "<all-paths><finally><globally>{}</globally></finally></all-paths>",
                at_most(2)
            ),
        ),
        property("begins", &format!("<all-paths>{}</all-paths>", at_most(0))),
    ]
}

#[test]
fn each_property_is_answered() {
    let folder = folder(&all());
    let output = folder.run(&["check", "net.pnml", "--property", "file.xml"]);
    assert_eq!(output.code, 1, "{}", output.err);
    let of_states = "\
net.pnml: 4 questions: 2 true, 2 false
  true     small: in every reachable state
  false    smaller: not in a state after 2 steps
  true     dead: in a state after 3 steps
  false    none: in no reachable state
  most     most: 3
  most     both: 3
  found    2 violations in 4 states, 3 transitions, 4 levels, 1 deadlock; ";
    assert!(output.out.starts_with(of_states), "{}", output.out);
    assert!(!output.out.contains("counterexample"), "{}", output.out);
    let rows: Vec<&str> = output
        .out
        .lines()
        .filter(|it| it.starts_with("  true") || it.starts_with("  false"))
        .collect();
    assert_eq!(&rows[4..], ["  false    ends", "  true     begins"]);
}

#[test]
fn a_single_property_has_a_counterexample_and_a_directory() {
    let folder = folder(&all());
    let one = ["check", "net.pnml", "--property", "file.xml", "--question"];
    let output = folder.run(&[&one[..], &["smaller", "--dir", "d"]].concat());
    let message = "here the invariant `smaller` of invariant smaller:1:1 does not hold";
    assert!(output.code == 1 && output.out.contains(message), "{} {}", output.out, output.err);
    assert!(
        output
            .out
            .contains("net.pnml: 1 question: 0 true, 1 false\n  after    2 steps (shortest)\n"),
        "{}",
        output.out
    );
    // Commands on the directory report the property.
    let status = folder.run(&["status", "d"]);
    assert!(
        status.out.contains("false    smaller: not in a state after 2 steps"),
        "{}",
        status.out
    );
    assert_eq!(folder.run(&["trace", "d"]).code, 1);
    let output = folder.run(&[&one[..], &["begins", "--json"]].concat());
    let result: Value = serde_json::from_str(&output.out).unwrap();
    assert_eq!((output.code, &result["verdict"]), (0, &"verified".into()));
    let output = folder.run(
        &[&one[..], &["dead", "--question", "most", "--question", "small", "--json"]].concat(),
    );
    let result: Value = serde_json::from_str(&output.out).unwrap();
    let answers: Vec<_> = result["answers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            (
                it["name"].as_str().unwrap(),
                it["holds"].as_bool(),
                it["depth"].as_u64(),
                it["most"].as_i64(),
            )
        })
        .collect();
    let expected = [
        ("small", Some(true), None, None),
        ("dead", Some(true), Some(3), None),
        ("most", None, None, Some(3)),
    ];
    assert_eq!((output.code, answers.as_slice()), (0, &expected[..]), "{}", output.err);
}

#[test]
fn a_search_ends_when_all_properties_are_answered() {
    let small = [property("some", &sometimes(&format!("<negation>{}</negation>", at_most(0))))];
    let folder = folder(&small);
    let check = ["check", "net.pnml", "--property", "file.xml", "--reduce", "none"];
    for (more, states, code) in [(&[][..], "2 states", 0), (&["--keep-going"], "4 states", 0)] {
        let output = folder.run(&[&check[..], more].concat());
        let message = "net.pnml: 1 question: 1 true, 0 false\n  true     some: in a state after 1 step\n  found    ";
        assert!(output.out.starts_with(&format!("{message}{states}")), "{}", output.out);
        assert_eq!(output.code, code);
    }
    let output = folder.run(&[&check[..], &["--max-states", "1"]].concat());
    let message = "net.pnml: 1 question: 0 true, 0 false, 1 unknown so far\n  open     some: unknown so far\n";
    assert!(output.code == 3 && output.out.starts_with(message), "{} {}", output.out, output.err);
}

#[test]
fn unsuitable_property_requests_are_rejected() {
    let folder = folder(&all());
    let check = ["check", "net.pnml", "--property", "file.xml"];
    let refused = |args: &[&str], message: &str| {
        let output = folder.run(args);
        assert!(
            output.code == 2 && output.err.contains(message),
            "{args:?}: {} {}",
            output.out,
            output.err
        );
    };
    let message = "--json needs a single search, but file.xml takes 3\n  help: --question NAME answers a single property";
    refused(&[&check[..], &["--json"]].concat(), message);
    let message = "--question: the file has no property smallest\n  help: did you mean `smaller`?";
    refused(&[&check[..], &["--question", "smallest"]].concat(), message);
    refused(&[&check[..], &["--ltl", "[] x"]].concat(), "cannot be used with");
    folder.write("m.m", "var x: 0..1; startstate begin x := 0; end; rule true ==> begin end;");
    let message = "--property is for models in PNML, but m.m is in murphi";
    refused(&["check", "m.m", "--property", "file.xml"], message);
    folder.write("file.xml", "<property-set>\n<property><id>a</id></property></property-set>");
    refused(&check, "file.xml:2:1: error: the property has no <formula>");
    refused(&["check", "net.pnml", "--property", "none.xml"], "none.xml");
}

#[test]
fn values_prints_sums_of_variables() {
    let folder = folder(&all());
    assert_eq!(
        folder.run(&["check", "net.pnml", "--no-deadlock", "--reduce", "none", "--dir", "d"]).code,
        0
    );
    let output = folder.run(&["values", "d", "--sum", "x", "--sum", "x, rest"]);
    let rows = "  x        0 to 3\n  rest     0 to 3\n  x        0 to 3\n  x + rest 3\n";
    assert!(output.code == 0 && output.out.contains(rows), "{} {}", output.out, output.err);
    let result: Value =
        serde_json::from_str(&folder.run(&["values", "d", "--json", "--sum", "rest"]).out).unwrap();
    assert_eq!(result["sums"][0]["of"][0], "rest");
    assert_eq!(result["sums"][0]["range"]["greatest"], 3);
    for (names, message) in [
        ("y", "the model has no variable y with numbers"),
        ("x,", "expected names separated by commas, as in x,y"),
    ] {
        let output = folder.run(&["values", "d", "--sum", names]);
        assert!(output.code == 2 && output.err.contains(message), "{}", output.err);
    }
}

#[test]
fn a_net_is_drawn_with_its_tokens() {
    let folder = folder(&[property("few", &always(&at_most(2)))]);
    let drawn = folder.run(&["graph", "net.pnml", "--structure"]);
    assert_eq!(drawn.code, 0, "{}", drawn.err);
    for line in [
        "digraph \"net.pnml\" {\n",
        "  p0 [shape=ellipse, label=\"\", xlabel=\"x\"];\n",
        "  p1 [shape=ellipse, label=\"●●●\", xlabel=\"rest\", penwidth=2];\n",
        "  t0 [shape=box, label=\"up\", style=filled, fillcolor=palegreen];\n",
        "  p1 -> t0;\n",
    ] {
        assert!(drawn.out.contains(line), "{line} in {}", drawn.out);
    }
    let output = folder.run(&["check", "net.pnml", "--property", "file.xml", "--dir", "d"]);
    assert_eq!(output.code, 1, "{}", output.err);
    // The last marking of the counterexample has no fireable transition.
    let drawn =
        folder.run(&["graph", "net.pnml", "--structure", "--from", "d", "--out", "net.dot"]);
    assert_eq!(drawn.code, 0, "{}", drawn.err);
    let text = std::fs::read_to_string(folder.path("net.dot")).unwrap();
    assert!(
        text.contains("label=\"●●●\", xlabel=\"x\", penwidth=2") && !text.contains("palegreen"),
        "{text}"
    );
    folder.write("m.m", "var x: 0..1; startstate begin x := 0; end; rule true ==> begin end;");
    let output = folder.run(&["graph", "m.m", "--structure"]);
    assert!(
        output.code == 2 && output.err.contains("--structure is for models in PNML"),
        "{}",
        output.err
    );
}
