//! Hostile texts in models, their names and properties. No terminal, spreadsheet, browser or drawing tool executes any
//! of it, in any output format.

use super::Folder;
use serde_json::Value;

/// Sets the clipboard of a terminal. Then other control sequences, a change of text direction, and directives of
/// several formats.
const EVIL: &str = "\u{1b}]52;c;ZXZpbA==\u{7}\u{9b}2J\u{202e}\u{7f} %getenv('HOME') <img src=x> [[http://x]] $$x$$";

/// A hostile file name.
const NAME: &str = "=1+1|\u{1b}]0;title\u{7}\n!include y\u{202e}";

fn murphi() -> String {
    format!(
        "var x: 0..3; startstate \"+s{EVIL}\" begin x := 0; end;
rule \"=r{EVIL}\" x < 3 ==> begin x := x + 1; end;
invariant \"@low{EVIL}\" x < 2;
"
    )
}

fn promela() -> String {
    format!(
        "chan c = [1] of {{ byte }}; byte x;
active proctype P() {{ c!1; x = 1 + /* {EVIL}
!include y */ 1; assert(x /* {EVIL} */ < 2) }}
active proctype Q() {{ byte y; c?y /* {EVIL} */; do :: y == 7 /* {EVIL} */ -> skip od }}
ltl p {{ [] (x /* {EVIL} */ < 3) }}
"
    )
}

const NET: &str = "<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">
<net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"g\">
<place id=\"p1\"><name><text>=cmd\n!include z \"q\" \\ \u{202e}</text></name><initialMarking><text>1</text></initialMarking></place>
<place id=\"p2\"><name><text>@\u{9b}2J &lt;b&gt;</text></name></place>
<transition id=\"t1\"><name><text>-t\n\"]; evil [label=\"\u{7f}</text></name></transition>
<arc id=\"a1\" source=\"p1\" target=\"t1\"/><arc id=\"a2\" source=\"t1\" target=\"p2\"/></page></net></pnml>
";

/// Whether a terminal does anything but show the character.
fn is_terminal_control(it: char) -> bool {
    let is_format = ('\u{200e}'..='\u{200f}').contains(&it)
        || ('\u{2028}'..='\u{202e}').contains(&it)
        || ('\u{2066}'..='\u{2069}').contains(&it);
    (it.is_control() && it != '\n' && it != '\t') || is_format
}

#[track_caller]
fn assert_inert(what: &str, text: &str) {
    let found = text.char_indices().find(|(_, it)| is_terminal_control(*it));
    if let Some((at, it)) = found {
        let from = text[..at].char_indices().rev().nth(60).map_or(0, |it| it.0);
        panic!("{what}: {it:?} behind {:?}", &text[from..at]);
    }
}

/// Runs a command, and asserts that its output has no terminal controls.
#[track_caller]
fn run_inert(folder: &Folder, args: &[&str]) -> String {
    let output = folder.run(args);
    let what = format!("{args:?}");
    assert_inert(&what, &output.out);
    assert_inert(&what, &output.err);
    assert!(!(output.out.clone() + &output.err).contains("panicked"), "{what}: {}", output.err);
    output.out
}

/// Reads a file, and asserts that it has no terminal controls.
#[track_caller]
fn read(folder: &Folder, name: &str) -> String {
    let text = std::fs::read_to_string(folder.path(name))
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_inert(name, &text);
    text
}

/// Runs each command on the model and on its kept search. Formats with their own rules have tests of their own.
fn run_all_commands(folder: &Folder, model: &str) {
    for flags in [
        &["--keep-going"][..],
        &["--json"],
        &["--verbose", "--strict"],
        &["--unfolded", "--no-deadlock"],
        &["--ltl", "<> (x \u{9b} == 1)"],
        &["--invariant", "x < 9 \u{1b}]0;t\u{7}"],
        &["--only", "deadlock\u{1b}[2J"],
        &["--bitstate\u{1b}[2J"],
    ] {
        run_inert(folder, &[&["check", model][..], flags].concat());
    }
    for args in [
        &["status", "d"][..],
        &["status", "d", "--json"],
        &["watch", "d"],
        &["values", "d"],
        &["values", "d", "--json"],
        &["trace", "d"],
        &["trace", "d", "--msc"],
        &["trace", "d", "--json"],
        &["trace", "d", "--last", "1"],
        &["trace", "d", "--only", "no\u{1b}[2J"],
        &["resume", "d", "--json"],
        &["status", "no\u{1b}[2J"],
        &["graph", model, "--changes"],
        &["explain", model],
        &["explain", model, "--reductions"],
        &["simulate", model],
        &["simulate", model, "--from", "d"],
        &["simulate", model, "-i"],
        &["new", "murphi", "new\u{1b}[2J\nx.m"],
        &["check", "absent\u{1b}[2J.m"],
    ] {
        run_inert(folder, args);
    }
}

/// Checks a model, keeps its search in `d`, and writes all its output files.
fn check_and_keep(name: &str, text: &str) -> Folder {
    let folder = Folder::with(name, text);
    let files = ["--report", "out.html", "--junit", "out.xml", "--sarif", "out.sarif"];
    run_inert(&folder, &[&["check", name, "--dir", "d"][..], &files].concat());
    folder
}

#[test]
fn no_output_has_terminal_controls_of_a_model() {
    for (name, text) in
        [("m", murphi()), ("pml", promela()), ("pnml", NET.to_owned()), ("dve", DVE.to_owned())]
    {
        let name = format!("{NAME}.{name}");
        let folder = check_and_keep(&name, &text);
        run_all_commands(&folder, &name);
        for file in ["out.html", "out.xml", "out.sarif", "d/events.jsonl", "d/status.json"] {
            read(&folder, file);
        }
        for format in ["itf", "csv", "plantuml", "mermaid"] {
            run_inert(&folder, &["trace", "d", "--as", format]);
        }
    }
    let folder = check_and_keep("net.pnml", NET);
    run_inert(&folder, &["graph", "net.pnml", "--structure"]);
    run_inert(&folder, &["explain", &format!("{NAME}.m"), "--ltl", "\u{9b}"]);
}

const DVE: &str = "byte x; process P { state a; init a; trans a -> a { guard x < 2; effect x = x + 1; }; } system async;";

#[test]
fn the_name_of_a_property_keeps_only_its_text() {
    let folder = Folder::with("net.pnml", NET);
    let ids = ["=q\n\u{9b}2J\u{202e}", "q"];
    let properties = ids.map(|id| {
        format!("<property><id>{id}</id><formula><exists-path><finally><integer-le><integer-constant>1</integer-constant>
            <tokens-count><place>p2</place></tokens-count></integer-le></finally></exists-path></formula></property>")
    });
    let text = format!(
        "<property-set xmlns=\"http://mcc.lip6.fr/\">{}</property-set>",
        properties.concat()
    );
    folder.write("ask.xml", &text);
    let out = run_inert(&folder, &["check", "net.pnml", "--property", "ask.xml"]);
    assert!(out.contains("  true     q: "), "{out}");
    run_inert(&folder, &["check", "net.pnml", "--property", "ask.xml", "--question", "a\u{1b}[2J"]);
}

#[test]
fn json_keeps_hostile_text_unchanged() {
    let folder = check_and_keep("m.m", &murphi());
    for args in [&["trace", "d", "--json"][..], &["trace", "d", "--as", "itf"]] {
        let result: Value = serde_json::from_str(&run_inert(&folder, args)).unwrap();
        let step = &result["counterexamples"][0]["steps"][1]["action"];
        let step = step.as_str().or(result["states"][1]["#meta"]["action"].as_str());
        assert_eq!(step.unwrap(), format!("=r{EVIL}"));
    }
    let result: Value = serde_json::from_str(&read(&folder, "out.sarif")).unwrap();
    let found = &result["runs"][0]["results"][0];
    assert_eq!(found["ruleId"], format!("invariant/@low{EVIL}"));
}

#[test]
fn no_cell_of_a_table_is_a_formula() {
    for (name, text) in [("m.m", murphi()), ("p.pml", promela()), ("n.pnml", NET.to_owned())] {
        let folder = check_and_keep(name, &text);
        let table = run_inert(&folder, &["trace", "d", "--as", "csv"]);
        let mut read = csv::ReaderBuilder::new().has_headers(false).from_reader(table.as_bytes());
        let (mut cells, mut quoted) = (0, 0);
        for record in read.records().map(Result::unwrap) {
            for cell in &record {
                let is_formula = cell.trim_start().starts_with(['=', '+', '-', '@']);
                assert!(!is_formula || cell.parse::<f64>().is_ok(), "{cell}");
                assert!(!cell.contains('\n'), "{cell}");
                quoted += usize::from(cell.starts_with('\''));
                cells += 1;
            }
        }
        assert!(cells > 6 && (quoted > 0) == (name != "p.pml"), "{name}: {table}");
    }
}

#[test]
fn no_line_of_a_diagram_is_a_directive() {
    for (name, text) in [("m.m", murphi()), ("p.pml", promela()), ("n.pnml", NET.to_owned())] {
        let folder = check_and_keep(name, &text);
        let diagram = run_inert(&folder, &["trace", "d", "--as", "plantuml"]);
        for line in diagram.lines() {
            let known = ["@startuml", "@enduml", "title ", "participant \"", "p0 -", "p1 -"];
            assert!(known.iter().any(|it| line.starts_with(it)), "{line}");
            // A preprocessor function, a tag or a link.
            let text = line.replace("<U+", "");
            assert!(!["%", "<", "[["].iter().any(|it| text.contains(it)), "{line}");
        }
        let diagram = run_inert(&folder, &["trace", "d", "--as", "mermaid"]);
        for (number, line) in diagram.lines().enumerate() {
            let known =
                ["sequenceDiagram", "  %% ", "  participant p", "  Note over p", "p0 -", "p1 -"];
            assert!(known.iter().any(|it| line.starts_with(it)), "{line}");
            let text = if number == 1 { &line[4..] } else { line };
            assert!(!["%", "<", "$", "{", "`"].iter().any(|it| text.contains(it)), "{line}");
        }
    }
}

#[test]
fn hostile_names_in_dot_stay_quoted() {
    let folder = Folder::with("m.m", &murphi());
    folder.write("n.pnml", NET);
    for args in [
        &["graph", "m.m"][..],
        &["graph", "m.m", "--changes"],
        &["graph", "n.pnml"],
        &["graph", "n.pnml", "--structure"],
        &["explain", "m.m", "--ltl", "<> (x == 3)", "--format", "dot"],
    ] {
        let graph = run_inert(&folder, args);
        for line in graph.lines() {
            // The text outside of strings is the language's own.
            let (mut own, mut rest) = (String::new(), line.replace("\\\\", "").replace("\\\"", ""));
            while let Some((before, behind)) = rest.split_once('"') {
                own += before;
                rest = behind.split_once('"').unwrap_or_else(|| panic!("{line}")).1.to_owned();
            }
            own += &rest;
            assert!(!own.contains("evil") || own.starts_with("//"), "{line}");
        }
    }
}

#[test]
fn suggested_commands_are_quoted_for_a_shell() {
    let name = "it's $(touch evil) a.m";
    let folder = Folder::with(name, &murphi());
    let dir = "d $(touch evil)'";
    let output =
        folder.run(&["check", name, "--max-states", "1", "--reduce", "none", "--dir", dir]);
    assert_eq!(output.code, 3, "{}", output.err);
    let advised = output.err.split('`').nth(1).unwrap();
    let command = advised.replacen("spillway", env!("CARGO_BIN_EXE_spillway"), 1);
    let repeated = std::process::Command::new("sh")
        .args(["-c", &command])
        .current_dir(folder.path(""))
        .output()
        .unwrap();
    assert_eq!(repeated.status.code(), Some(1), "{advised}: {repeated:?}");
    assert!(!folder.path("evil").exists());
}
